/* Rules for the gradients of elementary functions whose rules read attributes, or that ONNX's Gradient does not take.
 * gradient.c looks rules up in this list. */
#include "base/status.h"
#include "ops/gradient/gradient.h"

/* 1 - x */
static nd4c_status subtract_from_one(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  nd4c_emitted one = ND4C_EMITTED_NONE;
  ND4C_TRY(nd4c_emit_scalar_like(e, x, 1, &one));
  return nd4c_emit_binary(e, ND4C_OP_subtract, one, x, y);
}

/* g where the condition holds, else `factor` times g */
static nd4c_status give_where(nd4c_emitter *e, nd4c_emitted condition, nd4c_emitted given, double factor,
                              nd4c_emitted *gradient) {
  nd4c_emitted other = ND4C_EMITTED_NONE;
  if (factor == 0) {
    ND4C_TRY(nd4c_emit_scalar_like(e, given, 0, &other));
  } else {
    SCALED(multiply, given, factor, &other);
  }
  return nd4c_emit_where(e, condition, given, other, gradient);
}

/* factor e^(-(x scale)^2) */
static nd4c_status bell(nd4c_emitter *e, nd4c_emitted x, double scale, double factor, nd4c_emitted *y) {
  SCALED(multiply, x, scale, y);
  UNARY(square, *y, y);
  UNARY(negative, *y, y);
  UNARY(exp, *y, y);
  return nd4c_emit_with_scalar(e, ND4C_OP_multiply, *y, factor, y);
}

static const double two_over_root_pi = 1.1283791670955126, root_half = 0.7071067811865476,
                    bell_height = 0.3989422804014327, root_two_over_pi = 0.7978845608028654, cubic = 0.044715;

/* Of floats true_divide is divide. */
ND4C_GRADIENT(quotient) {
  return nd4c_gradient_find(ND4C_OP_divide)(e, step, index, gradient);
}

ND4C_GRADIENT(error_function) {
  (void)index;
  ND4C_TRY(bell(e, step->inputs[0], 1, two_over_root_pi, gradient));
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->given, *gradient, gradient);
}

/* (1 + erf(x / sqrt 2)) / 2 + x e^(-x^2 / 2) / sqrt(2 pi) */
static nd4c_status exact_slope(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *slope) {
  nd4c_emitted part = ND4C_EMITTED_NONE;
  ND4C_TRY(bell(e, x, root_half, bell_height, &part));
  BINARY(multiply, part, x, &part);
  SCALED(multiply, x, root_half, slope);
  UNARY(erf, *slope, slope);
  SCALED(add, *slope, 1, slope);
  SCALED(multiply, *slope, 0.5, slope);
  return nd4c_emit_binary(e, ND4C_OP_add, *slope, part, slope);
}

/* With t = tanh(u), u = sqrt(2 / pi) (x + 0.044715 x^3): (1 + t) / 2 + x (1 - t^2) u' / 2 */
static nd4c_status approximate_slope(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *slope) {
  nd4c_emitted squared = ND4C_EMITTED_NONE, t = ND4C_EMITTED_NONE, rise = ND4C_EMITTED_NONE;
  SCALED(maximum, x, -16, &x); /* beyond, the slope is 0 or 1, and x^2 may leave float16's range */
  SCALED(minimum, x, 16, &x);
  UNARY(square, x, &squared);
  SCALED(multiply, squared, root_two_over_pi * cubic, &t);
  SCALED(add, t, root_two_over_pi, &t);
  BINARY(multiply, t, x, &t);
  UNARY(tanh, t, &t);
  SCALED(multiply, squared, 3 * root_two_over_pi * cubic, &rise);
  SCALED(add, rise, root_two_over_pi, &rise);
  BINARY(multiply, rise, x, &rise);
  UNARY(square, t, &squared);
  ND4C_TRY(subtract_from_one(e, squared, &squared));
  BINARY(multiply, rise, squared, &rise);
  SCALED(add, t, 1, &t);
  BINARY(add, t, rise, slope);
  return nd4c_emit_with_scalar(e, ND4C_OP_multiply, *slope, 0.5, slope);
}

ND4C_GRADIENT(gaussian_unit) {
  const bool approximate = step->attrs[ND4C_ATTR_gelu_approximate].as.i != 0;
  (void)index;
  ND4C_TRY(approximate ? approximate_slope(e, step->inputs[0], gradient) : exact_slope(e, step->inputs[0], gradient));
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->given, *gradient, gradient);
}

