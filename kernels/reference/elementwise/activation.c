/* Activations as value functions; parameters follow x. Exponential ones come in two widths, see mathematics.h.
 * backends/cpu/reference/elementwise.c passes them to the map. */
#include <math.h>

#include "kernels/reference/elementwise/mathematics.h"

#define VALUE_FUNCTION(name) nd4c_value nd4c_value_##name(const nd4c_dtype_kind *kinds, const nd4c_value *inputs)

/* One text in both widths; x, a and b are the inputs. */
#define EXPONENTIAL(name, type, suffix, result) \
  VALUE_FUNCTION(name##suffix) {                \
    type x = inputs[0].f;                       \
    (void)kinds;                                \
    return (nd4c_value){.f = (double)(result)}; \
  }
#define PARAMETER(i) inputs[i].f
#define BOTH(name, narrow, wide)      \
  EXPONENTIAL(name, double, , narrow) \
  EXPONENTIAL(name, long double, _wide, wide)

static double celu(double x, double alpha) {
  double below = alpha * expm1(x / alpha);
  return (x > 0 ? x : 0) + (below < 0 || below != below ? below : 0);
}

static long double celu_wide(long double x, long double alpha) {
  long double below = alpha * expm1l(x / alpha);
  return (x > 0 ? x : 0) + (below < 0 || below != below ? below : 0);
}

/* tanh(ln(1 + e)) = e (e + 2) / (e (e + 2) + 2) with e = e^x, in which nothing cancels. */
static double mish(double x) {
  if (x > 40 || x == -INFINITY) {
    return x > 40 ? x : -0.0;
  }
  double e = exp(x), product = e * (e + 2);
  return x * (product / (product + 2));
}

static long double mish_wide(long double x) {
  if (x > 60 || x == -INFINITY) {
    return x > 60 ? x : -0.0L;
  }
  long double e = expl(x), product = e * (e + 2);
  return x * (product / (product + 2));
}

static double swish(double x, double alpha) {
  return isinf(x) && alpha * x < 0 ? copysign(0, x) : x * nd4c_real_sigmoid(alpha * x);
}

static long double swish_wide(long double x, long double alpha) {
  return isinf(x) && alpha * x < 0 ? copysignl(0, x) : x * nd4c_real_sigmoid_wide(alpha * x);
}

/* x - tanh x = (x cosh x - sinh x) / cosh x, whose numerator is the sum of 2 k x^(2 k + 1) / (2 k + 1)!. */
static long double tanh_shrink(long double x) {
  if (!(fabsl(x) < 1)) {
    return x - tanhl(x);
  }
  long double square = x * x, term = x, sum = 0;
  for (int k = 1; k < 14; k++) {
    term *= square / ((2 * k) * (2 * k + 1));
    sum += 2 * k * term;
  }
  return sum / coshl(x);
}

/* 1 - 1 / (1 + p) = p / (1 + p). */
static long double rational_tanh(long double x) {
  long double u = fabsl(x) * 2 / 3, p = u + u * u + 1.41645L * u * u * u * u;
  return copysignl(1.7159L * (isinf(p) ? 1 : p / (1 + p)), x);
}

BOTH(elu, x > 0 ? x : PARAMETER(1) * expm1(x), x > 0 ? x : PARAMETER(1) * expm1l(x))
BOTH(selu, PARAMETER(2) * (x > 0 ? x : PARAMETER(1) * expm1(x)),
     (long double)PARAMETER(2) * (x > 0 ? x : (long double)PARAMETER(1) * expm1l(x)))
BOTH(celu, celu(x, PARAMETER(1)), celu_wide(x, PARAMETER(1)))
BOTH(softplus, nd4c_real_softplus(PARAMETER(1) * x) / PARAMETER(1),
     nd4c_real_softplus_wide(PARAMETER(1) * x) / PARAMETER(1))
BOTH(mish, mish(x), mish_wide(x))
BOTH(swish, swish(x, PARAMETER(1)), swish_wide(x, PARAMETER(1)))
BOTH(glu, x *nd4c_real_sigmoid(PARAMETER(1)), x *nd4c_real_sigmoid_wide(PARAMETER(1)))
BOTH(swiglu, swish(x, PARAMETER(2)) * PARAMETER(1), swish_wide(x, PARAMETER(2)) * PARAMETER(1))
BOTH(log_sigmoid, -nd4c_real_softplus(-x), -nd4c_real_softplus_wide(-x))
BOTH(tanh_shrink, tanh_shrink(x), tanh_shrink(x))
BOTH(rational_tanh, rational_tanh(x), rational_tanh(x))
BOTH(rectified_tanh, x < 0 ? 0 : tanh(x), x < 0 ? 0 : tanhl(x))

/* -- no exponentials ----------------------------------------------------------------------------------------------- */

VALUE_FUNCTION(softsign) {
  double x = inputs[0].f;
  (void)kinds;
  return (nd4c_value){.f = isinf(x) ? copysign(1, x) : (double)(x / (1 + fabsl((long double)x)))};
}

static double bounded(double x, double low, double high) {
  double raised = x < low ? low : x;
  return raised > high ? high : raised;
}

VALUE_FUNCTION(hard_sigmoid) {
  (void)kinds;
  return (nd4c_value){.f = bounded((double)((long double)inputs[1].f * inputs[0].f + inputs[2].f), 0, 1)};
}

VALUE_FUNCTION(hard_swish) {
  double x = inputs[0].f;
  (void)kinds;
  return (nd4c_value){.f = x <= -3 ? -0.0 : x >= 3 ? x : (double)((long double)x * ((long double)x + 3) / 6)};
}

VALUE_FUNCTION(hard_tanh) {
  (void)kinds;
  return (nd4c_value){.f = bounded(inputs[0].f, inputs[1].f, inputs[2].f)};
}

VALUE_FUNCTION(threshold) {
  double x = inputs[0].f;
  (void)kinds;
  return x <= inputs[1].f ? inputs[2] : inputs[0];
}

VALUE_FUNCTION(shrink) {
  double x = inputs[0].f, lambd = inputs[1].f, bias = inputs[2].f;
  (void)kinds;
  return (nd4c_value){.f = x != x ? x : x > lambd ? x - bias : x < -lambd ? x + bias : 0};
}

VALUE_FUNCTION(negative_relu) {
  nd4c_value negated = nd4c_value_negative(kinds, inputs);
  return nd4c_value_relu(kinds, &negated);
}

VALUE_FUNCTION(prelu) {
  nd4c_value x = inputs[0];
  bool below = kinds[0] == ND4C_KIND_FLOAT ? x.f < 0 : kinds[0] == ND4C_KIND_INT && x.i < 0;
  return below ? nd4c_value_multiply(kinds, inputs) : x;
}

/* Of floats in long double: for float64 the square alone would be rounded. */
VALUE_FUNCTION(cube) {
  nd4c_value x = inputs[0], squared[2] = {nd4c_value_square(kinds, inputs), x};
  if (kinds[0] == ND4C_KIND_FLOAT) {
    return (nd4c_value){.f = (double)((long double)x.f * x.f * x.f)};
  }
  return nd4c_value_multiply(kinds, squared);
}
