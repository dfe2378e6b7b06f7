/* Inner loops of further binary ops: bits, divisions with a rest, and ops on floats that are not arithmetic. The loops
 * of the four operations and of comparisons are in binary.h. simd/elementwise/elementwise_pairs.c runs them. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_PAIRS_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_PAIRS_H

#include "kernels/cpu/elementwise/binary.h"

/* X(name, DTYPE, dtype): lists of ops, to be written out for one dtype. */
#define ND4C_PAIR_DIVISIONS(X, D, d) X(floor_divide, D, d) X(remainder, D, d) X(fmod, D, d)
/* Of integers: the same for both signs, and those that need to know the sign. */
#define ND4C_PAIR_BITS(X, D, d) \
  X(bitwise_and, D, d) X(bitwise_or, D, d) X(bitwise_xor, D, d) X(bitwise_left_shift, D, d)
#define ND4C_PAIR_WHOLES(X, D, d) X(bitwise_right_shift, D, d)
#define ND4C_PAIR_DIVISORS(X, D, d) X(gcd, D, d) X(lcm, D, d)
/* Of floats: of 16 bits, the first are computed in f32 and the others on their bits. */
#define ND4C_PAIR_FLOATS(X, D, d) X(fmax, D, d) X(fmin, D, d) X(heaviside, D, d) X(divide_no_nan, D, d)
#define ND4C_PAIR_SIGNS(X, D, d) X(copysign, D, d) X(nextafter, D, d)

enum nd4c_pair_index {
#define ND4C_PAIR_INDEX(name, D, d) ND4C_PAIR_##name,
  ND4C_PAIR_DIVISIONS(ND4C_PAIR_INDEX, , ) ND4C_PAIR_BITS(ND4C_PAIR_INDEX, , ) ND4C_PAIR_WHOLES(ND4C_PAIR_INDEX, , )
      ND4C_PAIR_DIVISORS(ND4C_PAIR_INDEX, , ) ND4C_PAIR_FLOATS(ND4C_PAIR_INDEX, , ) ND4C_PAIR_SIGNS(ND4C_PAIR_INDEX, , )
          ND4C_PAIR_squared_difference,
#undef ND4C_PAIR_INDEX
  ND4C_PAIR_COUNT
};

/* When two numbers count as close. */
typedef struct nd4c_closeness {
  double relative, absolute;
  bool equal_nan;
} nd4c_closeness;

/* y[i] = whether a[i] and b[i] are close. */
typedef void (*nd4c_close_loop)(int64_t n, const void *a, const void *b, uint8_t *y, const nd4c_closeness *closeness);

typedef struct nd4c_pairs_table {
  nd4c_binary_loops loops[ND4C_PAIR_COUNT][ND4C_DTYPE_END];
  nd4c_close_loop close[ND4C_DTYPE_END]; /* NULL: no such loop */
} nd4c_pairs_table;

#endif
