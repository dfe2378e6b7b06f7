/* Slots: which values share memory, and the layout of each. Views are resolved here and cost nothing at run time. A
 * stage of nd4c_plan_create (plan.c). */
#include <string.h>

#include "array/narrow.h"
#include "array/shape.h"
#include "base/checked.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "graph/plan.h"

void nd4c_slot_describe(const nd4c_slot *slot, nd4c_tensor *tensor) {
  *tensor = (nd4c_tensor){.dtype = slot->dtype,
                          .rank = slot->rank,
                          .flags = slot->contiguous ? ND4C_TENSOR_CONTIGUOUS : 0,
                          .layout = ND4C_LAYOUT_STRIDED,
                          .shape = slot->shape,
                          .strides = slot->strides,
                          .size = slot->size};
}

static nd4c_status set_strides(nd4c_plan *plan, nd4c_slot *slot, const int64_t *strides) {
  slot->strides = nd4c_region_copy(&plan->region, strides, slot->rank, sizeof *strides);
  if (slot->strides == NULL) {
    return nd4c_error_code();
  }
  slot->contiguous = nd4c_shape_is_contiguous(slot->rank, slot->shape, slot->strides);
  return ND4C_OK;
}

static nd4c_status make_own_slot(nd4c_plan *plan, nd4c_value value, nd4c_slot_kind kind) {
  const nd4c_graph_value *info = &plan->graph->values[value];
  nd4c_slot *slot = &plan->slots[value];
  if (info->dtype == ND4C_UTF8) {
    return nd4c_fail(ND4C_UNSUPPORTED, "plan: values of dtype utf8 cannot be planned");
  }
  *slot = (nd4c_slot){.kind = kind,
                      .dtype = info->dtype,
                      .rank = info->rank,
                      .size = info->size,
                      .shape = info->shape,
                      .root = value,
                      .port = info->input,
                      .array = info->constant};
  slot->bytes = nd4c_dtype_bytes(info->dtype, info->size); /* checked when the value was recorded */
  int64_t strides[ND4C_MAX_RANK];
  if (kind == ND4C_SLOT_CONSTANT) {
    return set_strides(plan, slot, info->constant->strides);
  }
  nd4c_graph_value_strides(info, strides);
  return set_strides(plan, slot, strides);
}

/* True, with strides and offset, if the node's output can be a view of its first input. */
static bool find_view(const nd4c_plan *plan, const nd4c_graph_node *node, int64_t *strides, int64_t *offset) {
  if (node->def->view == NULL || node->output_count != 1 || node->inputs[0] < 0) {
    return false;
  }
  const nd4c_graph_value *output = &plan->graph->values[node->outputs[0]];
  nd4c_tensor tensor;
  nd4c_slot_describe(&plan->slots[node->inputs[0]], &tensor);
  nd4c_inferred inferred = {.dtype = output->dtype, .rank = output->rank};
  memcpy(inferred.shape, output->shape, (size_t)output->rank * sizeof *output->shape);
  nd4c_inference inference = {
      .op = &node->def->info, .input_count = 1, .inputs = &tensor, .attrs = node->attrs, .outputs = &inferred};
  *offset = 0;
  return node->def->view(&inference, strides, offset);
}

static nd4c_status make_view_slot(nd4c_plan *plan, nd4c_value value, nd4c_value of, const int64_t *strides,
                                  int64_t offset) {
  const nd4c_graph_value *info = &plan->graph->values[value];
  const nd4c_slot *parent = &plan->slots[of];
  nd4c_slot *slot = &plan->slots[value];
  *slot = (nd4c_slot){.kind = ND4C_SLOT_VIEW,
                      .dtype = info->dtype,
                      .rank = info->rank,
                      .size = info->size,
                      .shape = info->shape,
                      .root = parent->root,
                      .offset = parent->offset + offset,
                      .port = -1};
  return set_strides(plan, slot, strides);
}

/* The slots of a concat that needs no step: of its result, unless that is a part of a later concat, and of its parts
 * inside the result. */
static nd4c_status make_joined_slots(nd4c_plan *plan, const nd4c_graph_node *node) {
  const nd4c_value result = node->outputs[0];
  if (plan->slots[result].kind == ND4C_SLOT_UNUSED) {
    ND4C_TRY(make_own_slot(plan, result, ND4C_SLOT_ARENA));
  }
  plan->slots[result].joined = true;
  const nd4c_slot *whole = &plan->slots[result];
  const int32_t axis = nd4c_axis_index(node->attrs[ND4C_ATTR_concat_axis].as.i, whole->rank);
  int64_t first = 0;
  for (int32_t i = 0; i < node->input_count; i++) {
    ND4C_TRY(make_view_slot(plan, node->inputs[i], result, whole->strides, first * whole->strides[axis]));
    first += plan->graph->values[node->inputs[i]].shape[axis];
  }
  return ND4C_OK;
}

