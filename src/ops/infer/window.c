/* Inference rules of op_table/window.h that window_conv.c does not have; nd4c_op_infer (infer.c) calls the rule that an
 * op's row names. Also nd4c_window_resolve, for these rules and those of quantization.c: paddings and output extents,
 * with every number treated as hostile until it is checked. */
#include "base/checked.h"
#include "base/status.h"
#include "ops/infer/rules.h"

#define COUNT_ROW(NAME, number, name) +1
enum { AUTO_PAD_COUNT = 0 ND4C_AUTO_PAD_TABLE(COUNT_ROW) };

/* One value an axis, all at least `least`; an empty list stands for `preset`. */
static nd4c_status take_list(const nd4c_op_info *op, const char *attr, const nd4c_attr_value *list, int32_t count,
                             int64_t preset, int64_t least, int64_t *values) {
  if (list->count != 0 && list->count != count) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: attribute %s has %d values, expected %d", op->name, attr, (int)list->count,
                     (int)count);
  }
  for (int32_t i = 0; i < count; i++) {
    values[i] = list->count == 0 ? preset : list->as.ints[i];
    if (values[i] < least) {
      return nd4c_fail(ND4C_ARGUMENT, "%s: attribute %s has the value %lld, expected at least %lld", op->name, attr,
                       (long long)values[i], (long long)least);
    }
  }
  return ND4C_OK;
}

static nd4c_status too_large(const nd4c_inference *inference, int32_t axis) {
  return nd4c_fail(ND4C_OVERFLOW, "%s: the window of spatial axis %d exceeds 64 bits", inference->op->name, (int)axis);
}

/* Cells from the first to the last tap of a window. */
static nd4c_status window_reach(const nd4c_inference *inference, const nd4c_window *window, int32_t axis,
                                int64_t *reach) {
  if (!nd4c_rule_subtract(inference, window->kernel[axis], 1, reach) ||
      !nd4c_rule_multiply(inference, *reach, window->dilation[axis], reach) ||
      !nd4c_rule_add(inference, *reach, 1, reach)) {
    return too_large(inference, axis);
  }
  return ND4C_OK;
}

static nd4c_status resolve_same(const nd4c_inference *inference, nd4c_window *window, int32_t axis, bool upper) {
  int64_t input = window->input[axis], stride = window->stride[axis], reach, total = 0;
  ND4C_TRY(window_reach(inference, window, axis, &reach));
  if (!nd4c_rule_divide_up(inference, input, stride, &window->output[axis])) {
    return too_large(inference, axis);
  }
  if (input <= 0 || reach < 0) { /* empty or symbolic */
    return ND4C_OK;
  }
  /* (output - 1) * stride is less than input, so only adding the reach may overflow. */
  if (!nd4c_checked_add((window->output[axis] - 1) * stride, reach, &total)) {
    return too_large(inference, axis);
  }
  total = total > input ? total - input : 0;
  window->pad_begin[axis] = upper ? total / 2 : total - total / 2;
  window->pad_end[axis] = total - window->pad_begin[axis];
  return ND4C_OK;
}

/* How many more steps a window makes in ceil mode: a last, partial window counts if it starts inside the input or the
 * padding before it. `steps` becomes max(steps, min(steps rounded up, the last step that starts inside)). */
static bool count_partial(const nd4c_inference *inference, const nd4c_window *window, int32_t axis, int64_t slack,
                          int64_t *steps) {
  int64_t stride = window->stride[axis], up, last;
  return nd4c_rule_divide_up(inference, slack, stride, &up) &&
         nd4c_rule_add(inference, window->input[axis], window->pad_begin[axis], &last) &&
         nd4c_rule_divide_up(inference, last, stride, &last) && nd4c_rule_subtract(inference, last, 1, &last) &&
         nd4c_extents_minimum(inference->extents, up, last, &up) &&
         nd4c_extents_maximum(inference->extents, *steps, up, steps);
}

/* Whether a single window is all there is in ceil mode, since it reaches beyond the padded input by less than a step.
 * Of extents that are not numbers it is not: whole windows are the rule. */
