/* nd4c_graph_gradient: the rules of einsum and of the other sums of products, each by itself against differences of a
 * loss. */
#include "gradient_check.h"

#define CASE(name) static value name(nd4c_graph *graph, value x, value w)
#define EINSUM(equation, ...) \
  einsum_of(graph, equation, (value[]){__VA_ARGS__}, (int32_t)(sizeof((value[]){__VA_ARGS__}) / sizeof(value)))
#define PLUS(a, b) BINARY(add, weigh(graph, a), weigh(graph, b))

static value einsum_of(nd4c_graph *graph, const char *equation, const value *operands, int32_t count) {
  const nd4c_attr attr = {"equation", {.kind = ND4C_ATTR_STRING, .as.string = equation}};
  return check_op(graph, ND4C_OP_einsum, operands, count, &attr, 1);
}

/* x [2, 3], w [3, 4] */
CASE(plain) {
  return PLUS(EINSUM("ij,jk->ik", x, w), EINSUM(" kj , ik -> ", w, UNARY(matrix_transpose, w)));
}

CASE(implied) { /* Z stands in front of a; j is summed */
  return PLUS(EINSUM("aj,jZ", x, w), EINSUM("ba", x));
}

CASE(summed_apart) { /* i and k are summed by themselves */
  return PLUS(EINSUM("ij,jk->j", x, w), BINARY(multiply, EINSUM("ij->", x), EINSUM("ij->i", w)));
}

CASE(diagonals) {
  const value t = SHAPED(many(graph, x, w), 4, 3, 2), square = SHAPED(EINSUM("ij,kj->ik", w, w), 3, 3);
  const value cube = BINARY(multiply, SHAPED(square, 3, 3, 1), SHAPED(w, 3, 1, 4));
  const value first = EINSUM("ii->i", square), second = EINSUM("iij,j->j", cube, EINSUM("ji->i", w));
  return BINARY(add, PLUS(first, second), PLUS(EINSUM("ii", square), EINSUM("ijk->k", t)));
}

CASE(dots) {
  const value t = SHAPED(many(graph, x, w), 2, 3, 4), u = SHAPED(UNARY(sin, w), 1, 3, 4);
  const value first = EINSUM("...ij,...kj->...ik", t, u), second = EINSUM("i...,...", x, UNARY(cos, x));
  const value third = EINSUM("...j,j->...", t, EINSUM("ij->j", w)), fourth = EINSUM("...,...->...", w, UNARY(sum, x));
  return BINARY(add, PLUS(first, second), PLUS(third, fourth));
}

CASE(three) {
  const value s = EINSUM("ij->j", w);
  return PLUS(EINSUM("ij,jk,k->i", x, w, s), EINSUM("ij,kj,lj->ikl", x, x, UNARY(sin, x)));
}

CASE(broadcast) { /* letters of one element */
  const value column = SHAPED(EINSUM("ij->i", x), 2, 1), row = SHAPED(EINSUM("ij->j", x), 1, 3);
  return PLUS(EINSUM("ij,ij->ij", column, row), EINSUM("ij,ij,jk->k", x, row, SHAPED(w, 3, 4)));
}

CASE(tensordots) {
  const value t = SHAPED(many(graph, x, w), 2, 3, 4), inputs[] = {t, w}, both[] = {t, SHAPED(x, 3, 2)}, pair[] = {x, w};
  const value first = OP(tensordot, inputs, INTS("axes_a", 1), INTS("axes_b", 0));
  const value second = OP(tensordot, both, INTS("axes_a", -2, 0), INTS("axes_b", 0, 1));
  return BINARY(add, PLUS(first, second), weigh(graph, check_op(graph, ND4C_OP_tensordot, pair, 2, NULL, 0)));
}

CASE(inners) {
  const value t = SHAPED(many(graph, x, w), 2, 3, 4), number = UNARY(mean, x);
  return BINARY(add, PLUS(BINARY(inner, t, w), BINARY(inner, number, w)),
                PLUS(BINARY(inner, x, number), BINARY(inner, number, number)));
}

CASE(outers) {
  return weigh(graph, BINARY(outer, SHAPED(x, 6), SHAPED(w, 12)));
}

CASE(vecdots) {
  const value t = SHAPED(many(graph, x, w), 2, 3, 4), inputs[] = {t, w}, turned[] = {w, t};
  return PLUS(BINARY(vecdot, t, w),
              BINARY(add, OP(vecdot, inputs, check_int("axis", -2)), OP(vecdot, turned, check_int("axis", 1))));
}

CASE(vectors) {
  const value t = SHAPED(many(graph, x, w), 2, 3, 4);
  return BINARY(add, PLUS(BINARY(matvec, t, EINSUM("ij->j", w)), BINARY(matvec, w, SHAPED(t, 6, 4))),
                PLUS(BINARY(vecmat, x, w), BINARY(vecmat, x, t)));
}

