/* A layer_norm or rms_norm of a sum becomes skip_layer_norm, which gives the sum, too: the sum need not be read again,
 * and is not written for the norm alone. Runs behind fuse_addend, which merges sums into the products before them. An
 * operand that a chain of element-wise ops computes is left to the chain, which computes the sum in the same loop. A
 * plan with a precision is left to the pass reduced_precision, which chooses a dtype for the sum and one for the norm.
 * passes.c runs it on optimised plans of one device, if that device has a kernel for skip_layer_norm that is faster
 * than the reference. */
#include "array/shape.h"
#include "base/status.h"
#include "graph/match/fast.h"
#include "graph/passes.h"

typedef struct match {
  nd4c_value inputs[ND4C_IN_skip_layer_norm_count];
  nd4c_value sum, y;
  nd4c_attr_value attrs[ND4C_ATTR_skip_layer_norm_count];
} match;

/* Whether the value is there before anything of the graph is computed. */
static bool is_given(const nd4c_rewrite *rewrite, nd4c_value value) {
  return value < 0 || rewrite->graph->values[value].producer < 0;
}

/* Scale and bias, which must not depend on the sum. */
static bool read_norm(const nd4c_rewrite *rewrite, const nd4c_graph_node *norm, match *found) {
  const bool rms = norm->def->info.op == ND4C_OP_rms_norm;
  const int32_t axis = rms ? ND4C_ATTR_rms_norm_axis : ND4C_ATTR_layer_norm_axis;
  const int32_t epsilon = rms ? ND4C_ATTR_rms_norm_epsilon : ND4C_ATTR_layer_norm_epsilon;
  found->sum = norm->inputs[0];
  found->y = norm->outputs[0];
  found->inputs[ND4C_IN_skip_layer_norm_scale] = nd4c_node_input(norm, ND4C_IN_layer_norm_scale);
  found->inputs[ND4C_IN_skip_layer_norm_bias] = rms ? ND4C_VALUE_NONE : nd4c_node_input(norm, ND4C_IN_layer_norm_bias);
  found->inputs[ND4C_IN_skip_layer_norm_addend] = ND4C_VALUE_NONE;
  found->attrs[ND4C_ATTR_skip_layer_norm_epsilon].as.f = norm->attrs[epsilon].as.f;
  found->attrs[ND4C_ATTR_skip_layer_norm_rms].as.i = rms;
  const int32_t rank = rewrite->graph->values[found->sum].rank;
  return nd4c_axis_index(norm->attrs[axis].as.i, rank) == rank - 1 &&
         is_given(rewrite, found->inputs[ND4C_IN_skip_layer_norm_scale]) &&
         is_given(rewrite, found->inputs[ND4C_IN_skip_layer_norm_bias]);
}

/* Whether an element-wise op computes the value for the sum alone. */
static bool is_in_chain(const nd4c_rewrite *rewrite, nd4c_value value) {
  const int32_t producer = nd4c_rewrite_is_single(rewrite, value) ? rewrite->graph->values[value].producer : -1;
  if (producer < 0) {
    return false;
  }
  const nd4c_category category = rewrite->graph->nodes[producer].def->info.category;
  return category == ND4C_CATEGORY_UNARY || category == ND4C_CATEGORY_BINARY || category == ND4C_CATEGORY_TERNARY;
}

/* The operands of the sum, which have its shape: a sum that broadcasts is left to add, for which there are kernels. */
static bool read_sum(const nd4c_rewrite *rewrite, match *found) {
  const nd4c_graph_node *sum = nd4c_rewrite_producer(rewrite, found->sum, ND4C_OP_add);
  const nd4c_graph_value *values = rewrite->graph->values, *whole = &values[found->sum];
  for (int32_t i = 0; sum != NULL && i < 2; i++) {
    const nd4c_graph_value *operand = &values[sum->inputs[i]];
    if (operand->dtype != whole->dtype || !nd4c_shape_equal(operand->rank, operand->shape, whole->rank, whole->shape) ||
        is_in_chain(rewrite, sum->inputs[i])) {
      return false;
    }
  }
  if (sum != NULL) {
    found->inputs[ND4C_IN_skip_layer_norm_x] = sum->inputs[0];
    found->inputs[ND4C_IN_skip_layer_norm_skip] = sum->inputs[1];
  }
  return sum != NULL;
}

static nd4c_status merge(nd4c_rewrite *rewrite, const match *found) {
  const nd4c_op_info *info = &nd4c_op_get_def(ND4C_OP_skip_layer_norm)->info;
  const int32_t until = rewrite->graph->node_count;
  nd4c_attr attrs[ND4C_ATTR_skip_layer_norm_count];
  nd4c_value made[2];
  for (int32_t i = 0; i < ND4C_ATTR_skip_layer_norm_count; i++) {
    attrs[i] = (nd4c_attr){.name = info->attrs[i].name, .value = found->attrs[i]};
  }
  ND4C_TRY(nd4c_emit_outputs(&rewrite->emitter, ND4C_OP_skip_layer_norm, found->inputs, ND4C_IN_skip_layer_norm_count,
                             attrs, ND4C_ATTR_skip_layer_norm_count, made, 2));
  const int32_t changes = rewrite->changes;
  ND4C_TRY(nd4c_rewrite_replace(rewrite, found->y, made[0], until));
  ND4C_TRY(nd4c_rewrite_replace(rewrite, found->sum, made[1], until));
  rewrite->changes = changes + 1;
  return ND4C_OK;
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  match found;
  nd4c_attr_value presets[ND4C_REWRITE_ATTRS];
  ND4C_TRY(nd4c_rewrite_presets(ND4C_OP_skip_layer_norm, presets));
  for (int32_t i = 0; i < ND4C_ATTR_skip_layer_norm_count; i++) {
    found.attrs[i] = presets[i];
  }
  return read_norm(rewrite, node, &found) && read_sum(rewrite, &found) &&
                 nd4c_rewrite_is_fast(rewrite, ND4C_OP_skip_layer_norm, found.inputs, ND4C_IN_skip_layer_norm_count,
                                      found.attrs)
             ? merge(rewrite, &found)
             : ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  for (int32_t i = 0; i < rewrite->existing && !rewrite->reduces_products; i++) {
    const nd4c_graph_node *node = &rewrite->graph->nodes[i];
    if (node->def != NULL && rewrite->uses[node->outputs[0]] > 0 &&
        (node->def->info.op == ND4C_OP_layer_norm || node->def->info.op == ND4C_OP_rms_norm)) {
      ND4C_TRY(visit(rewrite, i));
    }
  }
  return ND4C_OK;
}

ND4C_PASS(FUSE, 95, skip_norm, DEVICE, "merges a sum into the layer_norm or rms_norm behind it")
