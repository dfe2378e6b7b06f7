/* conv and conv_transpose on oneDNN. The primitive always works on channels-last activations, for which it has its
 * fastest implementations and in which the graph's layout pass stores them; operands in another order are reordered
 * through scratch. CONSTANT weights are packed once, for all calls that need the same form. dispatch/choice.c asks
 * these kernels. */
#include <string.h>

#include "backends/cpu/onednn/onednn.h"

enum { MAX_RANK = 5 };

static void channels_last(int32_t rank, const int64_t *shape, int64_t *strides) {
  int64_t stride = shape[1];
  strides[1] = 1;
  for (int32_t axis = rank - 1; axis >= 2; axis--) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  strides[0] = stride;
}

/* -- may it ----------------------------------------------------------------------------------------------------- */

const char *nd4c_onednn_refuse_conv(const nd4c_call *call, const nd4c_tensor *bias) {
  for (int32_t i = -1; i < call->input_count; i++) {
    const nd4c_tensor *tensor = i < 0 ? &call->outputs[0] : nd4c_cpu_input(call, i);
    if (tensor != NULL && tensor->size == 0) {
      return "an operand is empty";
    }
    if (tensor != NULL && !nd4c_onednn_strides_fit(tensor->rank, tensor->shape, tensor->strides)) {
      return "an operand's strides are zero, negative or overlapping";
    }
  }
  return bias != NULL && bias->size > 1 && bias->strides[0] != 1 ? "the bias is not contiguous" : NULL;
}

/* oneDNN 3.2 with AMX takes a step along the last axis, which divides the filter's extent, as channels: `step`
 * cells side by side become one of step * channels. Where the channels are no multiple of 32, and step * channels are
 * a larger one, its results are wrong by as much as their size (test_steps_that_divide_the_filter). */
static bool is_miscomputed(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x];
  nd4c_ref_window w;
  if (x->dtype != ND4C_BFLOAT16) {
    return false;
  }
  nd4c_cpu_conv_window(call, &w);
  const int32_t last = w.spatial - 1;
  const int64_t step = w.stride[last], channels = x->shape[1];
  return step > 1 && w.kernel[last] % step == 0 && w.dilation[last] == 1 && w.pad_begin[last] == 0 &&
         ND4C_INT_OF(call, conv_groups) == 1 && channels % 32 != 0 && channels * step % 32 == 0 && channels * step > 32;
}

/* Whether a window along the axis has a cell inside x. */
static bool sees_a_cell(const nd4c_ref_window *w, int32_t axis, int64_t outputs) {
  for (int64_t i = 0; i < outputs; i++) {
    const int64_t start = i * w->stride[axis] - w->pad_begin[axis], step = w->dilation[axis];
    const int64_t cell = start >= 0 ? 0 : (step - 1 - start) / step;
    if (start >= w->input[axis]) {
      return false;
    }
    if (cell < w->kernel[axis] && start + cell * step < w->input[axis]) {
      return true;
    }
  }
  return false;
}

/* In bfloat16, oneDNN 3.2 with AMX ends the process with SIGSEGV where all windows see padding alone, while it makes
 * the primitive (test_windows_of_padding). Such calls give the bias alone, so no dtype needs oneDNN for them. */
static bool sees_padding_alone(const nd4c_call *call) {
  nd4c_ref_window w;
  nd4c_cpu_conv_window(call, &w);
  for (int32_t axis = 0; axis < w.spatial; axis++) {
    if (!sees_a_cell(&w, axis, call->outputs[0].shape[axis + 2])) {
      return true;
    }
  }
  return false;
}

static const char *refuse(const nd4c_call *call) {
  const nd4c_tensor *addend = nd4c_cpu_input(call, ND4C_IN_conv_addend);
  if (call->outputs[0].size > 0 && sees_padding_alone(call)) {
    return "windows see padding alone";
  }
  if (is_miscomputed(call)) {
    return "oneDNN miscomputes steps that divide the filter in bfloat16";
  }
  const char *why = nd4c_onednn_refuse_conv(call, nd4c_cpu_input(call, ND4C_IN_conv_bias));
  return why == NULL && addend != NULL && !nd4c_cpu_same_shape(addend, &call->outputs[0])
             ? "the addend's shape is not the result's"
             : why;
}

