/* Special functions of the element-wise ops, by the methods of kernels/reference/elementwise (mathematics_special.c,
 * mathematics_digamma.c, mathematics_incomplete.c, mathematics_zeta.c), in numbers of two doubles.
 * families/elementwise.c puts it behind wide.cl and before elementwise.cl. */

/* B(2 n) / (2 n) as quotients that are exact in both parts. */
#define BERNOULLI 15
__constant double bernoulli_above[BERNOULLI] = {
    1,     -1,      1,      -1,         1,       -691,           1,            -3617,
    43867, -174611, 854513, -236364091, 8553103, -23749461029.0, 8615841276005.0};
__constant double bernoulli_below[BERNOULLI] = {12,    120,  252,  240,   132, 32760, 12,    8160,
                                                14364, 6600, 3036, 65520, 156, 24360, 429660};
/* From here on so many terms are enough. */
#define STIRLING_FROM 24

/* -- gamma and its logarithm ---------------------------------------------------------------------------------------------- */

/* ln gamma(a) - ((a - 1/2) ln a - a + ln(2 pi) / 2) for a from STIRLING_FROM on */
static inline wide stirling_series(wide a) {
  wide inverse = w_over(1, a), square = w_mul(inverse, inverse), sum = w_of(0);
  for (int n = BERNOULLI - 1; n >= 0; n--) {
    sum = w_add(w_mul(sum, square), w_div(w_of(bernoulli_above[n]), w_of(bernoulli_below[n] * (2 * n + 1))));
  }
  return w_mul(sum, inverse);
}

static inline wide stirling_main(wide a) {
  return w_add(w_sub(w_mul(w_plus(a, -0.5), w_log(a)), a), WIDE_HALF_LOG_TWO_PI);
}

/* (-1)^k (zeta(k) - 1) / k for k from 2 on, in two parts. */
#define NEAR_TERMS 56
__constant double near_two[NEAR_TERMS][2] = {
    {0.3224670334241132, 1.520336175199238e-17}, {-0.0673523010531981, 6.87667631175899e-18},
    {0.020580808427784546, 1.4629392512775695e-18}, {-0.007385551028673986, 4.1051370891788617e-19},
    {0.0028905103307415234, -7.357950161901912e-20}, {-0.001192753911703261, 4.1747852352514e-20},
    {0.0005096695247430425, -2.780354175057013e-20}, {-0.00022315475845357939, 6.032078299350848e-21},
    {9.945751278180853e-05, 2.734261130690314e-21}, {-4.492623673813314e-05, 3.4577848248512954e-22},
    {2.050721277567069e-05, 4.864174577619616e-22}, {-9.439488275268397e-06, 8.111985879973243e-22},
    {4.374866789907488e-06, -3.7021851137962053e-22}, {-2.039215753801366e-06, -4.70891370095011e-23},
    {9.55141213040742e-07, 4.798512617588967e-23}, {-4.492469198764566e-07, 1.4219340578032317e-23},
    {2.1207184805554665e-07, 1.2243193613787666e-23}, {-1.0043224823968099e-07, -5.246728062732248e-24},
    {4.7698101693639804e-08, 1.6747349659198183e-24}, {-2.2711094608943164e-08, -1.406065812811299e-24},
    {1.0838659214896955e-08, -5.018242148804151e-25}, {-5.183475041970047e-09, -1.0891302535635231e-26},
    {2.4836745438024785e-09, -1.5805048837932932e-25}, {-1.1921401405860912e-09, -5.269861418993634e-26},
    {5.731367241678862e-10, -2.3810866578223724e-26}, {-2.7595228851242334e-10, 2.107257883073299e-26},
    {1.330476437424449e-10, 6.614614775208236e-27}, {-6.4229645638381e-11, -4.232176684861536e-27},
    {3.1044247747322276e-11, -2.8715350933450543e-27}, {-1.5021384080754142e-11, -5.063470614908766e-28},
    {7.275974480239079e-12, 4.879514445370743e-28}, {-3.527742476575915e-12, -1.8425514965961343e-29},
    {1.711991790559618e-12, -6.994387860952799e-29}, {-8.315385841420285e-13, 1.5951572809733943e-29},
    {4.04220052528944e-13, -1.2672480151835454e-29}, {-1.9664756310966165e-13, 4.0719036606056276e-30},
    {9.573630387838556e-14, 1.9773509309959252e-30}, {-4.6640760264283744e-14, 2.186282283713084e-30},
    {2.2737369600659724e-14, -9.672147869269828e-31}, {-1.1091399470834522e-14, 1.5933072002908932e-31},
    {5.413659156725363e-15, -1.5927035621801034e-31}, {-2.643880017860995e-15, -1.4241594083885883e-31},
    {1.2918959062789966e-15, 7.958358891271392e-32}, {-6.315935504198448e-16, -4.148627969335702e-32},
    {3.089316266963393e-16, -2.3015827891156758e-32}, {-1.5117930628108198e-16, 9.801548779944268e-33},
    {7.40148685695232e-17, 2.7887551301987538e-33}, {-3.625218048120654e-17, 8.9292739029864e-34},
    {1.7763568421861633e-17, -1.4422619123578226e-33}, {-8.70763157479179e-18, -3.644715586331977e-34},
    {4.270088559227004e-18, 3.0259314536119503e-35}, {-2.0947604247944643e-18, -1.0921968389106116e-34},
    {1.0279842823787928e-18, 2.6221378142312554e-35}, {-5.046468294792953e-19, 2.8769870355097727e-35},
    {2.4781763945937917e-19, -1.285787675046427e-35}, {-1.2173498078147637e-19, -1.0008451277890342e-35}};

