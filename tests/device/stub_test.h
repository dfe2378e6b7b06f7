/* Shared by the tests on the stub: its plug-in, and the values that they check. */
#ifndef TESTS_DEVICE_STUB_TEST_H
#define TESTS_DEVICE_STUB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stub_plugin.h"

/* The calling thread's last failure has that part in its text. */
static inline void assert_message(const char *part) {
  if (strstr(nd4c_error_message(), part) == NULL) {
    fail_msg("no \"%s\" in \"%s\"", part, nd4c_error_message());
  }
}

static inline nd4c_memory_info memory_info_of(const nd4c_device *device) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_memory_get_info(device, &info), ND4C_OK);
  return info;
}

#endif
