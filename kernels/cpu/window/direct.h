/* Convolution with channels side by side in x and y, a row of y at a time. Rows of x are in a buffer with their
 * padding, so that no window has an edge, and windows are read where they lie. simd/window/window_direct.c calls this.
 */
#ifndef ND4C_KERNELS_CPU_WINDOW_DIRECT_H
#define ND4C_KERNELS_CPU_WINDOW_DIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cpu/contraction/inner_activation.h"

/* Where the terms of a sum are: `channels` terms side by side in each cell of a window. */
typedef struct nd4c_direct_window {
  int64_t cells, channels;
  int64_t taps;           /* 3: each three cells lie side by side, and so do the windows of places; else 1 */
  const int64_t *offsets; /* of each cell, from the window's first element */
  int64_t step;           /* from the window of a place of y to that of the next place */
} nd4c_direct_window;

/* Where the results of a row go: y[i * step + o], with bias[o] and addend[i * addend_step + o] added. */
typedef struct nd4c_direct_target {
  float *y;
  int64_t step;
  const float *bias;   /* NULL: none */
  const float *addend; /* NULL: none */
  int64_t addend_step;
  nd4c_inner_activation activation;
} nd4c_direct_target;

typedef struct nd4c_direct_table {
  /* Output channels of a panel of packed weights, of few and of many channels. A panel has the weights of each term,
   * one after the other; the last panel is filled up with zeros. */
  int64_t (*panel_outputs)(int64_t outputs);
  /* Places that are computed for a row of `width` places: more, unless tiles fill it. */
  int64_t (*places)(int64_t width);
  /* Places beyond the last one of a row whose windows may be read. */
  int64_t beyond;
  /* The sums of all terms for i in [0, width), o in [0, outputs). Long sums are sums of short ones. */
  void (*convolve)(int64_t width, int64_t outputs, const nd4c_direct_window *window, const float *x, const float *w,
                   const nd4c_direct_target *to);
} nd4c_direct_table;

#endif
