/* nd4c_graph_gradient: the rules of activations and of functions that are less common, each by itself against
 * differences of a loss, and where they bend and end. */
#include "gradient_check.h"

enum { MAX_ATTRS = 3 };

/* y = op(p), op(p, q), or op(h) with the numbers h between 0 and 1 */
typedef enum operands { ONE, TWO, INSIDE } operands;
typedef struct row {
  nd4c_op op;
  operands operands;
  nd4c_attr attrs[MAX_ATTRS];
  const char *what;
} row;
#define ROW(op, operands, ...) {ND4C_OP_##op, operands, {__VA_ARGS__}, #op}
#define FLOATS(name, x)                    \
  {                                        \
    name, {                                \
      .kind = ND4C_ATTR_FLOAT, .as.f = (x) \
    }                                      \
  }
#define AXIS(x)                          \
  {                                      \
    "axis", {                            \
      .kind = ND4C_ATTR_INT, .as.i = (x) \
    }                                    \
  }

static const row rows[] = {
    ROW(elu, ONE, FLOATS("alpha", 0.7)),
    ROW(selu, ONE, FLOATS("alpha", 1.3), FLOATS("gamma", 0.9)),
    ROW(celu, ONE, FLOATS("alpha", 1.7)),
    ROW(celu, ONE, FLOATS("alpha", -1.7)),
    ROW(softsign, ONE, {0}),
    ROW(hard_sigmoid, ONE, FLOATS("alpha", 0.3), FLOATS("beta", 0.4)),
    ROW(hard_swish, ONE, {0}),
    ROW(mish, ONE, {0}),
    ROW(prelu, TWO, {0}),
    ROW(threshold, ONE, FLOATS("threshold", 0.5), FLOATS("value", 3)),
    ROW(hard_tanh, ONE, FLOATS("low", -1.5), FLOATS("high", 0.5)),
    ROW(log_sigmoid, ONE, {0}),
    ROW(tanh_shrink, ONE, {0}),
    ROW(shrink, ONE, FLOATS("lambd", 0.6), FLOATS("bias", 0.2)),
    ROW(cube, INSIDE, {0}),
    ROW(rectified_tanh, ONE, {0}),
    ROW(glu, ONE, AXIS(1)),
    ROW(glu, ONE, AXIS(-2)),
    ROW(crelu, ONE, AXIS(-1)),
    ROW(swiglu, TWO, FLOATS("alpha", 1.4)),
    ROW(logaddexp2, TWO, {0}),
    ROW(rsqrt, INSIDE, {0}),
    ROW(erfc, ONE, {0}),
    ROW(logit, INSIDE, {0}),
    ROW(lgamma, INSIDE, {0}),
    ROW(deg2rad, ONE, {0}),
    ROW(rad2deg, INSIDE, {0}),
    ROW(positive, ONE, {0}),
    ROW(squared_difference, TWO, {0}),
    ROW(remainder, TWO, {0}),
    ROW(fmod, TWO, {0}),
    ROW(floor_divide, TWO, {0}),
    ROW(floor, ONE, {0}),
    ROW(ceil, ONE, {0}),
    ROW(round, ONE, {0}),
    ROW(trunc, ONE, {0}),
    ROW(sign, ONE, {0}),
};

static const row *current; /* of check_rule's loss */

static value of_current(nd4c_graph *graph, value x, value w) {
  const value p = BINARY(multiply, BINARY(matmul, x, w), numbers(graph, 1, (double[]){4}));
  const value q = BINARY(add, UNARY(cos, ints_op(graph, ND4C_OP_mean, w, "axes", (int64_t[]){0}, 1)),
                         numbers(graph, 1, (double[]){0.5}));
  const value inputs[] = {current->operands == INSIDE ? UNARY(sigmoid, p) : p, q};
  int32_t count = 0;
  while (count < MAX_ATTRS && current->attrs[count].name != NULL) {
    count++;
  }
  return weigh(graph, check_op(graph, current->op, inputs, current->operands == TWO ? 2 : 1, current->attrs, count));
}

static void each_rule_agrees_with_differences(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    current = &rows[i];
    check_rule(current->what, of_current);
  }
}

