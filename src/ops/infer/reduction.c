/* Inference rules of op_table/reduction.h, and the functions of rules.h that reduce; statistics.c shares them.
 * nd4c_op_infer (infer.c) calls the rule that an op's row names. */
#include "array/narrow.h"
#include "base/status.h"
#include "ops/infer/rules.h"

/* The attributes have the same positions in all REDUCE signatures. */
nd4c_status nd4c_rule_reduced_axes(const nd4c_inference *inference, bool *reduced) {
  const nd4c_tensor *x = &inference->inputs[0];
  return nd4c_rule_axes_or_all(inference, "axes", &inference->attrs[ND4C_ATTR_sum_axes], x->rank, reduced);
}

static void reduced_output(nd4c_inference *inference, const bool *reduced, bool keepdims, nd4c_dtype dtype) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_inferred *output = &inference->outputs[0];
  output->dtype = dtype;
  output->rank = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    if (!reduced[i]) {
      output->shape[output->rank++] = x->shape[i];
    } else if (keepdims) {
      output->shape[output->rank++] = 1;
    }
  }
}

nd4c_status nd4c_rule_reduce(nd4c_inference *inference, nd4c_dtype dtype) {
  bool reduced[ND4C_MAX_RANK];
  ND4C_TRY(nd4c_rule_reduced_axes(inference, reduced));
  reduced_output(inference, reduced, inference->attrs[ND4C_ATTR_sum_keepdims].as.i != 0, dtype);
  return ND4C_OK;
}

/* Whole numbers are summed in 64 bits. A build without uint64 has no unsigned type that int64 cannot hold. */
nd4c_dtype nd4c_rule_sum_dtype(nd4c_dtype dtype) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  if (info->kind == ND4C_KIND_UINT && nd4c_dtype_get_info(ND4C_UINT64)->available) {
    return ND4C_UINT64;
  }
  bool whole = info->kind == ND4C_KIND_BOOL || info->kind == ND4C_KIND_INT || info->kind == ND4C_KIND_UINT;
  return whole ? ND4C_INT64 : dtype;
}

nd4c_status nd4c_rule_gathered_dtype(const nd4c_inference *inference, int64_t wanted, nd4c_dtype *dtype) {
  const nd4c_dtype_info *info = wanted >= 0 && wanted < ND4C_DTYPE_END ? nd4c_dtype_get_info((nd4c_dtype)wanted) : NULL;
  if (wanted == ND4C_DTYPE_NONE) {
    *dtype = nd4c_rule_sum_dtype(inference->inputs[0].dtype);
    return ND4C_OK;
  }
  if (info == NULL || info->kind == ND4C_KIND_BOOL || info->kind == ND4C_KIND_STRING || !info->available ||
      nd4c_dtype_is_narrow((nd4c_dtype)wanted)) {
    return nd4c_fail(ND4C_DTYPE, "%s: dtype is %s, expected a numeric one", inference->op->name,
                     info == NULL ? "unknown" : info->name);
  }
  *dtype = (nd4c_dtype)wanted;
  return ND4C_OK;
}

/* Gives: x without the reduced axes (keepdims: with 1 in their places), in dtype; by default int64 or uint64 for bool
 * and integers, else x's. */
nd4c_status nd4c_infer_reduce_sum(nd4c_inference *inference) {
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(nd4c_rule_gathered_dtype(inference, inference->attrs[ND4C_ATTR_sum_dtype].as.i, &dtype));
  return nd4c_rule_reduce(inference, dtype);
}

/* Gives: x without the reduced axes (keepdims: with 1 in their places), in x's dtype. */
nd4c_status nd4c_infer_reduce_same(nd4c_inference *inference) {
  return nd4c_rule_reduce(inference, inference->inputs[0].dtype);
}

/* Gives: bool, in x's shape without the reduced axes (keepdims: with 1 in their places). */
nd4c_status nd4c_infer_reduce_bool(nd4c_inference *inference) {
  return nd4c_rule_reduce(inference, ND4C_BOOL);
}

nd4c_status nd4c_rule_nonempty(const nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  bool reduced[ND4C_MAX_RANK];
  ND4C_TRY(nd4c_rule_reduced_axes(inference, reduced));
  for (int32_t i = 0; i < x->rank; i++) {
    if (reduced[i] && nd4c_rule_is(inference, x->shape[i], 0)) {
      return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "axis %d is empty, expected at least one element to reduce",
                              (int)i);
    }
  }
  return ND4C_OK;
}

/* Gives: x without the reduced axes (keepdims: with 1 in their places), in x's dtype. An empty axis cannot be
 * reduced. */
nd4c_status nd4c_infer_reduce_nonempty(nd4c_inference *inference) {
  ND4C_TRY(nd4c_rule_nonempty(inference));
  return nd4c_rule_reduce(inference, inference->inputs[0].dtype);
}

/* Gives: int64, in x's shape without the axis (keepdims: with 1 in its place). The axis must not be empty. */
nd4c_status nd4c_infer_arg_reduce(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  bool reduced[ND4C_MAX_RANK] = {false};
  int32_t axis;
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_argmax_axis].as.i, x->rank, &axis));
  if (nd4c_rule_is(inference, x->shape[axis], 0)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "axis %d is empty, expected at least one element", (int)axis);
  }
  reduced[axis] = true;
  reduced_output(inference, reduced, inference->attrs[ND4C_ATTR_argmax_keepdims].as.i != 0, ND4C_INT64);
  return ND4C_OK;
}
