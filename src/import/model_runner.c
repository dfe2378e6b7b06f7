/* Runners of models (nd4c/runner.h): what graph/runner.c asks of a model, and nd4c_runner_of_model, which programs
 * call. */
#include "base/status.h"
#include "graph/runner.h"
#include "import/model_internal.h"

static const char *input_name(const void *target, int32_t index) {
  return ((const nd4c_model *)target)->inputs[index].name;
}

static const char *output_name(const void *target, int32_t index) {
  return ((const nd4c_model *)target)->outputs[index].name;
}

static nd4c_status check_input(const void *target, int32_t index, const nd4c_array *array) {
  return nd4c_model_check_port("input", &((const nd4c_model *)target)->inputs[index], array);
}

/* A model need not declare the dtype of an output; then the run checks it. */
static nd4c_status check_output(const void *target, int32_t index, const nd4c_array *array) {
  const nd4c_model_port *port = &((const nd4c_model *)target)->outputs[index];
  return port->dtype == ND4C_DTYPE_NONE ? ND4C_OK : nd4c_model_check_port("output", port, array);
}

static nd4c_status run(void *target, nd4c_context *context, const nd4c_run_request *request) {
  nd4c_model *model = target;
  ND4C_TRY(nd4c_model_check(model));
  ND4C_TRY(nd4c_model_turn_check(model->turn, "runner"));
  ND4C_TRY(nd4c_context_resolve(context, &context));
  ND4C_TRY(request->checked ? ND4C_OK : nd4c_model_check_symbols(model, request->inputs));
  return nd4c_model_run_request(model, context, request);
}

static const nd4c_runner_kind of_model = {.input_name = input_name,
                                          .output_name = output_name,
                                          .check_input = check_input,
                                          .check_output = check_output,
                                          .run = run};

nd4c_status nd4c_runner_of_model(nd4c_model *model, nd4c_context *context, nd4c_runner **runner) {
  ND4C_TRY(nd4c_model_check(model));
  if (runner == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_runner_of_model: runner is NULL");
  }
  ND4C_TRY(context == NULL ? ND4C_OK : nd4c_context_check(context, "nd4c_runner_of_model"));
  if (nd4c_model_odd_port(model) != NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "nd4c_runner_of_model: '%s' is a sequence or optional: use nd4c_model_run_data",
                     nd4c_model_odd_port(model)->name);
  }
  return nd4c_runner_make(&of_model, model, context, model->input_count, model->output_count, runner);
}
