/* A model whose nodes run alternately on two devices: right, and no copy that its graph does not need. Usage:
 * nd4c_alternate MODEL DEVICE DEVICE. Inputs are random; free dimensions are 1. Exit code 0: right, 1: not, 77: a
 * device is not there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nd4c/nd4c.h"

enum { VALUES = 16, NOT_HERE = 77 };

typedef struct results {
  nd4c_array *outputs[VALUES];
} results;

static int32_t inputs, outputs;
static const char *names[VALUES];
static const nd4c_array *given[VALUES];

static int fail(const char *what) {
  (void)fprintf(stderr, "%s: %s\n", what, nd4c_error_message());
  return 1;
}

static bool make_input(const nd4c_model *model, int32_t index) {
  nd4c_model_value value = {.struct_size = sizeof value};
  int64_t shape[ND4C_MAX_RANK];
  nd4c_array *array = NULL;
  if (nd4c_model_input(model, index, &value) != ND4C_OK || value.dtype != ND4C_FLOAT32) {
    return false;
  }
  for (int32_t i = 0; i < value.rank; i++) {
    shape[i] = value.shape[i] < 0 ? 1 : value.shape[i];
  }
  if (nd4c_array_empty(ND4C_FLOAT32, value.rank, shape, NULL, &array) != ND4C_OK) {
    return false;
  }
  void *data = NULL;
  if (nd4c_array_data_mutable(array, &data) != ND4C_OK) {
    return false;
  }
  uint64_t state = 12345;
  for (int64_t i = 0; i < nd4c_array_size(array); i++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    ((float *)data)[i] = (float)(state >> 40) / (float)(1 << 23) - 1;
  }
  names[index] = value.name;
  given[index] = array;
  return true;
}

/* The largest difference, as a part of the largest expected value. */
static double difference(const nd4c_array *expected, const nd4c_array *actual) {
  const void *a = NULL, *b = NULL;
  if (nd4c_array_data(expected, &a) != ND4C_OK || nd4c_array_data(actual, &b) != ND4C_OK) {
    return INFINITY;
  }
  double most = 0, largest = 0;
  for (int64_t i = 0; i < nd4c_array_size(expected); i++) {
    double left = (double)((const float *)a)[i], right = (double)((const float *)b)[i];
    most = isnan(left - right) ? INFINITY : fmax(most, fabs(left - right));
    largest = fmax(largest, fabs(left));
  }
  return largest > 0 ? most / largest : most;
}

static void release(results *r) {
  for (int i = 0; i < VALUES; i++) {
    nd4c_array_release(r->outputs[i]);
    r->outputs[i] = NULL;
  }
}

/* The number before `what` in the report's line about copies; -1: none. */
static long long planned(const char *report, const char *what) {
  const char *line = strstr(report, "copies between devices: "), *end = line == NULL ? NULL : strstr(line, what);
  if (end == NULL) {
    return -1;
  }
  const char *begin = end;
  while (begin > line && ((begin[-1] >= '0' && begin[-1] <= '9') || (begin == end && begin[-1] == ' '))) {
    begin--;
  }
  return strtoll(begin, NULL, 10);
}

static int check(nd4c_model *model, nd4c_context *context, const results *expected) {
  char *report = NULL;
  bool right = true;
  for (int run = 0; run < 3; run++) {
    results r = {{NULL}};
    nd4c_trace_totals seen = {.struct_size = sizeof seen};
    if (nd4c_trace_start(NULL) != ND4C_OK ||
        nd4c_model_run(model, context, names, given, inputs, r.outputs, outputs) != ND4C_OK ||
        nd4c_trace_get_totals(NULL, NULL, &seen) != ND4C_OK || nd4c_trace_stop(NULL) != ND4C_OK ||
        nd4c_model_report(model, &report) != ND4C_OK) {
      return fail("alternating");
    }
    long long of_inputs = planned(report, " of inputs"), of_values = planned(report, " of values"),
              of_constants = planned(report, " of constants");
    long long needed = of_values + (run == 0 ? of_inputs + of_constants : 0);
    double off = 0;
    for (int32_t i = 0; i < outputs; i++) {
      off = fmax(off, difference(expected->outputs[i], r.outputs[i]));
    }
    (void)printf(
        "run %d: %lld executions, %lld transitions, %lld copies of %lld bytes (first needs: %lld), off by %.2g\n",
        run + 1, (long long)seen.executions, (long long)seen.transitions, (long long)seen.copies,
        (long long)seen.copied_bytes, needed, off);
    right = right && of_values > 0 && seen.transitions > 0 && seen.copies == needed && off < 1e-3;
    if (run == 0) {
      (void)printf("planned: %lld of inputs, %lld of values, %lld of constants\n", of_inputs, of_values, of_constants);
    }
    nd4c_free(report);
    release(&r);
  }
  return right ? 0 : 1;
}

int main(int argc, char **argv) {
  nd4c_device *devices[2] = {NULL};
  if (argc != 4) {
    (void)fprintf(stderr, "usage: nd4c_alternate MODEL DEVICE DEVICE\n");
    return 2;
  }
  if (nd4c_device_find(argv[2], &devices[0]) != ND4C_OK || nd4c_device_find(argv[3], &devices[1]) != ND4C_OK) {
    (void)fail("not here");
    return NOT_HERE;
  }
  nd4c_placement placement = {.struct_size = sizeof placement, .devices = devices, .device_count = 2};
  nd4c_model_options options = {.struct_size = sizeof options, .placement = &placement};
  nd4c_context_options on = {.struct_size = sizeof on, .device = devices[0]};
  nd4c_model *plain = NULL, *placed = NULL;
  nd4c_context *context = NULL;
  results expected = {{NULL}};
  if (nd4c_model_open(argv[1], NULL, &plain) != ND4C_OK || nd4c_model_open(argv[1], &options, &placed) != ND4C_OK ||
      nd4c_context_create(&on, &context) != ND4C_OK) {
    return fail(argv[1]);
  }
  inputs = nd4c_model_input_count(plain);
  outputs = nd4c_model_output_count(plain);
  for (int32_t i = 0; i < inputs; i++) {
    if (inputs > VALUES || outputs > VALUES || !make_input(plain, i)) {
      return fail("inputs: float32 is expected, 16 at most");
    }
  }
  if (nd4c_model_run(plain, context, names, given, inputs, expected.outputs, outputs) != ND4C_OK) {
    return fail("on one device");
  }
  int code = check(placed, context, &expected);
  for (int32_t i = 0; i < inputs; i++) {
    nd4c_array *input = NULL;
    memcpy(&input, &given[i], sizeof input);
    nd4c_array_release(input);
  }
  release(&expected);
  nd4c_model_close(plain);
  nd4c_model_close(placed);
  return nd4c_context_destroy(context) == ND4C_OK ? code : fail("the context");
}
