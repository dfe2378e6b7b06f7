/* Activations of one number, without branches, as mathematics.h has its functions. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_ACTIVATION_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_ACTIVATION_H

#include "kernels/cpu/elementwise/mathematics.h"

/* e^x - 1 for x <= 0: 2^n (e^r - 1) + (2^n - 1), in which nothing cancels. */
static inline float nd4c_expm1_below_float32(float x) {
  x = nd4c_at_least_f32(x, -30.0f);
  float rounded = ND4C_FMAF(x, 0x1.715476p+0f, ND4C_ROUNDER_F32), n = rounded - ND4C_ROUNDER_F32;
  float scale = nd4c_power_of_two_f32(rounded);
  return ND4C_FMAF(nd4c_expm1_reduced_f32(x, n, 0), scale, scale - 1);
}

static inline double nd4c_expm1_below_float64(double x) {
  x = nd4c_at_least_f64(x, -50.0);
  double rounded = ND4C_FMA(x, 0x1.71547652b82fep+0, ND4C_ROUNDER_F64), n = rounded - ND4C_ROUNDER_F64;
  double scale = nd4c_power_of_two_f64(rounded);
  return ND4C_FMA(nd4c_expm1_reduced_f64(x, n, 0), scale, scale - 1);
}

/* What a product of a number and a parameter lost when it was rounded. */
static inline float nd4c_lost_float32(double factor, float x, float product) {
  return (float)(factor * (double)x - (double)product);
}

static inline double nd4c_lost_float64(double factor, double x, double product) {
  return fma(factor, x, -product);
}

#define ND4C_ACTIVATIONS(name, type, bits, absolute, deepest)                                              \
  /* max(x, 0) + ln(1 + e), e = e^-|x|; u = 1 + e is rounded, what it lost is added. */                    \
  static inline type nd4c_softplus_##name(type x) {                                                        \
    type e = nd4c_exp_##name(-absolute(x)), u = 1 + e;                                                     \
    return (x > 0 ? x : 0) + (nd4c_log_##name(u) + (e - (u - 1)) / u);                                     \
  }                                                                                                        \
  /* Parameters are arguments: gcc leaves a loop scalar that reads memory on one side of a selection. */   \
  static inline type nd4c_leaky_relu_##name(type x, type alpha) {                                          \
    return x < 0 ? alpha * x : x;                                                                          \
  }                                                                                                        \
  static inline type nd4c_threshold_##name(type x, double limit, type below) {                             \
    return (double)x <= limit ? below : x;                                                                 \
  }                                                                                                        \
  static inline type nd4c_elu_##name(type x, type alpha) {                                                 \
    return x >= 0 ? x : alpha * nd4c_expm1_below_##name(x);                                                \
  }                                                                                                        \
  /* For alpha > 0. */                                                                                     \
  static inline type nd4c_celu_##name(type x, type alpha) {                                                \
    return x >= 0 ? x : alpha * nd4c_expm1_below_##name(x / alpha);                                        \
  }                                                                                                        \
  static inline type nd4c_selu_##name(type x, type gamma, type below) {                                    \
    return x >= 0 ? gamma * x : below * nd4c_expm1_below_##name(x);                                        \
  }                                                                                                        \
  /* For |alpha| of 0.1 at least: so deep below 0 that e^ is 0 to the exponential, it is 0 for every x. */ \
  static inline type nd4c_swish_##name(type x, double alpha) {                                             \
    type inside = (type)alpha * x;                                                                         \
    type lost = absolute(inside) < 1000 ? nd4c_lost_##name(alpha, x, inside) : 0;                          \
    type y = nd4c_sigmoid_times_##bits(inside, lost, x);                                                   \
    return inside < (type)(deepest) ? (x > 0 ? 0 : -(type)0) : y;                                          \
  }                                                                                                        \
  static inline type nd4c_softsign_##name(type x) {                                                        \
    type a = absolute(x), y = x / (1 + a);                                                                 \
    return a < (type)INFINITY ? y : a == a ? (x > 0 ? (type)1 : -(type)1) : x;                             \
  }
ND4C_ACTIVATIONS(float32, float, f32, fabsf, -130)
ND4C_ACTIVATIONS(float64, double, f64, fabs, -800)
#undef ND4C_ACTIVATIONS

/* x e (e + 2) / (e (e + 2) + 2), e = e^x; beyond 40 the quotient is 1. Of f32 the quotient in f64, for its roundings
 * come to more than 4 units in the last place. */
static inline float nd4c_mish_float32(float x) {
  float inside = x > 40 ? 40 : x < -800 ? -800 : x;
  nd4c_scaled_float32 scaled = nd4c_exp_scaled_f32(inside, 0);
  double e = ((double)scaled.mantissa + (double)scaled.lost) * (double)scaled.half * (double)scaled.rest;
  double w = e * (e + 2), y = (double)inside * (w / (w + 2));
  return x > 40 ? x : (float)y;
}

static inline double nd4c_mish_float64(double x) {
  double inside = x > 40 ? 40 : x < -800 ? -800 : x;
  nd4c_scaled_float64 scaled = nd4c_exp_scaled_f64(inside, 0);
  double e = scaled.mantissa * scaled.half * scaled.rest, more = e + 2;
  double factor = inside * (more / (e * more + 2));
  return x > 40 ? x : scaled.mantissa * scaled.half * factor * scaled.rest;
}

/* In f64, where nothing is lost: the sum may cancel. */
static inline float nd4c_hard_sigmoid_float32(float x, double alpha, double beta) {
  double y = alpha * (double)x + beta;
  y = y < 0 ? 0 : y;
  return (float)(y > 1 ? 1 : y);
}

static inline float nd4c_hard_swish_float32(float x) {
  double wide = (double)x, y = wide * (wide + 3) * (1.0 / 6);
  return x <= -3 ? -0.0f : x >= 3 ? x : (float)y;
}

#endif
