/* Command queues that the application owns, queues with a priority: on a real driver, through the system's loader. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "faulty_loader.h"

enum { COUNT = 1000 };
static const int64_t shape[1] = {COUNT};
static nd4c_device *device;
static nd4c_context *own;
static nd4c_cl_api cl;

/* The vendor's functions from the vendor's library, as an application loads them. */
static bool find_functions(void) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
  bool all = library != NULL;
#define FIND(result, name, parameters)                             \
  {                                                                \
    void *symbol = library != NULL ? dlsym(library, #name) : NULL; \
    memcpy(&cl.name, &symbol, sizeof symbol);                      \
    all = all && symbol != NULL;                                   \
  }
  ND4C_CL_SYMBOLS(FIND)
  ND4C_CL_OPTIONAL_SYMBOLS(FIND)
#undef FIND
  return all;
}

static cl_context context_of(cl_command_queue queue) {
  cl_context context = NULL;
  assert_int_equal(cl.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL), CL_SUCCESS);
  return context;
}

static nd4c_native_handles handles_of(nd4c_context *context) {
  nd4c_native_handles handles = {.struct_size = sizeof handles};
  assert_int_equal(nd4c_context_native(context, &handles), ND4C_OK);
  return handles;
}

/* A queue in nd4c's context. */
static cl_command_queue make_queue(cl_bitfield properties) {
  const nd4c_native_handles handles = handles_of(own);
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = cl.clCreateCommandQueue(context_of(handles.stream), handles.device, properties, &code);
  assert_int_equal(code, CL_SUCCESS);
  return queue;
}

static cl_uint references_of(cl_command_queue queue) {
  cl_uint count = 0;
  assert_int_equal(cl.clGetCommandQueueInfo(queue, 0x1092, sizeof count, &count, NULL), CL_SUCCESS);
  return count;
}

/* The driver's own threads hold the queue for a moment after its last command has ended. */
static cl_uint wait_for_references(cl_command_queue queue, cl_uint wanted) {
  const struct timespec moment = {.tv_nsec = 1000000};
  cl_uint count = references_of(queue);
  for (int i = 0; i < 5000 && count != wanted; i++) {
    (void)nanosleep(&moment, NULL);
    count = references_of(queue);
  }
  return count;
}

static void work_goes_to_the_queue(void **state) {
  (void)state;
  cl_command_queue queue = make_queue(0);
  nd4c_context *wrapped = NULL;
  nd4c_array *one = NULL, *two = NULL, *three = NULL;
  float got[COUNT];
  const cl_uint references = references_of(queue);
  assert_int_equal(nd4c_context_wrap(device, queue, &wrapped), ND4C_OK);
  assert_ptr_equal(handles_of(wrapped).stream, queue);
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, device, &one), ND4C_OK);
  assert_int_equal(nd4c_add_on(wrapped, one, one, &two), ND4C_OK);
  assert_int_equal(nd4c_add_on(own, two, one, &three), ND4C_OK);
  assert_int_equal(nd4c_array_read(three, got, sizeof got), ND4C_OK);
  for (int i = 0; i < COUNT; i++) {
    assert_float_equal(got[i], 3, 0);
  }
  nd4c_array_release(three);
  nd4c_array_release(two);
  nd4c_array_release(one);
  assert_int_equal(nd4c_context_destroy(wrapped), ND4C_OK);
  assert_int_equal(wait_for_references(queue, references), references); /* released, and not destroyed */
  assert_int_equal(cl.clFinish(queue), CL_SUCCESS);
  assert_int_equal(cl.clReleaseCommandQueue(queue), CL_SUCCESS);
}

static void refuses_other_queues(void **state) {
  (void)state;
  const nd4c_native_handles handles = handles_of(own);
  nd4c_context *wrapped = NULL;
  cl_int code = CL_SUCCESS;
  cl_device_id id = handles.device;
  cl_context other = cl.clCreateContext(NULL, 1, &id, NULL, NULL, &code);
  assert_int_equal(code, CL_SUCCESS);
  cl_command_queue foreign = cl.clCreateCommandQueue(other, handles.device, 0, &code);
  assert_int_equal(code, CL_SUCCESS);
  assert_int_equal(nd4c_context_wrap(device, foreign, &wrapped), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "the cl_command_queue is of another cl_context"));
  assert_int_equal(cl.clReleaseCommandQueue(foreign), CL_SUCCESS);
  assert_int_equal(cl.clReleaseContext(other), CL_SUCCESS);
  assert_int_equal(nd4c_context_wrap(device, NULL, &wrapped), ND4C_ARGUMENT);
  cl_command_queue disorderly = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  assert_int_equal(nd4c_context_wrap(device, disorderly, &wrapped), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "runs commands out of order"));
  assert_int_equal(cl.clReleaseCommandQueue(disorderly), CL_SUCCESS);
  assert_null(wrapped);
}

