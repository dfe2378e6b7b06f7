/* Engine tile: reductions at the end of a chain give what eager calls give, for every length of runs, in any order of
 * memory, with any width; then which reductions are tails. */
#include "graph/graph_check.h"

enum { INPUTS = 2, OUTPUTS = 3 };

/* What a chain of x * y + y, or its square root, ends with. */
typedef struct tail_case {
  nd4c_op op;
  nd4c_dtype dtype;
  int32_t rank, axis_count; /* no axes: all */
  int64_t shape[4], axes[3];
  bool keepdims, turned; /* x is given with its axes turned around */
} tail_case;

#define SHAPE(...) .shape = {__VA_ARGS__}
#define AXES(...) .axes = {__VA_ARGS__}
static const tail_case cases[] = {
    {ND4C_OP_sum, ND4C_FLOAT32, 1, 0, SHAPE(100003)},
    {ND4C_OP_mean, ND4C_FLOAT32, 2, 1, SHAPE(700, 33), AXES(1)},
    {ND4C_OP_mean, ND4C_FLOAT64, 2, 1, SHAPE(3, 40001), AXES(-1), .keepdims = true},
    {ND4C_OP_sum, ND4C_FLOAT64, 3, 2, SHAPE(50, 21, 17), AXES(2, 1)},
    {ND4C_OP_max, ND4C_FLOAT32, 3, 1, SHAPE(40, 30, 8), AXES(2)},
    {ND4C_OP_min, ND4C_FLOAT32, 2, 1, SHAPE(5, 9001), AXES(1)},
    {ND4C_OP_max, ND4C_FLOAT64, 4, 2, SHAPE(9, 1, 65, 64), AXES(2, 3), .keepdims = true},
    {ND4C_OP_prod, ND4C_FLOAT32, 2, 1, SHAPE(2000, 12), AXES(1)},
    {ND4C_OP_sum_square, ND4C_FLOAT32, 2, 0, SHAPE(300, 129)},
    {ND4C_OP_norm1, ND4C_FLOAT64, 2, 1, SHAPE(64, 1025), AXES(1)},
    {ND4C_OP_sum, ND4C_FLOAT16, 2, 1, SHAPE(1024, 200), AXES(1)},
    {ND4C_OP_max, ND4C_BFLOAT16, 2, 1, SHAPE(40, 5000), AXES(1)},
    {ND4C_OP_sum, ND4C_FLOAT32, 3, 1, SHAPE(33, 40, 50), AXES(2), .turned = true},
    {ND4C_OP_min, ND4C_FLOAT64, 2, 0, SHAPE(211, 97), .turned = true},
};

static void make_inputs(const tail_case *c, nd4c_array **inputs) {
  int64_t shape[4];
  for (int32_t i = 0; i < c->rank; i++) {
    shape[i] = c->turned ? c->shape[c->rank - 1 - i] : c->shape[i];
  }
  for (int32_t i = 0; i < INPUTS; i++) {
    nd4c_array *numbers = check_array(ND4C_FLOAT32, c->rank, i == 0 ? shape : c->shape, (uint64_t)i + 5, 0.25, 1.5);
    CHECK_OK(nd4c_cast(numbers, c->dtype, &inputs[i]));
    nd4c_array_release(numbers);
  }
}

/* NaN in one run, infinity in another. */
static void spoil(const tail_case *c, nd4c_array *x) {
  void *data;
  CHECK_OK(nd4c_array_data_mutable(x, &data));
  if (c->dtype == ND4C_FLOAT32) {
    ((float *)data)[nd4c_array_size(x) / 2] = NAN;
    ((float *)data)[3] = INFINITY;
  } else if (c->dtype == ND4C_FLOAT64) {
    ((double *)data)[nd4c_array_size(x) / 2] = NAN;
    ((double *)data)[3] = -INFINITY;
  }
}

