/* What programs see of graphs and passes: nodes, the list of passes, optimised graphs, and explanations of what passes
 * change. */
#include "graph_check.h"

/* y = relu(conv(x, w)), unread = exp(x), and a copy in between. */
static nd4c_graph *make_graph(void) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 4, (int64_t[]){1, 3, 8, 8}), y = ND4C_VALUE_NONE;
  nd4c_value w = check_constant(graph, 4, (int64_t[]){5, 3, 3, 3}, 1, -1, 1);
  const nd4c_value inputs[] = {x, w};
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_conv, inputs, 2, NULL, 0, "first", &y, 1));
  y = check_unary(graph, ND4C_OP_copy, y);
  (void)check_unary(graph, ND4C_OP_exp, x);
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_relu, &y, 1, NULL, 0, "last", &y, 1));
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  return graph;
}

static void nodes_are_shown(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph();
  nd4c_node_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_graph_node_count(graph), 4);
  assert_int_equal(nd4c_graph_value_count(graph), 6);
  CHECK_OK(nd4c_graph_get_node(graph, 0, &info));
  assert_string_equal(info.op->name, "conv");
  assert_string_equal(info.label, "first");
  assert_null(info.fused);
  assert_int_equal(info.input_count, 2);
  assert_int_equal(info.inputs[0], nd4c_graph_input_value(graph, 0));
  assert_non_null(nd4c_graph_value_constant(graph, info.inputs[1]));
  assert_int_equal(info.output_count, 1);
  assert_int_equal(info.attrs[ND4C_ATTR_conv_groups].as.i, 1);
  assert_true(info.operations == 2.0 * 180 * 27 && info.bytes == 4.0 * (192 + 135 + 180));
  const nd4c_value between = info.outputs[0];
  CHECK_OK(nd4c_graph_get_node(graph, 1, &info));
  assert_int_equal(info.inputs[0], between);
  assert_string_equal(info.label, "");
  nd4c_graph_destroy(graph);
}

