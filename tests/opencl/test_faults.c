/* Every call to OpenCL except those of opening fails once, at every place where a scenario makes it: the failure names
 * the device, the call and the code, nothing is left behind, the host's data is intact, and the same scenario works
 * right after. The same for routed calls that wait: the host computes a call that the device fails at, at whatever
 * point. Run twice: on the device as it is, and disguised as a GPU with separate memory and an out-of-order queue.
 * Without an OpenCL device the tests are skipped. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/scenario.h"
#include "faulty_loader.h"

enum { MOST_CALLS = 300 };
static nd4c_device *device;

/* -- the scenario ------------------------------------------------------------------------------------------------- */

/* The scenario of every device, and further calls of this one: kernels that fill, that read back and that may report a
 * fault, an array that moves out of its arena, host memory and another array's memory, memory that is released. */
typedef struct play {
  scenario common;
  nd4c_workspace *workspace;
  nd4c_array *kept, *indices, *picked, *places, *ordered, *imported, *part;
  nd4c_external given; /* release NULL: nothing */
  long told;           /* calls of `watched` before memory is trimmed; later failures are silent */
} play;

static const char *watched;

/* An array computed in an arena and moved out of it. */
static nd4c_status keep(play *p) {
  STEP(nd4c_workspace_enter(p->workspace));
  nd4c_status status = nd4c_negative_on(p->common.first, p->common.b, &p->kept);
  nd4c_status left = nd4c_workspace_leave(p->workspace);
  STEP(status);
  STEP(left);
  return scenario_check(p->kept, -3);
}

static void end_exchange(play *p) {
  nd4c_array_release(p->part);
  nd4c_array_release(p->imported);
  if (p->given.release != NULL) {
    p->given.release(p->given.user);
  }
  p->part = p->imported = NULL;
  p->given = (nd4c_external){0};
}

/* Host memory, and half of it as a separate buffer. */
static nd4c_status exchange(play *p) {
  enum { IMPORTED = 128 };
  static _Alignas(64) float memory[IMPORTED];
  const int64_t shape[1] = {IMPORTED}, half[1] = {SCENARIO_COUNT};
  for (int i = 0; i < IMPORTED; i++) {
    memory[i] = -4;
  }
  const nd4c_external hosts = {.struct_size = sizeof hosts,
                               .kind = ND4C_EXTERNAL_HOST_POINTER,
                               .pointer = memory,
                               .descriptor = -1,
                               .bytes = sizeof memory};
  STEP(nd4c_array_from_external(device, ND4C_FLOAT32, 1, shape, NULL, 0, &hosts, &p->imported));
  p->given.struct_size = sizeof p->given;
  STEP(nd4c_array_to_external(p->imported, device, ND4C_EXTERNAL_NATIVE, &p->given, NULL));
  nd4c_external part = p->given;
  part.release = NULL;
  part.offset = part.bytes / 2;
  part.bytes /= 2;
  STEP(nd4c_array_from_external(device, ND4C_FLOAT32, 1, half, NULL, 0, &part, &p->part));
  STEP(nd4c_negative_on(p->common.first, p->part, &p->part));
  STEP(scenario_check(p->part, 4));
  end_exchange(p);
  return ND4C_OK;
}

static nd4c_status play_all(play *p) {
  const nd4c_workspace_options options = {
      .struct_size = sizeof options, .outliving = ND4C_OUTLIVING_MOVED_OUT, .device = device, .initial_bytes = 4096};
  bool ordered = false;
  STEP(scenario_play(&p->common, device));
  STEP(nd4c_workspace_create(&options, &p->workspace));
  STEP(keep(p));
  const nd4c_array *inputs[2] = {p->common.a, NULL};
  STEP(nd4c_op_call(p->common.first, ND4C_OP_nonzero, inputs, 1, NULL, 0, &p->places, 1));
  assert_int_equal(nd4c_array_size(p->places), SCENARIO_COUNT);
  STEP(nd4c_op_call(p->common.first, ND4C_OP_is_non_decreasing, inputs, 1, NULL, 0, &p->ordered, 1));
  STEP(nd4c_array_read(p->ordered, &ordered, sizeof ordered));
  assert_true(ordered);
  STEP(nd4c_array_zeros(ND4C_INT64, 1, scenario_shape, device, &p->indices));
  inputs[1] = p->indices;
  STEP(nd4c_op_call(p->common.second, ND4C_OP_gather, inputs, 2, NULL, 0, &p->picked, 1));
  STEP(scenario_check(p->picked, 2));
  nd4c_array_release(p->indices);
  p->indices = NULL;
  STEP(exchange(p));
  p->told = faulty_count(watched);
  return nd4c_memory_trim(device, 0);
}

