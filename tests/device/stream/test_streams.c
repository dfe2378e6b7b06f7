/* Streams that the application owns, and streams with a priority. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "device/stub_plugin.h"

enum { COUNT = 64 };
static const int64_t shape[1] = {COUNT};

static void *(*native_create)(int32_t device);
static int32_t (*native_work)(void *native, int64_t microseconds, _Atomic int32_t *place, int32_t number);
static void (*native_destroy)(void *native);

static void find(const char *name, void *function, size_t size) {
  void *library = dlopen(STUB_PATH, RTLD_NOW), *symbol = library != NULL ? dlsym(library, name) : NULL;
  assert_non_null(symbol);
  memcpy(function, &symbol, size);
}

static int begin(void **state) {
  find("stub_native_create", &native_create, sizeof native_create);
  find("stub_native_work", &native_work, sizeof native_work);
  find("stub_native_destroy", &native_destroy, sizeof native_destroy);
  return stub_test_begin(state);
}

static nd4c_array *filled(double value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, value, stub_device, &array), ND4C_OK);
  return array;
}

static void assert_all(const nd4c_array *array, float value) {
  float got[COUNT];
  assert_int_equal(nd4c_array_read(array, got, sizeof got), ND4C_OK);
  for (int i = 0; i < COUNT; i++) {
    assert_float_equal(got[i], value, 0);
  }
}

/* nd4c's work begins after the application's earlier work, and the application's later work runs after nd4c's; another
 * context waits for results as usual. */
static void work_goes_there_in_order(void **state) {
  (void)state;
  nd4c_context *wrapped = NULL;
  nd4c_array *one = filled(1), *two = NULL, *three = NULL;
  nd4c_native_handles handles = {.struct_size = sizeof handles};
  _Atomic int32_t place = 0, later = 0;
  void *native = native_create(0);
  assert_non_null(native);
  assert_int_equal(nd4c_context_wrap(stub_device, native, &wrapped), ND4C_OK);
  assert_int_equal(nd4c_context_native(wrapped, &handles), ND4C_OK);
  assert_ptr_equal(handles.stream, native);
  assert_ptr_equal(nd4c_context_device(wrapped), stub_device);
  assert_int_equal(nd4c_array_wait(one), ND4C_OK);
  const int64_t tasks = stub_counter("tasks");
  stub_order("pause until_wait");
  assert_int_equal(native_work(native, 30000, &place, 1), 0);
  assert_int_equal(nd4c_add_on(wrapped, one, one, &two), ND4C_OK);
  assert_int_equal(atomic_load(&place), 0); /* submitting did not wait */
  assert_int_equal(stub_counter("tasks"), tasks);
  assert_int_equal(native_work(native, 0, &later, 2), 0);
  assert_int_equal(nd4c_add_on(stub_context, two, one, &three), ND4C_OK);
  assert_all(three, 3);
  assert_int_equal(atomic_load(&place), 1);
  assert_int_equal(nd4c_context_synchronize(wrapped), ND4C_OK);
  assert_int_equal(atomic_load(&later), 2);
  nd4c_array_release(three);
  nd4c_array_release(two);
  nd4c_array_release(one);
  assert_int_equal(nd4c_context_destroy(wrapped), ND4C_OK);
  /* The stream still exists. */
  assert_int_equal(native_work(native, 0, &place, 7), 0);
  native_destroy(native);
  assert_int_equal(atomic_load(&place), 7);
}

/* Destroying waits for the application's work, too. Two contexts may share a stream. */
static void contexts_come_and_go(void **state) {
  (void)state;
  nd4c_context *first = NULL, *second = NULL;
  nd4c_array *one = filled(1), *two = NULL, *four = NULL;
  _Atomic int32_t place = 0;
  const int64_t streams = stub_counter("streams"), natives = stub_counter("natives");
  void *native = native_create(0);
  assert_int_equal(nd4c_context_wrap(stub_device, native, &first), ND4C_OK);
  assert_int_equal(nd4c_context_wrap(stub_device, native, &second), ND4C_OK);
  assert_int_equal(stub_counter("streams"), streams + 1);
  assert_int_equal(stub_counter("wrapped"), 2);
  assert_int_equal(nd4c_add_on(first, one, one, &two), ND4C_OK);
  assert_int_equal(nd4c_add_on(second, two, two, &four), ND4C_OK);
  assert_int_equal(native_work(native, 20000, &place, 1), 0);
  assert_int_equal(nd4c_context_destroy(first), ND4C_OK);
  assert_int_equal(atomic_load(&place), 1);
  assert_all(four, 4);
  nd4c_array_release(four);
  nd4c_array_release(two);
  nd4c_array_release(one);
  assert_int_equal(nd4c_context_destroy(second), ND4C_OK);
  native_destroy(native);
  assert_int_equal(stub_counter("streams"), streams);
  assert_int_equal(stub_counter("natives"), natives);
  assert_int_equal(stub_counter("wrapped"), 0);
}