static void wrong_questions_are_refused(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph();
  nd4c_node_info node = {.struct_size = sizeof node};
  nd4c_pass_info pass = {.struct_size = sizeof pass};
  char *text = NULL;
  assert_int_equal(nd4c_graph_get_node(graph, 4, &node), ND4C_INDEX);
  assert_int_equal(nd4c_graph_get_node(graph, -1, &node), ND4C_INDEX);
  assert_string_equal(nd4c_error_message(), "nd4c_graph_get_node: the graph has 4 nodes, not one number -1");
  assert_int_equal(nd4c_graph_get_node(graph, 0, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_graph_get_node(NULL, 0, &node), ND4C_NULL_ARGUMENT);
  node.struct_size = offsetof(nd4c_node_info, bytes);
  assert_int_equal(nd4c_graph_get_node(graph, 0, &node), ND4C_ARGUMENT);
  assert_int_equal(nd4c_graph_node_count(NULL), 0);
  assert_int_equal(nd4c_graph_value_count(NULL), 0);
  nd4c_graph *none = NULL;
  assert_int_equal(nd4c_graph_optimize(graph, NULL, NULL, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_graph_optimize(NULL, NULL, NULL, &none), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_pass_get_info(nd4c_pass_count(), &pass), ND4C_INDEX);
  assert_int_equal(nd4c_pass_get_info(-1, &pass), ND4C_INDEX);
  assert_int_equal(nd4c_pass_get_info(0, NULL), ND4C_NULL_ARGUMENT);
  pass.struct_size = 8;
  assert_int_equal(nd4c_pass_get_info(0, &pass), ND4C_ARGUMENT);
  const nd4c_plan_options wrong = {.struct_size = sizeof wrong, .passes = "none"}, small = {.struct_size = 4};
  assert_int_equal(nd4c_graph_optimize(graph, NULL, &wrong, &none), ND4C_NAME);
  assert_null(none);
  assert_int_equal(nd4c_graph_explain(graph, NULL, &wrong, -1, &text), ND4C_NAME);
  assert_int_equal(nd4c_graph_explain(graph, NULL, &small, -1, &text), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "nd4c_graph_explain: options.struct_size is 4"));
  assert_int_equal(nd4c_graph_explain(graph, NULL, NULL, -1, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_graph_explain(NULL, NULL, NULL, -1, &text), ND4C_NULL_ARGUMENT);
  assert_null(text);
  nd4c_graph_destroy(graph);
}

static void passes_are_listed_in_their_order(void **state) {
  (void)state;
  static const char *const phases[] = {"simplify", "recognize", "fuse", "layout"};
  size_t phase = 0;
  for (int32_t i = 0; i < nd4c_pass_count(); i++) {
    nd4c_pass_info info = {.struct_size = sizeof info};
    CHECK_OK(nd4c_pass_get_info(i, &info));
    while (strcmp(info.phase, phases[phase]) != 0) {
      phase++;
      assert_true(phase < sizeof phases / sizeof phases[0]);
    }
    assert_true(strcmp(info.where, "any") == 0 || strcmp(info.where, "device") == 0 ||
                strcmp(info.where, "numbers") == 0);
    assert_true(info.name[0] != '\0' && info.doc[0] != '\0');
  }
}

/* It has the nodes that a plan runs, and is the graph of a plan with the same results. The reshape stays one, although
 * a plan of it may copy. */
static void an_optimised_graph_is_shown(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(), *optimised = NULL;
  const int64_t flat[] = {5, 36};
  const nd4c_attr shape = check_ints("shape", flat, 2);
  const nd4c_value y = nd4c_graph_output_value(graph, 0);
  nd4c_node_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_graph_output(graph, "flat", check_op(graph, ND4C_OP_reshape, &y, 1, &shape, 1)));
  CHECK_OK(nd4c_graph_optimize(graph, NULL, NULL, &optimised));
  assert_int_equal(nd4c_graph_node_count(graph), 5);
  nd4c_graph_destroy(graph);
  assert_int_equal(nd4c_graph_node_count(optimised), 2);
  CHECK_OK(nd4c_graph_get_node(optimised, 0, &info));
  assert_string_equal(info.op->name, "conv");
  assert_string_equal(info.fused, "conv + relu");
  assert_string_equal(info.label, "last");
  CHECK_OK(nd4c_graph_get_node(optimised, 1, &info));
  assert_string_equal(info.op->name, "reshape");
  nd4c_plan_destroy(check_graph(optimised, 3, 1e-5));
  const nd4c_plan_options plain = {.struct_size = sizeof plain, .no_optimization = true};
  CHECK_OK(nd4c_graph_optimize(optimised, NULL, &plain, &graph));
  assert_int_equal(nd4c_graph_node_count(graph), 2);
  nd4c_graph_destroy(graph);
  nd4c_graph_destroy(optimised);
}

static void assert_has(const char *text, const char *words, bool there) {
  if ((strstr(text, words) != NULL) != there) {
    fail_msg("%s \"%s\" in:\n%s", there ? "no" : "found", words, text);
  }
}

static void runs_of_passes_are_explained(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph();
  char *text = NULL;
  CHECK_OK(nd4c_graph_explain(graph, NULL, NULL, -1, &text));
  assert_has(text, "4 nodes recorded\nsimplify, round 1\n  dead: 4 -> 3 nodes, 1 changes", true);
  assert_has(text, "    - exp\n", true);
  assert_has(text, "    - copy\n    ~ relu 'last': reads other values\n", true);
  assert_has(text, "fuse, round 1\n  fuse_activation: 2 -> 1 nodes, 1 changes", true);
  assert_has(text, "    - conv 'first'\n    ~ relu 'last': becomes conv (conv + relu)\n", true);
  assert_has(text, "1 nodes after passes\npasses:\n", true);
  assert_has(text, "estimate: ", true);
  nd4c_free(text);
  CHECK_OK(nd4c_graph_explain(graph, NULL, NULL, 1, &text));
  assert_has(text, "    - conv 'first'\n    and 1 more\n", true);
  nd4c_free(text);
  const nd4c_plan_options options = {.struct_size = sizeof options, .passes = "-identity"};
  CHECK_OK(nd4c_graph_explain(graph, NULL, &options, -1, &text));
  assert_has(text, "identity:", false);
  assert_has(text, "passes switched off: identity (options.passes)\n", true);
  nd4c_free(text);
  const nd4c_plan_options plain = {.struct_size = sizeof plain, .no_optimization = true};
  CHECK_OK(nd4c_graph_explain(graph, NULL, &plain, -1, &text));
  assert_string_equal(text, "4 nodes recorded\npasses: none (no_optimization)\n");
  nd4c_free(text);
  assert_int_equal(nd4c_graph_node_count(graph), 4);
  nd4c_graph_destroy(graph);
}

/* Constants, added nodes and memory orders. */
static void other_changes_are_explained(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  char *text = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 4, (int64_t[]){1, 32, 14, 14});
  nd4c_value w = check_constant(graph, 4, (int64_t[]){32, 32, 3, 3}, 1, -1, 1);
  nd4c_value y = check_binary(graph, ND4C_OP_conv, x, check_unary(graph, ND4C_OP_negative, w));
  y = check_binary(graph, ND4C_OP_conv, y, w);
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  CHECK_OK(nd4c_graph_explain(graph, NULL, NULL, -1, &text));
  assert_has(text, "    - negative: computed, a constant now\n", true);
  const bool ordered = strstr(text, "  layout: ") != NULL; /* if the machine's kernels like another order */
  assert_has(text, "    ~ conv: its result has the memory order of axes 0 2 3 1\n", ordered);
  nd4c_free(text);
  nd4c_graph_destroy(graph);
}

static nd4c_status explain_and_optimize(const nd4c_graph *graph) {
  nd4c_graph *optimised = NULL;
  char *text = NULL;
  ND4C_TRY(nd4c_graph_explain(graph, NULL, NULL, -1, &text));
  nd4c_free(text);
  ND4C_TRY(nd4c_graph_optimize(graph, NULL, NULL, &optimised));
  nd4c_graph_destroy(optimised);
  return ND4C_OK;
}

/* Some allocations may fail without harm, such as those of caches. */
static void any_failing_allocation_is_survived(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph();
  CHECK_OK(explain_and_optimize(graph));
  const int64_t before = nd4c_allocation_count();
  CHECK_OK(explain_and_optimize(graph));
  const int64_t count = nd4c_allocation_count() - before;
  int32_t failures = 0;
  for (int64_t skip = 0; skip < count; skip++) {
    nd4c_error_clear();
    nd4c_allocation_fail_at(skip);
    const nd4c_status status = explain_and_optimize(graph);
    nd4c_allocation_fail_at(-1);
    assert_true(status == ND4C_OK || status == ND4C_MEMORY);
    failures += status != ND4C_OK;
  }
  assert_true(failures > 10);
  CHECK_OK(explain_and_optimize(graph));
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_are_shown),
      cmocka_unit_test(wrong_questions_are_refused),
      cmocka_unit_test(passes_are_listed_in_their_order),
      cmocka_unit_test(an_optimised_graph_is_shown),
      cmocka_unit_test(runs_of_passes_are_explained),
      cmocka_unit_test(other_changes_are_explained),
      cmocka_unit_test(any_failing_allocation_is_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
