/* Scans of 16-bit floats, widened in pieces: a template of each_dtype.h, which scan.c includes; simd/statistics_scan.c
 * runs them. A run has one carry, a row has one per element. */
static void NAME(in_float)(void (*wide_loop)(SIGNATURE), bool of_row, SIGNATURE) {
  const T *x = vx;
  T *y = vy;
  float wide[ND4C_HALF_CHUNK];
  for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {
    int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;
    NAME(nd4c_widen)(count, x + i, wide);
    wide_loop(count, wide, wide, (double *)carry + (of_row ? i : 0), lost);
    NAME(nd4c_narrow)(count, wide, y + i);
  }
}
