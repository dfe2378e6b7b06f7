/* Element-wise arithmetic, comparisons, bounds and casts. emission/scope.c calls the emit functions through the rows
 * below. */
#include <inttypes.h>

#include "array/narrow.h"
#include "base/status.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

/* ONNX gives the result the dtype of the base, where nd4c promotes. */
static nd4c_status emit_power(nd4c_onnx_emission *emission) {
  enum { TWO_TYPES_SINCE = 12 };
  nd4c_onnx_operand result = ND4C_ONNX_OPERAND_NONE;
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).dtype;
  if (emission->opset < TWO_TYPES_SINCE) {
    ND4C_TRY(nd4c_onnx_check_one_type(emission));
  }
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_power, emission->inputs[0], emission->inputs[1], &result));
  return nd4c_emit_cast(&emission->emitter, result, dtype, &emission->outputs[0]);
}

static nd4c_status emit_mean(nd4c_onnx_emission *emission) {
  ND4C_TRY(nd4c_onnx_check_variadic(emission));
  return nd4c_compose_mean(&emission->emitter, emission->inputs, emission->input_count, &emission->outputs[0]);
}

static nd4c_status emit_identity(nd4c_onnx_emission *emission) {
  emission->outputs[0] = emission->inputs[0];
  return ND4C_OK;
}

/* A bound of Clip from an attribute; an infinite or missing one is no bound. */
static nd4c_status clip_bound(nd4c_onnx_emission *emission, const char *name, nd4c_onnx_operand *bound) {
  double value = 0;
  *bound = ND4C_ONNX_OPERAND_NONE;
  if (nd4c_onnx_attribute_find(emission, name) == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_get_float(emission, name, 0, &value));
  return nd4c_emit_scalar_like(&emission->emitter, emission->inputs[0], value, bound);
}

static nd4c_status emit_clip(nd4c_onnx_emission *emission) {
  enum { BOUNDS_ARE_INPUTS = 11 };
  nd4c_onnx_operand operands[3] = {emission->inputs[0], nd4c_onnx_input(emission, 1), nd4c_onnx_input(emission, 2)};
  nd4c_onnx_ignore(emission, "consumed_inputs");
  if (emission->opset < BOUNDS_ARE_INPUTS) {
    ND4C_TRY(clip_bound(emission, "min", &operands[1]));
    ND4C_TRY(clip_bound(emission, "max", &operands[2]));
  }
  for (int32_t i = 1; i < 3; i++) {
    /* Some exporters write bounds as 1-D arrays of one element. */
    if (operands[i] != ND4C_ONNX_OPERAND_NONE && nd4c_emitted_get(&emission->emitter, operands[i]).rank != 0) {
      ND4C_TRY(nd4c_emit_reshape(&emission->emitter, operands[i], 0, NULL, &operands[i]));
    }
  }
  if (operands[1] == ND4C_ONNX_OPERAND_NONE && operands[2] == ND4C_ONNX_OPERAND_NONE) {
    emission->outputs[0] = emission->inputs[0];
    return ND4C_OK;
  }
  return nd4c_emit(&emission->emitter, ND4C_OP_clip, operands, 3, NULL, 0, &emission->outputs[0]);
}

/* The remainder of Python's % or, with fmod, of C's fmod. */
static nd4c_status emit_mod(nd4c_onnx_emission *emission) {
  int64_t truncated = 0;
  ND4C_TRY(nd4c_onnx_check_one_type(emission));
  ND4C_TRY(nd4c_onnx_get_int(emission, "fmod", 0, &truncated));
  if (truncated != 0 && truncated != 1) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'fmod' is %" PRId64 ", expected 0 or 1", truncated);
  }
  return nd4c_emit_binary(&emission->emitter, truncated != 0 ? ND4C_OP_fmod : ND4C_OP_remainder, emission->inputs[0],
                          emission->inputs[1], &emission->outputs[0]);
}

static nd4c_status emit_bit_shift(nd4c_onnx_emission *emission) {
  static const char *const directions[] = {"LEFT", "RIGHT", NULL};
  int64_t right = 0;
  ND4C_TRY(nd4c_onnx_check_one_type(emission));
  ND4C_TRY(nd4c_onnx_get_word(emission, "direction", "", directions, &right));
  return nd4c_emit_binary(&emission->emitter, right != 0 ? ND4C_OP_bitwise_right_shift : ND4C_OP_bitwise_left_shift,
                          emission->inputs[0], emission->inputs[1], &emission->outputs[0]);
}

/* -- casts ---------------------------------------------------------------------------------------------------- */

