/* Implements fused.h. The emit functions of operators of com.microsoft call it. */
#include "import/onnx/emission/fused.h"

#include <inttypes.h>
#include <math.h>

#include "base/status.h"

/* -- activations --------------------------------------------------------------------------------------------------- */

/* An activation with its parameters: nd4c's names, and ONNX's defaults. */
typedef struct activation {
  const char *name;
  nd4c_op op;
  const char *parameters[2];
  double presets[2];
} activation;

static const activation activations[] = {
    {.name = "Relu", .op = ND4C_OP_relu},
    {.name = "Tanh", .op = ND4C_OP_tanh},
    {.name = "Sigmoid", .op = ND4C_OP_sigmoid},
    {.name = "Softplus", .op = ND4C_OP_softplus},
    {.name = "Softsign", .op = ND4C_OP_softsign},
    {.name = "LeakyRelu", .op = ND4C_OP_leaky_relu, .parameters = {"alpha"}, .presets = {0.01}},
    {.name = "Elu", .op = ND4C_OP_elu, .parameters = {"alpha"}, .presets = {1}},
    {.name = "Celu", .op = ND4C_OP_celu, .parameters = {"alpha"}, .presets = {1}},
    {.name = "ThresholdedRelu", .op = ND4C_OP_threshold, .parameters = {"threshold"}, .presets = {1}},
    {.name = "HardSigmoid", .op = ND4C_OP_hard_sigmoid, .parameters = {"alpha", "beta"}, .presets = {0.2, 0.5}},
    {.name = "Clip", .op = ND4C_OP_clip},
};

/* A bound that is left out is none. */
static nd4c_status clip(nd4c_onnx_emission *emission, nd4c_onnx_operand x, const double *bounds, nd4c_onnx_operand *y) {
  nd4c_onnx_operand operands[3] = {x, ND4C_ONNX_OPERAND_NONE, ND4C_ONNX_OPERAND_NONE};
  for (int32_t i = 0; i < 2; i++) {
    if (!isnan(bounds[i])) {
      ND4C_TRY(nd4c_emit_scalar_like(&emission->emitter, x, bounds[i], &operands[1 + i]));
    }
  }
  return nd4c_emit(&emission->emitter, ND4C_OP_clip, operands, 3, NULL, 0, y);
}

nd4c_status nd4c_onnx_emit_activation(nd4c_onnx_emission *emission, nd4c_onnx_operand x,
                                      const double numbers[ND4C_ONNX_ACTIVATION_NUMBERS], nd4c_onnx_operand *y) {
  nd4c_span name;
  nd4c_attr attrs[2];
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_text(emission, "activation", "", &name));
  *y = x;
  if (name.size == 0) {
    return ND4C_OK;
  }
  for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
    const activation *row = &activations[i];
    if (!nd4c_span_is(name, row->name)) {
      continue;
    }
    if (row->op == ND4C_OP_clip) {
      return clip(emission, x, numbers, y);
    }
    for (; count < 2 && row->parameters[count] != NULL; count++) {
      const double number = isnan(numbers[count]) ? row->presets[count] : numbers[count];
      attrs[count] = nd4c_attr_of_float(row->parameters[count], number);
    }
    return nd4c_emit(&emission->emitter, row->op, &x, 1, attrs, count, y);
  }
  return nd4c_fail(ND4C_UNSUPPORTED, "attribute 'activation' is %s, which nd4c does not know here",
                   nd4c_span_show(name).text);
}

/* -- parts --------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_onnx_emit_parts(nd4c_onnx_emission *emission, nd4c_onnx_operand x, int32_t count,
                                 const int64_t *lengths, nd4c_onnx_operand *parts) {
  int64_t start = 0;
  for (int32_t i = 0; i < count; i++) {
    int64_t stop = 0;
    ND4C_TRY(nd4c_onnx_extent_sum(emission, start, lengths[i], &stop));
    ND4C_TRY(nd4c_emit_slice(&emission->emitter, x, -1, start, stop, 1, &parts[i]));
    start = stop;
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_split_heads(nd4c_onnx_emission *emission, nd4c_onnx_operand x, int64_t heads,
                                  nd4c_onnx_operand *y) {
  static const int64_t order[] = {0, 2, 1, 3};
  const nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, x);
  const int64_t shape[4] = {info.shape[0], info.shape[1], heads, -1};
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, x, 4, shape, y));
  return nd4c_emit_axes(&emission->emitter, ND4C_OP_transpose, *y, 4, order, y);
}

nd4c_status nd4c_onnx_join_heads(nd4c_onnx_emission *emission, nd4c_onnx_operand x, nd4c_onnx_operand *y) {
  static const int64_t order[] = {0, 2, 1, 3};
  const nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, x);
  const int64_t shape[3] = {info.shape[0], info.shape[2], -1};
  ND4C_TRY(nd4c_emit_axes(&emission->emitter, ND4C_OP_transpose, x, 4, order, y));
  return nd4c_emit_reshape(&emission->emitter, *y, 3, shape, y);
}

/* -- what is required and refused
 * ----------------------------------------------------------------------------------------------- */

nd4c_status nd4c_onnx_require_input(nd4c_onnx_emission *emission, int32_t index, nd4c_onnx_operand *operand) {
  *operand = nd4c_onnx_input(emission, index);
  return *operand != ND4C_ONNX_OPERAND_NONE ? ND4C_OK
                                            : nd4c_fail(ND4C_FORMAT, "input %d is left out, but required", (int)index);
}

nd4c_status nd4c_onnx_refuse_inputs(nd4c_onnx_emission *emission, int32_t first, int32_t last, const char *what) {
  for (int32_t i = first; i <= last; i++) {
    if (nd4c_onnx_input(emission, i) != ND4C_ONNX_OPERAND_NONE) {
      return nd4c_fail(ND4C_UNSUPPORTED, "input %d is given; nd4c has no %s here", (int)i, what);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_refuse_outputs(nd4c_onnx_emission *emission, int32_t first, int32_t last, const char *what) {
  for (int32_t i = first; i <= last; i++) {
    if (nd4c_onnx_wants(emission, i)) {
      return nd4c_fail(ND4C_UNSUPPORTED, "output %d is read; nd4c does not make the %s here", (int)i, what);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_refuse_int(nd4c_onnx_emission *emission, const char *name, int64_t known) {
  int64_t value = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, name, known, &value));
  return value == known ? ND4C_OK
                        : nd4c_fail(ND4C_UNSUPPORTED, "attribute '%s' is %" PRId64 "; nd4c knows only %" PRId64 " here",
                                    name, value, known);
}
