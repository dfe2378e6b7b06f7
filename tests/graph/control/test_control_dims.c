/* Nodes whose bodies have dims: those of the same names in the graph around. Binding, plans for all sizes, and the
 * passes that move nodes between a body and the graph around. */
#include "control_cases.h"
#include "graph/control.h"
#include "graph/dynamic.h"

/* x [n, 4] -> tanh(x), in as many rounds as the dim m says, or n. */
static nd4c_graph *dim_graph(bool alone, nd4c_value *collected) {
  nd4c_graph *graph = control_graph(), *body = control_graph();
  int64_t n = 0, m = 0;
  CHECK_OK(nd4c_graph_dim(body, "n", 1, -1, &n));
  (void)control_input(body, ND4C_INT64, 0, NULL);
  nd4c_value x = control_input(body, ND4C_FLOAT32, 2, (int64_t[]){n, 4});
  x = check_unary(body, ND4C_OP_tanh, x);
  control_output(body, x);
  control_output(body, x);
  if (!alone) {
    CHECK_OK(nd4c_graph_dim(graph, "m", 0, 100, &m)); /* another order of dims than in the body */
  }
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &n));
  m = alone ? n : m;
  nd4c_value outputs[2];
  x = control_input(graph, ND4C_FLOAT32, 2, (int64_t[]){n, 4});
  const nd4c_loop_options options = {.struct_size = sizeof options, .carried_count = 1, .carried = &x, .rounds = &m};
  CHECK_OK(nd4c_graph_loop(graph, body, &options, "dims", outputs, 2));
  control_output(graph, outputs[0]);
  control_output(graph, outputs[1]);
  *collected = outputs[1];
  nd4c_graph_destroy(body);
  return graph;
}

static void dims_are_those_of_the_graph_around(void **state) {
  (void)state;
  nd4c_value collected = ND4C_VALUE_NONE;
  nd4c_graph *graph = dim_graph(false, &collected), *bound = NULL, *half = NULL;
  const int64_t *shape = graph->values[collected].shape;
  char *text = NULL;
  CHECK_OK(nd4c_graph_extent_text(graph, shape[0], &text));
  assert_string_equal(text, "m");
  nd4c_free(text);
  CHECK_OK(nd4c_graph_extent_text(graph, shape[1], &text));
  assert_string_equal(text, "n");
  nd4c_free(text);
  CHECK_OK(nd4c_graph_bind(graph, (const char *const[]){"n"}, (int64_t[]){3}, 1, &half));
  assert_int_equal(nd4c_graph_dim_count(half), 1);
  CHECK_OK(nd4c_graph_bind(half, (const char *const[]){"m"}, (int64_t[]){5}, 1, &bound));
  assert_int_equal(bound->values[collected].shape[0], 5);
  assert_int_equal(bound->values[collected].shape[1], 3);
  nd4c_array *inputs[CONTROL_PORTS] = {NULL}, *expected[CONTROL_PORTS] = {NULL};
  nd4c_plan *plan = NULL;
  control_make_inputs(bound, 0, 4, inputs);
  control_evaluate(bound, inputs, expected);
  CHECK_OK(nd4c_plan_create(bound, NULL, NULL, &plan));
  check_runs(plan, inputs, expected, 1e-6, "bound");
  nd4c_plan_destroy(plan);
  check_release(inputs, 1);
  check_release(expected, 2);
  nd4c_graph_destroy(graph);
  nd4c_graph_destroy(half);
  nd4c_graph_destroy(bound);
}

/* The limit of bindings counts the plans of bodies. */
static void check_bytes(const nd4c_plan *plan) {
  const nd4c_plan_binding *latest = nd4c_bindings_latest(plan->dynamic);
  const nd4c_plan *body = latest->plan->family->plans[0];
  assert_int_equal(latest->plan->family->count, 1);
  latest->plan->family_is_own = false;
  const int64_t own = nd4c_dynamic_bytes(latest->plan);
  latest->plan->family_is_own = true;
  assert_true(nd4c_dynamic_bytes(body) > (int64_t)sizeof *body);
  assert_int_equal(latest->bytes, own + nd4c_dynamic_bytes(body));
}

