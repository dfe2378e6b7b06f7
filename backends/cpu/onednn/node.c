/* Nodes: a primitive with the reorders around it, and packed constants. contraction.c, window_conv.c and
 * quantization_conv.c use a node as the prepared state of their kernels. */
#include "backends/cpu/onednn/onednn.h"
#include "backends/cpu/support/contraction_strips.h"

/* The arrangement of the weights that the primitive of step.desc picked. */
static int find_weights(nd4c_onednn_node *node) {
  const struct dnnl_memory_desc *weights =
      node->dnn->dnnl_primitive_desc_query_md(node->step.desc, DNN_QUERY_WEIGHTS, 0);
  return node->dnn->dnnl_memory_desc_clone(&node->operands[ND4C_ONEDNN_W].wanted, weights);
}

static int make_primitive(nd4c_onednn_node *node) {
  const nd4c_onednn *dnn = node->dnn;
  int status = DNN_SUCCESS;
  for (int32_t i = 0; i < ND4C_ONEDNN_OPERANDS && status == DNN_SUCCESS; i++) {
    if (node->operands[i].present) {
      status = nd4c_onednn_step_add(dnn, &node->step, node->operands[i].argument, node->operands[i].wanted);
    }
  }
  for (int32_t i = 0; i < ND4C_ONEDNN_FIXED && status == DNN_SUCCESS; i++) {
    if (node->fixed[i].argument != 0) {
      status = nd4c_onednn_step_add(dnn, &node->step, node->fixed[i].argument, node->fixed[i].desc);
    }
  }
  return status == DNN_SUCCESS ? nd4c_onednn_step_make(dnn, &node->step) : status;
}

/* Whether nd4c has packed the weights into the layout that wants_layout gave. */
static bool is_packed(const nd4c_onednn_node *node, const nd4c_call *call) {
  return nd4c_onednn_operand_tensor(call, &node->operands[ND4C_ONEDNN_W])->layout != ND4C_LAYOUT_STRIDED;
}

/* oneDNN describes weights as its primitive has them, and a layout describes the tensor. */
static void exchange_axes(nd4c_layout *layout, int32_t axis) {
  int64_t *const lists[] = {layout->shape, layout->padded, layout->strides};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    const int64_t number = lists[i][axis];
    lists[i][axis] = lists[i][axis - 1];
    lists[i][axis - 1] = number;
  }
  for (int32_t k = 0; k < layout->block_count; k++) {
    const int32_t along = layout->block_axes[k];
    layout->block_axes[k] = along == axis ? axis - 1 : along == axis - 1 ? axis : along;
  }
}

/* The layout that the primitive needs of the weights. False if they have it already, or if nd4c_layout cannot describe
 * it. */
static bool wanted_layout(const nd4c_onednn_node *node, const nd4c_call *call, nd4c_layout *layout) {
  const nd4c_onednn_operand *op = &node->operands[ND4C_ONEDNN_W];
  if (node->dnn->dnnl_memory_desc_equal(op->given, op->wanted) ||
      !nd4c_onednn_layout(node->dnn, op->wanted, nd4c_onednn_operand_tensor(call, op)->dtype, layout)) {
    return false;
  }
  if (op->exchanged > 0) {
    exchange_axes(layout, op->exchanged);
  }
  nd4c_cpu_strips_share(layout);
  return true;
}

static int make_reorders(nd4c_onednn_node *node, const nd4c_call *call) {
  const nd4c_onednn *dnn = node->dnn;
  int64_t scratchpad = node->step.scratchpad_bytes;
  for (int32_t i = 0; i < ND4C_ONEDNN_OPERANDS; i++) {
    nd4c_onednn_operand *op = &node->operands[i];
    if (i == ND4C_ONEDNN_W) {
      op->moved = !is_packed(node, call) && !dnn->dnnl_memory_desc_equal(op->given, op->wanted);
    }
    if (!op->present || !op->moved) {
      continue;
    }
    int status = i == ND4C_ONEDNN_Y ? nd4c_onednn_step_reorder(dnn, &op->reorder, op->wanted, op->given)
                                    : nd4c_onednn_step_reorder(dnn, &op->reorder, op->given, op->wanted);
    if (status != DNN_SUCCESS) {
      return status;
    }
    scratchpad = op->reorder.scratchpad_bytes > scratchpad ? op->reorder.scratchpad_bytes : scratchpad;
  }
  node->scratch_bytes = nd4c_onednn_align(scratchpad);
  return DNN_SUCCESS;
}

/* Where the reordered operands of a run lie; packed weights lie elsewhere. */
static void place_operands(nd4c_onednn_node *node) {
  for (int32_t i = 0; i < ND4C_ONEDNN_OPERANDS; i++) {
    nd4c_onednn_operand *op = &node->operands[i];
    if (op->present && op->moved && !(i == ND4C_ONEDNN_W && node->packed != NULL)) {
      op->offset = node->scratch_bytes;
      node->scratch_bytes += nd4c_onednn_align((int64_t)node->dnn->dnnl_memory_desc_get_size(op->wanted));
    }
  }
}