/* If the driver has priorities, queues of all in its range compute; otherwise there is one priority. */
static void priorities_are_the_driver_s(void **state) {
  (void)state;
  nd4c_device_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_device_get_info(device, &info), ND4C_OK);
  assert_true(info.wraps_streams);
  for (int32_t priority = info.least_priority - 1; priority <= info.greatest_priority + 1; priority++) {
    const bool within = priority >= info.least_priority && priority <= info.greatest_priority;
    nd4c_context_options options = {.struct_size = sizeof options, .device = device, .priority = priority};
    nd4c_context *context = NULL;
    nd4c_array *one = NULL, *two = NULL;
    double value = 0;
    assert_int_equal(nd4c_context_create(&options, &context), within ? ND4C_OK : ND4C_ARGUMENT);
    if (within) {
      assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, device, &one), ND4C_OK);
      assert_int_equal(nd4c_add_on(context, one, one, &two), ND4C_OK);
      assert_int_equal(nd4c_array_item(two, (const int64_t[]){-1}, &value), ND4C_OK);
      assert_float_equal(value, 2, 0);
      nd4c_array_release(two);
      nd4c_array_release(one);
      assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
    }
  }
}

static int64_t timed_on(nd4c_context *context) {
  nd4c_array *one = NULL, *two = NULL;
  nd4c_trace_totals before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
  assert_int_equal(nd4c_trace_get_totals(NULL, device, &before), ND4C_OK);
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, device, &one), ND4C_OK);
  assert_int_equal(nd4c_add_on(context, one, one, &two), ND4C_OK);
  assert_int_equal(nd4c_trace_get_totals(NULL, device, &after), ND4C_OK);
  assert_int_equal(after.executions, before.executions + 1);
  nd4c_array_release(two);
  nd4c_array_release(one);
  assert_true(after.device_timed == before.device_timed || after.device_nanoseconds > before.device_nanoseconds);
  return after.device_timed - before.device_timed;
}

/* Queues made while the tracer is on report times, earlier ones do not, and the application's queues as it made
 * them. */
static void queues_tell_times(void **state) {
  (void)state;
  nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  nd4c_context *made = NULL, *wrapped = NULL;
  cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
  assert_int_equal(nd4c_context_wrap(device, queue, &wrapped), ND4C_OK);
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  assert_int_equal(nd4c_context_create(&options, &made), ND4C_OK);
  assert_int_equal(timed_on(made), 1);
  assert_int_equal(timed_on(wrapped), 1);
  assert_int_equal(timed_on(own), 0);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(made), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(wrapped), ND4C_OK);
  assert_int_equal(cl.clReleaseCommandQueue(queue), CL_SUCCESS);
  assert_int_equal(nd4c_config_set("nd4c.opencl.profiling", "true"), ND4C_OK);
  assert_int_equal(nd4c_context_create(&options, &made), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.opencl.profiling", NULL), ND4C_OK);
  assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
  assert_int_equal(timed_on(made), 1);
  assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(made), ND4C_OK);
}

int main(void) {
  nd4c_context_options options = {.struct_size = sizeof options};
  if (nd4c_device_find("opencl:0", &device) != ND4C_OK || !find_functions()) {
    print_message("no OpenCL here: %s\n", nd4c_error_message());
    return 77;
  }
  options.device = device;
  if (nd4c_context_create(&options, &own) != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(work_goes_to_the_queue), cmocka_unit_test(refuses_other_queues),
                                     cmocka_unit_test(priorities_are_the_driver_s),
                                     cmocka_unit_test(queues_tell_times)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)nd4c_context_destroy(own);
  return failed;
}