static const char *const roundings[] = {ND4C_ROUNDING_TABLE(ND4C_ONNX_WORD) NULL};

#define CAST_RULES ATTR("saturate", BOOL, "saturate", 1), WORDS("round_mode", "rounding", 1, roundings)

static nd4c_status cast_to(nd4c_onnx_emission *emission, nd4c_dtype dtype) {
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_dtype from = nd4c_emitted_get(&emission->emitter, x).dtype;
  nd4c_onnx_attrs attrs; /* saturate matters for 8-bit floats, and rounding only for FLOAT8E8M0 */
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  bool saturates = attrs.list[0].value.as.i != 0;
  bool from_narrow = nd4c_dtype_is_narrow(from), to_narrow = nd4c_dtype_is_narrow(dtype);
  if ((from == ND4C_UTF8 && to_narrow) || (from_narrow && dtype == ND4C_UTF8)) {
    ND4C_TRY(nd4c_emit_cast(&emission->emitter, x, ND4C_FLOAT32, &x)); /* float32 holds all narrow numbers */
  }
  nd4c_dtype_kind kind = nd4c_dtype_get_info(dtype)->kind;
  if (to_narrow && kind != ND4C_KIND_FLOAT && nd4c_dtype_get_info(from)->kind == ND4C_KIND_FLOAT) {
    /* Out of range is undefined; ONNX's cases keep the low bits of the whole number, where nd4c would saturate. */
    ND4C_TRY(nd4c_emit_cast(&emission->emitter, x, ND4C_INT32, &x));
  }
  bool float8 = to_narrow && !nd4c_dtype_is_packed(dtype);
  if (!float8 || from == dtype || (saturates && dtype != ND4C_FLOAT8_E8M0FNU)) {
    return nd4c_emit_cast(&emission->emitter, x, dtype, &emission->outputs[0]);
  }
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_dtype("dtype", dtype));
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_cast_float8, &x, 1, &attrs);
}

static nd4c_status emit_cast(nd4c_onnx_emission *emission) {
  int64_t number = 0;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(nd4c_onnx_get_int(emission, "to", 0, &number));
  ND4C_TRY(nd4c_onnx_dtype_resolve(number, &dtype));
  return cast_to(emission, dtype);
}

