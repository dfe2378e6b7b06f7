/* Functions of complex numbers that the C library lacks. mathematics.c and elementwise.c call these in their value
 * functions. */
#include <math.h>

#include "kernels/hypot.h"
#include "kernels/reference/elementwise/mathematics.h"

/* e^x (cos y + i sin y) - 1, with both differences from 1 written as products. Special values are those of cexp. */
double complex nd4c_complex_expm1(double complex z) {
  double x = creal(z), y = cimag(z);
  if (!isfinite(x) || !isfinite(y)) {
    double complex e = cexp(z);
    return nd4c_complex_make(creal(e) - 1, cimag(e));
  }
  if (x > 700) { /* e^x alone would overflow where its product with a cosine does not */
    return cexp(z);
  }
  double half = sin(y / 2);
  long double real = expm1l(x) * cosl(y) - 2 * (long double)half * half + 0; /* of both zeros 0 */
  return nd4c_complex_make((double)real, exp(x) * sin(y));
}

/* ln |1 + z| is half the ln of 1 + (2 x + x^2 + y^2), which keeps its digits in long double. */
double complex nd4c_complex_log1p(double complex z) {
  double x = creal(z), y = cimag(z);
  if (!(fabs(x) < 0x1p500) || !(fabs(y) < 0x1p500)) {
    return clog(nd4c_complex_make(1 + x, y));
  }
  long double wide = x, other = y;
  long double more = wide * (2 + wide) + other * other;
  long double real = more < -0.5L || more > 2 ? logl(hypotl(1 + wide, other)) : log1pl(more) / 2;
  return nd4c_complex_make((double)real, (double)atan2l(other, 1 + wide));
}

static double complex scaled(double complex z, double factor) {
  return nd4c_complex_make(creal(z) * factor, cimag(z) * factor);
}

double complex nd4c_complex_log2(double complex z) {
  return scaled(clog(z), 1.4426950408889634074);
}

double complex nd4c_complex_log10(double complex z) {
  return scaled(clog(z), 0.43429448190325182765);
}

/* The exponent's product with ln 2 is rounded: its error is made good by a factor. */
double complex nd4c_complex_exp2(double complex z) {
  double x = creal(z), whole = rint(x);
  if (!isfinite(x) || fabs(x) > 4096) {
    return cexp(scaled(z, 0.69314718055994530942));
  }
  long double angle = (long double)cimag(z) * 0.693147180559945309417232121458L;
  double complex e = cexp(nd4c_complex_make((x - whole) * 0.69314718055994530942, 0));
  double size = creal(e);
  if (!isfinite(cimag(z))) {
    return cexp(scaled(z, 0.69314718055994530942));
  }
  return nd4c_complex_make(ldexp(size * (double)cosl(angle), (int)whole),
                           ldexp(size * (double)sinl(angle), (int)whole));
}

/* z / |z|, scaled so that neither overflow nor underflow of |z| matters. NaN where a part is infinite. */
double complex nd4c_complex_sign(double complex z) {
  double x = creal(z), y = cimag(z), larger = fmax(fabs(x), fabs(y));
  if (x == 0 && y == 0) {
    return 0;
  }
  int exponent = 0;
  if (isfinite(larger)) {
    (void)frexp(larger, &exponent);
  }
  x = ldexp(x, -exponent);
  y = ldexp(y, -exponent);
  double size = nd4c_hypot_f64(x, y);
  return nd4c_complex_make(x / size, y / size);
}
