/* Rules for the gradients of activations beside those that ONNX's Gradient takes: elu, selu, mish, hard_swish, prelu,
 * glu and others. gradient.c looks rules up in this list. */
#include "base/status.h"
#include "nd4c/extent.h"
#include "ops/gradient/gradient.h"

#define ATTR(op, name) (step->attrs[ND4C_ATTR_##op##_##name].as.f)

static nd4c_status multiplied(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_emitted slope,
                              nd4c_emitted *gradient) {
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->given, slope, gradient);
}

/* `value` where x compares to the number, else `other`, which may be a number, too. */
static nd4c_status choose(nd4c_emitter *e, nd4c_op comparison, nd4c_emitted x, double number, nd4c_emitted value,
                          nd4c_emitted other, nd4c_emitted *y) {
  nd4c_emitted condition = ND4C_EMITTED_NONE;
  ND4C_TRY(nd4c_emit_with_scalar(e, comparison, x, number, &condition));
  return nd4c_emit_where(e, condition, value, other, y);
}

static nd4c_status nothing(nd4c_emitter *e, nd4c_emitted like, nd4c_emitted *zero) {
  return nd4c_emit_scalar_like(e, like, 0, zero);
}

/* g where x lies between two numbers, which have no slope themselves */
static nd4c_status give_between(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_emitted x, double low,
                                double high, nd4c_emitted *gradient) {
  nd4c_emitted zero = ND4C_EMITTED_NONE;
  ND4C_TRY(nothing(e, step->given, &zero));
  ND4C_TRY(choose(e, ND4C_OP_greater, x, low, step->given, zero, gradient));
  return choose(e, ND4C_OP_less, x, high, *gradient, zero, gradient);
}

/* g scale above 0; at 0 and below g (y + below), as scale alpha (e^x - 1) has the slope scale alpha e^x. */
static nd4c_status exponential_unit(nd4c_emitter *e, const nd4c_gradient_step *step, double scale, double below,
                                    nd4c_emitted *gradient) {
  nd4c_emitted above = ND4C_EMITTED_NONE;
  ND4C_TRY(nd4c_emit_scalar_like(e, step->output, scale, &above));
  SCALED(add, step->output, below, gradient);
  ND4C_TRY(choose(e, ND4C_OP_greater, step->inputs[0], 0, above, *gradient, gradient));
  return multiplied(e, step, *gradient, gradient);
}

ND4C_GRADIENT(elu) {
  (void)index;
  return exponential_unit(e, step, 1, ATTR(elu, alpha), gradient);
}

ND4C_GRADIENT(selu) {
  (void)index;
  return exponential_unit(e, step, ATTR(selu, gamma), ATTR(selu, gamma) * ATTR(selu, alpha), gradient);
}

/* e^(x / alpha) below 0, which is y / alpha + 1 */
ND4C_GRADIENT(celu) {
  nd4c_emitted one = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nd4c_emit_scalar_like(e, step->output, 1, &one));
  SCALED(divide, step->output, ATTR(celu, alpha), gradient);
  SCALED(add, *gradient, 1, gradient);
  ND4C_TRY(choose(e, ND4C_OP_greater, step->inputs[0], 0, one, *gradient, gradient));
  return multiplied(e, step, *gradient, gradient);
}

/* g / (1 + |x|)^2, by two quotients: the square may leave float16's range. */
ND4C_GRADIENT(softsign) {
  nd4c_emitted size = ND4C_EMITTED_NONE;
  (void)index;
  UNARY(abs, step->inputs[0], &size);
  SCALED(add, size, 1, &size);
  BINARY(divide, step->given, size, gradient);
  return nd4c_emit_binary(e, ND4C_OP_divide, *gradient, size, gradient);
}

ND4C_GRADIENT(hard_sigmoid) {
  (void)index;
  ND4C_TRY(give_between(e, step, step->output, 0, 1, gradient));
  return nd4c_emit_with_scalar(e, ND4C_OP_multiply, *gradient, ATTR(hard_sigmoid, alpha), gradient);
}

/* x / 3 + 1/2 from -3 to 3, 1 above */
ND4C_GRADIENT(hard_swish) {
  const nd4c_emitted x = step->inputs[0];
  nd4c_emitted zero = ND4C_EMITTED_NONE, one = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nothing(e, x, &zero));
  ND4C_TRY(nd4c_emit_scalar_like(e, x, 1, &one));
  SCALED(divide, x, 3, gradient);
  SCALED(add, *gradient, 0.5, gradient);
  ND4C_TRY(choose(e, ND4C_OP_greater, x, 3, one, *gradient, gradient));
  ND4C_TRY(choose(e, ND4C_OP_less, x, -3, zero, *gradient, gradient));
  return multiplied(e, step, *gradient, gradient);
}

/* With t = tanh(softplus(x)): t + x (1 - t^2) sigmoid(x) */
ND4C_GRADIENT(mish) {
  nd4c_emitted x = step->inputs[0], t = ND4C_EMITTED_NONE, part = ND4C_EMITTED_NONE;
  (void)index;
  SCALED(maximum, x, -1000, &x); /* beyond, the slope is 0 or 1, and infinity times 0 is none */
  SCALED(minimum, x, 1000, &x);
  UNARY(softplus, x, &t);
  UNARY(tanh, t, &t);
  UNARY(square, t, &part);
  UNARY(negative, part, &part);
  SCALED(add, part, 1, &part);
  BINARY(multiply, part, x, &part);
  UNARY(sigmoid, x, gradient);
  BINARY(multiply, part, *gradient, &part);
  BINARY(add, t, part, gradient);
  return multiplied(e, step, *gradient, gradient);
}

