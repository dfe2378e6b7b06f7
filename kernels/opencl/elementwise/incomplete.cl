/* Incomplete gamma and beta functions, regularised, by the reference's methods
 * (kernels/reference/elementwise/mathematics_incomplete.c) in numbers of two doubles. The kernel computes the smaller
 * of a function and its complement, or both where neither is small. families/elementwise.c puts it behind
 * special.cl. */
#define SMALLEST 0x1p-75
#define MOST_TERMS 20000
#define LARGE_PARAMETER 5000

/* ln(1 + d) - d without cancellation. */
static inline wide log1p_rest(wide d) {
  if (!(fabs(d.x) < 0.5)) {
    return w_sub(w_log(w_plus(d, 1)), d);
  }
  wide r = w_div(d, w_plus(d, 2)), square = w_mul(r, r), sum = w_of(0);
  for (int k = 36; k > 0; k--) {
    sum = w_add(w_mul(sum, square), w_over(1, w_of(2 * k + 1)));
  }
  return w_sub(w_mul(w_mul(r, square), sum) * 2, w_mul(d, r));
}

/* -- quadrature ----------------------------------------------------------------------------------------------------------- */

/* A density relative to its value at 0: e^(a f(p s) + b f(q s) - slope s) with f(d) = ln(1 + d) - d, a, b >= 0. */
typedef struct {
  wide a, p, b, q, slope;
} density;

static inline wide density_at(const density *d, wide s) {
  wide exponent = w_sub(w_mul(d->a, log1p_rest(w_mul(d->p, s))), w_mul(d->slope, s));
  return w_exp(d->b.x > 0 ? w_add(exponent, w_mul(d->b, log1p_rest(w_mul(d->q, s)))) : exponent);
}

/* Nodes and weights of Gauss's rule with 16 points on -1 .. 1, in two parts each. */
__constant double nodes[8][4] = {
    {0.09501250983763744, -3.275947755433097e-19, 0.1894506104550685, -5.883843495582664e-18},
    {0.2816035507792589, -2.1958791252592132e-18, 0.18260341504492358, 5.090226510905207e-18},
    {0.45801677765722737, 1.6662404170959257e-17, 0.16915651939500254, 2.323299329564479e-18},
    {0.6178762444026438, -2.2123521973463665e-17, 0.14959598881657674, -3.887619883741701e-18},
    {0.755404408355003, 3.5241085894430354e-17, 0.12462897125553388, -4.841529802320495e-18},
    {0.8656312023878318, -1.1315677979849837e-17, 0.09515851168249279, -8.783003597087393e-19},
    {0.9445750230732326, -2.4190068142444825e-17, 0.062253523938647894, -7.690264522605704e-19},
    {0.9894009349916499, -5.914095566469922e-18, 0.027152459411754096, -1.56154670271636e-18}};

/* From 0 to where it vanishes, in pieces of two standard deviations. */
static inline wide integral(const density *d) {
  wide spread = w_add(w_mul(d->a, w_mul(d->p, d->p)), w_mul(d->b, w_mul(d->q, d->q)));
  wide width = w_over(1, w_sqrt(spread)), total = w_of(0), piece;
  if (d->slope.x * width.x > 1) {
    width = w_over(1, d->slope);
  }
  wide middle = width;
  do {
    piece = w_of(0);
    for (int i = 0; i < 8; i++) {
      wide away = w_mul((wide)(nodes[i][0], nodes[i][1]), width);
      wide both = w_add(density_at(d, w_sub(middle, away)), density_at(d, w_add(middle, away)));
      piece = w_add(piece, w_mul((wide)(nodes[i][2], nodes[i][3]), both));
    }
    total = w_add(total, piece);
    middle = w_add(middle, width * 2);
  } while (piece.x > total.x * SMALLEST);
  return w_mul(total, width);
}

/* -- gamma ---------------------------------------------------------------------------------------------------------------- */

/* x^a e^-x / gamma(a) */
static inline wide gamma_front(wide a, wide x) {
  if (a.x < STIRLING_FROM) {
    return w_exp(w_sub(w_sub(w_mul(a, w_log(x)), x), log_gamma(a)));
  }
  wide d = w_div(w_sub(x, a), a);
  wide exponent = fabs(d.x) < 0.5 ? w_mul(a, log1p_rest(d)) : w_sub(w_mul(a, w_log(w_div(x, a))), w_sub(x, a));
  return w_mul(w_sqrt(w_div(a, WIDE_TWO_PI)), w_exp(w_sub(exponent, stirling_rest(a))));
}