static bool is_partial_alone(const nd4c_window *window, int32_t axis, int64_t reach, int64_t padded) {
  const bool known = padded >= 0 && reach >= 0 && window->input[axis] > 0;
  return known && padded < reach && reach - padded < window->stride[axis];
}

static nd4c_status resolve_explicit(const nd4c_inference *inference, nd4c_window *window, int32_t axis,
                                    bool ceil_mode) {
  const nd4c_op_info *op = inference->op;
  int64_t input = window->input[axis], reach, padded, slack, steps;
  ND4C_TRY(window_reach(inference, window, axis, &reach));
  if (!nd4c_rule_add(inference, input, window->pad_begin[axis], &padded) ||
      !nd4c_rule_add(inference, padded, window->pad_end[axis], &padded)) {
    return too_large(inference, axis);
  }
  if (ceil_mode && is_partial_alone(window, axis, reach, padded)) {
    window->output[axis] = 1;
    return ND4C_OK;
  }
  if (!nd4c_rule_is_at_least(inference, padded, reach)) {
    return nd4c_fail(ND4C_SHAPE,
                     "%s: the window of spatial axis %d reaches over %lld cells (kernel %lld, dilation %lld), "
                     "expected at most the padded input's %lld",
                     op->name, (int)axis, (long long)reach, (long long)window->kernel[axis],
                     (long long)window->dilation[axis], (long long)padded);
  }
  if (!nd4c_rule_subtract(inference, padded, reach, &slack) ||
      !nd4c_rule_divide(inference, slack, window->stride[axis], &steps) ||
      (ceil_mode && !count_partial(inference, window, axis, slack, &steps)) ||
      !nd4c_rule_add(inference, steps, 1, &window->output[axis])) {
    return too_large(inference, axis);
  }
  return ND4C_OK;
}

static nd4c_status take_pads(const nd4c_op_info *op, const nd4c_attr_value *pads, int64_t auto_pad,
                             nd4c_window *window) {
  int64_t values[6];
  ND4C_TRY(take_list(op, "pads", pads, 2 * window->spatial, 0, 0, values));
  for (int32_t i = 0; i < window->spatial; i++) {
    window->pad_begin[i] = values[i];
    window->pad_end[i] = values[window->spatial + i];
    if (auto_pad != ND4C_AUTO_PAD_EXPLICIT && (window->pad_begin[i] != 0 || window->pad_end[i] != 0)) {
      return nd4c_fail(ND4C_ARGUMENT, "%s: attribute pads is given beside auto_pad %lld, expected one of the two",
                       op->name, (long long)auto_pad);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_window_resolve(const nd4c_inference *inference, int32_t spatial, const int64_t *input,
                                const int64_t *kernel, const nd4c_attr_value *strides, const nd4c_attr_value *pads,
                                const nd4c_attr_value *dilations, int64_t auto_pad, bool ceil_mode,
                                nd4c_window *window) {
  const nd4c_op_info *op = inference->op;
  if (spatial < 1 || spatial > 3) {
    return nd4c_fail(ND4C_SHAPE, "%s: %d spatial axes given, expected 1 to 3", op->name, (int)spatial);
  }
  if (auto_pad < 0 || auto_pad >= AUTO_PAD_COUNT) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: auto_pad is %lld, expected 0 to %d", op->name, (long long)auto_pad,
                     AUTO_PAD_COUNT - 1);
  }
  window->spatial = spatial;
  ND4C_TRY(take_list(op, "strides", strides, spatial, 1, 1, window->stride));
  ND4C_TRY(take_list(op, "dilations", dilations, spatial, 1, 1, window->dilation));
  ND4C_TRY(take_pads(op, pads, auto_pad, window));
  for (int32_t i = 0; i < spatial; i++) {
    window->input[i] = input[i];
    window->kernel[i] = kernel[i];
    if (!nd4c_rule_is_at_least(inference, kernel[i], 1) || !nd4c_rule_is_at_least(inference, input[i], 0)) {
      return nd4c_fail(ND4C_SHAPE,
                       "%s: the window of spatial axis %d has %lld cells over an input of %lld, expected at "
                       "least 1 cell",
                       op->name, (int)i, (long long)kernel[i], (long long)input[i]);
    }
    bool same = auto_pad == ND4C_AUTO_PAD_SAME_UPPER || auto_pad == ND4C_AUTO_PAD_SAME_LOWER;
    ND4C_TRY(same ? resolve_same(inference, window, i, auto_pad == ND4C_AUTO_PAD_SAME_UPPER)
                  : resolve_explicit(inference, window, i, ceil_mode));
  }
  return ND4C_OK;
}

/* -- rules of the family window ---------------------------------------------------------------------------------- */

enum { SPATIAL_MOST = 3 };

static nd4c_status check_spatial(const nd4c_inference *inference) {
  int32_t rank = inference->inputs[0].rank;
  if (rank >= 3 && rank <= 2 + SPATIAL_MOST) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [n, c, ...] with 1 to 3 spatial axes");
}

/* Output `position`: [n, channels, extents]. */
static void spatial_output(nd4c_inference *inference, int32_t position, nd4c_dtype dtype, int64_t channels,
                           const int64_t *extents) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t shape[2 + SPATIAL_MOST] = {x->shape[0], channels};
  for (int32_t i = 2; i < x->rank; i++) {
    shape[i] = extents[i - 2];
  }
  nd4c_rule_output_at(inference, position, dtype, x->rank, shape);
}

