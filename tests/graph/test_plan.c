/* Running plans: refusals with their texts, outputs of every kind, inputs of any layout, failing allocations. */
#include "graph_check.h"
#include "nd4c/config.h"

enum { ROWS = 3, COLUMNS = 4 };
static const int64_t shape[] = {ROWS, COLUMNS};

/* y = relu(x - s) and z = y^T, with s a second input. */
static nd4c_graph *make_graph(void) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape), s = check_input(graph, "s", 1, (int64_t[]){COLUMNS});
  nd4c_value difference = ND4C_VALUE_NONE, inputs[] = {x, s};
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_subtract, inputs, 2, NULL, 0, "the difference", &difference, 1));
  nd4c_value y = check_unary(graph, ND4C_OP_relu, difference);
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  CHECK_OK(nd4c_graph_output(graph, "z", check_op(graph, ND4C_OP_transpose, &y, 1, NULL, 0)));
  return graph;
}

static nd4c_plan *make_plan(void) {
  nd4c_graph *graph = make_graph();
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  nd4c_graph_destroy(graph); /* plans outlive the graph */
  return plan;
}

typedef struct fixture {
  nd4c_plan *plan;
  nd4c_array *x, *s;
} fixture;

static int set_up(void **state) {
  fixture *made = calloc(1, sizeof *made);
  assert_non_null(made);
  made->plan = make_plan();
  made->x = check_array(ND4C_FLOAT32, 2, shape, 1, -1, 1);
  made->s = check_array(ND4C_FLOAT32, 1, &shape[1], 2, -1, 1);
  *state = made;
  return 0;
}

static int tear_down(void **state) {
  fixture *made = *state;
  nd4c_plan_destroy(made->plan);
  nd4c_array_release(made->x);
  nd4c_array_release(made->s);
  free(made);
  return 0;
}

/* Compares y and z with the results for x and s. */
static void expect_outputs(const fixture *f, const nd4c_array *x, const nd4c_array *y, const nd4c_array *z) {
  for (int64_t i = 0; i < ROWS; i++) {
    for (int64_t k = 0; k < COLUMNS; k++) {
      double a, b, left, right;
      CHECK_OK(nd4c_array_item(x, (int64_t[]){i, k}, &a));
      CHECK_OK(nd4c_array_item(f->s, (int64_t[]){k}, &b));
      CHECK_OK(nd4c_array_item(y, (int64_t[]){i, k}, &left));
      CHECK_OK(nd4c_array_item(z, (int64_t[]){k, i}, &right));
      double expected = (double)((float)a - (float)b) > 0 ? (double)((float)a - (float)b) : 0;
      assert_true(left == expected && right == expected);
    }
  }
}

static void expect_refusal(nd4c_status status, nd4c_status expected, const char *words, const char *more) {
  assert_int_equal(status, expected);
  if (strstr(nd4c_error_message(), words) == NULL || strstr(nd4c_error_message(), more) == NULL) {
    fail_msg("'%s' lacks '%s' or '%s'", nd4c_error_message(), words, more);
  }
}

