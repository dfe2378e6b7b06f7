/* Reductions over any axes. The family reduction of engine reference calls this. */
#ifndef ND4C_KERNELS_REFERENCE_REDUCTION_REDUCTION_H
#define ND4C_KERNELS_REFERENCE_REDUCTION_REDUCTION_H

#include "kernels/reference/support/value.h"

typedef enum nd4c_reduction {
  ND4C_REDUCTION_SUM,
  ND4C_REDUCTION_PROD,
  ND4C_REDUCTION_MEAN,
  ND4C_REDUCTION_MAX,
  ND4C_REDUCTION_MIN,
  ND4C_REDUCTION_ALL,
  ND4C_REDUCTION_ANY,
  ND4C_REDUCTION_ARGMAX,
  ND4C_REDUCTION_ARGMIN
} nd4c_reduction;

/* Reduces the axes of x whose flag is set. The output's strides are given for x's axes (those of reduced axes are not
 * looked at). SUM and PROD cast each element to the output's dtype first. Sums of floats are compensated in float64.
 * ARGMAX and ARGMIN take one reduced axis and store int64. MAX, MIN and the ARG forms need a non-empty range. */
void nd4c_reference_reduce(nd4c_reduction reduction, const nd4c_operand *x, int32_t rank, const int64_t *shape,
                           const bool *reduced, const nd4c_operand *y);

#endif
