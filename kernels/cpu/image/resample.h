/* Weighted sums of rows and of the elements of a row, in float64, rounded once: what resizing and sampling take. Engine
 * simd calls them (backends/cpu/simd/image_resize.c, image_sample.c). */
#ifndef ND4C_KERNELS_CPU_IMAGE_RESAMPLE_H
#define ND4C_KERNELS_CPU_IMAGE_RESAMPLE_H

#include <stdint.h>

typedef struct nd4c_resample_table {
  /* to[i] = sum of weights[k] rows[k][i] over `count` rows of n elements */
  void (*blend)(int64_t n, int64_t count, const float *const *rows, const double *weights, double *to);
  /* to[i] = x[i], rounded */
  void (*store)(int64_t n, const double *x, float *to);
  /* to[i] = sum of weights[k n + i] row[indices[k n + i]] over `taps` ones */
  void (*weigh)(int64_t n, int64_t taps, const double *row, const int32_t *indices, const double *weights, float *to);
  /* The same of a plane of float32. */
  void (*pick)(int64_t n, int64_t taps, const float *plane, const int32_t *indices, const double *weights, float *to);
} nd4c_resample_table;

#endif
