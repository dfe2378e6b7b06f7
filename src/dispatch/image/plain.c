/* BMP and PNM: uncompressed pixels, decoded without a library. decode.c calls the decoders. */
#include "base/alloc.h"
#include "base/status.h"
#include "dispatch/image/decode.h"

/* -- BMP ---------------------------------------------------------------------------------------------------------- */

static uint32_t little(nd4c_picture_bytes file, size_t at, int bytes) {
  uint32_t value = 0;
  for (int i = bytes - 1; i >= 0; i--) {
    value = value << 8 | file.data[at + (size_t)i];
  }
  return value;
}

/* What the headers say. */
typedef struct bmp_header {
  uint32_t offset, size, compression, colors;
  int64_t width, height;
  bool top_down;
  uint32_t bits;
} bmp_header;

static nd4c_status bmp_read_header(nd4c_picture_bytes file, bmp_header *header) {
  enum { FILE_HEADER = 14, OLD = 12, INFO = 40 };
  if (file.size < FILE_HEADER + 4) {
    return nd4c_picture_fail("BMP", "the file ends in its header");
  }
  header->offset = little(file, 10, 4);
  header->size = little(file, 14, 4);
  bool old = header->size == OLD;
  if ((!old && header->size < INFO) || header->size > file.size - FILE_HEADER) {
    return nd4c_picture_fail("BMP", "the header has an unknown size");
  }
  header->width = old ? (int64_t)little(file, 18, 2) : (int32_t)little(file, 18, 4);
  header->height = old ? (int64_t)little(file, 20, 2) : (int32_t)little(file, 22, 4);
  header->bits = little(file, old ? 24 : 28, 2);
  header->compression = old ? 0 : little(file, 30, 4);
  header->colors = old ? 0 : little(file, 46, 4);
  header->top_down = header->height < 0;
  header->height = header->top_down ? -header->height : header->height;
  return header->width > 0 && header->height > 0 ? ND4C_OK : nd4c_picture_fail("BMP", "extents of 0 or less");
}

/* The colour of a pixel: blue, green, red in the file. False for a colour that the palette lacks. */
static bool bmp_pixel(nd4c_picture_bytes file, const bmp_header *header, size_t row, int64_t x, uint8_t *to) {
  size_t at = row + (size_t)x * header->bits / 8;
  if (header->bits <= 8) {
    uint32_t entry_bytes = header->size == 12 ? 3 : 4, per_byte = 8 / header->bits;
    uint32_t shift = header->bits * (per_byte - 1 - (uint32_t)(x % per_byte));
    uint32_t number = file.data[at] >> shift & ((1U << header->bits) - 1);
    at = 14 + (size_t)header->size + (size_t)number * entry_bytes;
    if (at + 3 > file.size || at + 3 > header->offset) {
      return false;
    }
  }
  to[0] = file.data[at + 2];
  to[1] = file.data[at + 1];
  to[2] = file.data[at];
  return true;
}

nd4c_status nd4c_decode_bmp(nd4c_picture_bytes file, nd4c_picture *picture) {
  bmp_header header = {.bits = 0};
  ND4C_TRY(bmp_read_header(file, &header));
  bool known = header.bits == 1 || header.bits == 4 || header.bits == 8 || header.bits == 24 || header.bits == 32;
  if (!known || header.compression != 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "BMP: %u bits with compression %u, expected 1, 4, 8, 24 or 32 without",
                     header.bits, header.compression);
  }
  ND4C_TRY(nd4c_picture_make(picture, (uint64_t)header.width, (uint64_t)header.height));
  size_t stride = ((size_t)header.width * header.bits + 31) / 32 * 4;
  if (header.offset > file.size || (file.size - header.offset) / stride < (size_t)header.height) {
    return nd4c_picture_fail("BMP", "the file ends in its pixels");
  }
  for (int64_t y = 0; y < header.height; y++) {
    size_t row = header.offset + stride * (size_t)(header.top_down ? y : header.height - 1 - y);
    for (int64_t x = 0; x < header.width; x++) {
      if (!bmp_pixel(file, &header, row, x, picture->pixels + 3 * (y * header.width + x))) {
        return nd4c_picture_fail("BMP", "a colour that is not in its palette");
      }
    }
  }
  return ND4C_OK;
}

/* -- PNM ---------------------------------------------------------------------------------------------------------- */