static nd4c_status emit_cast_like(nd4c_onnx_emission *emission) {
  return cast_to(emission, nd4c_emitted_get(&emission->emitter, emission->inputs[1]).dtype);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                    \
  OP(Abs, 1, LAST, 1, 1, 1, direct, abs)                                                        \
  OP(Neg, 1, LAST, 1, 1, 1, direct, negative)                                                   \
  OP(Sign, 9, LAST, 1, 1, 1, direct, sign)                                                      \
  OP(Sqrt, 1, LAST, 1, 1, 1, direct, sqrt)                                                      \
  OP(Reciprocal, 1, LAST, 1, 1, 1, direct, reciprocal)                                          \
  OP(Exp, 1, LAST, 1, 1, 1, direct, exp)                                                        \
  OP(Log, 1, LAST, 1, 1, 1, direct, log)                                                        \
  OP(Sin, 7, LAST, 1, 1, 1, direct, sin)                                                        \
  OP(Cos, 7, LAST, 1, 1, 1, direct, cos)                                                        \
  OP(Tan, 7, LAST, 1, 1, 1, direct, tan)                                                        \
  OP(Asin, 7, LAST, 1, 1, 1, direct, asin)                                                      \
  OP(Acos, 7, LAST, 1, 1, 1, direct, acos)                                                      \
  OP(Atan, 7, LAST, 1, 1, 1, direct, atan)                                                      \
  OP(Sinh, 9, LAST, 1, 1, 1, direct, sinh)                                                      \
  OP(Cosh, 9, LAST, 1, 1, 1, direct, cosh)                                                      \
  OP(Asinh, 9, LAST, 1, 1, 1, direct, asinh)                                                    \
  OP(Acosh, 9, LAST, 1, 1, 1, direct, acosh)                                                    \
  OP(Atanh, 9, LAST, 1, 1, 1, direct, atanh)                                                    \
  OP(Erf, 9, LAST, 1, 1, 1, direct, erf)                                                        \
  OP(Floor, 1, LAST, 1, 1, 1, direct, floor)                                                    \
  OP(Ceil, 1, LAST, 1, 1, 1, direct, ceil)                                                      \
  OP(Round, 11, LAST, 1, 1, 1, direct, round)                                                   \
  OP(IsNaN, 9, LAST, 1, 1, 1, direct, is_nan)                                                   \
  MAP(IsInf, 10, LAST, 1, 1, 1, is_inf, ATTR("detect_negative", BOOL, "detect_negative", 1),    \
      ATTR("detect_positive", BOOL, "detect_positive", 1))                                      \
  OP(Not, 1, LAST, 1, 1, 1, direct, logical_not)                                                \
  OP(Identity, 1, LAST, 1, 1, 1, identity, NONE)                                                \
  OP(Add, 1, 6, 2, 2, 1, direct_legacy, add)                                                    \
  OP(Add, 7, LAST, 2, 2, 1, direct, add)                                                        \
  OP(Sub, 1, 6, 2, 2, 1, direct_legacy, subtract)                                               \
  OP(Sub, 7, LAST, 2, 2, 1, direct, subtract)                                                   \
  OP(Mul, 1, 6, 2, 2, 1, direct_legacy, multiply)                                               \
  OP(Mul, 7, LAST, 2, 2, 1, direct, multiply)                                                   \
  OP(Div, 1, 6, 2, 2, 1, direct_legacy, divide)                                                 \
  OP(Div, 7, LAST, 2, 2, 1, direct, divide)                                                     \
  OP(Pow, 1, 6, 2, 2, 1, direct_legacy, power)                                                  \
  OP(Pow, 7, LAST, 2, 2, 1, power, NONE)                                                        \
  OP(Equal, 1, 6, 2, 2, 1, direct_legacy, equal)                                                \
  OP(Equal, 7, LAST, 2, 2, 1, direct, equal)                                                    \
  OP(Less, 1, 6, 2, 2, 1, direct_legacy, less)                                                  \
  OP(Less, 7, LAST, 2, 2, 1, direct, less)                                                      \
  OP(LessOrEqual, 12, LAST, 2, 2, 1, direct, less_equal)                                        \
  OP(Greater, 1, 6, 2, 2, 1, direct_legacy, greater)                                            \
  OP(Greater, 7, LAST, 2, 2, 1, direct, greater)                                                \
  OP(GreaterOrEqual, 12, LAST, 2, 2, 1, direct, greater_equal)                                  \
  OP(And, 1, 6, 2, 2, 1, direct_legacy, logical_and)                                            \
  OP(And, 7, LAST, 2, 2, 1, direct, logical_and)                                                \
  OP(Or, 1, 6, 2, 2, 1, direct_legacy, logical_or)                                              \
  OP(Or, 7, LAST, 2, 2, 1, direct, logical_or)                                                  \
  OP(Xor, 1, 6, 2, 2, 1, direct_legacy, logical_xor)                                            \
  OP(Xor, 7, LAST, 2, 2, 1, direct, logical_xor)                                                \
  OP(BitwiseNot, 18, LAST, 1, 1, 1, direct, bitwise_invert)                                     \
  OP(BitwiseAnd, 18, LAST, 2, 2, 1, direct, bitwise_and)                                        \
  OP(BitwiseOr, 18, LAST, 2, 2, 1, direct, bitwise_or)                                          \
  OP(BitwiseXor, 18, LAST, 2, 2, 1, direct, bitwise_xor)                                        \
  OP(BitShift, 11, LAST, 2, 2, 1, bit_shift, NONE)                                              \
  OP(Mod, 10, LAST, 2, 2, 1, mod, NONE)                                                         \
  OP(Where, 9, LAST, 3, 3, 1, direct, where)                                                    \
  CHAIN(Sum, 1, LAST, 1, ANY, 1, variadic, add, "add of all inputs")                            \
  OP(Max, 1, LAST, 1, ANY, 1, variadic, maximum)                                                \
  OP(Min, 1, LAST, 1, ANY, 1, variadic, minimum)                                                \
  CHAIN(Mean, 1, LAST, 1, ANY, 1, mean, add, "add of all inputs, divide by their number")       \
  OP(Clip, 1, LAST, 1, 3, 1, clip, NONE)                                                        \
  READ(Cast, 6, LAST, 1, 1, 1, cast, NONE, CAST_RULES)                                          \
  ND4C_ONNX_ROW(CastLike, 15, LAST, 2, 2, 1, emit_cast_like, NONE, ND4C_ONNX_RULES(CAST_RULES), \
                "cast to the second input's dtype")                                             \
  MAP(BitCast, 26, LAST, 1, 1, 1, bit_cast, ATTR("to", DTYPE, "dtype", REQUIRED))

ND4C_ONNX_FAMILY(elementwise, "", ROWS)
