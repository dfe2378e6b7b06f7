/* A driver that fails or lies while it is opened: the registry reports the fault by device, call and code, the process
 * continues, and the CPU computes. Each case runs in a separate process. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/child.h"
#include "faulty_loader.h"

static const char *program;

/* -- the child -------------------------------------------------------------------------------------------------- */

/* How often each call that must fail was made. */
static void print_reached(void) {
  const char *rules = getenv("FAULTY_CL");
  while (rules != NULL && *rules != '\0') {
    char call[64];
    (void)snprintf(call, sizeof call, "%.*s", (int)strcspn(rules, ":"), rules);
    (void)printf("reached %s %ld times\n", call, faulty_count(call));
    rules += strcspn(rules, ",");
    rules += *rules == ',';
  }
}

/* One addition on the named device, or on the default one. Prints its result or failure. */
static int child(const char *name) {
  nd4c_device *device = NULL, *fallback = NULL;
  const float values[3] = {1, 2, 3};
  const int64_t shape[1] = {3};
  nd4c_array *a = NULL, *sum = NULL;
  float result[3] = {0};
  if (!faulty_find()) {
    return 1;
  }
  nd4c_status status = nd4c_device_find(name, &device);
  nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  nd4c_context *context = NULL;
  status = status == ND4C_OK ? nd4c_context_create(&options, &context) : status;
  status = status == ND4C_OK ? nd4c_array_from_data(ND4C_FLOAT32, 1, shape, values, device, &a) : status;
  status = status == ND4C_OK ? nd4c_add_on(context, a, a, &sum) : status;
  status = status == ND4C_OK ? nd4c_array_read(sum, result, sizeof result) : status;
  (void)printf("status=%s result=%g\n%s\n", nd4c_status_name(status), (double)result[2],
               status == ND4C_OK ? "" : nd4c_error_message());
  print_reached();
  const bool found = device != NULL;
  nd4c_device_info info = {.struct_size = sizeof info};
  if (found && nd4c_device_get_info(device, &info) == ND4C_OK) {
    (void)printf("%s\nuuid=%s pci=%s.\n", info.description, info.uuid, info.pci);
  }
  nd4c_array_release(a);
  nd4c_array_release(sum);
  (void)nd4c_context_destroy(context);
  for (const char *const *object = (const char *const[]){"contexts", "queues", "buffers", "events", NULL};
       !found && *object != NULL; object++) {
    (void)printf("%s=%ld\n", *object, faulty_count(*object));
  }
  /* Whatever OpenCL does, the host computes. */
  status = nd4c_device_default(&fallback);
  sum = NULL;
  a = NULL;
  status = status == ND4C_OK ? nd4c_array_from_data(ND4C_FLOAT32, 1, shape, values, fallback, &a) : status;
  status = status == ND4C_OK ? nd4c_add(a, a, &sum) : status;
  status = status == ND4C_OK ? nd4c_array_read(sum, result, sizeof result) : status;
  (void)nd4c_device_get_info(fallback, &info);
  (void)printf("default=%s result=%g\n", status == ND4C_OK ? info.name : nd4c_error_message(), (double)result[2]);
  nd4c_array_release(a);
  nd4c_array_release(sum);
  return 0;
}

/* Opens the devices of those names in turn: prints the status of each, adds on those that open, then prints the facts
 * about all. */
