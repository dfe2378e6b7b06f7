/* The tracer: its counts on the stub, the round trips it flags, the file it writes. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#ifdef ND4C_TEST_CJSON
#include <cjson/cJSON.h>
#endif

#include "device/child.h"
#include "device/stub_plugin.h"

enum { COUNT = 4096, BYTES = COUNT * (int)sizeof(float) };
static const int64_t shape[1] = {COUNT};
static nd4c_device *cpu;
static nd4c_context *cpu_context;

static nd4c_array *filled(nd4c_device *device, double value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, value, device, &array), ND4C_OK);
  return array;
}

static nd4c_trace_totals totals(const nd4c_device *from, const nd4c_device *to) {
  nd4c_trace_totals sums = {.struct_size = sizeof sums};
  assert_int_equal(nd4c_trace_get_totals(from, to, &sums), ND4C_OK);
  return sums;
}

static void assert_report_has(const char *expected) {
  char *text = NULL;
  assert_int_equal(nd4c_trace_report(&text), ND4C_OK);
  if (strstr(text, expected) == NULL) {
    print_error("expected '%s' in:\n%s", expected, text);
    fail();
  }
  nd4c_free(text);
}

static void copies_and_executions_are_counted(void **state) {
  (void)state;
  nd4c_array *a = filled(cpu, 2), *sum = NULL, *again = NULL;
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  assert_int_equal(nd4c_add_on(stub_context, a, a, &sum), ND4C_OK);
  assert_int_equal(nd4c_add_on(stub_context, a, sum, &again), ND4C_OK);
  nd4c_array_release(again);
  again = NULL;
  assert_int_equal(nd4c_add_on(cpu_context, a, a, &again), ND4C_OK);
  float out[COUNT];
  assert_int_equal(nd4c_array_read(sum, out, sizeof out), ND4C_OK);
  assert_float_equal(out[COUNT - 1], 4, 0);
  nd4c_trace_totals all = totals(NULL, NULL), up = totals(cpu, stub_device), down = totals(stub_device, cpu);
  assert_int_equal(up.copies, 1);
  assert_int_equal(up.copied_bytes, BYTES);
  assert_int_equal(up.executions, 2);
  assert_true(up.allocations >= 3);
  assert_int_equal(down.copies, 1);
  assert_int_equal(all.copies, 2);
  assert_int_equal(all.executions, 3);
  assert_int_equal(all.transitions, 1);
  assert_int_equal(all.round_trips, 0);
  assert_true(all.copy_nanoseconds > 0);
  assert_report_has("cpu:0        -> stub:0");
  assert_report_has("unexpected round trips: none");
  assert_report_has("device transitions: 1\n  stub:0       -> cpu:0                  1\n");
  char *table = NULL;
  assert_int_equal(nd4c_trace_stop(&table), ND4C_OK);
  assert_non_null(strstr(table, "stub:0          add"));
  nd4c_free(table);
  assert_false(nd4c_trace_is_on());
  assert_int_equal(nd4c_add_on(stub_context, a, a, &sum), ND4C_OK);
  assert_int_equal(totals(NULL, NULL).executions, 3); /* as at stop */
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_ARGUMENT);
  nd4c_array_release(a);
  nd4c_array_release(sum);
  nd4c_array_release(again);
}

static void a_detour_is_flagged_with_its_op(void **state) {
  (void)state;
  nd4c_array *a = filled(stub_device, 2), *b = NULL, *c = NULL, *d = NULL;
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  assert_int_equal(nd4c_add_on(stub_context, a, a, &b), ND4C_OK);
  assert_int_equal(nd4c_square_on(cpu_context, b, &c), ND4C_OK); /* the cause: an op on the host */
  assert_int_equal(nd4c_add_on(stub_context, c, a, &d), ND4C_OK);
  assert_int_equal(totals(NULL, NULL).round_trips, 1);
  assert_int_equal(totals(NULL, NULL).transitions, 2);
  assert_report_has("stub:0 -> cpu:0 -> stub:0, detour by square: 1 times, 32768 bytes");
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_array_release(c);
  nd4c_array_release(d);
}

