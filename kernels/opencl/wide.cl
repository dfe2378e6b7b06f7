/* Numbers of about 106 bits as unevaluated sums of two doubles (Dekker 1971), .x the larger: what long double is to the
 * reference. Infinities and NaN have no place in them: functions see to those before. */
typedef double2 wide;

#define WIDE_LN2 ((wide)(0.6931471805599453, 2.3190468138462996e-17))
#define WIDE_PI ((wide)(3.141592653589793, 1.2246467991473532e-16))
#define WIDE_TWO_PI ((wide)(6.283185307179586, 2.4492935982947064e-16))
#define WIDE_HALF_LOG_TWO_PI ((wide)(0.9189385332046728, -3.8782941580672414e-17))
#define WIDE_HALF_SQRT_PI ((wide)(0.886226925452758, -3.8332932499128993e-17))

static inline wide w_of(double a) {
  return (wide)(a, 0);
}
/* Of a and b, |a| >= |b|. */
static inline wide w_fast(double a, double b) {
  double sum = a + b;
  return (wide)(sum, b - (sum - a));
}
static inline wide w_sum(double a, double b) {
  double sum = a + b, part = sum - a;
  return (wide)(sum, (a - (sum - part)) + (b - part));
}
static inline wide w_add(wide a, wide b) {
  wide high = w_sum(a.x, b.x), low = w_sum(a.y, b.y);
  high = w_fast(high.x, high.y + low.x);
  return w_fast(high.x, high.y + low.y);
}
static inline wide w_minus(wide a) {
  return (wide)(-a.x, -a.y);
}
static inline wide w_sub(wide a, wide b) {
  return w_add(a, w_minus(b));
}
static inline wide w_mul(wide a, wide b) {
  double p = a.x * b.x;
  return w_fast(p, fma(a.x, b.x, -p) + (a.x * b.y + a.y * b.x));
}
static inline wide w_scale(wide a, double b) {
  double p = a.x * b;
  return w_fast(p, fma(a.x, b, -p) + a.y * b);
}
static inline wide w_div(wide a, wide b) {
  double first = a.x / b.x;
  wide rest = w_sub(a, w_scale(b, first));
  double second = rest.x / b.x;
  rest = w_sub(rest, w_scale(b, second));
  return w_add(w_fast(first, second), w_of(rest.x / b.x));
}
static inline wide w_plus(wide a, double b) {
  return w_add(a, w_of(b));
}
static inline wide w_over(double a, wide b) {
  return w_div(w_of(a), b);
}
static inline wide w_abs(wide a) {
  return a.x < 0 ? w_minus(a) : a;
}
static inline double w_value(wide a) {
  return isfinite(a.x) ? a.x + a.y : a.x;
}
static inline wide w_sqrt(wide a) {
  double root = sqrt(a.x);
  wide rest = w_sub(a, w_mul(w_of(root), w_of(root)));
  return a.x == 0 ? a : w_fast(root, rest.x / (2 * root));
}

/* e^r - 1 for |r| < 0.4: the series at r / 256, then (1 + s)^2 - 1 eight times. */
static inline wide w_expm1_near(wide r) {
  wide s = w_of(1);
  r *= 0.00390625;
  for (int n = 10; n > 1; n--) {
    s = w_plus(w_mul(w_div(r, w_of(n)), s), 1);
  }
  s = w_mul(r, s);
  for (int i = 0; i < 8; i++) {
    s = w_add(s * 2, w_mul(s, s));
  }
  return s;
}
/* e^a times 2^by. */
static inline wide w_exp_scaled(wide a, int by) {
  if (a.x > 1e6 || a.x < -1e6) {
    return w_of(a.x > 0 ? INFINITY : 0);
  }
  double k = rint(a.x * 1.4426950408889634);
  wide e = w_plus(w_expm1_near(w_sub(a, w_scale(WIDE_LN2, k))), 1);
  int power = (int)k + by;
  wide result = (wide)(ldexp(e.x, power), ldexp(e.y, power));
  return isfinite(result.x) ? result : w_of(result.x);
}
static inline wide w_exp(wide a) {
  return w_exp_scaled(a, 0);
}
static inline wide w_expm1(wide a) {
  return fabs(a.x) < 0.34 ? w_expm1_near(a) : w_plus(w_exp(a), -1);
}
/* a > 0: one step from the double's logarithm, whose error e is so small that e - e^2 / 2 is all of ln(1 + e). */
static inline wide w_log(wide a) {
  int power = ilogb(a.x);
  a = (wide)(ldexp(a.x, -power), ldexp(a.y, -power));
  double guess = log(a.x);
  wide e = w_plus(w_mul(a, w_exp(w_of(-guess))), -1);
  wide rest = w_sub(e, w_mul(e, e) * 0.5);
  return w_add(w_add(w_scale(WIDE_LN2, power), w_of(guess)), rest);
}
static inline wide w_log1p(wide a) {
  if (fabs(a.x) > 0.05) {
    return w_log(w_plus(a, 1));
  }
  wide r = w_div(a, w_plus(a, 2)), square = w_mul(r, r), sum = w_of(0);
  for (int k = 12; k >= 0; k--) {
    sum = w_add(w_mul(sum, square), w_over(1, w_of(2 * k + 1)));
  }
  return w_mul(r, sum) * 2;
}
/* a > 0 */
static inline wide w_pow(wide a, wide b) {
  return w_exp(w_mul(b, w_log(a)));
}
/* sin and cos of pi r, |r| <= 1/2. */
static inline void w_sincospi(wide r, wide *sine, wide *cosine) {
  wide angle = w_mul(WIDE_PI, r), square = w_mul(angle, angle), s = w_of(1), c = w_of(1);
  for (int n = 16; n > 0; n--) {
    s = w_sub(w_of(1), w_mul(w_div(square, w_of((2 * n) * (2 * n + 1))), s));
    c = w_sub(w_of(1), w_mul(w_div(square, w_of((2 * n - 1) * (2 * n))), c));
  }
  *sine = w_mul(angle, s);
  *cosine = c;
}
