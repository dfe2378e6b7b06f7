/* Inference rules of products summed over axes, and of diagonals (op_table/contraction.h). nd4c_op_infer (infer.c)
 * calls the rule that an op's row names. */
#include "array/shape.h"
#include "base/checked.h"
#include "base/status.h"
#include "ops/infer/rules.h"

/* -- diagonals -------------------------------------------------------------------------------------------------- */

/* Gives: x with its last two axes exchanged, in x's dtype. */
nd4c_status nd4c_infer_matrix_transpose(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  if (x->rank < 2) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least 2 axes");
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  inference->outputs[0].shape[x->rank - 2] = x->shape[x->rank - 1];
  inference->outputs[0].shape[x->rank - 1] = x->shape[x->rank - 2];
  return ND4C_OK;
}

bool nd4c_view_matrix_transpose(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  const nd4c_tensor *x = &inference->inputs[0];
  *offset = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    strides[i] = x->strides[i < x->rank - 2 ? i : 2 * x->rank - 3 - i];
  }
  return true;
}

typedef struct diagonals {
  int32_t axis1, axis2;
  int64_t rows, columns, length; /* skipped before the first element, and how many there are */
} diagonals;

static nd4c_status diagonals_of(const nd4c_inference *inference, diagonals *d) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *attrs = inference->attrs;
  int64_t offset = attrs[ND4C_ATTR_diagonal_offset].as.i;
  if (x->rank < 2) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least 2 axes");
  }
  ND4C_TRY(nd4c_rule_axis(inference, "axis1", attrs[ND4C_ATTR_diagonal_axis1].as.i, x->rank, &d->axis1));
  ND4C_TRY(nd4c_rule_axis(inference, "axis2", attrs[ND4C_ATTR_diagonal_axis2].as.i, x->rank, &d->axis2));
  if (d->axis1 == d->axis2) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: axis1 and axis2 are both %d, expected two axes", inference->op->name,
                     (int)d->axis1);
  }
  /* An offset past the end leaves nothing; clamped first, so that nothing overflows. */
  const int64_t m = x->shape[d->axis1], n = x->shape[d->axis2], down = offset == INT64_MIN ? INT64_MAX : -offset;
  int64_t below = 0, right = 0;
  const bool fits = nd4c_rule_minimum(inference, offset < 0 ? down : 0, m, &d->rows) &&
                    nd4c_rule_minimum(inference, offset > 0 ? offset : 0, n, &d->columns) &&
                    nd4c_rule_subtract(inference, m, d->rows, &below) &&
                    nd4c_rule_subtract(inference, n, d->columns, &right) &&
                    nd4c_rule_minimum(inference, below, right, &d->length);
  return fits ? ND4C_OK : nd4c_rule_too_long(inference, 0, d->axis1);
}

/* x's axes but for two. */
static void other_axes(const nd4c_inference *inference, const diagonals *d, nd4c_dtype dtype) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_inferred *output = &inference->outputs[0];
  output->dtype = dtype;
  output->rank = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    if (i != d->axis1 && i != d->axis2) {
      output->shape[output->rank++] = x->shape[i];
    }
  }
}

/* Gives: x without axis1 and axis2, and with the diagonal as its last axis, in x's dtype. */
nd4c_status nd4c_infer_diagonal(nd4c_inference *inference) {
  diagonals d;
  ND4C_TRY(diagonals_of(inference, &d));
  other_axes(inference, &d, inference->inputs[0].dtype);
  inference->outputs[0].shape[inference->outputs[0].rank++] = d.length;
  return ND4C_OK;
}

bool nd4c_view_diagonal(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  const nd4c_tensor *x = &inference->inputs[0];
  diagonals d;
  int32_t rank = 0;
  if (diagonals_of(inference, &d) != ND4C_OK) {
    return false;
  }
  for (int32_t i = 0; i < x->rank; i++) {
    if (i != d.axis1 && i != d.axis2) {
      strides[rank++] = x->strides[i];
    }
  }
  strides[rank] = x->strides[d.axis1] + x->strides[d.axis2];
  *offset = d.length > 0 ? d.rows * x->strides[d.axis1] + d.columns * x->strides[d.axis2] : 0;
  return true;
}

/* Gives: x without axis1 and axis2, in x's dtype; int64 or uint64 for integers. */
nd4c_status nd4c_infer_trace(nd4c_inference *inference) {
  diagonals d;
  nd4c_dtype dtype = inference->inputs[0].dtype;
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  ND4C_TRY(diagonals_of(inference, &d));
  if (info->kind == ND4C_KIND_UINT && nd4c_dtype_get_info(ND4C_UINT64)->available) {
    dtype = ND4C_UINT64;
  } else if (info->kind == ND4C_KIND_INT || info->kind == ND4C_KIND_UINT) {
    dtype = ND4C_INT64;
  }
  other_axes(inference, &d, dtype);
  return ND4C_OK;
}

