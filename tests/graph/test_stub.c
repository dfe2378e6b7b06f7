/* Plans on an asynchronous device without addresses. STUB_MODE decides whether it has kernels (the default), a
 * compiler, or both; with a compiler, sequences of nodes become segments. */
#define _POSIX_C_SOURCE 200809L
#include "graph/modes/mode.h"
#include "graph_check.h"
#include "stub_plugin.h"

enum { ROWS = 3, COLUMNS = 4 };
static const int64_t shape[] = {ROWS, COLUMNS};

static bool has_compiler(void) {
  const char *mode = getenv("STUB_MODE");
  return mode != NULL && strcmp(mode, "kernels") != 0;
}

static bool returns_outputs(void) {
  return has_compiler() && getenv("STUB_RETURN") != NULL;
}

/* y = tanh(relu(x + c) w^T), z = (x + c)^T: five nodes, one of them a view where nodes run one by one. */
static nd4c_graph *make_graph(void) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  nd4c_value w = check_constant(graph, 2, (int64_t[]){5, COLUMNS}, 1, -1, 1);
  nd4c_value sum = check_binary(graph, ND4C_OP_add, x, check_constant(graph, 1, &shape[1], 2, -1, 1));
  nd4c_value turned = check_op(graph, ND4C_OP_transpose, &w, 1, NULL, 0);
  nd4c_value product = check_binary(graph, ND4C_OP_matmul, check_unary(graph, ND4C_OP_relu, sum), turned);
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_tanh, product)));
  CHECK_OK(nd4c_graph_output(graph, "z", check_op(graph, ND4C_OP_transpose, &sum, 1, NULL, 0)));
  return graph;
}

static nd4c_plan *make_plan(const nd4c_graph *graph, bool optimize) {
  nd4c_plan *plan = NULL;
  nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = !optimize};
  CHECK_OK(nd4c_plan_create(graph, stub_context, &options, &plan));
  return plan;
}

static void check_on_stub(nd4c_plan *plan, const nd4c_graph *graph) {
  for (uint64_t seed = 1; seed <= 3; seed++) {
    nd4c_array *inputs[1], *expected[2] = {NULL}, *actual[2] = {NULL};
    check_make_inputs(graph, seed, inputs);
    check_evaluate(graph, inputs, expected);
    const nd4c_array *given[] = {inputs[0]};
    CHECK_OK(nd4c_plan_run(plan, given, 1, actual, 2));
    for (int32_t i = 0; i < 2; i++) {
      assert_true(check_difference(expected[i], actual[i]) <= 1e-5);
    }
    /* Again, into given outputs. */
    CHECK_OK(nd4c_plan_run(plan, given, 1, actual, 2));
    assert_true(check_difference(expected[0], actual[0]) <= 1e-5);
    check_release(inputs, 1);
    check_release(expected, 2);
    check_release(actual, 2);
  }
}

static int reset(void **state) {
  (void)state;
  (void)stub_control("reset");
  stub_settle();
  return 0;
}

static int settle(void **state) {
  (void)state;
  (void)stub_control("reset");
  stub_settle();
  int64_t buffers = stub_counter("buffers"), executables = stub_counter("executables");
  int64_t violations = stub_counter("violations");
  if (buffers != 0 || executables != 0 || violations != 0) {
    print_error("%lld buffers and %lld executables left, %lld violations\n", (long long)buffers, (long long)executables,
                (long long)violations);
    return 1;
  }
  return 0;
}

/* The stream is the plan's, too: its owner may destroy the context while work is in flight, and run the plan again. */
static void plans_outlive_their_context(void **state) {
  (void)state;
  nd4c_context *context = NULL;
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  nd4c_graph *graph = make_graph();
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_context_create(&options, &context));
  CHECK_OK(nd4c_plan_create(graph, context, NULL, &plan));
  (void)stub_control("delay 500");
  check_on_stub(plan, graph);
  CHECK_OK(nd4c_context_destroy(context));
  check_on_stub(plan, graph);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void plans_agree_with_the_host(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph();
  (void)stub_control("delay 500");
  for (int32_t optimize = 0; optimize < 2; optimize++) {
    nd4c_plan *plan = make_plan(graph, optimize != 0);
    assert_string_equal(plan->mode->name, returns_outputs() ? "arrays" : "stream");
    check_on_stub(plan, graph);
    nd4c_plan_destroy(plan);
  }
  nd4c_graph_destroy(graph);
}

