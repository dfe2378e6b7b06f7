/* Inference rules and view functions of op_table/shape.h. nd4c_op_infer (infer.c) calls the rules; dispatch and plans
 * call the view functions of op definitions. */
#include "array/shape.h"
#include "base/status.h"
#include "ops/infer/rules.h"

/* -- reshape, broadcast_to, flatten ------------------------------------------------------------------------------ */

/* Takes the attribute `shape` into the first output; extents may not be below `least`. */
static nd4c_status take_shape(nd4c_inference *inference, int64_t least) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *shape = &inference->attrs[ND4C_ATTR_reshape_shape];
  if (shape->count > ND4C_MAX_RANK) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "shape has %d axes, expected at most %d", (int)shape->count,
                            ND4C_MAX_RANK);
  }
  for (int32_t i = 0; i < shape->count; i++) {
    if (shape->as.ints[i] < least && !nd4c_extents_has(inference->extents, shape->as.ints[i])) {
      return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "shape has the extent %lld, expected at least %lld",
                              (long long)shape->as.ints[i], (long long)least);
    }
  }
  nd4c_rule_output(inference, x->dtype, shape->count, shape->as.ints);
  return ND4C_OK;
}

/* Product of extents from `first` to before `last`; zero wins over overflow. */
static bool extents_product(const nd4c_inference *inference, const int64_t *shape, int32_t first, int32_t last,
                            int64_t *product) {
  bool fits = true;
  *product = 1;
  for (int32_t i = first; i < last; i++) {
    if (shape[i] == 0) {
      *product = 0;
      return true;
    }
    fits = fits && nd4c_rule_multiply(inference, *product, shape[i], product);
  }
  return fits;
}

/* Replaces the one -1 by what the size leaves for it; *found: there is one. */
static nd4c_status infer_extent(nd4c_inference *inference, int64_t size, bool *found) {
  nd4c_inferred *output = &inference->outputs[0];
  int32_t open = -1;
  for (int32_t i = 0; i < output->rank; i++) {
    if (output->shape[i] == -1 && open >= 0) {
      return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "shape has more than one -1, expected at most one");
    }
    open = output->shape[i] == -1 ? i : open;
  }
  *found = open >= 0;
  if (open < 0) {
    return ND4C_OK;
  }
  int64_t rest;
  output->shape[open] = 1;
  bool fits = extents_product(inference, output->shape, 0, output->rank, &rest);
  if (fits && rest == 0) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "the -1 of shape stands beside a 0, expected no 0 there");
  }
  if (!fits || !nd4c_rule_is_multiple(inference, size, rest) ||
      !nd4c_rule_divide(inference, size, rest, &output->shape[open])) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "no extent in place of -1 makes shape hold %lld elements",
                            (long long)size);
  }
  return ND4C_OK;
}

/* Gives: the attribute shape, in x's dtype; one extent may be -1, which stands for what is left. */
nd4c_status nd4c_infer_reshape(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_inferred *output = &inference->outputs[0];
  int64_t size, new_size;
  bool found = false;
  (void)extents_product(inference, x->shape, 0, x->rank, &size);
  ND4C_TRY(take_shape(inference, -1));
  ND4C_TRY(infer_extent(inference, size, &found));
  if (!extents_product(inference, output->shape, 0, output->rank, &new_size)) {
    return nd4c_rule_refuse(inference, 0, ND4C_OVERFLOW, "the size of shape exceeds 64 bits");
  }
  if (!found && !nd4c_rule_is_equal(inference, new_size, size)) {
    char text[ND4C_RULE_TEXT_SIZE / 2];
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "shape %s has %lld elements, expected %lld",
                            nd4c_shape_text(output->rank, output->shape, text, sizeof text), (long long)new_size,
                            (long long)size);
  }
  return ND4C_OK;
}

bool nd4c_view_reshape(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_inferred *output = &inference->outputs[0];
  *offset = 0;
  return nd4c_reshape_strides(x->rank, x->shape, x->strides, output->rank, output->shape, strides);
}

/* Gives: the attribute shape, in x's dtype. */
nd4c_status nd4c_infer_broadcast_to(nd4c_inference *inference) {
  ND4C_TRY(take_shape(inference, 0));
  return nd4c_rule_broadcasts_to_output(inference, 0);
}

bool nd4c_view_broadcast_to(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_inferred *output = &inference->outputs[0];
  *offset = 0;
  nd4c_broadcast_strides(output->rank, output->shape, x->rank, x->shape, x->strides, strides);
  return true;
}

