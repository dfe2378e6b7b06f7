/* Sums of products over named axes: arrays in the widest number of their kind, dense, multiplied in pairs.
 * backends/cpu/support/contraction.c calls these for engine reference and BLAS. */
#ifndef ND4C_KERNELS_REFERENCE_CONTRACTION_CONTRACTION_H
#define ND4C_KERNELS_REFERENCE_CONTRACTION_CONTRACTION_H

#include "kernels/reference/support/tensor.h"

/* What a product is kept in: INT64 (bits of unsigned ones, too), FLOAT64 or COMPLEX128 for a result's dtype. BLAS may
 * keep float32 and complex64 as they are. */
nd4c_dtype nd4c_wide_dtype(nd4c_dtype dtype);

/* x, whose last `summed` axes are summed over, into dense numbers in C order, of the dtype `wide`. conjugate:
 * of complex ones. Elements [begin, end) of the result. */
typedef struct nd4c_wide_load_args {
  nd4c_ref_tensor x;
  int32_t summed;
  nd4c_dtype wide;
  bool conjugate;
  void *to;
} nd4c_wide_load_args;
void nd4c_wide_load(const nd4c_wide_load_args *args, int64_t begin, int64_t end);

/* Rows [begin, end) of c [m, n] = a [m, k] b [k, n], by rows without gaps. */
void nd4c_wide_product(nd4c_dtype wide, int64_t begin, int64_t end, int64_t n, int64_t k, const void *a, const void *b,
                       void *c);

/* Dense numbers in C order into y. */
void nd4c_wide_store(nd4c_dtype wide, const void *from, const nd4c_ref_tensor *y, int64_t begin, int64_t end);

/* Vectors of three elements: y = a x b, strides of the three elements' axis given, one vector each. */
void nd4c_ref_cross(const nd4c_ref_tensor *a, const nd4c_ref_tensor *b, const nd4c_ref_tensor *y,
                    const int64_t offsets[3], const int64_t steps[3]);

#endif
