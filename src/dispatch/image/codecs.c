/* JPEG by libjpeg-turbo, PNG by libpng, WebP by libwebp: libraries whose functions take and return bytes. decode.c
 * calls the decoders. */
#include "base/alloc.h"
#include "base/status.h"
#include "dispatch/image/decode.h"

/* -- JPEG --------------------------------------------------------------------------------------------------------- */

/* Of turbojpeg.h. */
enum { TJPF_RGB = 0, TJFLAG_ACCURATEDCT = 4096 };

nd4c_status nd4c_decode_jpeg(nd4c_picture_bytes file, nd4c_picture *picture) {
  static const char *const symbols[] = {"tjInitDecompress", "tjDecompressHeader3", "tjDecompress2",
                                        "tjDestroy",        "tjGetErrorStr2",      NULL};
  static nd4c_codec codec = {"libturbojpeg.so.0", "libturbojpeg0", symbols, ND4C_LOCK_INIT, false, {NULL}};
  void *(*init)(void);
  int (*read_header)(void *, const unsigned char *, unsigned long, int *, int *, int *, int *);
  int (*read_pixels)(void *, const unsigned char *, unsigned long, unsigned char *, int, int, int, int, int);
  int (*destroy)(void *);
  char *(*error_text)(void *);
  int width = 0, height = 0, sampling = 0, colors = 0;
  ND4C_TRY(nd4c_codec_load(&codec));
  ND4C_CODEC_GET(&codec, 0, init);
  ND4C_CODEC_GET(&codec, 1, read_header);
  ND4C_CODEC_GET(&codec, 2, read_pixels);
  ND4C_CODEC_GET(&codec, 3, destroy);
  ND4C_CODEC_GET(&codec, 4, error_text);
  void *handle = init();
  if (handle == NULL) {
    return nd4c_fail_memory("a JPEG decoder", 1);
  }
  nd4c_status status = ND4C_OK;
  if (read_header(handle, file.data, (unsigned long)file.size, &width, &height, &sampling, &colors) != 0) {
    status = nd4c_picture_fail("JPEG", error_text(handle));
  }
  if (status == ND4C_OK) {
    status = nd4c_picture_make(picture, (uint64_t)width, (uint64_t)height);
  }
  if (status == ND4C_OK && read_pixels(handle, file.data, (unsigned long)file.size, picture->pixels, width, 3 * width,
                                       height, TJPF_RGB, TJFLAG_ACCURATEDCT) != 0) {
    status = nd4c_picture_fail("JPEG", error_text(handle));
  }
  (void)destroy(handle);
  return status;
}

/* -- PNG ---------------------------------------------------------------------------------------------------------- */

/* Of png.h: libpng's simplified interface, version 1. */
typedef struct png_image {
  void *opaque;
  uint32_t version, width, height, format, flags, colormap_entries, warning_or_error;
  char message[64];
} png_image;
enum { PNG_IMAGE_VERSION = 1, PNG_FORMAT_RGBA = 3 };

nd4c_status nd4c_decode_png(nd4c_picture_bytes file, nd4c_picture *picture) {
  static const char *const symbols[] = {"png_image_begin_read_from_memory", "png_image_finish_read", "png_image_free",
                                        NULL};
  static nd4c_codec codec = {"libpng16.so.16", "libpng16-16", symbols, ND4C_LOCK_INIT, false, {NULL}};
  int (*begin)(png_image *, const void *, size_t);
  int (*finish)(png_image *, const void *, void *, int32_t, void *);
  void (*release)(png_image *);
  ND4C_TRY(nd4c_codec_load(&codec));
  ND4C_CODEC_GET(&codec, 0, begin);
  ND4C_CODEC_GET(&codec, 1, finish);
  ND4C_CODEC_GET(&codec, 2, release);
  png_image image = {.version = PNG_IMAGE_VERSION};
  if (begin(&image, file.data, file.size) == 0) {
    return nd4c_picture_fail("PNG", image.message);
  }
  image.format = PNG_FORMAT_RGBA; /* asked for without alpha, colours would be mixed with a background */
  nd4c_status status = nd4c_picture_make(picture, image.width, image.height);
  size_t count = status == ND4C_OK ? (size_t)(picture->width * picture->height) : 0;
  uint8_t *rgba = status == ND4C_OK ? nd4c_work_take(picture->work, count, 4) : NULL;
  if (status == ND4C_OK && rgba == NULL) {
    status = nd4c_fail_memory("a picture", 4 * count);
  }
  if (status == ND4C_OK && finish(&image, NULL, rgba, 0, NULL) == 0) {
    status = nd4c_picture_fail("PNG", image.message);
  }
  for (size_t i = 0; status == ND4C_OK && i < count; i++) {
    memcpy(picture->pixels + 3 * i, rgba + 4 * i, 3);
  }
  release(&image);
  return status;
}

/* -- WebP --------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_decode_webp(nd4c_picture_bytes file, nd4c_picture *picture) {
  static const char *const symbols[] = {"WebPGetInfo", "WebPDecodeRGBInto", NULL};
  static nd4c_codec codec = {"libwebp.so.7", "libwebp7", symbols, ND4C_LOCK_INIT, false, {NULL}};
  int (*get_info)(const uint8_t *, size_t, int *, int *);
  uint8_t *(*decode)(const uint8_t *, size_t, uint8_t *, size_t, int);
  int width = 0, height = 0;
  ND4C_TRY(nd4c_codec_load(&codec));
  ND4C_CODEC_GET(&codec, 0, get_info);
  ND4C_CODEC_GET(&codec, 1, decode);
  if (get_info(file.data, file.size, &width, &height) == 0 || width <= 0 || height <= 0) {
    return nd4c_picture_fail("WebP", "no header");
  }
  ND4C_TRY(nd4c_picture_make(picture, (uint64_t)width, (uint64_t)height));
  size_t bytes = 3 * (size_t)width * (size_t)height;
  return decode(file.data, file.size, picture->pixels, bytes, 3 * width) != NULL ? ND4C_OK
                                                                                 : nd4c_picture_fail("WebP", NULL);
}
