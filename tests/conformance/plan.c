/* A call through the graph: recorded, planned, run twice. */
#include "run.h"

static nd4c_status record(const cf_case *c, nd4c_graph *graph) {
  static const char *const names[CF_INPUTS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  nd4c_value values[CF_INPUTS], result = ND4C_VALUE_NONE;
  for (int32_t i = 0; i < c->input_count; i++) {
    const cf_tensor *tensor = &c->inputs[i];
    values[i] = ND4C_VALUE_NONE;
    if (tensor->dtype != ND4C_DTYPE_NONE) {
      nd4c_status status = nd4c_graph_input(graph, names[i], tensor->dtype, tensor->rank, tensor->shape, &values[i]);
      if (status != ND4C_OK) {
        return status;
      }
    }
  }
  nd4c_status status = nd4c_graph_op(graph, c->op, values, c->input_count, c->attrs, c->attr_count, "node", &result, 1);
  return status == ND4C_OK ? nd4c_graph_output(graph, "y", result) : status;
}

nd4c_status cf_plan_call(cf_run *run, const cf_case *c, const nd4c_array *const *inputs, nd4c_array **output) {
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  const nd4c_array *given[CF_INPUTS];
  int32_t count = 0;
  nd4c_status status = nd4c_graph_create(&graph);
  if (status == ND4C_OK) {
    status = record(c, graph);
  }
  if (status == ND4C_OK) {
    status = nd4c_plan_create(graph, run->context, NULL, &plan);
  }
  for (int32_t i = 0; i < c->input_count; i++) {
    if (c->inputs[i].dtype != ND4C_DTYPE_NONE) {
      given[count++] = inputs[i];
    }
  }
  nd4c_array *first = NULL;
  if (status == ND4C_OK) {
    status = nd4c_plan_run(plan, given, count, &first, 1);
  }
  if (status == ND4C_OK) {
    status = nd4c_plan_run(plan, given, count, output, 1);
  }
  nd4c_array_release(first);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  return status;
}
