/* Inference rules of statistics over axes and along an axis (op_table/statistics.h). nd4c_op_infer (infer.c) calls the
 * rule that an op's row names. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "ops/infer/rules.h"

static nd4c_dtype real_dtype(nd4c_dtype dtype) {
  return dtype == ND4C_COMPLEX64    ? (nd4c_dtype)ND4C_FLOAT32
         : dtype == ND4C_COMPLEX128 ? (nd4c_dtype)ND4C_FLOAT64
                                    : dtype;
}

static bool is_floating(nd4c_dtype dtype) {
  return nd4c_dtype_get_info(dtype)->kind == ND4C_KIND_FLOAT;
}

/* -- over axes --------------------------------------------------------------------------------------------------- */

/* Gives: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 * complex. */
nd4c_status nd4c_infer_reduce_real(nd4c_inference *inference) {
  return nd4c_rule_reduce(inference, real_dtype(inference->inputs[0].dtype));
}

/* Gives: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 * complex. An empty axis cannot be reduced. */
nd4c_status nd4c_infer_reduce_real_nonempty(nd4c_inference *inference) {
  ND4C_TRY(nd4c_rule_nonempty(inference));
  return nd4c_infer_reduce_real(inference);
}

/* Gives: int64, in x's shape without the reduced axes (keepdims: with 1 in their places). */
nd4c_status nd4c_infer_reduce_count(nd4c_inference *inference) {
  return nd4c_rule_reduce(inference, ND4C_INT64);
}

/* Gives: float32 (float64 for float64), in x's shape without the reduced axes (keepdims: with 1 in their places). */
nd4c_status nd4c_infer_reduce_fraction(nd4c_inference *inference) {
  return nd4c_rule_reduce(inference, inference->inputs[0].dtype == ND4C_FLOAT64 ? ND4C_FLOAT64 : ND4C_FLOAT32);
}

/* Gives: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or float64 for integers. An empty
 * axis cannot be reduced. */
nd4c_status nd4c_infer_reduce_quantile(nd4c_inference *inference) {
  nd4c_dtype dtype = inference->inputs[0].dtype;
  ND4C_TRY(nd4c_rule_nonempty(inference));
  return nd4c_rule_reduce(inference, is_floating(dtype) ? dtype : (nd4c_dtype)ND4C_FLOAT64);
}

/* Gives: each x without the reduced axes (keepdims: with 1 in their places), in x's dtype. */
nd4c_status nd4c_infer_moments(nd4c_inference *inference) {
  ND4C_TRY(nd4c_infer_reduce_same(inference));
  const nd4c_inferred *mean = &inference->outputs[0];
  nd4c_rule_output_at(inference, 1, mean->dtype, mean->rank, mean->shape);
  return ND4C_OK;
}

/* Gives: a without the reduced axes (keepdims: with 1 in their places), in a's dtype. The inputs have one dtype and
 * shape. */
nd4c_status nd4c_infer_distance(nd4c_inference *inference) {
  const nd4c_tensor *a = &inference->inputs[0], *b = &inference->inputs[1];
  ND4C_TRY(nd4c_rule_same_dtype(inference, 1));
  if (!nd4c_rule_same_shape(inference, a->rank, a->shape, b->rank, b->shape)) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected the shape of input a");
  }
  return nd4c_infer_reduce_same(inference);
}

/* Gives: a first axis with a place for each q, then x without the reduced axes (keepdims: with 1 in their places), in
 * x's dtype, or float64 for integers. An empty axis cannot be reduced. */
nd4c_status nd4c_infer_quantile(nd4c_inference *inference) {
  const nd4c_attr_value *q = &inference->attrs[ND4C_ATTR_quantile_q];
  nd4c_inferred *y = &inference->outputs[0];
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_quantile_method));
  for (int32_t i = 0; i < q->count; i++) {
    if (!(q->as.floats[i] >= 0 && q->as.floats[i] <= 1)) {
      return nd4c_fail(ND4C_ARGUMENT, "quantile: q[%d] is %g, expected 0 to 1", (int)i, q->as.floats[i]);
    }
  }
  ND4C_TRY(nd4c_infer_reduce_quantile(inference));
  if (y->rank == ND4C_MAX_RANK) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "the result would have more than %d axes", ND4C_MAX_RANK);
  }
  memmove(y->shape + 1, y->shape, (size_t)y->rank * sizeof *y->shape);
  y->shape[0] = q->count;
  y->rank++;
  return ND4C_OK;
}

