/* Convolutions, pools and normalisations. */
#include <inttypes.h>

#include "base/status.h"
#include "io/onnx/family.h"

/* Attributes that conv and pools share, as nd4c's ops take them. */
typedef struct window_attributes {
  nd4c_attr attrs[8];
  int32_t count;
} window_attributes;

static nd4c_status add_ints(nd4c_onnx_emission *emission, const char *onnx, const char *name,
                            window_attributes *window) {
  const int64_t *values = NULL;
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_ints(emission, onnx, &values, &count));
  if (count > 0) {
    window->attrs[window->count++] = nd4c_attr_of_ints(name, values, count);
  }
  return ND4C_OK;
}

static nd4c_status add_auto_pad(nd4c_onnx_emission *emission, window_attributes *window) {
  static const struct {
    const char *name;
    int64_t value;
  } modes[] = {{"NOTSET", ND4C_AUTO_PAD_EXPLICIT},
               {"SAME_UPPER", ND4C_AUTO_PAD_SAME_UPPER},
               {"SAME_LOWER", ND4C_AUTO_PAD_SAME_LOWER},
               {"VALID", ND4C_AUTO_PAD_VALID}};
  nd4c_span mode;
  ND4C_TRY(nd4c_onnx_get_text(emission, "auto_pad", "NOTSET", &mode));
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    if (nd4c_span_is(mode, modes[i].name)) {
      window->attrs[window->count++] = nd4c_attr_of_int("auto_pad", modes[i].value);
      return ND4C_OK;
    }
  }
  return nd4c_fail(ND4C_FORMAT, "attribute 'auto_pad' is %s, expected NOTSET, SAME_UPPER, SAME_LOWER or VALID",
                   nd4c_span_show(mode).text);
}

static nd4c_status read_window(nd4c_onnx_emission *emission, window_attributes *window) {
  *window = (window_attributes){0};
  ND4C_TRY(add_ints(emission, "strides", "strides", window));
  ND4C_TRY(add_ints(emission, "pads", "pads", window));
  ND4C_TRY(add_ints(emission, "dilations", "dilations", window));
  return add_auto_pad(emission, window);
}

/* kernel_shape repeats what the weights' shape says. */
static nd4c_status check_kernel_shape(nd4c_onnx_emission *emission) {
  const int64_t *kernel = NULL;
  int32_t count = 0;
  nd4c_onnx_operand_info w = nd4c_onnx_operand_get(emission, emission->inputs[1]);
  ND4C_TRY(nd4c_onnx_get_ints(emission, "kernel_shape", &kernel, &count));
  if (kernel == NULL) {
    return ND4C_OK;
  }
  bool agrees = count == w.rank - 2;
  for (int32_t i = 0; agrees && i < count; i++) {
    agrees = kernel[i] == w.shape[i + 2];
  }
  return agrees ? ND4C_OK : nd4c_fail(ND4C_SHAPE, "attribute 'kernel_shape' does not agree with the weights' shape");
}

static nd4c_status emit_conv(nd4c_onnx_emission *emission) {
  int64_t groups = 0;
  window_attributes window;
  ND4C_TRY(read_window(emission, &window));
  ND4C_TRY(check_kernel_shape(emission));
  ND4C_TRY(nd4c_onnx_get_int(emission, "group", 1, &groups));
  window.attrs[window.count++] = nd4c_attr_of_int("groups", groups);
  return nd4c_onnx_emit(emission, ND4C_OP_conv, emission->inputs, emission->input_count, window.attrs, window.count,
                        &emission->outputs[0]);
}

static nd4c_status read_pool(nd4c_onnx_emission *emission, window_attributes *window) {
  int64_t ceil_mode = 0;
  ND4C_TRY(read_window(emission, window));
  if (nd4c_onnx_attribute_find(emission, "kernel_shape") == NULL) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'kernel_shape' is missing");
  }
  ND4C_TRY(add_ints(emission, "kernel_shape", "kernel", window));
  ND4C_TRY(nd4c_onnx_get_int(emission, "ceil_mode", 0, &ceil_mode));
  window->attrs[window->count++] = nd4c_attr_of_bool("ceil_mode", ceil_mode != 0);
  return ND4C_OK;
}