/* Makes the slots of all concats without a step: from the last, since a result may be a part of a later one. */
static nd4c_status make_all_joined_slots(nd4c_plan *plan) {
  bool *joined = NULL;
  ND4C_TRY(nd4c_plan_find_joins(plan, &joined));
  for (int32_t i = plan->graph->node_count - 1; i >= 0 && joined != NULL; i--) {
    if (joined[i]) {
      ND4C_TRY(make_joined_slots(plan, &plan->graph->nodes[i]));
    }
  }
  return ND4C_OK;
}

/* A reshape that cannot be a view of its input is a copy into a view of its output: `copy` has fast kernels for any
 * strides, and memory in C order can be seen in every shape. */
static nd4c_status copy_through_view(nd4c_plan *plan, int32_t index) {
  nd4c_graph *graph = plan->graph;
  nd4c_op op = graph->nodes[index].def->info.op;
  if ((op != ND4C_OP_reshape && op != ND4C_OP_flatten) || graph->nodes[index].inputs[0] < 0) {
    return ND4C_OK;
  }
  nd4c_value from = graph->nodes[index].inputs[0], to = graph->nodes[index].outputs[0], view = ND4C_VALUE_NONE;
  int64_t strides[ND4C_MAX_RANK];
  const nd4c_slot *input = &plan->slots[from], *output = &plan->slots[to];
  if (!nd4c_reshape_strides(output->rank, output->shape, output->strides, input->rank, input->shape, strides) ||
      (plan->whole && !nd4c_shape_is_contiguous(input->rank, input->shape, strides))) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_graph_add_value(graph, input->dtype, input->rank, input->shape, &view));
  ND4C_TRY(make_view_slot(plan, view, to, strides, 0));
  nd4c_graph_node *node = &graph->nodes[index];
  graph->values[view].producer = index;
  node->fused = node->def->info.name;
  node->def = nd4c_op_get_def(ND4C_OP_copy);
  node->attrs = NULL;
  node->outputs[0] = view;
  return ND4C_OK;
}

static bool in_segment(const nd4c_plan *plan, int32_t node) {
  return nd4c_plan_segment_of(plan, node) >= 0;
}

/* A view that a device with whole buffers takes is all of its root's memory in another shape, or the first part of it.
 */
static bool is_possible(const nd4c_plan *plan, const nd4c_graph_node *node, const int64_t *strides, int64_t offset) {
  const nd4c_graph_value *value = &plan->graph->values[node->outputs[0]];
  return !plan->whole || (plan->slots[node->inputs[0]].offset + offset == 0 &&
                          nd4c_shape_is_contiguous(value->rank, value->shape, strides));
}

/* Whether the node can only be a view: its device takes parts of buffers and has no kernel for the op. */
static bool is_left_to_copy(const nd4c_plan *plan, int32_t index) {
  const nd4c_graph_node *node = &plan->graph->nodes[index];
  if ((plan->place_of != NULL && index >= plan->placed_count) || node->input_count != 1) {
    return false;
  }
  const nd4c_device *device = plan->place_of == NULL ? plan->device : plan->places[plan->place_of[index]].device;
  int32_t count = 0;
  (void)nd4c_device_kernels(device, node->def->info.op, &count);
  return !device->description.whole_buffers && count == 0;
}

/* Turns the node into a copy of a view of its input, because another device of the plan needs the result as a whole
 * buffer, or a segment or a body needs it in C order. */
static nd4c_status copy_view(nd4c_plan *plan, int32_t index, const int64_t *strides, int64_t offset) {
  nd4c_graph *graph = plan->graph;
  nd4c_value from = graph->nodes[index].inputs[0], view = ND4C_VALUE_NONE;
  const nd4c_slot *output = &plan->slots[graph->nodes[index].outputs[0]];
  ND4C_TRY(nd4c_graph_add_value(graph, output->dtype, output->rank, output->shape, &view));
  ND4C_TRY(make_view_slot(plan, view, from, strides, offset));
  nd4c_graph_node *node = &graph->nodes[index];
  graph->values[view].producer = graph->values[from].producer;
  node->fused = node->def->info.name;
  node->def = nd4c_op_get_def(ND4C_OP_copy);
  node->attrs = NULL;
  node->inputs[0] = view;
  return ND4C_OK;
}

