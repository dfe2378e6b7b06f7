/* qlinear_conv and conv_integer on oneDNN. One primitive multiplies bytes by VNNI; that of qlinear_conv adds the bias,
 * scales, rounds and saturates, too. Weights must be constants, as they are in models, and so must the scales, zero
 * points and the bias of qlinear_conv. dispatch/choice.c asks these kernels.
 *
 * The primitive of qlinear_conv works in float32: a sum of products, times x_scale w_scale / y_scale, plus the bias and
 * the zero point in that unit. A value that lies within about 2^-14 of the middle between two bytes may therefore be
 * rounded to the other one; where the sum or the bias is far beyond a byte and they cancel, the bound is 2^-23 of the
 * larger of the two. Exact middles are rounded to even as ONNX asks, except where the zero point of y is odd and
 * a channel has one of the few factors with which they occur (quantization.c). The kernel refuses calls in which these
 * are more than one in 64. */
#include <math.h>
#include <string.h>

#include "backends/cpu/onednn/quantization.h"

static const nd4c_onednn_scaled positions = {.x_scale = ND4C_IN_qlinear_conv_x_scale,
                                             .w_scale = ND4C_IN_qlinear_conv_w_scale,
                                             .y_scale = ND4C_IN_qlinear_conv_y_scale,
                                             .y_zero = ND4C_IN_qlinear_conv_y_zero_point};

/* -- may it ----------------------------------------------------------------------------------------------------- */

static const char *refuse_weights(const nd4c_call *call) {
  static const int constants[] = {ND4C_IN_qlinear_conv_w, ND4C_IN_qlinear_conv_bias};
  for (int i = 0; i < 2; i++) {
    const nd4c_tensor *x = nd4c_cpu_input(call, constants[i]);
    if (x != NULL && (x->flags & ND4C_TENSOR_CONSTANT) == 0) {
      return "the weights or the bias are not a constant";
    }
  }
  return call->inputs[ND4C_IN_qlinear_conv_w].dtype == ND4C_INT8 ? NULL : "the weights are not int8";
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_qlinear_conv_x];
  const char *why = nd4c_onednn_refuse_conv(call, nd4c_cpu_input(call, ND4C_IN_qlinear_conv_bias));
  why = why == NULL ? nd4c_onednn_refuse_scaled(call, &positions) : why;
  why = why == NULL ? refuse_weights(call) : why;
  return nd4c_onednn_accept_bytes(why, x->dtype, reason, reason_size);
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
  int32_t x_zero = (int32_t)nd4c_bytes_number(&call->inputs[ND4C_IN_qlinear_conv_x_zero_point], 0);
  double y_zero = nd4c_bytes_number(&call->inputs[ND4C_IN_qlinear_conv_y_zero_point], 0);
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
    factors[i] = nd4c_onednn_factor(call, &positions, i);
    if (added != NULL) {
      added[i] = (float)((bias != NULL ? nd4c_bytes_number(bias, i) : 0) * (double)factors[i] + y_zero);
    }
  }
  if (x_zero != 0) {
    memcpy(node->fixed[ZERO].data, &x_zero, sizeof x_zero);
  }
  return DNN_SUCCESS;
}

/* Where the ops have what both have. */
typedef struct conv_positions {
  int w;
  int32_t groups;
  nd4c_cpu_window_attrs window;
} conv_positions;

static const conv_positions positions_of[] = {
    {ND4C_IN_qlinear_conv_w, ND4C_ATTR_qlinear_conv_groups, ND4C_CPU_WINDOW_ATTRS(qlinear_conv)},
    {ND4C_IN_conv_integer_w, ND4C_ATTR_conv_integer_groups, ND4C_CPU_WINDOW_ATTRS(conv_integer)}};