/* Of a ln b, where a is 0 in some places. */
static value by_xlogy(nd4c_graph *graph, value x, value w) {
  const value p = UNARY(exp, BINARY(matmul, x, w));
  const value ramp = UNARY(relu, BINARY(matmul, x, w));
  return weigh(graph, BINARY(xlogy, ramp, p));
}

static void products_with_logarithms_agree(void **unused) {
  (void)unused;
  check_rule("xlogy", by_xlogy);
}

/* -- bends and ends ------------------------------------------------------------------------------------------------ */

enum { SPOTS = 5 };

/* The slopes of an op at x. */
static void slopes_at(nd4c_op op, const double *x, double *slopes) {
  const int64_t extents[] = {SPOTS};
  nd4c_graph *graph = NULL;
  nd4c_array *given = NULL, *result = NULL;
  nd4c_value at = ND4C_VALUE_NONE, gradient = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT64, 1, extents, &at));
  CHECK_OK(nd4c_graph_gradient(graph, UNARY(sum, check_unary(graph, op, at)), &at, 1, &gradient));
  CHECK_OK(nd4c_graph_output(graph, "dx", gradient));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT64, 1, extents, x, NULL, &given));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){given}, 1, &result, 1));
  CHECK_OK(nd4c_array_read(result, slopes, SPOTS * sizeof *slopes));
  nd4c_array_release(given);
  nd4c_array_release(result);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void bends_and_ends_have_a_slope(void **unused) {
  static const struct {
    const char *what;
    nd4c_op op;
    double x[SPOTS], slopes[SPOTS];
  } ends[] = {
      {"elu", ND4C_OP_elu, {-INFINITY, -1e3, 0, 1e3, INFINITY}, {0, 0, 1, 1, 1}},
      {"selu",
       ND4C_OP_selu,
       {-INFINITY, -1e3, 0, 1, INFINITY},
       {0, 0, 1.7580993408473768, 1.0507009873554805, 1.0507009873554805}},
      {"celu", ND4C_OP_celu, {-INFINITY, -1e3, 0, 1e3, INFINITY}, {0, 0, 1, 1, 1}},
      {"mish", ND4C_OP_mish, {-INFINITY, -1e4, 0, 1e4, INFINITY}, {0, 0, 0.6, 1, 1}},
      {"hard_swish", ND4C_OP_hard_swish, {-INFINITY, -4, 0, 4, INFINITY}, {0, 0, 0.5, 1, 1}},
      {"hard_sigmoid", ND4C_OP_hard_sigmoid, {-INFINITY, -2.5, 0, 2.5, INFINITY}, {0, 0, 0.2, 0, 0}},
      {"hard_tanh", ND4C_OP_hard_tanh, {-INFINITY, -1, 0, 1, INFINITY}, {0, 0, 1, 0, 0}},
      {"softsign", ND4C_OP_softsign, {-INFINITY, -1, 0, 1, INFINITY}, {0, 0.25, 1, 0.25, 0}},
      {"log_sigmoid", ND4C_OP_log_sigmoid, {-INFINITY, -1e3, 0, 1e3, INFINITY}, {1, 1, 0.5, 0, 0}},
      {"tanh_shrink", ND4C_OP_tanh_shrink, {-INFINITY, -1e3, 0, 1e3, INFINITY}, {1, 1, 0, 1, 1}},
      {"shrink", ND4C_OP_shrink, {-INFINITY, -0.5, 0, 0.5, INFINITY}, {1, 0, 0, 0, 1}},
      {"rectified_tanh", ND4C_OP_rectified_tanh, {-INFINITY, -1, 0, 1e3, INFINITY}, {0, 0, 0, 0, 0}},
  };
  (void)unused;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    double slopes[SPOTS];
    slopes_at(ends[i].op, ends[i].x, slopes);
    for (int32_t k = 0; k < SPOTS; k++) {
      if (!(fabs(slopes[k] - ends[i].slopes[k]) <= 1e-12)) {
        fail_msg("%s at %g: the slope is %.17g, expected %.17g", ends[i].what, ends[i].x[k], slopes[k],
                 ends[i].slopes[k]);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_rule_agrees_with_differences),
      cmocka_unit_test(products_with_logarithms_agree),
      cmocka_unit_test(bends_and_ends_have_a_slope),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
