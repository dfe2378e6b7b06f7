/* Plans on a stream: the number of locks and fences of a warm run, and the outputs that a failure in flight reaches. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "graph/modes/mode.h"
#include "graph_check.h"
#include "stub_plugin.h"

static const int64_t shape[] = {4, 8};

/* -- locks that this thread takes --------------------------------------------------------------------------------- */

/* ThreadSanitizer must intercept the locks itself, so they are not counted there. */
#if defined(__SANITIZE_THREAD__)
#define COUNTS_LOCKS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COUNTS_LOCKS 0
#endif
#endif
#ifndef COUNTS_LOCKS
#define COUNTS_LOCKS 1
#endif

static _Thread_local int64_t lock_count;

#if COUNTS_LOCKS
int pthread_mutex_lock(pthread_mutex_t *mutex) {
  static int (*real)(pthread_mutex_t *);
  if (real == NULL) {
    void *symbol = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    memcpy(&real, &symbol, sizeof real);
  }
  lock_count++;
  return real(mutex);
}
#endif

/* -- graphs ------------------------------------------------------------------------------------------------------ */

/* y = sin(tanh(sin(... x))) of so many nodes; no pass joins them. */
static nd4c_plan *make_chain(int32_t length) {
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  for (int32_t i = 0; i < length; i++) {
    x = check_unary(graph, i % 2 == 0 ? ND4C_OP_tanh : ND4C_OP_sin, x);
  }
  CHECK_OK(nd4c_graph_output(graph, "y", x));
  CHECK_OK(nd4c_plan_create(graph, stub_context, NULL, &plan));
  nd4c_graph_destroy(graph);
  assert_int_equal(plan->step_count, length);
  assert_string_equal(plan->mode->name, "stream");
  return plan;
}

static nd4c_plan *make_fork_plan(const nd4c_graph *graph) {
  nd4c_plan *plan = NULL;
  nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  CHECK_OK(nd4c_plan_create(graph, stub_context, &options, &plan));
  assert_string_equal(plan->mode->name, "stream");
  return plan;
}

/* -- tests ------------------------------------------------------------------------------------------------------- */

typedef struct run_cost {
  int64_t locks, fences;
} run_cost;

/* The least of some warm runs: another one may have to collect what an earlier test left. */
static run_cost cost_of_run(int32_t length) {
  nd4c_plan *plan = make_chain(length);
  nd4c_array *input = check_array(ND4C_FLOAT32, 2, shape, 1, -1, 1), *output = NULL;
  const nd4c_array *given[] = {input};
  for (int32_t i = 0; i < 3; i++) { /* warm: the input is there, records are recycled */
    CHECK_OK(nd4c_plan_run(plan, given, 1, &output, 1));
    CHECK_OK(nd4c_array_wait(output));
  }
  CHECK_OK(nd4c_device_synchronize(stub_device));
  (void)stub_control("idle 1"); /* kernels that do nothing: the rest is nd4c's own work */
  run_cost least = {.locks = INT64_MAX, .fences = INT64_MAX};
  for (int32_t i = 0; i < 5; i++) {
    int64_t fences = stub_counter("fence_record"), locks = lock_count;
    nd4c_status status = nd4c_plan_run(plan, given, 1, &output, 1);
    locks = lock_count - locks;
    fences = stub_counter("fence_record") - fences;
    CHECK_OK(status);
    least.locks = locks < least.locks ? locks : least.locks;
    least.fences = fences < least.fences ? fences : least.fences;
    CHECK_OK(nd4c_array_wait(output));
  }
  nd4c_plan_destroy(plan);
  nd4c_array_release(input);
  nd4c_array_release(output);
  return least;
}

static void steps_take_no_lock_and_record_no_fence(void **state) {
  (void)state;
  run_cost few = cost_of_run(10), many = cost_of_run(1000);
  print_message("a run of 10 steps: %lld locks, %lld fences; of 1000 steps: %lld locks, %lld fences\n",
                (long long)few.locks, (long long)few.fences, (long long)many.locks, (long long)many.fences);
  assert_true(few.locks > 0 || !COUNTS_LOCKS); /* otherwise the count is broken */
  assert_int_equal(few.locks, many.locks);
  assert_int_equal(few.fences, 1);
  assert_int_equal(many.fences, 1);
}

