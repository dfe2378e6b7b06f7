/* x / sqrt(mean(x^2) + epsilon) * scale, composed of elementary ops, becomes rms_norm; the quotient may be spelled as a
 * product with a reciprocal, and the scale may be missing. passes.c runs it on every optimised plan. */
#include "array/shape.h"
#include "base/status.h"
#include "graph/ir/moments.h"
#include "graph/ir/sweep.h"
#include "graph/passes.h"

typedef struct match {
  nd4c_value x;
  int32_t axis;
  double epsilon;
} match;

/* True if the value is mean(x^2) + epsilon. */
static bool is_mean_square(const nd4c_rewrite *rewrite, nd4c_value value, match *found) {
  const nd4c_graph_node *sum = nd4c_rewrite_inner(rewrite, value, ND4C_OP_add);
  const nd4c_value partner = sum == NULL ? ND4C_VALUE_NONE : nd4c_scalar_partner(rewrite, sum, &found->epsilon);
  const nd4c_graph_node *mean = nd4c_rewrite_inner(rewrite, partner, ND4C_OP_mean);
  if (mean == NULL) {
    return false;
  }
  found->axis = nd4c_mean_axis(rewrite, mean);
  found->x = nd4c_square_source(rewrite, mean->inputs[0]);
  return found->axis >= 0 && found->x >= 0;
}

/* True if the value is the root of such a mean. */
static bool is_root(const nd4c_rewrite *rewrite, nd4c_value value, match *found) {
  const nd4c_graph_node *root = nd4c_rewrite_inner(rewrite, value, ND4C_OP_sqrt);
  return root != NULL && is_mean_square(rewrite, root->inputs[0], found);
}

/* True if the value is 1 over the root: by rsqrt, by a power, by reciprocal or as a quotient. */
static bool is_inverse_root(const nd4c_rewrite *rewrite, nd4c_value value, match *found) {
  double number = 0;
  const nd4c_graph_node *node = nd4c_rewrite_inner(rewrite, value, ND4C_OP_rsqrt);
  if (node != NULL) {
    return is_mean_square(rewrite, node->inputs[0], found);
  }
  node = nd4c_rewrite_inner(rewrite, value, ND4C_OP_power);
  if (node != NULL) {
    return nd4c_constant_scalar(rewrite, node->inputs[1], &number) && number == -0.5 &&
           is_mean_square(rewrite, node->inputs[0], found);
  }
  node = nd4c_rewrite_inner(rewrite, value, ND4C_OP_reciprocal);
  if (node != NULL) {
    return is_root(rewrite, node->inputs[0], found);
  }
  node = nd4c_rewrite_inner(rewrite, value, ND4C_OP_divide);
  return node != NULL && nd4c_constant_scalar(rewrite, node->inputs[0], &number) && number == 1 &&
         is_root(rewrite, node->inputs[1], found);
}

static bool is_normalised(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, match *found) {
  if (node->def->info.op == ND4C_OP_divide) {
    return is_root(rewrite, node->inputs[1], found) && node->inputs[0] == found->x;
  }
  for (int32_t i = 0; i < 2; i++) {
    if (is_inverse_root(rewrite, node->inputs[i], found) && node->inputs[1 - i] == found->x) {
      return true;
    }
  }
  return false;
}

static nd4c_status make_norm(nd4c_rewrite *rewrite, int32_t index, const match *found) {
  nd4c_attr_value attrs[ND4C_REWRITE_ATTRS];
  bool done = false;
  ND4C_TRY(nd4c_rewrite_presets(ND4C_OP_rms_norm, attrs));
  attrs[ND4C_ATTR_rms_norm_axis].as.i = found->axis;
  attrs[ND4C_ATTR_rms_norm_epsilon].as.f = found->epsilon;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_rms_norm, &found->x, 1, attrs, "square + mean + add + sqrt + divide",
                           &done);
}

/* rms_norm(x) * scale, where the scale has exactly the normalised axes. */
static nd4c_status add_scale(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_graph_value *values = rewrite->graph->values;
  for (int32_t i = 0; i < 2; i++) {
    const nd4c_graph_node *norm = nd4c_rewrite_inner(rewrite, node->inputs[i], ND4C_OP_rms_norm);
    if (norm == NULL || nd4c_node_input(norm, ND4C_IN_rms_norm_scale) >= 0) {
      continue;
    }
    const nd4c_graph_value *x = &values[norm->inputs[0]], *scale = &values[node->inputs[1 - i]];
    const int32_t axis = nd4c_axis_index(norm->attrs[ND4C_ATTR_rms_norm_axis].as.i, x->rank);
    if (scale->dtype != x->dtype || !nd4c_shape_equal(scale->rank, scale->shape, x->rank - axis, x->shape + axis)) {
      continue;
    }
    const nd4c_value inputs[] = {norm->inputs[0], node->inputs[1 - i]};
    char fused[256];
    bool done = false;
    (void)nd4c_fused_text(norm, "multiply", fused, sizeof fused);
    return nd4c_rewrite_node(rewrite, index, ND4C_OP_rms_norm, inputs, 2, norm->attrs, fused, &done);
  }
  return ND4C_OK;
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)same;
  (void)state;
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  match found;
  if (node->def->info.op != ND4C_OP_divide && node->def->info.op != ND4C_OP_multiply) {
    return ND4C_OK;
  }
  if (is_normalised(rewrite, node, &found) && nd4c_rewrite_computes(rewrite, ND4C_OP_rms_norm, node->def->info.op)) {
    return make_norm(rewrite, index, &found);
  }
  return node->def->info.op == ND4C_OP_multiply ? add_scale(rewrite, index) : ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(RECOGNIZE, 51, rms_norm, ANY, "recognises rms_norm in mean squares and their neighbours")
