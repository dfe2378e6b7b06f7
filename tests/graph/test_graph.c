/* The builder: the nodes that it records, the calls that it refuses and the texts. */
#include "graph/ir/attrs.h"
#include "graph_check.h"

static const int64_t image[] = {1, 3, 8, 8};

static void records_and_infers(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 4, image);
  nd4c_value w = check_constant(graph, 4, (int64_t[]){5, 3, 3, 3}, 1, -1, 1);
  nd4c_value y = check_op(graph, ND4C_OP_conv, (nd4c_value[]){x, w}, 2, NULL, 0);
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  int32_t rank = 0;
  const int64_t *shape = NULL;
  CHECK_OK(nd4c_graph_value_info(graph, y, &dtype, &rank, &shape));
  assert_int_equal(dtype, ND4C_FLOAT32);
  assert_int_equal(rank, 4);
  assert_memory_equal(shape, ((int64_t[]){1, 5, 6, 6}), 4 * sizeof *shape);
  assert_null(nd4c_graph_value_constant(graph, y));
  assert_non_null(nd4c_graph_value_constant(graph, w));
  assert_int_equal(nd4c_graph_input_count(graph), 1);
  assert_int_equal(nd4c_graph_output_count(graph), 1);
  assert_string_equal(nd4c_graph_input_name(graph, 0), "x");
  assert_string_equal(nd4c_graph_output_name(graph, 0), "y");
  assert_int_equal(nd4c_graph_input_value(graph, 0), x);
  assert_int_equal(nd4c_graph_output_value(graph, 0), y);
  assert_null(nd4c_graph_input_name(graph, 1));
  assert_int_equal(nd4c_graph_output_value(graph, -1), ND4C_VALUE_NONE);
  nd4c_graph_destroy(graph);
  nd4c_graph_destroy(NULL);
}

typedef struct refusal {
  nd4c_status status;
  const char *words[3]; /* in the text */
} refusal;

static void expect(nd4c_status status, const refusal *expected) {
  if (status != expected->status) {
    fail_msg("gave %s (%s), expected %s", nd4c_status_name(status), nd4c_error_message(),
             nd4c_status_name(expected->status));
  }
  for (int32_t i = 0; i < 3 && expected->words[i] != NULL; i++) {
    if (strstr(nd4c_error_message(), expected->words[i]) == NULL) {
      fail_msg("'%s' lacks '%s'", nd4c_error_message(), expected->words[i]);
    }
  }
}

static void refusals_say_what_and_change_nothing(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 4, image), y = ND4C_VALUE_NONE;
  nd4c_value s = check_input(graph, "s", 1, (int64_t[]){7});
  int32_t values = graph->value_count;
  nd4c_value pair[] = {x, s}, far[] = {x, 99};
  nd4c_attr unknown = check_int("nonsense", 1);

  expect(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 4, image, &y), &(refusal){ND4C_NAME, {"input", "'x'"}});
  expect(nd4c_graph_input(graph, "", ND4C_FLOAT32, 4, image, &y), &(refusal){ND4C_NAME, {"name"}});
  expect(nd4c_graph_input(graph, NULL, ND4C_FLOAT32, 4, image, &y), &(refusal){ND4C_NULL_ARGUMENT, {"name"}});
  expect(nd4c_graph_input(graph, "z", 99, 4, image, &y), &(refusal){ND4C_DTYPE, {"'z'", "99"}});
  expect(nd4c_graph_input(graph, "z", ND4C_FLOAT32, 2, (int64_t[]){3, -1}, &y), &(refusal){ND4C_SHAPE, {"'z'", "-1"}});
  expect(nd4c_graph_input(graph, "z", ND4C_FLOAT32, 2, (int64_t[]){INT64_MAX / 2, 9}, &y),
         &(refusal){ND4C_OVERFLOW, {"'z'"}});
  expect(nd4c_graph_input(NULL, "z", ND4C_FLOAT32, 4, image, &y), &(refusal){ND4C_NULL_ARGUMENT, {"graph"}});
  expect(nd4c_graph_op(graph, ND4C_OP_add, pair, 2, NULL, 0, "my sum", &y, 1),
         &(refusal){ND4C_SHAPE, {"my sum", "add", "(7"}});
  expect(nd4c_graph_op(graph, ND4C_OP_add, far, 2, NULL, 0, NULL, &y, 1), &(refusal){ND4C_INDEX, {"add", "99"}});
  expect(nd4c_graph_op(graph, 9999, pair, 2, NULL, 0, NULL, &y, 1), &(refusal){ND4C_NAME, {"9999"}});
  expect(nd4c_graph_op(graph, ND4C_OP_relu, &x, 1, &unknown, 1, NULL, &y, 1), &(refusal){ND4C_NAME, {"nonsense"}});
  expect(nd4c_graph_op(graph, ND4C_OP_relu, &x, 1, NULL, 0, NULL, &y, 2), &(refusal){ND4C_ARGUMENT, {"relu", "2"}});
  expect(nd4c_graph_op(graph, ND4C_OP_relu, NULL, 1, NULL, 0, NULL, &y, 1), &(refusal){ND4C_NULL_ARGUMENT, {"relu"}});
  expect(nd4c_graph_output(graph, "y", 99), &(refusal){ND4C_INDEX, {"99"}});
  CHECK_OK(nd4c_graph_output(graph, "y", x));
  expect(nd4c_graph_output(graph, "y", s), &(refusal){ND4C_NAME, {"output", "'y'"}});
  expect(nd4c_graph_value_info(graph, -5, NULL, NULL, NULL), &(refusal){ND4C_INDEX, {"-5"}});
  expect(nd4c_graph_constant(graph, NULL, &y), &(refusal){ND4C_NULL_ARGUMENT, {"array"}});
  assert_int_equal(graph->value_count, values);
  assert_int_equal(graph->node_count, 0);
  assert_int_equal(graph->inputs.count, 2);
  nd4c_graph_destroy(graph);
}

