/* Implements decode.h: the op decode_image, which recognises the format and calls its decoder. dispatch/host_ops.c
 * lists the op. */
#include "dispatch/image/decode.h"

#include "base/alloc.h"
#include "base/status.h"
#include "device/access/write.h"
#include "device/device.h"
#include "device/provider/contents.h"
#include "dispatch/host_ops.h"

enum { PIXELS = 1 << 28 };

/* -- what the decoders share -------------------------------------------------------------------------------------- */

nd4c_status nd4c_picture_check(uint64_t width, uint64_t height) {
  if (width == 0 || height == 0 || width > PIXELS || height > PIXELS || width * height > PIXELS) {
    return nd4c_fail(ND4C_FORMAT, "a picture of %llu x %llu, expected 1 to %d pixels", (unsigned long long)width,
                     (unsigned long long)height, (int)PIXELS);
  }
  return ND4C_OK;
}

nd4c_status nd4c_picture_make(nd4c_picture *picture, uint64_t width, uint64_t height) {
  ND4C_TRY(nd4c_picture_check(width, height));
  picture->width = (int64_t)width;
  picture->height = (int64_t)height;
  picture->pixels = nd4c_work_take(picture->work, (size_t)(width * height), 3);
  return picture->pixels != NULL ? ND4C_OK : nd4c_fail_memory("a picture", (size_t)(3 * width * height));
}

nd4c_status nd4c_picture_fail(const char *format, const char *words) {
  return nd4c_fail(ND4C_FORMAT, "%s: %.300s", format, words != NULL && words[0] != '\0' ? words : "damaged");
}

/* -- which format ------------------------------------------------------------------------------------------------- */

typedef struct signature {
  const char *bytes;
  size_t length, offset;
  nd4c_status (*decode)(nd4c_picture_bytes file, nd4c_picture *picture);
} signature;

static const signature signatures[] = {{"\xFF\xD8\xFF", 3, 0, nd4c_decode_jpeg},
                                       {"\x89PNG\r\n\x1A\n", 8, 0, nd4c_decode_png},
                                       {"WEBP", 4, 8, nd4c_decode_webp},
                                       {"II*\0", 4, 0, nd4c_decode_tiff},
                                       {"MM\0*", 4, 0, nd4c_decode_tiff},
                                       {"\0\0\0\x0CjP  \r\n\x87\n", 12, 0, nd4c_decode_jpeg2000},
                                       {"\xFF\x4F\xFF\x51", 4, 0, nd4c_decode_jpeg2000},
                                       {"BM", 2, 0, nd4c_decode_bmp},
                                       {"P1", 2, 0, nd4c_decode_pnm},
                                       {"P2", 2, 0, nd4c_decode_pnm},
                                       {"P3", 2, 0, nd4c_decode_pnm},
                                       {"P4", 2, 0, nd4c_decode_pnm},
                                       {"P5", 2, 0, nd4c_decode_pnm},
                                       {"P6", 2, 0, nd4c_decode_pnm}};

static nd4c_status decode(nd4c_picture_bytes file, nd4c_picture *picture) {
  for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
    const signature *s = &signatures[i];
    if (file.size >= s->offset + s->length && memcmp(file.data + s->offset, s->bytes, s->length) == 0) {
      return s->decode(file, picture);
    }
  }
  return nd4c_fail(ND4C_FORMAT, "%zu bytes of no format that is known: JPEG, PNG, WebP, TIFF, JPEG 2000, BMP, PNM",
                   file.size);
}

/* -- the op ------------------------------------------------------------------------------------------------------- */

/* The pixels in the requested format. Grey by the weights of ITU-R 601, in 16-bit fractions. */
static void convert(const nd4c_picture *picture, int64_t format, uint8_t *to) {
  int64_t count = picture->width * picture->height;
  for (int64_t i = 0; i < count; i++) {
    const uint8_t *from = picture->pixels + 3 * i;
    if (format == ND4C_PIXEL_FORMAT_GRAYSCALE) {
      to[i] = (uint8_t)((from[0] * 19595U + from[1] * 38470U + from[2] * 7471U + 0x8000U) >> 16);
    } else {
      bool reversed = format == ND4C_PIXEL_FORMAT_BGR;
      to[3 * i] = from[reversed ? 2 : 0];
      to[3 * i + 1] = from[1];
      to[3 * i + 2] = from[reversed ? 0 : 2];
    }
  }
}

static nd4c_status deliver(nd4c_pending *p, const nd4c_picture *picture) {
  int64_t format = p->attrs[ND4C_ATTR_decode_image_pixel_format].as.i;
  nd4c_inferred *inferred = &p->inferred[0];
  nd4c_device *host = NULL;
  void *data = NULL;
  inferred->shape[0] = picture->height;
  inferred->shape[1] = picture->width;
  ND4C_TRY(nd4c_device_host(&host));
  ND4C_TRY(nd4c_array_empty(ND4C_UINT8, 3, inferred->shape, host, &p->targets[0]));
  ND4C_TRY(nd4c_array_host_address(p->targets[0], true, &data));
  convert(picture, format, data);
  return ND4C_OK;
}

nd4c_status nd4c_host_decode_image(nd4c_pending *p) {
  const nd4c_array *x = p->inputs[0];
  nd4c_picture picture = {.work = &p->work};
  uint8_t *bytes = nd4c_work_take(&p->work, (size_t)x->size + 1, 1);
  if (bytes == NULL) {
    return nd4c_fail_memory("a file", (size_t)x->size);
  }
  if (x->size > 0) {
    ND4C_TRY(nd4c_contents_read(x, bytes, (size_t)x->size));
  }
  nd4c_status status = decode((nd4c_picture_bytes){bytes, (size_t)x->size}, &picture);
  return status == ND4C_OK ? deliver(p, &picture) : nd4c_fail_prefix(status, "%s", p->def->info.name);
}