/* The axis may be the rank: then all axes come before it. Gives: [product of the axes before axis, product of the
 * others], in x's dtype. */
nd4c_status nd4c_infer_flatten(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t axis = inference->attrs[ND4C_ATTR_flatten_axis].as.i, shape[2];
  if (axis < -x->rank || axis > x->rank) {
    return nd4c_rule_refuse(inference, 0, ND4C_INDEX, "axis %lld is out of range, expected %d to %d", (long long)axis,
                            (int)-x->rank, (int)x->rank);
  }
  int32_t split = nd4c_axis_index(axis, x->rank);
  if (!extents_product(inference, x->shape, 0, split, &shape[0]) ||
      !extents_product(inference, x->shape, split, x->rank, &shape[1])) {
    return nd4c_rule_refuse(inference, 0, ND4C_OVERFLOW, "an extent of the result exceeds 64 bits");
  }
  nd4c_rule_output(inference, x->dtype, 2, shape);
  return ND4C_OK;
}

bool nd4c_view_flatten(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  return nd4c_view_reshape(inference, strides, offset);
}

/* -- transpose, squeeze, expand_dims ----------------------------------------------------------------------------- */

/* Axis of x that becomes axis i; the axes were checked. */
static int32_t transpose_source(const nd4c_attr_value *axes, int32_t rank, int32_t i) {
  return axes->count == 0 ? rank - 1 - i : nd4c_axis_index(axes->as.ints[i], rank);
}

/* Gives: x with its axes in the order of axes (none: reversed), in x's dtype. */
nd4c_status nd4c_infer_transpose(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *axes = &inference->attrs[ND4C_ATTR_transpose_axes];
  bool chosen[ND4C_MAX_RANK];
  if (axes->count != 0 && axes->count != x->rank) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "axes has %d values, expected none or %d", (int)axes->count,
                            (int)x->rank);
  }
  ND4C_TRY(nd4c_rule_axes(inference, "axes", axes, x->rank, chosen));
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  for (int32_t i = 0; i < x->rank; i++) {
    inference->outputs[0].shape[i] = x->shape[transpose_source(axes, x->rank, i)];
  }
  return ND4C_OK;
}

bool nd4c_view_transpose(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *axes = &inference->attrs[ND4C_ATTR_transpose_axes];
  *offset = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    strides[i] = x->strides[transpose_source(axes, x->rank, i)];
  }
  return true;
}

/* Flags of the axes to drop: those named, or all of length 1. */
static nd4c_status squeezed_axes(const nd4c_inference *inference, bool *dropped) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *axes = &inference->attrs[ND4C_ATTR_squeeze_axes];
  ND4C_TRY(nd4c_rule_axes(inference, "axes", axes, x->rank, dropped));
  for (int32_t i = 0; i < x->rank; i++) {
    if (axes->as.ints == NULL) {
      dropped[i] = nd4c_rule_is(inference, x->shape[i], 1);
    } else if (dropped[i] && !nd4c_rule_is_equal(inference, x->shape[i], 1)) {
      return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "axis %d has the extent %lld, expected 1 to drop it", (int)i,
                              (long long)x->shape[i]);
    }
  }
  return ND4C_OK;
}

/* Gives: x without the axes (none: those of length 1), in x's dtype. */
nd4c_status nd4c_infer_squeeze(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  bool dropped[ND4C_MAX_RANK];
  ND4C_TRY(squeezed_axes(inference, dropped));
  nd4c_inferred *output = &inference->outputs[0];
  output->dtype = x->dtype;
  output->rank = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    if (!dropped[i]) {
      output->shape[output->rank++] = x->shape[i];
    }
  }
  return ND4C_OK;
}

bool nd4c_view_squeeze(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  const nd4c_tensor *x = &inference->inputs[0];
  bool dropped[ND4C_MAX_RANK];
  *offset = 0;
  if (squeezed_axes(inference, dropped) != ND4C_OK) {
    return false;
  }
  for (int32_t i = 0, kept = 0; i < x->rank; i++) {
    if (!dropped[i]) {
      strides[kept++] = x->strides[i];
    }
  }
  return true;
}

