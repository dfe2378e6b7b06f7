/* Inference rules of picking and placing elements at indices, and where a mask is true (op_table/indexing.h).
 * nd4c_op_infer (infer.c) calls the rule that an op's row names. */
#include "array/shape.h"
#include "base/checked.h"
#include "base/status.h"
#include "ops/infer/rules.h"

/* First output: x with the axes [axis, axis + dropped) replaced by the extents of indices. */
static nd4c_status replace_axes(nd4c_inference *inference, int32_t axis, int32_t dropped, int32_t rank,
                                const int64_t *extents) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_inferred *output = &inference->outputs[0];
  ND4C_TRY(nd4c_rule_rank(inference, (int64_t)x->rank - dropped + rank));
  output->dtype = x->dtype;
  output->rank = 0;
  for (int32_t i = 0; i < axis; i++) {
    output->shape[output->rank++] = x->shape[i];
  }
  for (int32_t i = 0; i < rank; i++) {
    output->shape[output->rank++] = extents[i];
  }
  for (int32_t i = axis + dropped; i < x->rank; i++) {
    output->shape[output->rank++] = x->shape[i];
  }
  return ND4C_OK;
}

/* The one axis that a list names; -1 if it is empty: x is flattened. */
static nd4c_status axis_or_none(const nd4c_inference *inference, const nd4c_attr_value *axes, int32_t *axis) {
  *axis = -1;
  if (axes->count > 1) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "axes has %d values, expected none or one", (int)axes->count);
  }
  return axes->count == 0 ? ND4C_OK
                          : nd4c_rule_axis(inference, "axes", axes->as.ints[0], inference->inputs[0].rank, axis);
}

/* -- picking ------------------------------------------------------------------------------------------------------- */

/* Gives: x with the axis replaced by the shape of indices, in x's dtype. Without axes, x is flattened and y has the
 * shape of indices. */
nd4c_status nd4c_infer_take(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *indices = &inference->inputs[ND4C_IN_take_indices];
  const nd4c_attr_value *attrs = inference->attrs;
  int32_t axis = 0;
  ND4C_TRY(nd4c_rule_index_dtype(inference, ND4C_IN_take_indices));
  ND4C_TRY(axis_or_none(inference, &attrs[ND4C_ATTR_take_axes], &axis));
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_take_mode));
  int64_t extent = axis < 0 ? x->size : x->shape[axis];
  if (attrs[ND4C_ATTR_take_mode].as.i != ND4C_INDEX_MODE_RAISE && nd4c_rule_is(inference, extent, 0) &&
      !nd4c_rule_is(inference, indices->size, 0)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "nothing to take from, expected at least one element");
  }
  return replace_axes(inference, axis < 0 ? 0 : axis, axis < 0 ? x->rank : 1, indices->rank, indices->shape);
}

/* Gives: table with its first axis replaced by the shape of indices, in table's dtype. */
nd4c_status nd4c_infer_embedding_lookup(nd4c_inference *inference) {
  const nd4c_tensor *table = &inference->inputs[0], *indices = &inference->inputs[ND4C_IN_embedding_lookup_indices];
  ND4C_TRY(nd4c_rule_index_dtype(inference, ND4C_IN_embedding_lookup_indices));
  if (table->rank < 1) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least 1 axis");
  }
  return replace_axes(inference, 0, 1, indices->rank, indices->shape);
}

static nd4c_status same_rank(const nd4c_inference *inference, int32_t position, int32_t rank) {
  const nd4c_tensor *tensor = &inference->inputs[position];
  if (tensor->rank == rank) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected rank %d as input %s has", (int)rank,
                          inference->op->inputs[0].name);
}

