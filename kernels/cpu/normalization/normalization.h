/* Inner loops of normalisations and softmax. simd/normalization.c and simd/normalization_groups.c call them by way of
 * simd/rows.h, onednn/contraction_sgemm.c its fill. */
#ifndef ND4C_KERNELS_CPU_NORMALIZATION_NORMALIZATION_H
#define ND4C_KERNELS_CPU_NORMALIZATION_NORMALIZATION_H

#include <stdbool.h>
#include <stdint.h>

/* Parameters of local response normalisation: y = x / (bias + factor * sum of squares of the channels from
 * -before to +after)^beta. before + after <= ND4C_LRN_REACH. */
enum { ND4C_LRN_REACH = 64 };
typedef struct nd4c_lrn_parameters {
  int64_t before, after;
  double factor, beta, bias;
} nd4c_lrn_parameters;

/* Rows that softmax computes side by side, and the longest of them. */
enum { ND4C_SHORT_ROWS = 32, ND4C_SHORT_ROW = 32 };

/* All pointers are to elements of the loops' dtype. */
typedef struct nd4c_normalization_loops {
  void (*fill)(int64_t n, double value, void *y);
  /* a[i] = scale[i] / sqrt(variance[i] + epsilon), b[i] = bias[i] - mean[i] * a[i]; operands have strides. */
  void (*fold_norm)(int64_t n, const void *const *operands, const int64_t *strides, double epsilon, void *a, void *b);
  /* y[i] = x[i] * a[i] + b[i]; with one a and b for all. */
  void (*affine)(int64_t n, const void *x, const void *a, const void *b, void *y);
  void (*affine_all)(int64_t n, const void *x, const void *a, const void *b, void *y);
  /* y[i] = (x[i] - mean) * factor * scale[channel] + bias[channel]; scale and bias may be NULL. */
  void (*affine_one)(int64_t n, const void *x, const void *scale, const void *bias, int64_t channel, double mean,
                     double factor, void *y);
  /* y[i] = (x[i] - means[i]) * factors[i] + summands[i]: in double, rounded once, as affine_one. */
  void (*affine_each)(int64_t n, const void *x, const double *means, const double *factors, const double *summands,
                      void *y);
  /* y[i] = x[i] * factor * scale[i]; scale may be NULL. In double, rounded once, as affine_one. */
  void (*scale_row)(int64_t n, const void *x, const void *scale, double factor, void *y);
  /* One row of layer_norm; scale and bias may be NULL. False, and y is unchanged: the mean or the squares of the row
   * left the range of float32, or an element is not finite. */
  bool (*layer_norm)(int64_t n, const void *x, const void *scale, const void *bias, double epsilon, void *y);
  /* One row. y may be x. */
  void (*softmax)(int64_t n, const void *x, void *y, bool logarithm);
  /* Rows of n elements, n at most ND4C_SHORT_ROW, one behind the other. y may be x. */
  void (*softmax_short)(int64_t rows, int64_t n, const void *x, void *y, bool logarithm);
  /* The same of one element in each of n rows, of which the largest is known, and one divided by
   * the sum of exponentials, or the logarithm of that. */
  void (*softmax_finish)(int64_t n, const void *x, const void *largest, const void *rest, void *y, bool logarithm);
  /* One position's channels, without gaps; and `width` positions side by side, channels `step` apart. */
  void (*lrn)(int64_t channels, const void *x, const nd4c_lrn_parameters *parameters, void *y);
  void (*lrn_columns)(int64_t channels, int64_t step, int64_t width, const void *x, int64_t y_step, void *y,
                      const nd4c_lrn_parameters *parameters);
} nd4c_normalization_loops;

typedef struct nd4c_normalization_table {
  const nd4c_normalization_loops *float32, *float64;
} nd4c_normalization_table;

#endif
