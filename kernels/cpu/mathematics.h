/* Elementary functions of one number, without branches, so that loops over them vectorise. Errors stated are the
 * largest found by the tests, in units of the last place (ulp).
 *
 * Rounding to an integer is done by adding a number so large that its last bit counts ones; the sum's bits then hold
 * the integer. Coefficients are minimax fits of the function named in the comment, made for this file. */
#ifndef ND4C_KERNELS_CPU_MATHEMATICS_H
#define ND4C_KERNELS_CPU_MATHEMATICS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/cpu/level.h"
#include "kernels/types.h"

#define ND4C_ROUNDER_F32 0x1.8p23f
#define ND4C_ROUNDER_F64 0x1.8p52

static inline uint64_t nd4c_double_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double nd4c_double_from_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* -- exponential ---------------------------------------------------------------------------------------------- */

/* 2^n for an integer n from -126 to 127, given as n + rounder. */
static inline float nd4c_power_of_two_f32(float rounded) {
  return nd4c_float_from_bits((nd4c_float_bits(rounded) + 127) << 23);
}

static inline double nd4c_power_of_two_f64(double rounded) {
  return nd4c_double_from_bits((nd4c_double_bits(rounded) + 1023) << 52);
}

/* e^(x + tail), |tail| small against 1. Two factors 2^n, so that the result may be subnormal or overflow. */
static inline float nd4c_exp_parts_f32(float x, float tail) {
  x = x > 89.0f ? 89.0f : x; /* NaN passes */
  x = x < -104.0f ? -104.0f : x;
  float n = ND4C_FMAF(x, 0x1.715476p+0f, ND4C_ROUNDER_F32) - ND4C_ROUNDER_F32;
  float r = ND4C_FMAF(n, -0x1.63p-1f, x); /* ln 2 in two parts, the first so short that n times it is exact */
  r = ND4C_FMAF(n, 0x1.bd0106p-13f, r) + tail;
  /* (e^r - 1 - r) / r^2 */
  float q = ND4C_FMAF(1.381461240e-03f, r, 8.368709716e-03f);
  q = ND4C_FMAF(q, r, 4.166838739e-02f);
  q = ND4C_FMAF(q, r, 1.666652069e-01f);
  q = ND4C_FMAF(q, r, 4.999999345e-01f);
  float e = 1 + ND4C_FMAF(r * r, q, r);
  float half = ND4C_FMAF(n, 0.5f, ND4C_ROUNDER_F32);
  float rest = n - (half - ND4C_ROUNDER_F32) + ND4C_ROUNDER_F32;
  return e * nd4c_power_of_two_f32(half) * nd4c_power_of_two_f32(rest);
}

static inline float nd4c_exp_float32(float x) {
  return nd4c_exp_parts_f32(x, 0);
}

static inline double nd4c_exp_float64(double x) {
  x = x > 710.0 ? 710.0 : x;
  x = x < -746.0 ? -746.0 : x;
  double n = ND4C_FMA(x, 0x1.71547652b82fep+0, ND4C_ROUNDER_F64) - ND4C_ROUNDER_F64;
  double r = ND4C_FMA(n, -0x1.62e42fefa3800p-1, x);
  r = ND4C_FMA(n, -0x1.ef35793c76730p-45, r);
  double q = 2.08266481325322488e-09;
  q = ND4C_FMA(q, r, 2.51120248440745932e-08);
  q = ND4C_FMA(q, r, 2.75575817001643247e-07);
  q = ND4C_FMA(q, r, 2.75572348956448363e-06);
  q = ND4C_FMA(q, r, 2.48015869269209290e-05);
  q = ND4C_FMA(q, r, 1.98412698963508326e-04);
  q = ND4C_FMA(q, r, 1.38888888891154053e-03);
  q = ND4C_FMA(q, r, 8.33333333331704763e-03);
  q = ND4C_FMA(q, r, 4.16666666666660954e-02);
  q = ND4C_FMA(q, r, 1.66666666666666824e-01);
  q = ND4C_FMA(q, r, 0.5);
  double e = 1 + ND4C_FMA(r * r, q, r);
  double half = ND4C_FMA(n, 0.5, ND4C_ROUNDER_F64);
  double rest = n - (half - ND4C_ROUNDER_F64) + ND4C_ROUNDER_F64;
  return e * nd4c_power_of_two_f64(half) * nd4c_power_of_two_f64(rest);
}

