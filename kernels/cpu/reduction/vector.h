/* Runs of f32 and f64 folded in registers: vectors as wide as the level's, whose accumulators plain loops would keep in
 * memory. One place of x is read at a time and nothing is asked for ahead: hardware does that best of contiguous runs.
 */
#ifndef ND4C_KERNELS_CPU_REDUCTION_VECTOR_H
#define ND4C_KERNELS_CPU_REDUCTION_VECTOR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__AVX512F__)
enum { REGISTER = 64 };
#elif defined(__AVX__)
enum { REGISTER = 32 };
#else
enum { REGISTER = 16 };
#endif
enum { WIDTH_float32 = REGISTER / 4, WIDTH_float64 = REGISTER / 8 };

/* At any address that suits one element. */
typedef float wide_float32 __attribute__((vector_size(REGISTER), aligned(4), may_alias));
typedef double wide_float64 __attribute__((vector_size(REGISTER), aligned(8), may_alias));
typedef uint32_t bits_float32 __attribute__((vector_size(REGISTER), aligned(4), may_alias));
typedef uint64_t bits_float64 __attribute__((vector_size(REGISTER), aligned(8), may_alias));

#define LOAD(name, x) (*(const wide_##name *)(const void *)(x))
#define CHOOSE(name, mask, a, b) \
  ((wide_##name)(((bits_##name)(a) & (bits_##name)(mask)) | ((bits_##name)(b) & ~(bits_##name)(mask))))
#define PLAIN(name, v) (v)
#define MAGNITUDE(name, v) ((wide_##name)((bits_##name)(v) & (~(bits_##name){0} >> 1)))
#define SQUARED(name, v) ((v) * (v))

/* -- what the levels have instructions for ------------------------------------------------------------------------- */

/* The lower and the upper floats of a register as doubles. The compiler makes several conversions of one. */
#if defined(__AVX512F__)
#define LOWER(v) ((wide_float64)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)(v))))
#define UPPER(v) \
  ((wide_float64)_mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd((__m512)(v)), 1))))
#define FETCH_float32(x) ((wide_float64)_mm512_cvtps_pd(_mm256_loadu_ps(x)))
#elif defined(__AVX__)
#define LOWER(v) ((wide_float64)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)(v))))
#define UPPER(v) ((wide_float64)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)(v), 1)))
#define FETCH_float32(x) ((wide_float64)_mm256_cvtps_pd(_mm_loadu_ps(x)))
#elif defined(__SSE2__)
#define LOWER(v) ((wide_float64)_mm_cvtps_pd((__m128)(v)))
#define UPPER(v) ((wide_float64)_mm_cvtps_pd(_mm_movehl_ps((__m128)(v), (__m128)(v))))
#define FETCH_float32(x) ((wide_float64){(double)(x)[0], (double)(x)[1]})
#elif defined(__aarch64__)
#define LOWER(v) ((wide_float64)vcvt_f64_f32(vget_low_f32((float32x4_t)(v))))
#define UPPER(v) ((wide_float64)vcvt_high_f64_f32((float32x4_t)(v)))
#define FETCH_float32(x) ((wide_float64)vcvt_f64_f32(vld1_f32(x)))
#else
#define LOWER(v) ((wide_float64){(double)(v)[0], (double)(v)[1]})
#define UPPER(v) ((wide_float64){(double)(v)[2], (double)(v)[3]})
#define FETCH_float32(x) ((wide_float64){(double)(x)[0], (double)(x)[1]})
#endif
#define FETCH_float64(x) LOAD(float64, x)

/* a * b + c of doubles, fused where there is an instruction for it. */
#if defined(__AVX512F__)
#define FUSED(a, b, c) ((wide_float64)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#elif defined(__FMA__)
#define FUSED(a, b, c) ((wide_float64)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#elif defined(__aarch64__)
#define FUSED(a, b, c) ((wide_float64)vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b)))
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