/* One plan of a graph with dims runs a loop whose body has them, for all sizes. */
static void plans_with_dims_run_loops(void **state) {
  (void)state;
  nd4c_value collected = ND4C_VALUE_NONE;
  nd4c_graph *graph = dim_graph(true, &collected);
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  for (int64_t n = 1; n < 14; n += 3) {
    nd4c_graph *bound = NULL;
    nd4c_array *inputs[1] = {NULL}, *expected[2] = {NULL}, *outputs[2] = {NULL};
    CHECK_OK(nd4c_graph_bind(graph, (const char *const[]){"n"}, &n, 1, &bound));
    control_make_inputs(bound, 0, (uint64_t)n, inputs);
    control_evaluate(bound, inputs, expected);
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const[]){inputs[0]}, 1, outputs, 2));
    assert_true(check_difference(expected[0], outputs[0]) <= 1e-6);
    assert_true(check_difference(expected[1], outputs[1]) <= 1e-6);
    check_release(inputs, 1);
    check_release(expected, 2);
    check_release(outputs, 2);
    check_bytes(plan);
    nd4c_graph_destroy(bound);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void unknown_dims_are_refused(void **state) {
  (void)state;
  nd4c_graph *graph = control_graph(), *body = control_graph();
  int64_t n = 0;
  CHECK_OK(nd4c_graph_dim(body, "n", 1, -1, &n));
  control_output(body, control_input(body, ND4C_FLOAT32, 1, &n));
  nd4c_function *function = NULL;
  CHECK_OK(nd4c_function_create("f", body, &function));
  nd4c_value x = control_input(graph, ND4C_FLOAT32, 1, &pair[1]), y;
  assert_int_equal(nd4c_graph_call(graph, function, &x, 1, "here", &y, 1), ND4C_NAME);
  assert_non_null(strstr(nd4c_error_message(), "body: the body has a dim 'n', and the graph around it has none"));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &n));
  assert_int_equal(nd4c_graph_call(graph, function, &x, 1, "here", &y, 1), ND4C_SHAPE);
  assert_non_null(strstr(nd4c_error_message(), "body: input 0 has shape (n,), expected (4,)"));
  nd4c_function_release(function);
  nd4c_graph_destroy(body);
  nd4c_graph_destroy(graph);
}

/* The body's guard n == m becomes one of the graph around; it goes again if the scan is refused, as late as it is. */
static void refused_scans_leave_no_guards(void **state) {
  (void)state;
  nd4c_graph *graph = control_graph(), *body = control_graph();
  int64_t n = 0, m = 0;
  CHECK_OK(nd4c_graph_dim(body, "n", 1, -1, &n));
  CHECK_OK(nd4c_graph_dim(body, "m", 1, -1, &m));
  nd4c_value s = control_input(body, ND4C_FLOAT32, 1, &n), x = control_input(body, ND4C_FLOAT32, 1, &m), outputs[2];
  control_output(body, s);
  control_output(body, check_binary(body, ND4C_OP_add, s, x));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &n));
  CHECK_OK(nd4c_graph_dim(graph, "m", 1, -1, &m));
  s = control_input(graph, ND4C_FLOAT32, 1, &n);
  x = control_input(graph, ND4C_FLOAT32, 2, (int64_t[]){5, m});
  CHECK_OK(nd4c_graph_push_scope(graph, "s"));
  for (int32_t axis = 2; axis > 0; axis--) {
    const nd4c_scan_options options = {.struct_size = sizeof options,
                                       .carried_count = 1,
                                       .carried = &s,
                                       .scanned_count = 1,
                                       .scanned = &x,
                                       .output_axes = &axis};
    assert_int_equal(nd4c_graph_scan(graph, body, &options, "here", outputs, 2), axis == 2 ? ND4C_INDEX : ND4C_OK);
    assert_int_equal(nd4c_extents_guard_count(graph->extents), axis == 2 ? 0 : 1);
    assert_int_equal(graph->node_count, axis == 2 ? 0 : 2);
  }
  assert_int_equal(nd4c_graph_find_node(graph, "s/here"), 0); /* the name was free again */
  nd4c_graph_destroy(graph);
  nd4c_graph_destroy(body);
}

