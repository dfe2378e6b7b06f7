/* A chain of devices, opencl:0 and then the host: when OpenCL fails at an allocation, a copy, a launch or, if the
 * routing waits, an event, the host's result is right, the failure is reported, and the inputs are unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "faulty_loader.h"

enum { COUNT = 8192 }; /* too large for the host's small storages */
static const int64_t shape[1] = {COUNT};
static nd4c_device *device, *host;
static nd4c_context *routed, *waiting;
static float ones[COUNT];

static int set_up(void **state) {
  (void)state;
  for (int i = 0; i < COUNT; i++) {
    ones[i] = 1;
  }
  nd4c_status status = nd4c_device_find("cpu:0", &host);
  status = status == ND4C_OK ? faulty_make_routed(device, host, false, &routed) : status;
  status = status == ND4C_OK ? faulty_make_routed(device, host, true, &waiting) : status;
  return status == ND4C_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  const nd4c_status status = nd4c_context_destroy(routed);
  return nd4c_context_destroy(waiting) == ND4C_OK && status == ND4C_OK ? 0 : -1;
}

/* x + x of an array on the given device; the device of the result. */
static nd4c_device *add_on(nd4c_context *context, nd4c_device *where) {
  nd4c_array *x = NULL, *sum = NULL;
  float read[COUNT];
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 1, shape, ones, where, &x), ND4C_OK);
  const nd4c_status status = nd4c_add_on(context, x, x, &sum);
  if (status != ND4C_OK) {
    print_error("%s\n", nd4c_error_message());
  }
  assert_int_equal(status, ND4C_OK);
  if (context == waiting) {
    assert_int_equal(faulty_control(""), 0); /* the call is over, and the read must not fail */
  }
  nd4c_device *computed = nd4c_array_device(sum);
  assert_int_equal(nd4c_array_read(sum, read, sizeof read), ND4C_OK);
  assert_float_equal(read[0], 2, 0);
  assert_float_equal(read[COUNT - 1], 2, 0);
  assert_int_equal(nd4c_array_read(x, read, sizeof read), ND4C_OK);
  assert_float_equal(read[COUNT / 2], 1, 0);
  nd4c_array_release(x);
  nd4c_array_release(sum);
  return computed;
}

static char *take_report(void) {
  char *report = NULL;
  assert_int_equal(nd4c_report_applied(&report), ND4C_OK);
  return report;
}

static void the_host_takes_over(void **state) {
  (void)state;
  /* Each of them fails before anything is computed, so another device can compute the whole call. */
  static const char *const faults[] = {"clCreateBuffer:0:-4", "clEnqueueWriteBuffer:0:-5", "clSetKernelArg:0:-51",
                                       "clEnqueueNDRangeKernel:0:-5", "clCreateCommandQueue:0:-6"};
  assert_ptr_equal(add_on(routed, host), device);
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    (void)nd4c_memory_trim(device, 0);
    nd4c_free(take_report());
    assert_int_equal(faulty_control(faults[i]), 0);
    nd4c_device *computed = add_on(routed, host);
    assert_int_equal(faulty_control(""), 0);
    char *report = take_report();
    if (computed == host && strstr(report, "opencl:0") == NULL) {
      print_error("%s: the report is \"%s\"\n", faults[i], report);
      fail();
    }
    if (computed != host && i != 4) { /* the queue for transfers may exist already */
      print_error("%s: the failure had no consequence\n", faults[i]);
      fail();
    }
    nd4c_free(report);
    assert_ptr_equal(add_on(routed, host), device); /* and the device again, once it works */
  }
}

