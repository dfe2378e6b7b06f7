/* Random numbers whose parameters are arrays: Bernoulli, gamma, Poisson and binomial distributions; behind philox.cl
 * and normal.cl. The steps of kernels/reference/random/laws.c in double, so that both reject the same words. OP(i, p,
 * q) is element i of y, p and q its parameters. families/random_laws.c launches these. */
#ifdef HAS_FP64
#define HALF_LOG_TWO_PI 0.91893853320467274178

/* 0 < u < 1 */
static inline double open_unit(const philox *state, supply *s) {
  return (convert_double(supply_word(state, s) >> 11) + 0.5) * 0x1p-53;
}

#define op_bernoulli(i, p, q) (unit(word64(&state, i)) < p ? 1.0 : 0.0)

/* Marsaglia and Tsang; below 1 by way of alpha + 1. */
static inline double gamma_number(const philox *state, long i, double alpha) {
  supply s = {(ulong)i, 0, 0, (uint4)(0)};
  if (alpha == 0) {
    return 0;
  }
  double boost = alpha < 1 ? pow(open_unit(state, &s), 1 / alpha) : 1;
  double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (;;) {
    double x = normal(supply_word(state, &s)), v = 1 + c * x;
    if (v <= 0) {
      continue;
    }
    v = v * v * v;
    if (log(open_unit(state, &s)) < 0.5 * x * x + d - d * v + d * log(v)) {
      return boost * d * v;
    }
  }
}
#define op_gamma(i, p, q) (scale * gamma_number(&state, i, p))

/* -- probabilities without cancellation (Loader) ------------------------------------------------------------------------ */

/* ln n! less Stirling's formula; the specification has no bound for lgamma. */
__constant double small_stirling_error[16] = {0,
                                              0.08106146679532726,
                                              0.0413406959554093,
                                              0.02767792568499834,
                                              0.020790672103765093,
                                              0.016644691189821193,
                                              0.013876128823070748,
                                              0.01189670994589177,
                                              0.010411265261972096,
                                              0.009255462182712733,
                                              0.00833056343336287,
                                              0.007573675487951841,
                                              0.00694284010720953,
                                              0.006408994188004207,
                                              0.0059513701127588475,
                                              0.005554733551962801};

static inline double stirling_error(double n) {
  if (n < 16) {
    return small_stirling_error[(int)n];
  }
  double s = n * n;
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / s) / s) / s) / s) / n;
}

/* x ln(x / m) + m - x */
static inline double deviance(double x, double m) {
  if (fabs(x - m) >= 0.1 * (x + m)) {
    return x * log(x / m) + m - x;
  }
  double v = (x - m) / (x + m), sum = (x - m) * v, term = 2 * x * v;
  for (int j = 1; j < 1000; j++) {
    term *= v * v;
    double next = sum + term / (2 * j + 1);
    if (next == sum) {
      break;
    }
    sum = next;
  }
  return sum;
}

static inline double log_poisson(double k, double rate) {
  return k == 0 ? -rate : -stirling_error(k) - deviance(k, rate) - HALF_LOG_TWO_PI - 0.5 * log(k);
}

static inline double log_binomial(double k, double n, double p) {
  if (k == 0 || k == n) {
    return k == 0 ? n * log1p(-p) : n * log(p);
  }
  double log_coefficient = stirling_error(n) - stirling_error(k) - stirling_error(n - k);
  return log_coefficient - deviance(k, n * p) - deviance(n - k, n * (1 - p)) - HALF_LOG_TWO_PI +
         0.5 * log(n / k / (n - k));
}

/* -- Poisson, binomial: inversion where few are expected, Hoermann's PTRS and BTRS else ----------------------------------- */

#define MOST_STEPS 1000

static inline double poisson_by_inversion(const philox *state, supply *s, double rate) {
  double u = open_unit(state, s), chance = exp(-rate), k = 0;
  while (u > chance && k < MOST_STEPS) {
    u -= chance;
    k++;
    chance *= rate / k;
  }
  return k;
}

static inline double poisson_number(const philox *state, long i, double rate) {
  supply s = {(ulong)i, 0, 0, (uint4)(0)};
  if (rate < 10) {
    return poisson_by_inversion(state, &s, rate);
  }
  double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b, quick = 0.9277 - 3.6224 / (b - 2);
  double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  for (;;) {
    double u = open_unit(state, &s) - 0.5, v = open_unit(state, &s), distance = 0.5 - fabs(u);
    double k = floor((2 * a / distance + b) * u + rate + 0.43);
    if (distance >= 0.07 && v <= quick) {
      return k;
    }
    if (k < 0 || (distance < 0.013 && v > distance)) {
      continue;
    }
    if (log(v * inverse_alpha / (a / (distance * distance) + b)) <= log_poisson(k, rate)) {
      return k;
    }
  }
}
#define op_poisson(i, p, q) poisson_number(&state, i, p)

static inline double binomial_by_inversion(const philox *state, supply *s, double n, double p) {
  double u = open_unit(state, s), chance = exp(n * log1p(-p)), odds = p / (1 - p), k = 0;
  while (u > chance && k < n && k < MOST_STEPS) {
    u -= chance;
    k++;
    chance *= (n - k + 1) / k * odds;
  }
  return k;
}

/* p <= 0.5 */
static inline double binomial_by_rejection(const philox *state, supply *s, double n, double p) {
  double deviation = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  double center = n * p + 0.5, quick = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation;
  double top = log_binomial(floor((n + 1) * p), n, p);
  for (;;) {
    double u = open_unit(state, s) - 0.5, v = open_unit(state, s), distance = 0.5 - fabs(u);
    double k = floor((2 * a / distance + b) * u + center);
    if (distance >= 0.07 && v <= quick) {
      return k;
    }
    if (k < 0 || k > n) {
      continue;
    }
    if (log(v * alpha / (a / (distance * distance) + b)) <= log_binomial(k, n, p) - top) {
      return k;
    }
  }
}

static inline double binomial_number(const philox *state, long i, double n, double p) {
  supply s = {(ulong)i, 0, 0, (uint4)(0)};
  double rare = p > 0.5 ? 1 - p : p;
  double k = n == 0 || rare == 0 ? 0
             : n * rare < 10     ? binomial_by_inversion(state, &s, n, rare)
                                 : binomial_by_rejection(state, &s, n, rare);
  return p > 0.5 ? n - k : k;
}
#define op_binomial(i, p, q) binomial_number(&state, i, p, q)

/* The walk's operands are y, the two parameters. */
__kernel void draw_law(__global const STORAGE(A) *a, long a0, long a_step, long a_count, __global const STORAGE(B) *b,
                       long b0, __global const STORAGE(C) *c, long c0, __global STORAGE(Y) *y, long y0, nd4c_walk walk,
                       double scale, long items) {
  ITEM(i, items)
  long at[3];
  nd4c_walk_places(&walk, 3, (INDEX)i, at);
  philox state = read_state(a, a0, a_step, a_count);
  double p = CONVERT(TYPE_B, float64, LOAD(B, b, b0 + at[1])), q = CONVERT(TYPE_C, float64, LOAD(C, c, c0 + at[2]));
  double number = OP(i, p, q); /* once: conversions name what they convert twice */
  SAVE(Y, y, y0 + at[0], CONVERT_LETTER(D, TYPE_Y, number));
}
#endif
