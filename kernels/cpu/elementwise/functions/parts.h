/* Numbers of f64 in two parts, and what the formulas of this folder share: quotients, logarithms and exponentials that
 * keep what rounding loses. ../functions.c and ../functions_of_two.c compile the formulas into their loops.
 *
 * Each formula takes `narrow`, a constant: true for float32, whose numbers it gets as f64. There it uses short
 * polynomials and leaves out the low parts, for 2^-29 is exact enough. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_PARTS_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_PARTS_H

#include <stdbool.h>

#include "kernels/cpu/elementwise/mathematics.h"

#define ND4C_LN2_HIGH 0x1.62e42fefa3800p-1 /* so short that its product with an exponent is exact */
#define ND4C_LN2_LOW 0x1.ef35793c76730p-45

/* high + low, |low| at most about a unit in the last place of high. */
typedef struct nd4c_two {
  double high, low;
} nd4c_two;

/* Part by part, for a selection of structures keeps a loop from becoming vectors. */
ND4C_INLINED nd4c_two nd4c_two_either(bool condition, nd4c_two a, nd4c_two b) {
  return (nd4c_two){condition ? a.high : b.high, condition ? a.low : b.low};
}

/* What a sum of numbers in the order of their sizes lost. */
ND4C_INLINED nd4c_two nd4c_two_sum_ordered(double larger, double smaller) {
  double sum = larger + smaller;
  return (nd4c_two){sum, (larger - sum) + smaller};
}

ND4C_INLINED nd4c_two nd4c_two_sum(double a, double b) {
  double sum = a + b, of_b = sum - a;
  return (nd4c_two){sum, (a - (sum - of_b)) + (b - of_b)};
}

/* c - a b, of which only the result is rounded; without the instruction, exact for products from 2^-900 to 2^960. */
ND4C_INLINED double nd4c_residual(double a, double b, double c) {
#if ND4C_HAS_FMA
  return fma(-a, b, c);
#else
  double a_far = a * 134217729.0, a_high = a_far - (a_far - a), a_low = a - a_high; /* Dekker's halves of 26 bits */
  double b_far = b * 134217729.0, b_high = b_far - (b_far - b), b_low = b - b_high;
  double product = a * b, lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
  return (c - product) - lost;
#endif
}

ND4C_INLINED nd4c_two nd4c_two_product(double a, double b) {
  double product = a * b;
  return (nd4c_two){product, -nd4c_residual(a, b, product)};
}

/* factor (x + x_low) + (c + c_low), if the product is smaller: a step of a polynomial. */
ND4C_INLINED nd4c_two nd4c_multiply_add_two(double factor, nd4c_two x, double c, double c_low) {
  double sum = ND4C_FMA(factor, x.high, c);
  return (nd4c_two){sum, ND4C_FMA(factor, x.low, ND4C_FMA(factor, x.high, c - sum) + c_low)};
}

/* (a + a_low) / (b + b_low) */
ND4C_INLINED nd4c_two nd4c_two_quotient(nd4c_two a, nd4c_two b) {
  double inverse = 1 / b.high, quotient = a.high * inverse;
  double rest = nd4c_residual(quotient, b.high, a.high) + (a.low - quotient * b.low);
  return (nd4c_two){quotient, rest * inverse};
}

/* The square root of x + low. The low part is wrong by up to 4 % of itself, since it takes 1 / sqrt x from the bits of
 * x; x is not subnormal. */
ND4C_INLINED nd4c_two nd4c_two_root(double x, double low) {
  double root = sqrt(x);
  double inverse = nd4c_double_from_bits(UINT64_C(0x5fe6eb50c7b537a9) - (nd4c_double_bits(x) >> 1));
  return (nd4c_two){root, 0.5 * inverse * (nd4c_residual(root, root, x) + low)};
}

/* -- logarithms ------------------------------------------------------------------------------------------------ */

/* ln u = k ln 2 + part, |part| up to ln sqrt 2. */
typedef struct nd4c_logarithm {
  double k;
  nd4c_two part;
} nd4c_logarithm;

/* ln(u + c) - k_offset ln 2 for a positive u that is neither infinite nor subnormal, and |c| up to a unit in its last
 * place. The division is what a divider computes beside the polynomials. */
