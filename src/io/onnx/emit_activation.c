/* Activations: one nd4c op, or a composition. */
#include <inttypes.h>
#include <math.h>

#include "base/status.h"
#include "io/onnx/family.h"

#define UNARY(op, x, y) ND4C_TRY(nd4c_onnx_emit_unary(emission, ND4C_OP_##op, x, y))
#define BINARY(op, a, b, y) ND4C_TRY(nd4c_onnx_emit_binary(emission, ND4C_OP_##op, a, b, y))

static nd4c_status emit_leaky_relu(nd4c_onnx_emission *emission) {
  double alpha = 0;
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(nd4c_onnx_get_float(emission, "alpha", 0.01, &alpha));
  nd4c_attr attr = nd4c_attr_of_float("alpha", alpha);
  return nd4c_onnx_emit(emission, ND4C_OP_leaky_relu, emission->inputs, 1, &attr, 1, &emission->outputs[0]);
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
  return nd4c_onnx_emit(emission, ND4C_OP_gelu, emission->inputs, 1, &attr, 1, &emission->outputs[0]);
}

/* clip(alpha * x + beta, 0, 1) */
static nd4c_status hard_sigmoid(nd4c_onnx_emission *emission, double alpha, double beta, nd4c_onnx_operand *y) {
  nd4c_onnx_operand operands[3];
  ND4C_TRY(nd4c_onnx_emit_with_scalar(emission, ND4C_OP_multiply, emission->inputs[0], alpha, &operands[0]));
  ND4C_TRY(nd4c_onnx_emit_with_scalar(emission, ND4C_OP_add, operands[0], beta, &operands[0]));
  ND4C_TRY(nd4c_onnx_scalar_like(emission, operands[0], 0, &operands[1]));
  ND4C_TRY(nd4c_onnx_scalar_like(emission, operands[0], 1, &operands[2]));
  return nd4c_onnx_emit(emission, ND4C_OP_clip, operands, 3, NULL, 0, y);
}

static nd4c_status emit_hard_sigmoid(nd4c_onnx_emission *emission) {
  double alpha = 0;
  double beta = 0;
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(nd4c_onnx_get_float(emission, "alpha", 0.2, &alpha));
  ND4C_TRY(nd4c_onnx_get_float(emission, "beta", 0.5, &beta));
  return hard_sigmoid(emission, alpha, beta, &emission->outputs[0]);
}

static nd4c_status emit_hard_swish(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand gate = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(hard_sigmoid(emission, 1.0 / 6, 0.5, &gate));
  return nd4c_onnx_emit_binary(emission, ND4C_OP_multiply, emission->inputs[0], gate, &emission->outputs[0]);
}

/* relu(x) + alpha * (e^(min(x, 0) / divisor) - 1): the exponential linear units. */
static nd4c_status exponential_unit(nd4c_onnx_emission *emission, double alpha, double divisor, nd4c_onnx_operand *y) {
  nd4c_onnx_operand positive = ND4C_ONNX_OPERAND_NONE;
  nd4c_onnx_operand negative = ND4C_ONNX_OPERAND_NONE;
  UNARY(relu, emission->inputs[0], &positive);
  ND4C_TRY(nd4c_onnx_emit_with_scalar(emission, ND4C_OP_minimum, emission->inputs[0], 0, &negative));
  if (divisor != 1) {
    ND4C_TRY(nd4c_onnx_emit_with_scalar(emission, ND4C_OP_divide, negative, divisor, &negative));
  }
  UNARY(exp, negative, &negative);
  ND4C_TRY(nd4c_onnx_emit_with_scalar(emission, ND4C_OP_subtract, negative, 1, &negative));
  ND4C_TRY(nd4c_onnx_emit_with_scalar(emission, ND4C_OP_multiply, negative, alpha, &negative));
  return nd4c_onnx_emit_binary(emission, ND4C_OP_add, positive, negative, y);
}

static nd4c_status emit_elu(nd4c_onnx_emission *emission) {
  double alpha = 0;
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(nd4c_onnx_get_float(emission, "alpha", 1, &alpha));
  return exponential_unit(emission, alpha, 1, &emission->outputs[0]);
}

