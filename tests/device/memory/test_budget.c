/* Memory of a device that is not the host: caps by call and property, remaining bytes, staging buffers, spilling. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "device/stub_test.h"

enum { MEGABYTE = 1 << 20, COUNT = MEGABYTE / 4 };
static nd4c_device *cpu;

static int64_t remaining(const nd4c_device *device) {
  int64_t bytes = -1;
  assert_int_equal(nd4c_memory_remaining(device, &bytes), ND4C_OK);
  return bytes;
}

static nd4c_status make_bytes(int64_t bytes, double value, nd4c_array **array) {
  int64_t count = bytes / (int64_t)sizeof(float);
  *array = NULL;
  return nd4c_array_full(ND4C_FLOAT32, 1, &count, value, stub_device, array);
}

static nd4c_status make(int64_t megabytes, double value, nd4c_array **array) {
  return make_bytes(megabytes * MEGABYTE, value, array);
}

/* The same through the host. */
static nd4c_status make_from_host(int64_t megabytes, double value, nd4c_array **array) {
  int64_t count = megabytes * COUNT;
  float *elements = malloc((size_t)count * sizeof *elements);
  assert_non_null(elements);
  for (int64_t i = 0; i < count; i++) {
    elements[i] = (float)value;
  }
  *array = NULL;
  nd4c_status status = nd4c_array_from_data(ND4C_FLOAT32, 1, &count, elements, stub_device, array);
  free(elements);
  return status;
}

static void assert_value(const nd4c_array *array, float value) {
  int64_t count = nd4c_array_size(array);
  float *elements = malloc((size_t)count * sizeof *elements);
  assert_non_null(elements);
  assert_int_equal(nd4c_array_read(array, elements, (size_t)count * sizeof *elements), ND4C_OK);
  for (int64_t i = 0; i < count; i += 977) {
    assert_float_equal(elements[i], value, 0);
  }
  assert_float_equal(elements[count - 1], value, 0);
  free(elements);
}

/* `a` leaves no room under the cap for another array: the text of each call, and how often it names the device. */
static void assert_told_once(nd4c_status status, const char *begin) {
  const char *text = nd4c_error_message(), *first = strstr(text, "stub:0");
  assert_int_equal(status, ND4C_MEMORY_CAP);
  if (strncmp(text, begin, strlen(begin)) != 0 || first == NULL || strstr(first + 1, "stub:0") != NULL) {
    fail_msg("not \"%s\", or not one device, in \"%s\"", begin, text);
  }
}

static void capped_calls_are_named(const nd4c_array *a) {
  const int64_t shape[1] = {COUNT};
  nd4c_array *out = NULL, *here = NULL;
  assert_int_equal(nd4c_memory_set_cap(stub_device, 6 * MEGABYTE), ND4C_OK);
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, cpu, &here), ND4C_OK);
  assert_told_once(nd4c_array_zeros(ND4C_FLOAT32, 1, shape, stub_device, &out), "nd4c_array_zeros: memory cap");
  assert_told_once(nd4c_array_to_device(here, stub_device, &out), "nd4c_array_to_device: ");
  assert_told_once(nd4c_array_migrate(here, stub_device), "nd4c_array_migrate: memory cap");
  assert_told_once(nd4c_square_on(stub_context, a, &out), "square: output: memory cap");
  nd4c_array *given = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, cpu, &given), ND4C_OK);
  assert_told_once(nd4c_square_on(stub_context, here, &given), "square: input 0, float32 (262144): memory cap");
  assert_null(out);
  nd4c_array_release(given);
  nd4c_array_release(here);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 8 * MEGABYTE), ND4C_OK);
}