ND4C_INLINED nd4c_logarithm nd4c_logarithm_of(double u, double c, double k_offset, bool narrow) {
  uint64_t bits = nd4c_double_bits(u) + (UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd));
  double k = nd4c_double_from_bits((bits >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023) - k_offset;
  double f = nd4c_double_from_bits((bits & UINT64_C(0x000fffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd)) - 1;
  double s = f / (2 + f), z = s * s, square = 0.5 * f * f;
  if (narrow) { /* (ln((1 + s) / (1 - s)) / s - 2) / s^2 */
    double series = ND4C_FMA(z, 0.233305743290724284, 0.285508168793760163);
    series = ND4C_FMA(z, series, 0.400001218745066683);
    series = z * ND4C_FMA(z, series, 0.66666666554454661);
    return (nd4c_logarithm){k, {f - (square - s * (square + series)), u < 2 ? c : 0}};
  }
  double series = ND4C_FMA(z, 0.130867576669520713, 0.132687605620367254);
  series = ND4C_FMA(z, series, 0.153862401724478369);
  series = ND4C_FMA(z, series, 0.181817956314982436);
  series = ND4C_FMA(z, series, 0.222222223917947275);
  series = ND4C_FMA(z, series, 0.285714285708032553);
  series = ND4C_FMA(z, series, 0.400000000000008776);
  series = z * ND4C_FMA(z, series, 0.666666666666666665);
  /* c / u = c / 2 2^(1 - k) (1 - s) / (1 + s), the last quotient by its series */
  double shrunk = c * nd4c_double_from_bits(~bits & UINT64_C(0x7ff0000000000000));
  double of_c = shrunk * (ND4C_FMA(-0.5, s, 0.5) * ND4C_FMA(s, s, 1 - s));
  double high = f - square, lost = -0.5 * nd4c_residual(f, f, 2 * square);
  double low = ((f - high) - square) - lost + (s * (square + series) + of_c);
  return (nd4c_logarithm){k, {high, low}};
}

/* k ln 2 and the part, where `low` may be a fiftieth of `high`: enough if both are added at once. */
ND4C_INLINED nd4c_two nd4c_logarithm_addends(nd4c_logarithm of) {
  double whole = of.k * ND4C_LN2_HIGH;
  nd4c_two sum = nd4c_two_sum_ordered(whole, of.part.high);
  sum.low += ND4C_FMA(of.k, ND4C_LN2_LOW, of.part.low);
  return sum;
}

ND4C_INLINED nd4c_two nd4c_logarithm_sum(nd4c_logarithm of) {
  nd4c_two addends = nd4c_logarithm_addends(of);
  return nd4c_two_sum_ordered(addends.high, addends.low);
}

ND4C_INLINED double nd4c_logarithm_round(nd4c_logarithm of, bool narrow) {
  if (narrow) {
    return ND4C_FMA(of.k, 0x1.62e42fefa39efp-1, of.part.high + of.part.low);
  }
  nd4c_two addends = nd4c_logarithm_addends(of);
  return addends.high + addends.low;
}

/* The parts for any x; nd4c_logarithm_end then puts the results for those that have no logarithm. */
ND4C_INLINED nd4c_logarithm nd4c_logarithm_start(double x, bool narrow) {
  bool tiny = !narrow && x < 0x1p-1022;
  return nd4c_logarithm_of(tiny ? x * 0x1p52 : x, 0, tiny ? 52 : 0, narrow);
}

ND4C_INLINED double nd4c_logarithm_end(double x, double y) {
  y = x < INFINITY ? y : x;
  return x > 0 ? y : x == 0 ? -INFINITY : NAN;
}

/* -- exponentials ---------------------------------------------------------------------------------------------- */

/* e^(most + rest) - 1 = most + result, |most| up to ln sqrt 2. */
ND4C_INLINED double nd4c_exponential_rest(double most, double rest, bool narrow) {
  double r = most + rest, q;
  if (narrow) {
    q = ND4C_FMA(0.000198909884555445658, r, 0.00139336478629288628);
    q = ND4C_FMA(q, r, 0.00833331092761531122);
    q = ND4C_FMA(q, r, 0.0416664649445056993);
    q = ND4C_FMA(q, r, 0.16666666681621095);
    q = ND4C_FMA(q, r, 0.50000000134638855);
    return ND4C_FMA(r * r, q, rest);
  }
  return nd4c_expm1_rest_f64(r, rest);
}

/* e^(x + low) = 2^n (1 + most + rest), n given as n + rounder. */
typedef struct nd4c_exponential {
  double rounded, most, rest;
} nd4c_exponential;

ND4C_INLINED nd4c_exponential nd4c_exponential_of(double x, double low, bool narrow) {
  double rounded = ND4C_FMA(x, 0x1.71547652b82fep+0, ND4C_ROUNDER_F64), n = rounded - ND4C_ROUNDER_F64;
  double most = ND4C_FMA(n, -ND4C_LN2_HIGH, x), rest = ND4C_FMA(n, -ND4C_LN2_LOW, low);
  return (nd4c_exponential){rounded, most, nd4c_exponential_rest(most, rest, narrow)};
}

ND4C_INLINED nd4c_two nd4c_exponential_mantissa(nd4c_exponential e) {
  nd4c_two sum = nd4c_two_sum_ordered(1, e.most);
  return nd4c_two_sum_ordered(sum.high, sum.low + e.rest);
}

/* x 2^n, for n that one factor does not hold; rounded once, by the last of the two. */
ND4C_INLINED double nd4c_exponential_scale(double x, nd4c_exponential e) {
  double n = e.rounded - ND4C_ROUNDER_F64, half = ND4C_FMA(n, 0.5, ND4C_ROUNDER_F64);
  double rest = n - (half - ND4C_ROUNDER_F64) + ND4C_ROUNDER_F64;
  return x * nd4c_power_of_two_f64(half) * nd4c_power_of_two_f64(rest);
}

#endif
