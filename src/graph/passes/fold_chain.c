/* Folds chains of arithmetic with constants into one op: (x + a) - b into x + (a - b), (x * a) * b into x * (a * b),
 * and so for bitwise ops, maximum and minimum. passes.c runs it on every optimised plan.
 *
 * Bit for bit: all chains of integers, which wrap; products of floats with powers of two of at least 1, which round at
 * most once, and with -1. Where the compile request allows sums and products in another order (ND4C_MATH_REORDER), sums
 * and products of floats with any constants are folded, too, unless the new constant would leave the range of the dtype
 * or of its normal numbers: 3e38 times 2 is infinite, and x times both is not if x is small. */
#include <math.h>

#include "base/alloc.h"
#include "base/status.h"
#include "graph/ir/sweep.h"
#include "graph/ir/uniform.h"
#include "graph/passes.h"
#include "nd4c/compile.h"

enum { LIMIT_ELEMENTS = 1 << 16 };

/* A node as x op number. Sums are sign * x + number, where the number is that of the node or its negative. */
typedef struct link {
  nd4c_op op; /* add, multiply, bitwise_*, maximum, minimum; NONE: no such node */
  nd4c_value x, number;
  bool x_negated, number_negated; /* add */
} link;

static bool is_constant(const nd4c_rewrite *rewrite, nd4c_value value) {
  return value >= 0 && rewrite->graph->values[value].constant != NULL &&
         rewrite->graph->values[value].size <= LIMIT_ELEMENTS;
}

static bool is_chained(nd4c_op op) {
  return op == ND4C_OP_add || op == ND4C_OP_subtract || op == ND4C_OP_multiply || op == ND4C_OP_bitwise_and ||
         op == ND4C_OP_bitwise_or || op == ND4C_OP_bitwise_xor || op == ND4C_OP_maximum || op == ND4C_OP_minimum;
}

/* The node as a link, if it has one constant operand and both operands have the result's dtype. */
static link read_link(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  link made = {.op = ND4C_OP_NONE};
  if (node == NULL || node->def == NULL || !is_chained(node->def->info.op)) {
    return made;
  }
  const nd4c_graph_value *values = rewrite->graph->values;
  const nd4c_dtype dtype = values[node->outputs[0]].dtype;
  const int32_t at = is_constant(rewrite, node->inputs[1]) ? 1 : 0;
  if (!is_constant(rewrite, node->inputs[at]) || is_constant(rewrite, node->inputs[1 - at]) ||
      values[node->inputs[0]].dtype != dtype || values[node->inputs[1]].dtype != dtype) {
    return made;
  }
  made = (link){.op = node->def->info.op, .x = node->inputs[1 - at], .number = node->inputs[at]};
  if (made.op == ND4C_OP_subtract) {
    made.op = ND4C_OP_add;
    made.x_negated = at == 0;
    made.number_negated = at == 1;
  }
  return made;
}

/* -- what is allowed ----------------------------------------------------------------------------------------------- */

/* A product with the number only moves the exponent up, or changes the sign. Of an infinity or NaN, frexp is the same.
 */
static bool scales_up(const nd4c_uniform *number) {
  int exponent = 0;
  return fabs(frexp(number->real, &exponent)) == 0.5 && fabs(number->real) >= 1;
}

/* Products with a, then b, are those with a * b: neither rounds but where the last one does. */
static bool is_exact_product(const nd4c_uniform *a, const nd4c_uniform *b) {
  nd4c_dtype_limits limits = {.struct_size = sizeof limits};
  const bool flips = fabs(a->real) == 1 || fabs(b->real) == 1;
  return (flips || (scales_up(a) && scales_up(b))) && nd4c_dtype_get_limits(a->dtype, &limits) == ND4C_OK &&
         fabs(a->real * b->real) <= limits.max; /* neither an infinity nor NaN */
}

/* Of floats, the larger of -0 and 0 may be either, and NaN wins. */
static bool is_ordered(const nd4c_uniform *a, const nd4c_uniform *b) {
  return a->real != 0 && b->real != 0 && !isnan(a->real) && !isnan(b->real);
}

/* The least magnitude of a constant's numbers but 0, and the largest. */
typedef struct magnitudes {
  double least, largest;
} magnitudes;

static void take_magnitude(magnitudes *m, double number) {
  const double size = fabs(number);
  m->least = size > 0 && size < m->least ? size : m->least;
  m->largest = size <= m->largest ? m->largest : size; /* NaN stays */
}

/* False if the constant is not of a dtype that can be read. */
static nd4c_status find_magnitudes(const nd4c_rewrite *rewrite, nd4c_value value, magnitudes *m, bool *found) {
  nd4c_uniform uniform;
  *m = (magnitudes){INFINITY, 0};
  *found = nd4c_constant_uniform(rewrite, value, &uniform);
  if (*found) {
    take_magnitude(m, uniform.real);
    return ND4C_OK;
  }
  nd4c_status status = ND4C_OK;
  double *numbers = nd4c_constant_numbers(rewrite, value, LIMIT_ELEMENTS, &status);
  *found = numbers != NULL;
  for (int64_t i = 0; *found && i < rewrite->graph->values[value].size; i++) {
    take_magnitude(m, numbers[i]);
  }
  nd4c_deallocate(numbers);
  return status;
}