static bool conv_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  return nd4c_onednn_accept(refuse(call), call->inputs[ND4C_IN_conv_x].dtype, reason, reason_size);
}

/* -- preparing -------------------------------------------------------------------------------------------------- */

int nd4c_onednn_describe_image(const nd4c_onednn *dnn, nd4c_onednn_operand *op, const nd4c_tensor *tensor) {
  int64_t strides[MAX_RANK];
  channels_last(tensor->rank, tensor->shape, strides);
  int status = nd4c_onednn_desc(dnn, &op->wanted, tensor->rank, tensor->shape, tensor->dtype, strides);
  bool same = true;
  for (int32_t axis = 0; axis < tensor->rank; axis++) {
    same = same && (tensor->shape[axis] == 1 || tensor->strides[axis] == strides[axis]);
  }
  op->moved = !same;
  if (status == DNN_SUCCESS) {
    const int64_t *given = same ? strides : tensor->strides;
    status = nd4c_onednn_desc(dnn, &op->given, tensor->rank, tensor->shape, tensor->dtype, given);
  }
  return status;
}

int nd4c_onednn_describe_weights(const nd4c_onednn *dnn, nd4c_onednn_operand *op, const nd4c_tensor *w, int64_t groups,
                                 bool transposed, dnn_desc *any) {
  op->exchanged = !transposed ? 0 : groups == 1 ? 1 : 2;
  int64_t first = w->shape[0] / groups, second = w->shape[1];
  int64_t shape[MAX_RANK + 1] = {groups, transposed ? second : first, transposed ? first : second};
  int64_t strides[MAX_RANK + 1] = {w->strides[0] * first, w->strides[transposed], w->strides[!transposed]};
  for (int32_t axis = 2; axis < w->rank; axis++) {
    shape[axis + 1] = w->shape[axis];
    strides[axis + 1] = w->strides[axis];
  }
  int32_t skip = groups == 1 ? 1 : 0, rank = w->rank + 1 - skip;
  int status = nd4c_onednn_desc(dnn, &op->given, rank, shape + skip, w->dtype, strides + skip);
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_memory_desc_create_with_tag(any, rank, shape + skip, nd4c_onednn_dtype(w->dtype), DNN_TAG_ANY);
  }
  return status;
}

static int describe_bias(const nd4c_onednn *dnn, nd4c_onednn_operand *op, const nd4c_tensor *bias) {
  const int64_t stride = 1;
  return nd4c_onednn_desc(dnn, &op->wanted, 1, bias->shape, bias->dtype, &stride);
}

void nd4c_onednn_describe_window(const nd4c_ref_window *window, const int64_t *y, bool transposed,
                                 nd4c_onednn_window *at) {
  for (int32_t i = 0; i < window->spatial; i++) {
    int64_t reach = (window->kernel[i] - 1) * window->dilation[i] + 1;
    at->stride[i] = window->stride[i];
    at->dilation[i] = window->dilation[i] - 1;
    at->begin[i] = window->pad_begin[i];
    /* The padding that the last window needs. oneDNN accepts no more; it is negative if the last window ends before the
     * input does. */
    at->end[i] = transposed ? (window->input[i] - 1) * at->stride[i] + reach - at->begin[i] - y[i]
                            : (y[i] - 1) * at->stride[i] + reach - window->input[i] - at->begin[i];
  }
}

/* A bound of the result as the second operand of post-op `number`. */
static int add_bound(nd4c_onednn_node *node, nd4c_onednn_fixed *fixed, int number, int32_t rank, float bound) {
  int64_t ones[MAX_RANK];
  float *data = nd4c_cpu_host->allocate(sizeof *data);
  if (data == NULL) {
    return DNN_OUT_OF_MEMORY;
  }
  for (int32_t i = 0; i < rank; i++) {
    ones[i] = 1;
  }
  *data = bound;
  fixed->argument = DNN_ARG_POST_OP(number) | DNN_ARG_SRC_1;
  fixed->data = data; /* the node frees it */
  return nd4c_onednn_desc(node->dnn, &fixed->desc, rank, ones, ND4C_FLOAT32, ones);
}

