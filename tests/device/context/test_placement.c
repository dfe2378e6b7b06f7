/* The devices of arrays: migration, prefetching, transfer policies. No failure leaves an object behind. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "device/stub_test.h"
#include "nd4c/dlpack.h"

enum { COUNT = 5000 };
static const int64_t shape[1] = {COUNT};
static nd4c_device *cpu, *second;
static nd4c_context *cpu_context;
static float buffer[COUNT];
static long loops = 20000;

static nd4c_array *filled(nd4c_device *device, double value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, value, device, &array), ND4C_OK);
  return array;
}

/* States on the host, stub:0 and stub:1. */
static void assert_states(const nd4c_array *array, const char *expected) {
  char states[4] = {nd4c_array_state(array, cpu), nd4c_array_state(array, stub_device), nd4c_array_state(array, second),
                    '\0'};
  assert_string_equal(states, expected);
}

static void assert_all(const nd4c_array *array, float value) {
  assert_int_equal(nd4c_array_read(array, buffer, sizeof buffer), ND4C_OK);
  for (int i = 0; i < COUNT; i++) {
    assert_float_equal(buffer[i], value, 0);
  }
}

static int64_t live(const nd4c_device *device) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_memory_get_info(device, &info), ND4C_OK);
  return info.live_bytes;
}

static void migrating_leaves_nothing_behind(void **state) {
  (void)state;
  int64_t cpu_before = live(cpu), stub_before = live(stub_device);
  nd4c_array *a = filled(cpu, 2), *view = NULL;
  int64_t start = 10, stop = 20;
  assert_int_equal(nd4c_array_slice(a, &start, &stop, NULL, &view), ND4C_OK);
  assert_states(a, "M--");
  assert_int_equal(nd4c_array_migrate(a, stub_device), ND4C_OK);
  assert_states(a, "-M-");
  assert_states(view, "-M-");
  assert_ptr_equal(nd4c_array_device(view), stub_device);
  assert_int_equal(live(cpu), cpu_before);
  assert_int_equal(nd4c_array_migrate(a, second), ND4C_OK); /* from one memory without addresses to another */
  assert_states(a, "--M");
  assert_int_equal(live(stub_device), stub_before);
  assert_int_equal(nd4c_array_migrate(a, second), ND4C_OK);
  assert_states(a, "--M");
  assert_int_equal(nd4c_array_migrate(a, cpu), ND4C_OK);
  assert_states(a, "M--");
  assert_all(a, 2);
  assert_int_equal(nd4c_array_migrate(view, stub_device), ND4C_OK);
  assert_all(a, 2); /* it comes back when it is read */
  assert_states(a, "SS-");
  assert_int_equal(nd4c_array_migrate(a, stub_device), ND4C_OK);
  assert_states(a, "-M-");
  nd4c_array_release(view);
  nd4c_array_release(a);
}

static void small_ones_and_foreign_ones(void **state) {
  (void)state;
  nd4c_array *small = NULL, *wrapped = NULL, *y = NULL;
  double value = 0;
  static float memory[COUNT];
  memory[7] = 3;
  assert_int_equal(nd4c_array_scalar(ND4C_FLOAT32, 5, cpu, &small), ND4C_OK);
  assert_int_equal(nd4c_array_migrate(small, stub_device), ND4C_OK);
  assert_states(small, "IM-"); /* the array keeps its small block */
  assert_int_equal(nd4c_array_migrate(small, cpu), ND4C_OK);
  assert_states(small, "M--");
  assert_int_equal(nd4c_array_item(small, NULL, &value), ND4C_OK);
  assert_float_equal(value, 5, 0);
  nd4c_array_release(small);
  assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, memory, true, NULL, NULL, &wrapped), ND4C_OK);
  assert_int_equal(nd4c_array_migrate(wrapped, stub_device), ND4C_OK);
  assert_states(wrapped, "SS-"); /* read-only memory is never written, so it must stay current */
  assert_int_equal(nd4c_square_on(stub_context, wrapped, &y), ND4C_OK);
  assert_int_equal(nd4c_array_item(y, (const int64_t[]){7}, &value), ND4C_OK);
  assert_float_equal(value, 9, 0);
  assert_int_equal(nd4c_array_migrate(wrapped, cpu), ND4C_OK);
  assert_states(wrapped, "M--");
  nd4c_array_release(wrapped);
  nd4c_array_release(y);
}

