/* Inference rules of op_table/normalization.h that window_conv.c does not have. nd4c_op_infer (infer.c) calls the rule
 * that an op's row names. */
#include "base/status.h"
#include "ops/infer/rules.h"

/* x and what belongs to it share a dtype; inputs from `first` on are lists of one value a channel (axis 1). */
static nd4c_status check_channel_norm(nd4c_inference *inference, int32_t first, int32_t count) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  if (x->rank < 2) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least 2 axes, [n, c, ...]");
  }
  for (int32_t i = first; i < first + count; i++) {
    ND4C_TRY(nd4c_rule_expect_shape(inference, i, 1, &x->shape[1], "one value a channel"));
  }
  return nd4c_infer_same(inference);
}

/* Gives: the shape and dtype of x [n, c, ...]. scale and bias have x's dtype and one value for each channel. */
nd4c_status nd4c_infer_instance_norm(nd4c_inference *inference) {
  return check_channel_norm(inference, ND4C_IN_instance_norm_scale, 2);
}

/* Gives: the shape and dtype of x [n, c, ...]. scale and bias have x's dtype and one value for each channel. */
nd4c_status nd4c_infer_group_norm(nd4c_inference *inference) {
  ND4C_TRY(check_channel_norm(inference, ND4C_IN_group_norm_scale, 2));
  int64_t groups = inference->attrs[ND4C_ATTR_group_norm_groups].as.i, channels = inference->inputs[0].shape[1];
  if (groups < 1 || !nd4c_rule_is_multiple(inference, channels, groups)) {
    return nd4c_rule_refuse(inference, 0, groups < 1 ? ND4C_ARGUMENT : ND4C_SHAPE,
                            "groups is %lld, expected a divisor of the %lld channels", (long long)groups,
                            (long long)channels);
  }
  return ND4C_OK;
}

/* Normalised axes from `axis` on; inputs from 1 on broadcast to them. */
static nd4c_status check_trailing_norm(nd4c_inference *inference, int64_t axis, int32_t *normalized) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  ND4C_TRY(nd4c_rule_axis(inference, "axis", axis, x->rank, normalized));
  for (int32_t i = 1; i < inference->op->input_count; i++) {
    ND4C_TRY(
        nd4c_rule_broadcasts_to(inference, i, "the normalised axes", x->rank - *normalized, x->shape + *normalized));
  }
  return nd4c_infer_same(inference);
}

/* Gives: the shape and dtype of x. scale has x's dtype and broadcasts to the normalised axes. */
nd4c_status nd4c_infer_rms_norm(nd4c_inference *inference) {
  int32_t axis;
  return check_trailing_norm(inference, inference->attrs[ND4C_ATTR_rms_norm_axis].as.i, &axis);
}

/* Gives: y: the shape and dtype of x; mean and inverse_deviation: x's shape with 1 from axis on, in the attribute
 * dtype. */
nd4c_status nd4c_infer_layer_norm_with_statistics(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_dtype dtype = (nd4c_dtype)inference->attrs[ND4C_ATTR_layer_norm_with_statistics_dtype].as.i;
  int64_t shape[ND4C_MAX_RANK];
  int32_t axis;
  ND4C_TRY(check_trailing_norm(inference, inference->attrs[ND4C_ATTR_layer_norm_with_statistics_axis].as.i, &axis));
  if (dtype <= 0 || dtype >= ND4C_DTYPE_END || (inference->op->dtypes & ND4C_DTYPE_BIT(dtype)) == 0) {
    return nd4c_fail(ND4C_DTYPE, "%s: dtype of the statistics is %s, expected a floating one", inference->op->name,
                     nd4c_dtype_name(dtype));
  }
  for (int32_t i = 0; i < x->rank; i++) {
    shape[i] = i < axis ? x->shape[i] : 1;
  }
  nd4c_rule_output_at(inference, 1, dtype, x->rank, shape);
  nd4c_rule_output_at(inference, 2, dtype, x->rank, shape);
  return ND4C_OK;
}

