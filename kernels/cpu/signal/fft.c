/* See fft.h. Stockham's steps of 4, 2, 3 and 5, which leave the points in order. */
#include "kernels/cpu/signal/fft.h"

#include "kernels/cpu/support/level.h"

#if defined(__AVX512F__)
#include <immintrin.h>
enum { VECTOR = 64 };
#define FUSED32(a, b, c) _mm512_fmadd_ps(a, b, c)
#define FUSED64(a, b, c) _mm512_fmadd_pd(a, b, c)
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
enum { VECTOR = 32 };
#define FUSED32(a, b, c) _mm256_fmadd_ps(a, b, c)
#define FUSED64(a, b, c) _mm256_fmadd_pd(a, b, c)
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
enum { VECTOR = 16 };
#define FUSED32(a, b, c) vfmaq_f32(c, a, b)
#define FUSED64(a, b, c) vfmaq_f64(c, a, b)
#else
enum { VECTOR = 16 };
#define FUSED32(a, b, c) ((a) * (b) + (c))
#define FUSED64(a, b, c) ((a) * (b) + (c))
#endif

extern const nd4c_fft_table ND4C_LEVEL_NAME(nd4c_fft_table);

/* Places of the real and imaginary parts in two vectors of joined numbers, and of these in the other two. */
#define EVENS_2 0, 2
#define EVENS_4 EVENS_2, 4, 6
#define EVENS_8 EVENS_4, 8, 10, 12, 14
#define EVENS_16 EVENS_8, 16, 18, 20, 22, 24, 26, 28, 30
#define ODDS_2 1, 3
#define ODDS_4 ODDS_2, 5, 7
#define ODDS_8 ODDS_4, 9, 11, 13, 15
#define ODDS_16 ODDS_8, 17, 19, 21, 23, 25, 27, 29, 31
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
#define DOWN_8 7, 6, 5, 4, DOWN_4
#define DOWN_16 15, 14, 13, 12, 11, 10, 9, 8, DOWN_8
#if defined(__AVX512F__)
#define SHUFFLES32(list) list##_16
#define SHUFFLES64(list) list##_8
#elif defined(__AVX2__) && defined(__FMA__)
#define SHUFFLES32(list) list##_8
#define SHUFFLES64(list) list##_4
#else
#define SHUFFLES32(list) list##_4
#define SHUFFLES64(list) list##_2
#endif

#define NAME(name) ND4C_LEVEL_PASTE(name, REAL_BITS)
#define REAL_BITS 32
#define REAL float
#define FUSED FUSED32
#define SHUFFLES SHUFFLES32
#include "kernels/cpu/signal/fft_loops.h"
#undef REAL_BITS
#undef REAL
#undef FUSED
#undef SHUFFLES
#define REAL_BITS 64
#define REAL double
#define FUSED FUSED64
#define SHUFFLES SHUFFLES64
#include "kernels/cpu/signal/fft_loops.h"

#define LOOPS(real, bits)                                                                                           \
  {                                                                                                                 \
    .lanes = VECTOR / sizeof(real), .split = split_##bits, .join = join_##bits, .run = run_##bits,                  \
    .unpack = unpack_##bits, .pack = pack_##bits, .unpack_line = unpack_line_##bits, .pack_line = pack_line_##bits, \
    .twist = twist_##bits,                                                                                          \
  }
const nd4c_fft_table ND4C_LEVEL_NAME(nd4c_fft_table) = {.of = {LOOPS(double, 64), LOOPS(float, 32)}};
