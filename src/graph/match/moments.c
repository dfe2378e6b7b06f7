/* Implements moments.h. */
#include "graph/match/moments.h"

#include "array/shape.h"
#include "graph/ir/cost.h"

nd4c_graph_node *nd4c_rewrite_inner(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_op op) {
  return nd4c_rewrite_is_single(rewrite, value) ? nd4c_rewrite_producer(rewrite, value, op) : NULL;
}

int32_t nd4c_mean_axis(const nd4c_rewrite *rewrite, const nd4c_graph_node *mean) {
  const int32_t rank = rewrite->graph->values[mean->inputs[0]].rank;
  const nd4c_attr_value *axes = &mean->attrs[ND4C_ATTR_mean_axes];
  bool reduced[ND4C_MAX_RANK] = {false};
  int32_t first = rank;
  if (mean->attrs[ND4C_ATTR_mean_keepdims].as.i == 0 || axes->count == 0) {
    return -1;
  }
  for (int32_t i = 0; i < axes->count; i++) {
    const int32_t axis = nd4c_axis_index(axes->as.ints[i], rank);
    reduced[axis] = true;
    first = axis < first ? axis : first;
  }
  for (int32_t i = first; i < rank; i++) {
    if (!reduced[i]) {
      return -1;
    }
  }
  return first;
}

nd4c_value nd4c_square_source(const nd4c_rewrite *rewrite, nd4c_value value) {
  double two = 0;
  const nd4c_graph_node *node = nd4c_rewrite_inner(rewrite, value, ND4C_OP_square);
  if (node != NULL) {
    return node->inputs[0];
  }
  node = nd4c_rewrite_inner(rewrite, value, ND4C_OP_power);
  if (node != NULL) {
    const bool fits = nd4c_constant_scalar(rewrite, node->inputs[1], &two) && two == 2.0;
    return fits ? node->inputs[0] : ND4C_VALUE_NONE;
  }
  node = nd4c_rewrite_inner(rewrite, value, ND4C_OP_multiply);
  return node != NULL && node->inputs[0] == node->inputs[1] ? node->inputs[0] : ND4C_VALUE_NONE;
}

nd4c_value nd4c_scalar_partner(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, double *number) {
  for (int32_t i = 0; i < 2; i++) {
    if (nd4c_constant_scalar(rewrite, node->inputs[i], number)) {
      return node->inputs[1 - i];
    }
  }
  return ND4C_VALUE_NONE;
}

nd4c_value nd4c_factor_source(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, double *factor) {
  nd4c_value x = ND4C_VALUE_NONE;
  if (node->def->info.op == ND4C_OP_multiply) {
    x = nd4c_scalar_partner(rewrite, node, factor);
  } else if (node->def->info.op == ND4C_OP_divide && nd4c_constant_scalar(rewrite, node->inputs[1], factor)) {
    x = node->inputs[0];
    *factor = 1 / *factor;
  }
  const nd4c_graph_value *values = rewrite->graph->values, *y = &values[node->outputs[0]];
  const bool same =
      x >= 0 && values[x].dtype == y->dtype && nd4c_shape_equal(values[x].rank, values[x].shape, y->rank, y->shape);
  return same ? x : ND4C_VALUE_NONE;
}

/* True if the value is mean(v^2) + epsilon. */
static bool is_mean_square(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_root *root) {
  const nd4c_graph_node *sum = nd4c_rewrite_inner(rewrite, value, ND4C_OP_add);
  const nd4c_value partner = sum == NULL ? ND4C_VALUE_NONE : nd4c_scalar_partner(rewrite, sum, &root->epsilon);
  const nd4c_graph_node *mean = nd4c_rewrite_inner(rewrite, partner, ND4C_OP_mean);
  if (mean == NULL) {
    return false;
  }
  root->axis = nd4c_mean_axis(rewrite, mean);
  root->squared = nd4c_square_source(rewrite, mean->inputs[0]);
  root->reads = nd4c_rewrite_producer(rewrite, mean->inputs[0], ND4C_OP_multiply) != NULL ? 2 : 1;
  return root->axis >= 0 && root->squared >= 0;
}

static bool is_root(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_root *root) {
  const nd4c_graph_node *node = nd4c_rewrite_inner(rewrite, value, ND4C_OP_sqrt);
  return node != NULL && is_mean_square(rewrite, node->inputs[0], root);
}

/* True if the value is 1 over the root: by rsqrt, by a power, by reciprocal or as a quotient. */
static bool is_inverse_root(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_root *root) {
  double number = 0;
  const nd4c_graph_node *node = nd4c_rewrite_inner(rewrite, value, ND4C_OP_rsqrt);
  if (node != NULL) {
    return is_mean_square(rewrite, node->inputs[0], root);
  }
  node = nd4c_rewrite_inner(rewrite, value, ND4C_OP_power);
  if (node != NULL) {
    return nd4c_constant_scalar(rewrite, node->inputs[1], &number) && number == -0.5 &&
           is_mean_square(rewrite, node->inputs[0], root);
  }
  node = nd4c_rewrite_inner(rewrite, value, ND4C_OP_reciprocal);
  if (node != NULL) {
    return is_root(rewrite, node->inputs[0], root);
  }
  node = nd4c_rewrite_inner(rewrite, value, ND4C_OP_divide);
  return node != NULL && nd4c_constant_scalar(rewrite, node->inputs[0], &number) && number == 1 &&
         is_root(rewrite, node->inputs[1], root);
}

nd4c_value nd4c_root_numerator(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, nd4c_root *root) {
  if (node->def->info.op == ND4C_OP_divide) {
    return is_root(rewrite, node->inputs[1], root) ? node->inputs[0] : ND4C_VALUE_NONE;
  }
  for (int32_t i = 0; i < 2 && node->def->info.op == ND4C_OP_multiply; i++) {
    if (is_inverse_root(rewrite, node->inputs[i], root)) {
      return node->inputs[1 - i];
    }
  }
  return ND4C_VALUE_NONE;
}

bool nd4c_may_take_in(const nd4c_rewrite *rewrite, const nd4c_graph_node *norm, const nd4c_graph_node *reader) {
  const nd4c_graph *graph = rewrite->graph;
  nd4c_cost again = nd4c_node_cost(graph, norm);
  if (nd4c_rewrite_is_single(rewrite, norm->outputs[0])) {
    return true;
  }
  int32_t reads = 0;
  for (int32_t i = 0; i < reader->input_count; i++) {
    const nd4c_value parameter = reader->inputs[i];
    reads += parameter == norm->outputs[0];
    again.bytes += parameter < 0 || parameter == norm->outputs[0] ? 0 : nd4c_value_bytes(graph, parameter);
  }
  if (reads > 1) { /* one of them would be the parameter, so both norms would be computed */
    return false;
  }
  return nd4c_cost_weight(again, 1) <= nd4c_cost_weight(nd4c_node_cost(graph, reader), 1);
}

bool nd4c_is_parameter(const nd4c_rewrite *rewrite, nd4c_value parameter, nd4c_value x, int32_t axis) {
  const nd4c_graph_value *given = &rewrite->graph->values[parameter], *like = &rewrite->graph->values[x];
  return given->dtype == like->dtype &&
         nd4c_shape_equal(given->rank, given->shape, like->rank - axis, like->shape + axis);
}
