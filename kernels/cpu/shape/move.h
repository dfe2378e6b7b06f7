/* Moving elements: two-dimensional strided copies by element size, and streaming stores. Called by simd/shape.c,
 * support/nest.c and support/copy.c, and wherever engine simd gathers strided elements. */
#ifndef ND4C_KERNELS_CPU_SHAPE_MOVE_H
#define ND4C_KERNELS_CPU_SHAPE_MOVE_H

#include <stdint.h>

/* to[r * to_row + c * to_column] = from[r * from_row + c * from_column]; strides count elements. Runs where both column
 * strides are 1 may overlap only by being the same memory. */
typedef void (*nd4c_move_function)(int64_t rows, int64_t columns, const void *from, int64_t from_row,
                                   int64_t from_column, void *to, int64_t to_row, int64_t to_column);

/* `count` blocks of `bytes` bytes, which do not overlap; pitches count bytes and may be 0 or negative. */
typedef void (*nd4c_blocks_function)(int64_t count, int64_t bytes, const void *from, int64_t from_pitch, void *to,
                                     int64_t to_pitch);

typedef struct nd4c_move_table {
  nd4c_move_function move[17]; /* by element size: 1, 2, 4, 8, 16; NULL for others */
  nd4c_blocks_function blocks;
  /* Copies past the caches. Call stream_fence before another thread may read. */
  void (*stream)(int64_t bytes, const void *from, void *to);
  void (*stream_fence)(void);
} nd4c_move_table;

#endif