static nd4c_value add_tail(nd4c_graph *graph, const tail_case *c, nd4c_op op, nd4c_value x) {
  const nd4c_attr attrs[] = {check_ints("axes", c->axes, c->axis_count),
                             {.name = "keepdims", .value = {.kind = ND4C_ATTR_BOOL, .as.i = c->keepdims}}};
  const int32_t skipped = c->axis_count == 0;
  return check_op(graph, op, &x, 1, attrs + skipped, 2 - skipped);
}

/* Two tails; the chain's values are an output, too, if `whole`. */
static nd4c_graph *make_graph(const tail_case *c, bool whole) {
  nd4c_graph *graph = NULL;
  nd4c_value x, y;
  int64_t turned[4];
  for (int32_t i = 0; i < c->rank; i++) {
    turned[i] = c->turned ? c->shape[c->rank - 1 - i] : c->shape[i];
  }
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "x", c->dtype, c->rank, turned, &x));
  CHECK_OK(nd4c_graph_input(graph, "y", c->dtype, c->rank, c->shape, &y));
  x = c->turned ? check_unary(graph, ND4C_OP_transpose, x) : x;
  const nd4c_value z = check_binary(graph, ND4C_OP_add, check_binary(graph, ND4C_OP_multiply, x, y), y);
  CHECK_OK(nd4c_graph_output(graph, "first", add_tail(graph, c, c->op, z)));
  CHECK_OK(nd4c_graph_output(graph, "second", add_tail(graph, c, ND4C_OP_max, check_unary(graph, ND4C_OP_sqrt, z))));
  if (whole) {
    CHECK_OK(nd4c_graph_output(graph, "z", z));
  }
  return graph;
}

/* The elements in C order. The caller frees them. */
static double *numbers_of(const nd4c_array *x) {
  const size_t bytes = (size_t)nd4c_array_size(x) * sizeof(double);
  double *numbers = malloc(bytes + 1);
  nd4c_array *wide = NULL;
  assert_non_null(numbers);
  CHECK_OK(nd4c_cast(x, ND4C_FLOAT64, &wide));
  CHECK_OK(nd4c_array_read(wide, numbers, bytes));
  nd4c_array_release(wide);
  return numbers;
}

static double tolerance(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT64 ? 1e-14 : dtype == ND4C_FLOAT32 ? 2.5e-7 : dtype == ND4C_FLOAT16 ? 1e-3 : 8e-3;
}

/* `c`: the case to name. */
static void check_same(const tail_case *c, const nd4c_array *expected, const nd4c_array *actual) {
  const int64_t size = nd4c_array_size(expected);
  const double limit = tolerance(nd4c_array_dtype(expected));
  assert_int_equal(nd4c_array_size(actual), size);
  assert_int_equal(nd4c_array_dtype(actual), nd4c_array_dtype(expected));
  double *a = numbers_of(expected), *b = numbers_of(actual);
  for (int64_t i = 0; i < size; i++) {
    if (!(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])) || fabs(a[i] - b[i]) <= limit * fabs(a[i]))) {
      fail_msg("case %d: element %d of %d: %.17g, expected %.17g", (int)(c - cases), (int)i, (int)size, b[i], a[i]);
    }
  }
  free(a);
  free(b);
}

static int32_t count_chains(const nd4c_plan *plan) {
  int32_t count = 0;
  for (int32_t i = 0; i < plan->segment_count; i++) {
    count += strcmp(plan->segments[i].compiler->engine, "tile") == 0;
  }
  return count;
}

