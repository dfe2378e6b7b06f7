/* Elementary functions of one number, without branches, so that loops over them vectorise. Errors stated are the
 * largest that the tests found, in units of the last place (ulp). unary.c and power.h call them for simd/elementwise.c;
 * normalization.c, recurrent.c and moments.c for their exponentials.
 *
 * Rounding to an integer is done by adding a number so large that its last bit counts ones; the sum's bits then hold
 * the integer. Coefficients are minimax fits of the function named in the comment, made for this file. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_MATHEMATICS_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_MATHEMATICS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/cpu/support/level.h"
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

/* A number as mantissa * half * rest, the last two powers of 2: its product with another one may be subnormal or
 * overflow and is rounded once, if `rest` is multiplied last. */
typedef struct nd4c_scaled_float32 {
  float mantissa, lost, half, rest; /* lost: what rounding took from the mantissa */
} nd4c_scaled_float32;
typedef struct nd4c_scaled_float64 {
  double mantissa, lost, half, rest;
} nd4c_scaled_float64;

/* e^r - 1, r = x - n ln 2 + tail, n the integer next to x / ln 2. ln 2 in two parts, the first so short that n times it
 * and its difference from x are exact. r is rounded where the series takes it, not where the result does. */
static inline float nd4c_expm1_reduced_f32(float x, float n, float tail) {
  float most = ND4C_FMAF(n, -0x1.63p-1f, x), rest = ND4C_FMAF(n, 0x1.bd0106p-13f, tail), r = most + rest;
  /* (e^r - 1 - r) / r^2 */
  float q = ND4C_FMAF(1.381461240e-03f, r, 8.368709716e-03f);
  q = ND4C_FMAF(q, r, 4.166838739e-02f);
  q = ND4C_FMAF(q, r, 1.666652069e-01f);
  q = ND4C_FMAF(q, r, 4.999999345e-01f);
  return ND4C_FMAF(r * r, q, rest) + most;
}

/* e^(x + tail), |tail| small against 1; 0.90 ulp. Beyond the limits no factor of use brings the result back. */
static inline nd4c_scaled_float32 nd4c_exp_scaled_f32(float x, float tail) {
  x = nd4c_within_f32(x, -130.0f, 89.0f);
  float n = ND4C_FMAF(x, 0x1.715476p+0f, ND4C_ROUNDER_F32) - ND4C_ROUNDER_F32;
  float less_one = nd4c_expm1_reduced_f32(x, n, tail);
  float half = ND4C_FMAF(n, 0.5f, ND4C_ROUNDER_F32);
  float rest = n - (half - ND4C_ROUNDER_F32) + ND4C_ROUNDER_F32;
  float mantissa = 1 + less_one;
  nd4c_scaled_float32 e = {mantissa, less_one - (mantissa - 1), nd4c_power_of_two_f32(half),
                           nd4c_power_of_two_f32(rest)};
  return e;
}

static inline float nd4c_exp_parts_f32(float x, float tail) {
  nd4c_scaled_float32 e = nd4c_exp_scaled_f32(x, tail);
  return e.mantissa * e.half * e.rest;
}

static inline float nd4c_exp_float32(float x) {
  return nd4c_exp_parts_f32(x, 0);
}

/* e^r - 1 = most + the result, if r = most + rest. */
static inline double nd4c_expm1_rest_f64(double r, double rest) {
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
  return ND4C_FMA(r * r, q, rest);
}

static inline double nd4c_expm1_reduced_f64(double x, double n, double tail) {
  double most = ND4C_FMA(n, -0x1.62e42fefa3800p-1, x), rest = ND4C_FMA(n, -0x1.ef35793c76730p-45, tail);
  return nd4c_expm1_rest_f64(most + rest, rest) + most;
}

static inline nd4c_scaled_float64 nd4c_exp_scaled_f64(double x, double tail) {
  x = nd4c_within_f64(x, -800.0, 710.0);
  double n = ND4C_FMA(x, 0x1.71547652b82fep+0, ND4C_ROUNDER_F64) - ND4C_ROUNDER_F64;
  double less_one = nd4c_expm1_reduced_f64(x, n, tail);
  double half = ND4C_FMA(n, 0.5, ND4C_ROUNDER_F64);
  double rest = n - (half - ND4C_ROUNDER_F64) + ND4C_ROUNDER_F64;
  double mantissa = 1 + less_one;
  nd4c_scaled_float64 e = {mantissa, less_one - (mantissa - 1), nd4c_power_of_two_f64(half),
                           nd4c_power_of_two_f64(rest)};
  return e;
}