/* ln gamma(2 + t) for |t| <= 1/2: (1 - Euler's constant) t and the powers above it. */
static inline wide log_gamma_near_two(wide t) {
  wide sum = w_of(0);
  for (int k = NEAR_TERMS - 1; k >= 0; k--) {
    sum = w_mul(w_add(sum, (wide)(near_two[k][0], near_two[k][1])), t);
  }
  return w_mul(w_add(sum, (wide)(0.42278433509846713, 4.942915152430645e-18)), t);
}

/* For small a, where differences of large logarithms would hide the zeros: by steps from or to the neighbourhood of 2. */
static inline wide log_gamma_small(wide a) {
  wide product = w_of(1);
  if (a.x < 0.5) {
    return w_sub(log_gamma_near_two(a), w_log(w_mul(a, w_plus(a, 1))));
  }
  if (a.x < 1.5) {
    wide t = w_plus(a, -1);
    return w_sub(log_gamma_near_two(t), w_log1p(t));
  }
  while (a.x > 2.5) {
    a = w_plus(a, -1);
    product = w_mul(product, a);
  }
  return w_add(log_gamma_near_two(w_plus(a, -2)), product.x == 1 ? w_of(0) : w_log(product));
}

/* a > 0 */
static inline wide log_gamma(wide a) {
  if (a.x < 8) {
    return log_gamma_small(a);
  }
  wide product = w_of(1);
  for (; a.x < STIRLING_FROM; a = w_plus(a, 1)) {
    product = w_mul(product, a);
  }
  return w_sub(w_add(stirling_main(a), stirling_series(a)), w_log(product));
}

static inline wide stirling_rest(wide a) {
  return a.x >= STIRLING_FROM ? stirling_series(a) : w_sub(log_gamma(a), stirling_main(a));
}

static inline double lgamma_of(double x) {
  if (isnan(x) || isinf(x)) {
    return isnan(x) ? x : INFINITY;
  }
  if (x == 1 || x == 2 || (x <= 0 && x == floor(x))) {
    return x > 0 ? 0 : INFINITY;
  }
  if (x > 1e300 || fabs(x) < 1e-300) {
    return x > 1 ? x * (log(x) - 1) : -log(fabs(x));
  }
  if (x > 0) {
    return w_value(log_gamma(w_of(x)));
  }
  wide sine, cosine;
  w_sincospi(w_of(x - rint(x)), &sine, &cosine);
  return w_value(w_sub(w_log(w_div(WIDE_PI, w_abs(sine))), log_gamma(w_sub(w_of(1), w_of(x)))));
}