static nd4c_status check_groups(const nd4c_inference *inference, const char *what, int64_t groups, int64_t channels) {
  if (groups < 1 || !nd4c_rule_is_multiple(inference, channels, groups)) {
    return nd4c_rule_refuse(inference, 0, groups < 1 ? ND4C_ARGUMENT : ND4C_SHAPE,
                            "%s is %lld, expected a divisor of the %lld channels", what, (long long)groups,
                            (long long)channels);
  }
  return ND4C_OK;
}

static nd4c_status check_channel_list(const nd4c_inference *inference, int32_t position, int64_t channels) {
  return nd4c_rule_expect_shape(inference, position, 1, &channels, "one value a channel");
}

/* -- conv_transpose -- */

/* Extent of one axis, given all but the paddings: (x - 1) * stride + output_padding + reach. */
static nd4c_status transposed_extent(const nd4c_inference *inference, const nd4c_window *window, int32_t axis,
                                     int64_t extra, int64_t *extent) {
  int64_t reach;
  ND4C_TRY(window_reach(inference, window, axis, &reach));
  if (nd4c_rule_is(inference, window->input[axis], 0)) {
    *extent = 0;
    return ND4C_OK;
  }
  if (!nd4c_rule_subtract(inference, window->input[axis], 1, extent) ||
      !nd4c_rule_multiply(inference, *extent, window->stride[axis], extent) ||
      !nd4c_rule_add(inference, *extent, extra, extent) || !nd4c_rule_add(inference, *extent, reach, extent)) {
    return too_large(inference, axis);
  }
  return ND4C_OK;
}

static nd4c_status transposed_output(const nd4c_inference *inference, nd4c_window *window, int32_t axis, int64_t extra,
                                     const nd4c_attr_value *wanted) {
  const nd4c_op_info *op = inference->op;
  int64_t auto_pad = inference->attrs[ND4C_ATTR_conv_transpose_auto_pad].as.i, extent, pads;
  bool same = auto_pad == ND4C_AUTO_PAD_SAME_UPPER || auto_pad == ND4C_AUTO_PAD_SAME_LOWER;
  ND4C_TRY(transposed_extent(inference, window, axis, extra, &extent));
  if (wanted->count > 0) {
    window->output[axis] = wanted->as.ints[axis];
  } else if (same && !nd4c_rule_multiply(inference, window->input[axis], window->stride[axis], &window->output[axis])) {
    return too_large(inference, axis);
  } else if (!same) {
    if (!nd4c_checked_add(window->pad_begin[axis], window->pad_end[axis], &pads)) {
      return too_large(inference, axis);
    }
    if (extent == 0) {
      window->output[axis] = 0;
    } else if (!nd4c_rule_subtract(inference, extent, pads, &window->output[axis])) {
      return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "spatial axis %d is shorter than the pads %lld that cut it",
                              (int)axis, (long long)pads);
    }
  }
  if (window->output[axis] < 0 && !nd4c_extents_has(inference->extents, window->output[axis])) {
    return nd4c_fail(ND4C_SHAPE, "%s: the output of spatial axis %d would have %lld cells, expected at least 0",
                     op->name, (int)axis, (long long)window->output[axis]);
  }
  return ND4C_OK;
}

