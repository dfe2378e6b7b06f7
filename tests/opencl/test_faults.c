/* Every call to OpenCL fails once, at every place where a scenario makes it: the device, the call and the code by its
 * name are told, nothing is left behind, the host's data is intact, and the same scenario works right after. Without an
 * OpenCL device the tests are skipped. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/scenario.h"
#include "faulty_loader.h"

enum { MOST_CALLS = 40 };
static nd4c_device *device;

/* Objects of the driver's that a scenario makes and gives back; kernels and programs are kept for the next. */
static long held(void) {
  return faulty_count("buffers") + faulty_count("events") + faulty_count("queues");
}

static void settle(void) {
  (void)nd4c_device_synchronize(device);
  (void)nd4c_memory_trim(device, 0);
  nd4c_error_clear();
}

/* The call, a code that its specification knows, and whether its failure may be without consequence. */
typedef struct fault_row {
  const char *call;
  int code;
  const char *name;
  bool harmless;
  const char *told_as; /* the call that the text names instead: the command whose end could not be learnt; or NULL */
} fault_row;

static const fault_row rows[] = {
    {"clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE", true, NULL},
    {"clCreateBuffer", CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE", true, NULL},
    {"clCreateCommandQueue", CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY", false, NULL},
    {"clEnqueueWriteBuffer", CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", false, NULL},
    {"clEnqueueReadBuffer", CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", false, NULL},
    {"clSetKernelArg", CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE", false, NULL},
    {"clEnqueueNDRangeKernel", CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", false, NULL},
    {"clEnqueueNDRangeKernel", -9999, "-9999", false, NULL},
    {"clEnqueueMarkerWithWaitList", CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", false, NULL},
    {"clEnqueueBarrierWithWaitList", CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", false, NULL},
    {"clWaitForEvents", CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
     false, NULL},
    {"clGetEventInfo", CL_INVALID_EVENT, "CL_INVALID_EVENT", true, "clEnqueue"},
    {"clRetainEvent", CL_INVALID_EVENT, "CL_INVALID_EVENT", true, NULL},
    {"clFlush", CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", true, NULL},
    {"clFinish", CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", true, NULL},
};

/* What the failure's text must name. */
static bool text_is_complete(const fault_row *row, const char *text) {
  return strstr(text, "opencl:0") != NULL && strstr(text, row->told_as != NULL ? row->told_as : row->call) != NULL &&
         strstr(text, row->name) != NULL;
}

/* One failure at the n-th call. False if the scenario made fewer. */
static bool fail_once(const fault_row *row, long number, long baseline, int *problems) {
  scenario s = {0};
  char command[128], text[1024];
  const long before = faulty_count(row->call);
  (void)snprintf(command, sizeof command, "%s:%ld:%d", row->call, number, row->code);
  assert_int_equal(faulty_control(command), 0);
  nd4c_error_clear();
  const nd4c_status status = scenario_play(&s, device);
  (void)snprintf(text, sizeof text, "%s", nd4c_error_message());
  const bool reached = faulty_count(row->call) - before >= number;
  (void)faulty_control("");
  if (s.on_host != NULL) { /* whatever happened to the device, this is the host's */
    assert_int_equal(scenario_check(s.on_host, 2), ND4C_OK);
  }
  scenario_clear(&s);
  settle();
  if (reached && status == ND4C_OK && !row->harmless) {
    print_error("%s went unnoticed\n", command);
    (*problems)++;
  }
  if (status != ND4C_OK && !text_is_complete(row, text)) {
    print_error("%s gave %s \"%s\"\n", command, nd4c_status_name(status), text);
    (*problems)++;
  }
  if (held() != baseline) {
    print_error("%s left %ld objects instead of %ld (%s: %s)\n", command, held(), baseline, nd4c_status_name(status),
                text);
    (*problems)++;
  }
  return reached;
}

static void each_call_fails_once(void **state) {
  (void)state;
  scenario s = {0};
  int problems = 0;
  const char *queue = NULL;
  assert_int_equal(nd4c_config_get("nd4c.opencl.queue", &queue), ND4C_OK);
  const bool out_of_order = strcmp(queue, "out_of_order") == 0; /* there alone events are kept beyond their command */
  for (int i = 0; i < 2; i++) {                                 /* the second shows what stays for good */
    assert_int_equal(scenario_play(&s, device), ND4C_OK);
    scenario_clear(&s);
    settle();
  }
  const long baseline = held();
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    long number = 1;
    for (; number <= MOST_CALLS && fail_once(&rows[i], number, baseline, &problems); number++) {
    }
    if (number == 1 && (out_of_order || strcmp(rows[i].call, "clRetainEvent") != 0)) {
      print_error("%s is never called here: its row tests nothing\n", rows[i].call);
      problems++;
    }
    const nd4c_status after = scenario_play(&s, device);
    scenario_clear(&s);
    settle();
    if (after != ND4C_OK) {
      print_error("after failures of %s nothing works any more\n", rows[i].call);
      problems++;
    }
  }
  assert_int_equal(problems, 0);
}

/* The device is out of memory: what is cached goes first, then the status says so. */
static void tells_that_memory_is_out(void **state) {
  (void)state;
  nd4c_array *array = NULL;
  const int64_t large[1] = {1 << 20};
  settle();
  assert_int_equal(faulty_control("clCreateBuffer:0:-4"), 0);
  assert_int_equal(nd4c_array_empty(ND4C_FLOAT32, 1, large, device, &array), ND4C_MEMORY);
  assert_non_null(strstr(nd4c_error_message(), "opencl:0"));
  assert_non_null(strstr(nd4c_error_message(), "CL_MEM_OBJECT_ALLOCATION_FAILURE"));
  assert_int_equal(faulty_control(""), 0);
  assert_int_equal(nd4c_array_empty(ND4C_FLOAT32, 1, large, device, &array), ND4C_OK);
  nd4c_array_release(array);
}

static void tells_what_does_not_exist(void **state) {
  (void)state;
  nd4c_device *none = NULL;
  assert_int_equal(nd4c_device_find("opencl:99", &none), ND4C_INDEX);
  assert_non_null(strstr(nd4c_error_message(), "opencl:0"));
  assert_null(none);
}

int main(void) {
  if (faulty_start(&device) != ND4C_OK) {
    print_message("skipped: %s\n", nd4c_error_message());
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_call_fails_once),
      cmocka_unit_test(tells_that_memory_is_out),
      cmocka_unit_test(tells_what_does_not_exist),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
