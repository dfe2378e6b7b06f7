/* Merges transposes, removes pairs of them that cancel through element-wise ops, and lets linear read a transposed
 * matrix in its own order. passes.c runs it on every optimised plan. A transpose is a view, which costs nothing itself,
 * but what reads it reads memory in another order. */
#include <string.h>

#include "array/narrow.h"
#include "array/shape.h"
#include "base/status.h"
#include "graph/ir/sweep.h"
#include "graph/passes.h"

/* -- orders of axes ------------------------------------------------------------------------------------------------ */

/* Axis i of a result is axis from[i] of its input. */
typedef struct order {
  int32_t rank;
  int32_t from[ND4C_MAX_RANK];
} order;

static void read_moves(const nd4c_graph_node *node, order *axes) {
  const nd4c_attr_value *source = &node->attrs[ND4C_ATTR_moveaxis_source];
  const nd4c_attr_value *destination = &node->attrs[ND4C_ATTR_moveaxis_destination];
  bool moved[ND4C_MAX_RANK] = {false}, taken[ND4C_MAX_RANK] = {false};
  for (int32_t k = 0; k < source->count; k++) {
    const int32_t from = nd4c_axis_index(source->as.ints[k], axes->rank);
    const int32_t to = nd4c_axis_index(destination->as.ints[k], axes->rank);
    axes->from[to] = from;
    moved[from] = taken[to] = true;
  }
  for (int32_t i = 0, next = 0; i < axes->rank; i++) {
    while (!taken[i] && moved[next]) {
      next++;
    }
    axes->from[i] = taken[i] ? axes->from[i] : next++;
  }
}

static void exchange(order *axes, int32_t a, int32_t b) {
  axes->from[a] = b;
  axes->from[b] = a;
}

/* False if the node does not only permute axes. */
static bool read_order(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, order *axes) {
  if (node == NULL || node->def == NULL || node->input_count < 1 || node->inputs[0] < 0) {
    return false;
  }
  axes->rank = rewrite->graph->values[node->inputs[0]].rank;
  for (int32_t i = 0; i < axes->rank; i++) {
    axes->from[i] = i;
  }
  switch (node->def->info.op) {
    case ND4C_OP_transpose: {
      const nd4c_attr_value *list = &node->attrs[ND4C_ATTR_transpose_axes];
      for (int32_t i = 0; i < axes->rank; i++) {
        axes->from[i] = list->count == 0 ? axes->rank - 1 - i : nd4c_axis_index(list->as.ints[i], axes->rank);
      }
      return true;
    }
    case ND4C_OP_swapaxes:
      exchange(axes, nd4c_axis_index(node->attrs[ND4C_ATTR_swapaxes_axis1].as.i, axes->rank),
               nd4c_axis_index(node->attrs[ND4C_ATTR_swapaxes_axis2].as.i, axes->rank));
      return true;
    case ND4C_OP_matrix_transpose:
      exchange(axes, axes->rank - 2, axes->rank - 1);
      return true;
    case ND4C_OP_moveaxis:
      read_moves(node, axes);
      return true;
    default:
      return false;
  }
}

/* First `inner`, then `outer`. */
static order compose(const order *inner, const order *outer) {
  order both = {.rank = outer->rank};
  for (int32_t i = 0; i < outer->rank; i++) {
    both.from[i] = inner->from[outer->from[i]];
  }
  return both;
}

static bool is_identity(const order *axes) {
  for (int32_t i = 0; i < axes->rank; i++) {
    if (axes->from[i] != i) {
      return false;
    }
  }
  return true;
}

static const nd4c_graph_node *producer_of(const nd4c_rewrite *rewrite, nd4c_value value) {
  const int32_t index = value < 0 ? -1 : rewrite->graph->values[value].producer;
  const nd4c_graph_node *node = index < 0 ? NULL : &rewrite->graph->nodes[index];
  return node == NULL || node->def == NULL ? NULL : node;
}

