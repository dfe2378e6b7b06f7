/* Host memory is unregistered while other threads begin copies of it. The stub counts a violation where memory is
 * unregistered under a copy; `linger` makes its calls pause between their steps, so that any step of another thread can
 * run in between. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/os.h"
#include "device/stream/host_ranges.h"
#include "device/stub_plugin.h"

enum { COUNT = 16 * 1024, BYTES = COUNT * (int)sizeof(float), MILLISECOND = 1000000 };
static const int64_t shape[1] = {COUNT};

static int end(void **state) {
  static const char *const counters[] = {"registrations"};
  return stub_test_end(state) + stub_left(counters, 1);
}

static float *make_memory(int blocks) {
  float *memory = calloc((size_t)blocks, BYTES);
  assert_non_null(memory);
  for (int i = 0; i < blocks * COUNT; i++) {
    memory[i] = (float)(i % 1000);
  }
  return memory;
}

static nd4c_array *wrap(float *memory, bool read_only) {
  nd4c_array *made = NULL;
  return nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, memory, read_only, NULL, NULL, &made) == ND4C_OK ? made : NULL;
}

/* Whether the array has the values of `memory`, times `factor`. */
static bool is_equal(nd4c_array *array, const float *memory, float factor) {
  static _Thread_local float values[COUNT];
  bool equal = nd4c_array_read(array, values, sizeof values) == ND4C_OK;
  for (int i = 0; i < COUNT && equal; i++) {
    equal = values[i] == factor * memory[i];
  }
  return equal;
}

/* Whether the device's copy of the array has the values of `memory`. */
static bool has_arrived(nd4c_array *array, const float *memory) {
  nd4c_array *result = NULL;
  const bool arrived = nd4c_negative_on(stub_context, array, &result) == ND4C_OK && is_equal(result, memory, -1);
  nd4c_array_release(result);
  return arrived;
}

/* -- one copy, one range ------------------------------------------------------------------------------------------- */

static void *prefetch(void *array) {
  return nd4c_array_prefetch(array, stub_device) == ND4C_OK ? NULL : array;
}

static void *unregister(void *memory) {
  return nd4c_host_unregister(stub_device, memory) == ND4C_OK ? NULL : memory;
}

static pthread_t begin(void *(*function)(void *), void *argument) {
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
  return thread;
}

static void join(pthread_t thread) {
  void *failed = NULL;
  assert_int_equal(pthread_join(thread, &failed), 0);
  assert_null(failed);
}

static void await(const char *counter, int64_t value) {
  for (int i = 0; i < 10000 && stub_counter(counter) < value; i++) {
    nd4c_os_sleep(MILLISECOND / 10);
  }
  assert_true(stub_counter(counter) >= value);
}

/* The driver has looked up the memory, and the copy has no fence yet. */
static void a_copy_that_is_being_enqueued_is_awaited(void **state) {
  (void)state;
  float *memory = make_memory(1);
  nd4c_array *a = wrap(memory, true);
  const int64_t direct = stub_counter("direct_copies");
  assert_int_equal(nd4c_host_register(stub_device, memory, BYTES), ND4C_OK);
  assert_int_equal(stub_control("linger 20000"), ND4C_OK);
  assert_int_equal(stub_control("delay 40000"), ND4C_OK);
  const pthread_t other = begin(prefetch, a);
  await("direct_copies", direct + 1);
  assert_int_equal(nd4c_host_unregister(stub_device, memory), ND4C_OK);
  assert_int_equal(stub_counter("violations"), 0);
  join(other);
  assert_true(has_arrived(a, memory));
  nd4c_array_release(a);
  stub_settle();
  free(memory);
}

/* nd4c found nothing registered, and the driver did: the range was registered in between. */
static void a_copy_from_before_the_range_is_awaited(void **state) {
  (void)state;
  float *memory = make_memory(1);
  nd4c_array *a = wrap(memory, true);
  const int64_t copies = stub_counter("copy_from_host"), direct = stub_counter("direct_copies");
  assert_int_equal(stub_control("linger 40000"), ND4C_OK);
  assert_int_equal(stub_control("delay 80000"), ND4C_OK);
  const pthread_t other = begin(prefetch, a);
  await("copy_from_host", copies + 1);
  assert_int_equal(nd4c_host_register(stub_device, memory, BYTES), ND4C_OK);
  await("direct_copies", direct + 1);
  assert_int_equal(nd4c_host_unregister(stub_device, memory), ND4C_OK);
  assert_int_equal(stub_counter("violations"), 0);
  join(other);
  assert_true(has_arrived(a, memory));
  nd4c_array_release(a);
  stub_settle();
  free(memory);
}

/* Work of the device, on a stream that copies do not use, for which unregistering waits: it is held until "resume". */
static nd4c_array *begin_held_work(void) {
  nd4c_array *one = NULL, *held = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, stub_device, &one), ND4C_OK);
  assert_int_equal(nd4c_array_wait(one), ND4C_OK);
  stub_order("pause");
  assert_int_equal(nd4c_negative_on(stub_context, one, &held), ND4C_OK);
  stub_order("pass");
  nd4c_array_release(one);
  return held;
}

