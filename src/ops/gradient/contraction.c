/* Rules for the gradients of products. gradient.c looks rules up in this list. */
#include "base/status.h"
#include "ops/gradient/gradient.h"

/* a b: g b^T and a^T g */
ND4C_GRADIENT(product) {
  nd4c_emitted other = step->inputs[1 - index];
  const int32_t rank = nd4c_emitted_get(e, other).rank;
  int64_t axes[ND4C_MAX_RANK];
  if (nd4c_emitted_get(e, step->inputs[index]).rank < 2 || rank < 2) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of a product of other than matrices is not supported");
  }
  for (int32_t i = 0; i < rank; i++) {
    axes[i] = i < rank - 2 ? i : 2 * (int64_t)rank - 3 - i; /* the last two change places */
  }
  ND4C_TRY(nd4c_emit_axes(e, ND4C_OP_transpose, other, rank, axes, &other));
  return nd4c_emit_binary(e, ND4C_OP_matmul, index == 0 ? step->given : other, index == 0 ? other : step->given,
                          gradient);
}

const nd4c_gradient_row nd4c_gradient_contraction[] = {ND4C_GRADIENT_CONTRACTION(ROW){ND4C_OP_NONE, NULL}};