/* -- pairs with element-wise ops between ------------------------------------------------------------------------------
 */

/* A tree of element-wise ops whose result is permuted. If every path into it begins with a transpose that the last one
 * undoes, the ops can be computed without any of them. */
enum { MOST_NODES = 16, MOST_INPUTS = 3, LIMIT_CONSTANT = 1 << 16 };

typedef struct tree {
  nd4c_rewrite *rewrite;
  order last; /* the permutation behind the tree */
  int32_t nodes, transposes;
} tree;

/* Each element of the only output depends on the elements at the same index. */
static bool is_element_wise(const nd4c_graph_node *node) {
  const nd4c_category category = node->def->info.category;
  return node->output_count == 1 && node->input_count <= MOST_INPUTS && !nd4c_op_is_foreign(node->def) &&
         (category == ND4C_CATEGORY_UNARY || category == ND4C_CATEGORY_BINARY || category == ND4C_CATEGORY_TERNARY);
}

/* A transpose that the last one undoes. */
static bool is_undone(const tree *found, nd4c_value value) {
  order first;
  const nd4c_graph_node *node = producer_of(found->rewrite, value);
  if (!read_order(found->rewrite, node, &first) || first.rank != found->last.rank) {
    return false;
  }
  const order both = compose(&first, &found->last);
  return is_identity(&both);
}

/* One element, or a constant that a view can bring into the order. */
static bool is_movable(const tree *found, nd4c_value value) {
  const nd4c_graph_value *info = &found->rewrite->graph->values[value];
  return info->rank <= found->last.rank &&
         (info->size == 1 ||
          (info->constant != NULL && info->size <= LIMIT_CONSTANT && !nd4c_dtype_is_packed(info->dtype)));
}

static bool collect(tree *found, nd4c_value value) {
  const nd4c_graph_node *node = producer_of(found->rewrite, value);
  const nd4c_graph_value *output = &found->rewrite->graph->values[value];
  if (node == NULL || !is_element_wise(node) || output->rank != found->last.rank ||
      !nd4c_rewrite_is_single(found->rewrite, value) || found->nodes == MOST_NODES) {
    return false;
  }
  found->nodes++;
  for (int32_t i = 0; i < node->input_count; i++) {
    const nd4c_value input = node->inputs[i];
    if (input < 0 || is_movable(found, input)) {
      continue;
    }
    const nd4c_graph_value *info = &found->rewrite->graph->values[input];
    if (!nd4c_shape_equal(info->rank, info->shape, output->rank, output->shape)) {
      return false;
    }
    if (is_undone(found, input)) {
      found->transposes++;
    } else if (!collect(found, input)) {
      return false;
    }
  }
  return true;
}

/* The operand in the order behind the last transpose: axes of length 1 in front, then permuted; a view. */
static nd4c_status move_operand(const tree *found, nd4c_value value, nd4c_value *moved) {
  const nd4c_array *array = found->rewrite->graph->values[value].constant;
  if (found->rewrite->graph->values[value].size == 1) {
    *moved = value;
    return ND4C_OK;
  }
  int64_t shape[ND4C_MAX_RANK], strides[ND4C_MAX_RANK];
  const int32_t before = found->last.rank - array->rank;
  for (int32_t i = 0; i < found->last.rank; i++) {
    const int32_t from = found->last.from[i] - before;
    shape[i] = from < 0 ? 1 : array->shape[from];
    strides[i] = from < 0 ? 1 : array->strides[from];
  }
  nd4c_array *view = NULL;
  ND4C_TRY(nd4c_array_view(array, found->last.rank, shape, strides, array->offset, &view));
  return nd4c_rewrite_constant(found->rewrite, view, moved);
}

