/* Implements fast.h with shorter formulas than mathematics.h's: errors of rounding are not compensated, and tails of
 * gelu are as accurate as the sum of 1 and erf. Infinities, NaN and signed zeros give the same results as there.
 * Coefficients are minimax fits of the function named in the comment, made for this file. simd/engine.c reads the
 * table. */
#include "kernels/cpu/elementwise/fast.h"

#include <math.h>

#include "kernels/cpu/elementwise/mathematics.h"
#include "kernels/cpu/elementwise/power.h"
#include "kernels/cpu/support/level.h"

extern const nd4c_fast_table ND4C_LEVEL_NAME(nd4c_fast_table);

/* With AVX-512 the usual forms (sixteen.h) are no slower. */
#if ND4C_HAS_FMA && !defined(__AVX512F__)

/* y's sign where y is beyond 1, or is said to be at the end of the formula's range. */
static inline float fast_within_one(float y, int end) {
  return (end | (fabsf(y) > 1)) ? copysignf(1.0f, y) : y;
}

/* x P(x^2) / Q(x^2) up to 9.03, beyond which the result is 1. */
static inline float fast_tanh(float x) {
  float inside = x > 9.03f ? 9.03f : x; /* NaN passes */
  inside = inside < -9.03f ? -9.03f : inside;
  float z = inside * inside;
  float p = ND4C_FMAF(z, 1.331124722e-08f, 2.057644633e-05f);
  p = ND4C_FMAF(z, p, 3.493558383e-03f);
  p = ND4C_FMAF(z, p, 1.337930560e-01f);
  p = ND4C_FMAF(z, p, 1.0f);
  float q = ND4C_FMAF(z, 7.758390552e-07f, 3.282345715e-04f);
  q = ND4C_FMAF(z, q, 2.586922236e-02f);
  q = ND4C_FMAF(z, q, 4.671262205e-01f);
  q = ND4C_FMAF(z, q, 1.0f);
  return fast_within_one(inside * p / q, fabsf(x) >= 9.03f);
}

/* The same up to 3.925. */
static inline float fast_erf(float x) {
  float inside = x > 3.925f ? 3.925f : x;
  inside = inside < -3.925f ? -3.925f : inside;
  float z = inside * inside;
  float p = ND4C_FMAF(z, 2.137269348e-06f, 2.835794003e-04f);
  p = ND4C_FMAF(z, p, 3.549693851e-03f);
  p = ND4C_FMAF(z, p, 5.208586529e-02f);
  p = ND4C_FMAF(z, p, 1.848871410e-01f);
  p = ND4C_FMAF(z, p, 1.128379107e+00f);
  float q = ND4C_FMAF(z, 3.893124449e-05f, 1.117003500e-03f);
  q = ND4C_FMAF(z, q, 1.453086641e-02f);
  q = ND4C_FMAF(z, q, 1.118892580e-01f);
  q = ND4C_FMAF(z, q, 4.971851707e-01f);
  q = ND4C_FMAF(z, q, 1.0f);
  return fast_within_one(inside * p / q, fabsf(x) >= 3.925f);
}

/* Below -20 the factor is 0, and so is the product with what x is held at. */
static inline float fast_gelu(float x) {
  float held = x < -20.0f ? -20.0f : x;
  return 0.5f * held * (1 + fast_erf(held * 0x1.6a09e6p-1f));
}

static inline float fast_gelu_tanh(float x) {
  float held = x < -20.0f ? -20.0f : x;
  float u = 0x1.988454p-1f * held * ND4C_FMAF(0.044715f * held, held, 1.0f);
  return 0.5f * held * (1 + fast_tanh(u));
}

/* x = 2^k (1 + f), 1 + f from sqrt(1/2) to sqrt 2. */
static inline float fast_split(float x, float *k) {
  uint32_t bits = nd4c_float_bits(x) + (0x3f800000 - 0x3f3504f3);
  *k = (float)(int32_t)(bits >> 23) - 127.0f;
  return nd4c_float_from_bits((bits & 0x007fffff) + 0x3f3504f3) - 1;
}

/* k ln 2 + f - f^2 / 2 + f^3 Q(f). */
static inline float fast_log(float x) {
  float tiny = x < 0x1p-126f ? 23.0f : 0.0f, k;
  float f = fast_split(x < 0x1p-126f ? x * 0x1p23f : x, &k), z = f * f;
  float q = ND4C_FMAF(f, 8.734036237e-02f, -1.428250968e-01f);
  q = ND4C_FMAF(f, q, 1.491007358e-01f);
  q = ND4C_FMAF(f, q, -1.657550186e-01f);
  q = ND4C_FMAF(f, q, 1.996327341e-01f);
  q = ND4C_FMAF(f, q, -2.500140369e-01f);
  q = ND4C_FMAF(f, q, 3.333390653e-01f);
  float y = ND4C_FMAF(k - tiny, 0x1.62e43p-1f, ND4C_FMAF(z, ND4C_FMAF(f, q, -0.5f), f));
  y = x < INFINITY ? y : x;
  return x > 0 ? y : x == 0 ? -INFINITY : NAN;
}