static void play_clear(play *p) {
  nd4c_array *const arrays[] = {p->kept, p->indices, p->picked, p->places, p->ordered};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
    nd4c_array_release(arrays[i]);
  }
  while (p->workspace != NULL && nd4c_workspace_current() == p->workspace) { /* a failure left it open */
    assert_int_equal(nd4c_workspace_leave(p->workspace), ND4C_OK);
  }
  end_exchange(p);
  assert_int_equal(nd4c_workspace_destroy(p->workspace), ND4C_OK);
  scenario_clear(&p->common);
  *p = (play){0};
}

/* -- the failures ------------------------------------------------------------------------------------------------- */

/* Objects of the driver that a scenario makes and releases; kernels and programs are kept for the next one. */
static long held(void) {
  return faulty_count("buffers") + faulty_count("events") + faulty_count("queues");
}

static void settle(void) {
  (void)nd4c_device_synchronize(device);
  (void)nd4c_memory_trim(device, 0);
  nd4c_error_clear();
}

/* The call, a code of its specification, and whether its failure may have no consequence. */
typedef struct fault_row {
  const char *call;
  int code;
  const char *name;
  bool harmless;
  enum { EVERYWHERE, OUT_OF_ORDER } where; /* devices that make the call */
} fault_row;

// clang-format off
#define CODE(code) code, #code
static const fault_row rows[] = {
    {"clCreateBuffer", CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE), true, EVERYWHERE},
    {"clCreateBuffer", CODE(CL_INVALID_BUFFER_SIZE), true, EVERYWHERE},
    {"clCreateSubBuffer", CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET), false, EVERYWHERE},
    {"clCreateSubBuffer", CODE(CL_OUT_OF_RESOURCES), false, EVERYWHERE},
    {"clRetainMemObject", CODE(CL_OUT_OF_RESOURCES), false, EVERYWHERE},
    {"clGetMemObjectInfo", CODE(CL_INVALID_MEM_OBJECT), false, EVERYWHERE},
    {"clReleaseMemObject", CODE(CL_INVALID_MEM_OBJECT), true, EVERYWHERE},
    {"clCreateCommandQueue", CODE(CL_OUT_OF_HOST_MEMORY), true, EVERYWHERE}, /* the host packs strided operands */
    {"clCreateCommandQueue", CODE(CL_INVALID_VALUE), false, EVERYWHERE},
    {"clReleaseCommandQueue", CODE(CL_INVALID_COMMAND_QUEUE), true, EVERYWHERE},
    {"clEnqueueWriteBuffer", CODE(CL_OUT_OF_RESOURCES), false, EVERYWHERE},
    {"clEnqueueReadBuffer", CODE(CL_OUT_OF_RESOURCES), false, EVERYWHERE},
    {"clEnqueueCopyBuffer", CODE(CL_OUT_OF_RESOURCES), false, EVERYWHERE},
    {"clEnqueueFillBuffer", CODE(CL_OUT_OF_RESOURCES), false, EVERYWHERE},
    {"clEnqueueMapBuffer", CODE(CL_MAP_FAILURE), true, EVERYWHERE}, /* copies go without pinned memory; imports */
    {"clEnqueueUnmapMemObject", CODE(CL_INVALID_VALUE), true, EVERYWHERE},
    {"clSetKernelArg", CODE(CL_INVALID_ARG_SIZE), false, EVERYWHERE},
    {"clEnqueueNDRangeKernel", CODE(CL_OUT_OF_RESOURCES), false, EVERYWHERE},
    {"clEnqueueNDRangeKernel", CODE(-9999), false, EVERYWHERE},
    {"clEnqueueMarkerWithWaitList", CODE(CL_OUT_OF_RESOURCES), true, EVERYWHERE}, /* a fence */
    {"clEnqueueBarrierWithWaitList", CODE(CL_OUT_OF_RESOURCES), true, OUT_OF_ORDER},
    {"clWaitForEvents", CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST), false, EVERYWHERE},
    {"clGetEventInfo", CODE(CL_INVALID_EVENT), true, EVERYWHERE},
    {"clRetainEvent", CODE(CL_INVALID_EVENT), true, OUT_OF_ORDER}, /* kept beyond their command there alone */
    {"clReleaseEvent", CODE(CL_INVALID_EVENT), true, EVERYWHERE},
    {"clFlush", CODE(CL_OUT_OF_RESOURCES), true, EVERYWHERE},
    {"clFinish", CODE(CL_OUT_OF_RESOURCES), true, EVERYWHERE},
};
#undef CODE
// clang-format on