static inline double nd4c_exp_float64(double x) {
  nd4c_scaled_float64 e = nd4c_exp_scaled_f64(x, 0);
  return e.mantissa * e.half * e.rest;
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

/* sin(r + lost + quadrant pi / 2) for |r| up to pi / 4: what r and 1 - r^2 / 2 lose by rounding is added to the series.
 * The first bit of `sign` turns the result round. */
static inline float nd4c_sine_reduced_f32(float r, float lost, uint32_t quadrant, uint32_t sign) {
  float z = r * r;
  float sine = ND4C_FMAF(z, 2.718311675e-06f, -1.983933485e-04f); /* (sin r / r - 1) / r^2 */
  sine = ND4C_FMAF(z, sine, 8.333329386e-03f);
  sine = ND4C_FMAF(z, sine, -1.666666664e-01f);
  sine = ND4C_FMAF(r * z, sine, lost) + r;
  float cosine = ND4C_FMAF(z, 2.443845156e-05f, -1.388736752e-03f); /* (cos r - 1 + r^2 / 2) / r^4 */
  cosine = ND4C_FMAF(z, cosine, 4.166664687e-02f);
  float half = 0.5f * z, most = 1 - half;
  float rest = ND4C_FMAF(-r, lost, ((1 - most) - half) - 0.5f * ND4C_FMAF(r, r, -z));
  cosine = ND4C_FMAF(z * z, cosine, rest) + most;
  uint32_t bits = quadrant & 1 ? nd4c_float_bits(cosine) : nd4c_float_bits(sine);
  return nd4c_float_from_bits(bits ^ (((quadrant << 30) ^ sign) & 0x80000000));
}

/* sin(x + quarter * pi / 2) for quarter 0 and 1, reduced in f64 with pi / 2 in two parts, the first so short that n
 * times it is exact. Of |x|, so that the sine keeps the sign of zero. */
static inline float nd4c_sine_f32(float x, uint32_t quarter) {
  double a = (double)fabsf(x), n_rounded = ND4C_FMA(a, 0x1.45f306dc9c883p-1, ND4C_ROUNDER_F64);
  double n = n_rounded - ND4C_ROUNDER_F64;
  double reduced = ND4C_FMA(n, -0x1.921fb544p+0, a);
  double exact = ND4C_FMA(n, -0x1.0b4611a626331p-34, reduced);
  float r = (float)exact, lost = (float)(exact - (double)r);
  uint32_t quadrant = (uint32_t)nd4c_double_bits(n_rounded) + quarter;
  return nd4c_sine_reduced_f32(r, lost, quadrant, quarter == 0 ? nd4c_float_bits(x) : 0);
}

/* Below this the same is as good in f32 alone, if products can be exact: pi / 2 in three parts, the second with no bit
 * beyond 2^-38. x less n times the first is exact because few bits are left of it; next to a zero, so is the second
 * step; elsewhere fma gives its rounding error. */
#if ND4C_HAS_FMA
#define ND4C_TRIGONOMETRIC_NEAR 0x1p10f
static inline float nd4c_sine_near_f32(float x, uint32_t quarter) {
  float a = fabsf(x), n_rounded = ND4C_FMAF(a, 0x1.45f306p-1f, ND4C_ROUNDER_F32), n = n_rounded - ND4C_ROUNDER_F32;
  float most = ND4C_FMAF(n, -0x1.921fb6p+0f, a), r = ND4C_FMAF(n, 0x1.7778p-25f, most);
  float lost = ND4C_FMAF(n, 0x1.2e7b96p-40f, ND4C_FMAF(n, 0x1.7778p-25f, most - r));
  uint32_t quadrant = nd4c_float_bits(n_rounded) + quarter;
  return nd4c_sine_reduced_f32(r, lost, quadrant, quarter == 0 ? nd4c_float_bits(x) : 0);
}
#else
#define ND4C_TRIGONOMETRIC_NEAR 0.0f
static inline float nd4c_sine_near_f32(float x, uint32_t quarter) {
  return nd4c_sine_f32(x, quarter);
}
#endif

/* |x| less the nearest multiple of pi / 2, n times that, in two parts. */
typedef struct nd4c_angle_f64 {
  double r, lost;
  uint64_t quadrant; /* n, in the last two bits */
} nd4c_angle_f64;

/* The same of f64 alone, pi / 2 in three parts. The second has so few bits that n times it is exact, and so is what r
 * loses: next to multiples of pi / 2 the first two parts leave few bits of x, and the third one matters. Without an
 * instruction that tells what a product lost it is not used. */
#define ND4C_TRIGONOMETRIC_LIMIT_F64 0x1p20
static inline nd4c_angle_f64 nd4c_angle_reduce_f64(double x) {
  double a = fabs(x), n_rounded = ND4C_FMA(a, 0x1.45f306dc9c883p-1, ND4C_ROUNDER_F64);
  double n = n_rounded - ND4C_ROUNDER_F64, most = ND4C_FMA(n, -0x1.921fb54442d18p+0, a);
  double r = ND4C_FMA(n, -0x1.1a626331p-54, most);
  double lost = ND4C_FMA(n, -0x1.1701b839a252p-88, ND4C_FMA(n, -0x1.1a626331p-54, most - r));
  nd4c_angle_f64 angle = {r, lost, nd4c_double_bits(n_rounded)};
  return angle;
}

/* sin(r + lost) = r + result, for |r| up to pi / 4. */
static inline double nd4c_sine_rest_f64(double r, double lost) {
  double z = r * r;
  double sine = ND4C_FMA(z, 1.591810123167728e-10, -2.5051131455447428e-08); /* (sin r / r - 1) / r^2 */
  sine = ND4C_FMA(z, sine, 2.755731610068312e-06);
  sine = ND4C_FMA(z, sine, -0.0001984126983675497);
  sine = ND4C_FMA(z, sine, 0.008333333333330946);
  sine = ND4C_FMA(z, sine, -0.16666666666666666);
  return ND4C_FMA(r * z, sine, lost);
}

/* cos(r + lost) = 1 - r r / 2, rounded, + result. */
static inline double nd4c_cosine_rest_f64(double r, double lost) {
  double z = r * r;
  double cosine = ND4C_FMA(z, -1.1382614869434128e-11, 2.087614602470193e-09); /* (cos r - 1 + r^2 / 2) / r^4 */
  cosine = ND4C_FMA(z, cosine, -2.7557317270560385e-07);
  cosine = ND4C_FMA(z, cosine, 2.4801587298763433e-05);
  cosine = ND4C_FMA(z, cosine, -0.0013888888888887395);
  cosine = ND4C_FMA(z, cosine, 0.041666666666666664);
  double half = 0.5 * z, near = 1 - half;
  double rest = ND4C_FMA(-r, lost, ((1 - near) - half) - 0.5 * ND4C_FMA(r, r, -z));
  return ND4C_FMA(z * z, cosine, rest);
}

static inline double nd4c_sine_f64(double x, uint64_t quarter) {
  nd4c_angle_f64 angle = nd4c_angle_reduce_f64(x);
  double sine = nd4c_sine_rest_f64(angle.r, angle.lost) + angle.r;
  double cosine = nd4c_cosine_rest_f64(angle.r, angle.lost) + (1 - 0.5 * (angle.r * angle.r));
  uint64_t quadrant = angle.quadrant + quarter, sign = quarter == 0 ? nd4c_double_bits(x) : 0;
  uint64_t bits = quadrant & 1 ? nd4c_double_bits(cosine) : nd4c_double_bits(sine);
  return nd4c_double_from_bits(bits ^ (((quadrant << 62) ^ sign) & UINT64_C(0x8000000000000000)));
}

/* -- hyperbolic tangent and logistic function ----------------------------------------------------------------- */

/* From 0.6 on as 1 - 2 / d, d = e^(2 |x|) + 1: what the difference and d lose by rounding is added. 0.89 ulp. */
static inline float nd4c_tanh_float32(float x) {
  float a = fabsf(x), z = x * x;
  float q = ND4C_FMAF(z, 2.179462928e-03f, -8.216559887e-03f); /* (tanh x / x - 1) / x^2 below 0.6 */
  q = ND4C_FMAF(z, q, 2.171631157e-02f);
  q = ND4C_FMAF(z, q, -5.394958705e-02f);
  q = ND4C_FMAF(z, q, 1.333322823e-01f);
  q = ND4C_FMAF(z, q, -3.333333135e-01f);
  float small = ND4C_FMAF(x * z, q, x);
  float twice = 2 * nd4c_at_most_f32(a, 10.0f);
  float rounded = ND4C_FMAF(twice, 0x1.715476p+0f, ND4C_ROUNDER_F32), scale = nd4c_power_of_two_f32(rounded);
  float less_one = nd4c_expm1_reduced_f32(twice, rounded - ND4C_ROUNDER_F32, 0);
  float most = scale + 1, d = ND4C_FMAF(scale, less_one, most);
  float t = 2 / d, difference = 1 - t, lost = ND4C_FMAF(scale, less_one, most - d);
  float large = ND4C_FMAF(0.5f * t * t, lost, (1 - difference) - t) + difference;
  return copysignf(a < 0.6f ? small : large, x); /* small loses the sign of zero */
}

static inline double nd4c_tanh_float64(double x) {
  double a = fabs(x), z = x * x;
  double q = ND4C_FMA(z, -1.58914826526826470e-05, 7.67755918164686971e-05); /* (tanh x / x - 1) / x^2 below 0.63 */
  q = ND4C_FMA(z, q, -2.28241362584564504e-04);
  q = ND4C_FMA(z, q, 5.86157662351688829e-04);
  q = ND4C_FMA(z, q, -1.45491064145958941e-03);
  q = ND4C_FMA(z, q, 3.59197984184524538e-03);
  q = ND4C_FMA(z, q, -8.86321985541991362e-03);
  q = ND4C_FMA(z, q, 2.18694874894741936e-02);
  q = ND4C_FMA(z, q, -5.39682539275407547e-02);
  q = ND4C_FMA(z, q, 1.33333333332542304e-01);
  q = ND4C_FMA(z, q, -3.33333333333327986e-01);
  double small = ND4C_FMA(x * z, q, x);
  double large = 1 - 2 / (nd4c_exp_float64(2 * a) + 1);
  return copysign(a < 0.63 ? small : large, x);
}

/* factor / (1 + e^-(x + tail)), with e^ of the negative side alone: no overflow, and the left tail keeps its digits. */
static inline float nd4c_sigmoid_times_float32(float x, float tail, float factor) {
  float sign = x < 0 ? -1.0f : 1.0f;
  nd4c_scaled_float32 e = nd4c_exp_scaled_f32(-fabsf(x), -sign * tail);
  float y = factor / (1 + e.mantissa * e.half * e.rest);
  return x < 0 ? e.mantissa * e.half * y * e.rest : y;
}

static inline double nd4c_sigmoid_times_float64(double x, double tail, double factor) {
  double sign = x < 0 ? -1.0 : 1.0;
  nd4c_scaled_float64 e = nd4c_exp_scaled_f64(-fabs(x), -sign * tail);
  double y = factor / (1 + e.mantissa * e.half * e.rest);
  return x < 0 ? e.mantissa * e.half * y * e.rest : y;
}

static inline float nd4c_sigmoid_float32(float x) {
  return nd4c_sigmoid_times_float32(x, 0, 1);
}

static inline double nd4c_sigmoid_float64(double x) {
  return nd4c_sigmoid_times_float64(x, 0, 1);
}

/* -- error function and what is made of it -------------------------------------------------------------------- */

/* t = 1 / (1 + a (k + k_low)); t (1 + off) is the exact value. Without an instruction for the rounding error of a
 * product, a wider type computes it. */
typedef struct nd4c_divided_float32 {
  float value, off;
} nd4c_divided_float32;
typedef struct nd4c_divided_float64 {
  double value, off;
} nd4c_divided_float64;
#if ND4C_HAS_FMA
#define ND4C_DIVIDE(name, type, bits, multiply_add, wider)                                   \
  static inline nd4c_divided_##name nd4c_divide_##bits(type a, type k, type k_low) {         \
    type d = multiply_add(a, k, (type)1), t = 1 / d;                                         \
    type lost = multiply_add(a, k_low, multiply_add(a, k, 1 - d));                           \
    nd4c_divided_##name divided = {t, multiply_add(-t, lost, multiply_add(-d, t, (type)1))}; \
    return divided;                                                                          \
  }
