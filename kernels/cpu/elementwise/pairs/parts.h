/* Inner loops of ops on the parts and bits of one number. The loops of arithmetic and functions are in unary.h.
 * simd/elementwise/elementwise_parts.c runs them. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_PARTS_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_PARTS_H

#include "kernels/cpu/elementwise/unary.h"

/* X(name, DTYPE, dtype): lists of ops, to be written out for one dtype. */
#define ND4C_PART_WHOLES(X, D, d) X(bitwise_invert, D, d)
/* Of floats: of 16 bits, the first are computed in f32 and the others on their bits. */
#define ND4C_PART_FLOATS(X, D, d) X(trunc, D, d) X(frac, D, d)
#define ND4C_PART_PREDICATES(X, D, d) X(is_finite, D, d) X(is_inf, D, d) X(signbit, D, d)

enum nd4c_part_index {
#define ND4C_PART_INDEX(name, D, d) ND4C_PART_##name,
  ND4C_PART_WHOLES(ND4C_PART_INDEX, , ) ND4C_PART_FLOATS(ND4C_PART_INDEX, , ) ND4C_PART_PREDICATES(ND4C_PART_INDEX, , )
      ND4C_PART_bit_count,
#undef ND4C_PART_INDEX
  ND4C_PART_nan_to_num,
  ND4C_PART_cube,
  ND4C_PART_COUNT
};

/* The parameters of is_inf: whether it looks for minus infinity (alpha) and for infinity (beta). Of nan_to_num: `high`
 * points to three elements, which stand for NaN, infinity and minus infinity. */
typedef struct nd4c_parts_table {
  nd4c_unary_loop loops[ND4C_PART_COUNT][ND4C_DTYPE_END]; /* NULL: no such loop */
} nd4c_parts_table;

#endif