static int64_t activation_of(const nd4c_call *call) {
  return ND4C_INT_OF(call, conv_activation);
}

/* Bounds in place of relu and relu6, where oneDNN would keep the code of a function for each convolution. */
static int add_bounds(nd4c_onednn_node *node, int32_t rank, int64_t activation) {
  const int first = node->operands[ND4C_ONEDNN_ADDEND].present ? 1 : 0;
  if (!node->dnn->leaks_functions || (activation != ND4C_ACTIVATION_RELU && activation != ND4C_ACTIVATION_RELU6)) {
    return DNN_SUCCESS;
  }
  const int status = add_bound(node, &node->fixed[0], first, rank, 0);
  return status == DNN_SUCCESS && activation == ND4C_ACTIVATION_RELU6
             ? add_bound(node, &node->fixed[1], first + 1, rank, 6)
             : status;
}

static int make_conv(nd4c_onednn_node *node, const nd4c_call *call, bool transposed, const struct dnnl_memory_desc *any,
                     const struct dnnl_memory_desc *bound) {
  const nd4c_onednn *dnn = node->dnn;
  nd4c_onednn_operand *op = node->operands;
  nd4c_ref_window window;
  nd4c_onednn_window at;
  (transposed ? nd4c_cpu_conv_transpose_window : nd4c_cpu_conv_window)(call, &window);
  nd4c_onednn_describe_window(&window, call->outputs[0].shape + 2, transposed, &at);
  dnn_attr attr = NULL;
  int status = nd4c_onednn_attr_bounded(dnn, &attr, op[ND4C_ONEDNN_ADDEND].wanted, nd4c_onednn_node_fuses(node), bound);
  if (status == DNN_SUCCESS && transposed) {
    status = dnn->dnnl_deconvolution_forward_primitive_desc_create(
        &node->step.desc, dnn->engine, DNN_FORWARD_INFERENCE, DNN_DECONVOLUTION_DIRECT, op[ND4C_ONEDNN_X].wanted, any,
        op[ND4C_ONEDNN_BIAS].wanted, op[ND4C_ONEDNN_Y].wanted, at.stride, at.dilation, at.begin, at.end, attr);
  } else if (status == DNN_SUCCESS) {
    status = dnn->dnnl_convolution_forward_primitive_desc_create(
        &node->step.desc, dnn->engine, DNN_FORWARD_INFERENCE, DNN_CONVOLUTION_DIRECT, op[ND4C_ONEDNN_X].wanted, any,
        op[ND4C_ONEDNN_BIAS].wanted, op[ND4C_ONEDNN_Y].wanted, at.stride, at.dilation, at.begin, at.end, attr);
  }
  if (attr != NULL) {
    dnn->dnnl_primitive_attr_destroy(attr);
  }
  return status;
}

/* Whether the primitive applies its activation by functions of C++ ("ref:any", "x64:gemm:jit"): its sigmoid of NaN is
 * 0, and no flag tells. With a second operand, a bound, it takes forty times as long as the convolution does. */
static bool is_scalar(const nd4c_onednn_node *node) {
  const char *name = nd4c_onednn_step_name(node->dnn, &node->step);
  return nd4c_onednn_node_fuses(node) != ND4C_ACTIVATION_NONE &&
         (strstr(name, "ref") != NULL || strstr(name, "gemm") != NULL);
}

static int describe_primitive(nd4c_onednn_node *node, const nd4c_call *call, bool transposed,
                              const struct dnnl_memory_desc *any) {
  int status = add_bounds(node, call->outputs[0].rank, nd4c_onednn_node_fuses(node));
  if (status == DNN_SUCCESS) {
    status = make_conv(node, call, transposed, any, node->fixed[0].desc);
  }
  if (status == DNN_SUCCESS && is_scalar(node)) {
    node->dnn->dnnl_primitive_desc_destroy(node->step.desc);
    node->step.desc = NULL;
    nd4c_onednn_node_drop_fixed(node);
    node->apart = true;
    status = make_conv(node, call, transposed, any, NULL);
  }
  return status;
}

/* -- windows of one cell ---------------------------------------------------------------------------------------- */