#else
#define ND4C_DIVIDE(name, type, bits, multiply_add, wider)                           \
  static inline nd4c_divided_##name nd4c_divide_##bits(type a, type k, type k_low) { \
    wider exact = 1 / (1 + (wider)a * ((wider)k + (wider)k_low));                    \
    type t = (type)exact;                                                            \
    nd4c_divided_##name divided = {t, (type)((exact - (wider)t) / exact)};           \
    return divided;                                                                  \
  }
#endif
ND4C_DIVIDE(float32, float, f32, ND4C_FMAF, double)
ND4C_DIVIDE(float64, double, f64, ND4C_FMA, long double)
#undef ND4C_DIVIDE

/* erfc(x) e^(x^2) for x from 0 to 12, as t P(t) with t = 1 / (1 + 3 x / 8), where 3 x / 8 = a (k + k_low). The function
 * changes up to 3 times as fast as t does: `off` makes t's own error good, as an addend to the exponent of e^-(x^2). */
static inline nd4c_divided_float32 nd4c_scaled_erfc_f32(float a, float k, float k_low) {
  nd4c_divided_float32 t = nd4c_divide_f32(a, k, k_low);
  float p = ND4C_FMAF(t.value, 6.131741571e-02f, -2.862871429e-01f);
  p = ND4C_FMAF(t.value, p, 4.303073224e-01f);
  p = ND4C_FMAF(t.value, p, -2.270894713e-01f);
  p = ND4C_FMAF(t.value, p, 2.721628990e-01f);
  p = ND4C_FMAF(t.value, p, 1.221536135e-01f);
  p = ND4C_FMAF(t.value, p, 2.051512020e-01f);
  p = ND4C_FMAF(t.value, p, 2.106719752e-01f);
  p = ND4C_FMAF(t.value, p, 2.116121846e-01f);
  nd4c_divided_float32 y = {t.value * p, t.off * ND4C_FMAF(2.0f, t.value, 1.0f)};
  return y;
}

