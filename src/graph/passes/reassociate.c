/* Multiplies two constant matrices of a chain once: A (B x) becomes (A B) x, (x A) B becomes x (A B), where the product
 * of the constants is smaller work than what it saves in each run. The sums are then in another order, so this needs a
 * compile request that allows it (ND4C_MATH_REORDER). passes.c runs it on every optimised plan. */
#include "base/status.h"
#include "graph/ir/sweep.h"
#include "graph/passes.h"
#include "nd4c/compile.h"

enum { LIMIT_ELEMENTS = 1 << 22 };

/* The array of a constant matrix; NULL: the value is not one. */
static const nd4c_array *matrix_of(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_dtype dtype) {
  const nd4c_graph_value *info = value < 0 ? NULL : &rewrite->graph->values[value];
  return info != NULL && info->constant != NULL && info->rank == 2 && info->dtype == dtype ? info->constant : NULL;
}

/* Whether the product of the two constants has fewer elements than both: each element costs a multiplication for each
 * row or column of x. */
static bool is_cheaper(const nd4c_array *a, const nd4c_array *b) {
  const double product = (double)a->shape[0] * (double)b->shape[1];
  return a->shape[1] == b->shape[0] && product < (double)a->size + (double)b->size && product <= LIMIT_ELEMENTS;
}

/* `side`: the position of the constant in both products. */
static nd4c_status merge(nd4c_rewrite *rewrite, int32_t index, int32_t side) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_dtype dtype = rewrite->graph->values[node->outputs[0]].dtype;
  const nd4c_value between = node->inputs[1 - side];
  const nd4c_graph_node *inner = nd4c_rewrite_producer(rewrite, between, ND4C_OP_matmul);
  const nd4c_array *outer_matrix = matrix_of(rewrite, node->inputs[side], dtype);
  if (inner == NULL || outer_matrix == NULL || !nd4c_rewrite_is_single(rewrite, between) ||
      rewrite->graph->values[inner->inputs[1 - side]].rank < 2 ||
      rewrite->graph->values[inner->inputs[1 - side]].dtype != dtype) {
    return ND4C_OK;
  }
  const nd4c_array *inner_matrix = matrix_of(rewrite, inner->inputs[side], dtype);
  const nd4c_array *pair[2] = {side == 0 ? outer_matrix : inner_matrix, side == 0 ? inner_matrix : outer_matrix};
  if (inner_matrix == NULL || !is_cheaper(pair[0], pair[1])) {
    return ND4C_OK;
  }
  nd4c_value inputs[2];
  nd4c_array *product = NULL;
  inputs[1 - side] = inner->inputs[1 - side];
  ND4C_TRY(nd4c_op_call_positional(rewrite->context, ND4C_OP_matmul, pair, 2, NULL, &product));
  ND4C_TRY(nd4c_rewrite_constant(rewrite, product, &inputs[side]));
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_matmul, inputs, 2, NULL, NULL, &done);
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)same;
  (void)state;
  for (int32_t side = 0; side < 2 && rewrite->graph->nodes[index].def->info.op == ND4C_OP_matmul; side++) {
    ND4C_TRY(merge(rewrite, index, side));
  }
  return ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return rewrite->math >= ND4C_MATH_REORDER ? nd4c_rewrite_sweep(rewrite, visit, NULL) : ND4C_OK;
}

ND4C_PASS(FUSE, 65, reassociate, ANY, "multiplies constant matrices of a chain once, where the request allows it")
