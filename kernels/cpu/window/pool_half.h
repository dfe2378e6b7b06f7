/* Pools of 16-bit floats with channels side by side, computed in f32: a vector of cells is two vectors of f32
 * (pool_pair.h), which stay in registers for all cells of a window. A template of each_dtype.h, which pool.c includes;
 * simd/window/window_pool.c calls the loops. */

/* `n` of the PAIR_LANES channels from i on: a constant unless they are the last ones. */
ND4C_INLINED void NAME(join_cells)(bool largest, int vectors, int64_t n, int64_t i, int64_t count,
                                   const void *const *cells, float scale, uint16_t *y) {
  pool_pair sum[PAIR_VECTORS];
  for (int v = 0; v < vectors; v++) {
    sum[v] = NAME(pair_load)((const uint16_t *)cells[0] + i + v * PAIR_LANES, n);
  }
  for (int64_t cell = 1; cell < count; cell++) {
    const uint16_t *x = (const uint16_t *)cells[cell] + i;
    for (int v = 0; v < vectors; v++) {
      sum[v] = pair_joined(largest, sum[v], NAME(pair_load)(x + v * PAIR_LANES, n));
    }
  }
  for (int v = 0; v < vectors; v++) {
    NAME(pair_store)(y + i + v * PAIR_LANES, pair_scaled(largest, sum[v], scale), n);
  }
}

ND4C_INLINED void NAME(any_cells)(bool largest, int64_t n, int64_t count, const void *const *cells, float scale,
                                  uint16_t *y) {
  int64_t i = 0;
  for (; i + PAIR_VECTORS * PAIR_LANES <= n; i += PAIR_VECTORS * PAIR_LANES) {
    NAME(join_cells)(largest, PAIR_VECTORS, PAIR_LANES, i, count, cells, scale, y);
  }
  for (; i + PAIR_LANES <= n; i += PAIR_LANES) {
    NAME(join_cells)(largest, 1, PAIR_LANES, i, count, cells, scale, y);
  }
  if (i < n) {
    NAME(join_cells)(largest, 1, n - i, i, count, cells, scale, y);
  }
}

static void NAME(max_cells)(int64_t n, int64_t count, const void *const *cells, void *y) {
  NAME(any_cells)(true, n, count, cells, 1, y);
}

static void NAME(sum_cells)(int64_t n, int64_t count, const void *const *cells, double factor, void *y) {
  NAME(any_cells)(false, n, count, cells, (float)factor, y);
}

static const nd4c_pool_loops NAME(loops) = {.max_cells = NAME(max_cells), .sum_cells = NAME(sum_cells)};
