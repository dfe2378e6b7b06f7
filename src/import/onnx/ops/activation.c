/* Activations. emission/scope.c calls the emit functions through the rows below. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/emission/fused.h"
#include "import/onnx/family.h"

static const char *const approximations[] = {"none", "tanh", NULL};

/* ONNX also takes integers, which are computed in float64: exact up to 2^53. */
static nd4c_status emit_shrink(nd4c_onnx_emission *emission) {
  nd4c_onnx_attrs attrs;
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, x).dtype;
  nd4c_dtype_kind kind = nd4c_dtype_get_info(dtype)->kind;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  if (kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT) {
    ND4C_TRY(nd4c_emit_cast(&emission->emitter, x, ND4C_FLOAT64, &x));
  }
  ND4C_TRY(nd4c_onnx_emit_attrs(emission, ND4C_OP_shrink, &x, 1, &attrs));
  return nd4c_emit_cast(&emission->emitter, emission->outputs[0], dtype, &emission->outputs[0]);
}

static nd4c_status emit_prelu(nd4c_onnx_emission *emission) {
  enum { UNIDIRECTIONAL_SINCE = 7 };
  nd4c_onnx_operand slope = emission->inputs[1];
  nd4c_emitted_info x = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  nd4c_emitted_info s = nd4c_emitted_get(&emission->emitter, slope);
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(nd4c_onnx_check_one_type(emission));
  if (emission->opset < UNIDIRECTIONAL_SINCE && s.rank == 1 && s.shape[0] != 1 && x.rank > 2) {
    for (int32_t i = 1; i < x.rank - 1; i++) {
      s.shape[i] = 1;
    }
    ND4C_TRY(nd4c_emit_reshape(&emission->emitter, slope, x.rank - 1, s.shape, &slope));
  }
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_prelu, emission->inputs[0], slope, &emission->outputs[0]);
}

/* Checks the axis of Softmax. Before opset 11 ONNX set no bounds, and the axis could be the rank, so that all axes come
 * before it. The op checks the axis of a scalar. */
static nd4c_status check_softmax_axis(int64_t axis, int32_t rank, int64_t opset) {
  enum { BOUNDED_SINCE = 11 };
  int32_t last = opset < BOUNDED_SINCE ? rank : rank - 1;
  if (rank == 0 || (axis >= -rank && axis <= last)) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_INDEX, "attribute 'axis' is %" PRId64 "; the input has rank %d: expected %d to %d", axis,
                   (int)rank, (int)-rank, (int)last);
}

/* Softmax, LogSoftmax and Hardmax. Before opset 13 everything from `axis` on is one axis. */
static nd4c_status emit_softmax(nd4c_onnx_emission *emission) {
  enum { ONE_AXIS_SINCE = 13 };
  bool flat = emission->opset < ONE_AXIS_SINCE;
  int64_t axis = 0;
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, x);
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", flat ? 1 : -1, &axis));
  ND4C_TRY(check_softmax_axis(axis, info.rank, emission->opset));
  int64_t positive = axis < 0 ? axis + info.rank : axis;
  bool reshaped = flat && positive != info.rank - 1;
  if (reshaped) {
    ND4C_TRY(nd4c_emit_along(&emission->emitter, ND4C_OP_flatten, &x, 1, positive, &x));
    positive = 1;
  }
  ND4C_TRY(nd4c_emit_along(&emission->emitter, emission->node->mapping->op, &x, 1, positive, &x));
  emission->outputs[0] = x;
  return reshaped ? nd4c_emit_reshape(&emission->emitter, x, info.rank, info.shape, &emission->outputs[0]) : ND4C_OK;
}

/* -- of ONNX Runtime ------------------------------------------------------------------------------------------- */

/* gelu(x + bias), of a node that has a bias or none. */
static nd4c_status gelu_of_sum(nd4c_onnx_emission *emission, bool approximate) {
  const nd4c_attr attr = nd4c_attr_of_bool("approximate", approximate);
  nd4c_onnx_operand x = emission->inputs[0], bias = nd4c_onnx_input(emission, 1);
  ND4C_TRY(nd4c_onnx_check_one_type(emission));
  if (bias != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_add, x, bias, &x));
  }
  return nd4c_emit(&emission->emitter, ND4C_OP_gelu, &x, 1, &attr, 1, &emission->outputs[0]);
}

