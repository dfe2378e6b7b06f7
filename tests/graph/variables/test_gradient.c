/* nd4c_graph_gradient: each rule against differences of the loss, what has no gradient, and training inside one plan.
 */
#include "gradient_check.h"

/* -- rules against differences ------------------------------------------------------------------------------------- */

static nd4c_value by_products(nd4c_graph *graph, nd4c_value x, nd4c_value w) {
  return mean_of(graph, check_unary(graph, ND4C_OP_tanh, check_binary(graph, ND4C_OP_matmul, x, w)));
}

/* x as [1, 2, 1, 3] times w as [2, 3, 4] (broadcast): products with batches of their own. */
static nd4c_value by_batches(nd4c_graph *graph, nd4c_value x, nd4c_value w) {
  const int64_t four[] = {1, 2, 1, 3}, three[] = {2, 3, 4};
  const nd4c_value left = ints_op(graph, ND4C_OP_reshape, x, "shape", four, 4);
  const nd4c_value right = ints_op(graph, ND4C_OP_broadcast_to, w, "shape", three, 3);
  return mean_of(graph, check_unary(graph, ND4C_OP_square, check_binary(graph, ND4C_OP_matmul, left, right)));
}

/* Sums over some axes, with and without them kept; row and column broadcast against each other. */
static nd4c_value by_sums(nd4c_graph *graph, nd4c_value x, nd4c_value w) {
  const int64_t last[] = {-1}, first[] = {0};
  const nd4c_attr kept[] = {check_ints("axes", last, 1), {"keepdims", {.kind = ND4C_ATTR_BOOL, .as.i = 1}}};
  const nd4c_value columns = check_op(graph, ND4C_OP_sum, &x, 1, kept, 2);   /* [2, 1] */
  const nd4c_value rows = ints_op(graph, ND4C_OP_mean, w, "axes", first, 1); /* [4] */
  const nd4c_value outer = check_binary(graph, ND4C_OP_multiply, columns, rows);
  return check_unary(graph, ND4C_OP_sum, check_unary(graph, ND4C_OP_sin, outer));
}

static nd4c_value by_softmax(nd4c_graph *graph, nd4c_value x, nd4c_value w) {
  const int64_t swapped[] = {1, 0}, last[] = {1};
  const nd4c_attr axis = check_int("axis", 0), other = check_int("axis", -1);
  const nd4c_value soft = check_op(graph, ND4C_OP_softmax, &x, 1, &axis, 1);
  const nd4c_value logs = check_op(graph, ND4C_OP_log_softmax, &w, 1, &other, 1);
  const nd4c_value product = check_binary(graph, ND4C_OP_matmul, soft, logs);
  const nd4c_value turned = ints_op(graph, ND4C_OP_transpose, product, "axes", swapped, 2);
  const nd4c_value wide = ints_op(graph, ND4C_OP_expand_dims, turned, "axes", last, 1);
  const nd4c_value thin = ints_op(graph, ND4C_OP_squeeze, wide, "axes", last, 1);
  return mean_of(graph, check_binary(graph, ND4C_OP_multiply, thin, check_unary(graph, ND4C_OP_exp, turned)));
}

static nd4c_value by_branches(nd4c_graph *graph, nd4c_value x, nd4c_value w) {
  const nd4c_value product = check_binary(graph, ND4C_OP_matmul, x, w);
  const nd4c_value up = check_unary(graph, ND4C_OP_sigmoid, product), down = check_unary(graph, ND4C_OP_relu, product);
  const nd4c_value above = check_binary(graph, ND4C_OP_greater, product, down);
  const nd4c_value chosen = check_op(graph, ND4C_OP_where, (nd4c_value[]){above, up, product}, 3, NULL, 0);
  return mean_of(graph, check_binary(graph, ND4C_OP_divide, chosen, check_binary(graph, ND4C_OP_add, up, up)));
}

