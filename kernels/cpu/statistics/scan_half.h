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

/* Best elements so far, of which widening and narrowing lose nothing. */
typedef void (*NAME(best_loop))(int64_t n, const void *x, int64_t position, void *best, int64_t *where, void *y,
                                int64_t *indices);

static void NAME(best_in_float)(NAME(best_loop) wide_loop, bool of_row, int64_t n, const T *x, int64_t position,
                                T *best, int64_t *where, T *y, int64_t *indices) {
  float wide[ND4C_HALF_CHUNK], made[ND4C_HALF_CHUNK], own[ND4C_HALF_CHUNK];
  NAME(nd4c_widen)(1, best, own);
  for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {
    int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;
    NAME(nd4c_widen)(count, x + i, wide);
    if (of_row) {
      NAME(nd4c_widen)(count, best + i, own);
    }
    wide_loop(count, wide, of_row ? position : position + i, own, where + (of_row ? i : 0), made, indices + i);
    NAME(nd4c_narrow)(count, made, y + i);
    if (of_row) {
      NAME(nd4c_narrow)(count, own, best + i);
    }
  }
  if (!of_row) {
    NAME(nd4c_narrow)(1, own, best);
  }
}