static bool is_space(uint8_t byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* The next number of the text, past white space and comments; false at the end, for anything else, and above a limit.
 */
static bool pnm_number(nd4c_picture_bytes file, size_t *at, uint32_t limit, uint32_t *number) {
  uint64_t value = 0;
  while (*at < file.size && (is_space(file.data[*at]) || file.data[*at] == '#')) {
    if (file.data[*at] == '#') {
      while (*at < file.size && file.data[*at] != '\n') {
        ++*at;
      }
    } else {
      ++*at;
    }
  }
  size_t begin = *at;
  for (; *at < file.size && file.data[*at] >= '0' && file.data[*at] <= '9' && value <= limit; ++*at) {
    value = 10 * value + (uint64_t)(file.data[*at] - '0');
  }
  *number = (uint32_t)value;
  return *at > begin && value <= limit;
}

/* Position and format of the samples. */
typedef struct pnm_layout {
  int kind; /* 1 to 6 */
  size_t at;
  uint32_t width, most;
} pnm_layout;

/* The next sample, from text or bytes, unscaled. */
static bool pnm_sample(nd4c_picture_bytes file, pnm_layout *layout, uint32_t *sample) {
  if (layout->kind == 1) { /* digits, 1 for black, possibly without white space between them */
    while (layout->at < file.size && is_space(file.data[layout->at])) {
      layout->at++;
    }
    uint8_t digit = layout->at < file.size ? file.data[layout->at++] : 0;
    *sample = digit == '0';
    return digit == '0' || digit == '1';
  }
  if (layout->kind <= 3) {
    return pnm_number(file, &layout->at, layout->most, sample);
  }
  size_t bytes = layout->most > 255 ? 2 : 1;
  if (file.size - layout->at < bytes) {
    return false;
  }
  *sample = bytes == 2 ? (uint32_t)(file.data[layout->at] << 8 | file.data[layout->at + 1]) : file.data[layout->at];
  layout->at += bytes;
  return *sample <= layout->most;
}

static nd4c_status pnm_bits(nd4c_picture_bytes file, const pnm_layout *layout, nd4c_picture *picture) {
  size_t stride = ((size_t)picture->width + 7) / 8;
  if ((file.size - layout->at) / stride < (size_t)picture->height) {
    return nd4c_picture_fail("PNM", "the file ends in its pixels");
  }
  for (int64_t i = 0; i < picture->width * picture->height; i++) {
    size_t x = (size_t)(i % picture->width), y = (size_t)(i / picture->width);
    bool black = (file.data[layout->at + y * stride + x / 8] >> (7 - x % 8) & 1) != 0;
    memset(picture->pixels + 3 * i, black ? 0 : 255, 3);
  }
  return ND4C_OK;
}

static nd4c_status pnm_pixels(nd4c_picture_bytes file, pnm_layout *layout, nd4c_picture *picture) {
  bool colors = layout->kind == 3 || layout->kind == 6;
  for (int64_t i = 0; i < picture->width * picture->height; i++) {
    uint8_t *to = picture->pixels + 3 * i;
    for (int c = 0; c < (colors ? 3 : 1); c++) {
      uint32_t sample = 0;
      if (!pnm_sample(file, layout, &sample)) {
        return nd4c_picture_fail("PNM", "the file ends in its pixels, or one is too large");
      }
      to[c] = (uint8_t)((sample * 255U + layout->most / 2) / layout->most);
    }
    if (!colors) {
      to[1] = to[2] = to[0];
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_decode_pnm(nd4c_picture_bytes file, nd4c_picture *picture) {
  pnm_layout layout = {.kind = file.data[1] - '0', .at = 2, .most = 1};
  uint32_t width = 0, height = 0;
  bool sound = pnm_number(file, &layout.at, INT32_MAX, &width) && pnm_number(file, &layout.at, INT32_MAX, &height);
  if (layout.kind != 1 && layout.kind != 4) {
    sound = sound && pnm_number(file, &layout.at, 65535, &layout.most) && layout.most > 0;
  }
  if (!sound) {
    return nd4c_picture_fail("PNM", "no header of extents and largest value");
  }
  if (layout.kind > 3 && (layout.at >= file.size || !is_space(file.data[layout.at++]))) {
    return nd4c_picture_fail("PNM", "no space after the header");
  }
  ND4C_TRY(nd4c_picture_make(picture, width, height));
  return layout.kind == 4 ? pnm_bits(file, &layout, picture) : pnm_pixels(file, &layout, picture);
}
