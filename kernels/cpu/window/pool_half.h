/* Pools of 16-bit floats with channels side by side, computed in f32: cells are widened a chunk of channels at a time.
 * A template of each_dtype.h, which pool.c includes; simd/window_pool.c calls the loops. */

static void NAME(join_halves)(bool largest, int64_t n, int64_t count, const void *const *cells, float scale,
                              uint16_t *y) {
  float sum[ND4C_HALF_CHUNK], wide[ND4C_HALF_CHUNK];
  for (int64_t begin = 0, some; begin < n; begin += some) {
    some = n - begin < ND4C_HALF_CHUNK ? n - begin : ND4C_HALF_CHUNK;
    NAME(nd4c_widen)(some, (const uint16_t *)cells[0] + begin, sum);
    for (int64_t cell = 1; cell < count; cell++) {
      NAME(nd4c_widen)(some, (const uint16_t *)cells[cell] + begin, wide);
      ND4C_INDEPENDENT
      for (int64_t i = 0; i < some; i++) {
        const float larger = wide[i] > sum[i] || ND4C_IS_NAN(wide[i]) ? wide[i] : sum[i];
        sum[i] = largest ? larger : sum[i] + wide[i];
      }
    }
    for (int64_t i = 0; !largest && i < some; i++) {
      sum[i] *= scale;
    }
    NAME(nd4c_narrow)(some, sum, y + begin);
  }
}

static void NAME(max_cells)(int64_t n, int64_t count, const void *const *cells, void *y) {
  NAME(join_halves)(true, n, count, cells, 1, y);
}

static void NAME(sum_cells)(int64_t n, int64_t count, const void *const *cells, double factor, void *y) {
  NAME(join_halves)(false, n, count, cells, (float)factor, y);
}

static const nd4c_pool_loops NAME(loops) = {.max_cells = NAME(max_cells), .sum_cells = NAME(sum_cells)};
