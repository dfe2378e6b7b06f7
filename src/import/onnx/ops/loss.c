/* Losses, and the steps of optimisers in ai.onnx.preview.training. emission/scope.c calls the emit functions through
 * the rows below. */
#include "base/status.h"
#include "import/onnx/family.h"

static const char *const reductions[] = {"none", "sum", "mean", NULL};
static const char *const momenta[] = {"standard", "nesterov", NULL};

/* ignore_index: without the attribute INT64_MIN, which is never a target. */
#define LOSS_RULES WORDS("reduction", "reduction", 2, reductions), ATTR("ignore_index", INT, "ignore_index", INT64_MIN)

/* -- optimisers: rate, step, all tensors, all their gradients, all states of one kind, ... ------------------------ */

enum { STATES_MOST = 2 };

/* The rate and the step may be arrays of one number. */
static nd4c_status read_scalars(nd4c_onnx_emission *emission, nd4c_onnx_operand *scalars) {
  for (int32_t i = 0; i < 2; i++) {
    ND4C_TRY(nd4c_emit_reshape(&emission->emitter, emission->inputs[i], 0, NULL, &scalars[i]));
  }
  return ND4C_OK;
}

/* The row's op on each tensor; its op has an output for the tensor and for each of its states. */
static nd4c_status emit_optimizer(nd4c_onnx_emission *emission) {
  nd4c_op op = emission->node->mapping->op;
  int32_t states = nd4c_op_get(op)->output_count - 1;
  nd4c_onnx_attrs attrs;
  nd4c_onnx_operand scalars[2];
  int32_t each = 2 + states, count = (emission->input_count - 2) / each;
  if ((emission->input_count - 2) % each != 0 || emission->node->output_count > (1 + states) * count) {
    return nd4c_fail(ND4C_FORMAT, "%d inputs and %d outputs; expected the rate, the step and %d for each tensor",
                     (int)emission->input_count, (int)emission->node->output_count, (int)each);
  }
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(read_scalars(emission, scalars));
  for (int32_t i = 0; i < count; i++) {
    nd4c_onnx_operand inputs[4 + STATES_MOST], outputs[1 + STATES_MOST];
    for (int32_t j = 0; j < each; j++) {
      inputs[j] = emission->inputs[2 + j * count + i];
    }
    inputs[each] = scalars[0];
    inputs[each + 1] = scalars[1];
    ND4C_TRY(nd4c_emit_outputs(&emission->emitter, op, inputs, each + 2, attrs.list, attrs.count, outputs, 1 + states));
    for (int32_t j = 0; j <= states; j++) {
      if (j * count + i < emission->node->output_count) {
        emission->outputs[j * count + i] = outputs[j];
      }
    }
  }
  return ND4C_OK;
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                              \
  MAP(NegativeLogLikelihoodLoss, 12, LAST, 2, 3, 1, nll_loss, LOSS_RULES) \
  MAP(SoftmaxCrossEntropyLoss, 12, LAST, 2, 3, 2, softmax_cross_entropy, LOSS_RULES)

ND4C_ONNX_FAMILY(loss, "", ROWS)

#define TRAINING_ROWS                                                                                         \
  READ(Adagrad, 1, LAST, 5, ANY, ANY, optimizer, adagrad_step, ATTR("norm_coefficient", FLOAT, "decay", 0),   \
       ATTR("decay_factor", FLOAT, "rate_decay", 0), ATTR("epsilon", FLOAT, "epsilon", 1e-6))                 \
  READ(Adam, 1, LAST, 6, ANY, ANY, optimizer, adam_step, ATTR("norm_coefficient", FLOAT, "decay", 0),         \
       ATTR("norm_coefficient_post", FLOAT, "decay_after", 0), ATTR("alpha", FLOAT, "alpha", 0.9),            \
       ATTR("beta", FLOAT, "beta", 0.999), ATTR("epsilon", FLOAT, "epsilon", 1e-6))                           \
  READ(Momentum, 1, LAST, 5, ANY, ANY, optimizer, momentum_step, ATTR("norm_coefficient", FLOAT, "decay", 0), \
       ATTR("alpha", FLOAT, "alpha", 0), ATTR("beta", FLOAT, "beta", 0), WORDS("mode", "nesterov", 0, momenta))

ND4C_ONNX_FAMILY(training, "ai.onnx.preview.training", TRAINING_ROWS)
