/* Waiting for submitted work: a waiting thread holds no lock that storages share, whichever call waits. The work may
 * need work that another thread has yet to submit, as a collective does. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <pthread.h>
#include <time.h>

#include <cmocka.h>

#include "array/array.h"
#include "device/storage/pinning.h"
#include "device/storage/storage.h"
#include "device/storage/storage_body.h"
#include "device/stream/shared_locks.h"
#include "device/stub_test.h"
#include "nd4c/collective.h"

enum { COUNT = 5000, PATIENCE = 5000 /* milliseconds */, SHORT_PATIENCE = 500 };
static const int64_t shape[1] = {COUNT};
static nd4c_device *cpu, *second;
static nd4c_context *cpu_context;

static nd4c_array *filled(nd4c_device *device, double value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, value, device, &array), ND4C_OK);
  return array;
}

static void assert_all(const nd4c_array *array, int64_t first, float value) {
  static float got[COUNT];
  assert_int_equal(nd4c_array_read(array, got, sizeof got), ND4C_OK);
  for (int64_t i = first; i < COUNT; i++) {
    assert_float_equal(got[i], value, 0);
  }
}

static void nap(void) {
  (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* -- a call that waits --------------------------------------------------------------------------------------------- */

typedef struct call {
  nd4c_status (*run)(struct call *call);
  nd4c_array *array, *other;
  nd4c_context *context;
  nd4c_status status;
  char text[256];
  _Atomic bool ended;
} call;

static void *run_call(void *argument) {
  call *c = argument;
  c->status = c->run(c);
  (void)snprintf(c->text, sizeof c->text, "%s", c->status == ND4C_OK ? "" : nd4c_error_message());
  atomic_store(&c->ended, true);
  return NULL;
}

/* Whether the lock of the array's storage is free at some moment of the time given. */
static bool finds_lock_free(const nd4c_array *array) {
  nd4c_storage_body *body = (nd4c_storage_body *)array->storage;
  for (int i = 0; i < SHORT_PATIENCE; i++) {
    if (nd4c_storage_try_lock(body)) {
      nd4c_storage_unlock(body);
      return true;
    }
    nap();
  }
  return false;
}

/* Runs the call in a new thread while the stub holds the work that it needs, and lets the work run when the thread
 * waits for it. */
static void check_call(call *c) {
  pthread_t thread;
  const int64_t waits = stub_counter("host_waits");
  assert_int_equal(pthread_create(&thread, NULL, run_call, c), 0);
  for (int i = 0; i < PATIENCE && stub_counter("host_waits") == waits; i++) {
    nap();
  }
  const bool waited = stub_counter("host_waits") > waits, free = finds_lock_free(c->array);
  const bool ended = atomic_load(&c->ended);
  stub_order("resume");
  assert_int_equal(pthread_join(thread, NULL), 0);
  if (c->status != ND4C_OK) {
    fail_msg("%s", c->text);
  }
  assert_true(waited);
  assert_false(ended);
  assert_true(free);
  assert_int_equal(nd4c_shared_locks_waits(), 0);
}

/* `array` + itself on the stub, which holds it; work submitted from now on runs. */
static nd4c_array *hold_sum(nd4c_array *array) {
  nd4c_array *sum = NULL;
  stub_order("pause");
  assert_int_equal(nd4c_add_on(stub_context, array, array, &sum), ND4C_OK);
  stub_order("pass");
  return sum;
}

/* -- writes of the host -------------------------------------------------------------------------------------------- */

static nd4c_status write_whole(call *c) {
  static float values[COUNT];
  for (int i = 0; i < COUNT; i++) {
    values[i] = 7;
  }
  return nd4c_array_write(c->array, values, sizeof values);
}

static void a_whole_write(void **state) {
  (void)state;
  for (int reads = 0; reads < 2; reads++) { /* of the array that the work writes, and of the one that it reads */
    nd4c_array *a = filled(stub_device, 1), *sum = hold_sum(a);
    check_call(&(call){.run = write_whole, .array = reads ? a : sum});
    assert_all(a, 0, reads ? 7 : 1);
    assert_all(sum, 0, reads ? 2 : 7);
    nd4c_array_release(a);
    nd4c_array_release(sum);
  }
}

static nd4c_status write_part(call *c) {
  static const float values[4] = {7, 7, 7, 7};
  const int64_t start = 0, stop = 4, step = 1;
  nd4c_array *part = NULL;
  nd4c_status status = nd4c_array_slice(c->array, &start, &stop, &step, &part);
  status = status == ND4C_OK ? nd4c_array_write(part, values, sizeof values) : status;
  nd4c_array_release(part);
  return status;
}

static void a_part_write(void **state) {
  (void)state;
  for (int reads = 0; reads < 2; reads++) {
    nd4c_array *a = filled(stub_device, 1), *sum = hold_sum(a);
    check_call(&(call){.run = write_part, .array = reads ? a : sum});
    assert_all(a, 4, 1);
    assert_all(sum, reads ? 0 : 4, 2);
    nd4c_array_release(a);
    nd4c_array_release(sum);
  }
}

static nd4c_status compute_on_host(call *c) {
  return nd4c_square_on(cpu_context, c->other, &c->array);
}

static nd4c_status take_address(call *c) {
  void *address = NULL;
  return nd4c_array_data_mutable(c->array, &address);
}

/* The work is a copy that reads the host's memory. */
static void an_output_on_the_host(void **state) {
  (void)state;
  for (int address = 0; address < 2; address++) {
    nd4c_array *x = filled(cpu, 3), *other = filled(cpu, 4);
    stub_order("pause");
    assert_int_equal(nd4c_array_prefetch(x, stub_device), ND4C_OK);
    stub_order("pass");
    check_call(&(call){.run = address ? take_address : compute_on_host, .array = x, .other = other});
    assert_all(x, 0, address ? 3 : 16);
    nd4c_array_release(x);
    nd4c_array_release(other);
  }
}

/* -- replicas ------------------------------------------------------------------------------------------------------ */

static nd4c_status migrate(call *c) {
  return nd4c_array_migrate(c->array, cpu);
}

static void a_migration(void **state) {
  (void)state;
  for (int reads = 0; reads < 2; reads++) {
    nd4c_array *a = filled(stub_device, 1), *sum = hold_sum(a);
    nd4c_array *moved = reads ? a : sum;
    check_call(&(call){.run = migrate, .array = moved});
    assert_int_equal(nd4c_storage_state(moved->storage, cpu), 'M');
    assert_int_equal(nd4c_storage_state(moved->storage, stub_device), '-');
    assert_all(a, 0, 1);
    assert_all(sum, 0, 2);
    nd4c_array_release(a);
    nd4c_array_release(sum);
  }
}

static nd4c_status pin(call *c) {
  nd4c_replica_view view;
  return nd4c_array_pin(c->array, stub_device, &view);
}

static void pinning(void **state) {
  (void)state;
  for (int reads = 0; reads < 2; reads++) {
    nd4c_array *a = filled(stub_device, 1), *sum = hold_sum(a);
    check_call(&(call){.run = pin, .array = reads ? a : sum});
    assert_all(sum, 0, 2);
    nd4c_array_release(a);
    nd4c_array_release(sum);
  }
}

static nd4c_status write_eagerly(call *c) {
  return nd4c_add_on(c->context, c->other, c->other, &c->array);
}

/* The value is copied to another device after the write; if the devices cannot reach each other, the host copies it. */
static void an_eager_copy(void **state) {
  (void)state;
  const char *peers = getenv("STUB_PEERS");
  if (peers == NULL || strcmp(peers, "none") != 0) {
    skip();
  }
  nd4c_context *eager = NULL;
  const nd4c_context_options options = {
      .struct_size = sizeof options, .device = stub_device, .transfer = ND4C_TRANSFER_EAGER};
  assert_int_equal(nd4c_context_create(&options, &eager), ND4C_OK);
  nd4c_array *a = filled(stub_device, 1), *y = filled(stub_device, 2);
  assert_int_equal(nd4c_array_prefetch(y, second), ND4C_OK);
  assert_int_equal(nd4c_array_wait(y), ND4C_OK);
  assert_int_equal(nd4c_storage_state(y->storage, second), 'S');
  stub_order("pause");
  check_call(&(call){.run = write_eagerly, .array = y, .other = a, .context = eager});
  assert_int_equal(nd4c_storage_state(y->storage, second), 'S');
  assert_all(y, 0, 2);
  nd4c_array_release(a);
  nd4c_array_release(y);
  assert_int_equal(nd4c_context_destroy(eager), ND4C_OK);
}

static nd4c_status copy_between(call *c) {
  return nd4c_array_prefetch(c->array, second);
}

/* A device waits for a limited number of fences, and more precede the value. */
static void a_copy_behind_many_fences(void **state) {
  (void)state;
  enum { OPS = 20 };
  const char *points = getenv("STUB_POINTS");
  if (points == NULL || strcmp(points, "none") != 0) {
    skip(); /* one fence covers all */
  }
  nd4c_array *a = filled(stub_device, 1), *sums[OPS];
  stub_order("pause");
  for (int i = 0; i < OPS; i++) {
    sums[i] = NULL;
    assert_int_equal(nd4c_add_on(stub_context, a, a, &sums[i]), ND4C_OK);
  }
  stub_order("pass");
  check_call(&(call){.run = copy_between, .array = sums[OPS - 1]});
  assert_int_equal(nd4c_storage_state(sums[OPS - 1]->storage, second), 'S');
  assert_all(sums[OPS - 1], 0, 2);
  nd4c_array_release(a);
  for (int i = 0; i < OPS; i++) {
    nd4c_array_release(sums[i]);
  }
}

static nd4c_status negate(call *c) {
  nd4c_array *result = NULL;
  const nd4c_status status = nd4c_negative_on(stub_context, c->array, &result);
  nd4c_array_release(result);
  return status;
}

/* Writes more bytes than the staging buffers hold to memory that work is reading. */
static void a_copy_in_pieces(void **state) {
  (void)state;
  const int64_t size = INT64_C(3) << 19; /* 6 MiB */
  nd4c_array *a = NULL, *before = NULL;
  void *address = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, &size, 1, cpu, &a), ND4C_OK);
  assert_int_equal(nd4c_array_prefetch(a, stub_device), ND4C_OK);
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
  stub_order("pause");
  assert_int_equal(nd4c_negative_on(stub_context, a, &before), ND4C_OK);
  stub_order("pass");
  assert_int_equal(nd4c_array_data_mutable(a, &address), ND4C_OK);
  check_call(&(call){.run = negate, .array = a});
  nd4c_array_release(a);
  nd4c_array_release(before);
}

