/* Inference rules of quantisation and of products of quantised numbers (op_table/quantization.h). nd4c_op_infer
 * (infer.c) calls the rule that an op's row names. */
#include "array/shape.h"
#include "base/status.h"
#include "ops/infer/rules.h"

#define BIT(NAME) ND4C_DTYPE_BIT(ND4C_##NAME)
static const nd4c_dtype_set floats = BIT(FLOAT16) | BIT(BFLOAT16) | BIT(FLOAT32) | BIT(FLOAT64);
static const nd4c_dtype_set bytes = BIT(INT8) | BIT(UINT8);
static const nd4c_dtype_set float8s =
    BIT(FLOAT8_E4M3FN) | BIT(FLOAT8_E4M3FNUZ) | BIT(FLOAT8_E5M2) | BIT(FLOAT8_E5M2FNUZ);

/* Refuses an input that is none of a set, called `expected`. Inputs left out pass. */
static nd4c_status check_set(const nd4c_inference *inference, int32_t position, nd4c_dtype_set set,
                             const char *expected) {
  const nd4c_tensor *tensor = nd4c_rule_input(inference, position);
  if (tensor == NULL || (set & ND4C_DTYPE_BIT(tensor->dtype)) != 0) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected %s", expected);
}

/* An attribute's dtype is of a set and in this build. */
static nd4c_status check_target(const nd4c_inference *inference, const char *attr, int64_t number, nd4c_dtype_set set,
                                const char *expected) {
  bool known = number > ND4C_DTYPE_NONE && number < ND4C_DTYPE_END;
  const nd4c_dtype_info *info = known ? nd4c_dtype_get_info((nd4c_dtype)number) : NULL;
  if (info != NULL && info->available && (set & ND4C_DTYPE_BIT(number)) != 0) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_DTYPE, "%s: %s is %s (number %lld), expected %s", inference->op->name, attr,
                   info == NULL ? "?" : info->name, (long long)number, expected);
}

/* Gives: x's shape, in the attribute dtype. */
nd4c_status nd4c_infer_cast_float8(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t number = inference->attrs[ND4C_ATTR_cast_float8_dtype].as.i;
  ND4C_TRY(check_target(inference, "dtype", number, float8s | BIT(FLOAT8_E8M0FNU), "a float8 dtype"));
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_cast_float8_rounding));
  nd4c_rule_output(inference, (nd4c_dtype)number, x->rank, x->shape);
  return ND4C_OK;
}

/* -- scales ------------------------------------------------------------------------------------------------------ */

static bool is_single(const nd4c_inference *inference, const nd4c_tensor *tensor) {
  return tensor->rank == 0 || (tensor->rank == 1 && nd4c_rule_is(inference, tensor->shape[0], 1));
}

/* Whether there is one scale for each block of `block` elements along the axis. */
static bool is_blocked(const nd4c_inference *inference, const nd4c_tensor *scale, int32_t axis, int64_t block) {
  const nd4c_tensor *x = &inference->inputs[0];
  bool fits = scale->rank == x->rank;
  for (int32_t i = 0; fits && i < x->rank; i++) {
    int64_t blocks = x->shape[i];
    fits = (i != axis || nd4c_rule_divide_up(inference, x->shape[i], block, &blocks)) &&
           nd4c_rule_is_equal(inference, scale->shape[i], blocks);
  }
  return fits;
}

/* Checks scales and as many zero points: one for x, one for each index of an axis, or one for each block. The
 * attributes axis and block_size have the same positions in both ops. */
