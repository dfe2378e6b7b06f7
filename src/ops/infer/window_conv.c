/* Inference rules of conv, separable_conv2d and the plain pools (op_table/window.h), and of batch_norm, layer_norm, lrn
 * and the softmax ops (op_table/normalization.h). nd4c_op_infer (infer.c) calls the rule that an op's row names. */
#include "base/status.h"
#include "ops/infer/rules.h"

/* A list of one value a channel; left out is fine. */
static nd4c_status check_channel_list(const nd4c_inference *inference, int32_t position, int64_t channels) {
  const nd4c_tensor *list = nd4c_rule_input(inference, position);
  if (list == NULL || (list->rank == 1 && nd4c_rule_is_equal(inference, list->shape[0], channels))) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected (%lld,), one value a channel",
                          (long long)channels);
}

static nd4c_status check_spatial_rank(const nd4c_inference *inference) {
  int32_t rank = inference->inputs[0].rank;
  if (rank >= 3 && rank <= 5) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [n, c, ...] with 1 to 3 spatial axes");
}

static nd4c_status check_conv_weights(const nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[ND4C_IN_conv_x], *w = &inference->inputs[ND4C_IN_conv_w];
  int64_t groups = inference->attrs[ND4C_ATTR_conv_groups].as.i, channels = x->shape[1], of_group = 0;
  if (groups < 1 || !nd4c_rule_is_multiple(inference, channels, groups)) {
    return nd4c_rule_refuse(inference, 0, groups < 1 ? ND4C_ARGUMENT : ND4C_SHAPE,
                            "groups is %lld, expected a divisor of the %lld channels", (long long)groups,
                            (long long)channels);
  }
  if (w->rank != x->rank) {
    return nd4c_rule_refuse(inference, ND4C_IN_conv_w, ND4C_SHAPE, "expected %d axes, as many as x has", (int)x->rank);
  }
  (void)nd4c_rule_divide(inference, channels, groups, &of_group);
  if (!nd4c_rule_is_equal(inference, w->shape[1], of_group) || !nd4c_rule_is_multiple(inference, w->shape[0], groups)) {
    return nd4c_rule_refuse(inference, ND4C_IN_conv_w, ND4C_SHAPE,
                            "expected [o, %lld, ...] with o a multiple of groups = %lld, for %lld channels of x",
                            (long long)of_group, (long long)groups, (long long)channels);
  }
  return ND4C_OK;
}

/* Output [n, channels, window's output extents]. */
static void windowed_output(nd4c_inference *inference, int64_t channels, const nd4c_window *window) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_inferred *output = &inference->outputs[0];
  output->dtype = x->dtype;
  output->rank = x->rank;
  output->shape[0] = x->shape[0];
  output->shape[1] = channels;
  for (int32_t i = 0; i < window->spatial; i++) {
    output->shape[2 + i] = window->output[i];
  }
}

/* Gives: [n, o, ...] with a cell for each window, in x's dtype, for x [n, c, ...] and w [o, c / groups, ...]. All
 * inputs have one dtype; addend broadcasts to y. */
nd4c_status nd4c_infer_conv(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[ND4C_IN_conv_x], *w = &inference->inputs[ND4C_IN_conv_w];
  const nd4c_attr_value *attrs = inference->attrs;
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_conv_activation));
  ND4C_TRY(check_spatial_rank(inference));
  ND4C_TRY(check_conv_weights(inference));
  ND4C_TRY(check_channel_list(inference, ND4C_IN_conv_bias, w->shape[0]));
  nd4c_window window;
  ND4C_TRY(nd4c_window_resolve(inference, x->rank - 2, x->shape + 2, w->shape + 2, &attrs[ND4C_ATTR_conv_strides],
                               &attrs[ND4C_ATTR_conv_pads], &attrs[ND4C_ATTR_conv_dilations],
                               attrs[ND4C_ATTR_conv_auto_pad].as.i, false, &window));
  windowed_output(inference, w->shape[0], &window);
  return nd4c_rule_broadcasts_to_output(inference, ND4C_IN_conv_addend);
}

/* Filters of two convolutions, one after the other. */
static nd4c_status check_separable_weights(const nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *depthwise = &inference->inputs[ND4C_IN_separable_conv2d_depthwise];
  const nd4c_tensor *pointwise = &inference->inputs[ND4C_IN_separable_conv2d_pointwise];
  if (x->rank != 4) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [n, c, h, w]");
  }
  int64_t channels = x->shape[1];
  bool fits = depthwise->rank == 4 && nd4c_rule_is_equal(inference, depthwise->shape[1], 1) &&
              (nd4c_rule_is(inference, channels, 0) ? nd4c_rule_is_equal(inference, depthwise->shape[0], 0)
                                                    : nd4c_rule_is_multiple(inference, depthwise->shape[0], channels));
  if (!fits) {
    return nd4c_rule_refuse(inference, ND4C_IN_separable_conv2d_depthwise, ND4C_SHAPE,
                            "expected [c m, 1, kh, kw] for the %lld channels of x", (long long)channels);
  }
  if (pointwise->rank != 4 || !nd4c_rule_is_equal(inference, pointwise->shape[1], depthwise->shape[0]) ||
      !nd4c_rule_is_equal(inference, pointwise->shape[2], 1) ||
      !nd4c_rule_is_equal(inference, pointwise->shape[3], 1)) {
    return nd4c_rule_refuse(inference, ND4C_IN_separable_conv2d_pointwise, ND4C_SHAPE, "expected [o, %lld, 1, 1]",
                            (long long)depthwise->shape[0]);
  }
  return nd4c_rule_all_same_dtype(inference);
}