/* -- products of two -------------------------------------------------------------------------------------------- */

static nd4c_status promoted(const nd4c_inference *inference, nd4c_dtype *dtype) {
  ND4C_TRY(nd4c_rule_accepted_dtype(inference, 1));
  return nd4c_rule_promote(inference, 0, 1, dtype);
}

static nd4c_status check_least_rank(const nd4c_inference *inference, int32_t position, int32_t least) {
  if (inference->inputs[position].rank >= least) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected at least %d ax%s", (int)least,
                          least == 1 ? "is" : "es");
}

/* Gives: [length of a, length of b], in the dtype that the inputs promote to. Both have one axis. */
nd4c_status nd4c_infer_outer(nd4c_inference *inference) {
  nd4c_dtype dtype;
  ND4C_TRY(promoted(inference, &dtype));
  for (int32_t i = 0; i < 2; i++) {
    if (inference->inputs[i].rank != 1) {
      return nd4c_rule_refuse(inference, i, ND4C_SHAPE, "expected 1 axis");
    }
  }
  nd4c_rule_output(inference, dtype, 2,
                   (const int64_t[]){inference->inputs[0].shape[0], inference->inputs[1].shape[0]});
  return ND4C_OK;
}

/* a and b broadcast against each other but for their last axes `a_own` and `b_own`, into the first output. */
static nd4c_status broadcast_before(nd4c_inference *inference, int32_t a_own, int32_t b_own, nd4c_dtype dtype) {
  const nd4c_tensor *a = &inference->inputs[0], *b = &inference->inputs[1];
  nd4c_inferred *output = &inference->outputs[0];
  output->dtype = dtype;
  nd4c_status status = nd4c_rule_broadcast_shapes(inference, a->rank - a_own, a->shape, b->rank - b_own, b->shape,
                                                  &output->rank, output->shape);
  if (status == ND4C_OK) {
    return ND4C_OK;
  }
  char text[ND4C_RULE_TEXT_SIZE / 2];
  return nd4c_rule_refuse(inference, 1, status, "expected axes that broadcast with input a's %s",
                          nd4c_shape_text(a->rank, a->shape, text, sizeof text));
}

/* Gives: the batch axes that the inputs broadcast to, then the rows of a, in the dtype that the inputs promote to,
 * for a [..., m, n] and b [..., n]. */
nd4c_status nd4c_infer_matvec(nd4c_inference *inference) {
  const nd4c_tensor *a = &inference->inputs[0], *b = &inference->inputs[1];
  nd4c_dtype dtype;
  ND4C_TRY(promoted(inference, &dtype));
  ND4C_TRY(check_least_rank(inference, 0, 2));
  ND4C_TRY(check_least_rank(inference, 1, 1));
  if (!nd4c_rule_is_equal(inference, a->shape[a->rank - 1], b->shape[b->rank - 1])) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected vectors of %lld elements",
                            (long long)a->shape[a->rank - 1]);
  }
  ND4C_TRY(broadcast_before(inference, 2, 1, dtype));
  inference->outputs[0].shape[inference->outputs[0].rank++] = a->shape[a->rank - 2];
  return ND4C_OK;
}

/* Gives: the batch axes that the inputs broadcast to, then the columns of b, in the dtype that the inputs promote to,
 * for a [..., m] and b [..., m, n]. */
nd4c_status nd4c_infer_vecmat(nd4c_inference *inference) {
  const nd4c_tensor *a = &inference->inputs[0], *b = &inference->inputs[1];
  nd4c_dtype dtype;
  ND4C_TRY(promoted(inference, &dtype));
  ND4C_TRY(check_least_rank(inference, 0, 1));
  ND4C_TRY(check_least_rank(inference, 1, 2));
  if (!nd4c_rule_is_equal(inference, a->shape[a->rank - 1], b->shape[b->rank - 2])) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected matrices of %lld rows",
                            (long long)a->shape[a->rank - 1]);
  }
  ND4C_TRY(broadcast_before(inference, 1, 2, dtype));
  inference->outputs[0].shape[inference->outputs[0].rank++] = b->shape[b->rank - 1];
  return ND4C_OK;
}