/* Another thread that unregisters the memory. Returns when it has blocked new uses of it, and waits for the work. */
static pthread_t begin_unregister(float *memory) {
  assert_true(nd4c_host_range_holds(stub_device, memory, BYTES));
  const pthread_t other = begin(unregister, memory);
  for (int i = 0; i < 100000 && nd4c_host_range_holds(stub_device, memory, BYTES); i++) {
    nd4c_os_sleep(MILLISECOND / 10);
  }
  assert_false(nd4c_host_range_holds(stub_device, memory, BYTES));
  return other;
}

/* Copies of blocks in the range, both ways, while unregistering it waits. */
static void copies_meanwhile_go_around_the_range(void **state) {
  (void)state;
  enum { BLOCKS = 4 };
  float *memory = make_memory(BLOCKS);
  nd4c_array *arrays[BLOCKS], *made = NULL;
  for (int i = 0; i < BLOCKS; i++) {
    arrays[i] = wrap(&memory[i * COUNT], i != 2);
    assert_non_null(arrays[i]);
  }
  assert_int_equal(nd4c_host_register(stub_device, memory, (int64_t)BLOCKS * BYTES), ND4C_OK);
  assert_int_equal(nd4c_negative_on(stub_context, arrays[0], &arrays[2]), ND4C_OK);
  assert_int_equal(nd4c_array_wait(arrays[2]), ND4C_OK);
  nd4c_array *held = begin_held_work();
  const pthread_t other = begin_unregister(memory);
  const int64_t direct = stub_counter("direct_copies");
  const void *data = NULL;
  assert_int_equal(nd4c_array_prefetch(arrays[1], stub_device), ND4C_OK);
  assert_int_equal(nd4c_array_data(arrays[2], &data), ND4C_OK);
  assert_int_equal(nd4c_negative_on(stub_context, arrays[3], &made), ND4C_OK);
  assert_int_equal(stub_counter("direct_copies"), direct);
  assert_int_equal(stub_counter("registrations"), 1);
  assert_ptr_equal(data, &memory[2 * COUNT]);
  stub_order("resume");
  join(other);
  assert_int_equal(stub_counter("violations"), 0);
  assert_true(has_arrived(arrays[1], &memory[COUNT]) && is_equal(made, &memory[3 * COUNT], -1));
  assert_true(memory[2 * COUNT + 7] == -memory[7]);
  nd4c_array_release(made);
  nd4c_array_release(held);
  for (int i = 0; i < BLOCKS; i++) {
    nd4c_array_release(arrays[i]);
  }
  stub_settle();
  free(memory);
}

/* Whether the allocation of memory in place of staging buffers fails. The array has memory on the device already,
 * because allocating it would wait for the device's work. */
static bool fails_without_memory(nd4c_array *array) {
  bool found = false;
  nd4c_status status = ND4C_MEMORY;
  for (int64_t i = 0; status == ND4C_MEMORY; i++) {
    nd4c_allocation_fail_at(i);
    status = nd4c_array_prefetch(array, stub_device);
    nd4c_allocation_fail_at(-1);
    found = found || (status == ND4C_MEMORY && strstr(nd4c_error_message(), "is being unregistered") != NULL);
  }
  assert_int_equal(status, ND4C_OK);
  return found;
}

/* The same without page-locked staging memory, and then without any memory. */
static void copies_meanwhile_need_no_staging(void **state) {
  (void)state;
  float *memory = make_memory(2);
  void *data = NULL;
  nd4c_array *a = wrap(memory, true), *b = wrap(&memory[COUNT], false);
  assert_int_equal(nd4c_array_prefetch(b, stub_device), ND4C_OK);
  stub_settle();
  assert_int_equal(nd4c_array_data_mutable(b, &data), ND4C_OK);
  memory[COUNT] = -3;
  assert_int_equal(nd4c_host_register(stub_device, memory, (int64_t)2 * BYTES), ND4C_OK);
  assert_int_equal(stub_control("fail pinned_allocate:0"), ND4C_OK);
  nd4c_array *held = begin_held_work();
  const pthread_t other = begin_unregister(memory);
  const int64_t direct = stub_counter("direct_copies");
  assert_int_equal(nd4c_array_prefetch(a, stub_device), ND4C_OK);
  assert_true(fails_without_memory(b));
  assert_int_equal(stub_counter("direct_copies"), direct);
  assert_int_equal(stub_counter("registrations"), 1);
  stub_order("resume");
  join(other);
  assert_int_equal(stub_counter("violations"), 0);
  assert_true(has_arrived(a, memory) && has_arrived(b, &memory[COUNT]));
  nd4c_array_release(held);
  nd4c_array_release(a);
  nd4c_array_release(b);
  stub_settle();
  free(memory);
}

/* -- release callbacks --------------------------------------------------------------------------------------------- */

static _Atomic int32_t given_back;