/* From 0.8 on as 1 - e^-(x + x v), v a polynomial: a quarter of what the exponential is off by is left. 0.90 ulp. */
static inline float nd4c_erf_float32(float x) {
  float a = fabsf(x), z = x * x;
  /* (erf x / x - c) / x^2 below 0.8, c next to 2 / sqrt pi */
  float q = ND4C_FMAF(z, 6.133600255e-05f, -7.704522577e-04f);
  q = ND4C_FMAF(z, q, 5.169134587e-03f);
  q = ND4C_FMAF(z, q, -2.684885822e-02f);
  q = ND4C_FMAF(z, q, 1.128354222e-01f);
  q = ND4C_FMAF(z, q, -3.761262596e-01f);
  float small = ND4C_FMAF(x, ND4C_FMAF(z, q, 1.283791671e-01f), x);
  float inside = nd4c_at_most_f32(a, 4.0f);                         /* beyond 3.92 the result is 1 */
  float v = ND4C_FMAF(inside, 6.260764621e-06f, -2.742469078e-04f); /* -ln(erfc x) / x - 1 from 0.8 to 4 */
  v = ND4C_FMAF(inside, v, 3.450156190e-03f);
  v = ND4C_FMAF(inside, v, -2.336674184e-02f);
  v = ND4C_FMAF(inside, v, 1.057917476e-01f);
  v = ND4C_FMAF(inside, v, 6.354117990e-01f);
  v = ND4C_FMAF(inside, v, 1.285865456e-01f);
  float exponent = ND4C_FMAF(-inside, v, -inside);
  float tail = ND4C_FMAF(-inside, v, -inside - exponent);
  float rounded = ND4C_FMAF(exponent, 0x1.715476p+0f, ND4C_ROUNDER_F32), scale = nd4c_power_of_two_f32(rounded);
  float less_one = nd4c_expm1_reduced_f32(exponent, rounded - ND4C_ROUNDER_F32, tail);
  float large = ND4C_FMAF(-scale, less_one, 1 - scale);
  return a < 0.8f ? small : copysignf(large, x);
}

