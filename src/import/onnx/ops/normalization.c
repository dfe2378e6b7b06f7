/* Normalisations. emission/scope.c calls the emit functions through the rows below. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

/* Normalises by the statistics of x. The running statistics may have another dtype than x. */
static nd4c_status batch_norm_training(nd4c_onnx_emission *emission, double epsilon, double momentum) {
  nd4c_onnx_operand inputs[5];
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).dtype;
  nd4c_dtype running = nd4c_emitted_get(&emission->emitter, emission->inputs[3]).dtype;
  for (int32_t i = 0; i < 5; i++) {
    ND4C_TRY(nd4c_emit_cast(&emission->emitter, emission->inputs[i], dtype, &inputs[i]));
  }
  nd4c_attr attrs[] = {nd4c_attr_of_float("epsilon", epsilon), nd4c_attr_of_float("momentum", momentum)};
  ND4C_TRY(
      nd4c_emit_outputs(&emission->emitter, ND4C_OP_batch_norm_training, inputs, 5, attrs, 2, emission->outputs, 3));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, emission->outputs[1], running, &emission->outputs[1]));
  return nd4c_emit_cast(&emission->emitter, emission->outputs[2], running, &emission->outputs[2]);
}

static nd4c_status emit_batch_norm(nd4c_onnx_emission *emission) {
  enum { TEST_FLAG_UNTIL = 6, TRAINING_SINCE = 14 };
  double epsilon = 0;
  double momentum = 0;
  int64_t spatial = 0;
  int64_t training = 0;
  int64_t test = 0;
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(nd4c_onnx_get_float(emission, "epsilon", 1e-5, &epsilon));
  ND4C_TRY(nd4c_onnx_get_float(emission, "momentum", 0.9, &momentum));
  ND4C_TRY(nd4c_onnx_get_int(emission, "spatial", 1, &spatial));
  ND4C_TRY(nd4c_onnx_get_int(emission, "training_mode", 0, &training));
  ND4C_TRY(nd4c_onnx_get_int(emission, "is_test", emission->opset <= TEST_FLAG_UNTIL ? 0 : 1, &test));
  if (spatial == 0 || test == 0 || (training == 0 && emission->node->output_count > 1)) {
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "batch normalisation %s; nd4c has the one by channel, for inference and, from "
                     "opset %d on, for training",
                     spatial == 0 ? "by element (spatial = 0)" : "in an older training mode", TRAINING_SINCE);
  }
  if (training != 0) {
    return batch_norm_training(emission, epsilon, momentum);
  }
  nd4c_attr attr = nd4c_attr_of_float("epsilon", epsilon);
  return nd4c_emit(&emission->emitter, ND4C_OP_batch_norm, emission->inputs, 5, &attr, 1, &emission->outputs[0]);
}

static nd4c_status emit_instance_norm(nd4c_onnx_emission *emission) {
  double epsilon = 0;
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(nd4c_onnx_get_float(emission, "epsilon", 1e-5, &epsilon));
  return nd4c_compose_instance_norm(&emission->emitter, emission->inputs[0], emission->inputs[1], emission->inputs[2],
                                    epsilon, &emission->outputs[0]);
}

static nd4c_status emit_layer_norm(nd4c_onnx_emission *emission) {
  bool more = nd4c_onnx_wants(emission, 1) || nd4c_onnx_wants(emission, 2);
  nd4c_dtype dtype = ND4C_DTYPE_NONE; /* of the statistics; they are computed in f64 */
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(nd4c_onnx_get_dtype(emission, "stash_type", ND4C_FLOAT32, &dtype));
  if (more) {
    nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_dtype("dtype", dtype));
  }
  return nd4c_onnx_emit_attrs(emission, more ? ND4C_OP_layer_norm_with_statistics : ND4C_OP_layer_norm,
                              emission->inputs, emission->input_count, &attrs);
}

