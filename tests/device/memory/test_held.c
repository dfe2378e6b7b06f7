/* Memory that backends hold beside arrays: counted, under the cap, and released when memory is short. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/alloc.h"
#include "device/device.h"
#include "device/stub_test.h"

enum { MEGABYTE = 1 << 20 };

static const nd4c_host_device_memory *table;

static nd4c_status make(int64_t bytes, nd4c_array **array) {
  *array = NULL;
  return nd4c_array_full(ND4C_UINT8, 1, &bytes, 7, stub_device, array);
}

static int before_each(void **state) {
  table = nd4c_plugin_get_host()->device_memory;
  (void)stub_control("give_way own");
  return stub_test_begin(state);
}

static int after_each(void **state) {
  (void)nd4c_memory_set_cap(stub_device, 0);
  (void)stub_control("unhold");
  return stub_test_end(state) + (stub_counter("held") != 0) + (memory_info_of(stub_device).held_bytes != 0);
}

/* -- counting ------------------------------------------------------------------------------------------------------ */

static void it_is_counted(void **state) {
  (void)state;
  char *report = NULL;
  const nd4c_memory_info before = memory_info_of(stub_device);
  assert_int_equal(before.held_bytes, 0);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(stub_control("hold 100000"), ND4C_OK);
  }
  assert_int_equal(stub_control("hold_buffer 65536"), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).held_bytes, 265536);
  assert_int_equal(memory_info_of(stub_device).live_bytes, before.live_bytes + 265536);
  assert_int_equal(stub_counter("buffers"), 1);
  assert_int_equal(nd4c_memory_report(stub_device, &report), ND4C_OK);
  assert_non_null(strstr(report, "2 x 100000 bytes held for stub workspace\n"));
  assert_non_null(strstr(report, "1 x 65536 bytes from stub workspace\n"));
  nd4c_free(report);
  assert_int_equal(stub_control("unhold"), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).held_bytes, 0);
  assert_int_equal(memory_info_of(stub_device).live_bytes, before.live_bytes);
  assert_int_equal(nd4c_memory_report(stub_device, &report), ND4C_OK);
  assert_null(strstr(report, "stub workspace"));
  nd4c_free(report);
}

static void the_cap_holds_for_it(void **state) {
  (void)state;
  nd4c_array *a = NULL;
  assert_int_equal(nd4c_memory_set_cap(stub_device, 4 * MEGABYTE), ND4C_OK);
  assert_int_equal(make(3 * MEGABYTE, &a), ND4C_OK);
  assert_int_equal(stub_control("hold 2097152"), ND4C_MEMORY_CAP);
  assert_message("2097152 more requested, cap 4194304");
  assert_int_equal(stub_control("hold_buffer 2097152"), ND4C_MEMORY_CAP);
  nd4c_array_release(a);
  assert_int_equal(stub_control("hold 2097152"), ND4C_OK); /* cached memory is freed first */
  (void)stub_control("give_way none");
  assert_int_equal(make(3 * MEGABYTE, &a), ND4C_MEMORY_CAP);
  assert_message("2097152 bytes in use (2097152 held by backends) and 0 cached");
}

/* -- pressure ------------------------------------------------------------------------------------------------------ */

/* Three pieces of 2 MiB under a cap of 8, and an array of some size: how often the backend is asked to give a piece,
 * and the bytes that stay. */
static void press(const char *way, int64_t megabytes, nd4c_status expected, int64_t asked, int64_t left) {
  nd4c_array *a = NULL;
  (void)stub_control(way);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 8 * MEGABYTE), ND4C_OK);
  assert_int_equal(stub_control("hold 2097152"), ND4C_OK);
  assert_int_equal(stub_control("hold_buffer 2097152"), ND4C_OK);
  assert_int_equal(stub_control("hold 2097152"), ND4C_OK);
  const int64_t before = stub_counter("asked_to_give");
  assert_int_equal(make(megabytes * MEGABYTE, &a), expected);
  assert_int_equal(stub_counter("asked_to_give") - before, asked);
  assert_int_equal(stub_counter("held"), left);
  assert_int_equal(memory_info_of(stub_device).held_bytes, left * 2 * MEGABYTE);
  nd4c_array_release(a);
  (void)stub_control("unhold");
  (void)stub_control("give_way own");
}

static void it_gives_way(void **state) {
  (void)state;
  press("give_way own", 2, ND4C_OK, 0, 3);
  press("give_way own", 3, ND4C_OK, 1, 2);
  press("give_way own", 5, ND4C_OK, 2, 1);
  press("give_way own", 8, ND4C_OK, 3, 0);
  press("give_way all", 3, ND4C_OK, 1, 0);
  press("give_way greedy", 5, ND4C_OK, 2, 1);
  press("give_way none", 3, ND4C_MEMORY_CAP, 3, 3);
  assert_message("6291456 held by backends");
  press("give_way own", 9, ND4C_MEMORY_CAP, 0, 3); /* above the cap: asking owners cannot help */
}