/* A body's n meets the m of the graph around it: in each axis that becomes a guard, and a number beside it must be the
 * same. */
static void dims_meet_in_each_axis(void **state) {
  (void)state;
  static const char *const names[] = {"n", "m"};
  for (int32_t axis = 0; axis < 3; axis++) {
    for (int64_t beside = 4; beside < 6; beside++) {
      nd4c_graph *graph = control_graph(), *body = control_graph();
      nd4c_function *function = NULL;
      int64_t inner[] = {4, 4, 4}, outer[] = {beside, beside, beside};
      nd4c_value y = ND4C_VALUE_NONE;
      CHECK_OK(nd4c_graph_dim(body, "n", 1, -1, &inner[axis]));
      CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &outer[axis]));
      CHECK_OK(nd4c_graph_dim(graph, "m", 1, -1, &outer[axis]));
      control_output(body, control_input(body, ND4C_FLOAT32, 3, inner));
      CHECK_OK(nd4c_function_create("f", body, &function));
      const nd4c_value x = control_input(graph, ND4C_FLOAT32, 3, outer);
      assert_int_equal(nd4c_graph_call(graph, function, &x, 1, "here", &y, 1), beside == 4 ? ND4C_OK : ND4C_SHAPE);
      if (beside == 4) {
        nd4c_graph *bound = NULL;
        control_output(graph, y);
        assert_int_equal(nd4c_extents_guard_count(graph->extents), 1);
        assert_int_not_equal(nd4c_graph_bind(graph, names, (int64_t[]){6, 7}, 2, &bound), ND4C_OK);
        CHECK_OK(nd4c_graph_bind(graph, names, (int64_t[]){6, 6}, 2, &bound));
        nd4c_graph_destroy(bound);
      }
      nd4c_function_release(function);
      nd4c_graph_destroy(body);
      nd4c_graph_destroy(graph);
    }
  }
}

/* -- passes -------------------------------------------------------------------------------------------------------- */

/* x [n, 4] -> its rows twice, as [2*n, 4], less the mean of all: the attributes hold extents, and so does the body of a
 * branch in it. */
static nd4c_graph *twice_body(bool outer) {
  nd4c_graph *body = control_graph();
  int64_t n = 0;
  CHECK_OK(nd4c_graph_dim(body, "n", 1, -1, &n));
  if (!outer) {
    nd4c_value x = control_input(body, ND4C_FLOAT32, 2, (int64_t[]){n, 4});
    control_output(body, check_unary(body, ND4C_OP_tanh, x));
    return body;
  }
  nd4c_graph *then_body = twice_body(false), *else_body = twice_body(false);
  nd4c_value condition = control_input(body, ND4C_BOOL, 0, NULL), y = ND4C_VALUE_NONE;
  nd4c_value x = control_input(body, ND4C_FLOAT32, 2, (int64_t[]){n, 4});
  CHECK_OK(nd4c_graph_if(body, condition, then_body, else_body, &x, 1, "inner", &y, 1));
  const int64_t wide[] = {2, n, 4}, flat[] = {-1, 4};
  const nd4c_attr to = check_ints("shape", wide, 3), back = check_ints("shape", flat, 2);
  y = check_op(body, ND4C_OP_broadcast_to, &y, 1, &to, 1);
  control_output(body, check_op(body, ND4C_OP_reshape, &y, 1, &back, 1));
  nd4c_graph_destroy(then_body);
  nd4c_graph_destroy(else_body);
  return body;
}

/* A call of it, with dims in another order. */
static nd4c_graph *calling_graph(void) {
  nd4c_graph *graph = control_graph(), *body = twice_body(true);
  nd4c_function *function = NULL;
  int64_t m = 0, n = 0;
  CHECK_OK(nd4c_graph_dim(graph, "m", 1, -1, &m));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &n));
  CHECK_OK(nd4c_function_create("twice", body, &function));
  const nd4c_value x = control_input(graph, ND4C_FLOAT32, 2, (int64_t[]){n, 4});
  const nd4c_value other = control_input(graph, ND4C_FLOAT32, 1, &m),
                   given[] = {control_input(graph, ND4C_BOOL, 0, NULL), x};
  nd4c_value y = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_call(graph, function, given, 2, "call", &y, 1));
  control_output(graph, y);
  control_output(graph, check_unary(graph, ND4C_OP_exp, other));
  nd4c_function_release(function);
  nd4c_graph_destroy(body);
  return graph;
}