/* nd4c has released the memory. */
static void unregister_and_free(void *memory) {
  if (nd4c_host_unregister(stub_device, memory) == ND4C_OK) {
    atomic_fetch_add(&given_back, 1);
  }
  free(memory);
}

/* The callback runs in the call that finds that the array's copy has ended. */
static void owners_unregister_in_their_callbacks(void **state) {
  (void)state;
  enum { ROUNDS = 20 };
  atomic_store(&given_back, 0);
  assert_int_equal(stub_control("delay 1000"), ND4C_OK);
  for (int i = 0; i < ROUNDS; i++) {
    float *memory = make_memory(1);
    nd4c_array *a = NULL;
    assert_int_equal(nd4c_host_register(stub_device, memory, BYTES), ND4C_OK);
    assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, memory, true, unregister_and_free, memory, &a),
                     ND4C_OK);
    assert_int_equal(nd4c_array_prefetch(a, stub_device), ND4C_OK);
    nd4c_array_release(a); /* its copy is under way */
  }
  stub_settle();
  stub_settle();
  assert_int_equal(atomic_load(&given_back), ROUNDS);
}

/* -- many threads -------------------------------------------------------------------------------------------------- */

enum { WORKERS = 3, ROUNDS = 60 };
static float *blocks; /* two for each worker; one range for each registering thread */
static _Atomic bool done;
static _Atomic int64_t turns;

static void *register_and_unregister(void *first) {
  float *memory = first;
  const int64_t bytes = (int64_t)WORKERS * BYTES;
  for (uint32_t turn = 0; !atomic_load(&done); turn++) {
    if (nd4c_host_register(stub_device, memory, bytes) != ND4C_OK) {
      return first;
    }
    nd4c_os_sleep((int64_t)(turn % 7) * 50000);
    if (nd4c_host_unregister(stub_device, memory) != ND4C_OK) {
      return first;
    }
    atomic_fetch_add(&turns, 1);
  }
  return NULL;
}

/* Copies the first block to the device, and the result of a call back. */
static bool work(nd4c_context *context, int round, float *from, float *to) {
  nd4c_array *a = NULL, *y = NULL;
  const void *data = NULL;
  bool good = true;
  for (int i = 0; i < COUNT; i++) {
    from[i] = (float)(i % 1000 + round);
  }
  if (round % 2 == 0) {
    a = wrap(from, true);
  } else {
    good = nd4c_array_from_data(ND4C_FLOAT32, 1, shape, from, stub_device, &a) == ND4C_OK;
  }
  if (round % 4 == 0) {
    good = good && nd4c_array_prefetch(a, stub_device) == ND4C_OK;
  }
  if (round % 3 == 0) {
    y = wrap(to, false);
  }
  good = good && a != NULL && nd4c_negative_on(context, a, &y) == ND4C_OK;
  good = good && (round % 3 == 0 ? nd4c_array_data(y, &data) : nd4c_array_read(y, to, BYTES)) == ND4C_OK;
  for (int i = 0; i < COUNT && good; i++) {
    good = to[i] == -from[i];
  }
  nd4c_array_release(a);
  nd4c_array_release(y);
  return good;
}

static void *copy(void *first) {
  const nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  nd4c_context *context = NULL;
  bool good = nd4c_context_create(&options, &context) == ND4C_OK;
  for (int round = 0; round < ROUNDS && good; round++) {
    good = work(context, round, first, (float *)first + (ptrdiff_t)WORKERS * COUNT);
  }
  return nd4c_context_destroy(context) == ND4C_OK && good ? NULL : first;
}

static void threads_copy_while_others_unregister(void **state) {
  (void)state;
  pthread_t workers[WORKERS], registrars[2];
  blocks = make_memory(2 * WORKERS);
  atomic_store(&done, false);
  atomic_store(&turns, 0);
  assert_int_equal(stub_control("linger 100"), ND4C_OK);
  assert_int_equal(stub_control("delay 50"), ND4C_OK);
  for (int i = 0; i < 2; i++) {
    registrars[i] = begin(register_and_unregister, blocks + (ptrdiff_t)i * WORKERS * COUNT);
  }
  for (int i = 0; i < WORKERS; i++) {
    workers[i] = begin(copy, blocks + (ptrdiff_t)i * COUNT);
  }
  for (int i = 0; i < WORKERS; i++) {
    join(workers[i]);
  }
  atomic_store(&done, true);
  join(registrars[0]);
  join(registrars[1]);
  print_message("%lld times unregistered, %lld violations\n", (long long)atomic_load(&turns),
                (long long)stub_counter("violations"));
  assert_int_equal(stub_counter("violations"), 0);
  assert_true(atomic_load(&turns) > 2);
  stub_settle();
  free(blocks);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, stub_test_begin, end)

int main(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      TEST(copies_meanwhile_need_no_staging),        TEST(a_copy_that_is_being_enqueued_is_awaited),
      TEST(a_copy_from_before_the_range_is_awaited), TEST(copies_meanwhile_go_around_the_range),
      TEST(owners_unregister_in_their_callbacks),    TEST(threads_copy_while_others_unregister)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return failed + stub_stop();
}
