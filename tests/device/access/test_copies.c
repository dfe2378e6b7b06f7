/* Which fills, copies and reads of arrays, or of parts of them, go through the host and which do not. The test runs a
 * second time on a device without `fill` (STUB_LIE=old_device), where the host fills. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "array/array.h"
#include "device/storage/storage.h"
#include "device/stub_plugin.h"

enum { COUNT = 1000, BYTES = COUNT * (int)sizeof(float) };
static const int64_t shape[1] = {COUNT};
static nd4c_device *cpu, *other; /* other: stub:1 */
static bool fills;               /* whether the stub fills */

static nd4c_trace_totals totals(const nd4c_device *from, const nd4c_device *to) {
  nd4c_trace_totals sums = {.struct_size = sizeof sums};
  assert_int_equal(nd4c_trace_get_totals(from, to, &sums), ND4C_OK);
  return sums;
}

/* The stub's calls that move bytes to and from the host. */
static int64_t crossings(void) {
  return stub_counter("copy_from_host") + stub_counter("copy_to_host");
}

static void assert_same_bytes(const nd4c_array *a, const nd4c_array *b) {
  unsigned char left[1024], right[1024];
  size_t bytes = (size_t)nd4c_dtype_bytes(nd4c_array_dtype(a), nd4c_array_size(a));
  assert_true(bytes <= sizeof left);
  assert_int_equal(nd4c_array_read(a, left, bytes), ND4C_OK);
  assert_int_equal(nd4c_array_read(b, right, bytes), ND4C_OK);
  assert_memory_equal(left, right, bytes);
}

static void fill_one(nd4c_dtype dtype, int64_t count, const double *value) {
  nd4c_array *here = NULL, *there = NULL;
  int64_t before = crossings();
  nd4c_status status = value == NULL ? nd4c_array_zeros(dtype, 1, &count, stub_device, &there)
                                     : nd4c_array_full(dtype, 1, &count, *value, stub_device, &there);
  assert_int_equal(status, ND4C_OK);
  assert_int_equal(crossings() - before, fills || count == 0 ? 0 : 1);
  assert_int_equal(nd4c_array_full(dtype, 1, &count, value != NULL ? *value : 0, cpu, &here), ND4C_OK);
  assert_same_bytes(there, here);
  nd4c_array_release(there);
  nd4c_array_release(here);
}

static void every_dtype_is_filled_there(void **state) {
  (void)state;
  static const int64_t counts[] = {0, 1, 7, 64};
  static const double values[] = {0, 1, -2.5};
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && info->available && dtype != ND4C_UTF8; i++) {
      fill_one(dtype, counts[i], NULL);
      for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
        fill_one(dtype, counts[i], &values[v]);
      }
    }
  }
}

/* In an arena arrays do not begin where buffers do. */
static void arenas_are_filled(void **state) {
  (void)state;
  nd4c_workspace *workspace = NULL;
  assert_int_equal(nd4c_workspace_create(NULL, &workspace), ND4C_OK);
  for (int cycle = 0; cycle < 3; cycle++) {
    nd4c_array *arrays[4] = {NULL}, *copy = NULL;
    float values[COUNT];
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    for (int i = 0; i < 4; i++) {
      assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, i, stub_device, &arrays[i]), ND4C_OK);
    }
    assert_int_equal(nd4c_array_to_device(arrays[3], stub_device, &copy), ND4C_OK);
    for (int i = 0; i < 5; i++) {
      const nd4c_array *array = i < 4 ? arrays[i] : copy;
      assert_int_equal(nd4c_array_read(array, values, sizeof values), ND4C_OK);
      assert_float_equal(values[0], i < 4 ? i : 3, 0);
      assert_float_equal(values[COUNT - 1], i < 4 ? i : 3, 0);
    }
    for (int i = 0; i < 4; i++) {
      nd4c_array_release(arrays[i]);
    }
    nd4c_array_release(copy);
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
  }
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
}

