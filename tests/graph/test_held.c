/* Packed constant weights that kernels of the CPU keep count as the device's memory, and under its cap. */
#include "graph_check.h"

enum { SIDE = 96 };

static nd4c_device *cpu;
static nd4c_context *context;

static int64_t held(void) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_memory_get_info(cpu, &info));
  return info.held_bytes;
}

/* y = x @ w of bytes, w constant. */
static nd4c_graph *make_product(void) {
  static int8_t weights[SIDE * SIDE];
  static const int64_t shape[2] = {SIDE, SIDE};
  nd4c_graph *graph = NULL;
  nd4c_array *array = NULL;
  nd4c_value x = ND4C_VALUE_NONE, w = ND4C_VALUE_NONE;
  for (int32_t i = 0; i < SIDE * SIDE; i++) {
    weights[i] = (int8_t)(i % 17 - 8);
  }
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_INT8, 2, shape, &x));
  CHECK_OK(nd4c_array_from_data(ND4C_INT8, 2, shape, weights, cpu, &array));
  CHECK_OK(nd4c_graph_constant(graph, array, &w));
  nd4c_array_release(array);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_matmul_integer, x, w)));
  return graph;
}

static void packed_weights_are_counted(void **state) {
  (void)state;
  nd4c_graph *graph = make_product();
  nd4c_plan *plan = NULL, *second = NULL;
  CHECK_OK(nd4c_plan_create(graph, context, NULL, &plan)); /* an engine may count a cache from its first use on */
  nd4c_plan_destroy(plan);
  const int64_t before = held();
  CHECK_OK(nd4c_plan_create(graph, context, NULL, &plan));
  if (strcmp(nd4c_choice_engine(plan->steps[0].choice), "reference") == 0) {
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
    skip(); /* packs nothing */
  }
  assert_in_range(held() - before, SIDE * SIDE, 4 * SIDE * SIDE);
  CHECK_OK(nd4c_plan_create(graph, context, NULL, &second));
  assert_in_range(held() - before, 2 * SIDE * SIDE, 8 * SIDE * SIDE);
  nd4c_plan_destroy(second);
  nd4c_plan_destroy(plan);
  assert_int_equal(held(), before);
  nd4c_graph_destroy(graph);
}

int main(void) {
  if (nd4c_device_find("cpu:0", &cpu) != ND4C_OK) {
    return 1;
  }
  const nd4c_context_options options = {.struct_size = sizeof options, .device = cpu};
  if (nd4c_context_create(&options, &context) != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(packed_weights_are_counted)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return failed + (nd4c_context_destroy(context) != ND4C_OK);
}
