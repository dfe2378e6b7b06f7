/* Recognises activations that multiply a value by a function of itself: swish in x * sigmoid(alpha x) and
 * x / (1 + e^-x), hard_swish in x * hard_sigmoid(x), mish in x * tanh(softplus(x)); and sigmoid in 1 / (1 + e^-x).
 * passes.c runs it on every optimised plan.
 *
 * The results round less often. For minus infinity, where the products are NaN, the ops give their limit, -0. */
#include <math.h>

#include "base/status.h"
#include "graph/ir/sweep.h"
#include "graph/match/moments.h"
#include "graph/passes.h"

/* Models have constants with float32's precision. */
static bool is_about(double number, double expected) {
  return fabs(number - expected) <= 1e-6 * fabs(expected);
}

typedef struct match {
  nd4c_op op;
  nd4c_value x;
  double alpha; /* of swish */
} match;

/* Of sigmoid(x) and sigmoid(alpha x). Below the limit of alpha, the fast kernels do not take swish. */
static bool is_sigmoid(const nd4c_rewrite *rewrite, nd4c_value factor, nd4c_value x, match *found) {
  const double least_alpha = 0.1;
  const nd4c_graph_node *sigmoid = nd4c_rewrite_inner(rewrite, factor, ND4C_OP_sigmoid);
  *found = (match){.op = ND4C_OP_swish, .x = x, .alpha = 1};
  if (sigmoid == NULL || sigmoid->inputs[0] == x) {
    return sigmoid != NULL;
  }
  const nd4c_graph_node *product = nd4c_rewrite_inner(rewrite, sigmoid->inputs[0], ND4C_OP_multiply);
  return product != NULL && nd4c_scalar_partner(rewrite, product, &found->alpha) == x && isfinite(found->alpha) &&
         fabs(found->alpha) >= least_alpha;
}

static bool is_hard_sigmoid(const nd4c_rewrite *rewrite, nd4c_value factor, nd4c_value x, match *found) {
  const nd4c_graph_node *node = nd4c_rewrite_inner(rewrite, factor, ND4C_OP_hard_sigmoid);
  *found = (match){.op = ND4C_OP_hard_swish, .x = x};
  return node != NULL && node->inputs[0] == x && is_about(node->attrs[ND4C_ATTR_hard_sigmoid_alpha].as.f, 1.0 / 6) &&
         is_about(node->attrs[ND4C_ATTR_hard_sigmoid_beta].as.f, 0.5);
}

static bool is_tanh_of_softplus(const nd4c_rewrite *rewrite, nd4c_value factor, nd4c_value x, match *found) {
  const nd4c_graph_node *tanh = nd4c_rewrite_inner(rewrite, factor, ND4C_OP_tanh);
  const nd4c_graph_node *softplus =
      tanh == NULL ? NULL : nd4c_rewrite_inner(rewrite, tanh->inputs[0], ND4C_OP_softplus);
  *found = (match){.op = ND4C_OP_mish, .x = x};
  return softplus != NULL && softplus->inputs[0] == x && softplus->attrs[ND4C_ATTR_softplus_beta].as.f == 1;
}

/* x if the value is 1 + e^-x, else NONE. */
static nd4c_value exponential_source(const nd4c_rewrite *rewrite, nd4c_value value) {
  double one = 0;
  const nd4c_graph_node *sum = nd4c_rewrite_inner(rewrite, value, ND4C_OP_add);
  const nd4c_value term = sum == NULL ? ND4C_VALUE_NONE : nd4c_scalar_partner(rewrite, sum, &one);
  const nd4c_graph_node *exp = nd4c_rewrite_inner(rewrite, term, ND4C_OP_exp);
  const nd4c_graph_node *negative =
      exp == NULL || one != 1 ? NULL : nd4c_rewrite_inner(rewrite, exp->inputs[0], ND4C_OP_negative);
  return negative == NULL ? ND4C_VALUE_NONE : negative->inputs[0];
}

/* x / (1 + e^-x) and 1 / (1 + e^-x). */
static bool is_quotient(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, match *found) {
  double one = 0;
  const bool inverse = node->def->info.op == ND4C_OP_reciprocal;
  const nd4c_value x = exponential_source(rewrite, node->inputs[inverse ? 0 : 1]);
  *found = (match){.op = ND4C_OP_sigmoid, .x = x, .alpha = 1};
  if (x < 0 || inverse) {
    return x >= 0;
  }
  if (node->inputs[0] == x) {
    found->op = ND4C_OP_swish;
    return true;
  }
  return nd4c_constant_scalar(rewrite, node->inputs[0], &one) && one == 1;
}

static bool find(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, match *found) {
  if (node->def->info.op == ND4C_OP_divide || node->def->info.op == ND4C_OP_reciprocal) {
    return is_quotient(rewrite, node, found);
  }
  for (int32_t i = 0; i < 2 && node->def->info.op == ND4C_OP_multiply; i++) {
    const nd4c_value factor = node->inputs[i], x = node->inputs[1 - i];
    if (is_sigmoid(rewrite, factor, x, found) || is_hard_sigmoid(rewrite, factor, x, found) ||
        is_tanh_of_softplus(rewrite, factor, x, found)) {
      return true;
    }
  }
  return false;
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)same;
  (void)state;
  match found;
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  if (!find(rewrite, node, &found) || !nd4c_rewrite_computes(rewrite, found.op, node->def->info.op)) {
    return ND4C_OK;
  }
  nd4c_attr_value attrs[ND4C_REWRITE_ATTRS];
  bool done = false;
  ND4C_TRY(nd4c_rewrite_presets(found.op, attrs));
  if (found.op == ND4C_OP_swish) {
    attrs[ND4C_ATTR_swish_alpha].as.f = found.alpha;
  }
  return nd4c_rewrite_node(rewrite, index, found.op, &found.x, 1, attrs, NULL, &done);
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(RECOGNIZE, 41, swish, ANY,
          "recognises swish, hard_swish, mish and sigmoid; -0 instead of NaN for minus infinity")