/* An event fails in turn at each place where the call checks one. */
static void the_host_takes_over_in_flight(void **state) {
  (void)state;
  static const char *const faults[] = {"clWaitForEvents:%d:-14", "clGetEventInfo:%d:-58", "clFlush:%d:-5"};
  enum { PLACES = 12 };
  assert_ptr_equal(add_on(waiting, host), device);
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    int taken_over = 0;
    for (int place = 0; place < PLACES; place++) {
      char fault[64];
      nd4c_free(take_report());
      (void)snprintf(fault, sizeof fault, faults[i], place);
      assert_int_equal(faulty_control(fault), 0);
      nd4c_device *computed = add_on(waiting, host);
      char *report = take_report();
      if ((computed == host) != (strstr(report, "add: requested opencl:0, applied cpu:0") != NULL)) {
        print_error("%s: computed on the %s, the report is \"%s\"\n", fault, computed == host ? "host" : "device",
                    report);
        fail();
      }
      nd4c_free(report);
      taken_over += computed == host;
      assert_ptr_equal(add_on(waiting, host), device);
    }
    assert_true(taken_over > 0 && taken_over < PLACES);
  }
}

/* The host computes ops that the OpenCL device lacks, and explain reports that. */
static void what_is_declined_goes_on(void **state) {
  (void)state;
  nd4c_array *z = NULL, *sum = NULL;
  const float values[4] = {1, 2, 3, 4};
  const int64_t pairs[1] = {2};
  char *text = NULL;
  assert_int_equal(nd4c_array_from_data(ND4C_COMPLEX64, 1, pairs, values, host, &z), ND4C_OK);
  assert_int_equal(nd4c_add_on(routed, z, z, &sum), ND4C_OK);
  assert_ptr_equal(nd4c_array_device(sum), host);
  float read[4];
  assert_int_equal(nd4c_array_read(sum, read, sizeof read), ND4C_OK);
  assert_float_equal(read[3], 8, 0);
  const nd4c_array *inputs[2] = {z, z};
  assert_int_equal(nd4c_explain(routed, ND4C_OP_add, inputs, 2, NULL, 0, &text), ND4C_OK);
  assert_non_null(strstr(text, "opencl:0"));
  assert_non_null(strstr(text, "cpu:0"));
  assert_non_null(strstr(text, "complex64"));
  nd4c_free(text);
  nd4c_array_release(z);
  nd4c_array_release(sum);
}

/* A list may have more numbers than an array has axes, and more than the kernel has room for. */
static void a_long_list_is_declined(void **state) {
  (void)state;
  enum { AXES = 40 };
  nd4c_array *x = NULL, *y = NULL;
  const int64_t zeros[3] = {0}, three[1] = {3};
  int64_t extents[AXES], places[AXES * 3];
  char *text = NULL;
  for (int i = 0; i < AXES; i++) {
    extents[i] = 1;
  }
  const nd4c_attr attr = {"shape", {.kind = ND4C_ATTR_INTS, .count = AXES, .as.ints = extents}};
  assert_int_equal(nd4c_array_from_data(ND4C_INT64, 1, three, zeros, host, &x), ND4C_OK);
  const nd4c_array *inputs[1] = {x};
  assert_int_equal(nd4c_explain(routed, ND4C_OP_unravel_index, inputs, 1, &attr, 1, &text), ND4C_OK);
  assert_non_null(strstr(text, "40 axes"));
  nd4c_free(text);
  assert_int_equal(nd4c_op_call(routed, ND4C_OP_unravel_index, inputs, 1, &attr, 1, &y, 1), ND4C_OK);
  assert_ptr_equal(nd4c_array_device(y), host);
  assert_int_equal(nd4c_array_read(y, places, sizeof places), ND4C_OK);
  for (int i = 0; i < AXES * 3; i++) {
    assert_int_equal(places[i], 0);
  }
  nd4c_array_release(x);
  nd4c_array_release(y);
}

int main(void) {
  if (faulty_start(&device) != ND4C_OK) {
    print_message("skipped: %s\n", nd4c_error_message());
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_host_takes_over),
      cmocka_unit_test(the_host_takes_over_in_flight),
      cmocka_unit_test(what_is_declined_goes_on),
      cmocka_unit_test(a_long_list_is_declined),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
