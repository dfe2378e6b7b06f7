/* Convolutions, pools and normalisations. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/emission/window.h"
#include "import/onnx/family.h"

static nd4c_status emit_conv(nd4c_onnx_emission *emission) {
  int64_t groups = 0;
  nd4c_onnx_window window;
  ND4C_TRY(nd4c_onnx_read_window(emission, &window));
  ND4C_TRY(nd4c_onnx_check_kernel_shape(emission));
  ND4C_TRY(nd4c_onnx_get_int(emission, "group", 1, &groups));
  window.attrs[window.count++] = nd4c_attr_of_int("groups", groups);
  return nd4c_emit(&emission->emitter, ND4C_OP_conv, emission->inputs, emission->input_count, window.attrs,
                   window.count, &emission->outputs[0]);
}

/* The indices count in all of x; they are made only if somebody may read them. */
static nd4c_status emit_max_pool(nd4c_onnx_emission *emission) {
  int64_t storage_order = 0;
  nd4c_onnx_window window;
  ND4C_TRY(nd4c_onnx_get_int(emission, "storage_order", 0, &storage_order));
  ND4C_TRY(nd4c_onnx_read_pool(emission, &window));
  if (!nd4c_onnx_wants(emission, 1)) {
    return nd4c_emit(&emission->emitter, ND4C_OP_max_pool, emission->inputs, 1, window.attrs, window.count,
                     &emission->outputs[0]);
  }
  window.attrs[window.count++] = nd4c_attr_of_bool("column_major", storage_order != 0);
  return nd4c_emit_outputs(&emission->emitter, ND4C_OP_max_pool_with_indices, emission->inputs, 1, window.attrs,
                           window.count, emission->outputs, 2);
}

static nd4c_status emit_average_pool(nd4c_onnx_emission *emission) {
  int64_t include = 0;
  nd4c_onnx_window window;
  ND4C_TRY(nd4c_onnx_read_pool(emission, &window));
  ND4C_TRY(nd4c_onnx_get_int(emission, "count_include_pad", 0, &include));
  window.attrs[window.count++] = nd4c_attr_of_bool("count_include_pad", include != 0);
  return nd4c_emit(&emission->emitter, ND4C_OP_average_pool, emission->inputs, 1, window.attrs, window.count,
                   &emission->outputs[0]);
}

static nd4c_status emit_global_pool(nd4c_onnx_emission *emission) {
  int64_t axes[ND4C_MAX_RANK];
  int32_t rank = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).rank;
  if (rank < 3) {
    return nd4c_fail(ND4C_SHAPE, "the input has rank %d; expected 3 or more", (int)rank);
  }
  for (int32_t i = 2; i < rank; i++) {
    axes[i - 2] = i;
  }
  return nd4c_emit_reduce(&emission->emitter, emission->node->mapping->op, emission->inputs[0], rank - 2, axes, true,
                          &emission->outputs[0]);
}

/* -- normalisations ------------------------------------------------------------------------------------------- */

/* Statistics of x itself. Running ones may have another dtype than x. */
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

/* x * scale + bias, both by channel (axis 1). */
static nd4c_status scale_channels(nd4c_onnx_emission *emission, nd4c_onnx_operand x, nd4c_onnx_operand scale,
                                  nd4c_onnx_operand bias, nd4c_onnx_operand *y) {
  int64_t shape[ND4C_MAX_RANK];
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, x);
  for (int32_t i = 1; i < info.rank; i++) {
    shape[i - 1] = i == 1 ? info.shape[1] : 1;
  }
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, scale, info.rank - 1, shape, &scale));
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, bias, info.rank - 1, shape, &bias));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_multiply, x, scale, y));
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_add, *y, bias, y);
}

/* InstanceNormalization: a layer norm over each image's channel. */
static nd4c_status emit_instance_norm(nd4c_onnx_emission *emission) {
  double epsilon = 0;
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, x);
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(nd4c_onnx_get_float(emission, "epsilon", 1e-5, &epsilon));
  if (info.rank < 3) {
    return nd4c_fail(ND4C_SHAPE, "the input has rank %d; expected 3 or more", (int)info.rank);
  }
  nd4c_attr attrs[] = {nd4c_attr_of_int("axis", 2), nd4c_attr_of_float("epsilon", epsilon)};
  ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_layer_norm, &x, 1, attrs, 2, &x));
  return scale_channels(emission, x, emission->inputs[1], emission->inputs[2], &emission->outputs[0]);
}

