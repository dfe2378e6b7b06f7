/* Simplifies ops that only change a shape: chains of reshape, flatten, squeeze, expand_dims and atleast_nd become one
 * reshape, a broadcast in front of an op that broadcasts goes, and so do tile, pad and repeat that change nothing.
 * passes.c runs it on every optimised plan. */
#include <string.h>

#include "base/status.h"
#include "graph/ir/sweep.h"
#include "graph/passes.h"

/* True if the op gives its input's elements in C order in another shape. */
static bool reshapes(nd4c_op op) {
  return op == ND4C_OP_reshape || op == ND4C_OP_flatten || op == ND4C_OP_squeeze || op == ND4C_OP_expand_dims ||
         op == ND4C_OP_atleast_nd;
}

static bool is_like_output(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, nd4c_value value) {
  return nd4c_rewrite_may_replace(rewrite, node->outputs[0], value);
}

/* Turns the node into reshape or broadcast_to, to its own shape, of another value. */
static nd4c_status take_from(nd4c_rewrite *rewrite, int32_t index, nd4c_op op, nd4c_value value, nd4c_value *same) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_graph_value *output = &rewrite->graph->values[node->outputs[0]];
  if (is_like_output(rewrite, node, value)) {
    *same = value;
    return ND4C_OK;
  }
  const nd4c_attr_value shape = {.kind = ND4C_ATTR_INTS, .count = output->rank, .as.ints = output->shape};
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, op, &value, 1, &shape, NULL, &done);
}

static const nd4c_graph_node *producer_of(const nd4c_rewrite *rewrite, nd4c_value value) {
  const int32_t index = value < 0 ? -1 : rewrite->graph->values[value].producer;
  const nd4c_graph_node *node = index < 0 ? NULL : &rewrite->graph->nodes[index];
  return node == NULL || node->def == NULL ? NULL : node;
}

/* A reshape of a view may copy. If other nodes read the first reshape, merging would copy twice. */
static bool may_merge(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, const nd4c_graph_node *inner) {
  const nd4c_graph_node *source = producer_of(rewrite, inner->inputs[0]);
  return nd4c_rewrite_is_single(rewrite, inner->outputs[0]) || source == NULL || source->def->view == NULL ||
         is_like_output(rewrite, node, inner->inputs[0]);
}

static nd4c_status visit_reshape(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same) {
  const nd4c_value x = rewrite->graph->nodes[index].inputs[0];
  const nd4c_graph_node *inner = producer_of(rewrite, x);
  if (inner != NULL && reshapes(inner->def->info.op) && may_merge(rewrite, &rewrite->graph->nodes[index], inner)) {
    return take_from(rewrite, index, ND4C_OP_reshape, inner->inputs[0], same);
  }
  *same = is_like_output(rewrite, &rewrite->graph->nodes[index], x) ? x : ND4C_VALUE_NONE;
  return ND4C_OK;
}

/* Element-wise ops of several operands read an operand in the shape that it had before broadcast_to, if the result
 * keeps its shape. */
static nd4c_status visit_broadcasting(nd4c_rewrite *rewrite, int32_t index) {
  enum { MOST = 3 };
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  nd4c_value inputs[MOST];
  if (node->input_count > MOST) {
    return ND4C_OK;
  }
  memcpy(inputs, node->inputs, (size_t)node->input_count * sizeof *inputs);
  for (int32_t i = 0; i < node->input_count; i++) {
    node = &rewrite->graph->nodes[index];
    const nd4c_graph_node *inner = nd4c_rewrite_producer(rewrite, inputs[i], ND4C_OP_broadcast_to);
    if (inner == NULL) {
      continue;
    }
    const nd4c_value before = inputs[i];
    bool done = false;
    inputs[i] = inner->inputs[0];
    ND4C_TRY(
        nd4c_rewrite_node(rewrite, index, node->def->info.op, inputs, node->input_count, node->attrs, NULL, &done));
    inputs[i] = done ? inputs[i] : before;
  }
  return ND4C_OK;
}

static bool are_all(const nd4c_attr_value *list, int64_t number) {
  for (int32_t i = 0; i < list->count; i++) {
    if (list->as.ints[i] != number) {
      return false;
    }
  }
  return true;
}

/* True if the node gives its input. */
static bool changes_nothing(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  if (node->input_count < 1 || node->inputs[0] < 0 || !is_like_output(rewrite, node, node->inputs[0])) {
    return false;
  }
  switch (node->def->info.op) {
    case ND4C_OP_tile: /* with the same shape, each of its numbers is 1 or repeats an axis of length 0 */
      return true;
    case ND4C_OP_pad:
      return are_all(&node->attrs[ND4C_ATTR_pad_pads], 0);
    case ND4C_OP_repeat:
      return nd4c_node_input(node, ND4C_IN_repeat_counts) < 0 && are_all(&node->attrs[ND4C_ATTR_repeat_repeats], 1);
    case ND4C_OP_roll:
      return are_all(&node->attrs[ND4C_ATTR_roll_shifts], 0);
    default:
      return false;
  }
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)state;
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  if (nd4c_op_is_foreign(node->def)) {
    return ND4C_OK;
  }
  if (reshapes(node->def->info.op)) {
    return visit_reshape(rewrite, index, same);
  }
  if (node->def->info.op == ND4C_OP_broadcast_to) {
    const nd4c_graph_node *inner = nd4c_rewrite_producer(rewrite, node->inputs[0], ND4C_OP_broadcast_to);
    return inner == NULL ? ND4C_OK : take_from(rewrite, index, ND4C_OP_broadcast_to, inner->inputs[0], same);
  }
  if (node->def->info.category == ND4C_CATEGORY_BINARY || node->def->info.category == ND4C_CATEGORY_TERNARY) {
    return visit_broadcasting(rewrite, index);
  }
  *same = changes_nothing(rewrite, node) ? node->inputs[0] : ND4C_VALUE_NONE;
  return ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(SIMPLIFY, 37, shapes, ANY, "merges changes of shape and drops broadcasts that the next op makes")
