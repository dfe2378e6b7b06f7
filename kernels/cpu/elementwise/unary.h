/* Inner loops over one contiguous operand, and of the few ops with more operands that are not binary.
 * simd/elementwise.c runs them; support/contraction_epilogue.c applies activations with them. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_UNARY_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_UNARY_H

#include <stdint.h>

#include "nd4c/dtype.h"

/* X(name, DTYPE, dtype): lists of ops, to be written out for one dtype. */
#define ND4C_UNARY_SIGNS(X, D, d) X(negative, D, d) X(abs, D, d) X(relu, D, d)
#define ND4C_UNARY_NUMBERS(X, D, d) ND4C_UNARY_SIGNS(X, D, d) X(square, D, d) X(sign, D, d)
#define ND4C_UNARY_PLAIN_FLOATS(X, D, d) X(floor, D, d) X(ceil, D, d) X(round, D, d) X(reciprocal, D, d)
/* AVX-512 has forms of these for whole vectors: of the first for every float, of the others for those up to 32 bits. */
#define ND4C_UNARY_VECTORS(X, D, d) X(exp, D, d) X(log, D, d) X(sigmoid, D, d) X(sqrt, D, d)
#define ND4C_UNARY_NARROW_VECTORS(X, D, d) X(tanh, D, d) X(erf, D, d) X(gelu, D, d) X(gelu_tanh, D, d)
#define ND4C_UNARY_ACTIVATIONS(X, D, d) \
  X(leaky_relu, D, d)                   \
  X(elu, D, d)                          \
  X(selu, D, d)                         \
  X(celu, D, d)                         \
  X(softplus, D, d)                     \
  X(softsign, D, d)                     \
  X(mish, D, d)                         \
  X(swish, D, d)                        \
  X(log_sigmoid, D, d)                  \
  X(threshold, D, d) X(hard_sigmoid, D, d) X(hard_swish, D, d) X(hard_tanh, D, d) X(shrink, D, d)
#define ND4C_UNARY_OTHERS(X, D, d) X(sin, D, d) X(cos, D, d) X(clip, D, d) X(is_nan, D, d)

enum nd4c_unary_index {
#define ND4C_UNARY_INDEX(name, D, d) ND4C_UNARY_##name,
  ND4C_UNARY_NUMBERS(ND4C_UNARY_INDEX, , ) ND4C_UNARY_PLAIN_FLOATS(ND4C_UNARY_INDEX, , )
      ND4C_UNARY_VECTORS(ND4C_UNARY_INDEX, , ) ND4C_UNARY_NARROW_VECTORS(ND4C_UNARY_INDEX, , )
          ND4C_UNARY_ACTIVATIONS(ND4C_UNARY_INDEX, , ) ND4C_UNARY_OTHERS(ND4C_UNARY_INDEX, , ) ND4C_UNARY_logical_not,
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
