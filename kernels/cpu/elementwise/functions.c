/* Implements functions.h. Compiled once per level: the compiler vectorises the plain loops.
 * simd/elementwise/elementwise_functions.c picks them from nd4c_simd.functions. */
#include "kernels/cpu/elementwise/functions.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "kernels/angle.h"
#include "kernels/cpu/elementwise/functions/angle.h"
#include "kernels/cpu/elementwise/functions/bessel.h"
#include "kernels/cpu/elementwise/functions/exponential.h"
#include "kernels/cpu/elementwise/functions/gamma.h"
#include "kernels/cpu/elementwise/functions/inverse.h"
#include "kernels/cpu/elementwise/functions/root.h"
#include "kernels/cpu/elementwise/functions/single.h"
#include "kernels/cpu/elementwise/functions/vectors.h"
#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/reference/elementwise/mathematics.h"
#include "kernels/types.h"

extern const nd4c_functions_table ND4C_LEVEL_NAME(nd4c_functions_table);

#define SIGNATURE int64_t n, const void *vx, void *vy, const nd4c_unary_parameters *parameters

/* -- numbers that a formula does not take ------------------------------------------------------------------------- */

/* Whether such numbers are among the function's arguments; a scalar function computes them, in long double. Without
 * fused products it computes every f64 of tan and erfc, whose formulas need them. */
ND4C_INLINED bool has_limit(enum nd4c_function_index function, bool narrow) {
  return function == ND4C_FUNCTION_tan || function == ND4C_FUNCTION_lgamma || function == ND4C_FUNCTION_digamma ||
         function == ND4C_FUNCTION_gamma || (function == ND4C_FUNCTION_erfc && !narrow && !ND4C_HAS_FMA);
}

ND4C_INLINED bool is_beyond(enum nd4c_function_index function, bool narrow, double x) {
  return function == ND4C_FUNCTION_lgamma || function == ND4C_FUNCTION_digamma || function == ND4C_FUNCTION_gamma
             ? !(x > 0)
             : function != ND4C_FUNCTION_tan || (!narrow && !ND4C_HAS_FMA) || !(fabs(x) < ND4C_TRIGONOMETRIC_LIMIT_F64);
}

ND4C_INLINED double computed_alone(enum nd4c_function_index function, double x) {
  return function == ND4C_FUNCTION_tan      ? nd4c_tan_f64(x)
         : function == ND4C_FUNCTION_lgamma ? (double)lgammal((long double)x)
         : function == ND4C_FUNCTION_gamma  ? (double)tgammal((long double)x)
         : function == ND4C_FUNCTION_erfc   ? (double)erfcl((long double)x)
                                            : (double)nd4c_real_digamma_wide((long double)x);
}

/* -- loops -------------------------------------------------------------------------------------------------------- */

enum { PIECE = 256 };

