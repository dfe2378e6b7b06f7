/* Plans whose steps a device records and launches: when it records, what a launch computes, what happens if a recording
 * fails, and the driver's state machine for recordings. Argument: the value of STUB_CAPTURE, "all" without one. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "device/driver.h"
#include "device/stream/capture.h"
#include "graph/modes/mode.h"
#include "graph_check.h"
#include "stub_plugin.h"

static const int64_t shape[] = {4, 8};
static const char *capture = "all";

enum { STEPS = 4, INPUTS = 2, OUTPUTS = 3 };

/* A plan with its inputs and outputs. Outputs are given from the second run on, so their addresses stay. */
typedef struct scene {
  nd4c_graph *graph;
  nd4c_plan *plan;
  nd4c_array *inputs[INPUTS], *outputs[OUTPUTS];
} scene;

static void begin_scene(scene *s, const char *mode) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  *s = (scene){.graph = check_make_fork()};
  CHECK_OK(nd4c_plan_create(s->graph, stub_context, &options, &s->plan));
  assert_string_equal(s->plan->mode->name, mode);
  check_make_inputs(s->graph, 7, s->inputs);
}

static void end_scene(scene *s) {
  nd4c_plan_destroy(s->plan);
  check_release(s->inputs, INPUTS);
  check_release(s->outputs, OUTPUTS);
  nd4c_graph_destroy(s->graph);
}

static nd4c_status run_scene(scene *s) {
  const nd4c_array *given[] = {s->inputs[0], s->inputs[1]};
  return nd4c_plan_run(s->plan, given, INPUTS, s->outputs, OUTPUTS);
}

static void check_outputs(scene *s) {
  nd4c_array *right[OUTPUTS] = {NULL};
  check_evaluate(s->graph, s->inputs, right);
  for (int32_t i = 0; i < OUTPUTS; i++) {
    assert_true(check_difference(right[i], s->outputs[i]) <= 1e-5);
  }
  check_release(right, OUTPUTS);
}

static void run_right(scene *s) {
  CHECK_OK(run_scene(s));
  check_outputs(s);
}

/* Calls of the plug-in since `before`, which is brought up to date. */
typedef struct calls {
  int64_t run, capture_begin, instantiate, capture_update, launch;
} calls;

static calls count_calls(calls *before) {
  const calls now = {stub_counter("run"), stub_counter("capture_begin"), stub_counter("instantiate"),
                     stub_counter("capture_update"), stub_counter("launch")};
  const calls since = {now.run - before->run, now.capture_begin - before->capture_begin,
                       now.instantiate - before->instantiate, now.capture_update - before->capture_update,
                       now.launch - before->launch};
  *before = now;
  return since;
}

#define CHECK_CALLS(before, runs, begins, instantiates, updates, launches) \
  do {                                                                     \
    const calls c_ = count_calls(before);                                  \
    assert_int_equal(c_.run, runs);                                        \
    assert_int_equal(c_.capture_begin, begins);                            \
    assert_int_equal(c_.instantiate, instantiates);                        \
    assert_int_equal(c_.capture_update, updates);                          \
    assert_int_equal(c_.launch, launches);                                 \
  } while (0)

static void write_values(nd4c_array *array, float first) {
  float values[32];
  for (int32_t i = 0; i < 32; i++) {
    values[i] = first + (float)i / 64;
  }
  CHECK_OK(nd4c_array_write(array, values, sizeof values));
}

static bool can_update(void) {
  const char *lie = getenv("STUB_LIE");
  return lie == NULL || strcmp(lie, "old_capture") != 0;
}

static int64_t scratch_bytes(void) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_memory_get_info(stub_device, &info));
  return info.scratch_bytes;
}

/* -- tests ------------------------------------------------------------------------------------------------------- */

/* The first run enqueues, the second one records and launches, later ones launch. After a change of address this starts
 * again. */