/* Sums or products of all numbers of two constants of floats are finite, and products of others than 0 are normal. */
static nd4c_status stays_in_range(const nd4c_rewrite *rewrite, const link *inner, const link *outer, bool *stays) {
  nd4c_dtype_limits limits = {.struct_size = sizeof limits};
  magnitudes a, b;
  bool found = false;
  ND4C_TRY(find_magnitudes(rewrite, inner->number, &a, &found));
  if (found) {
    ND4C_TRY(find_magnitudes(rewrite, outer->number, &b, &found));
  }
  *stays = found && nd4c_dtype_get_limits(rewrite->graph->values[outer->number].dtype, &limits) == ND4C_OK;
  if (*stays && outer->op == ND4C_OP_add) {
    *stays = a.largest + b.largest <= limits.max;
  } else if (*stays) {
    *stays = a.largest * b.largest <= limits.max && a.least * b.least >= limits.smallest_normal;
  }
  return ND4C_OK;
}

/* Whether the fold keeps all bits. */
static bool may_fold(const nd4c_rewrite *rewrite, const link *inner, const link *outer) {
  const nd4c_dtype_kind kind = nd4c_dtype_get_info(rewrite->graph->values[outer->number].dtype)->kind;
  if (kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT || kind == ND4C_KIND_BOOL) {
    return true;
  }
  if (kind != ND4C_KIND_FLOAT) {
    return false;
  }
  const bool extreme = outer->op == ND4C_OP_maximum || outer->op == ND4C_OP_minimum;
  nd4c_uniform a, b;
  if (outer->op == ND4C_OP_add || !nd4c_constant_uniform(rewrite, inner->number, &a) ||
      !nd4c_constant_uniform(rewrite, outer->number, &b)) {
    return false;
  }
  return extreme ? is_ordered(&a, &b) : is_exact_product(&a, &b);
}

static nd4c_status may_reorder(const nd4c_rewrite *rewrite, const link *inner, const link *outer, bool *may) {
  const nd4c_dtype_kind kind = nd4c_dtype_get_info(rewrite->graph->values[outer->number].dtype)->kind;
  *may = false;
  return rewrite->math >= ND4C_MATH_REORDER && kind == ND4C_KIND_FLOAT &&
                 (outer->op == ND4C_OP_add || outer->op == ND4C_OP_multiply)
             ? stays_in_range(rewrite, inner, outer, may)
             : ND4C_OK;
}

/* -- folding ------------------------------------------------------------------------------------------------------- */

static nd4c_status compute(nd4c_rewrite *rewrite, nd4c_op op, const nd4c_array *a, const nd4c_array *b,
                           nd4c_array **made) {
  const nd4c_array *inputs[] = {a, b};
  *made = NULL;
  return nd4c_op_call_positional(rewrite->context, op, inputs, b == NULL ? 1 : 2, NULL, made);
}

/* The number of the folded link: s * k1 + k2 for sums, s the sign of the outer link's x; else k1 op k2. */
static nd4c_status combine(nd4c_rewrite *rewrite, const link *inner, const link *outer, nd4c_array **made) {
  const nd4c_array *first = rewrite->graph->values[inner->number].constant;
  const nd4c_array *second = rewrite->graph->values[outer->number].constant;
  const bool first_negated = inner->number_negated != outer->x_negated;
  if (outer->op != ND4C_OP_add || (!first_negated && !outer->number_negated)) {
    return compute(rewrite, outer->op, first, second, made);
  }
  if (first_negated != outer->number_negated) {
    return first_negated ? compute(rewrite, ND4C_OP_subtract, second, first, made)
                         : compute(rewrite, ND4C_OP_subtract, first, second, made);
  }
  nd4c_array *sum = NULL;
  ND4C_TRY(compute(rewrite, ND4C_OP_add, first, second, &sum));
  const nd4c_status status = compute(rewrite, ND4C_OP_negative, sum, NULL, made);
  nd4c_array_release(sum);
  return status;
}

static nd4c_status fold(nd4c_rewrite *rewrite, int32_t index, const link *inner, const link *outer) {
  nd4c_array *number = NULL;
  ND4C_TRY(combine(rewrite, inner, outer, &number));
  const int64_t first = rewrite->graph->values[inner->number].size, second = rewrite->graph->values[outer->number].size;
  if (number->size > (first > second ? first : second)) { /* a column and a row: it would take more memory than both */
    nd4c_array_release(number);
    return ND4C_OK;
  }
  nd4c_value inputs[2] = {inner->x, ND4C_VALUE_NONE};
  ND4C_TRY(nd4c_rewrite_constant(rewrite, number, &inputs[1]));
  nd4c_op op = outer->op;
  if (inner->x_negated != outer->x_negated) {
    op = ND4C_OP_subtract;
    inputs[0] = inputs[1];
    inputs[1] = inner->x;
  }
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, op, inputs, 2, NULL, NULL, &done);
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)same;
  (void)state;
  const link outer = read_link(rewrite, &rewrite->graph->nodes[index]);
  if (outer.op == ND4C_OP_NONE || !nd4c_rewrite_is_single(rewrite, outer.x)) {
    return ND4C_OK;
  }
  const int32_t producer = rewrite->graph->values[outer.x].producer;
  const link inner = read_link(rewrite, producer < 0 ? NULL : &rewrite->graph->nodes[producer]);
  if (inner.op != outer.op) {
    return ND4C_OK;
  }
  bool may = may_fold(rewrite, &inner, &outer);
  if (!may) {
    ND4C_TRY(may_reorder(rewrite, &inner, &outer, &may));
  }
  return may ? fold(rewrite, index, &inner, &outer) : ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(FUSE, 57, fold_chain, ANY, "folds chains of arithmetic with constants into one op")