static nd4c_array *numbers(nd4c_device *device) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_arange(ND4C_FLOAT32, 0, 1, COUNT, device, &array), ND4C_OK);
  return array;
}

static void assert_numbers(const nd4c_array *array, int64_t first, int64_t step) {
  float values[COUNT];
  int64_t count = nd4c_array_size(array);
  assert_int_equal(nd4c_array_read(array, values, (size_t)count * sizeof *values), ND4C_OK);
  for (int64_t i = 0; i < count; i++) {
    assert_float_equal(values[i], (float)(first + i * step), 0);
  }
}

typedef struct way {
  const char *from, *to;
  int64_t start, stop, step;    /* of the view that is copied */
  int64_t within, up, down;     /* calls of the stub */
  int64_t between, packs;       /* the same; one of its kernels' */
  int64_t copies, copied_bytes; /* that the tracer counts from `from` to `to` */
  char host_state;              /* of the source, behind it */
} way;

static nd4c_device *device_of(const char *name) {
  nd4c_device *device = NULL;
  assert_int_equal(nd4c_device_find(name, &device), ND4C_OK);
  return device;
}

static void arrays_go_the_short_way(void **state) {
  (void)state;
  static const way ways[] = {
      {"stub:0", "stub:0", 0, COUNT, 1, .within = 1, .host_state = '-'},
      {"stub:0", "stub:0", 10, 20, 1, .within = 1, .host_state = '-'},
      {"stub:0", "stub:0", 5, 5, 1, .host_state = '-'},
      {"stub:0", "stub:0", 10, 20, 2, .packs = 1, .host_state = '-'},
      {"stub:0", "stub:1", 0, COUNT, 1, .between = 1, .copies = 1, .copied_bytes = BYTES, .host_state = '-'},
      {"stub:0", "stub:1", 10, 20, 1, .between = 1, .copies = 1, .copied_bytes = 40, .host_state = '-'},
      {"stub:0", "stub:1", 10, 20, 2, .packs = 1, .between = 1, .copies = 1, .copied_bytes = 20, .host_state = '-'},
      {"stub:0", "cpu:0", 999, 9, -9, .packs = 1, .down = 1, .copies = 1, .copied_bytes = 440, .host_state = '-'},
      {"stub:0", "cpu:0", 0, COUNT, 1, .down = 1, .copies = 1, .copied_bytes = BYTES, .host_state = '-'},
      {"cpu:0", "stub:0", 0, COUNT, 1, .up = 1, .copies = 1, .copied_bytes = BYTES, .host_state = 'M'},
      {"cpu:0", "stub:0", 10, 20, 2, .up = 1, .copies = 1, .copied_bytes = 20, .host_state = 'M'},
      {"cpu:0", "cpu:0", 10, 20, 1, .host_state = 'M'},
  };
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    const way *w = &ways[i];
    nd4c_device *from = device_of(w->from), *to = device_of(w->to);
    nd4c_array *whole = numbers(from), *view = NULL, *copy = NULL;
    char *table = NULL;
    assert_int_equal(nd4c_array_slice(whole, &w->start, &w->stop, &w->step, &view), ND4C_OK);
    int64_t within = stub_counter("copy_within"), up = stub_counter("copy_from_host"),
            down = stub_counter("copy_to_host"), between = stub_counter("copy_between"), packs = stub_counter("run");
    assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
    assert_int_equal(nd4c_array_to_device(view, to, &copy), ND4C_OK);
    int64_t relayed = fills ? 0 : w->between; /* a device without `fill` lacks copies between devices, too */
    assert_int_equal(stub_counter("copy_within") - within, w->within);
    assert_int_equal(stub_counter("copy_from_host") - up, w->up + relayed);
    assert_int_equal(stub_counter("copy_to_host") - down, w->down + relayed);
    assert_int_equal(stub_counter("copy_between") - between, w->between - relayed);
    assert_int_equal(stub_counter("run") - packs, w->packs);
    assert_int_equal(totals(NULL, NULL).copies, w->copies);
    assert_int_equal(totals(from, to).copies, w->copies);
    assert_int_equal(totals(from, to).copied_bytes, w->copied_bytes);
    assert_int_equal(totals(NULL, NULL).round_trips, 0);
    assert_int_equal(nd4c_trace_stop(&table), ND4C_OK);
    assert_null(strstr(table, "host "));
    nd4c_free(table);
    assert_int_equal(nd4c_array_state(whole, cpu), w->host_state);
    assert_int_equal(nd4c_array_state(copy, to), 'M');
    assert_numbers(copy, w->start, w->step);
    nd4c_array_release(copy);
    nd4c_array_release(view);
    nd4c_array_release(whole);
  }
}