/* In pieces where there is a limit, since y may be x. */
#define DEFINE_LOOP(loop, name, narrow, d, T)                                  \
  static void loop##_##d(SIGNATURE) {                                          \
    const T *x = vx;                                                           \
    T *y = vy, kept[PIECE];                                                    \
    (void)parameters;                                                          \
    const bool limited = has_limit(ND4C_FUNCTION_##name, narrow);              \
    const int64_t piece = limited ? PIECE : n;                                 \
    for (int64_t i = 0; i < n; i += piece) {                                   \
      const int64_t count = n - i < piece ? n - i : piece;                     \
      if (limited) {                                                           \
        memcpy(kept, x + i, (size_t)count * sizeof *kept);                     \
      }                                                                        \
      const T *from = limited ? kept : x;                                      \
      ND4C_INDEPENDENT                                                         \
      for (int64_t j = 0; j < count; j++) {                                    \
        y[i + j] = (T)nd4c_function_##name((double)from[j], narrow);           \
      }                                                                        \
      uint32_t beyond = 0;                                                     \
      for (int64_t j = 0; limited && j < count; j++) {                         \
        beyond |= is_beyond(ND4C_FUNCTION_##name, narrow, (double)kept[j]);    \
      }                                                                        \
      for (int64_t j = 0; beyond && j < count; j++) {                          \
        if (is_beyond(ND4C_FUNCTION_##name, narrow, (double)kept[j])) {        \
          y[i + j] = (T)computed_alone(ND4C_FUNCTION_##name, (double)kept[j]); \
        }                                                                      \
      }                                                                        \
    }                                                                          \
  }
#define WIDE_LOOPS(name, cost)                  \
  DEFINE_LOOP(name, name, true, float32, float) \
  DEFINE_LOOP(name, name, false, float64, double)
#if ND4C_HAS_FMA
#define SINGLE_LOOPS(name, cost)          \
  static void name##_float32(SIGNATURE) { \
    const float *x = vx;                  \
    float *y = vy;                        \
    (void)parameters;                     \
    ND4C_INDEPENDENT                      \
    for (int64_t i = 0; i < n; i++) {     \
      y[i] = nd4c_single_##name(x[i]);    \
    }                                     \
  }                                       \
  DEFINE_LOOP(name, name, false, float64, double)
#else
#define SINGLE_LOOPS WIDE_LOOPS
#endif
#if defined(__AVX512F__)
#define VECTOR_LOOPS(name, cost)                                                                   \
  static void name##_float32(SIGNATURE) {                                                          \
    const float *x = vx;                                                                           \
    float *y = vy;                                                                                 \
    (void)parameters;                                                                              \
    int64_t i = 0;                                                                                 \
    for (; i + 16 <= n; i += 16) {                                                                 \
      _mm512_storeu_ps(y + i, nd4c_##name##_sixteen(_mm512_loadu_ps(x + i)));                      \
    }                                                                                              \
    const __mmask16 rest = (__mmask16)((1u << (n - i)) - 1);                                       \
    _mm512_mask_storeu_ps(y + i, rest, nd4c_##name##_sixteen(_mm512_maskz_loadu_ps(rest, x + i))); \
  }                                                                                                \
  static void name##_float64(SIGNATURE) {                                                          \
    const double *x = vx;                                                                          \
    double *y = vy;                                                                                \
    (void)parameters;                                                                              \
    int64_t i = 0;                                                                                 \
    for (; i + 8 <= n; i += 8) {                                                                   \
      _mm512_storeu_pd(y + i, nd4c_##name##_eight(_mm512_loadu_pd(x + i)));                        \
    }                                                                                              \
    const __mmask8 rest = (__mmask8)((1u << (n - i)) - 1);                                         \
    _mm512_mask_storeu_pd(y + i, rest, nd4c_##name##_eight(_mm512_maskz_loadu_pd(rest, x + i)));   \
  }
/* Each number takes the formula of its range, whatever its neighbours are. */
#define NEAR_LOOPS(name, cost)                                                                \
  DEFINE_LOOP(name##_far, name, true, float32, float)                                         \
  DEFINE_LOOP(name, name, false, float64, double)                                             \
  static void name##_float32(SIGNATURE) {                                                     \
    const float *x = vx;                                                                      \
    float *y = vy;                                                                            \
    const __m512 limit = _mm512_set1_ps(ND4C_TRIGONOMETRIC_NEAR);                             \
    for (int64_t i = 0; i < n; i += 16) {                                                     \
      const __mmask16 some = (__mmask16)(n - i < 16 ? (1u << (n - i)) - 1 : 0xffff);          \
      const __m512 v = _mm512_maskz_loadu_ps(some, x + i);                                    \
      const __mmask16 near = _mm512_cmp_ps_mask(nd4c_absolute_sixteen(v), limit, _CMP_LT_OQ); \
      __m512 result = nd4c_##name##_near_sixteen(v);                                          \
      if (near != 0xffff) {                                                                   \
        float far[16];                                                                        \
        _mm512_storeu_ps(far, v);                                                             \
        name##_far_float32(16, far, far, parameters);                                         \
        result = _mm512_mask_mov_ps(_mm512_loadu_ps(far), near, result);                      \
      }                                                                                       \
      _mm512_mask_storeu_ps(y + i, some, result);                                             \
    }                                                                                         \
  }
#else
#define VECTOR_LOOPS SINGLE_LOOPS
#define NEAR_LOOPS WIDE_LOOPS
#endif
ND4C_FUNCTIONS_SINGLE(SINGLE_LOOPS)
ND4C_FUNCTIONS_VECTORS(VECTOR_LOOPS)
ND4C_FUNCTIONS_NEAR(NEAR_LOOPS)
ND4C_FUNCTIONS_WIDE(WIDE_LOOPS)

#define ND4C_TEMPLATE "kernels/cpu/elementwise/unary_widened.h"
#define ND4C_KINDS ND4C_HALF
#include "kernels/cpu/support/each_dtype.h"

#define HALF_LOOP(name, d)                               \
  static void name##_##d(SIGNATURE) {                    \
    in_float_##d(name##_float32, n, vx, vy, parameters); \
  }
#ifndef ND4C_DTYPES_LITE
#define HALF_LOOPS(name, cost) HALF_LOOP(name, float16) HALF_LOOP(name, bfloat16)
ND4C_FUNCTIONS_OF_ONE(HALF_LOOPS)
#define HALF_ENTRIES(name) , [ND4C_FLOAT16] = name##_float16, [ND4C_BFLOAT16] = name##_bfloat16
#else
#define HALF_ENTRIES(name)
#endif

/* -- table -------------------------------------------------------------------------------------------------------- */

#define ENTRIES(name, cost) \
  [ND4C_FUNCTION_##name] = {[ND4C_FLOAT32] = name##_float32, [ND4C_FLOAT64] = name##_float64 HALF_ENTRIES(name)},

const nd4c_functions_table ND4C_LEVEL_NAME(nd4c_functions_table) = {.loops = {ND4C_FUNCTIONS_OF_ONE(ENTRIES)}};
