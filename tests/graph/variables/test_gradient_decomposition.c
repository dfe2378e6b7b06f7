/* nd4c_graph_gradient: the rules of inverses, determinants, solutions, factors and powers of matrices, each by itself
 * against differences of a loss. */
#include "gradient_check.h"

#define CASE(name) static value name(nd4c_graph *graph, value x, value w)
#define POWER(x, exponent) OP(matrix_power, x, check_int("n", exponent))

/* Two matrices [2, 3, 3] with the identity twice in them, far from singular ones. */
static value matrices(nd4c_graph *graph, value x, value w) {
  const value columns = SHAPED(UNARY(sin, w), 1, 3, 4), rows = SHAPED(many(graph, x, w), 2, 4, 3);
  const value two = SHAPED(numbers(graph, 9, (double[]){2, 0, 0, 0, 2, 0, 0, 0, 2}), 3, 3);
  return BINARY(add, BINARY(multiply, BINARY(matmul, columns, rows), numbers(graph, 1, (double[]){0.4})), two);
}

static value symmetric(nd4c_graph *graph, value x, value w) {
  const value m = matrices(graph, x, w);
  return BINARY(matmul, m, UNARY(matrix_transpose, m));
}

CASE(inverses) {
  return weigh(graph, UNARY(inv, matrices(graph, x, w)));
}

CASE(determinants) {
  return weigh(graph, UNARY(det, matrices(graph, x, w)));
}

/* Two rows exchange places: the determinants are negative. */
CASE(logarithms) {
  const value m = matrices(graph, x, w),
              turned = BINARY(matmul, SHAPED(numbers(graph, 9, (double[]){0, 1, 0, 1, 0, 0, 0, 0, 1}), 3, 3), m);
  nd4c_value parts[2];
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_slogdet, &turned, 1, NULL, 0, NULL, parts, 2));
  return weigh(graph, BINARY(multiply, parts[0], parts[1]));
}

CASE(sign_alone) {
  const value m = matrices(graph, x, w);
  nd4c_value parts[2];
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_slogdet, &m, 1, NULL, 0, NULL, parts, 2));
  return BINARY(multiply, UNARY(sum, parts[0]), UNARY(mean, x));
}

CASE(solutions) {
  const value m = matrices(graph, x, w), vector = ints_op(graph, ND4C_OP_mean, w, "axes", (int64_t[]){1}, 1);
  const value one = ints_op(graph, ND4C_OP_mean, m, "axes", (int64_t[]){0}, 1);
  const value first = BINARY(solve, m, w), second = BINARY(solve, m, vector),
              third = BINARY(solve, one, SHAPED(many(graph, x, w), 2, 3, 4));
  return BINARY(add, weigh(graph, first), BINARY(add, weigh(graph, second), weigh(graph, third)));
}

/* b of one axis, of two, and of more than the matrices have */
static value each_right_side(nd4c_graph *graph, nd4c_op op, value m, value x, value w, const nd4c_attr *attrs,
                             int32_t attr_count) {
  const value vector = ints_op(graph, ND4C_OP_mean, w, "axes", (int64_t[]){1}, 1);
  const value one = ints_op(graph, ND4C_OP_mean, m, "axes", (int64_t[]){0}, 1);
  const value first = check_op(graph, op, (value[]){m, w}, 2, attrs, attr_count),
              second = check_op(graph, op, (value[]){m, vector}, 2, attrs, attr_count),
              third = check_op(graph, op, (value[]){one, SHAPED(many(graph, x, w), 2, 3, 4)}, 2, attrs, attr_count);
  return BINARY(add, weigh(graph, first), BINARY(add, weigh(graph, second), weigh(graph, third)));
}

CASE(triangles) {
  const value m = matrices(graph, x, w);
  value all = UNARY(mean, x);
  for (int bits = 0; bits < 8; bits++) {
    const nd4c_attr attrs[] = {ATTR_BOOL("upper", bits & 1), ATTR_BOOL("adjoint", bits >> 1 & 1),
                               ATTR_BOOL("unit_diagonal", bits >> 2)};
    all = BINARY(add, all, each_right_side(graph, ND4C_OP_triangular_solve, m, x, w, attrs, 3));
  }
  return all;
}