static nd4c_status emit_bias_gelu(nd4c_onnx_emission *emission) {
  return gelu_of_sum(emission, false);
}

static nd4c_status emit_fast_gelu(nd4c_onnx_emission *emission) {
  return gelu_of_sum(emission, true);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                                       \
  OP(Tanh, 1, LAST, 1, 1, 1, direct, tanh)                                                                         \
  OP(Sigmoid, 1, LAST, 1, 1, 1, direct, sigmoid)                                                                   \
  OP(Relu, 1, LAST, 1, 1, 1, direct, relu)                                                                         \
  MAP(LeakyRelu, 1, LAST, 1, 1, 1, leaky_relu, ATTR("alpha", FLOAT, "alpha", 0.01), IGNORE("consumed_inputs"))     \
  OP(PRelu, 1, LAST, 2, 2, 1, prelu, NONE)                                                                         \
  MAP(ThresholdedRelu, 10, LAST, 1, 1, 1, threshold, ATTR("alpha", FLOAT, "threshold", 1))                         \
  MAP(Elu, 1, LAST, 1, 1, 1, elu, ATTR("alpha", FLOAT, "alpha", 1), IGNORE("consumed_inputs"))                     \
  MAP(Selu, 1, 5, 1, 1, 1, selu, ATTR("alpha", FLOAT, "alpha", 1.6732), ATTR("gamma", FLOAT, "gamma", 1.0507),     \
      IGNORE("consumed_inputs"))                                                                                   \
  MAP(Selu, 6, LAST, 1, 1, 1, selu, ATTR("alpha", FLOAT, "alpha", 1.67326319217681884765625),                      \
      ATTR("gamma", FLOAT, "gamma", 1.05070102214813232421875))                                                    \
  MAP(Celu, 12, LAST, 1, 1, 1, celu, ATTR("alpha", FLOAT, "alpha", 1))                                             \
  MAP(Gelu, 20, LAST, 1, 1, 1, gelu, WORDS("approximate", "approximate", 0, approximations))                       \
  MAP(HardSigmoid, 1, LAST, 1, 1, 1, hard_sigmoid, ATTR("alpha", FLOAT, "alpha", 0.2),                             \
      ATTR("beta", FLOAT, "beta", 0.5), IGNORE("consumed_inputs"))                                                 \
  OP(HardSwish, 14, LAST, 1, 1, 1, direct, hard_swish)                                                             \
  OP(Softplus, 1, LAST, 1, 1, 1, direct, softplus)                                                                 \
  OP(Softsign, 1, LAST, 1, 1, 1, direct, softsign)                                                                 \
  OP(Mish, 18, LAST, 1, 1, 1, direct, mish)                                                                        \
  MAP(Swish, 24, LAST, 1, 1, 1, swish, ATTR("alpha", FLOAT, "alpha", 1))                                           \
  MAP(SwiGLU, 28, LAST, 2, 2, 1, swiglu, ATTR("alpha", FLOAT, "alpha", 1))                                         \
  READ(Shrink, 9, LAST, 1, 1, 1, shrink, NONE, ATTR("lambd", FLOAT, "lambd", 0.5), ATTR("bias", FLOAT, "bias", 0)) \
  OP(Softmax, 1, LAST, 1, 1, 1, softmax, softmax)                                                                  \
  OP(LogSoftmax, 1, LAST, 1, 1, 1, softmax, log_softmax)                                                           \
  OP(Hardmax, 1, LAST, 1, 1, 1, softmax, hardmax)

ND4C_ONNX_FAMILY(activation, "", ROWS)

#define MICROSOFT_ROWS                                                          \
  OP(Gelu, 1, LAST, 1, 1, 1, bias_gelu, gelu)                                   \
  CHAIN(BiasGelu, 1, LAST, 2, 2, 1, bias_gelu, NONE, "add, gelu")               \
  CHAIN(FastGelu, 1, LAST, 1, 2, 1, fast_gelu, NONE, "add, gelu (approximate)") \
  MAP(QuickGelu, 1, LAST, 1, 1, 1, swish, ATTR("alpha", FLOAT, "alpha", 1.702))

ND4C_ONNX_FAMILY(activation_microsoft, "com.microsoft", MICROSOFT_ROWS)
