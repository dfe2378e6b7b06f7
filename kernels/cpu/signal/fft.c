/* Implements fft.h: Stockham's steps of 4, 2, 3 and 5, which leave the points in order, from fft_loops.h. Compiled once
 * per level. simd/signal_plan.c picks the table's entry by precision. */
#include "kernels/cpu/signal/fft.h"

#include "kernels/cpu/contraction/gemm_vector.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/support/vector.h"
#include "kernels/types.h"

extern const nd4c_fft_table ND4C_LEVEL_NAME(nd4c_fft_table);

/* Places of the real and imaginary parts in two vectors of joined numbers, and of these in the other two. */
#define EVENS_2 0, 2
#define EVENS_4 ND4C_EVENS_8
#define EVENS_8 ND4C_EVENS_16
#define EVENS_16 ND4C_EVENS_32
#define ODDS_2 1, 3
#define ODDS_4 ODDS_2, 5, 7
#define ODDS_8 ODDS_4, 9, 11, 13, 15
#define ODDS_16 ND4C_ODDS_32
#define FIRST_2 0, 2
#define FIRST_4 0, 4, 1, 5
#define FIRST_8 0, 8, 1, 9, 2, 10, 3, 11
#define FIRST_16 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define LAST_2 1, 3
#define LAST_4 2, 6, 3, 7
#define LAST_8 4, 12, 5, 13, 6, 14, 7, 15
#define LAST_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define DOWN_2 1, 0
#define DOWN_4 3, 2, 1, 0
#define DOWN_8 ND4C_DOWN_8
#define DOWN_16 ND4C_DOWN_16
#if defined(__AVX512F__)
#define SHUFFLES_float32(list) list##_16
#define SHUFFLES_float64(list) list##_8
#elif defined(__AVX2__) && defined(__FMA__)
#define SHUFFLES_float32(list) list##_8
#define SHUFFLES_float64(list) list##_4
#else
#define SHUFFLES_float32(list) list##_4
#define SHUFFLES_float64(list) list##_2
#endif

#define SHUFFLES NAME(SHUFFLES)

#define ND4C_TEMPLATE "kernels/cpu/signal/fft_loops.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

#define LOOPS(d)                      \
  {                                   \
      .lanes = VECTOR_LANES_##d,      \
      .split = split_##d,             \
      .join = join_##d,               \
      .run = run_##d,                 \
      .unpack = unpack_##d,           \
      .pack = pack_##d,               \
      .unpack_line = unpack_line_##d, \
      .pack_line = pack_line_##d,     \
      .twist = twist_##d,             \
  }
const nd4c_fft_table ND4C_LEVEL_NAME(nd4c_fft_table) = {.of = {LOOPS(float64), LOOPS(float32)}};
