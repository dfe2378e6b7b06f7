/* Distributions drawn by rejection (laws.h). random.c calls these. */
#include "kernels/reference/random/laws.h"

#include <math.h>

static const double half_log_two_pi = 0.91893853320467274178;

/* 0 < u < 1 */
static double open_unit(nd4c_ref_supply *supply) {
  return ((double)(nd4c_ref_supply_word(supply) >> 11) + 0.5) * 0x1p-53;
}

double nd4c_ref_gamma(nd4c_ref_supply *supply, double alpha) {
  if (alpha == 0) {
    return 0;
  }
  double boost = alpha < 1 ? pow(open_unit(supply), 1 / alpha) : 1;
  double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (;;) {
    double x = nd4c_ref_supply_normal(supply), v = 1 + c * x;
    if (v <= 0) {
      continue;
    }
    v = v * v * v;
    if (log(open_unit(supply)) < 0.5 * x * x + d - d * v + d * log(v)) {
      return boost * d * v;
    }
  }
}

/* -- probabilities without cancellation (Loader: Fast and accurate computation of binomial probabilities, 2000) ------
 */

/* ln n! less Stirling's formula. */
static double stirling_error(double n) {
  if (n < 16) {
    return n == 0 ? 0 : lgamma(n + 1) - (n + 0.5) * log(n) + n - half_log_two_pi;
  }
  double s = n * n;
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / s) / s) / s) / s) / n;
}

/* x ln(x / m) + m - x */
static double deviance(double x, double m) {
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

static double log_poisson(double k, double rate) {
  return k == 0 ? -rate : -stirling_error(k) - deviance(k, rate) - half_log_two_pi - 0.5 * log(k);
}

static double log_binomial(double k, double n, double p) {
  if (k == 0 || k == n) {
    return k == 0 ? n * log1p(-p) : n * log(p);
  }
  double log_coefficient = stirling_error(n) - stirling_error(k) - stirling_error(n - k);
  return log_coefficient - deviance(k, n * p) - deviance(n - k, n * (1 - p)) - half_log_two_pi +
         0.5 * log(n / k / (n - k));
}

/* -- Poisson ------------------------------------------------------------------------------------------------------- */

enum { MOST_STEPS = 1000 }; /* of an inversion: probabilities are long too small for a double then */

static double poisson_by_inversion(nd4c_ref_supply *supply, double rate) {
  double u = open_unit(supply), chance = exp(-rate), k = 0;
  while (u > chance && k < MOST_STEPS) {
    u -= chance;
    k++;
    chance *= rate / k;
  }
  return k;
}

double nd4c_ref_poisson(nd4c_ref_supply *supply, double rate) {
  if (rate < 10) {
    return poisson_by_inversion(supply, rate);
  }
  double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b, quick = 0.9277 - 3.6224 / (b - 2);
  double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  for (;;) {
    double u = open_unit(supply) - 0.5, v = open_unit(supply), distance = 0.5 - fabs(u);
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

/* -- binomial ------------------------------------------------------------------------------------------------------ */

static double binomial_by_inversion(nd4c_ref_supply *supply, double n, double p) {
  double u = open_unit(supply), chance = exp(n * log1p(-p)), odds = p / (1 - p), k = 0;
  while (u > chance && k < n && k < MOST_STEPS) {
    u -= chance;
    k++;
    chance *= (n - k + 1) / k * odds;
  }
  return k;
}

/* p <= 0.5 */
static double binomial_by_rejection(nd4c_ref_supply *supply, double n, double p) {
  double deviation = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  double center = n * p + 0.5, quick = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation;
  double top = log_binomial(floor((n + 1) * p), n, p);
  for (;;) {
    double u = open_unit(supply) - 0.5, v = open_unit(supply), distance = 0.5 - fabs(u);
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

double nd4c_ref_binomial(nd4c_ref_supply *supply, double n, double p) {
  double rare = p > 0.5 ? 1 - p : p;
  double k = n == 0 || rare == 0 ? 0
             : n * rare < 10     ? binomial_by_inversion(supply, n, rare)
                                 : binomial_by_rejection(supply, n, rare);
  return p > 0.5 ? n - k : k;
}