/* A failure in flight affects only dependent work, as on any stream. */
static void failures_are_told(void **state) {
  (void)state;
  nd4c_context *wrapped = NULL;
  nd4c_array *one = filled(1), *bad = NULL, *good = NULL;
  float got[COUNT];
  void *native = native_create(0);
  assert_int_equal(nd4c_context_wrap(stub_device, native, &wrapped), ND4C_OK);
  assert_int_equal(nd4c_array_wait(one), ND4C_OK);
  assert_int_equal(stub_control("fail in_flight:1"), ND4C_OK);
  assert_int_equal(nd4c_add_on(wrapped, one, one, &bad), ND4C_OK);
  assert_int_equal(nd4c_array_read(bad, got, sizeof got), ND4C_DEVICE);
  assert_non_null(strstr(nd4c_error_message(), "add"));
  assert_int_equal(nd4c_add_on(wrapped, one, one, &good), ND4C_OK);
  assert_all(good, 2);
  nd4c_array_release(good);
  nd4c_array_release(bad);
  nd4c_array_release(one);
  assert_int_equal(nd4c_context_destroy(wrapped), ND4C_OK);
  native_destroy(native);
}

static void refuses_what_is_no_stream(void **state) {
  (void)state;
  nd4c_context *context = NULL;
  nd4c_device *cpu = NULL;
  int other = 0;
  assert_int_equal(nd4c_device_find("cpu", &cpu), ND4C_OK);
  const int64_t streams = stub_counter("streams");
  assert_int_equal(nd4c_context_wrap(cpu, NULL, &context), ND4C_UNSUPPORTED);
  assert_string_equal(nd4c_error_message(), "cpu:0 takes no streams of others");
  assert_int_equal(nd4c_context_wrap(stub_device, &other, &context), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "is no stream of this device"));
  assert_int_equal(nd4c_context_wrap(stub_device, NULL, &context), ND4C_ARGUMENT);
  assert_int_equal(nd4c_context_wrap(NULL, NULL, &context), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_context_wrap(stub_device, NULL, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_context_wrap((nd4c_device *)&other, NULL, &context), ND4C_HANDLE);
  assert_null(context);
  void *native = native_create(1);
  assert_int_equal(nd4c_context_wrap(stub_device, native, &context), ND4C_ARGUMENT); /* another device's */
  native_destroy(native);
  native = native_create(0);
  assert_int_equal(stub_control("fail stream_wrap:1:12345"), ND4C_OK);
  assert_int_equal(nd4c_context_wrap(stub_device, native, &context), ND4C_INTERNAL);
  nd4c_allocation_fail_at(0);
  assert_int_equal(nd4c_context_wrap(stub_device, native, &context), ND4C_MEMORY);
  nd4c_allocation_fail_at(-1);
  native_destroy(native); /* a violation if the failed call kept the stream */
  assert_int_equal(stub_counter("streams"), streams);
}

static void streams_have_priorities(void **state) {
  (void)state;
  nd4c_device_info info = {.struct_size = sizeof info};
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  nd4c_context *context = NULL;
  nd4c_device *cpu = NULL;
  assert_int_equal(nd4c_device_get_info(stub_device, &info), ND4C_OK);
  assert_int_equal(info.least_priority, -1);
  assert_int_equal(info.greatest_priority, 2);
  assert_true(info.wraps_streams);
  for (options.priority = -1; options.priority <= 2; options.priority++) {
    nd4c_array *one = filled(1), *two = NULL;
    assert_int_equal(nd4c_context_create(&options, &context), ND4C_OK);
    assert_int_equal(stub_counter("priorities"), options.priority);
    assert_int_equal(nd4c_add_on(context, one, one, &two), ND4C_OK);
    assert_all(two, 2);
    nd4c_array_release(two);
    nd4c_array_release(one);
    assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  }
  const int32_t beyond[] = {-2, 3, INT32_MIN, INT32_MAX};
  for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
    options.priority = beyond[i];
    assert_int_equal(nd4c_context_create(&options, &context), ND4C_ARGUMENT);
    assert_non_null(strstr(nd4c_error_message(), "streams of stub:0 have -1 to 2"));
  }
  assert_int_equal(nd4c_device_find("cpu", &cpu), ND4C_OK);
  options = (nd4c_context_options){.struct_size = sizeof options, .device = cpu, .priority = 1};
  assert_int_equal(nd4c_context_create(&options, &context), ND4C_ARGUMENT);
  /* A program compiled with an older header has no such field. */
  options.struct_size = (uint32_t)offsetof(nd4c_context_options, priority);
  assert_int_equal(nd4c_context_create(&options, &context), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

int main(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(work_goes_there_in_order, begin, stub_test_end),
      cmocka_unit_test_setup_teardown(contexts_come_and_go, begin, stub_test_end),
      cmocka_unit_test_setup_teardown(failures_are_told, begin, stub_test_end),
      cmocka_unit_test_setup_teardown(refuses_what_is_no_stream, begin, stub_test_end),
      cmocka_unit_test_setup_teardown(streams_have_priorities, begin, stub_test_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