static inline double gamma_of(double x) {
  if (isnan(x) || x == INFINITY) {
    return x;
  }
  if (x == 0) {
    return copysign((double)INFINITY, x);
  }
  if (x == floor(x) && x < 0) {
    return NAN;
  }
  if (x > 0) {
    return x > 180 ? INFINITY : x < 1e-300 ? 1 / x : w_value(w_exp(log_gamma(w_of(x))));
  }
  double sign = fmod(floor(x), 2) != 0 ? -1 : 1;
  if (x < -190 || x > -1e-300) {
    return x > -1e-300 ? 1 / x : sign * 0.0;
  }
  wide sine, cosine;
  w_sincospi(w_of(x - rint(x)), &sine, &cosine);
  wide log_size = w_sub(w_log(w_div(WIDE_PI, w_abs(sine))), log_gamma(w_sub(w_of(1), w_of(x))));
  return sign * w_value(w_exp(log_size));
}

/* -- digamma -------------------------------------------------------------------------------------------------------------- */

static inline wide digamma_positive(wide x) {
  wide moved = w_of(0), series = w_of(0);
  for (; x.x < 30; x = w_plus(x, 1)) {
    moved = w_add(moved, w_over(1, x));
  }
  wide inverse = w_over(1, x), square = w_mul(inverse, inverse);
  for (int n = BERNOULLI - 1; n >= 0; n--) {
    series = w_mul(w_add(series, w_div(w_of(bernoulli_above[n]), w_of(bernoulli_below[n]))), square);
  }
  return w_sub(w_sub(w_sub(w_log(x), inverse * 0.5), series), moved);
}

static inline double digamma_of(double x) {
  if (x == 0) {
    return copysign((double)INFINITY, -x);
  }
  double r = x - rint(x);
  if (isnan(x) || x == -INFINITY || (x < 0 && r == 0)) {
    return NAN;
  }
  if (x > 0) {
    return x == INFINITY ? x : x < 1e-300 ? -1 / x : w_value(digamma_positive(w_of(x)));
  }
  if (x > -1e-300) {
    return -1 / x;
  }
  wide sine, cosine;
  w_sincospi(w_of(r), &sine, &cosine);
  return w_value(w_sub(digamma_positive(w_sub(w_of(1), w_of(x))), w_div(w_mul(WIDE_PI, cosine), sine)));
}

/* -- sinc, logit, Bessel, inverse error function ---------------------------------------------------------------------------- */

static inline double sinc_of(double x) {
  if (x == 0 || isnan(x) || isinf(x)) {
    return x == 0 ? 1 : isnan(x) ? x : 0;
  }
  double whole = rint(x);
  wide sine, cosine;
  w_sincospi(w_of(x - whole), &sine, &cosine);
  if (fabs(x) < 1e-150) {
    return 1;
  }
  double quotient = sine.x == 0 ? copysign(0.0, x) : w_value(w_div(sine, w_scale(WIDE_PI, x)));
  return fmod(whole, 2) != 0 ? -quotient : quotient;
}

static inline double logit_of(double x) {
  if (!(x > 0 && x < 1)) {
    return x == 0 ? -INFINITY : x == 1 ? INFINITY : NAN;
  }
  wide rest = w_sub(w_of(1), w_of(x));
  return x > 0.25 && x < 0.75 ? w_value(w_log1p(w_div(w_sub(w_of(x), rest), rest)))
                              : w_value(w_sub(w_log(w_of(x)), w_log(rest)));
}

/* All terms of the power series have one sign. */
static inline wide bessel_series(double a, int order) {
  wide quarter = w_mul(w_of(a), w_of(a)) * 0.25, term = w_of(order == 0 ? 1 : a / 2), sum = term;
  for (int k = 1; term.x > sum.x * 0x1p-70; k++) {
    term = w_div(w_mul(term, quarter), w_of((double)k * (k + order)));
    sum = w_add(sum, term);
  }
  return sum;
}

