/* See unary.h. One source for every level: the compiler vectorises the plain loops. */
#include "kernels/cpu/unary.h"

#include <math.h>

#include "kernels/angle.h"
#include "kernels/cpu/activation.h"
#include "kernels/cpu/exponential.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/level.h"
#include "kernels/cpu/mathematics.h"
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
  LOOP(sqrt, name, nd4c_c_##name, nd4c_sqrt_##name(x))                                                              \
  LOOP(reciprocal, name, nd4c_c_##name, 1 / x)                                                                      \
  LOOP(log, name, nd4c_c_##name, nd4c_log_##name(x))                                                                \
  LOOP(gelu, name, nd4c_c_##name, nd4c_gelu_##name(x))                                                              \
  LOOP(gelu_tanh, name, nd4c_c_##name, nd4c_gelu_tanh_##name(x))                                                    \
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
LOOP(tanh, float32, float, nd4c_tanh_float32(x))
LOOP(exp, float64, double, nd4c_exp_float64(x))
LOOP(sigmoid, float64, double, nd4c_sigmoid_float64(x))
#if defined(__AVX512F__)
#define SIXTEEN_LOOP(op, function)                                                    \
  static void op##_float32(SIGNATURE) {                                               \
    const float *x = vx;                                                              \
    float *y = vy;                                                                    \
    int64_t i = 0;                                                                    \
    (void)parameters;                                                                 \
    for (; i + 16 <= n; i += 16)                                                      \
      _mm512_storeu_ps(y + i, function(_mm512_loadu_ps(x + i)));                      \
    __mmask16 rest = (__mmask16)((1u << (n - i)) - 1);                                \
    _mm512_mask_storeu_ps(y + i, rest, function(_mm512_maskz_loadu_ps(rest, x + i))); \
  }
SIXTEEN_LOOP(exp, nd4c_exp_any_sixteen)
SIXTEEN_LOOP(sigmoid, nd4c_sigmoid_sixteen)
#else
LOOP(exp, float32, float, nd4c_exp_float32(x))
LOOP(sigmoid, float32, float, nd4c_sigmoid_float32(x))
#endif
LOOP(erf, float32, float, nd4c_erf_float32(x))
LOOP(tanh, float64, double, nd4c_tanh_float64(x))
#if defined(ND4C_HAS_FMA)
LOOP(erf, float64, double, nd4c_erf_float64(x))
#define WIDE_TRIGONOMETRIC_LOOP(op, quarter)                   \
  static void op##_float64(SIGNATURE) {                        \
    enum { PIECE = 256 };                                      \
    const double *x = vx;                                      \
    double *y = vy;                                            \
    (void)parameters;                                          \
    for (int64_t i = 0; i < n; i += PIECE) {                   \
      int64_t end = n - i < PIECE ? n : i + PIECE;             \
      uint32_t large = 0;                                      \
      for (int64_t j = i; j < end; j++)                        \
        large |= !(fabs(x[j]) < ND4C_TRIGONOMETRIC_LIMIT_F64); \
      for (int64_t j = i; large && j < end; j++)               \
        y[j] = nd4c_##op##_f64(x[j]);                          \
      ND4C_INDEPENDENT                                         \
      for (int64_t j = i; !large && j < end; j++)              \
        y[j] = nd4c_sine_f64(x[j], quarter);                   \
    }                                                          \
  }
WIDE_TRIGONOMETRIC_LOOP(sin, 0)
WIDE_TRIGONOMETRIC_LOOP(cos, 1)
#else /* what a product lost would have to be found out in long double */
LOOP(erf, float64, double, erf(x))
LOOP(sin, float64, double, nd4c_sin_f64(x))
LOOP(cos, float64, double, nd4c_cos_f64(x))
#endif

/* In pieces: one that holds an argument too large for the fast reduction (or an infinity, or NaN) goes to the C
 * library. */
#define TRIGONOMETRIC_LOOP(op, quarter)                     \
  static void op##_float32(SIGNATURE) {                     \
    enum { PIECE = 256 };                                   \
    const float *x = vx;                                    \
    float *y = vy;                                          \
    (void)parameters;                                       \
    for (int64_t i = 0; i < n; i += PIECE) {                \
      int64_t end = n - i < PIECE ? n : i + PIECE;          \
      uint32_t large = 0, far = 0;                          \
      for (int64_t j = i; j < end; j++) {                   \
        large |= !(fabsf(x[j]) < ND4C_TRIGONOMETRIC_LIMIT); \
        far |= !(fabsf(x[j]) < ND4C_TRIGONOMETRIC_NEAR);    \
      }                                                     \
      if (large) {                                          \
        for (int64_t j = i; j < end; j++)                   \
          y[j] = (float)op((double)x[j]);                   \
        continue;                                           \
      }                                                     \
      ND4C_INDEPENDENT                                      \
      for (int64_t j = i; far && j < end; j++)              \
        y[j] = nd4c_sine_f32(x[j], quarter);                \
      ND4C_INDEPENDENT                                      \
      for (int64_t j = i; !far && j < end; j++)             \
        y[j] = nd4c_sine_near_f32(x[j], quarter);           \
    }                                                       \
  }
TRIGONOMETRIC_LOOP(sin, 0)
TRIGONOMETRIC_LOOP(cos, 1)

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
  HALF_LOOP(sqrt, name)                                                  \
  HALF_LOOP(reciprocal, name)                                            \
  HALF_LOOP(exp, name)                                                   \
  HALF_LOOP(log, name)                                                   \
  HALF_LOOP(sin, name)                                                   \
  HALF_LOOP(cos, name)                                                   \
  HALF_LOOP(tanh, name)                                                  \
  HALF_LOOP(erf, name)                                                   \
  HALF_LOOP(sigmoid, name)                                               \
  HALF_LOOP(gelu, name)                                                  \
  HALF_LOOP(gelu_tanh, name)                                             \
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
#define FLOAT_ENTRIES(NAME, name, kind)                                                                            \
  ENTRY(negative, NAME, name)                                                                                      \
  ENTRY(square, NAME, name)                                                                                        \
  ENTRY(sign, NAME, name)                                                                                          \
  ENTRY(clip, NAME, name)                                                                                          \
  ENTRY(abs, NAME, name)                                                                                           \
  ENTRY(relu, NAME, name)                                                                                          \
  ENTRY(floor, NAME, name) ENTRY(ceil, NAME, name) ENTRY(round, NAME, name) ENTRY(leaky_relu, NAME, name)          \
      ENTRY(sqrt, NAME, name) ENTRY(reciprocal, NAME, name) ENTRY(exp, NAME, name) ENTRY(log, NAME, name)          \
          ENTRY(sin, NAME, name) ENTRY(cos, NAME, name) ENTRY(tanh, NAME, name) ENTRY(erf, NAME, name)             \
              ENTRY(sigmoid, NAME, name) ENTRY(gelu, NAME, name) ENTRY(gelu_tanh, NAME, name)                      \
                  ENTRY(is_nan, NAME, name) ENTRY(elu, NAME, name) ENTRY(selu, NAME, name) ENTRY(celu, NAME, name) \
                      ENTRY(softplus, NAME, name) ENTRY(log_sigmoid, NAME, name) ENTRY(softsign, NAME, name)       \
                          ENTRY(mish, NAME, name) ENTRY(swish, NAME, name) ENTRY(threshold, NAME, name)
/* Where loops compute in a wider type than that of the elements. */
#define NARROW_ENTRIES(NAME, name, kind) ENTRY(hard_sigmoid, NAME, name) ENTRY(hard_swish, NAME, name)

const nd4c_unary_table ND4C_LEVEL_NAME(nd4c_unary_table) = {
    .loops = {ND4C_INT_DTYPES(INT_ENTRIES) ND4C_UINT_DTYPES(UINT_ENTRIES) ND4C_HALF_DTYPES(FLOAT_ENTRIES)
                  ND4C_WIDE_FLOAT_DTYPES(FLOAT_ENTRIES) ENTRY(logical_not, BOOL, boolean)
                      ND4C_HALF_DTYPES(NARROW_ENTRIES) NARROW_ENTRIES(FLOAT32, float32, FLOAT)}};