/* Below 0: g slope for x, g x for the slope. */
ND4C_GRADIENT(prelu) {
  const nd4c_emitted x = step->inputs[0];
  nd4c_emitted above = step->given;
  if (index == 1) {
    ND4C_TRY(nothing(e, step->given, &above));
  }
  ND4C_TRY(multiplied(e, step, index == 0 ? step->inputs[1] : x, gradient));
  return choose(e, ND4C_OP_greater_equal, x, 0, above, *gradient, gradient);
}

ND4C_GRADIENT(threshold) {
  nd4c_emitted zero = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nothing(e, step->given, &zero));
  return choose(e, ND4C_OP_greater, step->inputs[0], ATTR(threshold, threshold), step->given, zero, gradient);
}

ND4C_GRADIENT(hard_tanh) {
  (void)index;
  return give_between(e, step, step->inputs[0], ATTR(hard_tanh, low), ATTR(hard_tanh, high), gradient);
}

ND4C_GRADIENT(log_sigmoid) {
  (void)index;
  UNARY(negative, step->inputs[0], gradient);
  UNARY(sigmoid, *gradient, gradient);
  return multiplied(e, step, *gradient, gradient);
}

/* g tanh(x)^2 */
ND4C_GRADIENT(tanh_shrink) {
  (void)index;
  UNARY(tanh, step->inputs[0], gradient);
  UNARY(square, *gradient, gradient);
  return multiplied(e, step, *gradient, gradient);
}

ND4C_GRADIENT(shrink) {
  nd4c_emitted zero = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nothing(e, step->given, &zero));
  ND4C_TRY(choose(e, ND4C_OP_less, step->inputs[0], -ATTR(shrink, lambd), step->given, zero, gradient));
  return choose(e, ND4C_OP_greater, step->inputs[0], ATTR(shrink, lambd), step->given, *gradient, gradient);
}

/* 3 g x^2 */
ND4C_GRADIENT(cube) {
  (void)index;
  UNARY(square, step->inputs[0], gradient);
  SCALED(multiply, *gradient, 3, gradient);
  return multiplied(e, step, *gradient, gradient);
}

/* g (1 - y^2) where y > 0 */
ND4C_GRADIENT(rectified_tanh) {
  nd4c_emitted zero = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nothing(e, step->given, &zero));
  UNARY(square, step->output, gradient);
  UNARY(negative, *gradient, gradient);
  SCALED(add, *gradient, 1, gradient);
  ND4C_TRY(multiplied(e, step, *gradient, gradient));
  return choose(e, ND4C_OP_greater, step->output, 0, *gradient, zero, gradient);
}

/* -- gates --------------------------------------------------------------------------------------------------------- */

/* The halves of an array along an axis. */
static nd4c_status halve(nd4c_emitter *e, nd4c_emitted x, int64_t named, nd4c_emitted *halves) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, x);
  const int64_t axis = named < 0 ? named + info.rank : named, extent = info.shape[axis];
  if (nd4c_extent_is_symbolic(extent)) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of halves needs a number along their axis");
  }
  ND4C_TRY(nd4c_emit_slice(e, x, axis, 0, extent / 2, 1, &halves[0]));
  return nd4c_emit_slice(e, x, axis, extent / 2, extent, 1, &halves[1]);
}

/* Of a s with s = sigmoid(b): g s, and g a s (1 - s) = g s (a - a s) */
ND4C_GRADIENT(glu) {
  const int64_t axis = step->attrs[ND4C_ATTR_glu_axis].as.i;
  nd4c_emitted halves[2], parts[2], s = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(halve(e, step->inputs[0], axis, halves));
  UNARY(sigmoid, halves[1], &s);
  ND4C_TRY(multiplied(e, step, s, &parts[0]));
  BINARY(subtract, halves[0], step->output, &parts[1]);
  BINARY(multiply, parts[0], parts[1], &parts[1]);
  return nd4c_emit_along(e, ND4C_OP_concat, parts, 2, axis, gradient);
}

/* The first half of g above 0, less the second below */
ND4C_GRADIENT(crelu) {
  nd4c_emitted halves[2], zero = ND4C_EMITTED_NONE, below = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(halve(e, step->given, step->attrs[ND4C_ATTR_crelu_axis].as.i, halves));
  ND4C_TRY(nothing(e, step->given, &zero));
  UNARY(negative, halves[1], &below);
  ND4C_TRY(choose(e, ND4C_OP_less, step->inputs[0], 0, below, zero, &below));
  return choose(e, ND4C_OP_greater, step->inputs[0], 0, halves[0], below, gradient);
}

/* Of b swish(a): g b swish'(a), and g swish(a) */
ND4C_GRADIENT(swiglu) {
  const double alpha = ATTR(swiglu, alpha);
  const nd4c_attr attr = nd4c_attr_of_float("alpha", alpha);
  if (index == 0) {
    ND4C_TRY(nd4c_gradient_swish_slope(e, step->inputs[0], alpha, gradient));
    BINARY(multiply, *gradient, step->inputs[1], gradient);
  } else {
    ND4C_TRY(nd4c_emit(e, ND4C_OP_swish, step->inputs, 1, &attr, 1, gradient));
  }
  return multiplied(e, step, *gradient, gradient);
}

const nd4c_gradient_row nd4c_gradient_units[] = {ND4C_GRADIENT_UNITS(ROW){ND4C_OP_NONE, NULL}};
