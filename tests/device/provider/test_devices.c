/* Devices through the public API: the list, the facts of each device, names of types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "device/stub_plugin.h"

static void assert_message(const char *part) {
  if (strstr(nd4c_error_message(), part) == NULL) {
    fail_msg("no \"%s\" in \"%s\"", part, nd4c_error_message());
  }
}

/* The host is listed first; devices that are opened later follow. */
static void the_list_grows_as_backends_open(void **state) {
  (void)state;
  nd4c_device *first = NULL, *host = NULL, *device = NULL;
  assert_int_equal(nd4c_device_count(), 1);
  assert_int_equal(nd4c_device_at(0, &first), ND4C_OK);
  assert_int_equal(nd4c_device_find("cpu", &host), ND4C_OK);
  assert_ptr_equal(first, host);
  assert_int_equal(nd4c_device_at(1, &device), ND4C_INDEX);
  assert_message("device 1: 1 are open");
  assert_int_equal(stub_start(), ND4C_OK);
  assert_int_equal(nd4c_device_count(), 3);
  for (int32_t i = 1; i < 3; i++) {
    char name[16];
    nd4c_device *found = NULL;
    (void)snprintf(name, sizeof name, "stub:%d", i - 1);
    assert_int_equal(nd4c_device_at(i, &device), ND4C_OK);
    assert_int_equal(nd4c_device_find(name, &found), ND4C_OK);
    assert_ptr_equal(device, found);
  }
  assert_int_equal(nd4c_device_at(3, &device), ND4C_INDEX);
  assert_int_equal(nd4c_device_at(-1, &device), ND4C_INDEX);
  assert_int_equal(nd4c_device_at(0, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_device_at(0, &device), ND4C_OK);
  assert_ptr_equal(device, first);
}

static void names_that_nobody_has(void **state) {
  (void)state;
  nd4c_device *device = NULL;
  assert_int_equal(nd4c_device_find("stub:2", &device), ND4C_INDEX);
  assert_message("device 'stub:2': backend stub has 2");
  assert_int_equal(nd4c_device_find("warp:0", &device), ND4C_NO_BACKEND);
  assert_message("warp");
  assert_message("stub:0");
  assert_int_equal(nd4c_device_find("stub:x", &device), ND4C_NAME);
  assert_int_equal(nd4c_device_find("stub:-1", &device), ND4C_NAME);
  static const char *const beyond[] = {"stub:2147483647", "stub:2147483648", "stub:99999999999",
                                       "stub:18446744073709551616", "stub:99999999999999999999999999"};
  for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
    assert_int_equal(nd4c_device_find(beyond[i], &device), ND4C_INDEX);
    assert_message(beyond[i]);
    assert_message("the last one is stub:1");
  }
  assert_null(device);
  nd4c_device *capitals = NULL;
  assert_int_equal(nd4c_device_find("STUB:1", &capitals), ND4C_OK);
  assert_int_equal(nd4c_device_find("stub:1", &device), ND4C_OK);
  assert_ptr_equal(capitals, device);
  assert_int_equal(nd4c_device_find("stub:01", &device), ND4C_NAME); /* a device has one name */
  assert_int_equal(nd4c_device_find("stub:0000000000000000000001", &device), ND4C_NAME);
}

static void what_a_device_tells(void **state) {
  (void)state;
  nd4c_device_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_device_get_info(stub_device, &info), ND4C_OK);
  assert_string_equal(info.name, "stub:0");
  assert_string_equal(info.vendor, "stub");
  assert_string_equal(info.driver, "stub 1.0");
  assert_true((info.dtypes & ND4C_DTYPE_BIT(ND4C_FLOAT32)) != 0);
  assert_false(info.host_processor);
  assert_false(info.unified_memory);
  assert_true(info.has_native);
  assert_non_null(info.native);
  assert_int_equal(info.alignment, 64);
  assert_int_equal(info.priority, -10);
  assert_int_equal(info.memory_bytes, 1 << 30);
  assert_int_equal(info.largest_bytes, 0);
  assert_string_equal(info.uuid, "00102030-4050-6070-8090-a0b0c0d0e0f0");
  assert_string_equal(info.pci, "00ab:00:1f.7");
  assert_string_equal(info.capability, "7.1");
  assert_string_equal(info.identity, "stub:0");
  assert_int_equal(info.process_rank, 0);
  assert_int_equal(info.process_count, 1);
  nd4c_device *host = NULL, *second = NULL;
  assert_int_equal(nd4c_device_find("stub:1", &second), ND4C_OK);
  assert_int_equal(nd4c_device_get_info(second, &info), ND4C_OK);
  assert_string_equal(info.uuid, "01112131-4151-6171-8191-a1b1c1d1e1f1");
  assert_string_equal(info.pci, "00ab:01:1f.7");
  assert_true(info.has_native); /* NULL is its handle */
  assert_null(info.native);
  assert_int_equal(nd4c_device_find("cpu", &host), ND4C_OK);
  assert_int_equal(nd4c_device_get_info(host, &info), ND4C_OK);
  assert_false(info.has_native);
  assert_string_equal(info.uuid, "");
  assert_string_equal(info.pci, "");
  assert_string_equal(info.capability, "");
  assert_true(info.host_processor && info.unified_memory && info.addressable && info.host_readable);
  assert_non_null(info.vendor);
  assert_true(info.memory_bytes > 0);
  assert_true((info.dtypes & ND4C_DTYPE_BIT(ND4C_FLOAT64)) != 0 && (info.dtypes & ND4C_DTYPE_BIT(ND4C_BOOL)) != 0);
  assert_int_equal(info.largest_bytes, 0);
}

