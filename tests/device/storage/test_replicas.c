/* Replicas: Modified, Shared, Invalid, as arrays go between the host and the stub's memory. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "array/array.h"
#include "device/context/context.h"
#include "device/storage/storage.h"
#include "device/storage/storage_body.h"
#include "device/stub_plugin.h"

enum { COUNT = 5000 };
static const int64_t shape[1] = {COUNT};
static nd4c_device *cpu, *second;
static nd4c_context *cpu_context, *second_context;
static float buffer[COUNT];

static nd4c_array *filled(nd4c_device *device, double value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, value, device, &array), ND4C_OK);
  return array;
}

/* States on the host, stub:0 and stub:1. */
static void assert_states(const nd4c_array *array, const char *expected) {
  char states[4] = {nd4c_storage_state(array->storage, cpu), nd4c_storage_state(array->storage, stub_device),
                    nd4c_storage_state(array->storage, second), '\0'};
  assert_string_equal(states, expected);
}

static void assert_all(const nd4c_array *array, float value) {
  assert_int_equal(nd4c_array_read(array, buffer, sizeof buffer), ND4C_OK);
  for (int i = 0; i < COUNT; i++) {
    assert_float_equal(buffer[i], value, 0);
  }
}

static void reading_shares(void **state) {
  (void)state;
  nd4c_array *a = filled(cpu, 2), *sum = NULL;
  assert_states(a, "M--");
  assert_int_equal(nd4c_add_on(stub_context, a, a, &sum), ND4C_OK);
  assert_states(a, "SS-");
  assert_states(sum, "-M-");
  assert_ptr_equal(nd4c_array_device(sum), stub_device);
  assert_all(sum, 4);
  assert_states(sum, "SS-");
  /* Shared: no second copy. */
  int64_t copies = stub_counter("copy_to_host") + stub_counter("copy_from_host");
  assert_all(sum, 4);
  assert_int_equal(nd4c_add_on(stub_context, sum, a, &sum), ND4C_OK);
  assert_int_equal(stub_counter("copy_to_host") + stub_counter("copy_from_host"), copies);
  assert_states(sum, "IM-");
  assert_all(sum, 6);
  nd4c_array_release(a);
  nd4c_array_release(sum);
}

static void writing_invalidates(void **state) {
  (void)state;
  nd4c_array *a = filled(cpu, 1), *y = NULL;
  void *address = NULL;
  const void *read_only = NULL;
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
  assert_states(a, "SS-");
  assert_int_equal(nd4c_array_data_mutable(a, &address), ND4C_OK);
  assert_states(a, "MI-");
  for (int i = 0; i < COUNT; i++) {
    ((float *)address)[i] = 3;
  }
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
  assert_states(a, "SS-");
  assert_all(y, 9);
  assert_int_equal(nd4c_array_data(a, &read_only), ND4C_OK);
  assert_states(a, "SS-");
  assert_float_equal(*(const float *)read_only, 3, 0);
  nd4c_array_release(a);
  nd4c_array_release(y);
}

static void results_into_given_arrays(void **state) {
  (void)state;
  nd4c_array *a = filled(stub_device, 5), *given = filled(cpu, 0), *half = NULL;
  assert_states(given, "M--");
  assert_int_equal(nd4c_negative_on(stub_context, a, &given), ND4C_OK);
  assert_states(given, "IM-");
  assert_all(given, -5);
  /* Writing a part of it: the other part must be copied, too. */
  int64_t start = 0, stop = COUNT, step = 2;
  assert_int_equal(nd4c_array_slice(given, &start, &stop, &step, &half), ND4C_OK);
  nd4c_array *ones = NULL;
  int64_t half_shape[1] = {COUNT / 2};
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, half_shape, 1, cpu, &ones), ND4C_OK);
  assert_int_equal(nd4c_square_on(cpu_context, ones, &half), ND4C_OK);
  assert_states(given, "MI-");
  assert_int_equal(nd4c_array_read(given, buffer, sizeof buffer), ND4C_OK);
  for (int i = 0; i < COUNT; i++) {
    float expected = i % 2 == 0 ? 1.0F : -5.0F;
    assert_float_equal(buffer[i], expected, 0);
  }
  nd4c_array_release(half);
  nd4c_array_release(ones);
  nd4c_array_release(a);
  nd4c_array_release(given);
}