/* Below, by powers of x. */
static inline wide gamma_series(wide a, wide x) {
  wide term = w_of(1), sum = w_of(1);
  for (int n = 1; n < MOST_TERMS && term.x > sum.x * SMALLEST; n++) {
    term = w_div(w_mul(term, x), w_plus(a, n));
    sum = w_add(sum, term);
  }
  return w_mul(w_div(gamma_front(a, x), a), sum);
}

/* Above, by Legendre's continued fraction (Lentz's method). */
static inline wide gamma_fraction(wide a, wide x) {
  wide b = w_sub(w_plus(x, 1), a), d = w_over(1, b), c = w_of(0), product = d;
  for (int n = 1; n < MOST_TERMS; n++) {
    wide numerator = w_scale(w_sub(a, w_of(n)), n);
    b = w_plus(b, 2);
    d = w_over(1, w_add(w_mul(numerator, d), b));
    c = n == 1 ? b : w_add(b, w_div(numerator, c));
    wide factor = w_mul(c, d);
    product = w_mul(product, factor);
    if (fabs(w_plus(factor, -1).x) < SMALLEST * 64) {
      break;
    }
  }
  return w_mul(gamma_front(a, x), product);
}

/* ln gamma(a + b) - ln gamma(a), by Taylor's series where much would cancel. */
static inline wide log_gamma_step(wide a, wide b) {
  if (b.x > a.x / 8 || b.x > 0.125) {
    return w_sub(log_gamma(w_add(a, b)), log_gamma(a));
  }
  wide sum = w_mul(b, digamma_positive(a)), power = w_minus(b);
  for (int k = 2; k < 40; k++) {
    power = w_mul(power, w_minus(b));
    wide term = w_div(w_mul(w_minus(power), positive_zeta(k, a)), w_of(k));
    sum = w_sub(sum, term);
    if (fabs(term.x) < fabs(sum.x) * SMALLEST) {
      break;
    }
  }
  return sum;
}

/* Above, for a so small that almost everything lies below. */
static inline wide gamma_of_small(wide a, wide x) {
  wide u = w_sub(w_mul(a, w_log(x)), log_gamma_step(w_of(1), a)), term = w_of(1), sum = w_of(0);
  for (int n = 1; n < 60; n++) {
    term = w_div(w_mul(term, w_minus(x)), w_of(n));
    sum = w_add(sum, w_div(term, w_plus(a, n)));
  }
  return w_minus(w_add(w_expm1(u), w_mul(w_mul(w_exp(u), a), sum)));
}

static inline wide gamma_quadrature(wide a, wide x, bool upper) {
  double sign = upper ? 1 : -1;
  density d = {w_plus(a, -1), w_over(sign, x), w_of(0), w_of(0), w_div(w_plus(w_sub(x, a), 1) * sign, x)};
  return w_mul(w_div(gamma_front(a, x), x), integral(&d));
}

/* The part below x, or above it. a and x are positive and finite. */
static inline wide gamma_part(wide a, wide x, bool upper) {
  bool computed_upper;
  wide part;
  if (a.x > LARGE_PARAMETER && fabs(x.x - a.x) < 0.3 * a.x) {
    computed_upper = x.x >= a.x;
    part = gamma_quadrature(a, x, computed_upper);
  } else if (x.x <= 1.5 && a.x <= 0.5 && upper) {
    return gamma_of_small(a, x);
  } else {
    computed_upper = !(x.x <= 1.5 || x.x <= a.x);
    part = computed_upper ? gamma_fraction(a, x) : gamma_series(a, x);
  }
  return upper == computed_upper ? part : w_sub(w_of(1), part);
}

static inline double gamma_any(double a, double x, bool upper) {
  if (isnan(a) || isnan(x) || a < 0 || x < 0 || (a == 0 && x == 0) || (isinf(a) && isinf(x))) {
    return NAN;
  }
  if (a == 0 || isinf(x)) {
    return !upper;
  }
  return isinf(a) || x == 0 ? upper : w_value(gamma_part(w_of(a), w_of(x), upper));
}
#define op_igamma(a, b, c) gamma_any(a, b, false)
#define op_igammac(a, b, c) gamma_any(a, b, true)

/* -- beta ----------------------------------------------------------------------------------------------------------------- */

/* x^a y^b / beta(a, b), y = 1 - x. Around the middle the logarithms of x and y over their means nearly cancel, but for
 * what is left of them without their linear parts. */