/* Elements that a broadcast view has several times travel once. */
static void what_is_broadcast_travels_once(void **state) {
  (void)state;
  static const int64_t wide[2] = {COUNT, 10};
  nd4c_array *row = NULL, *view = NULL, *copy = NULL;
  float values[COUNT * 10];
  assert_int_equal(nd4c_array_arange(ND4C_FLOAT32, 0, 1, 10, stub_device, &row), ND4C_OK);
  assert_int_equal(nd4c_broadcast_to(row, wide, 2, &view), ND4C_OK);
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  assert_int_equal(nd4c_array_to_device(view, cpu, &copy), ND4C_OK);
  assert_int_equal(totals(stub_device, cpu).copied_bytes, 40);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  assert_int_equal(nd4c_array_read(copy, values, sizeof values), ND4C_OK);
  assert_float_equal(values[COUNT * 10 - 1], 9, 0);
  nd4c_array_release(copy);
  nd4c_array_release(view);
  nd4c_array_release(row);
}

/* More than one staging buffer of the host holds, so it is copied piece by piece. The second device's own copy would
 * hide that. */
static void long_arrays_go_in_pieces(void **state) {
  (void)state;
  enum { LONG = (5 << 20) / 8 + 3 };
  char command[64];
  nd4c_array *array = NULL, *copy = NULL;
  double *values = malloc(LONG * sizeof *values);
  assert_non_null(values);
  assert_int_equal(nd4c_array_arange(ND4C_FLOAT64, 0, 1, LONG, stub_device, &array), ND4C_OK);
  (void)snprintf(command, sizeof command, "fail copy_between:0:%d", (int)ND4C_UNSUPPORTED);
  assert_int_equal(stub_control(command), ND4C_OK);
  int64_t up = stub_counter("copy_from_host"), down = stub_counter("copy_to_host");
  assert_int_equal(nd4c_array_to_device(array, other, &copy), ND4C_OK);
  assert_int_equal(stub_control("reset"), ND4C_OK);
  assert_int_equal(stub_counter("copy_from_host") - up, 6);
  assert_int_equal(stub_counter("copy_to_host") - down, 6);
  assert_int_equal(nd4c_array_read(copy, values, LONG * sizeof *values), ND4C_OK);
  for (int i = 0; i < LONG; i++) {
    assert_true(values[i] == i);
  }
  free(values);
  nd4c_array_release(copy);
  nd4c_array_release(array);
}

/* A status that nd4c does not have is reported as such, whichever function returned it. */
static void unknown_statuses_are_told(void **state) {
  (void)state;
  const struct {
    const char *call;
    bool within;
  } odd[] = {{"fill", false}, {"copy_between", true}, {"memory_available", false}};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    char command[64], words[64];
    nd4c_array *array = odd[i].within ? numbers(stub_device) : NULL, *copy = NULL;
    const int64_t sixty[1] = {60}, before = stub_counter(odd[i].call);
    int64_t bytes = 0;
    (void)snprintf(command, sizeof command, "fail %s:0:12345", odd[i].call);
    (void)snprintf(words, sizeof words, "%s returned 12345, which is not a status", odd[i].call);
    assert_int_equal(stub_control(command), ND4C_OK);
    const nd4c_status status = odd[i].within ? nd4c_array_to_device(array, other, &copy)
                               : i == 0      ? nd4c_array_full(ND4C_FLOAT32, 1, sixty, 7, stub_device, &copy)
                                             : nd4c_memory_remaining(stub_device, &bytes);
    const bool called = stub_counter(odd[i].call) > before;
    assert_true(called || !fills);
    if (called) {
      assert_int_equal(status, ND4C_INTERNAL);
      assert_non_null(strstr(nd4c_error_message(), words));
    }
    assert_int_equal(stub_control("reset"), ND4C_OK);
    nd4c_array_release(copy);
    nd4c_array_release(array);
  }
}