static nd4c_status emit_max_pool(nd4c_onnx_emission *emission) {
  window_attributes window;
  nd4c_onnx_ignore(emission, "storage_order"); /* of the indices, which are not made */
  ND4C_TRY(read_pool(emission, &window));
  return nd4c_onnx_emit(emission, ND4C_OP_max_pool, emission->inputs, 1, window.attrs, window.count,
                        &emission->outputs[0]);
}

static nd4c_status emit_average_pool(nd4c_onnx_emission *emission) {
  int64_t include = 0;
  window_attributes window;
  ND4C_TRY(read_pool(emission, &window));
  ND4C_TRY(nd4c_onnx_get_int(emission, "count_include_pad", 0, &include));
  window.attrs[window.count++] = nd4c_attr_of_bool("count_include_pad", include != 0);
  return nd4c_onnx_emit(emission, ND4C_OP_average_pool, emission->inputs, 1, window.attrs, window.count,
                        &emission->outputs[0]);
}

static nd4c_status emit_global_pool(nd4c_onnx_emission *emission) {
  int64_t axes[ND4C_MAX_RANK];
  int32_t rank = nd4c_onnx_operand_get(emission, emission->inputs[0]).rank;
  if (rank < 3) {
    return nd4c_fail(ND4C_SHAPE, "the input has rank %d; expected 3 or more", (int)rank);
  }
  for (int32_t i = 2; i < rank; i++) {
    axes[i - 2] = i;
  }
  return nd4c_onnx_emit_reduce(emission, emission->node->mapping->op, emission->inputs[0], rank - 2, axes, true,
                               &emission->outputs[0]);
}

/* -- normalisations ------------------------------------------------------------------------------------------- */

static nd4c_status emit_batch_norm(nd4c_onnx_emission *emission) {
  enum { TEST_FLAG_UNTIL = 6 };
  double epsilon = 0;
  int64_t spatial = 0;
  int64_t training = 0;
  int64_t test = 0;
  nd4c_onnx_ignore(emission, "momentum");
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(nd4c_onnx_get_float(emission, "epsilon", 1e-5, &epsilon));
  ND4C_TRY(nd4c_onnx_get_int(emission, "spatial", 1, &spatial));
  ND4C_TRY(nd4c_onnx_get_int(emission, "training_mode", 0, &training));
  ND4C_TRY(nd4c_onnx_get_int(emission, "is_test", emission->opset <= TEST_FLAG_UNTIL ? 0 : 1, &test));
  if (spatial == 0 || training != 0 || test == 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "batch normalisation %s; nd4c has the one for inference, by channel",
                     spatial == 0 ? "by element (spatial = 0)" : "in training mode");
  }
  nd4c_attr attr = nd4c_attr_of_float("epsilon", epsilon);
  return nd4c_onnx_emit(emission, ND4C_OP_batch_norm, emission->inputs, 5, &attr, 1, &emission->outputs[0]);
}

/* x * scale + bias, both by channel (axis 1). */
static nd4c_status scale_channels(nd4c_onnx_emission *emission, nd4c_onnx_operand x, nd4c_onnx_operand scale,
                                  nd4c_onnx_operand bias, nd4c_onnx_operand *y) {
  int64_t shape[ND4C_MAX_RANK];
  nd4c_onnx_operand_info info = nd4c_onnx_operand_get(emission, x);
  for (int32_t i = 1; i < info.rank; i++) {
    shape[i - 1] = i == 1 ? info.shape[1] : 1;
  }
  ND4C_TRY(nd4c_onnx_emit_reshape(emission, scale, info.rank - 1, shape, &scale));
  ND4C_TRY(nd4c_onnx_emit_reshape(emission, bias, info.rank - 1, shape, &bias));
  ND4C_TRY(nd4c_onnx_emit_binary(emission, ND4C_OP_multiply, x, scale, y));
  return nd4c_onnx_emit_binary(emission, ND4C_OP_add, *y, bias, y);
}

