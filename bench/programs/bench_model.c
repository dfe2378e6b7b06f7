/* Runs a model on inputs of ones (integers too): usage bench_model MODEL.onnx... Prints lines of JSON. Free dimensions
 * are taken as 1. */
#include <stdio.h>

#include "bench/measure.h"

enum { MAX_VALUES = 16 };

typedef struct model_state {
  nd4c_model *model;
  const char *names[MAX_VALUES];
  nd4c_array *inputs[MAX_VALUES], *outputs[MAX_VALUES];
  int32_t input_count, output_count;
} model_state;

static void run_model(void *argument) {
  model_state *state = argument;
  const nd4c_array *inputs[MAX_VALUES];
  for (int32_t i = 0; i < state->input_count; i++) {
    inputs[i] = state->inputs[i];
  }
  bench_check(
      nd4c_model_run(state->model, NULL, state->names, inputs, state->input_count, state->outputs, state->output_count),
      "nd4c_model_run");
}

static nd4c_array *make_input(const nd4c_model_value *value) {
  int64_t shape[ND4C_MAX_RANK];
  for (int32_t axis = 0; axis < value->rank; axis++) {
    shape[axis] = value->shape[axis] < 0 ? 1 : value->shape[axis];
  }
  nd4c_array *array = NULL;
  bench_check(nd4c_array_full(value->dtype, value->rank < 0 ? 0 : value->rank, shape, 1, NULL, &array),
              "nd4c_array_full");
  return array;
}

static int measure(const char *path) {
  model_state state = {0};
  bench_check(nd4c_model_open(path, NULL, &state.model), path);
  state.input_count = nd4c_model_input_count(state.model);
  state.output_count = nd4c_model_output_count(state.model);
  if (state.input_count > MAX_VALUES || state.output_count > MAX_VALUES) {
    fprintf(stderr, "error: %s: more than %d inputs or outputs\n", path, (int)MAX_VALUES);
    return 1;
  }
  for (int32_t i = 0; i < state.input_count; i++) {
    nd4c_model_value value = {.struct_size = sizeof value};
    bench_check(nd4c_model_input(state.model, i, &value), "nd4c_model_input");
    state.names[i] = value.name;
    state.inputs[i] = make_input(&value);
  }
  bench_case result = {.name = path, .shape = "", .dtype = "", .body = run_model, .state = &state};
  bench_interleave(&result, 1);
  bench_print(&result, 0);
  for (int32_t i = 0; i < state.input_count; i++) {
    nd4c_array_release(state.inputs[i]);
  }
  for (int32_t i = 0; i < state.output_count; i++) {
    nd4c_array_release(state.outputs[i]);
  }
  nd4c_model_close(state.model);
  return 0;
}

int main(int count, char **arguments) {
  if (count < 2) {
    fprintf(stderr, "usage: %s MODEL.onnx...\n", arguments[0]);
    return 2;
  }
  int status = 0;
  for (int i = 1; i < count && status == 0; i++) {
    status = measure(arguments[i]);
  }
  return status;
}