static nd4c_status emit_selu(nd4c_onnx_emission *emission) {
  double alpha = 0;
  double gamma = 0;
  nd4c_onnx_operand unit = ND4C_ONNX_OPERAND_NONE;
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(nd4c_onnx_get_float(emission, "alpha", emission->opset < 6 ? 1.6732 : 1.67326319217681884765625, &alpha));
  ND4C_TRY(nd4c_onnx_get_float(emission, "gamma", emission->opset < 6 ? 1.0507 : 1.05070102214813232421875, &gamma));
  ND4C_TRY(exponential_unit(emission, alpha, 1, &unit));
  return nd4c_onnx_emit_with_scalar(emission, ND4C_OP_multiply, unit, gamma, &emission->outputs[0]);
}

static nd4c_status emit_celu(nd4c_onnx_emission *emission) {
  double alpha = 0;
  ND4C_TRY(nd4c_onnx_get_float(emission, "alpha", 1, &alpha));
  return exponential_unit(emission, alpha, alpha, &emission->outputs[0]);
}

/* ln(1 + e^x) = relu(x) + ln(1 + e^-|x|), which does not overflow. */
static nd4c_status softplus(nd4c_onnx_emission *emission, nd4c_onnx_operand x, nd4c_onnx_operand *y) {
  nd4c_onnx_operand positive = ND4C_ONNX_OPERAND_NONE;
  nd4c_onnx_operand rest = ND4C_ONNX_OPERAND_NONE;
  UNARY(relu, x, &positive);
  UNARY(abs, x, &rest);
  UNARY(negative, rest, &rest);
  UNARY(exp, rest, &rest);
  ND4C_TRY(nd4c_onnx_emit_with_scalar(emission, ND4C_OP_add, rest, 1, &rest));
  UNARY(log, rest, &rest);
  return nd4c_onnx_emit_binary(emission, ND4C_OP_add, positive, rest, y);
}

static nd4c_status emit_softplus(nd4c_onnx_emission *emission) {
  return softplus(emission, emission->inputs[0], &emission->outputs[0]);
}

static nd4c_status emit_softsign(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand below = ND4C_ONNX_OPERAND_NONE;
  UNARY(abs, emission->inputs[0], &below);
  ND4C_TRY(nd4c_onnx_emit_with_scalar(emission, ND4C_OP_add, below, 1, &below));
  return nd4c_onnx_emit_binary(emission, ND4C_OP_divide, emission->inputs[0], below, &emission->outputs[0]);
}

static nd4c_status emit_mish(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand gate = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(softplus(emission, emission->inputs[0], &gate));
  UNARY(tanh, gate, &gate);
  return nd4c_onnx_emit_binary(emission, ND4C_OP_multiply, emission->inputs[0], gate, &emission->outputs[0]);
}

static nd4c_status emit_swish(nd4c_onnx_emission *emission) {
  double alpha = 0;
  nd4c_onnx_operand gate = emission->inputs[0];
  ND4C_TRY(nd4c_onnx_get_float(emission, "alpha", 1, &alpha));
  if (alpha != 1) {
    ND4C_TRY(nd4c_onnx_emit_with_scalar(emission, ND4C_OP_multiply, gate, alpha, &gate));
  }
  UNARY(sigmoid, gate, &gate);
  return nd4c_onnx_emit_binary(emission, ND4C_OP_multiply, emission->inputs[0], gate, &emission->outputs[0]);
}

static nd4c_status emit_prelu(nd4c_onnx_emission *emission) {
  enum { UNIDIRECTIONAL_SINCE = 7 };
  nd4c_onnx_operand positive = ND4C_ONNX_OPERAND_NONE;
  nd4c_onnx_operand negative = ND4C_ONNX_OPERAND_NONE;
  nd4c_onnx_operand slope = emission->inputs[1];
  nd4c_onnx_operand_info x = nd4c_onnx_operand_get(emission, emission->inputs[0]);
  nd4c_onnx_operand_info s = nd4c_onnx_operand_get(emission, slope);
  nd4c_onnx_ignore(emission, "consumed_inputs");
  if (emission->opset < UNIDIRECTIONAL_SINCE && s.rank == 1 && s.shape[0] != 1 && x.rank > 2) {
    for (int32_t i = 1; i < x.rank - 1; i++) {
      s.shape[i] = 1;
    }
    ND4C_TRY(nd4c_onnx_emit_reshape(emission, slope, x.rank - 1, s.shape, &slope));
  }
  ND4C_TRY(nd4c_onnx_emit_with_scalar(emission, ND4C_OP_maximum, emission->inputs[0], 0, &positive));
  ND4C_TRY(nd4c_onnx_emit_with_scalar(emission, ND4C_OP_minimum, emission->inputs[0], 0, &negative));
  BINARY(multiply, negative, slope, &negative);
  return nd4c_onnx_emit_binary(emission, ND4C_OP_add, positive, negative, &emission->outputs[0]);
}

