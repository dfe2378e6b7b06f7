/* Formulas of the table in ../functions.h: logarithms, exponentials, hyperbolic functions and their inverses.
 * ../functions.c compiles them into its loops. parts.h says what `narrow` is. Errors stated are the largest that
 * the tests found in f64, in units of the last place; those of f32 are at most 0.51. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_EXPONENTIAL_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_EXPONENTIAL_H

#include "kernels/cpu/elementwise/functions/parts.h"

/* -- logarithms ------------------------------------------------------------------------------------------------ */

ND4C_INLINED double nd4c_function_log1p(double x, bool narrow) {
  double u = 1 + x, c = x < 1 ? x - (u - 1) : 1 - (u - x); /* c: what the sum lost */
  double y = nd4c_logarithm_round(nd4c_logarithm_of(u, c, 0, narrow), narrow);
  y = x < INFINITY ? y : x;
  return x > -1 ? copysign(y, x) : x == -1 ? -INFINITY : NAN; /* the sum loses the sign of zero */
}

/* ln x / ln 2 or ln 10: the inverse, and ln 2 of it, both in two parts, the second so that its product with k is
 * exact. */
ND4C_INLINED double nd4c_logarithm_to_base(double x, double inverse, double inverse_low, double step, double step_low,
                                           bool narrow) {
  nd4c_logarithm of = nd4c_logarithm_start(x, narrow);
  double y;
  if (narrow) {
    y = ND4C_FMA(of.k, step + step_low, of.part.high * inverse);
  } else {
    nd4c_two product = nd4c_two_product(of.part.high, inverse);
    double low = product.low + ND4C_FMA(of.part.high, inverse_low, of.part.low * inverse);
    nd4c_two sum = nd4c_two_sum_ordered(of.k * step, product.high);
    y = sum.high + (sum.low + ND4C_FMA(of.k, step_low, low));
  }
  return nd4c_logarithm_end(x, y);
}

ND4C_INLINED double nd4c_function_log2(double x, bool narrow) {
  return nd4c_logarithm_to_base(x, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, 1, 0, narrow);
}

ND4C_INLINED double nd4c_function_log10(double x, bool narrow) {
  return nd4c_logarithm_to_base(x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, 0x1.34413509f8000p-2,
                                -0x1.80433b83b532ap-44, narrow);
}

/* ln(x / (1 - x)): the quotient in two parts, for next to 1/2 its logarithm is small. */
ND4C_INLINED double nd4c_function_logit(double x, bool narrow) {
  bool inside = x > 0 && x < 1, tiny = !narrow && x < 0x1p-1000;
  double a = inside ? tiny ? x * 0x1p100 : x : 0.5;
  nd4c_two rest = nd4c_two_sum_ordered(1, tiny ? 0 : -a);
  nd4c_two quotient = nd4c_two_quotient((nd4c_two){a, 0}, rest);
  double y = nd4c_logarithm_round(nd4c_logarithm_of(quotient.high, quotient.low, tiny ? 100 : 0, narrow), narrow);
  return inside ? y : x == 0 ? -INFINITY : x == 1 ? INFINITY : NAN;
}

/* ln((1 + a) / (1 - a)) / 2, a = |x| */
ND4C_INLINED double nd4c_function_atanh(double x, bool narrow) {
  double a = fabs(x), inside = a < 1 ? a : 0;
  nd4c_two quotient = nd4c_two_quotient(nd4c_two_sum_ordered(1, inside), nd4c_two_sum_ordered(1, -inside));
  double y = 0.5 * nd4c_logarithm_round(nd4c_logarithm_of(quotient.high, quotient.low, 0, narrow), narrow);
  return copysign(a < 1 ? y : a == 1 ? INFINITY : NAN, x);
}