static void three_devices(void **state) {
  (void)state;
  nd4c_array *a = filled(stub_device, 7), *y = NULL, *copy = NULL;
  assert_states(a, "-M-");
  assert_int_equal(nd4c_add_on(second_context, a, a, &y), ND4C_OK);
  assert_int_equal(nd4c_storage_state(a->storage, second), 'S');
  assert_int_equal(nd4c_storage_state(a->storage, stub_device), 'S');
  assert_states(y, "--M");
  assert_all(y, 14);
  assert_int_equal(nd4c_add_on(cpu_context, a, y, &y), ND4C_OK);
  assert_states(y, "M-I");
  assert_all(y, 21);
  assert_int_equal(nd4c_array_to_device(a, second, &copy), ND4C_OK);
  assert_ptr_not_equal(copy->storage, a->storage);
  assert_ptr_equal(nd4c_array_device(copy), second);
  assert_all(copy, 7);
  nd4c_array_release(a);
  nd4c_array_release(y);
  nd4c_array_release(copy);
}

/* Foreign memory keeps its address: a device works on a copy, and read-only memory is never written. */
static int releases;
static int looks;
static void look_at(void *user) {
  looks += nd4c_array_state(user, cpu) == 'M';
}

static void count_release(void *user) {
  *(int *)user += 1;
}

static void foreign_memory(void **state) {
  (void)state;
  static float memory[COUNT];
  for (int i = 0; i < COUNT; i++) {
    memory[i] = 4;
  }
  nd4c_array *a = NULL, *y = NULL;
  releases = 0;
  assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, memory, true, count_release, &releases, &a), ND4C_OK);
  (void)stub_control("delay 10000");
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
  nd4c_array_release(a); /* may still be read */
  assert_all(y, 16);
  (void)stub_control("reset");
  stub_settle();
  assert_int_equal(releases, 1);
  assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, memory, true, count_release, &releases, &a), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, y, &a), ND4C_READ_ONLY);
  assert_int_equal(nd4c_array_write(a, buffer, sizeof buffer), ND4C_READ_ONLY);
  assert_float_equal(memory[0], 4, 0);
  nd4c_array_release(a);
  stub_settle();
  assert_int_equal(releases, 2);
  nd4c_array_release(y);
}

/* A release callback does not run in the middle of a use of another array. */
static void callbacks_run_without_locks(void **state) {
  (void)state;
  static float memory[COUNT];
  nd4c_array *a = NULL, *y = NULL, *used = filled(cpu, 2);
  assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, memory, true, look_at, used, &a), ND4C_OK);
  stub_order("pause until_wait");
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
  nd4c_array_release(a); /* read by pending work */
  looks = 0;
  assert_int_equal(nd4c_memory_set_cap(second, 1), ND4C_OK);
  assert_int_equal(nd4c_array_prefetch(used, second), ND4C_MEMORY_CAP); /* after waiting for pending work */
  assert_int_equal(looks, 0);
  assert_int_equal(nd4c_memory_set_cap(second, 0), ND4C_OK);
  assert_all(y, 0);
  stub_settle();
  assert_int_equal(looks, 1);
  nd4c_array_release(used);
  nd4c_array_release(y);
}

/* When the device makes room, spilling does not overwrite memory that the host is writing. */
static void spilling_waits_for_a_write(void **state) {
  (void)state;
  nd4c_array *a = filled(stub_device, 7);
  nd4c_replica_view view;
  stub_settle();
  for (int turn = 0; turn < 2; turn++) {
    assert_int_equal(nd4c_storage_acquire(a->storage, cpu, NULL, ND4C_ACCESS_WRITE, ND4C_TRANSFER_ON_DEMAND, &view),
                     ND4C_OK);
    for (int i = 0; i < COUNT; i++) {
      ((float *)view.address)[i] = 9;
    }
    assert_int_equal(nd4c_storage_spill(stub_device, 1), 0);
    assert_states(a, "IM-");
    if (turn == 0) {
      nd4c_storage_cancel(a->storage, cpu);
      assert_all(a, 7);
      assert_int_equal(nd4c_negative_on(stub_context, a, &a), ND4C_OK);
      assert_int_equal(nd4c_array_wait(a), ND4C_OK);
    } else {
      nd4c_storage_commit(a->storage, cpu, ND4C_ACCESS_WRITE, NULL);
    }
  }
  assert_all(a, 9);
  assert_states(a, "MI-");
  assert_true(nd4c_storage_spill(stub_device, 1) > 0);
  assert_states(a, "M--");
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
  nd4c_status status = nd4c_context_create(&options, &cpu_context);
  options.device = second;
  return status == ND4C_OK && nd4c_context_create(&options, &second_context) == ND4C_OK ? 0 : 1;
}

