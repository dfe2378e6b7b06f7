/* Shared by the tests of routing: the host and the stub's two devices, contexts whose ops are routed among them. */
#ifndef TESTS_DISPATCH_ROUTING_FIXTURE_H
#define TESTS_DISPATCH_ROUTING_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "array/array.h"
#include "device/storage/storage.h"
#include "device/stub_plugin.h"

enum { COUNT = 8192 };
static const int64_t shape[1] = {COUNT}, few[1] = {8};
static nd4c_device *cpu, *second;
static float buffer[COUNT];

static inline nd4c_array *filled(nd4c_device *device, const int64_t *extent, double value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, extent, value, device, &array), ND4C_OK);
  return array;
}

/* A context on the host whose ops are routed. */
static inline nd4c_context *routed(nd4c_routing_options options, bool strict) {
  nd4c_device *devices[] = {cpu, stub_device, second};
  options.struct_size = sizeof options;
  if (options.devices == NULL) {
    options.devices = devices;
    options.device_count = 3;
  }
  nd4c_context_options on = {.struct_size = sizeof on, .device = cpu, .strict = strict};
  nd4c_context *context = NULL;
  nd4c_routing *routing = NULL;
  assert_int_equal(nd4c_context_create(&on, &context), ND4C_OK);
  assert_int_equal(nd4c_routing_create(&options, &routing), ND4C_OK);
  assert_int_equal(nd4c_context_set_routing(context, routing), ND4C_OK);
  nd4c_routing_destroy(routing);
  return context;
}

static inline nd4c_context *with_policy(nd4c_routing_policy policy) {
  return routed((nd4c_routing_options){.policy = policy}, false);
}

/* Where a + a is computed; the values are checked. */
static inline nd4c_device *device_of_sum(nd4c_context *context, const nd4c_array *a, float expected) {
  nd4c_array *sum = NULL;
  nd4c_status status = nd4c_add_on(context, a, a, &sum);
  if (status != ND4C_OK) {
    print_error("%s\n", nd4c_error_message());
  }
  assert_int_equal(status, ND4C_OK);
  (void)stub_control("reset"); /* the read must not fail */
  nd4c_device *device = nd4c_array_device(sum);
  assert_int_equal(nd4c_array_read(sum, buffer, (size_t)sum->size * sizeof(float)), ND4C_OK);
  for (int64_t i = 0; i < sum->size; i++) {
    assert_float_equal(buffer[i], expected, 0);
  }
  nd4c_array_release(sum);
  return device;
}

static inline void assert_reported(const char *expected) {
  char *text = NULL;
  assert_int_equal(nd4c_report_applied(&text), ND4C_OK);
  if (strstr(text, expected) == NULL) {
    print_error("expected '%s' in '%s'\n", expected, text);
    fail();
  }
  nd4c_free(text);
}

/* Part of an array, so that a failing device could damage the rest. */
static inline nd4c_array *part_of(nd4c_array *array, int64_t extent) {
  nd4c_array *part = NULL;
  assert_int_equal(nd4c_array_make(array->dtype, 1, &extent, NULL, 0, nd4c_storage_retain(array->storage), &part),
                   ND4C_OK);
  return part;
}

static inline nd4c_status routing_start(void) {
  nd4c_status status = stub_start();
  status = status == ND4C_OK ? nd4c_device_find("cpu:0", &cpu) : status;
  return status == ND4C_OK ? nd4c_device_find("stub:1", &second) : status;
}

#endif
