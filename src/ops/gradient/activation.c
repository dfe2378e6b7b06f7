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

/* What the rules above read is y alone. */
static nd4c_status by_result(nd4c_emitter *e, nd4c_gradient_rule rule, nd4c_emitted y, nd4c_emitted given,
                             nd4c_emitted *gradient) {
  const nd4c_gradient_step step = {.inputs = &y, .input_count = 1, .output = y, .given = given};
  return rule(e, &step, 0, gradient);
}

nd4c_status nd4c_gradient_before(nd4c_emitter *e, int64_t activation, nd4c_emitted y, nd4c_emitted given,
                                 nd4c_emitted *gradient) {
  switch (activation) {
    case ND4C_ACTIVATION_NONE:
      *gradient = given;
      return ND4C_OK;
    case ND4C_ACTIVATION_RELU: /* y > 0 where x > 0 */
      return by_result(e, rectifier, y, given, gradient);
    case ND4C_ACTIVATION_SIGMOID:
      return by_result(e, sigmoid, y, given, gradient);
    case ND4C_ACTIVATION_TANH:
      return by_result(e, hyperbolic_tangent, y, given, gradient);
    default:
      return nd4c_fail(ND4C_UNSUPPORTED, "its activation has no gradient; an op of its own behind it may have one");
  }
}

const nd4c_gradient_row nd4c_gradient_activation[] = {ND4C_GRADIENT_ACTIVATION(ROW){ND4C_OP_NONE, NULL}};
