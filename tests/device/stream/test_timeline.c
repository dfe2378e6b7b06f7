/* Timelines on the stub: the number of recorded vendor fences, and the results that a failure reported by one of them
 * reaches. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/context/context.h"
#include "device/stream/fence.h"
#include "device/stub_plugin.h"

enum { COUNT = 8 };
static const int64_t shape[1] = {COUNT};

static nd4c_array *filled(double value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, value, stub_device, &array), ND4C_OK);
  return array;
}

static void assert_all(const nd4c_array *array, float expected) {
  float values[COUNT];
  assert_int_equal(nd4c_array_read(array, values, sizeof values), ND4C_OK);
  for (int i = 0; i < COUNT; i++) {
    assert_true(values[i] == expected);
  }
}

static int64_t fences_since(int64_t before) {
  return stub_counter("fence_record") - before;
}

/* A device that cannot report which call failed gets a fence after each call. */
static bool tells_points(void) {
  const char *points = getenv("STUB_POINTS");
  return points == NULL || strcmp(points, "none") != 0;
}

static nd4c_context *make_context(void) {
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  nd4c_context *context = NULL;
  assert_int_equal(nd4c_context_create(&options, &context), ND4C_OK);
  return context;
}

/* -- how many ------------------------------------------------------------------------------------------------------ */

static void a_chain_needs_few_fences(void **state) {
  (void)state;
  enum { LENGTH = 1000 };
  nd4c_array *one = filled(1), *x = filled(0);
  stub_settle();
  const int64_t before = stub_counter("fence_record");
  for (int i = 0; i < LENGTH; i++) {
    nd4c_array *next = NULL;
    assert_int_equal(nd4c_add_on(stub_context, x, one, &next), ND4C_OK);
    nd4c_array_release(x);
    x = next;
  }
  assert_int_equal(nd4c_array_wait(x), ND4C_OK);
  print_message("%d calls and a wait: %lld fences\n", (int)LENGTH, (long long)fences_since(before));
  if (tells_points()) {
    assert_in_range(fences_since(before), 1, 2);
  } else {
    assert_int_equal(fences_since(before), LENGTH);
  }
  assert_all(x, LENGTH);
  nd4c_array_release(one);
  nd4c_array_release(x);
}

/* While no caller asks, a fence of every 512th call lets finished work be seen as such. */
static void unasked_work_has_a_fence_now_and_then(void **state) {
  (void)state;
  enum { LENGTH = 1200 };
  nd4c_array *one = filled(1), *x = filled(0);
  stub_settle();
  const int64_t before = stub_counter("fence_record"), waits = stub_counter("host_waits");
  stub_order("pause until_wait");
  for (int i = 0; i < LENGTH; i++) {
    assert_int_equal(nd4c_add_on(stub_context, x, one, &x), ND4C_OK);
  }
  assert_int_equal(fences_since(before), tells_points() ? LENGTH / 512 : LENGTH);
  assert_int_equal(stub_counter("host_waits"), waits);
  assert_all(x, LENGTH);
  nd4c_array_release(one);
  nd4c_array_release(x);
}

/* Repeated questions ask one fence. */
static void asking_records_one_fence(void **state) {
  (void)state;
  nd4c_array *one = filled(1), *x = NULL;
  stub_settle();
  const int64_t before = stub_counter("fence_record");
  stub_order("pause");
  assert_int_equal(nd4c_add_on(stub_context, one, one, &x), ND4C_OK);
  for (int asked = 0; asked < 100; asked++) {
    assert_false(nd4c_array_is_ready(x, stub_device));
  }
  assert_int_equal(fences_since(before), 1);
  stub_order("resume");
  while (!nd4c_array_is_ready(x, stub_device)) {
  }
  assert_int_equal(fences_since(before), 1);
  assert_all(x, 2);
  nd4c_array_release(one);
  nd4c_array_release(x);
}

static void another_stream_records_one_fence(void **state) {
  (void)state;
  nd4c_context *other = make_context();
  nd4c_array *one = filled(1), *x[4] = {NULL}, *y[4] = {NULL};
  stub_settle();
  const int64_t before = stub_counter("fence_record"), waits = stub_counter("stream_wait_fence");
  stub_order("pause until_wait");
  stub_order("delay 5000");
  for (int i = 0; i < 4; i++) {
    assert_int_equal(nd4c_add_on(stub_context, i == 0 ? one : x[i - 1], one, &x[i]), ND4C_OK);
  }
  if (tells_points()) {
    assert_int_equal(fences_since(before), 0);
  }
  assert_int_equal(nd4c_add_on(other, x[3], one, &y[3]), ND4C_OK);
  if (tells_points()) {
    assert_int_equal(fences_since(before), 1);
    assert_int_equal(stub_counter("stream_wait_fence") - waits, 1);
  }
  for (int i = 0; i < 3; i++) { /* the existing fence covers these, too */
    assert_int_equal(nd4c_add_on(other, x[i], one, &y[i]), ND4C_OK);
  }
  if (tells_points()) {
    assert_int_equal(fences_since(before), 1);
  }
  (void)stub_control("delay 0");
  for (int i = 0; i < 4; i++) {
    assert_all(y[i], (float)(3 + i));
    nd4c_array_release(x[i]);
    nd4c_array_release(y[i]);
  }
  nd4c_array_release(one);
  assert_int_equal(nd4c_context_destroy(other), ND4C_OK);
}

