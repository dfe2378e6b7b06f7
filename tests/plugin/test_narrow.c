/* Devices that compute little, or in unusual ways, pass the check of every device at opening. Each case runs in a
 * separate process, because a process loads a plug-in once. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../device/child.h"
#include "nd4c/nd4c.h"

static const char *program;

/* -- in the child ------------------------------------------------------------------------------------------------- */

static nd4c_status compute(nd4c_context *context, nd4c_device *device, bool adds, float *result) {
  const int64_t size = 5;
  nd4c_array *a = NULL, *b = NULL, *y = NULL;
  nd4c_status status = nd4c_array_full(ND4C_FLOAT32, 1, &size, 3, device, &a);
  status = status == ND4C_OK ? nd4c_array_full(ND4C_FLOAT32, 1, &size, 5, device, &b) : status;
  status = status != ND4C_OK ? status : adds ? nd4c_add_on(context, a, b, &y) : nd4c_multiply_on(context, a, b, &y);
  float values[5] = {0};
  status = status == ND4C_OK ? nd4c_array_read(y, values, sizeof values) : status;
  *result = values[4];
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_array_release(y);
  return status;
}

/* The op multiply of a transposed operand, into every second element: the device has a kernel for contiguous operands
 * and none for copy. */
static nd4c_status compute_in_order(nd4c_context *context, nd4c_device *device, float *result) {
  static const float data[] = {1, 2, 3, 4, 5, 6};
  nd4c_array *a = NULL, *b = NULL, *turned = NULL, *large = NULL, *y = NULL;
  float values[12] = {0};
  nd4c_status status = nd4c_array_from_data(ND4C_FLOAT32, 2, (int64_t[]){2, 3}, data, device, &a);
  status = status == ND4C_OK ? nd4c_array_from_data(ND4C_FLOAT32, 2, (int64_t[]){3, 2}, data, device, &b) : status;
  status = status == ND4C_OK ? nd4c_array_full(ND4C_FLOAT32, 2, (int64_t[]){3, 4}, 7, device, &large) : status;
  status = status == ND4C_OK ? nd4c_array_as_strided(a, 2, (int64_t[]){3, 2}, (int64_t[]){1, 3}, 0, &turned) : status;
  status = status == ND4C_OK ? nd4c_array_as_strided(large, 2, (int64_t[]){3, 2}, (int64_t[]){4, 2}, 1, &y) : status;
  status = status == ND4C_OK ? nd4c_multiply_on(context, turned, b, &y) : status;
  status = status == ND4C_OK ? nd4c_array_read(large, values, sizeof values) : status;
  *result = values[9] + 100 * values[11] + 10000 * values[8]; /* 3 * 5, 6 * 6, and the old contents */
  nd4c_array *all[] = {y, turned, large, b, a};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    nd4c_array_release(all[i]);
  }
  return status;
}

/* The same in a plan. */
static nd4c_status plan_in_order(nd4c_context *context, nd4c_device *device, float *result) {
  static const float data[] = {1, 2, 3, 4, 5, 6};
  nd4c_array *a = NULL, *turned = NULL, *large = NULL, *y = NULL;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value x = ND4C_VALUE_NONE, square = ND4C_VALUE_NONE;
  float values[12] = {0};
  nd4c_status status = nd4c_array_from_data(ND4C_FLOAT32, 2, (int64_t[]){2, 3}, data, device, &a);
  status = status == ND4C_OK ? nd4c_array_full(ND4C_FLOAT32, 2, (int64_t[]){3, 4}, 7, device, &large) : status;
  status = status == ND4C_OK ? nd4c_array_as_strided(a, 2, (int64_t[]){3, 2}, (int64_t[]){1, 3}, 0, &turned) : status;
  status = status == ND4C_OK ? nd4c_array_as_strided(large, 2, (int64_t[]){3, 2}, (int64_t[]){4, 2}, 1, &y) : status;
  status = status == ND4C_OK ? nd4c_graph_create(&graph) : status;
  status = status == ND4C_OK ? nd4c_graph_input(graph, "x", ND4C_FLOAT32, 2, (int64_t[]){3, 2}, &x) : status;
  status = status == ND4C_OK
               ? nd4c_graph_op(graph, ND4C_OP_multiply, (nd4c_value[]){x, x}, 2, NULL, 0, "square", &square, 1)
               : status;
  status = status == ND4C_OK ? nd4c_graph_output(graph, "y", square) : status;
  status = status == ND4C_OK ? nd4c_plan_create(graph, context, NULL, &plan) : status;
  status = status == ND4C_OK ? nd4c_plan_run(plan, (const nd4c_array *[]){turned}, 1, &y, 1) : status;
  status = status == ND4C_OK ? nd4c_array_read(large, values, sizeof values) : status;
  *result = values[9] + 100 * values[11] + 10000 * values[8];
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  nd4c_array *all[] = {y, turned, large, a};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    nd4c_array_release(all[i]);
  }
  return status;
}

/* A kernel of a synchronous device that lacks memory, or refuses arguments, has written nothing: the given result keeps
 * its value. After another failure it has none. The result counts the calls for which this is so, two for each
 * status. */