/* Gives: [n, o, h, w] with a cell for each window, in x's dtype, for pointwise [o, ...]. */
nd4c_status nd4c_infer_separable_conv2d(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *depthwise = &inference->inputs[ND4C_IN_separable_conv2d_depthwise];
  const nd4c_attr_value *attrs = inference->attrs;
  ND4C_TRY(check_separable_weights(inference));
  int64_t outputs = inference->inputs[ND4C_IN_separable_conv2d_pointwise].shape[0], size;
  ND4C_TRY(check_channel_list(inference, ND4C_IN_separable_conv2d_bias, outputs));
  nd4c_window window;
  ND4C_TRY(nd4c_window_resolve(inference, 2, x->shape + 2, depthwise->shape + 2,
                               &attrs[ND4C_ATTR_separable_conv2d_strides], &attrs[ND4C_ATTR_separable_conv2d_pads],
                               &attrs[ND4C_ATTR_separable_conv2d_dilations],
                               attrs[ND4C_ATTR_separable_conv2d_auto_pad].as.i, false, &window));
  windowed_output(inference, depthwise->shape[0], &window);
  if (nd4c_rule_size(inference, ND4C_FLOAT64, 4, inference->outputs[0].shape, &size) != ND4C_OK) {
    return nd4c_rule_refuse(inference, ND4C_IN_separable_conv2d_depthwise, ND4C_OVERFLOW,
                            "what is between the two convolutions would not fit 64 bits");
  }
  windowed_output(inference, outputs, &window);
  return ND4C_OK;
}

/* A padding as long as the window would leave a window with nothing but padding, which has no largest and no mean. */
static nd4c_status check_pool_pads(const nd4c_inference *inference, const nd4c_window *window) {
  for (int32_t i = 0; i < window->spatial; i++) {
    int64_t reach = (window->kernel[i] - 1) * window->dilation[i] + 1; /* a pool's kernel is of numbers */
    if (window->pad_begin[i] >= reach || window->pad_end[i] >= reach) {
      return nd4c_fail(ND4C_ARGUMENT,
                       "%s: spatial axis %d is padded by %lld and %lld cells, expected less than the window's %lld",
                       inference->op->name, (int)i, (long long)window->pad_begin[i], (long long)window->pad_end[i],
                       (long long)reach);
    }
  }
  return ND4C_OK;
}

/* Gives: [n, c, ...] with a cell for each window, in x's dtype, for x [n, c, ...]. */
nd4c_status nd4c_infer_pool(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *attrs = inference->attrs, *kernel = &attrs[ND4C_ATTR_max_pool_kernel];
  ND4C_TRY(check_spatial_rank(inference));
  if (kernel->count != x->rank - 2) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "kernel has %d values, expected %d, one a spatial axis",
                            (int)kernel->count, (int)x->rank - 2);
  }
  nd4c_window window;
  ND4C_TRY(nd4c_window_resolve(inference, x->rank - 2, x->shape + 2, kernel->as.ints,
                               &attrs[ND4C_ATTR_max_pool_strides], &attrs[ND4C_ATTR_max_pool_pads],
                               &attrs[ND4C_ATTR_max_pool_dilations], attrs[ND4C_ATTR_max_pool_auto_pad].as.i,
                               attrs[ND4C_ATTR_max_pool_ceil_mode].as.i != 0, &window));
  ND4C_TRY(check_pool_pads(inference, &window));
  windowed_output(inference, x->shape[1], &window);
  return ND4C_OK;
}

static nd4c_status check_channels(const nd4c_inference *inference) {
  if (inference->inputs[0].rank >= 2) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least 2 axes, [n, c, ...]");
}

/* Gives: the shape and dtype of x [n, c, ...]. The other inputs have x's dtype and one value for each channel. */
nd4c_status nd4c_infer_batch_norm(nd4c_inference *inference) {
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  ND4C_TRY(check_channels(inference));
  for (int32_t i = ND4C_IN_batch_norm_scale; i < ND4C_IN_batch_norm_count; i++) {
    ND4C_TRY(check_channel_list(inference, i, inference->inputs[0].shape[1]));
  }
  return nd4c_infer_same(inference);
}

/* Gives: the shape and dtype of x. scale and bias have x's dtype and broadcast to the normalised axes. */
nd4c_status nd4c_infer_layer_norm(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  int32_t axis;
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_layer_norm_axis].as.i, x->rank, &axis));
  for (int32_t i = ND4C_IN_layer_norm_scale; i < ND4C_IN_layer_norm_count; i++) {
    ND4C_TRY(nd4c_rule_broadcasts_to(inference, i, "the normalised axes", x->rank - axis, x->shape + axis));
  }
  return nd4c_infer_same(inference);
}

/* Gives: the shape and dtype of the first input. */
nd4c_status nd4c_infer_axis_same(nd4c_inference *inference) {
  int32_t axis;
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_softmax_axis].as.i, inference->inputs[0].rank,
                          &axis));
  return nd4c_infer_same(inference);
}

/* Gives: the shape and dtype of x. */
nd4c_status nd4c_infer_lrn(nd4c_inference *inference) {
  ND4C_TRY(check_channels(inference));
  int64_t size = inference->attrs[ND4C_ATTR_lrn_size].as.i;
  if (size < 1) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: size is %lld, expected at least 1 channel", inference->op->name,
                     (long long)size);
  }
  return nd4c_infer_same(inference);
}