static nd4c_status check_scales(const nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *scale = &inference->inputs[ND4C_IN_quantize_linear_scale];
  int64_t given = inference->attrs[ND4C_ATTR_quantize_linear_axis].as.i;
  int64_t block = inference->attrs[ND4C_ATTR_quantize_linear_block_size].as.i;
  if (block < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: block_size is %lld, expected at least 0", inference->op->name,
                     (long long)block);
  }
  if (!is_single(inference, scale)) {
    int32_t axis = 0;
    ND4C_TRY(nd4c_rule_axis(inference, "axis", given, x->rank, &axis));
    bool by_axis = block == 0 && scale->rank == 1 && nd4c_rule_is_equal(inference, scale->shape[0], x->shape[axis]);
    if (!by_axis && (block == 0 || !is_blocked(inference, scale, axis, block))) {
      char text[ND4C_RULE_TEXT_SIZE / 2];
      return nd4c_rule_refuse(inference, ND4C_IN_quantize_linear_scale, ND4C_SHAPE,
                              "expected one value, (%lld,) for axis %d of input x %s, or with block_size one a block",
                              (long long)x->shape[axis], (int)axis,
                              nd4c_shape_text(x->rank, x->shape, text, sizeof text));
    }
  }
  const nd4c_tensor *zero = nd4c_rule_input(inference, ND4C_IN_quantize_linear_zero_point);
  if (zero == NULL || (is_single(inference, zero) && is_single(inference, scale))) {
    return ND4C_OK;
  }
  return nd4c_rule_expect_shape(inference, ND4C_IN_quantize_linear_zero_point, scale->rank, scale->shape,
                                "the shape of input scale");
}

/* Gives: x's shape, in the attribute dtype; by default zero_point's, or uint8 without zero_point. */
nd4c_status nd4c_infer_quantize_linear(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_tensor *zero = nd4c_rule_input(inference, ND4C_IN_quantize_linear_zero_point);
  const nd4c_attr_value *attrs = inference->attrs;
  nd4c_dtype_set targets = bytes | BIT(INT16) | BIT(UINT16) | float8s | ND4C_DTYPES_PACKED;
  static const char *const expected =
      "int8, uint8, int16, uint16, float8 but for e8m0, int4, uint4, int2, uint2, float4";
  int64_t dtype = attrs[ND4C_ATTR_quantize_linear_dtype].as.i;
  int64_t precision = attrs[ND4C_ATTR_quantize_linear_precision].as.i;
  ND4C_TRY(check_set(inference, ND4C_IN_quantize_linear_scale, floats | BIT(INT32) | BIT(FLOAT8_E8M0FNU),
                     "a float, int32 or float8_e8m0fnu"));
  ND4C_TRY(check_set(inference, ND4C_IN_quantize_linear_zero_point, targets, expected));
  if (dtype == ND4C_DTYPE_NONE) {
    dtype = zero != NULL ? zero->dtype : ND4C_UINT8;
  }
  ND4C_TRY(check_target(inference, "dtype", dtype, targets, expected));
  if (zero != NULL && zero->dtype != dtype) {
    return nd4c_rule_refuse(inference, ND4C_IN_quantize_linear_zero_point, ND4C_DTYPE, "expected %s, the result's",
                            nd4c_dtype_name((nd4c_dtype)dtype));
  }
  if (precision != ND4C_DTYPE_NONE) {
    ND4C_TRY(check_target(inference, "precision", precision, floats, "a float of 16 bits or more"));
  }
  ND4C_TRY(check_scales(inference));
  nd4c_rule_output(inference, (nd4c_dtype)dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: x's shape, in the attribute dtype; by default scale's, float32 if that is float8_e8m0fnu. */
nd4c_status nd4c_infer_dequantize_linear(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *scale = &inference->inputs[ND4C_IN_dequantize_linear_scale];
  int64_t dtype = inference->attrs[ND4C_ATTR_dequantize_linear_dtype].as.i;
  ND4C_TRY(
      check_set(inference, ND4C_IN_dequantize_linear_scale, floats | BIT(FLOAT8_E8M0FNU), "a float or float8_e8m0fnu"));
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_dequantize_linear_zero_point));
  if (dtype == ND4C_DTYPE_NONE) {
    dtype = scale->dtype == ND4C_FLOAT8_E8M0FNU ? ND4C_FLOAT32 : scale->dtype;
  }
  ND4C_TRY(check_target(inference, "dtype", dtype, floats, "a float of 16 bits or more"));
  ND4C_TRY(check_scales(inference));
  nd4c_rule_output(inference, (nd4c_dtype)dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: y: uint8, in x's shape; scale: a float32 scalar; zero_point: a uint8 scalar. */
nd4c_status nd4c_infer_dynamic_quantize_linear(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_rule_output_at(inference, 0, ND4C_UINT8, x->rank, x->shape);
  nd4c_rule_output_at(inference, 1, ND4C_FLOAT32, 0, NULL);
  nd4c_rule_output_at(inference, 2, ND4C_UINT8, 0, NULL);
  return ND4C_OK;
}

/* Gives: the shape and dtype of x. low and high have x's dtype and broadcast to x. */
nd4c_status nd4c_infer_fake_quantize(nd4c_inference *inference) {
  int64_t bits = inference->attrs[ND4C_ATTR_fake_quantize_bits].as.i;
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_fake_quantize_low));
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_fake_quantize_high));
  if (bits < 2 || bits > 16) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: bits is %lld, expected 2 to 16", inference->op->name, (long long)bits);
  }
  nd4c_rule_output(inference, inference->inputs[0].dtype, inference->inputs[0].rank, inference->inputs[0].shape);
  ND4C_TRY(nd4c_rule_broadcasts_to_output(inference, ND4C_IN_fake_quantize_low));
  return nd4c_rule_broadcasts_to_output(inference, ND4C_IN_fake_quantize_high);
}

