/* The pass swiglu, on a device with a kernel for it: fires where nothing else reads the swish, with the alpha of that,
 * and on no other device. */
#include "faulty_loader.h"
#include "tests/graph/graph_check.h"

static nd4c_context *context;

/* a * sigmoid(alpha a) * b, with the gate on either side. */
static nd4c_graph *make_gate(double alpha, bool left, bool read_twice) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value a = check_input(graph, "a", 2, (int64_t[]){4, 9}), b = check_input(graph, "b", 2, (int64_t[]){4, 9});
  const nd4c_value inside = alpha == 1 ? a : check_binary(graph, ND4C_OP_multiply, a, check_scalar(graph, alpha));
  const nd4c_value gate = check_binary(graph, ND4C_OP_multiply, a, check_unary(graph, ND4C_OP_sigmoid, inside));
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_multiply, left ? gate : b, left ? b : gate)));
  if (read_twice) {
    CHECK_OK(nd4c_graph_output(graph, "gate", gate));
  }
  return graph;
}

static void check_gate(nd4c_graph *graph, nd4c_context *on, int32_t changes) {
  nd4c_array *inputs[CHECK_PORTS] = {NULL}, *expected[CHECK_PORTS] = {NULL};
  nd4c_plan *plan = NULL;
  check_make_inputs(graph, 3, inputs);
  check_evaluate(graph, inputs, expected);
  CHECK_OK(nd4c_plan_create(graph, on, NULL, &plan));
  assert_int_equal(check_changes(plan, "swiglu"), changes);
  check_runs(plan, inputs, expected, 1e-6, "a gate");
  check_release(inputs, graph->inputs.count);
  check_release(expected, graph->outputs.count);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void gates_become_swiglu(void **state) {
  (void)state;
  check_gate(make_gate(1, true, false), context, 1);
  check_gate(make_gate(1.702, false, false), context, 1);
  check_gate(make_gate(1, true, true), context, 0);
}

static void the_host_keeps_its_chain(void **state) {
  (void)state;
  check_gate(make_gate(1, true, false), NULL, 0);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(gates_become_swiglu), cmocka_unit_test(the_host_keeps_its_chain)};
  int failed = cmocka_run_group_tests_name("opencl swiglu", tests, NULL, NULL);
  return failed + (nd4c_context_destroy(context) != ND4C_OK);
}
