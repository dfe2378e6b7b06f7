/* The table of mathematical functions of one and of two numbers that have no form of their own elsewhere. functions.c
 * makes the loops; simd/elementwise/elementwise_functions.c makes the kernels, and picks the loops from
 * nd4c_simd.functions.
 *
 * A function is one row here and one formula, nd4c_function_<name>, in a header of the folder functions: of f64 and
 * without branches, so that the compiler makes vectors of it at every level. float32 is computed by the same formula,
 * or by one of f32; 16-bit floats as float32. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_H

#include "kernels/cpu/elementwise/binary.h"
#include "kernels/cpu/elementwise/unary.h"

/* X(name, cost): the cost of one element, in the unit of nd4c_nest_run. */
/* These have forms of f32, too, nd4c_single_<name> (functions/single.h): with twice the speed where products are fused.
 */
#define ND4C_FUNCTIONS_SINGLE(X) \
  X(expm1, 8)                    \
  X(atan, 12)                    \
  X(asin, 14)                    \
  X(acos, 14)                    \
  X(sinh, 10)                    \
  X(cosh, 10)                    \
  X(asinh, 20)                   \
  X(acosh, 18)                   \
  X(cbrt, 10)
/* These have forms of whole vectors of AVX-512 besides, nd4c_<name>_sixteen and nd4c_<name>_eight
 * (functions/vectors.h). */
#define ND4C_FUNCTIONS_VECTORS(X) X(log1p, 6) X(log2, 4) X(log10, 4) X(exp2, 4) X(atanh, 10) X(rsqrt, 4)
/* Of f32 these have such a form for numbers next to 0 alone, nd4c_<name>_near_sixteen. */
#define ND4C_FUNCTIONS_NEAR(X) X(tan, 12)
#define ND4C_FUNCTIONS_WIDE(X) \
  X(erfc, 20)                  \
  X(logit, 16)                 \
  X(sinc, 16)                  \
  X(deg2rad, 1)                \
  X(rad2deg, 1)                \
  X(angle, 1)                  \
  X(tanh_shrink, 16)           \
  X(rational_tanh, 8)          \
  X(rectified_tanh, 12)        \
  X(erfinv, 40)                \
  X(i0, 40)                    \
  X(i1, 40)                    \
  X(lgamma, 60)                \
  X(digamma, 60)               \
  X(gamma, 60)
#define ND4C_FUNCTIONS_OF_ONE(X) \
  ND4C_FUNCTIONS_SINGLE(X) ND4C_FUNCTIONS_VECTORS(X) ND4C_FUNCTIONS_NEAR(X) ND4C_FUNCTIONS_WIDE(X)
#define ND4C_FUNCTIONS_OF_PAIRS(X) X(atan2, 16) X(hypot, 12) X(xlogy, 12)
/* Their results may cancel: some of f64 are computed again in long double. */
#define ND4C_FUNCTIONS_OF_SUMS(X) X(logaddexp, 20) X(logaddexp2, 20)
#define ND4C_FUNCTIONS_OF_TWO(X) ND4C_FUNCTIONS_OF_PAIRS(X) ND4C_FUNCTIONS_OF_SUMS(X)

enum nd4c_function_index {
#define ND4C_FUNCTION_INDEX(name, cost) ND4C_FUNCTION_##name,
  ND4C_FUNCTIONS_OF_ONE(ND4C_FUNCTION_INDEX)
#undef ND4C_FUNCTION_INDEX
      ND4C_FUNCTION_COUNT
};

enum nd4c_function_of_two_index {
#define ND4C_FUNCTION_INDEX(name, cost) ND4C_FUNCTION_##name,
  ND4C_FUNCTIONS_OF_TWO(ND4C_FUNCTION_INDEX)
#undef ND4C_FUNCTION_INDEX
      ND4C_FUNCTION_OF_TWO_COUNT
};

/* Of floats; NULL for other dtypes. Loops take no parameters. */
typedef struct nd4c_functions_table {
  nd4c_unary_loop loops[ND4C_FUNCTION_COUNT][ND4C_DTYPE_END];
} nd4c_functions_table;

/* ldexp: the second operand is int32 at [0] and int64 at [1]. */
typedef struct nd4c_functions_of_two_table {
  nd4c_binary_loops loops[ND4C_FUNCTION_OF_TWO_COUNT][ND4C_DTYPE_END];
  nd4c_binary_loops ldexp[ND4C_DTYPE_END][2];
} nd4c_functions_of_two_table;

#endif