static void caps_by_call_and_property(void **state) {
  (void)state;
  nd4c_array *a = NULL, *b = NULL;
  assert_int_equal(nd4c_memory_set_cap(stub_device, 8 * MEGABYTE), ND4C_OK);
  assert_int_equal(make(6, 1, &a), ND4C_OK);
  assert_int_equal(make(4, 1, &b), ND4C_MEMORY_CAP);
  assert_message(
      "nd4c_array_full: memory cap of stub:0 exceeded: 6291456 bytes in use and 0 cached, 4194304 more requested, cap "
      "8388608");
  assert_int_equal(make_bytes(4 * MEGABYTE - 4, 1, &b), ND4C_MEMORY_CAP); /* requested bytes, and allocated bytes */
  assert_message(" and 0 cached, 4194300 more requested (rounded up to 4194304), cap 8388608");
  capped_calls_are_named(a);
  nd4c_array_release(a);
  assert_int_equal(make(4, 1, &b), ND4C_OK); /* cached memory is trimmed first */
  nd4c_array_release(b);
  /* A property that changes counts from then on; that of another device does not. */
  assert_int_equal(nd4c_config_set("nd4j.device.memory.cap.OTHER.1", "1m"), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).cap_bytes, 8 * MEGABYTE);
  assert_int_equal(nd4c_config_set("nd4j.device.memory.cap.OTHER.0", "2m"), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).cap_bytes, 2 * MEGABYTE);
  assert_int_equal(make(4, 1, &b), ND4C_MEMORY_CAP);
  assert_int_equal(nd4c_config_set("gpuMemoryCapFraction", "0.5"), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).cap_bytes, 2 * MEGABYTE); /* the device's own cap */
  assert_int_equal(memory_info_of(cpu).cap_bytes, 0);
  assert_int_equal(nd4c_config_set("nd4j.device.memory.cap.OTHER.0", NULL), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).cap_bytes, 512 * MEGABYTE);
  /* Even the smallest fraction is a cap. */
  assert_int_equal(nd4c_config_set("gpuMemoryCapFraction", "0.00000001"), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).cap_bytes, 10);
  assert_int_equal(nd4c_config_set("gpuMemoryCapFraction", "0.000000000000000000000001"), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).cap_bytes, 1);
  assert_int_equal(make(1, 1, &b), ND4C_MEMORY_CAP);
  assert_int_equal(nd4c_config_set("nd4j.device.memory.cap.CPU.0", "3g"), ND4C_OK);
  assert_int_equal(memory_info_of(cpu).cap_bytes, INT64_C(3) << 30);
  assert_int_equal(nd4c_config_set("nd4j.device.memory.cap.CPU.0", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4j.device.memory.cap.OTHER.1", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_set("gpuMemoryCapFraction", NULL), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).cap_bytes, 0);
}

static void what_remains(void **state) {
  (void)state;
  nd4c_array *a = NULL;
  stub_settle();
  assert_int_equal(remaining(stub_device), 1 << 30);
  assert_int_equal(make(16, 1, &a), ND4C_OK);
  assert_int_equal(remaining(stub_device), (1 << 30) - 16 * MEGABYTE);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 20 * MEGABYTE), ND4C_OK);
  assert_int_equal(remaining(stub_device), 4 * MEGABYTE);
  nd4c_array_release(a); /* cached memory is still available */
  assert_int_equal(remaining(stub_device), 20 * MEGABYTE);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  assert_int_equal(remaining(stub_device), 1 << 30);
  assert_int_equal(nd4c_memory_trim(stub_device, 0), ND4C_OK);
  assert_int_equal(stub_control("memory 1048576"), ND4C_OK);
  assert_int_equal(remaining(stub_device), MEGABYTE);
  assert_int_equal(stub_control("memory -1"), ND4C_OK);
  assert_int_equal(nd4c_memory_remaining(stub_device, &(int64_t){0}), ND4C_DEVICE);
  assert_non_null(strstr(nd4c_error_message(), "memory_available gave -1 bytes, expected 0 or more"));
  assert_int_equal(stub_control("fail memory_available:1"), ND4C_OK);
  int64_t bytes = 7;
  assert_int_equal(nd4c_memory_remaining(stub_device, &bytes), ND4C_DEVICE);
  assert_int_equal(bytes, 7);
  assert_int_equal(stub_control("reset"), ND4C_OK);
  assert_int_equal(nd4c_memory_remaining(stub_device, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_memory_remaining(NULL, &bytes), ND4C_NULL_ARGUMENT);
  assert_true(remaining(cpu) > 0);
}