/* InstanceNormalization: a layer norm over each image's channel. */
static nd4c_status emit_instance_norm(nd4c_onnx_emission *emission) {
  double epsilon = 0;
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_onnx_operand_info info = nd4c_onnx_operand_get(emission, x);
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(nd4c_onnx_get_float(emission, "epsilon", 1e-5, &epsilon));
  if (info.rank < 3) {
    return nd4c_fail(ND4C_SHAPE, "the input has rank %d; expected 3 or more", (int)info.rank);
  }
  nd4c_attr attrs[] = {nd4c_attr_of_int("axis", 2), nd4c_attr_of_float("epsilon", epsilon)};
  ND4C_TRY(nd4c_onnx_emit(emission, ND4C_OP_layer_norm, &x, 1, attrs, 2, &x));
  return scale_channels(emission, x, emission->inputs[1], emission->inputs[2], &emission->outputs[0]);
}

static nd4c_status emit_layer_norm(nd4c_onnx_emission *emission) {
  double epsilon = 0;
  int64_t axis = 0;
  nd4c_onnx_ignore(emission, "stash_type"); /* the precision of the statistics; nd4c's is f32 or wider */
  ND4C_TRY(nd4c_onnx_get_float(emission, "epsilon", 1e-5, &epsilon));
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", -1, &axis));
  nd4c_attr attrs[] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_float("epsilon", epsilon)};
  return nd4c_onnx_emit(emission, ND4C_OP_layer_norm, emission->inputs, emission->input_count, attrs, 2,
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
  nd4c_onnx_operand_info info = nd4c_onnx_operand_get(emission, x);
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
  ND4C_TRY(nd4c_onnx_emit_unary(emission, ND4C_OP_square, x, &below));
  ND4C_TRY(nd4c_onnx_emit_reduce(emission, ND4C_OP_mean, below, info.rank - (int32_t)axis, axes, true, &below));
  ND4C_TRY(nd4c_onnx_scalar_like(emission, below, epsilon, &small));
  ND4C_TRY(nd4c_onnx_emit_binary(emission, ND4C_OP_add, below, small, &below));
  ND4C_TRY(nd4c_onnx_emit_unary(emission, ND4C_OP_sqrt, below, &below));
  ND4C_TRY(nd4c_onnx_emit_binary(emission, ND4C_OP_divide, x, below, &x));
  return nd4c_onnx_emit_binary(emission, ND4C_OP_multiply, x, emission->inputs[1], &emission->outputs[0]);
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
  return nd4c_onnx_emit(emission, ND4C_OP_lrn, emission->inputs, 1, attrs, 4, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS(X)                                                   \
  X(Conv, 1, LAST, 2, 3, 1, conv, NONE)                           \
  X(MaxPool, 1, LAST, 1, 1, 1, max_pool, NONE)                    \
  X(AveragePool, 1, LAST, 1, 1, 1, average_pool, NONE)            \
  X(GlobalAveragePool, 1, LAST, 1, 1, 1, global_pool, mean)       \
  X(GlobalMaxPool, 1, LAST, 1, 1, 1, global_pool, max)            \
  X(BatchNormalization, 1, LAST, 5, 5, 1, batch_norm, NONE)       \
  X(InstanceNormalization, 1, LAST, 3, 3, 1, instance_norm, NONE) \
  X(LayerNormalization, 17, LAST, 2, 3, 1, layer_norm, NONE)      \
  X(RMSNormalization, 23, LAST, 2, 2, 1, rms_norm, NONE)          \
  X(LRN, 1, LAST, 1, 1, 1, lrn, NONE)

ND4C_ONNX_FAMILY(nn, "", ROWS)
