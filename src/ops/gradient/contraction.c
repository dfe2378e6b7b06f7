/* Rules for the gradients of products. gradient.c looks rules up in this list. */
#include "base/status.h"
#include "ops/gradient/gradient.h"

/* x with an axis of 1 in front of its last axis, or behind it. */
static nd4c_status expand(nd4c_emitter *e, nd4c_emitted x, int64_t axis, nd4c_emitted *y) {
  return nd4c_emit_axes(e, ND4C_OP_expand_dims, x, 1, &axis, y);
}

/* The last two axes change places. */
static nd4c_status turn(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  return nd4c_emit_unary(e, ND4C_OP_matrix_transpose, x, y);
}

/* a b: g b^T and a^T g. A vector a is a row, a vector b is a column, and g lacks their axes. */
ND4C_GRADIENT(product) {
  nd4c_emitted a = step->inputs[0], b = step->inputs[1], given = step->given;
  const bool row = nd4c_emitted_get(e, a).rank == 1, column = nd4c_emitted_get(e, b).rank == 1;
  if (column) {
    ND4C_TRY(expand(e, b, -1, &b));
    ND4C_TRY(expand(e, given, -1, &given));
  }
  if (row) {
    ND4C_TRY(expand(e, a, -2, &a));
    ND4C_TRY(expand(e, given, -2, &given));
  }
  ND4C_TRY(turn(e, index == 0 ? b : a, index == 0 ? &b : &a));
  ND4C_TRY(nd4c_emit_binary(e, ND4C_OP_matmul, index == 0 ? given : a, index == 0 ? b : given, gradient));
  const int64_t dropped = index == 0 ? -2 : -1;
  return (index == 0 ? row : column) ? nd4c_emit_axes(e, ND4C_OP_squeeze, *gradient, 1, &dropped, gradient) : ND4C_OK;
}

const nd4c_gradient_row nd4c_gradient_contraction[] = {ND4C_GRADIENT_CONTRACTION(ROW){ND4C_OP_NONE, NULL}};