/* Copies use pinned buffers in pieces, or none if the device has none. */
static void staging(void **state) {
  (void)state;
  nd4c_array *a = NULL;
  stub_settle();
  assert_int_equal(stub_counter("pinned"), 0);
  int64_t copies = stub_counter("copy_from_host");
  assert_int_equal(make_from_host(5, 3, &a), ND4C_OK);
  assert_int_equal(stub_counter("copy_from_host") - copies, 5);
  assert_int_equal(stub_counter("pinned"), 2);
  assert_value(a, 3);
  int64_t allocated = stub_counter("pinned_allocate"), streams = stub_counter("stream_create");
  nd4c_array_release(a);
  for (int i = 0; i < 10; i++) {
    assert_int_equal(make_from_host(3, i, &a), ND4C_OK);
    assert_value(a, (float)i);
    nd4c_array_release(a);
  }
  assert_int_equal(stub_counter("pinned_allocate"), allocated);
  assert_int_equal(stub_counter("stream_create"), streams);
  stub_settle();
  assert_int_equal(stub_counter("pinned"), 0);
  /* One buffer only, then none at all. */
  assert_int_equal(stub_control("fail pinned_allocate:2"), ND4C_OK);
  assert_int_equal(make_from_host(3, 4, &a), ND4C_OK);
  assert_value(a, 4);
  nd4c_array_release(a);
  stub_settle();
  assert_int_equal(stub_control("fail pinned_allocate:0"), ND4C_OK);
  copies = stub_counter("copy_from_host");
  assert_int_equal(make_from_host(3, 5, &a), ND4C_OK);
  assert_int_equal(stub_counter("copy_from_host") - copies, 1);
  assert_value(a, 5);
  nd4c_array_release(a);
  assert_int_equal(stub_control("reset"), ND4C_OK);
}

/* A piece that fails in the middle ends the copy; nothing is held, and the next one works. */
static void pieces_that_fail(void **state) {
  (void)state;
  static const char *const calls[] = {"copy_from_host", "in_flight_copy", "fence_record", "fence_wait"};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    for (int number = 1; number <= 5; number++) {
      char command[64];
      nd4c_array *a = NULL;
      (void)snprintf(command, sizeof command, "fail %s:%d", calls[i], number);
      assert_int_equal(stub_control(command), ND4C_OK);
      assert_int_equal(make_from_host(5, 3, &a), ND4C_DEVICE);
      assert_message("copy of 5242880 bytes with stub:0");
      assert_null(a);
      assert_int_equal(stub_control("reset"), ND4C_OK);
      stub_settle();
      assert_int_equal(stub_counter("buffers") + stub_counter("pinned") + stub_counter("fences"), 0);
    }
  }
}

static void spilling_makes_room(void **state) {
  (void)state;
  nd4c_array *shared = NULL, *old = NULL, *young = NULL, *more = NULL;
  nd4c_memory_info before = memory_info_of(stub_device);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 13 * MEGABYTE), ND4C_OK);
  assert_int_equal(make(4, 1, &old), ND4C_OK);
  assert_int_equal(make(4, 2, &young), ND4C_OK);
  assert_int_equal(make(4, 3, &shared), ND4C_OK);
  assert_value(shared, 3); /* now the host has it, too */
  assert_int_equal(make(4, 4, &more), ND4C_MEMORY_CAP);
  assert_int_equal(nd4c_config_set("nd4c.device.memory.spill", "true"), ND4C_OK);
  assert_int_equal(make(4, 4, &more), ND4C_OK); /* arrays with a copy elsewhere are evicted first */
  assert_int_equal(nd4c_array_state(shared, stub_device), '-');
  assert_int_equal(nd4c_array_state(shared, cpu), 'M');
  nd4c_memory_info info = memory_info_of(stub_device);
  assert_int_equal(info.dropped_count - before.dropped_count, 1);
  assert_int_equal(info.spilled_count - before.spilled_count, 0);
  nd4c_array *squares = NULL;
  assert_int_equal(nd4c_square_on(stub_context, old, &squares), ND4C_OK); /* uses `old`: `young` is the older now */
  info = memory_info_of(stub_device);
  assert_int_equal(info.spilled_count - before.spilled_count, 1);
  assert_int_equal(info.spilled_bytes - before.spilled_bytes, 4 * MEGABYTE);
  assert_int_equal(nd4c_array_state(old, stub_device), 'M');
  assert_true(info.live_bytes + info.cached_bytes <= 13 * MEGABYTE);
  assert_value(young, 2);
  assert_value(more, 4);
  assert_value(squares, 1);
  assert_int_equal(nd4c_square_on(stub_context, young, &squares), ND4C_OK); /* comes back on use */
  assert_value(squares, 4);
  nd4c_array *huge = NULL;
  assert_int_equal(make(16, 1, &huge), ND4C_MEMORY_CAP); /* spilling cannot make room for it */
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  before = memory_info_of(stub_device);
  int64_t beyond = INT64_C(1) << 31; /* bytes: twice what the device has */
  assert_int_not_equal(nd4c_array_empty(ND4C_INT8, 1, &beyond, stub_device, &huge), ND4C_OK);
  info = memory_info_of(stub_device);
  assert_int_equal(info.dropped_count + info.spilled_count, before.dropped_count + before.spilled_count);
  /* The same when the device itself has no more memory. */
  (void)nd4c_memory_trim(stub_device, 0);
  assert_int_equal(stub_control("memory 18874368"), ND4C_OK);
  assert_int_equal(make(16, 9, &huge), ND4C_OK);
  assert_value(huge, 9);
  assert_value(old, 1);
  assert_int_equal(stub_control("reset"), ND4C_OK);
  nd4c_array *const all[] = {shared, old, young, more, squares, huge};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    nd4c_array_release(all[i]);
  }
  assert_int_equal(nd4c_config_set("nd4c.device.memory.spill", NULL), ND4C_OK);
}

