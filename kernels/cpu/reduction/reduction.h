/* Inner loops of reductions. simd/reduction.c calls them, simd/normalization.c for sums of squares. */
#ifndef ND4C_KERNELS_CPU_REDUCTION_REDUCTION_H
#define ND4C_KERNELS_CPU_REDUCTION_REDUCTION_H

#include <stdint.h>

#include "nd4c/dtype.h"

#define ND4C_REDUCE_LOOPS(X) X(sum) X(prod) X(max) X(min) X(norm1) X(sum_square) X(norm2) X(norm_max)

enum nd4c_reduce_index {
#define ND4C_REDUCE_INDEX(name) ND4C_REDUCE_##name,
  ND4C_REDUCE_LOOPS(ND4C_REDUCE_INDEX)
#undef ND4C_REDUCE_INDEX
      ND4C_REDUCE_COUNT
};

/* How one op gathers one dtype. Accumulators have up to eight bytes: double for sums and products of floats, the 64-bit
 * integer of the same sign for those of integers; largest and smallest are kept as float (16-bit floats), else as the
 * dtype. Norms are of floats alone; the accumulator of norm2 is the sum of squares. */
typedef struct nd4c_reduction_loops {
  /* The accumulators of `rows` runs of n contiguous elements, at least one, `step` bytes apart. Floats are summed
   * pairwise, those of 32 bits four at a time before they become doubles. */
  void (*run)(int64_t rows, int64_t n, const void *x, int64_t step, void *accumulators);
  /* accumulators[i] op= every x[i] of `rows` rows of n elements, `step` bytes apart; with `first` they are set. Eight
   * rows at a time are read side by side. */
  void (*fold)(int64_t rows, int64_t n, const void *x, int64_t step, void *accumulators, int32_t first);
  /* accumulators[i] op= others[i] */
  void (*merge)(int64_t n, const void *others, void *accumulators);
  /* y[i] = accumulators[i] / count, rounded to the dtype of the result; only sums of floats divide, and
   * norm2 takes the square root. */
  void (*store)(int64_t n, const void *accumulators, double count, void *y);
} nd4c_reduction_loops;

/* The first largest (smallest) element, NaN above all. run: its position among n contiguous elements. fold: row number
 * `row` of n columns; best and where are kept in between, row 0 starts. best has the dtype, float for 16-bit floats. */
typedef struct nd4c_arg_loops {
  int64_t (*run)(int64_t n, const void *x);
  void (*fold)(int64_t n, const void *x, int64_t row, void *best, int64_t *where);
} nd4c_arg_loops;

typedef struct nd4c_reduction_table {
  nd4c_reduction_loops loops[ND4C_REDUCE_COUNT][ND4C_DTYPE_END];
  nd4c_arg_loops argmax[ND4C_DTYPE_END], argmin[ND4C_DTYPE_END];
} nd4c_reduction_table;

#endif