/* A consumer that got an address through DLPack may keep it; a small block loses that mark when its array ends. */
static void exported_memory_stays(void **state) {
  (void)state;
  for (int64_t count = 2; count <= COUNT; count += COUNT - 2) {
    nd4c_array *a = NULL;
    nd4c_dl_managed *managed = NULL;
    assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, &count, 6, cpu, &a), ND4C_OK);
    assert_int_equal(nd4c_array_to_dlpack(a, &managed), ND4C_OK);
    assert_int_equal(nd4c_array_migrate(a, stub_device), ND4C_OK);
    assert_states(a, "SS-");
    assert_float_equal(((const float *)managed->tensor.data)[count - 1], 6, 0);
    managed->deleter(managed);
    nd4c_array_release(a);
    assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, &count, 7, cpu, &a), ND4C_OK);
    assert_int_equal(nd4c_array_migrate(a, stub_device), ND4C_OK);
    assert_states(a, count == 2 ? "IM-" : "-M-");
    nd4c_array_release(a);
  }
}

static void prefetching_goes_on_by_itself(void **state) {
  (void)state;
  nd4c_array *a = filled(cpu, 3), *y = NULL;
  stub_order("pause until_wait");
  stub_order("delay 30000"); /* once it runs: a write that does not wait for it would change the copied values */
  assert_int_equal(nd4c_array_prefetch(a, stub_device), ND4C_OK);
  assert_states(a, "SS-");
  assert_false(nd4c_array_is_ready(a, stub_device));
  assert_true(nd4c_array_is_ready(a, cpu));
  int64_t copies = stub_counter("copy_from_host");
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK); /* comes after the copy, and makes none */
  assert_false(nd4c_array_is_ready(y, stub_device));
  assert_int_equal(stub_counter("copy_from_host"), copies);
  /* A write on the host waits until the copy has read the old value. */
  for (int i = 0; i < COUNT; i++) {
    buffer[i] = 8;
  }
  assert_int_equal(nd4c_array_write(a, buffer, sizeof buffer), ND4C_OK);
  assert_all(y, 9);
  assert_all(a, 8);
  assert_int_equal(nd4c_array_prefetch(y, cpu), ND4C_OK);
  nd4c_array_release(y); /* under way: kept until it is done */
  assert_int_equal(stub_control("reset"), ND4C_OK);
  assert_int_equal(nd4c_array_prefetch(a, second), ND4C_OK);
  assert_int_equal(nd4c_device_synchronize(second), ND4C_OK);
  assert_true(nd4c_array_is_ready(a, second));
  nd4c_array_release(a);
}

/* A copy that fails in flight loses no value: the next use copies again. */
static void a_prefetch_that_fails(void **state) {
  (void)state;
  nd4c_array *a = filled(cpu, 4), *y = NULL;
  assert_int_equal(stub_control("fail in_flight_copy:1"), ND4C_OK);
  assert_int_equal(nd4c_array_prefetch(a, stub_device), ND4C_OK);
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_DEVICE);
  assert_message("copy failed on stub:0");
  assert_false(nd4c_array_is_ready(a, stub_device));
  assert_states(a, "SI-");
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
  assert_all(y, 16);
  assert_all(a, 4);
  /* The other way. */
  nd4c_array *b = filled(stub_device, 6);
  assert_int_equal(stub_control("fail in_flight_copy:1"), ND4C_OK);
  assert_int_equal(nd4c_array_prefetch(b, cpu), ND4C_OK);
  assert_all(b, 6);
  (void)nd4c_device_synchronize(stub_device);
  assert_int_equal(stub_control("reset"), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_array_release(y);
}

