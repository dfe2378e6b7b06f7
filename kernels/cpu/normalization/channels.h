/* y = a x + b of bfloat16 with a and b of f32, rounded once. batch_norm of simd/normalization.c calls the loops. */
#ifndef ND4C_KERNELS_CPU_NORMALIZATION_CHANNELS_H
#define ND4C_KERNELS_CPU_NORMALIZATION_CHANNELS_H

#include <stdint.h>

/* NULL in a build without bfloat16. y may be x. */
typedef struct nd4c_channels_table {
  /* With an a and a b for each of n numbers; with one a and b for all. */
  void (*each)(int64_t n, const uint16_t *x, const float *a, const float *b, uint16_t *y);
  void (*all)(int64_t n, const uint16_t *x, float a, float b, uint16_t *y);
} nd4c_channels_table;

#endif
