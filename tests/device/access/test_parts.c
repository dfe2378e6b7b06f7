/* The host writes into a part of an array that is on a device: only the part is copied, and current replicas stay
 * current. An argument names a device instead of the stub's. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "array/array.h"
#include "array/shape.h"
#include "device/stub_plugin.h"

enum { ROWS = 256, COLUMNS = 256, SIZE = ROWS * COLUMNS, BYTES = SIZE * (int)sizeof(float) };
static const int64_t shape[2] = {ROWS, COLUMNS};
static const char *name = "stub:0";
static nd4c_device *device, *cpu;
static nd4c_context *there, *here;
static float expected[SIZE], got[SIZE], values[SIZE];

static nd4c_array *counted(void) {
  nd4c_array *array = NULL;
  for (int i = 0; i < SIZE; i++) {
    expected[i] = (float)i;
  }
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 2, shape, expected, device, &array), ND4C_OK);
  return array;
}

static void assert_contents(const nd4c_array *array) {
  assert_int_equal(nd4c_array_read(array, got, sizeof got), ND4C_OK);
  for (int i = 0; i < SIZE; i++) {
    assert_float_equal(got[i], expected[i], 0);
  }
}

static void assert_states(const nd4c_array *array, char on_host, char on_device) {
  assert_int_equal(nd4c_array_state(array, cpu), on_host);
  assert_int_equal(nd4c_array_state(array, device), on_device);
}

static void assert_copied(const nd4c_device *from, const nd4c_device *to, int64_t copies, int64_t bytes) {
  nd4c_trace_totals sums = {.struct_size = sizeof sums};
  assert_int_equal(nd4c_trace_get_totals(from, to, &sums), ND4C_OK);
  assert_int_equal(sums.copied_bytes, bytes);
  assert_int_equal(sums.copies, copies);
}

typedef struct part {
  int64_t starts[2], stops[2], steps[2], copies, bytes;
  bool whole; /* is expensive: the whole array is copied to the host */
} part;

static nd4c_array *view_of(const nd4c_array *array, const part *p) {
  nd4c_array *view = NULL;
  assert_int_equal(nd4c_array_slice(array, p->starts, p->stops, p->steps, &view), ND4C_OK);
  return view;
}

static nd4c_array *element_of(const nd4c_array *array, int64_t row, int64_t column) {
  return view_of(array, &(part){.starts = {row, column}, .stops = {row + 1, column + 1}, .steps = {1, 1}});
}

/* Writes values to each element of the view and expects them from now on. */
static int64_t number_values(const nd4c_array *view, float first) {
  int64_t size = nd4c_array_size(view), columns = nd4c_array_shape(view)[1];
  const int64_t *strides = nd4c_array_strides(view);
  for (int64_t i = 0; i < size; i++) {
    values[i] = first - (float)i;
    expected[view->offset + i / columns * strides[0] + i % columns * strides[1]] = values[i];
  }
  return size * (int64_t)sizeof *values;
}

static void small_parts_travel_alone(void **state) {
  (void)state;
  static const part parts[] = {
      {{3, 5}, {4, 6}, {1, 1}, 1, 4, false},
      {{7, 0}, {9, COLUMNS}, {1, 1}, 1, 2 * COLUMNS * 4, false},      /* whole rows */
      {{10, 20}, {14, 28}, {1, 1}, 4, 4 * 8 * 4, false},              /* a block: a piece a row */
      {{0, 0}, {ROWS, 1}, {64, 1}, 4, 4 * 4, false},                  /* four elements far apart */
      {{4, 10}, {5, 4}, {1, -1}, 6, 6 * 4, false},                    /* backwards */
      {{0, 9}, {ROWS, 10}, {1, 1}, 1, ROWS * 4, false},               /* a column: the device scatters it */
      {{ROWS - 1, 0}, {0, COLUMNS}, {-2, 8}, 1, 128 * 32 * 4, false}, /* a column, backwards */
      {{0, 0}, {ROWS / 2, COLUMNS}, {1, 1}, 0, 0, true},
      {{0, 0}, {ROWS, COLUMNS}, {1, 3}, 0, 0, true},
  };
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    const part *p = &parts[i];
    nd4c_array *array = counted(), *view = view_of(array, p), *sum = NULL;
    int64_t bytes = number_values(view, -1);
    assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
    assert_int_equal(nd4c_array_write(view, values, (size_t)bytes), ND4C_OK);
    assert_copied(cpu, device, p->copies, p->bytes);
    assert_copied(device, cpu, p->whole ? 1 : 0, p->whole ? BYTES : 0);
    assert_states(array, p->whole ? 'M' : '-', p->whole ? 'I' : 'M');
    /* Use on the device copies nothing more. */
    assert_int_equal(nd4c_add_on(there, array, array, &sum), ND4C_OK);
    assert_copied(cpu, device, p->copies + p->whole, p->whole ? BYTES : p->bytes);
    nd4c_trace_totals all = {.struct_size = sizeof all};
    assert_int_equal(nd4c_trace_get_totals(NULL, NULL, &all), ND4C_OK);
    assert_int_equal(all.round_trips, 0);
    assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
    assert_contents(array);
    nd4c_array_release(sum);
    nd4c_array_release(view);
    nd4c_array_release(array);
  }
}

