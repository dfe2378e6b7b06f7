/* linear and the activations behind products. Any strides, sums in double precision. Inference has checked the shapes.
 * backends/cpu/reference/contraction.c calls linear; bias_add and conv call the activations. */
#ifndef ND4C_KERNELS_REFERENCE_CONTRACTION_LINEAR_H
#define ND4C_KERNELS_REFERENCE_CONTRACTION_LINEAR_H

#include <stdbool.h>

#include "kernels/reference/support/tensor.h"

/* Numbers of the op table's activations. */
double nd4c_ref_activate(int64_t activation, double x);

/* What an operand that is broadcast to y adds to its element `flat`: 0 if it was left out. */
double nd4c_ref_addend(const nd4c_ref_tensor *addend, const nd4c_ref_tensor *y, int64_t flat);

typedef struct nd4c_ref_linear_args {
  nd4c_ref_tensor x, w, bias, addend, y;
  bool transpose_w;
  int64_t activation;
} nd4c_ref_linear_args;
/* Range over the elements of y in C order. */
void nd4c_ref_linear(const nd4c_ref_linear_args *args, int64_t begin, int64_t end);

#endif
