/* Implements nd4c_unary_table of unary.h. Compiled once per level: the compiler vectorises the plain loops.
 * simd/elementwise.c picks them from nd4c_simd.unary. */
#include "kernels/cpu/elementwise/unary.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernels/angle.h"
#include "kernels/cpu/elementwise/activation.h"
#include "kernels/cpu/elementwise/mathematics.h"
#include "kernels/cpu/elementwise/unary_vector.h"
#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/support/wrap.h"
#include "kernels/types.h"

extern const nd4c_unary_table ND4C_LEVEL_NAME(nd4c_unary_table);

#define SIGNATURE int64_t n, const void *vx, void *vy, const nd4c_unary_parameters *parameters

#define ND4C_TEMPLATE "kernels/cpu/elementwise/unary_element.h"
#define ND4C_KINDS (ND4C_SIGNED | ND4C_UNSIGNED | ND4C_WIDE_FLOAT)
#include "kernels/cpu/support/each_dtype.h"

enum { infinity_float16 = 0x7c00, infinity_bfloat16 = 0x7f80 };
#define ND4C_TEMPLATE "kernels/cpu/elementwise/unary_widened.h"
#define ND4C_KINDS ND4C_HALF
#include "kernels/cpu/support/each_dtype.h"
#define ND4C_TEMPLATE "kernels/cpu/elementwise/unary_half.h"
#define ND4C_KINDS ND4C_HALF
#include "kernels/cpu/support/each_dtype.h"

static void logical_not_boolean(SIGNATURE) {
  const uint8_t *x = vx;
  uint8_t *y = vy;
  (void)parameters;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = x[i] == 0;
  }
}

/* -- sine and cosine --------------------------------------------------------------------------------------------- */

/* In pieces, whose arguments decide which formulas are computed. Each element takes the formula of its range,
 * independent of its neighbours: beyond the fast reduction (infinity and NaN, too) the C library's. */
enum { PIECE = 256 };

ND4C_INLINED void trigonometric_float32(bool cosine, int64_t n, const float *x, float *y) {
  float kept[PIECE];
  for (int64_t i = 0; i < n; i += PIECE) {
    int64_t count = n - i < PIECE ? n - i : PIECE;
    uint32_t large = 0, far = 0;
    for (int64_t j = 0; j < count; j++) {
      kept[j] = x[i + j];
      large |= !(fabsf(kept[j]) < ND4C_TRIGONOMETRIC_LIMIT);
      far |= !(fabsf(kept[j]) < ND4C_TRIGONOMETRIC_NEAR);
    }
    ND4C_INDEPENDENT
    for (int64_t j = 0; j < count; j++) {
      y[i + j] = nd4c_sine_near_f32(kept[j], cosine);
    }
    ND4C_INDEPENDENT
    for (int64_t j = 0; far && j < count; j++) {
      float near = y[i + j], other = nd4c_sine_f32(kept[j], cosine);
      y[i + j] = fabsf(kept[j]) < ND4C_TRIGONOMETRIC_NEAR ? near : other;
    }
    for (int64_t j = 0; large && j < count; j++) {
      if (!(fabsf(kept[j]) < ND4C_TRIGONOMETRIC_LIMIT)) {
        y[i + j] = (float)(cosine ? cos((double)kept[j]) : sin((double)kept[j]));
      }
    }
  }
}

/* Without fused products, what one lost would have to be found out in long double: the C library's alone. */
ND4C_INLINED void trigonometric_float64(bool cosine, int64_t n, const double *x, double *y) {
  double kept[PIECE];
  for (int64_t i = 0; i < n; i += PIECE) {
    int64_t count = n - i < PIECE ? n - i : PIECE;
    uint32_t large = !ND4C_HAS_FMA;
    for (int64_t j = 0; j < count; j++) {
      kept[j] = x[i + j];
      large |= !(fabs(kept[j]) < ND4C_TRIGONOMETRIC_LIMIT_F64);
    }
    ND4C_INDEPENDENT
    for (int64_t j = 0; ND4C_HAS_FMA && j < count; j++) {
      y[i + j] = nd4c_sine_f64(kept[j], cosine);
    }
    for (int64_t j = 0; large && j < count; j++) {
      if (!ND4C_HAS_FMA || !(fabs(kept[j]) < ND4C_TRIGONOMETRIC_LIMIT_F64)) {
        y[i + j] = cosine ? nd4c_cos_f64(kept[j]) : nd4c_sin_f64(kept[j]);
      }
    }
  }
}

/* -- loops of each op --------------------------------------------------------------------------------------------- */

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#define IS_COMPUTED(op, D) nd4c_unary_with_parameters(ND4C_UNARY_##op, ND4C_##D, n, vx, vy, parameters)
#else
#define IS_COMPUTED(op, D) false
#endif
#define LOOP(op, D, d)                                  \
  static void op##_##d(SIGNATURE) {                     \
    if (!IS_COMPUTED(op, D)) {                          \
      loop_##d(ND4C_UNARY_##op, n, vx, vy, parameters); \
    }                                                   \
  }
#define HALF_LOOP(op, D, d)                            \
  static void op##_##d(SIGNATURE) {                    \
    in_float_##d(op##_float32, n, vx, vy, parameters); \
  }