static void steps_are_recorded_once(void **state) {
  (void)state;
  scene s;
  begin_scene(&s, "capture");
  run_right(&s);
  calls before = {0};
  (void)count_calls(&before);
  run_right(&s); /* the outputs exist from here on, and their addresses are known */
  CHECK_CALLS(&before, STEPS, 1, 1, 0, 1);
  for (int32_t i = 0; i < 3; i++) {
    write_values(s.inputs[0], 0.25f * (float)i); /* the address stays */
    run_right(&s);
  }
  CHECK_CALLS(&before, 0, 0, 0, 0, 3);
  nd4c_array *other = check_array(ND4C_FLOAT32, 2, shape, 99, -1, 1), *first = s.inputs[1];
  s.inputs[1] = other;
  run_right(&s);
  CHECK_CALLS(&before, STEPS, 0, 0, 0, 0);
  run_right(&s);
  run_right(&s);
  CHECK_CALLS(&before, STEPS, 1, can_update() ? 0 : 1, can_update() ? 1 : 0, 2);
  char *text = NULL;
  CHECK_OK(nd4c_plan_report(s.plan, &text));
  assert_non_null(strstr(text, "mode: capture"));
  assert_non_null(strstr(text, "8 runs: 2 recorded the steps, 6 launched them"));
  nd4c_free(text);
  nd4c_array_release(first);
  end_scene(&s);
}

/* For the step that fails (1 to 4) in a launch: the outputs that depend on it, and its name in the text. */
static void a_failure_reaches_what_depends_on_it(void **state) {
  (void)state;
  static const struct {
    const char *reached, *name;
  } expected[] = {{"ac", "tanh"}, {"bc", "sin"}, {"c", "exp"}, {"c", "add"}};
  scene s;
  begin_scene(&s, "capture");
  run_right(&s);
  run_right(&s);
  for (int32_t step = 1; step <= STEPS; step++) {
    nd4c_array *right[OUTPUTS] = {NULL};
    calls before = {0};
    char command[32];
    check_evaluate(s.graph, s.inputs, right);
    (void)snprintf(command, sizeof command, "fail in_flight:%d", step);
    (void)count_calls(&before);
    assert_int_equal(stub_control(command), 0);
    CHECK_OK(run_scene(&s));
    CHECK_CALLS(&before, 0, 0, 0, 0, 1);
    for (int32_t i = 0; i < OUTPUTS; i++) {
      bool fails = strchr(expected[step - 1].reached, 'a' + i) != NULL;
      nd4c_status status = nd4c_array_wait(s.outputs[i]);
      if (fails != (status != ND4C_OK) || (fails && strstr(nd4c_error_message(), expected[step - 1].name) == NULL)) {
        fail_msg("step %d fails: output %c has status %d: %s", step, 'a' + i, (int)status, nd4c_error_message());
      }
      assert_true(fails || check_difference(right[i], s.outputs[i]) <= 1e-5);
    }
    (void)stub_control("reset");
    run_right(&s);
    check_release(right, OUTPUTS);
  }
  end_scene(&s);
}

/* If a recording cannot be made, runs continue step by step, and the report says why. */
static void a_recording_that_fails_costs_no_run(void **state) {
  (void)state;
  static const char *const faults[] = {"capture_begin:1",
                                       "capture_end:1",
                                       "instantiate:1",
                                       "run:1",
                                       "run:3",
                                       "capture_begin:1:500",
                                       "stream_create:1",
                                       "stream_create:1:12345",
                                       "capture_begin:1:12345",
                                       "capture_end:1:12345",
                                       "instantiate:1:12345"};
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    scene s;
    char command[64], *text = NULL;
    calls before = {0};
    begin_scene(&s, "capture");
    run_right(&s);
    stub_settle(); /* no stream is idle: the recording needs one */
    (void)snprintf(command, sizeof command, "fail %s", faults[i]);
    assert_int_equal(stub_control(command), 0);
    run_right(&s);
    (void)stub_control("reset");
    (void)count_calls(&before);
    run_right(&s);
    CHECK_CALLS(&before, STEPS, 0, 0, 0, 0);
    CHECK_OK(nd4c_plan_report(s.plan, &text));
    if (strstr(text, "recording failed, steps are enqueued one by one: ") == NULL ||
        strstr(text, "told to fail") == NULL ||
        (strstr(faults[i], "12345") != NULL) != (strstr(text, "returned 12345, which is not a status") != NULL)) {
      fail_msg("after %s the report is: %s", faults[i], text);
    }
    nd4c_free(text);
    end_scene(&s);
  }
}