/* ln(1 + near.high + near.low) below 2^30, where near is from x and a root; beyond, the root is x, too. */
ND4C_INLINED double nd4c_logarithm_with_root(double x, nd4c_two near, bool narrow) {
  bool far = x >= 0x1p30;
  double u = 1 + near.high, c = (near.high < 1 ? near.high - (u - 1) : 1 - (u - near.high)) + near.low;
  return nd4c_logarithm_round(nd4c_logarithm_of(far ? x : u, far ? 0 : c, far ? -1 : 0, narrow), narrow);
}

/* ln(a + sqrt(a^2 + 1)) = ln(1 + (a + a^2 / (1 + sqrt(a^2 + 1)))) */
ND4C_INLINED double nd4c_function_asinh(double x, bool narrow) {
  double a = fabs(x), inside = nd4c_at_most_f64(a, 0x1p30), square = inside * inside;
  nd4c_two sum = nd4c_two_sum_ordered(inside, square / (1 + sqrt(square + 1)));
  double y = nd4c_logarithm_with_root(a, sum, narrow);
  return copysign(a < INFINITY ? y : a, x);
}

/* ln(1 + (t + sqrt(2 t + t^2))), t = x - 1 */
ND4C_INLINED double nd4c_function_acosh(double x, bool narrow) {
  double t = (x < 0x1p30 ? x : 0x1p30) - 1;
  nd4c_two square = nd4c_two_product(t, t), inside = nd4c_two_sum(2 * t, square.high);
  nd4c_two root = nd4c_two_root(inside.high, inside.low + square.low), sum = nd4c_two_sum_ordered(root.high, t);
  sum.low += root.low;
  double y = nd4c_logarithm_with_root(x, sum, narrow);
  y = x < INFINITY ? y : x;
  return x > 1 ? y : x == 1 ? 0 : NAN;
}

/* -- exponentials ---------------------------------------------------------------------------------------------- */

/* 2^n (1 + most + rest) - 1, all halved until the end, for 2^1024 is no number. */
ND4C_INLINED double nd4c_function_expm1(double x, bool narrow) {
  nd4c_exponential e = nd4c_exponential_of(nd4c_within_f64(x, -60, 710), 0, narrow);
  double scale = nd4c_power_of_two_f64(e.rounded - 1), less = scale - 0.5;
  nd4c_two sum = nd4c_two_sum_ordered(less, scale * e.most);
  double lost = (scale - less) - 0.5; /* beyond 2^53 */
  return fabs(x) < 0x1p-60 ? x : 2 * (sum.high + (ND4C_FMA(scale, e.rest, sum.low) + lost));
}

/* 2^n e^r: (x - n) ln 2 in two parts. Powers of 2 as in mathematics.h. */
ND4C_INLINED double nd4c_function_exp2(double x, bool narrow) {
  double inside = nd4c_within_f64(x, narrow ? -200 : -1100, narrow ? 200 : 1025);
  double n_rounded = inside + ND4C_ROUNDER_F64, n = n_rounded - ND4C_ROUNDER_F64, part = inside - n;
  nd4c_two most = nd4c_two_product(part, 0x1.62e42fefa39efp-1);
  most.low = ND4C_FMA(part, 0x1.abc9e3b39803fp-56, most.low);
  double y = 1 + (most.high + nd4c_exponential_rest(most.high, most.low, narrow));
  double half = narrow ? n_rounded : ND4C_FMA(n, 0.5, ND4C_ROUNDER_F64);
  double rest = narrow ? ND4C_ROUNDER_F64 : n - (half - ND4C_ROUNDER_F64) + ND4C_ROUNDER_F64;
  return y * nd4c_power_of_two_f64(half) * nd4c_power_of_two_f64(rest);
}

/* -- hyperbolic functions -------------------------------------------------------------------------------------- */

/* sinh a and cosh a for a = n ln 2 + r: sums of products of sinh r, cosh r and the same of n ln 2, (2^n -+ 2^-n) / 2.
 * Those two are divided by 2^39, results multiplied at last: the largest powers are no numbers, and nd4c_residual takes
 * none so large. */