static inline wide beta_front(wide a, wide b, wide x, wide y) {
  wide sum = w_add(a, b), off = w_div(w_sub(w_mul(x, b), w_mul(y, a)), sum);
  wide right = w_div(w_mul(off, sum), a), left = w_minus(w_div(w_mul(off, sum), b));
  bool near = fabs(right.x) < 0.5 && fabs(left.x) < 0.5;
  wide exponent = near ? w_add(w_mul(a, log1p_rest(right)), w_mul(b, log1p_rest(left)))
                       : w_add(w_mul(a, w_log(w_mul(x, w_div(sum, a)))), w_mul(b, w_log(w_mul(y, w_div(sum, b)))));
  wide rest = w_sub(w_sub(stirling_rest(sum), stirling_rest(a)), stirling_rest(b));
  return w_mul(w_sqrt(w_mul(w_div(a, WIDE_TWO_PI), w_div(b, sum))), w_exp(w_add(exponent, rest)));
}

/* Below x, for x up to about the mean (Lentz's method; DLMF 8.17.22). */
static inline wide beta_fraction(wide a, wide b, wide x, wide y) {
  wide c = w_of(1), sum = w_add(a, b);
  wide d = w_over(1, w_sub(w_of(1), w_mul(w_div(sum, w_plus(a, 1)), x))), product = d;
  for (int n = 1; n < MOST_TERMS; n++) {
    wide twice = w_plus(a, 2 * n);
    wide even = w_mul(w_div(w_div(w_scale(w_sub(b, w_of(n)), n), w_plus(twice, -1)), twice), x);
    wide odd = w_minus(w_mul(w_mul(w_div(w_plus(a, n), twice), w_div(w_plus(sum, n), w_plus(twice, 1))), x));
    d = w_over(1, w_plus(w_mul(even, d), 1));
    c = w_plus(w_div(even, c), 1);
    product = w_mul(product, w_mul(d, c));
    d = w_over(1, w_plus(w_mul(odd, d), 1));
    c = w_plus(w_div(odd, c), 1);
    wide factor = w_mul(d, c);
    product = w_mul(product, factor);
    if (fabs(w_plus(factor, -1).x) < SMALLEST * 64) {
      break;
    }
  }
  return w_mul(w_div(beta_front(a, b, x, y), a), product);
}

/* Below x, for b so small that almost everything lies above. */
static inline wide beta_of_small(wide a, wide b, wide y) {
  wide u = w_add(w_mul(b, w_log(y)), w_sub(log_gamma_step(a, b), log_gamma_step(w_of(1), b)));
  wide term = w_of(1), sum = w_of(0);
  for (int n = 1; n < MOST_TERMS && fabs(term.x) > SMALLEST * 0x1p-10; n++) {
    term = w_mul(w_div(w_mul(term, w_sub(w_of(n), a)), w_of(n)), y);
    sum = w_add(sum, w_div(term, w_plus(b, n)));
  }
  return w_minus(w_add(w_expm1(u), w_mul(w_mul(w_exp(u), b), sum)));
}

/* Below x, by the density left of x. */
static inline wide beta_quadrature(wide a, wide b, wide x, wide y) {
  wide less_a = w_plus(a, -1), less_b = w_plus(b, -1);
  density d = {less_a, w_over(-1, x), less_b, w_over(1, y), w_sub(w_div(less_a, x), w_div(less_b, y))};
  return w_mul(w_div(w_div(beta_front(a, b, x, y), x), y), integral(&d));
}

/* Below x, for x up to the mean. */
static inline wide beta_lower(wide a, wide b, wide x, wide y) {
  double sum = a.x + b.x;
  bool large = a.x > LARGE_PARAMETER && b.x > LARGE_PARAMETER && fabs(x.x * sum / a.x - 1) < 0.3 &&
               fabs(y.x * sum / b.x - 1) < 0.3;
  return large ? beta_quadrature(a, b, x, y) : beta_fraction(a, b, x, y);
}

static inline double betainc_of(double a, double b, double x) {
  if (isnan(a) || isnan(b) || !(a >= 0 && b >= 0 && x >= 0 && x <= 1) || (a == 0 && b == 0) ||
      (isinf(a) && isinf(b))) {
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
  wide y = w_sub(w_of(1), w_of(x)), wide_a = w_of(a), wide_b = w_of(b);
  if (x <= (a + 1) / (a + b + 2)) {
    return w_value(beta_lower(wide_a, wide_b, w_of(x), y));
  }
  wide result = w_sub(w_of(1), beta_lower(wide_b, wide_a, y, w_of(x)));
  return w_value(result.x < 0.5 && b < 0.125 && b < a / 8 ? beta_of_small(wide_a, wide_b, y) : result);
}
#define op_betainc(a, b, c) betainc_of(a, b, c)