/* After a failed update the run enqueues its steps one by one; if the device does not support the update, the run
 * instantiates another launchable. */
static void an_update_that_fails_costs_no_run(void **state) {
  (void)state;
  if (!can_update()) {
    skip();
  }
  static const struct {
    const char *command;
    int32_t instantiates, launches;
  } cases[] = {{"fail capture_update:1", 0, 0}, {"fail capture_update:1:210", 1, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    scene s;
    calls before = {0};
    begin_scene(&s, "capture");
    (void)stub_control("delay 200"); /* the launch before is under way */
    CHECK_OK(run_scene(&s));
    CHECK_OK(run_scene(&s));
    nd4c_array *first = s.inputs[0];
    s.inputs[0] = check_array(ND4C_FLOAT32, 2, shape, 3, -1, 1);
    CHECK_OK(run_scene(&s));
    (void)count_calls(&before);
    assert_int_equal(stub_control(cases[i].command), 0);
    run_right(&s);
    const calls since = count_calls(&before);
    assert_int_equal(since.instantiate, cases[i].instantiates);
    assert_int_equal(since.launch, cases[i].launches);
    (void)stub_control("reset");
    run_right(&s);
    nd4c_array_release(first);
    end_scene(&s);
  }
}

static void a_launch_that_fails_fails_the_run(void **state) {
  (void)state;
  scene s;
  begin_scene(&s, "capture");
  run_right(&s);
  run_right(&s);
  assert_int_equal(stub_control("fail launch:1"), 0);
  assert_int_equal(run_scene(&s), ND4C_DEVICE);
  assert_non_null(strstr(nd4c_error_message(), "launching 4 recorded steps"));
  assert_non_null(strstr(nd4c_error_message(), "told to fail"));
  (void)stub_control("reset");
  run_right(&s);
  end_scene(&s);
}

static void a_plan_may_go_while_a_launch_is_under_way(void **state) {
  (void)state;
  scene s;
  begin_scene(&s, "capture");
  run_right(&s);
  run_right(&s);
  (void)stub_control("delay 3000");
  CHECK_OK(run_scene(&s));
  nd4c_plan_destroy(s.plan);
  s.plan = NULL;
  check_outputs(&s);
  end_scene(&s);
}

/* The recording belongs to a stream; on another stream the plan makes another one. */
static void a_moved_plan_records_anew(void **state) {
  (void)state;
  scene s;
  nd4c_context *other = NULL;
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  CHECK_OK(nd4c_context_create(&options, &other));
  begin_scene(&s, "capture");
  (void)stub_control("delay 300");
  for (int32_t round = 0; round < 6; round++) {
    CHECK_OK(nd4c_plan_move(s.plan, round % 2 == 0 ? other : stub_context));
    for (int32_t i = 0; i < 3; i++) {
      CHECK_OK(run_scene(&s));
    }
    check_outputs(&s);
  }
  end_scene(&s);
  CHECK_OK(nd4c_context_destroy(other));
}

/* If acquiring an input fails, the plan must not keep using a recording with the old address. */
static void a_refused_run_leaves_no_stale_recording(void **state) {
  (void)state;
  scene s;
  begin_scene(&s, "capture");
  run_right(&s);
  run_right(&s);
  nd4c_array *first[INPUTS] = {s.inputs[0], s.inputs[1]}, *bad = NULL;
  s.inputs[0] = check_array(ND4C_FLOAT32, 2, shape, 17, -1, 1);
  assert_int_equal(stub_control("fail in_flight:1"), 0);
  CHECK_OK(nd4c_cos_on(stub_context, s.inputs[0], &bad));
  assert_int_not_equal(nd4c_array_wait(bad), ND4C_OK);
  (void)stub_control("reset");
  s.inputs[1] = bad;
  assert_int_equal(run_scene(&s), ND4C_POISONED);
  nd4c_array *kept = s.inputs[0];
  s.inputs[0] = first[0];
  s.inputs[1] = first[1];
  check_outputs(&s); /* from the previous run: nothing was written */
  s.inputs[0] = kept;
  for (int32_t i = 0; i < 3; i++) {
    run_right(&s);
  }
  nd4c_array_release(bad);
  nd4c_array_release(first[0]);
  end_scene(&s);
}

static void a_property_switches_it_off(void **state) {
  (void)state;
  scene s;
  char *text = NULL;
  CHECK_OK(nd4c_config_set("nd4c.plan.capture", "false"));
  begin_scene(&s, "stream");
  CHECK_OK(nd4c_config_set("nd4c.plan.capture", NULL));
  CHECK_OK(nd4c_plan_report(s.plan, &text));
  assert_non_null(strstr(text, "not capture: nd4c.plan.capture is false"));
  nd4c_free(text);
  run_right(&s);
  end_scene(&s);
}

/* -- the state machine --------------------------------------------------------------------------------------------- */

static void calls_in_a_wrong_order_are_refused(void **state) {
  (void)state;
  nd4c_capture *work = NULL;
  nd4c_stream stream = NULL, again = NULL;
  CHECK_OK(nd4c_capture_make(stub_device, &work));
  assert_int_equal(nd4c_capture_end(work, NULL), ND4C_INTERNAL);
  assert_int_equal(nd4c_capture_launch(work, NULL, 0), ND4C_INTERNAL);
  assert_non_null(strstr(nd4c_error_message(), "before anything was recorded"));
  nd4c_capture_abandon(work); /* nothing to abandon */
  CHECK_OK(nd4c_capture_begin(work, &stream));
  assert_int_equal(nd4c_capture_begin(work, &again), ND4C_INTERNAL);
  assert_int_equal(nd4c_capture_launch(work, stream, 0), ND4C_INTERNAL);
  assert_non_null(strstr(nd4c_error_message(), "while recording"));
  nd4c_capture_free(work); /* abandons */
}

/* A call that is forbidden while a stream is recorded invalidates the recording, and nothing else. */
static void an_illegal_call_spoils_the_recording(void **state) {
  (void)state;
  for (int32_t illegal = 0; illegal < 3; illegal++) {
    nd4c_capture *work = NULL;
    nd4c_stream stream = NULL;
    nd4c_fence fence = NULL;
    unsigned char bytes[4] = {0};
    const int64_t four = 4;
    nd4c_array *array = NULL;
    nd4c_replica_view view;
    CHECK_OK(nd4c_array_zeros(ND4C_UINT8, 1, &four, stub_device, &array));
    CHECK_OK(nd4c_array_wait(array));
    CHECK_OK(nd4c_storage_acquire(array->storage, stub_device, NULL, ND4C_ACCESS_READ, ND4C_TRANSFER_ON_DEMAND, &view));
    nd4c_fence_release(view.written);
    CHECK_OK(nd4c_capture_make(stub_device, &work));
    CHECK_OK(nd4c_capture_begin(work, &stream));
    nd4c_status status = illegal == 0 ? nd4c_driver_fence_record(stub_device, stream, &fence)
                         : illegal == 1
                             ? nd4c_driver_copy_to_host(stub_device, stream, bytes, view.buffer, view.offset, 4)
                             : nd4c_driver_copy_from_host(stub_device, stream, view.buffer, view.offset, bytes, 4);
    assert_int_equal(status, ND4C_UNSUPPORTED);
    assert_int_equal(nd4c_capture_end(work, NULL), ND4C_UNSUPPORTED);
    assert_non_null(strstr(nd4c_error_message(), "spoiled"));
    CHECK_OK(nd4c_capture_begin(work, &stream)); /* and the next one is a new one */
    CHECK_OK(nd4c_capture_end(work, NULL));
    nd4c_capture_free(work);
    nd4c_storage_cancel(array->storage, stub_device);
    nd4c_array_release(array);
  }
}

static void count_up(void *argument) {
  *(int32_t *)argument += 1;
}

/* A callback runs in each launch, after a fill and a copy of the same recording. */
static void fills_copies_and_callbacks_are_recorded(void **state) {
  (void)state;
  nd4c_capture *work = NULL;
  nd4c_stream recorded = NULL, stream = stub_context->stream;
  nd4c_array *array = NULL;
  nd4c_replica_view view;
  const int64_t eight = 8;
  const unsigned char pattern = 5;
  int32_t calls_seen = 0;
  unsigned char bytes[8] = {0};
  CHECK_OK(nd4c_array_zeros(ND4C_UINT8, 1, &eight, stub_device, &array));
  CHECK_OK(nd4c_array_wait(array));
  CHECK_OK(
      nd4c_storage_acquire(array->storage, stub_device, stream, ND4C_ACCESS_WRITE, ND4C_TRANSFER_ON_DEMAND, &view));
  nd4c_fence_release(view.written);
  CHECK_OK(nd4c_capture_make(stub_device, &work));
  CHECK_OK(nd4c_capture_begin(work, &recorded));
  CHECK_OK(nd4c_driver_fill(stub_device, recorded, view.buffer, view.offset, 4, &pattern, 1));
  CHECK_OK(nd4c_driver_copy_within(stub_device, recorded, view.buffer, view.offset + 4, view.buffer, view.offset, 4));
  CHECK_OK(stub_device->ops->capture->host_callback(stub_device->handle, recorded, count_up, &calls_seen));
  CHECK_OK(nd4c_capture_end(work, NULL));
  assert_int_equal(calls_seen, 0);
  for (int32_t i = 0; i < 3; i++) {
    CHECK_OK(nd4c_capture_launch(work, stream, 0));
  }
  nd4c_fence fence = NULL;
  CHECK_OK(nd4c_driver_copy_to_host(stub_device, stream, bytes, view.buffer, view.offset, 8));
  CHECK_OK(nd4c_driver_fence_record(stub_device, stream, &fence));
  CHECK_OK(nd4c_driver_fence_wait(stub_device, fence));
  stub_device->ops->fence_destroy(stub_device->handle, fence);
  assert_int_equal(calls_seen, 3);
  for (int32_t i = 0; i < 8; i++) {
    assert_int_equal(bytes[i], 5);
  }
  nd4c_capture_free(work);
  nd4c_storage_cancel(array->storage, stub_device);
  nd4c_array_release(array);
}

/* -- threads ------------------------------------------------------------------------------------------------------- */

static void *run_plans(void *argument) {
  const nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  const uint64_t seed = *(const uint64_t *)argument;
  nd4c_context *context = NULL;
  nd4c_graph *graph = check_make_fork();
  nd4c_plan *plan = NULL;
  nd4c_array *inputs[INPUTS], *outputs[OUTPUTS] = {NULL}, *right[OUTPUTS] = {NULL};
  CHECK_OK(nd4c_context_create(&options, &context));
  CHECK_OK(nd4c_plan_create(graph, context, NULL, &plan));
  check_make_inputs(graph, seed, inputs);
  check_evaluate(graph, inputs, right);
  for (int32_t i = 0; i < 20; i++) {
    const nd4c_array *given[] = {inputs[0], inputs[1]};
    CHECK_OK(nd4c_plan_run(plan, given, INPUTS, outputs, OUTPUTS));
  }
  for (int32_t i = 0; i < OUTPUTS; i++) {
    assert_true(check_difference(right[i], outputs[i]) <= 1e-5);
  }
  nd4c_plan_destroy(plan);
  check_release(inputs, INPUTS);
  check_release(outputs, OUTPUTS);
  check_release(right, OUTPUTS);
  nd4c_graph_destroy(graph);
  CHECK_OK(nd4c_context_destroy(context));
  return NULL;
}

static void threads_record_at_once(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  uint64_t seeds[THREADS];
  for (int32_t i = 0; i < THREADS; i++) {
    seeds[i] = (uint64_t)i + 1;
    assert_int_equal(pthread_create(&threads[i], NULL, run_plans, &seeds[i]), 0);
  }
  for (int32_t i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  }
}

/* -- kernels that cannot be recorded ------------------------------------------------------------------------------- */

static nd4c_plan *plan_of_one(nd4c_op op) {
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, op, x)));
  CHECK_OK(nd4c_plan_create(graph, stub_context, NULL, &plan));
  nd4c_graph_destroy(graph);
  return plan;
}

