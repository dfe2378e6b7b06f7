/* (x - m) / sqrt(mean((x - m)^2) + epsilon) * scale + bias with m = mean(x), composed of elementary ops, becomes
 * layer_norm. passes.c runs it on every optimised plan. */
#include "array/shape.h"
#include "base/status.h"
#include "graph/ir/moments.h"
#include "graph/passes.h"

/* What is recognised so far. */
typedef struct match {
  const nd4c_rewrite *rewrite;
  nd4c_value x, mean, scale, bias;
  double epsilon;
} match;

/* The producer of a value that only the pattern reads. */
static const nd4c_graph_node *inner(const match *found, nd4c_value value, nd4c_op op) {
  return nd4c_rewrite_inner(found->rewrite, value, op);
}

/* True if the value is x - mean(x); notes x and the mean at first sight, compares later. */
static bool is_centred(match *found, nd4c_value value, int32_t axis) {
  const nd4c_graph_node *difference = nd4c_rewrite_producer(found->rewrite, value, ND4C_OP_subtract);
  if (difference == NULL) {
    return false;
  }
  if (found->x >= 0) {
    return difference->inputs[0] == found->x && difference->inputs[1] == found->mean;
  }
  const nd4c_graph_node *mean = nd4c_rewrite_producer(found->rewrite, difference->inputs[1], ND4C_OP_mean);
  if (mean == NULL || mean->inputs[0] != difference->inputs[0] || nd4c_mean_axis(found->rewrite, mean) != axis) {
    return false;
  }
  found->x = difference->inputs[0];
  found->mean = difference->inputs[1];
  return true;
}

/* True if the value is sqrt(mean(centred^2) + epsilon); gives the centred value and the first axis. */
static bool is_deviation(match *found, nd4c_value value, nd4c_value *centred, int32_t *axis) {
  const nd4c_graph_node *root = inner(found, value, ND4C_OP_sqrt);
  const nd4c_graph_node *sum = root == NULL ? NULL : inner(found, root->inputs[0], ND4C_OP_add);
  for (int32_t i = 0; sum != NULL && i < 2; i++) {
    const nd4c_graph_node *mean = inner(found, sum->inputs[i], ND4C_OP_mean);
    if (mean == NULL || !nd4c_constant_scalar(found->rewrite, sum->inputs[1 - i], &found->epsilon)) {
      continue;
    }
    *axis = nd4c_mean_axis(found->rewrite, mean);
    *centred = nd4c_square_source(found->rewrite, mean->inputs[0]);
    return *axis >= 0 && *centred >= 0;
  }
  return false;
}

/* True if only the pattern reads its intermediate values: x - m once or twice, and m as often. */
static bool is_closed(const match *found, nd4c_value first, nd4c_value second) {
  const int32_t *uses = found->rewrite->uses;
  bool same = first == second;
  bool squared = nd4c_rewrite_producer(found->rewrite, first, ND4C_OP_subtract) != NULL;
  /* A product of the value with itself reads it twice. */
  int32_t limit = same ? 3 : 2;
  return squared && uses[first] <= limit && uses[second] <= limit && uses[found->mean] <= (same ? 1 : 2);
}

static bool is_normalised(match *found, nd4c_value value, int32_t *axis) {
  const nd4c_graph_node *quotient = inner(found, value, ND4C_OP_divide);
  nd4c_value centred = ND4C_VALUE_NONE;
  return quotient != NULL && is_deviation(found, quotient->inputs[1], &centred, axis) &&
         is_centred(found, centred, *axis) && is_centred(found, quotient->inputs[0], *axis) &&
         is_closed(found, centred, quotient->inputs[0]);
}

/* True if the parameter has exactly the normalised axes. */
static bool is_parameter(const match *found, nd4c_value value, int32_t axis) {
  const nd4c_graph_value *x = &found->rewrite->graph->values[found->x];
  const nd4c_graph_value *parameter = &found->rewrite->graph->values[value];
  return parameter->dtype == x->dtype &&
         nd4c_shape_equal(parameter->rank, parameter->shape, x->rank - axis, x->shape + axis);
}

/* Tries both orders of the operands of the final add and of the multiply. */
static bool recognise(match *found, const nd4c_graph_node *sum, int32_t *axis) {
  for (int32_t i = 0; i < 4; i++) {
    const nd4c_graph_node *product = inner(found, sum->inputs[i & 1], ND4C_OP_multiply);
    if (product == NULL) {
      continue;
    }
    found->x = ND4C_VALUE_NONE;
    found->bias = sum->inputs[1 - (i & 1)];
    found->scale = product->inputs[1 - (i >> 1)];
    if (is_normalised(found, product->inputs[i >> 1], axis) && is_parameter(found, found->scale, *axis) &&
        is_parameter(found, found->bias, *axis)) {
      return true;
    }
  }
  return false;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  for (int32_t i = 0; i < rewrite->graph->node_count; i++) {
    match found = {.rewrite = rewrite};
    int32_t axis = 0;
    if (rewrite->graph->nodes[i].def->info.op != ND4C_OP_add || !recognise(&found, &rewrite->graph->nodes[i], &axis)) {
      continue;
    }
    nd4c_attr_value attrs[ND4C_REWRITE_ATTRS];
    ND4C_TRY(nd4c_rewrite_presets(ND4C_OP_layer_norm, attrs));
    attrs[ND4C_ATTR_layer_norm_axis].as.i = axis;
    attrs[ND4C_ATTR_layer_norm_epsilon].as.f = found.epsilon;
    nd4c_value inputs[] = {found.x, found.scale, found.bias};
    bool done = false;
    ND4C_TRY(nd4c_rewrite_node(rewrite, i, ND4C_OP_layer_norm, inputs, 3, attrs,
                               "mean + subtract + power + mean + add + sqrt + divide + multiply + add", &done));
  }
  return ND4C_OK;
}

ND4C_PASS(RECOGNIZE, 50, layer_norm, ANY, "recognises layer_norm in means and their neighbours")