/* In f32: with few channels oneDNN multiplies bfloat16 without AMX, which took three to four times as long. */
static bool is_pointwise(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  nd4c_ref_window window;
  nd4c_cpu_conv_window(call, &window);
  bool single = x->dtype == ND4C_FLOAT32 && ND4C_INT_OF(call, conv_groups) == 1;
  for (int32_t i = 0; i < window.spatial; i++) {
    single = single && w->shape[i + 2] == 1 && window.stride[i] == 1 && window.pad_begin[i] == 0 &&
             x->shape[i + 2] == y->shape[i + 2];
  }
  return single;
}

/* Channels-last images as a matrix with a row for each cell; rows may have gaps. DNN_UNIMPLEMENTED: they are not one.
 */
static int describe_rows(const nd4c_onednn *dnn, dnn_desc *desc, const nd4c_tensor *x) {
  int64_t shape[] = {1, x->shape[1]}, strides[] = {x->shape[1], 1};
  bool one = x->shape[1] == 1 || x->strides[1] == 1;
  for (int32_t i = x->rank - 1; i >= 1; i--) {
    const int32_t axis = i == 1 ? 0 : i; /* the batch is the outermost one */
    if (x->shape[axis] > 1) {
      strides[0] = shape[0] == 1 ? x->strides[axis] : strides[0];
      one = one && x->strides[axis] == strides[0] * shape[0];
      shape[0] *= x->shape[axis];
    }
  }
  return one && strides[0] >= shape[1] ? nd4c_onednn_desc(dnn, desc, 2, shape, x->dtype, strides) : DNN_UNIMPLEMENTED;
}

static int describe_pointwise_operand(const nd4c_onednn *dnn, int32_t operand, const nd4c_tensor *tensor,
                                      dnn_desc *desc) {
  if (operand == ND4C_ONEDNN_BIAS) {
    const int64_t shape[] = {1, tensor->shape[0]}, strides[] = {tensor->shape[0], 1};
    return nd4c_onednn_desc(dnn, desc, 2, shape, tensor->dtype, strides);
  }
  if (operand == ND4C_ONEDNN_W) {
    const int64_t shape[] = {tensor->shape[1], tensor->shape[0]}, strides[] = {tensor->strides[1], tensor->strides[0]};
    return nd4c_onednn_desc(dnn, desc, 2, shape, tensor->dtype, strides);
  }
  return describe_rows(dnn, desc, tensor);
}

static int make_product(const nd4c_onednn_node *node, const dnn_desc *descs, const nd4c_tensor *w,
                        dnn_primitive_desc *product) {
  const nd4c_onednn *dnn = node->dnn;
  const int64_t shape[] = {w->shape[1], w->shape[0]};
  dnn_desc any = NULL;
  dnn_attr attr = NULL;
  int status = nd4c_onednn_attr(dnn, &attr, descs[ND4C_ONEDNN_ADDEND], nd4c_onednn_node_fuses(node));
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_memory_desc_create_with_tag(&any, 2, shape, nd4c_onednn_dtype(w->dtype), DNN_TAG_ANY);
  }
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_matmul_primitive_desc_create(product, dnn->engine, descs[ND4C_ONEDNN_X],
                                                    nd4c_onednn_node_weights(node, any), descs[ND4C_ONEDNN_BIAS],
                                                    descs[ND4C_ONEDNN_Y], attr);
  }
  if (any != NULL) {
    dnn->dnnl_memory_desc_destroy(any);
  }
  if (attr != NULL) {
    dnn->dnnl_primitive_attr_destroy(attr);
  }
  return status;
}

/* The convolution as a product, if oneDNN has a brgemm for it. It is as fast as the convolution (28 layers of four
 * networks: 0.94 to 1.04 of its time, mean 1.00), reads images that are parts of others where they lie, and leaves
 * nothing: oneDNN 3.2 keeps the kernels of each brgemm convolution until the process ends, 43 small blocks that hold as
 * many pages of the heap. False, and the node is unchanged: it is described as a convolution. */