/* Where zero points that come with a run lie. */
static void place_fixed(nd4c_onednn_node *node) {
  for (int32_t i = 0; i < ND4C_ONEDNN_FIXED; i++) {
    if (node->fixed[i].argument != 0 && node->fixed[i].data == NULL) {
      node->fixed[i].offset = node->scratch_bytes;
      node->scratch_bytes += nd4c_onednn_align(sizeof(int32_t));
    }
  }
}

/* Moves the weights of the call to memory in the wanted arrangement. */
static nd4c_status move_weights(nd4c_onednn_node *node, const nd4c_call *call, void *to) {
  nd4c_onednn_operand *op = &node->operands[ND4C_ONEDNN_W];
  size_t scratchpad = (size_t)op->reorder.scratchpad_bytes;
  void *memory = scratchpad > 0 ? nd4c_cpu_host->allocate_pages(scratchpad) : NULL;
  ND4C_CPU_FAIL_IF(scratchpad > 0 && memory == NULL, ND4C_MEMORY, "%s: no memory for %zu bytes to pack weights in",
                   call->op->name, scratchpad);
  void *from = nd4c_onednn_operand_tensor(call, op)->data;
  nd4c_status status = nd4c_onednn_step_run(node->dnn, &op->reorder, (void *[]){from, to}, memory);
  if (memory != NULL) {
    nd4c_cpu_host->free_pages(memory, scratchpad);
  }
  return status;
}

/* Packs CONSTANT weights into an arrangement that nd4c_layout cannot describe, or those of a kernel that does not ask
 * nd4c to. The others nd4c packs itself, if it has the memory. */
static nd4c_status pack_weights(nd4c_onednn_node *node, const nd4c_call *call) {
  nd4c_onednn_operand *op = &node->operands[ND4C_ONEDNN_W];
  const nd4c_tensor *w = nd4c_onednn_operand_tensor(call, op);
  nd4c_layout layout = {.struct_size = ND4C_SIZE_OF(nd4c_layout)};
  if (!op->moved || (w->flags & ND4C_TENSOR_CONSTANT) == 0 || w->data == NULL ||
      (!node->packs && wanted_layout(node, call, &layout))) {
    return ND4C_OK;
  }
  if (node->origin != NULL && node->origin->packed != NULL) {
    node->packed = node->origin->packed;
    return ND4C_OK;
  }
  size_t bytes = node->dnn->dnnl_memory_desc_get_size(op->wanted);
  node->packed = nd4c_cpu_host->allocate_pages(bytes);
  ND4C_CPU_FAIL_IF(node->packed == NULL, ND4C_MEMORY, "%s: no memory for %zu bytes of packed weights", call->op->name,
                   bytes);
  node->packed_bytes = bytes;
  return move_weights(node, call, node->packed);
}

/* Checks that weights which nd4c has packed have the layout that the primitive needs. */
static nd4c_status check_packed(const nd4c_onednn_node *node, const nd4c_call *call) {
  nd4c_layout layout = {.struct_size = ND4C_SIZE_OF(nd4c_layout)};
  if (!is_packed(node, call) ||
      (wanted_layout(node, call, &layout) &&
       nd4c_layout_equal(&layout, nd4c_onednn_operand_tensor(call, &node->operands[ND4C_ONEDNN_W])->arrangement))) {
    return ND4C_OK;
  }
  return nd4c_cpu_host->fail(ND4C_INTERNAL, "%s: oneDNN wants weights in another arrangement than when it was asked",
                             call->op->name);
}

void nd4c_onednn_node_drop_fixed(nd4c_onednn_node *node) {
  for (int32_t i = 0; i < ND4C_ONEDNN_FIXED; i++) {
    if (node->fixed[i].desc != NULL) {
      node->dnn->dnnl_memory_desc_destroy(node->fixed[i].desc);
    }
    nd4c_cpu_host->free(node->fixed[i].data);
    node->fixed[i] = (nd4c_onednn_fixed){.argument = 0};
  }
}

void nd4c_onednn_node_unprepare(void *state) {
  nd4c_onednn_node *node = state;
  const nd4c_onednn *dnn = node->dnn;
  for (int32_t i = 0; i < ND4C_ONEDNN_OPERANDS; i++) {
    nd4c_onednn_operand *op = &node->operands[i];
    nd4c_onednn_step_free(dnn, &op->reorder);
    if (op->given != NULL) {
      dnn->dnnl_memory_desc_destroy(op->given);
    }
    if (op->wanted != NULL) {
      dnn->dnnl_memory_desc_destroy(op->wanted);
    }
  }
  nd4c_onednn_node_drop_fixed(node);
  nd4c_onednn_step_free(dnn, &node->step);
  if (node->packed_bytes > 0) {
    nd4c_cpu_host->free_pages(node->packed, node->packed_bytes);
  }
  nd4c_cpu_host->free(node);
}

