/* Estimates of cost: operations and bytes of ops by their formulas, and of the graph before and after passes. */
#include "graph/graph_check.h"

#include "graph/ir/cost.h"
#include "nd4c/control.h"

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

/* How much the passes raised the estimate, all together. */
static double raised(const nd4c_plan *plan) {
  double sum = 0;
  for (int32_t i = 0; i < plan->pass_count; i++) {
    sum += plan->passes[i].raised;
  }
  return sum;
}

/* The sum of a norm and itself does not become a norm with the norm as its bias: both would be computed. Axis 0, so
 * that the norm has the shape of a parameter. */
static void norms_are_no_parameters_of_themselves(void **state) {
  (void)state;
  static const nd4c_op norms[] = {ND4C_OP_layer_norm, ND4C_OP_rms_norm}, readers[] = {ND4C_OP_add, ND4C_OP_multiply};
  for (int32_t i = 0; i < 2; i++) {
    nd4c_graph *graph = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    const nd4c_attr axis = check_int("axis", 0);
    const nd4c_value x = check_input(graph, "x", 2, (int64_t[]){8, 2});
    const nd4c_value norm = check_op(graph, norms[i], &x, 1, &axis, 1);
    CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, readers[i], norm, norm)));
    nd4c_plan *plan = check_graph(graph, 1, 1e-6);
    assert_int_equal(check_changes(plan, nd4c_op_get(norms[i])->name), 0);
    assert_true(raised(plan) == 0);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

/* A guard says that 10 n m is 30, so the sum reads no more than 30 elements of it, with the broadcast and without. */
static void operands_have_no_more_elements_than_results(void **state) {
  (void)state;
  int64_t n = 0, m = 0;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &n));
  CHECK_OK(nd4c_graph_dim(graph, "m", 1, -1, &m));
  const nd4c_value x = check_input(graph, "x", 4, (int64_t[]){m, 5, n, 2});
  const nd4c_attr flat = check_ints("shape", (int64_t[]){-1}, 1), to = check_ints("shape", (int64_t[]){30}, 1);
  const nd4c_value flattened = check_op(graph, ND4C_OP_reshape, &x, 1, &flat, 1);
  const nd4c_value wide = check_op(graph, ND4C_OP_broadcast_to, &flattened, 1, &to, 1);
  const nd4c_value more = check_input(graph, "more", 1, (int64_t[]){30});
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_add, more, wide)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  assert_int_equal(check_changes(plan, "shapes"), 1);
  assert_true(raised(plan) == 0);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* exp(x) + c, where c has 3 rows and x has n: a guard says that n is 1 or 3. */
static nd4c_graph *make_body(void) {
  int64_t n = 0;
  nd4c_graph *body = NULL;
  CHECK_OK(nd4c_graph_create(&body));
  CHECK_OK(nd4c_graph_dim(body, "n", 1, -1, &n));
  const nd4c_value x = check_unary(body, ND4C_OP_exp, check_input(body, "x", 2, (int64_t[]){n, 4}));
  CHECK_OK(nd4c_graph_output(body, "y",
                             check_binary(body, ND4C_OP_add, x, check_constant(body, 2, (int64_t[]){3, 4}, 1, -1, 1))));
  return body;
}

/* The body says that n is 1 or 3, the graph around it that n is 1 or 9: it is 1 in the graph's estimate, so a body in
 * place of its node does not seem to compute more. */
static void guards_agree_on_a_size(void **state) {
  (void)state;
  int64_t n = 0;
  nd4c_graph *graph = NULL, *body = make_body();
  nd4c_function *function = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value y = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &n));
  const nd4c_value x = check_input(graph, "x", 2, (int64_t[]){n, 4});
  CHECK_OK(nd4c_function_create("f", body, &function));
  CHECK_OK(nd4c_graph_call(graph, function, &x, 1, NULL, &y, 1));
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  const nd4c_value nine = check_constant(graph, 2, (int64_t[]){9, 4}, 2, -1, 1);
  CHECK_OK(nd4c_graph_output(graph, "z", check_binary(graph, ND4C_OP_add, x, nine)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  assert_int_equal(check_changes(plan, "inline_calls"), 1);
  assert_true(raised(plan) == 0);
  assert_true(plan->cost.operations == 8 * 4 + 3 * 4 + 9 * 4); /* of one row, and of the results of 3 and 9 */
  nd4c_plan_destroy(plan);
  nd4c_function_release(function);
  nd4c_graph_destroy(body);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ops_cost_by_their_formulas),
      cmocka_unit_test(lookups_read_what_they_give),
      cmocka_unit_test(weights_compare_ways),
      cmocka_unit_test(passes_lower_the_estimate),
      cmocka_unit_test(norms_are_no_parameters_of_themselves),
      cmocka_unit_test(operands_have_no_more_elements_than_results),
      cmocka_unit_test(guards_agree_on_a_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