/* The axis of both that is not broadcast, counted from the end as the Array API does for vecdot. */
static nd4c_status shared_axis(const nd4c_inference *inference, int64_t axis, int32_t *a_axis, int32_t *b_axis) {
  const nd4c_tensor *a = &inference->inputs[0], *b = &inference->inputs[1];
  ND4C_TRY(check_least_rank(inference, 0, 1));
  ND4C_TRY(check_least_rank(inference, 1, 1));
  int32_t rank = a->rank > b->rank ? a->rank : b->rank, common = 0;
  ND4C_TRY(nd4c_rule_axis(inference, "axis", axis, rank, &common));
  *a_axis = common - (rank - a->rank);
  *b_axis = common - (rank - b->rank);
  if (*a_axis < 0 || *b_axis < 0) {
    return nd4c_rule_refuse(inference, *a_axis < 0 ? 0 : 1, ND4C_INDEX, "axis %lld of the broadcast shape is not there",
                            (long long)axis);
  }
  return ND4C_OK;
}

/* Gives: the shape that the inputs broadcast to without the axis, in the dtype that they promote to. The axis counts
 * from the end and is equally long in both. */
nd4c_status nd4c_infer_vecdot(nd4c_inference *inference) {
  const nd4c_tensor *a = &inference->inputs[0], *b = &inference->inputs[1];
  nd4c_inferred *output = &inference->outputs[0];
  nd4c_dtype dtype;
  int32_t a_axis = 0, b_axis = 0;
  ND4C_TRY(promoted(inference, &dtype));
  ND4C_TRY(shared_axis(inference, inference->attrs[ND4C_ATTR_vecdot_axis].as.i, &a_axis, &b_axis));
  if (!nd4c_rule_is_equal(inference, a->shape[a_axis], b->shape[b_axis])) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected %lld elements on axis %d", (long long)a->shape[a_axis],
                            (int)b_axis);
  }
  ND4C_TRY(nd4c_rule_broadcast(inference, 0, 1, dtype));
  int32_t axis = a_axis + output->rank - a->rank;
  for (int32_t i = axis; i + 1 < output->rank; i++) {
    output->shape[i] = output->shape[i + 1];
  }
  output->rank--;
  return ND4C_OK;
}

/* Gives: the shape that the inputs broadcast to, in the dtype that they promote to. Both have 3 elements on the axis.
 */
nd4c_status nd4c_infer_cross(nd4c_inference *inference) {
  nd4c_dtype dtype;
  int32_t axes[2] = {0, 0};
  ND4C_TRY(promoted(inference, &dtype));
  ND4C_TRY(shared_axis(inference, inference->attrs[ND4C_ATTR_cross_axis].as.i, &axes[0], &axes[1]));
  for (int32_t i = 0; i < 2; i++) {
    if (!nd4c_rule_is_equal(inference, inference->inputs[i].shape[axes[i]], 3)) {
      return nd4c_rule_refuse(inference, i, ND4C_SHAPE, "expected 3 elements on axis %d", (int)axes[i]);
    }
  }
  return nd4c_rule_broadcast(inference, 0, 1, dtype);
}

/* Gives: each axis of a times that of b, in the dtype that the inputs promote to; the shorter shape is filled up with
 * 1 in front. */
nd4c_status nd4c_infer_kron(nd4c_inference *inference) {
  const nd4c_tensor *a = &inference->inputs[0], *b = &inference->inputs[1];
  nd4c_inferred *output = &inference->outputs[0];
  nd4c_dtype dtype;
  ND4C_TRY(promoted(inference, &dtype));
  output->dtype = dtype;
  output->rank = a->rank > b->rank ? a->rank : b->rank;
  for (int32_t i = 0; i < output->rank; i++) {
    int32_t in_a = i - (output->rank - a->rank), in_b = i - (output->rank - b->rank);
    if (!nd4c_rule_multiply(inference, in_a < 0 ? 1 : a->shape[in_a], in_b < 0 ? 1 : b->shape[in_b],
                            &output->shape[i])) {
      return nd4c_rule_refuse(inference, 1, ND4C_OVERFLOW, "axis %d of the result exceeds 64 bits", (int)i);
    }
  }
  return ND4C_OK;
}

/* -- tensordot, inner, multi_dot -------------------------------------------------------------------------------- */

static nd4c_status append_axes(nd4c_inference *inference, int32_t position, const bool *summed) {
  const nd4c_tensor *x = &inference->inputs[position];
  nd4c_inferred *output = &inference->outputs[0];
  for (int32_t i = 0; i < x->rank; i++) {
    if (summed[i]) {
      continue;
    }
    if (output->rank == ND4C_MAX_RANK) {
      return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "the result would have more than %d axes",
                              ND4C_MAX_RANK);
    }
    output->shape[output->rank++] = x->shape[i];
  }
  return ND4C_OK;
}

