/* Implements growing.h. */
#include "graph/ir/growing.h"

#include "array/narrow.h"
#include "array/shape.h"
#include "base/checked.h"
#include "base/status.h"

int64_t nd4c_graph_growth(const nd4c_graph *graph, int32_t input, int32_t output, int32_t *axis) {
  const nd4c_value from = graph->inputs.items[input].value, to = graph->outputs.items[output].value;
  const nd4c_graph_value *value = &graph->values[to];
  const nd4c_graph_node *node = value->producer < 0 ? NULL : &graph->nodes[value->producer];
  int64_t rows = 0;
  if (node == NULL || node->control != NULL || node->def->info.op != ND4C_OP_concat || node->inputs[0] != from ||
      nd4c_dtype_is_packed(value->dtype)) {
    return 0;
  }
  *axis = nd4c_axis_index(node->attrs[ND4C_ATTR_concat_axis].as.i, value->rank);
  for (int32_t i = 1; i < node->input_count; i++) {
    const int64_t extent = graph->values[node->inputs[i]].shape[*axis];
    if (nd4c_extent_is_symbolic(extent) || !nd4c_checked_add(rows, extent, &rows)) {
      return 0;
    }
  }
  return rows;
}

/* -- turning ------------------------------------------------------------------------------------------------------- */

/* Axes for transpose: forth brings the axis to the front, back undoes that. */
typedef struct turn {
  int32_t rank;
  int64_t forth[ND4C_MAX_RANK], back[ND4C_MAX_RANK];
} turn;

static turn make_turn(int32_t rank, int32_t axis) {
  turn made = {.rank = rank};
  for (int32_t i = 0; i < rank; i++) {
    made.forth[i] = i == 0 ? axis : i <= axis ? i - 1 : i;
    made.back[made.forth[i]] = i;
  }
  return made;
}

static nd4c_status transpose(nd4c_graph *graph, nd4c_value x, const int64_t *axes, nd4c_value *y) {
  const nd4c_attr attr = {.name = "axes",
                          .value = {.kind = ND4C_ATTR_INTS, .count = graph->values[x].rank, .as.ints = axes}};
  return nd4c_graph_op(graph, ND4C_OP_transpose, &x, 1, &attr, 1, "", y, 1);
}

static nd4c_status turn_shape(nd4c_graph *graph, nd4c_value value, const turn *by) {
  int64_t shape[ND4C_MAX_RANK];
  for (int32_t i = 0; i < by->rank; i++) {
    shape[i] = graph->values[value].shape[by->forth[i]];
  }
  graph->values[value].shape = nd4c_region_copy(&graph->region, shape, by->rank, sizeof *shape);
  return graph->values[value].shape == NULL ? nd4c_error_code() : ND4C_OK;
}

/* In the first nodes, and in all outputs but one. */
static void replace(nd4c_graph *graph, nd4c_value old, nd4c_value by, int32_t nodes, int32_t kept) {
  for (int32_t i = 0; i < nodes; i++) {
    for (int32_t k = 0; k < graph->nodes[i].input_count; k++) {
      nd4c_value *input = &graph->nodes[i].inputs[k];
      *input = *input == old ? by : *input;
    }
  }
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    nd4c_value *output = &graph->outputs.items[i].value;
    *output = *output == old && i != kept ? by : *output;
  }
}

/* The value gets the turned shape; its readers get a view in the former one. */
static nd4c_status turn_value(nd4c_graph *graph, nd4c_value value, const turn *by, int32_t nodes, int32_t kept) {
  nd4c_value view = ND4C_VALUE_NONE;
  ND4C_TRY(turn_shape(graph, value, by));
  ND4C_TRY(transpose(graph, value, by->back, &view));
  replace(graph, value, view, nodes, kept);
  return ND4C_OK;
}

static nd4c_status turn_concat(nd4c_graph *graph, int32_t index, nd4c_value first, const turn *by) {
  graph->nodes[index].inputs[0] = first;
  graph->nodes[index].attrs[ND4C_ATTR_concat_axis].as.i = 0;
  for (int32_t i = 1; i < graph->nodes[index].input_count; i++) {
    nd4c_value turned = ND4C_VALUE_NONE;
    ND4C_TRY(transpose(graph, graph->nodes[index].inputs[i], by->forth, &turned));
    graph->nodes[index].inputs[i] = turned;
  }
  return ND4C_OK;
}

nd4c_status nd4c_graph_turn_growing(nd4c_graph *graph, int32_t input, int32_t output, int32_t *front) {
  const nd4c_value from = graph->inputs.items[input].value, to = graph->outputs.items[output].value;
  const int32_t nodes = graph->node_count, producer = graph->values[to].producer;
  int32_t axis = 0;
  *front = 0;
  if (nd4c_graph_growth(graph, input, output, &axis) == 0 ||
      !nd4c_extent_is_symbolic(graph->values[from].shape[axis]) ||
      nd4c_axis_comes_first(axis, graph->values[to].shape)) {
    return ND4C_OK;
  }
  const turn by = make_turn(graph->values[to].rank, axis);
  ND4C_TRY(turn_value(graph, from, &by, nodes, -1));
  ND4C_TRY(turn_concat(graph, producer, from, &by));
  ND4C_TRY(turn_value(graph, to, &by, nodes, output));
  ND4C_TRY(nd4c_graph_sort(graph));
  *front = axis;
  return ND4C_OK;
}
