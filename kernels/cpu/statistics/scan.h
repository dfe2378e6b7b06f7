/* Inner loops of running results along an axis: sums and products so far, best so far. simd/statistics_scan.c calls
 * these. */
#ifndef ND4C_KERNELS_CPU_STATISTICS_SCAN_H
#define ND4C_KERNELS_CPU_STATISTICS_SCAN_H

#include <stdint.h>

#include "nd4c/dtype.h"

/* By the dtype of x. A carry has eight bytes: double for floats, the 64-bit integer for integers, whose results are
 * 64-bit integers, too. lost: what rounding took from the carry of a sum of f64. */
typedef struct nd4c_scan_loops {
  /* y[i] = what carry has become after x[i], for n contiguous elements. */
  void (*run)(int64_t n, const void *x, void *y, void *carry, double *lost);
  /* The same side by side: y[i] = carries[i] after x[i]. */
  void (*row)(int64_t n, const void *x, void *y, void *carries, double *lost);
  /* run for four lines at once, step and y_step bytes apart; or NULL. */
  void (*four)(int64_t n, const void *x, int64_t step, void *y, int64_t y_step, void *carries);
  /* run without y: what carry becomes; or NULL. */
  void (*total)(int64_t n, const void *x, void *carry);
} nd4c_scan_loops;

/* best: in x's dtype, where: its position; `position` is that of x[0] (run) or of the row. first: nothing came before.
 * The latest best counts, NaN is best of all. */
typedef struct nd4c_best_loops {
  void (*run)(int64_t n, const void *x, int64_t position, void *best, int64_t *where, void *y, int64_t *indices);
  void (*row)(int64_t n, const void *x, int64_t position, void *best, int64_t *where, void *y, int64_t *indices);
} nd4c_best_loops;

typedef struct nd4c_scan_table {
  nd4c_scan_loops sum[ND4C_DTYPE_END], prod[ND4C_DTYPE_END];
  nd4c_best_loops max[ND4C_DTYPE_END], min[ND4C_DTYPE_END];
} nd4c_scan_table;

#endif