/* The larger and the smaller of two numbers neither of which is NaN; the first may be one, and is lost. */
#if defined(__AVX512F__)
#define VECTOR_max_float32(x, a) ((wide_float32)_mm512_max_ps((__m512)(x), (__m512)(a)))
#define VECTOR_min_float32(x, a) ((wide_float32)_mm512_min_ps((__m512)(x), (__m512)(a)))
#define VECTOR_max_float64(x, a) ((wide_float64)_mm512_max_pd((__m512d)(x), (__m512d)(a)))
#define VECTOR_min_float64(x, a) ((wide_float64)_mm512_min_pd((__m512d)(x), (__m512d)(a)))
#elif defined(__AVX__)
#define VECTOR_max_float32(x, a) ((wide_float32)_mm256_max_ps((__m256)(x), (__m256)(a)))
#define VECTOR_min_float32(x, a) ((wide_float32)_mm256_min_ps((__m256)(x), (__m256)(a)))
#define VECTOR_max_float64(x, a) ((wide_float64)_mm256_max_pd((__m256d)(x), (__m256d)(a)))
#define VECTOR_min_float64(x, a) ((wide_float64)_mm256_min_pd((__m256d)(x), (__m256d)(a)))
#elif defined(__SSE2__)
#define VECTOR_max_float32(x, a) ((wide_float32)_mm_max_ps((__m128)(x), (__m128)(a)))
#define VECTOR_min_float32(x, a) ((wide_float32)_mm_min_ps((__m128)(x), (__m128)(a)))
#define VECTOR_max_float64(x, a) ((wide_float64)_mm_max_pd((__m128d)(x), (__m128d)(a)))
#define VECTOR_min_float64(x, a) ((wide_float64)_mm_min_pd((__m128d)(x), (__m128d)(a)))
#else
#define VECTOR_max_float32(x, a) CHOOSE(float32, (x) > (a), x, a)
#define VECTOR_min_float32(x, a) CHOOSE(float32, (x) < (a), x, a)
#define VECTOR_max_float64(x, a) CHOOSE(float64, (x) > (a), x, a)
#define VECTOR_min_float64(x, a) CHOOSE(float64, (x) < (a), x, a)
#endif

/* Whether some number of a or b was NaN. */
#if defined(__AVX512F__)
/* As wide as the masks: gcc 12 spills those as they are, and would compare more of the stack than it wrote. */
typedef __mmask16 seen_float32;
typedef __mmask8 seen_float64;
#define SEE_float32(seen, a, b) \
  ((seen) = (__mmask16)((seen) | _mm512_cmp_ps_mask((__m512)(a), (__m512)(b), _CMP_UNORD_Q)))
#define SEE_float64(seen, a, b) \
  ((seen) = (__mmask8)((seen) | _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_UNORD_Q)))
#define SEEN(name, seen) ((seen) != 0)
#else
typedef bits_float32 seen_float32;
typedef bits_float64 seen_float64;
#define SEE_float32(seen, a, b) ((seen) |= (bits_float32)(((a) != (a)) | ((b) != (b))))
#define SEE_float64(seen, a, b) ((seen) |= (bits_float64)(((a) != (a)) | ((b) != (b))))
#if defined(__AVX__)
#define SEEN(name, seen) (!_mm256_testz_si256((__m256i)(seen), (__m256i)(seen)))
#elif defined(__SSE4_1__)
#define SEEN(name, seen) (!_mm_testz_si128((__m128i)(seen), (__m128i)(seen)))
#else
#define SEEN(name, seen) (((bits_float64)(seen))[0] != 0 || ((bits_float64)(seen))[1] != 0)
#endif
#endif

/* -- sums and products --------------------------------------------------------------------------------------------- */