static void a_kernel_says_that_it_cannot_be_recorded(void **state) {
  (void)state;
  static const struct {
    nd4c_op op;
    const char *mode, *reason;
  } cases[] = {{ND4C_OP_sin, "capture", ""},
               {ND4C_OP_tanh, "stream", "kernel stub.plain cannot be recorded"},
               {ND4C_OP_exp, "stream", "kernel stub.plain waits for the device"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    nd4c_plan *plan = plan_of_one(cases[i].op);
    char *text = NULL;
    assert_string_equal(plan->mode->name, cases[i].mode);
    CHECK_OK(nd4c_plan_report(plan, &text));
    if (strstr(text, cases[i].reason) == NULL) {
      fail_msg("expected \"%s\" in: %s", cases[i].reason, text);
    }
    nd4c_free(text);
    nd4c_plan_destroy(plan);
  }
}

/* A recording contains the address of the stream's scratch, which stays as long as the plan, whatever the stream needs
 * meanwhile. */
static void scratch_outlives_what_was_recorded(void **state) {
  (void)state;
  scene s, second;
  const int64_t size = 77;
  nd4c_array *a = NULL, *y = NULL;
  (void)stub_control("scratch 4096");
  begin_scene(&s, "capture");
  begin_scene(&second, "capture");
  for (int32_t i = 0; i < 4; i++) {
    run_right(&s);
    run_right(&second);
  }
  assert_int_equal(scratch_bytes(), 4096); /* both plans' */
  (void)stub_control("scratch 65536");
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 1, &size, 3, stub_device, &a));
  CHECK_OK(nd4c_square_on(stub_context, a, &y));
  CHECK_OK(nd4c_array_wait(y));
  assert_int_equal(scratch_bytes(), 4096 + 65536);
  CHECK_OK(nd4c_memory_trim(stub_device, 0));
  assert_int_equal(scratch_bytes(), 4096);
  calls before = {0};
  (void)count_calls(&before);
  run_right(&s);
  run_right(&second);
  CHECK_CALLS(&before, 0, 0, 0, 0, 2);
  end_scene(&s);
  CHECK_OK(nd4c_memory_trim(stub_device, 0));
  run_right(&second);
  CHECK_CALLS(&before, 0, 0, 0, 0, 1);
  end_scene(&second);
  CHECK_OK(nd4c_memory_trim(stub_device, 0));
  assert_int_equal(scratch_bytes(), 0);
  nd4c_array_release(a);
  nd4c_array_release(y);
}

