/* Elements at indices, and elements where a mask is true. simd/indexing.c, indexing_positions.c, indexing_masks.c and
 * indexing_repeat.c call these. */
#ifndef ND4C_KERNELS_CPU_INDEXING_PICK_H
#define ND4C_KERNELS_CPU_INDEXING_PICK_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/dtype.h"

/* Indices one behind the other: int64 (wide) or int32, negative ones counted from the end of `extent`. */
typedef struct nd4c_indices {
  const void *data;
  bool wide;
  int64_t extent;
} nd4c_indices;

/* Whether n indices are in -extent .. extent - 1. */
typedef bool (*nd4c_range_test)(int64_t n, const nd4c_indices *indices);

/* to[i] = from[index i * stride + i * step]; strides count elements, indices are in range. */
typedef void (*nd4c_pick_function)(int64_t n, const nd4c_indices *indices, const void *from, int64_t stride,
                                   int64_t step, void *to);

/* Blocks of `bytes` bytes, the next ones asked for ahead: to[i] = from[index i]. */
typedef void (*nd4c_pick_blocks_function)(int64_t n, const nd4c_indices *indices, int64_t bytes, const void *from,
                                          void *to);

/* to[index i * stride + i * step] (op)= from[i], one after the other. */
typedef void (*nd4c_place_function)(int64_t n, const nd4c_indices *indices, const void *from, void *to, int64_t stride,
                                    int64_t step);

/* Element i as often as counts say (in range as they are), one after the other; total: their sum, of which no more is
 * written. */
typedef void (*nd4c_repeat_function)(int64_t n, const nd4c_indices *counts, const void *from, void *to, int64_t total);

/* The elements of `from` whose bytes of `mask` are not 0, one after the other; `count` says how many they are, and no
 * more is written. */
typedef void (*nd4c_compress_function)(int64_t n, const uint8_t *mask, const void *from, void *to, int64_t count);

typedef struct nd4c_pick_table {
  nd4c_range_test in_range;
  nd4c_pick_function pick[17]; /* by element size: 1, 2, 4, 8, 16; NULL for others */
  nd4c_pick_blocks_function pick_blocks;
  nd4c_place_function place[17];
  nd4c_place_function add[ND4C_DTYPE_END]; /* NULL for most */
  nd4c_repeat_function repeat[17];
  nd4c_compress_function compress[17];
} nd4c_pick_table;

#endif