/* Checks indices of x's rank, and gives the result's shape: on all axes but `axis` x and indices broadcast. */
static nd4c_status along_axis(nd4c_inference *inference, int64_t given, int64_t *shape, int32_t *axis) {
  const nd4c_tensor *x = &inference->inputs[0], *indices = &inference->inputs[1];
  ND4C_TRY(nd4c_rule_index_dtype(inference, 1));
  ND4C_TRY(nd4c_rule_axis(inference, "axis", given, x->rank, axis));
  ND4C_TRY(same_rank(inference, 1, x->rank));
  for (int32_t i = 0; i < x->rank; i++) {
    int64_t a = x->shape[i], b = indices->shape[i];
    shape[i] = b;
    if (i != *axis && !nd4c_rule_broadcast_axis(inference, a, b, &shape[i])) {
      return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "axis %d has %lld, expected 1 or %lld as input %s has", (int)i,
                              (long long)b, (long long)a, inference->op->inputs[0].name);
    }
  }
  return ND4C_OK;
}

/* Gives: the shape that x and indices broadcast to beside the axis, with the length of indices on it, in x's dtype. */
nd4c_status nd4c_infer_take_along_axis(nd4c_inference *inference) {
  int64_t shape[ND4C_MAX_RANK];
  int32_t axis = 0;
  ND4C_TRY(along_axis(inference, inference->attrs[ND4C_ATTR_take_along_axis_axis].as.i, shape, &axis));
  nd4c_rule_output(inference, inference->inputs[0].dtype, inference->inputs[0].rank, shape);
  return ND4C_OK;
}

/* Refuses indices that are longer than x on an axis other than the given one. */
static nd4c_status within_axes(const nd4c_inference *inference, int64_t given) {
  const nd4c_tensor *x = &inference->inputs[0], *indices = &inference->inputs[1];
  int32_t axis = 0;
  ND4C_TRY(nd4c_rule_index_dtype(inference, 1));
  ND4C_TRY(nd4c_rule_axis(inference, "axis", given, x->rank, &axis));
  ND4C_TRY(same_rank(inference, 1, x->rank));
  for (int32_t i = 0; i < x->rank; i++) {
    if (i != axis && !nd4c_rule_is_at_least(inference, x->shape[i], indices->shape[i])) {
      return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "axis %d has %lld, expected at most %lld as input %s has",
                              (int)i, (long long)indices->shape[i], (long long)x->shape[i],
                              inference->op->inputs[0].name);
    }
  }
  return ND4C_OK;
}

/* Gives: the shape of indices, in x's dtype. */
nd4c_status nd4c_infer_gather_elements(nd4c_inference *inference) {
  const nd4c_tensor *indices = &inference->inputs[1];
  ND4C_TRY(within_axes(inference, inference->attrs[ND4C_ATTR_gather_elements_axis].as.i));
  nd4c_rule_output(inference, inference->inputs[0].dtype, indices->rank, indices->shape);
  return ND4C_OK;
}

/* Length of the positions in the last axis of indices, which lead into x behind its first `batch` axes. */
static nd4c_status position_length(const nd4c_inference *inference, int32_t batch, int32_t *length) {
  const nd4c_tensor *x = &inference->inputs[0], *indices = &inference->inputs[1];
  ND4C_TRY(nd4c_rule_index_dtype(inference, 1));
  if (indices->rank < 1 || indices->rank - 1 < batch || x->rank < batch) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected at least %d axes, and %d of input x", (int)batch + 1,
                            (int)batch);
  }
  int64_t last = indices->shape[indices->rank - 1];
  if (nd4c_extents_has(inference->extents, last)) {
    return nd4c_rule_needs_numbers(inference, 1, "expected a number as its last extent, which counts axes");
  }
  if (last > x->rank - batch) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "positions of %lld numbers, expected at most %d", (long long)last,
                            (int)(x->rank - batch));
  }
  *length = (int32_t)last;
  return ND4C_OK;
}

/* Gives: the shape of indices without its last axis of length k, then x's axes behind the first batch_dims + k, in
 * x's dtype. */
