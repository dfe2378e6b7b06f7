/* Rules for the gradients of arithmetic and elementary functions. gradient.c looks rules up in this list. */
#include "base/status.h"
#include "ops/gradient/gradient.h"

ND4C_GRADIENT(pass) {
  (void)e, (void)index;
  *gradient = step->given;
  return ND4C_OK;
}

ND4C_GRADIENT(negative) {
  (void)index;
  return nd4c_emit_unary(e, ND4C_OP_negative, step->given, gradient);
}

ND4C_GRADIENT(subtract) {
  return index == 0 ? pass(e, step, index, gradient) : negative(e, step, index, gradient);
}

ND4C_GRADIENT(multiply) {
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->given, step->inputs[1 - index], gradient);
}

/* a / b: 1 / b and -(a / b) / b */
ND4C_GRADIENT(divide) {
  BINARY(divide, step->given, step->inputs[1], gradient);
  if (index == 1) {
    BINARY(multiply, *gradient, step->output, gradient);
    UNARY(negative, *gradient, gradient);
  }
  return ND4C_OK;
}

ND4C_GRADIENT(exponential) {
  (void)index;
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->given, step->output, gradient);
}

ND4C_GRADIENT(logarithm) {
  (void)index;
  return nd4c_emit_binary(e, ND4C_OP_divide, step->given, step->inputs[0], gradient);
}

/* g / (2 y) */
ND4C_GRADIENT(square_root) {
  (void)index;
  BINARY(add, step->output, step->output, gradient);
  return nd4c_emit_binary(e, ND4C_OP_divide, step->given, *gradient, gradient);
}

ND4C_GRADIENT(sine) {
  (void)index;
  UNARY(cos, step->inputs[0], gradient);
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->given, *gradient, gradient);
}

ND4C_GRADIENT(cosine) {
  (void)index;
  UNARY(sin, step->inputs[0], gradient);
  BINARY(multiply, step->given, *gradient, gradient);
  return nd4c_emit_unary(e, ND4C_OP_negative, *gradient, gradient);
}

const nd4c_gradient_row nd4c_gradient_elementwise[] = {ND4C_GRADIENT_ELEMENTWISE(ROW){ND4C_OP_NONE, NULL}};
