/* A call through the graph: recorded, planned, run twice. */
#include <stdio.h>

#include "run.h"

static nd4c_status record(const cf_case *c, nd4c_graph *graph, nd4c_value *results, int32_t output_count) {
  nd4c_value values[CF_INPUTS];
  char name[16];
  for (int32_t i = 0; i < c->input_count; i++) {
    const cf_tensor *tensor = &c->inputs[i];
    values[i] = ND4C_VALUE_NONE;
    if (tensor->dtype != ND4C_DTYPE_NONE) {
      (void)snprintf(name, sizeof name, "x%d", (int)i);
      nd4c_status status = nd4c_graph_input(graph, name, tensor->dtype, tensor->rank, tensor->shape, &values[i]);
      if (status != ND4C_OK) {
        return status;
      }
    }
  }
  return nd4c_graph_op(graph, c->op, values, c->input_count, c->attrs, c->attr_count, "node", results, output_count);
}

bool cf_plan_infer(const cf_case *c, cf_tensor *outputs, int32_t output_count) {
  nd4c_graph *graph = NULL;
  nd4c_value results[CF_OUTPUTS];
  bool known = nd4c_graph_create(&graph) == ND4C_OK && record(c, graph, results, output_count) == ND4C_OK;
  for (int32_t i = 0; i < output_count && known; i++) {
    nd4c_dtype dtype = ND4C_DTYPE_NONE;
    int32_t rank = 0;
    const int64_t *shape = NULL;
    known = nd4c_graph_value_info(graph, results[i], &dtype, &rank, &shape) == ND4C_OK;
    if (known) {
      cf_tensor_make(&outputs[i], dtype, rank, shape);
    }
  }
  nd4c_graph_destroy(graph);
  return known;
}

static nd4c_status record_all(const cf_case *c, nd4c_graph *graph, int32_t output_count) {
  nd4c_value results[CF_OUTPUTS];
  char name[16];
  nd4c_status status = record(c, graph, results, output_count);
  for (int32_t i = 0; i < output_count && status == ND4C_OK; i++) {
    (void)snprintf(name, sizeof name, "y%d", (int)i);
    status = nd4c_graph_output(graph, name, results[i]);
  }
  return status;
}

nd4c_status cf_plan_call(cf_run *run, const cf_case *c, const nd4c_array *const *inputs, nd4c_array **outputs,
                         int32_t output_count) {
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  const nd4c_array *given[CF_INPUTS];
  int32_t count = 0;
  nd4c_status status = nd4c_graph_create(&graph);
  if (status == ND4C_OK) {
    status = record_all(c, graph, output_count);
  }
  if (status == ND4C_OK) {
    status = nd4c_plan_create(graph, run->context, NULL, &plan);
  }
  for (int32_t i = 0; i < c->input_count; i++) {
    if (c->inputs[i].dtype != ND4C_DTYPE_NONE) {
      given[count++] = inputs[i];
    }
  }
  nd4c_array *first[CF_OUTPUTS] = {NULL};
  if (status == ND4C_OK) {
    status = nd4c_plan_run(plan, given, count, first, output_count);
  }
  if (status == ND4C_OK) {
    status = nd4c_plan_run(plan, given, count, outputs, output_count);
  }
  for (int32_t i = 0; i < output_count; i++) {
    nd4c_array_release(first[i]);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  return status;
}
