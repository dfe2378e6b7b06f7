/* Formats of quantised blocks (nd4c_layout, QUANTISED), with GGUF's names and byte layout, and functions that decode
 * them. Both nd4c and kernels use these functions. All are inline, because kernels do not link against libnd4c. */
#ifndef ND4C_PLUGIN_BLOCKS_H
#define ND4C_PLUGIN_BLOCKS_H

#include <stdint.h>
#include <string.h>

#include "nd4c/export.h"

ND4C_EXTERN_C_BEGIN

/* Elements of the largest block. */
enum { ND4C_BLOCK_ELEMENTS = 32 };

typedef struct nd4c_block_format {
  const char *name;
  int32_t elements, bytes; /* of a block */
  /* Writes the elements of one block. */
  void (*decode)(const unsigned char *block, float *to);
} nd4c_block_format;

/* Converts a little-endian float16 exactly. */
static inline float nd4c_block_half(const unsigned char *bytes) {
  const uint32_t bits = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
  const uint32_t sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
  uint32_t wide = sign | (exponent + 112) << 23 | fraction << 13;
  float value = 0;
  if (exponent == 0) {
    value = (float)fraction * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  wide = exponent == 31 ? (sign | UINT32_C(0x7f800000) | fraction << 13) : wide;
  memcpy(&value, &wide, sizeof value);
  return value;
}

/* A scale, then 32 integers of eight bits: element i is scale * integer i. */
static inline void nd4c_block_decode_q8_0(const unsigned char *block, float *to) {
  const float scale = nd4c_block_half(block);
  for (int i = 0; i < 32; i++) {
    to[i] = scale * (float)(int8_t)block[2 + i];
  }
}

/* A scale, then 16 bytes. The low half of byte i, less 8, times the scale is element i; the high half, less 8, times
 * the scale is element i + 16. */
static inline void nd4c_block_decode_q4_0(const unsigned char *block, float *to) {
  const float scale = nd4c_block_half(block);
  for (int i = 0; i < 16; i++) {
    to[i] = scale * (float)((block[2 + i] & 15) - 8);
    to[16 + i] = scale * (float)((block[2 + i] >> 4) - 8);
  }
}

/* The format with that name; NULL if there is none. Static. */
static inline const nd4c_block_format *nd4c_block_format_find(const char *name) {
  static const nd4c_block_format formats[] = {{"q8_0", 32, 34, nd4c_block_decode_q8_0},
                                              {"q4_0", 32, 18, nd4c_block_decode_q4_0}};
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    if (strcmp(formats[i].name, name) == 0) {
      return &formats[i];
    }
  }
  return NULL;
}

ND4C_EXTERN_C_END
#endif
