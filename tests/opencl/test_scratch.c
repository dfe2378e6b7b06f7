/* Many calls under way on one queue use one scratch buffer, also if the queue is out of order. Without an OpenCL device
 * the tests are skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

enum { CALLS = 100, COUNT = 40000 };

static nd4c_device *device;
static nd4c_context *context;

static nd4c_memory_info info(void) {
  nd4c_memory_info filled = {.struct_size = sizeof filled};
  assert_int_equal(nd4c_memory_get_info(device, &filled), ND4C_OK);
  return filled;
}

/* COUNT whole numbers from `first` on, shuffled. */
static nd4c_array *mixed(int32_t first) {
  static int32_t values[COUNT];
  const int64_t shape[1] = {COUNT};
  nd4c_array *array = NULL;
  for (int32_t i = 0; i < COUNT; i++) {
    values[i] = first + (int32_t)((int64_t)i * 7919 % COUNT);
  }
  assert_int_equal(nd4c_array_from_data(ND4C_INT32, 1, shape, values, device, &array), ND4C_OK);
  return array;
}

static void assert_sorted(const nd4c_array *array, int32_t first) {
  static int32_t values[COUNT];
  assert_int_equal(nd4c_array_read(array, values, sizeof values), ND4C_OK);
  for (int32_t i = 0; i < COUNT; i++) {
    assert_int_equal(values[i], first + i);
  }
}

static void sorts_share_their_scratch(void **state) {
  (void)state;
  nd4c_array *from[CALLS], *to[CALLS] = {NULL}, *once = NULL;
  for (int32_t i = 0; i < CALLS; i++) {
    from[i] = mixed(i * 10);
  }
  assert_int_equal(nd4c_sort_on(context, from[0], -1, false, &once), ND4C_OK);
  assert_int_equal(nd4c_array_wait(once), ND4C_OK);
  const int64_t scratch = info().scratch_bytes, before = info().live_bytes;
  assert_true(scratch > COUNT * (int64_t)sizeof(int64_t)); /* otherwise the test would show nothing */
  assert_int_equal(nd4c_memory_reset_peak(device), ND4C_OK);
  for (int32_t i = 0; i < CALLS; i++) {
    assert_int_equal(nd4c_sort_on(context, from[i], -1, false, &to[i]), ND4C_OK);
  }
  for (int32_t i = 0; i < CALLS; i++) {
    assert_sorted(to[i], i * 10);
  }
  assert_int_equal(info().scratch_bytes, scratch);
  const int64_t results = info().live_bytes - before; /* blocks are a little larger than requested */
  assert_in_range(results, (int64_t)CALLS * COUNT * 4, (int64_t)CALLS * COUNT * 5);
  assert_int_equal(info().peak_bytes, before + results);
  assert_int_equal(nd4c_memory_trim(device, 0), ND4C_OK);
  assert_int_equal(info().scratch_bytes, 0);
  for (int32_t i = 0; i < CALLS; i++) {
    nd4c_array_release(from[i]);
    nd4c_array_release(to[i]);
  }
  nd4c_array_release(once);
}

int main(void) {
  if (nd4c_device_find("opencl:0", &device) != ND4C_OK) {
    printf("skipped: %s\n", nd4c_error_message());
    return 77;
  }
  const nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  if (nd4c_context_create(&options, &context) != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(sorts_share_their_scratch)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)nd4c_context_destroy(context);
  return failed;
}
