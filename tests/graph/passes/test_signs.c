/* What ir/signs.c knows of signs, by the pass peephole: abs vanishes behind an op whose results have no sign, of each
 * of its operands, and stays behind look-alikes. */
#include "graph/exact.h"

/* What an op reads: numbers of each sign, squares, or a constant. */
typedef enum operand { X, POSITIVE, NUMBER, NOTHING } operand;

typedef struct sign_case {
  nd4c_op op;
  operand a, b;
  double number;
  bool vanishes;
} sign_case;

static const sign_case *row; /* for build */

static nd4c_value operand_of(nd4c_graph *graph, operand of, nd4c_value x) {
  return of == NUMBER     ? exact_scalar(graph, ND4C_FLOAT32, row->number)
         : of == POSITIVE ? check_unary(graph, ND4C_OP_square, x)
                          : x;
}

static void build(nd4c_graph *graph) {
  static const int64_t turned[] = {1, 0}, last[] = {1}, shape[] = {25, 5};
  const nd4c_value x = exact_vector(graph, ND4C_FLOAT32), y = exact_vector(graph, ND4C_FLOAT32);
  const nd4c_value inputs[] = {operand_of(graph, row->a, x), operand_of(graph, row->b, y)};
  nd4c_attr attr = {.name = NULL};
  switch (row->op) {
    case ND4C_OP_transpose:
      attr = check_ints("axes", turned, 2);
      break;
    case ND4C_OP_reshape:
      attr = check_ints("shape", shape, 2);
      break;
    case ND4C_OP_softmax:
      attr = check_int("axis", 1);
      break;
    case ND4C_OP_mean:
    case ND4C_OP_sum:
    case ND4C_OP_max:
    case ND4C_OP_min:
      attr = check_ints("axes", last, 1);
      break;
    default:
      break;
  }
  const nd4c_value made = check_op(graph, row->op, inputs, row->b == NOTHING ? 1 : 2, &attr, attr.name != NULL);
  exact_output(graph, check_unary(graph, ND4C_OP_abs, made));
}

static const sign_case cases[] = {
    {ND4C_OP_abs, X, NOTHING, 0, true},
    {ND4C_OP_exp, X, NOTHING, 0, true},
    {ND4C_OP_exp2, X, NOTHING, 0, true},
    {ND4C_OP_sigmoid, X, NOTHING, 0, true},
    {ND4C_OP_softmax, X, NOTHING, 0, true},
    {ND4C_OP_square, X, NOTHING, 0, true},
    {ND4C_OP_add, POSITIVE, POSITIVE, 0, true},
    {ND4C_OP_add, X, POSITIVE, 0, false},
    {ND4C_OP_add, POSITIVE, X, 0, false},
    {ND4C_OP_add, POSITIVE, NUMBER, 2, true},
    {ND4C_OP_add, NUMBER, POSITIVE, 2, true},
    {ND4C_OP_add, POSITIVE, NUMBER, -2, false},
    {ND4C_OP_add, POSITIVE, NUMBER, NAN, false},
    {ND4C_OP_maximum, POSITIVE, POSITIVE, 0, true},
    {ND4C_OP_maximum, X, POSITIVE, 0, false}, /* may be the -NaN of x */
    {ND4C_OP_maximum, POSITIVE, X, 0, false},
    {ND4C_OP_maximum, POSITIVE, NUMBER, 0.5, true},
    {ND4C_OP_minimum, POSITIVE, X, 0, false},
    {ND4C_OP_multiply, POSITIVE, POSITIVE, 0, true},
    {ND4C_OP_multiply, X, POSITIVE, 0, false},
    {ND4C_OP_multiply, POSITIVE, X, 0, false},
    {ND4C_OP_multiply, POSITIVE, NUMBER, 0.3, true},
    {ND4C_OP_multiply, POSITIVE, NUMBER, -0.3, false},
    {ND4C_OP_subtract, POSITIVE, POSITIVE, 0, false},
    {ND4C_OP_mean, POSITIVE, NOTHING, 0, true},
    {ND4C_OP_sum, POSITIVE, NOTHING, 0, true},
    {ND4C_OP_max, POSITIVE, NOTHING, 0, true},
    {ND4C_OP_min, POSITIVE, NOTHING, 0, true},
    {ND4C_OP_mean, X, NOTHING, 0, false},
    {ND4C_OP_sum, X, NOTHING, 0, false},
    {ND4C_OP_max, X, NOTHING, 0, false},
    {ND4C_OP_min, X, NOTHING, 0, false},
    {ND4C_OP_sinh, POSITIVE, NOTHING, 0, false}, /* no op that is known */
};

static void abs_vanishes_behind_numbers_without_a_sign(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    row = &cases[i];
    nd4c_graph *graph = NULL;
    nd4c_array *inputs[CHECK_PORTS] = {NULL}, *expected[CHECK_PORTS] = {NULL};
    nd4c_plan *plan = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    build(graph);
    for (int32_t k = 0; k < graph->inputs.count; k++) {
      inputs[k] = exact_array(ND4C_FLOAT32, 2, (int64_t[]){5, 25}, k + 1);
    }
    check_evaluate(graph, inputs, expected);
    CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
    int32_t left = 0;
    for (int32_t k = 0; k < plan->graph->node_count; k++) {
      left += plan->graph->nodes[k].def->info.op == ND4C_OP_abs;
    }
    const int32_t kept = row->op == ND4C_OP_abs || !row->vanishes;
    if (left != kept) {
      fail_msg("row %zu: %d abs are left, expected %d", i, left, kept);
    }
    const exact_case compared = {.name = "signs", .tolerance = 1e-5};
    exact_run(&compared, plan, inputs, expected, "with passes");
    nd4c_plan_destroy(plan);
    check_release(inputs, graph->inputs.count);
    check_release(expected, graph->outputs.count);
    nd4c_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(abs_vanishes_behind_numbers_without_a_sign)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
