/* Losses, and the steps of optimisers in ai.onnx.preview.training. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/family.h"

/* reduction, and ignore_index: INT64_MIN, which no target is, if there is none. */
static nd4c_status read_loss(nd4c_onnx_emission *emission, nd4c_attr *attrs) {
  static const char *const names[] = {"none", "sum", "mean"};
  int64_t reduction = 0, ignored = INT64_MIN;
  nd4c_span name;
  ND4C_TRY(nd4c_onnx_get_text(emission, "reduction", "mean", &name));
  ND4C_TRY(nd4c_onnx_get_int(emission, "ignore_index", INT64_MIN, &ignored));
  while (reduction < 3 && !nd4c_span_is(name, names[reduction])) {
    reduction++;
  }
  if (reduction == 3) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'reduction' is %s, expected none, sum or mean", nd4c_span_show(name).text);
  }
  attrs[0] = nd4c_attr_of_int("reduction", reduction);
  attrs[1] = nd4c_attr_of_int("ignore_index", ignored);
  return ND4C_OK;
}

static nd4c_status emit_nll(nd4c_onnx_emission *emission) {
  nd4c_attr attrs[2];
  ND4C_TRY(read_loss(emission, attrs));
  return nd4c_emit(&emission->emitter, ND4C_OP_nll_loss, emission->inputs, emission->input_count, attrs, 2,
                   &emission->outputs[0]);
}

static nd4c_status emit_cross_entropy(nd4c_onnx_emission *emission) {
  nd4c_attr attrs[2];
  ND4C_TRY(read_loss(emission, attrs));
  return nd4c_emit_outputs(&emission->emitter, ND4C_OP_softmax_cross_entropy, emission->inputs, emission->input_count,
                           attrs, 2, emission->outputs, 2);
}

/* -- optimisers: rate, step, all tensors, all their gradients, all states of one kind, ... ------------------------ */

enum { STATES_MOST = 2 };

/* The rate and the step may be arrays of one number. */
static nd4c_status read_scalars(nd4c_onnx_emission *emission, nd4c_onnx_operand *scalars) {
  for (int32_t i = 0; i < 2; i++) {
    ND4C_TRY(nd4c_emit_reshape(&emission->emitter, emission->inputs[i], 0, NULL, &scalars[i]));
  }
  return ND4C_OK;
}

static nd4c_status emit_optimizer(nd4c_onnx_emission *emission, nd4c_op op, int32_t states, const nd4c_attr *attrs,
                                  int32_t attr_count) {
  nd4c_onnx_operand scalars[2];
  int32_t each = 2 + states, count = (emission->input_count - 2) / each;
  if ((emission->input_count - 2) % each != 0 || emission->node->output_count > (1 + states) * count) {
    return nd4c_fail(ND4C_FORMAT, "%d inputs and %d outputs; expected the rate, the step and %d for each tensor",
                     (int)emission->input_count, (int)emission->node->output_count, (int)each);
  }
  ND4C_TRY(read_scalars(emission, scalars));
  for (int32_t i = 0; i < count; i++) {
    nd4c_onnx_operand inputs[4 + STATES_MOST], outputs[1 + STATES_MOST];
    for (int32_t j = 0; j < each; j++) {
      inputs[j] = emission->inputs[2 + j * count + i];
    }
    inputs[each] = scalars[0];
    inputs[each + 1] = scalars[1];
    ND4C_TRY(nd4c_emit_outputs(&emission->emitter, op, inputs, each + 2, attrs, attr_count, outputs, 1 + states));
    for (int32_t j = 0; j <= states; j++) {
      if (j * count + i < emission->node->output_count) {
        emission->outputs[j * count + i] = outputs[j];
      }
    }
  }
  return ND4C_OK;
}

/* Attributes by ONNX's names and nd4c's. */
typedef struct float_attribute {
  const char *onnx, *name;
  double preset;
} float_attribute;

static nd4c_status read_floats(nd4c_onnx_emission *emission, const float_attribute *list, int32_t count,
                               nd4c_attr *attrs) {
  for (int32_t i = 0; i < count; i++) {
    double value = 0;
    ND4C_TRY(nd4c_onnx_get_float(emission, list[i].onnx, list[i].preset, &value));
    attrs[i] = nd4c_attr_of_float(list[i].name, value);
  }
  return ND4C_OK;
}

static nd4c_status emit_adagrad(nd4c_onnx_emission *emission) {
  static const float_attribute list[] = {
      {"norm_coefficient", "decay", 0}, {"decay_factor", "rate_decay", 0}, {"epsilon", "epsilon", 1e-6}};
  nd4c_attr attrs[3];
  ND4C_TRY(read_floats(emission, list, 3, attrs));
  return emit_optimizer(emission, ND4C_OP_adagrad_step, 1, attrs, 3);
}

static nd4c_status emit_adam(nd4c_onnx_emission *emission) {
  static const float_attribute list[] = {{"norm_coefficient", "decay", 0},
                                         {"norm_coefficient_post", "decay_after", 0},
                                         {"alpha", "alpha", 0.9},
                                         {"beta", "beta", 0.999},
                                         {"epsilon", "epsilon", 1e-6}};
  nd4c_attr attrs[5];
  ND4C_TRY(read_floats(emission, list, 5, attrs));
  return emit_optimizer(emission, ND4C_OP_adam_step, 2, attrs, 5);
}

static nd4c_status emit_momentum(nd4c_onnx_emission *emission) {
  static const float_attribute list[] = {{"norm_coefficient", "decay", 0}, {"alpha", "alpha", 0}, {"beta", "beta", 0}};
  nd4c_attr attrs[4];
  nd4c_span mode;
  ND4C_TRY(read_floats(emission, list, 3, attrs));
  ND4C_TRY(nd4c_onnx_get_text(emission, "mode", "standard", &mode));
  bool nesterov = nd4c_span_is(mode, "nesterov");
  if (!nesterov && !nd4c_span_is(mode, "standard")) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'mode' is %s, expected standard or nesterov", nd4c_span_show(mode).text);
  }
  attrs[3] = nd4c_attr_of_bool("nesterov", nesterov);
  return emit_optimizer(emission, ND4C_OP_momentum_step, 1, attrs, 4);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                  \
  OP(NegativeLogLikelihoodLoss, 12, LAST, 2, 3, 1, nll, NONE) \
  OP(SoftmaxCrossEntropyLoss, 12, LAST, 2, 3, 2, cross_entropy, NONE)

ND4C_ONNX_FAMILY(loss, "", ROWS)
#define TRAINING_ROWS                              \
  OP(Adagrad, 1, LAST, 5, ANY, ANY, adagrad, NONE) \
  OP(Adam, 1, LAST, 6, ANY, ANY, adam, NONE)       \
  OP(Momentum, 1, LAST, 5, ANY, ANY, momentum, NONE)

ND4C_ONNX_FAMILY(training, "ai.onnx.preview.training", TRAINING_ROWS)
