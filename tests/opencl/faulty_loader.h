/* The faulty loader in tests: its path, and the commands that control it. */
#ifndef TESTS_OPENCL_FAULTY_LOADER_H
#define TESTS_OPENCL_FAULTY_LOADER_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "backends/opencl/runtime/api.h"
#include "nd4c/nd4c.h"

#define FAULTY_PATH ND4C_TEST_BINARY_DIR "/lib/libnd4c_faulty_opencl.so"

/* X(call): calls that fail in turn while the device is opened (test_driver.c), because a process makes them only or
 * first there; every other call of api.h fails in turn in test_faults.c. */
// clang-format off
#define FAULTY_AT_OPENING(X) \
  X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateContext) \
  X(clReleaseContext) X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clBuildProgram) \
  X(clGetProgramInfo) X(clGetProgramBuildInfo) X(clReleaseProgram) X(clCreateKernel) X(clReleaseKernel) \
  X(clGetKernelWorkGroupInfo)
// clang-format on

/* See faulty_loader.c. */
static int (*faulty_control)(const char *text);
static long (*faulty_count)(const char *name);

static inline bool faulty_find(void) {
  void *library = dlopen(FAULTY_PATH, RTLD_NOW);
  void *control = library != NULL ? dlsym(library, "faulty_cl_control") : NULL;
  void *count = library != NULL ? dlsym(library, "faulty_cl_count") : NULL;
  memcpy(&faulty_control, &control, sizeof control);
  memcpy(&faulty_count, &count, sizeof count);
  return control != NULL && count != NULL;
}

/* Opens opencl:0 through the faulty loader. */
static inline nd4c_status faulty_start(nd4c_device **device) {
  if (!faulty_find()) {
    (void)fprintf(stderr, "the faulty loader does not start: %s\n", dlerror());
    return ND4C_LIBRARY;
  }
  nd4c_status status = nd4c_config_set("nd4c.opencl.library", FAULTY_PATH);
  return status == ND4C_OK ? nd4c_device_find("opencl:0", device) : status;
}

/* The same with a context on the device, if it computes float64; the caller destroys the context. */
static inline nd4c_status faulty_start_float64(nd4c_device **device, nd4c_context **context) {
  const int64_t shape[1] = {1};
  nd4c_array *one = NULL, *probe = NULL;
  nd4c_context_options options = {.struct_size = sizeof options};
  nd4c_status status = faulty_start(device);
  options.device = *device;
  status = status == ND4C_OK ? nd4c_context_create(&options, context) : status;
  status = status == ND4C_OK ? nd4c_array_full(ND4C_FLOAT64, 1, shape, 1, *device, &one) : status;
  status = status == ND4C_OK ? nd4c_negative_on(*context, one, &probe) : status;
  nd4c_array_release(one);
  nd4c_array_release(probe);
  if (status != ND4C_OK) {
    (void)nd4c_context_destroy(*context);
    *context = NULL;
  }
  return status;
}

/* A context on the host whose ops all prefer the device, whatever their size and wherever the inputs are; wait: each
 * call ends when the device has finished. The caller destroys it. */
static inline nd4c_status faulty_make_routed(nd4c_device *device, nd4c_device *host, bool wait,
                                             nd4c_context **context) {
  nd4c_device *devices[2] = {device, host};
  nd4c_routing *routing = NULL;
  const nd4c_context_options options = {.struct_size = sizeof options, .device = host};
  const nd4c_routing_options routed = {.struct_size = sizeof routed,
                                       .policy = ND4C_ROUTING_PREFER_GPU,
                                       .devices = devices,
                                       .device_count = 2,
                                       .small_bytes = -1,
                                       .wait = wait};
  nd4c_status status = nd4c_context_create(&options, context);
  status = status == ND4C_OK ? nd4c_routing_create(&routed, &routing) : status;
  status = status == ND4C_OK ? nd4c_context_set_routing(*context, routing) : status;
  nd4c_routing_destroy(routing);
  return status;
}

#endif
