/* A unary loop of f32 on 16-bit floats: widened in pieces, computed, narrowed. A template of each_dtype.h, which
 * unary.c and functions.c include. */

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
