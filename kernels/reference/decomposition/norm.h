/* Norms of vectors, for the op vector_norm. backends/cpu/reference/decomposition.c calls this. */
#ifndef ND4C_KERNELS_REFERENCE_DECOMPOSITION_NORM_H
#define ND4C_KERNELS_REFERENCE_DECOMPOSITION_NORM_H

#include "kernels/reference/support/tensor.h"

/* Which of x's axes are summed over, where the result lies by x's axes (0 on the summed ones), and the order. */
typedef struct nd4c_ref_norm {
  nd4c_ref_tensor x, y;
  bool reduced[32];
  int64_t strides[32];
  double ord;
} nd4c_ref_norm;

/* Results [begin, end) in C order: (sum |x|^ord)^(1/ord); infinities: extremes, 0: count of what is not zero. */
void nd4c_ref_vector_norm(const nd4c_ref_norm *args, int64_t begin, int64_t end);

#endif