/* Most compilers take contiguous operands, so a non-contiguous view is computed if a segment of theirs reads it. */
static nd4c_status make_node_slots(nd4c_plan *plan, int32_t index) {
  const nd4c_graph_node *node = &plan->graph->nodes[index];
  int64_t strides[ND4C_MAX_RANK];
  int64_t offset = 0;
  const bool viewed = !in_segment(plan, index) && find_view(plan, node, strides, &offset);
  if (viewed && is_possible(plan, node, strides, offset)) {
    const nd4c_graph_value *value = &plan->graph->values[node->outputs[0]];
    if (nd4c_shape_is_contiguous(value->rank, value->shape, strides) ||
        !nd4c_plan_feeds_segment(plan, node->outputs[0])) {
      return make_view_slot(plan, node->outputs[0], node->inputs[0], strides, offset);
    }
  }
  for (int32_t i = 0; i < node->output_count; i++) {
    if (!nd4c_plan_inside_segment(plan, node->outputs[i]) &&
        plan->slots[node->outputs[i]].kind == ND4C_SLOT_UNUSED) { /* else it is a part of a concat's result */
      ND4C_TRY(make_own_slot(plan, node->outputs[i], ND4C_SLOT_ARENA));
    }
  }
  if (viewed && is_left_to_copy(plan, index)) {
    return copy_view(plan, index, strides, offset);
  }
  return in_segment(plan, index) ? ND4C_OK : copy_through_view(plan, index);
}

/* True if writing the root writes the output: the value covers its root in C order, and no other output uses the
 * root. */
static bool covers_root(const nd4c_plan *plan, const nd4c_slot *slot) {
  const nd4c_slot *root = &plan->slots[slot->root];
  return root->kind == ND4C_SLOT_ARENA && slot->contiguous && root->contiguous && slot->offset == 0 &&
         slot->size == root->size;
}

/* Appends a node that copies `value` to where the output needs it. */
static nd4c_status append_copy(nd4c_plan *plan, nd4c_value value, nd4c_value *copied) {
  nd4c_graph *graph = plan->graph;
  ND4C_TRY(nd4c_graph_op(graph, ND4C_OP_copy, &value, 1, NULL, 0, "", copied, 1));
  return make_own_slot(plan, *copied, ND4C_SLOT_ARENA);
}

static nd4c_status make_outputs(nd4c_plan *plan) {
  nd4c_graph_ports *outputs = &plan->graph->outputs;
  for (int32_t i = 0; i < outputs->count; i++) {
    nd4c_value value = outputs->items[i].value;
    if (!covers_root(plan, &plan->slots[value])) {
      ND4C_TRY(append_copy(plan, value, &value));
      outputs->items[i].value = value;
    }
    nd4c_slot *root = &plan->slots[plan->slots[value].root];
    root->kind = ND4C_SLOT_OUTPUT;
    root->port = i;
  }
  return ND4C_OK;
}

nd4c_status nd4c_plan_copy_view(nd4c_plan *plan, int32_t index, bool *copied) {
  int64_t strides[ND4C_MAX_RANK];
  int64_t offset = 0;
  *copied = plan->whole && find_view(plan, &plan->graph->nodes[index], strides, &offset);
  ND4C_TRY(*copied ? copy_view(plan, index, strides, offset) : ND4C_OK);
  plan->slot_count = plan->graph->value_count;
  return ND4C_OK;
}

nd4c_status nd4c_plan_make_slots(nd4c_plan *plan) {
  const nd4c_graph *graph = plan->graph;
  /* One more for each copy that an output may need, and for each node that becomes a copy to or of a view. */
  int64_t most = (int64_t)graph->value_count + graph->outputs.count + graph->node_count;
  ND4C_TRY(nd4c_region_make(&plan->region, most, sizeof *plan->slots, &plan->slots));
  int32_t nodes = graph->node_count;
  for (int32_t i = 0; i < graph->value_count; i++) {
    const nd4c_graph_value *value = &graph->values[i];
    if (value->constant != NULL || value->input >= 0) {
      ND4C_TRY(make_own_slot(plan, i, value->constant != NULL ? ND4C_SLOT_CONSTANT : ND4C_SLOT_INPUT));
    }
  }
  ND4C_TRY(make_all_joined_slots(plan));
  for (int32_t i = 0; i < nodes; i++) {
    nd4c_status status = nd4c_cancellation_poll();
    status = status == ND4C_OK ? make_node_slots(plan, i) : status;
    if (status != ND4C_OK) {
      return nd4c_plan_fail_node(plan, i, status);
    }
  }
  ND4C_TRY(make_outputs(plan));
  plan->slot_count = plan->graph->value_count;
  return ND4C_OK;
}