static int child_each(const char *names) {
  char copy[64], *rest = copy;
  (void)snprintf(copy, sizeof copy, "%s", names);
  for (char *name = strtok_r(rest, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
    nd4c_device *device = NULL;
    nd4c_context *context = NULL;
    nd4c_array *a = NULL, *sum = NULL;
    float result = 0;
    nd4c_status status = nd4c_device_find(name, &device);
    nd4c_context_options options = {.struct_size = sizeof options, .device = device};
    status = status == ND4C_OK ? nd4c_context_create(&options, &context) : status;
    status = status == ND4C_OK ? nd4c_array_scalar(ND4C_FLOAT32, 3, device, &a) : status;
    status = status == ND4C_OK ? nd4c_add_on(context, a, a, &sum) : status;
    status = status == ND4C_OK ? nd4c_array_read(sum, &result, sizeof result) : status;
    (void)printf("%s=%s result=%g %s\n", name, nd4c_status_name(status), (double)result,
                 status == ND4C_OK ? "" : nd4c_error_message());
    nd4c_device_info info = {.struct_size = sizeof info};
    if (device != NULL && nd4c_device_get_info(device, &info) == ND4C_OK) {
      (void)printf("bounded=%d\n", info.largest_bytes > 0 && info.largest_bytes <= info.memory_bytes);
    }
    nd4c_array_release(a);
    nd4c_array_release(sum);
    (void)nd4c_context_destroy(context);
  }
  nd4c_backend_status row = {.struct_size = sizeof row};
  for (int32_t i = 0; i < nd4c_backend_count() && nd4c_backend_get_status(i, &row) == ND4C_OK; i++) {
    if (strcmp(row.name, "opencl") == 0) {
      (void)printf("devices=%d reason=%s\nunusable=%s\n", row.device_count, row.reason, row.unusable_devices);
    }
  }
  const char *engine = NULL;
  for (int32_t i = 0; (engine = nd4c_backend_engine("opencl", i)) != NULL; i++) {
    (void)printf("engine %s: %s\n", engine, nd4c_backend_engine_state("opencl", i, true));
  }
  return 0;
}

/* -- cases ------------------------------------------------------------------------------------------------------ */

enum { PARTS = 5 };
typedef struct driver_case {
  const char *name, *environment;
  const char *parts[PARTS]; /* of the output */
} driver_case;

/* The parentheses tell clang-tidy that no comma is missing between the literals. */
#define LIBRARY ("ND4C_OPENCL_LIBRARY=" FAULTY_PATH)
#define REFUSED "result=0"

static const driver_case cases[] = {
    {"in order", "FAULTY_CL=", {"status=OK result=6", "default=cpu:0 result=6"}},
    {"no platform", "FAULTY_CL_LIE=no_platform", {REFUSED, "platform"}},
    {"NULL for a platform", "FAULTY_CL_LIE=null_platform", {REFUSED, "clGetPlatformIDs gives NULL"}},
    {"too many platforms", "FAULTY_CL_LIE=many_platforms", {REFUSED, "clGetPlatformIDs"}},
    {"NULL for a device", "FAULTY_CL_LIE=null_device", {REFUSED, "clGetDeviceIDs gives NULL"}},
    {"too many devices", "FAULTY_CL_LIE=many_devices", {REFUSED, "clGetDeviceIDs"}},
    {"NULL for a context", "FAULTY_CL_LIE=null_context", {REFUSED, "clCreateContext", "gives no context"}},
    {"NULL for a queue", "FAULTY_CL_LIE=null_queue", {REFUSED, "clCreateCommandQueue", "gives no queue"}},
    {"NULL for a buffer", "FAULTY_CL_LIE=null_buffer", {REFUSED, "clCreateBuffer", "gives no buffer"}},
    {"NULL for a program", "FAULTY_CL_LIE=null_program", {REFUSED, "clCreateProgramWith", "gives no program"}},
    {"NULL for a kernel", "FAULTY_CL_LIE=null_kernel", {REFUSED, "clCreateKernel", "gives no kernel"}},
    {"NULL for an event", "FAULTY_CL_LIE=null_event", {REFUSED, "gives no event"}},
    {"texts without an end", "FAULTY_CL_LIE=endless_name", {"default=cpu:0 result=6"}},
    {"lengths without bound",
     "FAULTY_CL_LIE=long_info",
     {REFUSED, "clGetDeviceInfo of CL_DEVICE_TYPE gives 9223372036854775807 bytes: expected 8"}},
    {"a name without bound",
     "FAULTY_CL_LIE=long_name",
     {"status=OK result=6",
      "unknown (clGetDeviceInfo of CL_DEVICE_NAME gives 9223372036854775807 bytes: expected 1 to 4096)"}},
    {"a driver that identifies its device",
     "FAULTY_CL_LIE=identity",
     {"status=OK result=6", "uuid=f0efeeed-eceb-eae9-e8e7-e6e5e4e3e2e1 pci=00ab:65:1f.7."}},
    {"an identity that cannot be", "FAULTY_CL_LIE=odd_identity", {"status=OK result=6", "uuid= pci=."}},
    {"numbers without bound",
     "FAULTY_CL_LIE=long_number",
     {REFUSED, "clGetDeviceInfo of CL_DEVICE_AVAILABLE gives 9223372036854775807 bytes: expected 4 or 8"}},
    {"sizes of nothing", "FAULTY_CL_LIE=zero_info", {REFUSED, "compute units 0", "expected 1 to"}},
    {"sizes of everything", "FAULTY_CL_LIE=huge_info", {"default=cpu:0 result=6"}},
    {"another byte order", "FAULTY_CL_LIE=big_endian", {REFUSED, "endian"}},
    {"switched off", "FAULTY_CL_LIE=unavailable", {REFUSED, "available"}},
    {"platforms fail", "FAULTY_CL=clGetPlatformIDs:0:-6", {REFUSED, "clGetPlatformIDs", "CL_OUT_OF_HOST_MEMORY"}},
    {"no ICD behind the loader", "FAULTY_CL=clGetPlatformIDs:0:-1001", {REFUSED, "CL_PLATFORM_NOT_FOUND_KHR"}},
    {"devices fail", "FAULTY_CL=clGetDeviceIDs:0:-30", {REFUSED, "clGetDeviceIDs", "CL_INVALID_VALUE"}},
    {"no device", "FAULTY_CL=clGetDeviceIDs:0:-1", {REFUSED, "no device of type GPU"}},
    {"questions fail", "FAULTY_CL=clGetDeviceInfo:0:-33", {REFUSED, "clGetDeviceInfo", "CL_INVALID_DEVICE"}},
    {"the context fails", "FAULTY_CL=clCreateContext:0:-2", {REFUSED, "clCreateContext", "CL_DEVICE_NOT_AVAILABLE"}},
    {"no resources for a context",
     "FAULTY_CL=clCreateContext:0:-5",
     {REFUSED, "status=MEMORY", "opencl:0: clCreateContext: -5 CL_OUT_OF_RESOURCES"}},
    {"no memory for a context",
     "FAULTY_CL=clCreateContext:0:-6",
     {REFUSED, "status=MEMORY", "opencl:0: clCreateContext: -6 CL_OUT_OF_HOST_MEMORY"}},
    {"the queue fails",
     "FAULTY_CL=clCreateCommandQueue:0:-5",
     {REFUSED, "status=MEMORY", "clCreateCommandQueue", "CL_OUT_OF_RESOURCES"}},
    {"the compiler fails", "FAULTY_CL=clBuildProgram:0:-11", {REFUSED, "clBuildProgram", "CL_BUILD_PROGRAM_FAILURE"}},
    {"the launch fails",
     "FAULTY_CL=clEnqueueNDRangeKernel:0:-54",
     {REFUSED, "clEnqueueNDRangeKernel", "CL_INVALID_WORK_GROUP_SIZE"}},
    {"platforms do not tell their names", "FAULTY_CL=clGetPlatformInfo:0:-32", {"status=OK result=6"}},
    {"a program fails",
     "FAULTY_CL=clCreateProgramWithSource:0:-6",
     {REFUSED, "clCreateProgramWithSource", "CL_OUT_OF_HOST_MEMORY"}},
    {"the compiler fails and does not say why",
     "FAULTY_CL=clBuildProgram:0:-11,clGetProgramBuildInfo:0:-5",
     {REFUSED, "clBuildProgram", "CL_BUILD_PROGRAM_FAILURE"}},
    {"a kernel fails", "FAULTY_CL=clCreateKernel:0:-46", {REFUSED, "clCreateKernel", "CL_INVALID_KERNEL_NAME"}},
    {"a kernel does not tell its groups", "FAULTY_CL=clGetKernelWorkGroupInfo:0:-48", {"status=OK result=6"}},
    {"what failed cannot be given back either",
     "FAULTY_CL=clReleaseContext:0:-34,clReleaseProgram:0:-44,clReleaseKernel:0:-48,clEnqueueNDRangeKernel:0:-54",
     {REFUSED, "clEnqueueNDRangeKernel", "CL_INVALID_WORK_GROUP_SIZE"}},
    {"an unknown code", "FAULTY_CL=clCreateContext:0:-4242", {REFUSED, "clCreateContext", "-4242"}},
};

/* Programs on disk, in a directory that these share, empty before the first. */
static const driver_case kept_cases[] = {
    {"programs do not tell their binaries", "FAULTY_CL=clGetProgramInfo:0:-5", {"status=OK result=6"}},
    {"a program is kept", "FAULTY_CL=", {"status=OK result=6"}},
    {"what was kept is refused", "FAULTY_CL=clCreateProgramWithBinary:0:-42", {"status=OK result=6"}},
};
enum { CASES = sizeof cases / sizeof cases[0], KEPT_CASES = sizeof kept_cases / sizeof kept_cases[0] };

/* Two devices, one of which fails: the other one is used, and keeps its number. */
static const struct {
  const char *name, *names, *environment, *only;
  const char *parts[PARTS];
} pair_cases[] = {
    {"both",
     "opencl:0 opencl:1",
     NULL,
     NULL,
     {"opencl:0=OK result=6", "opencl:1=OK result=6", "unusable=\n", "bounded=1"}},
    {"one that is not available, and is later",
     "opencl:1 opencl:0 opencl:1",
     "FAULTY_CL=clCreateContext:2:-2",
     NULL,
     {"opencl:1=DEVICE_LOST result=0 opencl:1: clCreateContext: -2 CL_DEVICE_NOT_AVAILABLE", "opencl:0=OK result=6",
      "opencl:1=OK result=6", "unusable=\n"}},
    {"one that lacks memory, and has it later",
     "opencl:1 opencl:1",
     "FAULTY_CL=clCreateContext:2:-6",
     NULL,
     {"opencl:1=MEMORY result=0 opencl:1: clCreateContext: -6 CL_OUT_OF_HOST_MEMORY", "opencl:1=OK result=6"}},
    {"one that is broken for good",
     "opencl:0 opencl:1 opencl:1",
     "FAULTY_CL=clCreateContext:2:-33",
     NULL,
     {"opencl:0=OK result=6", "opencl:1=DEVICE result=0 opencl:1: clCreateContext: -33 CL_INVALID_DEVICE",
      "devices=2 reason=initialised; one addition gave the right answer; 1 of 2 devices cannot be used: opencl:1: clC",
      "unusable=opencl:1: clCreateContext: -33 CL_INVALID_DEVICE\n"}},
    {"one whose answers are refused",
     "opencl:1 opencl:0",
     "FAULTY_CL_LIE=unavailable",
     "FAULTY_CL_ONLY=0",
     {"opencl:1=OK result=6", "opencl:0=HARDWARE result=0 opencl:0 (", "unusable=opencl:0 (",
      "1 of 2 devices cannot be used: opencl:0 (", "the drivers offer 2 device(s); opencl:1 is "}},
    {"one that does not tell its kind",
     "opencl:1 opencl:0",
     "FAULTY_CL_LIE=long_info",
     "FAULTY_CL_ONLY=0",
     {"opencl:1=OK result=6",
      "opencl:0=HARDWARE result=0 opencl:0: clGetDeviceInfo of CL_DEVICE_TYPE gives 9223372036854775807 bytes"}},
    {"one that does not tell its kind, behind another",
     "opencl:0 opencl:1",
     "FAULTY_CL_LIE=long_info",
     "FAULTY_CL_ONLY=1",
     {"opencl:0=OK result=6",
      "opencl:1=HARDWARE result=0 opencl:1: clGetDeviceInfo of CL_DEVICE_TYPE gives 9223372036854775807 bytes"}},
    {"one that does not tell its kind, and later does",
     "opencl:0 opencl:1",
     "FAULTY_CL=clGetDeviceInfo:1:-6",
     NULL,
     {"opencl:0=OK result=6", "opencl:1=OK result=6", "devices=2 ", "unusable=\n"}},
    {"one whose programs cannot be kept",
     "opencl:0",
     "ND4C_OPENCL_CACHE=/proc/nope/deep",
     "FAULTY_CL_PLATFORM=No PoCL",
     {"opencl:0=OK result=6", "programs cannot be kept in /proc/nope/deep (nd4c.opencl.cache)"}},
};

/* Without a cache on disk, except for cases in which the cache fails, so that the tested call is made. */
static int run_case(const driver_case *c, const char *cache) {
  char output[CHILD_OUTPUT];
  const char *environment[] = {LIBRARY, c->environment, cache, NULL};
  int problems = 0;
  if (child_run(program, "child", "opencl:0", environment, output) != 0) {
    print_error("case '%s' did not end well:\n%s\n", c->name, output);
    return 1;
  }
  for (int i = 0; i < PARTS && c->parts[i] != NULL; i++) {
    if (strstr(output, c->parts[i]) == NULL) {
      print_error("case '%s': no \"%s\" in:\n%s\n", c->name, c->parts[i], output);
      problems++;
    }
  }
  if (strstr(output, " 0 times") != NULL) {
    print_error("case '%s' fails calls that are not made:\n%s\n", c->name, output);
    problems++;
  }
  if (strstr(output, "default=cpu:0 result=6") == NULL) {
    print_error("case '%s': the host does not compute:\n%s\n", c->name, output);
    problems++;
  }
  if (strstr(output, "opencl:0: opencl:0") != NULL || strstr(output, "of opencl:0: opencl:0") != NULL) {
    print_error("case '%s' names the device twice:\n%s\n", c->name, output);
    problems++;
  }
  for (const char *line = strstr(output, "contexts="); line != NULL; line = strchr(line + 1, '=')) {
    if (strncmp(strchr(line, '='), "=0", 2) != 0) {
      print_error("case '%s' leaves objects of the driver's:\n%s\n", c->name, output);
      problems++;
      break;
    }
    line = strchr(line, '\n');
    if (line == NULL || strncmp(line + 1, "default", 7) == 0) {
      break;
    }
  }
  return problems;
}

static void tells_what_is_wrong(void **state) {
  (void)state;
  char directory[] = "/tmp/nd4c_test_driver_XXXXXX", cache[sizeof directory + 32], command[sizeof directory + 32];
  int problems = 0;
  assert_non_null(mkdtemp(directory));
  (void)snprintf(cache, sizeof cache, "ND4C_OPENCL_CACHE=%s", directory);
  for (int i = 0; i < CASES; i++) {
    problems += run_case(&cases[i], "ND4C_OPENCL_CACHE=off");
  }
  (void)setenv("FAULTY_CL_PLATFORM", "No PoCL", 1); /* its driver has a cache of programs */
  for (int i = 0; i < KEPT_CASES; i++) {
    problems += run_case(&kept_cases[i], cache);
  }
  (void)unsetenv("FAULTY_CL_PLATFORM");
  (void)snprintf(command, sizeof command, "rm -r %s", directory);
  assert_int_equal(system(command), 0);
  assert_int_equal(problems, 0);
}

static void every_call_of_opening_fails_in_a_case(void **state) {
  (void)state;
#define NAME(call) #call ":",
  static const char *const calls[] = {FAULTY_AT_OPENING(NAME)};
#undef NAME
  for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
    bool fails = false;
    for (int i = 0; i < CASES + KEPT_CASES; i++) {
      const driver_case *row = i < CASES ? &cases[i] : &kept_cases[i - CASES];
      fails = fails || strstr(row->environment, calls[c]) != NULL;
    }
    if (!fails) {
      fail_msg("no case in which %s fails", calls[c]);
    }
  }
}

