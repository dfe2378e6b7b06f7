/* y = a^b over runs of floats. A step of 0 repeats one element. */
#ifndef ND4C_KERNELS_CPU_POWER_H
#define ND4C_KERNELS_CPU_POWER_H

#include <math.h>
#include <stdint.h>

#include "kernels/cpu/level.h"

static inline void nd4c_power_float64(int64_t n, const double *a, int64_t a_step, const double *b, int64_t b_step,
                                      double *y) {
  for (int64_t i = 0; i < n; i++)
    y[i] = pow(a[i * a_step], b[i * b_step]);
}

static inline void nd4c_power_float32(int64_t n, const float *a, int64_t a_step, const float *b, int64_t b_step,
                                      float *y) {
  for (int64_t i = 0; i < n; i++)
    y[i] = (float)pow((double)a[i * a_step], (double)b[i * b_step]);
}

#endif
