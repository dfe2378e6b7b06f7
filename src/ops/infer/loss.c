/* Inference rules of losses and optimisers (op_table/loss.h). nd4c_op_infer (infer.c) calls the rule that an op's row
 * names. */
#include <math.h>

#include "base/status.h"
#include "ops/infer/rules.h"

/* All losses begin with x, target, weights and with the attribute reduction. */
_Static_assert((int)ND4C_ATTR_mse_loss_reduction == (int)ND4C_ATTR_nll_loss_reduction &&
                   (int)ND4C_ATTR_mse_loss_reduction == (int)ND4C_ATTR_cosine_distance_reduction &&
                   (int)ND4C_IN_mse_loss_weights == (int)ND4C_IN_nll_loss_weights,
               "losses share positions");

/* The loss: 0-d, or of the given shape without a reduction. */
static nd4c_status loss_output(nd4c_inference *inference, int32_t rank, const int64_t *shape) {
  int64_t reduction = inference->attrs[ND4C_ATTR_mse_loss_reduction].as.i;
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_mse_loss_reduction));
  nd4c_rule_output(inference, inference->inputs[0].dtype, reduction == ND4C_LOSS_REDUCTION_NONE ? rank : 0, shape);
  return ND4C_OK;
}

/* Gives: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts to
 * it. */
nd4c_status nd4c_infer_loss(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  ND4C_TRY(nd4c_rule_expect_shape(inference, 1, x->rank, x->shape, "the shape of x"));
  ND4C_TRY(nd4c_rule_broadcasts_to(inference, ND4C_IN_mse_loss_weights, "x's", x->rank, x->shape));
  return loss_output(inference, x->rank, x->shape);
}

static nd4c_status check_parameter(const nd4c_inference *inference, double value, double least, double most) {
  if (value >= least && value <= most) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_ARGUMENT, "%s: %s is %g, expected %g or more%s", inference->op->name,
                   inference->op->attrs[1].name, value, least, most <= 1 ? ", at most 1" : "");
}

/* Gives: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts to
 * it. */
nd4c_status nd4c_infer_loss_delta(nd4c_inference *inference) {
  ND4C_TRY(check_parameter(inference, inference->attrs[ND4C_ATTR_huber_loss_delta].as.f, 0, INFINITY));
  return nd4c_infer_loss(inference);
}

/* Gives: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts to
 * it. */
nd4c_status nd4c_infer_loss_beta(nd4c_inference *inference) {
  ND4C_TRY(check_parameter(inference, inference->attrs[ND4C_ATTR_smooth_l1_loss_beta].as.f, 0, INFINITY));
  return nd4c_infer_loss(inference);
}

/* Gives: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts to
 * it. */
nd4c_status nd4c_infer_loss_epsilon(nd4c_inference *inference) {
  ND4C_TRY(check_parameter(inference, inference->attrs[ND4C_ATTR_log_loss_epsilon].as.f, 0, INFINITY));
  return nd4c_infer_loss(inference);
}

/* Gives: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts to
 * it. */
nd4c_status nd4c_infer_loss_smoothing(nd4c_inference *inference) {
  ND4C_TRY(check_parameter(inference, inference->attrs[ND4C_ATTR_sigmoid_cross_entropy_label_smoothing].as.f, 0, 1));
  return nd4c_infer_loss(inference);
}

/* Gives: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts to
 * it. */
nd4c_status nd4c_infer_loss_log(nd4c_inference *inference) {
  return nd4c_infer_loss(inference);
}

/* Gives: x's shape without the axis for the reduction NONE, else a scalar; in x's dtype. target has x's shape,
 * weights broadcasts to the loss's. */
nd4c_status nd4c_infer_axis_loss(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t shape[ND4C_MAX_RANK];
  int32_t axis, rank = 0;
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  ND4C_TRY(nd4c_rule_expect_shape(inference, 1, x->rank, x->shape, "the shape of x"));
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_cosine_distance_axis].as.i, x->rank, &axis));
  for (int32_t i = 0; i < x->rank; i++) {
    if (i != axis) {
      shape[rank++] = x->shape[i];
    }
  }
  ND4C_TRY(nd4c_rule_broadcasts_to(inference, ND4C_IN_mse_loss_weights, "the loss's", rank, shape));
  return loss_output(inference, rank, shape);
}

/* Gives: x's shape without its axis 1 for the reduction NONE, else a scalar; in x's dtype. target has that shape,
 * weights one value for each class. */
nd4c_status nd4c_infer_nll_loss(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t shape[ND4C_MAX_RANK];
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_nll_loss_weights));
  ND4C_TRY(nd4c_rule_integers(inference, ND4C_IN_nll_loss_target));
  if (x->rank < 2) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least 2 axes, [n, classes, ...]");
  }
  for (int32_t i = 0; i < x->rank - 1; i++) {
    shape[i] = x->shape[i > 0 ? i + 1 : 0];
  }
  ND4C_TRY(nd4c_rule_expect_shape(inference, ND4C_IN_nll_loss_target, x->rank - 1, shape, "x's without the classes"));
  ND4C_TRY(nd4c_rule_expect_shape(inference, ND4C_IN_nll_loss_weights, 1, &x->shape[1], "one weight a class"));
  return loss_output(inference, x->rank - 1, shape);
}

/* Gives: loss: x's shape without its axis 1 for the reduction NONE, else a scalar; log_probabilities: x's shape; both
 * in x's dtype. target has the loss's shape, weights one value for each class. */
nd4c_status nd4c_infer_softmax_cross_entropy(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(nd4c_infer_nll_loss(inference));
  nd4c_rule_output_at(inference, 1, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* -- optimisers: x, gradient and states of one shape, then the rate, a number of any floating dtype, and the step -- */

static nd4c_status check_optimizer(nd4c_inference *inference, int32_t rate) {
  const nd4c_tensor *x = &inference->inputs[0];
  for (int32_t i = 1; i < rate; i++) {
    ND4C_TRY(nd4c_rule_same_dtype(inference, i));
    ND4C_TRY(nd4c_rule_expect_shape(inference, i, x->rank, x->shape, "the shape of x"));
  }
  ND4C_TRY(nd4c_rule_accepted_dtype(inference, rate));
  ND4C_TRY(nd4c_rule_expect_shape(inference, rate, 0, NULL, "one number"));
  for (int32_t i = 0; i < inference->op->output_count; i++) {
    nd4c_rule_output_at(inference, i, x->dtype, x->rank, x->shape);
  }
  return ND4C_OK;
}

/* Gives: the shape and dtype of x. gradient has the same shape and dtype; rate is a scalar. */
nd4c_status nd4c_infer_optimizer(nd4c_inference *inference) {
  return check_optimizer(inference, inference->op->input_count - 1);
}

/* Gives: each the shape and dtype of x. gradient and the state have the same shape and dtype; rate and step are
 * scalars. */
nd4c_status nd4c_infer_optimizer_step(nd4c_inference *inference) {
  int32_t step = inference->op->input_count - 1;
  ND4C_TRY(nd4c_rule_integers(inference, step));
  ND4C_TRY(nd4c_rule_expect_shape(inference, step, 0, NULL, "one number"));
  return check_optimizer(inference, step - 1);
}
