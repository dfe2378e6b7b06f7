/* Inner loops of normalisations by numbers in double: y = (x - middle) / divisor * scale + bias, rounded once.
 * simd/reduction/reduction_normalize.c calls them. */
#ifndef ND4C_KERNELS_CPU_NORMALIZATION_BY_NUMBERS_H
#define ND4C_KERNELS_CPU_NORMALIZATION_BY_NUMBERS_H

#include <stdint.h>

#include "nd4c/dtype.h"

typedef struct nd4c_by_numbers {
  const double *middle, *divisor, *scale, *bias; /* scale and bias: both, or both NULL */
} nd4c_by_numbers;

/* n contiguous elements. one: one of each number for all of them. row: one middle and one divisor, a scale and a bias
 * for each element. each: one of each for each element. */
typedef void (*nd4c_by_numbers_loop)(int64_t n, const void *x, const nd4c_by_numbers *numbers, void *y);
typedef struct nd4c_by_numbers_loops {
  nd4c_by_numbers_loop one, row, each;
} nd4c_by_numbers_loops;

typedef struct nd4c_by_numbers_table {
  nd4c_by_numbers_loops loops[ND4C_DTYPE_END]; /* floats */
} nd4c_by_numbers_table;

#endif