/* By request, too: migrating, and prefetching without waiting. */
static void devices_of_a_backend_need_no_host(void **state) {
  (void)state;
  nd4c_array *array = numbers(stub_device);
  int64_t crossed = crossings();
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  stub_order("pause until_wait");
  assert_int_equal(nd4c_array_prefetch(array, other), ND4C_OK);
  assert_int_equal(nd4c_array_is_ready(array, other), !fills); /* through the host the call waits for it */
  assert_int_equal(nd4c_array_wait(array), ND4C_OK);
  stub_order("resume");
  assert_int_equal(nd4c_array_migrate(array, other), ND4C_OK);
  assert_int_equal(nd4c_array_migrate(array, stub_device), ND4C_OK);
  assert_int_equal(totals(stub_device, other).copies, 1);
  assert_int_equal(totals(other, stub_device).copies, 1);
  assert_int_equal(totals(NULL, NULL).copies, 2);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  assert_int_equal(crossings() - crossed, fills ? 0 : 4);
  assert_numbers(array, 0, 1);
  nd4c_array_release(array);
}

enum { LARGE = 100000, LARGE_BYTES = LARGE * (int)sizeof(float) };

static nd4c_array *large(void) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_arange(ND4C_FLOAT32, 0, 1, LARGE, stub_device, &array), ND4C_OK);
  return array;
}

typedef struct part {
  int64_t start, stop, step; /* of the view that is read */
  int64_t bytes;             /* that come to the host */
  char host_state;           /* behind that */
} part;

static void small_parts_leave_the_rest(void **state) {
  (void)state;
  static const part parts[] = {
      {500, 501, 1, 4, '-'},
      {10, 20, 1, 40, '-'},
      {10, 20, 3, 40, '-'},
      {20, 10, -1, 40, '-'},
      {0, LARGE / 4 - 1, 1, LARGE_BYTES / 4 - 4, '-'},
      {0, LARGE / 4, 1, LARGE_BYTES, 'S'},
      {0, LARGE, LARGE / 2, 8, '-'}, /* two elements far apart: packed first */
      {0, LARGE, 3, LARGE_BYTES, 'S'},
  };
  float *values = malloc(LARGE_BYTES);
  assert_non_null(values);
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    const part *p = &parts[i];
    nd4c_array *array = large(), *view = NULL;
    assert_int_equal(nd4c_array_slice(array, &p->start, &p->stop, &p->step, &view), ND4C_OK);
    assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
    int64_t count = nd4c_array_size(view);
    assert_int_equal(nd4c_array_read(view, values, (size_t)count * sizeof *values), ND4C_OK);
    assert_int_equal(totals(stub_device, cpu).copies, 1);
    assert_int_equal(totals(stub_device, cpu).copied_bytes, p->bytes);
    assert_int_equal(nd4c_array_state(array, cpu), p->host_state);
    for (int64_t n = 0; n < count; n++) {
      assert_true(values[n] == (float)(p->start + n * p->step));
    }
    /* The device's replica is still current: an op there copies nothing, and no round trip is counted. */
    nd4c_array *sum = NULL;
    assert_int_equal(nd4c_add_on(stub_context, array, array, &sum), ND4C_OK);
    assert_int_equal(totals(cpu, NULL).copies, 0);
    assert_int_equal(totals(NULL, NULL).round_trips, 0);
    assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
    nd4c_array_release(sum);
    nd4c_array_release(view);
    nd4c_array_release(array);
  }
  free(values);
}

