/* Element-wise arithmetic, comparisons, bounds and casts. */
#include <inttypes.h>

#include "array/narrow.h"
#include "base/status.h"
#include "import/onnx/family.h"

/* The result has the base's dtype; nd4c promotes. */
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
  nd4c_onnx_operand count = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(nd4c_onnx_emit_variadic(emission));
  if (emission->input_count == 1) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_emit_scalar_like(&emission->emitter, emission->outputs[0], emission->input_count, &count));
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_divide, emission->outputs[0], count, &emission->outputs[0]);
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

static nd4c_status emit_is_inf(nd4c_onnx_emission *emission) {
  int64_t negative = 0;
  int64_t positive = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "detect_negative", 1, &negative));
  ND4C_TRY(nd4c_onnx_get_int(emission, "detect_positive", 1, &positive));
  nd4c_attr attrs[] = {nd4c_attr_of_bool("detect_negative", negative != 0),
                       nd4c_attr_of_bool("detect_positive", positive != 0)};
  return nd4c_emit(&emission->emitter, ND4C_OP_is_inf, emission->inputs, 1, attrs, 2, &emission->outputs[0]);
}

/* Python's rest, or C's. */
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
  nd4c_span direction;
  ND4C_TRY(nd4c_onnx_check_one_type(emission));
  ND4C_TRY(nd4c_onnx_get_text(emission, "direction", "", &direction));
  bool left = nd4c_span_is(direction, "LEFT");
  if (!left && !nd4c_span_is(direction, "RIGHT")) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'direction' is '%s', expected 'LEFT' or 'RIGHT'",
                     nd4c_span_show(direction).text);
  }
  return nd4c_emit_binary(&emission->emitter, left ? ND4C_OP_bitwise_left_shift : ND4C_OP_bitwise_right_shift,
                          emission->inputs[0], emission->inputs[1], &emission->outputs[0]);
}

static nd4c_status emit_bit_cast(nd4c_onnx_emission *emission) {
  int64_t number = 0;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(nd4c_onnx_get_int(emission, "to", 0, &number));
  ND4C_TRY(nd4c_onnx_dtype_resolve(number, &dtype));
  nd4c_attr attr = nd4c_attr_of_dtype("dtype", dtype);
  return nd4c_emit(&emission->emitter, ND4C_OP_bit_cast, emission->inputs, 1, &attr, 1, &emission->outputs[0]);
}

/* -- casts ---------------------------------------------------------------------------------------------------- */

/* The attributes saturate and round_mode are about 8-bit floats, and round_mode about FLOAT8E8M0 alone. */
static nd4c_status get_rounding(nd4c_onnx_emission *emission, int64_t *rounding) {
#define MODE(NAME, number, name) {name, number},
  static const struct {
    const char *name;
    int64_t number;
  } modes[] = {ND4C_ROUNDING_TABLE(MODE)};
#undef MODE
  nd4c_span mode;
  ND4C_TRY(nd4c_onnx_get_text(emission, "round_mode", "up", &mode));
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    if (nd4c_span_is(mode, modes[i].name)) {
      *rounding = modes[i].number;
      return ND4C_OK;
    }
  }
  return nd4c_fail(ND4C_FORMAT, "attribute 'round_mode' is %s, expected up, down or nearest",
                   nd4c_span_show(mode).text);
}

static nd4c_status cast_to(nd4c_onnx_emission *emission, nd4c_dtype dtype) {
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_dtype from = nd4c_emitted_get(&emission->emitter, x).dtype;
  int64_t saturate = 0, rounding = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "saturate", 1, &saturate));
  ND4C_TRY(get_rounding(emission, &rounding));
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
  if (!float8 || from == dtype || (saturate != 0 && dtype != ND4C_FLOAT8_E8M0FNU)) {
    return nd4c_emit_cast(&emission->emitter, x, dtype, &emission->outputs[0]);
  }
  nd4c_attr attrs[] = {nd4c_attr_of_dtype("dtype", dtype), nd4c_attr_of_bool("saturate", saturate != 0),
                       nd4c_attr_of_int("rounding", rounding)};
  return nd4c_emit(&emission->emitter, ND4C_OP_cast_float8, &x, 1, attrs, 3, &emission->outputs[0]);
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

