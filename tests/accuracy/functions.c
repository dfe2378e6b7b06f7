/* The oracle's functions in long double, from the C library or by formulas that differ from the kernels'. The program
 * nd4c_accuracy calls them. Their 64 bits resolve a thousandth of float64's unit in the last place; points.py checks
 * them against arbitrary precision, too. */
#include "functions.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define PI 3.14159265358979323846264338327950288L

#define OF_LIBRARY(name)                                                \
  static long double name##_oracle(long double x, long double unused) { \
    (void)unused;                                                       \
    return name##l(x);                                                  \
  }
OF_LIBRARY(exp)
OF_LIBRARY(expm1)
OF_LIBRARY(exp2)
OF_LIBRARY(log)
OF_LIBRARY(log1p)
OF_LIBRARY(log2)
OF_LIBRARY(log10)
OF_LIBRARY(sin)
OF_LIBRARY(cos)
OF_LIBRARY(tan)
OF_LIBRARY(tanh)
OF_LIBRARY(sinh)
OF_LIBRARY(cosh)
OF_LIBRARY(asinh)
OF_LIBRARY(acosh)
OF_LIBRARY(atanh)
OF_LIBRARY(asin)
OF_LIBRARY(acos)
OF_LIBRARY(atan)
OF_LIBRARY(erf)
OF_LIBRARY(erfc)
OF_LIBRARY(sqrt)
OF_LIBRARY(cbrt)
OF_LIBRARY(lgamma)

static long double gamma_oracle(long double x, long double unused) {
  (void)unused;
  return tgammal(x);
}

static long double pow_oracle(long double a, long double b) {
  return powl(a, b);
}

static long double sigmoid_oracle(long double x, long double unused) {
  (void)unused;
  return 1 / (1 + expl(-x)); /* the range of long double is wide enough */
}

static long double softplus_oracle(long double x, long double unused) {
  (void)unused;
  return x > 100 ? x : log1pl(expl(x));
}

static long double gelu_oracle(long double x, long double unused) {
  (void)unused;
  return isinf(x) && x < 0 ? 0 : x * erfcl(-x / sqrtl(2)) / 2;
}

static long double gelu_tanh_oracle(long double x, long double unused) {
  (void)unused;
  long double u = sqrtl(2 / PI) * (x + 0.044715L * x * x * x);
  return isinf(x) && x < 0 ? 0 : x / (1 + expl(-2 * u));
}

static long double swish_oracle(long double x, long double unused) {
  (void)unused;
  return isinf(x) && x < 0 ? 0 : x / (1 + expl(-x));
}

static long double elu_oracle(long double x, long double unused) {
  (void)unused;
  return x > 0 ? x : expm1l(x);
}

static long double mish_oracle(long double x, long double unused) {
  (void)unused;
  return x > 100 ? x : isinf(x) ? 0 : x * tanhl(log1pl(expl(x)));
}

static long double atan2_oracle(long double a, long double b) {
  return atan2l(a, b);
}

static long double hypot_oracle(long double a, long double b) {
  return hypotl(a, b);
}

static long double log_of_sum(long double a, long double b, long double unit) {
  long double larger = a > b ? a : b, smaller = a > b ? b : a;
  return isnan(a) || isnan(b) ? NAN : isinf(larger) ? larger : larger + log1pl(expl((smaller - larger) * unit)) / unit;
}

static long double logaddexp_oracle(long double a, long double b) {
  return log_of_sum(a, b, 1);
}

static long double logaddexp2_oracle(long double a, long double b) {
  return log_of_sum(a, b, logl(2));
}

/* Where the sum cancels. */
static bool logaddexp_unsure(long double a, long double b) {
  return fabsl(logaddexp_oracle(a, b)) < 0x1p-4L * fabsl(fmaxl(a, b));
}

static bool logaddexp2_unsure(long double a, long double b) {
  return fabsl(logaddexp2_oracle(a, b)) < 0x1p-4L * fabsl(fmaxl(a, b));
}

static long double xlogy_oracle(long double a, long double b) {
  return a == 0 && !isnan(b) ? 0 : a * logl(b);
}

static long double rsqrt_oracle(long double x, long double unused) {
  (void)unused;
  return 1 / sqrtl(x);
}