/* Reads by element copy at most a quarter of the storage; then the next read copies all of it. A new value restarts the
 * count. */
static void elements_are_read_apart_until_that_is_dear(void **state) {
  (void)state;
  nd4c_array *array = large();
  double value = 0;
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  for (int round = 0; round < 2; round++) {
    int64_t alone = 0;
    for (; nd4c_array_state(array, cpu) != 'S'; alone++) {
      int64_t index = LARGE - 1 - alone;
      assert_true(alone < 1000);
      assert_int_equal(nd4c_array_item(array, &index, &value), ND4C_OK);
      assert_true(value == (round == 0 ? (double)index : 0));
    }
    assert_int_equal(alone, LARGE_BYTES / 4 / 256 + 1);
    assert_int_equal(nd4c_subtract_on(stub_context, array, array, &array), ND4C_OK);
  }
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  nd4c_array_release(array);
}

static void elements_of_every_dtype_are_read_apart(void **state) {
  (void)state;
  static const int64_t count = 20000, places[] = {0, 7, -1};
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    nd4c_array *array = NULL;
    if (!nd4c_dtype_get_info(dtype)->available || dtype == ND4C_UTF8) {
      continue;
    }
    assert_int_equal(nd4c_array_full(dtype, 1, &count, 1, stub_device, &array), ND4C_OK);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
      double value = 0;
      assert_int_equal(nd4c_array_item(array, &places[i], &value), ND4C_OK);
      assert_true(value == 1);
      assert_int_equal(nd4c_array_state(array, cpu), '-');
    }
    nd4c_array_release(array);
  }
}

/* A summary copies only the corners that it prints; the text is the same. */
static void printing_brings_what_it_shows(void **state) {
  (void)state;
  static const int64_t shape2[] = {100, 1000}, reversed[] = {1, 0};
  for (int act = 0; act < 3; act++) {
    nd4c_array *flat = large(), *array = NULL, *view = NULL, *here = NULL;
    char *text = NULL, *expected = NULL;
    assert_int_equal(nd4c_reshape(flat, shape2, 2, &array), ND4C_OK);
    if (act == 0) {
      view = nd4c_array_retain(array);
    } else if (act == 1) {
      assert_int_equal(nd4c_transpose(array, reversed, 2, &view), ND4C_OK);
    } else {
      static const int64_t start[2] = {5, 990}, stop[2] = {7, 1000}, step[2] = {1, 1};
      assert_int_equal(nd4c_array_slice(array, start, stop, step, &view), ND4C_OK);
    }
    assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
    assert_int_equal(nd4c_array_format(view, NULL, &text), ND4C_OK);
    assert_int_equal(totals(stub_device, cpu).copied_bytes, act < 2 ? 36 * 4 : 1010 * 4);
    assert_int_equal(totals(stub_device, cpu).copies, act == 0 ? 12 : act == 1 ? 36 : 1);
    assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
    assert_int_equal(nd4c_array_state(flat, cpu), '-');
    assert_int_equal(nd4c_array_to_device(view, cpu, &here), ND4C_OK);
    assert_int_equal(nd4c_array_format(here, NULL, &expected), ND4C_OK);
    assert_string_equal(text, expected);
    nd4c_free(text);
    nd4c_free(expected);
    nd4c_array_release(here);
    nd4c_array_release(view);
    nd4c_array_release(array);
    nd4c_array_release(flat);
  }
}

