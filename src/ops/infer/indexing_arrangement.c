/* Inference rules of ops that arrange elements anew: joining, padding, repeating, rolling, blocks, windows as columns
 * (op_table/indexing.h). nd4c_op_infer (infer.c) calls the rule that an op's row names. */
#include "array/shape.h"
#include "base/checked.h"
#include "base/status.h"
#include "ops/infer/rules.h"

static nd4c_status overflow(const nd4c_inference *inference, int32_t axis) {
  return nd4c_rule_refuse(inference, 0, ND4C_OVERFLOW, "axis %d of the result exceeds 64 bits", (int)axis);
}

/* Gives: the first input's shape with a new axis that is as long as there are inputs, in the dtype that the inputs
 * promote to. All inputs have one shape. */
nd4c_status nd4c_infer_stack(nd4c_inference *inference) {
  const nd4c_tensor *first = &inference->inputs[0];
  nd4c_dtype dtype = first->dtype;
  int64_t shape[ND4C_MAX_RANK];
  int32_t axis = 0;
  ND4C_TRY(nd4c_rule_rank(inference, (int64_t)first->rank + 1));
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_stack_axis].as.i, first->rank + 1, &axis));
  for (int32_t i = 1; i < inference->input_count; i++) {
    const nd4c_tensor *x = &inference->inputs[i];
    if (!nd4c_rule_same_shape(inference, x->rank, x->shape, first->rank, first->shape)) {
      char text[ND4C_RULE_TEXT_SIZE / 2];
      return nd4c_rule_refuse(inference, i, ND4C_SHAPE, "expected the first one's shape %s",
                              nd4c_shape_text(first->rank, first->shape, text, sizeof text));
    }
    ND4C_TRY(nd4c_rule_mix(inference, i, &dtype));
  }
  for (int32_t i = 0; i <= first->rank; i++) {
    shape[i] = i == axis ? inference->input_count : first->shape[i < axis ? i : i - 1];
  }
  nd4c_rule_output(inference, dtype, first->rank + 1, shape);
  return ND4C_OK;
}

/* -- pad, tile, repeat, roll --------------------------------------------------------------------------------------- */

/* Extent of one axis with pads on both sides; the content of other modes than constant must come from somewhere. */
static nd4c_status pad_axis(nd4c_inference *inference, int32_t axis, int64_t begin, int64_t end) {
  int64_t extent = inference->inputs[0].shape[axis], *result = &inference->outputs[0].shape[axis];
  const int64_t limit = INT64_MAX / 4; /* positions in the padding stay far from the ends of 64 bits */
  const bool symbolic = nd4c_extents_has(inference->extents, begin) || nd4c_extents_has(inference->extents, end);
  int64_t both = 0;
  const bool sums = symbolic ? nd4c_rule_add(inference, begin, end, &both) &&
                                   nd4c_rule_is_at_least(inference, limit, begin) &&
                                   nd4c_rule_is_at_least(inference, limit, end)
                             : begin >= -limit && begin <= limit && end >= -limit && end <= limit;
  both = symbolic || !sums ? both : begin + end;
  if (!sums || extent > limit || !nd4c_rule_add(inference, extent, both, result)) {
    return overflow(inference, axis);
  }
  if (*result < 0 && !nd4c_extents_has(inference->extents, *result)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE,
                            "pads of %lld and %lld leave %lld of axis %d, expected at least 0", (long long)begin,
                            (long long)end, (long long)*result, (int)axis);
  }
  bool constant = inference->attrs[ND4C_ATTR_pad_mode].as.i == ND4C_PAD_MODE_CONSTANT;
  if (!constant && *result != 0 && nd4c_rule_is(inference, extent, 0)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "axis %d is empty, expected something to pad with", (int)axis);
  }
  return ND4C_OK;
}

/* Gives: x with each chosen axis longer by its two pads (negative ones cut), in x's dtype. pads has all begins, then
 * all ends. */
