/* Formulas of the table in ../functions.h: tangent, the inverse trigonometric functions, degrees. ../functions.c
 * compiles them into its loops. parts.h says what `narrow` is. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_ANGLE_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_ANGLE_H

#include "kernels/cpu/elementwise/functions/parts.h"

#define ND4C_PI 0x1.921fb54442d18p+1
#define ND4C_PI_LOW 0x1.1a62633145c07p-53

/* -- sine and cosine in two parts ------------------------------------------------------------------------------ */

typedef struct nd4c_sine_and_cosine {
  nd4c_two sine, cosine;
} nd4c_sine_and_cosine;

/* Of r + low, |r| up to pi / 4. */
ND4C_INLINED nd4c_sine_and_cosine nd4c_sine_and_cosine_of(double r, double low, bool narrow) {
  double z = r * r, most = 1 - 0.5 * z, sine, cosine;
  if (narrow) {
    sine = ND4C_FMA(z, 2.7249901158293911e-6, -0.00019840086545312931);
    sine = ND4C_FMA(z, sine, 0.00833333187435835239);
    sine = r * z * ND4C_FMA(z, sine, -0.166666666638543847);
    cosine = ND4C_FMA(z, 0.0000245479217457954326, -0.00138883029417572222);
    cosine = z * z * ND4C_FMA(z, cosine, 0.0416666646590179026);
  } else {
    sine = nd4c_sine_rest_f64(r, low);
    cosine = nd4c_cosine_rest_f64(r, low);
  }
  return (nd4c_sine_and_cosine){nd4c_two_sum_ordered(r, sine), nd4c_two_sum_ordered(most, cosine)};
}

/* y with its sign turned where the lowest bit of `turns` is set. */
ND4C_INLINED double nd4c_turned(double y, uint64_t turns) {
  return nd4c_double_from_bits(nd4c_double_bits(y) ^ (turns << 63));
}

/* For |x| below ND4C_TRIGONOMETRIC_LIMIT_F64. */
ND4C_INLINED double nd4c_function_tan(double x, bool narrow) {
  nd4c_angle_f64 angle;
  if (narrow) { /* as nd4c_sine_f32 */
    double a = fabs(x), rounded = ND4C_FMA(a, 0x1.45f306dc9c883p-1, ND4C_ROUNDER_F64), n = rounded - ND4C_ROUNDER_F64;
    angle.r = ND4C_FMA(n, -0x1.0b4611a626331p-34, ND4C_FMA(n, -0x1.921fb544p+0, a));
    angle.lost = 0;
    angle.quadrant = nd4c_double_bits(rounded);
  } else {
    angle = nd4c_angle_reduce_f64(x);
  }
  nd4c_sine_and_cosine of = nd4c_sine_and_cosine_of(angle.r, angle.lost, narrow);
  bool odd = (angle.quadrant & 1) != 0;
  nd4c_two over = odd ? of.cosine : of.sine, under = odd ? of.sine : of.cosine;
  double y;
  if (narrow) {
    y = over.high / under.high;
  } else {
    nd4c_two quotient = nd4c_two_quotient(over, under);
    y = quotient.high + quotient.low;
  }
  return nd4c_turned(y, angle.quadrant ^ (nd4c_double_bits(x) >> 63));
}

/* sin(pi x) / (pi x): x less the nearest half is exact. */
ND4C_INLINED double nd4c_function_sinc(double x, bool narrow) {
  double a = nd4c_at_most_f64(fabs(x), 0x1p53), n = rint(2 * a), quadrant = n - 4 * rint(0.25 * n), part = a - 0.5 * n;
  nd4c_two r = nd4c_two_product(part, ND4C_PI);
  nd4c_sine_and_cosine of = nd4c_sine_and_cosine_of(r.high, ND4C_FMA(part, ND4C_PI_LOW, r.low), narrow);
  bool odd = quadrant == 1 || quadrant == -1;
  nd4c_two over = odd ? of.cosine : of.sine, under = nd4c_two_product(a, ND4C_PI);
  under.low = ND4C_FMA(a, ND4C_PI_LOW, under.low);
  nd4c_two quotient = nd4c_two_quotient(over, under);
  double y = narrow ? over.high / under.high : quotient.high + quotient.low;
  y = quadrant < 0 || quadrant == 2 ? -y : y;
  return a < 0x1p-30 ? 1 : y;
}

