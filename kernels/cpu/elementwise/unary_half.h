/* Loops of unary ops on 16-bit floats: widened in pieces, computed by the loop of f32, narrowed. A template of
 * each_dtype.h, which unary.c includes; simd/elementwise.c runs the loops. */

static void NAME(in_float)(nd4c_unary_loop wide_loop, SIGNATURE) {
  const T *x = vx;
  T *y = vy;
  float wide[ND4C_HALF_CHUNK];
  for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {
    int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;
    NAME(nd4c_widen)(count, x + i, wide);
    wide_loop(count, wide, wide, parameters);
    NAME(nd4c_narrow)(count, wide, y + i);
  }
}

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