nd4c_status nd4c_infer_pad(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *value = nd4c_rule_input(inference, ND4C_IN_pad_value);
  const nd4c_attr_value *pads = &inference->attrs[ND4C_ATTR_pad_pads], *axes = &inference->attrs[ND4C_ATTR_pad_axes];
  int32_t count = axes->count == 0 ? x->rank : axes->count, axis;
  bool chosen[ND4C_MAX_RANK];
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_pad_value));
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_pad_mode));
  ND4C_TRY(nd4c_rule_axes(inference, "axes", axes, x->rank, chosen));
  if (value != NULL && !nd4c_rule_is_equal(inference, value->size, 1)) {
    return nd4c_rule_refuse(inference, ND4C_IN_pad_value, ND4C_SHAPE, "expected one element");
  }
  if (pads->count != 2 * count) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "pads has %d values, expected %d: two for each of %d axes",
                            (int)pads->count, (int)(2 * count), (int)count);
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(nd4c_rule_axis(inference, "axes", axes->count == 0 ? i : axes->as.ints[i], x->rank, &axis));
    ND4C_TRY(pad_axis(inference, axis, pads->as.ints[i], pads->as.ints[i + count]));
  }
  return ND4C_OK;
}

/* Gives: each axis of x times its repeats, in x's dtype; the shorter of x's shape and repeats is filled up with 1 in
 * front. */
nd4c_status nd4c_infer_tile(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *repeats = &inference->attrs[ND4C_ATTR_tile_repeats];
  int32_t rank = repeats->count > x->rank ? repeats->count : x->rank;
  int64_t shape[ND4C_MAX_RANK];
  ND4C_TRY(nd4c_rule_rank(inference, rank));
  for (int32_t i = 0; i < rank; i++) {
    int32_t of_x = i - (rank - x->rank), of_repeats = i - (rank - repeats->count);
    int64_t extent = of_x >= 0 ? x->shape[of_x] : 1, times = of_repeats >= 0 ? repeats->as.ints[of_repeats] : 1;
    if (times < 0 && !nd4c_extents_has(inference->extents, times)) {
      return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "repeats has %lld, expected at least 0", (long long)times);
    }
    if (!nd4c_rule_multiply(inference, extent, times, &shape[i])) {
      return overflow(inference, i);
    }
  }
  nd4c_rule_output(inference, x->dtype, rank, shape);
  return ND4C_OK;
}

/* The length of an axis after its `extent` slices are repeated: all of them equally often, or each by its own number.
 */
static nd4c_status repeated_extent(const nd4c_inference *inference, int64_t extent, int32_t axis, int64_t *sum) {
  const nd4c_attr_value *repeats = &inference->attrs[ND4C_ATTR_repeat_repeats];
  *sum = 0;
  if (repeats->count != 1 && !nd4c_rule_is_equal(inference, extent, repeats->count)) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "repeats has %d values, expected 1 or %lld",
                            (int)repeats->count, (long long)extent);
  }
  for (int32_t i = 0; i < repeats->count; i++) {
    if (repeats->as.ints[i] < 0) {
      return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "repeats has %lld, expected at least 0",
                              (long long)repeats->as.ints[i]);
    }
    if (!nd4c_checked_add(*sum, repeats->as.ints[i], sum)) {
      return overflow(inference, axis);
    }
  }
  bool fits = repeats->count != 1 || nd4c_rule_multiply(inference, repeats->as.ints[0], extent, sum);
  return fits ? ND4C_OK : overflow(inference, axis);
}