/* -- products ---------------------------------------------------------------------------------------------------- */

/* Shape of the product of inputs a and b, int32. */
static nd4c_status product_shape(nd4c_inference *inference, int32_t a_at, int32_t b_at) {
  const nd4c_tensor *a = &inference->inputs[a_at], *b = &inference->inputs[b_at];
  nd4c_inferred *output = &inference->outputs[0];
  if (a->rank < 1 || b->rank < 1) {
    return nd4c_rule_refuse(inference, a->rank < 1 ? a_at : b_at, ND4C_SHAPE, "expected at least 1 axis");
  }
  int64_t k = a->shape[a->rank - 1], rows = b->shape[b->rank > 1 ? b->rank - 2 : 0];
  if (!nd4c_rule_is_equal(inference, k, rows)) {
    return nd4c_rule_refuse(inference, b_at, ND4C_SHAPE, "expected %lld rows, the last axis of the other factor",
                            (long long)k);
  }
  int32_t a_batch = a->rank > 2 ? a->rank - 2 : 0, b_batch = b->rank > 2 ? b->rank - 2 : 0;
  if (nd4c_rule_broadcast_shapes(inference, a_batch, a->shape, b_batch, b->shape, &output->rank, output->shape) !=
      ND4C_OK) {
    return nd4c_rule_refuse(inference, b_at, ND4C_SHAPE,
                            "expected axes before the last two that broadcast with those of the other factor");
  }
  if (a->rank > 1) {
    output->shape[output->rank++] = a->shape[a->rank - 2];
  }
  if (b->rank > 1) {
    output->shape[output->rank++] = b->shape[b->rank - 1];
  }
  output->dtype = ND4C_INT32;
  return ND4C_OK;
}

/* A scale or zero point of a factor: one value, [n] for its rows or columns, or the factor's shape with 1 for the axis
 * that is summed over. */
static nd4c_status check_vector(const nd4c_inference *inference, int32_t position, int32_t factor_at, bool rows) {
  const nd4c_tensor *vector = nd4c_rule_input(inference, position), *factor = &inference->inputs[factor_at];
  if (vector == NULL || is_single(inference, vector)) {
    return ND4C_OK;
  }
  int32_t kept = factor->rank - (rows ? 2 : 1), summed = factor->rank - (rows ? 1 : 2);
  if (factor->rank >= 2 && vector->rank == 1 && nd4c_rule_is_equal(inference, vector->shape[0], factor->shape[kept])) {
    return ND4C_OK;
  }
  bool fits = factor->rank >= 2 && vector->rank == factor->rank;
  for (int32_t i = 0; fits && i < factor->rank; i++) {
    fits = nd4c_rule_is_equal(inference, vector->shape[i], i == summed ? 1 : factor->shape[i]);
  }
  if (fits) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected one value, or one for each %s of the factor",
                          rows ? "row" : "column");
}

static nd4c_status check_single(const nd4c_inference *inference, int32_t position) {
  const nd4c_tensor *tensor = nd4c_rule_input(inference, position);
  if (tensor == NULL || is_single(inference, tensor)) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected one value");
}

/* The zero point of a factor has its dtype. */
static nd4c_status check_zero_dtype(const nd4c_inference *inference, int32_t position, int32_t factor_at) {
  const nd4c_tensor *zero = nd4c_rule_input(inference, position);
  nd4c_dtype dtype = inference->inputs[factor_at].dtype;
  if (zero == NULL || zero->dtype == dtype) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected %s, the dtype of what it belongs to",
                          nd4c_dtype_name(dtype));
}