static nd4c_value by_squared_error(nd4c_graph *graph, nd4c_value x, nd4c_value w) {
  const nd4c_value product = check_binary(graph, ND4C_OP_matmul, x, w);
  return check_binary(graph, ND4C_OP_mse_loss, product, check_unary(graph, ND4C_OP_cos, product));
}

static nd4c_value entropy(nd4c_graph *graph, nd4c_value scores, const int64_t *classes, int64_t count,
                          int64_t reduction) {
  nd4c_array *array = NULL;
  nd4c_value target = ND4C_VALUE_NONE, outputs[2];
  CHECK_OK(nd4c_array_from_data(ND4C_INT64, 1, &count, classes, NULL, &array));
  CHECK_OK(nd4c_graph_constant(graph, array, &target));
  nd4c_array_release(array);
  const nd4c_value inputs[] = {scores, target};
  const nd4c_attr attr = check_int("reduction", reduction);
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_softmax_cross_entropy, inputs, 2, &attr, 1, NULL, outputs, 2));
  return outputs[0];
}

static nd4c_value by_cross_entropy(nd4c_graph *graph, nd4c_value x, nd4c_value w) {
  const int64_t classes[] = {3, 1}, partly[] = {2, -100, 0};
  const nd4c_value product = check_binary(graph, ND4C_OP_matmul, x, w);
  const nd4c_value first = entropy(graph, product, classes, 2, ND4C_LOSS_REDUCTION_MEAN);
  const nd4c_value second = entropy(graph, w, partly, 3, ND4C_LOSS_REDUCTION_MEAN); /* a class is ignored */
  const nd4c_value third = entropy(graph, product, classes, 2, ND4C_LOSS_REDUCTION_SUM);
  return check_binary(graph, ND4C_OP_add, first, check_binary(graph, ND4C_OP_subtract, second, third));
}

static void rules_agree_with_differences(void **unused) {
  (void)unused;
  check_rule("products", by_products);
  check_rule("batches", by_batches);
  check_rule("sums", by_sums);
  check_rule("softmax", by_softmax);
  check_rule("branches", by_branches);
  check_rule("squared error", by_squared_error);
  check_rule("cross entropy", by_cross_entropy);
}

/* -- refusals ------------------------------------------------------------------------------------------------------ */

static void what_has_no_gradient_is_named(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL;
  nd4c_value gradients[2];
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value w = make_variable(graph, "w", full(graph, 1), true);
  (void)make_variable(graph, "step", full(graph, 1), false);
  const nd4c_value apart = make_variable(graph, "apart", full(graph, 1), true);
  nd4c_value odd = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_entropy, &w, 1, NULL, 0, "run\nning", &odd, 1));
  const nd4c_value bad = mean_of(graph, odd), good = mean_of(graph, check_unary(graph, ND4C_OP_square, w));
  const int32_t nodes = nd4c_graph_node_count(graph), values = nd4c_graph_value_count(graph);
  expect_failure(nd4c_graph_gradient(graph, bad, NULL, 2, gradients), ND4C_UNSUPPORTED,
                 "nd4c_graph_gradient: entropy 'run ning': the op has no gradient");
  expect_failure(nd4c_graph_gradient(graph, good, NULL, -1, gradients), ND4C_ARGUMENT,
                 "nd4c_graph_gradient: count is -1, expected at least 0");
  expect_failure(nd4c_graph_gradient(graph, good, NULL, 1, NULL), ND4C_NULL_ARGUMENT,
                 "nd4c_graph_gradient: gradients is NULL, but count is 1");
  expect_failure(nd4c_graph_gradient(graph, good, NULL, 1, gradients), ND4C_ARGUMENT,
                 "nd4c_graph_gradient: room was given for 1, the graph has 2 trainable variables");
  expect_failure(nd4c_graph_gradient(graph, w, NULL, 2, gradients), ND4C_SHAPE,
                 "nd4c_graph_gradient: the loss is not one number; sum or mean makes one of several");
  assert_int_equal(nd4c_graph_node_count(graph), nodes);
  assert_int_equal(nd4c_graph_value_count(graph), values);
  CHECK_OK(nd4c_graph_gradient(graph, good, NULL, 2, gradients)); /* what is not on the way does not matter */
  CHECK_OK(nd4c_graph_output(graph, "dw", gradients[0]));
  CHECK_OK(nd4c_graph_output(graph, "da", gradients[1]));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  nd4c_array *outputs[2] = {NULL};
  CHECK_OK(nd4c_plan_run(plan, NULL, 0, outputs, 2));
  expect_all(outputs[0], 2.0 / SIZE);
  expect_all(outputs[1], 0); /* the loss does not depend on it */
  (void)apart;
  check_release(outputs, 2);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* The real part of a square, through a complex number; its magnitude; and what no complex number is between. */