/* The same if the input counts has the repeats of each slice: the attribute total is the length. */
static nd4c_status counted_extent(const nd4c_inference *inference, int64_t extent, int64_t *sum) {
  const nd4c_tensor *counts = &inference->inputs[ND4C_IN_repeat_counts];
  *sum = inference->attrs[ND4C_ATTR_repeat_total].as.i;
  ND4C_TRY(nd4c_rule_index_dtype(inference, ND4C_IN_repeat_counts));
  if (inference->attrs[ND4C_ATTR_repeat_repeats].count != 0) {
    return nd4c_rule_refuse(inference, ND4C_IN_repeat_counts, ND4C_ARGUMENT, "expected either counts or repeats");
  }
  if (counts->rank != 1 || !nd4c_rule_is_equal(inference, counts->shape[0], extent)) {
    return nd4c_rule_refuse(inference, ND4C_IN_repeat_counts, ND4C_SHAPE, "expected one axis of %lld",
                            (long long)extent);
  }
  if (*sum < 0) {
    return nd4c_rule_refuse(inference, ND4C_IN_repeat_counts, ND4C_ARGUMENT, "expected total, the sum of counts");
  }
  return ND4C_OK;
}

/* Gives: x with the axis as long as all repeats together, in x's dtype. Without axes, x is flattened and y has one
 * axis. With the input counts the length is total. */
nd4c_status nd4c_infer_repeat(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *axes = &inference->attrs[ND4C_ATTR_repeat_axes];
  int32_t axis = 0;
  int64_t sum = 0;
  if (axes->count > 1) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "axes has %d values, expected none or one", (int)axes->count);
  }
  if (axes->count == 1) {
    ND4C_TRY(nd4c_rule_axis(inference, "axes", axes->as.ints[0], x->rank, &axis));
  }
  int64_t extent = axes->count == 1 ? x->shape[axis] : x->size;
  bool counted = nd4c_rule_input(inference, ND4C_IN_repeat_counts) != NULL;
  ND4C_TRY(counted ? counted_extent(inference, extent, &sum) : repeated_extent(inference, extent, axis, &sum));
  if (axes->count == 0) {
    nd4c_rule_output(inference, x->dtype, 1, &sum);
    return ND4C_OK;
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  inference->outputs[0].shape[axis] = sum;
  return ND4C_OK;
}

/* Gives: the shape and dtype of x. */
nd4c_status nd4c_infer_roll(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *shifts = &inference->attrs[ND4C_ATTR_roll_shifts];
  const nd4c_attr_value *axes = &inference->attrs[ND4C_ATTR_roll_axes];
  int32_t expected = axes->count == 0 ? 1 : axes->count, axis;
  if (shifts->count != expected) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "shifts has %d values, expected %d", (int)shifts->count,
                            (int)expected);
  }
  for (int32_t i = 0; i < axes->count; i++) { /* an axis may be named twice: its shifts add */
    ND4C_TRY(nd4c_rule_axis(inference, "axes", axes->as.ints[i], x->rank, &axis));
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* -- blocks -------------------------------------------------------------------------------------------------------- */

/* Positions of channels, rows and columns, and the block's extent. */
static nd4c_status block_axes(const nd4c_inference *inference, int32_t *axes, int64_t *block) {
  const nd4c_tensor *x = &inference->inputs[0];
  *block = inference->attrs[ND4C_ATTR_depth_to_space_block_size].as.i;
  bool last = inference->attrs[ND4C_ATTR_depth_to_space_channels_last].as.i != 0;
  if (x->rank < 3) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least 3 axes: channels, rows, columns");
  }
  if (*block < 1 || *block > INT32_MAX) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "block_size is %lld, expected 1 to %d", (long long)*block,
                            INT32_MAX);
  }
  axes[0] = last ? x->rank - 1 : x->rank - 3;
  axes[1] = last ? x->rank - 3 : x->rank - 2;
  axes[2] = last ? x->rank - 2 : x->rank - 1;
  return ND4C_OK;
}

/* First output: x with the axes [0] and [1], [2] scaled. */
static nd4c_status scale_axes(nd4c_inference *inference, const int32_t *axes, int64_t depth_up, int64_t depth_down,
                              int64_t up, int64_t down) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  for (int32_t i = 0; i < 3; i++) {
    int64_t divisor = i == 0 ? depth_down : down, *extent = &inference->outputs[0].shape[axes[i]];
    if (!nd4c_rule_is_multiple(inference, *extent, divisor)) {
      return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "axis %d has %lld, expected a multiple of %lld", (int)axes[i],
                              (long long)*extent, (long long)divisor);
    }
    if (!nd4c_rule_divide(inference, *extent, divisor, extent) ||
        !nd4c_rule_multiply(inference, *extent, i == 0 ? depth_up : up, extent)) {
      return overflow(inference, axes[i]);
    }
  }
  return ND4C_OK;
}

