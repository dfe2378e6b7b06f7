/* Rules for the gradients of activations. gradient.c looks rules up in this list. */
#include "base/status.h"
#include "ops/gradient/gradient.h"

/* g (1 - y^2) */
ND4C_GRADIENT(hyperbolic_tangent) {
  nd4c_emitted one = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nd4c_emit_scalar_like(e, step->output, 1, &one));
  UNARY(square, step->output, gradient);
  BINARY(subtract, one, *gradient, gradient);
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->given, *gradient, gradient);
}

/* g y (1 - y) */
ND4C_GRADIENT(sigmoid) {
  nd4c_emitted one = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nd4c_emit_scalar_like(e, step->output, 1, &one));
  BINARY(subtract, one, step->output, gradient);
  BINARY(multiply, step->output, *gradient, gradient);
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->given, *gradient, gradient);
}

/* g where x > 0 */
ND4C_GRADIENT(rectifier) {
  nd4c_emitted above = ND4C_EMITTED_NONE, zero = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_greater, step->inputs[0], 0, &above));
  ND4C_TRY(nd4c_emit_scalar_like(e, step->given, 0, &zero));
  return nd4c_emit_where(e, above, step->given, zero, gradient);
}

const nd4c_gradient_row nd4c_gradient_activation[] = {ND4C_GRADIENT_ACTIVATION(ROW){ND4C_OP_NONE, NULL}};