nd4c_status nd4c_infer_gather_nd(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *indices = &inference->inputs[1];
  int64_t batch = inference->attrs[ND4C_ATTR_gather_nd_batch_dims].as.i;
  int32_t length = 0;
  if (batch < 0 || batch > ND4C_MAX_RANK) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "batch_dims is %lld, expected at least 0", (long long)batch);
  }
  ND4C_TRY(position_length(inference, (int32_t)batch, &length));
  for (int32_t i = 0; i < batch; i++) {
    if (!nd4c_rule_is_equal(inference, x->shape[i], indices->shape[i])) {
      return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "batch axis %d has %lld, expected %lld as input x has", (int)i,
                              (long long)indices->shape[i], (long long)x->shape[i]);
    }
  }
  return replace_axes(inference, 0, (int32_t)batch + length, indices->rank - 1, indices->shape);
}

/* -- placing ------------------------------------------------------------------------------------------------------- */

static void output_like_x(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
}

/* Refuses an input that has not exactly this shape. */
static nd4c_status exact_shape(const nd4c_inference *inference, int32_t position, int32_t rank, const int64_t *shape) {
  const nd4c_tensor *tensor = &inference->inputs[position];
  if (nd4c_rule_same_shape(inference, tensor->rank, tensor->shape, rank, shape)) {
    return ND4C_OK;
  }
  char text[ND4C_RULE_TEXT_SIZE / 2];
  return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected the shape %s",
                          nd4c_shape_text(rank, shape, text, sizeof text));
}

/* Which dtypes a reduction takes: strings and narrow floats only move, booleans have no difference, complex numbers no
 * order. */
static nd4c_status check_reduction(const nd4c_inference *inference, int32_t attr) {
  const int64_t reduction = inference->attrs[attr].as.i;
  const nd4c_dtype_info *info = nd4c_dtype_get_info(inference->inputs[0].dtype);
  nd4c_dtype_kind kind = info->kind;
  ND4C_TRY(nd4c_rule_choice(inference, attr));
  bool ordered = reduction == ND4C_SCATTER_REDUCTION_MAXIMUM || reduction == ND4C_SCATTER_REDUCTION_MINIMUM;
  bool refused = reduction != ND4C_SCATTER_REDUCTION_NONE &&
                 (kind == ND4C_KIND_STRING || (kind == ND4C_KIND_FLOAT && info->bits < 16) ||
                  (ordered && kind == ND4C_KIND_COMPLEX) ||
                  (kind == ND4C_KIND_BOOL && reduction >= ND4C_SCATTER_REDUCTION_SUBTRACT));
  if (!refused) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, 0, ND4C_DTYPE, "expected a dtype that has %s",
                          nd4c_op_words(inference->op, attr, NULL)[reduction].word);
}

/* Gives: the shape and dtype of x. values has x's dtype and broadcasts to the places. */
nd4c_status nd4c_infer_put_along_axis(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *indices = &inference->inputs[1];
  int64_t shape[ND4C_MAX_RANK];
  int32_t axis = 0;
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_put_along_axis_values));
  ND4C_TRY(along_axis(inference, inference->attrs[ND4C_ATTR_put_along_axis_axis].as.i, shape, &axis));
  for (int32_t i = 0; i < x->rank; i++) {
    if (i != axis && !nd4c_rule_is_at_least(inference, x->shape[i], indices->shape[i])) {
      return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "axis %d has %lld, expected 1 or %lld as input x has", (int)i,
                              (long long)indices->shape[i], (long long)x->shape[i]);
    }
  }
  ND4C_TRY(nd4c_rule_broadcasts_to(inference, ND4C_IN_put_along_axis_values, "that of the places", x->rank, shape));
  output_like_x(inference);
  return ND4C_OK;
}