/* Gives: x with its channels divided by block_size^2, rows and columns times block_size, in x's dtype. Axes are [...,
 * c, h, w], with channels_last [..., h, w, c]. */
nd4c_status nd4c_infer_depth_to_space(nd4c_inference *inference) {
  int32_t axes[3];
  int64_t block = 0;
  ND4C_TRY(block_axes(inference, axes, &block));
  return scale_axes(inference, axes, 1, block * block, block, 1);
}

/* Gives: x with its channels times block_size^2, rows and columns divided by block_size, in x's dtype. Axes are [...,
 * c, h, w], with channels_last [..., h, w, c]. */
nd4c_status nd4c_infer_space_to_depth(nd4c_inference *inference) {
  int32_t axes[3];
  int64_t block = 0;
  ND4C_TRY(block_axes(inference, axes, &block));
  return scale_axes(inference, axes, block * block, 1, 1, block);
}

/* Checks blocks and pads of space_to_batch and batch_to_space; the product of the blocks. */
static nd4c_status check_blocks(const nd4c_inference *inference, int64_t *cells) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *block = &inference->attrs[ND4C_ATTR_space_to_batch_block_shape];
  const nd4c_attr_value *pads = &inference->attrs[ND4C_ATTR_space_to_batch_pads];
  *cells = 1;
  if (block->count < 1 || block->count >= x->rank) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE,
                            "block_shape has %d extents, expected at least 1 and fewer than axes", (int)block->count);
  }
  if (pads->count != 0 && pads->count != 2 * block->count) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "pads has %d values, expected none or %d", (int)pads->count,
                            (int)(2 * block->count));
  }
  for (int32_t i = 0; i < block->count; i++) {
    if (block->as.ints[i] < 1 || !nd4c_checked_multiply(*cells, block->as.ints[i], cells) || *cells > INT32_MAX) {
      return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT,
                              "block_shape has %lld, expected at least 1, not too many in all",
                              (long long)block->as.ints[i]);
    }
  }
  for (int32_t i = 0; i < pads->count; i++) {
    if (pads->as.ints[i] < 0) {
      return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "pads has %lld, expected at least 0",
                              (long long)pads->as.ints[i]);
    }
  }
  return ND4C_OK;
}

/* The sum of both pads of spatial axis i. */
static bool pads_of(const nd4c_inference *inference, int32_t i, int64_t *sum) {
  const nd4c_attr_value *pads = &inference->attrs[ND4C_ATTR_space_to_batch_pads];
  *sum = 0;
  return pads->count == 0 || nd4c_checked_add(pads->as.ints[i], pads->as.ints[i + pads->count / 2], sum);
}

/* Gives: x with axis 0 times the product of block_shape, and each following axis padded and divided by its block, in
 * x's dtype. */
nd4c_status nd4c_infer_space_to_batch(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *block = &inference->attrs[ND4C_ATTR_space_to_batch_block_shape];
  int64_t cells = 0, pads = 0;
  ND4C_TRY(check_blocks(inference, &cells));
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  int64_t *shape = inference->outputs[0].shape;
  if (!nd4c_rule_multiply(inference, shape[0], cells, &shape[0])) {
    return overflow(inference, 0);
  }
  for (int32_t i = 0; i < block->count; i++) {
    if (!pads_of(inference, i, &pads) || !nd4c_rule_add(inference, shape[i + 1], pads, &shape[i + 1])) {
      return overflow(inference, i + 1);
    }
    if (!nd4c_rule_is_multiple(inference, shape[i + 1], block->as.ints[i])) {
      return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "axis %d has %lld with its pads, expected a multiple of %lld",
                              (int)i + 1, (long long)shape[i + 1], (long long)block->as.ints[i]);
    }
    (void)nd4c_rule_divide(inference, shape[i + 1], block->as.ints[i], &shape[i + 1]);
  }
  return ND4C_OK;
}