nd4c_status nd4c_gradient_swish_slope(nd4c_emitter *e, nd4c_emitted x, double alpha, nd4c_emitted *slope) {
  nd4c_emitted scaled = ND4C_EMITTED_NONE, s = ND4C_EMITTED_NONE;
  SCALED(multiply, x, alpha, &scaled);
  UNARY(sigmoid, scaled, &s);
  ND4C_TRY(subtract_from_one(e, s, slope));
  BINARY(multiply, *slope, scaled, slope);
  SCALED(add, *slope, 1, slope);
  return nd4c_emit_binary(e, ND4C_OP_multiply, *slope, s, slope);
}

ND4C_GRADIENT(swish) {
  (void)index;
  ND4C_TRY(nd4c_gradient_swish_slope(e, step->inputs[0], step->attrs[ND4C_ATTR_swish_alpha].as.f, gradient));
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->given, *gradient, gradient);
}

/* sigmoid(beta x) */
ND4C_GRADIENT(softplus) {
  (void)index;
  SCALED(multiply, step->inputs[0], step->attrs[ND4C_ATTR_softplus_beta].as.f, gradient);
  UNARY(sigmoid, *gradient, gradient);
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->given, *gradient, gradient);
}

ND4C_GRADIENT(leaky) {
  (void)index;
  SCALED(greater_equal, step->inputs[0], 0, gradient);
  return give_where(e, *gradient, step->given, step->attrs[ND4C_ATTR_leaky_relu_alpha].as.f, gradient);
}

ND4C_GRADIENT(magnitude) {
  (void)index;
  UNARY(sign, step->inputs[0], gradient);
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->given, *gradient, gradient);
}

/* -g y^2 */
ND4C_GRADIENT(reciprocal) {
  (void)index;
  UNARY(square, step->output, gradient);
  BINARY(multiply, step->given, *gradient, gradient);
  return nd4c_emit_unary(e, ND4C_OP_negative, *gradient, gradient);
}

/* a^b: g b a^(b - 1) and g y ln a. Both are 0 where a^b stays as it is, though a factor is infinite for a = 0. */
ND4C_GRADIENT(power) {
  const nd4c_emitted a = step->inputs[0], b = step->inputs[1];
  nd4c_emitted flat = ND4C_EMITTED_NONE, part = ND4C_EMITTED_NONE, zero = ND4C_EMITTED_NONE;
  if (index == 1) {
    UNARY(log, a, gradient);
    BINARY(multiply, *gradient, step->output, gradient);
    SCALED(equal, a, 0, &flat);
    SCALED(greater_equal, b, 0, &part);
    BINARY(logical_and, flat, part, &flat);
  } else {
    SCALED(subtract, b, 1, gradient);
    BINARY(power, a, *gradient, gradient);
    BINARY(multiply, *gradient, b, gradient);
    SCALED(equal, b, 0, &flat);
  }
  ND4C_TRY(nd4c_emit_scalar_like(e, *gradient, 0, &zero));
  ND4C_TRY(nd4c_emit_where(e, flat, zero, *gradient, gradient));
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->given, *gradient, gradient);
}

/* Of equal operands the first has all of g. */
static nd4c_status chosen(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_op first, nd4c_op second, int32_t index,
                          nd4c_emitted *gradient) {
  ND4C_TRY(nd4c_emit_binary(e, index == 0 ? first : second, step->inputs[0], step->inputs[1], gradient));
  return give_where(e, *gradient, step->given, 0, gradient);
}

ND4C_GRADIENT(larger) {
  return chosen(e, step, ND4C_OP_greater_equal, ND4C_OP_less, index, gradient);
}

ND4C_GRADIENT(smaller) {
  return chosen(e, step, ND4C_OP_less_equal, ND4C_OP_greater, index, gradient);
}

/* g where x lies between the bounds */
ND4C_GRADIENT(clipped) {
  const nd4c_emitted low = nd4c_gradient_input(step, ND4C_IN_clip_low),
                     high = nd4c_gradient_input(step, ND4C_IN_clip_high);
  nd4c_emitted inside = ND4C_EMITTED_NONE;
  if (index != 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "a bound has no gradient");
  }
  *gradient = step->given;
  if (low != ND4C_EMITTED_NONE) {
    BINARY(greater_equal, step->inputs[0], low, &inside);
    ND4C_TRY(give_where(e, inside, *gradient, 0, gradient));
  }
  if (high != ND4C_EMITTED_NONE) {
    BINARY(less_equal, step->inputs[0], high, &inside);
    ND4C_TRY(give_where(e, inside, *gradient, 0, gradient));
  }
  return ND4C_OK;
}

const nd4c_gradient_row nd4c_gradient_mathematics[] = {ND4C_GRADIENT_MATHEMATICS(ROW){ND4C_OP_NONE, NULL}};