bool nd4c_onednn_node_shares_unpacked(const void *state) {
  const nd4c_onednn_node *node = state;
  return node->packed == NULL;
}

/* Makes a node with the description of its primitive and the arrangement of the weights. origin: as
 * nd4c_onednn_node.origin, for a node without the activation. Sets the OpenMP width; *before gets the previous one. */
static nd4c_status node_start(const nd4c_call *call, const int *inputs, const nd4c_onednn_kind *kind,
                              const nd4c_onednn_node *origin, int *before, nd4c_onednn_node **result) {
  static const int arguments[ND4C_ONEDNN_OPERANDS] = {DNN_ARG_SRC, DNN_ARG_WEIGHTS, DNN_ARG_DST, DNN_ARG_BIAS,
                                                      DNN_ARG_POST_OP(0) | DNN_ARG_SRC_1};
  const nd4c_onednn *dnn = NULL;
  void *memory = NULL;
  ND4C_BACKEND_TRY(nd4c_onednn_take(call, sizeof(nd4c_onednn_node), &dnn, &memory));
  nd4c_onednn_node *node = memory;
  node->dnn = dnn;
  node->kind = kind;
  node->width = nd4c_onednn_width(call, kind->multiplications(call), 1);
  node->activation = kind->activation != NULL ? kind->activation(call) : ND4C_ACTIVATION_NONE;
  node->origin = origin;
  node->apart = origin != NULL || (node->activation != ND4C_ACTIVATION_NONE && !nd4c_onednn_can_tell(dnn, node->width));
  for (int32_t i = 0; i < ND4C_ONEDNN_OPERANDS; i++) {
    node->operands[i].input = inputs[i];
    node->operands[i].argument = arguments[i];
    node->operands[i].present = i == ND4C_ONEDNN_Y || (inputs[i] >= 0 && nd4c_cpu_input(call, inputs[i]) != NULL);
  }
  *before = nd4c_openmp_enter(&dnn->omp, node->width);
  int made = kind->describe(node, call);
  if (made == DNN_SUCCESS) {
    made = find_weights(node);
  }
  if (made == DNN_SUCCESS) {
    *result = node;
    return ND4C_OK;
  }
  nd4c_openmp_leave(&dnn->omp, *before);
  nd4c_onednn_node_unprepare(node);
  return nd4c_onednn_fail("making the primitive", made);
}

static nd4c_status node_finish(nd4c_onednn_node *node, const nd4c_call *call) {
  ND4C_BACKEND_TRY(check_packed(node, call));
  int made = make_primitive(node);
  nd4c_onednn_cache_count(call);
  if (made == DNN_SUCCESS) {
    made = make_reorders(node, call);
  }
  return made == DNN_SUCCESS ? pack_weights(node, call) : nd4c_onednn_fail("making the primitive", made);
}

static nd4c_status node_prepare(const nd4c_call *call, const int *inputs, const nd4c_onednn_kind *kind,
                                const nd4c_onednn_node *origin, nd4c_onednn_node **result) {
  nd4c_onednn_node *node = NULL;
  int before = 0;
  ND4C_BACKEND_TRY(node_start(call, inputs, kind, origin, &before, &node));
  nd4c_status status = node_finish(node, call);
  nd4c_openmp_leave(&node->dnn->omp, before);
  if (status != ND4C_OK) {
    nd4c_onednn_node_unprepare(node);
    return status;
  }
  place_operands(node);
  place_fixed(node);
  *result = node;
  return ND4C_OK;
}

nd4c_status nd4c_onednn_node_prepare(const nd4c_call *call, const int *inputs, const nd4c_onednn_kind *kind,
                                     void **state) {
  nd4c_onednn_node *node = NULL;
  ND4C_BACKEND_TRY(node_prepare(call, inputs, kind, NULL, &node));
  *state = node;
  return ND4C_OK;
}

nd4c_status nd4c_onednn_node_prepare_apart(const nd4c_onednn_node *node, const nd4c_call *call,
                                           nd4c_onednn_node **result) {
  int inputs[ND4C_ONEDNN_OPERANDS];
  for (int32_t i = 0; i < ND4C_ONEDNN_OPERANDS; i++) {
    inputs[i] = node->operands[i].input;
  }
  return node_prepare(call, inputs, node->kind, node, result);
}

/* -- packing ------------------------------------------------------------------------------------------------------ */

