/* Implements scales.h. Compiled once per level: the compiler vectorises the plain loops. support/quantization_product.c
 * reads the table by nd4c_simd.scales. */
#include "kernels/cpu/quantization/scales.h"

#include <math.h>
#include <stddef.h>

#include "kernels/cpu/support/level.h"

extern const nd4c_scales_table ND4C_LEVEL_NAME(nd4c_scales_table);

static void flip(int64_t n, const uint8_t *x, int8_t *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = (int8_t)(x[i] ^ 0x80);
  }
}

static int32_t sum(int64_t n, const void *x, bool is_signed) {
  const int8_t *s = x;
  const uint8_t *u = x;
  uint32_t total = 0;
  if (is_signed) {
    for (int64_t i = 0; i < n; i++) {
      total += (uint32_t)(int32_t)s[i];
    }
  } else {
    for (int64_t i = 0; i < n; i++) {
      total += u[i];
    }
  }
  return (int32_t)total;
}

static void accumulate(int64_t n, const int8_t *x, int32_t *sums) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    sums[i] = (int32_t)((uint32_t)sums[i] + (uint32_t)(int32_t)x[i]);
  }
}

static void correct(int64_t n, const int32_t *x, int32_t a_zero, const int32_t *sums, int32_t row, const int32_t *zeros,
                    int32_t *y) {
  uint32_t a = (uint32_t)a_zero, r = (uint32_t)row;
  if (sums != NULL && zeros != NULL) {
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      y[i] = (int32_t)((uint32_t)x[i] - a * (uint32_t)sums[i] - r * (uint32_t)zeros[i]);
    }
  } else if (sums != NULL) {
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      y[i] = (int32_t)((uint32_t)x[i] - a * (uint32_t)sums[i]);
    }
  } else if (zeros != NULL) {
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      y[i] = (int32_t)((uint32_t)x[i] - r * (uint32_t)zeros[i]);
    }
  }
}

ND4C_INLINED void requantize_with(int64_t n, const int32_t *x, const int32_t *bias, const double *factors, int32_t zero,
                                  int32_t low, uint8_t *y) {
  double least = low, most = low + 255, shift = zero;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    double value = ((double)x[i] + (bias != NULL ? (double)bias[i] : 0)) * factors[i];
    value = value == value ? value : 0;
    value = rint(value) + shift;
    value = value < least ? least : value;
    value = value > most ? most : value;
    y[i] = (uint8_t)(int32_t)value;
  }
}

static void requantize(int64_t n, const int32_t *x, const int32_t *bias, const double *factors, int32_t zero,
                       int32_t low, uint8_t *y) {
  if (bias != NULL) {
    requantize_with(n, x, bias, factors, zero, low, y);
  } else {
    requantize_with(n, x, NULL, factors, zero, low, y);
  }
}

static void widen(int64_t n, const void *x, bool is_signed, int32_t zero, int16_t *y) {
  const int8_t *s = x;
  const uint8_t *u = x;
  if (is_signed) {
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      y[i] = (int16_t)(s[i] - zero);
    }
  } else {
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      y[i] = (int16_t)(u[i] - zero);
    }
  }
}

static void multiply_add(int64_t n, const int16_t *x, const int16_t *y, int32_t *sums) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    sums[i] = (int32_t)((uint32_t)sums[i] + (uint32_t)((int32_t)x[i] * (int32_t)y[i]));
  }
}

static void dequantize(int64_t n, const int32_t *x, double scale, const double *scales, const float *bias, float *y) {
  if (bias != NULL) {
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      y[i] = (float)((double)x[i] * scale * scales[i] + (double)bias[i]);
    }
  } else {
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      y[i] = (float)((double)x[i] * scale * scales[i]);
    }
  }
}

const nd4c_scales_table ND4C_LEVEL_NAME(nd4c_scales_table) = {.flip = flip,
                                                              .sum = sum,
                                                              .accumulate = accumulate,
                                                              .correct = correct,
                                                              .requantize = requantize,
                                                              .widen = widen,
                                                              .multiply_add = multiply_add,
                                                              .dequantize = dequantize};
