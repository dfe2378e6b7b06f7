/* Inner loops over one contiguous operand, and of the few ops with more operands that are not binary. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_UNARY_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_UNARY_H

#include <stdint.h>

#include "nd4c/dtype.h"

#define ND4C_UNARY_NUMBERS(X) X(negative) X(abs) X(square) X(sign) X(relu)
#define ND4C_UNARY_ROUNDINGS(X) X(floor) X(ceil) X(round)
#define ND4C_UNARY_FLOATS(X) \
  X(sqrt) X(reciprocal) X(exp) X(log) X(sin) X(cos) X(tanh) X(erf) X(sigmoid) X(gelu) X(gelu_tanh)
#define ND4C_UNARY_ACTIVATIONS(X) \
  X(elu)                          \
  X(selu) X(celu) X(softplus) X(softsign) X(mish) X(swish) X(log_sigmoid) X(threshold) X(hard_sigmoid) X(hard_swish)
#define ND4C_UNARY_LOOPS(X)                                                                   \
  ND4C_UNARY_NUMBERS(X)                                                                       \
  ND4C_UNARY_ROUNDINGS(X) ND4C_UNARY_FLOATS(X) X(leaky_relu) X(clip) X(is_nan) X(logical_not) \
      ND4C_UNARY_ACTIVATIONS(X)

enum nd4c_unary_index {
#define ND4C_UNARY_INDEX(name) ND4C_UNARY_##name,
  ND4C_UNARY_LOOPS(ND4C_UNARY_INDEX)
#undef ND4C_UNARY_INDEX
      ND4C_UNARY_COUNT
};

/* Of leaky_relu, clip and activations: alpha and beta are their parameters in the order of the op table; bounds point
 * to one element of the loop's dtype, or are NULL. */
typedef struct nd4c_unary_parameters {
  double alpha, beta;
  const void *low, *high;
} nd4c_unary_parameters;

/* y[i] = op x[i] for i in [0, n). y may be x. */
typedef void (*nd4c_unary_loop)(int64_t n, const void *x, void *y, const nd4c_unary_parameters *parameters);

typedef void (*nd4c_cast_loop)(int64_t n, const void *x, void *y);

/* y[i] = condition[i] ? a[i] : b[i]. */
typedef void (*nd4c_where_loop)(int64_t n, const uint8_t *condition, const void *a, const void *b, void *y);

/* streams: the same, y written past the caches (a move table's stream_fence ends that), which does not wait for a piece
 * to be computed first; y is not x. */
typedef struct nd4c_unary_table {
  nd4c_unary_loop loops[ND4C_UNARY_COUNT][ND4C_DTYPE_END]; /* NULL: no such loop */
  nd4c_unary_loop streams[ND4C_UNARY_COUNT][ND4C_DTYPE_END];
} nd4c_unary_table;

typedef struct nd4c_cast_table {
  nd4c_cast_loop loops[ND4C_DTYPE_END][ND4C_DTYPE_END]; /* from, to */
  nd4c_where_loop where[17];                            /* by element size */
} nd4c_cast_table;

#endif
