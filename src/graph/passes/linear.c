/* Turns a matmul with a constant matrix, and the addition of a constant vector along the last axis, into linear.
 * passes.c runs it on every optimised plan. */
#include "base/status.h"
#include "graph/match/products.h"
#include "graph/passes.h"

/* The added constant as a vector of `count`, as a view; a NULL array if it is not one. */
static nd4c_status vector_of(const nd4c_rewrite *rewrite, nd4c_value value, int64_t count, nd4c_array **vector) {
  const nd4c_graph_value *info = &rewrite->graph->values[value];
  *vector = NULL;
  bool fits = info->constant != NULL && info->rank > 0 && info->size == count && info->shape[info->rank - 1] == count;
  if (!fits) {
    return ND4C_OK;
  }
  int64_t stride = info->constant->strides[info->rank - 1];
  return nd4c_array_as_strided(info->constant, 1, &count, &stride, 0, vector);
}

/* The product as a linear without bias: from a matmul with a constant matrix, or from a linear that has no bias yet. */
static bool find_product(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_value *inputs, nd4c_attr_value *attrs,
                         const nd4c_graph_node **product) {
  if (!nd4c_rewrite_is_single(rewrite, value)) {
    return false;
  }
  const nd4c_graph_node *node = nd4c_rewrite_producer(rewrite, value, ND4C_OP_matmul);
  if (node != NULL) {
    inputs[0] = node->inputs[0];
    inputs[1] = node->inputs[1];
    *product = node;
    return nd4c_is_linear_product(rewrite, node);
  }
  node = nd4c_rewrite_producer(rewrite, value, ND4C_OP_linear);
  if (node == NULL || nd4c_node_input(node, ND4C_IN_linear_bias) >= 0 ||
      nd4c_node_input(node, ND4C_IN_linear_addend) >= 0 || node->attrs[ND4C_ATTR_linear_activation].as.i != 0) {
    return false;
  }
  inputs[0] = node->inputs[0];
  inputs[1] = node->inputs[1];
  attrs[ND4C_ATTR_linear_transpose_w] = node->attrs[ND4C_ATTR_linear_transpose_w];
  *product = node;
  return true;
}

static nd4c_status fuse(nd4c_rewrite *rewrite, int32_t index, int32_t side) {
  const nd4c_graph_node *sum = &rewrite->graph->nodes[index];
  const nd4c_graph_value *output = &rewrite->graph->values[sum->outputs[0]];
  nd4c_attr_value attrs[ND4C_REWRITE_ATTRS];
  nd4c_value inputs[3];
  const nd4c_graph_node *product = NULL;
  ND4C_TRY(nd4c_rewrite_presets(ND4C_OP_linear, attrs));
  if (output->rank < 2 || !find_product(rewrite, sum->inputs[side], inputs, attrs, &product)) {
    return ND4C_OK;
  }
  nd4c_array *bias = NULL;
  ND4C_TRY(vector_of(rewrite, sum->inputs[1 - side], output->shape[output->rank - 1], &bias));
  if (bias == NULL || bias->dtype != output->dtype) {
    nd4c_array_release(bias);
    return ND4C_OK;
  }
  char fused[256];
  (void)nd4c_fused_text(product, "add", fused, sizeof fused);
  ND4C_TRY(nd4c_rewrite_constant(rewrite, bias, &inputs[2]));
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_linear, inputs, 3, attrs, fused, &done);
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  for (int32_t i = 0; i < rewrite->graph->node_count; i++) {
    for (int32_t side = 0; side < 2 && rewrite->graph->nodes[i].def->info.op == ND4C_OP_add; side++) {
      ND4C_TRY(fuse(rewrite, i, side));
    }
  }
  return ND4C_OK;
}

ND4C_PASS(FUSE, 70, linear, ANY, "makes linear of matmul and a constant bias")
