/* Algebraic identities that hold bit for bit: neutral elements (x + -0, x - 0, x * 1, x / 1, x^1, x and true),
 * absorbing ones (x * 0 for integers, x and false), equal operands (max(x, x), x and x, x - x for integers), and signs
 * (x * -1). passes.c runs it on every optimised plan.
 *
 * Floats have fewer of them than numbers: x + 0 is 0 for -0, x * 0 and x - x are NaN for infinities. The bits of a NaN
 * are not kept: an op may return another one. */
#include <math.h>

#include "base/status.h"
#include "graph/ir/sweep.h"
#include "graph/ir/uniform.h"
#include "graph/passes.h"

enum { LEFT = 1, RIGHT = 2 }; /* where the number may stand */

typedef enum outcome { OTHER, THE_NUMBER, NEGATED, INVERTED } outcome; /* what the node gives */

typedef enum kinds { FLOATS = 1, INTEGERS = 2, BOOLS = 4, REALS = FLOATS | INTEGERS, BITS = INTEGERS | BOOLS } kinds;

enum { FULL = 1000, LOWEST, HIGHEST }; /* numbers with another meaning for each dtype */

/* op(x, number) or op(number, x) gives `gives`. */
typedef struct identity {
  nd4c_op op;
  int32_t sides;
  kinds kinds;
  double number;
  outcome gives;
} identity;

static const identity identities[] = {
    {ND4C_OP_add, LEFT | RIGHT, FLOATS, -0.0, OTHER},
    {ND4C_OP_add, LEFT | RIGHT, INTEGERS, 0, OTHER},
    {ND4C_OP_subtract, RIGHT, REALS, 0, OTHER},
    {ND4C_OP_subtract, LEFT, FLOATS, -0.0, NEGATED},
    {ND4C_OP_subtract, LEFT, INTEGERS, 0, NEGATED},
    {ND4C_OP_multiply, LEFT | RIGHT, REALS, 1, OTHER},
    {ND4C_OP_multiply, LEFT | RIGHT, REALS, -1, NEGATED},
    {ND4C_OP_multiply, LEFT | RIGHT, INTEGERS, 0, THE_NUMBER},
    {ND4C_OP_divide, RIGHT, REALS, 1, OTHER},
    {ND4C_OP_divide, RIGHT, FLOATS, -1, NEGATED},
    {ND4C_OP_true_divide, RIGHT, FLOATS, 1, OTHER},
    {ND4C_OP_floor_divide, RIGHT, INTEGERS, 1, OTHER},
    {ND4C_OP_power, RIGHT, REALS, 1, OTHER},
    {ND4C_OP_power, LEFT, REALS, 1, THE_NUMBER},
    {ND4C_OP_maximum, LEFT | RIGHT, REALS, LOWEST, OTHER},
    {ND4C_OP_minimum, LEFT | RIGHT, REALS, HIGHEST, OTHER},
    {ND4C_OP_maximum, LEFT | RIGHT, INTEGERS, HIGHEST, THE_NUMBER},
    {ND4C_OP_minimum, LEFT | RIGHT, INTEGERS, LOWEST, THE_NUMBER},
    {ND4C_OP_logical_and, LEFT | RIGHT, BOOLS, FULL, OTHER},
    {ND4C_OP_logical_and, LEFT | RIGHT, BOOLS, 0, THE_NUMBER},
    {ND4C_OP_logical_or, LEFT | RIGHT, BOOLS, 0, OTHER},
    {ND4C_OP_logical_or, LEFT | RIGHT, BOOLS, FULL, THE_NUMBER},
    {ND4C_OP_logical_xor, LEFT | RIGHT, BOOLS, 0, OTHER},
    {ND4C_OP_logical_xor, LEFT | RIGHT, BOOLS, FULL, INVERTED},
    {ND4C_OP_bitwise_and, LEFT | RIGHT, BITS, FULL, OTHER},
    {ND4C_OP_bitwise_and, LEFT | RIGHT, BITS, 0, THE_NUMBER},
    {ND4C_OP_bitwise_or, LEFT | RIGHT, BITS, 0, OTHER},
    {ND4C_OP_bitwise_or, LEFT | RIGHT, BITS, FULL, THE_NUMBER},
    {ND4C_OP_bitwise_xor, LEFT | RIGHT, BITS, 0, OTHER},
    {ND4C_OP_bitwise_left_shift, RIGHT, INTEGERS, 0, OTHER},
    {ND4C_OP_bitwise_right_shift, RIGHT, INTEGERS, 0, OTHER},
};

static kinds kinds_of(nd4c_dtype_kind kind) {
  return kind == ND4C_KIND_FLOAT ? FLOATS : kind == ND4C_KIND_BOOL ? BOOLS : INTEGERS;
}

/* Whether the number is the least or the largest of its dtype; of floats, the infinity. */
static bool is_extreme(const nd4c_uniform *number, bool highest) {
  if (number->kind == ND4C_KIND_FLOAT) {
    return isinf(number->real) && (number->real > 0) == highest;
  }
  nd4c_dtype_limits limits = {.struct_size = sizeof limits};
  return nd4c_dtype_get_limits(number->dtype, &limits) == ND4C_OK &&
         (uint64_t)number->whole == (highest ? limits.integer_max : (uint64_t)limits.integer_min);
}

