/* Scratch: one block for each stream, however many calls are under way, sizes from a range, and when streams release
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/alloc.h"
#include "device/stub_test.h"

enum { MEGABYTE = 1 << 20, SCRATCH = 16 << 20, COUNT = 33 };

/* Each test uses a different size, because the library remembers the scratch size of a signature. */
static nd4c_array *filled(int64_t size, double value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, &size, value, stub_device, &array), ND4C_OK);
  return array;
}

static void assert_value(const nd4c_array *array, double value) {
  double got = 0;
  assert_int_equal(nd4c_array_item(array, (const int64_t[]){-1}, &got), ND4C_OK);
  assert_true(got == value);
}

static void a_hundred_calls_share_one(void **state) {
  (void)state;
  nd4c_array *a = filled(1001, 2), *y[100] = {NULL};
  char *report = NULL;
  (void)stub_control("scratch 16777216");
  stub_settle();
  assert_int_equal(nd4c_memory_reset_peak(stub_device), ND4C_OK);
  stub_order("pause until_wait");
  for (int i = 0; i < 100; i++) {
    assert_int_equal(nd4c_square_on(stub_context, a, &y[i]), ND4C_OK);
  }
  assert_false(nd4c_array_is_ready(y[99], stub_device)); /* they are under way */
  for (int i = 0; i < 100; i++) {
    assert_value(y[i], 4);
  }
  assert_in_range(memory_info_of(stub_device).peak_bytes, SCRATCH, SCRATCH + MEGABYTE);
  assert_int_equal(memory_info_of(stub_device).scratch_bytes, SCRATCH);
  assert_int_equal(stub_counter("scratch_granted"), SCRATCH);
  assert_int_equal(nd4c_memory_report(stub_device, &report), ND4C_OK);
  assert_non_null(strstr(report, "1 x 16777216 bytes from scratch\n"));
  nd4c_free(report);
  assert_int_equal(nd4c_memory_trim(stub_device, 1), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).scratch_bytes, SCRATCH); /* it is not cached */
  assert_int_equal(nd4c_memory_trim(stub_device, 0), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).scratch_bytes, 0);
  nd4c_array_release(a);
  for (int i = 0; i < 100; i++) {
    nd4c_array_release(y[i]);
  }
}

static void work_under_way_keeps_it(void **state) {
  (void)state;
  nd4c_array *a = filled(1003, 3), *y = NULL;
  (void)stub_control("scratch 65536");
  stub_order("pause until_wait");
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
  assert_int_equal(nd4c_memory_trim(stub_device, 0), ND4C_OK);
  assert_false(nd4c_array_is_ready(y, stub_device));
  assert_int_equal(memory_info_of(stub_device).scratch_bytes, 65536);
  assert_value(y, 9);
  assert_int_equal(nd4c_memory_trim(stub_device, 0), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).scratch_bytes, 0);
  nd4c_array_release(a);
  nd4c_array_release(y);
}

static void a_larger_one_takes_its_place(void **state) {
  (void)state;
  nd4c_array *a = filled(1005, 3), *b = filled(1007, 3), *y = NULL, *z = NULL;
  (void)stub_control("scratch 65536");
  stub_order("pause until_wait");
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
  (void)stub_control("scratch 131072");
  assert_int_equal(nd4c_square_on(stub_context, b, &z), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).scratch_bytes, 65536 + 131072); /* the first call is still at work */
  assert_value(z, 9);
  nd4c_array_release(y);
  y = NULL;
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK); /* the smaller one is freed */
  assert_value(y, 9);
  assert_int_equal(stub_counter("scratch_granted"), 65536); /* no more than was asked for */
  assert_int_equal(memory_info_of(stub_device).scratch_bytes, 131072);
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_array_release(y);
  nd4c_array_release(z);
}

static void each_stream_has_its_own(void **state) {
  (void)state;
  nd4c_context *other = NULL;
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  nd4c_array *a = filled(1009, 3), *y = NULL, *z = NULL;
  assert_int_equal(nd4c_context_create(&options, &other), ND4C_OK);
  (void)stub_control("scratch 65536");
  (void)stub_control("delay 2000");
  for (int i = 0; i < 4; i++) {
    assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
    assert_int_equal(nd4c_square_on(other, a, &z), ND4C_OK);
  }
  assert_int_equal(memory_info_of(stub_device).scratch_bytes, 2 * 65536);
  assert_int_equal(nd4c_context_destroy(other), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).scratch_bytes, 65536); /* the destroyed stream freed its block */
  assert_value(y, 9);
  assert_value(z, 9);
  nd4c_array_release(a);
  nd4c_array_release(y);
  nd4c_array_release(z);
}