/* A name that the failure's text must contain. */
static bool text_is_complete(const fault_row *row, const char *text) {
  return strstr(text, "opencl:0") != NULL && strstr(text, row->call) != NULL && strstr(text, row->name) != NULL;
}

/* How many of the calls belong to recording a fence, which may succeed at the second attempt: a fault buffer is read
 * and reset. */
static int mended(const fault_row *row) {
  return strcmp(row->call, "clEnqueueReadBuffer") == 0 || strcmp(row->call, "clEnqueueFillBuffer") == 0 ? 1 : 0;
}

/* One failure at the n-th call. False if the scenario made fewer. */
static bool fail_once(const fault_row *row, long number, long baseline, int *unnoticed, int *problems) {
  play p = {0};
  char command[128], text[1024];
  const long before = faulty_count(row->call);
  watched = row->call;
  (void)snprintf(command, sizeof command, "%s:%ld:%d", row->call, number, row->code);
  assert_int_equal(faulty_control(command), 0);
  nd4c_error_clear();
  nd4c_status status = play_all(&p);
  const bool reached = faulty_count(row->call) - before >= number, told = p.told - before >= number;
  (void)faulty_control("");
  if (status == ND4C_OK) { /* for work without a reader, the call that waits for all work reports the failure */
    status = nd4c_device_synchronize(device);
  }
  (void)snprintf(text, sizeof text, "%s", nd4c_error_message());
  if (p.common.on_host != NULL) { /* the host's data must be intact after any failure of the device */
    assert_int_equal(scenario_check(p.common.on_host, 2), ND4C_OK);
  }
  play_clear(&p);
  settle();
  *unnoticed += told && status == ND4C_OK && !row->harmless;
  if (told && status == ND4C_OK && !row->harmless && *unnoticed > mended(row)) {
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

/* The device's facts, true or disguised: see faulty_loader.c. */
static bool makes_call(const fault_row *row) {
  const char *queue = NULL;
  assert_int_equal(nd4c_config_get("nd4c.opencl.queue", &queue), ND4C_OK);
  return row->where == EVERYWHERE || strcmp(queue, "out_of_order") == 0;
}

static void each_call_fails_once(void **state) {
  (void)state;
  play p = {0};
  int problems = 0;
  watched = rows[0].call;
  for (int i = 0; i < 2; i++) { /* the second run shows the objects that stay */
    const nd4c_status status = play_all(&p);
    play_clear(&p);
    if (status != ND4C_OK) {
      fail_msg("without a failure: %s", nd4c_error_message());
    }
    settle();
  }
  const long baseline = held();
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    long number = 1;
    int unnoticed = 0;
    for (; number <= MOST_CALLS && fail_once(&rows[i], number, baseline, &unnoticed, &problems); number++) {
    }
    if ((number == 1 && makes_call(&rows[i])) || number > MOST_CALLS) {
      print_error("%s: %s\n", rows[i].call,
                  number == 1 ? "never called here: its row tests nothing" : "more calls than are failed in turn");
      problems++;
    }
    const nd4c_status after = play_all(&p);
    play_clear(&p);
    settle();
    if (after != ND4C_OK) {
      print_error("after failures of %s nothing works any more\n", rows[i].call);
      problems++;
    }
  }
  assert_int_equal(problems, 0);
}

/* -- routed ------------------------------------------------------------------------------------------------------- */

typedef struct routed_play {
  nd4c_array *a, *b, *sum, *product, *given, *largest[2], *places;
} routed_play;

/* Fresh results, one in place, one given, two at once, and one whose shape the data decides. */
static nd4c_status play_routed(routed_play *p, nd4c_context *context, nd4c_device *host) {
  const nd4c_attr three = {"k", {.kind = ND4C_ATTR_INT, .as.i = 3}};
  STEP(nd4c_array_full(ND4C_FLOAT32, 1, scenario_shape, 2, host, &p->a));
  STEP(nd4c_array_full(ND4C_FLOAT32, 1, scenario_shape, 3, host, &p->b));
  STEP(nd4c_array_full(ND4C_FLOAT32, 1, scenario_shape, 0, host, &p->given));
  STEP(nd4c_add_on(context, p->a, p->b, &p->sum));
  STEP(nd4c_multiply_on(context, p->sum, p->a, &p->product));
  STEP(nd4c_subtract_on(context, p->product, p->a, &p->product));
  STEP(nd4c_subtract_on(context, p->sum, p->b, &p->given));
  const nd4c_array *inputs[1] = {p->product};
  STEP(nd4c_op_call(context, ND4C_OP_top_k, inputs, 1, &three, 1, p->largest, 2));
  return nd4c_op_call(context, ND4C_OP_nonzero, inputs, 1, NULL, 0, &p->places, 1);
}

static void check_routed(const routed_play *p) {
  float largest[3] = {0};
  assert_int_equal(scenario_check(p->a, 2), ND4C_OK);
  assert_int_equal(scenario_check(p->b, 3), ND4C_OK);
  assert_int_equal(scenario_check(p->sum, 5), ND4C_OK);
  assert_int_equal(scenario_check(p->product, 8), ND4C_OK);
  assert_int_equal(scenario_check(p->given, 2), ND4C_OK);
  assert_int_equal(nd4c_array_read(p->largest[0], largest, sizeof largest), ND4C_OK);
  assert_float_equal(largest[0], 8, 0);
  assert_float_equal(largest[2], 8, 0);
  assert_int_equal(nd4c_array_size(p->places), SCENARIO_COUNT);
}

static void clear_routed(routed_play *p) {
  nd4c_array *const arrays[] = {p->a, p->b, p->sum, p->product, p->given, p->largest[0], p->largest[1], p->places};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
    nd4c_array_release(arrays[i]);
  }
  *p = (routed_play){0};
}

