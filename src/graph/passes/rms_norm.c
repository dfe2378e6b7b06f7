/* x / sqrt(mean(x^2) + epsilon) * scale, composed of elementary ops, becomes rms_norm; the quotient may be spelled as a
 * product with a reciprocal, and the scale may be missing. Several scales may share the rest. passes.c runs it on every
 * optimised plan. */
#include "array/shape.h"
#include "base/status.h"
#include "graph/ir/sweep.h"
#include "graph/match/moments.h"
#include "graph/passes.h"

static nd4c_status make_norm(nd4c_rewrite *rewrite, int32_t index, const nd4c_root *found) {
  nd4c_attr_value attrs[ND4C_REWRITE_ATTRS];
  bool done = false;
  ND4C_TRY(nd4c_rewrite_presets(ND4C_OP_rms_norm, attrs));
  attrs[ND4C_ATTR_rms_norm_axis].as.i = found->axis;
  attrs[ND4C_ATTR_rms_norm_epsilon].as.f = found->epsilon;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_rms_norm, &found->squared, 1, attrs,
                           "square + mean + add + sqrt + divide", &done);
}

/* rms_norm(x) * scale, where the scale has exactly the normalised axes. */
static nd4c_status add_scale(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  for (int32_t i = 0; i < 2; i++) {
    const nd4c_graph_node *norm = nd4c_rewrite_producer(rewrite, node->inputs[i], ND4C_OP_rms_norm);
    if (norm == NULL || nd4c_node_input(norm, ND4C_IN_rms_norm_scale) >= 0 || !nd4c_may_take_in(rewrite, norm, node)) {
      continue;
    }
    const int32_t rank = rewrite->graph->values[norm->inputs[0]].rank;
    const int32_t axis = nd4c_axis_index(norm->attrs[ND4C_ATTR_rms_norm_axis].as.i, rank);
    if (!nd4c_is_parameter(rewrite, node->inputs[1 - i], norm->inputs[0], axis)) {
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
  nd4c_root found;
  if (node->def->info.op != ND4C_OP_divide && node->def->info.op != ND4C_OP_multiply) {
    return ND4C_OK;
  }
  const nd4c_value numerator = nd4c_root_numerator(rewrite, node, &found);
  if (numerator >= 0 && numerator == found.squared &&
      nd4c_rewrite_computes(rewrite, ND4C_OP_rms_norm, node->def->info.op)) {
    return make_norm(rewrite, index, &found);
  }
  return node->def->info.op == ND4C_OP_multiply ? add_scale(rewrite, index) : ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(RECOGNIZE, 51, rms_norm, ANY, "recognises rms_norm in mean squares and their neighbours")
