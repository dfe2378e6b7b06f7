/* Loops of unary ops on 16-bit floats that have parameters or results of another dtype. A template of each_dtype.h,
 * which unary.c includes after unary_widened.h; simd/elementwise.c runs the loops. */

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