/* x Phi(x): x - x erfc(x / sqrt 2) / 2 for x > 0, and -|x| erfc(|x| / sqrt 2) / 2
 * below, which keeps the tail's digits. The exponent x^2 / 2 is split into an exact part and a small one. */
static inline float nd4c_gelu_float32(float x) {
  float a = fabsf(x);
#if !ND4C_HAS_FMA /* each step below loses more: small x have a separate series */
  float z = x * x;
  float small = ND4C_FMAF(z, 1.014044605e-04f, -1.179675712e-03f); /* R: (Phi(x) - 1/2) / x below 0.8 */
  small = ND4C_FMAF(z, small, 9.97183292e-03f);
  small = ND4C_FMAF(z, small, -6.649024354e-02f);
  small = ND4C_FMAF(z, small, 3.989422787e-01f);
  small = ND4C_FMAF(z, small, 0.5f * x);
#endif
  float inside = nd4c_at_most_f32(a, 16.0f);
  float high = nd4c_float_from_bits(nd4c_float_bits(inside) & 0xfffff000);
  nd4c_divided_float32 erfc = nd4c_scaled_erfc_f32(inside, 0x1.0f876cp-2f, 0x1.9bedap-27f);
  float rest = ND4C_FMAF(-0.5f * (inside - high), inside + high, erfc.off);
  nd4c_scaled_float32 e = nd4c_exp_scaled_f32(-0.5f * high * high, rest);
#if ND4C_HAS_FMA
  float factor = 0.5f * inside * erfc.value * e.half;
  float tail = ND4C_FMAF(e.lost, factor, e.mantissa * factor) * e.rest;
  float y = x > 0 ? x - tail : tail;
#else
  float tail = (float)(((double)e.mantissa + e.lost) * (0.5 * inside * erfc.value) * e.half * e.rest);
  float y = x > 0 ? x - tail : tail;
  y = a < 0.8f ? small : y;
#endif
  return copysignf(y, x); /* of zero, too */
}

