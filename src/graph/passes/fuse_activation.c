/* Merges relu, gelu, sigmoid, tanh, swish, hard_swish and clip between 0 and 6 into the conv or linear before them.
 * passes.c runs it on every optimised plan.
 *
 * oneDNN's kernels apply the activation to their own result. There relu and clip of NaN are 0, gelu of an infinity is
 * NaN, as are swish and hard_swish of minus infinity, and sigmoid flushes subnormal results to 0. */
#include <string.h>

#include "base/status.h"
#include "graph/passes.h"

/* Whether a clip has the constant bounds 0 and 6. */
static bool is_relu6(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  double low = 0, high = 0;
  return nd4c_constant_scalar(rewrite, nd4c_node_input(node, ND4C_IN_clip_low), &low) &&
         nd4c_constant_scalar(rewrite, nd4c_node_input(node, ND4C_IN_clip_high), &high) && low == 0 && high == 6;
}

/* Value of the attribute `activation` for a node; NONE if the node is not an activation. */
static int64_t activation_of(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  switch (node->def->info.op) {
    case ND4C_OP_relu:
      return ND4C_ACTIVATION_RELU;
    case ND4C_OP_sigmoid:
      return ND4C_ACTIVATION_SIGMOID;
    case ND4C_OP_tanh:
      return ND4C_ACTIVATION_TANH;
    case ND4C_OP_gelu:
      return node->attrs[ND4C_ATTR_gelu_approximate].as.i != 0 ? ND4C_ACTIVATION_GELU_TANH : ND4C_ACTIVATION_GELU;
    case ND4C_OP_swish:
      return node->attrs[ND4C_ATTR_swish_alpha].as.f == 1 ? ND4C_ACTIVATION_SWISH : ND4C_ACTIVATION_NONE;
    case ND4C_OP_hard_swish:
      return ND4C_ACTIVATION_HARD_SWISH;
    case ND4C_OP_clip:
      return is_relu6(rewrite, node) ? ND4C_ACTIVATION_RELU6 : ND4C_ACTIVATION_NONE;
    default:
      return ND4C_ACTIVATION_NONE;
  }
}

static nd4c_status fuse(nd4c_rewrite *rewrite, int32_t index, int64_t activation) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_graph_node *host = nd4c_rewrite_producer(rewrite, node->inputs[0], ND4C_OP_conv);
  host = host != NULL ? host : nd4c_rewrite_producer(rewrite, node->inputs[0], ND4C_OP_linear);
  if (host == NULL || !nd4c_rewrite_is_single(rewrite, node->inputs[0]) ||
      host->def->info.attr_count > ND4C_REWRITE_ATTRS) {
    return ND4C_OK;
  }
  int32_t position =
      host->def->info.op == ND4C_OP_conv ? (int)ND4C_ATTR_conv_activation : (int)ND4C_ATTR_linear_activation;
  if (host->attrs[position].as.i != ND4C_ACTIVATION_NONE) {
    return ND4C_OK;
  }
  nd4c_attr_value attrs[ND4C_REWRITE_ATTRS];
  memcpy(attrs, host->attrs, (size_t)host->def->info.attr_count * sizeof *attrs);
  attrs[position].as.i = activation;
  char fused[256];
  (void)nd4c_fused_text(host, node->def->info.name, fused, sizeof fused);
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, host->def->info.op, host->inputs, host->input_count, attrs, fused, &done);
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  for (int32_t i = 0; i < rewrite->graph->node_count; i++) {
    int64_t activation = activation_of(rewrite, &rewrite->graph->nodes[i]);
    if (activation != ND4C_ACTIVATION_NONE) {
      ND4C_TRY(fuse(rewrite, i, activation));
    }
  }
  return ND4C_OK;
}

ND4C_PASS(FUSE, 90, fuse_activation, ANY,
          "merges an activation into the conv or linear before it; may lose NaN, infinities")
