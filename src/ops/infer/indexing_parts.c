/* Inference rules of triangles and diagonals, one-hot and masks from indices, partitions and segments
 * (op_table/indexing.h). nd4c_op_infer (infer.c) calls the rule that an op's row names. */
#include "array/shape.h"
#include "base/checked.h"
#include "base/status.h"
#include "ops/infer/rules.h"

static void output_like_x(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
}

/* -- triangles and diagonals --------------------------------------------------------------------------------------- */

static nd4c_status at_least_matrices(const nd4c_inference *inference) {
  if (inference->inputs[0].rank >= 2) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least 2 axes");
}

/* Gives: the shape and dtype of x, which has at least 2 axes. */
nd4c_status nd4c_infer_triangle(nd4c_inference *inference) {
  ND4C_TRY(at_least_matrices(inference));
  output_like_x(inference);
  return ND4C_OK;
}

/* Gives: the shape and dtype of x, which has at least 2 axes. */
nd4c_status nd4c_infer_band(nd4c_inference *inference) {
  return nd4c_infer_triangle(inference);
}

/* Length of diagonal k. */
static nd4c_status diagonal_length(const nd4c_inference *inference, int64_t rows, int64_t columns, int64_t k,
                                   int64_t *length) {
  const int64_t down = k >= 0 ? 0 : k == INT64_MIN ? INT64_MAX : -k, right = k > 0 ? k : 0;
  int64_t skipped = 0, left = 0;
  const bool fits =
      nd4c_rule_minimum(inference, down, rows, &skipped) && nd4c_rule_subtract(inference, rows, skipped, length) &&
      nd4c_rule_minimum(inference, right, columns, &skipped) &&
      nd4c_rule_subtract(inference, columns, skipped, &left) && nd4c_rule_minimum(inference, *length, left, length);
  return fits ? ND4C_OK : nd4c_rule_too_long(inference, 0, 0);
}

/* Extent of a square matrix whose diagonal k has a length. */
static nd4c_status square_extent(const nd4c_inference *inference, int64_t length, int64_t k, int64_t *extent) {
  if (k != INT64_MIN && nd4c_rule_add(inference, length, k < 0 ? -k : k, extent)) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, 0, ND4C_OVERFLOW, "diagonal %lld makes extents that exceed 64 bits", (long long)k);
}

/* Gives: for a matrix, the vector of its diagonal k; for a vector of n elements, [n + |k|, n + |k|]; in x's dtype. */
nd4c_status nd4c_infer_diag(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t k = inference->attrs[ND4C_ATTR_diag_k].as.i, extent = 0, shape[2] = {0, 0};
  if (x->rank != 1 && x->rank != 2) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected 1 or 2 axes");
  }
  if (x->rank == 2) {
    ND4C_TRY(diagonal_length(inference, x->shape[0], x->shape[1], k, &extent));
    nd4c_rule_output(inference, x->dtype, 1, &extent);
    return ND4C_OK;
  }
  ND4C_TRY(square_extent(inference, x->shape[0], k, &shape[0]));
  shape[1] = shape[0];
  nd4c_rule_output(inference, x->dtype, 2, shape);
  return ND4C_OK;
}

/* Gives: x without its last axis of n elements, and with n + |offset| on the new axes axis1 and axis2, in x's dtype. */
nd4c_status nd4c_infer_diag_embed(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *attrs = inference->attrs;
  int64_t extent = 0, shape[ND4C_MAX_RANK];
  int32_t a = 0, b = 0, rank = x->rank + 1, next = 0;
  if (x->rank < 1) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least 1 axis");
  }
  ND4C_TRY(nd4c_rule_rank(inference, rank));
  ND4C_TRY(nd4c_rule_axis(inference, "axis1", attrs[ND4C_ATTR_diag_embed_axis1].as.i, rank, &a));
  ND4C_TRY(nd4c_rule_axis(inference, "axis2", attrs[ND4C_ATTR_diag_embed_axis2].as.i, rank, &b));
  if (a == b) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "axis1 and axis2 are both axis %d, expected two", (int)a);
  }
  ND4C_TRY(square_extent(inference, x->shape[x->rank - 1], attrs[ND4C_ATTR_diag_embed_offset].as.i, &extent));
  for (int32_t i = 0; i < rank; i++) {
    shape[i] = i == a || i == b ? extent : x->shape[next++];
  }
  nd4c_rule_output(inference, x->dtype, rank, shape);
  return ND4C_OK;
}