static void names_are_found_among_many(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  char name[32];
  nd4c_value value;
  for (int32_t i = 0; i < 2000; i++) {
    (void)snprintf(name, sizeof name, "input %d", i);
    CHECK_OK(nd4c_graph_input(graph, name, ND4C_FLOAT32, 0, NULL, &value));
  }
  for (int32_t i = 0; i < 2000; i++) {
    (void)snprintf(name, sizeof name, "input %d", i);
    assert_int_equal(nd4c_graph_input(graph, name, ND4C_FLOAT32, 0, NULL, &value), ND4C_NAME);
    assert_string_equal(nd4c_graph_input_name(graph, i), name);
  }
  nd4c_graph_destroy(graph);
}

/* What a node keeps of its attributes is the graph's: the caller's texts and lists may change. */
static void attributes_are_copied(void **state) {
  (void)state;
  enum { COUNT = 7 };
  char first[] = "first", second[] = "second", one[] = "one";
  const char *texts[] = {first, NULL, second};
  int64_t ints[] = {1, 2};
  double floats[] = {0.5, 1.5, 2.5};
  const nd4c_attr_value given[COUNT] = {{ND4C_ATTR_STRINGS, 3, {.strings = texts}},
                                        {ND4C_ATTR_INTS, 2, {.ints = ints}},
                                        {ND4C_ATTR_FLOATS, 3, {.floats = floats}},
                                        {ND4C_ATTR_STRING, 0, {.string = one}},
                                        {ND4C_ATTR_INTS, 0, {.ints = NULL}},
                                        {ND4C_ATTR_STRING, 0, {.string = NULL}},
                                        {ND4C_ATTR_FLOAT, 0, {.f = 2.5}}};
  nd4c_graph *graph = NULL;
  nd4c_attr_value *copies = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_copy_attrs(graph, COUNT, given, &copies));
  assert_true(nd4c_attrs_equal(COUNT, given, copies));
  first[0] = second[0] = one[0] = 'x';
  texts[1] = "new";
  ints[1] = 7;
  floats[2] = 8;
  assert_string_equal(copies[0].as.strings[0], "first");
  assert_null(copies[0].as.strings[1]);
  assert_string_equal(copies[0].as.strings[2], "second");
  assert_int_equal(copies[1].as.ints[0], 1);
  assert_int_equal(copies[1].as.ints[1], 2);
  assert_true(copies[2].as.floats[0] == 0.5 && copies[2].as.floats[2] == 2.5);
  assert_string_equal(copies[3].as.string, "one");
  assert_null(copies[4].as.ints); /* omitted */
  assert_null(copies[5].as.string);
  assert_true(copies[6].as.f == 2.5);
  for (int32_t i = 0; i < COUNT; i++) { /* each difference counts */
    assert_int_equal(nd4c_attrs_equal(1, &given[i], &copies[i]), i > 3);
  }
  const nd4c_attr_value body = {ND4C_ATTR_GRAPH, 0, {.i = 0}};
  assert_int_equal(nd4c_graph_copy_attrs(graph, 1, &body, &copies), ND4C_UNSUPPORTED);
  assert_string_equal(nd4c_error_message(), "graph: attributes that are graphs are not supported");
  nd4c_graph_destroy(graph);
}

/* Builds a small graph of every kind of entry; false at the first failure. */
static bool build_all(void) {
  nd4c_graph *graph = NULL, *clone = NULL;
  nd4c_value x, y, w;
  int64_t pads[] = {1, 1, 1, 1};
  nd4c_attr attr = check_ints("pads", pads, 4);
  nd4c_array *weights = NULL;
  bool good = nd4c_array_full(ND4C_FLOAT32, 4, (int64_t[]){5, 3, 3, 3}, 0.5, NULL, &weights) == ND4C_OK &&
              nd4c_graph_create(&graph) == ND4C_OK &&
              nd4c_graph_input(graph, "x", ND4C_FLOAT32, 4, image, &x) == ND4C_OK &&
              nd4c_graph_constant(graph, weights, &w) == ND4C_OK &&
              nd4c_graph_op(graph, ND4C_OP_conv, (nd4c_value[]){x, w}, 2, &attr, 1, "conv", &y, 1) == ND4C_OK &&
              nd4c_graph_output(graph, "y", y) == ND4C_OK && nd4c_graph_clone(graph, &clone) == ND4C_OK;
  nd4c_array_release(weights);
  nd4c_graph_destroy(graph);
  nd4c_graph_destroy(clone);
  return good;
}

static void any_failing_allocation_is_survived(void **state) {
  (void)state;
  assert_true(build_all());
  int32_t failures = 0;
  for (int64_t skip = 0; skip < 1000; skip++) {
    nd4c_error_clear();
    nd4c_allocation_fail_at(skip);
    bool good = build_all();
    nd4c_allocation_fail_at(-1);
    if (good) {
      break;
    }
    assert_int_equal(nd4c_error_code(), ND4C_MEMORY);
    failures++;
  }
  assert_in_range(failures, 5, 500);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(records_and_infers),
      cmocka_unit_test(refusals_say_what_and_change_nothing),
      cmocka_unit_test(names_are_found_among_many),
      cmocka_unit_test(attributes_are_copied),
      cmocka_unit_test(any_failing_allocation_is_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
