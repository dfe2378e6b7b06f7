/* Branches, loops, scans and calls on an asynchronous device: the host reads what decides, and results are those of
 * eager calls on the host. */
#include "../graph/control/control_cases.h"
#include "faulty_loader.h"

static nd4c_context *context;

static void results_are_those_of_the_host(void **state) {
  (void)state;
  for (size_t i = 0; i < CONTROL_CASES; i++) {
    nd4c_array *inputs[CONTROL_PORTS] = {NULL}, *expected[CONTROL_PORTS] = {NULL};
    nd4c_graph *graph = control_cases[i].build(control_cases[i].built);
    nd4c_plan *plan = NULL;
    control_make_inputs(graph, control_cases[i].leading, i + 1, inputs);
    control_evaluate(graph, inputs, expected);
    CHECK_OK(nd4c_plan_create(graph, context, NULL, &plan));
    assert_false(nd4c_plan_is_direct(plan));
    check_runs(plan, inputs, expected, 1e-5, control_cases[i].name);
    check_release(inputs, graph->inputs.count);
    check_release(expected, graph->outputs.count);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

int main(void) {
  nd4c_device *device = NULL;
  nd4c_context_options options = {.struct_size = sizeof options};
  nd4c_status status = faulty_start(&device);
  options.device = device;
  status = status == ND4C_OK ? nd4c_context_create(&options, &context) : status;
  if (status != ND4C_OK) {
    print_message("skipped: %s\n", nd4c_error_message());
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(results_are_those_of_the_host)};
  int failed = cmocka_run_group_tests_name("opencl control", tests, NULL, NULL);
  return failed + (nd4c_context_destroy(context) != ND4C_OK);
}
