/* Transforms along one axis by engine simd: how lines are laid out for the loops of kernels/cpu/signal/fft.h.
 * signal_fft.c calls them once for each axis. */
#ifndef ND4C_BACKENDS_CPU_SIMD_SIGNAL_LINES_H
#define ND4C_BACKENDS_CPU_SIMD_SIGNAL_LINES_H

#include "backends/cpu/simd/simd.h"

/* What lines of a length need. Short ones are transformed side by side. Long ones one by one, as a matrix of rows x
 * columns points: first its columns, side by side, then, turned by roots of the whole length, its rows. */
typedef struct nd4c_fft_lines_plan {
  const nd4c_fft_loops *loops;
  bool single, real, is_long;
  int64_t length, points; /* points: complex ones, half of the length of real lines */
  nd4c_fft_steps steps;   /* of the points, or of the columns */
  const void *unpacking;  /* of short real lines */
  int64_t rows, columns;
  nd4c_fft_steps row_steps;
  nd4c_fft_roots roots, real_roots; /* of the points; of the length */
  const void *lane_roots;
  void *memory;
  size_t bytes;
} nd4c_fft_lines_plan;

/* Whether lines can be transformed: no prime factor above 5, real ones of even length, not too long. */
bool nd4c_fft_length_fits(int64_t length, bool real);
/* Whether lines of so many complex points are long: there are too few of them for a tile, or it would leave the cache.
 */
bool nd4c_fft_is_long(const nd4c_fft_loops *loops, int64_t points, int64_t lines);
/* False: no memory. */
bool nd4c_fft_lines_plan_make(nd4c_fft_lines_plan *plan, bool single, bool real, int64_t length, int64_t lines);
void nd4c_fft_lines_plan_free(nd4c_fft_lines_plan *plan);

/* An array as a pass sees it: strides in its elements, complex or real. */
typedef struct nd4c_fft_side {
  char *data;
  bool is_complex;
  int64_t stride; /* along the axis */
  int64_t given;  /* elements along the axis that exist; the rest is 0 */
  int64_t strides[ND4C_CPU_MAX_RANK];
} nd4c_fft_side;

/* All lines along an axis; `from` may be `to`. Real lines (plan->real) are read, or, real_out, written. */
typedef struct nd4c_fft_axis_pass {
  const nd4c_fft_lines_plan *plan;
  nd4c_fft_side from, to;
  int32_t rank; /* of the other axes */
  int64_t shape[ND4C_CPU_MAX_RANK], lines;
  bool inverse, real_out, conjugate;
  double scale;
  int32_t width;
} nd4c_fft_axis_pass;
/* False: no memory. */
bool nd4c_fft_run_axis(const nd4c_fft_axis_pass *pass);
bool nd4c_fft_run_long(const nd4c_fft_axis_pass *pass);

/* Where a line begins, in elements. */
int64_t nd4c_fft_line_at(const nd4c_fft_axis_pass *pass, const nd4c_fft_side *side, int64_t line);

#endif