static nd4c_status emit_layer_norm(nd4c_onnx_emission *emission) {
  double epsilon = 0;
  int64_t axis = 0;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  int64_t stash_type = 0; /* of the statistics; they are computed in f64 */
  ND4C_TRY(nd4c_onnx_get_int(emission, "stash_type", 1, &stash_type));
  ND4C_TRY(nd4c_onnx_dtype_resolve(stash_type, &dtype));
  ND4C_TRY(nd4c_onnx_get_float(emission, "epsilon", 1e-5, &epsilon));
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", -1, &axis));
  nd4c_attr attrs[] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_float("epsilon", epsilon),
                       nd4c_attr_of_dtype("dtype", dtype)};
  if (nd4c_onnx_wants(emission, 1) || nd4c_onnx_wants(emission, 2)) {
    return nd4c_emit_outputs(&emission->emitter, ND4C_OP_layer_norm_with_statistics, emission->inputs,
                             emission->input_count, attrs, 3, emission->outputs, 3);
  }
  return nd4c_emit(&emission->emitter, ND4C_OP_layer_norm, emission->inputs, emission->input_count, attrs, 2,
                   &emission->outputs[0]);
}

/* x / sqrt(mean of x^2 + epsilon) * scale, the mean over the axes from `axis` on. */
static nd4c_status emit_rms_norm(nd4c_onnx_emission *emission) {
  double epsilon = 0;
  int64_t axis = 0;
  int64_t axes[ND4C_MAX_RANK];
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_onnx_operand below = ND4C_ONNX_OPERAND_NONE;
  nd4c_onnx_operand small = ND4C_ONNX_OPERAND_NONE;
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, x);
  nd4c_onnx_ignore(emission, "stash_type");
  ND4C_TRY(nd4c_onnx_get_float(emission, "epsilon", 1e-5, &epsilon));
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", -1, &axis));
  if (axis < -info.rank || axis >= info.rank) {
    return nd4c_fail(ND4C_INDEX, "axis %" PRId64 " of rank %d", axis, (int)info.rank);
  }
  axis += axis < 0 ? info.rank : 0;
  for (int64_t i = axis; i < info.rank; i++) {
    axes[i - axis] = i;
  }
  ND4C_TRY(nd4c_emit_unary(&emission->emitter, ND4C_OP_square, x, &below));
  ND4C_TRY(nd4c_emit_reduce(&emission->emitter, ND4C_OP_mean, below, info.rank - (int32_t)axis, axes, true, &below));
  ND4C_TRY(nd4c_emit_scalar_like(&emission->emitter, below, epsilon, &small));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_add, below, small, &below));
  ND4C_TRY(nd4c_emit_unary(&emission->emitter, ND4C_OP_sqrt, below, &below));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_divide, x, below, &x));
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_multiply, x, emission->inputs[1], &emission->outputs[0]);
}

/* Up to opset 20 scale and bias are those of the groups. */
static nd4c_status spread_groups(nd4c_onnx_emission *emission, int64_t groups, int64_t channels,
                                 nd4c_onnx_operand *list) {
  const int64_t column[2] = {groups, 1}, table[2] = {groups, channels / groups};
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, *list, 2, column, list));
  ND4C_TRY(nd4c_emit_broadcast(&emission->emitter, *list, 2, table, list));
  return nd4c_emit_reshape(&emission->emitter, *list, 1, &channels, list);
}