static void complex_numbers_have_none(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL;
  nd4c_value wide = ND4C_VALUE_NONE, same = ND4C_VALUE_NONE, gradient = -7;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 2, shape);
  const nd4c_attr to_complex = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_COMPLEX64}};
  const nd4c_attr to_double = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_FLOAT64}};
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_cast, &x, 1, &to_complex, 1, NULL, &wide, 1));
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_cast, &x, 1, &to_double, 1, NULL, &same, 1));
  const nd4c_value magnitude = mean_of(graph, check_unary(graph, ND4C_OP_abs, wide));
  expect_failure(nd4c_graph_gradient(graph, magnitude, &x, 1, &gradient), ND4C_UNSUPPORTED,
                 "nd4c_graph_gradient: abs: its operand 0 is complex, and complex numbers have no gradient");
  const nd4c_value part = mean_of(graph, check_unary(graph, ND4C_OP_real, wide));
  assert_int_equal(nd4c_graph_gradient(graph, part, &x, 1, &gradient), ND4C_UNSUPPORTED);
  assert_int_equal(gradient, -7);
  expect_failure(nd4c_graph_gradient(graph, wide, &x, 1, &gradient), ND4C_DTYPE,
                 "nd4c_graph_gradient: the loss has dtype complex64, expected a floating one");
  CHECK_OK(nd4c_graph_gradient(graph, mean_of(graph, same), &x, 1, &gradient));
  nd4c_graph_destroy(graph);
}

/* A refused gradient leaves the suffixes of later labels as they were. */
static void refused_gradients_leave_no_names(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL;
  nd4c_value gradient = -7;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_push_scope(graph, "s"));
  const nd4c_value x = check_input(graph, "x", 2, shape), odd = check_unary(graph, ND4C_OP_entropy, x);
  const nd4c_value loss = mean_of(graph, check_binary(graph, ND4C_OP_multiply, odd, x));
  assert_int_equal(nd4c_graph_gradient(graph, loss, &x, 1, &gradient), ND4C_UNSUPPORTED);
  assert_int_equal(gradient, -7);
  (void)check_binary(graph, ND4C_OP_multiply, x, x);
  assert_int_equal(nd4c_graph_find_node(graph, "s/multiply_1"), nd4c_graph_node_count(graph) - 1);
  nd4c_graph_destroy(graph);
}

/* -- training ------------------------------------------------------------------------------------------------------ */

