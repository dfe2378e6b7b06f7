/* Inference rules and view functions of the views that are more than a reshape: reversed, exchanged, chosen and
 * overlapping axes. nd4c_op_infer (infer.c) calls the rules; dispatch and plans call the view functions of op
 * definitions. */
#include "array/shape.h"
#include "base/checked.h"
#include "base/status.h"
#include "ops/infer/rules.h"

/* -- flip, swapaxes, moveaxis, atleast_nd -------------------------------------------------------------------------- */

/* Gives: the shape and dtype of x. */
nd4c_status nd4c_infer_flip(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  bool chosen[ND4C_MAX_RANK];
  ND4C_TRY(nd4c_rule_axes(inference, "axes", &inference->attrs[ND4C_ATTR_flip_axes], x->rank, chosen));
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}

bool nd4c_view_flip(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *axes = &inference->attrs[ND4C_ATTR_flip_axes];
  bool chosen[ND4C_MAX_RANK];
  *offset = 0;
  if (nd4c_rule_axes_or_all(inference, "axes", axes, x->rank, chosen) != ND4C_OK) {
    return false;
  }
  for (int32_t i = 0; i < x->rank; i++) {
    bool reversed = chosen[i];
    strides[i] = reversed ? -x->strides[i] : x->strides[i];
    *offset += reversed && x->size > 0 ? (x->shape[i] - 1) * x->strides[i] : 0;
  }
  return true;
}

/* Where each axis of the result comes from. */
static nd4c_status swapped_axes(const nd4c_inference *inference, int32_t *from) {
  int32_t a, b, rank = inference->inputs[0].rank;
  ND4C_TRY(nd4c_rule_axis(inference, "axis1", inference->attrs[ND4C_ATTR_swapaxes_axis1].as.i, rank, &a));
  ND4C_TRY(nd4c_rule_axis(inference, "axis2", inference->attrs[ND4C_ATTR_swapaxes_axis2].as.i, rank, &b));
  for (int32_t i = 0; i < rank; i++) {
    from[i] = i == a ? b : i == b ? a : i;
  }
  return ND4C_OK;
}

static nd4c_status moved_axes(const nd4c_inference *inference, int32_t *from) {
  int32_t rank = inference->inputs[0].rank;
  const nd4c_attr_value *source = &inference->attrs[ND4C_ATTR_moveaxis_source];
  const nd4c_attr_value *destination = &inference->attrs[ND4C_ATTR_moveaxis_destination];
  bool moved[ND4C_MAX_RANK], taken[ND4C_MAX_RANK];
  if (source->count != destination->count) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "source has %d axes, expected %d as destination",
                            (int)source->count, (int)destination->count);
  }
  ND4C_TRY(nd4c_rule_axes(inference, "source", source, rank, moved));
  ND4C_TRY(nd4c_rule_axes(inference, "destination", destination, rank, taken));
  for (int32_t i = 0, next = 0; i < rank; i++) {
    if (!taken[i]) {
      while (moved[next]) {
        next++;
      }
      from[i] = next++;
    }
  }
  for (int32_t k = 0; k < source->count; k++) {
    from[nd4c_axis_index(destination->as.ints[k], rank)] = nd4c_axis_index(source->as.ints[k], rank);
  }
  return ND4C_OK;
}

typedef nd4c_status (*axes_function)(const nd4c_inference *inference, int32_t *from);

static nd4c_status infer_order(nd4c_inference *inference, axes_function order) {
  const nd4c_tensor *x = &inference->inputs[0];
  int32_t from[ND4C_MAX_RANK];
  int64_t shape[ND4C_MAX_RANK];
  ND4C_TRY(order(inference, from));
  for (int32_t i = 0; i < x->rank; i++) {
    shape[i] = x->shape[from[i]];
  }
  nd4c_rule_output(inference, x->dtype, x->rank, shape);
  return ND4C_OK;
}

static bool view_order(const nd4c_inference *inference, axes_function order, int64_t *strides, int64_t *offset) {
  const nd4c_tensor *x = &inference->inputs[0];
  int32_t from[ND4C_MAX_RANK];
  *offset = 0;
  if (order(inference, from) != ND4C_OK) {
    return false;
  }
  for (int32_t i = 0; i < x->rank; i++) {
    strides[i] = x->strides[from[i]];
  }
  return true;
}