/* Gives: each the shape and dtype of x. skip broadcasts to x; scale, bias and addend to its last axis. */
nd4c_status nd4c_infer_skip_layer_norm(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  if (x->rank < 1) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least 1 axis");
  }
  ND4C_TRY(nd4c_rule_broadcasts_to(inference, ND4C_IN_skip_layer_norm_skip, "x's", x->rank, x->shape));
  for (int32_t i = ND4C_IN_skip_layer_norm_scale; i <= ND4C_IN_skip_layer_norm_addend; i++) {
    ND4C_TRY(nd4c_rule_broadcasts_to(inference, i, "the last axis", 1, &x->shape[x->rank - 1]));
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  nd4c_rule_output_at(inference, 1, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: the shape and dtype of x. */
nd4c_status nd4c_infer_lp_normalize(nd4c_inference *inference) {
  double p = inference->attrs[ND4C_ATTR_lp_normalize_p].as.f;
  int32_t axis;
  if (!(p > 0 && p <= 1e6)) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: p is %.9g, expected a number above 0, at most 1e6", inference->op->name, p);
  }
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_lp_normalize_axis].as.i,
                          inference->inputs[0].rank, &axis));
  return nd4c_infer_same(inference);
}

/* Gives: the shape and dtype of x. */
nd4c_status nd4c_infer_standardize(nd4c_inference *inference) {
  bool chosen[ND4C_MAX_RANK];
  ND4C_TRY(nd4c_rule_axes(inference, "axes", &inference->attrs[ND4C_ATTR_standardize_axes], inference->inputs[0].rank,
                          chosen));
  return nd4c_infer_same(inference);
}

/* Gives: y: the shape and dtype of x [n, c, ...]; running_mean and running_variance: [c], in x's dtype. */
nd4c_status nd4c_infer_batch_norm_training(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(check_channel_norm(inference, ND4C_IN_batch_norm_training_scale, 4));
  if (nd4c_rule_is(inference, x->size, 0)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least one value a channel");
  }
  nd4c_rule_output_at(inference, 1, x->dtype, 1, &x->shape[1]);
  nd4c_rule_output_at(inference, 2, x->dtype, 1, &x->shape[1]);
  return ND4C_OK;
}

/* Gives: the shape and dtype of x. bias has x's dtype and one value for each place of the axis. */
nd4c_status nd4c_infer_bias_add(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int32_t axis;
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_bias_add_activation));
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_bias_add_axis].as.i, x->rank, &axis));
  ND4C_TRY(nd4c_rule_expect_shape(inference, 1, 1, &x->shape[axis], "one value a place of the axis"));
  return nd4c_infer_same(inference);
}

/* Gives: the shape and dtype of x. norm is a scalar of x's dtype. */
nd4c_status nd4c_infer_clip_by_norm(nd4c_inference *inference) {
  double most = inference->attrs[ND4C_ATTR_clip_by_norm_max_norm].as.f;
  bool chosen[ND4C_MAX_RANK];
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  ND4C_TRY(nd4c_rule_expect_shape(inference, ND4C_IN_clip_by_norm_norm, 0, NULL, "one number"));
  if (!(most > 0)) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: max_norm is %g, expected a number above 0", inference->op->name, most);
  }
  ND4C_TRY(nd4c_rule_axes(inference, "axes", &inference->attrs[ND4C_ATTR_clip_by_norm_axes], inference->inputs[0].rank,
                          chosen));
  return nd4c_infer_same(inference);
}

/* Gives: a scalar in the dtype of the inputs, which must be the same. */
nd4c_status nd4c_infer_global_norm(nd4c_inference *inference) {
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  nd4c_rule_output(inference, inference->inputs[0].dtype, 0, NULL);
  return ND4C_OK;
}
