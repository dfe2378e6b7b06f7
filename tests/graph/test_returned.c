/* Executables that return their outputs: how nd4c adopts the buffers, in eager calls and in plans. On the stub with a
 * compiler and no kernels, which counts buffers that are freed too early, twice or not at all as violations. */
#define _POSIX_C_SOURCE 200809L
#include "graph_check.h"
#include "stub_plugin.h"

enum { ROWS = 5, COLUMNS = 7, SIZE = ROWS * COLUMNS };
static const int64_t shape[] = {ROWS, COLUMNS};

static nd4c_array *make(float first) {
  float values[SIZE];
  nd4c_array *array = NULL;
  for (int i = 0; i < SIZE; i++) {
    values[i] = first + (float)i;
  }
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 2, shape, values, stub_device, &array));
  return array;
}

static void check_sum(const nd4c_array *array, float first) {
  float values[SIZE];
  CHECK_OK(nd4c_array_read(array, values, sizeof values));
  for (int i = 0; i < SIZE; i++) {
    assert_true(values[i] == first + 2 * (float)i);
  }
}

static int64_t live_bytes(void) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_memory_get_info(stub_device, &info));
  return info.live_bytes;
}

static void fresh_results_are_adopted(void **state) {
  (void)state;
  nd4c_array *a = make(0), *b = make(100), *y = NULL;
  const int64_t before = live_bytes();
  CHECK_OK(nd4c_add_on(stub_context, a, b, &y));
  check_sum(y, 100);
  assert_true(live_bytes() - before == SIZE * (int64_t)sizeof(float)); /* the returned size, no size class */
  nd4c_array *z = NULL;
  CHECK_OK(nd4c_subtract_on(stub_context, y, b, &z)); /* an adopted buffer is an operand as any other */
  CHECK_OK(nd4c_add_on(stub_context, z, b, &z));
  check_sum(z, 100);
  nd4c_array_release(y);
  nd4c_array_release(z);
  CHECK_OK(nd4c_context_synchronize(stub_context));
  CHECK_OK(nd4c_memory_trim(stub_device, 0));
  assert_true(live_bytes() == before);
  nd4c_array_release(a);
  nd4c_array_release(b);
}

/* Given arrays of the right order, a part of one, one that is transposed, one that is an input, too. */
static void given_arrays_get_the_results(void **state) {
  (void)state;
  nd4c_array *a = make(0), *b = make(100), *given = make(-1), *kept = nd4c_array_retain(given);
  CHECK_OK(nd4c_add_on(stub_context, a, b, &given));
  assert_ptr_equal(given, kept);
  check_sum(given, 100);
  nd4c_array_release(kept);

  const int64_t tall[] = {2 * ROWS, COLUMNS}, wide[] = {COLUMNS, ROWS};
  const int64_t starts[] = {ROWS, 0}, stops[] = {2 * ROWS, COLUMNS}, steps[] = {1, 1};
  nd4c_array *whole = NULL, *part = NULL, *turned = NULL, *view = NULL;
  CHECK_OK(nd4c_array_zeros(ND4C_FLOAT32, 2, tall, stub_device, &whole));
  CHECK_OK(nd4c_array_slice(whole, starts, stops, steps, &part));
  CHECK_OK(nd4c_add_on(stub_context, a, b, &part));
  check_sum(part, 100);
  float values[2 * SIZE];
  CHECK_OK(nd4c_array_read(whole, values, sizeof values));
  for (int i = 0; i < 2 * SIZE; i++) {
    assert_true(values[i] == (i < SIZE ? 0 : 100 + 2 * (float)(i - SIZE)));
  }
  CHECK_OK(nd4c_array_zeros(ND4C_FLOAT32, 2, wide, stub_device, &turned));
  CHECK_OK(nd4c_array_as_strided(turned, 2, shape, (int64_t[]){1, ROWS}, 0, &view));
  CHECK_OK(nd4c_add_on(stub_context, a, b, &view)); /* the host copies it there */
  check_sum(view, 100);
  const char *memory = getenv("STUB_MEMORY");
  if (memory == NULL || strcmp(memory, "whole") != 0) {
    const nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device, .strict = true};
    nd4c_context *strict = NULL;
    CHECK_OK(nd4c_context_create(&options, &strict));
    assert_int_equal(nd4c_add_on(strict, a, b, &view), ND4C_UNSUPPORTED);
    assert_non_null(strstr(nd4c_error_message(), "it returns outputs in C order"));
    CHECK_OK(nd4c_context_destroy(strict));
  }
  CHECK_OK(nd4c_add_on(stub_context, a, b, &a)); /* in place */
  check_sum(a, 100);
  nd4c_array *all[] = {a, b, given, whole, part, turned, view};
  check_release(all, sizeof all / sizeof all[0]);
}

/* y = (x + x) * x - x, and the sum, which is an output, too. */
static nd4c_plan *make_plan(void) {
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  nd4c_value sum = check_binary(graph, ND4C_OP_add, x, x);
  CHECK_OK(nd4c_graph_output(graph, "y",
                             check_binary(graph, ND4C_OP_subtract, check_binary(graph, ND4C_OP_multiply, sum, x), x)));
  CHECK_OK(nd4c_graph_output(graph, "sum", sum));
  CHECK_OK(nd4c_plan_create(graph, stub_context, NULL, &plan));
  nd4c_graph_destroy(graph);
  return plan;
}

