/* nd4c_graph_gradient: the rules of products, variances, norms, running sums and products and differences, each by
 * itself against differences of a loss, and at zeros and infinities. */
#include "gradient_check.h"

enum { MAX_ATTRS = 5 };

/* y = op(t) of t [2, 3, 4], or of t with zeros in some places */
typedef struct row {
  nd4c_op op;
  bool zeros;
  nd4c_attr attrs[MAX_ATTRS];
  const char *what;
} row;
#define ROW(op, zeros, ...) {ND4C_OP_##op, zeros, {__VA_ARGS__}, #op}
#define FLOATS(name, x)                    \
  {                                        \
    name, {                                \
      .kind = ND4C_ATTR_FLOAT, .as.f = (x) \
    }                                      \
  }
#define NUMBER(name, x)                  \
  {                                      \
    name, {                              \
      .kind = ND4C_ATTR_INT, .as.i = (x) \
    }                                    \
  }
#define YES(name)                       \
  {                                     \
    name, {                             \
      .kind = ND4C_ATTR_BOOL, .as.i = 1 \
    }                                   \
  }
#define AXES(n, ...)                                                       \
  {                                                                        \
    "axes", {                                                              \
      .kind = ND4C_ATTR_INTS, .count = (n), .as.ints = (const int64_t[]) { \
        __VA_ARGS__                                                        \
      }                                                                    \
    }                                                                      \
  }

#define LIST(n, ...)                                                          \
  {                                                                           \
    "q", {                                                                    \
      .kind = ND4C_ATTR_FLOATS, .count = (n), .as.floats = (const double[]) { \
        __VA_ARGS__                                                           \
      }                                                                       \
    }                                                                         \
  }

static const row rows[] = {
    ROW(prod, false, {0}),
    ROW(prod, true, {0}),
    ROW(prod, true, AXES(1, 1)),
    ROW(prod, false, AXES(1, 0), YES("keepdims")),
    ROW(prod, true, AXES(2, 0, -1)),
    ROW(prod, false, AXES(2, 2, 1), YES("keepdims")),
    ROW(var, false, {0}),
    ROW(var, false, AXES(2, 0, 2), FLOATS("correction", 1)),
    ROW(std, false, AXES(1, -2), YES("keepdims"), FLOATS("correction", 0.5)),
    ROW(std, false, {0}),
    ROW(norm1, false, AXES(1, 1)),
    ROW(norm2, false, AXES(1, 2)),
    ROW(norm_max, false, AXES(1, 1)),
    ROW(abs_min, false, AXES(2, 1, 2)),
    ROW(abs_mean, false, AXES(1, 0), YES("keepdims")),
    ROW(sum_square, false, AXES(2, 0, 1)),
    ROW(norm_p, false, FLOATS("p", 3)),
    ROW(norm_p, false, AXES(1, 1), FLOATS("p", 0.5), YES("keepdims")),
    ROW(vector_norm, false, {0}),
    ROW(vector_norm, false, AXES(1, 2), FLOATS("ord", 1)),
    ROW(vector_norm, false, AXES(2, 0, 1), FLOATS("ord", INFINITY), YES("keepdims")),
    ROW(vector_norm, false, AXES(1, 1), FLOATS("ord", -INFINITY)),
    ROW(vector_norm, false, AXES(1, 1), FLOATS("ord", -1.5)),
    ROW(vector_norm, false, AXES(1, 1), FLOATS("ord", 0)),
    ROW(logsumexp, false, AXES(1, 1)),
    ROW(logsumexp, false, YES("keepdims")),
    ROW(nansum, false, AXES(1, 1)),
    ROW(nanmax, false, AXES(2, 0, 2)),
    ROW(nanmin, false, AXES(1, 1), YES("keepdims")),
    ROW(nanmean, false, {0}),
    ROW(nanmean, false, AXES(2, 0, 2), YES("keepdims")),
    ROW(nanvar, false, AXES(1, 1), FLOATS("correction", 1)),
    ROW(nanstd, false, AXES(2, 2, 0), YES("keepdims")),
    ROW(nanstd, false, {0}),
    ROW(ptp, false, {0}),
    ROW(ptp, false, AXES(1, -1)),
    ROW(ptp, false, AXES(2, 0, 1), YES("keepdims")),
    ROW(median, false, {0}),
    ROW(median, false, AXES(1, 1)),
    ROW(median, false, AXES(2, 2, 0), YES("keepdims")),
    ROW(quantile, false, LIST(1, 0.3)),
    ROW(quantile, false, LIST(4, 0, 0.9, 0.25, 1), AXES(1, 1)),
    ROW(quantile, false, LIST(3, 0.2, 0.2, 0.71), AXES(2, -1, 0), YES("keepdims")),
    ROW(quantile, false, LIST(2, 0.3, 0.5), AXES(1, 2), NUMBER("method", ND4C_QUANTILE_METHOD_LOWER)),
    ROW(quantile, false, LIST(2, 0.3, 0.5), AXES(1, 2), NUMBER("method", ND4C_QUANTILE_METHOD_HIGHER)),
    ROW(quantile, false, LIST(3, 0.3, 0.5, 0), AXES(2, 1, 2), NUMBER("method", ND4C_QUANTILE_METHOD_MIDPOINT)),
    ROW(quantile, false, LIST(3, 0.3, 0.5, 0.9), AXES(1, 0), NUMBER("method", ND4C_QUANTILE_METHOD_NEAREST)),
    ROW(cumulative_sum, false, {0}),
    ROW(cumulative_sum, false, NUMBER("axis", 1), YES("reverse"), YES("include_initial")),
    ROW(cumulative_sum, false, NUMBER("axis", 0), YES("exclusive")),
    ROW(cumulative_sum, false, YES("exclusive"), YES("reverse")),
    ROW(cumulative_prod, false, {0}),
    ROW(cumulative_prod, true, {0}),
    ROW(cumulative_prod, true, NUMBER("axis", 1), YES("reverse")),
    ROW(cumulative_prod, true, NUMBER("axis", 1), YES("exclusive")),
    ROW(cumulative_prod, true, YES("exclusive"), YES("reverse")),
    ROW(cumulative_prod, true, NUMBER("axis", 0), YES("reverse"), YES("include_initial")),
    ROW(cumulative_prod, false, YES("include_initial")),
    ROW(diff, false, {0}),
    ROW(diff, false, NUMBER("axis", 1), NUMBER("order", 2)),
    ROW(diff, false, NUMBER("axis", 0), NUMBER("order", 2)), /* nothing is left */
};