/* All ways of using an array count, not only operations: the least recently used array is spilled. */
static void the_least_recently_used_goes(void **state) {
  (void)state;
  enum { ARRAYS = 3 };
  /* The last use of array 0, after all arrays were made and used by an operation in their order. */
  static const char *const uses[] = {"write", "migrate", "prefetch", "operation"};
  assert_int_equal(nd4c_config_set("nd4c.device.memory.spill", "true"), ND4C_OK);
  for (size_t use = 0; use < sizeof uses / sizeof uses[0]; use++) {
    nd4c_array *arrays[ARRAYS] = {NULL}, *few[ARRAYS] = {NULL}, *squares = NULL, *more = NULL;
    const int64_t start_at = 0, stop_at = 16;
    stub_settle();
    assert_int_equal(nd4c_memory_set_cap(stub_device, 13 * MEGABYTE), ND4C_OK);
    for (int i = 0; i < ARRAYS; i++) {
      assert_int_equal(make(4, i, &arrays[i]), ND4C_OK);
      assert_int_equal(nd4c_array_slice(arrays[i], &start_at, &stop_at, NULL, &few[i]), ND4C_OK);
      assert_int_equal(nd4c_square_on(stub_context, few[i], &squares), ND4C_OK);
      assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
    }
    float *elements = calloc(MEGABYTE, sizeof *elements);
    assert_non_null(elements);
    nd4c_status status = use == 0   ? nd4c_array_write(arrays[0], elements, MEGABYTE * sizeof *elements)
                         : use == 1 ? nd4c_array_migrate(arrays[0], stub_device)
                         : use == 2 ? nd4c_array_prefetch(arrays[0], stub_device)
                                    : nd4c_square_on(stub_context, few[0], &squares);
    free(elements);
    assert_int_equal(status, ND4C_OK);
    assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
    assert_int_equal(make(4, 9, &more), ND4C_OK);
    if (nd4c_array_state(arrays[0], stub_device) != 'M' || nd4c_array_state(arrays[1], stub_device) != '-') {
      fail_msg("after a %s of the oldest array it, or not the next one, was spilled", uses[use]);
    }
    assert_int_equal(nd4c_array_state(arrays[2], stub_device), 'M');
    for (int i = 0; i < ARRAYS; i++) {
      nd4c_array_release(few[i]);
      nd4c_array_release(arrays[i]);
    }
    nd4c_array_release(squares);
    nd4c_array_release(more);
  }
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.device.memory.spill", NULL), ND4C_OK);
}

/* Whether it is larger than the cap or than the device. */
static void what_can_never_fit_waits_for_nothing(void **state) {
  (void)state;
  nd4c_array *few = NULL, *late = NULL, *none = NULL;
  const int64_t beyond = INT64_C(1) << 31;
  stub_settle();
  assert_int_equal(make_bytes(64, 3, &few), ND4C_OK);
  const int64_t waits = stub_counter("host_waits");
  stub_order("pause until_wait");
  assert_int_equal(nd4c_square_on(stub_context, few, &late), ND4C_OK);
  assert_int_equal(nd4c_memory_set_cap(stub_device, MEGABYTE), ND4C_OK);
  assert_int_equal(make(4, 1, &none), ND4C_MEMORY_CAP);
  assert_message(" 4194304 more requested, cap 1048576");
  assert_false(nd4c_array_is_ready(late, stub_device));
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  assert_int_equal(nd4c_array_empty(ND4C_INT8, 1, &beyond, stub_device, &none), ND4C_MEMORY);
  assert_false(nd4c_array_is_ready(late, stub_device));
  assert_int_equal(stub_counter("host_waits"), waits);
  assert_value(late, 9);
  nd4c_array_release(few);
  nd4c_array_release(late);
}

