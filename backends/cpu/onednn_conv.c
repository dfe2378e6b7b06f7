/* conv on oneDNN. The primitive always works on channels-last activations, where its fastest implementations are and
 * which the graph's layout pass gives it; operands in another order are reordered through scratch. CONSTANT weights
 * are packed once. */
#include <stdio.h>

#include "backends/cpu/onednn.h"

enum { MAX_RANK = 5, OPERAND_COUNT = 5 };

/* Order of operands in `data` of a run. */
enum { X, W, Y, BIAS, ADDEND };

/* How one operand reaches the primitive. */
typedef struct operand {
  int input;    /* position among the call's inputs, -1: the output */
  int argument; /* oneDNN's number */
  bool present;
  dnn_desc given, wanted;
  nd4c_onednn_step reorder; /* used if `moved` */
  bool moved;
  int64_t offset; /* in scratch, of the reordered operand */
} operand;

typedef struct conv_state {
  const nd4c_onednn *dnn;
  int32_t width;
  nd4c_onednn_step step;
  operand operands[OPERAND_COUNT];
  void *packed; /* CONSTANT weights as the primitive wants them */
  size_t packed_bytes;
  int64_t scratch_bytes; /* the scratchpad of whichever step runs, then the reordered operands */
} conv_state;

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

static const char *refuse_tensor(const nd4c_tensor *tensor, nd4c_dtype dtype) {
  if (tensor->dtype != dtype) {
    return "operands of one dtype are expected";
  }
  if (tensor->size == 0) {
    return "an operand is empty";
  }
  if (!nd4c_onednn_strides_fit(tensor->rank, tensor->shape, tensor->strides)) {
    return "an operand's strides are zero, negative or overlapping";
  }
  return NULL;
}

static const char *refuse(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *y = &call->outputs[0];
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  const nd4c_tensor *addend = nd4c_cpu_input(call, ND4C_IN_conv_addend);
  const nd4c_tensor *all[] = {x, &call->inputs[ND4C_IN_conv_w], y, bias, addend};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const char *why = all[i] != NULL ? refuse_tensor(all[i], x->dtype) : NULL;
    if (why != NULL) {
      return why;
    }
  }
  if (bias != NULL && bias->size > 1 && bias->strides[0] != 1) {
    return "the bias is not contiguous";
  }
  for (int32_t axis = 0; addend != NULL && axis < y->rank; axis++) {
    if (addend->rank != y->rank || addend->shape[axis] != y->shape[axis]) {
      return "the addend's shape is not the result's";
    }
  }
  return NULL;
}

static bool conv_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const char *why = refuse(call);
  if (why != NULL) {
    snprintf(reason, reason_size, "%s", why);
    return false;
  }
  return nd4c_onednn_usable(reason, reason_size) != NULL;
}

static bool conv_preferred_order(const nd4c_call *call, int32_t *axes) {
  int32_t rank = call->outputs[0].rank;
  axes[0] = 0;
  for (int32_t axis = 2; axis < rank; axis++) {
    axes[axis - 1] = axis;
  }
  axes[rank - 1] = 1;
  return true;
}

/* -- preparing -------------------------------------------------------------------------------------------------- */

static const nd4c_tensor *operand_tensor(const nd4c_call *call, const operand *op) {
  return op->input < 0 ? &call->outputs[0] : &call->inputs[op->input];
}

