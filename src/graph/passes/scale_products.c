/* Multiplies constant weights by the number by which a product of matrices, or what it reads, is multiplied or divided:
 * s (x w + b) becomes x (s w) + s b, and (s x) w becomes x (s w). Computed in double, as fold_affine does for conv.
 * Weights that another node reads stay, because they would be there twice. passes.c runs it on every optimised plan. */
#include "base/status.h"
#include "graph/ir/mapped.h"
#include "graph/match/moments.h"
#include "graph/passes.h"

/* A product of x with constant weights, and with its bias, if it is a linear that has one. */
typedef struct product {
  const nd4c_graph_node *node;
  nd4c_value inputs[ND4C_IN_linear_bias + 1];
} product;

_Static_assert((int)ND4C_IN_linear_w == 1 && (int)ND4C_IN_linear_bias == 2, "w and the bias follow x");

/* What the value is a multiple of, by an op that nothing else reads: x, with the factor; else NONE. */
static nd4c_value read_factor(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, double *factor) {
  const nd4c_value x = nd4c_factor_source(rewrite, node, factor);
  return x >= 0 && nd4c_factor_distributes(*factor) ? x : ND4C_VALUE_NONE;
}

/* Whether the value is a constant that a new one may take the place of. */
static bool is_own_constant(const nd4c_rewrite *rewrite, nd4c_value value) {
  const nd4c_graph_value *info = &rewrite->graph->values[value];
  return info->constant != NULL && (info->dtype == ND4C_FLOAT32 || info->dtype == ND4C_FLOAT64) &&
         info->size <= ND4C_MAPPED_ELEMENTS && (info->constant->storage->flags & ND4C_STORAGE_ENCODED) == 0 &&
         nd4c_rewrite_is_single(rewrite, value);
}

/* `behind`: the factor stands behind the product, so the bias is multiplied, too. */
static bool read_product(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, bool behind, product *found) {
  if (node == NULL || node->def == NULL ||
      (node->def->info.op != ND4C_OP_matmul && node->def->info.op != ND4C_OP_linear)) {
    return false;
  }
  *found = (product){.node = node};
  for (int32_t i = 0; i <= ND4C_IN_linear_bias; i++) {
    found->inputs[i] = nd4c_node_input(node, i);
  }
  const nd4c_value w = found->inputs[ND4C_IN_linear_w], bias = found->inputs[ND4C_IN_linear_bias];
  const nd4c_graph_value *values = rewrite->graph->values;
  if (!is_own_constant(rewrite, w) || values[w].dtype != values[node->outputs[0]].dtype) {
    return false;
  }
  const bool plain =
      node->def->info.op == ND4C_OP_matmul || (nd4c_node_input(node, ND4C_IN_linear_addend) < 0 &&
                                               node->attrs[ND4C_ATTR_linear_activation].as.i == ND4C_ACTIVATION_NONE);
  return !behind || (plain && (bias < 0 || is_own_constant(rewrite, bias)));
}

/* *value becomes the constant times the factor; NONE if its dtype cannot hold that. */
static nd4c_status scale(nd4c_rewrite *rewrite, double factor, nd4c_value *value) {
  const nd4c_derived_key key = {
      .from = rewrite->graph->values[*value].constant, .channels = 1, .scale = &factor, .shift = NULL};
  return nd4c_map_constant(rewrite, *value, &key, value);
}

/* A factor behind the product: the node itself becomes the product. */
static nd4c_status fold_behind(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  double factor = 1;
  product found;
  const nd4c_value y = read_factor(rewrite, node, &factor);
  const int32_t producer = nd4c_rewrite_is_single(rewrite, y) ? rewrite->graph->values[y].producer : -1;
  if (producer < 0 || !read_product(rewrite, &rewrite->graph->nodes[producer], true, &found)) {
    return ND4C_OK;
  }
  const bool bias = found.inputs[ND4C_IN_linear_bias] >= 0;
  char fused[256];
  (void)nd4c_fused_text(found.node, node->def->info.name, fused, sizeof fused);
  ND4C_TRY(scale(rewrite, factor, &found.inputs[ND4C_IN_linear_w]));
  if (bias) {
    ND4C_TRY(scale(rewrite, factor, &found.inputs[ND4C_IN_linear_bias]));
  }
  if (found.inputs[ND4C_IN_linear_w] < 0 || (bias && found.inputs[ND4C_IN_linear_bias] < 0)) {
    return ND4C_OK;
  }
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, found.node->def->info.op, found.inputs, bias ? 3 : 2, found.node->attrs,
                           fused, &done);
}

/* A factor of what the product reads. */
static nd4c_status fold_before(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_value scaled = rewrite->graph->nodes[index].inputs[0];
  const int32_t producer = nd4c_rewrite_is_single(rewrite, scaled) ? rewrite->graph->values[scaled].producer : -1;
  double factor = 1;
  product found;
  const nd4c_value x = producer < 0 ? ND4C_VALUE_NONE : read_factor(rewrite, &rewrite->graph->nodes[producer], &factor);
  if (x < 0 || !read_product(rewrite, &rewrite->graph->nodes[index], false, &found)) {
    return ND4C_OK;
  }
  nd4c_value w = found.inputs[ND4C_IN_linear_w];
  ND4C_TRY(scale(rewrite, factor, &w));
  if (w >= 0) {
    nd4c_graph_node *node = &rewrite->graph->nodes[index];
    nd4c_rewrite_input(rewrite, node, ND4C_IN_linear_w, w);
    nd4c_rewrite_input(rewrite, node, 0, x);
    rewrite->changes++;
  }
  return ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  for (int32_t i = 0; i < rewrite->existing; i++) {
    const nd4c_graph_node *node = &rewrite->graph->nodes[i];
    if (node->def == NULL) {
      continue;
    }
    switch (node->def->info.op) {
      case ND4C_OP_multiply:
      case ND4C_OP_divide:
        ND4C_TRY(fold_behind(rewrite, i));
        break;
      case ND4C_OP_matmul:
      case ND4C_OP_linear:
        ND4C_TRY(fold_before(rewrite, i));
        break;
      default:
        break;
    }
  }
  return ND4C_OK;
}

ND4C_PASS(FUSE, 62, scale_products, ANY, "multiplies constant weights by the factor beside a product of matrices")