/* Gives: x with axis 0 divided by the product of block_shape, and each following axis times its block less its pads,
 * in x's dtype. */
nd4c_status nd4c_infer_batch_to_space(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *block = &inference->attrs[ND4C_ATTR_space_to_batch_block_shape];
  int64_t cells = 0, pads = 0;
  ND4C_TRY(check_blocks(inference, &cells));
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  int64_t *shape = inference->outputs[0].shape;
  if (!nd4c_rule_is_multiple(inference, shape[0], cells)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "axis 0 has %lld, expected a multiple of %lld",
                            (long long)shape[0], (long long)cells);
  }
  (void)nd4c_rule_divide(inference, shape[0], cells, &shape[0]);
  for (int32_t i = 0; i < block->count; i++) {
    if (!nd4c_rule_multiply(inference, shape[i + 1], block->as.ints[i], &shape[i + 1]) ||
        !pads_of(inference, i, &pads)) {
      return overflow(inference, i + 1);
    }
    if (!nd4c_rule_is_at_least(inference, shape[i + 1], pads)) {
      return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "pads cut %lld off axis %d of %lld", (long long)pads,
                              (int)i + 1, (long long)shape[i + 1]);
    }
    (void)nd4c_rule_subtract(inference, shape[i + 1], pads, &shape[i + 1]);
  }
  return ND4C_OK;
}

/* -- windows as columns -------------------------------------------------------------------------------------------- */

/* Entry i of a list of `count` values, or the preset if the list is empty; false if it has another length. */
static bool entry(const nd4c_attr_value *list, int32_t count, int32_t i, int64_t preset, int64_t *value) {
  *value = list->count == 0 ? preset : list->count == count ? list->as.ints[i] : 0;
  return list->count == 0 || list->count == count;
}

/* Windows along one axis of an image: where they fit into the padded extent. */
static nd4c_status windows_along(const nd4c_inference *inference, const nd4c_attr_value *attrs, int32_t axis,
                                 int64_t extent, int64_t *windows) {
  int32_t spatial = attrs[0].count;
  int64_t kernel = attrs[0].as.ints[axis], stride, begin, end, dilation, reach, padded;
  bool given = entry(&attrs[1], spatial, axis, 1, &stride) && entry(&attrs[2], 2 * spatial, axis, 0, &begin) &&
               entry(&attrs[2], 2 * spatial, axis + spatial, 0, &end) && entry(&attrs[3], spatial, axis, 1, &dilation);
  if (!given || kernel < 1 || stride < 1 || dilation < 1 || begin < 0 || end < 0) {
    return nd4c_rule_refuse(
        inference, 0, ND4C_ARGUMENT,
        "expected kernel, strides, dilations of %d positive values and twice as many pads of at least 0", (int)spatial);
  }
  if (!nd4c_checked_multiply(kernel - 1, dilation, &reach) || !nd4c_rule_add(inference, extent, begin, &padded) ||
      !nd4c_rule_add(inference, padded, end, &padded) || reach == INT64_MAX ||
      !nd4c_rule_is_at_least(inference, padded, reach + 1) || !nd4c_rule_subtract(inference, padded, reach, &padded)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "no window of %lld cells, %lld apart, fits into axis %d of %lld",
                            (long long)kernel, (long long)dilation, (int)axis, (long long)extent);
  }
  return nd4c_rule_divide_up(inference, padded, stride, windows) ? ND4C_OK : overflow(inference, axis);
}

static bool product(const nd4c_inference *inference, int32_t count, const int64_t *values, int64_t *result) {
  *result = 1;
  for (int32_t i = 0; i < count; i++) {
    if (!nd4c_rule_multiply(inference, *result, values[i], result)) {
      return false;
    }
  }
  return true;
}

