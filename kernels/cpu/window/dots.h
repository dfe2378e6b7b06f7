/* Convolution with windows of one cell and few output channels, channels side by side in x and y: each result is a dot
 * product of a cell and a row of weights. simd/window/window_dots.c calls this. */
#ifndef ND4C_KERNELS_CPU_WINDOW_DOTS_H
#define ND4C_KERNELS_CPU_WINDOW_DOTS_H

#include <stdint.h>

typedef struct nd4c_dots_table {
  int64_t most_outputs;
  int64_t block;  /* channels of a block: a row of weights has whole blocks, filled up with zeros */
  int64_t beyond; /* elements behind the last result that are written, too */
  /* y[i * outputs + o] = bias[o] + the sum of x[i * x_step + c] * w[o * row + c] over `channels`; i in [0, cells), o in
   * [0, outputs); row: `channels` rounded up to whole blocks. A sum does not depend on `cells`. bias NULL: zeros. */
  void (*convolve_float32)(int64_t cells, int64_t outputs, int64_t channels, const float *x, int64_t x_step,
                           const float *w, const float *bias, float *y);
  /* The same for x of bfloat16, with weights in each block in the order of `spread` of depthwise_last.h. */
  void (*convolve_bfloat16)(int64_t cells, int64_t outputs, int64_t channels, const uint16_t *x, int64_t x_step,
                            const float *w, const float *bias, float *y);
} nd4c_dots_table;

#endif