/* Gives: int32, in the shape of matmul's result. */
nd4c_status nd4c_infer_matmul_integer(nd4c_inference *inference) {
  enum { A = ND4C_IN_matmul_integer_a, B = ND4C_IN_matmul_integer_b };
  enum { A_ZERO = ND4C_IN_matmul_integer_a_zero_point, B_ZERO = ND4C_IN_matmul_integer_b_zero_point };
  ND4C_TRY(check_set(inference, B, bytes, "int8 or uint8"));
  ND4C_TRY(check_zero_dtype(inference, A_ZERO, A));
  ND4C_TRY(check_zero_dtype(inference, B_ZERO, B));
  ND4C_TRY(product_shape(inference, A, B));
  ND4C_TRY(check_vector(inference, A_ZERO, A, true));
  return check_vector(inference, B_ZERO, B, false);
}

/* Scales and zero points of the three arrays of a quantised op; the inputs stand as in qlinear_matmul. */
static nd4c_status check_triples(nd4c_inference *inference) {
  enum { A = ND4C_IN_qlinear_matmul_a, B = ND4C_IN_qlinear_matmul_b };
  enum { Y_SCALE = ND4C_IN_qlinear_matmul_y_scale, Y_ZERO = ND4C_IN_qlinear_matmul_y_zero_point };
  ND4C_TRY(check_set(inference, B, bytes, "int8 or uint8"));
  ND4C_TRY(check_zero_dtype(inference, A + 2, A));
  ND4C_TRY(check_zero_dtype(inference, B + 2, B));
  ND4C_TRY(check_set(inference, Y_ZERO, bytes, "int8 or uint8"));
  ND4C_TRY(check_set(inference, A + 1, floats, "a float of 16 bits or more"));
  for (int32_t at = B + 1; at <= Y_SCALE; at += Y_SCALE - B - 1) {
    if (inference->inputs[at].dtype != inference->inputs[A + 1].dtype) {
      return nd4c_rule_refuse(inference, at, ND4C_DTYPE, "expected %s, the dtype of the first scale",
                              nd4c_dtype_name(inference->inputs[A + 1].dtype));
    }
  }
  ND4C_TRY(check_single(inference, Y_SCALE));
  return check_single(inference, Y_ZERO);
}

/* Gives: the shape of matmul's result for a and b, in the dtype of y_zero_point. */
nd4c_status nd4c_infer_qlinear_matmul(nd4c_inference *inference) {
  enum { A = ND4C_IN_qlinear_matmul_a, B = ND4C_IN_qlinear_matmul_b };
  ND4C_TRY(check_triples(inference));
  ND4C_TRY(product_shape(inference, A, B));
  for (int32_t i = 1; i <= 2; i++) {
    ND4C_TRY(check_vector(inference, A + i, A, true));
    ND4C_TRY(check_vector(inference, B + i, B, false));
  }
  inference->outputs[0].dtype = inference->inputs[ND4C_IN_qlinear_matmul_y_zero_point].dtype;
  return ND4C_OK;
}

/* Gives: the shape that a and b broadcast to, in the dtype of y_zero_point. */
nd4c_status nd4c_infer_qlinear_add(nd4c_inference *inference) {
  enum { A = ND4C_IN_qlinear_add_a, B = ND4C_IN_qlinear_add_b };
  ND4C_TRY(check_triples(inference));
  for (int32_t i = 1; i <= 2; i++) {
    ND4C_TRY(check_single(inference, A + i));
    ND4C_TRY(check_single(inference, B + i));
  }
  return nd4c_rule_broadcast(inference, A, B, inference->inputs[ND4C_IN_qlinear_add_y_zero_point].dtype);
}

