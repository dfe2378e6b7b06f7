/* Removes nodes that return their first input: copies, and shape ops and casts that change nothing. passes.c runs it on
 * every optimised plan. */
#include "array/shape.h"
#include "base/status.h"
#include "graph/passes.h"

static bool permutes_nothing(const nd4c_graph_node *node, const nd4c_graph_value *input) {
  const nd4c_attr_value *axes = &node->attrs[ND4C_ATTR_transpose_axes];
  for (int32_t i = 0; i < input->rank; i++) {
    int32_t axis = axes->count == 0 ? input->rank - 1 - i : nd4c_axis_index(axes->as.ints[i], input->rank);
    if (axis != i && input->rank > 1) {
      return false;
    }
  }
  return true;
}

/* True if all steps of the slice are positive: with an unchanged shape, the slice then has all elements. */
static bool steps_forward(const nd4c_graph_node *node) {
  const nd4c_attr_value *steps = &node->attrs[ND4C_ATTR_slice_steps];
  for (int32_t i = 0; i < steps->count; i++) {
    if (steps->as.ints[i] != 1) {
      return false;
    }
  }
  return true;
}

static bool is_identity(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  if (node->input_count != 1 || node->output_count != 1 || node->inputs[0] < 0) {
    return false;
  }
  if (!nd4c_rewrite_may_replace(rewrite, node->outputs[0], node->inputs[0])) {
    return false;
  }
  switch (node->def->info.op) {
    case ND4C_OP_copy:
    case ND4C_OP_cast:
    case ND4C_OP_reshape:
    case ND4C_OP_flatten:
    case ND4C_OP_squeeze:
    case ND4C_OP_expand_dims:
    case ND4C_OP_broadcast_to:
    case ND4C_OP_concat:
      return true;
    case ND4C_OP_transpose:
      return permutes_nothing(node, &rewrite->graph->values[node->inputs[0]]);
    case ND4C_OP_slice:
      return steps_forward(node);
    default:
      return false;
  }
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  nd4c_graph *graph = rewrite->graph;
  nd4c_region region = {0};
  nd4c_value *same_as = NULL;
  ND4C_TRY(nd4c_region_make(&region, graph->value_count, sizeof *same_as, &same_as));
  for (int32_t i = 0; i < graph->value_count; i++) {
    same_as[i] = i;
  }
  for (int32_t i = 0; i < graph->node_count; i++) {
    nd4c_graph_node *node = &graph->nodes[i];
    for (int32_t k = 0; k < node->input_count; k++) {
      if (node->inputs[k] >= 0 && same_as[node->inputs[k]] != node->inputs[k]) {
        nd4c_rewrite_input(rewrite, node, k, same_as[node->inputs[k]]);
      }
    }
    if (is_identity(rewrite, node)) {
      same_as[node->outputs[0]] = node->inputs[0];
      rewrite->changes++;
    }
  }
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    nd4c_rewrite_output(rewrite, i, same_as[graph->outputs.items[i].value]);
  }
  nd4c_region_free(&region);
  return ND4C_OK;
}

ND4C_PASS(SIMPLIFY, 20, identity, ANY, "removes nodes that give their input back")