/* Gives: x with 1 at each of axes, which are places of the result, in x's dtype. */
nd4c_status nd4c_infer_expand_dims(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *axes = &inference->attrs[ND4C_ATTR_expand_dims_axes];
  bool inserted[ND4C_MAX_RANK];
  if (axes->count > ND4C_MAX_RANK - x->rank) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "%d more axes would exceed %d axes", (int)axes->count,
                            ND4C_MAX_RANK);
  }
  nd4c_inferred *output = &inference->outputs[0];
  output->dtype = x->dtype;
  output->rank = x->rank + axes->count;
  ND4C_TRY(nd4c_rule_axes(inference, "axes", axes, output->rank, inserted));
  for (int32_t i = 0, from = 0; i < output->rank; i++) {
    output->shape[i] = inserted[i] ? 1 : x->shape[from++];
  }
  return ND4C_OK;
}

bool nd4c_view_expand_dims(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  const nd4c_tensor *x = &inference->inputs[0];
  int32_t rank = inference->outputs[0].rank;
  bool inserted[ND4C_MAX_RANK];
  *offset = 0;
  if (nd4c_rule_axes(inference, "axes", &inference->attrs[ND4C_ATTR_expand_dims_axes], rank, inserted) != ND4C_OK) {
    return false;
  }
  for (int32_t i = 0, from = 0; i < rank; i++) {
    strides[i] = inserted[i] ? 1 : x->strides[from++];
  }
  return true;
}

/* -- concat, gather ---------------------------------------------------------------------------------------------- */

static nd4c_status concat_one(nd4c_inference *inference, int32_t input, int32_t axis) {
  const nd4c_tensor *first = &inference->inputs[0], *x = &inference->inputs[input];
  nd4c_inferred *output = &inference->outputs[0];
  bool fits = x->rank == first->rank;
  for (int32_t i = 0; fits && i < x->rank; i++) {
    fits = i == axis || nd4c_rule_is_equal(inference, x->shape[i], first->shape[i]);
  }
  if (!fits) {
    char text[ND4C_RULE_TEXT_SIZE / 2];
    return nd4c_rule_refuse(inference, input, ND4C_SHAPE, "expected the first one's shape %s but for axis %d",
                            nd4c_shape_text(first->rank, first->shape, text, sizeof text), (int)axis);
  }
  if (!nd4c_rule_add(inference, output->shape[axis], x->shape[axis], &output->shape[axis])) {
    return nd4c_rule_refuse(inference, input, ND4C_OVERFLOW, "axis %d of the result exceeds 64 bits", (int)axis);
  }
  ND4C_TRY(nd4c_rule_mix(inference, input, &output->dtype));
  return ND4C_OK;
}

/* Gives: the first input's shape with all lengths added on the axis, in the dtype that the inputs promote to. */
nd4c_status nd4c_infer_concat(nd4c_inference *inference) {
  const nd4c_tensor *first = &inference->inputs[0];
  int32_t axis;
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_concat_axis].as.i, first->rank, &axis));
  nd4c_rule_output(inference, first->dtype, first->rank, first->shape);
  for (int32_t i = 1; i < inference->input_count; i++) {
    ND4C_TRY(concat_one(inference, i, axis));
  }
  return ND4C_OK;
}

/* Gives: x with the axis replaced by the shape of indices, in x's dtype. */
nd4c_status nd4c_infer_gather(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[ND4C_IN_gather_x], *indices = &inference->inputs[ND4C_IN_gather_indices];
  nd4c_inferred *output = &inference->outputs[0];
  int32_t axis;
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_gather_axis].as.i, x->rank, &axis));
  if (indices->dtype != ND4C_INT32 && indices->dtype != ND4C_INT64) {
    return nd4c_rule_refuse(inference, ND4C_IN_gather_indices, ND4C_DTYPE, "expected int32 or int64");
  }
  if (x->rank - 1 + indices->rank > ND4C_MAX_RANK) {
    return nd4c_rule_refuse(inference, ND4C_IN_gather_indices, ND4C_SHAPE,
                            "the result would have %d axes, expected at "
                            "most %d",
                            (int)(x->rank - 1 + indices->rank), ND4C_MAX_RANK);
  }
  output->dtype = x->dtype;
  output->rank = 0;
  for (int32_t i = 0; i < axis; i++) {
    output->shape[output->rank++] = x->shape[i];
  }
  for (int32_t i = 0; i < indices->rank; i++) {
    output->shape[output->rank++] = indices->shape[i];
  }
  for (int32_t i = axis + 1; i < x->rank; i++) {
    output->shape[output->rank++] = x->shape[i];
  }
  return ND4C_OK;
}