static void one_device_leaves_the_other_alone(void **state) {
  (void)state;
  char output[CHILD_OUTPUT];
  const char *const both[] = {LIBRARY, "POCL_DEVICES=pthread basic", NULL};
  if (child_run(program, "each", "opencl:1", both, output) != 0 || strstr(output, "devices=2") == NULL) {
    print_message("skipped, for there are no two devices: %s\n", output);
    skip();
  }
  int problems = 0;
  for (size_t i = 0; i < sizeof pair_cases / sizeof pair_cases[0]; i++) {
    const char *environment[] = {LIBRARY, both[1], pair_cases[i].environment, pair_cases[i].only, NULL};
    problems += child_run(program, "each", pair_cases[i].names, environment, output) != 0;
    for (int p = 0; p < PARTS && pair_cases[i].parts[p] != NULL; p++) {
      if (strstr(output, pair_cases[i].parts[p]) == NULL) {
        print_error("case '%s': no \"%s\" in:\n%s\n", pair_cases[i].name, pair_cases[i].parts[p], output);
        problems++;
      }
    }
  }
  assert_int_equal(problems, 0);
}

int main(int argc, char **argv) {
  char output[CHILD_OUTPUT];
  program = argv[0];
  if (argc == 3 && strcmp(argv[1], "each") == 0) {
    return child_each(argv[2]);
  }
  if (argc == 3 && strcmp(argv[1], "child") == 0) {
    return child(argv[2]);
  }
  const char *environment[] = {LIBRARY, NULL};
  if (child_run(program, "child", "opencl:0", environment, output) != 0 || strstr(output, "status=OK") == NULL) {
    print_message("skipped: %s\n", output);
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_of_opening_fails_in_a_case),
                                     cmocka_unit_test(tells_what_is_wrong),
                                     cmocka_unit_test(one_device_leaves_the_other_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