typedef struct nd4c_hyperbolic {
  double sine_n, cosine_n; /* of n ln 2 */
  double r, sine_rest;     /* sinh r = r + sine_rest */
  double cosine_rest;      /* cosh r = 1 + cosine_rest */
} nd4c_hyperbolic;

ND4C_INLINED nd4c_hyperbolic nd4c_hyperbolic_of(double x, bool narrow) {
  double a = nd4c_at_most_f64(fabs(x), 711);
  double rounded = ND4C_FMA(a, 0x1.71547652b82fep+0, ND4C_ROUNDER_F64), n = rounded - ND4C_ROUNDER_F64;
  double most = ND4C_FMA(n, -ND4C_LN2_HIGH, a), low = -n * ND4C_LN2_LOW, r = most + low, z = r * r;
  double up = nd4c_power_of_two_f64(rounded - 40);
  double down = n > 60 ? 0 : nd4c_power_of_two_f64(ND4C_ROUNDER_F64 - n - 40);
  nd4c_hyperbolic h = {up - down, up + down, most, 0, 0};
  double sine, cosine;
  if (narrow) {
    sine = ND4C_FMA(z, 0.000198910168155062408, 0.00833331090205841034);
    sine = ND4C_FMA(z, sine, 0.166666666816466825);
    cosine = ND4C_FMA(z, 0.00139336734008343131, 0.0416664647143726203);
    cosine = ND4C_FMA(z, cosine, 0.500000001348692547);
  } else {
    sine = ND4C_FMA(z, 2.51004107240358912e-8, 2.75572684069437913e-6); /* (sinh r / r - 1) / r^2 */
    sine = ND4C_FMA(z, sine, 0.000198412698630877696);
    sine = ND4C_FMA(z, sine, 0.00833333333333005499);
    sine = ND4C_FMA(z, sine, 0.166666666666666675);
    cosine = ND4C_FMA(z, 2.09181593624794671e-9, 2.75572632206201981e-7); /* (cosh r - 1) / r^2 */
    cosine = ND4C_FMA(z, cosine, 0.000024801587336496884);
    cosine = ND4C_FMA(z, cosine, 0.00138888888888790535);
    cosine = ND4C_FMA(z, cosine, 0.0416666666666666768);
    cosine = ND4C_FMA(z, cosine, 0.5);
  }
  h.sine_rest = ND4C_FMA(r * z, sine, low);
  h.cosine_rest = z * cosine;
  return h;
}

ND4C_INLINED double nd4c_function_sinh(double x, bool narrow) {
  nd4c_hyperbolic h = nd4c_hyperbolic_of(x, narrow);
  nd4c_two product = nd4c_two_product(h.cosine_n, h.r), sum = nd4c_two_sum_ordered(h.sine_n, product.high);
  double rest = ND4C_FMA(h.sine_n, h.cosine_rest, h.cosine_n * h.sine_rest) + product.low;
  return fabs(x) < 0x1p-30 ? x : copysign(0x1p39 * (sum.high + (sum.low + rest)), x);
}

ND4C_INLINED double nd4c_function_cosh(double x, bool narrow) {
  nd4c_hyperbolic h = nd4c_hyperbolic_of(x, narrow);
  nd4c_two product = nd4c_two_product(h.sine_n, h.r), sum = nd4c_two_sum_ordered(h.cosine_n, product.high);
  double rest = ND4C_FMA(h.cosine_n, h.cosine_rest, h.sine_n * h.sine_rest) + product.low;
  return 0x1p39 * (sum.high + (sum.low + rest));
}