/* -- arc tangent ----------------------------------------------------------------------------------------------- */

/* atan(above / below) for numbers that are not negative, not both 0 and not infinite, as base + t + rest: t is the
 * tangent of what the angle differs from 0, pi / 4 or pi / 2, up to 1/2. */
ND4C_INLINED nd4c_two nd4c_angle_of(double above, double below, bool narrow) {
  bool small = above<0.5 * below, large = 0.5 * above> below;
  double middle = large ? 0 : above;
  nd4c_two over = nd4c_two_sum(middle, small ? 0 : -below);
  nd4c_two under = nd4c_two_sum(large ? above : below, small ? 0 : middle);
  nd4c_two t = narrow ? (nd4c_two){over.high / under.high, 0} : nd4c_two_quotient(over, under);
  double z = t.high * t.high, q;
  if (narrow) { /* (atan t / t - 1) / t^2 */
    q = ND4C_FMA(z, 0.0422568596302155194, -0.0823550576363628141);
    q = ND4C_FMA(z, q, 0.11006880681346318);
    q = ND4C_FMA(z, q, -0.142798010958109562);
    q = ND4C_FMA(z, q, 0.199998752497826407);
    q = ND4C_FMA(z, q, -0.333333329014846854);
  } else {
    q = ND4C_FMA(z, -0.0092157920470898591, 0.0250065035664895075);
    q = ND4C_FMA(z, q, -0.0380665367205736591);
    q = ND4C_FMA(z, q, 0.0462802486857015324);
    q = ND4C_FMA(z, q, -0.0524009950799471311);
    q = ND4C_FMA(z, q, 0.0587957842958242486);
    q = ND4C_FMA(z, q, -0.0666643567723594782);
    q = ND4C_FMA(z, q, 0.0769229471254028448);
    q = ND4C_FMA(z, q, -0.0909090862032252225);
    q = ND4C_FMA(z, q, 0.111111111009173751);
    q = ND4C_FMA(z, q, -0.14285714285599188);
    q = ND4C_FMA(z, q, 0.199999999999994879);
    q = ND4C_FMA(z, q, -0.33333333333333333);
  }
  double quarters = large ? 2 : small ? 0 : 1, base = quarters * (ND4C_PI / 4);
  double base_low = quarters * (ND4C_PI_LOW / 4);
  nd4c_two sum = nd4c_two_sum_ordered(base, t.high);
  sum.low += ND4C_FMA(t.high * z, q, base_low + t.low);
  return sum;
}

/* Beyond 2^64 the result is pi / 2. */
ND4C_INLINED double nd4c_function_atan(double x, bool narrow) {
  nd4c_two angle = nd4c_angle_of(nd4c_at_most_f64(fabs(x), 0x1p64), 1, narrow);
  return copysign(angle.high + angle.low, x);
}

/* -- arc sine and arc cosine ----------------------------------------------------------------------------------- */

/* asin a = t + rest for a up to 1/2, else pi / 2 less twice that, for t = sqrt((1 - a) / 2). */
typedef struct nd4c_arc {
  bool far;
  double t, rest;
} nd4c_arc;