/* A failure on a device does not affect a new value that was written elsewhere and is then copied to that device. */
static void an_old_failure_does_not_spoil_a_copy(void **state) {
  (void)state;
  nd4c_array *a = filled(stub_device, 3), *one = filled(cpu, 1), *x = filled(stub_device, 2);
  assert_int_equal(stub_control("fail in_flight:1"), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, a, &x), ND4C_OK); /* fails, and no call waits for it */
  assert_int_equal(nd4c_negative_on(cpu_context, one, &x), ND4C_OK);
  assert_int_equal(nd4c_array_migrate(x, stub_device), ND4C_OK);
  assert_states(x, "-M-");
  assert_all(x, -1);
  (void)nd4c_device_synchronize(stub_device);
  assert_int_equal(stub_control("reset"), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(one);
  nd4c_array_release(x);
}

static nd4c_context *with_policy(nd4c_device *device, nd4c_transfer transfer) {
  nd4c_context_options options = {.struct_size = sizeof options, .device = device, .transfer = transfer};
  nd4c_context *context = NULL;
  assert_int_equal(nd4c_context_create(&options, &context), ND4C_OK);
  return context;
}

static void transfers_can_be_refused(void **state) {
  (void)state;
  nd4c_context *strict = with_policy(stub_device, ND4C_TRANSFER_NONE);
  nd4c_array *a = filled(cpu, 2), *y = NULL;
  assert_int_equal(nd4c_square_on(strict, a, &y), ND4C_UNSUPPORTED);
  assert_null(y);
  assert_message("square");
  assert_message("input 0, float32 (5000)");
  assert_message("on cpu:0 and needed on stub:0");
  assert_message("the context's option transfer or nd4c.device.transfer");
  assert_states(a, "M--");
  assert_int_equal(nd4c_array_prefetch(a, stub_device), ND4C_OK); /* explicit requests are allowed */
  assert_int_equal(nd4c_square_on(strict, a, &y), ND4C_OK);
  assert_all(y, 4);
  assert_int_equal(nd4c_config_set("nd4c.device.transfer", "NONE"), ND4C_OK);
  nd4c_context *lent = NULL;
  assert_int_equal(nd4c_context_acquire(second, &lent), ND4C_OK);
  nd4c_array *z = NULL;
  assert_int_equal(nd4c_square(a, &z), ND4C_UNSUPPORTED);
  assert_int_equal(nd4c_context_release(lent), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.device.transfer", "sometimes"), ND4C_CONFIG);
  assert_int_equal(nd4c_config_set("nd4c.device.transfer", NULL), ND4C_OK);
  /* A copy that fails on the device is reported with its op and operand, too. */
  nd4c_array *here = filled(cpu, 3);
  assert_int_equal(stub_control("fail copy_from_host:1"), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, here, &z), ND4C_DEVICE);
  assert_int_equal(
      strncmp(nd4c_error_message(), "square: input 0, float32 (5000): copy of 20000 bytes with stub:0", 60), 0);
  assert_int_equal(stub_control("reset"), ND4C_OK);
  nd4c_array_release(here);
  nd4c_context_options wrong = {.struct_size = sizeof wrong, .transfer = (nd4c_transfer)9};
  assert_int_equal(nd4c_context_create(&wrong, &lent), ND4C_ARGUMENT);
  assert_int_equal(nd4c_context_destroy(strict), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(y);
}

static void eager_copies_follow_each_write(void **state) {
  (void)state;
  nd4c_context *eager = with_policy(stub_device, ND4C_TRANSFER_EAGER);
  nd4c_array *a = filled(cpu, 2), *given = filled(cpu, 0);
  assert_int_equal(nd4c_square_on(eager, a, &given), ND4C_OK); /* replicas of `given`: the host's and its new one */
  assert_states(given, "SS-");
  int64_t copies = stub_counter("copy_to_host");
  assert_all(given, 4);
  assert_int_equal(stub_counter("copy_to_host"), copies); /* it existed already */
  assert_int_equal(nd4c_context_enter(eager, NULL), ND4C_OK);
  for (int i = 0; i < COUNT; i++) {
    buffer[i] = 7;
  }
  assert_int_equal(nd4c_array_write(given, buffer, sizeof buffer), ND4C_OK);
  assert_states(given, "SS-");
  assert_int_equal(nd4c_context_enter(NULL, NULL), ND4C_OK);
  assert_all(given, 7);
  /* Only the log reports a copy that fails: the next use copies again. */
  assert_int_equal(stub_control("fail copy_to_host:1"), ND4C_OK);
  assert_int_equal(nd4c_square_on(eager, a, &given), ND4C_OK);
  assert_states(given, "IM-");
  assert_all(given, 4);
  assert_int_equal(stub_control("reset"), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(eager), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(given);
}

/* A replica that was Invalid before an eager write stays Invalid, for all ways of writing: by an op if other replicas
 * exist, by an op through the ready address of a storage without others, and by nd4c_array_write in both cases. */
static void eager_copies_leave_stale_ones(void **state) {
  (void)state;
  nd4c_context *eager = with_policy(cpu, ND4C_TRANSFER_EAGER), *lazy = with_policy(cpu, ND4C_TRANSFER_ON_DEMAND);
  nd4c_array *a = filled(cpu, 2), *given = filled(cpu, 0);
  for (int i = 0; i < COUNT; i++) {
    buffer[i] = 9;
  }
  for (int by_op = 0; by_op < 2; by_op++) {
    for (int alone = 0; alone < 2; alone++) {
      assert_int_equal(nd4c_array_migrate(given, stub_device), ND4C_OK);
      assert_int_equal(nd4c_array_prefetch(given, cpu), ND4C_OK);
      assert_int_equal(nd4c_square_on(lazy, a, &given), ND4C_OK); /* the stub's replica is stale from here on */
      assert_states(given, "MI-");
      if (alone == 0) {
        assert_int_equal(nd4c_array_prefetch(given, second), ND4C_OK);
      }
      int64_t copies = stub_counter("copy_from_host");
      assert_int_equal(nd4c_context_enter(eager, NULL), ND4C_OK);
      nd4c_status status =
          by_op != 0 ? nd4c_square_on(eager, a, &given) : nd4c_array_write(given, buffer, sizeof buffer);
      assert_int_equal(nd4c_context_enter(NULL, NULL), ND4C_OK);
      assert_int_equal(status, ND4C_OK);
      assert_states(given, alone != 0 ? "MI-" : "SIS");
      assert_int_equal(stub_counter("copy_from_host") - copies, alone != 0 ? 0 : 1);
      assert_all(given, by_op != 0 ? 4 : 9);
    }
  }
  assert_int_equal(nd4c_context_destroy(eager), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(lazy), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(given);
}

/* Each call fails in turn: a status, the contents intact, nothing held. */
static void whatever_fails_nothing_is_lost(void **state) {
  (void)state;
  static const char *const calls[] = {"buffer_allocate", "copy_from_host", "copy_to_host",     "stream_create",
                                      "copy_between",    "fence_record",   "fence_wait",       "in_flight_copy",
                                      "pinned_allocate", "fence_query",    "stream_wait_fence"};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    int failed = 0;
    for (int number = 1; number <= 3; number++) {
      char command[64];
      stub_settle(); /* frees objects kept for reuse, so that the call must make new ones */
      (void)nd4c_memory_trim(second, 0);
      int64_t held = live(stub_device);
      nd4c_array *a = filled(cpu, 5), *y = NULL;
      int64_t before = stub_counter(calls[i]);
      (void)snprintf(command, sizeof command, "fail %s:%d", calls[i], number);
      assert_int_equal(stub_control(command), ND4C_OK);
      stub_order("pause until_wait"); /* the copy is under way when its array is used */
      nd4c_status ahead = nd4c_array_prefetch(a, stub_device);
      nd4c_status used = nd4c_square_on(stub_context, a, &y); /* while it is on its way */
      nd4c_status there = nd4c_array_migrate(a, stub_device);
      nd4c_status further = nd4c_array_migrate(a, second);
      nd4c_status back = nd4c_array_migrate(a, cpu);
      assert_int_equal(stub_control("reset"), ND4C_OK);
      failed += stub_counter(calls[i]) - before >= number;
      if ((there != ND4C_OK) + (further != ND4C_OK) + (ahead != ND4C_OK) + (used != ND4C_OK) + (back != ND4C_OK) > 1) {
        fail_msg("%s: %d %d %d %d %d", command, there, further, ahead, used, back);
      }
      assert_all(a, 5);
      nd4c_array_release(a);
      nd4c_array_release(y);
      stub_settle();
      assert_int_equal(live(stub_device), held);
    }
    if (failed == 0) {
      fail_msg("%s was never called", calls[i]);
    }
  }
}

static void many_migrations_do_not_grow(void **state) {
  (void)state;
  nd4c_array *a = NULL;
  int64_t few[1] = {300};
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, few, 1, cpu, &a), ND4C_OK);
  nd4c_device *const round[] = {stub_device, cpu, second, stub_device, cpu};
  int64_t streams = 0, buffers = 0, held = 0, created = 0;
  for (long i = 0; i < loops; i++) {
    if (i == 100) {
      streams = stub_counter("stream_create");
      buffers = stub_counter("buffers");
      created = stub_counter("buffer_allocate");
      held = live(cpu) + live(stub_device) + live(second);
    }
    assert_int_equal(nd4c_array_migrate(a, round[i % 5]), ND4C_OK);
  }
  while (nd4c_array_device(a) != round[99 % 5]) { /* as at the first count */
    assert_int_equal(nd4c_array_migrate(a, round[99 % 5]), ND4C_OK);
  }
  assert_int_equal(stub_counter("stream_create"), streams);
  assert_int_equal(stub_counter("buffer_allocate"), created);
  assert_int_equal(stub_counter("buffers"), buffers);
  assert_int_equal(live(cpu) + live(stub_device) + live(second), held);
  nd4c_array_release(a);
}