/* A read of a result after the next submission waits for both, and a second read does not wait. */
static void a_step_is_read_behind_the_next(void **state) {
  (void)state;
  nd4c_context *context = make_context(); /* whose stream has not been waited for */
  nd4c_array *one = filled(1), *result = NULL, *next = NULL;
  stub_settle();
  for (int round = 0; round < 4; round++) {
    const int64_t before = stub_counter("fence_record");
    stub_order("pause until_wait");
    assert_int_equal(nd4c_add_on(context, one, one, &result), ND4C_OK);
    assert_int_equal(nd4c_negative_on(context, one, &next), ND4C_OK);
    assert_int_equal(fences_since(before), round == 0 && tells_points() ? 0 : 2);
    assert_all(result, 2);
    assert_all(next, -1);
  }
  nd4c_array_release(one);
  nd4c_array_release(result);
  nd4c_array_release(next);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

/* Records of work whose results were released do not accumulate. */
static void unobserved_work_is_let_go(void **state) {
  (void)state;
  nd4c_array *one = filled(1), *x = NULL;
  for (int i = 0; i < 20000; i++) {
    assert_int_equal(nd4c_add_on(stub_context, one, one, &x), ND4C_OK);
    nd4c_array_release(x);
    x = NULL;
    if (i % 1000 == 999) {
      nd4c_memory_info info = {.struct_size = sizeof info};
      assert_int_equal(nd4c_memory_get_info(stub_device, &info), ND4C_OK);
      assert_true(info.live_bytes < 3000 * 256);
      assert_true(stub_counter("fences") <= (tells_points() ? 8 : 2100));
    }
  }
  nd4c_array_release(one);
}

/* -- failures ------------------------------------------------------------------------------------------------------ */

enum { CALLS = 40, CHAINS = 3 };

static const char *name_of(int call) {
  return call % 2 == 0 ? "square" : "negative";
}

/* Three chains, call after call in turn. */
static void make_chains(nd4c_context *context, nd4c_array *one, nd4c_array **made) {
  stub_order("pause until_wait"); /* no failure is known before all are submitted */
  for (int i = 0; i < CALLS; i++) {
    nd4c_array *from = i < CHAINS ? one : made[i - CHAINS];
    assert_int_equal(i % 2 == 0 ? nd4c_square_on(context, from, &made[i]) : nd4c_negative_on(context, from, &made[i]),
                     ND4C_OK);
  }
}

/* Whether the call is the other one or depends on it. */
static bool depends(int call, int on) {
  return call >= on && call % CHAINS == on % CHAINS;
}

/* Fails unless exactly the results of calls that depend on one of the two have no value, with the failure's text. */
static void check_chains(nd4c_array *const *made, int first, int second) {
  for (int i = CALLS - 1; i >= 0; i--) {
    const bool by_first = depends(i, first), fails = by_first || depends(i, second);
    const int root = by_first ? first : second;
    const nd4c_status expected = !fails ? ND4C_OK : i == root ? ND4C_DEVICE : ND4C_POISONED;
    const nd4c_status status = nd4c_array_wait(made[i]);
    char text[32];
    (void)snprintf(text, sizeof text, "%s failed on", name_of(root));
    if (status != expected || (fails && strstr(nd4c_error_message(), text) == NULL)) {
      fail_msg("calls %d and %d fail, call %d has status %d: %s", first, second, i, (int)status, nd4c_error_message());
    }
  }
}

/* The k-th of n calls before any wait, and two of them, behind one vendor fence. */
static void a_failure_reaches_its_dependants(void **state) {
  (void)state;
  static const int cases[][2] = {{0, 0}, {1, 0}, {16, 0}, {39, 0}, {4, 4}, {5, 9}, {20, 1}};
  nd4c_array *one = filled(1);
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    nd4c_array *made[CALLS] = {NULL};
    char command[64];
    stub_settle();
    const int64_t before = stub_counter("fence_record");
    (void)snprintf(command, sizeof command, cases[c][1] > 0 ? "fail in_flight:%d+%d" : "fail in_flight:%d",
                   cases[c][0] + 1, cases[c][1]);
    assert_int_equal(stub_control(command), ND4C_OK);
    make_chains(stub_context, one, made);
    check_chains(made, cases[c][0], cases[c][0] + cases[c][1]);
    assert_int_equal(fences_since(before), tells_points() ? 1 : CALLS);
    (void)stub_control("reset");
    assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK); /* all failures were reported */
    for (int i = 0; i < CALLS; i++) {
      nd4c_array_release(made[i]);
    }
  }
  nd4c_array_release(one);
}

