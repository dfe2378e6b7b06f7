/* Implements moments.h. */
#include "graph/ir/moments.h"

#include "array/shape.h"

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
