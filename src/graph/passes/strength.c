/* Replaces ops by cheaper ones. passes.c runs it on every optimised plan.
 *
 * Exact, for every number: a quotient by a power of two becomes a product, the product of a value with itself becomes
 * its square; true_divide of floats is divide, which is the name that other passes know. The others round better than
 * what they replace, and may so differ in the last place: x^2 becomes square, x^-1 reciprocal, and x^0.5 sqrt if x is
 * never negative (for -0 and minus infinity the two differ). Shifts in place of products of integers are not made:
 * engine simd multiplies and does not shift. */
#include <math.h>

#include "base/status.h"
#include "graph/ir/signs.h"
#include "graph/ir/sweep.h"
#include "graph/ir/uniform.h"
#include "graph/passes.h"

static nd4c_status visit_power(nd4c_rewrite *rewrite, int32_t index, const nd4c_uniform *exponent) {
  const nd4c_value x = rewrite->graph->nodes[index].inputs[0];
  const bool is_float = exponent->kind == ND4C_KIND_FLOAT;
  nd4c_op op = ND4C_OP_NONE;
  if (nd4c_uniform_is(exponent, 2)) {
    op = ND4C_OP_square;
  } else if (is_float && nd4c_uniform_is(exponent, -1)) {
    op = ND4C_OP_reciprocal;
  } else if (is_float && nd4c_uniform_is(exponent, 0.5) && nd4c_value_is_never_negative(rewrite, x)) {
    op = ND4C_OP_sqrt;
  }
  bool done = false;
  return op == ND4C_OP_NONE || !nd4c_rewrite_computes(rewrite, op, ND4C_OP_power)
             ? ND4C_OK
             : nd4c_rewrite_node(rewrite, index, op, &x, 1, NULL, NULL, &done);
}

/* x / 2^k is x * 2^-k: both round the same number. Neither factor may be subnormal, since a device may flush it. */
static nd4c_status visit_divide(nd4c_rewrite *rewrite, int32_t index, const nd4c_uniform *divisor) {
  nd4c_dtype_limits limits = {.struct_size = sizeof limits};
  int exponent = 0;
  if (divisor->kind != ND4C_KIND_FLOAT || !isfinite(divisor->real) || fabs(frexp(divisor->real, &exponent)) != 0.5 ||
      nd4c_dtype_get_limits(divisor->dtype, &limits) != ND4C_OK) {
    return ND4C_OK;
  }
  const double factor = 1 / divisor->real;
  if (fabs(divisor->real) < limits.smallest_normal || fabs(factor) < limits.smallest_normal ||
      fabs(factor) > limits.max) {
    return ND4C_OK;
  }
  nd4c_array *array = NULL;
  nd4c_value inputs[2] = {rewrite->graph->nodes[index].inputs[0], ND4C_VALUE_NONE};
  const nd4c_graph_value *constant = &rewrite->graph->values[rewrite->graph->nodes[index].inputs[1]];
  ND4C_TRY(nd4c_array_full(divisor->dtype, constant->rank, constant->shape, factor, rewrite->context->device, &array));
  ND4C_TRY(nd4c_rewrite_constant(rewrite, array, &inputs[1]));
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_multiply, inputs, 2, NULL, NULL, &done);
}

/* Of one dtype, so that neither op promotes. */
static bool divides_floats(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  const nd4c_graph_value *values = rewrite->graph->values;
  const nd4c_dtype dtype = values[node->inputs[0]].dtype;
  const nd4c_dtype_kind kind = nd4c_dtype_get_info(dtype)->kind;
  return (kind == ND4C_KIND_FLOAT || kind == ND4C_KIND_COMPLEX) && values[node->inputs[1]].dtype == dtype &&
         nd4c_rewrite_computes(rewrite, ND4C_OP_divide, ND4C_OP_true_divide);
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)same;
  (void)state;
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_graph_value *values = rewrite->graph->values;
  const nd4c_op op = node->def->info.op;
  if (op == ND4C_OP_multiply && node->inputs[0] == node->inputs[1] &&
      nd4c_dtype_get_info(values[node->inputs[0]].dtype)->kind != ND4C_KIND_COMPLEX &&
      nd4c_rewrite_computes(rewrite, ND4C_OP_square, op)) {
    bool done = false;
    const nd4c_value x = node->inputs[0];
    return nd4c_rewrite_node(rewrite, index, ND4C_OP_square, &x, 1, NULL, NULL, &done);
  }
  if (op == ND4C_OP_true_divide && divides_floats(rewrite, node)) {
    bool done = false;
    const nd4c_value operands[] = {node->inputs[0], node->inputs[1]};
    return nd4c_rewrite_node(rewrite, index, ND4C_OP_divide, operands, 2, NULL, NULL, &done);
  }
  nd4c_uniform number;
  if ((op != ND4C_OP_power && op != ND4C_OP_divide) || values[node->inputs[0]].dtype != values[node->inputs[1]].dtype ||
      !nd4c_constant_uniform(rewrite, node->inputs[1], &number)) {
    return ND4C_OK;
  }
  return op == ND4C_OP_power ? visit_power(rewrite, index, &number) : visit_divide(rewrite, index, &number);
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(SIMPLIFY, 39, strength, ANY, "replaces powers and quotients by cheaper ops")