static void supported_runs_become_segments(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph();
  nd4c_plan *whole = make_plan(graph, false);
  char *text = NULL;
  CHECK_OK(nd4c_plan_report(whole, &text));
  if (!has_compiler()) {
    assert_non_null(strstr(text, "segments: none"));
    nd4c_free(text);
    nd4c_plan_destroy(whole);
    nd4c_graph_destroy(graph);
    return;
  }
  assert_int_equal(whole->segment_count, 1);
  assert_non_null(strstr(text, "segment of 6 nodes"));
  nd4c_free(text);
  nd4c_plan_destroy(whole);
  /* The third node is declined: two before it become one segment, the three after it another. */
  (void)stub_control("fail supports:3");
  nd4c_plan *apart = make_plan(graph, false);
  (void)stub_control("reset");
  assert_int_equal(apart->segment_count, 2);
  CHECK_OK(nd4c_plan_report(apart, &text));
  assert_non_null(strstr(text, "segment of 2 nodes"));
  assert_non_null(strstr(text, "segment of 3 nodes"));
  assert_non_null(strstr(text, " bytes read and written):"));
  assert_non_null(strstr(text, "declined by stub_compiler: told to decline"));
  nd4c_free(text);
  check_on_stub(apart, graph);
  nd4c_plan_destroy(apart);
  nd4c_graph_destroy(graph);
}

static void failures_in_flight_poison_outputs_of_that_run_alone(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph();
  nd4c_plan *plan = make_plan(graph, true);
  nd4c_array *inputs[1], *outputs[2] = {NULL};
  check_make_inputs(graph, 1, inputs);
  const nd4c_array *given[] = {inputs[0]};
  check_on_stub(plan, graph);
  (void)stub_control("delay 2000");
  (void)stub_control("fail in_flight:1");
  nd4c_status status = nd4c_plan_run(plan, given, 1, outputs, 2);
  float numbers[ROWS * 5];
  if (status == ND4C_OK) {
    assert_int_not_equal(nd4c_array_read(outputs[0], numbers, sizeof numbers), ND4C_OK);
    assert_true(strlen(nd4c_error_message()) > 0);
  }
  (void)stub_control("reset");
  stub_settle();
  check_on_stub(plan, graph);
  check_release(inputs, 1);
  check_release(outputs, 2);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* Steps share the memory of intermediate values: after a failure no later value in that memory counts as valid. */
static void a_failure_reaches_the_output(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_array *inputs[1], *outputs[1] = {NULL};
  float numbers[ROWS * COLUMNS];
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  nd4c_value first = check_unary(graph, ND4C_OP_relu, x), second = check_unary(graph, ND4C_OP_tanh, x);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_add, first, second)));
  nd4c_plan *plan = make_plan(graph, false);
  check_make_inputs(graph, 1, inputs);
  const nd4c_array *given[] = {inputs[0]};
  (void)stub_control("delay 2000");
  (void)stub_control("fail in_flight:1");
  CHECK_OK(nd4c_plan_run(plan, given, 1, outputs, 1));
  assert_int_not_equal(nd4c_array_read(outputs[0], numbers, sizeof numbers), ND4C_OK);
  CHECK_OK(nd4c_plan_run(plan, given, 1, outputs, 1));
  CHECK_OK(nd4c_array_read(outputs[0], numbers, sizeof numbers));
  check_release(inputs, 1);
  check_release(outputs, 1);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* Scratch of the device and of the host that an executable requests, while several runs are under way. */
