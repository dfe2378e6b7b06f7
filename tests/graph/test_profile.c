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
  (void)done;
  (void)total;
  if (*plan != NULL && strcmp(what, "preparing") == 0) { /* it is NULL while the plan itself is made */
    CHECK_OK(nd4c_plan_profile(*plan, true));
  }
}

/* A profile that begins while a binding is made measures it, too. */
static void bindings_in_the_making_are_profiled(void **state) {
  (void)state;
  nd4c_graph *graph = make_symbolic();
  nd4c_plan *plan = NULL;
  const nd4c_plan_progress progress = {.tell = begin_profile, .user = &plan, .on = true};
  CHECK_OK(nd4c_plan_create_told(graph, NULL, NULL, &progress, &plan));
  assert_false(plan->profiled);
  run_times(plan, 1);
  assert_true(plan->profiled);
  assert_int_equal(step_of(plan, 0).runs, 1);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* -- bodies -------------------------------------------------------------------------------------------------------- */

enum { ROUNDS = 1000 };

/* ROUNDS rounds of x = tanh(x + y). */
static nd4c_plan *make_loop(const nd4c_plan_progress *progress) {
  const int64_t few[] = {2, 3}, rounds = ROUNDS;
  nd4c_graph *graph = NULL, *body = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value round = ND4C_VALUE_NONE, result = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&body));
  CHECK_OK(nd4c_graph_input(body, "round", ND4C_INT64, 0, NULL, &round));
  const nd4c_value pair[] = {check_input(body, "x", 2, few), check_input(body, "y", 2, few)};
  CHECK_OK(nd4c_graph_op(body, ND4C_OP_add, pair, 2, NULL, 0, "sum", &result, 1));
  CHECK_OK(nd4c_graph_output(body, "x", check_unary(body, ND4C_OP_tanh, result)));
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 2, few), y = check_input(graph, "y", 2, few);
  const nd4c_loop_options options = {.struct_size = sizeof options,
                                     .carried_count = 1,
                                     .carried = &x,
                                     .captured_count = 1,
                                     .captured = &y,
                                     .rounds = &rounds};
  CHECK_OK(nd4c_graph_loop(graph, body, &options, "loop", &result, 1));
  CHECK_OK(nd4c_graph_output(graph, "z", result));
  CHECK_OK(nd4c_plan_create_told(graph, NULL, NULL, progress, &plan));
  nd4c_graph_destroy(graph);
  nd4c_graph_destroy(body);
  return plan;
}

static void run_loop(nd4c_plan *plan, int times) {
  const int64_t few[] = {2, 3};
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, few, 3, -1, 1), *z = NULL;
  const nd4c_array *inputs[] = {x, x};
  for (int i = 0; i < times; i++) {
    CHECK_OK(nd4c_plan_run(plan, inputs, 2, &z, 1));
  }
  check_release((nd4c_array *[]){x, z}, 2);
}

static void bodies_are_profiled_by_round(void **state) {
  (void)state;
  nd4c_plan *plan = make_loop(NULL);
  const nd4c_plan *body = NULL, *none = plan;
  run_loop(plan, 1);
  CHECK_OK(nd4c_plan_get_body(plan, 0, 0, &body));
  assert_non_null(body);
  assert_true(nd4c_plan_step_count(body) > 0);
  assert_int_equal(step_of(body, 0).runs, 0); /* no profile yet */
  CHECK_OK(nd4c_plan_profile(plan, true));
  run_loop(plan, 2);
  int64_t inside = 0;
  for (int32_t i = 0; i < nd4c_plan_step_count(body); i++) {
    const nd4c_step_info info = step_of(body, i);
    assert_int_equal(info.runs, 2 * ROUNDS);
    assert_true(info.nanoseconds > 0);
    inside += info.nanoseconds;
  }
  assert_int_equal(step_of(plan, 0).runs, 2);
  assert_true(inside <= step_of(plan, 0).nanoseconds);
  CHECK_OK(nd4c_plan_profile(plan, true)); /* forgets, also in bodies */
  assert_int_equal(step_of(body, 0).runs, 0);
  CHECK_OK(nd4c_plan_profile(plan, false));
  run_loop(plan, 1);
  assert_int_equal(step_of(body, 0).runs, 0);
  CHECK_OK(nd4c_plan_get_body(plan, 0, 1, &none)); /* a loop has one body */
  assert_null(none);
  CHECK_OK(nd4c_plan_get_body(body, 0, 0, &none)); /* an op has none */
  assert_null(none);
  assert_int_equal(nd4c_plan_get_body(plan, 99, 0, &none), ND4C_INDEX);
  assert_int_equal(nd4c_plan_get_body(plan, 0, 0, NULL), ND4C_NULL_ARGUMENT);
  nd4c_plan_destroy(plan);
}