/* Gives: the shape and dtype of x, which has at least 2 axes. diagonal broadcasts to the diagonals. */
nd4c_status nd4c_infer_matrix_set_diag(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t shape[ND4C_MAX_RANK];
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_matrix_set_diag_diagonal));
  ND4C_TRY(at_least_matrices(inference));
  for (int32_t i = 0; i + 2 < x->rank; i++) {
    shape[i] = x->shape[i];
  }
  ND4C_TRY(diagonal_length(inference, x->shape[x->rank - 2], x->shape[x->rank - 1],
                           inference->attrs[ND4C_ATTR_matrix_set_diag_k].as.i, &shape[x->rank - 2]));
  ND4C_TRY(nd4c_rule_broadcasts_to(inference, ND4C_IN_matrix_set_diag_diagonal, "the diagonals'", x->rank - 1, shape));
  output_like_x(inference);
  return ND4C_OK;
}

/* -- from indices -------------------------------------------------------------------------------------------------- */

/* Refuses a dtype attribute that cannot represent 0 and 1 in elements of a byte or more. */
static nd4c_status number_dtype(const nd4c_inference *inference, int64_t dtype) {
  const nd4c_dtype_info *info = dtype > 0 && dtype < ND4C_DTYPE_END ? nd4c_dtype_get_info((nd4c_dtype)dtype) : NULL;
  if (info != NULL && info->kind != ND4C_KIND_STRING && info->bits >= 8) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_DTYPE, "%s: dtype is %s, expected bool or a number of at least 8 bits", inference->op->name,
                   info != NULL ? info->name : "none that there is");
}

static nd4c_status check_extent(const nd4c_inference *inference, const char *name, int64_t extent) {
  if (extent >= 0 || nd4c_extents_has(inference->extents, extent)) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_ARGUMENT, "%s: %s is %lld, expected at least 0", inference->op->name, name, (long long)extent);
}

/* Gives: the shape of lengths with maxlen as a new last axis, in the attribute dtype. */
nd4c_status nd4c_infer_sequence_mask(nd4c_inference *inference) {
  const nd4c_tensor *lengths = &inference->inputs[0];
  int64_t dtype = inference->attrs[ND4C_ATTR_sequence_mask_dtype].as.i;
  int64_t maxlen = inference->attrs[ND4C_ATTR_sequence_mask_maxlen].as.i;
  ND4C_TRY(number_dtype(inference, dtype));
  ND4C_TRY(check_extent(inference, "maxlen", maxlen));
  ND4C_TRY(nd4c_rule_rank(inference, (int64_t)lengths->rank + 1));
  nd4c_rule_output(inference, (nd4c_dtype)dtype, lengths->rank, lengths->shape);
  inference->outputs[0].shape[inference->outputs[0].rank++] = maxlen;
  return ND4C_OK;
}

/* Gives: the shape of indices with depth as a new axis, in the dtype of values, or the attribute dtype without values.
 * values has 2 elements: off and on. */
nd4c_status nd4c_infer_one_hot(nd4c_inference *inference) {
  const nd4c_tensor *indices = &inference->inputs[0], *values = nd4c_rule_input(inference, ND4C_IN_one_hot_values);
  const nd4c_attr_value *attrs = inference->attrs;
  int64_t dtype = values != NULL ? values->dtype : attrs[ND4C_ATTR_one_hot_dtype].as.i;
  int32_t axis = 0;
  if (values == NULL || dtype != ND4C_UTF8) {
    ND4C_TRY(number_dtype(inference, dtype));
  }
  if (values != NULL && (values->rank != 1 || !nd4c_rule_is_equal(inference, values->shape[0], 2))) {
    return nd4c_rule_refuse(inference, ND4C_IN_one_hot_values, ND4C_SHAPE, "expected two elements: off and on");
  }
  ND4C_TRY(check_extent(inference, "depth", attrs[ND4C_ATTR_one_hot_depth].as.i));
  ND4C_TRY(nd4c_rule_rank(inference, (int64_t)indices->rank + 1));
  ND4C_TRY(nd4c_rule_axis(inference, "axis", attrs[ND4C_ATTR_one_hot_axis].as.i, indices->rank + 1, &axis));
  int64_t shape[ND4C_MAX_RANK];
  for (int32_t i = 0; i <= indices->rank; i++) {
    shape[i] = i == axis ? attrs[ND4C_ATTR_one_hot_depth].as.i : indices->shape[i < axis ? i : i - 1];
  }
  nd4c_rule_output(inference, (nd4c_dtype)dtype, indices->rank + 1, shape);
  return ND4C_OK;
}

