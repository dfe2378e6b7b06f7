/* The results that a failure in flight reaches if one fence covers several commands: in a run of a plan, among calls
 * before any wait, and when a kernel finds an index out of range. Without an OpenCL device the tests are skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "faulty_loader.h"
#include "tests/graph/graph_check.h"

enum { COUNT = 70, CALLS = 9 };
static const int64_t shape[1] = {COUNT};

static nd4c_device *device;
static nd4c_context *context;

/* Each test has a separate stream: after a late wait, submissions have separate fences for a while. */
static int begin(void **state) {
  (void)state;
  const nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  (void)faulty_control("");
  (void)nd4c_device_synchronize(device);
  return nd4c_context_create(&options, &context) == ND4C_OK ? 0 : -1;
}

static int end(void **state) {
  (void)state;
  return nd4c_context_destroy(context) == ND4C_OK ? 0 : -1;
}

static nd4c_array *filled(double value) {
  nd4c_array *array = NULL;
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 1, shape, value, device, &array));
  return array;
}

/* For the step that fails (1 to 4): the outputs that depend on it, and its name in the text. */
static void a_command_reaches_what_depends_on_it(void **state) {
  (void)state;
  static const struct {
    const char *reached, *name;
  } expected[] = {{"ac", "tanh"}, {"bc", "sin"}, {"c", "exp"}, {"c", "add"}};
  nd4c_graph *graph = check_make_fork();
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  nd4c_plan *plan = NULL;
  nd4c_array *inputs[2], *right[3] = {NULL}, *outputs[3] = {NULL};
  CHECK_OK(nd4c_plan_create(graph, context, &options, &plan));
  check_make_inputs(graph, 7, inputs);
  const nd4c_array *given[] = {inputs[0], inputs[1]};
  CHECK_OK(nd4c_plan_run(plan, given, 2, right, 3)); /* copies the inputs to the device, and builds the kernels */
  for (int i = 0; i < 3; i++) {
    CHECK_OK(nd4c_array_wait(right[i]));
  }
  for (int step = 1; step <= 4; step++) {
    char command[64];
    const long before = faulty_count("clEnqueueNDRangeKernel");
    (void)snprintf(command, sizeof command, "clEnqueueNDRangeKernel:%d:-5:lost", step);
    assert_int_equal(faulty_control(command), 0);
    CHECK_OK(nd4c_plan_run(plan, given, 2, outputs, 3));
    assert_int_equal(faulty_count("clEnqueueNDRangeKernel") - before, 4);
    assert_int_equal(faulty_control(""), 0);
    for (int i = 0; i < 3; i++) {
      const bool fails = strchr(expected[step - 1].reached, 'a' + i) != NULL;
      const nd4c_status status = nd4c_array_wait(outputs[i]);
      if (fails != (status != ND4C_OK) || (fails && strstr(nd4c_error_message(), expected[step - 1].name) == NULL)) {
        fail_msg("step %d fails: output %c has status %d: %s", step, 'a' + i, (int)status, nd4c_error_message());
      }
      assert_true(fails || check_difference(right[i], outputs[i]) == 0);
    }
    check_release(outputs, 3);
  }
  check_release(inputs, 2);
  check_release(right, 3);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* Three chains in turn, one fence for all: the k-th call fails, and with it the later calls in its chain. */
static void a_call_reaches_what_depends_on_it(void **state) {
  (void)state;
  nd4c_array *one = filled(1);
  for (int failing = 0; failing < CALLS; failing++) {
    nd4c_array *made[CALLS] = {NULL};
    char command[64];
    (void)nd4c_device_synchronize(device);
    const long markers = faulty_count("clEnqueueMarkerWithWaitList");
    (void)snprintf(command, sizeof command, "clEnqueueNDRangeKernel:%d:-5:lost", failing + 1);
    assert_int_equal(faulty_control(command), 0);
    for (int i = 0; i < CALLS; i++) {
      CHECK_OK(nd4c_square_on(context, i < 3 ? one : made[i - 3], &made[i]));
    }
    assert_int_equal(faulty_control(""), 0);
    for (int i = CALLS - 1; i >= 0; i--) {
      const bool fails = i >= failing && i % 3 == failing % 3;
      const nd4c_status status = nd4c_array_wait(made[i]);
      assert_int_equal(status, !fails ? ND4C_OK : i == failing ? ND4C_DEVICE : ND4C_POISONED);
      assert_true(!fails || strstr(nd4c_error_message(), "square failed on opencl:0") != NULL);
    }
    assert_int_equal(faulty_count("clEnqueueMarkerWithWaitList") - markers, 1);
    for (int i = 0; i < CALLS; i++) {
      nd4c_array_release(made[i]);
    }
  }
  nd4c_array_release(one);
}

/* x at the positions of an array, one of which may be out of range. */
static void gather(const nd4c_array *x, bool good, nd4c_array **y) {
  int64_t places[COUNT] = {0};
  nd4c_array *inputs[2] = {NULL, NULL};
  places[COUNT / 2] = good ? 1 : 5000;
  CHECK_OK(nd4c_array_from_data(ND4C_INT64, 1, shape, places, device, &inputs[1]));
  const nd4c_array *given[] = {x, inputs[1]};
  CHECK_OK(nd4c_op_call(context, ND4C_OP_gather, given, 2, NULL, 0, y, 1));
  nd4c_array_release(inputs[1]);
}

/* An index out of range is reported for the call that had it, although one fence covers other calls that could have had
 * one. */
static void a_fault_is_told_of_its_call(void **state) {
  (void)state;
  nd4c_array *x = filled(3), *good[CALLS] = {NULL}, *bad = NULL, *after = NULL;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < CALLS; i++) {
      gather(x, true, &good[i]);
      if (i == 3 * round) {
        gather(x, false, &bad);
        CHECK_OK(nd4c_square_on(context, bad, &after));
      }
    }
    for (int i = CALLS - 1; i >= 0; i--) {
      CHECK_OK(nd4c_array_wait(good[i]));
    }
    assert_int_equal(nd4c_array_wait(bad), ND4C_INDEX);
    assert_non_null(strstr(nd4c_error_message(), "gather: index 5000 is out of range for length 70"));
    assert_int_equal(nd4c_array_wait(after), ND4C_POISONED);
    for (int i = 0; i < CALLS; i++) {
      nd4c_array_release(good[i]);
      good[i] = NULL;
    }
    nd4c_array_release(bad);
    nd4c_array_release(after);
    bad = after = NULL;
  }
  nd4c_array_release(x);
}