static nd4c_status emit_rms_norm(nd4c_onnx_emission *emission) {
  double epsilon = 0;
  int64_t axis = 0;
  int32_t fixed = 0;
  nd4c_onnx_ignore(emission, "stash_type");
  ND4C_TRY(nd4c_onnx_get_float(emission, "epsilon", 1e-5, &epsilon));
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", -1, &axis));
  ND4C_TRY(nd4c_onnx_fix_axis(emission, emission->inputs[0], axis, &fixed));
  return nd4c_compose_rms_norm(&emission->emitter, emission->inputs[0], emission->inputs[1], fixed, epsilon,
                               &emission->outputs[0]);
}

static nd4c_status emit_group_norm(nd4c_onnx_emission *emission) {
  enum { BY_CHANNEL_SINCE = 21 };
  nd4c_onnx_attrs attrs;
  nd4c_onnx_operand inputs[3] = {emission->inputs[0], emission->inputs[1], emission->inputs[2]};
  nd4c_emitted_info x = nd4c_emitted_get(&emission->emitter, inputs[0]);
  nd4c_emitted_info scale = nd4c_emitted_get(&emission->emitter, inputs[1]);
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  int64_t groups = attrs.list[0].value.as.i;
  if (emission->opset < BY_CHANNEL_SINCE && x.rank > 1) {
    ND4C_TRY(nd4c_onnx_check_number(emission, x.shape[1], "the number of channels"));
  }
  if (emission->opset < BY_CHANNEL_SINCE) { /* scale and bias have one value for each group */
    if (groups < 1 || x.rank < 2 || x.shape[1] % groups != 0 || scale.rank != 1 || scale.shape[0] != groups) {
      return nd4c_fail(ND4C_SHAPE,
                       "num_groups is %" PRId64
                       "; expected a divisor of the channels, and a scale and "
                       "bias for each group",
                       groups);
    }
    ND4C_TRY(nd4c_compose_repeat(&emission->emitter, inputs[1], 0, x.shape[1] / groups, &inputs[1]));
    ND4C_TRY(nd4c_compose_repeat(&emission->emitter, inputs[2], 0, x.shape[1] / groups, &inputs[2]));
  }
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_group_norm, inputs, 3, &attrs);
}

static nd4c_status emit_standardize(nd4c_onnx_emission *emission) {
  static const int64_t preset[] = {0, 2, 3};
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  if (nd4c_onnx_attribute_find(emission, "axes") == NULL) {
    nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_ints("axes", preset, 3));
  }
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_float("epsilon", 1e-9)); /* of ONNX's own definition */
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_standardize, emission->inputs, 1, &attrs);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                                    \
  OP(BatchNormalization, 1, LAST, 5, 5, 3, batch_norm, NONE)                                                    \
  OP(InstanceNormalization, 1, LAST, 3, 3, 1, instance_norm, NONE)                                              \
  READ(LayerNormalization, 1, LAST, 2, 3, 3, layer_norm, NONE, ATTR("axis", INT, "axis", -1),                   \
       ATTR("epsilon", FLOAT, "epsilon", 1e-5))                                                                 \
  OP(RMSNormalization, 23, LAST, 2, 2, 1, rms_norm, NONE)                                                       \
  OP(SimplifiedLayerNormalization, 1, LAST, 2, 2, 1, rms_norm, NONE)                                            \
  READ(GroupNormalization, 18, LAST, 3, 3, 1, group_norm, NONE, ATTR("num_groups", INT, "groups", 0),           \
       ATTR("epsilon", FLOAT, "epsilon", 1e-5), IGNORE("stash_type"))                                           \
  MAP(LpNormalization, 1, LAST, 1, 1, 1, lp_normalize, ATTR("axis", INT, "axis", -1), ATTR("p", WHOLE, "p", 2)) \
  READ(MeanVarianceNormalization, 9, LAST, 1, 1, 1, standardize, NONE, ATTR("axes", INTS, "axes", 0))           \
  MAP(LRN, 1, LAST, 1, 1, 1, lrn, ATTR("size", INT, "size", REQUIRED), ATTR("alpha", FLOAT, "alpha", 1e-4),     \
      ATTR("beta", FLOAT, "beta", 0.75), ATTR("bias", FLOAT, "bias", 1))

ND4C_ONNX_FAMILY(normalization, "", ROWS)