/* The same of f64; t - c is what the polynomial is in, c in the middle of the range. */
static inline nd4c_divided_float64 nd4c_scaled_erfc_f64(double a, double k, double k_low) {
  nd4c_divided_float64 t = nd4c_divide_f64(a, k, k_low);
  double s = t.value - 0.453125;
  double p = ND4C_FMA(s, -3.97248682553281483e-03, 1.16826034406050492e-02);
  p = ND4C_FMA(s, p, 1.6155489501330319e-03);
  p = ND4C_FMA(s, p, -1.98250392894629538e-02);
  p = ND4C_FMA(s, p, 6.41068450703721776e-03);
  p = ND4C_FMA(s, p, 2.05756217559962063e-02);
  p = ND4C_FMA(s, p, -1.53646023527324033e-02);
  p = ND4C_FMA(s, p, -1.83077645636841524e-02);
  p = ND4C_FMA(s, p, 2.40536848888767543e-02);
  p = ND4C_FMA(s, p, 1.7024207808016175e-02);
  p = ND4C_FMA(s, p, -3.4302506630778979e-02);
  p = ND4C_FMA(s, p, -2.13377587339822606e-02);
  p = ND4C_FMA(s, p, 4.93172213717146436e-02);
  p = ND4C_FMA(s, p, 4.33581344284053277e-02);
  p = ND4C_FMA(s, p, -6.76769931002238396e-02);
  p = ND4C_FMA(s, p, -1.22611512524352147e-01);
  p = ND4C_FMA(s, p, 2.78611920198374066e-02);
  p = ND4C_FMA(s, p, 3.31534520113742674e-01);
  p = ND4C_FMA(s, p, 5.93050791428483864e-01);
  p = ND4C_FMA(s, p, 6.67340592870754673e-01);
  p = ND4C_FMA(s, p, 5.59147263023329463e-01);
  p = ND4C_FMA(s, p, 3.70406221526563881e-01);
  nd4c_divided_float64 y = {t.value * p, t.off * ND4C_FMA(2.0, t.value, 1.0)};
  return y;
}

/* erf x = x + x times this, below 0.8; z = x^2. */
static inline double nd4c_erf_series_f64(double z) {
  /* (erf x / x - 2 / sqrt pi) / x^2 */
  double q = ND4C_FMA(z, -9.40011045136714e-10, 1.43879759490784e-08);
  q = ND4C_FMA(z, q, -1.633064617966387e-07);
  q = ND4C_FMA(z, q, 1.646026119342631e-06);
  q = ND4C_FMA(z, q, -1.4925587372090055e-05);
  q = ND4C_FMA(z, q, 0.00012055331603032766);
  q = ND4C_FMA(z, q, -0.0008548327004601607);
  q = ND4C_FMA(z, q, 0.005223977625291669);
  q = ND4C_FMA(z, q, -0.02686617064512508);
  q = ND4C_FMA(z, q, 0.11283791670955116);
  q = ND4C_FMA(z, q, -0.37612638903183754);
  return ND4C_FMA(z, q, 0.1283791670955126);
}

