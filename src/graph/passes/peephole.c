/* Simplifies element-wise ops of an element-wise op, bit for bit: inverse pairs such as the negative of a negative,
 * idempotent ops such as the relu of a relu, signs that the next op ignores or exchanges. passes.c runs it on every
 * optimised plan.
 *
 * Left out because they are not exact: reciprocal of reciprocal, exp of log, the negative of a difference (0 - 0 and
 * its negative have different signs), `not less` as greater_equal for floats (NaN). */
#include "base/status.h"
#include "graph/ir/signs.h"
#include "graph/ir/sweep.h"
#include "graph/passes.h"

static nd4c_dtype_kind kind_of(const nd4c_rewrite *rewrite, nd4c_value value) {
  return nd4c_dtype_get_info(rewrite->graph->values[value].dtype)->kind;
}

static bool is_integer(nd4c_dtype_kind kind) {
  return kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT;
}

/* The op of a value's producer; NONE if a plug-in's op, an input or a constant gives it. */
static nd4c_op op_of(const nd4c_rewrite *rewrite, nd4c_value value, const nd4c_graph_node **producer) {
  const int32_t index = value < 0 ? -1 : rewrite->graph->values[value].producer;
  const nd4c_graph_node *node = index < 0 ? NULL : &rewrite->graph->nodes[index];
  *producer = node;
  return node == NULL || node->def == NULL || nd4c_op_is_foreign(node->def) ? ND4C_OP_NONE : node->def->info.op;
}

static bool rounds(nd4c_op op) {
  return op == ND4C_OP_floor || op == ND4C_OP_ceil || op == ND4C_OP_round || op == ND4C_OP_trunc;
}

/* True if the node gives its input, whose dtype is of that kind. */
static bool changes_nothing(nd4c_op op, nd4c_dtype_kind kind) {
  switch (op) {
    case ND4C_OP_positive:
      return true;
    case ND4C_OP_conj:
    case ND4C_OP_real:
      return kind != ND4C_KIND_COMPLEX;
    case ND4C_OP_floor:
    case ND4C_OP_ceil:
    case ND4C_OP_round:
    case ND4C_OP_trunc:
      return is_integer(kind);
    case ND4C_OP_abs:
    case ND4C_OP_relu:
      return kind == ND4C_KIND_UINT;
    default:
      return false;
  }
}

/* True if op(op(x)) is x. */
static bool is_involution(nd4c_op op) {
  return op == ND4C_OP_negative || op == ND4C_OP_logical_not || op == ND4C_OP_bitwise_invert || op == ND4C_OP_conj;
}

/* True if outer(inner(x)) is inner(x). */
static bool is_absorbed(const nd4c_rewrite *rewrite, nd4c_op outer, nd4c_op inner, const nd4c_graph_node *node) {
  if (outer == ND4C_OP_relu || outer == ND4C_OP_abs) {
    return outer == inner || nd4c_value_is_never_negative(rewrite, node->outputs[0]);
  }
  const bool complex = kind_of(rewrite, node->outputs[0]) == ND4C_KIND_COMPLEX; /* whose sign x / |x| is rounded */
  return (rounds(outer) && rounds(inner)) || (outer == ND4C_OP_sign && inner == ND4C_OP_sign && !complex);
}

/* The comparison that holds where `op` does not; NONE: there is none. Those of an order need numbers without NaN. */
static nd4c_op opposite(nd4c_op op, bool ordered) {
  switch (op) {
    case ND4C_OP_equal:
      return ND4C_OP_not_equal;
    case ND4C_OP_not_equal:
      return ND4C_OP_equal;
    case ND4C_OP_less:
      return ordered ? ND4C_OP_greater_equal : ND4C_OP_NONE;
    case ND4C_OP_less_equal:
      return ordered ? ND4C_OP_greater : ND4C_OP_NONE;
    case ND4C_OP_greater:
      return ordered ? ND4C_OP_less_equal : ND4C_OP_NONE;
    case ND4C_OP_greater_equal:
      return ordered ? ND4C_OP_less : ND4C_OP_NONE;
    default:
      return ND4C_OP_NONE;
  }
}

