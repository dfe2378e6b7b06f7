/* The tracer's times of asynchronous devices: times that the device reports, times that it lacks, and that the tracer
 * asks only while it records. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/child.h"
#include "device/stub_plugin.h"

enum { COUNT = 64 };
static const int64_t shape[1] = {COUNT};
static const char *program;

static nd4c_trace_totals totals(const nd4c_device *device) {
  nd4c_trace_totals sums = {.struct_size = sizeof sums};
  assert_int_equal(nd4c_trace_get_totals(NULL, device, &sums), ND4C_OK);
  return sums;
}

static void assert_report(const char *expected) {
  char *text = NULL;
  assert_int_equal(nd4c_trace_report(&text), ND4C_OK);
  if (strstr(text, expected) == NULL) {
    fail_msg("expected '%s' in:\n%s", expected, text);
  }
  nd4c_free(text);
}

/* 2 + 2 as often as that, each result released at once. */
static void add_times(int count) {
  nd4c_array *two = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 2, stub_device, &two), ND4C_OK);
  for (int i = 0; i < count; i++) {
    nd4c_array *sum = NULL;
    assert_int_equal(nd4c_add_on(stub_context, two, two, &sum), ND4C_OK);
    nd4c_array_release(sum);
  }
  nd4c_array_release(two);
}

static void assert_none_left(void) {
  stub_settle();
  assert_int_equal(stub_counter("timings"), 0);
  assert_int_equal(stub_counter("violations"), 0);
}

static void the_device_tells(void **state) {
  (void)state;
  assert_int_equal(stub_control("delay 5000"), ND4C_OK); /* which is not work of the device */
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  add_times(3);
  const nd4c_trace_totals sums = totals(stub_device);
  assert_int_equal(sums.executions, 3);
  assert_int_equal(sums.device_timed, 3);
  assert_true(sums.device_nanoseconds > 0);
  assert_true(sums.execute_nanoseconds > 0);
  assert_report("  stub:0          add                          3 ");
  assert_report(" on the device, ");
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  assert_int_equal(totals(stub_device).device_timed, 3); /* as at stop */
  assert_none_left();
}

static void it_is_not_asked_while_nothing_is_recorded(void **state) {
  (void)state;
  const int64_t asked = stub_counter("timing_begin");
  add_times(5);
  assert_int_equal(stub_counter("timing_begin"), asked);
}

static void the_file_has_rows_of_devices(void **state) {
  (void)state;
  char path[] = "/tmp/nd4c_times_XXXXXX", text[4096];
  const int made = mkstemp(path);
  assert_true(made >= 0);
  (void)close(made);
  assert_int_equal(nd4c_trace_start(path), ND4C_OK);
  add_times(1);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  (void)fclose(file);
  (void)unlink(path);
  assert_non_null(strstr(text, "\"cat\":\"op\",\"name\":\"add\""));
  assert_non_null(strstr(text, "\"time\":\"submission\""));
  assert_non_null(strstr(text, "\"cat\":\"device\",\"name\":\"add\""));
  assert_non_null(strstr(text, "\"time\":\"device\",\"busy_ns\":"));
  assert_none_left();
}

/* A failure of the timing functions does not fail the op. */
static void what_is_not_told_is_marked(void **state) {
  (void)state;
  char unsupported[64];
  (void)snprintf(unsupported, sizeof unsupported, "fail timing_begin:0:%d", (int)ND4C_UNSUPPORTED);
  const char *const commands[] = {unsupported, "fail timing_begin:0:12345", "fail timing_read:0"};
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    assert_int_equal(stub_control(commands[i]), ND4C_OK);
    assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
    add_times(2);
    assert_int_equal(totals(stub_device).device_timed, 0);
    assert_int_equal(totals(stub_device).executions, 2);
    assert_report(" to submit; the device reported no time\n");
    assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
    assert_int_equal(stub_control("reset"), ND4C_OK);
    assert_none_left();
  }
}

static void failed_work_has_no_time(void **state) {
  (void)state;
  nd4c_array *two = NULL, *sum = NULL;
  float got[COUNT];
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 2, stub_device, &two), ND4C_OK);
  assert_int_equal(nd4c_array_wait(two), ND4C_OK);
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  assert_int_equal(stub_control("fail in_flight:1"), ND4C_OK);
  assert_int_equal(nd4c_add_on(stub_context, two, two, &sum), ND4C_OK);
  assert_int_equal(nd4c_array_read(sum, got, sizeof got), ND4C_DEVICE);
  nd4c_array_release(sum);
  sum = NULL;
  assert_int_equal(stub_control("fail run:1"), ND4C_OK); /* refused: not recorded, and its timing is freed */
  assert_int_equal(nd4c_add_on(stub_context, two, two, &sum), ND4C_DEVICE);
  assert_int_equal(stub_control("reset"), ND4C_OK);
  assert_int_equal(nd4c_add_on(stub_context, two, two, &sum), ND4C_OK);
  assert_int_equal(totals(stub_device).executions, 2);
  assert_int_equal(totals(stub_device).device_timed, 1);
  assert_report(" (of 1; the device reported none for the others)");
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  nd4c_array_release(sum);
  nd4c_array_release(two);
  assert_none_left();
}

/* More executions under way than entries: the oldest are dropped, the others are reported. */
static void many_may_be_under_way(void **state) {
  (void)state;
  enum { MANY = 300, PLACES = 256 };
  assert_int_equal(stub_control("delay 500"), ND4C_OK);
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  add_times(MANY);
  const int64_t told = totals(stub_device).device_timed;
  assert_true(told >= PLACES && told <= MANY);
  assert_int_equal(totals(stub_device).executions, MANY);
  /* A new start drops pending times. */
  add_times(10);
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  add_times(1);
  assert_int_equal(totals(stub_device).device_timed, 1);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  assert_none_left();
}

static int child(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  add_times(2);
  return 0;
}

/* The property's table at the end of the process has the times, too; a device that reports nonsense, or lacks the
 * functions, counts as having reported none. */
static void a_process_tells_at_its_end(void **state) {
  (void)state;
  static const struct {
    const char *variable, *words;
  } cases[] = {{"STUB_DELAY_US=2000", " on the device, "},
               {"STUB_LIE=times", " to submit; the device reported no time"},
               {"STUB_LIE=old_device", " to submit; the device reported no time"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *environment[] = {"ND4J_MULTIBACKEND_TRACE=true", cases[i].variable, NULL};
    char output[CHILD_OUTPUT];
    assert_int_equal(child_run(program, "child", "end", environment, output), 0);
    if (strstr(output, cases[i].words) == NULL) {
      fail_msg("%s: \"%s\" is not in\n%s", cases[i].variable, cases[i].words, output);
    }
  }
}

int main(int argc, char **argv) {
  program = argv[0];
  if (argc > 1) {
    return child();
  }
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_device_tells, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(it_is_not_asked_while_nothing_is_recorded, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(the_file_has_rows_of_devices, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(what_is_not_told_is_marked, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(failed_work_has_no_time, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(many_may_be_under_way, stub_test_begin, stub_test_end),
      cmocka_unit_test(a_process_tells_at_its_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
