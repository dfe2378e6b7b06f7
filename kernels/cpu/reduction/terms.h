/* What elements count for in reductions of a function of them: |x|^p, (a - b)^2, x without NaN. Each map writes one
 * to three lines of terms, which the loops of reduction.h then fold. simd/reduction/reduction_terms.c calls them. */
#ifndef ND4C_KERNELS_CPU_REDUCTION_TERMS_H
#define ND4C_KERNELS_CPU_REDUCTION_TERMS_H

#include <stdint.h>

#include "nd4c/dtype.h"

/* X(name): terms of one or two floats, as double. In the same order: x; x or, of NaN, 0; that and 1 or 0; x or 1;
 * |x|^parameter; -x ln x; -x log2 x; ab, aa and bb; ab; ab, or 0 of b = 0; (a - b)^2; |a - b|; whether a and b differ;
 * the smaller and the larger one; losses of a prediction x and a target z, which kernels/reference/loss/loss.c has as
 * formulas. */
#define ND4C_DOUBLE_TERMS(X) \
  X(plain)                   \
  X(known)                   \
  X(counted)                 \
  X(known_factor)            \
  X(power)                   \
  X(entropy)                 \
  X(shannon)                 \
  X(products)                \
  X(product)                 \
  X(score)                   \
  X(squared_distance)        \
  X(distance)                \
  X(differing)               \
  X(extremes)                \
  X(huber) X(smooth) X(hinge) X(log_loss) X(sigmoid_loss) X(divergence) X(divergence_log) X(poisson)
/* Terms of one float in its own dtype, of 16-bit floats as float: x or, of NaN, an infinity; |x|. */
#define ND4C_OWN_TERMS(X) X(known_largest) X(known_smallest) X(magnitude)
/* Terms of one element of any dtype, as bytes 0 or 1. */
#define ND4C_BYTE_TERMS(X) X(zero) X(nonzero)

enum nd4c_term_index {
#define ND4C_TERM_INDEX(name) ND4C_TERM_##name,
  ND4C_DOUBLE_TERMS(ND4C_TERM_INDEX) ND4C_OWN_TERMS(ND4C_TERM_INDEX) ND4C_BYTE_TERMS(ND4C_TERM_INDEX)
#undef ND4C_TERM_INDEX
      ND4C_TERM_COUNT
};

enum { ND4C_TERM_LINES = 3 };

/* The terms of two operands, a bit for each; losses besides, which are not asked. */
#define ND4C_TERM_BIT(name) (UINT64_C(1) << ND4C_TERM_##name)
#define ND4C_PAIR_TERMS                                                                                        \
  (ND4C_TERM_BIT(products) | ND4C_TERM_BIT(product) | ND4C_TERM_BIT(score) | ND4C_TERM_BIT(squared_distance) | \
   ND4C_TERM_BIT(distance) | ND4C_TERM_BIT(differing) | ND4C_TERM_BIT(extremes))

/* to[0][i] = the term of x[i] and, of terms of two operands, z[i], for i in [0, n); to[1], to[2]: further lines, if the
 * term has them. x and z are contiguous; no line overlaps them. */
typedef void (*nd4c_term_map)(int64_t n, const void *x, const void *z, double parameter, void *const *to);

typedef struct nd4c_terms_table {
  nd4c_term_map maps[ND4C_TERM_COUNT][ND4C_DTYPE_END]; /* NULL: no such terms of this dtype */
} nd4c_terms_table;

#endif