static int make_primitive(nd4c_onednn_node *node, const nd4c_call *call, const conv_positions *at, dnn_desc any) {
  const nd4c_onednn *dnn = node->dnn;
  nd4c_ref_window window;
  nd4c_onednn_window place;
  nd4c_cpu_window(call, at->window, call->inputs[at->w].shape + 2, &window);
  nd4c_onednn_describe_window(&window, call->outputs[0].shape + 2, false, &place);
  dnn_attr attr = NULL;
  int status = nd4c_onednn_attr(dnn, &attr, NULL, ND4C_ACTIVATION_NONE);
  if (status == DNN_SUCCESS && node->fixed[FACTORS].argument != 0) {
    int mask = call->attrs[at->groups].as.i == 1 ? 1 : 3;
    status = dnn->dnnl_primitive_attr_set_scales_mask(attr, DNN_ARG_WEIGHTS, mask);
  }
  if (status == DNN_SUCCESS && node->fixed[ZERO].argument != 0) {
    status = dnn->dnnl_primitive_attr_set_zero_points_mask(attr, DNN_ARG_SRC, 0);
  }
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_convolution_forward_primitive_desc_create(
        &node->step.desc, dnn->engine, DNN_FORWARD_INFERENCE, DNN_CONVOLUTION_DIRECT,
        node->operands[ND4C_ONEDNN_X].wanted, any, node->fixed[ADDED].desc, node->operands[ND4C_ONEDNN_Y].wanted,
        place.stride, place.dilation, place.begin, place.end, attr);
  }
  if (attr != NULL) {
    dnn->dnnl_primitive_attr_destroy(attr);
  }
  return status;
}

/* Of a node whose numbers are fixed. */
static int describe(nd4c_onednn_node *node, const nd4c_call *call, const conv_positions *at) {
  nd4c_onednn_operand *op = node->operands;
  dnn_desc any = NULL;
  node->packs = true; /* the zero point of x decides on the arrangement, and is not known when a layout is asked for */
  int status = nd4c_onednn_describe_image(node->dnn, &op[ND4C_ONEDNN_X], &call->inputs[0]);
  if (status == DNN_SUCCESS) {
    status = nd4c_onednn_describe_image(node->dnn, &op[ND4C_ONEDNN_Y], &call->outputs[0]);
  }
  if (status == DNN_SUCCESS) {
    status = nd4c_onednn_describe_weights(node->dnn, &op[ND4C_ONEDNN_W], &call->inputs[at->w],
                                          call->attrs[at->groups].as.i, false, &any);
  }
  if (status == DNN_SUCCESS) {
    status = make_primitive(node, call, at, any);
  }
  if (any != NULL) {
    node->dnn->dnnl_memory_desc_destroy(any);
  }
  return status;
}

static int describe_qlinear(nd4c_onednn_node *node, const nd4c_call *call) {
  int status = fix_numbers(node, call);
  return status == DNN_SUCCESS ? describe(node, call, &positions_of[0]) : status;
}

static double multiplications(const nd4c_call *call) {
  return nd4c_onednn_conv_multiplications(call, &call->inputs[ND4C_IN_qlinear_conv_w]);
}

static const nd4c_onednn_kind qlinear_kind = {.describe = describe_qlinear, .multiplications = multiplications};

static const int inputs[ND4C_ONEDNN_OPERANDS] = {ND4C_IN_qlinear_conv_x, ND4C_IN_qlinear_conv_w, -1, -1, -1};

static nd4c_status prepare(const nd4c_call *call, void **state) {
  const nd4c_tensor *zeros = &call->inputs[ND4C_IN_qlinear_conv_w_zero_point];
  const char *why = nd4c_onednn_refuse_factors(call, &positions);
  for (int64_t i = 0; i < zeros->size && why == NULL; i++) {
    why = nd4c_bytes_number(zeros, i) == 0 ? NULL : "the weights have a zero point";
  }
  ND4C_CPU_FAIL_IF(why != NULL, ND4C_UNSUPPORTED, "%s: %s", call->op->name, why);
  return nd4c_onednn_node_prepare(call, inputs, &qlinear_kind, state);
}

/* -- conv_integer ----------------------------------------------------------------------------------------------- */

/* oneDNN's primitive converts each sum through float32, which has all whole numbers below 2^24. A byte of x is 128 away
 * from 0 at most, and 255 from its zero point. */
static bool is_exact(const nd4c_call *call, double weights) {
  const bool wide =
      call->inputs[0].dtype == ND4C_UINT8 || nd4c_cpu_input(call, ND4C_IN_conv_integer_x_zero_point) != NULL;
  return weights * (wide ? 255 : 128) < 0x1p24;
}

/* The sum of the magnitudes of an output channel's weights. */
static double sum_of_channel(const nd4c_tensor *w, int64_t channel) {
  const int64_t count = w->size / w->shape[0];
  double sum = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t offset = channel * w->strides[0], rest = i;
    for (int32_t axis = w->rank - 1; axis > 0; axis--) {
      offset += rest % w->shape[axis] * w->strides[axis];
      rest /= w->shape[axis];
    }
    sum += fabs((double)((const int8_t *)w->data)[offset]);
  }
  return sum;
}