static nd4c_status emit_thresholded_relu(nd4c_onnx_emission *emission) {
  double alpha = 0;
  nd4c_onnx_operand operands[3] = {ND4C_ONNX_OPERAND_NONE, emission->inputs[0], ND4C_ONNX_OPERAND_NONE};
  ND4C_TRY(nd4c_onnx_get_float(emission, "alpha", 1, &alpha));
  ND4C_TRY(nd4c_onnx_emit_with_scalar(emission, ND4C_OP_greater, emission->inputs[0], alpha, &operands[0]));
  ND4C_TRY(nd4c_onnx_scalar_like(emission, emission->inputs[0], 0, &operands[2]));
  return nd4c_onnx_emit(emission, ND4C_OP_where, operands, 3, NULL, 0, &emission->outputs[0]);
}

/* The axis of Softmax as the file has it: `flat` may also begin behind the last axis. A scalar's is left to the op. */
static nd4c_status check_softmax_axis(int64_t axis, int32_t rank, bool flat) {
  int32_t last = flat ? rank : rank - 1;
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
  nd4c_onnx_operand_info info = nd4c_onnx_operand_get(emission, x);
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", flat ? 1 : -1, &axis));
  ND4C_TRY(check_softmax_axis(axis, info.rank, flat));
  int64_t positive = axis < 0 ? axis + info.rank : axis;
  bool reshaped = flat && positive != info.rank - 1;
  if (reshaped) {
    nd4c_attr attr = nd4c_attr_of_int("axis", positive);
    ND4C_TRY(nd4c_onnx_emit(emission, ND4C_OP_flatten, &x, 1, &attr, 1, &x));
    positive = 1;
  }
  nd4c_attr attr = nd4c_attr_of_int("axis", positive);
  ND4C_TRY(nd4c_onnx_emit(emission, emission->node->mapping->op, &x, 1, &attr, 1, &emission->outputs[0]));
  return reshaped ? nd4c_onnx_emit_reshape(emission, emission->outputs[0], info.rank, info.shape, &emission->outputs[0])
                  : ND4C_OK;
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS(X)                                                 \
  X(Tanh, 1, LAST, 1, 1, 1, direct, tanh)                       \
  X(Sigmoid, 1, LAST, 1, 1, 1, direct, sigmoid)                 \
  X(Relu, 1, LAST, 1, 1, 1, direct, relu)                       \
  X(LeakyRelu, 1, LAST, 1, 1, 1, leaky_relu, NONE)              \
  X(PRelu, 1, LAST, 2, 2, 1, prelu, NONE)                       \
  X(ThresholdedRelu, 10, LAST, 1, 1, 1, thresholded_relu, NONE) \
  X(Elu, 1, LAST, 1, 1, 1, elu, NONE)                           \
  X(Selu, 1, LAST, 1, 1, 1, selu, NONE)                         \
  X(Celu, 12, LAST, 1, 1, 1, celu, NONE)                        \
  X(Gelu, 20, LAST, 1, 1, 1, gelu, NONE)                        \
  X(HardSigmoid, 1, LAST, 1, 1, 1, hard_sigmoid, NONE)          \
  X(HardSwish, 14, LAST, 1, 1, 1, hard_swish, NONE)             \
  X(Softplus, 1, LAST, 1, 1, 1, softplus, NONE)                 \
  X(Softsign, 1, LAST, 1, 1, 1, softsign, NONE)                 \
  X(Mish, 18, LAST, 1, 1, 1, mish, NONE)                        \
  X(Swish, 24, LAST, 1, 1, 1, swish, NONE)                      \
  X(Softmax, 1, LAST, 1, 1, 1, softmax, softmax)                \
  X(LogSoftmax, 1, LAST, 1, 1, 1, softmax, log_softmax)         \
  X(Hardmax, 1, LAST, 1, 1, 1, softmax, hardmax)

ND4C_ONNX_FAMILY(activation, "", ROWS)