/* Gives: the shape and dtype of x, which has one axis. */
nd4c_status nd4c_infer_invert_permutation(nd4c_inference *inference) {
  if (inference->inputs[0].rank != 1) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected 1 axis");
  }
  output_like_x(inference);
  return ND4C_OK;
}

/* Checks that all extents multiplied number fewer than 2^63 elements. */
static nd4c_status check_grid(const nd4c_inference *inference, const nd4c_attr_value *shape) {
  int64_t size = 1;
  bool fits = true;
  for (int32_t i = 0; i < shape->count; i++) {
    ND4C_TRY(check_extent(inference, "an extent of shape", shape->as.ints[i]));
    fits = fits && nd4c_checked_multiply(size, shape->as.ints[i], &size);
  }
  return fits ? ND4C_OK
              : nd4c_fail(ND4C_OVERFLOW, "%s: shape has more elements than 64 bits count", inference->op->name);
}

/* Gives: int64 [number of axes of shape, ...shape of indices]. */
nd4c_status nd4c_infer_unravel_index(nd4c_inference *inference) {
  const nd4c_tensor *indices = &inference->inputs[0];
  const nd4c_attr_value *shape = &inference->attrs[ND4C_ATTR_unravel_index_shape];
  nd4c_inferred *output = &inference->outputs[0];
  ND4C_TRY(check_grid(inference, shape));
  ND4C_TRY(nd4c_rule_rank(inference, (int64_t)indices->rank + 1));
  output->dtype = ND4C_INT64;
  output->rank = indices->rank + 1;
  output->shape[0] = shape->count;
  for (int32_t i = 0; i < indices->rank; i++) {
    output->shape[i + 1] = indices->shape[i];
  }
  return ND4C_OK;
}

/* Gives: int64, in the shape of indices without its first axis, which is as long as shape has axes. */
nd4c_status nd4c_infer_ravel_multi_index(nd4c_inference *inference) {
  const nd4c_tensor *indices = &inference->inputs[0];
  const nd4c_attr_value *shape = &inference->attrs[ND4C_ATTR_ravel_multi_index_shape];
  ND4C_TRY(check_grid(inference, shape));
  if (indices->rank < 1 || !nd4c_rule_is_equal(inference, indices->shape[0], shape->count)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected %d rows, one an axis of shape", (int)shape->count);
  }
  nd4c_rule_output(inference, ND4C_INT64, indices->rank - 1, indices->shape + 1);
  return ND4C_OK;
}

/* -- partitions and segments --------------------------------------------------------------------------------------- */

/* Gives: y: [elements of partitions, ...axes of x behind those of partitions], in x's dtype; counts: int64
 * [num_partitions]. partitions has the first axes of x. */
nd4c_status nd4c_infer_dynamic_partition(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *partitions = &inference->inputs[1];
  int64_t count = inference->attrs[ND4C_ATTR_dynamic_partition_num_partitions].as.i, shape[ND4C_MAX_RANK + 1];
  ND4C_TRY(nd4c_rule_index_dtype(inference, 1));
  ND4C_TRY(check_extent(inference, "num_partitions", count));
  bool fits = partitions->rank <= x->rank;
  for (int32_t i = 0; fits && i < partitions->rank; i++) {
    fits = nd4c_rule_is_equal(inference, partitions->shape[i], x->shape[i]);
  }
  if (!fits) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected the first axes of input x");
  }
  ND4C_TRY(nd4c_rule_rank(inference, (int64_t)x->rank - partitions->rank + 1));
  shape[0] = partitions->size;
  for (int32_t i = partitions->rank; i < x->rank; i++) {
    shape[i - partitions->rank + 1] = x->shape[i];
  }
  nd4c_rule_output(inference, x->dtype, x->rank - partitions->rank + 1, shape);
  nd4c_rule_output_at(inference, 1, ND4C_INT64, 1, &count);
  return ND4C_OK;
}

