/* (x - m) / sqrt(mean((x - m)^2) + epsilon) * scale + bias with m = mean(x), composed of elementary ops, becomes
 * layer_norm; the quotient may be spelled as a product with a reciprocal, and the parameters may be missing. Several
 * parameters may share the rest, as cse leaves it of two norms of one x. passes.c runs it on every optimised plan. */
#include "array/shape.h"
#include "base/status.h"
#include "graph/ir/sweep.h"
#include "graph/match/moments.h"
#include "graph/passes.h"

typedef struct match {
  nd4c_value x, mean;
} match;

/* True if the value is x - mean(x); notes x and the mean at first sight, compares later. */
static bool is_centred(const nd4c_rewrite *rewrite, nd4c_value value, int32_t axis, match *found) {
  const nd4c_graph_node *difference = nd4c_rewrite_producer(rewrite, value, ND4C_OP_subtract);
  if (difference == NULL) {
    return false;
  }
  if (found->x >= 0) {
    return difference->inputs[0] == found->x && difference->inputs[1] == found->mean;
  }
  const nd4c_graph_node *mean = nd4c_rewrite_producer(rewrite, difference->inputs[1], ND4C_OP_mean);
  if (mean == NULL || mean->inputs[0] != difference->inputs[0] || nd4c_mean_axis(rewrite, mean) != axis) {
    return false;
  }
  found->x = difference->inputs[0];
  found->mean = difference->inputs[1];
  return true;
}

/* True if only the pattern reads its intermediate values: x - m once or twice, and m as often. */
static bool is_closed(const nd4c_rewrite *rewrite, const match *found, const nd4c_root *root, nd4c_value numerator) {
  const int32_t *uses = rewrite->uses;
  const bool same = root->squared == numerator;
  return uses[root->squared] == root->reads + (same ? 1 : 0) && (same || uses[numerator] == 1) &&
         uses[found->mean] == (same ? 1 : 2);
}

static nd4c_status make_norm(nd4c_rewrite *rewrite, int32_t index, const nd4c_root *root, nd4c_value x) {
  nd4c_attr_value attrs[ND4C_REWRITE_ATTRS];
  bool done = false;
  ND4C_TRY(nd4c_rewrite_presets(ND4C_OP_layer_norm, attrs));
  attrs[ND4C_ATTR_layer_norm_axis].as.i = root->axis;
  attrs[ND4C_ATTR_layer_norm_epsilon].as.f = root->epsilon;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_layer_norm, &x, 1, attrs,
                           "mean + subtract + square + mean + add + sqrt + divide", &done);
}

static nd4c_status find_norm(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  match found = {.x = ND4C_VALUE_NONE};
  nd4c_root root;
  const nd4c_value numerator = nd4c_root_numerator(rewrite, node, &root);
  const bool fits = numerator >= 0 && is_centred(rewrite, root.squared, root.axis, &found) &&
                    is_centred(rewrite, numerator, root.axis, &found) && is_closed(rewrite, &found, &root, numerator) &&
                    nd4c_rewrite_computes(rewrite, ND4C_OP_layer_norm, node->def->info.op);
  return fits ? make_norm(rewrite, index, &root, found.x) : ND4C_OK;
}

/* norm * scale or norm + bias, where the parameter has exactly the normalised axes. */
static nd4c_status add_parameter(nd4c_rewrite *rewrite, int32_t index, int32_t position) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  for (int32_t i = 0; i < 2; i++) {
    const nd4c_graph_node *norm = nd4c_rewrite_producer(rewrite, node->inputs[i], ND4C_OP_layer_norm);
    if (norm == NULL || nd4c_node_input(norm, position) >= 0 || nd4c_node_input(norm, ND4C_IN_layer_norm_bias) >= 0 ||
        !nd4c_may_take_in(rewrite, norm, node)) {
      continue;
    }
    const int32_t rank = rewrite->graph->values[norm->inputs[0]].rank;
    const int32_t axis = nd4c_axis_index(norm->attrs[ND4C_ATTR_layer_norm_axis].as.i, rank);
    if (!nd4c_is_parameter(rewrite, node->inputs[1 - i], norm->inputs[0], axis)) {
      continue;
    }
    nd4c_value inputs[] = {norm->inputs[0], nd4c_node_input(norm, ND4C_IN_layer_norm_scale), ND4C_VALUE_NONE};
    inputs[position] = node->inputs[1 - i];
    char fused[256];
    bool done = false;
    (void)nd4c_fused_text(norm, node->def->info.name, fused, sizeof fused);
    return nd4c_rewrite_node(rewrite, index, ND4C_OP_layer_norm, inputs, position + 1, norm->attrs, fused, &done);
  }
  return ND4C_OK;
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)same;
  (void)state;
  const nd4c_op op = rewrite->graph->nodes[index].def->info.op;
  if (op == ND4C_OP_divide || op == ND4C_OP_multiply) {
    ND4C_TRY(find_norm(rewrite, index));
  }
  switch (rewrite->graph->nodes[index].def->info.op) {
    case ND4C_OP_multiply:
      return add_parameter(rewrite, index, ND4C_IN_layer_norm_scale);
    case ND4C_OP_add:
      return add_parameter(rewrite, index, ND4C_IN_layer_norm_bias);
    default:
      return ND4C_OK;
  }
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(RECOGNIZE, 50, layer_norm, ANY, "recognises layer_norm in means and their neighbours")
