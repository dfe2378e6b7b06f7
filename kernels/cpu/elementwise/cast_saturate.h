/* f32 and f64 to one integer: a template of each_dtype.h, which cast.c includes; simd/elementwise.c runs the casts.
 * Truncates; out of range saturates, NaN gives 0. A limit that a float cannot hold is rounded to a power of two: from
 * there on the result is the integer's limit anyway. Narrow integers are clamped at both limits before the
 * conversion. */
#define LOWEST ((T)(KIND == ND4C_SIGNED ? (NAME(nd4c_wrap))1 << (8 * sizeof(T) - 1) : 0))
#define HIGHEST ((T)~LOWEST)

static inline T ND4C_LEVEL_PASTE(NAME(saturate), float32)(float x) {
  const float low = (float)LOWEST, high = (float)HIGHEST;
  if (sizeof(T) >= sizeof(int32_t)) {
    return ND4C_IS_NAN(x) ? 0 : x >= high ? HIGHEST : x <= low ? LOWEST : (T)x;
  }
  x = ND4C_IS_NAN(x) ? 0 : x;
  x = x > low ? x : low;
  return (T)(int32_t)(x < high ? x : high);
}

static inline T ND4C_LEVEL_PASTE(NAME(saturate), float64)(double x) {
  const double low = (double)LOWEST, high = (double)HIGHEST;
  if (sizeof(T) >= sizeof(int32_t)) {
    return ND4C_IS_NAN(x) ? 0 : x >= high ? HIGHEST : x <= low ? LOWEST : (T)x;
  }
  x = ND4C_IS_NAN(x) ? 0 : x;
  x = x > low ? x : low;
  return (T)(int32_t)(x < high ? x : high);
}
#undef LOWEST
#undef HIGHEST