static nd4c_status transposed_window(const nd4c_inference *inference, nd4c_window *window) {
  const nd4c_op_info *op = inference->op;
  const nd4c_attr_value *attrs = inference->attrs, *wanted = &attrs[ND4C_ATTR_conv_transpose_output_shape];
  const nd4c_tensor *x = &inference->inputs[0], *w = &inference->inputs[1];
  int64_t extra[SPATIAL_MOST], auto_pad = attrs[ND4C_ATTR_conv_transpose_auto_pad].as.i;
  int32_t spatial = window->spatial = x->rank - 2;
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_conv_transpose_auto_pad));
  ND4C_TRY(take_list(op, "strides", &attrs[ND4C_ATTR_conv_transpose_strides], spatial, 1, 1, window->stride));
  ND4C_TRY(take_list(op, "dilations", &attrs[ND4C_ATTR_conv_transpose_dilations], spatial, 1, 1, window->dilation));
  ND4C_TRY(take_list(op, "output_padding", &attrs[ND4C_ATTR_conv_transpose_output_padding], spatial, 0, 0, extra));
  ND4C_TRY(take_list(op, "output_shape", wanted, spatial, 0, 0, window->output));
  ND4C_TRY(take_pads(op, &attrs[ND4C_ATTR_conv_transpose_pads], auto_pad, window));
  for (int32_t i = 0; i < spatial; i++) {
    window->input[i] = x->shape[i + 2];
    window->kernel[i] = w->shape[i + 2];
    if (!nd4c_rule_is_at_least(inference, window->kernel[i], 1)) {
      return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected at least 1 cell on spatial axis %d", (int)i);
    }
    ND4C_TRY(transposed_output(inference, window, i, extra[i], wanted));
  }
  return ND4C_OK;
}

/* Gives: [n, o, ...], in x's dtype, for x [n, c, ...] and w [c, o / groups, ...]; the spatial axes are output_shape,
 * or follow from strides, pads and output_padding. */
nd4c_status nd4c_infer_conv_transpose(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *w = &inference->inputs[1];
  int64_t groups = inference->attrs[ND4C_ATTR_conv_transpose_groups].as.i, channels;
  nd4c_window window;
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  ND4C_TRY(check_spatial(inference));
  ND4C_TRY(check_groups(inference, "groups", groups, x->shape[1]));
  if (w->rank != x->rank || !nd4c_rule_is_equal(inference, w->shape[0], x->shape[1])) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected [%lld, o / groups, ...] of %d axes, for x's channels",
                            (long long)x->shape[1], (int)x->rank);
  }
  if (!nd4c_rule_multiply(inference, w->shape[1], groups, &channels)) {
    return nd4c_rule_refuse(inference, 1, ND4C_OVERFLOW, "expected fewer than 2^63 output channels");
  }
  ND4C_TRY(check_channel_list(inference, ND4C_IN_conv_transpose_bias, channels));
  ND4C_TRY(transposed_window(inference, &window));
  spatial_output(inference, 0, x->dtype, channels, window.output);
  return ND4C_OK;
}

/* -- deformable_conv -- */

/* offset and mask: [n, offset_groups * taps * per_tap, ...]. */
static nd4c_status check_field(const nd4c_inference *inference, int32_t position, const nd4c_window *window,
                               int64_t per_tap) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t shape[2 + SPATIAL_MOST] = {x->shape[0], inference->attrs[ND4C_ATTR_deformable_conv_offset_groups].as.i};
  bool fits = nd4c_checked_multiply(shape[1], per_tap, &shape[1]);
  for (int32_t i = 0; i < window->spatial; i++) {
    fits = fits && nd4c_rule_multiply(inference, shape[1], window->kernel[i], &shape[1]);
    shape[i + 2] = window->output[i];
  }
  if (!fits) {
    return nd4c_rule_refuse(inference, position, ND4C_OVERFLOW, "expected fewer than 2^63 channels");
  }
  return nd4c_rule_expect_shape(inference, position, x->rank, shape, "channels for each offset group and tap");
}

