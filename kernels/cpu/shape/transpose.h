/* Exchanging two axes: rows into columns by whole cache lines, and a few long rows into one. support/copy.c,
 * simd/indexing_arrangement.c and the Fourier transforms (simd/signal_lines_*.c) call these. */
#ifndef ND4C_KERNELS_CPU_SHAPE_TRANSPOSE_H
#define ND4C_KERNELS_CPU_SHAPE_TRANSPOSE_H

#include <stdbool.h>
#include <stdint.h>

/* to[c * to_row + r] = from[r * from_row + c]; strides count elements, from_row may be 0. stream: whole cache lines of
 * `to` are written past the caches; call the moves' stream_fence before another thread may read. */
typedef void (*nd4c_transpose_function)(int64_t rows, int64_t columns, const void *from, int64_t from_row, void *to,
                                        int64_t to_row, bool stream);

/* to[i * lanes + k] = from[k][i] for 2 to ND4C_LANES lanes, which may be the same. */
typedef void (*nd4c_interleave_function)(int64_t n, int64_t lanes, const void *const *from, void *to);

/* to[k * lane + i] = from[i * lanes + k]. */
typedef void (*nd4c_deinterleave_function)(int64_t n, int64_t lanes, const void *from, void *to, int64_t lane);

enum { ND4C_LANES = 4 };

typedef struct nd4c_transpose_table {
  nd4c_transpose_function transpose[17]; /* by element size: 1, 2, 4, 8, 16; NULL for others */
  nd4c_interleave_function interleave[17];
  nd4c_deinterleave_function deinterleave[17];
} nd4c_transpose_table;

#endif
