/* Rules for the gradients of layers with weights. gradient.c looks rules up in this list. */
#include "base/status.h"
#include "nd4c/extent.h"
#include "ops/gradient/gradient.h"

/* -- linear -------------------------------------------------------------------------------------------------------- */

/* x [..., k] as [all, k] */
static nd4c_status as_rows(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *rows) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, x);
  const int64_t shape[] = {nd4c_gradient_join_extents(info.shape, info.rank - 1), info.shape[info.rank - 1]};
  *rows = x;
  return info.rank == 2 ? ND4C_OK : nd4c_emit_reshape(e, x, 2, shape, rows);
}

/* y = x w + bias + addend, w transposed or not */
ND4C_GRADIENT(linear) {
  const bool transposed = step->attrs[ND4C_ATTR_linear_transpose_w].as.i != 0;
  nd4c_emitted given = ND4C_EMITTED_NONE, rows = ND4C_EMITTED_NONE, w = step->inputs[ND4C_IN_linear_w];
  ND4C_TRY(nd4c_gradient_before(e, step->attrs[ND4C_ATTR_linear_activation].as.i, step->output, step->given, &given));
  if (index == ND4C_IN_linear_x) {
    ND4C_TRY(transposed ? ND4C_OK : nd4c_emit_transposed(e, w, &w));
    return nd4c_emit_binary(e, ND4C_OP_matmul, given, w, gradient);
  }
  if (index != ND4C_IN_linear_w) { /* nd4c_gradient_emit sums what was broadcast */
    *gradient = given;
    return ND4C_OK;
  }
  ND4C_TRY(as_rows(e, step->inputs[ND4C_IN_linear_x], &rows));
  ND4C_TRY(as_rows(e, given, &given));
  const nd4c_emitted left = transposed ? given : rows, right = transposed ? rows : given;
  ND4C_TRY(nd4c_emit_transposed(e, left, gradient));
  return nd4c_emit_binary(e, ND4C_OP_matmul, *gradient, right, gradient);
}

/* -- convolutions -------------------------------------------------------------------------------------------------- */

/* The first two axes change places. */
static nd4c_status swap_leading(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  int64_t axes[ND4C_MAX_RANK] = {1, 0};
  const int32_t rank = nd4c_emitted_get(e, x).rank;
  for (int32_t i = 2; i < rank; i++) {
    axes[i] = i;
  }
  return nd4c_emit_axes(e, ND4C_OP_transpose, x, rank, axes, y);
}

/* x [n, groups c, ...] as [c, groups n, ...] for the image of a convolution in groups or, for its weights, as [groups
 * c, n, ...]. */
static nd4c_status regroup(nd4c_emitter *e, nd4c_emitted x, int64_t groups, bool image, nd4c_emitted *y) {
  nd4c_emitted_info info = nd4c_emitted_get(e, x);
  int64_t apart[ND4C_MAX_RANK] = {info.shape[0], groups, info.shape[1] / groups};
  int64_t axes[ND4C_MAX_RANK] = {image ? 2 : 1, image ? 1 : 2, 0};
  if (info.rank == ND4C_MAX_RANK || nd4c_extent_is_symbolic(info.shape[1])) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of a convolution in groups needs a number of channels");
  }
  for (int32_t i = 3; i <= info.rank; i++) {
    apart[i] = info.shape[i - 1];
    axes[i] = i;
  }
  ND4C_TRY(nd4c_emit_reshape(e, x, info.rank + 1, apart, y));
  ND4C_TRY(nd4c_emit_axes(e, ND4C_OP_transpose, *y, info.rank + 1, axes, y));
  const int64_t joined[] = {groups, image ? apart[0] : apart[2]};
  info.shape[0] = image ? apart[2] : nd4c_gradient_join_extents(joined, 2);
  info.shape[1] = image ? nd4c_gradient_join_extents(joined, 2) : apart[0];
  return nd4c_emit_reshape(e, *y, info.rank, info.shape, y);
}

/* What each weight has multiplied: a convolution of the image with the cells' gradients, in which examples take the
 * place of channels, and strides that of dilations. The result is [channels of small, channels of large / groups, ...].
 */