static void segments_have_scratch(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph();
  (void)stub_control("scratch 4096");
  (void)stub_control("delay 500");
  nd4c_plan *plan = make_plan(graph, true);
  check_on_stub(plan, graph);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* y = tanh(relu(x)): a run of two nodes. */
static nd4c_graph *make_short_graph(void) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_tanh, check_unary(graph, ND4C_OP_relu, x))));
  return graph;
}

static nd4c_graph *make_chain(int64_t rows) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){rows, COLUMNS});
  nd4c_value y = check_unary(graph, ND4C_OP_tanh, check_unary(graph, ND4C_OP_relu, x));
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_negative, y)));
  return graph;
}

static void check_chain(nd4c_plan *plan, const nd4c_graph *graph) {
  nd4c_array *inputs[1], *expected[1] = {NULL}, *actual[1] = {NULL};
  check_make_inputs(graph, 3, inputs);
  check_evaluate(graph, inputs, expected);
  const nd4c_array *given[] = {inputs[0]};
  CHECK_OK(nd4c_plan_run(plan, given, 1, actual, 1));
  assert_true(check_difference(expected[0], actual[0]) <= 1e-5);
  check_release(inputs, 1);
  check_release(expected, 1);
  check_release(actual, 1);
}

/* A chain of element-wise ops is compiled once, whatever its extents, and released with the last plan. */
static void other_extents_share_an_executable(void **state) {
  (void)state;
  if (!has_compiler()) {
    return;
  }
  nd4c_graph *graphs[3] = {make_chain(3), make_chain(7), make_chain(5)};
  int64_t before = stub_counter("compile");
  nd4c_plan *first = make_plan(graphs[0], false), *second = make_plan(graphs[1], false);
  assert_int_equal(stub_counter("compile"), before + 1);
  assert_int_equal(stub_counter("executables"), 1);
  check_chain(first, graphs[0]);
  check_chain(second, graphs[1]);
  nd4c_plan_destroy(first);
  check_chain(second, graphs[1]);
  (void)stub_control("fail accepts:1"); /* the cached executable does not fit these */
  nd4c_plan *third = make_plan(graphs[2], false);
  assert_int_equal(stub_counter("compile"), before + 2);
  check_chain(third, graphs[2]);
  (void)stub_control("fail describe_executable:1,accepts:0");
  nd4c_plan *none = NULL;
  nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  assert_int_equal(nd4c_plan_create(graphs[0], stub_context, &options, &none), ND4C_DEVICE);
  nd4c_plan_destroy(second);
  nd4c_plan_destroy(third);
  for (int i = 0; i < 3; i++) {
    nd4c_graph_destroy(graphs[i]);
  }
}

static void a_part_of_an_array_is_an_output(void **state) {
  (void)state;
  nd4c_graph *graph = make_short_graph();
  nd4c_plan *plan = make_plan(graph, false);
  nd4c_array *inputs[1], *expected[1] = {NULL}, *whole = NULL, *part[1] = {NULL};
  float numbers[2 * ROWS * COLUMNS];
  nd4c_device *host = NULL;
  check_make_inputs(graph, 1, inputs);
  check_evaluate(graph, inputs, expected);
  CHECK_OK(nd4c_device_find("cpu", &host));
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 2, (int64_t[]){2 * ROWS, COLUMNS}, 7, host, &whole));
  CHECK_OK(nd4c_array_slice(whole, (int64_t[]){ROWS, 0}, (int64_t[]){2 * ROWS, COLUMNS}, (int64_t[]){1, 1}, &part[0]));
  const nd4c_array *given[] = {inputs[0]};
  CHECK_OK(nd4c_plan_run(plan, given, 1, part, 1));
  assert_true(check_difference(expected[0], part[0]) <= 1e-5);
  CHECK_OK(nd4c_array_read(whole, numbers, sizeof numbers));
  for (int32_t i = 0; i < ROWS * COLUMNS; i++) {
    assert_float_equal(numbers[i], 7, 0);
  }
  check_release(inputs, 1);
  check_release(expected, 1);
  check_release(part, 1);
  nd4c_array_release(whole);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* A plan of the host under the eager policy: other devices get the values that the run computed. */
