/* Activations of one number, without branches, in the manner of mathematics.h. unary.c calls them in the loops that
 * simd/elementwise.c runs. */
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

#define ND4C_TEMPLATE "kernels/cpu/elementwise/activation_float.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

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

/* The product and the sum each rounded once: always fma, for the sum may cancel. */
static inline double nd4c_hard_sigmoid_float64(double x, double alpha, double beta) {
  double y = fma(alpha, x, beta);
  y = y < 0 ? 0 : y;
  return y > 1 ? 1 : y;
}

static inline float nd4c_hard_swish_float32(float x) {
  double wide = (double)x, y = wide * (wide + 3) * (1.0 / 6);
  return x <= -3 ? -0.0f : x >= 3 ? x : (float)y;
}

static inline double nd4c_hard_swish_float64(double x) {
  double sum = x + 3, product = x * sum, lost = fma(x, sum, -product) + x * ((3 - sum) + x);
  double y = (product + lost) / 6;
  return x <= -3 ? -0.0 : x >= 3 ? x : y;
}

#endif