/* -- threads ------------------------------------------------------------------------------------------------------- */

static void *square_often(void *argument) {
  nd4c_array *a = filled(1011, 3);
  for (int i = 0; i < 200; i++) {
    nd4c_array *y = NULL;
    if (nd4c_square_on(stub_context, a, &y) != ND4C_OK) {
      *(int *)argument += 1;
    }
    nd4c_array_release(y);
    if (i % 4 == 0) {
      (void)nd4c_memory_trim(stub_device, 0);
    }
  }
  nd4c_array_release(a);
  return NULL;
}

static void threads_share_a_stream(void **state) {
  (void)state;
  enum { THREADS = 3 };
  pthread_t threads[THREADS];
  int failures[THREADS] = {0};
  (void)stub_control("scratch 4096");
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, square_often, &failures[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(failures[i], 0);
  }
  assert_int_equal(nd4c_context_synchronize(stub_context), ND4C_OK);
  assert_in_range(memory_info_of(stub_device).scratch_bytes, 0, THREADS * 4096);
  assert_int_equal(stub_counter("violations"), 0);
}

/* -- ranges -------------------------------------------------------------------------------------------------------- */

/* The scratch that a call got under a cap, beside `a` and its result. */
static int64_t granted_under(int64_t cap, nd4c_array *a, nd4c_status expected) {
  nd4c_array *y = NULL;
  stub_settle();
  assert_int_equal(nd4c_memory_set_cap(stub_device, cap), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, a, &y), expected);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  if (expected == ND4C_OK) {
    assert_value(y, 9);
  }
  nd4c_array_release(y);
  return stub_counter("scratch_granted");
}

static void a_range_fits_what_there_is(void **state) {
  (void)state;
  nd4c_array *a = filled(1013, 3);
  (void)stub_control("scratch 1048576 8388608");
  assert_int_equal(granted_under(0, a, ND4C_OK), 8 * MEGABYTE);
  assert_int_equal(granted_under(10 * MEGABYTE, a, ND4C_OK), 8 * MEGABYTE);
  assert_in_range(granted_under(6 * MEGABYTE, a, ND4C_OK), 4 * MEGABYTE, 6 * MEGABYTE);
  assert_int_equal(granted_under(MEGABYTE + 65536, a, ND4C_OK), MEGABYTE);
  (void)granted_under(MEGABYTE, a, ND4C_MEMORY_CAP);
  assert_message("square: 1048576 bytes of scratch");
  assert_message("memory cap");
  /* A full device gives the same result as a cap. */
  (void)stub_control("memory 1200000");
  assert_int_equal(granted_under(0, a, ND4C_OK), MEGABYTE);
  (void)stub_control("memory 1000000");
  (void)granted_under(0, a, ND4C_MEMORY);
  assert_message("square: 1048576 bytes of scratch");
  (void)stub_control("memory 1073741824");
  nd4c_array_release(a);
}

static void the_property_limits_it(void **state) {
  (void)state;
  nd4c_array *a = filled(1015, 3);
  (void)stub_control("scratch 1048576 8388608");
  assert_int_equal(nd4c_config_set("nd4c.device.scratch", "2m"), ND4C_OK);
  assert_int_equal(granted_under(0, a, ND4C_OK), 2 * MEGABYTE);
  assert_int_equal(stub_counter("scratch_limit"), 2 * MEGABYTE);
  assert_int_equal(nd4c_config_set("nd4c.device.scratch", "1k"), ND4C_OK); /* the least is needed all the same */
  assert_int_equal(granted_under(0, a, ND4C_OK), MEGABYTE);
  assert_int_equal(nd4c_config_set("nd4c.device.scratch", NULL), ND4C_OK);
  nd4c_array_release(a);
}

