/* sqrt(x^2 + y^2) of f64 without overflow, rounded once: a long double has room for the squares. Several times as fast
 * as the C library's, and without its symbol: that has a new version since glibc 2.35 and would keep a library built
 * there from running on older systems. The reference kernels and support/decomposition_solve.c of the cpu backend call
 * it. */
#ifndef ND4C_KERNELS_HYPOT_H
#define ND4C_KERNELS_HYPOT_H

#include <float.h>
#include <math.h>

static inline double nd4c_hypot_f64(double x, double y) {
#if LDBL_MAX_EXP > 2 * DBL_MAX_EXP
  if (isinf(x) || isinf(y)) { /* whatever the other is, NaN too */
    return (double)INFINITY;
  }
  long double a = x, b = y;
  return (double)sqrtl(a * a + b * b);
#else
  return hypot(x, y);
#endif
}

#endif