/* Gives: x with its last axis replaced by the rows of w, in the dtype of x_scale. */
nd4c_status nd4c_infer_linear_int8(nd4c_inference *inference) {
  enum { X = ND4C_IN_linear_int8_x, W = ND4C_IN_linear_int8_w, X_SCALE = ND4C_IN_linear_int8_x_scale };
  enum { W_SCALE = ND4C_IN_linear_int8_w_scale, X_ZERO = ND4C_IN_linear_int8_x_zero_point };
  enum { W_ZERO = ND4C_IN_linear_int8_w_zero_point, BIAS = ND4C_IN_linear_int8_bias };
  const nd4c_tensor *x = &inference->inputs[X], *w = &inference->inputs[W];
  ND4C_TRY(check_set(inference, W, bytes, "int8 or uint8"));
  ND4C_TRY(check_zero_dtype(inference, X_ZERO, X));
  ND4C_TRY(check_zero_dtype(inference, W_ZERO, W));
  ND4C_TRY(check_set(inference, X_SCALE, floats, "a float of 16 bits or more"));
  ND4C_TRY(check_zero_dtype(inference, W_SCALE, X_SCALE));
  ND4C_TRY(check_zero_dtype(inference, BIAS, X_SCALE));
  if (x->rank < 1 || w->rank != 2 || !nd4c_rule_is_equal(inference, w->shape[1], x->shape[x->rank - 1])) {
    return nd4c_rule_refuse(inference, W, ND4C_SHAPE, "expected [n, k] with k the last axis of x");
  }
  ND4C_TRY(check_vector(inference, X_SCALE, X, true));
  ND4C_TRY(check_vector(inference, X_ZERO, X, true));
  ND4C_TRY(check_vector(inference, W_SCALE, W, true));
  ND4C_TRY(check_vector(inference, W_ZERO, W, true));
  nd4c_rule_output(inference, inference->inputs[X_SCALE].dtype, x->rank, x->shape);
  inference->outputs[0].shape[x->rank - 1] = w->shape[0];
  return nd4c_rule_expect_shape(inference, BIAS, 1, w->shape, "(n,), one value a row of w");
}

/* Gives: a with its last axis replaced by the rows of b, in a's dtype. */
nd4c_status nd4c_infer_matmul_nbits(nd4c_inference *inference) {
  enum { A = ND4C_IN_matmul_nbits_a, B = ND4C_IN_matmul_nbits_b, SCALE = ND4C_IN_matmul_nbits_scale };
  enum { ZERO = ND4C_IN_matmul_nbits_zero_point, BIAS = ND4C_IN_matmul_nbits_bias };
  const nd4c_tensor *a = &inference->inputs[A], *b = &inference->inputs[B];
  int64_t block = inference->attrs[ND4C_ATTR_matmul_nbits_block_size].as.i;
  ND4C_TRY(check_set(inference, B, bytes | ND4C_DTYPES_PACKED, "int8, uint8, int4, uint4, int2, uint2 or float4"));
  ND4C_TRY(nd4c_rule_same_dtype(inference, SCALE));
  ND4C_TRY(nd4c_rule_same_dtype(inference, BIAS));
  ND4C_TRY(check_zero_dtype(inference, ZERO, B));
  if (block < 1) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: block_size is %lld, expected at least 1", inference->op->name,
                     (long long)block);
  }
  if (a->rank < 1 || b->rank != 2 || !nd4c_rule_is_equal(inference, b->shape[1], a->shape[a->rank - 1])) {
    return nd4c_rule_refuse(inference, B, ND4C_SHAPE, "expected [n, k] with k the last axis of a");
  }
  int64_t scales[2] = {b->shape[0], 0};
  if (!nd4c_rule_divide_up(inference, b->shape[1], block, &scales[1])) {
    return nd4c_rule_too_long(inference, B, 1);
  }
  ND4C_TRY(nd4c_rule_expect_shape(inference, SCALE, 2, scales, "[n, ceil(k / block_size)]"));
  ND4C_TRY(nd4c_rule_expect_shape(inference, ZERO, 2, scales, "[n, ceil(k / block_size)]"));
  nd4c_rule_output(inference, a->dtype, a->rank, a->shape);
  inference->outputs[0].shape[a->rank - 1] = b->shape[0];
  return nd4c_rule_expect_shape(inference, BIAS, 1, b->shape, "(n,), one value a row of b");
}

/* -- convolutions ------------------------------------------------------------------------------------------------ */

