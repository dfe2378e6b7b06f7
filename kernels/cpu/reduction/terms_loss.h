/* Losses of one float of 32 or 64 bits, each of a prediction and a target: a template of each_dtype.h, which terms.c
 * includes after terms_float.h; simd/loss/loss.c runs them. */

TERM_LOOP(huber, double, fabs(APART) <= parameter ? APART * APART / 2 : parameter * (fabs(APART) - parameter / 2))
TERM_LOOP(hinge, double, 1 - (double)x[i] * (double)z[i] < 0 ? 0 : 1 - (double)x[i] * (double)z[i])

static void NAME(smooth)(SIGNATURE) {
  const T *x = vx, *z = vz;
  const double factor = 0.5 / parameter; /* infinite for 0, when no distance is smaller */
  double *y = to[0];
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    double d = fabs(APART);
    y[i] = d < parameter ? d * d * factor : d - parameter / 2;
  }
}

static void NAME(poisson)(SIGNATURE) {
  const T *x = vx, *z = vz;
  double *y = to[0];
  (void)parameter;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = (double)x[i];
  }
  take_exponentials(n, y);
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] -= (double)z[i] * (double)x[i];
  }
}

static void NAME(divergence_log)(SIGNATURE) {
  const T *x = vx, *z = vz;
  double *y = to[0];
  (void)parameter;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = (double)z[i];
  }
  take_exponentials(n, y);
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] *= (double)z[i] - (double)x[i];
  }
}

/* A factor of 0 makes 0 of any logarithm. */
static void NAME(divergence)(SIGNATURE) {
  const T *x = vx, *z = vz;
  double *y = to[0];
  (void)parameter;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = z[i] == 0 ? 1 : (double)z[i];
  }
  take_logarithms(n, y);
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = (double)z[i] * y[i] - (double)z[i] * (double)x[i];
  }
}

static void NAME(log_loss)(SIGNATURE) {
  double other[CHUNK];
  for (int64_t begin = 0; begin < n; begin += CHUNK) {
    const T *x = (const T *)vx + begin, *z = (const T *)vz + begin;
    double *y = (double *)to[0] + begin;
    int64_t count = n - begin < CHUNK ? n - begin : CHUNK;
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < count; i++) {
      y[i] = z[i] == 0 ? 1 : (double)x[i] + parameter;
      other[i] = z[i] == 1 ? 1 : 1 - (double)x[i] + parameter;
    }
    take_logarithms(count, y);
    take_logarithms(count, other);
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < count; i++) {
      y[i] = -((double)z[i] * y[i]) - (1 - (double)z[i]) * other[i];
    }
  }
}

/* ln(1 + e) is the logarithm of the rounded sum, and what rounding took from it. Of infinite x the limit: the formula
 * for the others would give NaN. */
static void NAME(sigmoid_loss)(SIGNATURE) {
  double powers[CHUNK];
  for (int64_t begin = 0; begin < n; begin += CHUNK) {
    const T *x = (const T *)vx + begin, *z = (const T *)vz + begin;
    double *y = (double *)to[0] + begin;
    int64_t count = n - begin < CHUNK ? n - begin : CHUNK;
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < count; i++) {
      powers[i] = -fabs((double)x[i]);
    }
    take_exponentials(count, powers);
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < count; i++) {
      y[i] = 1 + powers[i];
      powers[i] = (powers[i] - (y[i] - 1)) / y[i];
    }
    take_logarithms(count, y);
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < count; i++) {
      double own = (double)x[i], target = (double)z[i] * (1 - parameter) + parameter / 2;
      double share = own < 0 ? target : 1 - target, limit = share == 0 ? 0 : share * (double)INFINITY;
      double linear = (own < 0 ? 0 : own) - own * target;
      y[i] = (fabs(own) == (double)INFINITY ? limit : linear) + (y[i] + powers[i]);
    }
  }
}