/* The caller gets the failure and the array is unchanged; a read of an array that was never written fails, too. */
static void a_part_that_cannot_be_read_is_told(void **state) {
  (void)state;
  static const char *const calls[] = {"copy_to_host", "fence_record", "fence_wait", "in_flight_copy"};
  static const int64_t index = 3;
  nd4c_array *array = large();
  double value = 0;
  char *text = NULL;
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    char command[64];
    (void)snprintf(command, sizeof command, "fail %s:0", calls[i]);
    assert_int_equal(nd4c_array_wait(array), ND4C_OK);
    assert_int_equal(stub_control(command), ND4C_OK);
    assert_int_equal(nd4c_array_item(array, &index, &value), ND4C_DEVICE);
    assert_non_null(strstr(nd4c_error_message(), "copy of 4 bytes with stub:0"));
    assert_int_equal(nd4c_array_format(array, NULL, &text), ND4C_DEVICE);
    assert_int_equal(stub_control("reset"), ND4C_OK);
    assert_int_equal(nd4c_array_state(array, stub_device), 'M');
  }
  assert_int_equal(nd4c_array_item(array, &index, &value), ND4C_OK);
  assert_true(value == 3);
  nd4c_array *sum = NULL;
  assert_int_equal(stub_control("fail in_flight:0"), ND4C_OK);
  assert_int_equal(nd4c_add_on(stub_context, array, array, &sum), ND4C_OK);
  assert_int_equal(nd4c_array_item(sum, &index, &value), ND4C_DEVICE);
  assert_int_equal(stub_control("reset"), ND4C_OK);
  assert_int_not_equal(nd4c_array_item(sum, &index, &value), ND4C_OK);
  assert_non_null(strstr(nd4c_error_message(), "add"));
  nd4c_array_release(sum);
  nd4c_array_release(array);
}

/* A replica on the target device or on the host serves as source; the one that was written last need not be read
 * again. */
static void the_nearest_replica_is_read(void **state) {
  (void)state;
  nd4c_array *array = numbers(stub_device), *copy = NULL;
  assert_int_equal(nd4c_array_prefetch(array, other), ND4C_OK);
  int64_t down = stub_counter("copy_to_host"), up = stub_counter("copy_from_host");
  assert_int_equal(nd4c_array_to_device(array, other, &copy), ND4C_OK);
  assert_int_equal(stub_counter("copy_to_host") - down, 0);
  assert_numbers(copy, 0, 1);
  nd4c_array_release(copy);
  const void *data = NULL;
  nd4c_array *third = numbers(stub_device);
  assert_int_equal(nd4c_array_data(third, &data), ND4C_OK);
  down = stub_counter("copy_to_host");
  up = stub_counter("copy_from_host");
  assert_int_equal(nd4c_array_to_device(third, other, &copy), ND4C_OK);
  assert_int_equal(stub_counter("copy_to_host") - down, 0);
  assert_int_equal(stub_counter("copy_from_host") - up, 1);
  assert_numbers(copy, 0, 1);
  nd4c_array_release(copy);
  nd4c_array_release(third);
  nd4c_array_release(array);
}

/* A new value does not count as a return of the one that the host has read. */
static void writing_is_no_round_trip(void **state) {
  (void)state;
  nd4c_array *array = numbers(stub_device);
  float values[COUNT];
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  assert_int_equal(nd4c_array_read(array, values, sizeof values), ND4C_OK);
  assert_int_equal(nd4c_array_write(array, values, sizeof values), ND4C_OK);
  assert_int_equal(totals(cpu, stub_device).copies, 1);
  assert_int_equal(totals(stub_device, cpu).copies, 1);
  assert_int_equal(totals(NULL, NULL).round_trips, 0);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  nd4c_array_release(array);
}