/* Gives: [n, c * product of kernel, number of windows], in x's dtype, for x [n, c, ...]. */
nd4c_status nd4c_infer_im2col(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *kernel = &inference->attrs[ND4C_ATTR_im2col_kernel];
  int64_t windows[ND4C_MAX_RANK], shape[3], cells;
  int32_t spatial = x->rank - 2;
  if (spatial < 1 || kernel->count != spatial) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE,
                            "kernel has %d extents, expected one for each axis behind the first two",
                            (int)kernel->count);
  }
  for (int32_t i = 0; i < spatial; i++) {
    ND4C_TRY(windows_along(inference, kernel, i, x->shape[i + 2], &windows[i]));
  }
  shape[0] = x->shape[0];
  if (!product(inference, spatial, kernel->as.ints, &cells) ||
      !nd4c_rule_multiply(inference, x->shape[1], cells, &shape[1]) ||
      !product(inference, spatial, windows, &shape[2])) {
    return overflow(inference, 1);
  }
  nd4c_rule_output(inference, x->dtype, 3, shape);
  return ND4C_OK;
}

/* Gives: [n, c, ...image], in x's dtype, for x [n, c * product of kernel, number of windows]. */
nd4c_status nd4c_infer_col2im(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *image = &inference->attrs[ND4C_ATTR_col2im_image];
  const nd4c_attr_value *kernel = &inference->attrs[ND4C_ATTR_col2im_kernel];
  int64_t windows[ND4C_MAX_RANK], shape[ND4C_MAX_RANK], cells, total;
  int32_t spatial = image->count;
  if (x->rank != 3 || spatial < 1 || kernel->count != spatial || spatial + 2 > ND4C_MAX_RANK) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE,
                            "expected 3 axes, and as many extents in image (%d) as in kernel (%d)", (int)spatial,
                            (int)kernel->count);
  }
  for (int32_t i = 0; i < spatial; i++) {
    shape[i + 2] = image->as.ints[i];
    if (image->as.ints[i] < 0) {
      return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "image has the extent %lld, expected at least 0",
                              (long long)image->as.ints[i]);
    }
    ND4C_TRY(windows_along(inference, kernel, i, image->as.ints[i], &windows[i]));
  }
  if (!product(inference, spatial, kernel->as.ints, &cells) || !product(inference, spatial, windows, &total)) {
    return overflow(inference, 1);
  }
  if (!nd4c_rule_is_multiple(inference, x->shape[1], cells) || !nd4c_rule_is_equal(inference, x->shape[2], total)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected (n, a multiple of %lld, %lld)", (long long)cells,
                            (long long)total);
  }
  shape[0] = x->shape[0];
  (void)nd4c_rule_divide(inference, x->shape[1], cells, &shape[1]);
  nd4c_rule_output(inference, x->dtype, spatial + 2, shape);
  return ND4C_OK;
}

/* -- sequences ----------------------------------------------------------------------------------------------------- */

/* Gives: the shape and dtype of x. lengths has one value for each element of the batch axis. */
nd4c_status nd4c_infer_reverse_sequence(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *lengths = &inference->inputs[1];
  const nd4c_attr_value *attrs = inference->attrs;
  int32_t batch = 0, time = 0;
  ND4C_TRY(nd4c_rule_index_dtype(inference, 1));
  ND4C_TRY(nd4c_rule_axis(inference, "batch_axis", attrs[ND4C_ATTR_reverse_sequence_batch_axis].as.i, x->rank, &batch));
  ND4C_TRY(nd4c_rule_axis(inference, "time_axis", attrs[ND4C_ATTR_reverse_sequence_time_axis].as.i, x->rank, &time));
  if (batch == time) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "batch_axis and time_axis are both %d, expected two axes",
                            (int)batch);
  }
  if (lengths->rank != 1 || !nd4c_rule_is_equal(inference, lengths->shape[0], x->shape[batch])) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected one axis of %lld", (long long)x->shape[batch]);
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}