#define ROWS(X)                                               \
  X(Abs, 1, LAST, 1, 1, 1, direct, abs)                       \
  X(Neg, 1, LAST, 1, 1, 1, direct, negative)                  \
  X(Sign, 9, LAST, 1, 1, 1, direct, sign)                     \
  X(Sqrt, 1, LAST, 1, 1, 1, direct, sqrt)                     \
  X(Reciprocal, 1, LAST, 1, 1, 1, direct, reciprocal)         \
  X(Exp, 1, LAST, 1, 1, 1, direct, exp)                       \
  X(Log, 1, LAST, 1, 1, 1, direct, log)                       \
  X(Sin, 7, LAST, 1, 1, 1, direct, sin)                       \
  X(Cos, 7, LAST, 1, 1, 1, direct, cos)                       \
  X(Tan, 7, LAST, 1, 1, 1, direct, tan)                       \
  X(Asin, 7, LAST, 1, 1, 1, direct, asin)                     \
  X(Acos, 7, LAST, 1, 1, 1, direct, acos)                     \
  X(Atan, 7, LAST, 1, 1, 1, direct, atan)                     \
  X(Sinh, 9, LAST, 1, 1, 1, direct, sinh)                     \
  X(Cosh, 9, LAST, 1, 1, 1, direct, cosh)                     \
  X(Asinh, 9, LAST, 1, 1, 1, direct, asinh)                   \
  X(Acosh, 9, LAST, 1, 1, 1, direct, acosh)                   \
  X(Atanh, 9, LAST, 1, 1, 1, direct, atanh)                   \
  X(Erf, 9, LAST, 1, 1, 1, direct, erf)                       \
  X(Floor, 1, LAST, 1, 1, 1, direct, floor)                   \
  X(Ceil, 1, LAST, 1, 1, 1, direct, ceil)                     \
  X(Round, 11, LAST, 1, 1, 1, direct, round)                  \
  X(IsNaN, 9, LAST, 1, 1, 1, direct, is_nan)                  \
  X(IsInf, 10, LAST, 1, 1, 1, is_inf, NONE)                   \
  X(Not, 1, LAST, 1, 1, 1, direct, logical_not)               \
  X(Identity, 1, LAST, 1, 1, 1, identity, NONE)               \
  X(Add, 1, 6, 2, 2, 1, direct_legacy, add)                   \
  X(Add, 7, LAST, 2, 2, 1, direct, add)                       \
  X(Sub, 1, 6, 2, 2, 1, direct_legacy, subtract)              \
  X(Sub, 7, LAST, 2, 2, 1, direct, subtract)                  \
  X(Mul, 1, 6, 2, 2, 1, direct_legacy, multiply)              \
  X(Mul, 7, LAST, 2, 2, 1, direct, multiply)                  \
  X(Div, 1, 6, 2, 2, 1, direct_legacy, divide)                \
  X(Div, 7, LAST, 2, 2, 1, direct, divide)                    \
  X(Pow, 1, 6, 2, 2, 1, direct_legacy, power)                 \
  X(Pow, 7, LAST, 2, 2, 1, power, NONE)                       \
  X(Equal, 1, 6, 2, 2, 1, direct_legacy, equal)               \
  X(Equal, 7, LAST, 2, 2, 1, direct, equal)                   \
  X(Less, 1, 6, 2, 2, 1, direct_legacy, less)                 \
  X(Less, 7, LAST, 2, 2, 1, direct, less)                     \
  X(LessOrEqual, 12, LAST, 2, 2, 1, direct, less_equal)       \
  X(Greater, 1, 6, 2, 2, 1, direct_legacy, greater)           \
  X(Greater, 7, LAST, 2, 2, 1, direct, greater)               \
  X(GreaterOrEqual, 12, LAST, 2, 2, 1, direct, greater_equal) \
  X(And, 1, 6, 2, 2, 1, direct_legacy, logical_and)           \
  X(And, 7, LAST, 2, 2, 1, direct, logical_and)               \
  X(Or, 1, 6, 2, 2, 1, direct_legacy, logical_or)             \
  X(Or, 7, LAST, 2, 2, 1, direct, logical_or)                 \
  X(Xor, 1, 6, 2, 2, 1, direct_legacy, logical_xor)           \
  X(Xor, 7, LAST, 2, 2, 1, direct, logical_xor)               \
  X(BitwiseNot, 18, LAST, 1, 1, 1, direct, bitwise_invert)    \
  X(BitwiseAnd, 18, LAST, 2, 2, 1, direct, bitwise_and)       \
  X(BitwiseOr, 18, LAST, 2, 2, 1, direct, bitwise_or)         \
  X(BitwiseXor, 18, LAST, 2, 2, 1, direct, bitwise_xor)       \
  X(BitShift, 11, LAST, 2, 2, 1, bit_shift, NONE)             \
  X(Mod, 10, LAST, 2, 2, 1, mod, NONE)                        \
  X(Where, 9, LAST, 3, 3, 1, direct, where)                   \
  X(Sum, 1, LAST, 1, ANY, 1, variadic, add)                   \
  X(Max, 1, LAST, 1, ANY, 1, variadic, maximum)               \
  X(Min, 1, LAST, 1, ANY, 1, variadic, minimum)               \
  X(Mean, 1, LAST, 1, ANY, 1, mean, add)                      \
  X(Clip, 1, LAST, 1, 3, 1, clip, NONE)                       \
  X(Cast, 6, LAST, 1, 1, 1, cast, NONE)                       \
  X(CastLike, 15, LAST, 2, 2, 1, cast_like, NONE)             \
  X(BitCast, 26, LAST, 1, 1, 1, bit_cast, NONE)

ND4C_ONNX_FAMILY(elementwise, "", ROWS)