int main(int argc, char **argv) {
  capture = argc > 1 ? argv[1] : capture;
  if (setenv("STUB_CAPTURE", capture, 1) != 0 || stub_start() != ND4C_OK) {
    return 1;
  }
#define TEST(function) cmocka_unit_test_setup_teardown(function, stub_test_begin, stub_test_end)
  const struct CMUnitTest all[] = {
      TEST(steps_are_recorded_once),
      TEST(a_failure_reaches_what_depends_on_it),
      TEST(a_recording_that_fails_costs_no_run),
      TEST(an_update_that_fails_costs_no_run),
      TEST(a_launch_that_fails_fails_the_run),
      TEST(a_plan_may_go_while_a_launch_is_under_way),
      TEST(a_moved_plan_records_anew),
      TEST(a_refused_run_leaves_no_stale_recording),
      TEST(a_property_switches_it_off),
      TEST(calls_in_a_wrong_order_are_refused),
      TEST(an_illegal_call_spoils_the_recording),
      TEST(fills_copies_and_callbacks_are_recorded),
      TEST(threads_record_at_once),
      TEST(scratch_outlives_what_was_recorded),
  };
  const struct CMUnitTest some[] = {TEST(a_kernel_says_that_it_cannot_be_recorded)};
  const int failed =
      strcmp(capture, "all") == 0 ? cmocka_run_group_tests(all, NULL, NULL) : cmocka_run_group_tests(some, NULL, NULL);
  return failed + stub_stop();
}
