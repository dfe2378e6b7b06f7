/* Plans of graphs with dims: for each size, results are those of a plan of the graph of numbers, bit by bit if no
 * passes run; a known size is found without allocating; which inputs and outputs are refused, and by which text. */
#include "dynamic_cases.h"
#include "graph/dynamic.h"

static void check_sizes(const graph_case *c, const nd4c_plan_options *options) {
  nd4c_graph *graph = make_graph(c);
  nd4c_plan *plan = make_plan(graph, options);
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_RECORDING);
  for (int i = 0; i < 8 && (c->sizes[i][0] != 0 || c->sizes[i][1] != 0); i++) {
    sample s = make_sample(graph, c->sizes[i], options);
    check_sample(plan, &s, c->name, c->sizes[i]);
    free_sample(&s);
  }
  nd4c_graph_destroy(graph);
  nd4c_plan_destroy(plan);
}

static void each_size_has_the_bits_of_its_own_plan(void **state) {
  (void)state;
  const nd4c_plan_options plain = {.struct_size = sizeof plain, .no_optimization = true};
  for (int i = 0; i < GRAPHS; i++) {
    check_sizes(&graphs[i], &plain);
    check_sizes(&graphs[i], NULL);
  }
}

static void a_known_size_is_found_without_allocating(void **state) {
  (void)state;
  const int64_t sizes[][DIMS] = {{3, 5}, {2, 8}};
  nd4c_graph *graph = make_graph(&graphs[2]);
  nd4c_plan *plan = make_plan(graph, NULL);
  sample s[] = {make_sample(graph, sizes[0], NULL), make_sample(graph, sizes[1], NULL)};
  nd4c_array *outputs[2][CHECK_PORTS] = {{NULL}};
  for (int round = 0; round < 6; round++) {
    const int64_t before = nd4c_allocation_count();
    CHECK_OK(run_sample(plan, &s[round % 2], outputs[round % 2]));
    if (round >= 4 && ND4C_RECYCLES) {
      assert_int_equal(nd4c_allocation_count() - before, 0);
    }
  }
  assert_int_equal(bindings_of(plan).made, 2);
  assert_int_equal(bindings_of(plan).reused, 4);
  assert_int_equal(bindings_of(plan).kept, 2);
  for (int i = 0; i < 2; i++) {
    check_release(outputs[i], s[i].output_count);
    free_sample(&s[i]);
  }
  nd4c_graph_destroy(graph);
  nd4c_plan_destroy(plan);
}

/* The first binding has one row, of which the slice gives all: were `identity` to run on these numbers, it would drop
 * the slice, and nothing of this binding could serve the next one. */
static void first_bindings_keep_what_their_numbers_allow_to_go(void **state) {
  (void)state;
  int64_t n = 0;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &n));
  const nd4c_attr row[] = {check_ints("starts", (int64_t[]){0, 0}, 2), check_ints("stops", (int64_t[]){1, 4}, 2)};
  const nd4c_value x = check_input(graph, "x", 2, (int64_t[]){n, 4});
  const nd4c_value first = check_op(graph, ND4C_OP_slice, &x, 1, row, 2);
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_exp, first)));
  nd4c_plan *plan = make_plan(graph, NULL);
  for (int64_t rows = 1; rows <= 3; rows += 2) {
    const int64_t shape[] = {rows, 4};
    nd4c_array *input = check_array(ND4C_FLOAT32, 2, shape, 1, -1, 1), *y = NULL;
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)&input, 1, &y, 1));
    assert_int_equal(nd4c_array_shape(y)[0], 1);
    assert_true(nd4c_dynamic_shares(plan));
    nd4c_array_release(input);
    nd4c_array_release(y);
  }
  nd4c_graph_destroy(graph);
  nd4c_plan_destroy(plan);
}

/* -- refusals ------------------------------------------------------------------------------------------------------ */

typedef struct refusal {
  nd4c_status status;
  int64_t x[2], y[2], z[1];
  const char *text;
} refusal;

/* x [n, 4] and y [n, m] with m <= 5000, z [2*m + 1]: x y, and z as it is. */
static nd4c_plan *make_refusing_plan(void) {
  nd4c_graph *graph = NULL;
  int64_t n = 0, m = 0;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 2, 9, &n));
  CHECK_OK(nd4c_graph_dim(graph, "m", 1, -1, &m));
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){n, 4}), y = check_input(graph, "y", 2, (int64_t[]){n, m});
  nd4c_attr flat[] = {check_ints("shape", (int64_t[]){-1, 3}, 2)};
  nd4c_attr rows[] = {check_int("axis", 1)};
  nd4c_value both = check_op(graph, ND4C_OP_concat, (nd4c_value[]){x, y}, 2, rows, 1);
  CHECK_OK(nd4c_graph_output(graph, "both", check_op(graph, ND4C_OP_reshape, &both, 1, flat, 1)));
  nd4c_value grown = check_op(graph, ND4C_OP_concat, (nd4c_value[]){y, y, x}, 3, rows, 1);
  const int64_t *shape = NULL;
  CHECK_OK(nd4c_graph_value_info(graph, grown, NULL, NULL, &shape)); /* 2*m + 4 */
  nd4c_value z = check_input(graph, "z", 1, &shape[1]);
  CHECK_OK(nd4c_graph_output(graph, "z", check_unary(graph, ND4C_OP_abs, z)));
  nd4c_plan *plan = make_plan(graph, NULL);
  nd4c_graph_destroy(graph);
  return plan;
}