static bool is_number(const identity *row, const nd4c_uniform *number) {
  return row->number == FULL      ? nd4c_uniform_is_full(number)
         : row->number == LOWEST  ? is_extreme(number, false)
         : row->number == HIGHEST ? is_extreme(number, true)
                                  : nd4c_uniform_is(number, row->number);
}

static const identity *find_identity(nd4c_op op, int32_t side, const nd4c_uniform *number) {
  for (size_t i = 0; i < sizeof identities / sizeof identities[0]; i++) {
    const identity *row = &identities[i];
    if (row->op == op && (row->sides & side) != 0 && (row->kinds & kinds_of(number->kind)) != 0 &&
        is_number(row, number)) {
      return row;
    }
  }
  return NULL;
}

/* Whether a value can take the place of the node's output. */
static bool is_like_output(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, nd4c_value value) {
  return nd4c_rewrite_may_replace(rewrite, node->outputs[0], value);
}

/* One number everywhere in the shape of the node's output: a view of one element. */
static nd4c_status fill(nd4c_rewrite *rewrite, int32_t index, nd4c_value number, nd4c_value *same) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_graph_value *output = &rewrite->graph->values[node->outputs[0]];
  if (is_like_output(rewrite, node, number)) {
    *same = number;
    return ND4C_OK;
  }
  const nd4c_attr_value shape = {.kind = ND4C_ATTR_INTS, .count = output->rank, .as.ints = output->shape};
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_broadcast_to, &number, 1, &shape, NULL, &done);
}

/* A new constant of one element. */
static nd4c_status make_number(nd4c_rewrite *rewrite, nd4c_dtype dtype, double number, nd4c_value *made) {
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_array_scalar(dtype, number, rewrite->context->device, &array));
  return nd4c_rewrite_constant(rewrite, array, made);
}

/* -- a number and another operand -----------------------------------------------------------------------------------
 */

static nd4c_status visit_number(nd4c_rewrite *rewrite, int32_t index, int32_t position, nd4c_value *same) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_value other = node->inputs[1 - position], constant = node->inputs[position];
  nd4c_uniform number;
  if (!nd4c_constant_uniform(rewrite, constant, &number)) {
    return ND4C_OK;
  }
  const identity *row = find_identity(node->def->info.op, position == 0 ? LEFT : RIGHT, &number);
  bool done = false;
  if (row == NULL || rewrite->graph->values[constant].dtype != rewrite->graph->values[other].dtype) {
    return ND4C_OK; /* of two dtypes, the result may have the number's or a third one */
  }
  switch (row->gives) {
    case OTHER:
      *same = is_like_output(rewrite, node, other) ? other : ND4C_VALUE_NONE;
      return ND4C_OK;
    case THE_NUMBER:
      return fill(rewrite, index, constant, same);
    case NEGATED:
      return nd4c_rewrite_node(rewrite, index, ND4C_OP_negative, &other, 1, NULL, NULL, &done);
    default:
      return nd4c_rewrite_node(rewrite, index, ND4C_OP_logical_not, &other, 1, NULL, NULL, &done);
  }
}

/* -- equal operands ------------------------------------------------------------------------------------------------ */

/* op(x, x): x, 0 or true for every x of that kind; the node is unchanged if it depends on x. */
static nd4c_status visit_equal(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_value x = node->inputs[0];
  const kinds kind = kinds_of(nd4c_dtype_get_info(rewrite->graph->values[x].dtype)->kind);
  nd4c_value number = ND4C_VALUE_NONE;
  double value = 0;
  switch (node->def->info.op) {
    case ND4C_OP_maximum:
    case ND4C_OP_minimum:
    case ND4C_OP_fmax:
    case ND4C_OP_fmin:
    case ND4C_OP_logical_and:
    case ND4C_OP_logical_or:
    case ND4C_OP_bitwise_and:
    case ND4C_OP_bitwise_or:
      *same = is_like_output(rewrite, node, x) ? x : ND4C_VALUE_NONE;
      return ND4C_OK;
    case ND4C_OP_equal:
    case ND4C_OP_less_equal:
    case ND4C_OP_greater_equal:
      value = 1;
      break;
    case ND4C_OP_subtract:
    case ND4C_OP_bitwise_xor:
    case ND4C_OP_logical_xor:
    case ND4C_OP_not_equal:
    case ND4C_OP_less:
    case ND4C_OP_greater:
      break;
    default:
      return ND4C_OK;
  }
  const bool complex = nd4c_dtype_get_info(rewrite->graph->values[x].dtype)->kind == ND4C_KIND_COMPLEX;
  if ((kind & BITS) == 0 || complex) {
    return ND4C_OK;
  }
  ND4C_TRY(make_number(rewrite, rewrite->graph->values[node->outputs[0]].dtype, value, &number));
  return fill(rewrite, index, number, same);
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)state;
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  if (node->def->info.category != ND4C_CATEGORY_BINARY || nd4c_op_is_foreign(node->def) || node->input_count != 2) {
    return ND4C_OK;
  }
  if (node->inputs[0] == node->inputs[1]) {
    return visit_equal(rewrite, index, same);
  }
  for (int32_t position = 1; position >= 0; position--) {
    const nd4c_op_def *before = rewrite->graph->nodes[index].def;
    ND4C_TRY(visit_number(rewrite, index, position, same));
    if (*same != ND4C_VALUE_NONE || rewrite->graph->nodes[index].def != before) {
      return ND4C_OK;
    }
  }
  return ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(SIMPLIFY, 34, algebra, ANY, "removes neutral and absorbing numbers and equal operands")
