/* Rules for the gradients of logarithms, of trigonometric and hyperbolic functions and their inverses. gradient.c looks
 * rules up in this list. */
#include "base/status.h"
#include "ops/gradient/gradient.h"

static const double log_2 = 0x1.62e42fefa39efp-1, log_10 = 0x1.26bb1bbb55516p+1;

/* g, which is given, times a slope; or g over its reciprocal. */
static nd4c_status multiplied(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_emitted slope,
                              nd4c_emitted *gradient) {
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->given, slope, gradient);
}

static nd4c_status divided(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_emitted by, nd4c_emitted *gradient) {
  return nd4c_emit_binary(e, ND4C_OP_divide, step->given, by, gradient);
}

/* 1 - x^2; (1 - x) (1 + x) keeps the digits that x^2 near 1 would cancel. */
static nd4c_status one_less_square(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  nd4c_emitted less, more;
  UNARY(negative, x, &less);
  SCALED(add, less, 1, &less);
  SCALED(add, x, 1, &more);
  return nd4c_emit_binary(e, ND4C_OP_multiply, less, more, y);
}

/* x^2 + 1 */
static nd4c_status square_and_one(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  BINARY(multiply, x, x, y);
  SCALED(add, *y, 1, y);
  return ND4C_OK;
}

/* g / (1 + x) */
ND4C_GRADIENT(logarithm_near_one) {
  (void)index;
  SCALED(add, step->inputs[0], 1, gradient);
  return divided(e, step, *gradient, gradient);
}

/* g (y + 1) */
ND4C_GRADIENT(exponential_less_one) {
  (void)index;
  SCALED(add, step->output, 1, gradient);
  return multiplied(e, step, *gradient, gradient);
}

/* g y ln 2 */
ND4C_GRADIENT(power_of_two) {
  (void)index;
  SCALED(multiply, step->output, log_2, gradient);
  return multiplied(e, step, *gradient, gradient);
}

/* g / (x ln 2) */
ND4C_GRADIENT(binary_logarithm) {
  (void)index;
  SCALED(multiply, step->inputs[0], log_2, gradient);
  return divided(e, step, *gradient, gradient);
}

/* g / (x ln 10) */
ND4C_GRADIENT(decimal_logarithm) {
  (void)index;
  SCALED(multiply, step->inputs[0], log_10, gradient);
  return divided(e, step, *gradient, gradient);
}

/* g (1 + y^2) */
ND4C_GRADIENT(tangent) {
  (void)index;
  ND4C_TRY(square_and_one(e, step->output, gradient));
  return multiplied(e, step, *gradient, gradient);
}

ND4C_GRADIENT(hyperbolic_sine) {
  (void)index;
  UNARY(cosh, step->inputs[0], gradient);
  return multiplied(e, step, *gradient, gradient);
}

ND4C_GRADIENT(hyperbolic_cosine) {
  (void)index;
  UNARY(sinh, step->inputs[0], gradient);
  return multiplied(e, step, *gradient, gradient);
}

/* g / sqrt(1 - x^2) */
ND4C_GRADIENT(arc_sine) {
  (void)index;
  ND4C_TRY(one_less_square(e, step->inputs[0], gradient));
  UNARY(sqrt, *gradient, gradient);
  return divided(e, step, *gradient, gradient);
}

ND4C_GRADIENT(arc_cosine) {
  ND4C_TRY(arc_sine(e, step, index, gradient));
  return nd4c_emit_unary(e, ND4C_OP_negative, *gradient, gradient);
}

/* g / (1 + x^2) */
ND4C_GRADIENT(arc_tangent) {
  (void)index;
  ND4C_TRY(square_and_one(e, step->inputs[0], gradient));
  return divided(e, step, *gradient, gradient);
}

/* g / sqrt(1 + x^2) */
ND4C_GRADIENT(area_sine) {
  (void)index;
  ND4C_TRY(square_and_one(e, step->inputs[0], gradient));
  UNARY(sqrt, *gradient, gradient);
  return divided(e, step, *gradient, gradient);
}

/* g / sqrt((x - 1) (x + 1)) */
ND4C_GRADIENT(area_cosine) {
  nd4c_emitted more;
  (void)index;
  SCALED(subtract, step->inputs[0], 1, gradient);
  SCALED(add, step->inputs[0], 1, &more);
  BINARY(multiply, *gradient, more, gradient);
  UNARY(sqrt, *gradient, gradient);
  return divided(e, step, *gradient, gradient);
}

/* g / (1 - x^2) */
ND4C_GRADIENT(area_tangent) {
  (void)index;
  ND4C_TRY(one_less_square(e, step->inputs[0], gradient));
  return divided(e, step, *gradient, gradient);
}