/* Gives: x with axis1 and axis2 exchanged, in x's dtype. */
nd4c_status nd4c_infer_swapaxes(nd4c_inference *inference) {
  return infer_order(inference, swapped_axes);
}

bool nd4c_view_swapaxes(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  return view_order(inference, swapped_axes, strides, offset);
}

/* Gives: x with the axes source at the places destination, in x's dtype. */
nd4c_status nd4c_infer_moveaxis(nd4c_inference *inference) {
  return infer_order(inference, moved_axes);
}

bool nd4c_view_moveaxis(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  return view_order(inference, moved_axes, strides, offset);
}

/* Gives: x with 1 in front until it has ndim axes, in x's dtype. */
nd4c_status nd4c_infer_atleast_nd(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t ndim = inference->attrs[ND4C_ATTR_atleast_nd_ndim].as.i, shape[ND4C_MAX_RANK];
  ND4C_TRY(nd4c_rule_rank(inference, ndim));
  int32_t rank = ndim > x->rank ? (int32_t)ndim : x->rank;
  for (int32_t i = 0; i < rank; i++) {
    shape[i] = i < rank - x->rank ? 1 : x->shape[i - (rank - x->rank)];
  }
  nd4c_rule_output(inference, x->dtype, rank, shape);
  return ND4C_OK;
}

bool nd4c_view_atleast_nd(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  const nd4c_tensor *x = &inference->inputs[0];
  int32_t rank = inference->outputs[0].rank;
  *offset = 0;
  for (int32_t i = 0; i < rank; i++) {
    strides[i] = i < rank - x->rank ? 1 : x->strides[i - (rank - x->rank)];
  }
  return true;
}

/* -- select -------------------------------------------------------------------------------------------------------- */

/* Whether an index, which may count from the end, is one of an axis. */
static bool is_within(const nd4c_inference *inference, int64_t index, int64_t extent) {
  return index >= 0 ? index < INT64_MAX && nd4c_rule_is_at_least(inference, extent, index + 1)
                    : index != INT64_MIN && nd4c_rule_is_at_least(inference, extent, -index);
}

/* Reads the axis and the index, and counts both from the beginning. */
static nd4c_status selected(const nd4c_inference *inference, int32_t *axis, int64_t *index) {
  const nd4c_tensor *x = &inference->inputs[0];
  *index = inference->attrs[ND4C_ATTR_select_index].as.i;
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_select_axis].as.i, x->rank, axis));
  int64_t extent = x->shape[*axis];
  if (!is_within(inference, *index, extent)) {
    return nd4c_rule_refuse(inference, 0, ND4C_INDEX, "index %lld is out of range for axis %d of length %lld",
                            (long long)*index, (int)*axis, (long long)extent);
  }
  if (*index < 0) {
    (void)nd4c_rule_add(inference, extent, *index, index);
  }
  return ND4C_OK;
}

/* Gives: x without the axis, in x's dtype. */
nd4c_status nd4c_infer_select(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t index, shape[ND4C_MAX_RANK];
  int32_t axis = 0;
  ND4C_TRY(selected(inference, &axis, &index));
  for (int32_t i = 0; i + 1 < x->rank; i++) {
    shape[i] = x->shape[i < axis ? i : i + 1];
  }
  nd4c_rule_output(inference, x->dtype, x->rank - 1, shape);
  return ND4C_OK;
}

bool nd4c_view_select(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t index = 0;
  int32_t axis = 0;
  if (selected(inference, &axis, &index) != ND4C_OK) {
    return false;
  }
  for (int32_t i = 0; i + 1 < x->rank; i++) {
    strides[i] = x->strides[i < axis ? i : i + 1];
  }
  *offset = index * x->strides[axis];
  return true;
}

/* -- windows ------------------------------------------------------------------------------------------------------- */

