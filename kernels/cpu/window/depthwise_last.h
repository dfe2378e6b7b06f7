/* Convolution of single channels with one filter each (depthwise), channels side by side, some places of one row of y
 * at a time. simd/window/window_depthwise_last.c calls this. */
#ifndef ND4C_KERNELS_CPU_WINDOW_DEPTHWISE_LAST_H
#define ND4C_KERNELS_CPU_WINDOW_DEPTHWISE_LAST_H

#include <stdbool.h>
#include <stdint.h>

/* The taps of a window that see a cell of x: where their cells are, and their weights. */
typedef struct nd4c_depthwise_taps {
  int64_t count;
  const int64_t *cells;   /* from x to the cell that the first place sees, in elements */
  const int64_t *weights; /* from w, in elements */
} nd4c_depthwise_taps;

typedef enum nd4c_depthwise_limit {
  ND4C_DEPTHWISE_UNLIMITED,
  ND4C_DEPTHWISE_FROM_0, /* relu */
  ND4C_DEPTHWISE_0_TO_6  /* relu6 */
} nd4c_depthwise_limit;

typedef struct nd4c_depthwise_last_table {
  /* Channels of a block. Weights, bias and the sums of bfloat16 have whole blocks. */
  int64_t block;
  /* y[i * y_step + c] = bias[c] + the sum over taps of x[cells + i * x_step + c] * w[weights + c], within limits; i in
   * [0, places), c in [0, channels). NaN stays. */
  void (*convolve_float32)(int64_t places, int64_t channels, const nd4c_depthwise_taps *taps, const float *x,
                           int64_t x_step, const float *w, const float *bias, nd4c_depthwise_limit limit, float *y,
                           int64_t y_step);
  /* The same for x of bfloat16, with sums in y, weights and bias in the order of `spread`. */
  void (*convolve_bfloat16)(int64_t places, int64_t channels, const nd4c_depthwise_taps *taps, const uint16_t *x,
                            int64_t x_step, const float *w, const float *bias, nd4c_depthwise_limit limit, float *y,
                            int64_t y_step);
  /* Where channel c of f32 lies in the order that convolve_bfloat16 uses: in each block the even channels, then the odd
   * ones. */
  int64_t (*spread)(int64_t channel);
  /* Rounds sums in that order to bfloat16, channels side by side. */
  void (*join_bfloat16)(int64_t channels, const float *sums, uint16_t *y);
} nd4c_depthwise_last_table;

#endif