/* Gives: [n, o, ...] with a cell for each window, in x's dtype, for x [n, c, ...] and w [o, c / groups, ...]. All
 * inputs have one dtype. */
nd4c_status nd4c_infer_deformable_conv(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *w = &inference->inputs[1];
  const nd4c_attr_value *attrs = inference->attrs;
  int64_t groups = attrs[ND4C_ATTR_deformable_conv_groups].as.i, of_group = 0;
  nd4c_window window;
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  ND4C_TRY(check_spatial(inference));
  ND4C_TRY(check_groups(inference, "groups", groups, x->shape[1]));
  ND4C_TRY(check_groups(inference, "offset_groups", attrs[ND4C_ATTR_deformable_conv_offset_groups].as.i, x->shape[1]));
  (void)nd4c_rule_divide(inference, x->shape[1], groups, &of_group);
  if (w->rank != x->rank || !nd4c_rule_is_equal(inference, w->shape[1], of_group) ||
      !nd4c_rule_is_multiple(inference, w->shape[0], groups)) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected [o, %lld, ...] of %d axes with o a multiple of %lld",
                            (long long)of_group, (int)x->rank, (long long)groups);
  }
  ND4C_TRY(check_channel_list(inference, ND4C_IN_deformable_conv_bias, w->shape[0]));
  ND4C_TRY(nd4c_window_resolve(inference, x->rank - 2, x->shape + 2, w->shape + 2,
                               &attrs[ND4C_ATTR_deformable_conv_strides], &attrs[ND4C_ATTR_deformable_conv_pads],
                               &attrs[ND4C_ATTR_deformable_conv_dilations], ND4C_AUTO_PAD_EXPLICIT, false, &window));
  ND4C_TRY(check_field(inference, ND4C_IN_deformable_conv_offset, &window, window.spatial));
  ND4C_TRY(check_field(inference, ND4C_IN_deformable_conv_mask, &window, 1));
  spatial_output(inference, 0, x->dtype, w->shape[0], window.output);
  return ND4C_OK;
}

/* Gives: y: the shape and dtype of x [n, c, t]; present_state: [n, c, k - 1], in x's dtype, for w [c, 1, k]. */
nd4c_status nd4c_infer_causal_conv(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *w = &inference->inputs[1];
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  ND4C_TRY(nd4c_rule_expect_rank(inference, 0, 3, "[n, channels, length]"));
  int64_t cells = 0;
  if (w->rank != 3 || !nd4c_rule_is_equal(inference, w->shape[0], x->shape[1]) ||
      !nd4c_rule_is_equal(inference, w->shape[1], 1) || !nd4c_rule_is_at_least(inference, w->shape[2], 1) ||
      !nd4c_rule_subtract(inference, w->shape[2], 1, &cells)) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected (%lld, 1, k), one kernel a channel",
                            (long long)x->shape[1]);
  }
  ND4C_TRY(check_channel_list(inference, ND4C_IN_causal_conv_with_state_bias, x->shape[1]));
  int64_t state[3] = {x->shape[0], x->shape[1], cells};
  ND4C_TRY(nd4c_rule_expect_shape(inference, ND4C_IN_causal_conv_with_state_past_state, 3, state, "k - 1 cells"));
  nd4c_rule_output(inference, x->dtype, 3, x->shape);
  nd4c_rule_output_at(inference, 1, x->dtype, 3, state);
  return ND4C_OK;
}

/* -- pools -- */

/* The window of a pool whose attributes stand as those of max_pool do. */
static nd4c_status pool_window(const nd4c_inference *inference, nd4c_window *window) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *attrs = inference->attrs, *kernel = &attrs[ND4C_ATTR_max_pool_kernel];
  ND4C_TRY(check_spatial(inference));
  if (kernel->count != x->rank - 2) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "kernel has %d values, expected %d, one a spatial axis",
                            (int)kernel->count, (int)x->rank - 2);
  }
  return nd4c_window_resolve(inference, x->rank - 2, x->shape + 2, kernel->as.ints, &attrs[ND4C_ATTR_max_pool_strides],
                             &attrs[ND4C_ATTR_max_pool_pads], &attrs[ND4C_ATTR_max_pool_dilations],
                             attrs[ND4C_ATTR_max_pool_auto_pad].as.i, attrs[ND4C_ATTR_max_pool_ceil_mode].as.i != 0,
                             window);
}

