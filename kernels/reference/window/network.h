/* Reference kernels of the neural-network and linear-algebra ops: any strides, sums in double precision, one output
 * element (or one row) at a time. Each computes the outputs [begin, end) in C order, so that ranges can run side by
 * side. The caller has checked that shapes are consistent. */
#ifndef ND4C_KERNELS_REFERENCE_WINDOW_NETWORK_H
#define ND4C_KERNELS_REFERENCE_WINDOW_NETWORK_H

#include <stdbool.h>

#include "kernels/reference/support/tensor.h"

/* Numbers of the op table's activations. */
double nd4c_ref_activate(int64_t activation, double x);

typedef struct nd4c_ref_linear_args {
  nd4c_ref_tensor x, w, bias, addend, y;
  bool transpose_w;
  int64_t activation;
} nd4c_ref_linear_args;
void nd4c_ref_linear(const nd4c_ref_linear_args *args, int64_t begin, int64_t end);

/* Sliding windows over up to three spatial axes. */
typedef struct nd4c_ref_window {
  int32_t spatial;
  int64_t input[3], kernel[3], stride[3], dilation[3], pad_begin[3], pad_end[3];
} nd4c_ref_window;

typedef struct nd4c_ref_conv_args {
  nd4c_ref_tensor x, w, bias, addend, y;
  nd4c_ref_window window;
  int64_t groups, activation;
} nd4c_ref_conv_args;
void nd4c_ref_conv(const nd4c_ref_conv_args *args, int64_t begin, int64_t end);

typedef struct nd4c_ref_norm_args {
  nd4c_ref_tensor x, scale, bias, mean, variance, y;
  double epsilon;
} nd4c_ref_norm_args;
void nd4c_ref_batch_norm(const nd4c_ref_norm_args *args, int64_t begin, int64_t end);

/* Range over the rows: positions of all axes but `axis`. */
void nd4c_ref_softmax(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y, int32_t axis, bool logarithm, int64_t begin,
                      int64_t end);

typedef struct nd4c_ref_lrn_args {
  nd4c_ref_tensor x, y;
  int64_t size;
  double alpha, beta, bias;
} nd4c_ref_lrn_args;
void nd4c_ref_lrn(const nd4c_ref_lrn_args *args, int64_t begin, int64_t end);

#endif
