/* Transposing small squares in 16-byte vectors. move.c and transpose.c include it for their templates. */
#ifndef ND4C_KERNELS_CPU_SHAPE_SQUARES_H
#define ND4C_KERNELS_CPU_SHAPE_SQUARES_H

#include <stdint.h>

#include "kernels/cpu/support/units.h"

typedef uint8_t nd4c_sixteen_uint8 __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint16_t nd4c_eight_uint16 __attribute__((vector_size(16), aligned(2), may_alias));
typedef uint32_t nd4c_four_uint32 __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t nd4c_two_uint64 __attribute__((vector_size(16), aligned(4), may_alias));

/* Sides of the squares by element size; 1: element by element. */
enum { ND4C_SQUARE_1 = 16, ND4C_SQUARE_2 = 8, ND4C_SQUARE_4 = 4, ND4C_SQUARE_8 = 2, ND4C_SQUARE_16 = 1 };

/* to[r * to_row + c] = from[c * from_column + r] for the rows and columns of one square. */
static inline void nd4c_transpose_8(const uint64_t *from, int64_t from_column, uint64_t *to, int64_t to_row) {
  nd4c_two_uint64 a = *(const nd4c_two_uint64 *)from, b = *(const nd4c_two_uint64 *)(from + from_column);
  *(nd4c_two_uint64 *)to = __builtin_shufflevector(a, b, 0, 2);
  *(nd4c_two_uint64 *)(to + to_row) = __builtin_shufflevector(a, b, 1, 3);
}

static inline void nd4c_transpose_4(const uint32_t *from, int64_t from_column, uint32_t *to, int64_t to_row) {
  nd4c_four_uint32 line[4], pair[4];
  for (int i = 0; i < 4; i++) {
    line[i] = *(const nd4c_four_uint32 *)(from + i * from_column);
  }
  for (int i = 0; i < 2; i++) {
    pair[i] = __builtin_shufflevector(line[2 * i], line[2 * i + 1], 0, 4, 1, 5);
    pair[i + 2] = __builtin_shufflevector(line[2 * i], line[2 * i + 1], 2, 6, 3, 7);
  }
  for (int i = 0; i < 2; i++) {
    *(nd4c_four_uint32 *)(to + 2 * i * to_row) = __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 0, 1, 4, 5);
    *(nd4c_four_uint32 *)(to + (2 * i + 1) * to_row) =
        __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 2, 3, 6, 7);
  }
}

/* Each stage interleaves lines that lie four apart; after three of them rows have become columns. */
static inline void nd4c_transpose_2(const uint16_t *from, int64_t from_column, uint16_t *to, int64_t to_row) {
  nd4c_eight_uint16 line[8], next[8];
  for (int i = 0; i < 8; i++) {
    line[i] = *(const nd4c_eight_uint16 *)(from + i * from_column);
  }
  for (int stage = 0; stage < 3; stage++) {
    for (int i = 0; i < 4; i++) {
      next[2 * i] = __builtin_shufflevector(line[i], line[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      next[2 * i + 1] = __builtin_shufflevector(line[i], line[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; i++) {
      line[i] = next[i];
    }
  }
  for (int i = 0; i < 8; i++) {
    *(nd4c_eight_uint16 *)(to + i * to_row) = line[i];
  }
}

/* The same for bytes: four stages of lines that lie eight apart. */
static inline void nd4c_transpose_1(const uint8_t *from, int64_t from_column, uint8_t *to, int64_t to_row) {
  nd4c_sixteen_uint8 line[16], next[16];
  for (int i = 0; i < 16; i++) {
    line[i] = *(const nd4c_sixteen_uint8 *)(from + i * from_column);
  }
  for (int stage = 0; stage < 4; stage++) {
    for (int i = 0; i < 8; i++) {
      next[2 * i] =
          __builtin_shufflevector(line[i], line[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * i + 1] =
          __builtin_shufflevector(line[i], line[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    for (int i = 0; i < 16; i++) {
      line[i] = next[i];
    }
  }
  for (int i = 0; i < 16; i++) {
    *(nd4c_sixteen_uint8 *)(to + i * to_row) = line[i];
  }
}

static inline void nd4c_transpose_16(const nd4c_unit_16 *from, int64_t from_column, nd4c_unit_16 *to, int64_t to_row) {
  (void)from_column;
  (void)to_row;
  *to = *from;
}

#endif
