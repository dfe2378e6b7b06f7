/* Merges an add of two values of equal shape, as the addend, into the conv or linear that produces one of them. A
 * matmul with a constant matrix becomes a linear for that, unless products of any size are to compute in a reduced
 * dtype: the pass reduced_precision, which runs later, keeps sums in float32 that are apart from products. passes.c
 * runs it on every optimised plan. */
#include "array/shape.h"
#include "base/status.h"
#include "graph/match/products.h"
#include "graph/passes.h"

/* conv and linear have bias and addend at the same positions, so one function serves both. */
_Static_assert((int)ND4C_IN_conv_addend == (int)ND4C_IN_linear_addend, "positions of conv and linear");
_Static_assert((int)ND4C_IN_conv_bias == (int)ND4C_IN_linear_bias, "positions of conv and linear");

static int64_t activation_of(const nd4c_graph_node *node) {
  bool conv = node->def->info.op == ND4C_OP_conv;
  return node->attrs[conv ? ND4C_ATTR_conv_activation : ND4C_ATTR_linear_activation].as.i;
}

/* The conv, linear or matmul that produces the value and can take an addend. */
static const nd4c_graph_node *find_host(const nd4c_rewrite *rewrite, nd4c_value value) {
  const nd4c_graph_node *node = nd4c_rewrite_producer(rewrite, value, ND4C_OP_matmul);
  if (node != NULL) {
    const bool fits = !rewrite->reduces_products && nd4c_rewrite_is_single(rewrite, value);
    return fits && nd4c_is_linear_product(rewrite, node) ? node : NULL;
  }
  node = nd4c_rewrite_producer(rewrite, value, ND4C_OP_conv);
  node = node != NULL ? node : nd4c_rewrite_producer(rewrite, value, ND4C_OP_linear);
  bool fits = node != NULL && nd4c_rewrite_is_single(rewrite, value) &&
              nd4c_node_input(node, ND4C_IN_conv_addend) < 0 && activation_of(node) == ND4C_ACTIVATION_NONE;
  return fits ? node : NULL;
}

static nd4c_status fuse(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph_node *sum = &rewrite->graph->nodes[index];
  const nd4c_graph_value *a = &rewrite->graph->values[sum->inputs[0]], *b = &rewrite->graph->values[sum->inputs[1]];
  if (a->dtype != b->dtype || !nd4c_shape_equal(a->rank, a->shape, b->rank, b->shape)) {
    return ND4C_OK;
  }
  const nd4c_graph_node *hosts[] = {find_host(rewrite, sum->inputs[0]), find_host(rewrite, sum->inputs[1])};
  /* If both operands qualify, takes the later one: the other is already computed by then. */
  int32_t side = hosts[1] != NULL && (hosts[0] == NULL || hosts[1] > hosts[0]) ? 1 : 0;
  const nd4c_graph_node *host = hosts[side];
  if (host == NULL) {
    return ND4C_OK;
  }
  nd4c_value inputs[] = {host->inputs[0], host->inputs[1], nd4c_node_input(host, ND4C_IN_conv_bias),
                         sum->inputs[1 - side]};
  char fused[256];
  (void)nd4c_fused_text(host, "add", fused, sizeof fused);
  const bool plain = host->def->info.op == ND4C_OP_matmul;
  nd4c_attr_value presets[ND4C_REWRITE_ATTRS];
  bool done = false;
  ND4C_TRY(nd4c_rewrite_presets(ND4C_OP_linear, presets));
  return nd4c_rewrite_node(rewrite, index, plain ? ND4C_OP_linear : host->def->info.op, inputs, 4,
                           plain ? presets : host->attrs, fused, &done);
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  for (int32_t i = 0; i < rewrite->graph->node_count; i++) {
    if (rewrite->graph->nodes[i].def->info.op == ND4C_OP_add) {
      ND4C_TRY(fuse(rewrite, i));
    }
  }
  return ND4C_OK;
}

ND4C_PASS(FUSE, 80, fuse_addend, ANY, "merges an add into the conv, linear or matmul before it")
