/* Incomplete gamma and beta functions, regularised. In long double, as mathematics_special.c. mathematics.c calls these
 * for igamma, igammac and betainc.
 *
 * Series and continued fractions where they converge within some hundred terms; around the middle of distributions with
 * large parameters, where they would take as many terms as the square root of these, Gauss's quadrature of the density.
 * Of a function and its complement the one that is computed is the smaller, or both are where neither is small. */
#include <math.h>

#include "kernels/reference/elementwise/mathematics.h"

#define TWO_PI 6.28318530717958647692528676655900577L
#define SMALLEST 0x1p-70L

enum { MOST_TERMS = 20000, LARGE = 5000 };

/* ln(1 + d) - d without cancellation. */
static long double log1p_rest(long double d) {
  if (!(fabsl(d) < 0.5L)) {
    return log1pl(d) - d;
  }
  long double r = d / (2 + d), square = r * r, sum = 0;
  for (int k = 24; k > 0; k--) {
    sum = sum * square + 1.0L / (2 * k + 1);
  }
  return 2 * r * square * sum - d * r;
}

/* ln gamma(a) - ((a - 1/2) ln a - a + ln(2 pi) / 2) */
static long double stirling_rest(long double a) {
  static const double numerators[] = {1, -1, 1, -1, 1, -691, 1, -3617, 43867, -174611};
  static const double denominators[] = {12, 360, 1260, 1680, 1188, 360360, 156, 122400, 244188, 125400};
  if (a < 16) {
    return lgammal(a) - ((a - 0.5L) * logl(a) - a + logl(TWO_PI) / 2);
  }
  long double square = 1 / (a * a), sum = 0;
  for (int k = 9; k >= 0; k--) {
    sum = sum * square + (long double)numerators[k] / denominators[k];
  }
  return sum / a;
}

/* -- quadrature ---------------------------------------------------------------------------------------------------- */

/* A density relative to its value at 0: e^(a f(p s) + b f(q s) - slope s) with f(d) = ln(1 + d) - d, a, b >= 0. */
typedef struct density {
  long double a, p, b, q, slope;
} density;

static long double density_at(const density *d, long double s) {
  long double second = d->b > 0 ? d->b * log1p_rest(d->q * s) : 0;
  return expl(d->a * log1p_rest(d->p * s) + second - d->slope * s);
}

/* From 0 to where it vanishes, in pieces of two standard deviations, 16 nodes each. */
static long double integral(const density *d) {
  static const long double nodes[] = {0.09501250983763744018531933542L, 0.2816035507792589132304605015L,
                                      0.458016777657227386342419443L,   0.617876244402643748446671764L,
                                      0.7554044083550030338951011948L,  0.8656312023878317438804678977L,
                                      0.9445750230732325760779884155L,  0.9894009349916499325961541735L};
  static const long double weights[] = {0.1894506104550684962853967232L,  0.182603415044923588866763668L,
                                        0.169156519395002538189312079L,   0.1495959888165767320815017305L,
                                        0.1246289712555338720524762822L,  0.0951585116824927848099251076L,
                                        0.06225352393864789286284383699L, 0.02715245941175409485178057246L};
  long double width = 1 / sqrtl(d->a * d->p * d->p + d->b * d->q * d->q), total = 0, piece;
  if (d->slope * width > 1) {
    width = 1 / d->slope;
  }
  long double middle = width;
  do {
    piece = 0;
    for (int i = 0; i < 8; i++) {
      piece += weights[i] * (density_at(d, middle - nodes[i] * width) + density_at(d, middle + nodes[i] * width));
    }
    total += piece;
    middle += 2 * width;
  } while (piece > total * SMALLEST);
  return total * width;
}

/* -- gamma --------------------------------------------------------------------------------------------------------- */

/* x^a e^-x / gamma(a) */
static long double gamma_front(long double a, long double x) {
  if (a < 16) {
    return powl(x, a) * expl(-x) / tgammal(a);
  }
  long double d = (x - a) / a;
  long double exponent = fabsl(d) < 0.5L ? a * log1p_rest(d) : a * logl(x / a) - (x - a);
  return sqrtl(a / TWO_PI) * expl(exponent - stirling_rest(a));
}

/* Below, by powers of x. */
static long double gamma_series(long double a, long double x) {
  long double term = 1, sum = 1;
  for (int n = 1; n < MOST_TERMS && term > sum * SMALLEST; n++) {
    term *= x / (a + n);
    sum += term;
  }
  return gamma_front(a, x) / a * sum;
}

/* Above, by Legendre's continued fraction (Lentz's method). */
static long double gamma_fraction(long double a, long double x) {
  long double b = x + 1 - a, c = INFINITY, d = 1 / b, product = d;
  for (int n = 1; n < MOST_TERMS; n++) {
    long double factor, numerator = n * (a - n);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    factor = c * d;
    product *= factor;
    if (fabsl(factor - 1) < SMALLEST * 64) {
      break;
    }
  }
  return gamma_front(a, x) * product;
}

/* Above, for a so small that almost everything lies below. */
static long double gamma_of_small(long double a, long double x) {
  long double u = a * logl(x) - nd4c_real_lgamma_step(1, a), term = 1, sum = 0;
  for (int n = 1; n < 60; n++) {
    term *= -x / n;
    sum += term / (a + n);
  }
  return -expm1l(u) - expl(u) * a * sum;
}