/* y = x a + b for batches of any size; Adam changes a and b. */
static void a_plan_trains_a_line(void **unused) {
  (void)unused;
  enum { ROUNDS = 600, MOST = 8 };
  nd4c_graph *graph = NULL;
  int64_t batch = 0;
  nd4c_value x, y, outputs[3], gradients[2], moments[2][2];
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "batch", 1, -1, &batch));
  const int64_t wide[] = {batch, 2}, narrow[] = {batch, 1}, matrix[] = {2, 1}, one = 1;
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 2, wide, &x));
  CHECK_OK(nd4c_graph_input(graph, "y", ND4C_FLOAT32, 2, narrow, &y));
  const nd4c_value zeros[] = {check_constant(graph, 2, matrix, 1, 0, 0), check_constant(graph, 1, &one, 1, 0, 0)};
  const nd4c_value variables[] = {make_variable(graph, "a", zeros[0], true), make_variable(graph, "b", zeros[1], true)};
  const nd4c_value rate = check_scalar(graph, 0.02);
  nd4c_array *nought = NULL;
  nd4c_value begin = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_array_scalar(ND4C_INT64, 0, NULL, &nought));
  CHECK_OK(nd4c_graph_constant(graph, nought, &begin));
  nd4c_array *unit = NULL;
  nd4c_value more = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_array_scalar(ND4C_INT64, 1, NULL, &unit));
  CHECK_OK(nd4c_graph_constant(graph, unit, &more));
  const nd4c_value step = make_variable(graph, "step", begin, false);
  const nd4c_value next = check_binary(graph, ND4C_OP_add, step, more);
  CHECK_OK(nd4c_graph_assign(graph, step, next));
  const nd4c_value guess =
      check_binary(graph, ND4C_OP_add, check_binary(graph, ND4C_OP_matmul, x, variables[0]), variables[1]);
  const nd4c_value loss = check_binary(graph, ND4C_OP_mse_loss, guess, y);
  CHECK_OK(nd4c_graph_gradient(graph, loss, NULL, 2, gradients));
  for (int32_t i = 0; i < 2; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "v%d", (int)i);
    moments[i][0] = make_variable(graph, name, zeros[i], false);
    name[0] = 'h';
    moments[i][1] = make_variable(graph, name, zeros[i], false);
    const nd4c_value inputs[] = {variables[i], gradients[i], moments[i][0], moments[i][1], rate, next};
    CHECK_OK(nd4c_graph_op(graph, ND4C_OP_adamw_step, inputs, 6,
                           (nd4c_attr[]){{"decay", {.kind = ND4C_ATTR_FLOAT, .as.f = 0}}}, 1, NULL, outputs, 3));
    CHECK_OK(nd4c_graph_assign(graph, variables[i], outputs[0]));
    CHECK_OK(nd4c_graph_assign(graph, moments[i][0], outputs[1]));
    CHECK_OK(nd4c_graph_assign(graph, moments[i][1], outputs[2]));
  }
  CHECK_OK(nd4c_graph_output(graph, "loss", loss));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  uint64_t seed = 5;
  float lost = 0;
  for (int32_t round = 0; round < ROUNDS; round++) {
    float xs[2 * MOST], ys[MOST];
    const int64_t count = round % 2 == 0 ? MOST : 3, shapes[2][2] = {{count, 2}, {count, 1}};
    for (int32_t i = 0; i < count; i++) {
      xs[2 * i] = (float)check_number(&seed);
      xs[2 * i + 1] = (float)check_number(&seed);
      ys[i] = 2 * xs[2 * i] - 3 * xs[2 * i + 1] + 0.5f;
    }
    nd4c_array *given[2] = {NULL}, *result = NULL;
    CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 2, shapes[0], xs, NULL, &given[0]));
    CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 2, shapes[1], ys, NULL, &given[1]));
    const nd4c_array *inputs[] = {given[0], given[1]};
    CHECK_OK(nd4c_plan_run(plan, inputs, 2, &result, 1));
    CHECK_OK(nd4c_array_read(result, &lost, sizeof lost));
    assert_true(round > 0 || lost > 1);
    check_release(given, 2);
    nd4c_array_release(result);
  }
  assert_true(lost < 1e-4f);
  nd4c_state *state = state_of(graph);
  const char *const names[] = {"a", "b", "step"};
  nd4c_array *learnt[3] = {NULL};
  float a[2], b;
  int64_t steps = 0;
  CHECK_OK(nd4c_state_get(state, names, learnt, 3));
  CHECK_OK(nd4c_array_read(learnt[0], a, sizeof a));
  CHECK_OK(nd4c_array_read(learnt[1], &b, sizeof b));
  CHECK_OK(nd4c_array_read(learnt[2], &steps, sizeof steps));
  assert_float_equal(a[0], 2, 0.02);
  assert_float_equal(a[1], -3, 0.02);
  assert_float_equal(b, 0.5, 0.02);
  assert_int_equal(steps, ROUNDS);
  check_release(learnt, 3);
  nd4c_array_release(nought);
  nd4c_array_release(unit);
  nd4c_state_release(state);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* x stop(x) + w stop(w w) has the gradients stop(x) and stop(w w), and a plan computes nothing for stop. */
