/* Elementary and special functions as value functions, and those of a number's parts.
 * backends/cpu/reference/elementwise.c passes them to the map. */
#include "kernels/reference/elementwise/mathematics.h"

#include <math.h>

#define VALUE_FUNCTION(name) nd4c_value nd4c_value_##name(const nd4c_dtype_kind *kinds, const nd4c_value *inputs)

/* -- functions of one number ---------------------------------------------------------------------------------- */

#define ELEMENTARY(name, narrow, wide, of_complex)                    \
  VALUE_FUNCTION(name) {                                              \
    nd4c_value x = inputs[0], y;                                      \
    if (kinds[0] == ND4C_KIND_COMPLEX)                                \
      y.c = of_complex(x.c);                                          \
    else                                                              \
      y.f = narrow(x.f);                                              \
    return y;                                                         \
  }                                                                   \
  VALUE_FUNCTION(name##_wide) {                                       \
    (void)kinds;                                                      \
    return (nd4c_value){.f = (double)wide((long double)inputs[0].f)}; \
  }
ELEMENTARY(acos, acos, acosl, cacos)
ELEMENTARY(acosh, acosh, acoshl, cacosh)
ELEMENTARY(asin, asin, asinl, casin)
ELEMENTARY(asinh, asinh, asinhl, casinh)
ELEMENTARY(atan, atan, atanl, catan)
ELEMENTARY(atanh, atanh, atanhl, catanh)
ELEMENTARY(cosh, cosh, coshl, ccosh)
ELEMENTARY(sinh, sinh, sinhl, csinh)
ELEMENTARY(tan, tan, tanl, ctan)
ELEMENTARY(tanh, tanh, tanhl, ctanh)
ELEMENTARY(expm1, expm1, expm1l, nd4c_complex_expm1)
ELEMENTARY(log1p, log1p, log1pl, nd4c_complex_log1p)
ELEMENTARY(log2, log2, log2l, nd4c_complex_log2)
ELEMENTARY(log10, log10, log10l, nd4c_complex_log10)
ELEMENTARY(exp2, exp2, exp2l, nd4c_complex_exp2)

#define SPECIAL(name, narrow, wide)                                   \
  VALUE_FUNCTION(name) {                                              \
    (void)kinds;                                                      \
    return (nd4c_value){.f = narrow(inputs[0].f)};                    \
  }                                                                   \
  VALUE_FUNCTION(name##_wide) {                                       \
    (void)kinds;                                                      \
    return (nd4c_value){.f = (double)wide((long double)inputs[0].f)}; \
  }
static double rsqrt_of(double x) {
  return 1 / sqrt(x);
}
static long double rsqrt_of_wide(long double x) {
  return 1 / sqrtl(x);
}
#define DEGREE 0.017453292519943295769236907684886L
static double deg2rad(double x) {
  return (double)DEGREE * x;
}
static long double deg2rad_wide(long double x) {
  return DEGREE * x;
}
static double rad2deg(double x) {
  return x * (1 / (double)DEGREE);
}
static long double rad2deg_wide(long double x) {
  return x * (1 / DEGREE);
}
SPECIAL(cbrt, cbrt, cbrtl)
SPECIAL(rsqrt, rsqrt_of, rsqrt_of_wide)
SPECIAL(erf, erf, erfl)
SPECIAL(erfc, erfc, erfcl)
SPECIAL(erfinv, nd4c_real_erfinv, nd4c_real_erfinv_wide)
SPECIAL(lgamma, lgamma, lgammal)
SPECIAL(gamma, nd4c_real_gamma, nd4c_real_gamma_wide)
SPECIAL(digamma, nd4c_real_digamma, nd4c_real_digamma_wide)
SPECIAL(i0, nd4c_real_i0, nd4c_real_i0_wide)
SPECIAL(i1, nd4c_real_i1, nd4c_real_i1_wide)
SPECIAL(sinc, nd4c_real_sinc, nd4c_real_sinc_wide)
SPECIAL(deg2rad, deg2rad, deg2rad_wide)
SPECIAL(rad2deg, rad2deg, rad2deg_wide)
SPECIAL(logit, nd4c_real_logit, nd4c_real_logit_wide)
SPECIAL(sigmoid, nd4c_real_sigmoid, nd4c_real_sigmoid_wide)
SPECIAL(gelu, nd4c_real_gelu, nd4c_real_gelu_wide)
SPECIAL(gelu_tanh, nd4c_real_gelu_tanh, nd4c_real_gelu_tanh_wide)