static nd4c_status check_window(const nd4c_inference *inference, int32_t axis, int64_t window) {
  int64_t extent = inference->inputs[0].shape[axis];
  if (window < 1 || !nd4c_rule_is_at_least(inference, extent, window)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "a window of %lld on axis %d, expected 1 to %lld",
                            (long long)window, (int)axis, (long long)extent);
  }
  return ND4C_OK;
}

/* Axis that window number i slides along. */
static int32_t window_axis(const nd4c_inference *inference, int32_t i) {
  const nd4c_attr_value *axes = &inference->attrs[ND4C_ATTR_sliding_window_view_axes];
  int64_t axis = axes->count == 0 ? i : axes->as.ints[i];
  return (int32_t)(axis < 0 ? axis + inference->inputs[0].rank : axis);
}

/* An axis may be named twice: then windows slide along it within windows, as NumPy has it. Gives: x with each axis
 * shorter by its window less 1, and the windows as new last axes, in x's dtype. */
nd4c_status nd4c_infer_sliding_window_view(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *window = &inference->attrs[ND4C_ATTR_sliding_window_view_window];
  const nd4c_attr_value *axes = &inference->attrs[ND4C_ATTR_sliding_window_view_axes];
  nd4c_inferred *output = &inference->outputs[0];
  int32_t expected = axes->count == 0 ? x->rank : axes->count, axis;
  if (window->count != expected) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "window has %d extents, expected %d", (int)window->count,
                            (int)expected);
  }
  ND4C_TRY(nd4c_rule_rank(inference, (int64_t)x->rank + window->count));
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  for (int32_t i = 0; i < window->count; i++) {
    ND4C_TRY(nd4c_rule_axis(inference, "axes", axes->count == 0 ? i : axes->as.ints[i], x->rank, &axis));
    ND4C_TRY(check_window(inference, axis, window->as.ints[i]));
    const bool fits = nd4c_rule_subtract(inference, output->shape[axis], window->as.ints[i] - 1, &output->shape[axis]);
    output->shape[output->rank++] = window->as.ints[i];
    if (!fits || !nd4c_rule_is_at_least(inference, output->shape[axis], 1)) {
      return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "windows along axis %d are longer than it together", (int)axis);
    }
  }
  return ND4C_OK;
}

bool nd4c_view_sliding_window_view(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  const nd4c_tensor *x = &inference->inputs[0];
  int32_t windows = inference->attrs[ND4C_ATTR_sliding_window_view_window].count;
  *offset = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    strides[i] = x->strides[i];
  }
  for (int32_t i = 0; i < windows; i++) {
    strides[x->rank + i] = x->strides[window_axis(inference, i)];
  }
  return true;
}

/* Gives: x with (length - size) / step + 1 on the axis, and size as a new last axis, in x's dtype. */
nd4c_status nd4c_infer_unfold(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t size = inference->attrs[ND4C_ATTR_unfold_size].as.i, step = inference->attrs[ND4C_ATTR_unfold_step].as.i;
  nd4c_inferred *output = &inference->outputs[0];
  int32_t axis = 0;
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_unfold_axis].as.i, x->rank, &axis));
  ND4C_TRY(check_window(inference, axis, size));
  ND4C_TRY(nd4c_rule_rank(inference, (int64_t)x->rank + 1));
  if (step < 1) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "step is %lld, expected at least 1", (long long)step);
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  int64_t *count = &output->shape[axis];
  output->shape[output->rank++] = size;
  return nd4c_rule_subtract(inference, x->shape[axis], size, count) &&
                 nd4c_rule_divide(inference, *count, step, count) && nd4c_rule_add(inference, *count, 1, count)
             ? ND4C_OK
             : nd4c_rule_too_long(inference, 0, axis);
}

bool nd4c_view_unfold(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t axis = inference->attrs[ND4C_ATTR_unfold_axis].as.i, step = inference->attrs[ND4C_ATTR_unfold_step].as.i;
  *offset = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    strides[i] = x->strides[i];
  }
  axis += axis < 0 ? x->rank : 0;
  strides[x->rank] = x->strides[axis];
  strides[axis] = inference->outputs[0].shape[axis] > 1 ? x->strides[axis] * step : x->strides[axis];
  return true;
}