/* Gives: the shape and dtype of x. updates has x's dtype and the shape of indices. */
nd4c_status nd4c_infer_scatter_elements(nd4c_inference *inference) {
  const nd4c_tensor *indices = &inference->inputs[1];
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_scatter_elements_updates));
  ND4C_TRY(within_axes(inference, inference->attrs[ND4C_ATTR_scatter_elements_axis].as.i));
  ND4C_TRY(exact_shape(inference, ND4C_IN_scatter_elements_updates, indices->rank, indices->shape));
  ND4C_TRY(check_reduction(inference, ND4C_ATTR_scatter_elements_reduction));
  output_like_x(inference);
  return ND4C_OK;
}

/* Gives: the shape and dtype of x. updates has x's dtype, and the shape of indices without its last axis of length k,
 * then x's axes behind the first k. */
nd4c_status nd4c_infer_scatter_nd(nd4c_inference *inference) {
  const nd4c_tensor *indices = &inference->inputs[1];
  int32_t length = 0;
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_scatter_nd_updates));
  ND4C_TRY(position_length(inference, 0, &length));
  ND4C_TRY(replace_axes(inference, 0, length, indices->rank - 1, indices->shape));
  ND4C_TRY(exact_shape(inference, ND4C_IN_scatter_nd_updates, inference->outputs[0].rank, inference->outputs[0].shape));
  ND4C_TRY(check_reduction(inference, ND4C_ATTR_scatter_nd_reduction));
  output_like_x(inference);
  return ND4C_OK;
}

/* Gives: the shape and dtype of x. updates has x's dtype, and x's shape with the axis replaced by the shape of
 * indices (int32 or int64). */
nd4c_status nd4c_infer_scatter(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *indices = &inference->inputs[1];
  int32_t axis = 0;
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_scatter_add_updates));
  ND4C_TRY(nd4c_rule_index_dtype(inference, 1));
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_scatter_add_axis].as.i, x->rank, &axis));
  ND4C_TRY(replace_axes(inference, axis, 1, indices->rank, indices->shape));
  ND4C_TRY(
      exact_shape(inference, ND4C_IN_scatter_add_updates, inference->outputs[0].rank, inference->outputs[0].shape));
  output_like_x(inference);
  return ND4C_OK;
}

static nd4c_status one_element(const nd4c_inference *inference, int32_t position) {
  if (nd4c_rule_is_equal(inference, inference->inputs[position].size, 1)) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected one element");
}

/* Gives: the shape and dtype of x. value has one element of x's dtype. */
nd4c_status nd4c_infer_index_fill(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int32_t axis = 0;
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_index_fill_value));
  ND4C_TRY(nd4c_rule_index_dtype(inference, 1));
  ND4C_TRY(one_element(inference, ND4C_IN_index_fill_value));
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_index_fill_axis].as.i, x->rank, &axis));
  output_like_x(inference);
  return ND4C_OK;
}

/* Gives: the shape and dtype of x. update has x's dtype, and x's shape but for the axis. */
nd4c_status nd4c_infer_tensor_scatter(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *update = &inference->inputs[1];
  const nd4c_tensor *write_indices = nd4c_rule_input(inference, ND4C_IN_tensor_scatter_write_indices);
  int64_t shape[ND4C_MAX_RANK];
  int32_t axis = 0;
  ND4C_TRY(nd4c_rule_same_dtype(inference, 1));
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_tensor_scatter_axis].as.i, x->rank, &axis));
  ND4C_TRY(same_rank(inference, 1, x->rank));
  if (axis == 0) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "axis is 0, that of the batches, expected another");
  }
  for (int32_t i = 0; i < x->rank; i++) {
    shape[i] = i == axis ? update->shape[i] : x->shape[i];
  }
  ND4C_TRY(exact_shape(inference, 1, x->rank, shape));
  if (!nd4c_rule_is_at_least(inference, x->shape[axis], update->shape[axis])) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "axis %d has %lld, expected at most %lld", (int)axis,
                            (long long)update->shape[axis], (long long)x->shape[axis]);
  }
  if (write_indices != NULL) {
    ND4C_TRY(nd4c_rule_index_dtype(inference, ND4C_IN_tensor_scatter_write_indices));
    ND4C_TRY(exact_shape(inference, ND4C_IN_tensor_scatter_write_indices, 1, x->shape));
  }
  output_like_x(inference);
  return ND4C_OK;
}

