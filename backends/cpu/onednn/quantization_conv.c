/* qlinear_conv on oneDNN. One primitive multiplies bytes by VNNI, adds the bias, scales, rounds and saturates. Scales,
 * zero points, weights and bias must be constants, as they are in models. dispatch/choice.c asks this kernel.
 *
 * The primitive works in float32: a sum of products, times x_scale w_scale / y_scale, plus the bias and the zero point
 * in that unit. A value that lies within about 2^-14 of the middle between two bytes may therefore be rounded to the
 * other one. Exact middles are rounded to even as ONNX asks: see `has_middles`. */
#include <math.h>
#include <string.h>

#include "backends/cpu/onednn/onednn.h"

/* A number of a constant: a scale, a zero point or a bias. */
static double number(const nd4c_tensor *x, int64_t index) {
  int64_t offset = x->size == 1 ? 0 : index * x->strides[0];
  switch (x->dtype) {
    case ND4C_INT8:
      return ((const int8_t *)x->data)[offset];
    case ND4C_UINT8:
      return ((const uint8_t *)x->data)[offset];
    case ND4C_INT32:
      return ((const int32_t *)x->data)[offset];
    default:
      return (double)((const float *)x->data)[offset];
  }
}

/* The factor of an output channel, rounded as the op says. */
static float factor_of(const nd4c_call *call, int64_t channel) {
  float x = (float)number(&call->inputs[ND4C_IN_qlinear_conv_x_scale], 0);
  float w = (float)number(&call->inputs[ND4C_IN_qlinear_conv_w_scale], channel);
  return x * w / (float)number(&call->inputs[ND4C_IN_qlinear_conv_y_scale], 0);
}

/* -- may it ----------------------------------------------------------------------------------------------------- */

/* Whether whole numbers times the factor can lie in the middle between two bytes. A factor is M 2^-e with odd M; such
 * numbers are multiples of 2^(e - 1), and so at least M / 2 times a byte's range: M is below 512. */
static bool has_middles(float factor) {
  int exponent = 0;
  float fraction = ldexpf(frexpf(factor, &exponent), 9);
  return fraction == rintf(fraction);
}

static bool is_constant(const nd4c_tensor *x) {
  return (x->flags & ND4C_TENSOR_CONSTANT) != 0;
}

static const char *refuse_constants(const nd4c_call *call) {
  for (int32_t i = 1; i < call->input_count; i++) {
    const nd4c_tensor *x = nd4c_cpu_input(call, i);
    if (x != NULL && !is_constant(x)) {
      return "the weights, a scale, a zero point or the bias is not a constant";
    }
  }
  if (call->inputs[ND4C_IN_qlinear_conv_x_scale].dtype != ND4C_FLOAT32) {
    return "the scales are not float32";
  }
  return call->inputs[ND4C_IN_qlinear_conv_w].dtype != ND4C_INT8 ? "the weights are not int8" : NULL;
}

/* What the numbers of the constants are refused for, which are known when the call is prepared. */
static const char *refuse_numbers(const nd4c_call *call) {
  const nd4c_tensor *zeros = &call->inputs[ND4C_IN_qlinear_conv_w_zero_point];
  for (int64_t i = 0; i < zeros->size; i++) {
    if (number(zeros, i) != 0) {
      return "the weights have a zero point";
    }
  }
  bool odd = ((int32_t)number(&call->inputs[ND4C_IN_qlinear_conv_y_zero_point], 0) & 1) != 0;
  for (int64_t i = 0; i < call->inputs[ND4C_IN_qlinear_conv_w_scale].size; i++) {
    float factor = factor_of(call, i);
    if (!(fabsf(factor) >= 0x1p-100F && fabsf(factor) <= 0x1p100F)) {
      return "x_scale w_scale / y_scale is 0, no number, or far from 1";
    }
    if (odd && has_middles(factor)) {
      return "oneDNN rounds after it has added the zero point, which is odd: middles would go to odd numbers";
    }
  }
  return NULL;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_qlinear_conv_x];
  const char *why = nd4c_onednn_refuse_conv(call, nd4c_cpu_input(call, ND4C_IN_qlinear_conv_bias));
  why = why == NULL ? refuse_constants(call) : why;
  if (!nd4c_onednn_accept(why, x->dtype, reason, reason_size)) {
    return false;
  }
  bool exact = nd4c_onednn_get()->exact_bytes;
  return nd4c_onednn_accept(
      exact ? NULL : "oneDNN has no VNNI here: it may add products of bytes in 16 bits, where they saturate", x->dtype,
      reason, reason_size);
}

/* -- preparing -------------------------------------------------------------------------------------------------- */

/* An argument of `count` numbers of float32 or int32, to be filled. */
static int fix(nd4c_onednn_node *node, int32_t index, int argument, nd4c_dtype dtype, int64_t count) {
  nd4c_onednn_fixed *fixed = &node->fixed[index];
  const int64_t stride = 1;
  fixed->data = nd4c_cpu_host->allocate((size_t)count * sizeof(float));
  if (fixed->data == NULL) {
    return DNN_OUT_OF_MEMORY;
  }
  fixed->argument = argument;
  return nd4c_onednn_desc(node->dnn, &fixed->desc, 1, &count, dtype, &stride);
}

enum { FACTORS, ADDED, ZERO };