/* Descriptors of an activation: as given, and channels-last. */
static int describe_activation(const nd4c_onednn *dnn, operand *op, const nd4c_tensor *tensor) {
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

/* Weights [o, c / groups, ...], with groups [groups, o / groups, c / groups, ...]; `any` lets oneDNN pick. */
static int describe_weights(const nd4c_onednn *dnn, operand *op, const nd4c_tensor *w, int64_t groups, dnn_desc *any) {
  int64_t shape[MAX_RANK + 1] = {groups, w->shape[0] / groups}, strides[MAX_RANK + 1];
  strides[0] = w->strides[0] * shape[1];
  strides[1] = w->strides[0];
  for (int32_t axis = 1; axis < w->rank; axis++) {
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

static int describe_bias(const nd4c_onednn *dnn, operand *op, const nd4c_tensor *bias) {
  const int64_t stride = 1;
  return nd4c_onednn_desc(dnn, &op->wanted, 1, bias->shape, bias->dtype, &stride);
}

static int make_convolution(conv_state *state, const nd4c_call *call, dnn_desc any) {
  const nd4c_onednn *dnn = state->dnn;
  operand *op = state->operands;
  nd4c_ref_window window;
  nd4c_cpu_conv_window(call, &window);
  dnn_dims stride, dilation, begin, end;
  for (int32_t i = 0; i < window.spatial; i++) {
    int64_t reach = (window.kernel[i] - 1) * window.dilation[i] + 1;
    stride[i] = window.stride[i];
    dilation[i] = window.dilation[i] - 1;
    begin[i] = window.pad_begin[i];
    /* What the last window needs: oneDNN accepts no more than that, and less where the window ends early. */
    end[i] = (call->outputs[0].shape[i + 2] - 1) * stride[i] + reach - window.input[i] - begin[i];
  }
  dnn_attr attr = NULL;
  int status = nd4c_onednn_attr(dnn, &attr, op[ADDEND].wanted, call->attrs[ND4C_ATTR_conv_activation].as.i);
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_convolution_forward_primitive_desc_create(
        &state->step.desc, dnn->engine, DNN_FORWARD_INFERENCE, DNN_CONVOLUTION_DIRECT, op[X].wanted, any,
        op[BIAS].wanted, op[Y].wanted, stride, dilation, begin, end, attr);
  }
  if (status == DNN_SUCCESS) {
    const struct dnnl_memory_desc *wanted = dnn->dnnl_primitive_desc_query_md(state->step.desc, DNN_QUERY_WEIGHTS, 0);
    status = dnn->dnnl_memory_desc_clone(&op[W].wanted, wanted);
  }
  for (int32_t i = 0; i < OPERAND_COUNT && status == DNN_SUCCESS; i++) {
    if (op[i].present) {
      status = nd4c_onednn_step_add(dnn, &state->step, op[i].argument, op[i].wanted);
    }
  }
  if (status == DNN_SUCCESS) {
    status = nd4c_onednn_step_make(dnn, &state->step);
  }
  if (attr != NULL) {
    dnn->dnnl_primitive_attr_destroy(attr);
  }
  return status;
}

static int make_reorders(conv_state *state) {
  const nd4c_onednn *dnn = state->dnn;
  int64_t scratchpad = state->step.scratchpad_bytes;
  for (int32_t i = 0; i < OPERAND_COUNT; i++) {
    operand *op = &state->operands[i];
    if (i == W) {
      op->moved = !dnn->dnnl_memory_desc_equal(op->given, op->wanted);
    }
    if (!op->present || !op->moved) {
      continue;
    }
    int status = i == Y ? nd4c_onednn_step_reorder(dnn, &op->reorder, op->wanted, op->given)
                        : nd4c_onednn_step_reorder(dnn, &op->reorder, op->given, op->wanted);
    if (status != DNN_SUCCESS) {
      return status;
    }
    scratchpad = op->reorder.scratchpad_bytes > scratchpad ? op->reorder.scratchpad_bytes : scratchpad;
  }
  state->scratch_bytes = nd4c_onednn_align(scratchpad);
  return DNN_SUCCESS;
}

/* Where the reordered operands of a run lie; packed weights lie elsewhere. */
static void place_operands(conv_state *state) {
  for (int32_t i = 0; i < OPERAND_COUNT; i++) {
    operand *op = &state->operands[i];
    if (op->present && op->moved && !(i == W && state->packed != NULL)) {
      op->offset = state->scratch_bytes;
      state->scratch_bytes += nd4c_onednn_align((int64_t)state->dnn->dnnl_memory_desc_get_size(op->wanted));
    }
  }
}

static nd4c_status pack_weights(conv_state *state, const nd4c_tensor *w) {
  operand *op = &state->operands[W];
  if (!op->moved || (w->flags & ND4C_TENSOR_CONSTANT) == 0 || w->data == NULL) {
    return ND4C_OK;
  }
  size_t bytes = state->dnn->dnnl_memory_desc_get_size(op->wanted);
  size_t scratchpad = (size_t)op->reorder.scratchpad_bytes;
  state->packed = nd4c_cpu_host->allocate_pages(bytes);
  void *memory = scratchpad > 0 ? nd4c_cpu_host->allocate_pages(scratchpad) : NULL;
  nd4c_status status = ND4C_OK;
  if (state->packed == NULL || (scratchpad > 0 && memory == NULL)) {
    status = nd4c_cpu_host->fail(ND4C_MEMORY, "conv: no memory for %zu bytes of packed weights", bytes);
  } else {
    state->packed_bytes = bytes;
    status = nd4c_onednn_step_run(state->dnn, &op->reorder, (void *[]){w->data, state->packed}, memory);
  }
  if (memory != NULL) {
    nd4c_cpu_host->free_pages(memory, scratchpad);
  }
  return status;
}

static void conv_unprepare(void *pointer) {
  conv_state *state = pointer;
  const nd4c_onednn *dnn = state->dnn;
  for (int32_t i = 0; i < OPERAND_COUNT; i++) {
    operand *op = &state->operands[i];
    nd4c_onednn_step_free(dnn, &op->reorder);
    if (op->given != NULL) {
      dnn->dnnl_memory_desc_destroy(op->given);
    }
    if (op->wanted != NULL) {
      dnn->dnnl_memory_desc_destroy(op->wanted);
    }
  }
  nd4c_onednn_step_free(dnn, &state->step);
  if (state->packed != NULL) {
    nd4c_cpu_host->free_pages(state->packed, state->packed_bytes);
  }
  nd4c_cpu_host->free(state);
}

static int make_all(conv_state *state, const nd4c_call *call) {
  const nd4c_onednn *dnn = state->dnn;
  operand *op = state->operands;
  int status = DNN_SUCCESS;
  dnn_desc any = NULL;
  for (int32_t i = 0; i < OPERAND_COUNT && status == DNN_SUCCESS; i++) {
    if (!op[i].present) {
      continue;
    }
    const nd4c_tensor *tensor = operand_tensor(call, &op[i]);
    status = i == W      ? describe_weights(dnn, &op[i], tensor, call->attrs[ND4C_ATTR_conv_groups].as.i, &any)
             : i == BIAS ? describe_bias(dnn, &op[i], tensor)
                         : describe_activation(dnn, &op[i], tensor);
  }
  if (status == DNN_SUCCESS) {
    status = make_convolution(state, call, any);
  }
  if (status == DNN_SUCCESS) {
    status = make_reorders(state);
  }
  if (any != NULL) {
    dnn->dnnl_memory_desc_destroy(any);
  }
  return status;
}

static nd4c_status conv_prepare(const nd4c_call *call, void **result) {
  const nd4c_onednn *dnn = nd4c_onednn_get();
  conv_state *state = nd4c_cpu_host->allocate(sizeof *state);
  if (state == NULL || dnn == NULL) {
    nd4c_cpu_host->free(state);
    return nd4c_cpu_host->fail(ND4C_MEMORY, "conv: no memory for %zu bytes of prepared state", sizeof *state);
  }
  state->dnn = dnn;
  state->width = call->width;
  const operand kinds[OPERAND_COUNT] = {
      [X] = {.input = ND4C_IN_conv_x, .argument = DNN_ARG_SRC, .present = true},
      [W] = {.input = ND4C_IN_conv_w, .argument = DNN_ARG_WEIGHTS, .present = true},
      [Y] = {.input = -1, .argument = DNN_ARG_DST, .present = true},
      [BIAS] = {.input = ND4C_IN_conv_bias, .argument = DNN_ARG_BIAS},
      [ADDEND] = {.input = ND4C_IN_conv_addend, .argument = DNN_ARG_POST_OP(0) | DNN_ARG_SRC_1},
  };
  for (int32_t i = 0; i < OPERAND_COUNT; i++) {
    state->operands[i].input = kinds[i].input;
    state->operands[i].argument = kinds[i].argument;
    state->operands[i].present = kinds[i].present || nd4c_cpu_input(call, kinds[i].input) != NULL;
  }
  int before = nd4c_onednn_enter(dnn, call->width);
  int made = make_all(state, call);
  nd4c_status status = made == DNN_SUCCESS ? pack_weights(state, &call->inputs[ND4C_IN_conv_w])
                                           : nd4c_onednn_fail("making the convolution", made);
  nd4c_onednn_leave(dnn, before);
  if (status != ND4C_OK) {
    conv_unprepare(state);
    return status;
  }
  place_operands(state);
  *result = state;
  return ND4C_OK;
}

/* -- running ---------------------------------------------------------------------------------------------------- */

static int64_t conv_scratch_bytes(const nd4c_call *call) {
  const conv_state *state = call->state;
  return state->scratch_bytes;
}

static nd4c_status run_steps(conv_state *state, const nd4c_call *call) {
  void *data[OPERAND_COUNT];
  int32_t count = 0;
  char *scratch = call->scratch;
  for (int32_t i = 0; i < OPERAND_COUNT; i++) {
    operand *op = &state->operands[i];
    if (!op->present) {
      continue;
    }
    void *given = operand_tensor(call, op)->data;
    void *wanted = !op->moved ? given : i == W && state->packed != NULL ? state->packed : scratch + op->offset;
    if (i != Y && op->moved && wanted != state->packed) {
      nd4c_status status = nd4c_onednn_step_run(state->dnn, &op->reorder, (void *[]){given, wanted}, scratch);
      if (status != ND4C_OK) {
        return status;
      }
    }
    data[count++] = wanted;
  }
  nd4c_status status = nd4c_onednn_step_run(state->dnn, &state->step, data, scratch);
  if (status == ND4C_OK && state->operands[Y].moved) {
    void *to = call->outputs[0].data;
    status = nd4c_onednn_step_run(state->dnn, &state->operands[Y].reorder, (void *[]){data[Y], to}, scratch);
  }
  return status;
}

static nd4c_status conv_run(const nd4c_call *call) {
  conv_state *state = call->state;
  int before = nd4c_onednn_enter(state->dnn, state->width);
  nd4c_status status = run_steps(state, call);
  nd4c_onednn_leave(state->dnn, before);
  return status;
}

static const nd4c_kernel onednn_conv = {
    .struct_size = ND4C_SIZE_OF(nd4c_kernel),
    .op_version = 1,
    .op = "conv",
    .engine = "onednn",
    .name = "onednn.conv",
    .priority = ND4C_CPU_PRIORITY_ONEDNN,
    .dtypes = ND4C_DTYPE_BIT(ND4C_FLOAT32) | (ND4C_CPU_FLOATS & ND4C_DTYPE_BIT(ND4C_BFLOAT16)),
    .usable = conv_usable,
    .prepare = conv_prepare,
    .unprepare = conv_unprepare,
    .scratch_bytes = conv_scratch_bytes,
    .run = conv_run,
    .preferred_order = conv_preferred_order,
};

const nd4c_kernel *const nd4c_cpu_onednn_conv_kernels[] = {&onednn_conv, NULL};
