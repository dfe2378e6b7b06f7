/* Composites for scores and labels of classifiers. import/onnx/ops calls them (learning.c, trees.c, vectors.c). */
#include "base/status.h"
#include "ops/compose/compose.h"

nd4c_status nd4c_compose_both_signs(nd4c_emitter *e, nd4c_emitted scores, double shift, nd4c_emitted *y) {
  nd4c_emitted parts[] = {ND4C_EMITTED_NONE, scores};
  ND4C_TRY(nd4c_emit_unary(e, ND4C_OP_negative, scores, &parts[0]));
  if (shift != 0) {
    ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_add, parts[0], shift, &parts[0]));
  }
  return nd4c_emit_along(e, ND4C_OP_concat, parts, 2, 1, y);
}

nd4c_status nd4c_compose_best_class(nd4c_emitter *e, nd4c_emitted scores, nd4c_emitted *best) {
  return nd4c_compose_arg_reduce(e, ND4C_OP_argmax, scores, 1, false, false, best);
}

nd4c_status nd4c_compose_score_transform(nd4c_emitter *e, nd4c_emitted x, int64_t transform, nd4c_emitted *y) {
  const nd4c_attr attr = nd4c_attr_of_int("transform", transform);
  *y = x;
  return transform == ND4C_POST_TRANSFORM_NONE ? ND4C_OK : nd4c_emit(e, ND4C_OP_score_transform, &x, 1, &attr, 1, y);
}

nd4c_status nd4c_compose_pick(nd4c_emitter *e, nd4c_emitted list, nd4c_emitted index, nd4c_emitted *y) {
  const nd4c_emitted inputs[] = {list, index};
  return nd4c_emit_along(e, ND4C_OP_gather, inputs, 2, 0, y);
}
