/* Nodes: a primitive with the reorders around it, and packed constants. */
#include "backends/cpu/onednn/onednn.h"

/* The primitive of step.desc, with the arrangement of the weights that it picked. */
static int make_primitive(nd4c_onednn_node *node) {
  const nd4c_onednn *dnn = node->dnn;
  const struct dnnl_memory_desc *weights = dnn->dnnl_primitive_desc_query_md(node->step.desc, DNN_QUERY_WEIGHTS, 0);
  int status = dnn->dnnl_memory_desc_clone(&node->operands[ND4C_ONEDNN_W].wanted, weights);
  for (int32_t i = 0; i < ND4C_ONEDNN_OPERANDS && status == DNN_SUCCESS; i++) {
    if (node->operands[i].present) {
      status = nd4c_onednn_step_add(dnn, &node->step, node->operands[i].argument, node->operands[i].wanted);
    }
  }
  return status == DNN_SUCCESS ? nd4c_onednn_step_make(dnn, &node->step) : status;
}

static int make_reorders(nd4c_onednn_node *node) {
  const nd4c_onednn *dnn = node->dnn;
  int64_t scratchpad = node->step.scratchpad_bytes;
  for (int32_t i = 0; i < ND4C_ONEDNN_OPERANDS; i++) {
    nd4c_onednn_operand *op = &node->operands[i];
    if (i == ND4C_ONEDNN_W) {
      op->moved = !dnn->dnnl_memory_desc_equal(op->given, op->wanted);
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

static nd4c_status pack_weights(nd4c_onednn_node *node, const nd4c_call *call) {
  nd4c_onednn_operand *op = &node->operands[ND4C_ONEDNN_W];
  const nd4c_tensor *w = nd4c_onednn_operand_tensor(call, op);
  if (!op->moved || (w->flags & ND4C_TENSOR_CONSTANT) == 0 || w->data == NULL) {
    return ND4C_OK;
  }
  size_t bytes = node->dnn->dnnl_memory_desc_get_size(op->wanted);
  size_t scratchpad = (size_t)op->reorder.scratchpad_bytes;
  node->packed = nd4c_cpu_host->allocate_pages(bytes);
  void *memory = scratchpad > 0 ? nd4c_cpu_host->allocate_pages(scratchpad) : NULL;
  nd4c_status status = ND4C_OK;
  if (node->packed == NULL || (scratchpad > 0 && memory == NULL)) {
    status = nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for %zu bytes of packed weights", call->op->name, bytes);
  } else {
    node->packed_bytes = bytes;
    status = nd4c_onednn_step_run(node->dnn, &op->reorder, (void *[]){w->data, node->packed}, memory);
  }
  if (memory != NULL) {
    nd4c_cpu_host->free_pages(memory, scratchpad);
  }
  return status;
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
  nd4c_onednn_step_free(dnn, &node->step);
  if (node->packed != NULL) {
    nd4c_cpu_host->free_pages(node->packed, node->packed_bytes);
  }
  nd4c_cpu_host->free(node);
}

nd4c_status nd4c_onednn_node_prepare(const nd4c_call *call, const int *inputs, nd4c_onednn_describe describe,
                                     void **state) {
  static const int arguments[ND4C_ONEDNN_OPERANDS] = {DNN_ARG_SRC, DNN_ARG_WEIGHTS, DNN_ARG_DST, DNN_ARG_BIAS,
                                                      DNN_ARG_POST_OP(0) | DNN_ARG_SRC_1};
  const nd4c_onednn *dnn = nd4c_onednn_get();
  nd4c_onednn_node *node = nd4c_cpu_host->allocate(sizeof *node);
  if (node == NULL || dnn == NULL) {
    nd4c_cpu_host->free(node);
    return nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for %zu bytes of prepared state", call->op->name,
                               sizeof *node);
  }
  node->dnn = dnn;
  node->width = call->width;
  for (int32_t i = 0; i < ND4C_ONEDNN_OPERANDS; i++) {
    node->operands[i].input = inputs[i];
    node->operands[i].argument = arguments[i];
    node->operands[i].present = i == ND4C_ONEDNN_Y || (inputs[i] >= 0 && nd4c_cpu_input(call, inputs[i]) != NULL);
  }
  int before = nd4c_onednn_enter(dnn, call->width);
  int made = describe(node, call);
  if (made == DNN_SUCCESS) {
    made = make_primitive(node);
  }
  if (made == DNN_SUCCESS) {
    made = make_reorders(node);
  }
  nd4c_status status = made == DNN_SUCCESS ? pack_weights(node, call) : nd4c_onednn_fail("making the primitive", made);
  nd4c_onednn_leave(dnn, before);
  if (status != ND4C_OK) {
    nd4c_onednn_node_unprepare(node);
    return status;
  }
  place_operands(node);
  *state = node;
  return ND4C_OK;
}

/* -- running ---------------------------------------------------------------------------------------------------- */

int64_t nd4c_onednn_node_scratch_bytes(const nd4c_call *call) {
  const nd4c_onednn_node *node = call->state;
  return node->scratch_bytes;
}

static nd4c_status run_steps(nd4c_onednn_node *node, const nd4c_call *call) {
  void *data[ND4C_ONEDNN_OPERANDS];
  int32_t count = 0;
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
    data[count++] = wanted;
  }
  nd4c_status status = nd4c_onednn_step_run(node->dnn, &node->step, data, scratch);
  if (status == ND4C_OK && node->operands[ND4C_ONEDNN_Y].moved) {
    void *to = call->outputs[0].data;
    status = nd4c_onednn_step_run(node->dnn, &node->operands[ND4C_ONEDNN_Y].reorder,
                                  (void *[]){data[ND4C_ONEDNN_Y], to}, scratch);
  }
  return status;
}

nd4c_status nd4c_onednn_node_run(const nd4c_call *call) {
  nd4c_onednn_node *node = call->state;
  int before = nd4c_onednn_enter(node->dnn, node->width);
  nd4c_status status = run_steps(node, call);
  nd4c_onednn_leave(node->dnn, before);
  return status;
}