static bool describe_pointwise(nd4c_onednn_node *node, const nd4c_call *call) {
  const nd4c_onednn *dnn = node->dnn;
  dnn_desc descs[ND4C_ONEDNN_OPERANDS] = {NULL};
  dnn_primitive_desc product = NULL;
  const char *name = "";
  int status = DNN_SUCCESS;
  for (int32_t i = 0; i < ND4C_ONEDNN_OPERANDS && status == DNN_SUCCESS; i++) {
    const nd4c_onednn_operand *op = &node->operands[i];
    status = op->present ? describe_pointwise_operand(dnn, i, nd4c_onednn_operand_tensor(call, op), &descs[i]) : status;
  }
  if (status == DNN_SUCCESS) {
    status = make_product(node, descs, &call->inputs[ND4C_IN_conv_w], &product);
  }
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_primitive_desc_query(product, DNN_QUERY_NAME, 0, &name);
  }
  const bool taken = status == DNN_SUCCESS && strncmp(name, "brg", 3) == 0;
  for (int32_t i = 0; i < ND4C_ONEDNN_OPERANDS; i++) {
    if (taken) {
      *(i == ND4C_ONEDNN_W ? &node->operands[i].given : &node->operands[i].wanted) = descs[i];
    } else if (descs[i] != NULL) {
      dnn->dnnl_memory_desc_destroy(descs[i]);
    }
  }
  if (taken) {
    node->operands[ND4C_ONEDNN_W].exchanged = 1;
    node->step.desc = product;
  } else if (product != NULL) {
    dnn->dnnl_primitive_desc_destroy(product);
  }
  return taken;
}

/* -- any window -------------------------------------------------------------------------------------------------- */

static int describe(nd4c_onednn_node *node, const nd4c_call *call, bool transposed) {
  const nd4c_onednn *dnn = node->dnn;
  if (!transposed && is_pointwise(call) && describe_pointwise(node, call)) {
    return DNN_SUCCESS;
  }
  nd4c_onednn_operand *op = node->operands;
  int64_t groups = call->attrs[transposed ? ND4C_ATTR_conv_transpose_groups : ND4C_ATTR_conv_groups].as.i;
  int status = DNN_SUCCESS;
  dnn_desc any = NULL;
  for (int32_t i = 0; i < ND4C_ONEDNN_OPERANDS && status == DNN_SUCCESS; i++) {
    if (!op[i].present) {
      continue;
    }
    const nd4c_tensor *tensor = nd4c_onednn_operand_tensor(call, &op[i]);
    status = i == ND4C_ONEDNN_W      ? nd4c_onednn_describe_weights(dnn, &op[i], tensor, groups, transposed, &any)
             : i == ND4C_ONEDNN_BIAS ? describe_bias(dnn, &op[i], tensor)
                                     : nd4c_onednn_describe_image(dnn, &op[i], tensor);
  }
  if (status == DNN_SUCCESS) {
    status = describe_primitive(node, call, transposed, nd4c_onednn_node_weights(node, any));
  }
  if (any != NULL) {
    dnn->dnnl_memory_desc_destroy(any);
  }
  return status;
}

static int describe_conv(nd4c_onednn_node *node, const nd4c_call *call) {
  return describe(node, call, false);
}

static int describe_conv_transpose(nd4c_onednn_node *node, const nd4c_call *call) {
  return describe(node, call, true);
}

static double conv_multiplications(const nd4c_call *call) {
  return nd4c_onednn_conv_multiplications(call, &call->inputs[ND4C_IN_conv_w]);
}

static const nd4c_onednn_kind conv_kind = {
    .activation = activation_of, .describe = describe_conv, .multiplications = conv_multiplications};

static const int conv_inputs[ND4C_ONEDNN_OPERANDS] = {ND4C_IN_conv_x, ND4C_IN_conv_w, -1, ND4C_IN_conv_bias,
                                                      ND4C_IN_conv_addend};

static bool conv_wants(const nd4c_call *call, int32_t input, nd4c_layout *layout) {
  return nd4c_onednn_node_wants(call, input, conv_inputs, &conv_kind, layout);
}

static nd4c_status conv_pack(const nd4c_call *call, int32_t input, const nd4c_layout *layout, const nd4c_tensor *to) {
  (void)input;
  return nd4c_onednn_node_pack(call, conv_inputs, &conv_kind, layout, to);
}

static nd4c_status conv_prepare(const nd4c_call *call, void **state) {
  return nd4c_onednn_node_prepare(call, conv_inputs, &conv_kind, state);
}