/* -- along an axis ----------------------------------------------------------------------------------------------- */

static nd4c_status check_axis(const nd4c_inference *inference, int64_t given, int32_t *axis) {
  return nd4c_rule_axis(inference, "axis", given, inference->inputs[0].rank, axis);
}

/* Gives: the shape and dtype of x. */
nd4c_status nd4c_infer_along_axis(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int32_t axis;
  ND4C_TRY(check_axis(inference, inference->attrs[ND4C_ATTR_cumulative_max_axis].as.i, &axis));
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: x's shape, one longer on the axis with include_initial, in dtype; by default int64 or uint64 for bool and
 * integers, else x's. */
nd4c_status nd4c_infer_cumulative(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *attrs = inference->attrs;
  bool initial = attrs[ND4C_ATTR_cumulative_sum_include_initial].as.i != 0;
  int32_t axis;
  ND4C_TRY(check_axis(inference, attrs[ND4C_ATTR_cumulative_sum_axis].as.i, &axis));
  if (initial && attrs[ND4C_ATTR_cumulative_sum_exclusive].as.i != 0) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: exclusive and include_initial are both given, expected at most one",
                     inference->op->name);
  }
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(nd4c_rule_gathered_dtype(inference, attrs[ND4C_ATTR_cumulative_sum_dtype].as.i, &dtype));
  nd4c_rule_output(inference, dtype, x->rank, x->shape);
  if (initial && !nd4c_rule_add(inference, x->shape[axis], 1, &inference->outputs[0].shape[axis])) {
    return nd4c_rule_refuse(inference, 0, ND4C_OVERFLOW, "axis %d would be longer than 64 bits count", (int)axis);
  }
  return ND4C_OK;
}

/* Gives: y: the shape and dtype of x; indices: int64, in x's shape. */
nd4c_status nd4c_infer_cumulative_best(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(nd4c_infer_along_axis(inference));
  nd4c_rule_output_at(inference, 1, ND4C_INT64, x->rank, x->shape);
  return ND4C_OK;
}

/* Refuses an input that cannot be joined to x on the axis: it must have x's dtype and, on other axes, x's shape. */
static nd4c_status check_piece(const nd4c_inference *inference, int32_t position, int32_t axis, int64_t *length) {
  const nd4c_tensor *x = &inference->inputs[0], *piece = nd4c_rule_input(inference, position);
  if (piece == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_rule_same_dtype(inference, position));
  bool fits = piece->rank == x->rank;
  for (int32_t i = 0; fits && i < x->rank; i++) {
    fits = i == axis || nd4c_rule_is_equal(inference, piece->shape[i], x->shape[i]);
  }
  if (!fits) {
    return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected the shape of input x but for axis %d",
                            (int)axis);
  }
  if (!nd4c_rule_add(inference, *length, piece->shape[axis], length)) {
    return nd4c_rule_refuse(inference, position, ND4C_OVERFLOW, "axis %d joined to x's would not fit 64 bits",
                            (int)axis);
  }
  return ND4C_OK;
}

/* Gives: x with prepend and append joined to it, then shorter by order on the axis, in x's dtype. */
nd4c_status nd4c_infer_diff(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t order = inference->attrs[ND4C_ATTR_diff_order].as.i;
  int32_t axis;
  ND4C_TRY(check_axis(inference, inference->attrs[ND4C_ATTR_diff_axis].as.i, &axis));
  if (order < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "diff: order is %lld, expected at least 0", (long long)order);
  }
  int64_t length = x->shape[axis];
  ND4C_TRY(check_piece(inference, ND4C_IN_diff_prepend, axis, &length));
  ND4C_TRY(check_piece(inference, ND4C_IN_diff_append, axis, &length));
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  (void)nd4c_extents_maximum(inference->extents, length, order, &length);
  (void)nd4c_rule_subtract(inference, length, order, &inference->outputs[0].shape[axis]);
  return ND4C_OK;
}