static nd4c_status read_all(call *c) {
  static float got[COUNT];
  return nd4c_array_read(c->array, got, sizeof got);
}

/* A copy for which the host waits is not queued after one that waits for other work. */
static void a_read_beside_a_copy_that_waits(void **state) {
  (void)state;
  pthread_t thread;
  nd4c_array *a = filled(stub_device, 1), *b = filled(stub_device, 5), *sum = hold_sum(a);
  call reading = {.run = read_all, .array = b};
  assert_int_equal(nd4c_array_prefetch(sum, cpu), ND4C_OK);
  assert_int_equal(pthread_create(&thread, NULL, run_call, &reading), 0);
  for (int i = 0; i < PATIENCE && !atomic_load(&reading.ended); i++) {
    nap();
  }
  const bool ended = atomic_load(&reading.ended);
  stub_order("resume");
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_true(ended);
  assert_int_equal(reading.status, ND4C_OK);
  assert_all(sum, 0, 2);
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_array_release(sum);
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

static nd4c_status prefetch(call *c) {
  return nd4c_array_prefetch(c->array, stub_device);
}

/* The device is full until work on a released array has ended. */
static void memory_for_a_replica(void **state) {
  (void)state;
  nd4c_array *x = filled(cpu, 3), *a = filled(stub_device, 1);
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
  assert_int_equal(nd4c_memory_trim(stub_device, 0), ND4C_OK);
  nd4c_array *sum = hold_sum(a);
  nd4c_array_release(sum);
  assert_int_equal(nd4c_memory_set_cap(stub_device, memory_info_of(stub_device).live_bytes), ND4C_OK);
  check_call(&(call){.run = prefetch, .array = x});
  assert_int_equal(nd4c_storage_state(x->storage, stub_device), 'S');
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  nd4c_array_release(x);
  nd4c_array_release(a);
}

static nd4c_status read_often(call *c) {
  enum { READERS = 8 };
  nd4c_array *results[READERS] = {NULL};
  nd4c_status status = ND4C_OK;
  for (int i = 0; i < READERS && status == ND4C_OK; i++) {
    status = nd4c_add_on(stub_context, c->array, c->array, &results[i]);
  }
  for (int i = 0; i < READERS; i++) {
    nd4c_array_release(results[i]);
  }
  return status;
}

/* If much memory waits for work, an array may have few readers under way: the host waits for the oldest. */
static void the_oldest_of_many_readers(void **state) {
  (void)state;
  const int64_t much = INT64_C(24) << 20, start = 0, stop = 4, step = 1;
  nd4c_array *a = filled(stub_device, 1), *big = NULL, *part = NULL, *result = NULL;
  assert_int_equal(nd4c_array_empty(ND4C_FLOAT32, 1, &much, stub_device, &big), ND4C_OK);
  assert_int_equal(nd4c_array_slice(big, &start, &stop, &step, &part), ND4C_OK);
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
  stub_order("pause");
  assert_int_equal(nd4c_negative_on(stub_context, part, &result), ND4C_OK);
  nd4c_array_release(part);
  nd4c_array_release(big);
  nd4c_array_release(result);
  check_call(&(call){.run = read_often, .array = a});
  nd4c_array_release(a);
}

/* -- ranks --------------------------------------------------------------------------------------------------------- */

enum { RANKS = 2, ARRAYS = 256 };
static nd4c_collective_id id;
static _Atomic int submitted;

/* Reads the state of enough arrays to use each of the locks, then submits its half of the work. */
static void *run_second_rank(void *unused) {
  (void)unused;
  nd4c_context *context = NULL;
  nd4c_group *group = NULL;
  nd4c_array *arrays[ARRAYS], *sum = NULL;
  const nd4c_context_options options = {.struct_size = sizeof options, .device = second};
  assert_int_equal(nd4c_context_create(&options, &context), ND4C_OK);
  assert_int_equal(nd4c_group_create(context, &id, 1, RANKS, &group), ND4C_OK);
  for (int i = 0; i < ARRAYS; i++) {
    arrays[i] = filled(second, 1);
  }
  while (atomic_load(&submitted) == 0) {
    nap();
  }
  for (int i = 0; i < 100; i++) {
    nap(); /* the first rank waits by now */
  }
  for (int i = 0; i < ARRAYS; i++) {
    assert_int_equal(nd4c_storage_state(arrays[i]->storage, second), 'M');
  }
  assert_int_equal(nd4c_group_all_reduce(group, ND4C_COLLECTIVE_SUM, arrays[0], &sum), ND4C_OK);
  assert_all(sum, 0, 3);
  for (int i = 0; i < ARRAYS; i++) {
    nd4c_array_release(arrays[i]);
  }
  nd4c_array_release(sum);
  assert_int_equal(nd4c_group_destroy(group), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  return NULL;
}

static void a_rank_writes_a_result_that_is_pending(void **state) {
  (void)state;
  pthread_t thread;
  nd4c_group *group = NULL;
  nd4c_array *x = filled(stub_device, 2), *sum = NULL;
  assert_int_equal(nd4c_collective_make_id(stub_device, &id), ND4C_OK);
  assert_int_equal(pthread_create(&thread, NULL, run_second_rank, NULL), 0);
  assert_int_equal(nd4c_group_create(stub_context, &id, 0, RANKS, &group), ND4C_OK);
  assert_int_equal(nd4c_group_all_reduce(group, ND4C_COLLECTIVE_SUM, x, &sum), ND4C_OK);
  atomic_store(&submitted, 1);
  assert_int_equal(write_whole(&(call){.array = sum}), ND4C_OK);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_all(sum, 0, 7);
  assert_int_equal(nd4c_shared_locks_waits(), 0);
  nd4c_array_release(x);
  nd4c_array_release(sum);
  assert_int_equal(nd4c_group_destroy(group), ND4C_OK);
}

static int end_test(void **state) {
  (void)stub_control("reset");
  (void)nd4c_memory_set_cap(stub_device, 0);
  (void)nd4c_device_synchronize(second);
  (void)nd4c_memory_trim(second, 0);
  return stub_test_end(state);
}

int main(void) {
#define ROW(test) cmocka_unit_test_setup_teardown(test, stub_test_begin, end_test)
  const struct CMUnitTest tests[] = {
      ROW(a_whole_write),
      ROW(a_part_write),
      ROW(an_output_on_the_host),
      ROW(a_migration),
      ROW(pinning),
      ROW(an_eager_copy),
      ROW(a_copy_behind_many_fences),
      ROW(a_copy_in_pieces),
      ROW(a_read_beside_a_copy_that_waits),
      ROW(memory_for_a_replica),
      ROW(the_oldest_of_many_readers),
      ROW(a_rank_writes_a_result_that_is_pending),
  };
#undef ROW
  const nd4c_context_options options = {.struct_size = sizeof options};
  if (stub_start() != ND4C_OK || nd4c_device_find("cpu:0", &cpu) != ND4C_OK ||
      nd4c_device_find("stub:1", &second) != ND4C_OK) {
    return 1;
  }
  nd4c_context_options host = options;
  host.device = cpu;
  if (nd4c_context_create(&host, &cpu_context) != ND4C_OK) {
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)nd4c_context_destroy(cpu_context);
  return failed + stub_stop();
}