/* A replica that is also current on the host stays current, and an eager write copies nothing more. */
static void every_current_replica_is_written(void **state) {
  (void)state;
  nd4c_context_options options = {.struct_size = sizeof options, .device = cpu, .transfer = ND4C_TRANSFER_EAGER};
  nd4c_context *eager = NULL;
  assert_int_equal(nd4c_context_create(&options, &eager), ND4C_OK);
  for (int turn = 0; turn < 2; turn++) {
    nd4c_array *array = counted(), *view = element_of(array, 100, 7);
    assert_contents(array); /* the host has it, too */
    assert_states(array, 'S', 'S');
    assert_int_equal(nd4c_context_enter(turn == 0 ? NULL : eager, NULL), ND4C_OK);
    assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
    int64_t bytes = number_values(view, 5);
    assert_int_equal(nd4c_array_write(view, values, (size_t)bytes), ND4C_OK);
    assert_states(array, 'S', 'S');
    assert_contents(array);
    assert_copied(cpu, device, 1, 4);
    assert_copied(device, cpu, 0, 0);
    assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
    assert_int_equal(nd4c_context_enter(NULL, NULL), ND4C_OK);
    assert_int_equal(nd4c_array_migrate(array, device), ND4C_OK); /* the device has the same value */
    assert_contents(array);
    nd4c_array_release(view);
    nd4c_array_release(array);
  }
  assert_int_equal(nd4c_context_destroy(eager), ND4C_OK);
}

/* Writes by element send at most a quarter of the storage; then the array moves to the host. A use on the device
 * restarts the count. */
static void elements_are_written_apart_until_that_is_dear(void **state) {
  (void)state;
  nd4c_array *array = counted(), *sum = NULL;
  for (int round = 0; round < 2; round++) {
    int apart = 0;
    for (; nd4c_array_state(array, device) != 'I'; apart++) {
      nd4c_array *view = element_of(array, apart % ROWS, round);
      int64_t bytes = number_values(view, (float)-apart);
      assert_int_equal(nd4c_array_write(view, values, (size_t)bytes), ND4C_OK);
      nd4c_array_release(view);
      assert_true(apart < 1000);
    }
    assert_int_equal(apart, BYTES / 4 / 256);
    assert_states(array, 'M', 'I');
    assert_int_equal(nd4c_add_on(there, array, array, &sum), ND4C_OK);
    assert_states(array, 'S', 'S');
  }
  assert_contents(array);
  nd4c_array_release(sum);
  nd4c_array_release(array);
}

static void delay(const char *command) {
  if (stub_control != NULL) {
    assert_int_equal(stub_control(command), ND4C_OK);
  }
}

/* A write runs after the work that reads the old value, and after the work that wrote it. */
static void work_in_flight_comes_first(void **state) {
  (void)state;
  nd4c_array *array = counted(), *view = element_of(array, 1, 2), *sum = NULL;
  delay("delay 20000");
  assert_int_equal(nd4c_add_on(there, array, array, &sum), ND4C_OK);
  int64_t bytes = number_values(view, -3);
  assert_int_equal(nd4c_array_write(view, values, (size_t)bytes), ND4C_OK);
  delay("delay 0");
  assert_contents(array);
  assert_int_equal(nd4c_array_read(sum, got, sizeof got), ND4C_OK);
  assert_float_equal(got[COLUMNS + 2], 2 * (COLUMNS + 2), 0);
  nd4c_array_release(view);
  view = element_of(sum, 0, 9);
  delay("delay 20000");
  assert_int_equal(nd4c_negative_on(there, array, &sum), ND4C_OK);
  assert_int_equal(nd4c_array_write(view, &(float){77}, sizeof(float)), ND4C_OK);
  delay("delay 0");
  assert_int_equal(nd4c_array_read(sum, got, sizeof got), ND4C_OK);
  assert_float_equal(got[9], 77, 0);
  assert_float_equal(got[8], -8, 0);
  nd4c_array_release(view);
  nd4c_array_release(sum);
  nd4c_array_release(array);
}

