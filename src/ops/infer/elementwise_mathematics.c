/* Inference rules of op_table/mathematics.h and op_table/activation.h that elementwise.c does not have. nd4c_op_infer
 * (infer.c) calls the rule that an op's row names. */
#include "base/status.h"
#include "ops/infer/rules.h"

/* Gives: uint8, in x's shape. */
nd4c_status nd4c_infer_bit_count(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_rule_output(inference, ND4C_UINT8, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: x's shape, in the attribute dtype, which has as many bits as x's. */
nd4c_status nd4c_infer_bit_cast(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t number = inference->attrs[ND4C_ATTR_bit_cast_dtype].as.i;
  bool known = number > ND4C_DTYPE_NONE && number < ND4C_DTYPE_END;
  const nd4c_dtype_info *from = nd4c_dtype_get_info(x->dtype);
  const nd4c_dtype_info *to = known ? nd4c_dtype_get_info((nd4c_dtype)number) : NULL;
  if (to == NULL) {
    return nd4c_rule_refuse(inference, 0, ND4C_DTYPE, "dtype %lld is not known, expected a number or bool of %d bits",
                            (long long)number, (int)from->bits);
  }
  if (!to->available || to->kind == ND4C_KIND_STRING || to->bits != from->bits) {
    return nd4c_rule_refuse(inference, 0, ND4C_DTYPE,
                            "dtype %s is no target of this cast, expected a number or bool of %d bits", to->name,
                            (int)from->bits);
  }
  nd4c_rule_output(inference, (nd4c_dtype)number, x->rank, x->shape);
  return ND4C_OK;
}

static bool is_integer(nd4c_dtype dtype) {
  nd4c_dtype_kind kind = nd4c_dtype_get_info(dtype)->kind;
  return kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT;
}

/* Gives: the shape that the inputs broadcast to, in the dtype that they promote to; float64 for integers. */
nd4c_status nd4c_infer_true_divide(nd4c_inference *inference) {
  nd4c_dtype dtype;
  ND4C_TRY(nd4c_rule_accepted_dtype(inference, 1));
  ND4C_TRY(nd4c_rule_promote(inference, 0, 1, &dtype));
  return nd4c_rule_broadcast(inference, 0, 1, is_integer(dtype) ? (nd4c_dtype)ND4C_FLOAT64 : dtype);
}

/* Gives: the shape that the inputs broadcast to, in x's dtype. */
nd4c_status nd4c_infer_ldexp(nd4c_inference *inference) {
  if (!is_integer(inference->inputs[ND4C_IN_ldexp_exponent].dtype)) {
    return nd4c_rule_refuse(inference, ND4C_IN_ldexp_exponent, ND4C_DTYPE, "expected an integer dtype");
  }
  return nd4c_rule_broadcast(inference, 0, 1, inference->inputs[ND4C_IN_ldexp_x].dtype);
}

/* Gives: the shape and dtype of x. slope has x's dtype and broadcasts to x. */
nd4c_status nd4c_infer_prelu(nd4c_inference *inference) {
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_prelu_slope));
  ND4C_TRY(nd4c_infer_same(inference));
  return nd4c_rule_broadcasts_to_output(inference, ND4C_IN_prelu_slope);
}

/* The first attribute divides. Gives: the shape and dtype of x. */
nd4c_status nd4c_infer_divisor(nd4c_inference *inference) {
  if (inference->attrs[0].as.f == 0) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %s is 0, expected another number", inference->op->name,
                     inference->op->attrs[0].name);
  }
  return nd4c_infer_same(inference);
}

/* Activations that halve or double an axis. */
static nd4c_status resized_axis(nd4c_inference *inference, int64_t axis_given, int32_t *axis, int64_t *shape) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(nd4c_rule_axis(inference, "axis", axis_given, x->rank, axis));
  for (int32_t i = 0; i < x->rank; i++) {
    shape[i] = x->shape[i];
  }
  return ND4C_OK;
}

/* Gives: x with half the length on the axis, in x's dtype. */
nd4c_status nd4c_infer_glu(nd4c_inference *inference) {
  int32_t axis = 0;
  int64_t shape[ND4C_MAX_RANK];
  ND4C_TRY(resized_axis(inference, inference->attrs[ND4C_ATTR_glu_axis].as.i, &axis, shape));
  if (!nd4c_rule_is_multiple(inference, shape[axis], 2)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "axis %d has the odd length %lld, expected two halves", (int)axis,
                            (long long)shape[axis]);
  }
  (void)nd4c_rule_divide(inference, shape[axis], 2, &shape[axis]);
  nd4c_rule_output(inference, inference->inputs[0].dtype, inference->inputs[0].rank, shape);
  return ND4C_OK;
}

/* Gives: x with twice the length on the axis, in x's dtype. */
nd4c_status nd4c_infer_crelu(nd4c_inference *inference) {
  int32_t axis = 0;
  int64_t shape[ND4C_MAX_RANK];
  ND4C_TRY(resized_axis(inference, inference->attrs[ND4C_ATTR_crelu_axis].as.i, &axis, shape));
  if (!nd4c_rule_multiply(inference, shape[axis], 2, &shape[axis])) {
    return nd4c_rule_refuse(inference, 0, ND4C_OVERFLOW, "twice the length of axis %d is more than 64 bits hold",
                            (int)axis);
  }
  nd4c_rule_output(inference, inference->inputs[0].dtype, inference->inputs[0].rank, shape);
  return ND4C_OK;
}