static void *ask_for_two(void *status) {
  nd4c_array *array = NULL;
  *(nd4c_status *)status = make(2, 1, &array);
  return NULL;
}

/* The call does not wait for work that other threads submit meanwhile. */
static void what_does_not_fit_waits_for_what_was_there(void **state) {
  (void)state;
  nd4c_array *cached = NULL, *few = NULL, *most = NULL, *first = NULL, *second = NULL;
  nd4c_status status = ND4C_OK;
  pthread_t thread;
  stub_settle();
  assert_int_equal(make_bytes(64, 3, &few), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, few, &first), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, few, &second), ND4C_OK);
  assert_int_equal(make(3, 1, &most), ND4C_OK);
  assert_int_equal(make_bytes(MEGABYTE / 2, 1, &cached), ND4C_OK);
  nd4c_array_release(cached);
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 4 * MEGABYTE), ND4C_OK);
  stub_order("pause");
  assert_int_equal(nd4c_square_on(stub_context, few, &first), ND4C_OK);
  assert_true(memory_info_of(stub_device).cached_bytes > 0);
  const int64_t waits = stub_counter("host_waits");
  assert_int_equal(pthread_create(&thread, NULL, ask_for_two, &status), 0);
  while (stub_counter("host_waits") == waits) {
    (void)sched_yield();
  }
  assert_int_equal(memory_info_of(stub_device).cached_bytes, 0); /* which was spilled first */
  stub_order("pause");
  assert_int_equal(nd4c_square_on(stub_context, few, &second), ND4C_OK);
  stub_order("resume first");
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(status, ND4C_MEMORY_CAP);
  assert_true(nd4c_array_is_ready(first, stub_device));
  assert_false(nd4c_array_is_ready(second, stub_device));
  stub_order("resume");
  assert_value(second, 9);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  nd4c_array *const all[] = {few, most, first, second};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    nd4c_array_release(all[i]);
  }
}

/* A call does not spill its own operands, or arrays that pending work uses. */
static void what_is_in_use_stays(void **state) {
  (void)state;
  enum { PIECE = 32768 }; /* small, because the stub computes slowly */
  nd4c_array *a = NULL, *b = NULL, *y = NULL;
  stub_settle();
  assert_int_equal(nd4c_config_set("nd4c.device.memory.spill", "true"), ND4C_OK);
  assert_int_equal(make_bytes(4 * PIECE, 1, &a), ND4C_OK);
  assert_int_equal(make_bytes(4 * PIECE, 2, &b), ND4C_OK);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 9 * PIECE), ND4C_OK);
  nd4c_status status = nd4c_add_on(stub_context, a, b, &y); /* needs 12 */
  assert_int_equal(status, ND4C_MEMORY_CAP);
  assert_null(y);
  assert_value(a, 1);
  assert_value(b, 2);
  /* The same for arrays that pending work reads. */
  nd4c_array *few = NULL, *squares = NULL;
  int64_t start_at = 0, stop_at = 16;
  assert_int_equal(nd4c_array_migrate(a, stub_device), ND4C_OK);
  assert_int_equal(nd4c_array_migrate(b, stub_device), ND4C_OK);
  assert_int_equal(nd4c_array_slice(b, &start_at, &stop_at, NULL, &few), ND4C_OK);
  assert_int_equal(stub_control("delay 50000"), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, few, &squares), ND4C_OK);
  assert_int_equal(stub_control("delay 0"), ND4C_OK);
  assert_int_equal(make_bytes(4 * PIECE, 3, &y), ND4C_OK);
  assert_int_equal(nd4c_array_state(a, stub_device), '-');
  assert_int_equal(nd4c_array_state(b, stub_device), 'M');
  assert_value(squares, 4);
  nd4c_array_release(y);
  nd4c_array_release(few);
  nd4c_array_release(squares);
  y = NULL;
  assert_int_equal(nd4c_memory_set_cap(stub_device, 13 * PIECE), ND4C_OK);
  for (int i = 0; i < 20; i++) {
    assert_int_equal(nd4c_add_on(stub_context, a, b, &y), ND4C_OK);
    assert_int_equal(nd4c_add_on(stub_context, y, b, &y), ND4C_OK);
    assert_value(y, 5);
    nd4c_array_release(y);
    y = NULL;
  }
  /* The host has no room for it: the call is refused, and nothing is lost. */
  assert_int_equal(make_bytes(4 * PIECE, 3, &y), ND4C_OK);
  assert_int_equal(stub_control("fail copy_to_host:0"), ND4C_OK);
  nd4c_array *c = NULL, *d = NULL;
  assert_int_equal(nd4c_memory_set_cap(stub_device, 12 * PIECE), ND4C_OK);
  nd4c_array *const pair[] = {a, b, y};
  assert_int_equal(nd4c_array_migrate(pair[0], stub_device), ND4C_OK);
  assert_int_equal(nd4c_array_migrate(pair[1], stub_device), ND4C_OK);
  assert_int_equal(make_bytes(4 * PIECE, 4, &c), ND4C_MEMORY_CAP);
  assert_int_equal(stub_control("reset"), ND4C_OK);
  assert_value(a, 1);
  assert_value(y, 3);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.device.memory.spill", NULL), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_array_release(y);
  nd4c_array_release(d);
}

