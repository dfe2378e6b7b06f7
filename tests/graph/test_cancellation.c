/* Cancellation: a request from another thread, and deadlines, at eager calls, plans in each mode, models' host ops, and
 * inside a kernel. A refused call changes nothing. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "device/stream/cancellation.h"
#include "graph/modes/mode.h"
#include "graph_check.h"
#include "stub_plugin.h"

static const int64_t shape[] = {4, 8};

static int settle(void **state) {
  return stub_test_end(state) + (atomic_load(&nd4c_cancellations_entered) == 0 ? 0 : 1);
}

static nd4c_cancellation *make(void) {
  nd4c_cancellation *cancellation = NULL;
  CHECK_OK(nd4c_cancellation_create(&cancellation));
  return cancellation;
}

static void eager_calls_are_refused(void **state) {
  (void)state;
  nd4c_cancellation *c = make();
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, shape, 1, -1, 1), *y = NULL,
             *kept = check_array(ND4C_FLOAT32, 2, shape, 2, -1, 1);
  float before[32], after[32];
  CHECK_OK(nd4c_array_read(kept, before, sizeof before));
  for (int32_t round = 0; round < 2; round++) { /* a new signature, and a cached one */
    nd4c_context *context = round == 0 ? NULL : stub_context;
    CHECK_OK(nd4c_cancellation_enter(c));
    CHECK_OK(nd4c_tanh_on(context, x, &y));
    nd4c_array_release(y);
    y = NULL;
    CHECK_OK(nd4c_cancellation_request(c));
    assert_int_equal(nd4c_tanh_on(context, x, &y), ND4C_CANCELLED);
    assert_null(y);
    assert_string_equal(nd4c_error_message(), "tanh: cancelled by nd4c_cancellation_request");
    assert_int_equal(nd4c_tanh_on(context, x, &kept), ND4C_CANCELLED);
    assert_int_equal(nd4c_transpose_on(context, x, NULL, 0, &y), ND4C_CANCELLED); /* a view */
    CHECK_OK(nd4c_cancellation_leave(c));
    CHECK_OK(nd4c_tanh_on(context, x, &y)); /* outside of it */
    nd4c_array_release(y);
    y = NULL;
    CHECK_OK(nd4c_cancellation_reset(c));
  }
  CHECK_OK(nd4c_array_read(kept, after, sizeof after));
  assert_memory_equal(before, after, sizeof before);
  nd4c_array_release(x);
  nd4c_array_release(kept);
  nd4c_cancellation_destroy(c);
}

static void deadlines_pass(void **state) {
  (void)state;
  nd4c_cancellation *outer = make(), *inner = make();
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, shape, 1, -1, 1), *y = NULL;
  CHECK_OK(nd4c_cancellation_set_timeout(outer, INT64_MAX));
  CHECK_OK(nd4c_cancellation_enter(outer));
  CHECK_OK(nd4c_cancellation_enter(inner));
  CHECK_OK(nd4c_tanh(x, &y));
  CHECK_OK(nd4c_cancellation_set_timeout(outer, 1)); /* the outer one counts, too */
  while (nd4c_cancellation_check(outer) == ND4C_OK) {
  }
  assert_int_equal(nd4c_tanh(x, &y), ND4C_DEADLINE);
  assert_non_null(strstr(nd4c_error_message(), "tanh: the deadline of nd4c_cancellation_set_timeout passed"));
  CHECK_OK(nd4c_cancellation_set_timeout(outer, 0));
  CHECK_OK(nd4c_tanh(x, &y));
  CHECK_OK(nd4c_cancellation_leave(inner));
  CHECK_OK(nd4c_cancellation_leave(outer));
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_cancellation_destroy(outer);
  nd4c_cancellation_destroy(inner);
}