static const row *current; /* of check_rule's loss */

/* Some are 0 and stay it: what a 0 itself has is below. */
static value with_zeros(nd4c_graph *graph, value t) {
  const double on[] = {1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1};
  return BINARY(multiply, t, SHAPED(numbers(graph, 24, on), 2, 3, 4));
}

static value of_current(nd4c_graph *graph, value x, value w) {
  const value t = SHAPED(many(graph, x, w), 2, 3, 4), cells[] = {current->zeros ? with_zeros(graph, t) : t};
  int32_t count = 0;
  while (count < MAX_ATTRS && current->attrs[count].name != NULL) {
    count++;
  }
  return UNARY(sum, UNARY(sin, check_op(graph, current->op, cells, 1, current->attrs, count)));
}

static void each_rule_agrees_with_differences(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    current = &rows[i];
    check_rule(current->what, of_current);
  }
}

static value by_joined_differences(nd4c_graph *graph, value x, value w) {
  const value front = SHAPED(UNARY(sin, w), 2, 6), inputs[] = {x, front, BINARY(matmul, x, w)};
  return weigh(graph, BINARY(multiply, OP(diff, inputs, check_int("order", 3)),
                             OP(diff, inputs, check_int("order", 3), check_int("axis", 1))));
}

static void joined_differences_agree(void **unused) {
  (void)unused;
  check_rule("diff", by_joined_differences);
}

/* -- zeros and infinities ------------------------------------------------------------------------------------------ */