static void it_gives_way_to_other_pieces(void **state) {
  (void)state;
  assert_int_equal(nd4c_memory_set_cap(stub_device, 4 * MEGABYTE), ND4C_OK);
  assert_int_equal(stub_control("hold 3145728"), ND4C_OK);
  assert_int_equal(stub_control("hold 2097152"), ND4C_OK);
  assert_int_equal(stub_counter("held"), 1);
  assert_int_equal(memory_info_of(stub_device).held_bytes, 2 * MEGABYTE);
}

/* The device itself has no more memory. */
static void a_full_device_asks(void **state) {
  (void)state;
  nd4c_array *a = NULL;
  (void)stub_control("memory 8388608");
  assert_int_equal(stub_control("hold_buffer 6291456"), ND4C_OK);
  assert_int_equal(make(4 * MEGABYTE, &a), ND4C_OK);
  assert_int_equal(stub_counter("held"), 0);
  nd4c_array_release(a);
}

static void trimming_to_nothing_asks(void **state) {
  (void)state;
  assert_int_equal(stub_control("hold 4096"), ND4C_OK);
  assert_int_equal(stub_control("hold_buffer 4096"), ND4C_OK);
  assert_int_equal(nd4c_memory_trim(stub_device, 1), ND4C_OK);
  assert_int_equal(stub_counter("held"), 2);
  assert_int_equal(nd4c_memory_trim(stub_device, 0), ND4C_OK);
  assert_int_equal(stub_counter("held"), 0);
}

/* -- the table ----------------------------------------------------------------------------------------------------- */

static nd4c_device_memory_request request_of(int64_t bytes) {
  return (nd4c_device_memory_request){.struct_size = ND4C_SIZE_OF(nd4c_device_memory_request),
                                      .backend = "stub",
                                      .device = stub_device->handle,
                                      .bytes = bytes,
                                      .origin = "test"};
}

static void refuse(const nd4c_device_memory_request *request, const char *words) {
  nd4c_device_memory *memory = NULL;
  nd4c_buffer buffer = NULL;
  assert_int_equal(table->count(request, &memory), ND4C_ARGUMENT);
  assert_message(words);
  assert_int_equal(table->allocate(request, &memory, &buffer, NULL), ND4C_ARGUMENT);
  assert_message(words);
  assert_null(memory);
  assert_null(buffer);
}

static void requests_are_checked(void **state) {
  (void)state;
  nd4c_device_memory_request request = request_of(64);
  nd4c_device_memory *memory = NULL;
  refuse(NULL, "no request");
  request.struct_size -= 8;
  refuse(&request, "a struct_size of less than");
  request = request_of(0);
  refuse(&request, "0 bytes, expected 1 to");
  request = request_of(INT64_MIN);
  refuse(&request, "-9223372036854775808 bytes");
  request = request_of(INT64_MAX);
  refuse(&request, "9223372036854775807 bytes");
  request = request_of(64);
  request.backend = NULL;
  refuse(&request, "backend is missing");
  request.backend = "stu";
  refuse(&request, "backend stu has no open device at that pointer");
  request = request_of(64);
  request.origin = "";
  refuse(&request, "origin is missing");
  request = request_of(64);
  request.device = &request;
  refuse(&request, "backend stub has no open device");
  request = request_of(64);
  assert_int_equal(table->count(&request, NULL), ND4C_ARGUMENT);
  assert_int_equal(table->allocate(&request, &memory, NULL, NULL), ND4C_ARGUMENT);
  assert_null(memory);
  table->give(NULL);
}

static void origins_are_one_line(void **state) {
  (void)state;
  nd4c_device_memory_request request = request_of(64);
  nd4c_device_memory *memory = NULL;
  char *report = NULL, origin[] = "two\nlines";
  request.origin = origin;
  assert_int_equal(table->count(&request, &memory), ND4C_OK);
  memset(origin, 'x', sizeof origin - 1); /* nd4c's own name is reserved */
  assert_int_equal(nd4c_memory_report(stub_device, &report), ND4C_OK);
  assert_non_null(strstr(report, "1 x 64 bytes held for two?lines\n"));
  nd4c_free(report);
  table->give(memory);
}

static void without_memory_nothing_is_taken(void **state) {
  (void)state;
  int64_t survived = 0;
  for (int64_t skip = 0, reached = 1; reached; skip++) {
    nd4c_device_memory *memory[2] = {NULL};
    nd4c_buffer buffer = NULL;
    const nd4c_device_memory_request request = request_of(4096);
    (void)nd4c_memory_trim(stub_device, 0);
    const int64_t before = nd4c_allocation_count();
    nd4c_allocation_fail_at(skip);
    nd4c_status status = table->count(&request, &memory[0]);
    status = status == ND4C_OK ? table->allocate(&request, &memory[1], &buffer, NULL) : status;
    reached = nd4c_allocation_count() - before > skip;
    nd4c_allocation_fail_at(-1);
    assert_true(status == ND4C_OK || (reached && status == ND4C_MEMORY && nd4c_error_message()[0] != '\0'));
    survived += status != ND4C_OK;
    table->give(memory[0]);
    table->give(memory[1]);
    assert_int_equal(memory_info_of(stub_device).held_bytes, 0);
  }
  assert_true(survived >= 3);
}

