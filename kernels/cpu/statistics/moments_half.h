/* Pieces of 16-bit floats, widened for the loops of moments.c, which includes it: a template of each_dtype.h.
 * simd/statistics.c runs the loops. */

static const float *NAME(widen_rows)(int64_t rows, int64_t n, const char *x, int64_t step, float *wide) {
  for (int64_t row = 0; row < rows; row++) {
    NAME(nd4c_widen)(n, (const T *)(const void *)(x + row * step), wide + row * ND4C_GATHER_COLUMNS);
  }
  return wide;
}

static void NAME(moments_run)(int64_t n, const void *x, int64_t count, nd4c_gathered state) {
  float wide[ND4C_GATHER_PIECE];
  NAME(nd4c_widen)(n, x, wide);
  moments_run_float32(n, wide, count, state);
}

static void NAME(moments_block)(int64_t rows, int64_t n, const void *x, int64_t step, int64_t count,
                                nd4c_gathered state) {
  float wide[ND4C_GATHER_ROWS * ND4C_GATHER_COLUMNS];
  moments_rows_float32(rows, n, NAME(widen_rows)(rows, n, x, step, wide), ND4C_GATHER_COLUMNS * sizeof *wide, count,
                       state, after(x, rows, step, 2 * n));
}

static void NAME(exponentials_run)(int64_t n, const void *x, int64_t count, nd4c_gathered state) {
  float wide[ND4C_GATHER_PIECE];
  NAME(nd4c_widen)(n, x, wide);
  exponentials_run_float32(n, wide, count, state);
}

static void NAME(exponentials_block)(int64_t rows, int64_t n, const void *x, int64_t step, int64_t count,
                                     nd4c_gathered state) {
  float wide[ND4C_GATHER_ROWS * ND4C_GATHER_COLUMNS];
  exponentials_rows_float32(rows, n, NAME(widen_rows)(rows, n, x, step, wide), ND4C_GATHER_COLUMNS * sizeof *wide,
                            count, state, after(x, rows, step, 2 * n));
}