/* The factors of the channels; what is added to them, bias and zero point of y; the zero point of x. */
static int fix_numbers(nd4c_onednn_node *node, const nd4c_call *call) {
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_qlinear_conv_bias);
  int64_t channels = call->outputs[0].shape[1];
  int32_t x_zero = (int32_t)number(&call->inputs[ND4C_IN_qlinear_conv_x_zero_point], 0);
  double y_zero = number(&call->inputs[ND4C_IN_qlinear_conv_y_zero_point], 0);
  int status = fix(node, FACTORS, DNN_ARG_SCALES(DNN_ARG_WEIGHTS), ND4C_FLOAT32, channels);
  if (status == DNN_SUCCESS && (bias != NULL || y_zero != 0)) {
    status = fix(node, ADDED, DNN_ARG_BIAS, ND4C_FLOAT32, channels);
  }
  if (status == DNN_SUCCESS && x_zero != 0) {
    status = fix(node, ZERO, DNN_ARG_ZERO_POINTS(DNN_ARG_SRC), ND4C_INT32, 1);
  }
  if (status != DNN_SUCCESS) {
    return status;
  }
  float *factors = node->fixed[FACTORS].data, *added = node->fixed[ADDED].data;
  for (int64_t i = 0; i < channels; i++) {
    factors[i] = factor_of(call, i);
    if (added != NULL) {
      added[i] = (float)((bias != NULL ? number(bias, i) : 0) * (double)factors[i] + y_zero);
    }
  }
  if (x_zero != 0) {
    memcpy(node->fixed[ZERO].data, &x_zero, sizeof x_zero);
  }
  return DNN_SUCCESS;
}

static int make_primitive(nd4c_onednn_node *node, const nd4c_call *call, dnn_desc any, int64_t groups) {
  const nd4c_onednn *dnn = node->dnn;
  const nd4c_cpu_window_attrs attrs = ND4C_CPU_WINDOW_ATTRS(qlinear_conv);
  nd4c_ref_window window;
  nd4c_onednn_window at;
  nd4c_cpu_window(call, attrs, call->inputs[ND4C_IN_qlinear_conv_w].shape + 2, &window);
  nd4c_onednn_describe_window(&window, call->outputs[0].shape + 2, false, &at);
  dnn_attr attr = NULL;
  int status = nd4c_onednn_attr(dnn, &attr, NULL, ND4C_ACTIVATION_NONE);
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_primitive_attr_set_scales_mask(attr, DNN_ARG_WEIGHTS, groups == 1 ? 1 : 3);
  }
  if (status == DNN_SUCCESS && node->fixed[ZERO].argument != 0) {
    status = dnn->dnnl_primitive_attr_set_zero_points_mask(attr, DNN_ARG_SRC, 0);
  }
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_convolution_forward_primitive_desc_create(
        &node->step.desc, dnn->engine, DNN_FORWARD_INFERENCE, DNN_CONVOLUTION_DIRECT,
        node->operands[ND4C_ONEDNN_X].wanted, any, node->fixed[ADDED].desc, node->operands[ND4C_ONEDNN_Y].wanted,
        at.stride, at.dilation, at.begin, at.end, attr);
  }
  if (attr != NULL) {
    dnn->dnnl_primitive_attr_destroy(attr);
  }
  return status;
}

static int describe(nd4c_onednn_node *node, const nd4c_call *call) {
  nd4c_onednn_operand *op = node->operands;
  int64_t groups = ND4C_INT_OF(call, qlinear_conv_groups);
  dnn_desc any = NULL;
  int status = fix_numbers(node, call);
  node->packs = true; /* the zero point of x decides on the arrangement, and is not known when a layout is asked for */
  if (status == DNN_SUCCESS) {
    status = nd4c_onednn_describe_image(node->dnn, &op[ND4C_ONEDNN_X], &call->inputs[ND4C_IN_qlinear_conv_x]);
  }
  if (status == DNN_SUCCESS) {
    status = nd4c_onednn_describe_image(node->dnn, &op[ND4C_ONEDNN_Y], &call->outputs[0]);
  }
  if (status == DNN_SUCCESS) {
    status = nd4c_onednn_describe_weights(node->dnn, &op[ND4C_ONEDNN_W], &call->inputs[ND4C_IN_qlinear_conv_w], groups,
                                          false, &any);
  }
  if (status == DNN_SUCCESS) {
    status = make_primitive(node, call, any, groups);
  }
  if (any != NULL) {
    node->dnn->dnnl_memory_desc_destroy(any);
  }
  return status;
}

static const int inputs[ND4C_ONEDNN_OPERANDS] = {ND4C_IN_qlinear_conv_x, ND4C_IN_qlinear_conv_w, -1, -1, -1};

static nd4c_status prepare(const nd4c_call *call, void **state) {
  const char *why = refuse_numbers(call);
  ND4C_CPU_FAIL_IF(why != NULL, ND4C_UNSUPPORTED, "%s: %s", call->op->name, why);
  return nd4c_onednn_node_prepare(call, inputs, describe, state);
}

const nd4c_kernel *const nd4c_cpu_onednn_quantization_conv_kernels[] = {
    ND4C_CPU_KERNEL("onednn", qlinear_conv, "qlinear_conv", ND4C_CPU_PRIORITY_ONEDNN,
                    ND4C_DTYPE_BIT(ND4C_INT8) | ND4C_DTYPE_BIT(ND4C_UINT8), usable, nd4c_onednn_node_run,
                    .prepare = prepare, .unprepare = nd4c_onednn_node_unprepare,
                    .scratch_bytes = nd4c_onednn_node_scratch_bytes, .preferred_order = nd4c_onednn_channels_last),
    NULL};