static void wrong_arguments_are_refused(void **state) {
  fixture *f = *state;
  nd4c_array *wide = check_array(ND4C_FLOAT64, 2, shape, 1, -1, 1);
  nd4c_array *long_one = check_array(ND4C_FLOAT32, 2, (int64_t[]){ROWS, COLUMNS + 1}, 1, -1, 1);
  float words[ROWS * COLUMNS] = {7};
  nd4c_array *fixed = NULL;
  CHECK_OK(nd4c_array_wrap(ND4C_FLOAT32, 2, shape, NULL, words, true, NULL, NULL, &fixed));
  const nd4c_array *good[] = {f->x, f->s}, *bad_dtype[] = {wide, f->s}, *bad_shape[] = {long_one, f->s},
                   *missing[] = {f->x, NULL};
  nd4c_array *outputs[2] = {NULL}, *bad_output[2] = {long_one, NULL}, *read_only[2] = {fixed, NULL};
  nd4c_plan *plan = f->plan;
  expect_refusal(nd4c_plan_run(NULL, good, 2, outputs, 2), ND4C_NULL_ARGUMENT, "plan", "NULL");
  expect_refusal(nd4c_plan_run(plan, NULL, 2, outputs, 2), ND4C_NULL_ARGUMENT, "inputs", "NULL");
  expect_refusal(nd4c_plan_run(plan, good, 1, outputs, 2), ND4C_ARGUMENT, "1 inputs", "2 inputs");
  expect_refusal(nd4c_plan_run(plan, good, 2, outputs, 1), ND4C_ARGUMENT, "1 outputs", "2 outputs");
  expect_refusal(nd4c_plan_run(plan, bad_dtype, 2, outputs, 2), ND4C_DTYPE, "'x' has dtype float64",
                 "expected float32");
  expect_refusal(nd4c_plan_run(plan, bad_shape, 2, outputs, 2), ND4C_SHAPE, "'x' has shape (3, 5)", "expected (3, 4)");
  expect_refusal(nd4c_plan_run(plan, missing, 2, outputs, 2), ND4C_NULL_ARGUMENT, "'s'", "input");
  expect_refusal(nd4c_plan_run(plan, good, 2, bad_output, 2), ND4C_SHAPE, "output 'y'", "expected (3, 4)");
  expect_refusal(nd4c_plan_run(plan, good, 2, read_only, 2), ND4C_READ_ONLY, "output 'y'", "read-only");
  assert_null(outputs[0]);
  assert_true(words[0] == 7);
  nd4c_array_release(wide);
  nd4c_array_release(long_one);
  nd4c_array_release(fixed);
}

static void outputs_outlive_runs_and_plan(void **state) {
  fixture *f = *state;
  nd4c_array *first[2] = {NULL}, *second[2] = {NULL}, *other = check_array(ND4C_FLOAT32, 2, shape, 9, -1, 1);
  const nd4c_array *inputs[] = {f->x, f->s}, *others[] = {other, f->s};
  CHECK_OK(nd4c_plan_run(f->plan, inputs, 2, first, 2));
  CHECK_OK(nd4c_plan_run(f->plan, others, 2, second, 2));
  nd4c_plan_destroy(f->plan);
  f->plan = NULL;
  expect_outputs(f, f->x, first[0], first[1]);
  expect_outputs(f, other, second[0], second[1]);
  check_release(first, 2);
  check_release(second, 2);
  nd4c_array_release(other);
}

/* Given outputs: apart, strided, on top of an input, on top of each other's storage. */
static void given_outputs_of_every_kind(void **state) {
  fixture *f = *state;
  nd4c_array *apart = check_array(ND4C_FLOAT32, 2, shape, 5, 0, 1), *big = NULL, *left = NULL, *right = NULL;
  CHECK_OK(nd4c_array_zeros(ND4C_FLOAT32, 2, (int64_t[]){8, 20}, NULL, &big));
  CHECK_OK(nd4c_array_slice(big, (int64_t[]){0, 0}, (int64_t[]){ROWS, 2 * COLUMNS}, (int64_t[]){1, 2}, &left));
  CHECK_OK(nd4c_array_slice(big, (int64_t[]){4, 0}, (int64_t[]){4 + COLUMNS, ROWS}, NULL, &right));
  const nd4c_array *inputs[] = {f->x, f->s};
  nd4c_array *copy = NULL;
  CHECK_OK(nd4c_copy(f->x, &copy));
  for (int32_t round = 0; round < 2; round++) {
    nd4c_array *mixed[2] = {apart, NULL};
    CHECK_OK(nd4c_plan_run(f->plan, inputs, 2, mixed, 2));
    assert_ptr_equal(mixed[0], apart);
    expect_outputs(f, f->x, apart, mixed[1]);
    nd4c_array_release(mixed[1]);
    nd4c_array *strided[2] = {left, right};
    CHECK_OK(nd4c_plan_run(f->plan, inputs, 2, strided, 2));
    expect_outputs(f, f->x, left, right);
  }
  const nd4c_array *over[] = {copy, f->s};
  nd4c_array *onto_input[2] = {copy, NULL};
  CHECK_OK(nd4c_plan_run(f->plan, over, 2, onto_input, 2));
  expect_outputs(f, f->x, copy, onto_input[1]);
  nd4c_array_release(onto_input[1]);
  nd4c_array *all[] = {apart, big, left, right, copy};
  check_release(all, 5);
}

