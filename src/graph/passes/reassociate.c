/* Multiplies the matrices of a chain in the order that is less work: A (B C) becomes (A B) C, and the other way round.
 * A product of two constants is computed once, if it is smaller than what it saves in each run. The sums are then in
 * another order, so this needs a compile request that allows it (ND4C_MATH_REORDER). passes.c runs it on every
 * optimised plan. */
#include "array/shape.h"
#include "base/status.h"
#include "graph/ir/cost.h"
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

/* -- chains of matrices that runs bring -----------------------------------------------------------------------------
 */

/* Matrices that both products take alike: all of one batch, or those of the right side without one. */
typedef struct chain {
  nd4c_value a, b, c;
  double batch_a, batch_bc; /* of products with A, and of B C */
} chain;

/* The estimate of products of m x k and k x n matrices, and how many multiplications they take. */
typedef struct work {
  double weight, products;
} work;

/* `batch` left matrices, and as many right ones or one. */
static work work_of(const nd4c_rewrite *rewrite, const chain *of, double batch, int64_t m, int64_t k, int64_t n) {
  const nd4c_graph *graph = rewrite->graph;
  const double rows = nd4c_extents_usual(graph->extents, m), inner = nd4c_extents_usual(graph->extents, k);
  const double columns = nd4c_extents_usual(graph->extents, n), products = batch * rows * inner * columns;
  const double elements = batch * rows * (inner + columns) + of->batch_bc * inner * columns;
  const nd4c_cost cost = {.operations = 2 * products,
                          .bytes = elements * (double)nd4c_dtype_size(graph->values[of->a].dtype)};
  return (work){nd4c_cost_weight(cost, 1), products};
}

static work sum_of(work a, work b) {
  return (work){a.weight + b.weight, a.products + b.products};
}

static double batch_of(const nd4c_graph *graph, const nd4c_graph_value *value) {
  double batch = 1;
  for (int32_t i = 0; i < value->rank - 2; i++) {
    batch *= nd4c_extents_usual(graph->extents, value->shape[i]);
  }
  return batch;
}

/* Reads the operands of a b c. False if their batches do not allow both orders. */
static bool read_chain(const nd4c_rewrite *rewrite, nd4c_dtype dtype, chain *found) {
  const nd4c_graph_value *values = rewrite->graph->values;
  const nd4c_graph_value *a = &values[found->a], *b = &values[found->b], *c = &values[found->c];
  if (a->rank < 2 || b->rank < 2 || b->rank != c->rank || a->dtype != dtype || b->dtype != dtype || c->dtype != dtype ||
      !nd4c_shape_equal(b->rank - 2, b->shape, c->rank - 2, c->shape) ||
      (b->rank > 2 && !nd4c_shape_equal(a->rank - 2, a->shape, b->rank - 2, b->shape))) {
    return false;
  }
  found->batch_a = batch_of(rewrite->graph, a);
  found->batch_bc = batch_of(rewrite->graph, b);
  return true;
}

/* Whether the order that the graph does not have is less work: by the estimate, and with a tenth fewer multiplications,
 * so that it is worth another order. */
static bool pays(const nd4c_rewrite *rewrite, const chain *found, bool left_first) {
  enum { MOST_PERCENT = 90 };
  const nd4c_graph *graph = rewrite->graph;
  const nd4c_graph_value *a = &graph->values[found->a], *b = &graph->values[found->b], *c = &graph->values[found->c];
  const int64_t m = a->shape[a->rank - 2], k = b->shape[b->rank - 2], n = b->shape[b->rank - 1];
  const int64_t p = c->shape[c->rank - 1];
  const work left =
      sum_of(work_of(rewrite, found, found->batch_a, m, k, n), work_of(rewrite, found, found->batch_a, m, n, p));
  const work right =
      sum_of(work_of(rewrite, found, found->batch_bc, k, n, p), work_of(rewrite, found, found->batch_a, m, k, p));
  const work now = left_first ? left : right, then = left_first ? right : left;
  return then.weight < now.weight && 100 * then.products < MOST_PERCENT * now.products;
}

/* `side`: the position of the inner product among the operands. */
static nd4c_status reorder(nd4c_rewrite *rewrite, int32_t index, int32_t side) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_value between = node->inputs[side], other = node->inputs[1 - side];
  const nd4c_graph_node *inner = nd4c_rewrite_producer(rewrite, between, ND4C_OP_matmul);
  if (inner == NULL || !nd4c_rewrite_is_single(rewrite, between)) {
    return ND4C_OK;
  }
  chain found = side == 0 ? (chain){.a = inner->inputs[0], .b = inner->inputs[1], .c = other}
                          : (chain){.a = other, .b = inner->inputs[0], .c = inner->inputs[1]};
  if (!read_chain(rewrite, rewrite->graph->values[node->outputs[0]].dtype, &found) ||
      !pays(rewrite, &found, side == 0)) {
    return ND4C_OK;
  }
  nd4c_value made = ND4C_VALUE_NONE;
  bool done = false;
  ND4C_TRY(nd4c_emit_binary(&rewrite->emitter, ND4C_OP_matmul, side == 0 ? found.b : found.a,
                            side == 0 ? found.c : found.b, &made));
  const nd4c_value inputs[] = {side == 0 ? found.a : made, side == 0 ? made : found.c};
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_matmul, inputs, 2, NULL, NULL, &done);
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)same;
  (void)state;
  for (int32_t side = 0; side < 2 && rewrite->graph->nodes[index].def->info.op == ND4C_OP_matmul; side++) {
    ND4C_TRY(merge(rewrite, index, side));
  }
  for (int32_t side = 0; side < 2 && rewrite->graph->nodes[index].def->info.op == ND4C_OP_matmul; side++) {
    ND4C_TRY(reorder(rewrite, index, side));
  }
  return ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return rewrite->math >= ND4C_MATH_REORDER ? nd4c_rewrite_sweep(rewrite, visit, NULL) : ND4C_OK;
}

ND4C_PASS(FUSE, 65, reassociate, ANY,
          "multiplies matrices of a chain in the cheapest order, where the request allows it")
