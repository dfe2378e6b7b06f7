/* Formulas of the table in ../functions.h: roots, and the complementary error function. ../functions.c compiles them
 * into its loops. parts.h says what `narrow` is. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_ROOT_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_ROOT_H

#include "kernels/cpu/elementwise/functions/parts.h"

/* 1 / s, s the root, then what both roundings lost. Numbers far from 1 are scaled by 2^128, by their exponents' bits: a
 * comparison would have the compiler compute a root for each case. */
ND4C_INLINED double nd4c_function_rsqrt(double x, bool narrow) {
  uint64_t exponent = nd4c_double_bits(x) >> 52 & 0x7ff, small = (exponent - 64) >> 63, large = (1983 - exponent) >> 63;
  double a = x * nd4c_double_from_bits((1023 + (small << 7) - (large << 7)) << 52);
  double back = nd4c_double_from_bits((1023 + (small << 6) - (large << 6)) << 52);
  double root = sqrt(narrow ? x : a), y = 1 / root;
  double lost = nd4c_residual(root, y, 1) - 0.5 * y * (y * nd4c_residual(root, root, a));
  double good = ND4C_FMA(y, lost, y);
  return narrow ? y : (good == good ? good : y) * back; /* y of 0 and infinity */
}

ND4C_INLINED double nd4c_inverse_cube_root_step(double m, double y) {
  double off = ND4C_FMA(-m * y, y * y, 1.0);
  return ND4C_FMA(y * off, ND4C_FMA(off, 2.0 / 9, 1.0 / 3), y);
}

/* a = 2^(3 q) m, m from 1/2 to 4. Of m^(-1/3) a polynomial, then Householder's steps, which need no division. */
ND4C_INLINED double nd4c_function_cbrt(double x, bool narrow) {
  double a = fabs(x), tiny = a < 0x1p-1022 ? 0x1p54 : 1;
  uint64_t bits = nd4c_double_bits(narrow ? a : a * tiny);
  double k = nd4c_double_from_bits((bits >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023);
  double q_rounded = ND4C_FMA(k, 1.0 / 3, ND4C_ROUNDER_F64), q = q_rounded - ND4C_ROUNDER_F64;
  double m = nd4c_double_from_bits((bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000)) *
             nd4c_power_of_two_f64(k - 3 * q + ND4C_ROUNDER_F64);
  double y = ND4C_FMA(m, -0.00435039760904682442, 0.059812450110234598);
  y = ND4C_FMA(m, y, -0.325925135995929733);
  y = ND4C_FMA(m, y, 0.903163894282235803);
  y = ND4C_FMA(m, y, -1.39568635707750323);
  y = ND4C_FMA(m, y, 1.76318735319737257);
  y = nd4c_inverse_cube_root_step(m, nd4c_inverse_cube_root_step(m, y));
  double root = m * y * y;
  if (!narrow) {
    nd4c_two square = nd4c_two_product(root, root), cube = nd4c_two_product(square.high, root);
    double off = (m - cube.high) - ND4C_FMA(square.low, root, cube.low);
    root = ND4C_FMA(off * y, y * (1.0 / 3), root);
  }
  root *= nd4c_power_of_two_f64(q_rounded) * (!narrow && tiny > 1 ? 0x1p-18 : 1.0);
  return a > 0 && a < INFINITY ? copysign(root, x) : x;
}

/* 1 - erf x below 0.8; else e^(-x^2) times the scaled function, which is t P(t), where the exponent is exact and all
 * products keep their low parts. */
ND4C_INLINED double nd4c_function_erfc(double x, bool narrow) {
  double a = fabs(x), inside = nd4c_at_most_f64(a, 28);
  nd4c_two near = nd4c_two_sum_ordered(1, -x);
  double y = near.high + (near.low - x * nd4c_erf_series_f64(x * x));
  double high = nd4c_double_from_bits(nd4c_double_bits(inside) & UINT64_C(0xfffffffff8000000));
  double far;
  if (narrow) {
    double t = 1 / ND4C_FMA(inside, 0.375, 1.0), p = ND4C_FMA(t, -0.0322686390354840029, 0.191357432577829152);
    p = ND4C_FMA(t, p, -0.436565172748151071);
    p = ND4C_FMA(t, p, 0.460847608187033546);
    p = ND4C_FMA(t, p, -0.284502641683590524);
    p = ND4C_FMA(t, p, 0.227691152096285556);
    p = ND4C_FMA(t, p, 0.0776286552452347775);
    p = ND4C_FMA(t, p, 0.177314541929347195);
    p = ND4C_FMA(t, p, 0.19524014939940847);
    p = ND4C_FMA(t, p, 0.211690128537842719);
    p = ND4C_FMA(t, p, 0.211566784997995429);
    nd4c_exponential e = nd4c_exponential_of(-inside * inside, 0, true);
    e.rounded = nd4c_at_least_f64(e.rounded, ND4C_ROUNDER_F64 - 1000);
    far = nd4c_power_of_two_f64(e.rounded) * (1 + (e.most + e.rest)) * (t * p);
  } else {
    nd4c_divided_float64 t = nd4c_divide_f64(inside, 0.375, 0);
    double s = t.value - 0.4296875;
    double series = ND4C_FMA(s, 0.000570659660526898217, 0.0137269268390389043);
    series = ND4C_FMA(s, series, -0.00718744085108783637);
    series = ND4C_FMA(s, series, -0.0193268175380464756);
    series = ND4C_FMA(s, series, 0.0155245514945762762);
    series = ND4C_FMA(s, series, 0.016374952366315221);
    series = ND4C_FMA(s, series, -0.0225105663411140816);
    series = ND4C_FMA(s, series, -0.0116281721639999637);
    series = ND4C_FMA(s, series, 0.0290431410296171899);
    series = ND4C_FMA(s, series, 0.008881541214595508);
    series = ND4C_FMA(s, series, -0.037981738987555145);
    series = ND4C_FMA(s, series, -0.011970703200412633);
    series = ND4C_FMA(s, series, 0.0532391365648017012);
    series = ND4C_FMA(s, series, 0.0325030151409044045);
    series = ND4C_FMA(s, series, -0.074801914703904385);
    series = ND4C_FMA(s, series, -0.110895943018545876);
    series = ND4C_FMA(s, series, 0.0442933883957946971);
    series = ND4C_FMA(s, series, 0.32729061613105913);
    series = ND4C_FMA(s, series, 0.562153316532331711);
    series = ND4C_FMA(s, series, 0.626730281465118271);
    nd4c_two last = nd4c_multiply_add_two(s, (nd4c_two){series, 0}, 0.528825963977613955, 0);
    nd4c_two p = nd4c_multiply_add_two(s, last, 0.357660253214966923, 5.95028136729628718e-18);
    double off = t.off * ND4C_FMA(2.0, t.value, 1.0);
    nd4c_exponential e = nd4c_exponential_of(-high * high, ND4C_FMA(-(inside - high), inside + high, off), false);
    nd4c_two power = nd4c_exponential_mantissa(e);
    nd4c_two scaled = nd4c_two_product(t.value, p.high), product = nd4c_two_product(scaled.high, power.high);
    double low =
        ND4C_FMA(power.high, ND4C_FMA(t.value, p.low, scaled.low), ND4C_FMA(scaled.high, power.low, product.low));
    far = nd4c_exponential_scale(product.high + low, e);
  }
  return a < 0.8 ? y : x < 0 ? 2 - far : far;
}

#endif