static void inputs_of_any_layout(void **state) {
  fixture *f = *state;
  nd4c_array *columns = NULL, *backwards = NULL, *repeated = NULL, *turned = NULL;
  nd4c_array *wide = check_array(ND4C_FLOAT32, 2, (int64_t[]){COLUMNS, ROWS}, 3, -1, 1);
  CHECK_OK(nd4c_transpose(wide, NULL, 0, &columns));
  CHECK_OK(nd4c_array_slice(f->x, (int64_t[]){-1, -1}, (int64_t[]){ND4C_SLICE_NONE, ND4C_SLICE_NONE},
                            (int64_t[]){-1, -1}, &backwards));
  CHECK_OK(nd4c_broadcast_to(f->s, shape, 2, &repeated));
  CHECK_OK(nd4c_transpose(columns, NULL, 0, &turned));
  const nd4c_array *layouts[] = {columns, backwards, repeated, f->x};
  for (int32_t i = 0; i < 4; i++) {
    nd4c_array *outputs[2] = {NULL};
    const nd4c_array *inputs[] = {layouts[i], f->s};
    CHECK_OK(nd4c_plan_run(f->plan, inputs, 2, outputs, 2));
    expect_outputs(f, layouts[i], outputs[0], outputs[1]);
    check_release(outputs, 2);
  }
  nd4c_array *all[] = {columns, backwards, repeated, turned, wide};
  check_release(all, 5);
}

/* Outputs that are inputs, constants, one value twice, and views of one value. */
static void outputs_that_nothing_computes(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  nd4c_value y = check_unary(graph, ND4C_OP_negative, x);
  int64_t flat[] = {-1};
  nd4c_attr attr = check_ints("shape", flat, 1);
  CHECK_OK(nd4c_graph_output(graph, "x", x));
  CHECK_OK(nd4c_graph_output(graph, "c", check_constant(graph, 2, shape, 4, -1, 1)));
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  CHECK_OK(nd4c_graph_output(graph, "y again", y));
  CHECK_OK(nd4c_graph_output(graph, "flat", check_op(graph, ND4C_OP_reshape, &y, 1, &attr, 1)));
  CHECK_OK(nd4c_graph_output(graph, "turned", check_op(graph, ND4C_OP_transpose, &y, 1, NULL, 0)));
  nd4c_plan_destroy(check_graph(graph, 11, 0));
  nd4c_graph_destroy(graph);
}

/* A long sum whose addend dies in its step: the output must not take the addend's block, because kernels keep partial
 * sums in the output. */
static void addends_survive_long_sums(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){64, 3072}), a = check_input(graph, "a", 2, (int64_t[]){64, 96});
  nd4c_value w = check_constant(graph, 2, (int64_t[]){3072, 96}, 3, -0.1, 0.1);
  nd4c_value product = check_binary(graph, ND4C_OP_matmul, x, w);
  product = check_binary(graph, ND4C_OP_add, product, check_constant(graph, 1, (int64_t[]){96}, 4, -1, 1));
  nd4c_value sum = check_binary(graph, ND4C_OP_add, product, check_unary(graph, ND4C_OP_square, a));
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_abs, sum)));
  nd4c_plan *plan = check_graph(graph, 21, 1e-5);
  assert_int_equal(plan->step_count, 3);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void empty_and_scalar_values(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value none = check_input(graph, "none", 2, (int64_t[]){0, 5}), one = check_input(graph, "one", 0, NULL);
  nd4c_value sum = check_binary(graph, ND4C_OP_add, none, one);
  CHECK_OK(nd4c_graph_output(graph, "sum", check_unary(graph, ND4C_OP_relu, sum)));
  CHECK_OK(nd4c_graph_output(graph, "one", check_unary(graph, ND4C_OP_negative, one)));
  nd4c_plan_destroy(check_graph(graph, 11, 0));
  nd4c_graph_destroy(graph);
}

static void graphs_without_outputs_are_refused(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  (void)check_unary(graph, ND4C_OP_relu, check_input(graph, "x", 1, (int64_t[]){3}));
  expect_refusal(nd4c_plan_create(graph, NULL, NULL, &plan), ND4C_ARGUMENT, "nd4c_plan_create", "no outputs");
  assert_null(plan);
  nd4c_graph_destroy(graph);
}