/* An array that was spilled to make room and copied back is reported with the op that needed the room. */
static void a_spill_is_flagged_with_its_op(void **state) {
  (void)state;
  nd4c_array *a = NULL, *b = NULL, *c = NULL, *d = NULL;
  stub_settle();
  nd4c_memory_info before = {.struct_size = sizeof before};
  assert_int_equal(nd4c_memory_get_info(stub_device, &before), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.device.memory.spill", "true"), ND4C_OK);
  a = filled(stub_device, 2);
  b = filled(stub_device, 3);
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
  assert_int_equal(nd4c_memory_set_cap(stub_device, before.live_bytes + 2 * BYTES + BYTES / 2), ND4C_OK);
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, b, &c), ND4C_OK); /* a is spilled */
  assert_int_equal(nd4c_array_wait(c), ND4C_OK);
  nd4c_array_release(b);
  assert_int_equal(nd4c_memory_trim(stub_device, 0), ND4C_OK);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  assert_int_equal(nd4c_add_on(stub_context, a, a, &d), ND4C_OK); /* and copied back */
  assert_report_has("stub:0 -> cpu:0 -> stub:0, spill by square: 1 times, 32768 bytes");
  assert_int_equal(totals(NULL, NULL).round_trips, 1);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.device.memory.spill", NULL), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(c);
  nd4c_array_release(d);
}

static void what_the_user_writes_is_no_round_trip(void **state) {
  (void)state;
  nd4c_array *a = filled(stub_device, 2), *b = NULL;
  void *data = NULL;
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  assert_int_equal(nd4c_array_data_mutable(a, &data), ND4C_OK);
  ((float *)data)[0] = 1;
  assert_int_equal(nd4c_square_on(stub_context, a, &b), ND4C_OK);
  assert_int_equal(totals(NULL, NULL).copies, 2);
  assert_int_equal(totals(NULL, NULL).round_trips, 0);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(b);
}

/* Explicit moves by the program are no round trips, in either direction. */
static void what_the_user_moves_is_no_round_trip(void **state) {
  (void)state;
  nd4c_array *a = filled(stub_device, 2), *b = NULL, *c = NULL, *d = NULL;
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  assert_int_equal(nd4c_array_migrate(a, cpu), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, a, &b), ND4C_OK); /* the library brings it back */
  assert_int_equal(nd4c_square_on(cpu_context, b, &c), ND4C_OK);
  assert_int_equal(nd4c_array_prefetch(c, stub_device), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, c, &d), ND4C_OK);
  assert_int_equal(totals(NULL, NULL).copies, 4);
  assert_int_equal(totals(NULL, NULL).round_trips, 0);
  const void *data = NULL;
  nd4c_array *e = NULL;
  assert_int_equal(nd4c_array_data(d, &data), ND4C_OK);
  assert_int_equal(nd4c_array_migrate(d, cpu), ND4C_OK); /* has nothing to copy */
  assert_int_equal(nd4c_square_on(stub_context, d, &e), ND4C_OK);
  assert_int_equal(totals(NULL, NULL).copies, 6);
  assert_int_equal(totals(NULL, NULL).round_trips, 0);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  nd4c_array_release(e);
  nd4c_array *const all[] = {a, b, c, d};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    nd4c_array_release(all[i]);
  }
}

/* A new storage at an old address is a different storage. */
static void fresh_arrays_are_no_round_trips(void **state) {
  (void)state;
  nd4c_array *a = filled(stub_device, 2);
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  for (int i = 0; i < 20; i++) {
    nd4c_array *sum = NULL, *square = NULL, *again = NULL;
    assert_int_equal(nd4c_add_on(stub_context, a, a, &sum), ND4C_OK);
    assert_int_equal(nd4c_square_on(cpu_context, sum, &square), ND4C_OK);
    nd4c_array_release(sum);
    nd4c_array_release(square);
    nd4c_array *fresh = filled(cpu, 3);
    assert_int_equal(nd4c_square_on(stub_context, fresh, &again), ND4C_OK);
    assert_int_equal(nd4c_array_wait(again), ND4C_OK);
    nd4c_array_release(fresh);
    nd4c_array_release(again);
  }
  assert_int_equal(totals(NULL, NULL).round_trips, 0);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  nd4c_array_release(a);
}

