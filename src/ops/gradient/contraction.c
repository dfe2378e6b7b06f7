/* Rules for the gradients of products. gradient.c looks rules up in this list. */
#include "base/status.h"
#include "ops/gradient/gradient.h"

/* a b: g b^T and a^T g */
ND4C_GRADIENT(product) {
  nd4c_emitted other = step->inputs[1 - index];
  if (nd4c_emitted_get(e, step->inputs[0]).rank != 2 || nd4c_emitted_get(e, step->inputs[1]).rank != 2) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of a product of other than matrices is not supported");
  }
  ND4C_TRY(nd4c_emit_transposed(e, other, &other));
  return nd4c_emit_binary(e, ND4C_OP_matmul, index == 0 ? step->given : other, index == 0 ? other : step->given,
                          gradient);
}

const nd4c_gradient_row nd4c_gradient_contraction[] = {ND4C_GRADIENT_CONTRACTION(ROW){ND4C_OP_NONE, NULL}};
