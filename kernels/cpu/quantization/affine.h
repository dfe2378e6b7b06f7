/* Inner loops between float32 and bytes with a scale and a zero point, and sums of such bytes. The engine simd calls
 * them (backends/cpu/simd/quantization_affine.c). Bytes are unsigned here: signed ones have their highest bit turned,
 * by `turn` 0x80, and zero points that are greater by 128. */
#ifndef ND4C_KERNELS_CPU_QUANTIZATION_AFFINE_H
#define ND4C_KERNELS_CPU_QUANTIZATION_AFFINE_H

#include <stdint.h>

typedef struct nd4c_affine {
  float scale;
  int32_t zero;
  uint8_t turn;
} nd4c_affine;

/* y = round(((a - a.zero) a.scale + (b - b.zero) b.scale) / y.scale) + y.zero in float64. The loops first compute it in
 * float32 as a * a_factor + b * b_factor + term. Where that lies closer to the middle of two numbers than `margin`,
 * they compute it again in float64. A margin above 0.5: all of it in float64. */
typedef struct nd4c_affine_sum {
  nd4c_affine a, b, y;
  float a_factor, b_factor, term, margin;
} nd4c_affine_sum;

typedef struct nd4c_affine_table {
  /* y[i] = the byte of round(x[i] / scale) + zero, ties to even; NaN counts as 0. */
  void (*quantize)(int64_t n, const float *x, nd4c_affine to, uint8_t *y);
  /* y[i] = (x[i] - zero) * scale */
  void (*dequantize)(int64_t n, const uint8_t *x, nd4c_affine from, float *y);
  /* The same with a scale and a zero point for each element. */
  void (*quantize_each)(int64_t n, const float *x, const float *scale, const int32_t *zero, uint8_t turn, uint8_t *y);
  void (*dequantize_each)(int64_t n, const uint8_t *x, const float *scale, const int32_t *zero, uint8_t turn, float *y);
  /* y[i] = x[i] / scale, or scale[i] */
  void (*divide)(int64_t n, const float *x, float scale, float *y);
  void (*divide_each)(int64_t n, const float *x, const float *scale, float *y);
  /* *low and *high grow to hold all x[i]; NaN does not count. */
  void (*range)(int64_t n, const float *x, float *low, float *high);
  void (*add)(int64_t n, const uint8_t *a, const uint8_t *b, const nd4c_affine_sum *sum, uint8_t *y);
} nd4c_affine_table;

#endif