/* The pass `dead` counts the nodes that it removes. */
static void report_counts_dead_nodes(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  char *text = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 1, (int64_t[]){3});
  (void)check_unary(graph, ND4C_OP_relu, check_unary(graph, ND4C_OP_negative, x));
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_abs, x)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_plan_report(plan, &text));
  assert_non_null(strstr(text, "3 ->     1 nodes,    2 changes"));
  nd4c_free(text);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void report_tells_passes_steps_and_memory(void **state) {
  fixture *f = *state;
  char *text = NULL;
  CHECK_OK(nd4c_plan_report(f->plan, &text));
  const char *parts[] = {
      "plan on cpu:0: 3 nodes recorded",   "fuse_activation", "subtract the difference", "float32(3, 4)", "arena: ",
      "requested but not applied: nothing"};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    if (strstr(text, parts[i]) == NULL) {
      fail_msg("the report lacks '%s':\n%s", parts[i], text);
    }
  }
  nd4c_free(text);
  expect_refusal(nd4c_plan_report(NULL, &text), ND4C_NULL_ARGUMENT, "plan", "NULL");
  expect_refusal(nd4c_plan_report(f->plan, NULL), ND4C_NULL_ARGUMENT, "text", "NULL");
}

static void forced_engines_are_reported_or_strict(void **state) {
  (void)state;
  CHECK_OK(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", "onednn"));
  nd4c_plan *plan = make_plan();
  char *text = NULL;
  CHECK_OK(nd4c_plan_report(plan, &text));
  assert_non_null(strstr(text, "'the difference' (subtract): engine onednn was requested"));
  nd4c_free(text);
  nd4c_plan_destroy(plan);
  nd4c_context *strict = NULL;
  nd4c_context_options options = {.struct_size = sizeof options, .strict = true};
  CHECK_OK(nd4c_context_create(&options, &strict));
  nd4c_graph *graph = make_graph();
  expect_refusal(nd4c_plan_create(graph, strict, NULL, &plan), ND4C_STRICT, "'the difference' (subtract)", "onednn");
  nd4c_graph_destroy(graph);
  CHECK_OK(nd4c_context_destroy(strict));
  CHECK_OK(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", NULL));
}

static void failure_in_a_step_names_the_node(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape), indices = ND4C_VALUE_NONE, y = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_input(graph, "indices", ND4C_INT64, 1, (int64_t[]){2}, &indices));
  nd4c_value inputs[] = {x, indices};
  nd4c_attr attr = check_int("axis", 0);
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_gather, inputs, 2, &attr, 1, "the rows", &y, 1));
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  nd4c_array *data = check_array(ND4C_FLOAT32, 2, shape, 1, -1, 1), *rows = NULL, *given = NULL;
  int64_t far[] = {0, 99}, near[] = {2, 0}, made[] = {2, COLUMNS};
  CHECK_OK(nd4c_array_from_data(ND4C_INT64, 1, (int64_t[]){2}, far, NULL, &rows));
  CHECK_OK(nd4c_array_empty(ND4C_FLOAT32, 2, made, NULL, &given));
  const nd4c_array *operands[] = {data, rows};
  nd4c_array *fresh[1] = {NULL}, *outputs[1] = {given};
  expect_refusal(nd4c_plan_run(plan, operands, 2, fresh, 1), ND4C_INDEX, "'the rows' (gather)", "99");
  assert_null(fresh[0]);
  expect_refusal(nd4c_plan_run(plan, operands, 2, outputs, 1), ND4C_INDEX, "'the rows' (gather)", "99");
  const void *bytes = NULL;
  assert_int_equal(nd4c_array_data(given, &bytes), ND4C_POISONED);
  CHECK_OK(nd4c_array_write(rows, near, sizeof near));
  CHECK_OK(nd4c_plan_run(plan, operands, 2, outputs, 1));
  CHECK_OK(nd4c_array_data(given, &bytes));
  double expected, actual;
  CHECK_OK(nd4c_array_item(data, (int64_t[]){2, 1}, &expected));
  CHECK_OK(nd4c_array_item(given, (int64_t[]){0, 1}, &actual));
  assert_true(expected == actual);
  nd4c_array *all[] = {data, rows, given};
  check_release(all, 3);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* Plans and runs once; false at the first failure, which leaves nothing behind. */
static bool plan_and_run(const nd4c_graph *graph, const nd4c_array *const *inputs) {
  nd4c_plan *plan = NULL;
  nd4c_array *outputs[2] = {NULL};
  bool good = nd4c_plan_create(graph, NULL, NULL, &plan) == ND4C_OK &&
              nd4c_plan_run(plan, inputs, graph->inputs.count, outputs, graph->outputs.count) == ND4C_OK;
  check_release(outputs, 2);
  nd4c_plan_destroy(plan);
  return good;
}

