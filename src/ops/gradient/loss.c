/* Rules for the gradients of losses. gradient.c looks rules up in this list. */
#include "base/status.h"
#include "nd4c/extent.h"
#include "ops/gradient/gradient.h"

static nd4c_status refuse_weights(const nd4c_gradient_step *step) {
  return nd4c_gradient_input(step, 2) == ND4C_EMITTED_NONE
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED, "the gradient of a loss with weights is not supported");
}

/* How many elements x has, as a scalar of its dtype. */
static nd4c_status count_elements(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *count) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, x);
  double known = 1;
  for (int32_t i = 0; i < info.rank; i++) {
    known *= nd4c_extent_is_symbolic(info.shape[i]) ? 1 : (double)info.shape[i];
  }
  ND4C_TRY(nd4c_emit_scalar(e, info.dtype, known, count));
  for (int32_t i = 0; i < info.rank; i++) {
    if (nd4c_extent_is_symbolic(info.shape[i])) {
      nd4c_emitted ones = ND4C_EMITTED_NONE;
      ND4C_TRY(nd4c_emit_full(e, info.dtype, 1, 1, &info.shape[i], &ones));
      ND4C_TRY(nd4c_emit_reduce(e, ND4C_OP_sum, ones, 0, NULL, false, &ones));
      BINARY(multiply, *count, ones, count);
    }
  }
  return ND4C_OK;
}

/* 2 (x - target) g, with g / n of a mean; of the target, minus that */
ND4C_GRADIENT(squared_error) {
  const int64_t reduction = step->attrs[0].as.i;
  ND4C_TRY(refuse_weights(step));
  BINARY(subtract, step->inputs[index], step->inputs[1 - index], gradient);
  BINARY(add, *gradient, *gradient, gradient);
  BINARY(multiply, *gradient, step->given, gradient);
  if (reduction == ND4C_LOSS_REDUCTION_MEAN || reduction == ND4C_LOSS_REDUCTION_MEAN_BY_WEIGHT) {
    nd4c_emitted count = ND4C_EMITTED_NONE;
    ND4C_TRY(count_elements(e, step->inputs[0], &count));
    BINARY(divide, *gradient, count, gradient);
  }
  return ND4C_OK;
}

/* (e^log_probabilities - one_hot(target)) g where the target counts, with g / n of a mean over n that count */
ND4C_GRADIENT(cross_entropy) {
  const nd4c_emitted_info x = nd4c_emitted_get(e, step->inputs[0]);
  const int64_t reduction = step->attrs[0].as.i, ignored = step->attrs[1].as.i;
  nd4c_emitted_info kept = nd4c_emitted_get(e, step->inputs[1]); /* the target's shape with an axis of 1 for classes */
  nd4c_emitted hot = ND4C_EMITTED_NONE, counts = ND4C_EMITTED_NONE, given = step->given, sum = ND4C_EMITTED_NONE;
  if (index != 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "a target of classes has no gradient");
  }
  if (x.rank < 2 || nd4c_extent_is_symbolic(x.shape[1])) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of a cross entropy needs a number of classes");
  }
  ND4C_TRY(refuse_weights(step));
  const nd4c_attr attrs[] = {nd4c_attr_of_int("depth", x.shape[1]), nd4c_attr_of_int("axis", 1),
                             nd4c_attr_of_dtype("dtype", x.dtype)};
  ND4C_TRY(nd4c_emit(e, ND4C_OP_one_hot, &step->inputs[1], 1, attrs, 3, &hot));
  UNARY(exp, step->outputs[1], gradient);
  BINARY(subtract, *gradient, hot, gradient);
  if (ignored < 0 && nd4c_dtype_get_info(kept.dtype)->kind == ND4C_KIND_UINT) {
    ND4C_TRY(nd4c_emit_full(e, x.dtype, 1, kept.rank, kept.shape, &counts));
  } else {
    ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_not_equal, step->inputs[1], (double)ignored, &counts));
    ND4C_TRY(nd4c_emit_cast(e, counts, x.dtype, &counts));
  }
  if (reduction == ND4C_LOSS_REDUCTION_MEAN || reduction == ND4C_LOSS_REDUCTION_MEAN_BY_WEIGHT) {
    ND4C_TRY(nd4c_emit_reduce(e, ND4C_OP_sum, counts, 0, NULL, false, &sum));
    BINARY(divide, given, sum, &given);
  }
  BINARY(multiply, counts, given, &counts); /* of each target */
  for (int32_t i = kept.rank; i > 1; i--) {
    kept.shape[i] = kept.shape[i - 1];
  }
  kept.shape[1] = 1;
  ND4C_TRY(nd4c_emit_reshape(e, counts, kept.rank + 1, kept.shape, &counts));
  return nd4c_emit_binary(e, ND4C_OP_multiply, *gradient, counts, gradient);
}

const nd4c_gradient_row nd4c_gradient_loss[] = {ND4C_GRADIENT_LOSS(ROW){ND4C_OP_NONE, NULL}};
