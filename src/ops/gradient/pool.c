/* Rules for the gradients of pools with windows. gradient.c looks rules up in this list. */
#include "base/status.h"
#include "ops/gradient/gradient.h"

static const int64_t flat[] = {-1};

/* g to the first of the largest cells of each window: the indices count in all of x, and are -1 for windows without
 * cells. */
ND4C_GRADIENT(largest) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  const nd4c_attr attrs[] = {
      {"kernel", step->attrs[ND4C_ATTR_max_pool_kernel]},     {"strides", step->attrs[ND4C_ATTR_max_pool_strides]},
      {"pads", step->attrs[ND4C_ATTR_max_pool_pads]},         {"dilations", step->attrs[ND4C_ATTR_max_pool_dilations]},
      {"auto_pad", step->attrs[ND4C_ATTR_max_pool_auto_pad]}, {"ceil_mode", step->attrs[ND4C_ATTR_max_pool_ceil_mode]}};
  nd4c_emitted pooled[2], given = ND4C_EMITTED_NONE, found = ND4C_EMITTED_NONE, zero = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nd4c_emit_outputs(e, ND4C_OP_max_pool_with_indices, step->inputs, 1, attrs,
                             (int32_t)(sizeof attrs / sizeof *attrs), pooled, 2));
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_greater_equal, pooled[1], 0, &found));
  ND4C_TRY(nd4c_emit_scalar_like(e, step->given, 0, &zero));
  ND4C_TRY(nd4c_emit_where(e, found, step->given, zero, &given));
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_maximum, pooled[1], 0, &pooled[1]));
  ND4C_TRY(nd4c_emit_reshape(e, given, 1, flat, &given));
  ND4C_TRY(nd4c_emit_reshape(e, pooled[1], 1, flat, &pooled[1]));
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, gradient));
  ND4C_TRY(nd4c_emit_reshape(e, *gradient, 1, flat, gradient));
  const nd4c_emitted scattered[] = {*gradient, pooled[1], given};
  ND4C_TRY(nd4c_emit(e, ND4C_OP_scatter_add, scattered, 3, NULL, 0, gradient));
  return nd4c_emit_reshape(e, *gradient, info.rank, info.shape, gradient);
}

/* An image of one channel for each channel of each example. */
static nd4c_status as_images(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *images) {
  nd4c_emitted_info info = nd4c_emitted_get(e, x);
  info.shape[0] = nd4c_gradient_join_extents(info.shape, 2);
  info.shape[1] = 1;
  return nd4c_emit_reshape(e, x, info.rank, info.shape, images);
}

/* 1 / n for each window of one image, n being by how much the pool divides: what it gives for ones, over the number of
 * cells in the window. */
static nd4c_status share(nd4c_emitter *e, const nd4c_gradient_step *step, const nd4c_gradient_window *window,
                         nd4c_emitted ones, nd4c_emitted *shares) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  const nd4c_attr attrs[] = {{"kernel", step->attrs[ND4C_ATTR_average_pool_kernel]},
                             {"strides", step->attrs[ND4C_ATTR_average_pool_strides]},
                             {"pads", step->attrs[ND4C_ATTR_average_pool_pads]},
                             {"dilations", step->attrs[ND4C_ATTR_average_pool_dilations]},
                             {"auto_pad", step->attrs[ND4C_ATTR_average_pool_auto_pad]},
                             {"ceil_mode", step->attrs[ND4C_ATTR_average_pool_ceil_mode]},
                             {"count_include_pad", step->attrs[ND4C_ATTR_average_pool_count_include_pad]}};
  int64_t shape[ND4C_MAX_RANK] = {1, 1};
  nd4c_emitted image = ND4C_EMITTED_NONE, cells = ND4C_EMITTED_NONE;
  for (int32_t i = 2; i < info.rank; i++) {
    shape[i] = info.shape[i];
  }
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 1, info.rank, shape, &image));
  ND4C_TRY(nd4c_gradient_gather_windows(e, window, image, ones, 1, &cells));
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_maximum, cells, 1, &cells)); /* of a window in the pads alone, too */
  ND4C_TRY(nd4c_emit(e, ND4C_OP_average_pool, &image, 1, attrs, (int32_t)(sizeof attrs / sizeof *attrs), shares));
  return nd4c_emit_binary(e, ND4C_OP_divide, *shares, cells, shares);
}

/* g / n to each of the n cells of a window */
ND4C_GRADIENT(averages) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  const nd4c_attr_value *kernel = &step->attrs[ND4C_ATTR_average_pool_kernel];
  const nd4c_gradient_windows attrs = {
      &step->attrs[ND4C_ATTR_average_pool_strides], &step->attrs[ND4C_ATTR_average_pool_pads],
      &step->attrs[ND4C_ATTR_average_pool_dilations], step->attrs[ND4C_ATTR_average_pool_auto_pad].as.i};
  int64_t shape[ND4C_MAX_RANK] = {1, 1};
  nd4c_gradient_window window;
  nd4c_emitted ones = ND4C_EMITTED_NONE, shares = ND4C_EMITTED_NONE;
  (void)index;
  for (int32_t i = 2; i < info.rank; i++) {
    shape[i] = kernel->as.ints[i - 2];
  }
  ND4C_TRY(nd4c_gradient_find_window(e, step->inputs[0], step->given, kernel->as.ints, &attrs, &window));
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 1, info.rank, shape, &ones));
  ND4C_TRY(share(e, step, &window, ones, &shares));
  BINARY(multiply, step->given, shares, gradient);
  ND4C_TRY(as_images(e, *gradient, gradient));
  ND4C_TRY(nd4c_gradient_spread_windows(e, &window, *gradient, ones, 1, gradient));
  return nd4c_emit_reshape(e, *gradient, info.rank, info.shape, gradient);
}

const nd4c_gradient_row nd4c_gradient_pool[] = {ND4C_GRADIENT_POOL(ROW){ND4C_OP_NONE, NULL}};