static nd4c_status fail_in_turn(nd4c_context *context, nd4c_device *device, float *result) {
  static const nd4c_status told[] = {ND4C_MEMORY, ND4C_MEMORY_CAP, ND4C_INDEX, ND4C_DEVICE};
  const int64_t size = 5;
  nd4c_array *one = NULL, *y = NULL;
  nd4c_status status = nd4c_array_full(ND4C_FLOAT32, 1, &size, 1, device, &one);
  for (size_t i = 0; i < 2 * sizeof told / sizeof *told && status == ND4C_OK; i++) {
    nd4c_array *code = NULL;
    float values[5] = {0};
    status = nd4c_array_full(ND4C_FLOAT32, 1, &size, -told[i / 2], device, &code);
    status = status == ND4C_OK ? nd4c_array_full(ND4C_FLOAT32, 1, &size, 7, device, &y) : status;
    const bool failed = status == ND4C_OK && nd4c_multiply_on(context, code, one, &y) == told[i / 2];
    const nd4c_status read = nd4c_array_read(y, values, sizeof values);
    *result += failed && (told[i / 2] == ND4C_DEVICE ? read == ND4C_DEVICE : read == ND4C_OK && values[4] == 7);
    nd4c_array_release(code);
    nd4c_array_release(y);
    y = NULL;
  }
  nd4c_array_release(one);
  return status;
}

static nd4c_status call(const char *what, nd4c_context *context, nd4c_device *device, float *result) {
  return strstr(what, "order") != NULL ? compute_in_order(context, device, result)
         : strcmp(what, "plan") == 0   ? plan_in_order(context, device, result)
         : strcmp(what, "fails") == 0  ? fail_in_turn(context, device, result)
                                       : compute(context, device, strcmp(what, "add") == 0, result);
}

/* Prints the verdict, and the device's results for 3 and 5. */
static int child(const char *what) {
  nd4c_context_options options = {.struct_size = sizeof options, .strict = strcmp(what, "strict order") == 0};
  nd4c_context *context = NULL;
  nd4c_backend_status row = {.struct_size = sizeof row};
  float result = 0;
  nd4c_status status = nd4c_backend_load(NARROW_PATH);
  status = status == ND4C_OK ? nd4c_device_find("narrow:0", &options.device) : status;
  status = status == ND4C_OK ? nd4c_context_create(&options, &context) : status;
  status = status == ND4C_OK ? call(what, context, options.device, &result) : status;
  for (int32_t i = 0; i < nd4c_backend_count() && nd4c_backend_get_status(i, &row) == ND4C_OK; i++) {
    if (strcmp(row.name, "narrow") == 0) {
      printf("%s\n", row.reason);
    }
  }
  printf("%s: %g; %s\n", what, (double)result, status == ND4C_OK ? "" : nd4c_error_message());
  (void)nd4c_context_destroy(context);
  return 0;
}

/* -- the cases ---------------------------------------------------------------------------------------------------- */

#define ADDED "initialised; one addition gave the right answer"

static const struct {
  const char *mode, *op, *parts[2];
} cases[] = {
    {"NARROW=multiply",
     "multiply",
     {"initialised; it does not add float32: what was copied there came back right", "multiply: 15; "}},
    {"NARROW=scratch", "add", {ADDED, "add: 8; "}},
    {"NARROW=prepare", "add", {ADDED, "add: 8; "}},
    {"NARROW=compilers", "add", {ADDED, "add: 8; "}},
    {"NARROW=compilers", "multiply", {ADDED, "multiply: 15; "}},
    {"NARROW=one compiler", "multiply", {"initialised; it does not add float32: what was copied", "multiply: 15; "}},
    {"NARROW=multiply", "order", {"initialised", "order: 73615; "}},
    {"NARROW=multiply",
     "strict order",
     {"initialised", "strict order: 0; multiply: nothing on narrow:0 computes this"}},
    {"NARROW=crowd",
     "strict order",
     {"narrow.crowd39 (engine narrow): wants contiguous operands", "nothing on narrow:0"}},
    {"NARROW=multiply", "plan", {"initialised", "plan: 73609; "}},
    {"NARROW=fails", "fails", {"initialised", "fails: 8; "}},
    {"NARROW=nothing", "multiply", {"the backend has neither a kernel nor a compiler", "multiply: 0; "}},
};

static void is_opened(void **state) {
  (void)state;
  int failures = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    static char output[CHILD_OUTPUT];
    const int code = child_run(program, cases[i].op, "", (const char *[]){cases[i].mode, NULL, NULL}, output);
    if (code != 0 || strstr(output, cases[i].parts[0]) == NULL || strstr(output, cases[i].parts[1]) == NULL) {
      print_error("%s %s: exit code %d, expected \"%s\" and \"%s\" in:\n%s\n", cases[i].mode, cases[i].op, code,
                  cases[i].parts[0], cases[i].parts[1], output);
      failures++;
    }
  }
  assert_int_equal(failures, 0);
}

int main(int argc, char **argv) {
  program = argv[0];
  if (argc > 1) {
    return child(argv[1]);
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(is_opened)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