/* If a device fails at a write, the replicas that were current elsewhere stay current. */
static void a_failed_write_spares_what_is_elsewhere(void **state) {
  (void)state;
  static const char *const failures[] = {"fail run:1:600", "fail fence_record:1:600"};
  const char *points = getenv("STUB_POINTS");
  /* Where a fence is recorded behind each call it is a part of that. */
  const size_t count = points != NULL && strcmp(points, "none") == 0 ? 2 : 1;
  for (size_t i = 0; i < count; i++) {
    for (int given = 0; given < 2; given++) {
      nd4c_array *a = filled(cpu, 2), *b = filled(stub_device, 3), *none = NULL;
      stub_settle();
      assert_int_equal(stub_control(failures[i]), ND4C_OK);
      assert_int_equal(nd4c_add_on(stub_context, given != 0 ? b : a, b, &a), ND4C_DEVICE);
      (void)stub_control("reset");
      assert_true(nd4c_storage_state(a->storage, stub_device) != 'M');
      assert_all(a, 2);
      assert_int_equal(nd4c_add_on(stub_context, a, b, &a), ND4C_OK);
      assert_all(a, 5);
      nd4c_array_release(a);
      /* An array that is only on that device loses its value. */
      assert_int_equal(stub_control(failures[i]), ND4C_OK);
      assert_int_equal(nd4c_add_on(stub_context, b, b, &b), ND4C_DEVICE);
      (void)stub_control("reset");
      assert_int_equal(nd4c_add_on(stub_context, b, b, &none), ND4C_POISONED);
      nd4c_array_release(b);
      (void)nd4c_device_synchronize(stub_device);
    }
  }
}

/* A copy to memory of the program that fails: later results still go there. */
static void a_failed_copy_leaves_the_programs_memory(void **state) {
  (void)state;
  static float memory[COUNT];
  nd4c_array *wrapped = NULL, *y = NULL, *a = filled(stub_device, 5);
  const void *address = NULL;
  assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, memory, false, NULL, NULL, &wrapped), ND4C_OK);
  assert_int_equal(nd4c_negative_on(stub_context, a, &wrapped), ND4C_OK);
  assert_int_equal(nd4c_array_wait(wrapped), ND4C_OK);
  assert_states(wrapped, "IM-");
  stub_order("fail copy_to_host:0:600");
  assert_int_equal(nd4c_square_on(cpu_context, wrapped, &y), ND4C_DEVICE);
  assert_null(y);
  assert_int_equal(nd4c_array_data(wrapped, &address), ND4C_DEVICE);
  assert_states(wrapped, "IM-");
  stub_order("reset");
  assert_int_equal(nd4c_square_on(cpu_context, wrapped, &y), ND4C_OK);
  assert_all(y, 25);
  assert_int_equal(nd4c_array_data(wrapped, &address), ND4C_OK);
  assert_ptr_equal(address, memory);
  for (int i = 0; i < COUNT; i++) {
    assert_float_equal(memory[i], -5, 0);
  }
  /* Memory of nd4c's own that the failed copy was to fill is free again. */
  nd4c_memory_info before = {.struct_size = sizeof before}, after = before;
  nd4c_array *own = filled(stub_device, 3);
  assert_int_equal(nd4c_memory_get_info(cpu, &before), ND4C_OK);
  stub_order("fail copy_to_host:0:600");
  assert_int_equal(nd4c_array_data(own, &address), ND4C_DEVICE);
  assert_int_equal(nd4c_memory_get_info(cpu, &after), ND4C_OK);
  assert_int_equal(after.live_bytes, before.live_bytes);
  stub_order("reset");
  assert_all(own, 3);
  nd4c_array_release(own);
  nd4c_array_release(wrapped);
  nd4c_array_release(y);
  nd4c_array_release(a);
}

