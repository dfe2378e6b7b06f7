/* See unary.h. One source for every level: the compiler vectorises the plain loops. */
#include "kernels/cpu/elementwise/unary.h"

#include <math.h>

#include "kernels/angle.h"
#include "kernels/cpu/elementwise/activation.h"
#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/elementwise/mathematics.h"
#include "kernels/cpu/elementwise/sixteen.h"
#include "kernels/cpu/support/vector.h"
#include "kernels/types.h"

extern const nd4c_unary_table ND4C_LEVEL_NAME(nd4c_unary_table);

#define SIGNATURE int64_t n, const void *vx, void *vy, const nd4c_unary_parameters *parameters

#define LOOP(op, name, result, expression) \
  static void op##_##name(SIGNATURE) {     \
    const nd4c_c_##name *values = vx;      \
    result *y = vy;                        \
    (void)parameters;                      \
    ND4C_INDEPENDENT                       \
    for (int64_t i = 0; i < n; i++) {      \
      nd4c_c_##name x = values[i];         \
      y[i] = (result)(expression);         \
    }                                      \
  }

#define CLIP_LOOP(name, lowest, highest)                                                                  \
  static void clip_##name(SIGNATURE) {                                                                    \
    const nd4c_c_##name *x = vx;                                                                          \
    nd4c_c_##name *y = vy;                                                                                \
    nd4c_c_##name low = parameters->low == NULL ? (lowest) : *(const nd4c_c_##name *)parameters->low;     \
    nd4c_c_##name high = parameters->high == NULL ? (highest) : *(const nd4c_c_##name *)parameters->high; \
    ND4C_INDEPENDENT                                                                                      \
    for (int64_t i = 0; i < n; i++) {                                                                     \
      nd4c_c_##name raised = x[i] < low || low != low ? low : x[i];                                       \
      y[i] = raised > high || high != high ? high : raised;                                               \
    }                                                                                                     \
  }

/* -- integers: arithmetic in unsigned types that are no narrower than int ------------------------------------- */

typedef uint32_t wrap_int8, wrap_int16, wrap_int32, wrap_uint8, wrap_uint16, wrap_uint32;
typedef uint64_t wrap_int64, wrap_uint64;
#define LOWEST_int8 INT8_MIN
#define LOWEST_int16 INT16_MIN
#define LOWEST_int32 INT32_MIN
#define LOWEST_int64 INT64_MIN
#define HIGHEST_int8 INT8_MAX
#define HIGHEST_int16 INT16_MAX
#define HIGHEST_int32 INT32_MAX
#define HIGHEST_int64 INT64_MAX

