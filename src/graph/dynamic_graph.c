/* The graph of a binding: that of the plan with numbers in place of extents, without asking any inference rule again.
 * It borrows names and attributes from the plan's graph, and has references to its constants. dynamic_bind.c makes it,
 * plan.c frees it. */
#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/recycle.h"
#include "base/status.h"
#include "graph/dynamic.h"
#include "graph/plan/common.h"

/* Room for what slots.c may add to the graph: copies to outputs, and views that are copied. */
enum { SPARE = 16 };

static nd4c_status number_list(const nd4c_binding *binding, int32_t count, const int64_t *from, int64_t *to) {
  for (int32_t i = 0; i < count; i++) {
    to[i] = from[i];
    if (ND4C_UNLIKELY(from[i] < 0)) {
      ND4C_TRY(nd4c_binding_get(binding, from[i], &to[i]));
    }
  }
  return ND4C_OK;
}

/* Passes of a binding release constants that no node reads, so each value has a reference. The plan's graph keeps its
 * use of a derived constant for as long as there are bindings. */
static nd4c_status number_values(const nd4c_graph *from, const nd4c_binding *binding, nd4c_graph *to) {
  int64_t extents = 0;
  for (int32_t i = 0; i < from->value_count; i++) {
    extents += from->values[i].rank;
  }
  int64_t *shape = NULL;
  ND4C_TRY(nd4c_region_make(&to->region, extents, sizeof *shape, &shape));
  for (int32_t i = 0; i < from->value_count; i++) {
    nd4c_graph_value *value = &to->values[i];
    *value = from->values[i];
    value->derived = false;
    if (value->constant == NULL) { /* the shape of a constant stays */
      ND4C_TRY(number_list(binding, value->rank, from->values[i].shape, shape));
      ND4C_TRY(nd4c_shape_size(value->dtype, value->rank, shape, &value->size));
      value->shape = shape;
      shape += value->rank;
    } else {
      (void)nd4c_array_retain(value->constant);
    }
    to->value_count++;
  }
  return ND4C_OK;
}

static nd4c_status number_attrs(const nd4c_binding *binding, uint32_t mask, nd4c_graph *to, nd4c_graph_node *node) {
  nd4c_attr_value *attrs = nd4c_region_copy(&to->region, node->attrs, node->def->info.attr_count, sizeof *node->attrs);
  if (attrs == NULL) {
    return nd4c_error_code();
  }
  for (int32_t i = 0; i < node->def->info.attr_count; i++) {
    nd4c_attr_value *value = &attrs[i];
    if ((mask >> i & 1) == 0) {
      continue;
    }
    if (value->kind == ND4C_ATTR_INT) {
      ND4C_TRY(nd4c_binding_get(binding, value->as.i, &value->as.i));
      continue;
    }
    int64_t *numbers = NULL;
    ND4C_TRY(nd4c_region_make(&to->region, value->count, sizeof *numbers, &numbers));
    ND4C_TRY(number_list(binding, value->count, value->as.ints, numbers));
    value->as.ints = numbers;
  }
  node->attrs = attrs;
  return ND4C_OK;
}

/* Lists of inputs and outputs are copied, because slots.c may change them. */
static nd4c_status number_nodes(const nd4c_plan_common *common, const nd4c_binding *binding, nd4c_graph *to) {
  const nd4c_graph *from = common->graph;
  int64_t operands = 0;
  nd4c_value *lists = NULL;
  for (int32_t i = 0; i < from->node_count; i++) {
    operands += from->nodes[i].input_count + from->nodes[i].output_count;
  }
  ND4C_TRY(nd4c_region_make(&to->region, operands, sizeof *lists, &lists));
  for (int32_t i = 0; i < from->node_count; i++) {
    nd4c_graph_node *node = &to->nodes[i];
    *node = from->nodes[i];
    const uint32_t mask = common->attr_masks[node->outputs[0]];
    for (int32_t k = 0; k < node->input_count; k++) {
      lists[k] = node->inputs[k];
    }
    node->inputs = lists;
    lists += node->input_count;
    for (int32_t k = 0; k < node->output_count; k++) {
      lists[k] = node->outputs[k];
    }
    node->outputs = lists;
    lists += node->output_count;
    ND4C_TRY(mask != 0 ? number_attrs(binding, mask, to, node) : ND4C_OK);
    to->node_count++;
  }
  return ND4C_OK;
}

static nd4c_status fill(const nd4c_plan_common *common, const nd4c_binding *binding, nd4c_graph *to) {
  const nd4c_graph *from = common->graph;
  const size_t values = (size_t)from->value_count + SPARE, nodes = (size_t)from->node_count + SPARE;
  to->values = nd4c_recycle_take_raw(values * sizeof *to->values);
  to->nodes = nd4c_recycle_take_raw(nodes * sizeof *to->nodes);
  if (to->values == NULL || to->nodes == NULL) {
    return nd4c_fail_memory("values and nodes of a graph", values * sizeof *to->values + nodes * sizeof *to->nodes);
  }
  to->value_capacity = to->recycled_values = (int32_t)values;
  to->node_capacity = to->recycled_nodes = (int32_t)nodes;
  ND4C_TRY(number_values(from, binding, to));
  ND4C_TRY(number_nodes(common, binding, to));
  to->inputs = from->inputs;
  to->outputs = from->outputs;
  to->outputs.items =
      nd4c_region_copy(&to->region, from->outputs.items, from->outputs.count, sizeof *from->outputs.items);
  return to->outputs.items == NULL ? nd4c_error_code() : ND4C_OK;
}

nd4c_status nd4c_graph_number(const nd4c_plan_common *common, const nd4c_binding *binding, nd4c_graph **graph) {
  nd4c_graph *made = NULL;
  ND4C_TRY(nd4c_graph_create(&made));
  const nd4c_status status = fill(common, binding, made);
  if (status != ND4C_OK) {
    nd4c_graph_free_numbers(made);
    return status;
  }
  *graph = made;
  return ND4C_OK;
}

void nd4c_graph_free_numbers(nd4c_graph *graph) {
  if (graph != NULL) {
    graph->inputs = (nd4c_graph_ports){0};
    graph->outputs = (nd4c_graph_ports){0};
    nd4c_graph_destroy(graph);
  }
}
