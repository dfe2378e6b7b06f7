/* sin, cos and tan of f64 by the C library, right for every argument. Between 2^26 and 2^48, next to a multiple of pi /
 * 2, those of glibc (2.36) are up to 179 units in the last place off: cos(214112296674652), sin(139755218526789). Those
 * of long double are not. kernels/cpu/elementwise/unary.c, functions.c beside it and
 * kernels/reference/elementwise/elementwise.c call these. */
#ifndef ND4C_KERNELS_ANGLE_H
#define ND4C_KERNELS_ANGLE_H

#include <math.h>

#define ND4C_FAR_ANGLE 0x1p20

static inline double nd4c_sin_f64(double x) {
  return fabs(x) < ND4C_FAR_ANGLE ? sin(x) : (double)sinl((long double)x);
}

static inline double nd4c_cos_f64(double x) {
  return fabs(x) < ND4C_FAR_ANGLE ? cos(x) : (double)cosl((long double)x);
}

static inline double nd4c_tan_f64(double x) {
  return fabs(x) < ND4C_FAR_ANGLE ? tan(x) : (double)tanl((long double)x);
}

#endif
