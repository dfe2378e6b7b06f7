/* Formulas of functions of two numbers, for the table in ../functions.h. ../functions_of_two.c compiles them into its
 * loops. parts.h says what `narrow` is. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_TWO_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_TWO_H

#include "kernels/cpu/elementwise/functions/angle.h"
#include "kernels/cpu/elementwise/functions/parts.h"

/* Squares and products of what `larger` is the larger of shall neither overflow nor lose bits: 2 to some power. */
ND4C_INLINED double nd4c_scale_for(double larger) {
  return larger > 0x1p400 ? 0x1p-600 : larger < 0x1p-400 ? 0x1p600 : 1;
}

ND4C_INLINED double nd4c_scale_back(double larger) {
  return larger > 0x1p400 ? 0x1p600 : larger < 0x1p-400 ? 0x1p-600 : 1;
}

/* The angle of |a| and |b|, then that of the quadrant. Infinite operands count as 1 beside 0. */
ND4C_INLINED double nd4c_function_atan2(double a, double b, bool narrow) {
  double above = fabs(a), below = fabs(b), larger = above > below ? above : below;
  double scale = narrow ? 1 : nd4c_scale_for(larger);
  double y_infinite = above == INFINITY ? 1 : 0, x_infinite = below == INFINITY ? 1 : 0;
  above = larger == INFINITY ? y_infinite : above * scale;
  below = larger == INFINITY ? x_infinite : larger == 0 ? 1 : below * scale;
  nd4c_two angle = nd4c_angle_of(above, below, narrow), turned = nd4c_two_sum_ordered(ND4C_PI, -angle.high);
  double left = turned.high + (turned.low + (ND4C_PI_LOW - angle.low));
  double y = copysign(copysign(1, b) < 0 ? left : angle.high + angle.low, a);
  return a == a && b == b ? y : a + b;
}

ND4C_INLINED double nd4c_function_hypot(double a, double b, bool narrow) {
  double x = fabs(a), z = fabs(b), y;
  if (narrow) {
    y = sqrt(x * x + z * z);
  } else {
    double larger = x > z ? x : z, smaller = x > z ? z : x, scale = nd4c_scale_for(larger);
    nd4c_two square = nd4c_two_product(larger * scale, larger * scale);
    nd4c_two other = nd4c_two_product(smaller * scale, smaller * scale);
    nd4c_two sum = nd4c_two_sum_ordered(square.high, other.high);
    nd4c_two root = nd4c_two_root(sum.high, sum.low + (square.low + other.low));
    y = (root.high + root.low) * nd4c_scale_back(larger);
    y = a == a && b == b ? y : a + b;
  }
  return x == INFINITY || z == INFINITY ? INFINITY : y;
}

/* larger + ln(1 + e^d) / unit, d = (smaller - larger) unit: all in two parts, for the sum may cancel. */
ND4C_INLINED double nd4c_logarithm_of_sum(double a, double b, nd4c_two unit, nd4c_two inverse, bool narrow) {
  double larger = a > b ? a : b, smaller = a > b ? b : a;
  nd4c_two d = nd4c_two_sum(larger, -smaller);
  double far = nd4c_at_most_f64(d.high, 1100), y;
  nd4c_two exponent = nd4c_two_product(far, -unit.high);
  exponent.low -= ND4C_FMA(far, unit.low, far < 1100 ? d.low * unit.high : 0);
  nd4c_exponential e = nd4c_exponential_of(exponent.high, exponent.low, narrow);
  nd4c_two power = nd4c_exponential_mantissa(e);
  double high = nd4c_exponential_scale(power.high, e), u = 1 + high;
  nd4c_logarithm of = nd4c_logarithm_of(u, (high - (u - 1)) + nd4c_exponential_scale(power.low, e), 0, narrow);
  if (narrow) {
    y = larger + nd4c_logarithm_round(of, true) * inverse.high;
  } else {
    nd4c_two part = nd4c_logarithm_sum(of), product = nd4c_two_product(part.high, inverse.high);
    product.low += ND4C_FMA(part.high, inverse.low, part.low * inverse.high);
    nd4c_two sum = nd4c_two_sum(larger, product.high);
    y = sum.high + (sum.low + product.low);
  }
  y = d.high < INFINITY ? y : larger; /* an infinite operand, or two, whose difference is NaN */
  return a == a && b == b ? y : a + b;
}

ND4C_INLINED double nd4c_function_logaddexp(double a, double b, bool narrow) {
  return nd4c_logarithm_of_sum(a, b, (nd4c_two){1, 0}, (nd4c_two){1, 0}, narrow);
}

ND4C_INLINED double nd4c_function_logaddexp2(double a, double b, bool narrow) {
  return nd4c_logarithm_of_sum(a, b, (nd4c_two){0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56},
                               (nd4c_two){0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}, narrow);
}

ND4C_INLINED double nd4c_function_xlogy(double a, double b, bool narrow) {
  nd4c_two log = nd4c_logarithm_sum(nd4c_logarithm_start(b, narrow));
  /* Without fused products, halves of large numbers overflow. */
  double scale = ND4C_HAS_FMA ? 1 : nd4c_scale_for(fabs(a)), back = ND4C_HAS_FMA ? 1 : nd4c_scale_back(fabs(a));
  double y = a * log.high;
  if (!narrow) {
    nd4c_two product = nd4c_two_product(a * scale, log.high);
    double exact = (product.high + ND4C_FMA(a * scale, log.low, product.low)) * back;
    y = exact == exact ? exact : y; /* infinite a, or an infinite product */
  }
  double special = b == 0 ? -INFINITY : b == INFINITY ? b : NAN;
  y = b > 0 && b < INFINITY ? y : a * special;
  double of_zero = b == b ? 0 : b;
  return a == 0 ? of_zero : y;
}

/* -- x 2^n ----------------------------------------------------------------------------------------------------- */

/* 2^n for n from -1022 to 1023. */
ND4C_INLINED double nd4c_power_of_two_i64(int64_t n) {
  return nd4c_double_from_bits((uint64_t)(n + 1023) << 52);
}

/* Only the last product is rounded: it is by the most that one factor can be, and if what comes before is subnormal,
 * the result is 0. In narrow there is room for all. */
ND4C_INLINED double nd4c_function_ldexp(double x, int64_t n, bool narrow) {
  if (narrow) {
    return x * nd4c_power_of_two_i64(n > 500 ? 500 : n < -500 ? -500 : n);
  }
  int64_t within = n > 2200 ? 2200 : n < -2200 ? -2200 : n;
  int64_t last = within > 1000 ? 1000 : within < -1000 ? -1000 : within, rest = within - last, half = rest / 2;
  return x * nd4c_power_of_two_i64(half) * nd4c_power_of_two_i64(rest - half) * nd4c_power_of_two_i64(last);
}

#endif
