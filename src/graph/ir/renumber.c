/* Closes the gaps in the numbers of a graph's values. Passes leave values behind that nothing gives or reads any more;
 * a plan with dims (dynamic.c) calls this once, because each of its bindings has tables with an entry for each value.
 */
#include "base/region.h"
#include "base/status.h"
#include "graph/ir/graph.h"

/* Values that get a number: a port or an initial value names some that no node reads. */
static bool is_kept(const nd4c_graph *graph, const nd4c_value *number, nd4c_value index) {
  const nd4c_graph_value *value = &graph->values[index];
  return value->constant != NULL || value->input >= 0 || value->variable >= 0 || value->producer >= 0 ||
         number[index] >= 0;
}

static void mark(nd4c_value *number, nd4c_value value) {
  if (value >= 0) {
    number[value] = 0;
  }
}

static void move_values(nd4c_graph *graph, nd4c_value *number) {
  int32_t kept = 0;
  for (int32_t i = 0; i < graph->value_count; i++) {
    number[i] = ND4C_VALUE_NONE;
  }
  for (int32_t i = 0; i < graph->variables.count; i++) {
    mark(number, graph->variable_items[i].initial);
    mark(number, graph->variable_items[i].assigned);
  }
  for (int32_t i = 0; i < graph->value_count; i++) {
    number[i] = is_kept(graph, number, i) ? kept : ND4C_VALUE_NONE;
    if (number[i] >= 0) {
      graph->values[kept++] = graph->values[i];
    }
  }
  graph->value_count = kept;
}

static void renumber_ports(const nd4c_value *number, const nd4c_graph_ports *ports) {
  for (int32_t i = 0; i < ports->count; i++) {
    ports->items[i].value = number[ports->items[i].value];
  }
}

/* Nodes get lists of their own: passes may have let two nodes share one. `to` has room for all. */
static nd4c_value *renumber_list(const nd4c_value *number, const nd4c_value *from, int32_t count, nd4c_value **to) {
  nd4c_value *list = *to;
  for (int32_t i = 0; i < count; i++) {
    list[i] = from[i] < 0 ? from[i] : number[from[i]];
  }
  *to += count;
  return list;
}

nd4c_status nd4c_graph_renumber(nd4c_graph *graph) {
  nd4c_region region = {0};
  int64_t operands = 0;
  nd4c_value *lists = NULL;
  for (int32_t i = 0; i < graph->node_count; i++) {
    operands += graph->nodes[i].input_count + graph->nodes[i].output_count;
  }
  ND4C_TRY(nd4c_region_make(&graph->region, operands, sizeof *lists, &lists));
  nd4c_value *number = nd4c_region_take(&region, graph->value_count, sizeof *number);
  if (number == NULL) {
    return nd4c_error_code();
  }
  move_values(graph, number);
  for (int32_t i = 0; i < graph->node_count; i++) {
    nd4c_graph_node *node = &graph->nodes[i];
    node->inputs = renumber_list(number, node->inputs, node->input_count, &lists);
    node->outputs = renumber_list(number, node->outputs, node->output_count, &lists);
  }
  renumber_ports(number, &graph->inputs);
  renumber_ports(number, &graph->outputs);
  renumber_ports(number, &graph->variables);
  for (int32_t i = 0; i < graph->variables.count; i++) {
    nd4c_variable *variable = &graph->variable_items[i];
    variable->initial = variable->initial < 0 ? variable->initial : number[variable->initial];
    variable->assigned = variable->assigned < 0 ? variable->assigned : number[variable->assigned];
  }
  nd4c_region_free(&region);
  return ND4C_OK;
}
