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

static bool is_mean(const nd4c_gradient_step *step) {
  const int64_t reduction = step->attrs[0].as.i;
  return reduction == ND4C_LOSS_REDUCTION_MEAN || reduction == ND4C_LOSS_REDUCTION_MEAN_BY_WEIGHT;
}

/* -- of elements --------------------------------------------------------------------------------------------------- */

/* g times the slope of each element, with g / n of a mean */
static nd4c_status give_each(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_emitted slope,
                             nd4c_emitted *gradient) {
  ND4C_TRY(refuse_weights(step));
  BINARY(multiply, slope, step->given, gradient);
  if (is_mean(step)) {
    nd4c_emitted count = ND4C_EMITTED_NONE;
    ND4C_TRY(count_elements(e, step->inputs[0], &count));
    BINARY(divide, *gradient, count, gradient);
  }
  return ND4C_OK;
}

/* 2 (x - target); of the target, minus that */
ND4C_GRADIENT(squared_error) {
  BINARY(subtract, step->inputs[index], step->inputs[1 - index], gradient);
  BINARY(add, *gradient, *gradient, gradient);
  return give_each(e, step, *gradient, gradient);
}

/* The sign of x - target; of the target, minus that */
ND4C_GRADIENT(absolute_error) {
  BINARY(subtract, step->inputs[index], step->inputs[1 - index], gradient);
  UNARY(sign, *gradient, gradient);
  return give_each(e, step, *gradient, gradient);
}

/* x - target between -delta and delta; of the target, minus that */
ND4C_GRADIENT(huber) {
  const double delta = step->attrs[ND4C_ATTR_huber_loss_delta].as.f;
  BINARY(subtract, step->inputs[index], step->inputs[1 - index], gradient);
  SCALED(maximum, *gradient, -delta, gradient);
  SCALED(minimum, *gradient, delta, gradient);
  return give_each(e, step, *gradient, gradient);
}

/* (x - target) / beta between -1 and 1 */
ND4C_GRADIENT(smooth_error) {
  const double beta = step->attrs[ND4C_ATTR_smooth_l1_loss_beta].as.f;
  if (beta == 0) {
    return absolute_error(e, step, index, gradient);
  }
  BINARY(subtract, step->inputs[index], step->inputs[1 - index], gradient);
  SCALED(divide, *gradient, beta, gradient);
  SCALED(maximum, *gradient, -1, gradient);
  SCALED(minimum, *gradient, 1, gradient);
  return give_each(e, step, *gradient, gradient);
}

/* Of max(0, 1 - x target): minus the other one where that is above 0 */
ND4C_GRADIENT(hinge) {
  nd4c_emitted product = ND4C_EMITTED_NONE, zero = ND4C_EMITTED_NONE;
  BINARY(multiply, step->inputs[0], step->inputs[1], &product);
  SCALED(less, product, 1, &product);
  UNARY(negative, step->inputs[1 - index], gradient);
  ND4C_TRY(nd4c_emit_scalar_like(e, *gradient, 0, &zero));
  ND4C_TRY(nd4c_emit_where(e, product, *gradient, zero, gradient));
  return give_each(e, step, *gradient, gradient);
}

/* sigmoid(x) - target, the target being smoothed; of the target -x, less what smoothing takes */
ND4C_GRADIENT(binary_cross_entropy) {
  const double smoothing = step->attrs[ND4C_ATTR_sigmoid_cross_entropy_label_smoothing].as.f;
  nd4c_emitted target = ND4C_EMITTED_NONE;
  if (index == 1) {
    SCALED(multiply, step->inputs[0], smoothing - 1, gradient);
  } else {
    SCALED(multiply, step->inputs[1], 1 - smoothing, &target);
    SCALED(add, target, smoothing / 2, &target);
    UNARY(sigmoid, step->inputs[0], gradient);
    BINARY(subtract, *gradient, target, gradient);
  }
  return give_each(e, step, *gradient, gradient);
}

/* e^x - target, and -x */
ND4C_GRADIENT(poisson) {
  if (index == 1) {
    UNARY(negative, step->inputs[0], gradient);
  } else {
    UNARY(exp, step->inputs[0], gradient);
    BINARY(subtract, *gradient, step->inputs[1], gradient);
  }
  return give_each(e, step, *gradient, gradient);
}

/* Of target (ln target - x): -target, and ln target + 1 - x; of e^t (t - x): -e^t, and e^t (t + 1 - x). */
ND4C_GRADIENT(divergence) {
  const nd4c_emitted x = step->inputs[0], target = step->inputs[1];
  const bool logarithm = step->attrs[ND4C_ATTR_kl_divergence_log_target].as.i != 0;
  nd4c_emitted weight = target, part = target;
  if (logarithm) {
    UNARY(exp, target, &weight);
  }
  if (index == 0) {
    UNARY(negative, weight, gradient);
    return give_each(e, step, *gradient, gradient);
  }
  if (!logarithm) {
    UNARY(log, target, &part);
  }
  BINARY(subtract, part, x, gradient);
  SCALED(add, *gradient, 1, gradient);
  if (logarithm) {
    BINARY(multiply, *gradient, weight, gradient);
  }
  return give_each(e, step, *gradient, gradient);
}

/* -- of classes ---------------------------------------------------------------------------------------------------- */

/* (p - one_hot(target)) g where the target counts, with g / n of a mean over n that count; p may be NONE, for 0. */
static nd4c_status give_classes(nd4c_emitter *e, const nd4c_gradient_step *step, int32_t index, nd4c_emitted p,
                                nd4c_emitted *gradient) {
  const nd4c_emitted_info x = nd4c_emitted_get(e, step->inputs[0]);
  const int64_t ignored = step->attrs[1].as.i;
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
  if (p == ND4C_EMITTED_NONE) {
    UNARY(negative, hot, gradient);
  } else {
    BINARY(subtract, p, hot, gradient);
  }
  if (ignored < 0 && nd4c_dtype_get_info(kept.dtype)->kind == ND4C_KIND_UINT) {
    ND4C_TRY(nd4c_emit_full(e, x.dtype, 1, kept.rank, kept.shape, &counts));
  } else {
    ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_not_equal, step->inputs[1], (double)ignored, &counts));
    ND4C_TRY(nd4c_emit_cast(e, counts, x.dtype, &counts));
  }
  if (is_mean(step)) {
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

ND4C_GRADIENT(cross_entropy) {
  nd4c_emitted p = ND4C_EMITTED_NONE;
  UNARY(exp, step->outputs[1], &p);
  return give_classes(e, step, index, p, gradient);
}

ND4C_GRADIENT(likelihood) {
  return give_classes(e, step, index, ND4C_EMITTED_NONE, gradient);
}

const nd4c_gradient_row nd4c_gradient_loss[] = {ND4C_GRADIENT_LOSS(ROW){ND4C_OP_NONE, NULL}};