/* a^b = 2^(b (k + log2(1 + f))), |a| = 2^k (1 + f): the integer next to the exponent is taken off before it is rounded.
 * a is finite and not 0, b finite. */
static inline float fast_power(float a, float b) {
  float magnitude = fabsf(a), tiny = magnitude < 0x1p-126f ? 23.0f : 0.0f, k;
  float f = fast_split(magnitude < 0x1p-126f ? magnitude * 0x1p23f : magnitude, &k);
  float log = ND4C_FMAF(f, 1.266248822e-01f, -2.076738924e-01f); /* log2(1 + f) / f */
  log = ND4C_FMAF(f, log, 2.156097293e-01f);
  log = ND4C_FMAF(f, log, -2.388801575e-01f);
  log = ND4C_FMAF(f, log, 2.879201472e-01f);
  log = ND4C_FMAF(f, log, -3.607066870e-01f);
  log = ND4C_FMAF(f, log, 4.809105992e-01f);
  log = ND4C_FMAF(f, log, -7.213473320e-01f);
  log = f * ND4C_FMAF(f, log, 1.442695022f);
  k -= tiny;
  float whole_log = k + log, x = b * whole_log;
  float held = x > 250.0f ? 250.0f : x < -250.0f ? -250.0f : x; /* 2^ of which is infinity and 0 */
  float n = (held + ND4C_ROUNDER_F32) - ND4C_ROUNDER_F32;
  float r = held == x ? ND4C_FMAF(b, log, ND4C_FMAF(b, k, -n)) : 0;
  float e = ND4C_FMAF(r, 1.535458869e-04f, 1.339884941e-03f); /* (2^r - 1) / r */
  e = ND4C_FMAF(r, e, 9.618433192e-03f);
  e = ND4C_FMAF(r, e, 5.550332740e-02f);
  e = ND4C_FMAF(r, e, 2.402264774e-01f);
  e = ND4C_FMAF(r, e, 6.931471825e-01f);
  float half = ND4C_FMAF(n, 0.5f, ND4C_ROUNDER_F32), rest = n - (half - ND4C_ROUNDER_F32) + ND4C_ROUNDER_F32;
  float y = ND4C_FMAF(r, e, 1.0f) * nd4c_power_of_two_f32(half) * nd4c_power_of_two_f32(rest);
  float whole = rintf(b), half_b = 0.5f * b;
  float negative = whole != b ? NAN : rintf(half_b) != half_b ? -y : y;
  return a < 0 ? negative : y;
}

ND4C_INLINED void loop(enum nd4c_unary_index op, int64_t n, const float *x, float *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = op == ND4C_UNARY_log    ? fast_log(x[i])
           : op == ND4C_UNARY_tanh ? copysignf(fast_tanh(x[i]), x[i])
           : op == ND4C_UNARY_erf  ? copysignf(fast_erf(x[i]), x[i])
           : op == ND4C_UNARY_gelu ? copysignf(fast_gelu(x[i]), x[i])
                                   : copysignf(fast_gelu_tanh(x[i]), x[i]);
  }
}

#define LOOP(op)                                                                                      \
  static void op##_loop(int64_t n, const void *x, void *y, const nd4c_unary_parameters *parameters) { \
    (void)parameters;                                                                                 \
    loop(ND4C_UNARY_##op, n, x, y);                                                                   \
  }
LOOP(log)
LOOP(tanh)
LOOP(erf)
LOOP(gelu)
LOOP(gelu_tanh)

#define T float
#define NAME(name) name##_float32
#define POWER power
#define FINITE fast_power
#include "kernels/cpu/elementwise/power_pieces.h"

static void power_both(int64_t n, const void *a, const void *b, void *y) {
  power(n, a, 1, b, 1, y);
}
static void power_first(int64_t n, const void *a, const void *b, void *y) {
  power(n, a, 1, b, 0, y);
}
static void power_second(int64_t n, const void *a, const void *b, void *y) {
  power(n, a, 0, b, 1, y);
}

const nd4c_fast_table ND4C_LEVEL_NAME(nd4c_fast_table) = {
    .unary = {[ND4C_UNARY_log] = log_loop,
              [ND4C_UNARY_tanh] = tanh_loop,
              [ND4C_UNARY_erf] = erf_loop,
              [ND4C_UNARY_gelu] = gelu_loop,
              [ND4C_UNARY_gelu_tanh] = gelu_tanh_loop},
    .power = {.both = power_both, .first = power_first, .second = power_second}};

#else

const nd4c_fast_table ND4C_LEVEL_NAME(nd4c_fast_table) = {.unary = {NULL}};

#endif