bool nd4c_onednn_node_wants(const nd4c_call *call, int32_t input, const int *inputs, const nd4c_onednn_kind *kind,
                            nd4c_layout *layout) {
  nd4c_onednn_node *node = NULL;
  int before = 0;
  if (input != inputs[ND4C_ONEDNN_W] || node_start(call, inputs, kind, NULL, &before, &node) != ND4C_OK) {
    return false; /* prepare will tell why */
  }
  bool wants = wanted_layout(node, call, layout);
  nd4c_openmp_leave(&node->dnn->omp, before);
  nd4c_onednn_node_unprepare(node);
  return wants;
}

nd4c_status nd4c_onednn_node_pack(const nd4c_call *call, const int *inputs, const nd4c_onednn_kind *kind,
                                  const nd4c_layout *layout, const nd4c_tensor *to) {
  nd4c_onednn_node *node = NULL;
  nd4c_layout wanted = {.struct_size = ND4C_SIZE_OF(nd4c_layout)};
  int before = 0;
  nd4c_status status = node_start(call, inputs, kind, NULL, &before, &node);
  if (status != ND4C_OK) {
    return status;
  }
  nd4c_onednn_operand *op = &node->operands[ND4C_ONEDNN_W];
  int made = nd4c_onednn_step_reorder(node->dnn, &op->reorder, op->given, op->wanted);
  if (made != DNN_SUCCESS) {
    status = nd4c_onednn_fail("making the reorder of weights", made);
  } else if (!wanted_layout(node, call, &wanted) || !nd4c_layout_equal(&wanted, layout)) {
    status = nd4c_cpu_host->fail(
        ND4C_INTERNAL, "%s: oneDNN wants weights in another arrangement than when it was asked", call->op->name);
  } else {
    status = move_weights(node, call, to->data);
  }
  nd4c_openmp_leave(&node->dnn->omp, before);
  nd4c_onednn_node_unprepare(node);
  return status;
}

/* -- running ---------------------------------------------------------------------------------------------------- */

int64_t nd4c_onednn_node_scratch_bytes(const nd4c_call *call) {
  const nd4c_onednn_node *node = call->state;
  return node->scratch_bytes;
}

/* The zero point of a run as int32, in scratch. */
static void *read_zero(const nd4c_call *call, const nd4c_onednn_fixed *fixed) {
  const nd4c_tensor *zero = &call->inputs[fixed->input];
  int32_t *number = (int32_t *)(void *)((char *)call->scratch + fixed->offset);
  *number = zero->dtype == ND4C_INT8 ? *(const int8_t *)zero->data : *(const uint8_t *)zero->data;
  return number;
}

nd4c_status nd4c_onednn_node_run_steps(nd4c_onednn_node *node, const nd4c_call *call) {
  void *data[ND4C_ONEDNN_OPERANDS + ND4C_ONEDNN_FIXED];
  int32_t count = 0, y_at = 0;
  char *scratch = call->scratch;
  for (int32_t i = 0; i < ND4C_ONEDNN_OPERANDS; i++) {
    nd4c_onednn_operand *op = &node->operands[i];
    if (!op->present) {
      continue;
    }
    void *given = nd4c_onednn_operand_tensor(call, op)->data;
    void *wanted = !op->moved                                   ? given
                   : i == ND4C_ONEDNN_W && node->packed != NULL ? node->packed
                                                                : scratch + op->offset;
    if (i != ND4C_ONEDNN_Y && op->moved && wanted != node->packed) {
      nd4c_status status = nd4c_onednn_step_run(node->dnn, &op->reorder, (void *[]){given, wanted}, scratch);
      if (status != ND4C_OK) {
        return status;
      }
    }
    y_at = i == ND4C_ONEDNN_Y ? count : y_at;
    data[count++] = wanted;
  }
  for (int32_t i = 0; i < ND4C_ONEDNN_FIXED; i++) {
    if (node->fixed[i].argument != 0) {
      data[count++] = node->fixed[i].data != NULL ? node->fixed[i].data : read_zero(call, &node->fixed[i]);
    }
  }
  nd4c_status status = nd4c_onednn_step_run(node->dnn, &node->step, data, scratch);
  if (status == ND4C_OK && node->operands[ND4C_ONEDNN_Y].moved) {
    void *to = call->outputs[0].data;
    status =
        nd4c_onednn_step_run(node->dnn, &node->operands[ND4C_ONEDNN_Y].reorder, (void *[]){data[y_at], to}, scratch);
  }
  return status;
}

nd4c_status nd4c_onednn_node_run(const nd4c_call *call) {
  nd4c_onednn_node *node = call->state;
  int before = nd4c_openmp_enter(&node->dnn->omp, node->width);
  nd4c_status status = node->activation == ND4C_ACTIVATION_NONE ? nd4c_onednn_node_run_steps(node, call)
                                                                : nd4c_onednn_run_exactly(node, call);
  nd4c_openmp_leave(&node->dnn->omp, before);
  return status;
}