/* The gradient of the sum of what an op gives for x, by x. */
static void gradient_at(const row *at, const double *numbers_at, int32_t size, double *dx) {
  const int64_t extents[] = {size};
  nd4c_graph *graph = NULL;
  nd4c_array *x = NULL, *result = NULL;
  nd4c_value given = ND4C_VALUE_NONE, gradient = ND4C_VALUE_NONE;
  int32_t count = 0;
  while (count < MAX_ATTRS && at->attrs[count].name != NULL) {
    count++;
  }
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT64, 1, extents, &given));
  const value loss = UNARY(sum, check_op(graph, at->op, &given, 1, at->attrs, count));
  CHECK_OK(nd4c_graph_gradient(graph, loss, &given, 1, &gradient));
  CHECK_OK(nd4c_graph_output(graph, "dx", gradient));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT64, 1, extents, numbers_at, NULL, &x));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &result, 1));
  CHECK_OK(nd4c_array_read(result, dx, (size_t)size * sizeof *dx));
  nd4c_array_release(x);
  nd4c_array_release(result);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void zeros_and_infinities_have_gradients(void **unused) {
  enum { SIZE_OF_X = 4 };
  const struct { /* not static: lists have addresses */
    row row;
    double x[SIZE_OF_X], dx[SIZE_OF_X];
  } ends[] = {
      {ROW(prod, true, {0}), {2, 0, 3, 5}, {0, 30, 0, 0}},
      {ROW(prod, true, {0}), {2, 0, 0, 5}, {0, 0, 0, 0}},
      {ROW(std, true, {0}), {7, 7, 7, 7}, {0, 0, 0, 0}},
      {ROW(var, true, {0}), {7, 7, 7, 7}, {0, 0, 0, 0}},
      {ROW(norm2, true, {0}), {0, 0, 0, 0}, {0, 0, 0, 0}},
      {ROW(norm2, true, {0}), {3e200, 0, -4e200, 0}, {0.6, 0, -0.8, 0}},
      {ROW(norm1, true, {0}), {0, 2, -3, 0}, {0, 1, -1, 0}},
      {ROW(norm_max, true, {0}), {-3, 1, 3, 0}, {-0.5, 0, 0.5, 0}},
      {ROW(vector_norm, true, FLOATS("ord", 0.5)), {0, 4, 0, 0}, {0, 1, 0, 0}},
      {ROW(logsumexp, true, {0}), {-INFINITY, -INFINITY, -INFINITY, -INFINITY}, {0, 0, 0, 0}},
      {ROW(logsumexp, true, {0}), {-INFINITY, 1000, 1000, -1000}, {0, 0.5, 0.5, 0}},
      {ROW(nansum, true, {0}), {NAN, 2, NAN, 3}, {0, 1, 0, 1}},
      {ROW(nanmax, true, {0}), {NAN, 3, 2, 3}, {0, 0.5, 0, 0.5}},
      {ROW(nanmin, true, {0}), {4, NAN, 2, 3}, {0, 0, 1, 0}},
      {ROW(nanmax, true, {0}), {NAN, NAN, NAN, NAN}, {0, 0, 0, 0}},
      {ROW(nanmean, true, {0}), {NAN, 2, NAN, 3}, {0, 0.5, 0, 0.5}},
      {ROW(nanmean, true, {0}), {NAN, NAN, NAN, NAN}, {0, 0, 0, 0}},
      {ROW(nanvar, true, {0}), {NAN, 2, 6, NAN}, {0, -2, 2, 0}},
      {ROW(nanvar, true, FLOATS("correction", 1)), {NAN, 2, 6, NAN}, {0, -4, 4, 0}},
      {ROW(nanstd, true, {0}), {NAN, 2, 6, NAN}, {0, -0.5, 0.5, 0}},
      {ROW(nanstd, true, {0}), {NAN, 3, 3, 3}, {0, 0, 0, 0}},
      {ROW(ptp, true, {0}), {4, 1, 1, 2}, {1, -0.5, -0.5, 0}},
      {ROW(ptp, true, {0}), {7, 7, 7, 7}, {0, 0, 0, 0}},
      {ROW(median, true, {0}), {5, 9, 1, 2}, {0.5, 0, 0, 0.5}},
      {ROW(median, true, {0}), {3, 3, 3, 3}, {0, 0.5, 0.5, 0}}, /* those in the middle, in their order */
      {ROW(quantile, true, LIST(2, 1, 0.5)), {5, 9, 1, INFINITY}, {0.5, 0.5, 0, 1}},
      {ROW(quantile, true, LIST(1, 1. / 3)), {5, 9, 1, 2}, {0, 0, 0, 1}},
      {ROW(cumulative_prod, true, {0}), {2, 0, 3, 5}, {1, 2 * (1 + 3 + 15), 0, 0}},
      {ROW(cumulative_prod, true, YES("exclusive")), {2, 0, 3, 5}, {1, 2 + 6, 0, 0}},
      {ROW(cumulative_prod, true, YES("reverse")), {2, 0, 3, 0}, {0, 0, 0, 1 + 3}},
  };
  (void)unused;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    double dx[SIZE_OF_X];
    gradient_at(&ends[i].row, ends[i].x, SIZE_OF_X, dx);
    for (int32_t k = 0; k < SIZE_OF_X; k++) {
      if (!(fabs(dx[k] - ends[i].dx[k]) <= 1e-12)) {
        fail_msg("%s (row %d): element %d: the gradient is %.17g, expected %.17g", ends[i].row.what, (int)i, (int)k,
                 dx[k], ends[i].dx[k]);
      }
    }
  }
}