ND4C_INLINED nd4c_arc nd4c_arc_of(double a, bool narrow) {
  bool far = a > 0.5;
  double below = 0.5 - 0.5 * a, z = far ? below : a * a, q;
  nd4c_two root = nd4c_two_root(below, 0);
  double t = far ? root.high : a, low = far && !narrow ? root.low : 0;
  if (narrow) { /* (asin t / t - 1) / t^2 */
    q = ND4C_FMA(z, 0.0336908472028301195, 0.0171492383576772532);
    q = ND4C_FMA(z, q, 0.0311006627354945679);
    q = ND4C_FMA(z, q, 0.0445994015285121837);
    q = ND4C_FMA(z, q, 0.0750009454349742348);
    q = ND4C_FMA(z, q, 0.166666663374309071);
  } else {
    q = ND4C_FMA(z, 0.0287578513674215647, -0.0148518870712472032);
    q = ND4C_FMA(z, q, 0.0174008794426940224);
    q = ND4C_FMA(z, q, 0.0054575067186403583);
    q = ND4C_FMA(z, q, 0.0103228143501857793);
    q = ND4C_FMA(z, q, 0.0114791774151849059);
    q = ND4C_FMA(z, q, 0.0139712129735529333);
    q = ND4C_FMA(z, q, 0.0173523927208699729);
    q = ND4C_FMA(z, q, 0.0223721729421498879);
    q = ND4C_FMA(z, q, 0.0303819441385312473);
    q = ND4C_FMA(z, q, 0.0446428571463554298);
    q = ND4C_FMA(z, q, 0.0749999999999843293);
    q = ND4C_FMA(z, q, 0.166666666666666678);
  }
  return (nd4c_arc){far, t, ND4C_FMA(t * z, q, low)};
}

ND4C_INLINED double nd4c_function_asin(double x, bool narrow) {
  nd4c_arc arc = nd4c_arc_of(fabs(x), narrow);
  nd4c_two rest = nd4c_two_sum_ordered(ND4C_PI / 2, -2 * arc.t);
  double far = rest.high + ND4C_FMA(-2.0, arc.rest, rest.low + ND4C_PI_LOW / 2);
  return copysign(arc.far ? far : arc.t + arc.rest, x);
}

/* 2 asin t, or pi less that, or pi / 2 - asin x: base + factor (t + rest). */
ND4C_INLINED double nd4c_function_acos(double x, bool narrow) {
  nd4c_arc arc = nd4c_arc_of(fabs(x), narrow);
  double base = arc.far ? (x > 0 ? 0 : ND4C_PI) : ND4C_PI / 2;
  double base_low = arc.far ? (x > 0 ? 0 : ND4C_PI_LOW) : ND4C_PI_LOW / 2;
  double factor = (arc.far ? 2.0 : 1.0) * (arc.far == (x > 0) ? 1.0 : -1.0);
  nd4c_two sum = nd4c_two_sum_ordered(base, factor * arc.t);
  return sum.high + ND4C_FMA(factor, arc.rest, sum.low + base_low);
}

/* -- degrees --------------------------------------------------------------------------------------------------- */

ND4C_INLINED double nd4c_function_deg2rad(double x, bool narrow) {
  nd4c_two product = nd4c_two_product(x, 0x1.1df46a2529d39p-6);
  double y = product.high + ND4C_FMA(x, 0x1.5c1d8becdd291p-62, product.low);
  return narrow || !(fabs(x) < 0x1p900) || fabs(x) < 0x1p-900 ? product.high : y;
}

ND4C_INLINED double nd4c_function_rad2deg(double x, bool narrow) {
  nd4c_two product = nd4c_two_product(x, 0x1.ca5dc1a63c1f8p+5);
  double y = product.high + ND4C_FMA(x, -0x1.1e7ab456405f9p-49, product.low);
  return narrow || !(fabs(x) < 0x1p900) || fabs(x) < 0x1p-900 ? product.high : y;
}

/* 0, or pi of negative numbers. */
ND4C_INLINED double nd4c_function_angle(double x, bool narrow) {
  (void)narrow;
  return x != x ? x : x < 0 ? ND4C_PI : 0;
}

#endif
