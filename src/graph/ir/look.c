/* What programs ask about the nodes of a graph (nd4c/graph.h); `nd4c graph show` prints it. */
#include "base/status.h"
#include "base/text.h"
#include "graph/ir/cost.h"

#include <stdio.h>

const char *nd4c_graph_label_text(const nd4c_graph_node *node, char *buffer, size_t size) {
  (void)snprintf(buffer, size, "%s", node->label);
  return nd4c_text_clean(buffer, false);
}

bool nd4c_op_takes_dims(nd4c_op op) {
  const nd4c_op_def *def = nd4c_op_get_def(op);
  return def != NULL && nd4c_op_takes_symbolic(def, NULL);
}

int32_t nd4c_graph_node_count(const nd4c_graph *graph) {
  return graph == NULL || nd4c_graph_check(graph) != ND4C_OK ? 0 : graph->node_count;
}

int32_t nd4c_graph_value_count(const nd4c_graph *graph) {
  return graph == NULL || nd4c_graph_check(graph) != ND4C_OK ? 0 : graph->value_count;
}

nd4c_status nd4c_graph_get_node(const nd4c_graph *graph, int32_t index, nd4c_node_info *info) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (info == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_get_node: info is NULL");
  }
  if (!ND4C_HAS_FIELD(info, bytes)) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_graph_get_node: struct_size is %u, expected at least %u", info->struct_size,
                     ND4C_SIZE_OF(nd4c_node_info));
  }
  if (index < 0 || index >= graph->node_count) {
    return nd4c_fail(ND4C_INDEX, "nd4c_graph_get_node: the graph has %d nodes, not one number %d",
                     (int)graph->node_count, (int)index);
  }
  const nd4c_graph_node *node = &graph->nodes[index];
  const nd4c_cost cost = nd4c_node_cost(graph, node);
  info->input_count = node->input_count;
  info->output_count = node->output_count;
  info->op = &node->def->info;
  info->inputs = node->inputs;
  info->outputs = node->outputs;
  info->attrs = node->attrs;
  info->label = node->label;
  info->fused = node->fused;
  info->operations = cost.operations;
  info->bytes = cost.bytes;
  if (ND4C_HAS_FIELD(info, parts)) {
    info->parts = node->parts.text;
  }
  return ND4C_OK;
}