/* -- dims ---------------------------------------------------------------------------------------------------------- */

/* How many rows there are is known when the plan runs. */
static void rows_may_be_dims(void **unused) {
  const int64_t given[] = {3, 4};
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, given, 5, -1, 1), *results[2] = {NULL};
  (void)unused;
  for (int32_t i = 0; i < 2; i++) {
    int64_t extents[] = {3, 4}, both[] = {0, 1};
    nd4c_graph *graph = NULL;
    nd4c_value gradient = ND4C_VALUE_NONE;
    CHECK_OK(nd4c_graph_create(&graph));
    if (i == 1) {
      CHECK_OK(nd4c_graph_dim(graph, "rows", 1, -1, &extents[0]));
    }
    const value t = check_input(graph, "x", 2, extents), ts[] = {t};
    const value spread = OP(std, ts, INTS("axes", 0), ATTR_FLOAT("correction", 1));
    const value whole_of_it = OP(var, ts, INTS("axes", both[0], both[1])), mean = OP(abs_mean, ts, INTS("axes", 0));
    const value running = OP(cumulative_sum, ts, check_int("axis", 0), ATTR_BOOL("include_initial", 1));
    const value without = BINARY(multiply, OP(nanmean, ts, INTS("axes", 0)), OP(nanstd, ts, INTS("axes", 0)));
    const value middle = BINARY(add, OP(ptp, ts, INTS("axes", 0)), UNARY(mean, OP(median, ts, INTS("axes", 1))));
    const value parts =
        BINARY(add, BINARY(multiply, without, middle),
               BINARY(multiply, BINARY(multiply, spread, mean), BINARY(add, whole_of_it, UNARY(prod, t))));
    CHECK_OK(nd4c_graph_gradient(graph, BINARY(add, UNARY(sum, parts), UNARY(sum, UNARY(square, running))), &t, 1,
                                 &gradient));
    CHECK_OK(nd4c_graph_output(graph, "dx", gradient));
    nd4c_plan *plan = plan_of(graph, NULL, false);
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &results[i], 1));
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
  assert_true(check_difference(results[0], results[1]) <= 1e-5);
  check_release(results, 2);
  nd4c_array_release(x);
}

/* The places in sorted lines are numbers. */
static void quantiles_need_numbers_along_their_axes(void **unused) {
  int64_t extents[] = {3, 4};
  nd4c_graph *graph = NULL;
  nd4c_value gradient = ND4C_VALUE_NONE;
  (void)unused;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "rows", 1, -1, &extents[0]));
  const value t = check_input(graph, "x", 2, extents), ts[] = {t};
  assert_int_equal(nd4c_graph_gradient(graph, UNARY(sum, OP(median, ts, INTS("axes", 0))), &t, 1, &gradient),
                   ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "median: the gradient of a quantile needs numbers along its axes"));
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_rule_agrees_with_differences),       cmocka_unit_test(joined_differences_agree),
      cmocka_unit_test(zeros_and_infinities_have_gradients),     cmocka_unit_test(rows_may_be_dims),
      cmocka_unit_test(quantiles_need_numbers_along_their_axes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