/* Gives: [n, c, ...] with a cell for each window, for x [n, c, ...]; y in x's dtype, indices int64. */
nd4c_status nd4c_infer_max_pool_with_indices(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_window window;
  ND4C_TRY(pool_window(inference, &window));
  spatial_output(inference, 0, x->dtype, x->shape[1], window.output);
  spatial_output(inference, 1, ND4C_INT64, x->shape[1], window.output);
  return ND4C_OK;
}

static nd4c_status check_power(const nd4c_inference *inference, double p) {
  if (p > 0 && p <= 1e6) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_ARGUMENT, "%s: p is %.9g, expected a number above 0, at most 1e6", inference->op->name, p);
}

/* Gives: [n, c, ...] with a cell for each window, in x's dtype, for x [n, c, ...]. */
nd4c_status nd4c_infer_lp_pool(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_window window;
  ND4C_TRY(check_power(inference, inference->attrs[ND4C_ATTR_lp_pool_p].as.f));
  ND4C_TRY(pool_window(inference, &window));
  spatial_output(inference, 0, x->dtype, x->shape[1], window.output);
  return ND4C_OK;
}

/* Extents that undo a pool: (x - 1) * stride + kernel - pads. */
static nd4c_status unpooled_extents(const nd4c_inference *inference, int64_t *extents) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *attrs = inference->attrs;
  nd4c_window window = {.spatial = x->rank - 2};
  ND4C_TRY(
      take_list(inference->op, "kernel", &attrs[ND4C_ATTR_max_unpool_kernel], window.spatial, 1, 1, window.kernel));
  ND4C_TRY(
      take_list(inference->op, "strides", &attrs[ND4C_ATTR_max_unpool_strides], window.spatial, 1, 1, window.stride));
  ND4C_TRY(take_pads(inference->op, &attrs[ND4C_ATTR_max_unpool_pads], ND4C_AUTO_PAD_EXPLICIT, &window));
  for (int32_t i = 0; i < window.spatial; i++) {
    int64_t pads;
    window.input[i] = x->shape[i + 2];
    window.dilation[i] = 1;
    ND4C_TRY(transposed_extent(inference, &window, i, 0, &extents[i]));
    if (!nd4c_checked_add(window.pad_begin[i], window.pad_end[i], &pads)) {
      return too_large(inference, i);
    }
    if (x->shape[i + 2] != 0 && !nd4c_rule_subtract(inference, extents[i], pads, &extents[i])) {
      return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "spatial axis %d is shorter than the pads %lld that cut it",
                              (int)i, (long long)pads);
    }
    if (extents[i] < 0 && !nd4c_extents_has(inference->extents, extents[i])) {
      return nd4c_fail(ND4C_SHAPE, "%s: spatial axis %d would have %lld cells, expected at least 0",
                       inference->op->name, (int)i, (long long)extents[i]);
    }
  }
  return ND4C_OK;
}

/* Gives: [n, c, ...output_shape], in x's dtype, for x [n, c, ...]; without output_shape as large as the windows
 * reach. */
nd4c_status nd4c_infer_max_unpool(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *wanted = &inference->attrs[ND4C_ATTR_max_unpool_output_shape];
  bool planar = inference->attrs[ND4C_ATTR_max_unpool_planar].as.i != 0;
  int64_t extents[SPATIAL_MOST];
  ND4C_TRY(check_spatial(inference));
  ND4C_TRY(nd4c_rule_integers(inference, 1));
  ND4C_TRY(nd4c_rule_expect_shape(inference, 1, x->rank, x->shape, "an index for each of x"));
  ND4C_TRY(unpooled_extents(inference, extents));
  if (wanted->count != 0 && wanted->count != x->rank - 2) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: output_shape has %d values, expected %d, one a spatial axis",
                     inference->op->name, (int)wanted->count, (int)x->rank - 2);
  }
  for (int32_t i = 0; i < wanted->count; i++) {
    if (!nd4c_rule_is_at_least(inference, wanted->as.ints[i], planar ? 0 : extents[i])) {
      return nd4c_fail(ND4C_ARGUMENT, "%s: output_shape has the value %lld, expected at least %lld",
                       inference->op->name, (long long)wanted->as.ints[i], (long long)(planar ? 0 : extents[i]));
    }
    extents[i] = wanted->as.ints[i];
  }
  spatial_output(inference, 0, x->dtype, x->shape[1], extents);
  return ND4C_OK;
}

