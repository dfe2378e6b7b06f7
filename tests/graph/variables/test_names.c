/* Scopes, labels and metadata of graphs. */
#include "graph/names/scopes.h"
#include "variables_check.h"

static const char *label_of(const nd4c_graph *graph, int32_t index) {
  nd4c_node_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_graph_get_node(graph, index, &info));
  return info.label;
}

static nd4c_value exp_of(nd4c_graph *graph, nd4c_value x, const char *label) {
  nd4c_value y = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_exp, &x, 1, NULL, 0, label, &y, 1));
  return y;
}

static void scopes_name_nodes_and_variables(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 2, shape), one = full(graph, 1);
  (void)exp_of(graph, x, "same");
  (void)exp_of(graph, x, "same"); /* outside scopes, labels may repeat */
  assert_string_equal(nd4c_graph_scope(graph), "");
  CHECK_OK(nd4c_graph_push_scope(graph, "encoder"));
  CHECK_OK(nd4c_graph_push_scope(graph, "layer"));
  assert_string_equal(nd4c_graph_scope(graph), "encoder/layer");
  (void)exp_of(graph, x, NULL);
  (void)exp_of(graph, x, NULL);
  (void)exp_of(graph, x, "first");
  (void)make_variable(graph, "w", one, true);
  nd4c_value refused = ND4C_VALUE_NONE;
  expect_failure(nd4c_graph_variable(graph, "w", one, true, &refused), ND4C_NAME,
                 "graph: there is already a variable named 'encoder/layer/w'");
  CHECK_OK(nd4c_graph_pop_scope(graph));
  CHECK_OK(nd4c_graph_push_scope(graph, "layer")); /* a second one */
  (void)exp_of(graph, x, NULL);
  CHECK_OK(nd4c_graph_pop_scope(graph));
  (void)exp_of(graph, x, "layer"); /* the name of a scope is taken */
  CHECK_OK(nd4c_graph_pop_scope(graph));
  (void)exp_of(graph, x, "encoder/last");
  CHECK_OK(nd4c_graph_push_scope(graph, "encoder"));
  assert_string_equal(nd4c_graph_scope(graph), "encoder_1");
  CHECK_OK(nd4c_graph_pop_scope(graph));
  const char *const expected[] = {"same",
                                  "same",
                                  "encoder/layer/exp",
                                  "encoder/layer/exp_1",
                                  "encoder/layer/first",
                                  "encoder/layer_1/exp",
                                  "encoder/layer_2",
                                  "encoder/last"};
  for (int32_t i = 0; i < 8; i++) {
    assert_string_equal(label_of(graph, i), expected[i]);
  }
  assert_int_equal(nd4c_graph_find_variable(graph, "encoder/layer/w"), 0);
  assert_int_equal(nd4c_graph_find_node(graph, "encoder/layer_1/exp"), 5);
  assert_int_equal(nd4c_graph_find_node(graph, "encoder"), -1);
  nd4c_graph_destroy(graph);
}

static void errors_and_reports_show_names(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL;
  const int64_t seven = 7;
  nd4c_value out = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 2, shape), z = check_input(graph, "z", 1, &seven);
  CHECK_OK(nd4c_graph_push_scope(graph, "head"));
  const nd4c_value both[] = {x, z};
  for (int32_t i = 0; i < 3; i++) { /* a failure takes no name */
    assert_int_equal(nd4c_graph_op(graph, ND4C_OP_matmul, both, 2, NULL, 0, i == 0 ? "product" : NULL, &out, 1),
                     ND4C_SHAPE);
    const char *begin = i == 0 ? "node 'head/product': " : "node 'head/matmul': ";
    assert_memory_equal(nd4c_error_message(), begin, strlen(begin));
  }
  CHECK_OK(nd4c_graph_output(graph, "y", exp_of(graph, x, NULL)));
  CHECK_OK(nd4c_graph_pop_scope(graph));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  char *report = NULL;
  CHECK_OK(nd4c_plan_report(plan, &report));
  assert_non_null(strstr(report, "head/exp"));
  nd4c_free(report);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* A node that passes merge others into names all of them; line ends in a label end no line of a text. */
