/* Rows that are added up or compared: a template that bags.c includes for float and double. */

static void NAME(add)(int64_t n, double weight, const void *row, double *y) {
  const T *x = row;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] += weight * (double)x[i];
  }
}

static void NAME(larger)(int64_t n, const void *row, double *y) {
  const T *x = row;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const double v = x[i], old = y[i];
    const bool takes = !ND4C_IS_NAN(old) & !(v <= old);
    y[i] = takes ? v : old;
  }
}
