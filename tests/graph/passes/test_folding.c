/* What the pass fold_constants may take: repeated elements count once, results of a plan are bounded in all, and a node
 * for which there is no memory stays. */
#include "graph/graph_check.h"

enum { MANY = 1 << 23, FEW = 1 << 10 };

static nd4c_device *host(void) {
  nd4c_device *device = NULL;
  CHECK_OK(nd4c_device_find("cpu:0", &device));
  return device;
}

static nd4c_memory_info memory(void) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_memory_get_info(host(), &info));
  return info;
}

/* One number, repeated; a model's Expand or ConstantOfShape gives such a constant. */
static nd4c_value repeated(nd4c_graph *graph, int64_t count) {
  nd4c_array *one = NULL, *many = NULL;
  nd4c_value value = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_array_scalar(ND4C_FLOAT32, 0.5, NULL, &one));
  CHECK_OK(nd4c_broadcast_to(one, &count, 1, &many));
  CHECK_OK(nd4c_graph_add_constant(graph, many, &value));
  nd4c_array_release(one);
  nd4c_array_release(many);
  return value;
}

/* Nodes that are left of an op, whose inputs are `w`, after the passes, which must not take much memory meanwhile if
 * they leave it. */
static int32_t left_of(nd4c_graph *graph, nd4c_op op, nd4c_value w, int32_t inputs) {
  nd4c_graph *optimized = NULL;
  const nd4c_plan_options options = {.struct_size = sizeof options, .passes = "fold_constants"};
  CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, op, (nd4c_value[]){w, w}, inputs, NULL, 0)));
  CHECK_OK(nd4c_memory_reset_peak(host()));
  const int64_t before = memory().live_bytes;
  CHECK_OK(nd4c_graph_optimize(graph, NULL, &options, &optimized));
  const int32_t nodes = nd4c_graph_node_count(optimized);
  assert_true(nodes == 0 || memory().peak_bytes - before < (1 << 20));
  nd4c_graph_destroy(optimized);
  nd4c_graph_destroy(graph);
  return nodes;
}

static void repeated_elements_count_once(void **state) {
  (void)state;
  const struct {
    nd4c_op op;
    int32_t inputs;
  } rows[] = {{ND4C_OP_exp, 1}, {ND4C_OP_sum, 1}, {ND4C_OP_add, 2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (int32_t many = 0; many < 2; many++) {
      nd4c_graph *graph = NULL;
      CHECK_OK(nd4c_graph_create(&graph));
      const nd4c_value w = repeated(graph, many ? MANY : FEW);
      const int32_t left = left_of(graph, rows[i].op, w, rows[i].inputs);
      if ((left > 0) != (many > 0)) {
        fail_msg("row %d, many %d: %d nodes are left", (int)i, (int)many, (int)left);
      }
    }
  }
}

/* Elements of its own have been read and stored: as many more are no surprise. */
static void large_weights_are_folded(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  const int64_t shape[] = {(1 << 22) + 8};
  nd4c_array *weights = NULL;
  nd4c_value w = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_array_zeros(ND4C_INT8, 1, shape, NULL, &weights));
  CHECK_OK(nd4c_graph_add_constant(graph, weights, &w));
  assert_int_equal(left_of(graph, ND4C_OP_negative, w, 1), 0);
  nd4c_array_release(weights);
}

/* -- a plan's bound ------------------------------------------------------------------------------------------------ */

enum { COUNT = 8, LENGTH = 1000 };

/* exp, sin ... of a constant, as a plan whose passes have not run. */
static nd4c_plan *make_plan(void) {
  static const nd4c_op ops[COUNT] = {ND4C_OP_exp, ND4C_OP_sin,  ND4C_OP_cos,    ND4C_OP_tanh,
                                     ND4C_OP_erf, ND4C_OP_sqrt, ND4C_OP_square, ND4C_OP_abs};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value w = check_constant(graph, 1, (int64_t[]){LENGTH}, 1, 1, 2);
  for (int32_t i = 0; i < COUNT; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "y%d", (int)i);
    CHECK_OK(nd4c_graph_output(graph, name, check_unary(graph, ops[i], w)));
  }
  CHECK_OK(nd4c_plan_begin("test", graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_graph_clone(graph, &plan->graph));
  nd4c_graph_destroy(graph);
  return plan;
}

static const nd4c_pass *folding(void) {
  int32_t i = 0;
  while (strcmp(nd4c_passes_at(i)->name, "fold_constants") != 0) {
    i++;
  }
  return nd4c_passes_at(i);
}

static void all_results_are_bounded(void **state) {
  (void)state;
  const nd4c_pass *const rows[] = {folding()};
  const int64_t bytes = LENGTH * (int64_t)sizeof(float);
  const struct {
    struct nd4c_folding folding;
    int32_t left;
    int64_t after;
  } cases[] = {
      {{true, 3 * bytes + 1}, COUNT - 3, 1},
      {{true, bytes - 1}, COUNT, bytes - 1},
      {{false, 0}, 0, (1 << 28) + (32 - COUNT) * bytes}, /* what a plan begins with */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd4c_plan *plan = make_plan();
    plan->folding = cases[i].folding;
    CHECK_OK(nd4c_passes_drive(plan, rows, 1, NULL));
    assert_int_equal(plan->graph->node_count, cases[i].left);
    assert_int_equal(plan->folding.left, cases[i].after);
    nd4c_plan_destroy(plan);
  }
}

/* Once there is memory, they are folded. */
static void nodes_without_memory_stay(void **state) {
  (void)state;
  const nd4c_pass *const rows[] = {folding()};
  CHECK_OK(nd4c_memory_trim(host(), 0));
  for (int32_t round = 0; round < 2; round++) {
    nd4c_plan *plan = make_plan();
    nd4c_error_clear();
    CHECK_OK(nd4c_memory_set_cap(host(), round == 0 ? memory().live_bytes + 64 : 0));
    const nd4c_status status = nd4c_passes_drive(plan, rows, 1, NULL);
    CHECK_OK(nd4c_memory_set_cap(host(), 0));
    CHECK_OK(status);
    assert_int_equal(nd4c_error_code(), ND4C_OK);
    assert_int_equal(plan->graph->node_count, round == 0 ? COUNT : 0);
    nd4c_plan_destroy(plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(repeated_elements_count_once),
      cmocka_unit_test(large_weights_are_folded),
      cmocka_unit_test(all_results_are_bounded),
      cmocka_unit_test(nodes_without_memory_stay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