static void check_case(const tail_case *c, nd4c_context *context, bool whole, bool spoilt) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  nd4c_array *inputs[INPUTS] = {NULL}, *expected[OUTPUTS] = {NULL}, *actual[OUTPUTS] = {NULL};
  nd4c_graph *graph = make_graph(c, whole);
  nd4c_plan *plan = NULL;
  make_inputs(c, inputs);
  if (spoilt) {
    spoil(c, inputs[1]);
  }
  check_evaluate(graph, inputs, expected);
  CHECK_OK(nd4c_plan_create(graph, context, &options, &plan));
  if (count_chains(plan) != 1 || check_has_step(plan, c->op)) {
    fail_msg("case %d: %d chains; the reduction should be a part of one", (int)(c - cases), (int)count_chains(plan));
  }
  for (int run = 0; run < 2; run++) {
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)inputs, INPUTS, actual, 2 + whole));
    for (int32_t i = 0; i < 2 + whole; i++) {
      check_same(c, expected[i], actual[i]);
    }
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  check_release(inputs, INPUTS);
  check_release(expected, OUTPUTS);
  check_release(actual, OUTPUTS);
}

static void tails_give_what_eager_calls_give(void **state) {
  (void)state;
  for (int32_t width = 1; width <= 2; width++) {
    const nd4c_context_options options = {.struct_size = sizeof options, .width = width};
    nd4c_context *context = NULL;
    CHECK_OK(nd4c_context_create(&options, &context));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      check_case(&cases[i], context, i % 2 == 0, false);
      check_case(&cases[i], context, i % 2 == 1, true);
    }
    CHECK_OK(nd4c_context_destroy(context));
  }
}

/* -- what is a tail ------------------------------------------------------------------------------------------------ */

static void expect_steps(int32_t rank, const int64_t *shape, const int64_t *axes, int32_t axis_count, int32_t steps) {
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  const nd4c_attr attr = check_ints("axes", axes, axis_count);
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", rank, shape), y = check_input(graph, "y", rank, shape);
  const nd4c_value z = check_unary(graph, ND4C_OP_tanh, check_binary(graph, ND4C_OP_multiply, x, y));
  CHECK_OK(nd4c_graph_output(graph, "s", check_op(graph, ND4C_OP_sum, &z, 1, &attr, 1)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  assert_int_equal(plan->step_count, steps);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void only_innermost_axes_are_reduced(void **state) {
  (void)state;
  const int64_t shape[] = {200, 30, 40}, narrow[] = {40000, 1, 4};
  expect_steps(3, shape, (const int64_t[]){2}, 1, 1);
  expect_steps(3, shape, (const int64_t[]){1, 2}, 2, 1);
  expect_steps(3, shape, (const int64_t[]){0, 2}, 2, 2);
  expect_steps(3, shape, (const int64_t[]){1}, 1, 2);
  expect_steps(3, narrow, (const int64_t[]){2}, 1, 2); /* too few elements become one */
}

/* Both reductions read one chain; it can end with one of them alone. */
static void tails_of_a_chain_have_equal_runs(void **state) {
  (void)state;
  const int64_t shape[] = {200, 300}, last[] = {1};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  const nd4c_attr attr = check_ints("axes", last, 1);
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 2, shape), y = check_input(graph, "y", 2, shape);
  const nd4c_value z = check_unary(graph, ND4C_OP_tanh, check_binary(graph, ND4C_OP_multiply, x, y));
  CHECK_OK(nd4c_graph_output(graph, "rows", check_op(graph, ND4C_OP_sum, &z, 1, &attr, 1)));
  CHECK_OK(nd4c_graph_output(graph, "all", check_unary(graph, ND4C_OP_sum, z)));
  nd4c_array *inputs[INPUTS], *expected[2] = {NULL}, *actual[2] = {NULL};
  check_make_inputs(graph, 3, inputs);
  check_evaluate(graph, inputs, expected);
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  assert_int_equal(count_chains(plan), 1);
  assert_int_equal(plan->step_count, 2);
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)inputs, INPUTS, actual, 2));
  check_same(cases, expected[0], actual[0]);
  check_same(cases, expected[1], actual[1]);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  check_release(inputs, INPUTS);
  check_release(expected, 2);
  check_release(actual, 2);
}