static void the_limit_is_told(void **state) {
  (void)state;
  nd4c_array *a = filled(1017, 3);
  (void)stub_control("scratch 4096");
  (void)granted_under(6 * MEGABYTE, a, ND4C_OK);
  assert_in_range(stub_counter("scratch_limit"), 5 * MEGABYTE, 6 * MEGABYTE);
  nd4c_array_release(a);
}

static void refused(int64_t size, const char *command, nd4c_status expected, const char *words) {
  nd4c_array *a = filled(size, 3), *y = NULL;
  (void)stub_control(command);
  assert_int_equal(nd4c_square_on(stub_context, a, &y), expected);
  assert_message(words);
  assert_null(y);
  (void)stub_control("reset");
  nd4c_array_release(a);
}

static void answers_are_checked(void **state) {
  (void)state;
  const int64_t prepared = stub_counter("prepared");
  refused(1019, "scratch 100 50", ND4C_UNSUPPORTED, "asks for 100 to 50 bytes of scratch: expected 0 to");
  refused(1021, "scratch -1 50", ND4C_UNSUPPORTED, "asks for -1 to 50 bytes of scratch");
  refused(1023, "scratch 1 72057594037927937", ND4C_UNSUPPORTED, "to 72057594037927937 bytes of scratch");
  refused(1025, "fail device_scratch:1:600", ND4C_UNSUPPORTED, "device_scratch was told to fail");
  refused(1027, "fail device_scratch:1:500", ND4C_MEMORY, "device_scratch was told to fail");
  assert_int_equal(stub_counter("prepared"), prepared); /* the state prepared before is released */
}

/* -- pressure ------------------------------------------------------------------------------------------------------ */

static void it_gives_way(void **state) {
  (void)state;
  nd4c_array *a = filled(1029, 3), *y = NULL, *large = NULL;
  (void)stub_control("scratch 4194304");
  assert_int_equal(nd4c_memory_set_cap(stub_device, 6 * MEGABYTE), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
  assert_value(y, 9);
  large = filled(COUNT + MEGABYTE, 1); /* 4 MiB: idle scratch is freed */
  assert_int_equal(memory_info_of(stub_device).scratch_bytes, 0);
  nd4c_array_release(large);
  (void)stub_control("delay 3000");
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
  assert_int_equal(memory_info_of(stub_device).scratch_bytes, 4 * MEGABYTE);
  large = filled(COUNT + MEGABYTE, 1); /* scratch in use is freed when its work is done */
  assert_int_equal(memory_info_of(stub_device).scratch_bytes, 0);
  assert_value(y, 9);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  nd4c_array_release(large);
  nd4c_array_release(a);
  nd4c_array_release(y);
}

/* Every allocation of the call fails once. */
static void without_memory_it_is_refused(void **state) {
  (void)state;
  nd4c_array *a = filled(1031, 3), *y = NULL;
  (void)stub_control("scratch 4096");
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
  assert_value(y, 9);
  int64_t survived = 0;
  for (int64_t skip = 0, reached = 1; reached; skip++) {
    stub_settle();
    const int64_t before = nd4c_allocation_count();
    nd4c_allocation_fail_at(skip);
    nd4c_status status = nd4c_square_on(stub_context, a, &y);
    reached = nd4c_allocation_count() - before > skip;
    nd4c_allocation_fail_at(-1);
    assert_true(status == ND4C_OK || (reached && status == ND4C_MEMORY && nd4c_error_message()[0] != '\0'));
    survived += status != ND4C_OK;
    assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
    assert_value(y, 9);
  }
  assert_true(survived > 2);
  nd4c_array_release(a);
  nd4c_array_release(y);
}

#define SCRATCH_TEST(name) cmocka_unit_test_setup_teardown(name, stub_test_begin, stub_test_end)

int main(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      SCRATCH_TEST(a_hundred_calls_share_one),    SCRATCH_TEST(work_under_way_keeps_it),
      SCRATCH_TEST(a_larger_one_takes_its_place), SCRATCH_TEST(each_stream_has_its_own),
      SCRATCH_TEST(threads_share_a_stream),       SCRATCH_TEST(a_range_fits_what_there_is),
      SCRATCH_TEST(the_property_limits_it),       SCRATCH_TEST(the_limit_is_told),
      SCRATCH_TEST(answers_are_checked),          SCRATCH_TEST(it_gives_way),
      SCRATCH_TEST(without_memory_it_is_refused),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return failed + stub_stop();
}