/* Arrays without elements take no memory of a full device or of an arena, and hold none on the device that they left.
 * Strings cannot be made there either. */
static void arrays_without_elements(void **state) {
  (void)state;
  const int64_t none[1] = {0}, two[1] = {2};
  nd4c_array *arrays[3] = {NULL}, *squares = NULL, *strings = NULL;
  stub_settle();
  assert_int_equal(nd4c_memory_set_cap(stub_device, 1), ND4C_OK);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 1, none, i == 2 ? cpu : stub_device, &arrays[i]), ND4C_OK);
  }
  assert_int_equal(nd4c_square_on(stub_context, arrays[0], &squares), ND4C_OK);
  assert_int_equal(nd4c_array_migrate(arrays[2], stub_device), ND4C_OK);
  assert_int_equal(nd4c_array_state(arrays[2], cpu), '-');
  assert_int_equal(nd4c_array_state(arrays[2], stub_device), 'M');
  assert_int_equal(nd4c_array_read(squares, NULL, 0), ND4C_OK);
  nd4c_memory_info info = memory_info_of(stub_device);
  assert_int_equal(info.live_bytes + info.cached_bytes, 0);
  assert_int_equal(info.live_count, 4);
  for (int i = 0; i < 3; i++) {
    nd4c_array_release(arrays[i]);
  }
  nd4c_array_release(squares);
  stub_settle();
  assert_int_equal(stub_counter("buffers"), 0);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  assert_int_equal(nd4c_array_empty(ND4C_UTF8, 1, two, stub_device, &strings), ND4C_DTYPE);
  assert_message("nd4c_array_empty: strings live on the host, not on stub:0");
  assert_null(strings);
}

static void shorter_structs(void **state) {
  (void)state;
  nd4c_memory_info info = {.struct_size = offsetof(nd4c_memory_info, dropped_count), .spilled_bytes = 77};
  assert_int_equal(nd4c_memory_get_info(stub_device, &info), ND4C_OK);
  assert_int_equal(info.spilled_bytes, 77);
}

static int start(void **state) {
  (void)state;
  return stub_start() == ND4C_OK && nd4c_device_find("cpu", &cpu) == ND4C_OK ? 0 : 1;
}

static int stop(void **state) {
  (void)state;
  return stub_stop();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(caps_by_call_and_property),
      cmocka_unit_test(what_remains),
      cmocka_unit_test(staging),
      cmocka_unit_test(pieces_that_fail),
      cmocka_unit_test(spilling_makes_room),
      cmocka_unit_test(the_least_recently_used_goes),
      cmocka_unit_test(what_can_never_fit_waits_for_nothing),
      cmocka_unit_test(what_does_not_fit_waits_for_what_was_there),
      cmocka_unit_test(what_is_in_use_stays),
      cmocka_unit_test(arrays_without_elements),
      cmocka_unit_test(shorter_structs),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
