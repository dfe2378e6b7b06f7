/* Special functions of a real number, in long double; the errors stated hold where its significand has 64 bits or more.
 * mathematics.c and activation.c call these in their value functions. */
#include <math.h>

#include "kernels/reference/elementwise/mathematics.h"

#define PI 3.14159265358979323846264338327950288L
#define HALF_SQRT_PI 0.886226925452758013649083741670572591L

/* For results of at most 24 bits, these functions round the long double result to double. */
#define NARROW(name)                           \
  double nd4c_real_##name(double x) {          \
    return (double)nd4c_real_##name##_wide(x); \
  }
NARROW(erfinv)
NARROW(i0)
NARROW(i1)
NARROW(sinc)
NARROW(logit)

double nd4c_real_gamma(double x) {
  return tgamma(x);
}

long double nd4c_real_gamma_wide(long double x) {
  return tgammal(x);
}

/* sin(pi x) is computed from x less its nearest integer, a difference that is exact. */
long double nd4c_real_sinc_wide(long double x) {
  if (x == 0) {
    return 1;
  }
  long double whole = rintl(x);
  long double sine = isinf(x) ? 0 : sinl(PI * (x - whole));
  return (fmodl(whole, 2) != 0 ? -sine : sine) / (PI * x);
}

/* Near 1/2, 2 artanh(2 x - 1) is accurate: its argument is exact. */
long double nd4c_real_logit_wide(long double x) {
  if (x > 0.25L && x < 0.75L) {
    return 2 * atanhl(2 * x - 1);
  }
  return logl(x) - log1pl(-x);
}

/* -- inverse error function: Halley's steps, on erfc where erf is near 1 ------------------------------------------- */

/* For x from 0 to 1 and rest = 1 - x: the relative error is about 1/300. */
static long double erfinv_guess(long double x, long double rest) {
  long double l = logl(rest * (1 + x)), half = 2 / (PI * 0.147L) + l / 2;
  return sqrtl(sqrtl(half * half - l / 0.147L) - half);
}

long double nd4c_real_erfinv_wide(long double x) {
  long double a = fabsl(x), rest = 1 - a; /* exact for a >= 1/2, where erfc needs it */
  if (!(a < 1)) {
    return a == 1 ? copysignl(INFINITY, x) : NAN;
  }
  if (a < 0x1p-40L) {
    return HALF_SQRT_PI * x;
  }
  long double y = erfinv_guess(a, rest);
  for (int step = 0; step < 3; step++) {
    long double excess = a < 0.5L ? erfl(y) - a : rest - erfcl(y);
    long double correction = excess * HALF_SQRT_PI * expl(y * y);
    y -= correction / (1 + y * correction);
  }
  return copysignl(y, x);
}

/* -- modified Bessel functions: all terms of the power series have one sign ---------------------------------------- */

static long double bessel_series(long double a, int order) {
  long double quarter = a * a / 4, term = order == 0 ? 1 : a / 2, sum = term;
  for (int k = 1; term > sum * 0x1p-70L; k++) {
    term *= quarter / ((long double)k * (k + order));
    sum += term;
  }
  return sum;
}

/* e^a / sqrt(2 pi a) (1 - (m - 1) / (8 a) + (m - 1)(m - 9) / (2! (8 a)^2) - ...), m = 4 order^2. For a of 30 or more,
 * the terms fall below e^-60 before they grow again. */
static long double bessel_large(long double a, int order) {
  long double m = 4 * order * order, term = 1, sum = 1;
  for (int k = 1; k < 40 && fabsl(term) > 0x1p-70L; k++) {
    long double odd = 2 * k - 1;
    term *= (odd * odd - m) / (8 * a * k);
    sum += term;
  }
  long double root = expl(a / 2); /* e^a may overflow where the quotient does not */
  return root * (sum / sqrtl(2 * PI * a)) * root;
}

long double nd4c_real_i0_wide(long double x) {
  long double a = fabsl(x);
  return isinf(a) ? a : a < 30 ? bessel_series(a, 0) : bessel_large(a, 0);
}

long double nd4c_real_i1_wide(long double x) {
  long double a = fabsl(x);
  return isinf(a) ? x : copysignl(a < 30 ? bessel_series(a, 1) : bessel_large(a, 1), x);
}

/* -- functions of the logistic function ---------------------------------------------------------------------------- */

/* Each form neither cancels nor overflows for its sign of x. */
double nd4c_real_sigmoid(double x) {
  return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

long double nd4c_real_sigmoid_wide(long double x) {
  return x >= 0 ? 1 / (1 + expl(-x)) : expl(x) / (1 + expl(x));
}

double nd4c_real_softplus(double x) {
  return (x > 0 ? x : x != x ? x : 0) + log1p(exp(-fabs(x)));
}

long double nd4c_real_softplus_wide(long double x) {
  return (x > 0 ? x : x != x ? x : 0) + log1pl(expl(-fabsl(x)));
}

/* erfc(-z) stands for 1 + erf(z), which cancels where erf is near -1. At minus infinity, the limit. */
double nd4c_real_gelu(double x) {
  return x == -INFINITY ? -0.0 : x / 2 * erfc(-x * 0.70710678118654752440);
}

long double nd4c_real_gelu_wide(long double x) {
  return x == -INFINITY ? -0.0L : x / 2 * erfcl(-x * 0.707106781186547524400844362104849039L);
}

/* sigmoid(2 u) stands for (1 + tanh u) / 2, which cancels for large negative u. */
double nd4c_real_gelu_tanh(double x) {
  double u = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
  return x == -INFINITY ? -0.0 : x * nd4c_real_sigmoid(2 * u);
}

long double nd4c_real_gelu_tanh_wide(long double x) {
  long double u = 0.797884560802865355879892119868763737L * (x + 0.044715L * x * x * x);
  return x == -INFINITY ? -0.0L : x * nd4c_real_sigmoid_wide(2 * u);
}