static const refusal refusals[] = {
    {ND4C_SHAPE, {3, 5}, {3, 2}, {8}, "plan: input 'x' has shape (3, 5), expected (n, 4)"},
    {ND4C_SHAPE,
     {3, 4},
     {6, 2},
     {8},
     "plan: dim 'n' is 3 by axis 0 of input 'x', but input 'y' has 6 on axis 0, expected n"},
    {ND4C_SHAPE,
     {3, 4},
     {3, 2},
     {10},
     "plan: dim 'm' is 2 by axis 1 of input 'y', but input 'z' has 10 on axis 0, expected 2*m + 4"},
    {ND4C_SHAPE, {3, 4}, {3, 2}, {9}, "but input 'z' has 9 on axis 0, expected 2*m + 4"},
    {ND4C_SHAPE, {1, 4}, {1, 2}, {8}, "dim 'n' is 1, expected 2 to 9"},
    {ND4C_SHAPE, {3, 4}, {3, 0}, {4}, "dim 'm' is 0, expected 1 or more"},
    {ND4C_SHAPE, {2, 4}, {2, 1}, {6}, "the graph was built on reshape: "},
};

static nd4c_status run_refusing(nd4c_plan *plan, const refusal *r) {
  nd4c_array *inputs[] = {check_array(ND4C_FLOAT32, 2, r->x, 1, -1, 1), check_array(ND4C_FLOAT32, 2, r->y, 2, -1, 1),
                          check_array(ND4C_FLOAT32, 1, r->z, 3, -1, 1)};
  nd4c_array *outputs[] = {NULL, NULL};
  const nd4c_status status = nd4c_plan_run(plan, (const nd4c_array *const *)inputs, 3, outputs, 2);
  check_release(outputs, 2);
  check_release(inputs, 3);
  return status;
}

static void inputs_that_do_not_fit_are_refused(void **state) {
  (void)state;
  nd4c_plan *plan = make_refusing_plan();
  const refusal right = {.status = ND4C_OK, .x = {3, 4}, .y = {3, 2}, .z = {8}};
  for (int round = 0; round < 2; round++) { /* without any binding, and with one */
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
      expect(run_refusing(plan, &refusals[i]), refusals[i].status, refusals[i].text);
    }
    CHECK_OK(run_refusing(plan, &right));
  }
  assert_int_equal(bindings_of(plan).made, 1);
  nd4c_plan_destroy(plan);
}

static void outputs_of_another_size_are_refused(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[0]);
  nd4c_plan *plan = make_plan(graph, NULL);
  sample s = make_sample(graph, (int64_t[]){3, 2}, NULL), other = make_sample(graph, (int64_t[]){4, 2}, NULL);
  expect(run_sample(plan, &s, other.expected), ND4C_SHAPE, "output 'y' has shape (4, 5), expected (3, 5)");
  expect(nd4c_plan_run(plan, (const nd4c_array *const *)s.inputs, 1, s.expected, 2), ND4C_ARGUMENT, "1 inputs");
  free_sample(&s);
  free_sample(&other);
  nd4c_graph_destroy(graph);
  nd4c_plan_destroy(plan);
}

static nd4c_device *place_nowhere(void *user, const nd4c_plan_node *node) {
  (void)user;
  (void)node;
  return NULL;
}

/* Dims that inputs do not tell. */
static void dims_must_follow_from_inputs(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  int64_t n = 0, m = 0;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, 9, &n));
  CHECK_OK(nd4c_graph_dim(graph, "lost", 1, 9, &m));
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){n, 4});
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_abs, x)));
  expect(nd4c_plan_create(graph, NULL, NULL, &plan), ND4C_UNSUPPORTED,
         "dim 'lost' does not follow from the inputs: expected an input with an extent that is 'lost' alone");
  const nd4c_placement placement = {.struct_size = sizeof placement, .device_of = place_nowhere};
  nd4c_plan_options options = {.struct_size = sizeof options, .placement = &placement};
  expect(nd4c_plan_create(graph, NULL, &options, &plan), ND4C_UNSUPPORTED, "a placement on several devices");
  const nd4c_plan_options negative = {.struct_size = sizeof negative, .binding_bytes = -1};
  expect(nd4c_plan_create(graph, NULL, &negative, &plan), ND4C_ARGUMENT, "binding_bytes is -1, expected at least 0");
  nd4c_graph_destroy(graph);
}

