/* A slow asynchronous device: reads wait, failures in flight are reported with the op's name and only for dependent
 * arrays, storage outlives the work that uses it. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "device/context/context.h"
#include "device/stream/readers.h"
#include "device/stream/shared_locks.h"
#include "device/stub_test.h"

enum { COUNT = 64 };
static const int64_t shape[1] = {COUNT};

static nd4c_array *filled(double value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, value, stub_device, &array), ND4C_OK);
  assert_int_equal(nd4c_array_wait(array), ND4C_OK);
  return array;
}

static void assert_all(const nd4c_array *array, float value) {
  float got[COUNT];
  assert_int_equal(nd4c_array_read(array, got, sizeof got), ND4C_OK);
  for (int i = 0; i < COUNT; i++) {
    assert_float_equal(got[i], value, 0);
  }
}

static void a_read_waits(void **state) {
  (void)state;
  nd4c_array *a = filled(1), *b = filled(2), *sum = NULL;
  stub_order("pause until_wait");
  stub_order("delay 20000"); /* once it runs: a read that does not wait for it finds no sum */
  int64_t before = stub_counter("tasks"), waits = stub_counter("host_waits");
  assert_int_equal(nd4c_add_on(stub_context, a, b, &sum), ND4C_OK);
  assert_int_equal(stub_counter("tasks"), before);
  assert_all(sum, 3);
  assert_true(stub_counter("tasks") > before);
  assert_true(stub_counter("host_waits") > waits);
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_array_release(sum);
}

static void a_chain_needs_no_wait_between(void **state) {
  (void)state;
  nd4c_array *x = filled(1);
  stub_order("pause until_wait");
  int64_t before = stub_counter("tasks");
  for (int i = 0; i < 6; i++) {
    nd4c_array *next = NULL;
    assert_int_equal(nd4c_add_on(stub_context, x, x, &next), ND4C_OK);
    nd4c_array_release(x); /* its storage must live on until the addition ran */
    x = next;
  }
  assert_int_equal(stub_counter("tasks"), before);
  assert_all(x, 64);
  nd4c_array_release(x);
}

static void a_failure_in_flight_surfaces(void **state) {
  (void)state;
  float values[COUNT];
  nd4c_array *a = filled(1), *b = filled(2);
  for (int way = 0; way < 5; way++) {
    nd4c_array *sum = NULL;
    double item = 0;
    int64_t index[1] = {3};
    (void)stub_control("fail in_flight:1");
    assert_int_equal(nd4c_add_on(stub_context, a, b, &sum), ND4C_OK);
    nd4c_error_clear();
    nd4c_status status = way == 0   ? nd4c_array_read(sum, values, sizeof values)
                         : way == 1 ? nd4c_array_wait(sum)
                         : way == 2 ? nd4c_context_synchronize(stub_context)
                         : way == 3 ? nd4c_device_synchronize(stub_device)
                                    : nd4c_array_item(sum, index, &item);
    assert_int_equal(status, ND4C_DEVICE);
    assert_message("add failed on stub:0");
    assert_message("in_flight was told to fail");
    /* The array keeps the failure, and other arrays are not affected. */
    assert_int_equal(nd4c_array_read(sum, values, sizeof values), ND4C_DEVICE);
    assert_message("add failed on stub:0");
    assert_all(a, 1);
    assert_all(b, 2);
    assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
    nd4c_array_release(sum);
  }
  nd4c_array *sum = NULL;
  assert_int_equal(nd4c_add_on(stub_context, a, b, &sum), ND4C_OK);
  assert_all(sum, 3);
  nd4c_array_release(sum);
  nd4c_array_release(a);
  nd4c_array_release(b);
}

