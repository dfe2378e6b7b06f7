/* Copies a whole graph, so that passes can rewrite the copy. plan.c and ahead.c begin with it. */
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "graph/ir/control.h"
#include "graph/ir/variables.h"

static nd4c_status clone_values(const nd4c_graph *from, nd4c_graph *to) {
  for (int32_t i = 0; i < from->value_count; i++) {
    const nd4c_graph_value *value = &from->values[i];
    nd4c_value added = ND4C_VALUE_NONE;
    ND4C_TRY(nd4c_cancellation_poll());
    ND4C_TRY(nd4c_graph_add_value(to, value->dtype, value->rank, value->shape, &added));
    to->values[added].constant = nd4c_array_retain(value->constant);
    to->values[added].input = value->input;
    to->values[added].producer = value->producer;
  }
  return ND4C_OK;
}

static nd4c_status clone_nodes(const nd4c_graph *from, nd4c_graph *to) {
  ND4C_TRY(nd4c_grow(&to->nodes, &to->node_capacity, from->node_count, sizeof *to->nodes, "nodes of a graph"));
  for (int32_t i = 0; i < from->node_count; i++) {
    nd4c_graph_node node = from->nodes[i];
    ND4C_TRY(nd4c_cancellation_poll());
    node.inputs = nd4c_region_copy(&to->region, node.inputs, node.input_count, sizeof *node.inputs);
    node.outputs = nd4c_region_copy(&to->region, node.outputs, node.output_count, sizeof *node.outputs);
    node.label = nd4c_region_text(&to->region, node.label);
    node.fused = NULL;
    node.parts = (nd4c_parts){.count = 0};
    ND4C_TRY(nd4c_notes_copy(from->nodes[i].notes, &to->region, &node.notes));
    if (node.control != NULL) {
      ND4C_TRY(nd4c_graph_hold_control(to, node.control));
    }
    if (node.inputs == NULL || node.outputs == NULL || node.label == NULL) {
      return nd4c_error_code();
    }
    ND4C_TRY(nd4c_graph_copy_attrs(to, node.def->info.attr_count, from->nodes[i].attrs, &node.attrs));
    to->nodes[i] = node;
    to->node_count++;
  }
  return ND4C_OK;
}

static nd4c_status clone_ports(const nd4c_graph_ports *from, const char *what, nd4c_region *region,
                               nd4c_graph_ports *to) {
  for (int32_t i = 0; i < from->count; i++) {
    ND4C_TRY(nd4c_ports_add(to, region, what, from->items[i].name, from->items[i].value));
  }
  return ND4C_OK;
}

static nd4c_status clone_into(const nd4c_graph *from, nd4c_graph *to) {
  ND4C_TRY(nd4c_extents_clone(from->extents, &to->extents)); /* before the values: it gives their sizes */
  ND4C_TRY(clone_values(from, to));
  ND4C_TRY(clone_nodes(from, to));
  ND4C_TRY(clone_ports(&from->inputs, "input", &to->region, &to->inputs));
  ND4C_TRY(clone_ports(&from->outputs, "output", &to->region, &to->outputs));
  ND4C_TRY(nd4c_notes_copy(from->notes, &to->region, &to->notes));
  return nd4c_variables_copy(from, to);
}

nd4c_status nd4c_graph_clone(const nd4c_graph *graph, nd4c_graph **clone) {
  nd4c_graph *copy = NULL;
  ND4C_TRY(nd4c_graph_create(&copy));
  nd4c_status status = clone_into(graph, copy);
  if (status != ND4C_OK) {
    nd4c_graph_destroy(copy);
    return status;
  }
  *clone = copy;
  return ND4C_OK;
}
