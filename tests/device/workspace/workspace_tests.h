/* Shared by the tests of workspaces: arrays of 12000 bytes on the host and two devices of the stub. */
#ifndef TESTS_DEVICE_WORKSPACE_WORKSPACE_TESTS_H
#define TESTS_DEVICE_WORKSPACE_WORKSPACE_TESTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/stub_test.h"

enum { COUNT = 3000 };
static const int64_t shape[1] = {COUNT};
static nd4c_device *cpu, *second;
static float buffer[COUNT];

static inline nd4c_workspace *made(nd4c_outliving outliving, const nd4c_device *device, int64_t initial) {
  nd4c_workspace_options options = {
      .struct_size = sizeof options, .outliving = outliving, .device = device, .initial_bytes = initial};
  nd4c_workspace *workspace = NULL;
  assert_int_equal(nd4c_workspace_create(&options, &workspace), ND4C_OK);
  return workspace;
}

static inline nd4c_workspace_info info_of(nd4c_workspace *workspace, const nd4c_device *device) {
  nd4c_workspace_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_workspace_get_info(workspace, device, &info), ND4C_OK);
  return info;
}

static inline nd4c_array *filled(nd4c_device *device, double value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, value, device, &array), ND4C_OK);
  return array;
}

static inline void assert_all(const nd4c_array *array, float value) {
  assert_int_equal(nd4c_array_read(array, buffer, sizeof buffer), ND4C_OK);
  for (int i = 0; i < COUNT; i++) {
    assert_float_equal(buffer[i], value, 0);
  }
}

static inline int start(void **state) {
  (void)state;
  return stub_start() == ND4C_OK && nd4c_device_find("cpu", &cpu) == ND4C_OK &&
                 nd4c_device_find("stub:1", &second) == ND4C_OK
             ? 0
             : 1;
}

static inline int stop(void **state) {
  (void)state;
  return stub_stop();
}

#endif