static long double gamma_quadrature(long double a, long double x, bool upper) {
  long double sign = upper ? 1 : -1;
  density d = {.a = a - 1, .p = sign / x, .slope = sign * (x - a + 1) / x};
  return gamma_front(a, x) / x * integral(&d);
}

/* The part below x, or above it. a and x are positive and finite. */
static long double gamma_part(long double a, long double x, bool upper) {
  if (a > LARGE && fabsl(x - a) < 0.3L * a) {
    bool computed = x >= a;
    long double part = gamma_quadrature(a, x, computed);
    return upper == computed ? part : 1 - part;
  }
  if (x <= 1.5L && a <= 0.5L && upper) {
    return gamma_of_small(a, x);
  }
  if (x <= 1.5L || x <= a) {
    return upper ? 1 - gamma_series(a, x) : gamma_series(a, x);
  }
  return upper ? gamma_fraction(a, x) : 1 - gamma_fraction(a, x);
}

static long double gamma_any(long double a, long double x, bool upper) {
  if (a != a || x != x || a < 0 || x < 0 || (a == 0 && x == 0) || (isinf(a) && isinf(x))) {
    return NAN;
  }
  if (a == 0 || isinf(x)) {
    return !upper;
  }
  if (isinf(a) || x == 0) {
    return upper;
  }
  return gamma_part(a, x, upper);
}

long double nd4c_real_igamma(long double a, long double x) {
  return gamma_any(a, x, false);
}

long double nd4c_real_igammac(long double a, long double x) {
  return gamma_any(a, x, true);
}

/* -- beta ---------------------------------------------------------------------------------------------------------- */

/* x^a y^b / beta(a, b), y = 1 - x. Around the middle the logarithms of x and y over their means nearly cancel, but for
 * what is left of them without their linear parts. */
static long double beta_front(long double a, long double b, long double x, long double y) {
  long double sum = a + b, off = (x * b - y * a) / sum, right = off * sum / a, left = -off * sum / b;
  bool near = fabsl(right) < 0.5L && fabsl(left) < 0.5L;
  long double exponent =
      near ? a * log1p_rest(right) + b * log1p_rest(left) : a * logl(x * (sum / a)) + b * logl(y * (sum / b));
  long double rest = stirling_rest(sum) - stirling_rest(a) - stirling_rest(b);
  return sqrtl(a / TWO_PI * (b / sum)) * expl(exponent + rest);
}

/* Below x, for x up to about the mean (Lentz's method; DLMF 8.17.22). */
static long double beta_fraction(long double a, long double b, long double x, long double y) {
  long double c = 1, d = 1 / (1 - (a + b) / (a + 1) * x), product = d;
  for (int n = 1; n < MOST_TERMS; n++) {
    long double even = n * (b - n) / (a + 2 * n - 1) / (a + 2 * n) * x;
    long double odd = -(a + n) / (a + 2 * n) * ((a + b + n) / (a + 2 * n + 1)) * x;
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    product *= d * c;
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    product *= d * c;
    if (fabsl(d * c - 1) < SMALLEST * 64) {
      break;
    }
  }
  return beta_front(a, b, x, y) / a * product;
}

/* Below x, for b so small that almost everything lies above. */
static long double beta_of_small(long double a, long double b, long double y) {
  long double u = b * logl(y) + nd4c_real_lgamma_step(a, b) - nd4c_real_lgamma_step(1, b), term = 1, sum = 0;
  for (int n = 1; n < MOST_TERMS && fabsl(term) > SMALLEST * 0x1p-10L; n++) {
    term *= (n - a) / n * y;
    sum += term / (b + n);
  }
  return -expm1l(u) - expl(u) * b * sum;
}

/* Below x, by the density left of x. */
static long double beta_quadrature(long double a, long double b, long double x, long double y) {
  density d = {.a = a - 1, .p = -1 / x, .b = b - 1, .q = 1 / y, .slope = (a - 1) / x - (b - 1) / y};
  return beta_front(a, b, x, y) / x / y * integral(&d);
}

/* Below x, for x up to the mean. */
static long double beta_lower(long double a, long double b, long double x, long double y) {
  bool large = a > LARGE && b > LARGE && fabsl(x * (a + b) / a - 1) < 0.3L && fabsl(y * (a + b) / b - 1) < 0.3L;
  return large ? beta_quadrature(a, b, x, y) : beta_fraction(a, b, x, y);
}

long double nd4c_real_betainc(long double a, long double b, long double x) {
  if (a != a || b != b || !(a >= 0 && b >= 0 && x >= 0 && x <= 1) || (a == 0 && b == 0) || (isinf(a) && isinf(b))) {
    return NAN;
  }
  if (x == 0 || x == 1) {
    return x;
  }
  if (a == 0 || isinf(b)) {
    return 1;
  }
  if (b == 0 || isinf(a)) {
    return 0;
  }
  long double y = 1 - x;
  if (x <= (a + 1) / (a + b + 2)) {
    return beta_lower(a, b, x, y);
  }
  long double result = 1 - beta_lower(b, a, y, x);
  return result < 0.5L && b < 0.125L && b < a / 8 ? beta_of_small(a, b, y) : result;
}