static int64_t live_bytes(void) {
  nd4c_device *device = NULL;
  nd4c_memory_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_device_default(&device));
  CHECK_OK(nd4c_memory_get_info(device, &info));
  return info.live_bytes;
}

/* Without what choices of the calling thread keep. */
static int64_t steady_bytes(void) {
  nd4c_device *device = NULL;
  CHECK_OK(nd4c_device_default(&device));
  CHECK_OK(nd4c_memory_trim(device, 0));
  return live_bytes();
}

static void any_failing_allocation_is_survived(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 4, (int64_t[]){1, 2, 5, 5});
  nd4c_value w = check_constant(graph, 4, (int64_t[]){4, 2, 3, 3}, 1, -1, 1);
  nd4c_value scale = check_binary(graph, ND4C_OP_add, check_constant(graph, 3, (int64_t[]){4, 1, 1}, 2, 1, 2),
                                  check_scalar(graph, 1.0));
  nd4c_value y = check_op(graph, ND4C_OP_conv, (nd4c_value[]){x, w}, 2, NULL, 0);
  y = check_unary(graph, ND4C_OP_relu, check_binary(graph, ND4C_OP_multiply, y, scale));
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  CHECK_OK(nd4c_graph_output(graph, "turned", check_op(graph, ND4C_OP_transpose, &y, 1, NULL, 0)));
  nd4c_array *inputs[1] = {check_array(ND4C_FLOAT32, 4, (int64_t[]){1, 2, 5, 5}, 3, -1, 1)};
  const nd4c_array *given[] = {inputs[0]};
  assert_true(plan_and_run(graph, given));
  int64_t before = steady_bytes();
  int32_t failures = 0, skip = 0;
  for (bool reached = true; reached && skip < 5000; skip++) {
    nd4c_error_clear();
    const int64_t asked = nd4c_allocation_count();
    nd4c_allocation_fail_at(skip);
    const bool good = plan_and_run(graph, given); /* also where fold_constants has left a node for want of memory */
    nd4c_allocation_fail_at(-1);
    reached = nd4c_allocation_count() - asked > skip;
    failures += !good;
    if (!good && nd4c_error_code() != ND4C_MEMORY) {
      fail_msg("allocation %d: %s", skip, nd4c_error_message());
    }
    assert_int_equal(steady_bytes(), before);
  }
  assert_true(skip < 5000);
  assert_in_range(failures, 5, 4999);
  check_release(inputs, 1);
  nd4c_graph_destroy(graph);
}

static void plan_arguments_are_checked(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph();
  nd4c_plan *plan = NULL;
  nd4c_plan_options options = {.struct_size = 1};
  expect_refusal(nd4c_plan_create(NULL, NULL, NULL, &plan), ND4C_NULL_ARGUMENT, "graph", "NULL");
  expect_refusal(nd4c_plan_create(graph, NULL, NULL, NULL), ND4C_NULL_ARGUMENT, "plan", "NULL");
  expect_refusal(nd4c_plan_create(graph, NULL, &options, &plan), ND4C_ARGUMENT, "struct_size is 1", "expected");
  nd4c_graph_destroy(graph);
  nd4c_plan_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(wrong_arguments_are_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(outputs_outlive_runs_and_plan, set_up, tear_down),
      cmocka_unit_test_setup_teardown(given_outputs_of_every_kind, set_up, tear_down),
      cmocka_unit_test_setup_teardown(inputs_of_any_layout, set_up, tear_down),
      cmocka_unit_test(outputs_that_nothing_computes),
      cmocka_unit_test(addends_survive_long_sums),
      cmocka_unit_test(empty_and_scalar_values),
      cmocka_unit_test(graphs_without_outputs_are_refused),
      cmocka_unit_test(report_counts_dead_nodes),
      cmocka_unit_test_setup_teardown(report_tells_passes_steps_and_memory, set_up, tear_down),
      cmocka_unit_test(forced_engines_are_reported_or_strict),
      cmocka_unit_test(failure_in_a_step_names_the_node),
      cmocka_unit_test(any_failing_allocation_is_survived),
      cmocka_unit_test(plan_arguments_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
