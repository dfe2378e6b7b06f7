/* Elementary functions of one number, written so that loops over them vectorise. */
#ifndef ND4C_KERNELS_CPU_MATHEMATICS_H
#define ND4C_KERNELS_CPU_MATHEMATICS_H

#include <math.h>

#include "kernels/cpu/level.h"

#define ND4C_VIA_DOUBLE(name)                          \
  static inline float nd4c_##name##_float32(float x) { \
    return (float)nd4c_##name##_float64((double)x);    \
  }
static inline double nd4c_sqrt_float64(double x) {
  return sqrt(x);
}
static inline float nd4c_sqrt_float32(float x) {
  return sqrtf(x);
}
static inline double nd4c_reciprocal_float64(double x) {
  return 1 / x;
}
static inline float nd4c_reciprocal_float32(float x) {
  return 1 / x;
}
static inline double nd4c_exp_float64(double x) {
  return exp(x);
}
static inline double nd4c_log_float64(double x) {
  return log(x);
}
static inline double nd4c_sin_float64(double x) {
  return sin(x);
}
static inline double nd4c_cos_float64(double x) {
  return cos(x);
}
static inline double nd4c_tanh_float64(double x) {
  return tanh(x);
}
static inline double nd4c_erf_float64(double x) {
  return erf(x);
}
static inline double nd4c_sigmoid_float64(double x) {
  double e = exp(-fabs(x));
  return (x >= 0 ? 1 : e) / (1 + e);
}
static inline double nd4c_gelu_float64(double x) {
  return x == -INFINITY ? -0.0 : x / 2 * erfc(-x * 0.70710678118654752440);
}
static inline double nd4c_gelu_tanh_float64(double x) {
  double u = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
  return x == -INFINITY ? -0.0 : x * nd4c_sigmoid_float64(2 * u);
}
ND4C_VIA_DOUBLE(exp)
ND4C_VIA_DOUBLE(log)
ND4C_VIA_DOUBLE(sin)
ND4C_VIA_DOUBLE(cos)
ND4C_VIA_DOUBLE(tanh)
ND4C_VIA_DOUBLE(erf)
ND4C_VIA_DOUBLE(sigmoid)
ND4C_VIA_DOUBLE(gelu)
ND4C_VIA_DOUBLE(gelu_tanh)

#endif
