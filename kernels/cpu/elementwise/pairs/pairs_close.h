/* Whether numbers are close: a template of each_dtype.h, which pairs.c includes. In f64; the difference of integers of
 * 64 bits is exact before that. */
static void NAME(close)(int64_t n, const void *va, const void *vb, uint8_t *y, const nd4c_closeness *closeness) {
  const T *a = va, *b = vb;
  const double relative = closeness->relative, absolute = closeness->absolute;
  const bool equal_nan = closeness->equal_nan;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const T x = a[i], z = b[i];
#if KIND == ND4C_WIDE_FLOAT
    const double size = fabs((double)z), distance = fabs((double)x - (double)z);
    const bool has_nan = ND4C_IS_NAN(x) | ND4C_IS_NAN(z), both_nan = ND4C_IS_NAN(x) & ND4C_IS_NAN(z);
    const bool is_finite = (size < (double)INFINITY) & (distance < (double)INFINITY);
#else
    const NAME(nd4c_wrap) gap =
        x > z ? (NAME(nd4c_wrap))x - (NAME(nd4c_wrap))z : (NAME(nd4c_wrap))z - (NAME(nd4c_wrap))x;
    const double size = fabs((double)z), distance = (double)gap;
    const bool has_nan = false, both_nan = false, is_finite = true;
#endif
    const bool within = is_finite & (distance <= absolute + relative * size);
    y[i] = has_nan ? both_nan & equal_nan : (x == z) | within;
  }
}
