/* Runs of f32 and f64 folded in registers: vectors as wide as the level's, whose accumulators plain loops would keep in
 * memory. It reads x in one stream and prefetches nothing: hardware prefetches contiguous runs best. reduction.c (by
 * fold.h), normalization.c and moments.c include it. */
#ifndef ND4C_KERNELS_CPU_REDUCTION_VECTOR_H
#define ND4C_KERNELS_CPU_REDUCTION_VECTOR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/cpu/reduction/reduction.h"
#include "kernels/cpu/support/level.h"
#include "kernels/types.h"

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* The level's registers, and how its instructions on them begin. */
#if defined(__AVX512F__)
enum { REGISTER = 64 };
typedef __m512 register_float32;
typedef __m512d register_float64;
#define PREFIX _mm512
#elif defined(__AVX__)
enum { REGISTER = 32 };
typedef __m256 register_float32;
typedef __m256d register_float64;
#define PREFIX _mm256
#else
enum { REGISTER = 16 };
#if defined(__SSE2__)
typedef __m128 register_float32;
typedef __m128d register_float64;
#define PREFIX _mm
#endif
#endif
enum { WIDTH_float32 = REGISTER / 4, WIDTH_float64 = REGISTER / 8 };

/* At any address that suits one element. */
typedef float wide_float32 __attribute__((vector_size(REGISTER), aligned(4), may_alias));
typedef double wide_float64 __attribute__((vector_size(REGISTER), aligned(8), may_alias));
typedef uint32_t bits_float32 __attribute__((vector_size(REGISTER), aligned(4), may_alias));
typedef uint64_t bits_float64 __attribute__((vector_size(REGISTER), aligned(8), may_alias));

/* -- what the levels have instructions for ------------------------------------------------------------------------- */

/* The lower and the upper floats of a register as doubles. The compiler makes several conversions of one. */
#if defined(__AVX512F__)
#define LOWER(v) ((wide_float64)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)(v))))
#define UPPER(v) \
  ((wide_float64)_mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd((__m512)(v)), 1))))
#define FETCH(x) ((wide_float64)_mm512_cvtps_pd(_mm256_loadu_ps(x)))
#elif defined(__AVX__)
#define LOWER(v) ((wide_float64)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)(v))))
#define UPPER(v) ((wide_float64)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)(v), 1)))
#define FETCH(x) ((wide_float64)_mm256_cvtps_pd(_mm_loadu_ps(x)))
#elif defined(__SSE2__)
#define LOWER(v) ((wide_float64)_mm_cvtps_pd((__m128)(v)))
#define UPPER(v) ((wide_float64)_mm_cvtps_pd(_mm_movehl_ps((__m128)(v), (__m128)(v))))
#define FETCH(x) ((wide_float64){(double)(x)[0], (double)(x)[1]})
#elif defined(__aarch64__)
#define LOWER(v) ((wide_float64)vcvt_f64_f32(vget_low_f32((float32x4_t)(v))))
#define UPPER(v) ((wide_float64)vcvt_high_f64_f32((float32x4_t)(v)))
#define FETCH(x) ((wide_float64)vcvt_f64_f32(vld1_f32(x)))
#else
#define LOWER(v) ((wide_float64){(double)(v)[0], (double)(v)[1]})
#define UPPER(v) ((wide_float64){(double)(v)[2], (double)(v)[3]})
#define FETCH(x) ((wide_float64){(double)(x)[0], (double)(x)[1]})
#endif

/* a * b + c of doubles, fused where there is an instruction for it. */
#if defined(__FMA__)
#define FUSED(a, b, c)                                                                            \
  ((wide_float64)ND4C_LEVEL_PASTE(PREFIX, fmadd_pd)((register_float64)(a), (register_float64)(b), \
                                                    (register_float64)(c)))
#elif defined(__aarch64__)
#define FUSED(a, b, c) ((wide_float64)vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b)))
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

/* Where NaN was among the numbers. As wide as the masks of AVX-512: gcc 12 spills those as they are, and would compare
 * more of the stack than it wrote. */
#if defined(__AVX512F__)
typedef __mmask16 seen_float32;
typedef __mmask8 seen_float64;
#else
typedef bits_float32 seen_float32;
typedef bits_float64 seen_float64;
#endif

static const uint32_t places_float32[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint64_t places_float64[8] = {0, 1, 2, 3, 4, 5, 6, 7};

static inline wide_float64 fetch_float32(const float *x) {
  return FETCH(x);
}

static inline wide_float64 fetch_float64(const double *x) {
  return *(const wide_float64 *)x;
}

#define SUFFIX_float32 ps
#define SUFFIX_float64 pd
/* max: _mm256_max_ps, ... */
#define REGISTER_OP(name) ND4C_LEVEL_PASTE(PREFIX, ND4C_LEVEL_PASTE(name, NAME(SUFFIX)))
#define ND4C_TEMPLATE "kernels/cpu/reduction/vector_loop.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

#define ND4C_TEMPLATE "kernels/cpu/reduction/vector_total.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

/* Sums of floats: four are added as floats, their sums as doubles. An infinity may be one of the four's alone: sums in
 * double then tell. */
ND4C_INLINED double in_fours(enum nd4c_reduce_index op, int64_t n, const float *x) {
  enum { W = WIDTH_float32 };
  if (n < 4 * W) {
    return in_double_float32(op, n, x);
  }
  wide_float64 lower = -(wide_float64){0}, upper = lower;
  int64_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W) {
    wide_float32 left = term_float32(op, load_float32(x + i)) + term_float32(op, load_float32(x + i + W));
    wide_float32 right = term_float32(op, load_float32(x + i + 2 * W)) + term_float32(op, load_float32(x + i + 3 * W));
    wide_float32 four = left + right;
    lower += LOWER(four), upper += UPPER(four);
  }
  for (; i < n; i += W) {
    wide_float32 one = term_float32(op, load_float32(x + (i + W <= n ? i : n - W)));
    if (i + W > n) {
      one = last_of_float32(one, n - i, -(wide_float32){0});
    }
    lower += LOWER(one), upper += UPPER(one);
  }
  lower += upper;
  double all = fold_lanes_float64(ND4C_REDUCE_sum, &lower);
  return all - all == 0 ? all : in_double_float32(op, n, x);
}

#endif