/* By index, on a thread that computes on the host. */
static void an_element_is_set_there(void **state) {
  (void)state;
  nd4c_array *array = counted(), *value = NULL;
  const nd4c_index items[] = {{.kind = ND4C_INDEX_INTEGER, .start = 17}, {.kind = ND4C_INDEX_INTEGER, .start = 18}};
  assert_int_equal(nd4c_array_scalar(ND4C_FLOAT32, 42, cpu, &value), ND4C_OK);
  assert_int_equal(nd4c_context_enter(here, NULL), ND4C_OK);
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  assert_int_equal(nd4c_array_set(array, items, 2, value), ND4C_OK);
  assert_int_equal(nd4c_context_enter(NULL, NULL), ND4C_OK);
  assert_copied(cpu, device, 1, 4);
  assert_copied(device, cpu, 0, 0);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  assert_states(array, '-', 'M');
  expected[17 * COLUMNS + 18] = 42;
  assert_contents(array);
  nd4c_array_release(value);
  nd4c_array_release(array);
}

/* A device that fails at the copy: the caller gets the failure if no replica got the part; otherwise the others have
 * the value. */
static void a_part_that_cannot_be_written_is_told(void **state) {
  (void)state;
  if (stub_control == NULL) {
    skip();
  }
  nd4c_array *array = counted(), *view = element_of(array, 5, 5), *lost = NULL;
  assert_int_equal(stub_control("fail copy_from_host:1"), ND4C_OK);
  assert_int_equal(nd4c_array_write(view, &(float){1}, sizeof(float)), ND4C_DEVICE);
  assert_non_null(strstr(nd4c_error_message(), "stub:0"));
  assert_int_equal(stub_control("reset"), ND4C_OK);
  assert_states(array, '-', 'M');
  assert_contents(array);
  assert_int_equal(stub_control("fail copy_from_host:1"), ND4C_OK);
  int64_t bytes = number_values(view, 6);
  assert_int_equal(nd4c_array_write(view, values, (size_t)bytes), ND4C_OK);
  assert_int_equal(stub_control("reset"), ND4C_OK);
  assert_states(array, 'M', 'I');
  assert_contents(array);
  nd4c_array_release(view);
  /* A part of an array without a value cannot be written. */
  assert_int_equal(stub_control("fail in_flight:1"), ND4C_OK);
  assert_int_equal(nd4c_add_on(there, array, array, &lost), ND4C_OK);
  view = element_of(lost, 0, 0);
  assert_int_equal(nd4c_array_write(view, values, sizeof(float)), ND4C_DEVICE);
  assert_int_equal(nd4c_array_write(view, values, sizeof(float)), ND4C_DEVICE);
  assert_non_null(strstr(nd4c_error_message(), "add failed on stub:0"));
  assert_int_equal(stub_control("reset"), ND4C_OK);
  nd4c_array_release(view);
  nd4c_array_release(lost);
  nd4c_array_release(array);
}

static void layouts_are_distinct_or_may_not_be(void **state) {
  (void)state;
  static const struct {
    int64_t shape[3], strides[3];
    bool distinct;
  } rows[] = {{{2, 3, 4}, {12, 4, 1}, true}, {{4, 3, 2}, {1, -4, 12}, true}, {{2, 3, 4}, {12, 0, 1}, false},
              {{2, 1, 4}, {4, 0, 1}, true},  {{3, 2, 2}, {1, 1, 8}, false},  {{2, 3, 4}, {12, 3, 1}, false},
              {{1, 1, 1}, {0, 0, 0}, true},  {{5, 2, 1}, {2, 1, 0}, true},   {{2, 2, 2}, {4, 2, -1}, true}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_int_equal(nd4c_layout_is_distinct(3, rows[i].shape, rows[i].strides), rows[i].distinct);
  }
}

static int start(void **state) {
  (void)state;
  nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  nd4c_status status = nd4c_context_create(&options, &there);
  options.device = cpu;
  return status == ND4C_OK && nd4c_context_create(&options, &here) == ND4C_OK ? 0 : 1;
}

static int stop(void **state) {
  (void)state;
  (void)nd4c_context_destroy(there);
  (void)nd4c_context_destroy(here);
  return stub_control != NULL ? stub_stop() : 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_parts_travel_alone),
      cmocka_unit_test(every_current_replica_is_written),
      cmocka_unit_test(elements_are_written_apart_until_that_is_dear),
      cmocka_unit_test(work_in_flight_comes_first),
      cmocka_unit_test(an_element_is_set_there),
      cmocka_unit_test(a_part_that_cannot_be_written_is_told),
      cmocka_unit_test(layouts_are_distinct_or_may_not_be),
  };
  name = argc > 1 ? argv[1] : name;
  if ((argc == 1 && stub_start() != ND4C_OK) || nd4c_device_find("cpu", &cpu) != ND4C_OK) {
    return 1;
  }
  if (nd4c_device_find(name, &device) != ND4C_OK) {
    print_message("skipped: %s\n", nd4c_error_message());
    return 77;
  }
  return cmocka_run_group_tests(tests, start, stop);
}
