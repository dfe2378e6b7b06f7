/* Convolution over up to three spatial axes, and the windows that conv and the pools slide. Any strides, sums in double
 * precision. backends/cpu/reference/window.c calls it; support/window.h of the cpu backend reads windows for every
 * engine. */
#ifndef ND4C_KERNELS_REFERENCE_WINDOW_CONV_H
#define ND4C_KERNELS_REFERENCE_WINDOW_CONV_H

#include "kernels/reference/support/tensor.h"

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
/* Range over the elements of y in C order. */
void nd4c_ref_conv(const nd4c_ref_conv_args *args, int64_t begin, int64_t end);

#endif