static void arguments_are_checked(void **state) {
  (void)state;
  nd4c_cancellation *c = make(), *other = make();
  assert_int_equal(nd4c_cancellation_create(NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_cancellation_request(NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_cancellation_enter(NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_cancellation_leave(NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_cancellation_leave(c), ND4C_ARGUMENT);
  assert_int_equal(nd4c_cancellation_set_timeout(c, -1), ND4C_ARGUMENT);
  for (int32_t i = 0; i < ND4C_CANCELLATION_DEPTH; i++) {
    CHECK_OK(nd4c_cancellation_enter(i % 2 == 0 ? c : other));
  }
  assert_int_equal(nd4c_cancellation_enter(c), ND4C_ARGUMENT);
  assert_int_equal(nd4c_cancellation_leave(c), ND4C_ARGUMENT); /* the other one is the last */
  nd4c_cancellation_destroy(other);                            /* the thread keeps it */
  nd4c_cancellation_destroy(NULL);
  for (int32_t i = ND4C_CANCELLATION_DEPTH - 1; i >= 0; i--) {
    CHECK_OK(nd4c_cancellation_leave(i % 2 == 0 ? c : other));
  }
  nd4c_cancellation_destroy(c);
}

/* y = tanh(sin(tanh(... x))) */
static nd4c_graph *make_chain(int32_t length) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  for (int32_t i = 0; i < length; i++) {
    x = check_unary(graph, i % 2 == 0 ? ND4C_OP_tanh : ND4C_OP_sin, x);
  }
  CHECK_OK(nd4c_graph_output(graph, "y", x));
  return graph;
}

typedef struct request {
  nd4c_cancellation *cancellation;
  int64_t microseconds;
  int64_t runs; /* of the stub's kernels, after which the time begins */
} request;

static void *ask_later(void *argument) {
  const request *r = argument;
  const struct timespec time = {.tv_nsec = r->microseconds * 1000};
  while (stub_counter("run") <= r->runs) { /* a busy machine may take long to begin */
    (void)sched_yield();
  }
  (void)nanosleep(&time, NULL);
  CHECK_OK(nd4c_cancellation_request(r->cancellation));
  return NULL;
}

/* A kernel that runs until it is told to stop: alone, and as a step of a plan in each mode. */
static void kernels_are_stopped(void **state) {
  (void)state;
  static const char *const modes[] = {"stream", "arrays"};
  nd4c_device *cpu = NULL;
  CHECK_OK(nd4c_device_find("cpu:0", &cpu));
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, shape, 1, -1, 1), *y = NULL;
  nd4c_graph *graph = make_chain(3);
  for (int32_t i = -1; i < 2; i++) {
    nd4c_device *devices[] = {stub_device, cpu, stub_device};
    nd4c_placement placement = {.struct_size = sizeof placement, .devices = devices, .device_count = 3};
    nd4c_plan_options options = {
        .struct_size = sizeof options, .no_optimization = true, .placement = i == 1 ? &placement : NULL};
    nd4c_plan *plan = NULL;
    request r = {.cancellation = make(), .microseconds = 2000};
    pthread_t thread;
    CHECK_OK(nd4c_plan_create(graph, stub_context, &options, &plan));
    assert_true(i < 0 || strcmp(plan->mode->name, modes[i]) == 0);
    (void)stub_control("endless 1");
    CHECK_OK(nd4c_cancellation_enter(r.cancellation));
    r.runs = stub_counter("run");
    assert_int_equal(pthread_create(&thread, NULL, ask_later, &r), 0);
    nd4c_status status =
        i < 0 ? nd4c_tanh_on(stub_context, x, &y) : nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &y, 1);
    assert_int_equal(status, ND4C_CANCELLED);
    assert_non_null(strstr(nd4c_error_message(), "tanh"));
    assert_null(y);
    assert_int_equal(pthread_join(thread, NULL), 0);
    CHECK_OK(nd4c_cancellation_leave(r.cancellation));
    nd4c_cancellation_destroy(r.cancellation);
    (void)stub_control("reset");
    if (i >= 0) { /* and the plan still works */
      nd4c_array *expected = NULL;
      check_evaluate(graph, &x, &expected);
      CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &y, 1));
      assert_true(check_difference(expected, y) <= 1e-5);
      nd4c_array_release(expected);
      nd4c_array_release(y);
      y = NULL;
    }
    nd4c_plan_destroy(plan);
  }
  nd4c_graph_destroy(graph);
  nd4c_array_release(x);
}

/* A long plan on the host stops between its steps; the array that was given has no value until it is written again. */
static void plans_stop_between_steps(void **state) {
  (void)state;
  const int64_t many[] = {1 << 20};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value value = check_input(graph, "x", 1, many);
  for (int32_t i = 0; i < 400; i++) {
    value = check_unary(graph, i % 2 == 0 ? ND4C_OP_tanh : ND4C_OP_sin, value);
  }
  CHECK_OK(nd4c_graph_output(graph, "y", value));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  assert_string_equal(plan->mode->name, "direct");
  nd4c_array *x = check_array(ND4C_FLOAT32, 1, many, 1, -1, 1), *y = check_array(ND4C_FLOAT32, 1, many, 2, -1, 1);
  nd4c_cancellation *c = make();
  CHECK_OK(nd4c_cancellation_request(c));
  CHECK_OK(nd4c_cancellation_enter(c));
  assert_int_equal(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &y, 1), ND4C_CANCELLED);
  CHECK_OK(nd4c_array_wait(y)); /* refused before it began */
  CHECK_OK(nd4c_cancellation_reset(c));
  CHECK_OK(nd4c_cancellation_set_timeout(c, 3000000)); /* shorter than 400 steps of a million elements */
  assert_int_equal(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &y, 1), ND4C_DEADLINE);
  assert_int_equal(nd4c_array_wait(y), ND4C_POISONED);
  CHECK_OK(nd4c_cancellation_leave(c));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &y, 1));
  CHECK_OK(nd4c_array_wait(y));
  nd4c_cancellation_destroy(c);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  nd4c_array_release(x);
  nd4c_array_release(y);
}

static void *enter_and_end(void *argument) {
  nd4c_cancellation *c = argument;
  CHECK_OK(nd4c_cancellation_enter(c));
  CHECK_OK(nd4c_cancellation_enter(c));
  return NULL;
}

static void threads_are_told_apart(void **state) {
  (void)state;
  nd4c_cancellation *c = make();
  pthread_t thread;
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, shape, 1, -1, 1), *y = NULL;
  CHECK_OK(nd4c_cancellation_request(c));
  assert_int_equal(pthread_create(&thread, NULL, enter_and_end, c), 0);
  CHECK_OK(nd4c_tanh(x, &y)); /* this thread did not enter it */
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(atomic_load(&nd4c_cancellations_entered), 0); /* a thread that ends leaves its cancellations */
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_cancellation_destroy(c);
}

int main(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
#define TEST(function) cmocka_unit_test_setup_teardown(function, stub_test_begin, settle)
  const struct CMUnitTest tests[] = {
      TEST(eager_calls_are_refused), TEST(deadlines_pass),           TEST(arguments_are_checked),
      TEST(kernels_are_stopped),     TEST(plans_stop_between_steps), TEST(threads_are_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL) + stub_stop();
}
