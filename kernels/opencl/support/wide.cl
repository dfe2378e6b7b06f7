/* Numbers of about 106 bits as unevaluated sums of two doubles (Dekker 1971), .x the larger: what long double is to the
 * reference. Without float64 they are sums of two floats, of about 48 bits: what double is to float32. They cannot hold
 * infinities or NaN: functions handle those before (real.cl). real.cl, precise.cl and special.cl compute with them. */
#ifdef HAS_FP64
typedef double PART;
typedef double2 wide;
#define WIDE_LN2 ((wide)(0.6931471805599453, 2.3190468138462996e-17))
#define WIDE_PI ((wide)(3.141592653589793, 1.2246467991473532e-16))
#define WIDE_TWO_PI ((wide)(6.283185307179586, 2.4492935982947064e-16))
#define WIDE_HALF_LOG_TWO_PI ((wide)(0.9189385332046728, -3.8782941580672414e-17))
#define WIDE_HALF_SQRT_PI ((wide)(0.886226925452758, -3.8332932499128993e-17))
#else
typedef float PART;
typedef float2 wide;
#define WIDE_LN2 ((wide)(0.693147182f, -1.90465421e-09f))
#endif

static inline wide w_of(PART a) {
  return (wide)(a, 0);
}
/* Of a and b, |a| >= |b|. */
static inline wide w_fast(PART a, PART b) {
  PART sum = a + b;
  return (wide)(sum, b - (sum - a));
}
static inline wide w_sum(PART a, PART b) {
  PART sum = a + b, part = sum - a;
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
  PART p = a.x * b.x;
  return w_fast(p, fma(a.x, b.x, -p) + (a.x * b.y + a.y * b.x));
}
static inline wide w_scale(wide a, PART b) {
  PART p = a.x * b;
  return w_fast(p, fma(a.x, b, -p) + a.y * b);
}
static inline wide w_div(wide a, wide b) {
  PART first = a.x / b.x;
  wide rest = w_sub(a, w_scale(b, first));
  PART second = rest.x / b.x;
  rest = w_sub(rest, w_scale(b, second));
  return w_add(w_fast(first, second), w_of(rest.x / b.x));
}
static inline wide w_plus(wide a, PART b) {
  return w_add(a, w_of(b));
}
static inline wide w_over(PART a, wide b) {
  return w_div(w_of(a), b);
}
static inline wide w_abs(wide a) {
  return a.x < 0 ? w_minus(a) : a;
}
static inline PART w_value(wide a) {
  return isfinite(a.x) ? a.x + a.y : a.x;
}
static inline wide w_sqrt(wide a) {
  PART root = sqrt(a.x);
  wide rest = w_sub(a, w_mul(w_of(root), w_of(root)));
  return a.x == 0 ? a : w_fast(root, rest.x / (2 * root));
}

#ifdef HAS_FP64
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
#else
/* The same by the series to r^11 / 11!, from r^7 / 7! on in floats: 2^-40 of it. */
static inline wide w_expm1_near(wide r) {
  float far = 2.50521079e-08f, x = r.x;
  far = ((far * x + 2.755732e-07f) * x + 2.75573188e-06f) * x + 2.48015876e-05f;
  wide s = w_add((wide)(0.00138888892f, -3.36310944e-11f), w_scale(r, far * x + 0.000198412701f));
  s = w_add((wide)(0.00833333377f, -4.34617203e-10f), w_mul(r, s));
  s = w_add((wide)(0.0416666679f, -1.24176347e-09f), w_mul(r, s));
  s = w_add((wide)(0.166666672f, -4.96705388e-09f), w_mul(r, s));
  s = w_plus(w_mul(r, s), 0.5f);
  return w_mul(r, w_plus(w_mul(r, s), 1));
}
#endif
/* e^a times 2^by. */
static inline wide w_exp_scaled(wide a, int by) {
  if (a.x > 1e6 || a.x < -1e6) {
    return w_of(a.x > 0 ? INFINITY : 0);
  }
  PART k = rint(a.x * (PART)1.4426950408889634);
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
/* ln(1 + a) for |a| <= 0.05 */
#define LOG_TERMS (sizeof(PART) == 4 ? 6 : 13)
static inline wide w_log1p_near(wide a) {
  wide r = w_div(a, w_plus(a, 2)), square = w_mul(r, r), sum = w_of(0);
  for (int k = LOG_TERMS - 1; k >= 0; k--) {
    sum = w_add(w_mul(sum, square), w_over(1, w_of(2 * k + 1)));
  }
  return w_mul(r, sum) * 2;
}
/* a > 0: one step from the part's logarithm, whose error e is so small that e - e^2 / 2 is all of ln(1 + e). */
static inline wide w_log(wide a) {
  int power = ilogb(a.x);
#ifndef HAS_FP64 /* fewer digits to lose: none where the logarithm is small */
  if (fabs(a.x - 1) < 0.04f) {
    return w_log1p_near(w_plus(a, -1));
  }
  power += ldexp(a.x, -power) > 1.41f;
#endif
  a = (wide)(ldexp(a.x, -power), ldexp(a.y, -power));
  PART guess = log(a.x);
  wide e = w_plus(w_mul(a, w_exp(w_of(-guess))), -1);
  wide rest = w_sub(e, w_mul(e, e) * (PART)0.5);
  return w_add(w_add(w_scale(WIDE_LN2, power), w_of(guess)), rest);
}
static inline wide w_log1p(wide a) {
  return fabs(a.x) > (PART)0.05 ? w_log(w_plus(a, 1)) : w_log1p_near(a);
}
/* a > 0 */
static inline wide w_pow(wide a, wide b) {
  return w_exp(w_mul(b, w_log(a)));
}
#ifdef HAS_FP64
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
#endif