static void a_plan_is_traced(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_value x = 0, y = 0;
  nd4c_plan *plan = NULL;
  assert_int_equal(nd4c_graph_create(&graph), ND4C_OK);
  assert_int_equal(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 1, shape, &x), ND4C_OK);
  assert_int_equal(nd4c_graph_op(graph, ND4C_OP_square, &x, 1, NULL, 0, "", &y, 1), ND4C_OK);
  assert_int_equal(nd4c_graph_output(graph, "y", y), ND4C_OK);
  assert_int_equal(nd4c_plan_create(graph, cpu_context, NULL, &plan), ND4C_OK);
  const nd4c_array *in = filled(cpu, 3);
  nd4c_array *out = NULL;
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  assert_int_equal(nd4c_plan_run(plan, &in, 1, &out, 1), ND4C_OK);
  assert_int_equal(totals(NULL, cpu).executions, 1);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  nd4c_array_release((nd4c_array *)(uintptr_t)in);
  nd4c_array_release(out);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

#ifdef ND4C_TEST_CJSON
/* Of the file's events: how many are of the category. */
static int count_events(const cJSON *events, const char *category) {
  int count = 0;
  const cJSON *event = NULL;
  cJSON_ArrayForEach(event, events) {
    assert_true(cJSON_IsNumber(cJSON_GetObjectItem(event, "ts")));
    assert_true(cJSON_IsNumber(cJSON_GetObjectItem(event, "pid")));
    assert_true(cJSON_IsString(cJSON_GetObjectItem(event, "ph")));
    assert_true(cJSON_IsObject(cJSON_GetObjectItem(event, "args")));
    count += strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(event, "cat")), category) == 0;
  }
  return count;
}
#endif

static void the_file_is_json_for_chrome(void **state) {
  (void)state;
  char path[] = "/tmp/nd4c_trace_XXXXXX";
  int made = mkstemp(path);
  assert_true(made >= 0);
  (void)close(made);
  nd4c_array *a = filled(cpu, 2), *b = NULL, *c = NULL;
  assert_int_equal(nd4c_trace_start(path), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, a, &b), ND4C_OK);
  assert_int_equal(nd4c_square_on(cpu_context, b, &c), ND4C_OK);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  static char text[1 << 16];
  size_t size = fread(text, 1, sizeof text - 1, file);
  text[size] = '\0';
  (void)fclose(file);
  (void)unlink(path);
#ifdef ND4C_TEST_CJSON
  cJSON *root = cJSON_Parse(text);
  assert_non_null(root);
  const cJSON *events = cJSON_GetObjectItem(root, "traceEvents");
  assert_int_equal(count_events(events, "op"), 2);
  assert_int_equal(count_events(events, "copy"), 2);
  assert_int_equal(count_events(events, "transition"), 1);
  assert_true(count_events(events, "memory") > 0);
  cJSON_Delete(root);
#endif
  assert_int_equal(nd4c_trace_start("/nowhere/at/all"), ND4C_OK);
  char *table = NULL;
  assert_int_equal(nd4c_trace_stop(&table), ND4C_IO);
  assert_non_null(table);
  nd4c_free(table);
  assert_int_equal(nd4c_trace_start(""), ND4C_ARGUMENT);
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_array_release(c);
}

static void the_property_starts_and_stops(void **state) {
  (void)state;
  nd4c_context *context = NULL;
  assert_int_equal(nd4c_config_set("nd4j.multibackend.trace", "true"), ND4C_OK);
  assert_int_equal(nd4c_context_create(NULL, &context), ND4C_OK);
  nd4c_array *a = filled(cpu, 2), *b = NULL;
  assert_int_equal(nd4c_add_on(cpu_context, a, a, &b), ND4C_OK);
  assert_int_equal(totals(NULL, NULL).executions, 1);
  assert_false(nd4c_trace_is_on()); /* not a recording of the program */
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4j.multibackend.trace", NULL), ND4C_OK);
  assert_int_equal(nd4c_context_create(NULL, &context), ND4C_OK);
  assert_int_equal(nd4c_add_on(cpu_context, a, a, &b), ND4C_OK);
  assert_int_equal(totals(NULL, NULL).executions, 1);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(b);
}

