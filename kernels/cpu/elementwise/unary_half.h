/* Loops of unary ops on 16-bit floats that have parameters or results of another dtype, or look at signs alone. A
 * template of each_dtype.h, which unary.c includes after unary_widened.h; simd/elementwise.c runs the loops. */

static void NAME(clip)(SIGNATURE) {
  float low, high;
  nd4c_unary_parameters widened = {.alpha = 0};
  if (parameters->low != NULL) {
    NAME(nd4c_widen)(1, parameters->low, &low);
    widened.low = &low;
  }
  if (parameters->high != NULL) {
    NAME(nd4c_widen)(1, parameters->high, &high);
    widened.high = &high;
  }
  NAME(in_float)(clip_float32, n, vx, vy, &widened);
}

static void NAME(is_nan)(SIGNATURE) {
  const T *x = vx;
  uint8_t *y = vy;
  (void)parameters;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = (x[i] & 0x7fff) > NAME(infinity);
  }
}

/* What negative, abs and relu do to the bits: NaN stays NaN. `op` is a constant. */
ND4C_INLINED T NAME(sign_bits)(enum nd4c_unary_index op, T x) {
  return (T)(op == ND4C_UNARY_negative                      ? x ^ 0x8000
             : op == ND4C_UNARY_abs                         ? x & 0x7fff
             : x > 0x8000 && x <= (NAME(infinity) | 0x8000) ? 0
                                                            : x);
}

#define SIGN_LOOP(op, D, d)                          \
  static void NAME(op)(SIGNATURE) {                  \
    const T *x = vx;                                 \
    T *y = vy;                                       \
    (void)parameters;                                \
    ND4C_INDEPENDENT                                 \
    for (int64_t i = 0; i < n; i++) {                \
      y[i] = NAME(sign_bits)(ND4C_UNARY_##op, x[i]); \
    }                                                \
  }
ND4C_UNARY_SIGNS(SIGN_LOOP, , )
#undef SIGN_LOOP
