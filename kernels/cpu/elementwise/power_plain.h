/* The exponents that programs use most; returns true if the exponent was one of them. Zeros and minus infinity give the
 * results of pow, signs included. A template of each_dtype.h, which power.h includes. */
static inline bool NAME(nd4c_power_plain)(int64_t n, const T *a, T b, T *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; b == 2 && i < n; i++) {
    y[i] = a[i] * a[i];
  }
  ND4C_INDEPENDENT
  for (int64_t i = 0; b == (T)0.5 && i < n; i++) {
    y[i] = a[i] == -(T)INFINITY ? (T)INFINITY : NAME(nd4c_sqrt)(a[i] + 0);
  }
  ND4C_INDEPENDENT
  for (int64_t i = 0; b == -1 && i < n; i++) {
    y[i] = 1 / a[i];
  }
  return b == 2 || b == (T)0.5 || b == -1;
}
