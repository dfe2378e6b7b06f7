/* Convolution of single planes with one filter each (depthwise), rows along the width: a band of the plane is copied
 * with its padding, so that no window has an edge, and columns apart by the stride lie side by side.
 * simd/window/window_depthwise.c calls this. */
#ifndef ND4C_KERNELS_CPU_WINDOW_DEPTHWISE_H
#define ND4C_KERNELS_CPU_WINDOW_DEPTHWISE_H

#include <stdint.h>

/* Buffers are read in whole vectors, of at most so many elements. */
enum { ND4C_DEPTHWISE_LANES = 16 };

/* A band in its buffer: rows of `stride` parts of `part` elements; column c of the padded plane is element c / stride
 * of part c % stride. */
typedef struct nd4c_depthwise_band {
  int64_t left, length; /* zeros before each row, and elements of it */
  int64_t stride, part;
} nd4c_depthwise_band;

/* All pointers are to elements of the loops' dtype. */
typedef struct nd4c_depthwise_loops {
  /* Rows [first, first + rows) of a plane of `height` rows, those outside are zeros. Elements of `to` beyond a row's
   * are zeros already; `line`: stride * part elements of zeros. */
  void (*load)(const nd4c_depthwise_band *band, int64_t first, int64_t rows, int64_t height, const void *x,
               int64_t x_step, void *line, void *to);
  /* y[row][i] = bias + the sum of filter[t] * x[row * x_step + offsets[t] + i] over `taps`, i in [0, width). */
  void (*convolve)(int64_t rows, int64_t width, const void *x, int64_t x_step, int64_t taps, const int64_t *offsets,
                   const void *filter, double bias, void *y, int64_t y_step);
} nd4c_depthwise_loops;

typedef struct nd4c_depthwise_table {
  const nd4c_depthwise_loops *float32, *float64;
} nd4c_depthwise_table;

#endif
