/* Profiles of plans: which runs count, what a step tells about its nodes, which plans cannot be profiled. */
#include "graph_check.h"
#include "stub_plugin.h"

enum { ROWS = 512, COLUMNS = 256 };

static const int64_t shape[] = {ROWS, COLUMNS};

/* softmax(x w), then exp, sqrt and tanh, which a compiler takes as one segment. */
static nd4c_plan *make_plan(nd4c_context *context) {
  const int64_t square[] = {COLUMNS, COLUMNS};
  const nd4c_attr axis = {.name = "axis", .value = {.kind = ND4C_ATTR_INT, .as.i = -1}};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value y = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 2, shape);
  const nd4c_value inputs[] = {x, check_constant(graph, 2, square, 1, -1, 1)};
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_matmul, inputs, 2, NULL, 0, "product", &y, 1));
  y = check_op(graph, ND4C_OP_softmax, &y, 1, &axis, 1);
  y = check_unary(graph, ND4C_OP_tanh, check_unary(graph, ND4C_OP_sqrt, check_unary(graph, ND4C_OP_exp, y)));
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  CHECK_OK(nd4c_plan_create(graph, context, NULL, &plan));
  nd4c_graph_destroy(graph);
  return plan;
}

static void run_times(nd4c_plan *plan, int times) {
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, shape, 3, -1, 1), *y = NULL;
  const nd4c_array *inputs[] = {x};
  for (int i = 0; i < times; i++) {
    CHECK_OK(nd4c_plan_run(plan, inputs, 1, &y, 1));
  }
  check_release((nd4c_array *[]){x, y}, 2);
}

static nd4c_step_info step_of(const nd4c_plan *plan, int32_t index) {
  nd4c_step_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_plan_get_step(plan, index, &info));
  return info;
}

/* In order: what is done, and how many runs each step has seen after it. */
static void runs_count_while_a_profile_is_on(void **state) {
  (void)state;
  static const struct {
    const char *what;
    int runs_before, on; /* on -1: no change */
    int runs_after;
    int64_t seen;
  } rows[] = {{"no profile yet", 2, -1, 0, 0},
              {"begun", 0, 1, 3, 3},
              {"goes on", 0, -1, 1, 4},
              {"ended: times stay", 0, 0, 5, 4},
              {"begun again: forgets", 0, 1, 2, 2},
              {"twice", 1, 1, 1, 1}};
  nd4c_plan *plan = make_plan(NULL);
  assert_true(nd4c_plan_step_count(plan) > 0);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    run_times(plan, rows[i].runs_before);
    if (rows[i].on >= 0) {
      CHECK_OK(nd4c_plan_profile(plan, rows[i].on != 0));
    }
    run_times(plan, rows[i].runs_after);
    for (int32_t k = 0; k < nd4c_plan_step_count(plan); k++) {
      const nd4c_step_info info = step_of(plan, k);
      if (info.runs != rows[i].seen || (info.runs == 0) != (info.nanoseconds == 0) ||
          info.nanoseconds < info.runs * info.least_nanoseconds) {
        fail_msg("%s: step %d has %lld runs of %lld ns, at least %lld", rows[i].what, (int)k, (long long)info.runs,
                 (long long)info.nanoseconds, (long long)info.least_nanoseconds);
      }
    }
  }
  nd4c_plan_destroy(plan);
}

/* The property begins a profile of each plan that is made while it is true. */
static void the_property_begins_a_profile(void **state) {
  (void)state;
  CHECK_OK(nd4c_config_set("nd4c.plan.profile", "true"));
  nd4c_plan *plan = make_plan(NULL);
  CHECK_OK(nd4c_config_set("nd4c.plan.profile", NULL));
  run_times(plan, 2);
  assert_int_equal(step_of(plan, 0).runs, 2);
  CHECK_OK(nd4c_plan_profile(plan, false));
  run_times(plan, 1);
  assert_int_equal(step_of(plan, 0).runs, 2);
  nd4c_plan_destroy(plan);
}