/* -- pools over everything or over adapted windows: their spatial extents must not be 0 -- */

static nd4c_status check_cells(const nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(check_spatial(inference));
  for (int32_t i = 2; i < x->rank; i++) {
    if (nd4c_rule_is(inference, x->shape[i], 0)) {
      return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least 1 cell on each spatial axis");
    }
  }
  return ND4C_OK;
}

/* Gives: x [n, c, ...] with 1 on each spatial axis, in x's dtype. */
nd4c_status nd4c_infer_global_pool(nd4c_inference *inference) {
  const int64_t ones[SPATIAL_MOST] = {1, 1, 1};
  ND4C_TRY(check_cells(inference));
  spatial_output(inference, 0, inference->inputs[0].dtype, inference->inputs[0].shape[1], ones);
  return ND4C_OK;
}

/* Gives: x [n, c, ...] with 1 on each spatial axis, in x's dtype. */
nd4c_status nd4c_infer_global_lp_pool(nd4c_inference *inference) {
  ND4C_TRY(check_power(inference, inference->attrs[ND4C_ATTR_global_lp_pool_p].as.f));
  return nd4c_infer_global_pool(inference);
}

/* Gives: [n, c, ...output_shape], in x's dtype, for x [n, c, ...]. */
nd4c_status nd4c_infer_adaptive_pool(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *wanted = &inference->attrs[ND4C_ATTR_adaptive_average_pool_output_shape];
  int64_t extents[SPATIAL_MOST];
  ND4C_TRY(check_cells(inference));
  ND4C_TRY(take_list(inference->op, "output_shape", wanted, x->rank - 2, 1, 0, extents));
  for (int32_t i = 0; i < x->rank - 2; i++) {
    int64_t product; /* (i + 1) * x must not overflow in the kernel */
    if (!nd4c_rule_multiply(inference, extents[i], x->shape[i + 2], &product)) {
      return too_large(inference, i);
    }
  }
  spatial_output(inference, 0, x->dtype, x->shape[1], extents);
  return ND4C_OK;
}

/* Gives: [n, c, ...output_shape], for x [n, c, ...]; y in x's dtype, indices int64. */
nd4c_status nd4c_infer_adaptive_max_pool(nd4c_inference *inference) {
  ND4C_TRY(nd4c_infer_adaptive_pool(inference));
  nd4c_rule_output_at(inference, 1, ND4C_INT64, inference->outputs[0].rank, inference->outputs[0].shape);
  return ND4C_OK;
}

/* Gives: [n, c, ...] with a cell for each window, in x's dtype, for x [n, c, ...] and w [c, ...]. */
nd4c_status nd4c_infer_morphology(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *w = &inference->inputs[1];
  const nd4c_attr_value *attrs = inference->attrs;
  nd4c_window window;
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  ND4C_TRY(check_spatial(inference));
  if (w->rank != x->rank - 1 || !nd4c_rule_is_equal(inference, w->shape[0], x->shape[1])) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE,
                            "expected [%lld, ...] of %d axes: one structuring element a channel",
                            (long long)x->shape[1], (int)x->rank - 1);
  }
  ND4C_TRY(nd4c_window_resolve(
      inference, x->rank - 2, x->shape + 2, w->shape + 1, &attrs[ND4C_ATTR_morphological_dilation_strides],
      &attrs[ND4C_ATTR_morphological_dilation_pads], &attrs[ND4C_ATTR_morphological_dilation_dilations],
      attrs[ND4C_ATTR_morphological_dilation_auto_pad].as.i, false, &window));
  spatial_output(inference, 0, x->dtype, x->shape[1], window.output);
  return ND4C_OK;
}