static void eager_copies_follow_a_run(void **state) {
  (void)state;
  nd4c_graph *graph = make_short_graph();
  nd4c_array *inputs[1], *expected[1] = {NULL}, *actual[1] = {NULL}, *there = NULL, *back = NULL;
  nd4c_device *host = NULL;
  nd4c_context *context = NULL;
  nd4c_plan *plan = NULL;
  void *address = NULL;
  CHECK_OK(nd4c_device_find("cpu", &host));
  nd4c_context_options options = {.struct_size = sizeof options, .device = host, .transfer = ND4C_TRANSFER_EAGER};
  CHECK_OK(nd4c_context_create(&options, &context));
  CHECK_OK(nd4c_plan_create(graph, context, NULL, &plan));
  assert_true(nd4c_plan_is_direct(plan));
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 2, shape, 7, host, &actual[0]));
  for (uint64_t seed = 1; seed <= 3; seed++) {
    check_make_inputs(graph, seed, inputs);
    check_evaluate(graph, inputs, expected);
    const nd4c_array *given[] = {inputs[0]};
    CHECK_OK(nd4c_array_prefetch(actual[0], stub_device));
    CHECK_OK(nd4c_plan_run(plan, given, 1, actual, 1));
    assert_int_equal(nd4c_array_state(actual[0], stub_device), 'S');
    CHECK_OK(nd4c_negative_on(stub_context, actual[0], &there));
    CHECK_OK(nd4c_negative_on(context, there, &back));
    assert_true(check_difference(expected[0], back) <= 1e-5);
    /* A replica that is stale before a run stays so. */
    CHECK_OK(nd4c_array_data_mutable(actual[0], &address));
    assert_int_equal(nd4c_array_state(actual[0], stub_device), 'I');
    CHECK_OK(nd4c_plan_run(plan, given, 1, actual, 1));
    assert_int_equal(nd4c_array_state(actual[0], stub_device), 'I');
    check_release(inputs, 1);
    check_release(expected, 1);
  }
  check_release(actual, 1);
  nd4c_array_release(there);
  nd4c_array_release(back);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  CHECK_OK(nd4c_context_destroy(context));
}

static void plans_may_go_while_their_work_is_pending(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph();
  nd4c_array *inputs[1], *expected[2] = {NULL}, *actual[2] = {NULL};
  check_make_inputs(graph, 4, inputs);
  check_evaluate(graph, inputs, expected);
  nd4c_plan *plan = make_plan(graph, true);
  const nd4c_array *given[] = {inputs[0]};
  (void)stub_control("delay 3000");
  CHECK_OK(nd4c_plan_run(plan, given, 1, actual, 2));
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  check_release(inputs, 1);
  for (int32_t i = 0; i < 2; i++) {
    assert_true(check_difference(expected[i], actual[i]) <= 1e-5);
  }
  check_release(expected, 2);
  check_release(actual, 2);
}

static void failing_calls_give_a_status(void **state) {
  (void)state;
  static const char *const calls[] = {"compile",         "execute",      "run",      "prepare",
                                      "buffer_allocate", "fence_record", "partition"};
  nd4c_graph *graph = make_graph();
  int32_t failures = 0;
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    for (int32_t number = 1; number <= 6; number++) {
      char command[64];
      (void)snprintf(command, sizeof command, "fail %s:%d", calls[i], number);
      nd4c_array *inputs[1], *outputs[2] = {NULL};
      check_make_inputs(graph, 1, inputs);
      const nd4c_array *given[] = {inputs[0]};
      nd4c_plan *plan = NULL;
      assert_int_equal(stub_control(command), 0);
      nd4c_status status = nd4c_plan_create(graph, stub_context, NULL, &plan);
      status = status == ND4C_OK ? nd4c_plan_run(plan, given, 1, outputs, 2) : status;
      assert_true(status == ND4C_OK || strlen(nd4c_error_message()) > 0);
      failures += status != ND4C_OK;
      (void)stub_control("reset");
      stub_settle();
      if (plan != NULL) {
        check_on_stub(plan, graph);
      }
      nd4c_plan_destroy(plan);
      check_release(inputs, 1);
      check_release(outputs, 2);
    }
  }
  assert_in_range(failures, 3, 42);
  nd4c_graph_destroy(graph);
}

