/* Convolution with windows of 3 x 3 and steps of 1 by Winograd's method F(2 x 2, 3 x 3): a tile of 4 x 4 cells gives
 * 2 x 2 results with 16 multiplications a channel instead of 36. Cells and filters are transformed into 16 points, the
 * products of each point are a matrix product over channels, and the sums are transformed back. Channels lie side by
 * side. simd/window/window_winograd.c calls these loops.
 *
 * A result depends on the cells of its own window alone, as in the sum that defines it. An infinity or an overflow
 * becomes NaN on the way, though, so tiles with results that are not finite are computed again by `direct`. */
#ifndef ND4C_KERNELS_CPU_WINDOW_WINOGRAD_H
#define ND4C_KERNELS_CPU_WINDOW_WINOGRAD_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cpu/contraction/inner_activation.h"

enum { ND4C_WINOGRAD_POINTS = 16, ND4C_WINOGRAD_RESULTS = 4 };

/* The filters of `columns` output channels and where the results of one tile go. */
typedef struct nd4c_winograd_target {
  int64_t columns;
  float *y[ND4C_WINOGRAD_RESULTS];            /* NULL: outside of y */
  const float *addend[ND4C_WINOGRAD_RESULTS]; /* NULL: none */
  const float *bias;                          /* NULL: none */
  nd4c_inner_activation activation;
} nd4c_winograd_target;

typedef struct nd4c_winograd_loops {
  /* Transforms the filters of one panel: `panel` output channels, zeros beyond `outputs`. w has the strides of its axes
   * [outputs, channels, 3, 3]. Point p of channel c goes to u + p * u_point + c * panel. False if a weight is not
   * finite. */
  bool (*filters)(int64_t outputs, int64_t channels, const float *w, const int64_t *strides, int64_t panel, float *u,
                  int64_t u_point);
  /* Transforms a tile: cells[4 * row + column] are vectors of `channels`. Point p goes to v + p * v_point. */
  void (*cells)(int64_t channels, const float *const *cells, float *v, int64_t v_point);
  /* Transforms the sums of a tile, of which point p is at m + p * m_point, and stores the results. False, with nothing
   * stored, if a result is not finite. */
  bool (*results)(const float *m, int64_t m_point, const nd4c_winograd_target *to);
  /* Computes the results of a tile without transformed cells, and stores them. */
  void (*direct)(int64_t channels, const float *const *cells, const float *u, int64_t u_point, int64_t panel,
                 const nd4c_winograd_target *to);
} nd4c_winograd_loops;

typedef struct nd4c_winograd_table {
  const nd4c_winograd_loops *float32;
} nd4c_winograd_table;

#endif
