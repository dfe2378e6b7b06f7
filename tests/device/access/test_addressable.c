/* A device whose memory has addresses that the host cannot read: kernels and callers that ask get the addresses, and
 * nd4c does not read at them. The stub checks each operand's address, and a read by the host would end the test with a
 * signal. */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/stub_plugin.h"
#include "nd4c/dlpack.h"

enum { COUNT = 6 };
static const int64_t shape[2] = {2, 3};
static const float values[COUNT] = {1, 2, 3, 4, 5, 6};
static nd4c_device *host;

static nd4c_array *make(nd4c_device *device) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 2, shape, values, device, &array), ND4C_OK);
  return array;
}

static void assert_values(const nd4c_array *array, float factor) {
  float read[COUNT] = {0};
  assert_int_equal(nd4c_array_read(array, read, sizeof read), ND4C_OK);
  for (int i = 0; i < COUNT; i++) {
    assert_float_equal(read[i], factor * values[i], 0);
  }
}

static void the_device_says_so(void **state) {
  (void)state;
  nd4c_device_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_device_get_info(stub_device, &info), ND4C_OK);
  assert_true(info.addressable && !info.host_readable);
  assert_int_equal(info.dlpack_type, 12);
  assert_int_equal(nd4c_device_get_info(host, &info), ND4C_OK);
  assert_true(info.addressable && info.host_readable);
  assert_int_equal(info.dlpack_type, 1);
}

static void kernels_get_addresses(void **state) {
  (void)state;
  nd4c_array *a = make(stub_device), *rows = NULL, *y = NULL, *row = NULL;
  int64_t begin[2] = {1, 0}, end[2] = {2, 3}, step[2] = {1, 1};
  assert_int_equal(nd4c_add_on(stub_context, a, a, &y), ND4C_OK);
  assert_values(y, 2);
  assert_int_equal(nd4c_array_slice(a, begin, end, step, &row), ND4C_OK); /* element 0 is the fourth of the buffer */
  assert_int_equal(nd4c_add_on(stub_context, a, row, &rows), ND4C_OK);
  float read[COUNT] = {0};
  assert_int_equal(nd4c_array_read(rows, read, sizeof read), ND4C_OK);
  assert_float_equal(read[0], 5, 0);
  assert_float_equal(read[5], 12, 0);
  nd4c_array_release(a);
  nd4c_array_release(y);
  nd4c_array_release(row);
  nd4c_array_release(rows);
}

static void an_address_is_given_away(void **state) {
  (void)state;
  nd4c_array *a = make(stub_device), *row = NULL, *y = NULL;
  nd4c_dl_managed *whole = NULL, *part = NULL, *again = NULL;
  assert_int_equal(nd4c_array_to_dlpack_on(a, stub_device, &whole), ND4C_OK);
  assert_int_equal(whole->tensor.device.device_type, 12);
  assert_int_equal(whole->tensor.device.device_id, 0);
  assert_non_null(whole->tensor.data);
  assert_int_equal(nd4c_array_select(a, 0, 1, &row), ND4C_OK);
  assert_int_equal(nd4c_array_to_dlpack_on(row, stub_device, &part), ND4C_OK);
  assert_ptr_equal(part->tensor.data, (char *)whole->tensor.data + 3 * sizeof(float));
  /* The memory keeps its address during work elsewhere, and the contents return to it. */
  assert_int_equal(nd4c_array_migrate(a, host), ND4C_OK);
  assert_values(a, 1);
  assert_int_equal(nd4c_array_to_dlpack_on(a, stub_device, &again), ND4C_OK);
  assert_ptr_equal(again->tensor.data, whole->tensor.data);
  assert_int_equal(nd4c_add_on(stub_context, a, a, &y), ND4C_OK);
  assert_values(y, 2);
  nd4c_array_release(a);
  nd4c_array_release(row);
  nd4c_array_release(y);
  whole->deleter(whole);
  part->deleter(part);
  again->deleter(again);
}