/* -- logarithm: x = 2^k (1 + f), ln(1 + f) by the series of artanh(f / (2 + f)) ------------------------------- */

static inline float nd4c_log_float32(float x) {
  float scaled = x < 0x1p-126f ? x * 0x1p23f : x;
  float k_offset = x < 0x1p-126f ? 23.0f : 0.0f;
  uint32_t bits = nd4c_float_bits(scaled) + (0x3f800000 - 0x3f3504f3); /* 1 + f from sqrt(1/2) to sqrt 2 */
  float k = (float)(int32_t)(bits >> 23) - 127.0f - k_offset;
  float f = nd4c_float_from_bits((bits & 0x007fffff) + 0x3f3504f3) - 1;
  float s = f / (2 + f), z = s * s;
  float series = ND4C_FMAF(z, 0.22222222f, 0.28571429f);
  series = ND4C_FMAF(z, series, 0.4f);
  series = z * ND4C_FMAF(z, series, 0.66666667f);
  float square = 0.5f * f * f;
  float small = ND4C_FMAF(k, -0x1.bd0106p-13f, s * (square + series));
  float y = ND4C_FMAF(k, 0x1.63p-1f, f - (square - small));
  y = x < INFINITY ? y : x;
  return x > 0 ? y : x == 0 ? -INFINITY : NAN;
}