static void what_depends_on_a_failure_is_poisoned(void **state) {
  (void)state;
  float values[COUNT];
  nd4c_array *a = filled(1), *sum = NULL, *product = NULL, *other = NULL, *later = NULL;
  stub_order("pause until_wait"); /* the failure is not known while its dependants are submitted */
  (void)stub_control("fail in_flight:1");
  assert_int_equal(nd4c_add_on(stub_context, a, a, &sum), ND4C_OK);
  assert_int_equal(nd4c_multiply_on(stub_context, sum, a, &product), ND4C_OK);
  assert_int_equal(nd4c_multiply_on(stub_context, a, a, &other), ND4C_OK);
  assert_int_equal(nd4c_array_read(product, values, sizeof values), ND4C_POISONED);
  assert_message("multiply");
  assert_message("add failed on stub:0");
  assert_all(other, 1);
  /* The failure is known now: the call is refused before anything is submitted. */
  assert_int_equal(nd4c_array_wait(sum), ND4C_DEVICE);
  assert_int_not_equal(nd4c_square_on(stub_context, sum, &later), ND4C_OK);
  assert_null(later);
  assert_message("add failed on stub:0");
  /* A new value makes the array usable again. */
  for (int i = 0; i < COUNT; i++) {
    values[i] = 7;
  }
  assert_int_equal(nd4c_array_write(sum, values, sizeof values), ND4C_OK);
  assert_all(sum, 7);
  assert_int_equal(nd4c_multiply_on(stub_context, sum, sum, &product), ND4C_OK);
  assert_all(product, 49);
  nd4c_array_release(a);
  nd4c_array_release(sum);
  nd4c_array_release(product);
  nd4c_array_release(other);
}

/* Writing a part of it does not give a value to the rest. */
static void a_part_does_not_heal_the_rest(void **state) {
  (void)state;
  float values[COUNT];
  int64_t start = 0, stop = COUNT / 2, step = 1, half_shape[1] = {COUNT / 2};
  nd4c_array *a = filled(1), *x = filled(2), *half = NULL, *part = NULL;
  assert_int_equal(nd4c_array_slice(x, &start, &stop, &step, &half), ND4C_OK);
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, half_shape, 3, stub_device, &part), ND4C_OK);
  stub_order("pause until_wait");
  (void)stub_control("fail in_flight:1");
  assert_int_equal(nd4c_add_on(stub_context, a, a, &x), ND4C_OK);
  assert_int_equal(nd4c_negative_on(stub_context, part, &half), ND4C_OK);
  assert_int_equal(nd4c_array_read(x, values, sizeof values), ND4C_POISONED);
  assert_message("add failed on stub:0");
  assert_int_equal(nd4c_add_on(stub_context, a, a, &x), ND4C_OK);
  assert_int_equal(nd4c_negative_on(stub_context, part, &half), ND4C_OK);
  assert_int_equal(nd4c_array_read(x, values, sizeof values), ND4C_OK);
  assert_float_equal(values[0], -3, 0);
  assert_float_equal(values[COUNT - 1], 2, 0);
  nd4c_array_release(a);
  nd4c_array_release(x);
  nd4c_array_release(half);
  nd4c_array_release(part);
}

static void a_failure_of_a_released_array_is_told_once(void **state) {
  (void)state;
  nd4c_array *a = filled(1), *sum = NULL;
  (void)stub_control("delay 2000");
  (void)stub_control("fail in_flight:1");
  assert_int_equal(nd4c_add_on(stub_context, a, a, &sum), ND4C_OK);
  nd4c_array_release(sum);
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_DEVICE);
  assert_message("add failed on stub:0");
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
  nd4c_array_release(a);
}

/* Trimming memory, which frees idle contexts, does not report the failure: a later call must still report it. */
static void trimming_swallows_no_failure(void **state) {
  (void)state;
  nd4c_array *a = filled(1), *sum = NULL;
  nd4c_context *lent = NULL;
  assert_int_equal(nd4c_context_acquire(stub_device, &lent), ND4C_OK);
  (void)stub_control("fail in_flight:1");
  assert_int_equal(nd4c_add(a, a, &sum), ND4C_OK);
  nd4c_array_release(sum);
  assert_int_equal(nd4c_context_release(lent), ND4C_OK);
  assert_int_equal(nd4c_memory_trim(stub_device, 0), ND4C_OK);
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_DEVICE);
  assert_message("add failed on stub:0");
  nd4c_array_release(a);
}