/* The program's recording within the property's: each has the events during its own time. */
static void recordings_do_not_end_each_other(void **state) {
  (void)state;
  nd4c_array *a = filled(cpu, 2), *b = NULL;
  nd4c_context *context = NULL;
  assert_int_equal(nd4c_config_set("nd4j.multibackend.trace", "yes"), ND4C_OK);
  assert_int_equal(nd4c_context_create(NULL, &context), ND4C_OK);
  assert_int_equal(nd4c_add_on(cpu_context, a, a, &b), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, a, &b), ND4C_OK);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "nd4j.multibackend.trace"));
  for (int again = 0; again < 2; again++) {
    assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
    assert_int_equal(totals(NULL, NULL).executions, 0);
    assert_int_equal(nd4c_add_on(cpu_context, a, a, &b), ND4C_OK);
    assert_int_equal(totals(NULL, NULL).executions, 1);
    assert_int_equal(totals(NULL, NULL).transitions, 0); /* earlier work does not count */
    assert_true(nd4c_trace_is_on());
    assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
    assert_false(nd4c_trace_is_on());
    assert_int_equal(nd4c_square_on(stub_context, a, &b), ND4C_OK);
    assert_int_equal(totals(NULL, NULL).executions, 1); /* as at stop */
  }
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  assert_int_equal(nd4c_add_on(cpu_context, a, a, &b), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4j.multibackend.trace", NULL), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  assert_int_equal(nd4c_context_create(NULL, &context), ND4C_OK); /* the property's ends here */
  assert_int_equal(nd4c_add_on(cpu_context, a, a, &b), ND4C_OK);
  assert_int_equal(totals(NULL, NULL).executions, 2);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  assert_false(nd4c_trace_is_on());
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(b);
}

enum { THREADS = 18, ROUNDS = 150 };
static void *compute(void *argument) {
  nd4c_array *a = filled(cpu, 1), *b = NULL;
  int64_t *wrong = argument;
  for (int i = 0; i < ROUNDS; i++) {
    *wrong += nd4c_add_on(NULL, a, a, &b) != ND4C_OK;
  }
  nd4c_array_release(a);
  nd4c_array_release(b);
  return NULL;
}

static void threads_record_while_others_read(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  int64_t wrong[THREADS] = {0};
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, compute, &wrong[i]), 0);
  }
  for (int i = 0; i < 20; i++) {
    assert_true(totals(NULL, NULL).executions <= (int64_t)THREADS * ROUNDS);
  }
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(wrong[i], 0);
  }
  assert_int_equal(totals(NULL, NULL).executions, THREADS * ROUNDS);
  assert_int_equal(totals(NULL, NULL).dropped, 0);
  assert_int_equal(totals(NULL, NULL).threads, THREADS);
  nd4c_trace_totals sums = {.struct_size = sizeof sums};
  for (int i = 1; i <= THREADS; i++) {
    assert_int_equal(nd4c_trace_get_thread_totals(i, NULL, NULL, &sums), ND4C_OK);
    assert_int_equal(sums.executions, ROUNDS);
    assert_true(sums.allocations >= 1 && sums.allocated_bytes >= BYTES);
    assert_int_equal(nd4c_trace_get_thread_totals(i, NULL, stub_device, &sums), ND4C_OK);
    assert_int_equal(sums.executions, 0);
  }
  assert_int_equal(nd4c_trace_get_thread_totals(0, NULL, NULL, &sums), ND4C_INDEX);
  assert_int_equal(nd4c_trace_get_thread_totals(THREADS + 1, NULL, NULL, &sums), ND4C_INDEX);
  sums = (nd4c_trace_totals){.struct_size = offsetof(nd4c_trace_totals, threads), .threads = 77};
  assert_int_equal(nd4c_trace_get_totals(NULL, NULL, &sums), ND4C_OK);
  assert_int_equal(sums.executions, THREADS * ROUNDS);
  assert_int_equal(sums.threads, 77);
  assert_report_has("\nby thread             ops transitions ");
  assert_report_has("\n  thread 15            150           0         0              0      0.000 ");
  assert_report_has("\n  3 others             450           0 ");
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK); /* anew */
  assert_int_equal(totals(NULL, NULL).executions, 0);
  assert_int_equal(totals(NULL, NULL).threads, 0);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
}

/* -- child processes: the property's report at their end ---------------------------------------------------------- */

static const char *program;

/* `act`: "nothing"; "make": an array without a context, which is one allocation; "start": the child's recording, which
 * it stops and prints to stdout before it continues; "start on": one that it does not stop. */
