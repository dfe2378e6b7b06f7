/* Activations. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/family.h"

static nd4c_status emit_leaky_relu(nd4c_onnx_emission *emission) {
  double alpha = 0;
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(nd4c_onnx_get_float(emission, "alpha", 0.01, &alpha));
  nd4c_attr attr = nd4c_attr_of_float("alpha", alpha);
  return nd4c_emit(&emission->emitter, ND4C_OP_leaky_relu, emission->inputs, 1, &attr, 1, &emission->outputs[0]);
}

static nd4c_status emit_gelu(nd4c_onnx_emission *emission) {
  nd4c_span approximate;
  ND4C_TRY(nd4c_onnx_get_text(emission, "approximate", "none", &approximate));
  bool is_tanh = nd4c_span_is(approximate, "tanh");
  if (!is_tanh && !nd4c_span_is(approximate, "none")) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'approximate' is %s, expected 'none' or 'tanh'",
                     nd4c_span_show(approximate).text);
  }
  nd4c_attr attr = nd4c_attr_of_bool("approximate", is_tanh);
  return nd4c_emit(&emission->emitter, ND4C_OP_gelu, emission->inputs, 1, &attr, 1, &emission->outputs[0]);
}

/* The row's op on the first input with up to two attributes of the node. A preset in text, since an attribute's name
 * may differ from nd4c's. */
typedef struct parameter {
  const char *onnx_name, *name;
  double preset;
} parameter;

static nd4c_status with_parameters(nd4c_onnx_emission *emission, int32_t count, const parameter *parameters) {
  nd4c_attr attrs[2];
  nd4c_onnx_ignore(emission, "consumed_inputs");
  for (int32_t i = 0; i < count; i++) {
    double value = 0;
    ND4C_TRY(nd4c_onnx_get_float(emission, parameters[i].onnx_name, parameters[i].preset, &value));
    attrs[i] = nd4c_attr_of_float(parameters[i].name, value);
  }
  return nd4c_emit(&emission->emitter, emission->node->mapping->op, emission->inputs, emission->input_count, attrs,
                   count, &emission->outputs[0]);
}

/* Elu, Celu, Swish, SwiGLU. */
static nd4c_status emit_alpha(nd4c_onnx_emission *emission) {
  return with_parameters(emission, 1, (const parameter[]){{"alpha", "alpha", 1}});
}

static nd4c_status emit_hard_sigmoid(nd4c_onnx_emission *emission) {
  return with_parameters(emission, 2, (const parameter[]){{"alpha", "alpha", 0.2}, {"beta", "beta", 0.5}});
}

static nd4c_status emit_selu(nd4c_onnx_emission *emission) {
  bool old = emission->opset < 6;
  return with_parameters(emission, 2,
                         (const parameter[]){{"alpha", "alpha", old ? 1.6732 : 1.67326319217681884765625},
                                             {"gamma", "gamma", old ? 1.0507 : 1.05070102214813232421875}});
}

static nd4c_status emit_thresholded_relu(nd4c_onnx_emission *emission) {
  return with_parameters(emission, 1, (const parameter[]){{"alpha", "threshold", 1}});
}

/* Integers, which ONNX takes too, as float64: exact up to 2^53. */
static nd4c_status emit_shrink(nd4c_onnx_emission *emission) {
  double lambd = 0;
  double bias = 0;
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, x).dtype;
  nd4c_dtype_kind kind = nd4c_dtype_get_info(dtype)->kind;
  ND4C_TRY(nd4c_onnx_get_float(emission, "lambd", 0.5, &lambd));
  ND4C_TRY(nd4c_onnx_get_float(emission, "bias", 0, &bias));
  if (kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT) {
    ND4C_TRY(nd4c_emit_cast(&emission->emitter, x, ND4C_FLOAT64, &x));
  }
  nd4c_attr attrs[] = {nd4c_attr_of_float("lambd", lambd), nd4c_attr_of_float("bias", bias)};
  ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_shrink, &x, 1, attrs, 2, &x));
  return nd4c_emit_cast(&emission->emitter, x, dtype, &emission->outputs[0]);
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

/* The axis of Softmax as the file has it: before opset 11 ONNX set no bounds, and the one axis may also begin behind
 * the last. A scalar's is left to the op. */
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
    nd4c_attr attr = nd4c_attr_of_int("axis", positive);
    ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_flatten, &x, 1, &attr, 1, &x));
    positive = 1;
  }
  nd4c_attr attr = nd4c_attr_of_int("axis", positive);
  ND4C_TRY(nd4c_emit(&emission->emitter, emission->node->mapping->op, &x, 1, &attr, 1, &emission->outputs[0]));
  return reshaped
             ? nd4c_emit_reshape(&emission->emitter, emission->outputs[0], info.rank, info.shape, &emission->outputs[0])
             : ND4C_OK;
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS(X)                                                      \
  X(Tanh, 1, LAST, 1, 1, 1, direct, tanh)                            \
  X(Sigmoid, 1, LAST, 1, 1, 1, direct, sigmoid)                      \
  X(Relu, 1, LAST, 1, 1, 1, direct, relu)                            \
  X(LeakyRelu, 1, LAST, 1, 1, 1, leaky_relu, NONE)                   \
  X(PRelu, 1, LAST, 2, 2, 1, prelu, NONE)                            \
  X(ThresholdedRelu, 10, LAST, 1, 1, 1, thresholded_relu, threshold) \
  X(Elu, 1, LAST, 1, 1, 1, alpha, elu)                               \
  X(Selu, 1, LAST, 1, 1, 1, selu, selu)                              \
  X(Celu, 12, LAST, 1, 1, 1, alpha, celu)                            \
  X(Gelu, 20, LAST, 1, 1, 1, gelu, NONE)                             \
  X(HardSigmoid, 1, LAST, 1, 1, 1, hard_sigmoid, hard_sigmoid)       \
  X(HardSwish, 14, LAST, 1, 1, 1, direct, hard_swish)                \
  X(Softplus, 1, LAST, 1, 1, 1, direct, softplus)                    \
  X(Softsign, 1, LAST, 1, 1, 1, direct, softsign)                    \
  X(Mish, 18, LAST, 1, 1, 1, direct, mish)                           \
  X(Swish, 24, LAST, 1, 1, 1, alpha, swish)                          \
  X(SwiGLU, 28, LAST, 2, 2, 1, alpha, swiglu)                        \
  X(Shrink, 9, LAST, 1, 1, 1, shrink, NONE)                          \
  X(Softmax, 1, LAST, 1, 1, 1, softmax, softmax)                     \
  X(LogSoftmax, 1, LAST, 1, 1, 1, softmax, log_softmax)              \
  X(Hardmax, 1, LAST, 1, 1, 1, softmax, hardmax)

ND4C_ONNX_FAMILY(activation, "", ROWS)