/* One pair of indices and data: data's first axes are those of indices, the others are alike in all pairs. */
static nd4c_status check_pair(const nd4c_inference *inference, int32_t pair, int32_t pairs, int32_t rest_rank,
                              const int64_t *rest) {
  const nd4c_tensor *indices = &inference->inputs[pair], *data = &inference->inputs[pair + pairs];
  ND4C_TRY(nd4c_rule_index_dtype(inference, pair));
  bool fits = data->rank == indices->rank + rest_rank;
  for (int32_t i = 0; fits && i < data->rank; i++) {
    fits = data->shape[i] == (i < indices->rank ? indices->shape[i] : rest[i - indices->rank]);
  }
  if (!fits) {
    return nd4c_rule_refuse(inference, pair + pairs, ND4C_SHAPE,
                            "expected the axes of xs[%d], then those of every other slice", (int)pair);
  }
  if (data->dtype != inference->inputs[pairs].dtype) {
    return nd4c_rule_refuse(inference, pair + pairs, ND4C_DTYPE, "expected %s as the others",
                            nd4c_dtype_name(inference->inputs[pairs].dtype));
  }
  return ND4C_OK;
}

/* Gives: [size, ...axes of the data behind those of the indices], in the data's dtype; size below 0: as many as
 * indices. xs has the indices first, then as many arrays of data. */
nd4c_status nd4c_infer_dynamic_stitch(nd4c_inference *inference) {
  int32_t pairs = inference->input_count / 2;
  int64_t size = inference->attrs[ND4C_ATTR_dynamic_stitch_size].as.i, shape[ND4C_MAX_RANK + 1], total = 0;
  if (inference->input_count % 2 != 0) {
    return nd4c_fail(ND4C_ARGUMENT, "dynamic_stitch: %d inputs given, expected as many arrays of data as of indices",
                     (int)inference->input_count);
  }
  const nd4c_tensor *indices = &inference->inputs[0], *data = &inference->inputs[pairs];
  int32_t rest = data->rank - indices->rank;
  if (rest < 0) {
    return nd4c_rule_refuse(inference, pairs, ND4C_SHAPE, "expected at least the axes of xs[0]");
  }
  for (int32_t i = 0; i < pairs; i++) {
    ND4C_TRY(check_pair(inference, i, pairs, rest, data->shape + indices->rank));
    if (!nd4c_checked_add(total, inference->inputs[i].size, &total)) {
      return nd4c_fail(ND4C_OVERFLOW, "dynamic_stitch: more indices than 64 bits count");
    }
  }
  ND4C_TRY(nd4c_rule_rank(inference, (int64_t)rest + 1));
  shape[0] = size < 0 ? total : size;
  for (int32_t i = 0; i < rest; i++) {
    shape[i + 1] = data->shape[indices->rank + i];
  }
  nd4c_rule_output(inference, data->dtype, rest + 1, shape);
  return ND4C_OK;
}

/* Gives: x with num_segments as its first axis, in x's dtype; num_segments below 0: as many as the data needs. The
 * second input is as long as that axis of x. */
nd4c_status nd4c_infer_segment_reduce(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *segments = &inference->inputs[1];
  int64_t count = inference->attrs[ND4C_ATTR_segment_sum_num_segments].as.i;
  ND4C_TRY(nd4c_rule_index_dtype(inference, 1));
  if (x->rank < 1 || segments->rank != 1 || !nd4c_rule_is_equal(inference, segments->shape[0], x->shape[0])) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected one axis as long as input x's first, %lld",
                            x->rank > 0 ? (long long)x->shape[0] : 0LL);
  }
  output_like_x(inference);
  inference->outputs[0].shape_depends_on_data = count < 0;
  inference->outputs[0].shape[0] = count < 0 ? x->shape[0] : count;
  return ND4C_OK;
}