static const uint32_t places_float32[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint64_t places_float64[8] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Of a vector the last `count` elements, and neutral ones. */
#define LAST_OF(name, v, count, neutral) \
  CHOOSE(name, *(const bits_##name *)(const void *)places_##name >= (unsigned)(WIDTH_##name - (count)), v, neutral)

#define FOLD_LANES(join)                                    \
  static inline double fold_##join(const wide_float64 *v) { \
    double lanes[WIDTH_float64];                            \
    *(wide_float64 *)(void *)lanes = *v;                    \
    for (int half = WIDTH_float64 / 2; half > 0; half /= 2) \
      for (int i = 0; i < half; i++)                        \
        lanes[i] = JOIN_##join(lanes[i], lanes[i + half]);  \
    return lanes[0];                                        \
  }

#define JOIN_sum(a, x) ((a) + (x))
#define JOIN_prod(a, x) ((a) * (x))
#define NEUTRAL_sum (-(wide_float64){0})
#define NEUTRAL_prod ((wide_float64){0} + 1)
FOLD_LANES(sum)
FOLD_LANES(prod)

/* Eight accumulators, for an addition takes several cycles. join: sum or prod; TERM: what an element counts for. */
#define IN_DOUBLE(function, name, T, join, TERM)                                                             \
  static double function(int64_t n, const T *x) {                                                            \
    enum { W = WIDTH_float64 };                                                                              \
    const wide_float64 neutral = NEUTRAL_##join;                                                             \
    wide_float64 a0 = neutral, a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;                \
    int64_t i = 0;                                                                                           \
    for (; i + 8 * W <= n; i += 8 * W) {                                                                     \
      wide_float64 v0 = FETCH_##name(x + i), v1 = FETCH_##name(x + i + W), v2 = FETCH_##name(x + i + 2 * W), \
                   v3 = FETCH_##name(x + i + 3 * W), v4 = FETCH_##name(x + i + 4 * W),                       \
                   v5 = FETCH_##name(x + i + 5 * W), v6 = FETCH_##name(x + i + 6 * W),                       \
                   v7 = FETCH_##name(x + i + 7 * W);                                                         \
      a0 = JOIN_##join(a0, TERM(float64, v0)), a1 = JOIN_##join(a1, TERM(float64, v1));                      \
      a2 = JOIN_##join(a2, TERM(float64, v2)), a3 = JOIN_##join(a3, TERM(float64, v3));                      \
      a4 = JOIN_##join(a4, TERM(float64, v4)), a5 = JOIN_##join(a5, TERM(float64, v5));                      \
      a6 = JOIN_##join(a6, TERM(float64, v6)), a7 = JOIN_##join(a7, TERM(float64, v7));                      \
    }                                                                                                        \
    for (; i + W <= n; i += W) {                                                                             \
      wide_float64 v = FETCH_##name(x + i);                                                                  \
      a0 = JOIN_##join(a0, TERM(float64, v));                                                                \
    }                                                                                                        \
    if (i < n && n >= W) {                                                                                   \
      wide_float64 v = FETCH_##name(x + n - W);                                                              \
      a1 = JOIN_##join(a1, LAST_OF(float64, TERM(float64, v), n - i, neutral));                              \
      i = n;                                                                                                 \
    }                                                                                                        \
    a0 = JOIN_##join(JOIN_##join(a0, a1), JOIN_##join(a2, a3));                                              \
    a4 = JOIN_##join(JOIN_##join(a4, a5), JOIN_##join(a6, a7));                                              \
    a0 = JOIN_##join(a0, a4);                                                                                \
    double all = fold_##join(&a0);                                                                           \
    for (; i < n; i++) {                                                                                     \
      wide_float64 v = (double)x[i] - (wide_float64){0};                                                     \
      all = JOIN_##join(all, TERM(float64, v)[0]);                                                           \
    }                                                                                                        \
    return all;                                                                                              \
  }

/* Sums of floats: four are added as floats, their sums as doubles. An infinity may be one of the four's alone: `exact`
 * then tells. */
#define BY_FOUR(function, exact, TERM)                                                   \
  static double function(int64_t n, const float *x) {                                    \
    enum { W = WIDTH_float32 };                                                          \
    if (n < 4 * W)                                                                       \
      return exact(n, x);                                                                \
    const wide_float32 neutral = -(wide_float32){0};                                     \
    wide_float64 lower = NEUTRAL_sum, upper = lower;                                     \
    int64_t i = 0;                                                                       \
    for (; i + 4 * W <= n; i += 4 * W) {                                                 \
      wide_float32 v0 = LOAD(float32, x + i), v1 = LOAD(float32, x + i + W);             \
      wide_float32 v2 = LOAD(float32, x + i + 2 * W), v3 = LOAD(float32, x + i + 3 * W); \
      wide_float32 left = TERM(float32, v0) + TERM(float32, v1);                         \
      wide_float32 four = left + (TERM(float32, v2) + TERM(float32, v3));                \
      lower += LOWER(four), upper += UPPER(four);                                        \
    }                                                                                    \
    for (; i + W <= n; i += W) {                                                         \
      wide_float32 v = LOAD(float32, x + i), one = TERM(float32, v);                     \
      lower += LOWER(one), upper += UPPER(one);                                          \
    }                                                                                    \
    if (i < n) {                                                                         \
      wide_float32 v = LOAD(float32, x + n - W), one = TERM(float32, v);                 \
      one = LAST_OF(float32, one, n - i, neutral);                                       \
      lower += LOWER(one), upper += UPPER(one);                                          \
    }                                                                                    \
    lower += upper;                                                                      \
    double all = fold_sum(&lower);                                                       \
    return all - all == 0 ? all : exact(n, x);                                           \
  }

/* -- largest and smallest ------------------------------------------------------------------------------------------ */

#define BETTER_max(x, a) ((x) > (a))
#define BETTER_min(x, a) ((x) < (a))

/* The lanes of a, none of them NaN. */
#define FOLD_EXTREME(way, name, T)                                                       \
  static inline T fold_##way##_##name(const wide_##name *a) {                            \
    T lanes[WIDTH_##name];                                                               \
    *(wide_##name *)(void *)lanes = *a;                                                  \
    for (int half = WIDTH_##name / 2; half > 0; half /= 2)                               \
      for (int i = 0; i < half; i++)                                                     \
        lanes[i] = BETTER_##way(lanes[i + half], lanes[i]) ? lanes[i + half] : lanes[i]; \
    return lanes[0];                                                                     \
  }
FOLD_EXTREME(max, float32, float)
FOLD_EXTREME(min, float32, float)
FOLD_EXTREME(max, float64, double)
FOLD_EXTREME(min, float64, double)

/* NaN wins. way: max or min. */
#define EXTREME(function, way, name, T, TERM)                                                     \
  static T function(int64_t n, const T *x) {                                                      \
    enum { W = WIDTH_##name };                                                                    \
    wide_##name a0 = LOAD_FIRST(name, n, x), a1, a2, a3;                                          \
    seen_##name seen = {0};                                                                       \
    int64_t i = 0;                                                                                \
    a0 = TERM(name, a0), a1 = a0, a2 = a0, a3 = a0;                                               \
    SEE_##name(seen, a0, a0);                                                                     \
    for (; i + 4 * W <= n; i += 4 * W) {                                                          \
      wide_##name v0 = LOAD(name, x + i), v1 = LOAD(name, x + i + W);                             \
      wide_##name v2 = LOAD(name, x + i + 2 * W), v3 = LOAD(name, x + i + 3 * W);                 \
      SEE_##name(seen, v0, v1);                                                                   \
      SEE_##name(seen, v2, v3);                                                                   \
      v0 = TERM(name, v0), v1 = TERM(name, v1), v2 = TERM(name, v2), v3 = TERM(name, v3);         \
      a0 = VECTOR_##way##_##name(v0, a0), a1 = VECTOR_##way##_##name(v1, a1);                     \
      a2 = VECTOR_##way##_##name(v2, a2), a3 = VECTOR_##way##_##name(v3, a3);                     \
    }                                                                                             \
    for (; i < n && n >= W; i += W) {                                                             \
      wide_##name v = LOAD(name, x + (i + W <= n ? i : n - W)); /* the last may be taken twice */ \
      SEE_##name(seen, v, v);                                                                     \
      v = TERM(name, v);                                                                          \
      a0 = VECTOR_##way##_##name(v, a0);                                                          \
    }                                                                                             \
    if (SEEN(name, seen))                                                                         \
      return (T)NAN;                                                                              \
    a0 = VECTOR_##way##_##name(a0, a1), a2 = VECTOR_##way##_##name(a2, a3);                       \
    a0 = VECTOR_##way##_##name(a0, a2);                                                           \
    return fold_##way##_##name(&a0);                                                              \
  }

/* n elements, or as many as a vector has of fewer, the first repeated. Less 0, which keeps the sign of zero. */
#define FIRST(name, T)                                            \
  static inline wide_##name first_##name(int64_t n, const T *x) { \
    wide_##name v = x[0] - (wide_##name){0};                      \
    for (int64_t i = 1; i < n && n < WIDTH_##name; i++)           \
      v[i] = x[i];                                                \
    return v;                                                     \
  }
#define LOAD_FIRST(name, n, x) first_##name(n, x)
FIRST(float32, float)
FIRST(float64, double)

#endif