static void merged_nodes_name_their_parts(void **unused) {
  (void)unused;
  const int64_t given[] = {4, 8}, square[] = {8, 8}, list[] = {8};
  static const char *const labels[] = {"product", "bi\nas", "act"};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, given);
  const nd4c_value w = check_constant(graph, 2, square, 1, -1, 1), bias = check_constant(graph, 1, list, 2, -1, 1);
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_matmul, (nd4c_value[]){x, w}, 2, NULL, 0, labels[0], &x, 1));
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_add, (nd4c_value[]){x, bias}, 2, NULL, 0, labels[1], &x, 1));
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_relu, &x, 1, NULL, 0, labels[2], &x, 1));
  CHECK_OK(nd4c_graph_output(graph, "y", x));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  nd4c_node_info node = {.struct_size = sizeof node};
  char *report = NULL, *told = NULL;
  CHECK_OK(nd4c_plan_get_node(plan, nd4c_graph_node_count(plan->graph) - 1, &node));
  assert_non_null(node.parts);
  assert_string_equal(node.parts, "product + bi\nas + act");
  assert_string_equal(node.label, "act");
  CHECK_OK(nd4c_plan_report(plan, &report));
  assert_non_null(strstr(report, "linear product + bi\\nas + act: "));
  CHECK_OK(nd4c_graph_explain(graph, NULL, NULL, -1, &told));
  assert_non_null(strstr(told, "add 'bi\\nas'"));
  assert_null(strstr(told, "\nas'"));
  nd4c_free(report);
  nd4c_free(told);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void scopes_are_checked(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL;
  char name[ND4C_SCOPE_NAME + 2];
  CHECK_OK(nd4c_graph_create(&graph));
  expect_failure(nd4c_graph_pop_scope(graph), ND4C_ARGUMENT, "nd4c_graph_pop_scope: no scope is open");
  expect_failure(nd4c_graph_push_scope(graph, ""), ND4C_NAME,
                 "nd4c_graph_push_scope: '' is no name of a scope: it is empty");
  expect_failure(nd4c_graph_push_scope(graph, "a/b"), ND4C_NAME,
                 "nd4c_graph_push_scope: 'a/b' is no name of a scope: it has a '/'");
  memset(name, 'n', sizeof name);
  name[sizeof name - 1] = '\0';
  assert_int_equal(nd4c_graph_push_scope(graph, name), ND4C_OVERFLOW);
  for (int32_t i = 0; i < ND4C_SCOPE_DEPTH; i++) {
    CHECK_OK(nd4c_graph_push_scope(graph, "s"));
  }
  expect_failure(nd4c_graph_push_scope(graph, "s"), ND4C_OVERFLOW,
                 "nd4c_graph_push_scope: 64 scopes are open, and no more can be");
  const nd4c_value x = check_input(graph, "x", 2, shape);
  nd4c_value y = ND4C_VALUE_NONE;
  const int32_t values = nd4c_graph_value_count(graph);
  assert_int_equal(nd4c_graph_op(graph, ND4C_OP_exp, &x, 1, NULL, 0, name, &y, 1), ND4C_OVERFLOW);
  assert_int_equal(nd4c_graph_value_count(graph), values);
  assert_int_equal(nd4c_graph_node_count(graph), 0);
  (void)exp_of(graph, x, "fits");
  for (int32_t i = 0; i < ND4C_SCOPE_DEPTH; i++) {
    CHECK_OK(nd4c_graph_pop_scope(graph));
  }
  assert_string_equal(nd4c_graph_scope(graph), "");
  nd4c_graph_destroy(graph);
}

static void labels_may_be_set(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 2, shape);
  (void)exp_of(graph, x, "a");
  (void)exp_of(graph, x, NULL);
  CHECK_OK(nd4c_graph_set_label(graph, 1, "b"));
  assert_string_equal(label_of(graph, 1), "b");
  expect_failure(nd4c_graph_set_label(graph, 0, "b"), ND4C_NAME,
                 "nd4c_graph_set_label: node 1 (exp) has the label 'b'");
  expect_failure(nd4c_graph_set_label(graph, 2, "c"), ND4C_INDEX,
                 "nd4c_graph_set_label: the graph has 2 nodes, not one number 2");
  CHECK_OK(nd4c_graph_set_label(graph, 1, ""));
  CHECK_OK(nd4c_graph_set_label(graph, 0, "b"));
  assert_int_equal(nd4c_graph_find_node(graph, "b"), 0);
  nd4c_graph_destroy(graph);
}

static void expect_pair(const nd4c_graph *graph, int32_t node, int32_t index, const char *key, const char *value) {
  const char *found = NULL, *text = NULL;
  CHECK_OK(nd4c_graph_metadata_at(graph, node, index, &found, &text));
  assert_string_equal(found, key);
  assert_string_equal(text, value);
  assert_string_equal(nd4c_graph_metadata(graph, node, key), value);
}