#define INTEGER_LOOPS(name)                                         \
  LOOP(negative, name, nd4c_c_##name, 0 - (wrap_##name)x)           \
  LOOP(square, name, nd4c_c_##name, (wrap_##name)x *(wrap_##name)x) \
  LOOP(is_nan, name, uint8_t, (x - x) != 0)
#define INT_LOOPS(NAME, name, kind)                                           \
  INTEGER_LOOPS(name)                                                         \
  LOOP(abs, name, nd4c_c_##name, x < 0 ? 0 - (wrap_##name)x : (wrap_##name)x) \
  LOOP(sign, name, nd4c_c_##name, (x > 0) - (x < 0))                          \
  LOOP(relu, name, nd4c_c_##name, x < 0 ? 0 : x)                              \
  CLIP_LOOP(name, LOWEST_##name, HIGHEST_##name)
#define UINT_LOOPS(NAME, name, kind)      \
  INTEGER_LOOPS(name)                     \
  LOOP(sign, name, nd4c_c_##name, x != 0) \
  CLIP_LOOP(name, 0, (nd4c_c_##name) - 1)
ND4C_INT_DTYPES(INT_LOOPS)
ND4C_UINT_DTYPES(UINT_LOOPS)
LOOP(logical_not, boolean, uint8_t, x == 0)

/* -- floats --------------------------------------------------------------------------------------------------- */

#define absolute_float32(x) fabsf(x)
#define absolute_float64(x) fabs(x)
#define floor_of_float32(x) floorf(x)
#define floor_of_float64(x) floor(x)
#define ceil_of_float32(x) ceilf(x)
#define ceil_of_float64(x) ceil(x)
#define round_of_float32(x) rintf(x)
#define round_of_float64(x) rint(x)

#define FLOAT_LOOPS(NAME, name, kind)                                                                               \
  LOOP(negative, name, nd4c_c_##name, -x)                                                                           \
  LOOP(abs, name, nd4c_c_##name, absolute_##name(x))                                                                \
  LOOP(square, name, nd4c_c_##name, x *x)                                                                           \
  LOOP(sign, name, nd4c_c_##name, x > 0 ? 1 : x < 0 ? -1 : x + 0)                                                   \
  LOOP(relu, name, nd4c_c_##name, x < 0 ? 0 : x)                                                                    \
  LOOP(floor, name, nd4c_c_##name, floor_of_##name(x))                                                              \
  LOOP(ceil, name, nd4c_c_##name, ceil_of_##name(x))                                                                \
  LOOP(round, name, nd4c_c_##name, round_of_##name(x))                                                              \
  LOOP(leaky_relu, name, nd4c_c_##name, nd4c_leaky_relu_##name(x, (nd4c_c_##name)parameters->alpha))                \
  LOOP(is_nan, name, uint8_t, x != x)                                                                               \
  CLIP_LOOP(name, (nd4c_c_##name) - INFINITY, (nd4c_c_##name)INFINITY)                                              \
  LOOP(reciprocal, name, nd4c_c_##name, 1 / x)                                                                      \
  LOOP(elu, name, nd4c_c_##name, nd4c_elu_##name(x, (nd4c_c_##name)parameters->alpha))                              \
  LOOP(selu, name, nd4c_c_##name,                                                                                   \
       nd4c_selu_##name(x, (nd4c_c_##name)parameters->beta, (nd4c_c_##name)(parameters->alpha * parameters->beta))) \
  LOOP(celu, name, nd4c_c_##name, nd4c_celu_##name(x, (nd4c_c_##name)parameters->alpha))                            \
  LOOP(softplus, name, nd4c_c_##name, nd4c_softplus_##name(x))                                                      \
  LOOP(log_sigmoid, name, nd4c_c_##name, -nd4c_softplus_##name(-x))                                                 \
  LOOP(softsign, name, nd4c_c_##name, nd4c_softsign_##name(x))                                                      \
  LOOP(mish, name, nd4c_c_##name, nd4c_mish_##name(x))                                                              \
  LOOP(swish, name, nd4c_c_##name, nd4c_swish_##name(x, parameters->alpha))                                         \
  LOOP(threshold, name, nd4c_c_##name, nd4c_threshold_##name(x, parameters->alpha, (nd4c_c_##name)parameters->beta))
ND4C_WIDE_FLOAT_DTYPES(FLOAT_LOOPS)
LOOP(hard_sigmoid, float32, float, nd4c_hard_sigmoid_float32(x, parameters->alpha, parameters->beta))
LOOP(hard_swish, float32, float, nd4c_hard_swish_float32(x))
LOOP(gelu, float64, double, nd4c_gelu_float64(x))
LOOP(gelu_tanh, float64, double, nd4c_gelu_tanh_float64(x))
LOOP(tanh, float64, double, nd4c_tanh_float64(x))
#if defined(ND4C_HAS_FMA)
LOOP(erf, float64, double, nd4c_erf_float64(x))
#define WIDE_TRIGONOMETRIC_LOOP(op, quarter)                      \
  static void op##_float64(SIGNATURE) {                           \
    enum { PIECE = 256 };                                         \
    const double *x = vx;                                         \
    double *y = vy, kept[PIECE];                                  \
    (void)parameters;                                             \
    for (int64_t i = 0; i < n; i += PIECE) {                      \
      int64_t count = n - i < PIECE ? n - i : PIECE;              \
      uint32_t large = 0;                                         \
      for (int64_t j = 0; j < count; j++) {                       \
        kept[j] = x[i + j];                                       \
        large |= !(fabs(kept[j]) < ND4C_TRIGONOMETRIC_LIMIT_F64); \
      }                                                           \
      ND4C_INDEPENDENT                                            \
      for (int64_t j = 0; j < count; j++)                         \
        y[i + j] = nd4c_sine_f64(kept[j], quarter);               \
      for (int64_t j = 0; large && j < count; j++)                \
        if (!(fabs(kept[j]) < ND4C_TRIGONOMETRIC_LIMIT_F64))      \
          y[i + j] = nd4c_##op##_f64(kept[j]);                    \
    }                                                             \
  }
WIDE_TRIGONOMETRIC_LOOP(sin, 0)
WIDE_TRIGONOMETRIC_LOOP(cos, 1)
#else /* what a product lost would have to be found out in long double */
LOOP(erf, float64, double, erf(x))
LOOP(sin, float64, double, nd4c_sin_f64(x))
LOOP(cos, float64, double, nd4c_cos_f64(x))
#endif

/* In pieces, whose arguments tell which formulas are wanted at all. Each element takes the one of its own range,
 * whatever its neighbours are: beyond the fast reduction (infinity and NaN, too) the C library's. */
#define TRIGONOMETRIC_LOOP(op, quarter)                                     \
  static void op##_float32(SIGNATURE) {                                     \
    enum { PIECE = 256 };                                                   \
    const float *x = vx;                                                    \
    float *y = vy, kept[PIECE];                                             \
    (void)parameters;                                                       \
    for (int64_t i = 0; i < n; i += PIECE) {                                \
      int64_t count = n - i < PIECE ? n - i : PIECE;                        \
      uint32_t large = 0, far = 0;                                          \
      for (int64_t j = 0; j < count; j++) {                                 \
        kept[j] = x[i + j];                                                 \
        large |= !(fabsf(kept[j]) < ND4C_TRIGONOMETRIC_LIMIT);              \
        far |= !(fabsf(kept[j]) < ND4C_TRIGONOMETRIC_NEAR);                 \
      }                                                                     \
      ND4C_INDEPENDENT                                                      \
      for (int64_t j = 0; j < count; j++)                                   \
        y[i + j] = nd4c_sine_near_f32(kept[j], quarter);                    \
      ND4C_INDEPENDENT                                                      \
      for (int64_t j = 0; far && j < count; j++) {                          \
        float near = y[i + j], other = nd4c_sine_f32(kept[j], quarter);     \
        y[i + j] = fabsf(kept[j]) < ND4C_TRIGONOMETRIC_NEAR ? near : other; \
      }                                                                     \
      for (int64_t j = 0; large && j < count; j++)                          \
        if (!(fabsf(kept[j]) < ND4C_TRIGONOMETRIC_LIMIT))                   \
          y[i + j] = (float)op((double)kept[j]);                            \
    }                                                                       \
  }
TRIGONOMETRIC_LOOP(sin, 0)
TRIGONOMETRIC_LOOP(cos, 1)

/* -- functions that have a form for whole vectors -------------------------------------------------------------- */

#define FORM_exp nd4c_exp_any_sixteen
#define FORM_log nd4c_log_sixteen
#define FORM_tanh nd4c_tanh_sixteen
#define FORM_erf nd4c_erf_sixteen
#define FORM_sigmoid nd4c_sigmoid_sixteen
#define FORM_gelu nd4c_gelu_sixteen
#define FORM_gelu_tanh nd4c_gelu_tanh_sixteen
#define FORM_sqrt _mm512_sqrt_ps
/* Before rounding to bfloat16. */
#define NEAR_exp FORM_exp
#define NEAR_log FORM_log
#define NEAR_tanh FORM_tanh
#define NEAR_erf FORM_erf
#define NEAR_sigmoid FORM_sigmoid
#define NEAR_gelu nd4c_gelu_near_sixteen
#define NEAR_gelu_tanh nd4c_gelu_tanh_near_sixteen
#define NEAR_sqrt nd4c_sqrt_near_sixteen
#define SIXTEEN_OPS(X) X(exp) X(log) X(tanh) X(erf) X(sigmoid) X(gelu) X(gelu_tanh) X(sqrt)
#define EIGHT_OPS(X) X(exp) X(log) X(sigmoid) X(sqrt)
#if defined(__AVX512F__)
/* The loop that stores past the caches begins at a cache line of y. */
#define STREAM_LOOP(op, name, count, STREAM, result)                      \
  static void op##_##name##_stream(SIGNATURE) {                           \
    const nd4c_c_##name *x = vx;                                          \
    nd4c_c_##name *y = vy;                                                \
    int64_t i = (int64_t)(-(uintptr_t)y % ND4C_STREAM_BLOCK / sizeof *y); \
    i = i < n ? i : n;                                                    \
    op##_##name(i, x, y, parameters);                                     \
    for (; i + count <= n; i += count)                                    \
      STREAM((void *)(y + i), result);                                    \
    op##_##name(n - i, x + i, y + i, parameters);                         \
  }
#define VECTOR_LOOP(op, name, type, count, form, suffix)                                      \
  static void op##_##name(SIGNATURE) {                                                        \
    const type *x = vx;                                                                       \
    type *y = vy;                                                                             \
    int64_t i = 0;                                                                            \
    (void)parameters;                                                                         \
    for (; i + count <= n; i += count)                                                        \
      _mm512_storeu_##suffix(y + i, form(_mm512_loadu_##suffix(x + i)));                      \
    if (i == n)                                                                               \
      return;                                                                                 \
    __mmask##count rest = (__mmask##count)((1u << (n - i)) - 1);                              \
    _mm512_mask_storeu_##suffix(y + i, rest, form(_mm512_maskz_loadu_##suffix(rest, x + i))); \
  }                                                                                           \
  STREAM_LOOP(op, name, count, _mm512_stream_##suffix, form(_mm512_loadu_##suffix(x + i)))
#define SIXTEEN_LOOP(op) VECTOR_LOOP(op, float32, float, 16, FORM_##op, ps)
#define nd4c_sqrt_eight _mm512_sqrt_pd
#define EIGHT_LOOP(op) VECTOR_LOOP(op, float64, double, 8, nd4c_##op##_eight, pd)
/* 16-bit floats without a buffer between. */
#define HALF_VECTOR_LOOP(op, name, count, LOAD, STORE, STREAM, COMPUTE)                   \
  static void op##_##name(SIGNATURE) {                                                    \
    const uint16_t *x = vx;                                                               \
    uint16_t *y = vy;                                                                     \
    int64_t i = 0;                                                                        \
    (void)parameters;                                                                     \
    for (; i + count <= n; i += count)                                                    \
      STORE(y + i, (__mmask##count) - 1, COMPUTE(op, LOAD((__mmask##count) - 1, x + i))); \
    if (i == n)                                                                           \
      return;                                                                             \
    __mmask##count rest = (__mmask##count)((UINT32_C(1) << (n - i)) - 1);                 \
    STORE(y + i, rest, COMPUTE(op, LOAD(rest, x + i)));                                   \
  }                                                                                       \
  STREAM_LOOP(op, name, count, STREAM, COMPUTE(op, LOAD((__mmask##count) - 1, x + i)))
#define COMPUTE_bfloat16(op, words) \
  nd4c_bfloat16_narrow_pair(NEAR_##op(nd4c_bfloat16_evens(words)), NEAR_##op(nd4c_bfloat16_odds(words)))
#define COMPUTE_float16(op, halves) \
  _mm512_cvtps_ph(FORM_##op(_mm512_cvtph_ps(halves)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define HALF_SIXTEEN_bfloat16(op)                                                                             \
  HALF_VECTOR_LOOP(op, bfloat16, 32, _mm512_maskz_loadu_epi16, _mm512_mask_storeu_epi16, _mm512_stream_si512, \
                   COMPUTE_bfloat16)
#define HALF_SIXTEEN_float16(op)                                                                             \
  HALF_VECTOR_LOOP(op, float16, 16, _mm256_maskz_loadu_epi16, _mm256_mask_storeu_epi16, _mm256_stream_si256, \
                   COMPUTE_float16)
#define HALF_SIXTEEN(op, name) HALF_SIXTEEN_##name(op)
#else
#define SIXTEEN_LOOP(op) LOOP(op, float32, float, nd4c_##op##_float32(x))
#define EIGHT_LOOP(op) LOOP(op, float64, double, nd4c_##op##_float64(x))
#define HALF_SIXTEEN(op, name) HALF_LOOP(op, name)
#endif
SIXTEEN_OPS(SIXTEEN_LOOP)
EIGHT_OPS(EIGHT_LOOP)

/* -- 16-bit floats: widened in pieces, computed by the loop of f32, narrowed ---------------------------------- */

#define HALF_LOOP(op, name)                                              \
  static void op##_##name(SIGNATURE) {                                   \
    const uint16_t *x = vx;                                              \
    uint16_t *y = vy;                                                    \
    float wide[ND4C_HALF_CHUNK];                                         \
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                   \
      int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK; \
      nd4c_widen_##name(count, x + i, wide);                             \
      op##_float32(count, wide, wide, parameters);                       \
      nd4c_narrow_##name(count, wide, y + i);                            \
    }                                                                    \
  }
#define HALF_LOOPS(NAME, name, kind)                                     \
  HALF_LOOP(negative, name)                                              \
  HALF_LOOP(abs, name)                                                   \
  HALF_LOOP(square, name)                                                \
  HALF_LOOP(sign, name)                                                  \
  HALF_LOOP(relu, name)                                                  \
  HALF_LOOP(floor, name)                                                 \
  HALF_LOOP(ceil, name)                                                  \
  HALF_LOOP(round, name)                                                 \
  HALF_LOOP(leaky_relu, name)                                            \
  HALF_SIXTEEN(sqrt, name)                                               \
  HALF_LOOP(reciprocal, name)                                            \
  HALF_SIXTEEN(exp, name)                                                \
  HALF_SIXTEEN(log, name)                                                \
  HALF_LOOP(sin, name)                                                   \
  HALF_LOOP(cos, name)                                                   \
  HALF_SIXTEEN(tanh, name)                                               \
  HALF_SIXTEEN(erf, name)                                                \
  HALF_SIXTEEN(sigmoid, name)                                            \
  HALF_SIXTEEN(gelu, name)                                               \
  HALF_SIXTEEN(gelu_tanh, name)                                          \
  HALF_LOOP(elu, name)                                                   \
  HALF_LOOP(selu, name)                                                  \
  HALF_LOOP(celu, name)                                                  \
  HALF_LOOP(softplus, name)                                              \
  HALF_LOOP(log_sigmoid, name)                                           \
  HALF_LOOP(softsign, name)                                              \
  HALF_LOOP(mish, name)                                                  \
  HALF_LOOP(swish, name)                                                 \
  HALF_LOOP(threshold, name)                                             \
  HALF_LOOP(hard_sigmoid, name)                                          \
  HALF_LOOP(hard_swish, name)                                            \
  static void clip_##name(SIGNATURE) {                                   \
    const uint16_t *x = vx;                                              \
    uint16_t *y = vy;                                                    \
    float wide[ND4C_HALF_CHUNK], low, high;                              \
    nd4c_unary_parameters widened = {.alpha = 0};                        \
    if (parameters->low != NULL) {                                       \
      nd4c_widen_##name(1, parameters->low, &low);                       \
      widened.low = &low;                                                \
    }                                                                    \
    if (parameters->high != NULL) {                                      \
      nd4c_widen_##name(1, parameters->high, &high);                     \
      widened.high = &high;                                              \
    }                                                                    \
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                   \
      int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK; \
      nd4c_widen_##name(count, x + i, wide);                             \
      clip_float32(count, wide, wide, &widened);                         \
      nd4c_narrow_##name(count, wide, y + i);                            \
    }                                                                    \
  }
ND4C_HALF_DTYPES(HALF_LOOPS)
#ifndef ND4C_DTYPES_LITE
LOOP(is_nan, float16, uint8_t, (x & 0x7fff) > 0x7c00)
LOOP(is_nan, bfloat16, uint8_t, (x & 0x7fff) > 0x7f80)
#endif

/* -- table ---------------------------------------------------------------------------------------------------- */

#define ENTRY(op, NAME, name) [ND4C_UNARY_##op][ND4C_##NAME] = op##_##name,
#define UINT_ENTRIES(NAME, name, kind) \
  ENTRY(negative, NAME, name)          \
  ENTRY(square, NAME, name) ENTRY(sign, NAME, name) ENTRY(is_nan, NAME, name) ENTRY(clip, NAME, name)
#define INT_ENTRIES(NAME, name, kind) UINT_ENTRIES(NAME, name, kind) ENTRY(abs, NAME, name) ENTRY(relu, NAME, name)
#define FLOAT_ENTRIES(NAME, name, kind)                                                                             \
  ENTRY(negative, NAME, name)                                                                                       \
  ENTRY(square, NAME, name)                                                                                         \
  ENTRY(sign, NAME, name)                                                                                           \
  ENTRY(clip, NAME, name)                                                                                           \
  ENTRY(abs, NAME, name)                                                                                            \
  ENTRY(relu, NAME, name)                                                                                           \
  ENTRY(floor, NAME, name)                                                                                          \
  ENTRY(ceil, NAME, name) ENTRY(round, NAME, name) ENTRY(leaky_relu, NAME, name) ENTRY(sqrt, NAME, name)            \
      ENTRY(reciprocal, NAME, name) ENTRY(exp, NAME, name) ENTRY(log, NAME, name) ENTRY(sin, NAME, name)            \
          ENTRY(cos, NAME, name) ENTRY(tanh, NAME, name) ENTRY(erf, NAME, name) ENTRY(sigmoid, NAME, name)          \
              ENTRY(gelu, NAME, name) ENTRY(gelu_tanh, NAME, name) ENTRY(is_nan, NAME, name) ENTRY(elu, NAME, name) \
                  ENTRY(selu, NAME, name) ENTRY(celu, NAME, name) ENTRY(softplus, NAME, name)                       \
                      ENTRY(log_sigmoid, NAME, name) ENTRY(softsign, NAME, name) ENTRY(mish, NAME, name)            \
                          ENTRY(swish, NAME, name) ENTRY(threshold, NAME, name)
/* Where loops compute in a wider type than that of the elements. */
#define NARROW_ENTRIES(NAME, name, kind) ENTRY(hard_sigmoid, NAME, name) ENTRY(hard_swish, NAME, name)

#if defined(__AVX512F__)
#define STREAM_ENTRY(op, NAME, name) [ND4C_UNARY_##op][ND4C_##NAME] = op##_##name##_stream,
#define WIDE_STREAM_ENTRY(op) STREAM_ENTRY(op, FLOAT64, float64)
#define FLOAT_STREAM_ENTRY(op) STREAM_ENTRY(op, FLOAT32, float32)
#define HALF_STREAM_ENTRIES(NAME, name, kind) \
  STREAM_ENTRY(exp, NAME, name)               \
  STREAM_ENTRY(log, NAME, name)               \
  STREAM_ENTRY(tanh, NAME, name)              \
  STREAM_ENTRY(erf, NAME, name)               \
  STREAM_ENTRY(sigmoid, NAME, name)           \
  STREAM_ENTRY(gelu, NAME, name) STREAM_ENTRY(gelu_tanh, NAME, name) STREAM_ENTRY(sqrt, NAME, name)
#define STREAM_ENTRIES \
  SIXTEEN_OPS(FLOAT_STREAM_ENTRY) EIGHT_OPS(WIDE_STREAM_ENTRY) ND4C_HALF_DTYPES(HALF_STREAM_ENTRIES)
#else
#define STREAM_ENTRIES [0] = {NULL}
#endif

const nd4c_unary_table ND4C_LEVEL_NAME(nd4c_unary_table) = {
    .loops = {ND4C_INT_DTYPES(INT_ENTRIES) ND4C_UINT_DTYPES(UINT_ENTRIES) ND4C_HALF_DTYPES(FLOAT_ENTRIES)
                  ND4C_WIDE_FLOAT_DTYPES(FLOAT_ENTRIES) ENTRY(logical_not, BOOL, boolean)
                      ND4C_HALF_DTYPES(NARROW_ENTRIES) NARROW_ENTRIES(FLOAT32, float32, FLOAT)},
    .streams = {STREAM_ENTRIES}};