#define PAIR(name)                                                                \
  VALUE_FUNCTION(name) {                                                          \
    (void)kinds;                                                                  \
    return (nd4c_value){.f = (double)nd4c_real_##name(inputs[0].f, inputs[1].f)}; \
  }
PAIR(igamma)
PAIR(igammac)
PAIR(zeta)
PAIR(polygamma)

VALUE_FUNCTION(betainc) {
  (void)kinds;
  return (nd4c_value){.f = (double)nd4c_real_betainc(inputs[0].f, inputs[1].f, inputs[2].f)};
}

/* -- parts and bits ------------------------------------------------------------------------------------------- */

VALUE_FUNCTION(trunc) {
  nd4c_value x = inputs[0];
  if (kinds[0] == ND4C_KIND_FLOAT) {
    x.f = trunc(x.f);
  }
  return x;
}

VALUE_FUNCTION(frac) {
  double x = inputs[0].f;
  (void)kinds;
  return (nd4c_value){.f = x - trunc(x)};
}

VALUE_FUNCTION(is_finite) {
  nd4c_value x = inputs[0];
  bool finite = kinds[0] == ND4C_KIND_FLOAT     ? isfinite(x.f)
                : kinds[0] == ND4C_KIND_COMPLEX ? isfinite(creal(x.c)) && isfinite(cimag(x.c))
                                                : true;
  return (nd4c_value){.u = finite};
}

/* Inputs: x, detect_negative, detect_positive. */
VALUE_FUNCTION(is_inf) {
  nd4c_value x = inputs[0];
  double parts[2] = {kinds[0] == ND4C_KIND_FLOAT     ? x.f
                     : kinds[0] == ND4C_KIND_COMPLEX ? creal(x.c)
                                                     : 0,
                     kinds[0] == ND4C_KIND_COMPLEX ? cimag(x.c) : 0};
  bool found = false;
  for (int i = 0; i < 2; i++) {
    found = found || (isinf(parts[i]) && inputs[parts[i] < 0 ? 1 : 2].f != 0);
  }
  return (nd4c_value){.u = found};
}

VALUE_FUNCTION(signbit) {
  (void)kinds;
  return (nd4c_value){.u = signbit(inputs[0].f) != 0};
}

VALUE_FUNCTION(conj) {
  nd4c_value x = inputs[0];
  if (kinds[0] == ND4C_KIND_COMPLEX) {
    x.c = conj(x.c);
  }
  return x;
}

VALUE_FUNCTION(real) {
  nd4c_value x = inputs[0];
  return kinds[0] == ND4C_KIND_COMPLEX ? (nd4c_value){.f = creal(x.c)} : x;
}

VALUE_FUNCTION(imag) {
  nd4c_value x = inputs[0], zero = {.u = 0}; /* the bits of every kind's zero */
  return kinds[0] == ND4C_KIND_COMPLEX ? (nd4c_value){.f = cimag(x.c)} : zero;
}

VALUE_FUNCTION(angle) {
  nd4c_value x = inputs[0];
  if (kinds[0] == ND4C_KIND_COMPLEX) {
    return (nd4c_value){.f = carg(x.c)};
  }
  return (nd4c_value){.f = x.f != x.f ? x.f : x.f < 0 ? 3.14159265358979323846 : 0};
}

VALUE_FUNCTION(bitwise_invert) {
  return (nd4c_value){.u = kinds[0] == ND4C_KIND_BOOL ? inputs[0].u ^ 1 : ~inputs[0].u};
}

VALUE_FUNCTION(bit_count) {
  uint64_t bits = kinds[0] == ND4C_KIND_INT && inputs[0].i < 0 ? 0 - inputs[0].u : inputs[0].u, count = 0;
  for (; bits != 0; bits &= bits - 1) {
    count++;
  }
  return (nd4c_value){.u = count};
}

/* Inputs: x, what stands for NaN, infinity and minus infinity. */
VALUE_FUNCTION(nan_to_num) {
  double x = inputs[0].f;
  (void)kinds;
  return x != x ? inputs[1] : isinf(x) ? inputs[x > 0 ? 2 : 3] : inputs[0];
}