static nd4c_status weight_gradient(nd4c_emitter *e, const nd4c_gradient_window *window, nd4c_emitted large,
                                   nd4c_emitted small, int64_t groups, nd4c_emitted *gradient) {
  nd4c_gradient_window over = *window;
  for (int32_t i = 0; i < window->spatial; i++) {
    over.strides[i] = window->dilations[i];
    over.dilations[i] = window->strides[i];
    over.small[i] = window->kernel[i];
  }
  if (groups == 1) {
    ND4C_TRY(swap_leading(e, large, &large));
    ND4C_TRY(swap_leading(e, small, &small));
  } else {
    ND4C_TRY(regroup(e, large, groups, true, &large));
    ND4C_TRY(regroup(e, small, groups, false, &small));
  }
  ND4C_TRY(nd4c_gradient_gather_windows(e, &over, large, small, groups, gradient));
  return swap_leading(e, *gradient, gradient);
}

ND4C_GRADIENT(convolution) {
  const nd4c_emitted x = step->inputs[ND4C_IN_conv_x], w = step->inputs[ND4C_IN_conv_w];
  const nd4c_emitted_info weights = nd4c_emitted_get(e, w);
  const int64_t groups = step->attrs[ND4C_ATTR_conv_groups].as.i;
  const nd4c_gradient_windows attrs = {&step->attrs[ND4C_ATTR_conv_strides], &step->attrs[ND4C_ATTR_conv_pads],
                                       &step->attrs[ND4C_ATTR_conv_dilations],
                                       step->attrs[ND4C_ATTR_conv_auto_pad].as.i};
  nd4c_gradient_window window;
  nd4c_emitted given = ND4C_EMITTED_NONE;
  ND4C_TRY(nd4c_gradient_before(e, step->attrs[ND4C_ATTR_conv_activation].as.i, step->output, step->given, &given));
  if (index == ND4C_IN_conv_bias) {
    return nd4c_gradient_sum_apart(e, given, 1, gradient);
  }
  if (index == ND4C_IN_conv_addend) {
    *gradient = given;
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_gradient_find_window(e, x, given, weights.shape + 2, &attrs, &window));
  return index == ND4C_IN_conv_x ? nd4c_gradient_spread_windows(e, &window, given, w, groups, gradient)
                                 : weight_gradient(e, &window, x, given, groups, gradient);
}

/* The image is its result, and each element of x is a window. */
ND4C_GRADIENT(transposed_convolution) {
  const nd4c_emitted x = step->inputs[ND4C_IN_conv_transpose_x], w = step->inputs[ND4C_IN_conv_transpose_w];
  const nd4c_emitted_info weights = nd4c_emitted_get(e, w);
  const int64_t groups = step->attrs[ND4C_ATTR_conv_transpose_groups].as.i;
  const nd4c_gradient_windows attrs = {
      &step->attrs[ND4C_ATTR_conv_transpose_strides], &step->attrs[ND4C_ATTR_conv_transpose_pads],
      &step->attrs[ND4C_ATTR_conv_transpose_dilations], step->attrs[ND4C_ATTR_conv_transpose_auto_pad].as.i};
  nd4c_gradient_window window;
  if (index == ND4C_IN_conv_transpose_bias) {
    return nd4c_gradient_sum_apart(e, step->given, 1, gradient);
  }
  if (attrs.auto_pad != ND4C_AUTO_PAD_EXPLICIT || step->attrs[ND4C_ATTR_conv_transpose_output_shape].count > 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient needs explicit pads, without output_shape");
  }
  ND4C_TRY(nd4c_gradient_find_window(e, step->given, x, weights.shape + 2, &attrs, &window));
  return index == ND4C_IN_conv_transpose_x ? nd4c_gradient_gather_windows(e, &window, step->given, w, groups, gradient)
                                           : weight_gradient(e, &window, step->given, x, groups, gradient);
}

const nd4c_gradient_row nd4c_gradient_layer[] = {ND4C_GRADIENT_LAYER(ROW){ND4C_OP_NONE, NULL}};