/* One failure at the n-th call, which changes only the device that computes. False if fewer were made. */
static bool survive_once(const fault_row *row, long number, nd4c_context *context, nd4c_device *host) {
  routed_play p = {0};
  char command[128];
  const long before = faulty_count(row->call);
  (void)snprintf(command, sizeof command, "%s:%ld:%d", row->call, number, row->code);
  assert_int_equal(faulty_control(command), 0);
  const nd4c_status status = play_routed(&p, context, host);
  const bool reached = faulty_count(row->call) - before >= number;
  (void)faulty_control("");
  if (status != ND4C_OK) {
    fail_msg("%s gave %s \"%s\"", command, nd4c_status_name(status), nd4c_error_message());
  }
  check_routed(&p);
  clear_routed(&p);
  return reached;
}

static void the_chain_survives_each(void **state) {
  (void)state;
  nd4c_device *host = NULL;
  assert_int_equal(nd4c_device_find("cpu:0", &host), ND4C_OK);
  nd4c_context *context = NULL;
  assert_int_equal(faulty_make_routed(device, host, true, &context), ND4C_OK);
  const long baseline = held();
  long survived = 0;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    long number = 1;
    for (; number <= MOST_CALLS && survive_once(&rows[i], number, context, host); number++) {
    }
    assert_true(number <= MOST_CALLS);
    survived += number - 1;
    settle();
  }
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  settle();
  print_message("%ld failures survived\n", survived);
  assert_true(survived > 100);
  assert_true(held() <= baseline);
}

/* Every function that the backend takes from the loader fails here or in the test of opening. */
static void no_call_is_left_out(void **state) {
  (void)state;
#define NAME(call) #call,
#define SYMBOL_NAME(result, call, parameters) #call,
  static const char *const all[] = {ND4C_CL_SYMBOLS(SYMBOL_NAME)}, *const at_opening[] = {FAULTY_AT_OPENING(NAME)};
#undef SYMBOL_NAME
#undef NAME
  for (size_t c = 0; c < sizeof all / sizeof all[0]; c++) {
    bool fails = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
      fails = fails || strcmp(rows[i].call, all[c]) == 0;
    }
    for (size_t i = 0; i < sizeof at_opening / sizeof at_opening[0]; i++) {
      fails = fails || strcmp(at_opening[i], all[c]) == 0;
    }
    if (!fails) {
      fail_msg("%s never fails", all[c]);
    }
  }
}

/* The device is out of memory: nd4c frees cached memory first, then reports the status. */
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
      cmocka_unit_test(no_call_is_left_out),       cmocka_unit_test(each_call_fails_once),
      cmocka_unit_test(the_chain_survives_each),   cmocka_unit_test(tells_that_memory_is_out),
      cmocka_unit_test(tells_what_does_not_exist),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