static nd4c_status visit_unary(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index], *inner = NULL;
  const nd4c_op op = node->def->info.op, before = op_of(rewrite, node->inputs[0], &inner);
  bool done = false;
  if (changes_nothing(op, kind_of(rewrite, node->inputs[0]))) {
    same[0] = node->inputs[0];
  } else if (before == op && is_involution(op)) {
    same[0] = inner->inputs[0];
  } else if (op == ND4C_OP_bit_cast && before == op &&
             nd4c_rewrite_may_replace(rewrite, node->outputs[0], inner->inputs[0])) { /* stop_gradient's casts */
    same[0] = inner->inputs[0];
  } else if (before != ND4C_OP_NONE && is_absorbed(rewrite, op, before, inner)) {
    same[0] = node->inputs[0];
  } else if ((op == ND4C_OP_abs || op == ND4C_OP_square) &&
             (before == ND4C_OP_negative || (op == ND4C_OP_square && before == ND4C_OP_abs &&
                                             kind_of(rewrite, inner->inputs[0]) != ND4C_KIND_COMPLEX))) {
    return nd4c_rewrite_node(rewrite, index, op, inner->inputs, 1, node->attrs, NULL, &done);
  } else if (op == ND4C_OP_logical_not && before != ND4C_OP_NONE && inner->input_count == 2 &&
             nd4c_rewrite_is_single(rewrite, node->inputs[0])) { /* else both comparisons would be computed */
    const nd4c_dtype_kind a = kind_of(rewrite, inner->inputs[0]), b = kind_of(rewrite, inner->inputs[1]);
    const nd4c_op other = opposite(before, is_integer(a) && is_integer(b));
    return other == ND4C_OP_NONE
               ? ND4C_OK
               : nd4c_rewrite_node(rewrite, index, other, inner->inputs, 2, inner->attrs, NULL, &done);
  }
  return ND4C_OK;
}

/* What a negative operand becomes: a + -b is a - b, a - -b is a + b, -a * -b is a * b, -a / -b is a / b. All are exact
 * for floats, and for integers that wrap; a quotient of integers is not, since the least one is its own negative. The
 * operand must have the result's dtype: else it is negated in a dtype that may be narrower. */
static nd4c_status visit_binary(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_graph_value *values = rewrite->graph->values;
  const nd4c_op op = node->def->info.op;
  const nd4c_graph_node *inner[2];
  bool negated[2];
  for (int32_t i = 0; i < 2; i++) {
    negated[i] = op_of(rewrite, node->inputs[i], &inner[i]) == ND4C_OP_negative &&
                 values[node->inputs[i]].dtype == values[node->outputs[0]].dtype;
  }
  const nd4c_dtype_kind kind = kind_of(rewrite, node->outputs[0]);
  nd4c_op made = ND4C_OP_NONE;
  nd4c_value inputs[2] = {node->inputs[0], node->inputs[1]};
  if (op == ND4C_OP_add && negated[1]) {
    made = ND4C_OP_subtract;
    inputs[1] = inner[1]->inputs[0];
  } else if (op == ND4C_OP_add && negated[0]) {
    made = ND4C_OP_subtract;
    inputs[0] = node->inputs[1];
    inputs[1] = inner[0]->inputs[0];
  } else if (op == ND4C_OP_subtract && negated[1]) {
    made = ND4C_OP_add;
    inputs[1] = inner[1]->inputs[0];
  } else if ((op == ND4C_OP_multiply || op == ND4C_OP_divide) && negated[0] && negated[1] &&
             (kind == ND4C_KIND_FLOAT || (op == ND4C_OP_multiply && is_integer(kind)))) {
    made = op;
    inputs[0] = inner[0]->inputs[0];
    inputs[1] = inner[1]->inputs[0];
  }
  bool done = false;
  return made == ND4C_OP_NONE ? ND4C_OK : nd4c_rewrite_node(rewrite, index, made, inputs, 2, node->attrs, NULL, &done);
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)state;
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  if (nd4c_op_is_foreign(node->def)) {
    return ND4C_OK;
  }
  if (node->def->info.category == ND4C_CATEGORY_UNARY && node->input_count == 1) {
    return visit_unary(rewrite, index, same);
  }
  return node->def->info.category == ND4C_CATEGORY_BINARY && node->input_count == 2 ? visit_binary(rewrite, index)
                                                                                    : ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(SIMPLIFY, 33, peephole, ANY, "removes inverse pairs, repeated idempotent ops and signs that cancel")