/* A stale replica whose new contents the host has to wait for keeps its memory meanwhile. */
static void waiting_for_contents_keeps_their_memory(void **state) {
  (void)state;
  nd4c_array *a = filled(cpu, 2), *given = filled(cpu, 0);
  nd4c_memory_info before = {.struct_size = sizeof before}, after = before;
  assert_int_equal(nd4c_negative_on(stub_context, a, &a), ND4C_OK);
  assert_states(a, "IM-");
  stub_order("pause until_wait");
  assert_int_equal(nd4c_add_on(stub_context, a, a, &a), ND4C_OK);
  assert_int_equal(nd4c_memory_get_info(cpu, &before), ND4C_OK);
  assert_int_equal(nd4c_square_on(cpu_context, a, &given), ND4C_OK);
  assert_int_equal(nd4c_memory_get_info(cpu, &after), ND4C_OK);
  assert_int_equal(after.total_count, before.total_count);
  stub_order("reset");
  assert_states(a, "SS-");
  assert_all(given, 16);
  nd4c_array_release(a);
  nd4c_array_release(given);
}

static void drop(void *user) {
  *(int *)user += 1;
}

/* The host runs less far ahead while work in flight keeps much memory. */
static void kept_memory_limits_readers(void **state) {
  (void)state;
  static const int64_t sizes[] = {INT64_C(64) << 20, (INT64_C(64) << 20) + 1};
  nd4c_timeline *timeline = NULL;
  int dropped = 0;
  assert_int_equal(nd4c_timeline_of(stub_device, stub_context->stream, &timeline), ND4C_OK);
  for (int i = 0; i < 2; i++) {
    nd4c_array *a = filled(stub_device, 1);
    nd4c_shared_fence *fence = NULL;
    stub_settle();
    assert_int_equal(nd4c_replica_count_readers(), ND4C_READERS_MOST);
    stub_order("pause until_wait");
    assert_int_equal(nd4c_negative_on(stub_context, a, &a), ND4C_OK);
    assert_int_equal(nd4c_fence_place(timeline, "test", &fence), ND4C_OK);
    nd4c_fence_keep(fence, &dropped, sizes[i], drop);
    assert_int_equal(nd4c_replica_count_readers(), i == 0 ? ND4C_READERS_MOST : ND4C_READERS_FEW);
    assert_int_equal(dropped, i);
    nd4c_fence_settle(fence);
    assert_int_equal(dropped, i + 1);
    assert_int_equal(nd4c_replica_count_readers(), ND4C_READERS_MOST);
    nd4c_fence_release(fence);
    assert_all(a, -1);
    nd4c_array_release(a);
  }
}

static int stop(void **state) {
  (void)state;
  (void)nd4c_context_destroy(cpu_context);
  (void)nd4c_context_destroy(second_context);
  (void)nd4c_context_destroy(stub_context);
  stub_settle();
  (void)nd4c_device_synchronize(second);
  (void)nd4c_memory_trim(second, 0);
  if (stub_counter("buffers") != 0 || stub_counter("fences") != 0 || stub_counter("streams") > 2 ||
      stub_counter("violations") != 0) {
    print_error("left: %lld buffers, %lld fences, %lld streams, %lld violations\n", (long long)stub_counter("buffers"),
                (long long)stub_counter("fences"), (long long)stub_counter("streams"),
                (long long)stub_counter("violations"));
    return 1;
  }
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reading_shares),
      cmocka_unit_test(writing_invalidates),
      cmocka_unit_test(results_into_given_arrays),
      cmocka_unit_test(three_devices),
      cmocka_unit_test(foreign_memory),
      cmocka_unit_test(callbacks_run_without_locks),
      cmocka_unit_test(spilling_waits_for_a_write),
      cmocka_unit_test(a_failed_write_spares_what_is_elsewhere),
      cmocka_unit_test(a_failed_copy_leaves_the_programs_memory),
      cmocka_unit_test(waiting_for_contents_keeps_their_memory),
      cmocka_unit_test(kept_memory_limits_readers),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