/* Small x by (x - tanh x) / x^3; else (a - 1) + 2 / (e^(2 a) + 1), a = |x|, where nothing but these cancels. */
ND4C_INLINED double nd4c_function_tanh_shrink(double x, bool narrow) {
  double a = fabs(x), z = x * x, series;
  if (narrow) {
    series = ND4C_FMA(z, -0.00226950168416235393, 0.00832318705827877447);
    series = ND4C_FMA(z, series, -0.0217625029073592639);
    series = ND4C_FMA(z, series, 0.0539584616274522014);
    series = ND4C_FMA(z, series, -0.133333001461889147);
  } else {
    series = ND4C_FMA(z, -6.3543408148597189e-6, 0.0000309291254738646695);
    series = ND4C_FMA(z, series, -0.000092327497080853709);
    series = ND4C_FMA(z, series, 0.000237467565982232508);
    series = ND4C_FMA(z, series, -0.000589622148687205986);
    series = ND4C_FMA(z, series, 0.00145576769406594546);
    series = ND4C_FMA(z, series, -0.00359212076087084099);
    series = ND4C_FMA(z, series, 0.00886323502430610598);
    series = ND4C_FMA(z, series, -0.0218694885153523469);
    series = ND4C_FMA(z, series, 0.05396825396781054);
    series = ND4C_FMA(z, series, -0.133333333333329623);
  }
  nd4c_two square = nd4c_two_product(a, a), cube = nd4c_two_product(square.high, a);
  nd4c_two third = nd4c_multiply_add_two(z, (nd4c_two){series, 0}, 1.0 / 3, 0x1.5555555555555p-56);
  nd4c_two product = nd4c_two_product(cube.high, third.high);
  double low = ND4C_FMA(ND4C_FMA(square.low, a, cube.low), third.high, cube.high * third.low);
  double small = product.high + (product.low + low);
  nd4c_exponential e = nd4c_exponential_of(2 * nd4c_at_most_f64(a, 40), 0, narrow);
  double scale = nd4c_power_of_two_f64(e.rounded);
  nd4c_two e_part = nd4c_two_sum_ordered(scale, scale * e.most), d = nd4c_two_sum_ordered(e_part.high, 1);
  d = nd4c_two_sum_ordered(d.high, d.low + ND4C_FMA(scale, e.rest, e_part.low));
  nd4c_two quotient = nd4c_two_quotient((nd4c_two){2, 0}, d), less = nd4c_two_sum(a, -1);
  nd4c_two sum = nd4c_two_sum(less.high, quotient.high);
  double large = sum.high + (sum.low + (less.low + quotient.low));
  return x == 0 ? 0 : copysign(a < 0.63 ? small : a < 40 ? large : a - 1, x);
}

/* 1.7159 p / (1 + p), p = u (1 + u (1 + 1.41645 u^2)); beyond 2^60 the quotient is 1. */
ND4C_INLINED double nd4c_function_rational_tanh(double x, bool narrow) {
  double a = nd4c_at_most_f64(fabs(x), 0x1p60);
  nd4c_two u = nd4c_two_product(a, 2.0 / 3);
  u.low += a * 0x1.5555555555555p-55;
  double inner = ND4C_FMA(1.41645, u.high * u.high, 1.0);
  if (narrow) {
    double p = u.high * ND4C_FMA(u.high, inner, 1.0);
    return copysign(1.7159 * (p / (1 + p)), x);
  }
  nd4c_two factor = nd4c_two_sum(1, u.high * inner), p = nd4c_two_product(u.high, factor.high);
  p.low += ND4C_FMA(u.high, factor.low, u.low * factor.high);
  nd4c_two d = nd4c_two_sum(1, p.high);
  d.low += p.low;
  nd4c_two quotient = nd4c_two_quotient(p, d), y = nd4c_two_product(quotient.high, 1.7159);
  double usual = y.high + (y.low + ND4C_FMA(quotient.high, 0x1.61e4f765fd8aep-56, 1.7159 * quotient.low));
  return copysign(a < 0x1p-900 ? a * (1.7159 * 2 / 3) : usual, x); /* products of tiny numbers lose bits */
}

ND4C_INLINED double nd4c_function_rectified_tanh(double x, bool narrow) {
  double y = narrow ? (double)nd4c_tanh_float32((float)x) : nd4c_tanh_float64(x);
  return x < 0 ? 0 : y;
}

#endif
