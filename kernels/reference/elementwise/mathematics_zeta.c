/* Hurwitz's zeta function, polygamma made from it, and steps of the gamma function. In long double, as
 * mathematics_special.c. mathematics.c calls the first two, mathematics_incomplete.c the steps. */
#include <math.h>

#include "kernels/reference/elementwise/mathematics.h"

enum { BERNOULLI_TERMS = 12, FAR = 20, MOST_FACTORIAL = 1700 };

/* B(2 n) as quotients that are exact in both parts. */
static const double numerators[BERNOULLI_TERMS] = {1, -1, 1, -1, 5, -691, 7, -3617, 43867, -174611, 854513, -236364091};
static const double denominators[BERNOULLI_TERMS] = {6, 30, 42, 30, 66, 2730, 6, 510, 798, 330, 138, 2730};

/* Sum of B(2 n) s (s + 1) ... (s + 2 n - 2) / ((2 n)! x^(2 n)) over n from 1 on; x is large beside s. */
static long double euler_maclaurin(long double s, long double x) {
  long double square = 1 / (x * x), factor = s / 2 * square, sum = 0;
  for (int n = 0; n < BERNOULLI_TERMS; n++) {
    sum += factor * (long double)numerators[n] / denominators[n];
    factor *= (s + 2 * n + 1) * (s + 2 * n + 2) / ((2 * n + 3) * (2 * n + 4)) * square;
  }
  return sum;
}

/* Sum of (1 + k / q)^-s over k from 0 on, s > 1, q > 0: terms one by one, as long as they count, up to where
 * Euler's and Maclaurin's formula takes over. */
static long double scaled_zeta(long double s, long double q) {
  long double sum = 0, x = q;
  for (; x < FAR + s; x++) {
    long double term = powl(x / q, -s);
    sum += term;
    if (term < sum * 0x1p-70L) {
      return sum;
    }
  }
  return sum + powl(x / q, -s) * (x / (s - 1) + 0.5L + x * euler_maclaurin(s, x));
}

static long double positive_zeta(long double s, long double q) {
  if (isinf(s)) {
    return q > 1 ? 0 : q == 1 ? 1 : INFINITY;
  }
  return isinf(q) ? 0 : scaled_zeta(s, q) * powl(q, -s);
}

/* For whole s: over all whole k the sum depends on q's fraction alone; what lies below q is taken off. */
static long double negative_zeta(long double s, long double q) {
  long double fraction = q - floorl(q), sign = fmodl(s, 2) != 0 ? -1 : 1;
  if (isinf(s)) {
    return INFINITY;
  }
  return positive_zeta(s, fraction) + sign * (positive_zeta(s, 1 - fraction) - positive_zeta(s, 1 - q));
}

long double nd4c_real_zeta(long double s, long double q) {
  if (s != s || q != q || s < 1) {
    return NAN;
  }
  if (s == 1 || (q <= 0 && q == floorl(q))) {
    return INFINITY;
  }
  if (q > 0) {
    return positive_zeta(s, q);
  }
  return s == floorl(s) ? negative_zeta(s, q) : NAN;
}

/* n! zeta(n + 1, x); from MOST_FACTORIAL on both factors leave the range of numbers, but not their logarithms. */
static long double factorial_times_zeta(long double n, long double x) {
  if (n < MOST_FACTORIAL) {
    return tgammal(n + 1) * nd4c_real_zeta(n + 1, x);
  }
  if (isinf(n) || (x <= 0 && x == floorl(x))) {
    return INFINITY;
  }
  if (isinf(x)) {
    return 0;
  }
  if (x > 0) {
    return expl(lgammal(n + 1) - (n + 1) * logl(x)) * scaled_zeta(n + 1, x);
  }
  long double sum = nd4c_real_zeta(n + 1, x);
  return copysignl(expl(lgammal(n + 1) + logl(fabsl(sum))), sum);
}

long double nd4c_real_polygamma(long double n, long double x) {
  if (n != n || x != x || n < 0 || n != floorl(n)) {
    return NAN;
  }
  if (n == 0) {
    return nd4c_real_digamma_wide(x);
  }
  long double size = factorial_times_zeta(n, x);
  return fmodl(n, 2) != 0 ? size : -size;
}

/* Taylor's series at a, whose coefficients are values of zeta; the plain difference where nothing much cancels. */
long double nd4c_real_lgamma_step(long double a, long double b) {
  if (b > a / 8 || b > 0.125L) {
    return lgammal(a + b) - lgammal(a);
  }
  long double sum = b * nd4c_real_digamma_wide(a), power = -b;
  for (int k = 2; k < 32; k++) {
    power *= -b;
    long double term = -power * nd4c_real_zeta(k, a) / k;
    sum -= term;
    if (fabsl(term) < fabsl(sum) * 0x1p-70L) {
      break;
    }
  }
  return sum;
}