/* A program built with an older header has a shorter struct: the library writes only within it. */
static void shorter_structs_are_filled_as_far_as_they_reach(void **state) {
  (void)state;
  nd4c_device_info info = {.struct_size = offsetof(nd4c_device_info, vendor), .vendor = "untouched", .priority = 77};
  assert_int_equal(nd4c_device_get_info(stub_device, &info), ND4C_OK);
  assert_int_equal(info.width, 1);
  assert_string_equal(info.vendor, "untouched");
  assert_int_equal(info.priority, 77);
  assert_int_equal(info.struct_size, offsetof(nd4c_device_info, vendor));
  info.struct_size = 8;
  assert_int_equal(nd4c_device_get_info(stub_device, &info), ND4C_ARGUMENT);
}

static void types_by_name_and_number(void **state) {
  (void)state;
#define BOTH_WAYS(NAME, number, name, priority)                         \
  assert_string_equal(nd4c_device_type_name(ND4C_DEVICE_##NAME), name); \
  assert_int_equal(nd4c_device_type_find(name), number);                \
  assert_int_equal(nd4c_device_type_find(#NAME), number);
  ND4C_DEVICE_TYPE_TABLE(BOTH_WAYS)
#undef BOTH_WAYS
  assert_string_equal(nd4c_device_type_name(ND4C_DEVICE_NONE), "?");
  assert_string_equal(nd4c_device_type_name((nd4c_device_type)99), "?");
  assert_int_equal(nd4c_device_type_find("abacus"), ND4C_DEVICE_NONE);
  assert_int_equal(nd4c_device_type_find(NULL), ND4C_DEVICE_NONE);
}

/* Pointers that are not devices are refused, and never dereferenced. */
static void foreign_handles_are_refused(void **state) {
  (void)state;
  union {
    char bytes[64];
    nd4c_device *device;
  } junk;
  memset(&junk, 0x5a, sizeof junk);
  nd4c_device *foreign = (nd4c_device *)(void *)&junk;
  nd4c_device_info info = {.struct_size = sizeof info};
  nd4c_memory_info memory = {.struct_size = sizeof memory};
  nd4c_context_options options = {.struct_size = sizeof options, .device = foreign};
  nd4c_context *context = NULL;
  nd4c_array *array = NULL;
  char *text = NULL;
  int64_t bytes = 0;
  nd4c_trace_totals totals = {.struct_size = sizeof totals};
  nd4c_workspace *workspace = NULL;
  nd4c_workspace_info arena = {.struct_size = sizeof arena};
  assert_int_equal(nd4c_workspace_create(NULL, &workspace), ND4C_OK);
  const int64_t shape[1] = {100};
  const nd4c_status refused[] = {nd4c_device_get_info(foreign, &info),
                                 nd4c_device_synchronize(foreign),
                                 nd4c_memory_get_info(foreign, &memory),
                                 nd4c_memory_remaining(foreign, &bytes),
                                 nd4c_memory_set_cap(foreign, 1),
                                 nd4c_memory_trim(foreign, 0),
                                 nd4c_memory_reset_peak(foreign),
                                 nd4c_memory_report(foreign, &text),
                                 nd4c_trace_get_totals(foreign, NULL, &totals),
                                 nd4c_trace_get_totals(NULL, foreign, &totals),
                                 nd4c_workspace_get_info(workspace, foreign, &arena),
                                 nd4c_context_create(&options, &context),
                                 nd4c_array_zeros(ND4C_FLOAT32, 1, shape, foreign, &array)};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    assert_int_equal(refused[i], ND4C_HANDLE);
  }
  assert_non_null(strstr(nd4c_error_message(), "is not a device of an open backend"));
  assert_int_equal(nd4c_memory_reset_peak(NULL), ND4C_NULL_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "nd4c_memory_reset_peak"));
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(foreign_handles_are_refused),
      cmocka_unit_test(the_list_grows_as_backends_open),
      cmocka_unit_test(names_that_nobody_has),
      cmocka_unit_test(what_a_device_tells),
      cmocka_unit_test(shorter_structs_are_filled_as_far_as_they_reach),
      cmocka_unit_test(types_by_name_and_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
