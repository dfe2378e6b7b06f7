/* Terms of one float of 32 or 64 bits: a template of each_dtype.h, which terms.c includes;
 * simd/reduction/reduction_terms.c runs them. */

TERM_LOOP(plain, double, (double)x[i])
TERM_LOOP(product, double, (double)x[i] * (double)z[i])
TERM_LOOP(score, double, z[i] == 0 ? 0 : (double)x[i] * (double)z[i])
TERM_LOOP(known, double, (double)(x[i] == x[i] ? x[i] : 0))
TERM_LOOP(known_factor, double, (double)(x[i] == x[i] ? x[i] : 1))
TERM_LOOP(known_largest, T, x[i] == x[i] ? x[i] : -(T)INFINITY)
TERM_LOOP(known_smallest, T, x[i] == x[i] ? x[i] : (T)INFINITY)
TERM_LOOP(magnitude, T, (T)fabs((double)x[i]))
TERM_LOOP(squared_distance, double, APART *APART)
TERM_LOOP(distance, double, fabs(APART))
TERM_LOOP(differing, double, x[i] != z[i] ? 1 : 0)

static void NAME(counted)(SIGNATURE) {
  const T *x = vx;
  double *y = to[0], *count = to[1];
  (void)vz, (void)parameter;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = (double)(x[i] == x[i] ? x[i] : 0);
    count[i] = x[i] == x[i] ? 1 : 0;
  }
}

static void NAME(products)(SIGNATURE) {
  const T *x = vx, *z = vz;
  double *both = to[0], *first = to[1], *second = to[2];
  (void)parameter;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    double a = (double)x[i], b = (double)z[i];
    both[i] = a * b;
    first[i] = a * a;
    second[i] = b * b;
  }
}

/* NaN wins in both. */
static void NAME(extremes)(SIGNATURE) {
  const T *x = vx, *z = vz;
  double *least = to[0], *largest = to[1];
  (void)parameter;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    double a = (double)x[i], b = (double)z[i];
    double less = a < b ? a : b, more = a > b ? a : b; /* b, if there is a NaN */
    least[i] = a == a ? less : a;
    largest[i] = a == a ? more : a;
  }
}

static void NAME(power)(SIGNATURE) {
  const T *x = vx;
  double *y = to[0];
  (void)vz;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = fabs((double)x[i]);
  }
  raise(n, y, parameter);
}

/* factor: of the logarithm. 0 ln 0 is 0. */
static inline void NAME(add_entropy)(int64_t n, const T *x, double factor, double *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = x[i] == 0 ? 1 : (double)x[i];
  }
  take_logarithms(n, y);
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] *= factor * (double)x[i];
  }
}

static void NAME(entropy)(SIGNATURE) {
  (void)vz, (void)parameter;
  NAME(add_entropy)(n, vx, -1, to[0]);
}

static void NAME(shannon)(SIGNATURE) {
  (void)vz, (void)parameter;
  NAME(add_entropy)(n, vx, -0x1.71547652b82fep+0, to[0]);
}
