/* Convolution of few input channels, a row of y at a time, with channels side by side in y. Channels of x are rows in a
 * buffer with their padding, so that no window has an edge. simd/window/window_few.c calls this. */
#ifndef ND4C_KERNELS_CPU_WINDOW_FEW_H
#define ND4C_KERNELS_CPU_WINDOW_FEW_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cpu/contraction/inner_activation.h"

typedef struct nd4c_few_table {
  /* Output channels of a panel of packed weights. A panel has the weights of each term, one after the other; the last
   * panel is filled up with zeros. */
  int64_t panel_outputs;
  /* Elements that may be read beyond the last one that a row needs. */
  int64_t beyond;
  /* y[i * y_step + o] = bias[o] + the sum of x[offsets[t] + i] * w[t][o] over `terms`, or 0 if that is negative and
   * `relu`; i in [0, width), o in [0, outputs). bias NULL: zeros. All terms are one sum, so
   * they should be few. */
  void (*convolve)(int64_t width, int64_t outputs, int64_t terms, const int64_t *offsets, const float *x,
                   const float *w, const float *bias, nd4c_inner_activation activation, float *y, int64_t y_step);
} nd4c_few_table;

#endif