static void metadata_is_kept(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL, *copy = NULL, *optimized = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 2, shape);
  const nd4c_value same = check_binary(graph, ND4C_OP_multiply, x, full(graph, 1)); /* a pass removes it */
  CHECK_OK(nd4c_graph_output(graph, "y", exp_of(graph, same, "e")));
  CHECK_OK(nd4c_graph_set_metadata(graph, ND4C_GRAPH_ITSELF, "author", "someone"));
  CHECK_OK(nd4c_graph_set_metadata(graph, ND4C_GRAPH_ITSELF, "version", "1"));
  CHECK_OK(nd4c_graph_set_metadata(graph, ND4C_GRAPH_ITSELF, "author", ""));
  CHECK_OK(nd4c_graph_set_metadata(graph, 1, "source", "line 7"));
  CHECK_OK(nd4c_graph_set_metadata(graph, 1, "gone", "soon"));
  CHECK_OK(nd4c_graph_set_metadata(graph, 1, "gone", NULL));
  CHECK_OK(nd4c_graph_set_metadata(graph, 1, "never there", NULL));
  CHECK_OK(nd4c_graph_bind(graph, NULL, NULL, 0, &copy));
  CHECK_OK(nd4c_graph_optimize(graph, NULL, NULL, &optimized));
  assert_int_equal(nd4c_graph_node_count(optimized), 1);
  const nd4c_graph *const graphs[] = {graph, copy, optimized};
  for (int32_t i = 0; i < 3; i++) {
    assert_int_equal(nd4c_graph_metadata_count(graphs[i], ND4C_GRAPH_ITSELF), 2);
    expect_pair(graphs[i], ND4C_GRAPH_ITSELF, 0, "author", "");
    expect_pair(graphs[i], ND4C_GRAPH_ITSELF, 1, "version", "1");
    const int32_t node = nd4c_graph_find_node(graphs[i], "e");
    assert_int_equal(nd4c_graph_metadata_count(graphs[i], node), 1);
    expect_pair(graphs[i], node, 0, "source", "line 7");
  }
  assert_int_equal(nd4c_graph_metadata_count(graph, 0), 0);
  assert_int_equal(nd4c_graph_metadata_count(graph, 17), 0);
  assert_null(nd4c_graph_metadata(graph, 0, "source"));
  nd4c_graph_destroy(optimized);
  nd4c_graph_destroy(copy);
  nd4c_graph_destroy(graph);
}

static void metadata_has_limits(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL;
  char key[ND4C_METADATA_KEY + 2];
  char *value = malloc(ND4C_METADATA_VALUE + 2);
  CHECK_OK(nd4c_graph_create(&graph));
  memset(key, 'k', sizeof key);
  key[sizeof key - 1] = '\0';
  memset(value, 'v', ND4C_METADATA_VALUE + 2);
  value[ND4C_METADATA_VALUE + 1] = '\0';
  assert_int_equal(nd4c_graph_set_metadata(graph, ND4C_GRAPH_ITSELF, key, "v"), ND4C_OVERFLOW);
  assert_int_equal(nd4c_graph_set_metadata(graph, ND4C_GRAPH_ITSELF, "k", value), ND4C_OVERFLOW);
  value[ND4C_METADATA_VALUE] = '\0';
  CHECK_OK(nd4c_graph_set_metadata(graph, ND4C_GRAPH_ITSELF, key + 1, value));
  expect_failure(nd4c_graph_set_metadata(graph, ND4C_GRAPH_ITSELF, "", "v"), ND4C_NAME,
                 "nd4c_graph_set_metadata: the key is empty");
  expect_failure(nd4c_graph_set_metadata(graph, 0, "k", "v"), ND4C_INDEX,
                 "nd4c_graph_set_metadata: the graph has 0 nodes, not one number 0");
  for (int32_t i = 1; i < ND4C_METADATA_COUNT; i++) {
    (void)snprintf(key, sizeof key, "%d", i);
    CHECK_OK(nd4c_graph_set_metadata(graph, ND4C_GRAPH_ITSELF, key, "v"));
  }
  assert_int_equal(nd4c_graph_set_metadata(graph, ND4C_GRAPH_ITSELF, "more", "v"), ND4C_OVERFLOW);
  CHECK_OK(nd4c_graph_set_metadata(graph, ND4C_GRAPH_ITSELF, "7", "w")); /* it is there already */
  const char *at = NULL, *text = NULL;
  expect_failure(nd4c_graph_metadata_at(graph, ND4C_GRAPH_ITSELF, ND4C_METADATA_COUNT, &at, &text), ND4C_INDEX,
                 "nd4c_graph_metadata_at: there are 1024 pairs, not one number 1024");
  free(value);
  nd4c_graph_destroy(graph);
}

/* The digits' model names its graph and its producer. */
static void models_give_metadata(void **unused) {
  (void)unused;
  nd4c_model *model = NULL;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_model_open(ND4C_TEST_SOURCE_DIR "/examples/digits/digits.onnx", NULL, &model));
  CHECK_OK(nd4c_model_graph(model, NULL, NULL, NULL, &graph));
  assert_non_null(nd4c_graph_metadata(graph, ND4C_GRAPH_ITSELF, "onnx.graph_name"));
  assert_non_null(nd4c_graph_metadata(graph, ND4C_GRAPH_ITSELF, "onnx.producer_name"));
  assert_true(label_of(graph, 0)[0] != '\0');
  nd4c_graph_destroy(graph);
  nd4c_model_close(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scopes_name_nodes_and_variables),
      cmocka_unit_test(errors_and_reports_show_names),
      cmocka_unit_test(merged_nodes_name_their_parts),
      cmocka_unit_test(scopes_are_checked),
      cmocka_unit_test(labels_may_be_set),
      cmocka_unit_test(metadata_is_kept),
      cmocka_unit_test(metadata_has_limits),
      cmocka_unit_test(models_give_metadata),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