/* synchronize reports a failure of work whose results were released, with its op's name, whatever other work the fence
 * covers. */
static void a_lost_failure_is_told(void **state) {
  (void)state;
  nd4c_array *one = filled(1), *made[CALLS] = {NULL};
  stub_settle();
  (void)stub_control("fail in_flight:18");
  make_chains(stub_context, one, made);
  for (int i = 0; i < CALLS; i++) {
    nd4c_array_release(made[i]);
  }
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_POISONED); /* the end of the chain */
  assert_non_null(strstr(nd4c_error_message(), "negative failed on stub:0"));
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
  nd4c_array_release(one);
}

/* A run of a plan and calls before and after it, without a wait in between. */
static void a_plan_between_calls_is_told_apart(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value x = 0, y = 0, z = 0;
  assert_int_equal(nd4c_graph_create(&graph), ND4C_OK);
  assert_int_equal(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 1, shape, &x), ND4C_OK);
  assert_int_equal(nd4c_graph_op(graph, ND4C_OP_square, &x, 1, NULL, 0, NULL, &y, 1), ND4C_OK);
  assert_int_equal(nd4c_graph_op(graph, ND4C_OP_tanh, &x, 1, NULL, 0, NULL, &z, 1), ND4C_OK);
  assert_int_equal(nd4c_graph_output(graph, "y", y), ND4C_OK);
  assert_int_equal(nd4c_graph_output(graph, "z", z), ND4C_OK);
  assert_int_equal(nd4c_plan_create(graph, stub_context, NULL, &plan), ND4C_OK);
  nd4c_array *one = filled(1);
  for (int failing = 0; failing < 4; failing++) {
    nd4c_array *made[4] = {NULL}; /* a call, the plan's two outputs, a call */
    const nd4c_array *given[] = {one};
    char command[32];
    stub_settle();
    (void)snprintf(command, sizeof command, "fail in_flight:%d", failing + 1);
    assert_int_equal(stub_control(command), ND4C_OK);
    stub_order("pause until_wait");
    assert_int_equal(nd4c_negative_on(stub_context, one, &made[0]), ND4C_OK);
    assert_int_equal(nd4c_plan_run(plan, given, 1, &made[1], 2), ND4C_OK);
    assert_int_equal(nd4c_sqrt_on(stub_context, one, &made[3]), ND4C_OK);
    static const char *const names[] = {"negative", "square", "tanh", "sqrt"};
    for (int i = 0; tells_points() && i < 4; i++) {
      const nd4c_status status = nd4c_array_wait(made[i]);
      assert_int_equal(status, i == failing ? ND4C_DEVICE : ND4C_OK);
      assert_true(status == ND4C_OK || strstr(nd4c_error_message(), names[i]) != NULL);
    }
    (void)stub_control("reset");
    for (int i = 0; i < 4; i++) {
      nd4c_array_release(made[i]);
    }
  }
  nd4c_array_release(one);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* Another thread's calls on the same stream. */
typedef struct caller {
  pthread_t thread;
  nd4c_array *one;
  nd4c_array *made[CALLS];
} caller;

static void *call(void *argument) {
  caller *c = argument;
  for (int i = 0; i < CALLS; i++) {
    if (nd4c_square_on(stub_context, i == 0 ? c->one : c->made[i - 1], &c->made[i]) != ND4C_OK) {
      abort();
    }
  }
  return NULL;
}

