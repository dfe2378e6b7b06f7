/* Inner loops of pools. Channels side by side: the cells of one window, as vectors over channels. Positions side by
 * side: the rows of x under a row of windows become one line, whose cells are then gathered along it.
 * simd/window/window_pool.c calls these. */
#ifndef ND4C_KERNELS_CPU_WINDOW_POOL_H
#define ND4C_KERNELS_CPU_WINDOW_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* A line: `left` places that stand for padding, then the `length` elements of the rows that windows see, then padding.
 * Window i has the places i * stride + k * dilation for k in [0, kernel). */
typedef struct nd4c_pool_line {
  int64_t length, left, stride, kernel, dilation;
  int64_t windows;
} nd4c_pool_line;

/* Rows of windows that lie inside x along the other axis: row i sees `rows` rows of x from x + i * x_step on, x_row
 * bytes apart, and goes to y + i * y_step. Lines, of which there are ND4C_POOL_LINES, are line_step bytes apart. */
enum { ND4C_POOL_LINES = 4 };
typedef struct nd4c_pool_band {
  int64_t count, rows;
  const char *x;
  int64_t x_row, x_step;
  char *line;
  int64_t line_step;
  char *y;
  int64_t y_step;
} nd4c_pool_band;

/* The usual windows: 2 x 2 and 3 x 3 with steps of 2, 3 x 3 with steps of 1. */
static inline bool nd4c_pool_has_band(const nd4c_pool_line *at, int64_t rows) {
  return at->dilation == 1 && at->kernel == rows &&
         ((rows == 2 && at->stride == 2) || (rows == 3 && (at->stride == 1 || at->stride == 2)));
}

/* Lines and factors are read in whole vectors, of at most so many elements. */
enum { ND4C_POOL_LANES = 16 };

/* Elements that a line must have, all of them set. */
static inline int64_t nd4c_pool_line_capacity(const nd4c_pool_line *at) {
  int64_t read = (at->windows + ND4C_POOL_LANES) * at->stride + (at->kernel - 1) * at->dilation + 2 * ND4C_POOL_LANES;
  return read > at->left + at->length ? read : at->left + at->length;
}

/* Windows in a row, each with channels side by side: cell c of window i lies at x + i * x_step + offsets[c], what it
 * gives at y + i * y_step. Offsets and steps are in bytes. */
typedef struct nd4c_pool_cells {
  int64_t channels, windows, count; /* count: cells of a window, at least one */
  bool resumed;                     /* y has what earlier cells gave, which counts as one more cell */
  const int64_t *offsets;
  const char *x;
  int64_t x_step;
  char *y;
  int64_t y_step;
} nd4c_pool_cells;

/* All pointers are to elements of the loops' dtype. NaN wins. 16-bit floats have the loops of cells alone. */
typedef struct nd4c_pool_loops {
  /* Each channel's largest cell; the sum of its cells times factor. */
  void (*max_cells)(const nd4c_pool_cells *at);
  void (*sum_cells)(const nd4c_pool_cells *at, double factor);
  /* line[i] = the largest, the sum of rows[0 .. count-1][i] for i in [0, n); count >= 1. */
  void (*max_rows)(int64_t n, int64_t count, const void *const *rows, void *line);
  void (*sum_rows)(int64_t n, int64_t count, const void *const *rows, void *line);
  /* y[i] = the largest of window i; its sum times factors[i], of which there are ND4C_POOL_LANES more than
   * windows. */
  void (*max_line)(const nd4c_pool_line *at, const void *line, void *y);
  void (*sum_line)(const nd4c_pool_line *at, const void *line, const void *factors, void *y);
  /* Both for the windows of nd4c_pool_has_band, some lines side by side: what was just stored is not yet to be had as
   * other vectors. */
  void (*max_band)(const nd4c_pool_line *at, const nd4c_pool_band *band);
  void (*sum_band)(const nd4c_pool_line *at, const nd4c_pool_band *band, const void *factors);
} nd4c_pool_loops;

typedef struct nd4c_pool_table {
  const nd4c_pool_loops *float32, *float64, *float16, *bfloat16; /* the last two NULL in a build without them */
} nd4c_pool_table;

#endif
