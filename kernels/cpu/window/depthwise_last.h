/* Convolution of single channels with one filter each (depthwise), channels side by side, some places of one row of y
 * at a time. simd/window/window_depthwise_last.c calls this. */
#ifndef ND4C_KERNELS_CPU_WINDOW_DEPTHWISE_LAST_H
#define ND4C_KERNELS_CPU_WINDOW_DEPTHWISE_LAST_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cpu/contraction/inner_activation.h"

/* The taps of a window that see a cell of x: where their cells are, and their weights. */
typedef struct nd4c_depthwise_taps {
  int64_t count;
  const int64_t *cells;   /* from x to the cell that the first place sees, in elements */
  const int64_t *weights; /* from w, in elements */
} nd4c_depthwise_taps;

/* The windows of one row of y whose taps lie on cells side by side. Taps that lie beside x see 0. */
typedef struct nd4c_depthwise_strip {
  int64_t rows, x_row_step;       /* rows of taps that see cells of x, and elements from one to the next */
  int64_t taps, stride;           /* of a row; nd4c_depthwise_last_table.serves_strip */
  int64_t cells, x_step, padding; /* of a row of x: cells, elements from one to the next, places before the first */
  int64_t w_row_step, w_step;     /* elements from a row of taps to the next, and from a tap to the next */
} nd4c_depthwise_strip;

typedef struct nd4c_depthwise_last_table {
  /* Channels of a block. Weights, bias and the sums of bfloat16 have whole blocks. */
  int64_t block;
  /* y[i * y_step + c] = bias[c] + the sum over taps of x[cells + i * x_step + c] * w[weights + c], activated; i in
   * [0, places), c in [0, channels). NaN stays. */
  void (*convolve_float32)(int64_t places, int64_t channels, const nd4c_depthwise_taps *taps, const float *x,
                           int64_t x_step, const float *w, const float *bias, nd4c_inner_activation activation,
                           float *y, int64_t y_step);
  /* The same for x of bfloat16, with sums in y, weights and bias in the order of `spread`. */
  void (*convolve_bfloat16)(int64_t places, int64_t channels, const nd4c_depthwise_taps *taps, const uint16_t *x,
                            int64_t x_step, const float *w, const float *bias, nd4c_inner_activation activation,
                            float *y, int64_t y_step);
  /* Whether the strips below take rows of so many taps, and that stride. Without AVX-512 none: they are NULL. */
  bool (*serves_strip)(int64_t taps, int64_t stride);
  /* The same for all places of a strip; x: the cell 0 of the first row that is seen, w: that row's weights. Sums add
   * the taps in the same order, so results are equal. */
  void (*strip_float32)(const nd4c_depthwise_strip *strip, int64_t places, int64_t channels, const float *x,
                        const float *w, const float *bias, nd4c_inner_activation activation, float *y, int64_t y_step);
  /* Sums in y, in the order of `spread`. */
  void (*strip_sums_bfloat16)(const nd4c_depthwise_strip *strip, int64_t places, int64_t channels, const uint16_t *x,
                              const float *w, const float *bias, nd4c_inner_activation activation, float *y,
                              int64_t y_step);
  /* Results rounded to bfloat16, channels side by side. */
  void (*strip_bfloat16)(const nd4c_depthwise_strip *strip, int64_t places, int64_t channels, const uint16_t *x,
                         const float *w, const float *bias, nd4c_inner_activation activation, uint16_t *y,
                         int64_t y_step);
  /* Where channel c of f32 lies in the order that convolve_bfloat16 uses: in each block the even channels, then the odd
   * ones. */
  int64_t (*spread)(int64_t channel);
  /* Rounds sums in that order to bfloat16, channels side by side. */
  void (*join_bfloat16)(int64_t channels, const float *sums, uint16_t *y);
} nd4c_depthwise_last_table;

#endif