/* Whichever thread's call fails, its result and the results after it in its chain have no value. */
static void threads_on_one_stream_are_told_apart(void **state) {
  (void)state;
  enum { THREADS = 4 };
  for (int round = 0; round < 20; round++) {
    caller callers[THREADS] = {{0}};
    char command[32];
    int left = 0;
    for (int i = 0; i < THREADS; i++) {
      callers[i].one = filled(1);
    }
    stub_settle();
    (void)snprintf(command, sizeof command, "fail in_flight:%d", 1 + 7 * round);
    assert_int_equal(stub_control(command), ND4C_OK);
    stub_order("pause until_wait");
    for (int i = 0; i < THREADS; i++) {
      assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
      assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
      bool failed = false;
      for (int k = 0; k < CALLS; k++) {
        const nd4c_status status = nd4c_array_wait(callers[i].made[k]);
        assert_int_equal(status, failed ? ND4C_POISONED : status);
        if (tells_points()) {
          assert_true(status == ND4C_OK || status == ND4C_POISONED || !failed);
        }
        left += status == ND4C_DEVICE;
        failed = failed || status != ND4C_OK;
        nd4c_array_release(callers[i].made[k]);
      }
      nd4c_array_release(callers[i].one);
    }
    assert_true(!tells_points() || left == 1);
    (void)stub_control("reset");
  }
}

/* A vendor fence that cannot be recorded: the library waits for the work in another way. */
static void a_fence_that_fails(void **state) {
  (void)state;
  if (!tells_points()) {
    skip(); /* the call itself fails then: test_calls.c */
  }
  nd4c_context *context = make_context(); /* whose stream has not been waited for */
  nd4c_array *one = filled(1), *x = NULL, *y = NULL;
  stub_settle();
  (void)stub_control("fail fence_record:1");
  assert_int_equal(nd4c_square_on(context, one, &x), ND4C_OK);
  assert_int_equal(nd4c_array_wait(x), ND4C_OK); /* the second one does not fail */
  (void)stub_control("fail fence_record:0");
  assert_int_equal(nd4c_negative_on(context, x, &y), ND4C_OK);
  assert_int_equal(nd4c_array_wait(y), ND4C_DEVICE);
  assert_non_null(strstr(nd4c_error_message(), "negative failed on stub:0: "));
  assert_non_null(strstr(nd4c_error_message(), "fence_record was told to fail"));
  (void)stub_control("reset");
  assert_all(x, 1);
  nd4c_array_release(one);
  nd4c_array_release(x);
  nd4c_array_release(y);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

/* A thread submits work to the stream after a run of another thread, and before that thread makes the fences of the
 * run's results: who waits for a result does not wait for that work. */
static void a_part_does_not_wait_for_later_work(void **state) {
  (void)state;
  nd4c_array *one = filled(1), *later = NULL;
  nd4c_timeline *timeline = NULL;
  nd4c_fence_work work = {.op = "a run"};
  nd4c_shared_fence *run = NULL, *part = NULL;
  stub_settle();
  assert_int_equal(nd4c_fence_steps_make(1, 1, &work.steps), ND4C_OK);
  assert_int_equal(nd4c_timeline_of(stub_device, stub_context->stream, &timeline), ND4C_OK);
  assert_int_equal(nd4c_fence_submit(timeline, &work, &run), ND4C_OK);
  assert_int_equal(nd4c_fence_wait(run), ND4C_OK);
  stub_order("pause until_wait");
  assert_int_equal(nd4c_add_on(stub_context, one, one, &later), ND4C_OK);
  assert_int_equal(nd4c_fence_make_part(run, 0, NULL, 0, &part), ND4C_OK);
  assert_int_equal(nd4c_fence_wait(part), ND4C_OK);
  assert_false(nd4c_array_is_ready(later, stub_device));
  assert_all(later, 2);
  nd4c_fence_release(part);
  nd4c_fence_release(run);
  nd4c_fence_steps_release(work.steps);
  nd4c_array_release(later);
  nd4c_array_release(one);
}

/* A wait that the device refuses is told, unless a failure of its work is. */
static void a_device_that_does_not_wait_is_told(void **state) {
  (void)state;
  nd4c_array *one = filled(1);
  stub_settle();
  stub_order("fail synchronize:0:600");
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_DEVICE);
  assert_non_null(strstr(nd4c_error_message(), "synchronize was told to fail"));
  stub_order("reset");
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
  assert_all(one, 1);
  nd4c_array_release(one);
}

int main(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
#define TEST(name) cmocka_unit_test_setup_teardown(name, stub_test_begin, stub_test_end)
  const struct CMUnitTest tests[] = {
      TEST(a_chain_needs_few_fences),
      TEST(unasked_work_has_a_fence_now_and_then),
      TEST(asking_records_one_fence),
      TEST(another_stream_records_one_fence),
      TEST(a_step_is_read_behind_the_next),
      TEST(unobserved_work_is_let_go),
      TEST(a_failure_reaches_its_dependants),
      TEST(a_lost_failure_is_told),
      TEST(a_plan_between_calls_is_told_apart),
      TEST(threads_on_one_stream_are_told_apart),
      TEST(a_part_does_not_wait_for_later_work),
      TEST(a_fence_that_fails),
      TEST(a_device_that_does_not_wait_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL) + stub_stop();
}
