/* The steps around a product of bytes: sums of factors, zero points, scales. support/quantization_product.c of the cpu
 * backend calls them for every engine with such products. */
#ifndef ND4C_KERNELS_CPU_QUANTIZATION_SCALES_H
#define ND4C_KERNELS_CPU_QUANTIZATION_SCALES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct nd4c_scales_table {
  /* y[i] = x[i] - 128 of unsigned bytes */
  void (*flip)(int64_t n, const uint8_t *x, int8_t *y);
  /* The sum of n bytes. */
  int32_t (*sum)(int64_t n, const void *x, bool is_signed);
  /* sums[i] += x[i] */
  void (*accumulate)(int64_t n, const int8_t *x, int32_t *sums);
  /* y[i] = x[i] - a_zero * sums[i] - row * zeros[i], which wraps; sums or zeros NULL: left out. y may be x. */
  void (*correct)(int64_t n, const int32_t *x, int32_t a_zero, const int32_t *sums, int32_t row, const int32_t *zeros,
                  int32_t *y);
  /* y[i] = the byte of round((x[i] + bias[i]) * factors[i]) + zero within low .. low + 255, ties to even; NaN counts as
   * 0. bias NULL: none. */
  void (*requantize)(int64_t n, const int32_t *x, const int32_t *bias, const double *factors, int32_t zero, int32_t low,
                     uint8_t *y);
  /* y[i] = x[i] - zero of bytes */
  void (*widen)(int64_t n, const void *x, bool is_signed, int32_t zero, int16_t *y);
  /* sums[i] += x[i] * y[i], which wraps */
  void (*multiply_add)(int64_t n, const int16_t *x, const int16_t *y, int32_t *sums);
  /* y[i] = x[i] * scale * scales[i] + bias[i]; bias may be NULL. */
  void (*dequantize)(int64_t n, const int32_t *x, double scale, const double *scales, const float *bias, float *y);
} nd4c_scales_table;

#endif
