/* Host memory that is registered for a device: the stub counts the copies that use it directly, and sees one that is
 * unregistered too soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "device/stub_plugin.h"

enum { COUNT = 1024 };
static nd4c_device *host;
static float memory[2 * COUNT];

static int end(void **state) {
  static const char *const counters[] = {"registrations"};
  return stub_test_end(state) + stub_left(counters, 1);
}

enum { LARGE = 5 << 20 };

static void registered_memory_is_copied_directly(void **state) {
  (void)state;
  const int64_t size = LARGE;
  char *bytes = calloc(1, LARGE);
  nd4c_array *a = NULL;
  bytes[LARGE - 1] = 1;
  for (int registered = 0; registered <= 1; registered++) {
    const int64_t copies = stub_counter("copy_from_host"), direct = stub_counter("direct_copies");
    if (registered) {
      assert_int_equal(nd4c_host_register(stub_device, bytes, LARGE), ND4C_OK);
    }
    assert_int_equal(nd4c_array_from_data(ND4C_INT8, 1, &size, bytes, stub_device, &a), ND4C_OK);
    assert_int_equal(stub_counter("copy_from_host") - copies, registered ? 1 : LARGE >> 20);
    assert_int_equal(stub_counter("direct_copies") - direct, registered);
    nd4c_array_release(a);
  }
  /* And back into the registered memory. */
  const int64_t copies = stub_counter("copy_to_host"), direct = stub_counter("direct_copies");
  const void *data = NULL;
  assert_int_equal(nd4c_array_wrap(ND4C_INT8, 1, &size, NULL, bytes, false, NULL, NULL, &a), ND4C_OK);
  nd4c_array *y = a;
  assert_int_equal(nd4c_negative_on(stub_context, a, &y), ND4C_OK);
  assert_int_equal(nd4c_array_data(a, &data), ND4C_OK);
  assert_ptr_equal(data, bytes);
  assert_int_equal(bytes[LARGE - 1], -1);
  assert_int_equal(stub_counter("copy_to_host") - copies, 1);
  assert_int_equal(stub_counter("direct_copies") - direct, 2);
  nd4c_array_release(a);
  assert_int_equal(nd4c_host_unregister(stub_device, bytes), ND4C_OK);
  free(bytes);
}

/* An asynchronous copy ends before unregistering returns the memory to the caller. */
static void unregistering_waits(void **state) {
  (void)state;
  const int64_t size = LARGE;
  char *bytes = calloc(1, LARGE);
  nd4c_array *a = NULL;
  assert_int_equal(nd4c_host_register(stub_device, bytes, LARGE), ND4C_OK);
  assert_int_equal(nd4c_array_wrap(ND4C_INT8, 1, &size, NULL, bytes, true, NULL, NULL, &a), ND4C_OK);
  assert_int_equal(stub_control("delay 20000"), ND4C_OK);
  assert_int_equal(nd4c_array_prefetch(a, stub_device), ND4C_OK);
  assert_int_equal(nd4c_host_unregister(stub_device, bytes), ND4C_OK);
  assert_int_equal(stub_counter("violations"), 0);
  nd4c_array_release(a);
  stub_settle();
  free(bytes);
}

static void registering_refuses(void **state) {
  (void)state;
  assert_int_equal(nd4c_host_register(NULL, memory, 4096), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_host_register(stub_device, NULL, 4096), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_host_register(stub_device, memory, 0), ND4C_ARGUMENT);
  assert_int_equal(nd4c_host_register(host, memory, 4096), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "cpu:0 page-locks no memory"));
  assert_int_equal(nd4c_host_unregister(stub_device, memory), ND4C_INDEX);
  assert_int_equal(stub_control("fail host_register:1"), ND4C_OK);
  assert_int_equal(nd4c_host_register(stub_device, memory, 4096), ND4C_DEVICE);
  nd4c_allocation_fail_at(0);
  assert_int_equal(nd4c_host_register(stub_device, memory, 4096), ND4C_MEMORY);
  nd4c_allocation_fail_at(-1);
  assert_int_equal(nd4c_host_register(stub_device, memory, 4096), ND4C_OK);
  assert_int_equal(nd4c_host_register(stub_device, memory + 1000, 4096), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "registered already"));
  assert_int_equal(nd4c_host_register(stub_device, memory + COUNT, 4096), ND4C_OK); /* behind it */
  assert_int_equal(nd4c_host_unregister(stub_device, memory), ND4C_OK);
  assert_int_equal(nd4c_host_unregister(stub_device, memory + COUNT), ND4C_OK);
}

/* Devices register the same memory each for itself. */
static void each_device_has_its_ranges(void **state) {
  (void)state;
  nd4c_device *second = NULL;
  assert_int_equal(nd4c_device_find("stub:1", &second), ND4C_OK);
  assert_int_equal(nd4c_host_register(stub_device, memory, 4096), ND4C_OK);
  assert_int_equal(nd4c_host_register(second, memory, 2048), ND4C_OK);
  assert_int_equal(nd4c_host_unregister(stub_device, memory), ND4C_OK);
  assert_int_equal(nd4c_host_register(second, memory, 2048), ND4C_ARGUMENT);
  assert_int_equal(nd4c_host_register(stub_device, memory, 4096), ND4C_OK);
  assert_int_equal(nd4c_host_unregister(second, memory), ND4C_OK);
  assert_int_equal(nd4c_host_unregister(second, memory), ND4C_INDEX);
  assert_int_equal(nd4c_host_unregister(stub_device, memory), ND4C_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, stub_test_begin, end)

int main(void) {
  if (stub_start() != ND4C_OK || nd4c_device_find("cpu:0", &host) != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {TEST(registered_memory_is_copied_directly), TEST(unregistering_waits),
                                     TEST(registering_refuses), TEST(each_device_has_its_ranges)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return failed + stub_stop();
}