/* What sums are refused for, when the weights' numbers are there. Few weights are accepted without a look. */
static const char *refuse_sums(const nd4c_call *call) {
  const nd4c_tensor *w = &call->inputs[ND4C_IN_conv_integer_w];
  if (w->size == 0 || is_exact(call, 128.0 * (double)(w->size / w->shape[0])) || w->data == NULL) {
    return NULL;
  }
  for (int64_t i = 0; i < w->shape[0]; i++) {
    if (!is_exact(call, sum_of_channel(w, i))) {
      return "sums may reach 2^24, which oneDNN rounds to float32";
    }
  }
  return NULL;
}

static bool integer_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *w = &call->inputs[ND4C_IN_conv_integer_w];
  const nd4c_tensor *zeros = nd4c_cpu_input(call, ND4C_IN_conv_integer_w_zero_point);
  const char *why = nd4c_onednn_refuse_conv(call, NULL);
  if (why == NULL && (w->dtype != ND4C_INT8 || (w->flags & ND4C_TENSOR_CONSTANT) == 0)) {
    why = "the weights are not a constant of int8";
  }
  if (why == NULL && zeros != NULL && (zeros->flags & ND4C_TENSOR_CONSTANT) == 0) {
    why = "the zero point of the weights is not a constant";
  }
  why = why == NULL ? refuse_sums(call) : why;
  return nd4c_onednn_accept_bytes(why, call->inputs[0].dtype, reason, reason_size);
}

static int describe_integer(nd4c_onednn_node *node, const nd4c_call *call) {
  nd4c_onednn_fixed *zero = &node->fixed[ZERO];
  const int64_t one = 1;
  int status = DNN_SUCCESS;
  if (nd4c_cpu_input(call, ND4C_IN_conv_integer_x_zero_point) != NULL) {
    zero->argument = DNN_ARG_ZERO_POINTS(DNN_ARG_SRC);
    zero->input = ND4C_IN_conv_integer_x_zero_point;
    status = nd4c_onednn_desc(node->dnn, &zero->desc, 1, &one, ND4C_INT32, &one);
  }
  return status == DNN_SUCCESS ? describe(node, call, &positions_of[1]) : status;
}

static double integer_multiplications(const nd4c_call *call) {
  return nd4c_onednn_conv_multiplications(call, &call->inputs[ND4C_IN_conv_integer_w]);
}

static const nd4c_onednn_kind integer_kind = {.describe = describe_integer, .multiplications = integer_multiplications};

static const int integer_inputs[ND4C_ONEDNN_OPERANDS] = {ND4C_IN_conv_integer_x, ND4C_IN_conv_integer_w, -1, -1, -1};

static nd4c_status integer_prepare(const nd4c_call *call, void **state) {
  const nd4c_tensor *zeros = nd4c_cpu_input(call, ND4C_IN_conv_integer_w_zero_point);
  const char *why = refuse_sums(call);
  ND4C_CPU_FAIL_IF(why != NULL, ND4C_UNSUPPORTED, "%s: %s", call->op->name, why);
  for (int64_t i = 0; zeros != NULL && i < zeros->size; i++) {
    ND4C_CPU_FAIL_IF(nd4c_bytes_number(zeros, i) != 0, ND4C_UNSUPPORTED, "%s: the weights have a zero point",
                     call->op->name);
  }
  return nd4c_onednn_node_prepare(call, integer_inputs, &integer_kind, state);
}

#define KERNEL(op, usable_function, prepare_function)                                                                  \
  ND4C_CPU_KERNEL("onednn", op, #op, ND4C_CPU_PRIORITY_ONEDNN, ND4C_DTYPE_BIT(ND4C_INT8) | ND4C_DTYPE_BIT(ND4C_UINT8), \
                  usable_function, nd4c_onednn_node_run, .prepare = (prepare_function),                                \
                  .unprepare = nd4c_onednn_node_unprepare, .scratch_bytes = nd4c_onednn_node_scratch_bytes,            \
                  .preferred_order = nd4c_onednn_channels_last)

const nd4c_kernel *const nd4c_cpu_onednn_quantization_conv_kernels[] = {
    KERNEL(qlinear_conv, usable, prepare), KERNEL(conv_integer, integer_usable, integer_prepare), NULL};
