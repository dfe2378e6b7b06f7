/* Pools of 16-bit floats with channels side by side. Sums are computed in f32: a vector of cells is two vectors of f32
 * (pool_pair.h). The largest is found among integers that have the same order (pool_rank.h). A template of
 * each_dtype.h, which pool.c includes; simd/window/window_pool.c calls the loops. */

/* `vectors` vectors of channels, in registers for all cells of the window; `n` channels of each: a constant unless they
 * are the last ones. x: where offsets count from. */
ND4C_INLINED void NAME(max_join)(int vectors, int64_t n, const nd4c_pool_cells *at, const char *x, uint16_t *y) {
  const int64_t *offsets = at->offsets;
  const int64_t count = at->count;
  const uint16_t *first = at->resumed ? y : (const uint16_t *)(const void *)(x + offsets[0]);
  pool_ranks most[HALF_VECTORS];
  for (int v = 0; v < vectors; v++) {
    most[v] = NAME(ranks)(pair_words_load(first + v * PAIR_LANES, n));
  }
  for (int64_t cell = at->resumed ? 0 : 1; cell < count; cell++) {
    const uint16_t *from = (const uint16_t *)(const void *)(x + offsets[cell]);
    for (int v = 0; v < vectors; v++) {
      most[v] = ranks_larger(most[v], NAME(ranks)(pair_words_load(from + v * PAIR_LANES, n)));
    }
  }
  for (int v = 0; v < vectors; v++) {
    pair_words_store(y + v * PAIR_LANES, NAME(ranked)(most[v]), n);
  }
}

ND4C_INLINED void NAME(sum_join)(int vectors, int64_t n, const nd4c_pool_cells *at, const char *x, float scale,
                                 uint16_t *y) {
  const int64_t *offsets = at->offsets;
  const int64_t count = at->count;
  const uint16_t *first = at->resumed ? y : (const uint16_t *)(const void *)(x + offsets[0]);
  pool_pair sum[HALF_VECTORS];
  for (int v = 0; v < vectors; v++) {
    sum[v] = NAME(pair_load)(first + v * PAIR_LANES, n);
  }
  for (int64_t cell = at->resumed ? 0 : 1; cell < count; cell++) {
    const uint16_t *from = (const uint16_t *)(const void *)(x + offsets[cell]);
    for (int v = 0; v < vectors; v++) {
      sum[v] = pair_sum(sum[v], NAME(pair_load)(from + v * PAIR_LANES, n));
    }
  }
  for (int v = 0; v < vectors; v++) {
    NAME(pair_store)(y + v * PAIR_LANES, pair_scaled(sum[v], scale), n);
  }
}

ND4C_INLINED void NAME(join_cells)(bool largest, int vectors, int64_t n, const nd4c_pool_cells *at, const char *x,
                                   float scale, uint16_t *y) {
  if (largest) {
    NAME(max_join)(vectors, n, at, x, y);
  } else {
    NAME(sum_join)(vectors, n, at, x, scale, y);
  }
}

#define ND4C_CELL_LANES PAIR_LANES
#define ND4C_CELL_VECTORS HALF_VECTORS
#define ND4C_CELL_SCALE float
#include "kernels/cpu/window/pool_windows.h"

static const nd4c_pool_loops NAME(loops) = {.max_cells = NAME(max_cells), .sum_cells = NAME(sum_cells)};