#define TRIGONOMETRIC_LOOPS(D, d, kind)  \
  static void sin_##d(SIGNATURE) {       \
    (void)parameters;                    \
    trigonometric_##d(false, n, vx, vy); \
  }                                      \
  static void cos_##d(SIGNATURE) {       \
    (void)parameters;                    \
    trigonometric_##d(true, n, vx, vy);  \
  }
#if defined(__AVX512F__)
#define VECTOR_LOOP(op, D, d)                                                                       \
  static void op##_##d(SIGNATURE) {                                                                 \
    (void)parameters;                                                                               \
    nd4c_unary_vectors(ND4C_UNARY_##op, ND4C_##D, n *(int64_t)sizeof(nd4c_c_##d), vx, vy);          \
  }                                                                                                 \
  static void op##_##d##_stream(SIGNATURE) {                                                        \
    (void)parameters;                                                                               \
    nd4c_unary_stream(ND4C_UNARY_##op, ND4C_##D, op##_##d, (int64_t)sizeof(nd4c_c_##d), n, vx, vy); \
  }
#define HALF_VECTOR_LOOP VECTOR_LOOP
#else
#define VECTOR_LOOP LOOP
#define HALF_VECTOR_LOOP HALF_LOOP
#endif

#define UINT_OPS(X, D, d) X(negative, D, d) X(square, D, d) X(sign, D, d)
#define PLAIN_OPS(X, D, d) ND4C_UNARY_NUMBERS(X, D, d) ND4C_UNARY_PLAIN_FLOATS(X, D, d) ND4C_UNARY_ACTIVATIONS(X, D, d)
#define VECTOR_OPS(X, D, d) ND4C_UNARY_VECTORS(X, D, d) ND4C_UNARY_NARROW_VECTORS(X, D, d)

#define INT_LOOPS(D, d, kind) ND4C_UNARY_NUMBERS(LOOP, D, d)
#define UINT_LOOPS(D, d, kind) UINT_OPS(LOOP, D, d)
#define FLOAT_LOOPS(D, d, kind) PLAIN_OPS(LOOP, D, d) ND4C_UNARY_VECTORS(VECTOR_LOOP, D, d)
#define HALF_LOOPS(D, d, kind)             \
  HALF_LOOP(square, D, d)                  \
  HALF_LOOP(sign, D, d)                    \
  ND4C_UNARY_PLAIN_FLOATS(HALF_LOOP, D, d) \
  ND4C_UNARY_ACTIVATIONS(HALF_LOOP, D, d) VECTOR_OPS(HALF_VECTOR_LOOP, D, d) HALF_LOOP(sin, D, d) HALF_LOOP(cos, D, d)
ND4C_INT_DTYPES(INT_LOOPS)
ND4C_UINT_DTYPES(UINT_LOOPS)
ND4C_WIDE_FLOAT_DTYPES(FLOAT_LOOPS)
ND4C_WIDE_FLOAT_DTYPES(TRIGONOMETRIC_LOOPS)
ND4C_UNARY_NARROW_VECTORS(VECTOR_LOOP, FLOAT32, float32)
ND4C_UNARY_NARROW_VECTORS(LOOP, FLOAT64, float64)
ND4C_HALF_DTYPES(HALF_LOOPS)

/* -- table ---------------------------------------------------------------------------------------------------- */

#define ENTRY(op, D, d) [ND4C_UNARY_##op][ND4C_##D] = op##_##d,
#define UINT_ENTRIES(D, d, kind) UINT_OPS(ENTRY, D, d) ENTRY(is_nan, D, d) ENTRY(clip, D, d)
#define INT_ENTRIES(D, d, kind) ND4C_UNARY_NUMBERS(ENTRY, D, d) ENTRY(is_nan, D, d) ENTRY(clip, D, d)
#define FLOAT_ENTRIES(D, d, kind) PLAIN_OPS(ENTRY, D, d) VECTOR_OPS(ENTRY, D, d) ND4C_UNARY_OTHERS(ENTRY, D, d)

#if defined(__AVX512F__)
#define STREAM_ENTRY(op, D, d) [ND4C_UNARY_##op][ND4C_##D] = op##_##d##_stream,
#define STREAM_ENTRIES(D, d, kind) VECTOR_OPS(STREAM_ENTRY, D, d)
#define STREAMS                    \
  ND4C_HALF_DTYPES(STREAM_ENTRIES) \
  VECTOR_OPS(STREAM_ENTRY, FLOAT32, float32) ND4C_UNARY_VECTORS(STREAM_ENTRY, FLOAT64, float64)
#else
#define STREAMS [0] = {NULL}
#endif

const nd4c_unary_table ND4C_LEVEL_NAME(nd4c_unary_table) = {
    .loops = {ND4C_INT_DTYPES(INT_ENTRIES) ND4C_UINT_DTYPES(UINT_ENTRIES) ND4C_HALF_DTYPES(FLOAT_ENTRIES)
                  ND4C_WIDE_FLOAT_DTYPES(FLOAT_ENTRIES) ENTRY(logical_not, BOOL, boolean)},
    .streams = {STREAMS}};