/* -- within give_way, and beside it -------------------------------------------------------------------------------- */

typedef struct holder {
  nd4c_device_memory *memory;
  nd4c_status status; /* of a request from within */
  char text[200];
  atomic_int stage; /* 1: give_way has begun, 2: it has ended */
} holder;

static void ask_for_more(void *owner, int64_t bytes) {
  holder *h = owner;
  nd4c_device_memory *more = NULL;
  const nd4c_device_memory_request request = request_of(64);
  (void)bytes;
  h->status = table->count(&request, &more);
  (void)snprintf(h->text, sizeof h->text, "%s", nd4c_error_message());
  table->give(h->memory);
  h->memory = NULL;
}

static void nothing_is_granted_within(void **state) {
  (void)state;
  holder h = {.status = ND4C_OK};
  nd4c_device_memory_request request = request_of(4096);
  request.give_way = ask_for_more;
  request.owner = &h;
  assert_int_equal(table->count(&request, &h.memory), ND4C_OK);
  assert_int_equal(nd4c_memory_trim(stub_device, 0), ND4C_OK);
  assert_null(h.memory);
  assert_int_equal(h.status, ND4C_MEMORY);
  assert_non_null(strstr(h.text, "memory was requested inside give_way"));
}

static void nap(void) {
  (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void refuse_slowly(void *owner, int64_t bytes) {
  holder *h = owner;
  (void)bytes;
  atomic_store(&h->stage, 1);
  nap();
  atomic_store(&h->stage, 2);
}

static void *trim(void *argument) {
  (void)nd4c_memory_trim(stub_device, 0);
  return argument;
}

/* A thread that gives a piece while give_way asks for it waits, so that the owner is unused once `give` returns. */
static void giving_waits_for_who_asks(void **state) {
  (void)state;
  holder h = {.status = ND4C_OK};
  pthread_t thread;
  nd4c_device_memory_request request = request_of(4096);
  request.give_way = refuse_slowly;
  request.owner = &h;
  assert_int_equal(table->count(&request, &h.memory), ND4C_OK);
  assert_int_equal(pthread_create(&thread, NULL, trim, NULL), 0);
  while (atomic_load(&h.stage) == 0) {
  }
  table->give(h.memory);
  assert_int_equal(atomic_load(&h.stage), 2);
  assert_int_equal(pthread_join(thread, NULL), 0);
}

/* -- threads ------------------------------------------------------------------------------------------------------- */

static void *hold_and_give(void *argument) {
  for (int i = 0; i < 200; i++) {
    (void)stub_control(i % 2 == 0 ? "hold 65536" : "hold_buffer 65536");
    if (i % 7 == 0) {
      (void)stub_control("unhold");
    }
  }
  return argument;
}

static void *make_arrays(void *argument) {
  for (int i = 0; i < 200; i++) {
    nd4c_array *a = NULL;
    *(int *)argument += make(3 * 65536, &a) == ND4C_OK;
    nd4c_array_release(a);
  }
  return argument;
}

static void threads_press_at_once(void **state) {
  (void)state;
  static const char *const ways[] = {"give_way own", "give_way all", "give_way greedy"};
  pthread_t threads[4];
  int made[2];
  assert_int_equal(nd4c_memory_set_cap(stub_device, 8 * 65536), ND4C_OK);
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    (void)stub_control(ways[i]);
    made[0] = made[1] = 0;
    for (int k = 0; k < 4; k++) {
      assert_int_equal(pthread_create(&threads[k], NULL, k < 2 ? hold_and_give : make_arrays, &made[k % 2]), 0);
    }
    for (int k = 0; k < 4; k++) {
      assert_int_equal(pthread_join(threads[k], NULL), 0);
    }
    assert_true(made[0] > 0 && made[1] > 0);
    assert_true(memory_info_of(stub_device).live_bytes <= 8 * 65536);
    (void)stub_control("unhold");
  }
  assert_int_equal(stub_counter("held"), 0);
  assert_int_equal(stub_counter("violations"), 0);
}

#define HELD_TEST(name) cmocka_unit_test_setup_teardown(name, before_each, after_each)

int main(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      HELD_TEST(it_is_counted),
      HELD_TEST(the_cap_holds_for_it),
      HELD_TEST(it_gives_way),
      HELD_TEST(it_gives_way_to_other_pieces),
      HELD_TEST(a_full_device_asks),
      HELD_TEST(trimming_to_nothing_asks),
      HELD_TEST(requests_are_checked),
      HELD_TEST(origins_are_one_line),
      HELD_TEST(without_memory_nothing_is_taken),
      HELD_TEST(nothing_is_granted_within),
      HELD_TEST(giving_waits_for_who_asks),
      HELD_TEST(threads_press_at_once),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return failed + stub_stop();
}