static void stopped_values_are_constants(void **unused) {
  static const nd4c_dtype dtypes[] = {ND4C_FLOAT64, ND4C_FLOAT32, ND4C_FLOAT16, ND4C_BFLOAT16};
  const float at[X] = {1, -2, 3, 0.5, 4, -1};
  (void)unused;
  for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
    const nd4c_attr to = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = dtypes[k]}};
    nd4c_graph *graph = NULL;
    nd4c_array *given = NULL, *result = NULL;
    nd4c_value x = ND4C_VALUE_NONE, stopped = ND4C_VALUE_NONE, squared = ND4C_VALUE_NONE, gradient = ND4C_VALUE_NONE;
    float dx[X];
    CHECK_OK(nd4c_graph_create(&graph));
    CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 2, x_shape, &x));
    const nd4c_value t = check_op(graph, ND4C_OP_cast, &x, 1, &to, 1);
    CHECK_OK(nd4c_graph_stop_gradient(graph, t, &stopped));
    CHECK_OK(nd4c_graph_stop_gradient(graph, check_unary(graph, ND4C_OP_square, t), &squared));
    const nd4c_value terms = check_binary(graph, ND4C_OP_add, check_binary(graph, ND4C_OP_multiply, t, stopped),
                                          check_binary(graph, ND4C_OP_multiply, squared, t));
    CHECK_OK(nd4c_graph_gradient(graph, check_unary(graph, ND4C_OP_sum, terms), &x, 1, &gradient));
    CHECK_OK(nd4c_graph_output(graph, "dx", gradient));
    nd4c_plan *plan = plan_of(graph, NULL, false);
    CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 2, x_shape, at, NULL, &given));
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){given}, 1, &result, 1));
    CHECK_OK(nd4c_array_read(result, dx, sizeof dx));
    for (int32_t i = 0; i < X; i++) {
      assert_true(dx[i] == at[i] + at[i] * at[i]);
    }
    nd4c_array_release(given);
    nd4c_array_release(result);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

static void stopping_is_refused(void **unused) {
  nd4c_graph *graph = NULL;
  nd4c_value x = ND4C_VALUE_NONE, whole = ND4C_VALUE_NONE, result = -7;
  (void)unused;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 2, x_shape, &x));
  CHECK_OK(nd4c_graph_input(graph, "whole", ND4C_INT32, 2, x_shape, &whole));
  const int32_t nodes = nd4c_graph_node_count(graph);
  expect_failure(nd4c_graph_stop_gradient(graph, whole, &result), ND4C_DTYPE,
                 "nd4c_graph_stop_gradient: value 1 has dtype int32, expected a float of 8 to 64 bits");
  expect_failure(nd4c_graph_stop_gradient(graph, x, NULL), ND4C_NULL_ARGUMENT,
                 "nd4c_graph_stop_gradient: result is NULL");
  assert_int_equal(nd4c_graph_stop_gradient(graph, 7, &result), ND4C_INDEX);
  assert_int_equal(nd4c_graph_stop_gradient(NULL, x, &result), ND4C_NULL_ARGUMENT);
  assert_int_equal(result, -7);
  assert_int_equal(nd4c_graph_node_count(graph), nodes);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rules_agree_with_differences), cmocka_unit_test(what_has_no_gradient_is_named),
      cmocka_unit_test(complex_numbers_have_none),    cmocka_unit_test(refused_gradients_leave_no_names),
      cmocka_unit_test(a_plan_trains_a_line),         cmocka_unit_test(stopped_values_are_constants),
      cmocka_unit_test(stopping_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
