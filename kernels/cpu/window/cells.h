/* Inner loops of pools that note where the largest cell is, of sums, and of morphology: one row of x under one row of
 * windows. simd/window/window_cells.c calls these; pool.h has the pools that have no need of positions. */
#ifndef ND4C_KERNELS_CPU_WINDOW_CELLS_H
#define ND4C_KERNELS_CPU_WINDOW_CELLS_H

#include <stdint.h>

/* Tap k of the windows first .. last - 1 lies inside x; that of window i is cell offset + i * step. */
typedef struct nd4c_cells_tap {
  int64_t offset, first, last;
} nd4c_cells_tap;

/* A row of windows: each has `taps` cells, `step` apart from one window to the next (spread), or the `counts[i]` cells
 * from starts[i] on (runs). `index` is that of the row's cell 0 in the plane. */
typedef struct nd4c_cells_row {
  int64_t windows, taps, step;
  const nd4c_cells_tap *tap;
  const int64_t *starts, *counts;
  int64_t index;
} nd4c_cells_row;

/* Values are of one of three types: float, with positions of 32 bits, double and int64_t, with those of 64 bits.
 * Results go on from what earlier rows of the windows gave. */
typedef struct nd4c_cells_max {
  /* The first largest cell and its position, which is negative as long as a window has had no cell. NaN wins. */
  void (*spread)(const nd4c_cells_row *row, const void *x, void *values, void *positions);
  void (*runs)(const nd4c_cells_row *row, const void *x, void *values, void *positions);
} nd4c_cells_max;

typedef struct nd4c_cells_table {
  nd4c_cells_max float32, float64, int64;
  /* values[i] += each cell, one after the other */
  void (*sum_spread)(const nd4c_cells_row *row, const double *x, double *values);
  void (*sum_runs)(const nd4c_cells_row *row, const double *x, double *values);
  /* The largest x + w[tap], the smallest x - w[tap]. NaN wins. */
  void (*dilate)(const nd4c_cells_row *row, const double *x, const double *w, double *values);
  void (*erode)(const nd4c_cells_row *row, const double *x, const double *w, double *values);
} nd4c_cells_table;

#endif
