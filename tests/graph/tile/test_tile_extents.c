/* Engine tile and plans with dims: one program serves a chain in all bindings whose extents let it compute the same
 * ops in the same way, and equal chains of one plan. Results are those of eager calls for all extents, also where a
 * chain of the first binding is none for others. */
#include "graph/dynamic.h"
#include "graph/graph_check.h"

enum { ROWS = 5000, FEATURES = 8, INPUTS = 3, OUTPUTS = 4 };

/* tanh(b + b) * x + bias, twice: b [n, 1, FEATURES] or [n, m, FEATURES], x [n, m, FEATURES]. */
static nd4c_graph *make_graph(int64_t n, int64_t m, bool narrow) {
  const int64_t row[] = {FEATURES};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  int64_t dims[] = {n, m};
  if (n < 0) {
    CHECK_OK(nd4c_graph_dim(graph, "n", 0, -1, &dims[0]));
    CHECK_OK(nd4c_graph_dim(graph, "m", 1, -1, &dims[1]));
  }
  const nd4c_value x = check_input(graph, "x", 3, (int64_t[]){dims[0], dims[1], FEATURES});
  const nd4c_value b = check_input(graph, "b", 3, (int64_t[]){dims[0], narrow ? 1 : dims[1], FEATURES});
  const nd4c_value one = check_input(graph, "one", 0, NULL);
  nd4c_value results[2];
  for (uint64_t i = 0; i < 2; i++) {
    const nd4c_value bias = check_constant(graph, 1, row, 3 + i, -1, 1);
    const nd4c_value t = check_unary(graph, ND4C_OP_tanh, check_binary(graph, ND4C_OP_add, b, b));
    if (narrow) {
      CHECK_OK(nd4c_graph_output(graph, i == 0 ? "t" : "u", t));
    }
    results[i] = check_binary(graph, ND4C_OP_multiply, check_binary(graph, ND4C_OP_multiply, t, x), one);
    results[i] = check_binary(graph, ND4C_OP_add, results[i], bias);
    CHECK_OK(nd4c_graph_output(graph, i == 0 ? "y" : "z", results[i]));
  }
  return graph;
}

static void check_size(nd4c_plan *plan, int64_t n, int64_t m, bool narrow) {
  nd4c_graph *graph = make_graph(n, m, narrow);
  nd4c_array *inputs[INPUTS], *expected[OUTPUTS] = {NULL}, *actual[OUTPUTS] = {NULL};
  const int32_t outputs = narrow ? OUTPUTS : 2;
  check_make_inputs(graph, 7, inputs);
  check_evaluate(graph, inputs, expected);
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)inputs, INPUTS, actual, outputs));
  for (int32_t i = 0; i < outputs; i++) {
    const double difference = check_difference(expected[i], actual[i]);
    if (!(difference == 0.0)) {
      fail_msg("%lld, %lld: output %d differs by %g", (long long)n, (long long)m, (int)i, difference);
    }
  }
  check_release(inputs, INPUTS);
  check_release(expected, outputs);
  check_release(actual, outputs);
  nd4c_graph_destroy(graph);
}

static nd4c_plan *make_plan(bool narrow) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  nd4c_graph *graph = make_graph(-1, -1, narrow);
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
  nd4c_graph_destroy(graph);
  return plan;
}

/* The executable of a chain of the binding used last. Valid while the binding is kept. */
static const nd4c_compiled *latest_chain(const nd4c_plan *plan, int32_t number) {
  const nd4c_plan *bound = nd4c_bindings_latest(plan->dynamic)->plan;
  assert_int_equal(bound->segment_count, 2);
  assert_string_equal(bound->segments[number].compiler->engine, "tile");
  return bound->segments[number].compiled;
}

static void bindings_share_programs(void **state) {
  (void)state;
  nd4c_plan *plan = make_plan(false);
  check_size(plan, ROWS, 3, false);
  const nd4c_compiled *program = latest_chain(plan, 0);
  assert_ptr_equal(latest_chain(plan, 1), program); /* its bias is another constant */
  static const int64_t sizes[][2] = {{ROWS + 1, 3}, {70, 2}, {3, 1}, {0, 4}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    check_size(plan, sizes[i][0], sizes[i][1], false);
    assert_ptr_equal(latest_chain(plan, 0), program);
    assert_ptr_equal(latest_chain(plan, 1), program);
  }
  /* The bias now has as many elements as the results: the same ops, but not the same program. */
  check_size(plan, 1, 1, false);
  assert_ptr_not_equal(latest_chain(plan, 0), program);
  nd4c_plan_destroy(plan);
}

static void a_chain_of_the_first_binding_may_be_none_later(void **state) {
  (void)state;
  for (int64_t first = 1; first <= 2; first++) {
    nd4c_plan *plan = make_plan(true);
    check_size(plan, ROWS, first, true);
    check_size(plan, ROWS, 3 - first, true);
    check_size(plan, ROWS + 1, first, true);
    nd4c_plan_destroy(plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bindings_share_programs),
                                     cmocka_unit_test(a_chain_of_the_first_binding_may_be_none_later)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