/* -- conv_transpose --------------------------------------------------------------------------------------------- */

static const char *refuse_transposed(const nd4c_call *call) {
  const char *why = nd4c_onednn_refuse_conv(call, nd4c_cpu_input(call, ND4C_IN_conv_transpose_bias));
  if (why != NULL) {
    return why;
  }
  nd4c_ref_window window;
  nd4c_cpu_conv_transpose_window(call, &window);
  for (int32_t i = 0; i < window.spatial; i++) {
    int64_t reach = (window.kernel[i] - 1) * window.dilation[i] + 1;
    int64_t end =
        (window.input[i] - 1) * window.stride[i] + reach - window.pad_begin[i] - call->outputs[0].shape[i + 2];
    if (end < 0 || end >= reach || window.pad_begin[i] >= reach) {
      return "the result goes beyond what the windows write, or cuts whole windows off";
    }
  }
  return NULL;
}

static bool transposed_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const char *why = refuse_transposed(call);
  return nd4c_onednn_accept(why, call->inputs[ND4C_IN_conv_transpose_x].dtype, reason, reason_size);
}

/* Each element of x meets the weights of its channel. */
static double transposed_multiplications(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_transpose_x], *w = &call->inputs[ND4C_IN_conv_transpose_w];
  return (double)x->size * (double)(w->size / w->shape[0]); /* neither is empty */
}

static const nd4c_onednn_kind transposed_kind = {.describe = describe_conv_transpose,
                                                 .multiplications = transposed_multiplications};

static const int transposed_inputs[ND4C_ONEDNN_OPERANDS] = {ND4C_IN_conv_transpose_x, ND4C_IN_conv_transpose_w, -1,
                                                            ND4C_IN_conv_transpose_bias, -1};

static bool transposed_wants(const nd4c_call *call, int32_t input, nd4c_layout *layout) {
  return nd4c_onednn_node_wants(call, input, transposed_inputs, &transposed_kind, layout);
}

static nd4c_status transposed_pack(const nd4c_call *call, int32_t input, const nd4c_layout *layout,
                                   const nd4c_tensor *to) {
  (void)input;
  return nd4c_onednn_node_pack(call, transposed_inputs, &transposed_kind, layout, to);
}

static nd4c_status conv_transpose_prepare(const nd4c_call *call, void **state) {
  return nd4c_onednn_node_prepare(call, transposed_inputs, &transposed_kind, state);
}

const nd4c_kernel *const nd4c_cpu_onednn_window_conv_kernels[] = {
    ND4C_CPU_KERNEL("onednn", conv, "conv", ND4C_CPU_PRIORITY_ONEDNN,
                    ND4C_DTYPE_BIT(ND4C_FLOAT32) | (ND4C_CPU_FLOATS & ND4C_DTYPE_BIT(ND4C_BFLOAT16)), conv_usable,
                    nd4c_onednn_node_run, .prepare = conv_prepare, .unprepare = nd4c_onednn_node_unprepare,
                    .scratch_bytes = nd4c_onednn_node_scratch_bytes, .preferred_order = nd4c_onednn_channels_last,
                    .flags = ND4C_KERNEL_SHARES_STATE, .wants_layout = conv_wants, .pack = conv_pack,
                    .shares_unpacked = nd4c_onednn_node_shares_unpacked),
    ND4C_CPU_KERNEL("onednn", conv_transpose, "conv_transpose", ND4C_CPU_PRIORITY_ONEDNN,
                    ND4C_DTYPE_BIT(ND4C_FLOAT32) | (ND4C_CPU_FLOATS & ND4C_DTYPE_BIT(ND4C_BFLOAT16)), transposed_usable,
                    nd4c_onednn_node_run, .prepare = conv_transpose_prepare, .unprepare = nd4c_onednn_node_unprepare,
                    .scratch_bytes = nd4c_onednn_node_scratch_bytes, .preferred_order = nd4c_onednn_channels_last,
                    .flags = ND4C_KERNEL_SHARES_STATE, .wants_layout = transposed_wants, .pack = transposed_pack,
                    .shares_unpacked = nd4c_onednn_node_shares_unpacked),
    NULL};
