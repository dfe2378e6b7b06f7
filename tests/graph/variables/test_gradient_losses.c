/* nd4c_graph_gradient: the rules of losses, each by itself and in each reduction, against differences. */
#include "gradient_check.h"

typedef struct row {
  nd4c_op op;
  bool positive; /* the target is above 0 */
  const char *parameter;
  double number;
  const char *what;
} row;
#define ROW(op, positive, parameter, number) {ND4C_OP_##op, positive, parameter, number, #op}

static const row rows[] = {
    ROW(mse_loss, false, NULL, 0),
    ROW(l1_loss, false, NULL, 0),
    ROW(huber_loss, false, "delta", 0.7),
    ROW(smooth_l1_loss, false, "beta", 0.6),
    ROW(smooth_l1_loss, false, "beta", 0),
    ROW(hinge_loss, false, NULL, 0),
    ROW(sigmoid_cross_entropy, true, NULL, 0),
    ROW(sigmoid_cross_entropy, false, "label_smoothing", 0.2),
    ROW(poisson_nll_loss, false, NULL, 0),
    ROW(kl_divergence, true, NULL, 0),
    ROW(kl_divergence, false, "log_target", 1),
};

static const row *current; /* of check_rule's loss */
static int64_t reduction;

static value of_current(nd4c_graph *graph, value x, value w) {
  const value p = BINARY(multiply, BINARY(matmul, x, w), numbers(graph, 1, (double[]){2}));
  const value t = UNARY(sin, BINARY(matmul, x, UNARY(cos, w)));
  const value inputs[] = {p, current->positive ? UNARY(sigmoid, t) : t};
  const bool whole_number = current->op == ND4C_OP_kl_divergence;
  nd4c_attr attrs[2] = {check_int("reduction", reduction)};
  if (current->parameter != NULL) {
    attrs[1] = whole_number ? ATTR_BOOL(current->parameter, 1) : ATTR_FLOAT(current->parameter, current->number);
  }
  return weigh(graph, check_op(graph, current->op, inputs, 2, attrs, current->parameter != NULL ? 2 : 1));
}

static const int64_t reductions[] = {ND4C_LOSS_REDUCTION_NONE, ND4C_LOSS_REDUCTION_SUM, ND4C_LOSS_REDUCTION_MEAN};

static void each_rule_agrees_with_differences(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (size_t k = 0; k < sizeof reductions / sizeof *reductions; k++) {
      current = &rows[i];
      reduction = reductions[k];
      check_rule(current->what, of_current);
    }
  }
}

/* One of three targets is left out. */
static value of_classes(nd4c_graph *graph, value x, value w) {
  const int64_t three[] = {3};
  const value targets = whole(graph, 1, three, (int64_t[]){1, 3, 0});
  const nd4c_attr attrs[] = {check_int("reduction", reduction), check_int("ignore_index", 3)};
  const value inputs[] = {BINARY(add, UNARY(mean, x), UNARY(cos, w)), targets};
  return weigh(graph, check_op(graph, ND4C_OP_nll_loss, inputs, 2, attrs, 2));
}

static void likelihoods_agree(void **unused) {
  (void)unused;
  for (size_t k = 0; k < sizeof reductions / sizeof *reductions; k++) {
    reduction = reductions[k];
    check_rule("nll_loss", of_classes);
  }
}

static void weights_are_refused(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    nd4c_graph *graph = NULL;
    nd4c_value x = ND4C_VALUE_NONE, gradient = -7;
    CHECK_OK(nd4c_graph_create(&graph));
    CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT64, 2, x_shape, &x));
    const value loss = check_op(graph, rows[i].op, (value[]){x, UNARY(cos, x), UNARY(exp, x)}, 3, NULL, 0);
    assert_int_equal(nd4c_graph_gradient(graph, loss, &x, 1, &gradient), ND4C_UNSUPPORTED);
    assert_non_null(strstr(nd4c_error_message(), "the gradient of a loss with weights is not supported"));
    nd4c_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_rule_agrees_with_differences),
      cmocka_unit_test(likelihoods_agree),
      cmocka_unit_test(weights_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
