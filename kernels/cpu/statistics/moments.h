/* Inner loops of reductions that keep two numbers per result: mean and sum of squared distances from it, largest and
 * sum of exponentials relative to it. simd/statistics.c, simd/normalization.c and
 * simd/normalization_groups.c call these. */
#ifndef ND4C_KERNELS_CPU_STATISTICS_MOMENTS_H
#define ND4C_KERNELS_CPU_STATISTICS_MOMENTS_H

#include <stdint.h>

#include "nd4c/dtype.h"

/* Elements of a piece of a run, columns of a block, rows of a block: pieces are read twice, the second time from the
 * caches. */
enum { ND4C_GATHER_PIECE = 2048, ND4C_GATHER_COLUMNS = 512, ND4C_GATHER_ROWS = 32 };

/* first: mean or largest; second: squares or exponentials; third: what rounding took from the mean. */
typedef struct nd4c_gathered {
  double *first, *second, *third;
} nd4c_gathered;

typedef struct nd4c_moments_loops {
  /* Takes n <= ND4C_GATHER_PIECE contiguous elements into a state that holds `count` ones (0: it is set). */
  void (*run)(int64_t n, const void *x, int64_t count, nd4c_gathered state);
  /* Takes rows <= ND4C_GATHER_ROWS rows of n <= ND4C_GATHER_COLUMNS elements, `step` bytes apart, into n states. */
  void (*block)(int64_t rows, int64_t n, const void *x, int64_t step, int64_t count, nd4c_gathered states);
  /* Takes the state of other_count elements into one of count elements. */
  void (*merge)(int64_t count, nd4c_gathered state, int64_t other_count, nd4c_gathered other);
} nd4c_moments_loops;

typedef struct nd4c_moments_table {
  nd4c_moments_loops moments[ND4C_DTYPE_END], exponentials[ND4C_DTYPE_END];
} nd4c_moments_table;

#endif
