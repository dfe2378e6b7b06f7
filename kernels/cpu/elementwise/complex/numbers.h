/* Complex numbers as pairs of floats, and vectors of them. binary.c includes this before the template of this
 * folder. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_NUMBERS_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_NUMBERS_H

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/cpu/support/level.h"
#include "kernels/types.h"

typedef float nd4c_part_complex64;
typedef double nd4c_part_complex128;

/* One register: the compiler takes shuffles of more than that apart, element by element. */
#if defined(__AVX__)
#define ND4C_NUMBERS_BYTES 32
#define ND4C_LANES_complex64(X) X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7)
#define ND4C_LANES_complex128(X) X(0), X(1), X(2), X(3)
#else
#define ND4C_NUMBERS_BYTES 16
#define ND4C_LANES_complex64(X) X(0), X(1), X(2), X(3)
#define ND4C_LANES_complex128(X) X(0), X(1)
#endif
typedef float nd4c_numbers_complex64 __attribute__((vector_size(ND4C_NUMBERS_BYTES), aligned(4), may_alias));
typedef double nd4c_numbers_complex128 __attribute__((vector_size(ND4C_NUMBERS_BYTES), aligned(8), may_alias));
typedef uint64_t nd4c_numbers_bits __attribute__((vector_size(ND4C_NUMBERS_BYTES)));

/* gcc 12 fuses the sums of products of a complex product that it joins into one vector, whatever -ffp-contract says:
 * what overflows would no longer be what engine reference has. */
#if defined(__GNUC__) && !defined(__clang__)
#define ND4C_UNFUSED __attribute__((noinline, optimize("no-tree-slp-vectorize")))
#else
#define ND4C_UNFUSED
#endif

#define ND4C_LANE_OF_REAL(i) ((i) & ~1)
#define ND4C_LANE_OF_IMAGINARY(i) ((i) | 1)
#define ND4C_LANE_OF_OTHER(i) ((i) ^ 1)
/* Of two vectors, the first one's real parts and the second one's imaginary parts. */
#define ND4C_REAL_AND_IMAGINARY_complex64(i) ((i) & 1 ? (i) + ND4C_NUMBERS_BYTES / 4 : (i))
#define ND4C_REAL_AND_IMAGINARY_complex128(i) ((i) & 1 ? (i) + ND4C_NUMBERS_BYTES / 8 : (i))

#endif
