/* Simplifies where: a condition that is known, equal branches, a condition that is a negation, and a where of the same
 * condition inside a branch. passes.c runs it on every optimised plan. */
#include "base/status.h"
#include "graph/ir/sweep.h"
#include "graph/ir/uniform.h"
#include "graph/passes.h"

enum { CONDITION, A, B, OPERANDS };

/* The node gives `value`: of the same dtype, seen in the node's shape. */
static nd4c_status give(nd4c_rewrite *rewrite, int32_t index, nd4c_value value, nd4c_value *same) {
  const nd4c_graph_value *output = &rewrite->graph->values[rewrite->graph->nodes[index].outputs[0]];
  const nd4c_graph_value *given = &rewrite->graph->values[value];
  if (given->dtype != output->dtype) {
    return ND4C_OK;
  }
  if (nd4c_rewrite_may_replace(rewrite, rewrite->graph->nodes[index].outputs[0], value)) {
    *same = value;
    return ND4C_OK;
  }
  const nd4c_attr_value shape = {.kind = ND4C_ATTR_INTS, .count = output->rank, .as.ints = output->shape};
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_broadcast_to, &value, 1, &shape, NULL, &done);
}

/* where(c, true, false) is c, where(c, false, true) is not c. */
static nd4c_status give_condition(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_value condition = node->inputs[CONDITION];
  nd4c_uniform a, b;
  if (rewrite->graph->values[node->outputs[0]].dtype != ND4C_BOOL ||
      !nd4c_constant_uniform(rewrite, node->inputs[A], &a) || !nd4c_constant_uniform(rewrite, node->inputs[B], &b)) {
    return ND4C_OK;
  }
  bool done = false;
  if (a.whole != 0 && b.whole == 0) {
    return give(rewrite, index, condition, same);
  }
  return a.whole == 0 && b.whole != 0
             ? nd4c_rewrite_node(rewrite, index, ND4C_OP_logical_not, &condition, 1, NULL, NULL, &done)
             : ND4C_OK;
}

/* Replaces branches that are a where of the same condition by the branch of theirs that is taken. */
static bool look_through(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, nd4c_value *inputs) {
  bool changed = false;
  for (int32_t i = A; i < OPERANDS; i++) {
    const nd4c_graph_node *inner = nd4c_rewrite_producer(rewrite, inputs[i], ND4C_OP_where);
    /* A branch of another dtype than the inner result was rounded to that one. */
    if (inner != NULL && inner->inputs[CONDITION] == node->inputs[CONDITION] &&
        rewrite->graph->values[inner->inputs[i]].dtype == rewrite->graph->values[inputs[i]].dtype) {
      inputs[i] = inner->inputs[i];
      changed = true;
    }
  }
  return changed;
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)state;
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  if (node->def->info.op != ND4C_OP_where) {
    return ND4C_OK;
  }
  nd4c_value inputs[OPERANDS] = {node->inputs[CONDITION], node->inputs[A], node->inputs[B]};
  nd4c_uniform known;
  if (nd4c_constant_uniform(rewrite, inputs[CONDITION], &known)) {
    return give(rewrite, index, inputs[known.whole != 0 ? A : B], same);
  }
  if (inputs[A] == inputs[B]) {
    return give(rewrite, index, inputs[A], same);
  }
  bool changed = look_through(rewrite, node, inputs), done = false;
  const nd4c_graph_node *negation = nd4c_rewrite_producer(rewrite, inputs[CONDITION], ND4C_OP_logical_not);
  if (negation != NULL) {
    const nd4c_value a = inputs[A];
    inputs[CONDITION] = negation->inputs[0];
    inputs[A] = inputs[B];
    inputs[B] = a;
    changed = true;
  }
  if (changed) {
    ND4C_TRY(nd4c_rewrite_node(rewrite, index, ND4C_OP_where, inputs, OPERANDS, NULL, NULL, &done));
  }
  return give_condition(rewrite, index, same);
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(SIMPLIFY, 35, select, ANY, "removes where of known or repeated conditions and of equal branches")
