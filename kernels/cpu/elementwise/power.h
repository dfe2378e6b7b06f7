/* y = a^b over runs of floats. A step of 0 repeats one element. y may be a or b. binary.c and fast.c call it in their
 * loops of `power`. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_POWER_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_POWER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernels/cpu/elementwise/mathematics.h"
#include "kernels/cpu/elementwise/sixteen.h"
#include "kernels/cpu/support/level.h"

#define ND4C_TEMPLATE "kernels/cpu/elementwise/power_plain.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

#if defined(__AVX512F__)
#define nd4c_power_positive_float32 nd4c_power_positive_sixteen
#define nd4c_power_positive_float64 nd4c_power_positive_eight
#define nd4c_absolute_float32 nd4c_absolute_sixteen
#define nd4c_absolute_float64 nd4c_absolute_eight
#define ND4C_TEMPLATE "kernels/cpu/elementwise/power_vector.h"
#include "kernels/cpu/support/each_register.h"
#else
/* True if the formulas below do not hold: zeros, infinities, NaN, and subnormal f64 have rules of their own. */
static inline int nd4c_power_is_special_float32(float a, float b) {
  return !(fabsf(a) > 0) | !(fabsf(a) < INFINITY) | !(fabsf(b) < INFINITY);
}

static inline int nd4c_power_is_special_float64(double a, double b) {
  return !(fabs(a) >= 0x1p-1022) | !(fabs(a) < INFINITY) | !(fabs(b) < INFINITY);
}

/* |a| = 2^k m, m from sqrt(1/2) to sqrt 2. */
static inline double nd4c_power_split(double a, double *k) {
  uint64_t bits = nd4c_double_bits(fabs(a)) + (UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd));
  *k = nd4c_double_from_bits((bits >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023);
  return nd4c_double_from_bits((bits & UINT64_C(0x000fffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd));
}

/* a^b as e^(b ln |a|) in f64, of which 32 bits are right; a negative a wants an integer b, whose last bit gives the
 * sign. ln m = 2 artanh s, s = (m - 1) / (m + 1). */
static inline float nd4c_power_finite_float32(float a, float b) {
  double k, m = nd4c_power_split((double)a, &k), s = (m - 1) / (m + 1), z = s * s;
  double p = ND4C_FMA(z, 0.19363884986633198, 0.22191337428065783);
  p = ND4C_FMA(z, p, 0.28571755535032944);
  p = ND4C_FMA(z, p, 0.3999999879244169);
  p = ND4C_FMA(z, p, 0.6666666666737868);
  double x = (double)b * ND4C_FMA(k, 0x1.62e42fefa39efp-1, ND4C_FMA(s * z, p, 2 * s));
  x = x > 200 ? 200 : x;
  x = x < -200 ? -200 : x;
  double rounded = ND4C_FMA(x, 0x1.71547652b82fep+0, ND4C_ROUNDER_F64);
  double r = ND4C_FMA(rounded - ND4C_ROUNDER_F64, -0x1.62e42fefa39efp-1, x);
  double q = ND4C_FMA(r, 0.00019890988455544567, 0.0013933647862928863); /* (e^r - 1 - r) / r^2 */
  q = ND4C_FMA(r, q, 0.008333310927615311);
  q = ND4C_FMA(r, q, 0.041666464944505696);
  q = ND4C_FMA(r, q, 0.16666666681621095);
  q = ND4C_FMA(r, q, 0.5000000013463886);
  float y = (float)(ND4C_FMA(r * r, q, 1 + r) * nd4c_power_of_two_f64(rounded));
  float whole = rintf(b), half = 0.5f * b;
  float negative = whole != b ? NAN : rintf(half) != half ? -y : y;
  return a < 0 ? negative : y;
}

#if ND4C_HAS_FMA
/* The same, ln |a| and its product with b in two doubles each: e^ makes an absolute error of its exponent a relative
 * one. */
static inline double nd4c_power_finite_float64(double a, double b) {
  double k, m = nd4c_power_split(a, &k), f = m - 1, d = m + 1, d_low = m - (d - 1);
  double s = f / d, s_low = (fma(-s, d, f) - s * d_low) / d;
  double z = s * s, z_low = fma(s, s, -z) + 2 * s * s_low;
  double cube = z * s, cube_low = fma(z, s, -cube) + (z_low * s + z * s_low);
  const double third = 2.0 / 3, third_low = 0x1.5555555555555p-55;
  double t = third * cube, t_low = fma(third, cube, -t) + (third * cube_low + third_low * cube);
  double p = fma(z, 0.1076362151501126, 0.10456195110401492);
  p = fma(z, p, 0.11766819021629554);
  p = fma(z, p, 0.13333296397963834);
  p = fma(z, p, 0.1538461576290815);
  p = fma(z, p, 0.1818181817964499);
  p = fma(z, p, 0.2222222222222847);
  p = fma(z, p, 0.28571428571428564);
  p = fma(z, p, 0.4);
  double high = k * 0x1.62e42fefa3000p-1, twice = 2 * s, sum = high + twice, part = sum - high;
  double low = (high - (sum - part)) + (twice - part), log = sum + t;
  low += t - (log - sum);
  low += fma(z * cube, p, fma(k, 0x1.3de6af278ece6p-42, 2 * s_low + t_low));
  double rounded = log + low;
  low -= rounded - log;
  double by = b > 0x1p80 ? 0x1p80 : b < -0x1p80 ? -0x1p80 : b;
  double x = by * rounded, x_low = fma(by, rounded, -x) + by * low;
  nd4c_scaled_float64 e = nd4c_exp_scaled_f64(x, fabs(x) < 1000 ? x_low : 0);
  double y = e.mantissa * e.half * e.rest, whole = rint(b), half = 0.5 * b;
  double negative = whole != b ? (double)NAN : rint(half) != half ? -y : y;
  return a < 0 ? negative : y;
}
#else
static inline double nd4c_power_finite_float64(double a, double b) {
  return pow(a, b);
}
#endif

#define POWER NAME(nd4c_power)
#define FINITE NAME(nd4c_power_finite)
#define ND4C_TEMPLATE "kernels/cpu/elementwise/power_pieces.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"
#undef POWER
#undef FINITE
#endif

#endif
