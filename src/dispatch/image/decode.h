/* Decoders of picture files, for the op decode_image. Each gives 8-bit red, green and blue, and ignores alpha, profiles
 * and gamma. Their libraries are loaded when they are first needed. decode.c chooses one by the first bytes of the
 * file. */
#ifndef ND4C_DISPATCH_IMAGE_DECODE_H
#define ND4C_DISPATCH_IMAGE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/storage/codec.h"
#include "dispatch/host/work.h"
#include "nd4c/status.h"

/* A decoded picture; pixels are rows of 3 bytes a pixel, in the call's scratch. */
typedef struct nd4c_picture {
  int64_t width, height;
  uint8_t *pixels;
  nd4c_work *work;
} nd4c_picture;

/* The file. */
typedef struct nd4c_picture_bytes {
  const uint8_t *data;
  size_t size;
} nd4c_picture_bytes;

/* Checks the extents, which a hostile file may set to anything. */
nd4c_status nd4c_picture_check(uint64_t width, uint64_t height);
/* Checks the extents and allocates the pixels. */
nd4c_status nd4c_picture_make(nd4c_picture *picture, uint64_t width, uint64_t height);
/* FORMAT with the decoder's message. */
nd4c_status nd4c_picture_fail(const char *format, const char *words);

/* X(name): nd4c_decode_<name> reads a whole file of a format. */
#define ND4C_PICTURE_FORMATS(X) X(jpeg) X(png) X(webp) X(tiff) X(jpeg2000) X(bmp) X(pnm)
#define ND4C_PICTURE_DECLARE(name) nd4c_status nd4c_decode_##name(nd4c_picture_bytes file, nd4c_picture *picture);
ND4C_PICTURE_FORMATS(ND4C_PICTURE_DECLARE)
#undef ND4C_PICTURE_DECLARE

#endif
