/* Estimates of cost: operations and bytes of ops by their formulas, and of the graph before and after passes. */
#include "graph/graph_check.h"

#include "graph/ir/cost.h"

typedef struct row {
  nd4c_op op;
  int32_t count; /* of inputs, all float32 */
  struct {
    int32_t rank;
    int64_t shape[4];
  } inputs[7];
  double operations, bytes;
} row;

#define F 4.0 /* bytes of an element */

static const row rows[] = {
    {ND4C_OP_add, 2, {{2, {3, 4}}, {1, {4}}}, 12, F * (12 + 4 + 12)},
    {ND4C_OP_exp, 1, {{2, {3, 4}}}, 8 * 12, F * 24},
    {ND4C_OP_matmul, 2, {{3, {2, 3, 4}}, {2, {4, 5}}}, 2 * 30 * 4, F * (24 + 20 + 30)},
    {ND4C_OP_linear, 3, {{2, {3, 4}}, {2, {4, 5}}, {1, {5}}}, 2 * 15 * 4, F * (12 + 20 + 5 + 15)},
    {ND4C_OP_conv, 2, {{4, {1, 3, 8, 8}}, {4, {5, 3, 3, 3}}}, 2.0 * 5 * 36 * 27, F * (192 + 135 + 180)},
    {ND4C_OP_conv_transpose, 2, {{4, {1, 3, 4, 4}}, {4, {3, 5, 3, 3}}}, 2.0 * 48 * 45, F * (48 + 135 + 180)},
    {ND4C_OP_attention,
     3,
     {{4, {1, 2, 5, 8}}, {4, {1, 2, 6, 8}}, {4, {1, 2, 6, 8}}},
     4.0 * 80 * 6,
     F * (80 + 192 + 80)},
    {ND4C_OP_transpose, 1, {{2, {3, 4}}}, 0, 0},
    {ND4C_OP_softmax, 1, {{2, {3, 4}}}, 8 * 12, F * 24},
    {ND4C_OP_sum, 1, {{2, {3, 4}}}, 12, F * 13},
    {ND4C_OP_cholesky, 1, {{2, {4, 4}}}, 64, F * 32},
};

static void ops_cost_by_their_formulas(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    nd4c_graph *graph = NULL;
    nd4c_value inputs[7];
    CHECK_OK(nd4c_graph_create(&graph));
    for (int32_t k = 0; k < rows[i].count; k++) {
      char name[] = {(char)('a' + k), '\0'};
      inputs[k] = check_input(graph, name, rows[i].inputs[k].rank, rows[i].inputs[k].shape);
    }
    (void)check_op(graph, rows[i].op, inputs, rows[i].count, NULL, 0);
    const nd4c_cost cost = nd4c_node_cost(graph, &graph->nodes[0]);
    if (cost.operations != rows[i].operations || cost.bytes != rows[i].bytes) {
      fail_msg("%s: %g operations and %g bytes, expected %g and %g", graph->nodes[0].def->info.name, cost.operations,
               cost.bytes, rows[i].operations, rows[i].bytes);
    }
    nd4c_graph_destroy(graph);
  }
}

/* A lookup in a table reads the rows that it gives, not the table. */
static void lookups_read_what_they_give(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_value table, indices;
  CHECK_OK(nd4c_graph_create(&graph));
  table = check_input(graph, "table", 2, (int64_t[]){1000, 8});
  CHECK_OK(nd4c_graph_input(graph, "indices", ND4C_INT64, 1, (int64_t[]){3}, &indices));
  (void)check_binary(graph, ND4C_OP_gather, table, indices);
  const nd4c_cost cost = nd4c_node_cost(graph, &graph->nodes[0]);
  assert_true(cost.operations == 0);
  assert_true(cost.bytes == F * 24 + 8 * 3 + F * 24);
  nd4c_graph_destroy(graph);
}

static void weights_compare_ways(void **state) {
  (void)state;
  const nd4c_cost light = {.operations = 1e6, .bytes = 1e3}, wide = {.operations = 1e3, .bytes = 1e6};
  assert_true(nd4c_cost_weight(light, 1) < nd4c_cost_weight((nd4c_cost){.operations = 2e6, .bytes = 1e3}, 1));
  assert_true(nd4c_cost_weight(wide, 1) < nd4c_cost_weight((nd4c_cost){.operations = 1e3, .bytes = 2e6}, 1));
  assert_true(nd4c_cost_weight(light, 1) < nd4c_cost_weight(light, 2)); /* fewer calls are cheaper */
  char text[96];
  assert_string_equal(nd4c_cost_text((nd4c_cost){.operations = 4123456789.0, .bytes = 999.4}, text, sizeof text),
                      "4.12 Goperations, 999 B moved");
}

/* relu after conv costs its reads and writes; fused it costs none. */
static void passes_lower_the_estimate(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 4, (int64_t[]){1, 3, 8, 8});
  nd4c_value w = check_constant(graph, 4, (int64_t[]){5, 3, 3, 3}, 1, -1, 1);
  nd4c_value y = check_unary(graph, ND4C_OP_relu, check_binary(graph, ND4C_OP_conv, x, w));
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  assert_true(plan->cost_recorded.operations - plan->cost.operations == 180);
  assert_true(plan->cost_recorded.bytes - plan->cost.bytes == F * 360);
  char *report = NULL;
  CHECK_OK(nd4c_plan_report(plan, &report));
  assert_non_null(strstr(report,
                         "estimate: 9.9 koperations, 3.47 kB moved before the passes; 9.72 koperations, "
                         "2.03 kB moved after them\n"));
  nd4c_free(report);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ops_cost_by_their_formulas),
      cmocka_unit_test(lookups_read_what_they_give),
      cmocka_unit_test(weights_compare_ways),
      cmocka_unit_test(passes_lower_the_estimate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
