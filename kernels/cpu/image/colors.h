/* Colours of pixels, in float64 as the reference computes them, rounded once. Engine simd calls these
 * (backends/cpu/simd/image_colors.c). */
#ifndef ND4C_KERNELS_CPU_IMAGE_COLORS_H
#define ND4C_KERNELS_CPU_IMAGE_COLORS_H

#include <stdint.h>

enum { ND4C_COLORS_BLOCK = 128 }; /* pixels at a time */

typedef struct nd4c_colors_table {
  /* Pixel p has colour k at x[p * step + k * apart]. Up to ND4C_COLORS_BLOCK of them, to and from planes. */
  void (*load_float32)(int64_t n, const float *x, int64_t step, int64_t apart, double (*to)[ND4C_COLORS_BLOCK]);
  void (*load_float64)(int64_t n, const double *x, int64_t step, int64_t apart, double (*to)[ND4C_COLORS_BLOCK]);
  void (*store_float32)(int64_t n, int64_t colors, double (*from)[ND4C_COLORS_BLOCK], int64_t step, int64_t apart,
                        float *y);
  void (*store_float64)(int64_t n, int64_t colors, double (*from)[ND4C_COLORS_BLOCK], int64_t step, int64_t apart,
                        double *y);
  /* In place, all of a block. */
  void (*multiply)(const double (*matrix)[3], int64_t rows, double (*pixels)[ND4C_COLORS_BLOCK]);
  void (*to_hsv)(double (*pixels)[ND4C_COLORS_BLOCK]);
  /* turn is added to hues; saturations are multiplied by `factor` and, if `limited`, held below 1. */
  void (*adjust)(double turn, double factor, int limited, double (*pixels)[ND4C_COLORS_BLOCK]);
  void (*from_hsv)(double (*pixels)[ND4C_COLORS_BLOCK]);
} nd4c_colors_table;

#endif