static void contents_come_to_the_device_first(void **state) {
  (void)state;
  nd4c_array *a = make(host);
  nd4c_dl_managed *there = NULL, *here = NULL;
  assert_int_equal(nd4c_array_to_dlpack_on(a, stub_device, &there), ND4C_OK);
  assert_int_equal(there->tensor.device.device_type, 12);
  assert_int_equal(nd4c_array_to_dlpack(a, &here), ND4C_OK); /* the plain one is host memory wherever the array is */
  assert_int_equal(here->tensor.device.device_type, 1);
  assert_memory_equal(here->tensor.data, values, sizeof values);
  nd4c_array_release(a);
  there->deleter(there);
  here->deleter(here);
}

static void failures_leave_the_array(void **state) {
  (void)state;
  nd4c_array *a = make(host), *text = NULL;
  nd4c_dl_managed *managed = NULL;
  static const char *const words[] = {"a"};
  const int64_t one = 1;
  assert_int_equal(nd4c_array_to_dlpack_on(NULL, stub_device, &managed), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_array_to_dlpack_on(a, NULL, &managed), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_array_to_dlpack_on(a, stub_device, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_array_from_strings(1, &one, words, NULL, &text), ND4C_OK);
  assert_int_equal(nd4c_array_to_dlpack_on(text, stub_device, &managed), ND4C_DTYPE);
  nd4c_array_release(text);
  (void)nd4c_memory_trim(stub_device, 0);
  /* A backend that gives no address, no memory, a copy that fails: the caller gets the failure, and nothing is kept. */
  static const struct {
    const char *command, *text;
    nd4c_status status;
  } rows[] = {{"fail buffer_address:1", "buffers.address gave NULL", ND4C_DEVICE},
              {"fail buffer_allocate:1:600", "buffer_allocate was told to fail", ND4C_DEVICE},
              {"fail copy_from_host:1", "copy_from_host was told to fail", ND4C_DEVICE},
              {"fail in_flight_copy:1", "in_flight_copy was told to fail", ND4C_DEVICE}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int64_t buffers = stub_counter("buffers");
    assert_int_equal(stub_control(rows[i].command), ND4C_OK);
    assert_int_equal(nd4c_array_to_dlpack_on(a, stub_device, &managed), rows[i].status);
    assert_non_null(strstr(nd4c_error_message(), rows[i].text));
    assert_null(managed);
    assert_int_equal(stub_control("reset"), ND4C_OK);
    stub_settle();
    assert_int_equal(stub_counter("buffers"), buffers);
    assert_values(a, 1);
  }
  nd4c_array_release(a);
}

static void read_only_arrays_say_so(void **state) {
  (void)state;
  static const float memory[COUNT] = {1, 2, 3, 4, 5, 6};
  union {
    const float *read;
    void *write;
  } pointer = {.read = memory};
  nd4c_array *a = NULL;
  nd4c_dl_managed *managed = NULL;
  assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 2, shape, NULL, pointer.write, true, NULL, NULL, &a), ND4C_OK);
  assert_int_equal(nd4c_array_to_dlpack_on(a, stub_device, &managed), ND4C_OK);
  assert_int_equal(managed->flags, 1);
  assert_values(a, 1);
  managed->deleter(managed);
  nd4c_array_release(a);
}

int main(void) {
  if (setenv("STUB_MEMORY", "address", 1) != 0 || stub_start() != ND4C_OK ||
      nd4c_device_find("cpu:0", &host) != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_device_says_so),       cmocka_unit_test(kernels_get_addresses),
      cmocka_unit_test(an_address_is_given_away), cmocka_unit_test(contents_come_to_the_device_first),
      cmocka_unit_test(failures_leave_the_array), cmocka_unit_test(read_only_arrays_say_so)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return failed + stub_stop();
}