static void check_outputs(nd4c_array *const *outputs, float first) {
  float y[SIZE], sum[SIZE];
  CHECK_OK(nd4c_array_read(outputs[0], y, sizeof y));
  CHECK_OK(nd4c_array_read(outputs[1], sum, sizeof sum));
  for (int i = 0; i < SIZE; i++) {
    const float x = first + (float)i;
    assert_true(sum[i] == 2 * x && y[i] == 2 * x * x - x);
  }
}

static void plans_run_array_by_array(void **state) {
  (void)state;
  nd4c_plan *plan = make_plan();
  char *report = NULL;
  CHECK_OK(nd4c_plan_report(plan, &report));
  assert_non_null(strstr(report, "mode: arrays"));
  assert_non_null(strstr(report, "not stream: step 0 returns its outputs"));
  nd4c_free(report);
  nd4c_array *x = make(1), *outputs[2] = {NULL, NULL};
  for (int run = 0; run < 3; run++) { /* the second and third runs write into the first one's outputs */
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)&x, 1, outputs, 2));
    check_outputs(outputs, 1);
  }
  check_release(outputs, 2);
  nd4c_array_release(x);
  nd4c_plan_destroy(plan);
}

/* Each lie is an error that names it, after which the plan runs again. */
static void lies_are_found(void **state) {
  (void)state;
  static const char *const cases[][2] = {{"return_output:1", "returned OK but no buffer for output 0"},
                                         {"return_output:2", "returned OK but no buffer for output 1"},
                                         {"return_bytes:1", "returned 139 bytes for output 0, expected 140"},
                                         {"return_twice:1", "returned one buffer for outputs 0 and 1"},
                                         {"execute:1", "told to fail"}};
  nd4c_plan *plan = make_plan();
  nd4c_array *x = make(1);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char command[64];
    nd4c_array *outputs[2] = {NULL, NULL};
    (void)snprintf(command, sizeof command, "fail %s", cases[i][0]);
    assert_int_equal(stub_control(command), ND4C_OK);
    assert_int_equal(nd4c_plan_run(plan, (const nd4c_array *const *)&x, 1, outputs, 2), ND4C_DEVICE);
    if (strstr(nd4c_error_message(), cases[i][1]) == NULL) {
      fail_msg("%s: %s", cases[i][0], nd4c_error_message());
    }
    (void)stub_control("reset");
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)&x, 1, outputs, 2));
    check_outputs(outputs, 1);
    check_release(outputs, 2);
  }
  nd4c_array_release(x);
  nd4c_plan_destroy(plan);
}

static void failures_in_flight_reach_the_results(void **state) {
  (void)state;
  nd4c_array *a = make(0), *b = make(100), *y = NULL, *given = make(3);
  (void)stub_control("fail in_flight:1");
  CHECK_OK(nd4c_add_on(stub_context, a, b, &y));
  float values[SIZE];
  assert_int_equal(nd4c_array_read(y, values, sizeof values), ND4C_DEVICE);
  (void)stub_control("fail in_flight:1");
  CHECK_OK(nd4c_add_on(stub_context, a, b, &given)); /* the source of the copy failed */
  assert_int_not_equal(nd4c_array_read(given, values, sizeof values), ND4C_OK);
  CHECK_OK(nd4c_add_on(stub_context, a, b, &given));
  check_sum(given, 100);
  nd4c_array *all[] = {a, b, y, given};
  check_release(all, sizeof all / sizeof all[0]);
}

/* nd4c makes room before the executable allocates, or refuses the call before it is enqueued. */
static void the_cap_holds(void **state) {
  (void)state;
  nd4c_array *a = make(0), *b = make(100), *y = NULL;
  CHECK_OK(nd4c_context_synchronize(stub_context));
  CHECK_OK(nd4c_memory_trim(stub_device, 0));
  CHECK_OK(
      nd4c_memory_set_cap(stub_device, live_bytes() + 600)); /* the output's array fits, the returned buffer does not */
  const int64_t executed = stub_counter("execute");
  assert_int_equal(nd4c_add_on(stub_context, a, b, &y), ND4C_MEMORY_CAP);
  assert_true(stub_counter("execute") == executed);
  CHECK_OK(nd4c_memory_set_cap(stub_device, 0));
  CHECK_OK(nd4c_add_on(stub_context, a, b, &y));
  check_sum(y, 100);
  nd4c_array *all[] = {a, b, y};
  check_release(all, sizeof all / sizeof all[0]);
}

int main(void) {
  (void)setenv("STUB_MODE", "compiler", 1);
  (void)setenv("STUB_RETURN", "1", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(fresh_results_are_adopted, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(given_arrays_get_the_results, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(plans_run_array_by_array, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(lies_are_found, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(failures_in_flight_reach_the_results, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(the_cap_holds, stub_test_begin, stub_test_end)};
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return failed + stub_stop();
}
