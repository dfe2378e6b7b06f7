/* Concats that a plan computes in place: which ones need no step, and that results and memory are right. And the order
 * of memory between transposed convs and others. */
#include "graph_check.h"

enum { CHANNELS = 16, SIDE = 12 };

/* A conv of windows of `cells` x `cells` that keeps height and width. */
static nd4c_value make_conv(nd4c_graph *graph, nd4c_value x, int64_t channels, int64_t outputs, int64_t cells) {
  const int64_t pads[] = {cells / 2, cells / 2, cells / 2, cells / 2};
  const nd4c_attr attrs[] = {check_ints("pads", pads, 4)};
  const nd4c_value w = check_constant(graph, 4, (int64_t[]){outputs, channels, cells, cells}, 5, -1, 1);
  return check_op(graph, ND4C_OP_conv, (nd4c_value[]){x, w}, 2, attrs, 1);
}

static nd4c_value make_concat(nd4c_graph *graph, nd4c_value a, nd4c_value b) {
  const nd4c_attr attrs[] = {check_int("axis", 1)};
  return check_op(graph, ND4C_OP_concat, (nd4c_value[]){a, b}, 2, attrs, 1);
}

static nd4c_graph *start(nd4c_value *x) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value input = check_input(graph, "x", 4, (int64_t[]){2, 3, SIDE, SIDE});
  *x = make_conv(graph, input, 3, CHANNELS, 3);
  return graph;
}

/* Checks results, and that the plan has so many concats in place and steps of the op concat or none. Without oneDNN no
 * kernel asks for an order, so all concats stay steps. */