/* Newton's steps on erf, or on erfc where erf is near 1. */
static long double erfinv_oracle(long double x, long double unused) {
  (void)unused;
  long double a = fabsl(x), l = logl((1 - a) * (1 + a)), half = 2 / (PI * 0.147L) + l / 2;
  long double y = sqrtl(sqrtl(half * half - l / 0.147L) - half);
  for (int step = 0; step < 6 && a >= 0x1p-20L && a < 1; step++) {
    long double excess = a < 0.5L ? erfl(y) - a : (1 - a) - erfcl(y);
    long double correction = excess * sqrtl(PI) / 2 * expl(y * y);
    y -= correction / (1 + y * correction);
  }
  y = a < 0x1p-20L ? sqrtl(PI) / 2 * a * (1 + PI / 12 * a * a) : y;
  return copysignl(a < 1 ? y : a == 1 ? INFINITY : NAN, x);
}

/* The power series, whose terms have one sign, and the asymptotic one. */
static long double bessel(long double a, int order) {
  long double m = 4 * order * order, term = order == 0 ? 1 : a / 2, sum = term, root = expl(a / 2);
  for (int k = 1; a < 30 && k < 200; k++) {
    sum += term *= a * a / 4 / ((long double)k * (k + order));
  }
  if (a < 30) {
    return sum;
  }
  sum = term = 1;
  for (int k = 1; k < 40; k++) {
    sum += term *= ((2 * k - 1) * (2 * k - 1) - m) / (8 * a * k);
  }
  return isinf(a) ? a : root * (sum / sqrtl(2 * PI * a)) * root;
}

static long double i0_oracle(long double x, long double unused) {
  (void)unused;
  return isnan(x) ? x : bessel(fabsl(x), 0);
}

static long double i1_oracle(long double x, long double unused) {
  (void)unused;
  return isnan(x) ? x : copysignl(bessel(fabsl(x), 1), x);
}

static long double logit_oracle(long double x, long double unused) {
  (void)unused;
  return x > 0.25L && x < 0.75L ? 2 * atanhl(2 * x - 1) : logl(x) - log1pl(-x);
}

static long double sinc_oracle(long double x, long double unused) {
  (void)unused;
  long double part = x - 2 * rintl(x / 2); /* exact */
  return x == 0 ? 1 : isinf(x) ? 0 : sinl(PI * (fabsl(part) > 0.5L ? copysignl(1, part) - part : part)) / (PI * x);
}

static long double deg2rad_oracle(long double x, long double unused) {
  (void)unused;
  return x * (PI / 180);
}

static long double rad2deg_oracle(long double x, long double unused) {
  (void)unused;
  return x * (180 / PI);
}

/* (x cosh x - sinh x) / cosh x, the numerator as a series. */
static long double tanh_shrink_oracle(long double x, long double unused) {
  (void)unused;
  long double term = x, sum = 0;
  for (int k = 1; k < 14; k++) {
    term *= x * x / ((2 * k) * (2 * k + 1));
    sum += 2 * k * term;
  }
  return fabsl(x) < 1 ? sum / coshl(x) : x - tanhl(x);
}

static long double rational_tanh_oracle(long double x, long double unused) {
  (void)unused;
  long double u = fabsl(x) * 2 / 3;
  long double p = u * (1 + u * (1 + 1.41645L * u * u));
  return copysignl(isinf(p) ? 1.7159L : 1.7159L * p / (1 + p), x);
}

static long double rectified_tanh_oracle(long double x, long double unused) {
  (void)unused;
  return x < 0 ? 0 : tanhl(x);
}

/* ln x - 1 / (2 x) - ... beyond 40, where eight terms are enough. */
static long double digamma_oracle(long double x, long double unused) {
  static const long double terms[] = {1 / 12.0L,  -1 / 120.0L,     1 / 252.0L, -1 / 240.0L,
                                      1 / 132.0L, -691 / 32760.0L, 1 / 12.0L,  -3617 / 8160.0L};
  long double sum = 0, power = 1;
  if (x == 0) {
    return signbit(x) ? INFINITY : -INFINITY;
  }
  if (x < 0) {
    return x == rintl(x) ? NAN : digamma_oracle(1 - x, unused) - PI / tanl(PI * (x - rintl(x)));
  }
  if (isinf(x)) {
    return x;
  }
  for (; x < 40; x++) {
    sum -= 1 / x;
  }
  for (int i = 0; i < 8; i++) {
    sum -= terms[i] * (power /= x * x);
  }
  return sum + logl(x) - 1 / (2 * x);
}