/* x [n, 4], w [4, 4] -> in 20 rounds x * 0.5 + tanh(x0) w: the product is the same in all rounds. */
static nd4c_graph *invariant_graph(void) {
  nd4c_graph *graph = control_graph(), *body = control_graph();
  const int64_t rounds = 20;
  int64_t n = 0;
  CHECK_OK(nd4c_graph_dim(body, "n", 1, -1, &n));
  (void)control_input(body, ND4C_INT64, 0, NULL);
  const nd4c_value carried = control_input(body, ND4C_FLOAT32, 2, (int64_t[]){n, 4});
  const nd4c_value first = control_input(body, ND4C_FLOAT32, 2, (int64_t[]){n, 4});
  const nd4c_value w = control_input(body, ND4C_FLOAT32, 2, (int64_t[]){4, 4});
  const nd4c_value product = check_binary(body, ND4C_OP_matmul, check_unary(body, ND4C_OP_tanh, first), w);
  control_output(body, check_binary(body, ND4C_OP_add,
                                    check_binary(body, ND4C_OP_multiply, carried, check_scalar(body, 0.5)), product));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &n));
  const nd4c_value x = control_input(graph, ND4C_FLOAT32, 2, (int64_t[]){n, 4});
  const nd4c_value captured[] = {x, check_constant(graph, 2, (int64_t[]){4, 4}, 3, -1, 1)};
  const nd4c_loop_options options = {.struct_size = sizeof options,
                                     .carried_count = 1,
                                     .carried = &x,
                                     .captured_count = 2,
                                     .captured = captured,
                                     .rounds = &rounds};
  nd4c_value y = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_loop(graph, body, &options, "invariant", &y, 1));
  control_output(graph, y);
  nd4c_graph_destroy(body);
  return graph;
}

/* One plan for all sizes against eager calls on the bound graph. */
static void check_sizes(const nd4c_graph *graph, const char *changed) {
  nd4c_plan *plan = NULL;
  char *report = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_plan_report(plan, &report));
  const char *line = strstr(report, changed);
  if (line == NULL || strstr(line, " 0 changes") < strchr(line, '\n')) {
    fail_msg("%s changes nothing: %s", changed, report);
  }
  for (int64_t n = 1; n < 40; n = 3 * n + 1) {
    nd4c_graph *bound = NULL;
    nd4c_array *inputs[CONTROL_PORTS] = {NULL}, *expected[CONTROL_PORTS] = {NULL};
    const int32_t dims = nd4c_graph_dim_count(graph);
    CHECK_OK(nd4c_graph_bind(graph, (const char *const[]){"n", "m"}, (int64_t[]){n, 5}, dims, &bound));
    control_make_inputs(bound, 0, (uint64_t)n, inputs);
    control_evaluate(bound, inputs, expected);
    check_runs(plan, inputs, expected, 1e-6, changed);
    check_release(inputs, bound->inputs.count);
    check_release(expected, bound->outputs.count);
    nd4c_graph_destroy(bound);
  }
  nd4c_free(report);
  nd4c_plan_destroy(plan);
}

static void calls_are_inlined(void **state) {
  (void)state;
  nd4c_graph *graph = calling_graph();
  check_sizes(graph, "inline_calls");
  nd4c_graph_destroy(graph);
}

static void invariants_move(void **state) {
  (void)state;
  nd4c_graph *graph = invariant_graph();
  check_sizes(graph, "loop_invariants");
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dims_are_those_of_the_graph_around),
      cmocka_unit_test(unknown_dims_are_refused),
      cmocka_unit_test(refused_scans_leave_no_guards),
      cmocka_unit_test(dims_meet_in_each_axis),
      cmocka_unit_test(plans_with_dims_run_loops),
      cmocka_unit_test(calls_are_inlined),
      cmocka_unit_test(invariants_move),
  };
  return cmocka_run_group_tests_name("graph control dims", tests, NULL, NULL);
}