/* For positive finite x that is not subnormal. */
static inline double nd4c_log_normal_f64(double x, double k_offset) {
  uint64_t bits = nd4c_double_bits(x) + (UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd));
  /* The exponent as a double without a conversion, which not all levels have for 64 bits. */
  double k = nd4c_double_from_bits((bits >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023) - k_offset;
  double f = nd4c_double_from_bits((bits & UINT64_C(0x000fffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd)) - 1;
  double s = f / (2 + f), z = s * s;
  double series = 2.0 / 21;
  series = ND4C_FMA(z, series, 2.0 / 19);
  series = ND4C_FMA(z, series, 2.0 / 17);
  series = ND4C_FMA(z, series, 2.0 / 15);
  series = ND4C_FMA(z, series, 2.0 / 13);
  series = ND4C_FMA(z, series, 2.0 / 11);
  series = ND4C_FMA(z, series, 2.0 / 9);
  series = ND4C_FMA(z, series, 2.0 / 7);
  series = ND4C_FMA(z, series, 2.0 / 5);
  series = z * ND4C_FMA(z, series, 2.0 / 3);
  double square = 0.5 * f * f;
  double small = ND4C_FMA(k, 0x1.ef35793c76730p-45, s * (square + series));
  return ND4C_FMA(k, 0x1.62e42fefa3800p-1, f - (square - small));
}

static inline double nd4c_log_float64(double x) {
  double scaled = x < 0x1p-1022 ? x * 0x1p52 : x;
  double y = nd4c_log_normal_f64(scaled, x < 0x1p-1022 ? 52.0 : 0.0);
  y = x < INFINITY ? y : x;
  return x > 0 ? y : x == 0 ? -INFINITY : NAN;
}

/* -- sine and cosine ------------------------------------------------------------------------------------------ */

/* Beyond this the reduction below loses bits: loops then call the C library. */
#define ND4C_TRIGONOMETRIC_LIMIT 0x1p20f

/* sin(x + quarter * pi / 2), reduced in f64 with pi / 2 in two parts, the first so short that n times it is exact. */
static inline float nd4c_sine_f32(float x, uint32_t quarter) {
  double n_rounded = ND4C_FMA((double)x, 0x1.45f306dc9c883p-1, ND4C_ROUNDER_F64);
  double n = n_rounded - ND4C_ROUNDER_F64;
  double reduced = ND4C_FMA(n, -0x1.921fb544p+0, (double)x);
  float r = (float)ND4C_FMA(n, -0x1.0b4611a626331p-34, reduced);
  uint32_t quadrant = (uint32_t)nd4c_double_bits(n_rounded) + quarter;
  float z = r * r;
  float sine = ND4C_FMAF(z, 2.718311675e-06f, -1.983933485e-04f); /* (sin r / r - 1) / r^2 */
  sine = ND4C_FMAF(z, sine, 8.333329386e-03f);
  sine = ND4C_FMAF(z, sine, -1.666666664e-01f);
  sine = ND4C_FMAF(r * z, sine, r);
  float cosine = ND4C_FMAF(z, 2.443845156e-05f, -1.388736752e-03f); /* (cos r - 1 + r^2 / 2) / r^4 */
  cosine = ND4C_FMAF(z, cosine, 4.166664687e-02f);
  cosine = ND4C_FMAF(z * z, cosine, 1 - 0.5f * z);
  uint32_t bits = quadrant & 1 ? nd4c_float_bits(cosine) : nd4c_float_bits(sine);
  return nd4c_float_from_bits(bits ^ (quadrant & 2) << 30);
}

/* -- hyperbolic tangent and logistic function ----------------------------------------------------------------- */

static inline float nd4c_tanh_float32(float x) {
  float a = fabsf(x), z = x * x;
  float q = ND4C_FMAF(z, 2.147541299e-03f, -8.182679071e-03f); /* (tanh x / x - 1) / x^2 below 0.625 */
  q = ND4C_FMAF(z, q, 2.170296939e-02f);
  q = ND4C_FMAF(z, q, -5.394720473e-02f);
  q = ND4C_FMAF(z, q, 1.333320977e-01f);
  q = ND4C_FMAF(z, q, -3.333333091e-01f);
  float small = ND4C_FMAF(x * z, q, x);
  float large = 1 - 2 / (nd4c_exp_float32(2 * a) + 1);
  return a < 0.625f ? small : copysignf(large, x);
}

/* 1 / (1 + e^-(x + tail)), with e^ of the negative side alone: no overflow, and the left tail keeps its digits. */
static inline float nd4c_sigmoid_parts_f32(float x, float tail) {
  float sign = x < 0 ? -1.0f : 1.0f;
  float e = nd4c_exp_parts_f32(-fabsf(x), -sign * tail);
  float y = 1 / (1 + e);
  return x < 0 ? e * y : y;
}

static inline float nd4c_sigmoid_float32(float x) {
  return nd4c_sigmoid_parts_f32(x, 0);
}

static inline double nd4c_sigmoid_float64(double x) {
  double e = nd4c_exp_float64(-fabs(x));
  double y = 1 / (1 + e);
  return x < 0 ? e * y : y;
}

/* -- error function and what is made of it -------------------------------------------------------------------- */

/* erfc(x) e^(x^2) for x from 0 to 10, as t P(t) with t = 1 / (1 + 3 x / 8). */
static inline float nd4c_scaled_erfc_f32(float x) {
  float t = 1 / ND4C_FMAF(x, 0.375f, 1.0f);
  float p = ND4C_FMAF(t, 6.131741571e-02f, -2.862871429e-01f);
  p = ND4C_FMAF(t, p, 4.303073224e-01f);
  p = ND4C_FMAF(t, p, -2.270894713e-01f);
  p = ND4C_FMAF(t, p, 2.721628990e-01f);
  p = ND4C_FMAF(t, p, 1.221536135e-01f);
  p = ND4C_FMAF(t, p, 2.051512020e-01f);
  p = ND4C_FMAF(t, p, 2.106719752e-01f);
  p = ND4C_FMAF(t, p, 2.116121846e-01f);
  return t * p;
}

static inline float nd4c_erf_float32(float x) {
  float a = fabsf(x), z = x * x;
  float p = ND4C_FMAF(z, 7.889123671e-05f, -8.020842509e-04f); /* erf x / x below 1 */
  p = ND4C_FMAF(z, p, 5.189535479e-03f);
  p = ND4C_FMAF(z, p, -2.685444467e-02f);
  p = ND4C_FMAF(z, p, 1.128360018e-01f);
  p = ND4C_FMAF(z, p, -3.761262714e-01f);
  p = ND4C_FMAF(z, p, 1.128379166e+00f);
  float beyond = a > 10.0f ? 10.0f : a;
  float large = 1 - nd4c_scaled_erfc_f32(beyond) * nd4c_exp_float32(-beyond * beyond);
  return a < 1 ? x * p : copysignf(large, x);
}

/* x Phi(x) = x - x erfc(x / sqrt 2) / 2 for x > 0, and -|x| erfc(|x| / sqrt 2) / 2 below: the tail keeps its digits.
 * The exponent x^2 / 2 is split into an exact part and a small one. */
static inline float nd4c_gelu_float32(float x) {
  float a = fabsf(x);
  a = a > 16.0f ? 16.0f : a;
  float high = nd4c_float_from_bits(nd4c_float_bits(a) & 0xfffff000);
  float e = nd4c_exp_parts_f32(-0.5f * high * high, -0.5f * (a - high) * (a + high));
  float tail = 0.5f * a * nd4c_scaled_erfc_f32(a * 0.70710678f) * e;
  return x > 0 ? x - tail : -tail;
}

/* x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)); the exponent in f64, for the tail. */
static inline float nd4c_gelu_tanh_float32(float x) {
  float inside = x > 30.0f ? 30.0f : x;
  inside = inside < -30.0f ? -30.0f : inside;
  double wide = (double)inside;
  double u = 1.5957691216057307 * wide * (1 + 0.044715 * wide * wide);
  float high = (float)u;
  float y = nd4c_sigmoid_parts_f32(high, (float)(u - (double)high));
  return (x > 0 ? x : inside) * y;
}

/* -- power ---------------------------------------------------------------------------------------------------- */

/* True if the formula below does not hold: zeros, infinities and NaN have rules of their own. */
static inline int nd4c_power_is_special_f32(float a, float b) {
  return !(fabsf(a) > 0) | !(fabsf(a) < INFINITY) | !(fabsf(b) < INFINITY);
}

/* a^b as e^(b ln |a|) in f64; a negative a wants an integer b, whose last bit gives the sign. */
static inline float nd4c_power_finite_f32(float a, float b) {
  double log = nd4c_log_normal_f64((double)fabsf(a), 0);
  double exponent = (double)b * log;
  exponent = exponent > 200 ? 200 : exponent;
  exponent = exponent < -200 ? -200 : exponent;
  float y = (float)nd4c_exp_float64(exponent);
  float whole = rintf(b), half = 0.5f * b;
  float negative = whole != b ? NAN : rintf(half) != half ? -y : y;
  return a < 0 ? negative : y;
}

/* -- what the hardware does, and what is left to the C library ------------------------------------------------ */

static inline float nd4c_sqrt_float32(float x) {
  return sqrtf(x);
}

static inline double nd4c_sqrt_float64(double x) {
  return sqrt(x);
}

static inline double nd4c_gelu_float64(double x) {
  return x == -INFINITY ? -0.0 : x / 2 * erfc(-x * 0.70710678118654752440);
}

static inline double nd4c_gelu_tanh_float64(double x) {
  double inside = x < -30 ? -30 : x;
  double u = 1.5957691216057307 * inside * (1 + 0.044715 * inside * inside);
  return inside * nd4c_sigmoid_float64(u);
}

#endif