CASE(krons) {
  return BINARY(add, PLUS(BINARY(kron, x, w), BINARY(kron, x, EINSUM("ij->j", w))),
                PLUS(BINARY(kron, EINSUM("ij->j", w), x), BINARY(kron, UNARY(mean, w), x)));
}

CASE(chains) {
  const value turned = UNARY(matrix_transpose, w), row = EINSUM("ij->i", x), column = EINSUM("ij->i", w);
  const value matrices[] = {x, w, turned}, ends[] = {row, x, w, turned, column}, left[] = {row, x},
              right[] = {x, column};
  const value full = check_op(graph, ND4C_OP_multi_dot, matrices, 3, NULL, 0);
  const value number = check_op(graph, ND4C_OP_multi_dot, ends, 5, NULL, 0);
  return BINARY(add, PLUS(full, number),
                PLUS(check_op(graph, ND4C_OP_multi_dot, left, 2, NULL, 0),
                     check_op(graph, ND4C_OP_multi_dot, right, 2, NULL, 0)));
}

CASE(crosses) {
  const value t = SHAPED(many(graph, x, w), 4, 2, 3), inputs[] = {t, x}, sides[] = {w, SHAPED(w, 3, 4)};
  const value other[] = {w, UNARY(sin, sides[1])};
  return BINARY(add, PLUS(BINARY(cross, t, x), OP(cross, inputs, check_int("axis", 2))),
                weigh(graph, OP(cross, other, check_int("axis", 0))));
}

static void rules_agree_with_differences(void **unused) {
  static const struct {
    const char *what;
    make_loss make;
  } rows[] = {
#define NAMED(name) {#name, name},
      NAMED(plain) NAMED(implied) NAMED(summed_apart) NAMED(diagonals) NAMED(dots) NAMED(three) NAMED(broadcast)
          NAMED(tensordots) NAMED(inners) NAMED(outers) NAMED(vecdots) NAMED(vectors) NAMED(krons) NAMED(chains)
              NAMED(crosses)};
  (void)unused;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    check_rule(rows[i].what, rows[i].make);
  }
}

/* An operand of another dtype takes part in the dtype of the result, and its gradient is in its own. */
static void dtypes_may_differ(void **unused) {
  const nd4c_attr narrow = {"dtype", {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_FLOAT32}};
  nd4c_graph *graph = NULL;
  nd4c_array *arrays[2] = {NULL}, *result = NULL;
  nd4c_value values[2], gradient = ND4C_VALUE_NONE;
  const float x[X] = {1, 2, 3, 4, 5, 6};
  const double w[W] = {1, 0, 0, 2, 0, 1, 0, 0, 0, 0, 1, 3};
  const float expected[] = {3, 1, 4};
  float dx[X];
  (void)unused;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 2, x_shape, &values[0]));
  CHECK_OK(nd4c_graph_input(graph, "w", ND4C_FLOAT64, 2, w_shape, &values[1]));
  const value loss = UNARY(sum, EINSUM("ij,jk->ik", values[0], values[1])),
              low = check_op(graph, ND4C_OP_cast, &loss, 1, &narrow, 1);
  CHECK_OK(nd4c_graph_gradient(graph, low, values, 1, &gradient));
  CHECK_OK(nd4c_graph_output(graph, "dx", gradient));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 2, x_shape, x, NULL, &arrays[0]));
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT64, 2, w_shape, w, NULL, &arrays[1]));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){arrays[0], arrays[1]}, 2, &result, 1));
  CHECK_OK(nd4c_array_read(result, dx, sizeof dx));
  for (int32_t i = 0; i < X; i++) {
    assert_true(dx[i] == expected[i % 3]);
  }
  check_release(arrays, 2);
  nd4c_array_release(result);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void too_many_arrays_are_refused(void **unused) {
  enum { MANY = 17 };
  nd4c_graph *graph = NULL;
  nd4c_value numbers_of[MANY], at = ND4C_VALUE_NONE, gradient = ND4C_VALUE_NONE;
  (void)unused;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT64, 0, NULL, &at));
  for (int32_t i = 0; i < MANY; i++) {
    numbers_of[i] = at;
  }
  const value loss = einsum_of(graph, ",,,,,,,,,,,,,,,,->", numbers_of, MANY);
  assert_int_equal(nd4c_graph_gradient(graph, loss, &at, 1, &gradient), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "einsum: its gradient has more than 16 arrays or 52 different axes"));
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rules_agree_with_differences),
      cmocka_unit_test(dtypes_may_differ),
      cmocka_unit_test(too_many_arrays_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