/* Differences of larger terms: the file of points has these. */
static bool digamma_unsure(long double x, long double unused) {
  (void)unused;
  return fabsl(digamma_oracle(x, 0)) < 0x1p-4L * (x > 0 ? 1 : fabsl(digamma_oracle(1 - x, 0)));
}

static bool lgamma_unsure(long double x, long double unused) {
  (void)unused;
  return x < 0 && fabsl(lgammal(x)) < 0x1p-6L * (1 + fabsl(lgammal(1 - x)));
}

#define F(name, ...) {#name, #name, false, false, __VA_ARGS__}
#define PAIR(name, ...) {#name, #name, false, true, __VA_ARGS__}
const function functions[] = {
    F(exp, 1, 1.5, exp_oracle, 0, NULL, -110, 110, {88.72, -87.33, 709.78, -708.4, -745.13}),
    F(expm1, 1, 1.5, expm1_oracle, 0, NULL, -40, 40, {0.5, -0.5, 88.72, 709.78, -17.3}),
    F(exp2, 1, 1.5, exp2_oracle, 0, NULL, -150, 130, {127.99, -149, 1023.99, -1074}),
    F(log, 1, 1.5, log_oracle, 0, NULL, 0, 8, {1, 0.7071, 1.4142, 2}),
    F(log1p, 1, 1.5, log1p_oracle, 0, NULL, -1, 8, {-0.29, 0.4142, 1, -0.999}),
    F(log2, 1, 1.5, log2_oracle, 0, NULL, 0, 8, {1, 2, 4, 0.5}),
    F(log10, 1, 1.5, log10_oracle, 0, NULL, 0, 8, {1, 10, 100}),
    F(sin, 1, 1.5, sin_oracle, 0, NULL, -30, 30, {3.14159265358979, 6.28318530717959, 355, 1048576, 1571.58173773}),
    F(cos, 1, 1.5, cos_oracle, 0, NULL, -30, 30, {1.57079632679490, 4.71238898038469, 177.5, 1048576, 11}),
    F(tan, 1, 1.5, tan_oracle, 0, NULL, -30, 30, {1.57079632679490, 3.14159265358979, 177.5, 355, 11}),
    F(tanh, 1, 1.5, tanh_oracle, 0, NULL, -12, 12, {0.55, 0.625, 0.5, 9.01, 19.06}),
    F(sinh, 1, 1.5, sinh_oracle, 0, NULL, -12, 12, {0.5, 1, 89.4, 710.4}),
    F(cosh, 1, 1.5, cosh_oracle, 0, NULL, -12, 12, {0.5, 1, 89.4, 710.4}),
    F(asin, 1, 1.5, asin_oracle, 0, NULL, -1, 1, {0.5, 1, -1}),
    F(acos, 1, 1.5, acos_oracle, 0, NULL, -1, 1, {0.5, 1, -1}),
    F(atan, 1, 1.5, atan_oracle, 0, NULL, -8, 8, {1, 0.4375, 2.4375}),
    F(asinh, 1, 1.5, asinh_oracle, 0, NULL, -8, 8, {0.5, 2}),
    F(acosh, 1, 1.5, acosh_oracle, 0, NULL, 1, 8, {1, 2}),
    F(atanh, 1, 1.5, atanh_oracle, 0, NULL, -1, 1, {0.5, 1}),
    F(erf, 1, 1.5, erf_oracle, 0, NULL, -6, 6, {0.84375, 1, 1.25, 3.9, 5.9}),
    F(erfc, 1, 1.5, erfc_oracle, 0, NULL, -6, 28, {0.84375, 1, 1.25, 9.19, 26.5}),
    F(sqrt, 0.5, 0.5, sqrt_oracle, 0, NULL, 0, 8, {1, 4}),
    F(cbrt, 1, 1.5, cbrt_oracle, 0, NULL, -8, 8, {1, 8}),
    F(rsqrt, 1, 1.5, rsqrt_oracle, 0, NULL, 0, 8, {1, 4}),
    F(erfinv, 1, 1.5, erfinv_oracle, 0, NULL, -1, 1, {0.999, 0.9999, 1, 0.75, 0.5}),
    F(i0, 1, 1.5, i0_oracle, 0, NULL, -40, 40, {8, 4, 713.5, 91.5}),
    F(i1, 1, 1.5, i1_oracle, 0, NULL, -40, 40, {8, 4, 713.5, 91.5}),
    F(logit, 1, 1.5, logit_oracle, 0, NULL, 0, 1, {0.5, 1, 0.25, 0.75}),
    F(sinc, 1, 1.5, sinc_oracle, 0, NULL, -30, 30, {1, 2, 0.5, 0.25, 1000001, 1.5}),
    F(deg2rad, 1, 1.5, deg2rad_oracle, 0, NULL, -360, 360, {180, 90}),
    F(rad2deg, 1, 1.5, rad2deg_oracle, 0, NULL, -8, 8, {3.14159265358979, 1.5707963267949}),
    F(tanh_shrink, 1, 1.5, tanh_shrink_oracle, 0, NULL, -20, 20, {0.63, 1, 0.5, 40}),
    F(rational_tanh, 1, 1.5, rational_tanh_oracle, 0, NULL, -20, 20, {0.5, 1}),
    F(rectified_tanh, 1, 1.5, rectified_tanh_oracle, 0, NULL, -1, 20, {0.55, 0.63}),
    F(sigmoid, 4, 4, sigmoid_oracle, 0, NULL, -110, 110, {0.1, -87.3, -103.9, -708.4, -745.1}),
    F(softplus, 4, 4, softplus_oracle, 0, NULL, -110, 110, {-1, 1, -87.3, 20, -745}),
    F(swish, 4, 4, swish_oracle, 0, NULL, -110, 110, {-1, 1, -87.3, -708}),
    F(mish, 4, 4, mish_oracle, 0, NULL, -110, 50, {-1, 1, -0.3, -87.3}),
    F(elu, 4, 4, elu_oracle, 0, NULL, -20, 20, {-0.5, -17, -1}),
    F(lgamma, 4, 4, lgamma_oracle, 0, lgamma_unsure, -20, 40,
      {1, 2, -2.45702473822, -2.74768264672, 1.46163, -3.1435808883}),
    F(digamma, 4, 4, digamma_oracle, 0, digamma_unsure, -20, 40,
      {1.46163214496836, -0.504083008264455, -1.57349847316239, 2}),
    F(gamma, 1, 2, gamma_oracle, 0, NULL, -20, 171, {1, 2, 8, 171.6, 0.5, -0.5}),
    F(gelu, 4, 4, gelu_oracle, 0.75, NULL, -40, 20, {-0.75, -1.41, -13.1, -14, -37.5}),
    {"gelu_tanh", "gelu", true, false, 4, 4, gelu_tanh_oracle, 1, NULL, -22, 20, {-0.75, -3, -10, -21}},
    {"pow", "power", false, true, 1, 1.5, pow_oracle, 0, NULL, 0, 8, {1, 2, 10}},
    PAIR(atan2, 1, 1.5, atan2_oracle, 0, NULL, -8, 8, {1, 2}),
    PAIR(hypot, 1, 1.5, hypot_oracle, 0, NULL, -8, 8, {1, 3}),
    PAIR(logaddexp, 1, 1.5, logaddexp_oracle, 0, logaddexp_unsure, -40, 40, {1, 700}),
    PAIR(logaddexp2, 1, 1.5, logaddexp2_oracle, 0, logaddexp2_unsure, -40, 40, {1, 1000}),
    PAIR(xlogy, 1, 1.5, xlogy_oracle, 0, NULL, -8, 8, {1, 2}),
};
const int function_count = sizeof functions / sizeof functions[0];

const fast_function *accuracy_fast_find(const char *name) {
  static const fast_function fast[] = {{"log", 2, false}, {"tanh", 8, false},     {"erf", 8, false},
                                       {"gelu", 8, true}, {"gelu_tanh", 8, true}, {"pow", 160, false}};
  for (size_t i = 0; i < sizeof fast / sizeof *fast; i++) {
    if (strcmp(fast[i].name, name) == 0) {
      return &fast[i];
    }
  }
  return NULL;
}
