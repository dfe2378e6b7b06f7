/* Implements append.h. */
#include "graph/ir/append.h"

#include "base/alloc.h"
#include "base/status.h"
#include "graph/ir/control.h"

nd4c_status nd4c_graph_append_value(nd4c_graph *graph, const nd4c_graph *from, nd4c_value value, nd4c_value *values) {
  if (values[value] != ND4C_VALUE_NONE) {
    return ND4C_OK;
  }
  return from->values[value].constant != NULL
             ? nd4c_graph_constant(graph, from->values[value].constant, &values[value])
             : nd4c_fail(ND4C_INTERNAL, "value %d of a body has no counterpart", (int)value);
}

static nd4c_status append_op(nd4c_graph *graph, const nd4c_graph_node *node, const nd4c_value *inputs,
                             nd4c_value *outputs) {
  enum { ATTRS = 32 }; /* nd4c_graph_op takes no more */
  nd4c_attr attrs[ATTRS];
  for (int32_t i = 0; i < node->def->info.attr_count; i++) {
    attrs[i] = (nd4c_attr){node->def->info.attrs[i].name, node->attrs[i]};
  }
  return nd4c_graph_op(graph, node->def->info.op, inputs, node->input_count, attrs, node->def->info.attr_count,
                       node->label, outputs, node->output_count);
}

/* `room`: for the inputs and outputs of the node. */
static nd4c_status append_node(nd4c_graph *graph, const nd4c_graph *from, const nd4c_graph_node *node,
                               nd4c_value *values, nd4c_value *room) {
  nd4c_value *outputs = room + node->input_count;
  for (int32_t i = 0; i < node->input_count; i++) {
    room[i] = ND4C_VALUE_NONE;
    if (node->inputs[i] >= 0) {
      ND4C_TRY(nd4c_graph_append_value(graph, from, node->inputs[i], values));
      room[i] = values[node->inputs[i]];
    }
  }
  ND4C_TRY(node->control != NULL
               ? nd4c_control_record(graph, node->control, room, node->input_count, node->label, outputs)
               : append_op(graph, node, room, outputs));
  for (int32_t i = 0; i < node->output_count; i++) {
    values[node->outputs[i]] = outputs[i];
  }
  return ND4C_OK;
}

nd4c_status nd4c_graph_append(nd4c_graph *graph, const nd4c_graph *from, const bool *chosen, nd4c_value *values) {
  int32_t most = 1;
  for (int32_t i = 0; i < from->node_count; i++) {
    const int32_t needed = from->nodes[i].input_count + from->nodes[i].output_count;
    most = needed > most ? needed : most;
  }
  nd4c_value *room = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)most, sizeof *room, "operands of a body", &room));
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < from->node_count && status == ND4C_OK; i++) {
    if (chosen == NULL || chosen[i]) {
      status = append_node(graph, from, &from->nodes[i], values, room);
    }
  }
  nd4c_deallocate(room);
  return status;
}
