/* The logarithmic derivative of the gamma function. mathematics.c calls it for digamma, mathematics_zeta.c for
 * polygamma.
 *
 * ln x - 1 / (2 x) - sum of B(2 n) / (2 n x^(2 n)) for large x; smaller ones are moved up by psi(x) = psi(x + 1) - 1 /
 * x, negative ones mirrored: psi(x) = psi(1 - x) - pi / tan(pi x). It has a zero near 1.46 and one between any two
 * negative integers; what remains there of differences in long double is too little, so that numbers near zeros are
 * computed once more with 113 bits, by plain series. Only on platforms that have no such type they stay as they are. */
#include <math.h>

#include "kernels/reference/elementwise/mathematics.h"

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

#define PI_HIGH 3.14159265358979323846264338327950288L
#define PI_LOW ((quad)(-5.0165576126683320235573270803307570314e-20L))

enum { TERMS = 15, QUAD_SHIFT = 30, SHIFT = 16 };

/* B(2 n) / (2 n) as quotients that are exact in both parts. */
static const double numerators[TERMS] = {
    1, -1, 1, -1, 1, -691, 1, -3617, 43867, -174611, 854513, -236364091, 8553103, -23749461029.0, 8615841276005.0};
static const double denominators[TERMS] = {12,    120,  252,  240,   132, 32760, 12,    8160,
                                           14364, 6600, 3036, 65520, 156, 24360, 429660};

static long double positive(long double x) {
  long double moved = 0, series = 0;
  for (; x < SHIFT; x++) {
    moved += 1 / x;
  }
  long double square = 1 / (x * x);
  for (int n = 11; n >= 0; n--) {
    series = (series + (long double)numerators[n] / denominators[n]) * square;
  }
  return logl(x) - 1 / (2 * x) - series - moved;
}

/* -- with 113 bits ------------------------------------------------------------------------------------------------- */

/* e^x as the 64th power of the series at x / 64. */
static quad quad_exp(quad x) {
  quad r = x / 64, sum = 1;
  for (int n = 30; n > 0; n--) {
    sum = 1 + r / n * sum;
  }
  for (int i = 0; i < 6; i++) {
    sum *= sum;
  }
  return sum;
}

/* One step from the long double logarithm, whose error e is so small that e - e^2 / 2 is all of ln(1 + e). */
static quad quad_log(quad x) {
  quad guess = logl((long double)x), e = x * quad_exp(-guess) - 1;
  return guess + e - e * e / 2;
}

static quad quad_positive(quad x) {
  quad moved = 0, series = 0;
  for (; x < QUAD_SHIFT; x += 1) {
    moved += 1 / x;
  }
  quad square = 1 / (x * x);
  for (int n = TERMS - 1; n >= 0; n--) {
    series = (series + (quad)numerators[n] / (quad)denominators[n]) * square;
  }
  return quad_log(x) - 1 / (2 * x) - series - moved;
}

/* pi / tan(pi r), |r| at most 1/2. */
static quad quad_cotangent(quad r) {
  quad pi = PI_HIGH + PI_LOW, angle = pi * r, square = angle * angle, sine = 1, cosine = 1;
  for (int n = 20; n > 0; n--) {
    sine = 1 - square / ((2 * n) * (2 * n + 1)) * sine;
    cosine = 1 - square / ((2 * n - 1) * (2 * n)) * cosine;
  }
  return pi * cosine / (sine * angle);
}

/* -- all numbers --------------------------------------------------------------------------------------------------- */

/* *size: the larger of the terms whose difference the result is. */
static long double any(long double x, long double *size) {
  if (x == 0) {
    return copysignl(INFINITY, -x);
  }
  if (x > 0) {
    *size = x < 3 ? 1 : 0;
    return x == INFINITY ? x : positive(x);
  }
  long double r = x - rintl(x);
  if (r == 0 || isinf(x)) {
    return NAN;
  }
  *size = positive(1 - x);
  return *size - PI_HIGH / tanl(PI_HIGH * r);
}

double nd4c_real_digamma(double x) {
  long double size = 0;
  return (double)any(x, &size);
}

long double nd4c_real_digamma_wide(long double x) {
  long double size = 0, y = any(x, &size);
  if (!(fabsl(y) < size * 0x1p-5L)) {
    return y;
  }
  return x > 0 ? (long double)quad_positive(x)
               : (long double)(quad_positive(1 - (quad)x) - quad_cotangent((quad)x - (quad)rintl(x)));
}