/* g / (3 y^2) */
ND4C_GRADIENT(cube_root) {
  (void)index;
  BINARY(multiply, step->output, step->output, gradient);
  SCALED(multiply, *gradient, 3, gradient);
  return divided(e, step, *gradient, gradient);
}

/* Of the angle of (b, a): b / (a^2 + b^2) and -a / (a^2 + b^2), by way of the distance r: (b / r) / r, so that squares
 * do not leave the range. */
ND4C_GRADIENT(angle) {
  nd4c_emitted distance;
  BINARY(hypot, step->inputs[0], step->inputs[1], &distance);
  BINARY(divide, step->inputs[1 - index], distance, gradient);
  BINARY(divide, *gradient, distance, gradient);
  if (index == 1) {
    UNARY(negative, *gradient, gradient);
  }
  return multiplied(e, step, *gradient, gradient);
}

/* g a / y */
ND4C_GRADIENT(distance) {
  BINARY(divide, step->inputs[index], step->output, gradient);
  return multiplied(e, step, *gradient, gradient);
}

/* g exp(a - y) */
ND4C_GRADIENT(logarithm_of_sum) {
  BINARY(subtract, step->inputs[index], step->output, gradient);
  UNARY(exp, *gradient, gradient);
  return multiplied(e, step, *gradient, gradient);
}

/* g exp2(a - y) */
ND4C_GRADIENT(binary_logarithm_of_sum) {
  BINARY(subtract, step->inputs[index], step->output, gradient);
  UNARY(exp2, *gradient, gradient);
  return multiplied(e, step, *gradient, gradient);
}

/* -g y / (2 x) */
ND4C_GRADIENT(reciprocal_root) {
  (void)index;
  BINARY(divide, step->output, step->inputs[0], gradient);
  SCALED(multiply, *gradient, -0.5, gradient);
  return multiplied(e, step, *gradient, gradient);
}

/* 1 - erf x falls as erf x rises. */
ND4C_GRADIENT(complement) {
  ND4C_TRY(nd4c_gradient_find_any(ND4C_OP_erf)(e, step, index, gradient));
  return nd4c_emit_unary(e, ND4C_OP_negative, *gradient, gradient);
}

/* g / (x (1 - x)) */
ND4C_GRADIENT(log_odds) {
  (void)index;
  UNARY(negative, step->inputs[0], gradient);
  SCALED(add, *gradient, 1, gradient);
  BINARY(multiply, *gradient, step->inputs[0], gradient);
  return divided(e, step, *gradient, gradient);
}

ND4C_GRADIENT(log_gamma) {
  (void)index;
  UNARY(digamma, step->inputs[0], gradient);
  return multiplied(e, step, *gradient, gradient);
}

ND4C_GRADIENT(to_radians) {
  (void)index;
  return nd4c_emit_unary(e, ND4C_OP_deg2rad, step->given, gradient);
}

ND4C_GRADIENT(to_degrees) {
  (void)index;
  return nd4c_emit_unary(e, ND4C_OP_rad2deg, step->given, gradient);
}

ND4C_GRADIENT(unchanged) {
  (void)e, (void)index;
  *gradient = step->given;
  return ND4C_OK;
}

/* 2 g (a - b) and its opposite */
ND4C_GRADIENT(squared_distance) {
  BINARY(subtract, step->inputs[index], step->inputs[1 - index], gradient);
  BINARY(add, *gradient, *gradient, gradient);
  return multiplied(e, step, *gradient, gradient);
}

/* Of a ln b: ln b, or 0 where 0 ln 0 is 0, and a / b */
ND4C_GRADIENT(product_with_logarithm) {
  const nd4c_emitted a = step->inputs[0], b = step->inputs[1];
  nd4c_emitted counts = ND4C_EMITTED_NONE;
  if (index == 1) {
    BINARY(divide, a, b, gradient);
  } else {
    SCALED(not_equal, a, 0, &counts);
    ND4C_TRY(nd4c_emit_cast(e, counts, nd4c_emitted_get(e, a).dtype, &counts));
    BINARY(xlogy, counts, b, gradient);
  }
  return multiplied(e, step, *gradient, gradient);
}

/* y = a - b n: g, and -g n with the integer n = (a - y) / b */
ND4C_GRADIENT(rest) {
  if (index == 0) {
    return unchanged(e, step, index, gradient);
  }
  BINARY(subtract, step->output, step->inputs[0], gradient);
  BINARY(divide, *gradient, step->inputs[1], gradient);
  UNARY(round, *gradient, gradient);
  return multiplied(e, step, *gradient, gradient);
}

/* What changes in steps has the slope 0. */
ND4C_GRADIENT(level) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[index]);
  return nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, gradient);
}

const nd4c_gradient_row nd4c_gradient_functions[] = {ND4C_GRADIENT_FUNCTIONS(ROW){ND4C_OP_NONE, NULL}};