/* More calls than fault buffers: a fault in the last buffer counts for all calls that share it, and for no other. */
static void more_calls_than_fault_buffers(void **state) {
  (void)state;
  enum { BUFFERS = 32, MANY = BUFFERS + 8 };
  nd4c_array *x = filled(3), *made[MANY] = {NULL}, *square = NULL;
  CHECK_OK(nd4c_square_on(context, x, &square));
  for (int i = 0; i < MANY; i++) {
    gather(x, i != MANY - 2, &made[i]);
  }
  for (int i = MANY - 1; i >= 0; i--) {
    const nd4c_status status = nd4c_array_wait(made[i]);
    assert_int_equal(status, i < BUFFERS - 1 ? ND4C_OK : ND4C_INDEX);
    nd4c_array_release(made[i]);
  }
  CHECK_OK(nd4c_array_wait(square));
  nd4c_array_release(square);
  nd4c_array_release(x);
}

int main(void) {
  if (faulty_start(&device) != ND4C_OK) {
    (void)printf("no OpenCL device: %s\n", nd4c_error_message());
    return 77;
  }
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
  const struct CMUnitTest tests[] = {TEST(a_command_reaches_what_depends_on_it),
                                     TEST(a_call_reaches_what_depends_on_it), TEST(a_fault_is_told_of_its_call),
                                     TEST(more_calls_than_fault_buffers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