static void count_rounds(void *user, const char *what, int64_t done, int64_t total) {
  int *counts = user;
  const bool looping = strcmp(what, "looping") == 0;
  counts[0] += looping && done == 0 && total == ROUNDS;
  counts[1] += looping;
  counts[2] += strcmp(what, "running") == 0 && done == total && total == 1;
}

/* The first round, and later ones from time to time. */
static void loops_tell_of_rounds(void **state) {
  (void)state;
  int counts[3] = {0};
  nd4c_plan_progress progress = {.tell = count_rounds, .user = counts, .on = true};
  nd4c_plan *plan = make_loop(&progress);
  run_loop(plan, 1);
  assert_int_equal(counts[0], 1);
  assert_true(counts[1] < ROUNDS);
  assert_int_equal(counts[2], 1);
  progress.on = false;
  run_loop(plan, 1);
  assert_int_equal(counts[0], 1);
  nd4c_plan_destroy(plan);
}

/* -- why a kernel ---------------------------------------------------------------------------------------------------
 */

static void says_why_each_kernel_was_chosen(void **state) {
  (void)state;
  nd4c_plan *plan = make_plan(NULL);
  char *text = NULL;
  CHECK_OK(nd4c_plan_explain(plan, &text));
  assert_non_null(strstr(text, "why each kernel:\n  node 'product' (matmul):\n"));
  assert_non_null(strstr(text, "taken\n"));
  for (int32_t i = 0; i < nd4c_plan_step_count(plan); i++) {
    const nd4c_step_info info = step_of(plan, i);
    if (strstr(text, info.node_count > 1 ? info.engine : info.kernel) == NULL) {
      fail_msg("%s %s is not in:\n%s", info.engine, info.kernel, text);
    }
  }
  nd4c_free(text);
  assert_int_equal(nd4c_plan_explain(plan, NULL), ND4C_NULL_ARGUMENT);
  nd4c_plan_destroy(plan);
  nd4c_graph *graph = make_symbolic();
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  assert_int_equal(nd4c_plan_explain(plan, &text), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "nd4c_graph_bind"));
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* Kernels that read a packed constant are asked with the constant: the text agrees with the plan. */
static void kernels_with_packed_weights_are_asked_with_them(void **state) {
  const int64_t image[] = {2, 32, 16, 16}, windows[] = {32, 32, 3, 3};
  const nd4c_attr pads = check_ints("pads", (int64_t[]){1, 1, 1, 1}, 4);
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  char *text = NULL;
  (void)state;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value operands[] = {check_input(graph, "x", 4, image), check_constant(graph, 4, windows, 3, -1, 1)};
  CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, ND4C_OP_conv, operands, 2, &pads, 1)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_plan_explain(plan, &text));
  assert_null(strstr(text, "no memory"));
  for (int32_t i = 0; i < nd4c_plan_step_count(plan); i++) {
    char taken[256];
    const nd4c_step_info info = step_of(plan, i);
    (void)snprintf(taken, sizeof taken, "%s (engine %s): taken\n", info.kernel, info.engine);
    if (strstr(text, taken) == NULL) {
      fail_msg("'%s' is not in:\n%s", taken, text);
    }
  }
  nd4c_free(text);
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
      cmocka_unit_test(bodies_are_profiled_by_round),
      cmocka_unit_test(loops_tell_of_rounds),
      cmocka_unit_test(says_why_each_kernel_was_chosen),
      cmocka_unit_test(kernels_with_packed_weights_are_asked_with_them),
      cmocka_unit_test_setup_teardown(dims_on_a_device_are_refused, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(wrong_questions_are_refused, stub_test_begin, stub_test_end)};
  return cmocka_run_group_tests(tests, NULL, NULL) + stub_stop();
}