/* Whether each element is `value`; false also for one that cannot be read. */
static bool holds(nd4c_array *array, int32_t size, float value) {
  float elements[ROWS * 5] = {0};
  bool all = nd4c_array_read(array, elements, (size_t)size * sizeof *elements) == ND4C_OK;
  for (int32_t i = 0; i < size && all; i++) {
    all = elements[i] == value;
  }
  return all;
}

/* y is written by its step, z is staged and copied into a view. Wherever the run fails, no given array holds values of
 * two runs. */
static void failures_leave_no_output_half_written(void **state) {
  (void)state;
  if (has_compiler()) {
    return; /* calls of copy keep an executable, and fail at other counts */
  }
  nd4c_graph *graph = make_graph();
  nd4c_plan *plan = make_plan(graph, true);
  int failures = 0, delivering = 0;
  for (int32_t nth = 1; nth <= 8; nth++) {
    char command[64];
    (void)snprintf(command, sizeof command, "fail run:%d:300", (int)nth);
    nd4c_array *inputs[1], *y = NULL, *large = NULL, *z = NULL;
    check_make_inputs(graph, 1, inputs);
    CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 2, (int64_t[]){ROWS, 5}, -1, stub_device, &y));
    CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 2, (int64_t[]){COLUMNS, 2 * ROWS}, -1, stub_device, &large));
    CHECK_OK(nd4c_array_as_strided(large, 2, (int64_t[]){COLUMNS, ROWS}, (int64_t[]){2 * ROWS, 2}, 0, &z));
    CHECK_OK(nd4c_context_synchronize(stub_context));
    const nd4c_array *given[] = {inputs[0]};
    nd4c_array *outputs[] = {y, z};
    assert_int_equal(stub_control(command), 0);
    const nd4c_status status = nd4c_plan_run(plan, given, 1, outputs, 2);
    (void)stub_control("reset");
    stub_settle();
    if (status != ND4C_OK) {
      failures++;
      const bool lost = nd4c_array_wait(y) != ND4C_OK;
      delivering += lost && nd4c_array_wait(z) != ND4C_OK;
      assert_true(lost || holds(y, ROWS * 5, -1));
      assert_true(nd4c_array_wait(z) != ND4C_OK || holds(z, COLUMNS * ROWS, -1));
    }
    nd4c_array *all[] = {inputs[0], z, large, y};
    check_release(all, 4);
  }
  assert_true(failures > 1);
  assert_true(delivering >= 1);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

int main(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(plans_outlive_their_context, reset, settle),
      cmocka_unit_test_setup_teardown(plans_agree_with_the_host, reset, settle),
      cmocka_unit_test_setup_teardown(supported_runs_become_segments, reset, settle),
      cmocka_unit_test_setup_teardown(failures_in_flight_poison_outputs_of_that_run_alone, reset, settle),
      cmocka_unit_test_setup_teardown(a_failure_reaches_the_output, reset, settle),
      cmocka_unit_test_setup_teardown(segments_have_scratch, reset, settle),
      cmocka_unit_test_setup_teardown(other_extents_share_an_executable, reset, settle),
      cmocka_unit_test_setup_teardown(a_part_of_an_array_is_an_output, reset, settle),
      cmocka_unit_test_setup_teardown(eager_copies_follow_a_run, reset, settle),
      cmocka_unit_test_setup_teardown(plans_may_go_while_their_work_is_pending, reset, settle),
      cmocka_unit_test_setup_teardown(failing_calls_give_a_status, reset, settle),
      cmocka_unit_test_setup_teardown(failures_leave_no_output_half_written, reset, settle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