/* For the step that fails (1 to 4): the outputs that depend on it, and its name in the text. */
static void a_failure_reaches_what_depends_on_it(void **state) {
  (void)state;
  static const struct {
    const char *reached, *name;
  } expected[] = {{"ac", "tanh"}, {"bc", "sin"}, {"c", "exp"}, {"c", "add"}};
  nd4c_graph *graph = check_make_fork();
  nd4c_plan *plan = make_fork_plan(graph);
  for (int32_t step = 1; step <= 4; step++) {
    nd4c_array *inputs[2], *right[3] = {NULL}, *outputs[3] = {NULL};
    char command[32];
    check_make_inputs(graph, 7, inputs);
    check_evaluate(graph, inputs, right);
    const nd4c_array *given[] = {inputs[0], inputs[1]};
    (void)snprintf(command, sizeof command, "fail in_flight:%d", step);
    assert_int_equal(stub_control(command), 0);
    CHECK_OK(nd4c_plan_run(plan, given, 2, outputs, 3));
    for (int32_t i = 0; i < 3; i++) {
      bool fails = strchr(expected[step - 1].reached, 'a' + i) != NULL;
      nd4c_status status = nd4c_array_wait(outputs[i]);
      if (fails != (status != ND4C_OK) || (fails && strstr(nd4c_error_message(), expected[step - 1].name) == NULL)) {
        fail_msg("step %d fails: output %c has status %d: %s", step, 'a' + i, (int)status, nd4c_error_message());
      }
      assert_true(fails || check_difference(right[i], outputs[i]) <= 1e-5);
    }
    (void)stub_control("reset");
    /* The next run writes outputs that were left without a value. */
    CHECK_OK(nd4c_plan_run(plan, given, 2, outputs, 3));
    for (int32_t i = 0; i < 3; i++) {
      assert_true(check_difference(right[i], outputs[i]) <= 1e-5);
    }
    check_release(inputs, 2);
    check_release(right, 3);
    check_release(outputs, 3);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void an_input_without_a_value_reaches_what_reads_it(void **state) {
  (void)state;
  nd4c_graph *graph = check_make_fork();
  nd4c_plan *plan = make_fork_plan(graph);
  nd4c_array *inputs[2], *bad = NULL, *outputs[3] = {NULL};
  check_make_inputs(graph, 3, inputs);
  stub_order("pause until_wait");
  (void)stub_control("fail in_flight:1");
  CHECK_OK(nd4c_cos_on(stub_context, inputs[0], &bad)); /* under way, and going to fail */
  const nd4c_array *given[] = {bad, inputs[1]};
  CHECK_OK(nd4c_plan_run(plan, given, 2, outputs, 3));
  assert_int_equal(nd4c_array_wait(outputs[0]), ND4C_POISONED);
  assert_non_null(strstr(nd4c_error_message(), "cos"));
  CHECK_OK(nd4c_array_wait(outputs[1]));
  assert_int_equal(nd4c_array_wait(outputs[2]), ND4C_POISONED);
  nd4c_array_release(bad);
  check_release(inputs, 2);
  check_release(outputs, 3);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void a_moved_plan_runs_on_the_other_stream(void **state) {
  (void)state;
  nd4c_graph *graph = check_make_fork();
  nd4c_context *other = NULL;
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  CHECK_OK(nd4c_context_create(&options, &other));
  (void)stub_control("scratch 4096");
  nd4c_plan *plan = make_fork_plan(graph);
  (void)stub_control("delay 500");
  nd4c_array *inputs[2], *right[3] = {NULL};
  check_make_inputs(graph, 5, inputs);
  check_evaluate(graph, inputs, right);
  const nd4c_array *given[] = {inputs[0], inputs[1]};
  for (int32_t round = 0; round < 6; round++) {
    nd4c_array *outputs[3] = {NULL};
    CHECK_OK(nd4c_plan_move(plan, round % 2 == 0 ? other : stub_context));
    CHECK_OK(nd4c_plan_run(plan, given, 2, outputs, 3));
    for (int32_t i = 0; i < 3; i++) {
      assert_true(check_difference(right[i], outputs[i]) <= 1e-5);
    }
    check_release(outputs, 3);
  }
  nd4c_plan_destroy(plan);
  CHECK_OK(nd4c_context_destroy(other));
  check_release(inputs, 2);
  check_release(right, 3);
  nd4c_graph_destroy(graph);
}

static int64_t scratch_bytes(void) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_memory_get_info(stub_device, &info));
  return info.scratch_bytes;
}

/* Plans and eager calls on one stream, on this thread and another one, use the same scratch. */
static void *square_often(void *failed) {
  const int64_t size = 99;
  nd4c_array *a = NULL;
  *(int *)failed = nd4c_array_full(ND4C_FLOAT32, 1, &size, 3, stub_device, &a) != ND4C_OK;
  for (int32_t i = 0; i < 100; i++) {
    nd4c_array *y = NULL;
    *(int *)failed += nd4c_square_on(stub_context, a, &y) != ND4C_OK;
    nd4c_array_release(y);
  }
  nd4c_array_release(a);
  return NULL;
}

static void scratch_is_the_streams(void **state) {
  (void)state;
  nd4c_graph *graph = check_make_fork();
  (void)stub_control("scratch 4096");
  nd4c_plan *plans[2] = {make_fork_plan(graph), make_fork_plan(graph)};
  nd4c_array *inputs[2], *right[3] = {NULL};
  int failed = 0;
  pthread_t thread;
  check_make_inputs(graph, 5, inputs);
  check_evaluate(graph, inputs, right);
  const nd4c_array *given[] = {inputs[0], inputs[1]};
  assert_int_equal(pthread_create(&thread, NULL, square_often, &failed), 0);
  for (int32_t round = 0; round < 60; round++) {
    nd4c_array *outputs[3] = {NULL};
    CHECK_OK(nd4c_plan_run(plans[round % 2], given, 2, outputs, 3));
    for (int32_t i = 0; i < 3; i++) {
      assert_true(check_difference(right[i], outputs[i]) <= 1e-5);
    }
    check_release(outputs, 3);
  }
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(failed, 0);
  assert_in_range(scratch_bytes(), 4096, 2 * 4096); /* one a thread at most */
  nd4c_plan_destroy(plans[0]);
  nd4c_plan_destroy(plans[1]);
  CHECK_OK(nd4c_context_synchronize(stub_context));
  CHECK_OK(nd4c_memory_trim(stub_device, 0));
  assert_int_equal(scratch_bytes(), 0);
  check_release(inputs, 2);
  check_release(right, 3);
  nd4c_graph_destroy(graph);
}

/* Values without elements in the middle of a plan: `none` is read, made, joined with others and reduced. */
static void values_without_elements_run_on_a_stream(void **state) {
  (void)state;
  static const int64_t nothing[] = {0, 8};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value none = check_input(graph, "none", 2, nothing), x = check_input(graph, "x", 2, shape);
  nd4c_value made = check_unary(graph, ND4C_OP_tanh, none), more = check_unary(graph, ND4C_OP_sin, made);
  nd4c_value joined[] = {more, check_unary(graph, ND4C_OP_cos, x)};
  const nd4c_attr axis = check_int("axis", 0), axes = check_ints("axes", (int64_t[]){0}, 1);
  CHECK_OK(nd4c_graph_output(graph, "joined", check_op(graph, ND4C_OP_concat, joined, 2, &axis, 1)));
  CHECK_OK(nd4c_graph_output(graph, "sum", check_op(graph, ND4C_OP_sum, &made, 1, &axes, 1)));
  CHECK_OK(nd4c_graph_output(graph, "none", check_unary(graph, ND4C_OP_exp, more)));
  nd4c_plan *plan = make_fork_plan(graph);
  nd4c_array *inputs[2], *right[3] = {NULL};
  char *report = NULL;
  CHECK_OK(nd4c_plan_report(plan, &report));
  assert_non_null(strstr(report, "mode: stream"));
  nd4c_free(report);
  check_make_inputs(graph, 9, inputs);
  check_evaluate(graph, inputs, right);
  const nd4c_array *given[] = {inputs[0], inputs[1]};
  for (int32_t round = 0; round < 4; round++) {
    nd4c_array *outputs[3] = {NULL};
    const int64_t fences = stub_counter("fence_record");
    CHECK_OK(nd4c_plan_run(plan, given, 2, outputs, 3));
    assert_true(round == 0 || stub_counter("fence_record") == fences + 1);
    for (int32_t i = 0; i < 2; i++) {
      assert_true(check_difference(right[i], outputs[i]) <= 1e-5);
    }
    CHECK_OK(nd4c_array_wait(outputs[2]));
    assert_int_equal(nd4c_array_size(outputs[2]), 0);
    check_release(outputs, 3);
  }
  check_release(inputs, 2);
  check_release(right, 3);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* All values of a plan may be empty. */
static void a_plan_of_nothing_runs_on_a_stream(void **state) {
  (void)state;
  static const int64_t nothing[] = {3, 0};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value value = check_input(graph, "x", 2, nothing);
  for (int32_t i = 0; i < 5; i++) {
    value = check_unary(graph, i % 2 == 0 ? ND4C_OP_tanh : ND4C_OP_sin, value);
  }
  CHECK_OK(nd4c_graph_output(graph, "y", value));
  nd4c_plan *plan = make_fork_plan(graph);
  nd4c_array *input = NULL, *output = NULL;
  CHECK_OK(nd4c_array_zeros(ND4C_FLOAT32, 2, nothing, NULL, &input));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){input}, 1, &output, 1));
  CHECK_OK(nd4c_array_wait(output));
  assert_int_equal(nd4c_array_size(output), 0);
  nd4c_array_release(input);
  nd4c_array_release(output);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void the_report_names_the_mode(void **state) {
  (void)state;
  nd4c_plan *plan = make_chain(2);
  char *text = NULL;
  CHECK_OK(nd4c_plan_report(plan, &text));
  assert_non_null(strstr(text, "mode: stream"));
  assert_non_null(strstr(text, "not direct: stub:0 is asynchronous"));
  nd4c_free(text);
  nd4c_plan_destroy(plan);
}

int main(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(steps_take_no_lock_and_record_no_fence, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(a_failure_reaches_what_depends_on_it, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(an_input_without_a_value_reaches_what_reads_it, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(a_moved_plan_runs_on_the_other_stream, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(scratch_is_the_streams, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(values_without_elements_run_on_a_stream, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(a_plan_of_nothing_runs_on_a_stream, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(the_report_names_the_mode, stub_test_begin, stub_test_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL) + stub_stop();
}