/* e^a / sqrt(2 pi a) (1 - (m - 1) / (8 a) + (m - 1)(m - 9) / (2! (8 a)^2) - ...), m = 4 order^2 */
static inline double bessel_large(double a, int order) {
  double m = 4 * order * order;
  wide term = w_of(1), sum = w_of(1), x = w_of(a);
  for (int k = 1; k < 40 && fabs(term.x) > 0x1p-70; k++) {
    double odd = 2 * k - 1;
    term = w_div(w_scale(term, odd * odd - m), w_scale(x, 8 * k));
    sum = w_add(sum, term);
  }
  wide root = w_sqrt(w_mul(WIDE_TWO_PI, x));
  wide scaled = w_mul(w_exp_scaled(x, -100), w_div(sum, root)); /* e^a may overflow where the quotient does not */
  return a > 800 ? INFINITY : ldexp(w_value(scaled), 100);
}

static inline double bessel_of(double x, int order) {
  double a = fabs(x);
  if (isnan(a) || isinf(a)) {
    return order == 0 ? a : x;
  }
  double size = a < 30 ? w_value(bessel_series(a, order)) : bessel_large(a, order);
  return order == 0 ? size : copysign(size, x);
}

/* erf where the argument is small, by the series whose terms have one sign; its complement above, by the continued
 * fraction. */
static inline wide erf_small(wide x) {
  wide square = w_mul(x, x), term = x, sum = x;
  for (int n = 1; term.x > sum.x * 0x1p-75 && n < 200; n++) {
    term = w_div(w_mul(term, square) * 2, w_of(2 * n + 1));
    sum = w_add(sum, term);
  }
  return w_div(w_mul(sum, w_exp(w_minus(square))), WIDE_HALF_SQRT_PI);
}
static inline wide erfc_large(wide x) {
  wide below = x;
  for (int k = 160; k > 0; k--) {
    below = w_add(x, w_div(w_of(0.5 * k), below));
  }
  return w_div(w_exp(w_minus(w_mul(x, x))), w_mul(WIDE_HALF_SQRT_PI * 2, below));
}

/* Halley's steps, on erfc where erf is near 1. */
static inline double erfinv_of(double x) {
  double a = fabs(x), rest = 1 - a;
  if (!(a < 1)) {
    return a == 1 ? copysign((double)INFINITY, x) : NAN;
  }
  if (a < 0x1p-40) {
    return w_value(w_scale(WIDE_HALF_SQRT_PI, x));
  }
  double l = log(rest * (1 + a)), middle = 2 / (M_PI * 0.147) + l / 2;
  wide y = w_of(sqrt(sqrt(middle * middle - l / 0.147) - middle)), exact_rest = w_sub(w_of(1), w_of(a));
  for (int step = 0; step < 4; step++) {
    wide excess = y.x < 2 ? w_sub(erf_small(y), w_of(a)) : w_sub(exact_rest, erfc_large(y));
    wide correction = w_mul(w_mul(excess, WIDE_HALF_SQRT_PI), w_exp(w_mul(y, y)));
    y = w_sub(y, w_div(correction, w_plus(w_mul(y, correction), 1)));
  }
  return copysign(w_value(y), x);
}

/* -- zeta ----------------------------------------------------------------------------------------------------------------- */

#define FAR_TERMS 24

/* Sum of B(2 n) s (s + 1) ... (s + 2 n - 2) / ((2 n)! x^(2 n)) over n from 1 on; x is large beside s. */
static inline wide euler_maclaurin(double s, wide x) {
  wide inverse = w_over(1, x), square = w_mul(inverse, inverse), factor = w_scale(square, s / 2), sum = w_of(0);
  for (int n = 0; n < BERNOULLI; n++) {
    sum = w_add(sum, w_div(w_scale(factor, bernoulli_above[n] * (2 * n + 2)), w_of(bernoulli_below[n])));
    factor = w_mul(w_div(w_mul(factor, w_mul(w_sum(s, 2 * n + 1), w_sum(s, 2 * n + 2))),
                         w_of((2 * n + 3) * (2 * n + 4))), square);
  }
  return sum;
}