static void wrong_calls_are_refused(void **state) {
  (void)state;
  nd4c_array *text = NULL, *a = filled(cpu, 1);
  const char *const strings[] = {"a"};
  int64_t one[1] = {1};
  assert_int_equal(nd4c_array_from_strings(1, one, strings, NULL, &text), ND4C_OK);
  assert_int_equal(nd4c_array_migrate(text, stub_device), ND4C_DTYPE);
  assert_int_equal(nd4c_array_prefetch(text, stub_device), ND4C_DTYPE);
  assert_int_equal(nd4c_array_migrate(text, cpu), ND4C_OK);
  assert_int_equal(nd4c_array_migrate(NULL, cpu), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_array_migrate(a, (nd4c_device *)(void *)&text), ND4C_HANDLE);
  assert_message("not a device of an open backend");
  assert_int_equal(nd4c_array_state(NULL, cpu), '-');
  assert_false(nd4c_array_is_ready(NULL, cpu));
  assert_int_equal(nd4c_array_migrate(a, NULL), ND4C_OK); /* the thread's context's: the host */
  assert_states(a, "M--");
  nd4c_array_release(text);
  nd4c_array_release(a);
}

static int start(void **state) {
  (void)state;
  nd4c_context_options options = {.struct_size = sizeof options};
  if (stub_start() != ND4C_OK || nd4c_device_find("cpu", &cpu) != ND4C_OK ||
      nd4c_device_find("stub:1", &second) != ND4C_OK) {
    return 1;
  }
  options.device = cpu;
  return nd4c_context_create(&options, &cpu_context) == ND4C_OK ? 0 : 1;
}

static int stop(void **state) {
  (void)state;
  (void)nd4c_context_destroy(cpu_context);
  return stub_stop();
}

/* Argument: number of migrations (default 10^5). */
int main(int argc, char **argv) {
  loops = argc > 1 ? strtol(argv[1], NULL, 10) : loops;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(migrating_leaves_nothing_behind), cmocka_unit_test(small_ones_and_foreign_ones),
      cmocka_unit_test(exported_memory_stays),           cmocka_unit_test(prefetching_goes_on_by_itself),
      cmocka_unit_test(a_prefetch_that_fails),           cmocka_unit_test(an_old_failure_does_not_spoil_a_copy),
      cmocka_unit_test(transfers_can_be_refused),        cmocka_unit_test(eager_copies_follow_each_write),
      cmocka_unit_test(eager_copies_leave_stale_ones),   cmocka_unit_test(whatever_fails_nothing_is_lost),
      cmocka_unit_test(many_migrations_do_not_grow),     cmocka_unit_test(wrong_calls_are_refused),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