/* Each call fails in turn: the failure names the device, nothing is left, the source is unchanged. */
static void what_fails_leaves_nothing(void **state) {
  (void)state;
  /* Which acts each fails: 0 zeros, 1 a copy there, 2 elsewhere, 3 a strided one there, 4 elsewhere; and where the host
   * fills and carries. */
  static const struct {
    const char *call, *fails, *fails_old;
  } calls[] = {{"fill", "0", ""},
               {"copy_within", "1", "1"},
               {"copy_between", "24", ""},
               {"copy_to_host", "", "24"},
               {"copy_from_host", "", "024"},
               {"fence_record", "01234", "01234"},
               {"fence_wait", "01234", "01234"},
               {"in_flight_copy", "0124", "0124"},
               {"buffer_allocate", "01234", "01234"},
               {"run", "34", "34"},
               {"in_flight", "34", "34"},
               {"usable", "", ""}}; /* the host packs */
  static const int64_t first = 1, end = COUNT, step = 3;
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    for (int act = 0; act < 5; act++) {
      nd4c_array *source = numbers(stub_device), *made = NULL, *strided = NULL;
      char command[64];
      assert_int_equal(nd4c_array_slice(source, &first, &end, &step, &strided), ND4C_OK);
      stub_settle();
      (void)snprintf(command, sizeof command, "fail %s:0", calls[i].call);
      assert_int_equal(stub_control(command), ND4C_OK);
      nd4c_status status = act == 0  ? nd4c_array_zeros(ND4C_FLOAT32, 1, shape, stub_device, &made)
                           : act < 3 ? nd4c_array_to_device(source, act == 1 ? stub_device : other, &made)
                                     : nd4c_array_to_device(strided, act == 3 ? stub_device : other, &made);
      assert_int_equal(stub_control("reset"), ND4C_OK);
      const char *fails = fills ? calls[i].fails : calls[i].fails_old;
      assert_int_equal(status, strchr(fails, '0' + act) != NULL ? ND4C_DEVICE : ND4C_OK);
      if (status != ND4C_OK) {
        assert_non_null(strstr(nd4c_error_message(), "stub:"));
        assert_null(made);
      } else if (act > 0) {
        assert_numbers(made, act < 3 ? 0 : first, act < 3 ? 1 : step);
      }
      nd4c_array_release(made);
      nd4c_array_release(strided);
      assert_numbers(source, 0, 1);
      nd4c_array_release(source);
      stub_settle();
      (void)nd4c_memory_trim(other, 0);
      assert_int_equal(stub_counter("buffers") + stub_counter("fences") + stub_counter("pinned"), 0);
    }
  }
}

/* An array that another thread, in need of room, sends to the host between its making and its filling. */
static void an_array_that_left_is_filled_where_it_is(void **state) {
  (void)state;
  const float seven = 7;
  float values[COUNT];
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 1, shape, stub_device, &array), ND4C_OK);
  assert_int_equal(nd4c_array_migrate(array, cpu), ND4C_OK);
  assert_int_equal(nd4c_storage_fill(array->storage, BYTES, &seven, sizeof seven), ND4C_OK);
  assert_int_equal(nd4c_array_read(array, values, sizeof values), ND4C_OK);
  assert_float_equal(values[0], 7, 0);
  assert_float_equal(values[COUNT - 1], 7, 0);
  nd4c_array_release(array);
}

static int start(void **state) {
  (void)state;
  const char *lie = getenv("STUB_LIE");
  fills = lie == NULL || strcmp(lie, "old_device") != 0;
  return stub_start() == ND4C_OK && nd4c_device_find("cpu", &cpu) == ND4C_OK &&
                 nd4c_device_find("stub:1", &other) == ND4C_OK
             ? 0
             : 1;
}

static int stop(void **state) {
  (void)state;
  return stub_stop();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_dtype_is_filled_there),
      cmocka_unit_test(arenas_are_filled),
      cmocka_unit_test(arrays_go_the_short_way),
      cmocka_unit_test(what_is_broadcast_travels_once),
      cmocka_unit_test(long_arrays_go_in_pieces),
      cmocka_unit_test(unknown_statuses_are_told),
      cmocka_unit_test(devices_of_a_backend_need_no_host),
      cmocka_unit_test(small_parts_leave_the_rest),
      cmocka_unit_test(elements_are_read_apart_until_that_is_dear),
      cmocka_unit_test(elements_of_every_dtype_are_read_apart),
      cmocka_unit_test(printing_brings_what_it_shows),
      cmocka_unit_test(a_part_that_cannot_be_read_is_told),
      cmocka_unit_test(the_nearest_replica_is_read),
      cmocka_unit_test(writing_is_no_round_trip),
      cmocka_unit_test(what_fails_leaves_nothing),
      cmocka_unit_test(an_array_that_left_is_filled_where_it_is),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
