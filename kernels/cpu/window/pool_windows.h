/* Passes over the windows of an nd4c_pool_cells and their channels, and calls NAME(join_cells) for some vectors of them
 * at a time. pool_loops.h and pool_half.h include this after their join_cells. They define, and this file undefines,
 * ND4C_CELL_LANES, the channels of a vector; ND4C_CELL_VECTORS, the vectors that stay in registers; and
 * ND4C_CELL_SCALE, the C type of the factor of sums. */

ND4C_INLINED void NAME(any_cells)(bool largest, const nd4c_pool_cells *at, ND4C_CELL_SCALE scale) {
  enum { LANES = ND4C_CELL_LANES, BLOCK = ND4C_CELL_VECTORS * LANES };
  const int64_t channels = at->channels, windows = at->windows;
  for (int64_t window = 0; window < windows; window++) {
    const char *x = at->x + window * at->x_step;
    T *y = (T *)(void *)(at->y + window * at->y_step);
    int64_t i = 0;
    for (; i + BLOCK <= channels; i += BLOCK) {
      NAME(join_cells)(largest, ND4C_CELL_VECTORS, LANES, at, x + i * (int64_t)sizeof(T), scale, y + i);
    }
    for (; i + LANES <= channels; i += LANES) {
      NAME(join_cells)(largest, 1, LANES, at, x + i * (int64_t)sizeof(T), scale, y + i);
    }
    if (i < channels) {
      NAME(join_cells)(largest, 1, channels - i, at, x + i * (int64_t)sizeof(T), scale, y + i);
    }
  }
}

static void NAME(max_cells)(const nd4c_pool_cells *at) {
  NAME(any_cells)(true, at, 1);
}

static void NAME(sum_cells)(const nd4c_pool_cells *at, double factor) {
  NAME(any_cells)(false, at, (ND4C_CELL_SCALE)factor);
}

#undef ND4C_CELL_LANES
#undef ND4C_CELL_VECTORS
#undef ND4C_CELL_SCALE