static int child(const char *act) {
  nd4c_device *device = NULL;
  nd4c_array *array = NULL;
  if (strcmp(act, "make") == 0) {
    if (nd4c_device_find("cpu", &device) != ND4C_OK ||
        nd4c_array_zeros(ND4C_FLOAT32, 1, shape, device, &array) != ND4C_OK) {
      return 1;
    }
    nd4c_array_release(array);
  }
  if (strncmp(act, "start", 5) == 0) {
    char *table = NULL;
    bool stops = act[5] == '\0';
    if (nd4c_trace_start(NULL) != ND4C_OK || nd4c_device_find("cpu", &device) != ND4C_OK ||
        nd4c_array_full(ND4C_FLOAT32, 1, shape, 2, device, &array) != ND4C_OK ||
        nd4c_add_on(NULL, array, array, &array) != ND4C_OK || (stops && nd4c_trace_stop(&table) != ND4C_OK)) {
      return 1;
    }
    (void)printf("%s", table != NULL ? table : "");
    (void)fflush(stdout);
    nd4c_free(table);
    nd4c_status status = nd4c_add_on(NULL, array, array, &array);
    nd4c_array_release(array);
    return status != ND4C_OK;
  }
  return 0;
}

static void a_traced_process_tells_at_its_end(void **state) {
  (void)state;
  char path[] = "/tmp/nd4c_trace_XXXXXX", variable[64], output[CHILD_OUTPUT], text[512];
  int made = mkstemp(path);
  assert_true(made >= 0);
  (void)close(made);
  (void)snprintf(variable, sizeof variable, "ND4J_MULTIBACKEND_TRACE=%s", path);
  const char *environment[] = {variable, NULL};
  assert_int_equal(child_run(program, "child", "nothing", environment, output), 0);
  assert_non_null(strstr(output, "ops: device       op                       count         ms\n  none\n"));
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  (void)fclose(file);
  (void)unlink(path);
  assert_non_null(strstr(text, "\"traceEvents\""));
  environment[0] = "ND4J_MULTIBACKEND_TRACE=true";
  assert_int_equal(child_run(program, "child", "make", environment, output), 0);
  assert_non_null(strstr(output, "  cpu:0                      1"));
  assert_int_equal(child_run(program, "child", "start", environment, output), 0);
  const char *own = strstr(output, "  cpu:0           add                          1 ");
  assert_non_null(own); /* its own recording, then the property's */
  assert_non_null(strstr(own, "  cpu:0           add                          2 "));
  assert_int_equal(child_run(program, "child", "start on", environment, output), 0);
  assert_non_null(strstr(output, "  cpu:0           add                          2 "));
  static const struct {
    const char *variable;
    bool traced;
  } words[] = {{"ND4J_MULTIBACKEND_TRACE=", false},   {"ND4J_MULTIBACKEND_TRACE=0", false},
               {"ND4J_MULTIBACKEND_TRACE=no", false}, {"ND4J_MULTIBACKEND_TRACE=Off", false},
               {"ND4J_MULTIBACKEND_TRACE=on", true},  {"ND4J_MULTIBACKEND_TRACE=1", true}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    environment[0] = words[i].variable;
    assert_int_equal(child_run(program, "child", "nothing", environment, output), 0);
    assert_int_equal(strstr(output, "ops: device") != NULL, words[i].traced);
    assert_int_equal(access(strchr(words[i].variable, '=') + 1, F_OK), -1);
  }
}

int main(int argc, char **argv) {
  program = argv[0];
  if (argc == 3) {
    return child(argv[2]);
  }
  if (stub_start() != ND4C_OK || nd4c_device_find("cpu:0", &cpu) != ND4C_OK) {
    return 1;
  }
  nd4c_context_options options = {.struct_size = sizeof options, .device = cpu};
  if (nd4c_context_create(&options, &cpu_context) != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_and_executions_are_counted),     cmocka_unit_test(a_detour_is_flagged_with_its_op),
      cmocka_unit_test(what_the_user_writes_is_no_round_trip), cmocka_unit_test(what_the_user_moves_is_no_round_trip),
      cmocka_unit_test(fresh_arrays_are_no_round_trips),       cmocka_unit_test(a_plan_is_traced),
      cmocka_unit_test(the_file_is_json_for_chrome),           cmocka_unit_test(the_property_starts_and_stops),
      cmocka_unit_test(recordings_do_not_end_each_other),      cmocka_unit_test(a_spill_is_flagged_with_its_op),
      cmocka_unit_test(a_traced_process_tells_at_its_end),     cmocka_unit_test(threads_record_while_others_read)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)nd4c_context_destroy(cpu_context);
  (void)nd4c_context_destroy(stub_context);
  return failed;
}
