/* Inference rules of matmul and linear (op_table/contraction.h). nd4c_op_infer (infer.c) calls the rule that an op's
 * row names. */
#include "array/shape.h"
#include "base/status.h"
#include "ops/infer/rules.h"

static nd4c_status check_operand(const nd4c_inference *inference, int32_t position) {
  if (inference->inputs[position].rank > 0) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected at least 1 axis");
}

/* The batch axes of both, broadcast, become the first axes of the result. */
static nd4c_status matmul_batch(nd4c_inference *inference) {
  const nd4c_tensor *a = &inference->inputs[0], *b = &inference->inputs[1];
  nd4c_inferred *output = &inference->outputs[0];
  int32_t a_batch = a->rank > 2 ? a->rank - 2 : 0, b_batch = b->rank > 2 ? b->rank - 2 : 0;
  nd4c_status status =
      nd4c_rule_broadcast_shapes(inference, a_batch, a->shape, b_batch, b->shape, &output->rank, output->shape);
  if (status == ND4C_OK) {
    return ND4C_OK;
  }
  char text[ND4C_RULE_TEXT_SIZE / 2];
  return nd4c_rule_refuse(inference, 1, status, "expected axes before the last two that broadcast with input a's %s",
                          nd4c_shape_text(a->rank, a->shape, text, sizeof text));
}

/* Gives: the batch axes that the inputs broadcast to, then the rows of a and the columns of b, in the dtype that the
 * inputs promote to. A vector has no rows (a) or no columns (b). */
nd4c_status nd4c_infer_matmul(nd4c_inference *inference) {
  const nd4c_tensor *a = &inference->inputs[0], *b = &inference->inputs[1];
  nd4c_inferred *output = &inference->outputs[0];
  nd4c_dtype dtype;
  ND4C_TRY(nd4c_rule_accepted_dtype(inference, 1));
  ND4C_TRY(nd4c_rule_promote(inference, 0, 1, &dtype));
  ND4C_TRY(check_operand(inference, 0));
  ND4C_TRY(check_operand(inference, 1));
  int64_t a_inner = a->shape[a->rank - 1], b_inner = b->shape[b->rank > 1 ? b->rank - 2 : 0];
  if (!nd4c_rule_is_equal(inference, a_inner, b_inner)) {
    char text[ND4C_RULE_TEXT_SIZE / 2];
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected %lld rows for input a's %s, not %lld",
                            (long long)a_inner, nd4c_shape_text(a->rank, a->shape, text, sizeof text),
                            (long long)b_inner);
  }
  ND4C_TRY(matmul_batch(inference));
  output->dtype = dtype;
  if (a->rank > 1) {
    output->shape[output->rank++] = a->shape[a->rank - 2];
  }
  if (b->rank > 1) {
    output->shape[output->rank++] = b->shape[b->rank - 1];
  }
  return ND4C_OK;
}

/* Gives: x with its last axis replaced by the columns of w (transpose_w: its rows), in x's dtype. bias and addend
 * broadcast to that. */
nd4c_status nd4c_infer_linear(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[ND4C_IN_linear_x], *w = &inference->inputs[ND4C_IN_linear_w];
  for (int32_t i = ND4C_IN_linear_w; i < ND4C_IN_linear_count; i++) {
    ND4C_TRY(nd4c_rule_same_dtype(inference, i));
  }
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_linear_activation));
  ND4C_TRY(check_operand(inference, ND4C_IN_linear_x));
  bool transposed = inference->attrs[ND4C_ATTR_linear_transpose_w].as.i != 0;
  int64_t k = x->shape[x->rank - 1];
  if (w->rank != 2 || !nd4c_rule_is_equal(inference, w->shape[transposed ? 1 : 0], k)) {
    return nd4c_rule_refuse(inference, ND4C_IN_linear_w, ND4C_SHAPE, "expected %s with k = %lld, the last axis of x",
                            transposed ? "[n, k]" : "[k, n]", (long long)k);
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  inference->outputs[0].shape[x->rank - 1] = w->shape[transposed ? 0 : 1];
  ND4C_TRY(nd4c_rule_broadcasts_to_output(inference, ND4C_IN_linear_bias));
  return nd4c_rule_broadcasts_to_output(inference, ND4C_IN_linear_addend);
}