static nd4c_status emit_group_norm(nd4c_onnx_emission *emission) {
  enum { BY_CHANNEL_SINCE = 21 };
  double epsilon = 0;
  int64_t groups = 0;
  nd4c_onnx_operand inputs[3] = {emission->inputs[0], emission->inputs[1], emission->inputs[2]};
  nd4c_emitted_info x = nd4c_emitted_get(&emission->emitter, inputs[0]);
  nd4c_emitted_info scale = nd4c_emitted_get(&emission->emitter, inputs[1]);
  nd4c_onnx_ignore(emission, "stash_type");
  ND4C_TRY(nd4c_onnx_get_float(emission, "epsilon", 1e-5, &epsilon));
  ND4C_TRY(nd4c_onnx_get_int(emission, "num_groups", 0, &groups));
  if (emission->opset < BY_CHANNEL_SINCE) {
    if (groups < 1 || x.rank < 2 || x.shape[1] % groups != 0 || scale.rank != 1 || scale.shape[0] != groups) {
      return nd4c_fail(ND4C_SHAPE,
                       "num_groups is %" PRId64
                       "; expected a divisor of the channels, and a scale and "
                       "bias for each group",
                       groups);
    }
    ND4C_TRY(spread_groups(emission, groups, x.shape[1], &inputs[1]));
    ND4C_TRY(spread_groups(emission, groups, x.shape[1], &inputs[2]));
  }
  nd4c_attr attrs[] = {nd4c_attr_of_int("groups", groups), nd4c_attr_of_float("epsilon", epsilon)};
  return nd4c_emit(&emission->emitter, ND4C_OP_group_norm, inputs, 3, attrs, 2, &emission->outputs[0]);
}

static nd4c_status emit_lp_norm(nd4c_onnx_emission *emission) {
  int64_t axis = 0;
  int64_t p = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", -1, &axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "p", 2, &p));
  nd4c_attr attrs[] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_float("p", (double)p)};
  return nd4c_emit(&emission->emitter, ND4C_OP_lp_normalize, emission->inputs, 1, attrs, 2, &emission->outputs[0]);
}

static nd4c_status emit_standardize(nd4c_onnx_emission *emission) {
  static const int64_t preset[] = {0, 2, 3};
  const int64_t *axes = NULL;
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_ints(emission, "axes", &axes, &count));
  nd4c_attr attrs[] = {axes != NULL ? nd4c_attr_of_ints("axes", axes, count) : nd4c_attr_of_ints("axes", preset, 3),
                       nd4c_attr_of_float("epsilon", 1e-9)}; /* of ONNX's own definition */
  return nd4c_emit(&emission->emitter, ND4C_OP_standardize, emission->inputs, 1, attrs, 2, &emission->outputs[0]);
}

static nd4c_status emit_lrn(nd4c_onnx_emission *emission) {
  int64_t size = 0;
  double alpha = 0;
  double beta = 0;
  double bias = 0;
  if (nd4c_onnx_attribute_find(emission, "size") == NULL) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'size' is missing");
  }
  ND4C_TRY(nd4c_onnx_get_int(emission, "size", 0, &size));
  ND4C_TRY(nd4c_onnx_get_float(emission, "alpha", 1e-4, &alpha));
  ND4C_TRY(nd4c_onnx_get_float(emission, "beta", 0.75, &beta));
  ND4C_TRY(nd4c_onnx_get_float(emission, "bias", 1, &bias));
  nd4c_attr attrs[] = {nd4c_attr_of_int("size", size), nd4c_attr_of_float("alpha", alpha),
                       nd4c_attr_of_float("beta", beta), nd4c_attr_of_float("bias", bias)};
  return nd4c_emit(&emission->emitter, ND4C_OP_lrn, emission->inputs, 1, attrs, 4, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                         \
  OP(Conv, 1, LAST, 2, 3, 1, conv, NONE)                             \
  OP(MaxPool, 1, LAST, 1, 1, 2, max_pool, NONE)                      \
  OP(AveragePool, 1, LAST, 1, 1, 1, average_pool, NONE)              \
  OP(GlobalAveragePool, 1, LAST, 1, 1, 1, global_pool, mean)         \
  OP(GlobalMaxPool, 1, LAST, 1, 1, 1, global_pool, max)              \
  OP(BatchNormalization, 1, LAST, 5, 5, 3, batch_norm, NONE)         \
  OP(InstanceNormalization, 1, LAST, 3, 3, 1, instance_norm, NONE)   \
  OP(LayerNormalization, 17, LAST, 2, 3, 3, layer_norm, NONE)        \
  OP(RMSNormalization, 23, LAST, 2, 2, 1, rms_norm, NONE)            \
  OP(GroupNormalization, 18, LAST, 3, 3, 1, group_norm, NONE)        \
  OP(LpNormalization, 1, LAST, 1, 1, 1, lp_norm, NONE)               \
  OP(MeanVarianceNormalization, 9, LAST, 1, 1, 1, standardize, NONE) \
  OP(LRN, 1, LAST, 1, 1, 1, lrn, NONE)

ND4C_ONNX_FAMILY(nn, "", ROWS)