/* A conv's result has its channels side by side: its mean by channel is left to the kernel. */
static void other_orders_are_no_tails(void **state) {
  (void)state;
  const int64_t image[] = {1, 16, 58, 58}, filter[] = {40, 16, 3, 3}, spatial[] = {2, 3};
  nd4c_graph *graph = NULL;
  const nd4c_attr axes = check_ints("axes", spatial, 2);
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 4, image), w = check_constant(graph, 4, filter, 3, -0.1, 0.1);
  const nd4c_value y = check_op(graph, ND4C_OP_conv, (nd4c_value[]){x, w}, 2, NULL, 0);
  const nd4c_value square = check_binary(graph, ND4C_OP_multiply, y, y);
  const nd4c_value z = check_binary(graph, ND4C_OP_maximum, square, check_unary(graph, ND4C_OP_abs, y));
  CHECK_OK(nd4c_graph_output(graph, "mean", check_op(graph, ND4C_OP_mean, &z, 1, &axes, 1)));
  nd4c_plan *plan = check_graph(graph, 17, 1e-5);
  const nd4c_graph_node *last = &plan->graph->nodes[plan->graph->node_count - 1];
  if (plan->graph->values[last->inputs[0]].order != NULL) { /* the conv's kernel likes this order */
    assert_true(check_has_step(plan, ND4C_OP_mean));
    assert_int_equal(count_chains(plan), 1);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* s is read for the last time by the chain whose result has its shape: later tiles still read it. */
static void a_tail_keeps_what_later_tiles_read(void **state) {
  (void)state;
  const int64_t shape[] = {256, 256}, last[] = {1};
  nd4c_graph *graph = NULL;
  const nd4c_attr attr = check_ints("axes", last, 1);
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 2, shape), v = check_input(graph, "v", 1, shape);
  const nd4c_value sum = check_binary(graph, ND4C_OP_add, x, check_unary(graph, ND4C_OP_exp, v));
  const nd4c_value most = check_op(graph, ND4C_OP_max, &sum, 1, &attr, 1);
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_softmax, most)));
  nd4c_plan_destroy(check_graph(graph, 17, 0));
  nd4c_graph_destroy(graph);
}

/* One element that stands for all; tiles that end within a block of registers. */
static void tails_of_single_elements(void **state) {
  (void)state;
  const int64_t shapes[][2] = {{5, 1111}, {1, 128}, {300, 96}, {1, 100003}}, one[] = {1, 1}, last[] = {1};
  const nd4c_attr attr = check_ints("axes", last, 1);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
    nd4c_array *inputs[INPUTS], *expected = NULL, *actual = NULL;
    nd4c_graph *graph = NULL;
    nd4c_plan *plan = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    const nd4c_value x = check_input(graph, "x", 2, shapes[i]), s = check_input(graph, "s", 2, one);
    const nd4c_value factor = check_binary(graph, ND4C_OP_add, x, check_binary(graph, ND4C_OP_multiply, s, s));
    const nd4c_value z = check_binary(graph, ND4C_OP_multiply, check_binary(graph, ND4C_OP_subtract, s, x), factor);
    const nd4c_value bent = check_unary(graph, ND4C_OP_tanh, z);
    CHECK_OK(nd4c_graph_output(graph, "energy", check_op(graph, ND4C_OP_sum_square, &bent, 1, &attr, 1)));
    check_make_inputs(graph, i + 3, inputs);
    check_evaluate(graph, inputs, &expected);
    CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)inputs, INPUTS, &actual, 1));
    check_same(cases, expected, actual);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
    check_release(inputs, INPUTS);
    nd4c_array_release(expected);
    nd4c_array_release(actual);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tails_give_what_eager_calls_give),   cmocka_unit_test(only_innermost_axes_are_reduced),
      cmocka_unit_test(tails_of_a_chain_have_equal_runs),   cmocka_unit_test(other_orders_are_no_tails),
      cmocka_unit_test(a_tail_keeps_what_later_tiles_read), cmocka_unit_test(tails_of_single_elements)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