/* Of whole matrices as factors only one triangle is read. */
CASE(by_factors) {
  const value m = matrices(graph, x, w);
  const nd4c_attr lower = ATTR_BOOL("upper", 0), upper = ATTR_BOOL("upper", 1);
  return BINARY(add, each_right_side(graph, ND4C_OP_cholesky_solve, m, x, w, &lower, 1),
                each_right_side(graph, ND4C_OP_cholesky_solve, m, x, w, &upper, 1));
}

CASE(factors) {
  const value s = symmetric(graph, x, w), ss[] = {s};
  const value turned = UNARY(matrix_transpose, OP(cholesky, ss, ATTR_BOOL("upper", 1)));
  return BINARY(add, weigh(graph, UNARY(cholesky, s)), weigh(graph, UNARY(cos, turned)));
}

CASE(powers) {
  const value m = BINARY(multiply, matrices(graph, x, w), numbers(graph, 1, (double[]){0.5})), ms[] = {m};
  const value plus = BINARY(add, weigh(graph, POWER(ms, 1)), weigh(graph, POWER(ms, 4)));
  const value minus = BINARY(add, weigh(graph, POWER(ms, -1)), weigh(graph, POWER(ms, -2)));
  return BINARY(add, BINARY(add, plus, minus), BINARY(multiply, UNARY(sum, POWER(ms, 0)), UNARY(mean, x)));
}

static void rules_agree_with_differences(void **unused) {
  static const struct {
    const char *what;
    make_loss make;
  } rows[] = {
      {"inv", inverses},
      {"det", determinants},
      {"slogdet", logarithms},
      {"sign of slogdet", sign_alone},
      {"solve", solutions},
      {"cholesky", factors},
      {"matrix_power", powers},
      {"triangular_solve", triangles},
      {"cholesky_solve", by_factors},
  };
  (void)unused;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    check_rule(rows[i].what, rows[i].make);
  }
}

/* One triangle of x is read; the gradient is that of both. */
static void factors_have_symmetric_gradients(void **unused) {
  const int64_t extents[] = {2, 2};
  const double at[] = {4, 0, 2, 5}, expected[] = {0.1875, 0.125, 0.125, 0.25};
  nd4c_graph *graph = NULL;
  nd4c_array *x = NULL, *result = NULL;
  nd4c_value given = ND4C_VALUE_NONE, gradient = ND4C_VALUE_NONE;
  double dx[4];
  (void)unused;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT64, 2, extents, &given));
  CHECK_OK(nd4c_graph_gradient(graph, UNARY(sum, UNARY(cholesky, given)), &given, 1, &gradient));
  CHECK_OK(nd4c_graph_output(graph, "dx", gradient));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT64, 2, extents, at, NULL, &x));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &result, 1));
  CHECK_OK(nd4c_array_read(result, dx, sizeof dx));
  for (int32_t i = 0; i < 4; i++) {
    if (!(fabs(dx[i] - expected[i]) <= 1e-12)) {
      fail_msg("element %d: %.17g, expected %.17g", (int)i, dx[i], expected[i]);
    }
  }
  nd4c_array_release(x);
  nd4c_array_release(result);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void large_powers_are_refused(void **unused) {
  (void)unused;
  for (int32_t sign = -1; sign <= 1; sign += 2) {
    const int64_t extents[] = {3, 3};
    nd4c_graph *graph = NULL;
    nd4c_value gradient = ND4C_VALUE_NONE;
    CHECK_OK(nd4c_graph_create(&graph));
    const value x = check_input(graph, "x", 2, extents), xs[] = {x};
    const value loss = UNARY(sum, POWER(xs, 33 * sign)), fine = UNARY(sum, POWER(xs, 32 * sign));
    assert_int_equal(nd4c_graph_gradient(graph, loss, &x, 1, &gradient), ND4C_UNSUPPORTED);
    assert_non_null(strstr(nd4c_error_message(), "matrix_power: powers above 32 have no gradient"));
    CHECK_OK(nd4c_graph_gradient(graph, fine, &x, 1, &gradient));
    nd4c_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rules_agree_with_differences),
      cmocka_unit_test(factors_have_symmetric_gradients),
      cmocka_unit_test(large_powers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
