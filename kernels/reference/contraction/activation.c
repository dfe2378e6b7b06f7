/* Implements nd4c_ref_activate of linear.h: the activation behind a product. linear.c, window/conv.c and bias_add of
 * backends/cpu/reference/normalization.c call it. */
#include "kernels/reference/contraction/linear.h"
#include "kernels/reference/elementwise/mathematics.h"

/* The op table's numbers; kernels know nothing above themselves, a static assertion in the backend ties the two. */
enum { NONE, RELU, GELU, GELU_TANH, SIGMOID, TANH, SWISH, HARD_SWISH, RELU6 };

static double within(double x, double low, double high) {
  return x < low ? low : x > high ? high : x; /* NaN passes */
}

double nd4c_ref_activate(int64_t activation, double x) {
  switch (activation) {
    case RELU:
      return x > 0 || isnan(x) ? x : 0;
    case GELU:
      return nd4c_real_gelu(x);
    case GELU_TANH:
      return nd4c_real_gelu_tanh(x);
    case SIGMOID:
      return 1 / (1 + exp(-x));
    case TANH:
      return tanh(x);
    case SWISH:
      return x == -INFINITY ? -0.0 : x / (1 + exp(-x));
    case HARD_SWISH:
      return x == -INFINITY ? -0.0 : x * within(x / 6 + 0.5, 0, 1);
    case RELU6:
      return within(x, 0, 6);
    case NONE:
    default:
      return x;
  }
}
