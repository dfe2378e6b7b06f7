/* Implements span.h: checks and decodes UTF-8, and formats slices for errors. The readers of src/io and src/import call
 * it. */
#include "io/span.h"

size_t nd4c_utf8_decode(const unsigned char *bytes, size_t size, uint32_t *code) {
  static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
  if (size == 0) {
    return 0;
  }
  unsigned char lead = bytes[0];
  size_t length = lead < 0x80             ? 1
                  : (lead & 0xe0) == 0xc0 ? 2
                  : (lead & 0xf0) == 0xe0 ? 3
                  : (lead & 0xf8) == 0xf0 ? 4
                                          : 0;
  if (length == 0 || length > size) {
    return 0;
  }
  uint32_t value = length == 1 ? lead : lead & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((bytes[i] & 0xc0) != 0x80) {
      return 0;
    }
    value = value << 6 | (bytes[i] & 0x3fu);
  }
  if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) {
    return 0;
  }
  *code = value;
  return length;
}

size_t nd4c_utf8_encode(uint32_t code, unsigned char *bytes) {
  if (code < 0x80) {
    bytes[0] = (unsigned char)code;
    return 1;
  }
  size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = length - 1; i > 0; i--) {
    bytes[i] = (unsigned char)(0x80 | (code & 0x3f));
    code >>= 6;
  }
  bytes[0] = (unsigned char)((0xf00u >> length & 0xf0u) | code);
  return length;
}

bool nd4c_span_is_text(nd4c_span slice) {
  uint32_t code = 0;
  for (size_t at = 0; at < slice.size;) {
    size_t length = nd4c_utf8_decode(slice.bytes + at, slice.size - at, &code);
    if (length == 0 || code == 0) {
      return false;
    }
    at += length;
  }
  return true;
}

nd4c_span_text nd4c_span_show(nd4c_span slice) {
  nd4c_span_text shown;
  size_t used = 0;
  size_t at = 0;
  shown.text[used++] = '\'';
  while (at < slice.size && used + 4 + 5 < sizeof shown.text) {
    uint32_t code = 0;
    size_t length = nd4c_utf8_decode(slice.bytes + at, slice.size - at, &code);
    if (length == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0)) {
      shown.text[used++] = '?';
      at += length == 0 ? 1 : length;
    } else {
      memcpy(shown.text + used, slice.bytes + at, length);
      used += length;
      at += length;
    }
  }
  const char *end = at < slice.size ? "...'" : "'";
  memcpy(shown.text + used, end, strlen(end) + 1);
  return shown;
}