/* Output of a convolution with the weights at `w_at`; the window's attributes stand as in conv_integer. */
static nd4c_status conv_shape(nd4c_inference *inference, int32_t w_at, nd4c_dtype dtype) {
  const nd4c_tensor *x = &inference->inputs[0], *w = &inference->inputs[w_at];
  const nd4c_attr_value *attrs = inference->attrs;
  int64_t groups = attrs[ND4C_ATTR_conv_integer_groups].as.i, of_group = 0;
  if (x->rank < 3 || x->rank > 5) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [n, c, ...] with 1 to 3 spatial axes");
  }
  if (groups < 1 || !nd4c_rule_is_multiple(inference, x->shape[1], groups)) {
    return nd4c_rule_refuse(inference, 0, groups < 1 ? ND4C_ARGUMENT : ND4C_SHAPE,
                            "groups is %lld, expected a divisor of the %lld channels", (long long)groups,
                            (long long)x->shape[1]);
  }
  (void)nd4c_rule_divide(inference, x->shape[1], groups, &of_group);
  if (w->rank != x->rank || !nd4c_rule_is_equal(inference, w->shape[1], of_group) ||
      !nd4c_rule_is_multiple(inference, w->shape[0], groups)) {
    return nd4c_rule_refuse(inference, w_at, ND4C_SHAPE,
                            "expected [o, %lld, ...] of %d axes with o a multiple of groups = %lld",
                            (long long)of_group, (int)x->rank, (long long)groups);
  }
  nd4c_window window;
  ND4C_TRY(nd4c_window_resolve(inference, x->rank - 2, x->shape + 2, w->shape + 2,
                               &attrs[ND4C_ATTR_conv_integer_strides], &attrs[ND4C_ATTR_conv_integer_pads],
                               &attrs[ND4C_ATTR_conv_integer_dilations], attrs[ND4C_ATTR_conv_integer_auto_pad].as.i,
                               false, &window));
  nd4c_rule_output(inference, dtype, x->rank, x->shape);
  inference->outputs[0].shape[1] = w->shape[0];
  for (int32_t i = 0; i < window.spatial; i++) {
    inference->outputs[0].shape[2 + i] = window.output[i];
  }
  return ND4C_OK;
}

/* One value, or one an output channel. */
static nd4c_status check_channels(const nd4c_inference *inference, int32_t position, int64_t channels) {
  const nd4c_tensor *list = nd4c_rule_input(inference, position);
  if (list == NULL || is_single(inference, list)) {
    return ND4C_OK;
  }
  return nd4c_rule_expect_shape(inference, position, 1, &channels, "one value, or one an output channel");
}

/* Gives: int32, in the shape of conv's result. */
nd4c_status nd4c_infer_conv_integer(nd4c_inference *inference) {
  enum { W = ND4C_IN_conv_integer_w };
  enum { X_ZERO = ND4C_IN_conv_integer_x_zero_point, W_ZERO = ND4C_IN_conv_integer_w_zero_point };
  ND4C_TRY(check_set(inference, W, bytes, "int8 or uint8"));
  ND4C_TRY(check_zero_dtype(inference, X_ZERO, 0));
  ND4C_TRY(check_zero_dtype(inference, W_ZERO, W));
  ND4C_TRY(conv_shape(inference, W, ND4C_INT32));
  ND4C_TRY(check_single(inference, X_ZERO));
  return check_channels(inference, W_ZERO, inference->inputs[W].shape[0]);
}

/* Gives: the shape of conv's result for x and w, in the dtype of y_zero_point. */
nd4c_status nd4c_infer_qlinear_conv(nd4c_inference *inference) {
  enum { W = ND4C_IN_qlinear_conv_w, BIAS = ND4C_IN_qlinear_conv_bias };
  ND4C_TRY(check_triples(inference));
  ND4C_TRY(check_set(inference, BIAS, BIT(INT32), "int32"));
  ND4C_TRY(conv_shape(inference, W, inference->inputs[ND4C_IN_qlinear_conv_y_zero_point].dtype));
  int64_t channels = inference->inputs[W].shape[0];
  ND4C_TRY(check_single(inference, ND4C_IN_qlinear_conv_x_scale));
  ND4C_TRY(check_single(inference, ND4C_IN_qlinear_conv_x_zero_point));
  ND4C_TRY(check_channels(inference, ND4C_IN_qlinear_conv_w_scale, channels));
  ND4C_TRY(check_channels(inference, ND4C_IN_qlinear_conv_w_zero_point, channels));
  return nd4c_rule_expect_shape(inference, BIAS, 1, &channels, "(o,), one value an output channel");
}