static void check_joins(nd4c_graph *graph, nd4c_value y, int32_t expected, bool has_step) {
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  nd4c_plan *plan = check_graph(graph, 11, 1e-5);
  int32_t joined = 0;
  bool ordered = false;
  for (int32_t i = 0; i < plan->slot_count; i++) {
    joined += plan->slots[i].joined;
    ordered = ordered || (i < plan->graph->value_count && plan->graph->values[i].order != NULL);
  }
  if (ordered) {
    assert_int_equal(joined, expected);
    assert_int_equal(check_has_step(plan, ND4C_OP_concat), has_step);
    char *report = NULL, line[80];
    CHECK_OK(nd4c_plan_report(plan, &report));
    (void)snprintf(line, sizeof line, "concats computed in place, part by part: %d\n", (int)expected);
    assert_true((strstr(report, line) != NULL) == (expected > 0));
    nd4c_free(report);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* As in DenseNet: each block's result is a part of the next one's, and other ops read the parts. */
static void parts_of_parts(void **state) {
  (void)state;
  nd4c_value x = ND4C_VALUE_NONE;
  nd4c_graph *graph = start(&x);
  nd4c_value all = check_unary(graph, ND4C_OP_relu, x);
  for (int64_t channels = CHANNELS; channels < CHANNELS + 3 * 32; channels += 32) {
    all = make_concat(graph, all, make_conv(graph, check_unary(graph, ND4C_OP_tanh, all), channels, 32, 3));
  }
  check_joins(graph, make_conv(graph, all, CHANNELS + 3 * 32, 8, 1), 3, false);
}

/* As in SqueezeNet: convs of single cells, and others, with an activation each. */
static void parts_of_single_cells(void **state) {
  (void)state;
  for (int64_t kernel = 1; kernel <= 3; kernel += 2) {
    nd4c_value x = ND4C_VALUE_NONE;
    nd4c_graph *graph = start(&x);
    nd4c_value thin = check_unary(graph, ND4C_OP_relu, make_conv(graph, x, CHANNELS, 40, 1));
    nd4c_value other = check_unary(graph, ND4C_OP_sigmoid, make_conv(graph, x, CHANNELS, 24, kernel));
    check_joins(graph, make_conv(graph, make_concat(graph, thin, other), 64, 8, 1), 1, false);
  }
}

/* As in detectors: the smaller image is resized beside the larger one. */
static void parts_that_are_resized(void **state) {
  (void)state;
  for (int32_t mode = 0; mode < 2; mode++) {
    nd4c_value x = ND4C_VALUE_NONE;
    nd4c_graph *graph = start(&x);
    const int64_t steps[] = {2, 2}, sizes[] = {2, 24, SIDE, SIDE};
    const nd4c_attr kernel[] = {check_ints("kernel", steps, 2), check_ints("strides", steps, 2)};
    nd4c_value small = check_op(graph, ND4C_OP_max_pool, &x, 1, kernel, 2);
    small = make_conv(graph, small, CHANNELS, 24, 3);
    const nd4c_attr how[] = {check_int("mode", mode), check_ints("sizes", sizes, 4)};
    const nd4c_value resized = check_op(graph, ND4C_OP_resize, &small, 1, how, 2);
    const nd4c_value joined = make_concat(graph, resized, make_conv(graph, x, CHANNELS, 40, 1));
    check_joins(graph, make_conv(graph, joined, 64, 8, 1), 1, false);
  }
}

/* What reads a part, but for concats, wants it without gaps. */
static void concats_that_stay_steps(void **state) {
  (void)state;
  nd4c_value x = ND4C_VALUE_NONE;
  nd4c_graph *graph = start(&x);
  nd4c_value part = make_conv(graph, x, CHANNELS, 32, 3), other = make_conv(graph, x, CHANNELS, 32, 3);
  nd4c_value joined = make_conv(graph, make_concat(graph, part, other), 64, 8, 1);
  check_joins(graph, check_binary(graph, ND4C_OP_add, joined, make_conv(graph, part, 32, 8, 3)), 0, true);
}

/* A part that is an output has no gaps either, whichever of the outputs it is. The other one, which comes first, has
 * the order that concats in place need. */
static void parts_that_are_outputs(void **state) {
  (void)state;
  for (int32_t last = 0; last < 2; last++) {
    nd4c_value x = ND4C_VALUE_NONE;
    nd4c_graph *graph = start(&x);
    nd4c_value part = make_conv(graph, x, CHANNELS, 32, 3), other = make_conv(graph, x, CHANNELS, 32, 3);
    nd4c_value joined = make_conv(graph, make_concat(graph, other, part), 64, 8, 1);
    CHECK_OK(nd4c_graph_output(graph, "first", last ? joined : part));
    check_joins(graph, last ? part : joined, 0, true);
  }
}

/* A part that two concats read, or one concat reads twice, is at one place only. */
static void parts_of_two_concats(void **state) {
  (void)state;
  nd4c_value x = ND4C_VALUE_NONE;
  nd4c_graph *graph = start(&x);
  nd4c_value a = make_conv(graph, x, CHANNELS, 32, 3), b = make_conv(graph, x, CHANNELS, 32, 3);
  nd4c_value both = make_conv(graph, make_concat(graph, a, b), 64, 8, 1);
  check_joins(graph, check_binary(graph, ND4C_OP_add, both, make_conv(graph, make_concat(graph, a, a), 64, 8, 1)), 0,
              true);
}

static bool has_order(const nd4c_plan *plan, nd4c_op op) {
  for (int32_t i = 0; i < plan->graph->node_count; i++) {
    const nd4c_graph_node *node = &plan->graph->nodes[i];
    if (node->def->info.op == op) {
      return plan->graph->values[node->outputs[0]].order != NULL;
    }
  }
  return false;
}

/* A step up of a U-shaped network: oneDNN reorders no operand between the two convs. Without it a conv of another
 * engine may have an order that no transposed conv has. */
static void transposed_convs_have_the_order_of_convs(void **state) {
  (void)state;
  nd4c_value x = ND4C_VALUE_NONE;
  nd4c_graph *graph = start(&x);
  const int64_t steps[] = {2, 2}, filter[] = {CHANNELS, 24, 2, 2};
  const nd4c_attr strides = check_ints("strides", steps, 2);
  const nd4c_value w = check_constant(graph, 4, filter, 6, -1, 1);
  const nd4c_value up = check_op(graph, ND4C_OP_conv_transpose, (nd4c_value[]){x, w}, 2, &strides, 1);
  CHECK_OK(nd4c_graph_output(graph, "y", make_conv(graph, up, 24, 8, 3)));
  nd4c_plan *plan = check_graph(graph, 11, 1e-4);
  if (check_has_engine("onednn")) {
    assert_int_equal(has_order(plan, ND4C_OP_conv_transpose), has_order(plan, ND4C_OP_conv));
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* The last conv writes the caller's array, so it gives C order itself, whatever its kernel likes: no step copies. */
static void outputs_keep_c_order(void **state) {
  (void)state;
  nd4c_value x = ND4C_VALUE_NONE;
  nd4c_graph *graph = start(&x);
  const nd4c_value y = make_conv(graph, x, CHANNELS, 8, 3);
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  nd4c_plan *plan = check_graph(graph, 12, 1e-4);
  assert_null(plan->graph->values[plan->graph->outputs.items[0].value].order);
  assert_false(check_has_step(plan, ND4C_OP_copy));
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_of_parts),
                                     cmocka_unit_test(parts_of_single_cells),
                                     cmocka_unit_test(parts_that_are_resized),
                                     cmocka_unit_test(concats_that_stay_steps),
                                     cmocka_unit_test(parts_that_are_outputs),
                                     cmocka_unit_test(parts_of_two_concats),
                                     cmocka_unit_test(transposed_convs_have_the_order_of_convs),
                                     cmocka_unit_test(outputs_keep_c_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