/* Emits the tree's op at `value` and all before it. Its depth is bounded by the number of nodes. */
static nd4c_status emit_tree(const tree *found, nd4c_value value, nd4c_value *made) {
  nd4c_rewrite *rewrite = found->rewrite;
  nd4c_value inputs[MOST_INPUTS];
  nd4c_attr attrs[ND4C_REWRITE_ATTRS];
  const nd4c_graph_node node = *producer_of(rewrite, value); /* a copy: emitting moves the nodes */
  for (int32_t i = 0; i < node.input_count; i++) {
    const nd4c_value input = node.inputs[i];
    inputs[i] = input;
    if (input < 0) {
      continue;
    }
    if (is_movable(found, input)) {
      ND4C_TRY(move_operand(found, input, &inputs[i]));
    } else if (is_undone(found, input)) {
      inputs[i] = producer_of(rewrite, input)->inputs[0];
    } else {
      ND4C_TRY(emit_tree(found, input, &inputs[i]));
    }
  }
  for (int32_t i = 0; i < node.def->info.attr_count; i++) {
    attrs[i] = (nd4c_attr){.name = node.def->info.attrs[i].name, .value = node.attrs[i]};
  }
  return nd4c_emit(&rewrite->emitter, node.def->info.op, inputs, node.input_count, attrs, node.def->info.attr_count,
                   made);
}

static nd4c_status cancel(nd4c_rewrite *rewrite, int32_t index, const order *last, nd4c_value *same) {
  tree found = {.rewrite = rewrite, .last = *last};
  const nd4c_value top = rewrite->graph->nodes[index].inputs[0];
  return collect(&found, top) && found.transposes > 0 ? emit_tree(&found, top, same) : ND4C_OK;
}

/* -- nodes --------------------------------------------------------------------------------------------------------- */

static nd4c_status visit_order(nd4c_rewrite *rewrite, int32_t index, const order *axes, nd4c_value *same) {
  const nd4c_value x = rewrite->graph->nodes[index].inputs[0];
  order first;
  if (is_identity(axes)) {
    *same = x;
    return ND4C_OK;
  }
  const nd4c_graph_node *inner = producer_of(rewrite, x);
  if (!read_order(rewrite, inner, &first)) {
    return cancel(rewrite, index, axes, same);
  }
  const nd4c_value source = inner->inputs[0];
  const order both = compose(&first, axes);
  if (is_identity(&both)) {
    *same = source;
    return ND4C_OK;
  }
  int64_t list[ND4C_MAX_RANK];
  for (int32_t i = 0; i < both.rank; i++) {
    list[i] = both.from[i];
  }
  const nd4c_attr_value attr = {.kind = ND4C_ATTR_INTS, .count = both.rank, .as.ints = list};
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_transpose, &source, 1, &attr, NULL, &done);
}

/* linear of a transposed matrix. */
static nd4c_status visit_linear(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  nd4c_value inputs[ND4C_IN_linear_count];
  nd4c_attr_value attrs[ND4C_ATTR_linear_count];
  order axes;
  const nd4c_graph_node *inner = producer_of(rewrite, node->inputs[ND4C_IN_linear_w]);
  if (!read_order(rewrite, inner, &axes) || axes.rank != 2 || is_identity(&axes)) {
    return ND4C_OK;
  }
  memcpy(inputs, node->inputs, (size_t)node->input_count * sizeof *inputs);
  memcpy(attrs, node->attrs, sizeof attrs);
  inputs[ND4C_IN_linear_w] = inner->inputs[0];
  attrs[ND4C_ATTR_linear_transpose_w].as.i = attrs[ND4C_ATTR_linear_transpose_w].as.i == 0;
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_linear, inputs, node->input_count, attrs, node->fused, &done);
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)state;
  order axes;
  if (read_order(rewrite, &rewrite->graph->nodes[index], &axes)) {
    return visit_order(rewrite, index, &axes, same);
  }
  return rewrite->graph->nodes[index].def->info.op == ND4C_OP_linear ? visit_linear(rewrite, index) : ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(SIMPLIFY, 38, transpose, ANY, "merges transposes and cancels those that element-wise ops separate")