/* Gives: the axes of a that are not summed, then those of b, in the dtype that the inputs promote to. */
nd4c_status nd4c_infer_tensordot(nd4c_inference *inference) {
  const nd4c_tensor *a = &inference->inputs[0], *b = &inference->inputs[1];
  const nd4c_attr_value *of_a = &inference->attrs[ND4C_ATTR_tensordot_axes_a];
  const nd4c_attr_value *of_b = &inference->attrs[ND4C_ATTR_tensordot_axes_b];
  nd4c_inferred *output = &inference->outputs[0];
  bool in_a[ND4C_MAX_RANK], in_b[ND4C_MAX_RANK];
  ND4C_TRY(promoted(inference, &output->dtype));
  ND4C_TRY(nd4c_rule_axes(inference, "axes_a", of_a, a->rank, in_a));
  ND4C_TRY(nd4c_rule_axes(inference, "axes_b", of_b, b->rank, in_b));
  if (of_a->count != of_b->count) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: axes_a has %d values and axes_b %d, expected as many", inference->op->name,
                     (int)of_a->count, (int)of_b->count);
  }
  for (int32_t i = 0; i < of_a->count; i++) {
    int64_t p = of_a->as.ints[i], q = of_b->as.ints[i];
    int64_t left = a->shape[nd4c_axis_index(p, a->rank)], right = b->shape[nd4c_axis_index(q, b->rank)];
    if (!nd4c_rule_is_equal(inference, left, right)) {
      return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "axis %lld: expected the extent %lld of a's axis %lld",
                              (long long)q, (long long)left, (long long)p);
    }
  }
  output->rank = 0;
  ND4C_TRY(append_axes(inference, 0, in_a));
  return append_axes(inference, 1, in_b);
}

/* Gives: a's axes but the last, then b's axes but the last, in the dtype that the inputs promote to; with a scalar
 * the shape of the other input. */
nd4c_status nd4c_infer_inner(nd4c_inference *inference) {
  const nd4c_tensor *a = &inference->inputs[0], *b = &inference->inputs[1];
  nd4c_inferred *output = &inference->outputs[0];
  bool in_a[ND4C_MAX_RANK] = {false}, in_b[ND4C_MAX_RANK] = {false};
  ND4C_TRY(promoted(inference, &output->dtype));
  if (a->rank > 0 && b->rank > 0) {
    if (!nd4c_rule_is_equal(inference, a->shape[a->rank - 1], b->shape[b->rank - 1])) {
      return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected a last axis of %lld elements, that of a",
                              (long long)a->shape[a->rank - 1]);
    }
    in_a[a->rank - 1] = in_b[b->rank - 1] = true;
  }
  output->rank = 0;
  ND4C_TRY(append_axes(inference, 0, in_a));
  return append_axes(inference, 1, in_b);
}

/* Gives: [rows of the first, columns of the last], in the dtype that the inputs promote to; without rows or columns
 * where the first or last input has one axis. */
nd4c_status nd4c_infer_multi_dot(nd4c_inference *inference) {
  int32_t last = inference->input_count - 1;
  nd4c_inferred *output = &inference->outputs[0];
  if (inference->input_count < 2 || inference->input_count > 64) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %d arrays given, expected 2 to 64", inference->op->name,
                     (int)inference->input_count);
  }
  output->dtype = inference->inputs[0].dtype;
  for (int32_t i = 0; i <= last; i++) {
    const nd4c_tensor *x = &inference->inputs[i], *before = x - 1;
    bool end = i == 0 || i == last;
    ND4C_TRY(nd4c_rule_accepted_dtype(inference, i));
    if (x->rank != 2 && !(end && x->rank == 1)) {
      return nd4c_rule_refuse(inference, i, ND4C_SHAPE, "expected 2 axes%s", end ? ", or 1" : "");
    }
    if (i > 0 && !nd4c_rule_is_equal(inference, before->shape[before->rank - 1], x->shape[0])) {
      return nd4c_rule_refuse(inference, i, ND4C_SHAPE, "expected %lld rows, as many as the one before has columns",
                              (long long)before->shape[before->rank - 1]);
    }
    ND4C_TRY(nd4c_rule_mix(inference, i, &output->dtype));
  }
  output->rank = 0;
  if (inference->inputs[0].rank == 2) {
    output->shape[output->rank++] = inference->inputs[0].shape[0];
  }
  if (inference->inputs[last].rank == 2) {
    output->shape[output->rank++] = inference->inputs[last].shape[1];
  }
  return ND4C_OK;
}