static void a_failed_copy_leaves_the_value(void **state) {
  (void)state;
  float values[COUNT];
  nd4c_array *a = filled(5);
  (void)stub_control("fail in_flight_copy:1");
  assert_int_equal(nd4c_array_read(a, values, sizeof values), ND4C_DEVICE);
  assert_message("in_flight_copy was told to fail");
  assert_all(a, 5);
  nd4c_array_release(a);
}

static void storage_is_freed_after_its_last_fence(void **state) {
  (void)state;
  assert_int_equal(stub_counter("buffers"), 0);
  nd4c_array *a = filled(1), *b = filled(2), *sum = NULL;
  stub_order("pause until_wait");
  const int64_t tasks = stub_counter("tasks");
  assert_int_equal(nd4c_add_on(stub_context, a, b, &sum), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_array_release(sum);
  (void)nd4c_memory_trim(stub_device, 0);
  assert_int_equal(stub_counter("tasks"), tasks); /* the addition is still to come */
  assert_true(stub_counter("buffers") >= 3);
  stub_settle();
  assert_int_equal(stub_counter("buffers"), 0);
}

static void contexts_wait_for_each_other(void **state) {
  (void)state;
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  nd4c_context *second = NULL;
  nd4c_array *a = filled(1), *slow = NULL, *fast = NULL;
  assert_int_equal(nd4c_context_create(&options, &second), ND4C_OK);
  (void)stub_control("delay 30000");
  assert_int_equal(nd4c_add_on(stub_context, a, a, &slow), ND4C_OK);
  (void)stub_control("delay 0");
  assert_int_equal(nd4c_add_on(second, slow, a, &fast), ND4C_OK); /* must run after it, on another stream */
  assert_all(fast, 3);
  /* Writing waits for readers: the slow stream still reads the array that the fast one must overwrite. */
  (void)stub_control("delay 30000");
  assert_int_equal(nd4c_multiply_on(stub_context, fast, fast, &slow), ND4C_OK);
  (void)stub_control("delay 0");
  assert_int_equal(nd4c_subtract_on(second, a, a, &fast), ND4C_OK);
  assert_all(fast, 0);
  assert_all(slow, 9);
  assert_int_equal(nd4c_context_destroy(second), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(slow);
  nd4c_array_release(fast);
}

/* The host does not wait for work that reads an array, however much is under way, and the next write runs after all of
 * it, on any stream. */
static void many_readers_are_not_waited_for(void **state) {
  (void)state;
  enum { STREAMS = 3, READERS = 200 };
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  nd4c_context *contexts[STREAMS];
  nd4c_array *a = filled(3), *squares[READERS] = {NULL};
  for (int i = 0; i < STREAMS; i++) {
    assert_int_equal(nd4c_context_create(&options, &contexts[i]), ND4C_OK);
  }
  const int64_t waits = stub_counter("host_waits");
  stub_order("pause until_wait");
  stub_order("delay 30000");
  for (int i = 0; i < READERS; i++) { /* one late reader on each stream */
    assert_int_equal(nd4c_square_on(contexts[i % STREAMS], a, &squares[i]), ND4C_OK);
    stub_order(i + 1 < STREAMS ? "delay 30000" : "delay 0");
  }
  for (int i = 0; i < STREAMS; i++) {
    assert_false(nd4c_array_is_ready(squares[i], stub_device));
  }
  assert_int_equal(nd4c_subtract_on(contexts[1], a, a, &a), ND4C_OK);
  assert_false(nd4c_array_is_ready(squares[READERS - 1], stub_device));
  assert_int_equal(stub_counter("host_waits"), waits);
  assert_all(a, 0);
  for (int i = 0; i < READERS; i++) {
    assert_all(squares[i], 9);
    nd4c_array_release(squares[i]);
  }
  for (int i = 0; i < STREAMS; i++) {
    assert_int_equal(nd4c_context_destroy(contexts[i]), ND4C_OK);
  }
  nd4c_array_release(a);
}

/* All readers on one stream count as one: the host does not wait, and the next write runs after all of them. */
static void readers_of_a_stream_are_one(void **state) {
  (void)state;
  nd4c_array *a = filled(3), *late = NULL, *square = NULL;
  const int64_t waits = stub_counter("host_waits");
  stub_order("pause until_wait");
  stub_order("delay 30000");
  assert_int_equal(nd4c_square_on(stub_context, a, &late), ND4C_OK);
  stub_order("delay 0");
  for (int i = 0; i < ND4C_READERS_MOST + 9; i++) {
    nd4c_array_release(square);
    square = NULL;
    assert_int_equal(nd4c_square_on(stub_context, a, &square), ND4C_OK);
  }
  assert_false(nd4c_array_is_ready(late, stub_device));
  assert_int_equal(nd4c_subtract_on(stub_context, a, a, &a), ND4C_OK);
  assert_int_equal(stub_counter("host_waits"), waits);
  assert_all(late, 9);
  assert_all(square, 9);
  assert_all(a, 0);
  nd4c_array_release(a);
  nd4c_array_release(late);
  nd4c_array_release(square);
}

/* If much released memory waits for its work, the host waits before it releases more. */
static void few_readers_where_much_is_released(void **state) {
  (void)state;
  static const int64_t much[1] = {20 << 20};
  static const int64_t start = 0, stop = COUNT;
  nd4c_array *a = filled(3), *large = NULL, *part = NULL, *square = NULL, *late = NULL;
  assert_int_equal(nd4c_array_empty(ND4C_FLOAT32, 1, much, stub_device, &large), ND4C_OK);
  assert_int_equal(nd4c_array_slice(large, &start, &stop, NULL, &part), ND4C_OK);
  stub_order("pause until_wait");
  assert_int_equal(nd4c_square_on(stub_context, part, &square), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, a, &late), ND4C_OK);
  nd4c_array_release(square);
  nd4c_array_release(part);
  nd4c_array_release(large);
  assert_false(nd4c_array_is_ready(late, stub_device));
  for (int i = 0; i < ND4C_READERS_FEW; i++) {
    square = NULL;
    assert_int_equal(nd4c_square_on(stub_context, a, &square), ND4C_OK);
    nd4c_array_release(square);
  }
  assert_true(nd4c_array_is_ready(late, stub_device));
  assert_all(late, 9);
  nd4c_array_release(a);
  nd4c_array_release(late);
}

/* Readers on as many streams as the list has room for, and no memory for a longer one with the writer: the thread that
 * releases the array does not wait, and the device frees the memory after the last reader. */
static void a_full_list_of_readers_is_not_waited_for(void **state) {
  (void)state;
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  nd4c_context *contexts[ND4C_READERS_FEW];
  nd4c_array *a = filled(3), *sum = NULL, *squares[ND4C_READERS_FEW] = {NULL};
  for (int i = 0; i < ND4C_READERS_FEW; i++) {
    assert_int_equal(nd4c_context_create(&options, &contexts[i]), ND4C_OK);
  }
  const int64_t waits = stub_counter("host_waits");
  stub_order("pause until_wait");
  assert_int_equal(nd4c_add_on(stub_context, a, a, &sum), ND4C_OK);
  for (int i = 0; i < ND4C_READERS_FEW; i++) {
    assert_int_equal(nd4c_square_on(contexts[i], sum, &squares[i]), ND4C_OK);
    assert_false(nd4c_array_is_ready(squares[i], stub_device)); /* records a fence: releasing need not */
  }
  nd4c_allocation_fail_at(0);
  nd4c_array_release(sum);
  nd4c_allocation_fail_at(-1);
  assert_int_equal(stub_counter("host_waits"), waits);
  for (int i = 0; i < ND4C_READERS_FEW; i++) {
    assert_false(nd4c_array_is_ready(squares[i], stub_device));
  }
  for (int i = 0; i < ND4C_READERS_FEW; i++) {
    assert_all(squares[i], 36);
    nd4c_array_release(squares[i]);
    assert_int_equal(nd4c_context_destroy(contexts[i]), ND4C_OK);
  }
  nd4c_array_release(a);
}

/* The list has room for as many fences as it says: it doubles whenever it is full of streams that have not ended. */
static void a_list_of_readers_doubles(void **state) {
  (void)state;
  enum { STREAMS = 4 * ND4C_READERS_FEW + 1 };
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  nd4c_context *contexts[STREAMS];
  nd4c_readers readers = {0};
  stub_order("pause until_wait");
  for (int i = 0, room = ND4C_READERS_FEW; i < STREAMS; i++) {
    nd4c_shared_fence *fence = NULL;
    assert_int_equal(nd4c_context_create(&options, &contexts[i]), ND4C_OK);
    assert_int_equal(nd4c_fence_record(stub_device, contexts[i]->stream, "square", NULL, 0, &fence), ND4C_OK);
    assert_null(nd4c_readers_try_add(&readers, fence, ND4C_READERS_MOST));
    nd4c_fence_release(fence);
    room = i < room ? room : 2 * room;
    assert_int_equal(readers.count, i + 1);
    assert_int_equal(readers.many == NULL ? ND4C_READERS_FEW : readers.room, room);
  }
  nd4c_readers_settle(&readers);
  assert_true(nd4c_readers_are_done(&readers));
  assert_null(readers.many);
  for (int i = 0; i < STREAMS; i++) {
    assert_int_equal(nd4c_context_destroy(contexts[i]), ND4C_OK);
  }
}

/* Who holds a lock that storages share may ask whether work has ended, even if there is no memory for a fence. */
static void a_question_does_not_wait(void **state) {
  (void)state;
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  nd4c_context *context = NULL; /* whose stream has no fence yet */
  nd4c_array *a = filled(3), *sum = NULL;
  assert_int_equal(nd4c_context_create(&options, &context), ND4C_OK);
  stub_order("pause until_wait");
  assert_int_equal(nd4c_add_on(context, a, a, &sum), ND4C_OK);
  const int64_t fences = stub_counter("fence_record");
  nd4c_shared_locks_enter();
  nd4c_allocation_fail_at(0);
  assert_false(nd4c_array_is_ready(sum, stub_device));
  nd4c_allocation_fail_at(-1);
  nd4c_shared_locks_leave();
  assert_int_equal(stub_counter("fence_record"), fences); /* else it was recorded after a wait */
  assert_false(nd4c_array_is_ready(sum, stub_device));
  assert_all(sum, 6);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(sum);
}

/* A chain of results without readers keeps no fences of finished work. */
static void a_long_chain_lets_go(void **state) {
  (void)state;
  nd4c_array *a = filled(1), *x = filled(0);
  for (int i = 0; i < 100; i++) {
    assert_int_equal(nd4c_add_on(stub_context, x, a, &x), ND4C_OK);
    while (!nd4c_array_is_ready(x, stub_device)) {
    }
    assert_true(stub_counter("fences") < 10);
  }
  assert_all(x, 100);
  /* The host is ahead all the time. */
  stub_order("pause until_wait");
  for (int i = 0; i < 3000; i++) {
    assert_int_equal(nd4c_add_on(stub_context, x, a, &x), ND4C_OK);
  }
  assert_all(x, 3100);
  nd4c_array_release(a);
  nd4c_array_release(x);
}

static void the_host_waits_before_it_writes(void **state) {
  (void)state;
  float values[COUNT];
  nd4c_array *a = filled(3), *square = NULL;
  for (int i = 0; i < COUNT; i++) {
    values[i] = 10;
  }
  (void)stub_control("delay 20000");
  assert_int_equal(nd4c_square_on(stub_context, a, &square), ND4C_OK);
  assert_int_equal(nd4c_array_write(a, values, sizeof values), ND4C_OK);
  assert_all(square, 9);
  assert_all(a, 10);
  nd4c_array_release(a);
  nd4c_array_release(square);
}

static void destroying_a_context_waits(void **state) {
  (void)state;
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  nd4c_context *second = NULL;
  nd4c_array *a = filled(2), *square = NULL;
  assert_int_equal(nd4c_context_create(&options, &second), ND4C_OK);
  (void)stub_control("delay 20000");
  assert_int_equal(nd4c_square_on(second, a, &square), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(second), ND4C_OK);
  assert_all(square, 4);
  nd4c_array_release(a);
  nd4c_array_release(square);
}

static int group_setup(void **state) {
  (void)state;
  return stub_start() == ND4C_OK ? 0 : 1;
}

static int group_teardown(void **state) {
  (void)state;
  return nd4c_context_destroy(stub_context) == ND4C_OK ? 0 : 1;
}

/* A fence that reports failures without end is cut off, and its failure counts as one without a point. */
static void a_fence_that_never_ends_telling_is_cut_off(void **state) {
  (void)state;
  float values[COUNT];
  nd4c_array *a = filled(1), *sum = NULL, *other = NULL;
  const int64_t asked = stub_counter("fence_failure");
  const int64_t most = stub_device->description.tells_points ? 4096 : 0; /* otherwise the fence is not asked */
  (void)stub_control("fail in_flight:1,fence_failure:0");
  assert_int_equal(nd4c_add_on(stub_context, a, a, &sum), ND4C_OK);
  assert_int_equal(nd4c_array_read(sum, values, sizeof values), ND4C_DEVICE);
  assert_message("in_flight was told to fail");
  assert_int_equal(stub_counter("fence_failure") - asked, most);
  (void)stub_control("reset");
  assert_int_equal(nd4c_add_on(stub_context, a, a, &other), ND4C_OK);
  assert_all(other, 2);
  nd4c_array_release(a);
  nd4c_array_release(sum);
  nd4c_array_release(other);
}

#define ASYNC_TEST(name) cmocka_unit_test_setup_teardown(name, stub_test_begin, stub_test_end)

int main(void) {
  const struct CMUnitTest tests[] = {
      ASYNC_TEST(a_read_waits),
      ASYNC_TEST(a_chain_needs_no_wait_between),
      ASYNC_TEST(a_failure_in_flight_surfaces),
      ASYNC_TEST(a_fence_that_never_ends_telling_is_cut_off),
      ASYNC_TEST(what_depends_on_a_failure_is_poisoned),
      ASYNC_TEST(a_part_does_not_heal_the_rest),
      ASYNC_TEST(a_failure_of_a_released_array_is_told_once),
      ASYNC_TEST(trimming_swallows_no_failure),
      ASYNC_TEST(a_failed_copy_leaves_the_value),
      ASYNC_TEST(storage_is_freed_after_its_last_fence),
      ASYNC_TEST(contexts_wait_for_each_other),
      ASYNC_TEST(many_readers_are_not_waited_for),
      ASYNC_TEST(readers_of_a_stream_are_one),
      ASYNC_TEST(a_full_list_of_readers_is_not_waited_for),
      ASYNC_TEST(a_question_does_not_wait),
      ASYNC_TEST(a_list_of_readers_doubles),
      ASYNC_TEST(few_readers_where_much_is_released),
      ASYNC_TEST(a_long_chain_lets_go),
      ASYNC_TEST(the_host_waits_before_it_writes),
      ASYNC_TEST(destroying_a_context_waits),
  };
  return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