/* Every node belongs to one step; the estimates are those of the nodes. */
static void steps_tell_their_nodes(void **state) {
  (void)state;
  nd4c_plan *plan = make_plan(NULL);
  nd4c_node_info node = {.struct_size = sizeof node};
  int32_t nodes = 0;
  bool segment = false;
  for (int32_t i = 0; i < nd4c_plan_step_count(plan); i++) {
    const nd4c_step_info info = step_of(plan, i);
    double operations = 0;
    assert_int_equal(info.first_node, nodes);
    nodes += info.node_count;
    for (int32_t k = 0; k < info.node_count; k++) {
      CHECK_OK(nd4c_plan_get_node(plan, info.first_node + k, &node));
      operations += node.operations;
    }
    assert_true(info.operations == operations);
    assert_ptr_equal(info.device, plan->device);
    assert_int_equal(info.dtype, ND4C_FLOAT32);
    if (info.node_count > 1) {
      segment = true;
      assert_string_equal(info.kernel, "segment");
      assert_true(info.bytes == 2.0 * 4 * ROWS * COLUMNS); /* one value read, one written */
    } else {
      assert_true(info.bytes == node.bytes);
    }
  }
  int32_t compilers = 0;
  (void)nd4c_device_compilers(plan->device, &compilers);
  assert_int_equal(segment, compilers > 0);
  const nd4c_step_info first = step_of(plan, 0);
  CHECK_OK(nd4c_plan_get_node(plan, first.first_node, &node));
  assert_string_equal(node.label, "product");
  assert_true(first.operations == 2.0 * ROWS * COLUMNS * COLUMNS);
  assert_int_equal(nd4c_plan_get_node(plan, nodes, &node), ND4C_INDEX);
  assert_non_null(strstr(nd4c_error_message(), "nd4c_plan_get_node"));
  nd4c_plan_destroy(plan);
}

static void wrong_questions_are_refused(void **state) {
  (void)state;
  nd4c_plan *plan = make_plan(NULL);
  nd4c_step_info info = {.struct_size = sizeof info}, old = {.struct_size = offsetof(nd4c_step_info, runs)};
  assert_int_equal(nd4c_plan_step_count(NULL), 0);
  assert_int_equal(nd4c_plan_get_step(NULL, 0, &info), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_plan_get_step(plan, 0, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_plan_get_step(plan, 0, &old), ND4C_ARGUMENT);
  assert_int_equal(nd4c_plan_get_step(plan, -1, &info), ND4C_INDEX);
  assert_int_equal(nd4c_plan_get_step(plan, nd4c_plan_step_count(plan), &info), ND4C_INDEX);
  assert_int_equal(nd4c_plan_get_node(plan, 0, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_plan_get_node(NULL, 0, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_plan_profile(NULL, true), ND4C_NULL_ARGUMENT);
  nd4c_plan_destroy(plan);
  plan = make_plan(stub_context);
  CHECK_OK(nd4c_plan_profile(plan, false));
  assert_int_equal(nd4c_plan_profile(plan, true), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "the host cannot time a step"));
  assert_int_equal(step_of(plan, 0).runs, 0);
  nd4c_plan_destroy(plan);
}

/* tanh of [n, columns]. */
static nd4c_graph *make_symbolic(void) {
  nd4c_graph *graph = NULL;
  int64_t n = 0;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &n));
  const nd4c_value x = check_input(graph, "x", 2, (int64_t[]){n, COLUMNS});
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_tanh, x)));
  return graph;
}

/* The device tells that steps cannot be timed, with and without a binding; a profile can always be ended. */
static void dims_on_a_device_are_refused(void **state) {
  (void)state;
  nd4c_graph *graph = make_symbolic();
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, stub_context, NULL, &plan));
  for (int round = 0; round < 2; round++) {
    assert_int_equal(nd4c_plan_profile(plan, true), ND4C_UNSUPPORTED);
    assert_non_null(strstr(nd4c_error_message(), "submits its steps to stub:0"));
    assert_false(plan->profiled);
    CHECK_OK(nd4c_plan_profile(plan, false));
    run_times(plan, 1);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void begin_profile(void *user, const char *what, int64_t done, int64_t total) {
  nd4c_plan **plan = user;
  (void)what;
  (void)done;
  (void)total;
  if (*plan != NULL) { /* it is NULL while the plan itself is made */
    CHECK_OK(nd4c_plan_profile(*plan, true));
  }
}

/* A profile that begins while a binding is made measures it, too. */
static void bindings_in_the_making_are_profiled(void **state) {
  (void)state;
  nd4c_graph *graph = make_symbolic();
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create_told(graph, NULL, NULL, begin_profile, &plan, &plan));
  assert_false(plan->profiled);
  run_times(plan, 1);
  assert_true(plan->profiled);
  assert_int_equal(step_of(plan, 0).runs, 1);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

int main(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_count_while_a_profile_is_on),
      cmocka_unit_test(the_property_begins_a_profile),
      cmocka_unit_test(steps_tell_their_nodes),
      cmocka_unit_test(bindings_in_the_making_are_profiled),
      cmocka_unit_test_setup_teardown(dims_on_a_device_are_refused, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(wrong_questions_are_refused, stub_test_begin, stub_test_end)};
  return cmocka_run_group_tests(tests, NULL, NULL) + stub_stop();
}