/* Sum of (1 + k / q)^-s over k from 0 on, s > 1, q > 0. */
static inline wide scaled_zeta(double s, wide q) {
  wide sum = w_of(0), x = q;
  for (; x.x < FAR_TERMS + s; x = w_plus(x, 1)) {
    wide term = w_pow(w_div(x, q), w_of(-s));
    sum = w_add(sum, term);
    if (term.x < sum.x * 0x1p-75) {
      return sum;
    }
  }
  wide rest = w_add(w_plus(w_div(x, w_sum(s, -1)), 0.5), w_mul(x, euler_maclaurin(s, x)));
  return w_add(sum, w_mul(w_pow(w_div(x, q), w_of(-s)), rest));
}

static inline wide positive_zeta(double s, wide q) {
  if (isinf(s)) {
    return w_of(q.x + q.y > 1 ? 0 : q.x == 1 ? 1 : INFINITY);
  }
  if (isinf(q.x)) {
    return w_of(0);
  }
  wide first = w_pow(q, w_of(-s)), sum = scaled_zeta(s, q);
  return isfinite(first.x) && first.x != 0 ? w_mul(sum, first) : first;
}

/* For whole s: over all whole k the sum depends on q's fraction alone; what lies below q is taken off. */
static inline wide negative_zeta(double s, double q) {
  double sign = isinf(s) || fmod(s, 2) == 0 ? 1 : -1, fraction = q - floor(q);
  wide near = w_sub(w_of(1), w_of(fraction)), far = w_sub(w_of(1), w_of(q));
  if (isinf(s)) {
    return w_of(INFINITY);
  }
  wide below = w_sub(positive_zeta(s, near), positive_zeta(s, far));
  return w_add(positive_zeta(s, w_of(fraction)), below * sign);
}

static inline wide zeta_wide(double s, double q) {
  if (isnan(s) || isnan(q) || s < 1) {
    return w_of(NAN);
  }
  if (s == 1 || (q <= 0 && q == floor(q))) {
    return w_of(INFINITY);
  }
  return q > 0 ? positive_zeta(s, w_of(q)) : s == floor(s) ? negative_zeta(s, q) : w_of(NAN);
}
static inline double zeta_of(double s, double q) {
  return w_value(zeta_wide(s, q));
}

/* n! zeta(n + 1, x), by logarithms: either may leave the range. */
static inline double polygamma_of(double n, double x) {
  if (isnan(n) || isnan(x) || n < 0 || n != floor(n)) {
    return NAN;
  }
  if (n == 0) {
    return digamma_of(x);
  }
  double sign = !isinf(n) && fmod(n, 2) != 0 ? 1 : -1;
  if (isinf(n) || (x <= 0 && x == floor(x))) {
    return sign * INFINITY;
  }
  if (x == INFINITY) {
    return sign * 0.0;
  }
  wide factorial = log_gamma(w_plus(w_of(n), 1));
  if (x > 0) {
    wide log_size = w_sub(factorial, w_mul(w_plus(w_of(n), 1), w_log(w_of(x))));
    return sign * w_value(w_exp(w_add(log_size, w_log(scaled_zeta(n + 1, w_of(x))))));
  }
  wide sum = negative_zeta(n + 1, x);
  if (!isfinite(sum.x) || sum.x == 0) {
    return sign * sum.x;
  }
  return sign * copysign(w_value(w_exp(w_add(factorial, w_log(w_abs(sum))))), sum.x);
}

#define op_lgamma(a, b, c) lgamma_of(a)
#define op_gamma(a, b, c) gamma_of(a)
#define op_digamma(a, b, c) digamma_of(a)
#define op_sinc(a, b, c) sinc_of(a)
#define op_logit(a, b, c) logit_of(a)
#define op_i0(a, b, c) bessel_of(a, 0)
#define op_i1(a, b, c) bessel_of(a, 1)
#define op_erfinv(a, b, c) erfinv_of(a)
#define op_zeta(a, b, c) zeta_of(a, b)
#define op_polygamma(a, b, c) polygamma_of(a, b)