/* -- masks --------------------------------------------------------------------------------------------------------- */

/* Gives: the shape and dtype of x. mask and value broadcast to x. */
nd4c_status nd4c_infer_masked_fill(nd4c_inference *inference) {
  ND4C_TRY(nd4c_rule_bool_dtype(inference, ND4C_IN_masked_fill_mask));
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_masked_fill_value));
  output_like_x(inference);
  ND4C_TRY(nd4c_rule_broadcasts_to_output(inference, ND4C_IN_masked_fill_mask));
  return nd4c_rule_broadcasts_to_output(inference, ND4C_IN_masked_fill_value);
}

/* Gives: the shape and dtype of x. mask broadcasts to x. */
nd4c_status nd4c_infer_masked_scatter(nd4c_inference *inference) {
  ND4C_TRY(nd4c_rule_bool_dtype(inference, ND4C_IN_masked_scatter_mask));
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_masked_scatter_value));
  output_like_x(inference);
  return nd4c_rule_broadcasts_to_output(inference, ND4C_IN_masked_scatter_mask);
}

/* Gives: a vector in x's dtype, as long as the broadcast mask has true elements; the length depends on the data. */
nd4c_status nd4c_infer_masked_select(nd4c_inference *inference) {
  nd4c_inferred *output = &inference->outputs[0];
  int64_t size = 0;
  ND4C_TRY(nd4c_rule_bool_dtype(inference, ND4C_IN_masked_select_mask));
  ND4C_TRY(nd4c_rule_broadcast(inference, 0, 1, inference->inputs[0].dtype));
  ND4C_TRY(nd4c_shape_size(output->dtype, output->rank, output->shape, &size));
  nd4c_rule_output(inference, output->dtype, 1, &size);
  output->shape_depends_on_data = true;
  return ND4C_OK;
}

/* Gives: x with the axes of mask, which begin at axis, replaced by one that counts its true elements, in x's dtype;
 * the length depends on the data. */
nd4c_status nd4c_infer_boolean_mask(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *mask = &inference->inputs[1];
  int64_t given = inference->attrs[ND4C_ATTR_boolean_mask_axis].as.i;
  int32_t axis = 0;
  ND4C_TRY(nd4c_rule_bool_dtype(inference, 1));
  if (x->rank > 0 || given != 0) {
    ND4C_TRY(nd4c_rule_axis(inference, "axis", given, x->rank, &axis));
  }
  if (mask->rank > x->rank - axis) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected at most %d axes", (int)(x->rank - axis));
  }
  ND4C_TRY(exact_shape(inference, 1, mask->rank, x->shape + axis));
  ND4C_TRY(replace_axes(inference, axis, mask->rank, 1, &mask->size));
  inference->outputs[0].shape_depends_on_data = true;
  return ND4C_OK;
}

/* Gives: x with the axis as long as condition has true elements, in x's dtype. Without axes, x is flattened and y is a
 * vector. The length depends on the data. */
nd4c_status nd4c_infer_compress(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *condition = &inference->inputs[1];
  int32_t axis = 0;
  ND4C_TRY(nd4c_rule_bool_dtype(inference, 1));
  ND4C_TRY(axis_or_none(inference, &inference->attrs[ND4C_ATTR_compress_axes], &axis));
  int64_t extent = axis < 0 ? x->size : x->shape[axis];
  if (condition->rank != 1 || condition->size > extent) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected one axis of at most %lld", (long long)extent);
  }
  ND4C_TRY(replace_axes(inference, axis < 0 ? 0 : axis, axis < 0 ? x->rank : 1, 1, condition->shape));
  inference->outputs[0].shape_depends_on_data = true;
  return ND4C_OK;
}
