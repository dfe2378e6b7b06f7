/* Elementary and special functions of the reference that the C library lacks, or has with errors of more than a unit in
 * the last place of a double. backends/cpu/reference/elementwise.c passes them to the map.
 *
 * Functions come in two widths: in double, which is plenty for results of at most 24 bits, and in long double, for
 * results of 53. Where long double is no wider than double, float64 results are as accurate as the C library's
 * double functions: to a few units in the last place instead of one. */
#ifndef ND4C_KERNELS_REFERENCE_ELEMENTWISE_MATHEMATICS_H
#define ND4C_KERNELS_REFERENCE_ELEMENTWISE_MATHEMATICS_H

#include <complex.h>

#include "kernels/reference/elementwise/elementwise.h"

/* X(name): nd4c_value_<name> and, for float64, nd4c_value_<name>_wide. The first list also takes complex numbers. */
#define ND4C_VALUE_ELEMENTARY(X) \
  X(acos)                        \
  X(acosh)                       \
  X(asin)                        \
  X(asinh)                       \
  X(atan)                        \
  X(atanh)                       \
  X(cosh) X(sinh) X(tan) X(expm1) X(log1p) X(log2) X(log10) X(exp2) X(tanh)
#define ND4C_VALUE_SPECIAL(X) \
  X(cbrt)                     \
  X(rsqrt)                    \
  X(erf)                      \
  X(erfc)                     \
  X(erfinv)                   \
  X(lgamma) X(gamma) X(digamma) X(i0) X(i1) X(sinc) X(deg2rad) X(rad2deg) X(logit) X(sigmoid) X(gelu) X(gelu_tanh)
/* Activations; parameters follow x as float64 inputs. */
#define ND4C_VALUE_ACTIVATION(X) \
  X(elu)                         \
  X(selu)                        \
  X(celu) X(softplus) X(mish) X(swish) X(glu) X(swiglu) X(log_sigmoid) X(tanh_shrink) X(rational_tanh) X(rectified_tanh)
/* One width for all. */
#define ND4C_VALUE_PLAIN_ACTIVATION(X) \
  X(softsign) X(hard_sigmoid) X(hard_swish) X(prelu) X(threshold) X(hard_tanh) X(shrink) X(cube) X(negative_relu)
#define ND4C_VALUE_PARTS(X) \
  X(trunc)                  \
  X(frac)                   \
  X(is_finite) X(is_inf) X(signbit) X(conj) X(real) X(imag) X(angle) X(bitwise_invert) X(bit_count) X(nan_to_num)
#define ND4C_VALUE_PAIRS(X) \
  X(atan2)                  \
  X(bitwise_and)            \
  X(bitwise_or)             \
  X(bitwise_xor)            \
  X(bitwise_left_shift)     \
  X(bitwise_right_shift)    \
  X(copysign)               \
  X(floor_divide)           \
  X(remainder)              \
  X(fmod)                   \
  X(hypot)                  \
  X(logaddexp)              \
  X(logaddexp2)             \
  X(xlogy)                  \
  X(gcd)                    \
  X(lcm)                    \
  X(ldexp)                  \
  X(heaviside)              \
  X(fmax)                   \
  X(fmin)                   \
  X(squared_difference)     \
  X(is_close) X(divide_no_nan) X(nextafter_float64) X(nextafter_float32) X(nextafter_float16) X(nextafter_bfloat16)
/* Always computed in long double. */
#define ND4C_VALUE_PARAMETRIC(X) X(igamma) X(igammac) X(betainc) X(zeta) X(polygamma)

#define ND4C_VALUE_DECLARE(name) nd4c_value nd4c_value_##name(const nd4c_dtype_kind *kinds, const nd4c_value *inputs);
#define ND4C_VALUE_DECLARE_WIDE(name) ND4C_VALUE_DECLARE(name) ND4C_VALUE_DECLARE(name##_wide)
ND4C_VALUE_ELEMENTARY(ND4C_VALUE_DECLARE_WIDE)
ND4C_VALUE_SPECIAL(ND4C_VALUE_DECLARE_WIDE)
ND4C_VALUE_ACTIVATION(ND4C_VALUE_DECLARE_WIDE)
ND4C_VALUE_PLAIN_ACTIVATION(ND4C_VALUE_DECLARE)
ND4C_VALUE_PARTS(ND4C_VALUE_DECLARE)
ND4C_VALUE_PAIRS(ND4C_VALUE_DECLARE)
ND4C_VALUE_PARAMETRIC(ND4C_VALUE_DECLARE)
#undef ND4C_VALUE_DECLARE_WIDE
#undef ND4C_VALUE_DECLARE

/* Functions of a real number. */
#define ND4C_REAL_DECLARE(name)      \
  double nd4c_real_##name(double x); \
  long double nd4c_real_##name##_wide(long double x);
ND4C_REAL_DECLARE(erfinv)
ND4C_REAL_DECLARE(digamma)
ND4C_REAL_DECLARE(i0)
ND4C_REAL_DECLARE(i1)
ND4C_REAL_DECLARE(sinc)
ND4C_REAL_DECLARE(logit)
ND4C_REAL_DECLARE(gamma)
ND4C_REAL_DECLARE(sigmoid)
ND4C_REAL_DECLARE(gelu)
ND4C_REAL_DECLARE(gelu_tanh)
ND4C_REAL_DECLARE(softplus)
#undef ND4C_REAL_DECLARE

/* Functions of several real numbers, in the order of the ops' inputs. */
long double nd4c_real_igamma(long double a, long double x);
long double nd4c_real_igammac(long double a, long double x);
long double nd4c_real_betainc(long double a, long double b, long double x);
long double nd4c_real_zeta(long double s, long double q);
long double nd4c_real_polygamma(long double n, long double x);
/* ln gamma(a + b) - ln gamma(a), a > 0, without cancellation for small b > 0. */
long double nd4c_real_lgamma_step(long double a, long double b);

/* Of a complex number, with the special values of C's Annex G and the Array API. */
double complex nd4c_complex_expm1(double complex z);
double complex nd4c_complex_log1p(double complex z);
double complex nd4c_complex_log2(double complex z);
double complex nd4c_complex_log10(double complex z);
double complex nd4c_complex_exp2(double complex z);
double complex nd4c_complex_sign(double complex z);

#endif
