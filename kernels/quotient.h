/* The floor of a quotient of f64, exact before it is rounded once. The reference's floor_divide computes it, and engine
 * simd's for numbers that its vectors do not divide. */
#ifndef ND4C_KERNELS_QUOTIENT_H
#define ND4C_KERNELS_QUOTIENT_H

#include <math.h>

/* What is left when the rest, which is exact, is taken off a, is divided. That is rounded, so below 2^53 the rest that
 * it leaves tells whether the quotient is one beside the true one. */
static inline double nd4c_floor_quotient(double a, double b) {
  if (b == 0) {
    return a / b;
  }
  const double rest = fmod(a, b);
  double whole = rint((a - rest) / b);
  if (whole != 0 && fabs(whole) < 0x1p53) {
    const double surplus = fma(-whole, b, a) - rest;
    whole += surplus == 0 ? 0 : (surplus < 0) == (b < 0) ? 1 : -1;
  }
  if (rest != 0 && (rest < 0) != (b < 0)) {
    whole--;
  }
  return whole == 0 ? copysign(0, a / b) : whole;
}

/* The rest that has the sign of b. */
static inline double nd4c_floor_rest(double a, double b) {
  double rest = fmod(a, b);
  if (rest == 0) {
    return copysign(0, b);
  }
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

#endif