static void too_many_dims_are_refused(void **state) {
  (void)state;
  enum { DIM_COUNT = 65 };
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  for (int i = 0; i < DIM_COUNT; i++) {
    char dim[16], input[16];
    int64_t n = 0;
    (void)snprintf(dim, sizeof dim, "n%d", i);
    (void)snprintf(input, sizeof input, "x%d", i);
    CHECK_OK(nd4c_graph_dim(graph, dim, 1, 9, &n));
    CHECK_OK(nd4c_graph_output(graph, dim, check_unary(graph, ND4C_OP_abs, check_input(graph, input, 1, &n))));
  }
  expect(nd4c_plan_create(graph, NULL, NULL, &plan), ND4C_UNSUPPORTED, "the graph has 65 dims, expected at most 64");
  nd4c_graph_destroy(graph);
}

/* An extent that is no multiple of one dim is checked against what the others say. */
static void other_expressions_are_checked(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  int64_t n = 0, m = 0;
  const int64_t *shape = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, 9, &n));
  CHECK_OK(nd4c_graph_dim(graph, "m", 1, 9, &m));
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){n, m});
  nd4c_attr flat[] = {check_ints("shape", (int64_t[]){-1}, 1)};
  nd4c_value line = check_op(graph, ND4C_OP_reshape, &x, 1, flat, 1);
  CHECK_OK(nd4c_graph_value_info(graph, line, NULL, NULL, &shape));
  nd4c_value z = check_input(graph, "z", 1, shape);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_add, line, z)));
  nd4c_plan *plan = make_plan(graph, NULL);
  for (int64_t length = 5; length <= 7; length++) {
    nd4c_array *inputs[] = {check_array(ND4C_FLOAT32, 2, (int64_t[]){2, 3}, 1, -1, 1),
                            check_array(ND4C_FLOAT32, 1, &length, 2, -1, 1)};
    nd4c_array *output = NULL;
    const nd4c_status status = nd4c_plan_run(plan, (const nd4c_array *const *)inputs, 2, &output, 1);
    if (length == 6) {
      CHECK_OK(status);
    } else {
      expect(
          status, ND4C_SHAPE,
          length == 5 ? "input 'z' has 5 on axis 0, expected 6 (n*m)" : "input 'z' has 7 on axis 0, expected 6 (n*m)");
    }
    nd4c_array_release(output);
    check_release(inputs, 2);
  }
  nd4c_graph_destroy(graph);
  nd4c_plan_destroy(plan);
}

/* So many that their places in the table of bindings collide. */
static void many_sizes_are_told_apart(void **state) {
  enum { MOST = 200 };
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[0]);
  nd4c_plan *plan = make_plan(graph, NULL);
  for (int64_t size = 1; size < 2 * MOST; size++) { /* up, and down to bindings that are kept */
    const int64_t n = size < MOST ? size : 2 * MOST - size, m = 3;
    nd4c_array *inputs[] = {check_array(ND4C_FLOAT32, 2, (int64_t[]){n, 6}, 1, -1, 1),
                            check_array(ND4C_FLOAT32, 1, &m, 2, -1, 1)};
    nd4c_array *outputs[2] = {NULL};
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)inputs, 2, outputs, 2));
    assert_int_equal(nd4c_array_shape(outputs[0])[0], n);
    check_release(inputs, 2);
    check_release(outputs, 2);
  }
  assert_int_equal(bindings_of(plan).made, MOST);
  nd4c_graph_destroy(graph);
  nd4c_plan_destroy(plan);
}

static void queries_are_checked(void **state) {
  (void)state;
  nd4c_graph *graph = check_make_fork();
  nd4c_plan *plan = make_plan(graph, NULL);
  nd4c_plan_bindings bindings = {.struct_size = 8};
  expect(nd4c_plan_get_bindings(plan, &bindings), ND4C_ARGUMENT, "struct_size is 8, expected at least");
  expect(nd4c_plan_get_bindings(plan, NULL), ND4C_NULL_ARGUMENT, "bindings is NULL");
  expect(nd4c_plan_get_bindings(NULL, &bindings), ND4C_NULL_ARGUMENT, "plan is NULL");
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_FROZEN); /* no dims */
  assert_int_equal(bindings_of(plan).made, 0);
  nd4c_graph_destroy(graph);
  nd4c_plan_destroy(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_size_has_the_bits_of_its_own_plan),
      cmocka_unit_test(a_known_size_is_found_without_allocating),
      cmocka_unit_test(first_bindings_keep_what_their_numbers_allow_to_go),
      cmocka_unit_test(inputs_that_do_not_fit_are_refused),
      cmocka_unit_test(outputs_of_another_size_are_refused),
      cmocka_unit_test(dims_must_follow_from_inputs),
      cmocka_unit_test(too_many_dims_are_refused),
      cmocka_unit_test(other_expressions_are_checked),
      cmocka_unit_test(many_sizes_are_told_apart),
      cmocka_unit_test(queries_are_checked),
  };
  return cmocka_run_group_tests_name("dynamic_plan", tests, NULL, NULL);
}