/* From 0.8 on as 1 - e^-(x^2) times the scaled complement. */
static inline double nd4c_erf_float64(double x) {
  double a = fabs(x), small = ND4C_FMA(x, nd4c_erf_series_f64(x * x), x);
  double inside = nd4c_at_most_f64(a, 6.0); /* beyond 5.93 the result is 1 */
  double high = nd4c_double_from_bits(nd4c_double_bits(inside) & UINT64_C(0xfffffffff8000000));
  nd4c_divided_float64 erfc = nd4c_scaled_erfc_f64(inside, 0.375, 0);
  double rest = ND4C_FMA(-(inside - high), inside + high, erfc.off);
  nd4c_scaled_float64 e = nd4c_exp_scaled_f64(-high * high, rest);
  double large = ND4C_FMA(-(e.mantissa * e.half * e.rest), erfc.value, 1.0);
  return a < 0.8 ? small : copysign(large, x);
}

/* Small x as x / 2 + x^2 R(x^2), R the series of (Phi(x) - 1/2) / x. */
static inline double nd4c_gelu_float64(double x) {
  double a = fabs(x), z = x * x;
  double small = ND4C_FMA(z, 4.42026271623564063e-12, -1.11986803704059362e-10);
  small = ND4C_FMA(z, small, 2.27266111288298409e-09);
  small = ND4C_FMA(z, small, -4.12262146133072219e-08);
  small = ND4C_FMA(z, small, 6.65969195081809704e-07);
  small = ND4C_FMA(z, small, -9.44465622520655614e-06);
  small = ND4C_FMA(z, small, 1.15434687611467327e-04);
  small = ND4C_FMA(z, small, -1.18732821548008041e-03);
  small = ND4C_FMA(z, small, 9.97355701003580164e-03);
  small = ND4C_FMA(z, small, -6.64903800669054461e-02);
  small = ND4C_FMA(z, small, 3.98942280401432678e-01);
  small = ND4C_FMA(z, small, 0.5 * x);
  double inside = nd4c_at_most_f64(a, 40.0);
  double high = nd4c_double_from_bits(nd4c_double_bits(inside) & UINT64_C(0xfffffffff8000000));
  nd4c_divided_float64 erfc = nd4c_scaled_erfc_f64(inside, 0x1.0f876ccdf6cd9p-2, 0x1.b1a18f13a34c0p-56);
  double rest = ND4C_FMA(-0.5 * (inside - high), inside + high, erfc.off);
  nd4c_scaled_float64 e = nd4c_exp_scaled_f64(-0.5 * high * high, rest);
  double factor = 0.5 * inside * erfc.value * e.half;
  double tail = ND4C_FMA(e.lost, factor, e.mantissa * factor) * e.rest;
  return copysign(a < 0.8 ? small : x > 0 ? x - tail : tail, x);
}

/* x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)); the exponent in f64, for the tail. */
static inline float nd4c_gelu_tanh_float32(float x) {
  float inside = nd4c_within_f32(x, -30.0f, 30.0f);
  double wide = (double)inside;
  double u = 1.5957691216057307 * wide * (1 + 0.044715 * wide * wide);
  float high = (float)u;
  return nd4c_sigmoid_times_float32(high, (float)(u - (double)high), x > 0 ? x : inside);
}

/* The exponent as the sum of two doubles: products, and their rounding errors by fma. (Always fma: slow where it is no
 * instruction, but a plain product cannot give its error.) */
static inline double nd4c_gelu_tanh_float64(double x) {
  const double k = 0.044715, k_low = 0x1.441355475a31ap-59, c = 0x1.9884533d43651p+0, c_low = -0x1.cbc0d30ebfd15p-54;
  double inside = nd4c_within_f64(x, -30, 30);
  double w = inside * inside, w_low = fma(inside, inside, -w);
  double p = k * w, p_low = fma(k, w, -p) + (k * w_low + k_low * w);
  double s = 1 + p, s_low = (p < 1 ? p - (s - 1) : 1 - (s - p)) + p_low;
  double v = c * inside, v_low = fma(c, inside, -v) + c_low * inside;
  double u = v * s, u_low = fma(v, s, -u) + (v * s_low + v_low * s);
  return nd4c_sigmoid_times_float64(u, u_low, x > 0 ? x : inside);
}

/* -- what the hardware does ------------------------------------------------------------------------------------ */

static inline float nd4c_sqrt_float32(float x) {
  return sqrtf(x);
}

static inline double nd4c_sqrt_float64(double x) {
  return sqrt(x);
}

#endif
