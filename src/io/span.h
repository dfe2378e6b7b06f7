/* A borrowed range of bytes: names, raw data and nested messages of a mapped file. The readers of src/io and src/import
 * use it. */
#ifndef ND4C_IO_SPAN_H
#define ND4C_IO_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct nd4c_span {
  const unsigned char *bytes; /* may be NULL if size is 0 */
  size_t size;
} nd4c_span;

static inline nd4c_span nd4c_span_of_text(const char *text) {
  return (nd4c_span){(const unsigned char *)text, strlen(text)};
}

static inline bool nd4c_span_equal(nd4c_span a, nd4c_span b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

static inline bool nd4c_span_is(nd4c_span slice, const char *text) {
  return nd4c_span_equal(slice, nd4c_span_of_text(text));
}

enum { ND4C_SPAN_TEXT_SIZE = 96 };

/* Formats a slice for an error text: quoted, control bytes and invalid UTF-8 as '?', cut with "..." if it is long. */
typedef struct nd4c_span_text {
  char text[ND4C_SPAN_TEXT_SIZE];
} nd4c_span_text;
nd4c_span_text nd4c_span_show(nd4c_span slice);

/* True if the bytes are UTF-8 without NUL. */
bool nd4c_span_is_text(nd4c_span slice);

/* Length of the UTF-8 sequence at `bytes`, its code point in *code; 0 if it is malformed (overlong, surrogate, cut). */
size_t nd4c_utf8_decode(const unsigned char *bytes, size_t size, uint32_t *code);
/* Writes the code point, which is below 0x110000 and no surrogate, in up to 4 bytes. Returns the number of bytes. */
size_t nd4c_utf8_encode(uint32_t code, unsigned char *bytes);

#endif
