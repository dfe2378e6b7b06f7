/* Inference rules of element-wise ops: op_table/unary.h, op_table/binary.h, and rows of other tables with the same
 * rules. nd4c_op_infer (infer.c) calls the rule that an op's row names. */
#include "array/shape.h"
#include "base/status.h"
#include "ops/infer/rules.h"

/* Gives: the shape and dtype of the first input. */
nd4c_status nd4c_infer_same(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: the first input's shape and dtype, or the real dtype of a complex one. */
nd4c_status nd4c_infer_magnitude(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_dtype dtype = x->dtype == ND4C_COMPLEX64    ? (nd4c_dtype)ND4C_FLOAT32
                     : x->dtype == ND4C_COMPLEX128 ? (nd4c_dtype)ND4C_FLOAT64
                                                   : x->dtype;
  nd4c_rule_output(inference, dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: bool, in the first input's shape. */
nd4c_status nd4c_infer_predicate(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_rule_output(inference, ND4C_BOOL, x->rank, x->shape);
  return ND4C_OK;
}

/* Broadcasts the first output's shape against another input. So far it is the shape of the inputs called `what`. */
static nd4c_status broadcast_output(nd4c_inference *inference, int32_t position, const char *what) {
  const nd4c_tensor *input = &inference->inputs[position];
  nd4c_inferred *output = &inference->outputs[0];
  nd4c_inferred before = *output;
  nd4c_status status = nd4c_rule_broadcast_shapes(inference, input->rank, input->shape, before.rank, before.shape,
                                                  &output->rank, output->shape);
  if (status == ND4C_OK) {
    return ND4C_OK;
  }
  char text[ND4C_RULE_TEXT_SIZE / 2];
  return nd4c_rule_refuse(inference, position, status, "expected a shape that broadcasts with that of %s, %s", what,
                          nd4c_shape_text(before.rank, before.shape, text, sizeof text));
}

/* A bound never changes the dtype of what it bounds. */
static nd4c_status check_bound(nd4c_inference *inference, int32_t position, const char *what) {
  nd4c_dtype x = inference->inputs[0].dtype, dtype;
  if (nd4c_rule_input(inference, position) == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_rule_accepted_dtype(inference, position));
  ND4C_TRY(nd4c_rule_promote(inference, 0, position, &dtype));
  if (dtype != x) {
    return nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected a dtype that promotes with %s to %s: cast first",
                            nd4c_dtype_name(x), nd4c_dtype_name(x));
  }
  return broadcast_output(inference, position, what);
}

/* Gives: the shape that x, low and high broadcast to, in x's dtype. */
nd4c_status nd4c_infer_clip(nd4c_inference *inference) {
  ND4C_TRY(nd4c_infer_same(inference));
  ND4C_TRY(check_bound(inference, ND4C_IN_clip_low, "input x"));
  return check_bound(inference, ND4C_IN_clip_high, "inputs x and low together");
}

/* Gives: x's shape, in the attribute dtype. */
nd4c_status nd4c_infer_cast(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t number = inference->attrs[ND4C_ATTR_cast_dtype].as.i;
  bool known = number > ND4C_DTYPE_NONE && number < ND4C_DTYPE_END;
  const nd4c_dtype_info *info = known ? nd4c_dtype_get_info((nd4c_dtype)number) : NULL;
  bool parsed = x->dtype == ND4C_UTF8, printed = number == ND4C_UTF8;
  if (info == NULL) {
    return nd4c_rule_refuse(inference, 0, ND4C_DTYPE, "dtype %lld is not known, expected bool or a number",
                            (long long)number);
  }
  if (!info->available) {
    return nd4c_rule_refuse(inference, 0, ND4C_DTYPE, "dtype %s is not in this build, expected bool or a number",
                            info->name);
  }
  /* No casts between strings and complex numbers, float8 or packed elements. */
  nd4c_dtype other = parsed ? (nd4c_dtype)number : x->dtype;
  if (parsed != printed && (other > ND4C_COMPLEX128 || (parsed && info->kind == ND4C_KIND_COMPLEX))) {
    return nd4c_rule_refuse(inference, 0, ND4C_DTYPE, "dtype %s is no target of this cast, expected %s", info->name,
                            parsed ? "utf8, bool or a real number" : "a dtype of numbers");
  }
  nd4c_rule_output(inference, (nd4c_dtype)number, x->rank, x->shape);
  return ND4C_OK;
}

/* The dtype that both inputs promote to, which has to be one of the op's: int64 and uint64 become float64, which has no
 * bits to combine. */
static nd4c_status common_dtype(const nd4c_inference *inference, nd4c_dtype *dtype) {
  ND4C_TRY(nd4c_rule_accepted_dtype(inference, 1));
  ND4C_TRY(nd4c_rule_promote(inference, 0, 1, dtype));
  if ((inference->op->dtypes & ND4C_DTYPE_BIT(*dtype)) != 0) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, 1, ND4C_DTYPE,
                          "expected a dtype that mixes with %s of the first input: the two would become %s, which this "
                          "op does not take; cast one first",
                          nd4c_dtype_name(inference->inputs[0].dtype), nd4c_dtype_name(*dtype));
}

/* Gives: the shape that the inputs broadcast to, in the dtype that they promote to. */
nd4c_status nd4c_infer_promote(nd4c_inference *inference) {
  nd4c_dtype dtype;
  ND4C_TRY(common_dtype(inference, &dtype));
  return nd4c_rule_broadcast(inference, 0, 1, dtype);
}

/* Gives: bool, in the shape that the inputs broadcast to. */
nd4c_status nd4c_infer_compare(nd4c_inference *inference) {
  nd4c_dtype dtype;
  ND4C_TRY(common_dtype(inference, &dtype));
  return nd4c_rule_broadcast(inference, 0, 1, ND4C_BOOL);
}

/* Gives: the shape that the three inputs broadcast to, in the dtype that they promote to. */
nd4c_status nd4c_infer_promote_three(nd4c_inference *inference) {
  nd4c_dtype first, dtype;
  ND4C_TRY(common_dtype(inference, &first));
  ND4C_TRY(nd4c_rule_accepted_dtype(inference, 2));
  ND4C_TRY(nd4c_rule_promote(inference, 0, 2, &dtype));
  ND4C_TRY(nd4c_dtype_promote(first, dtype, &dtype));
  ND4C_TRY(nd4c_rule_broadcast(inference, 0, 1, dtype));
  return broadcast_output(inference, 2, "the first two inputs together");
}

/* Gives: the shape that the three inputs broadcast to, in the dtype that a and b promote to. */
nd4c_status nd4c_infer_where(nd4c_inference *inference) {
  nd4c_dtype dtype;
  ND4C_TRY(nd4c_rule_promote(inference, ND4C_IN_where_a, ND4C_IN_where_b, &dtype));
  if ((ND4C_DTYPES_NARROW & ND4C_DTYPE_BIT(dtype)) != 0) {
    return nd4c_rule_refuse(inference, ND4C_IN_where_a, ND4C_DTYPE, "expected bool, a number or utf8: cast first");
  }
  ND4C_TRY(nd4c_rule_broadcast(inference, ND4C_IN_where_a, ND4C_IN_where_b, dtype));
  return broadcast_output(inference, ND4C_IN_where_condition, "inputs a and b together");
}
