/* Recognises gelu and its approximation by tanh: the product of x, 0.5 and 1 + erf(x / sqrt 2), or 1 + tanh(p) with
 * p = sqrt(2 / pi) (x + 0.044715 x^3), in any order and nesting; and x sigmoid(2 p). What stands inside erf, tanh and
 * sigmoid is read as a polynomial of x, so that each spelling of it will do. passes.c runs it on every optimised plan.
 */
#include <math.h>

#include "base/status.h"
#include "graph/ir/sweep.h"
#include "graph/match/moments.h"
#include "graph/passes.h"

enum { FACTORS = 3, DEGREE = 3, MOST_STEPS = 8 };

static const double root_half = 0.70710678118654752, root_two_over_pi = 0.79788456080286536, cubic = 0.044715;

/* Models have constants with float32's precision, or less; of float64 the result would show that. */
static bool is_about(double number, double expected, nd4c_dtype dtype) {
  const double part = dtype == ND4C_FLOAT64 ? 1e-14 : 1e-5;
  return fabs(number - expected) <= part * fabs(expected);
}

/* -- polynomials --------------------------------------------------------------------------------------------------- */

/* The sum of terms[i] x^i. */
typedef struct polynomial {
  double terms[DEGREE + 1];
} polynomial;

static bool multiply(const polynomial *a, const polynomial *b, polynomial *product) {
  polynomial sum = {{0}};
  for (int32_t i = 0; i <= DEGREE; i++) {
    for (int32_t k = 0; k <= DEGREE; k++) {
      const double term = a->terms[i] * b->terms[k];
      if (term != 0 && i + k > DEGREE) {
        return false;
      }
      sum.terms[i + k > DEGREE ? 0 : i + k] += term;
    }
  }
  *product = sum;
  return true;
}

static bool read_polynomial(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_value x, int32_t steps,
                            polynomial *made);

/* x^2 and x^3, by the ops that are there for them. */
static bool read_power(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, nd4c_value x, int32_t steps,
                       polynomial *made) {
  double exponent = 2;
  polynomial base;
  const bool known = node->def->info.op == ND4C_OP_square ||
                     (nd4c_constant_scalar(rewrite, node->inputs[1], &exponent) && (exponent == 2 || exponent == 3));
  return known && read_polynomial(rewrite, node->inputs[0], x, steps, &base) && multiply(&base, &base, made) &&
         (exponent == 2 || multiply(made, &base, made));
}

static bool read_binary(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, nd4c_value x, int32_t steps,
                        polynomial *made) {
  const nd4c_op op = node->def->info.op;
  polynomial a, b;
  if (!read_polynomial(rewrite, node->inputs[0], x, steps, &a) ||
      !read_polynomial(rewrite, node->inputs[1], x, steps, &b)) {
    return false;
  }
  if (op == ND4C_OP_multiply) {
    return multiply(&a, &b, made);
  }
  const bool is_number = b.terms[1] == 0 && b.terms[2] == 0 && b.terms[3] == 0;
  for (int32_t i = 0; i <= DEGREE; i++) {
    made->terms[i] = op == ND4C_OP_add ? a.terms[i] + b.terms[i] : a.terms[i] / b.terms[0];
  }
  return op == ND4C_OP_add || is_number;
}

/* False if the value is no polynomial of x, or if something else reads what it is made of. */
static bool read_polynomial(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_value x, int32_t steps,
                            polynomial *made) {
  *made = (polynomial){{0}};
  if (value == x) {
    made->terms[1] = 1;
    return true;
  }
  if (nd4c_constant_scalar(rewrite, value, &made->terms[0])) {
    return true;
  }
  if (value < 0 || steps == 0 || !nd4c_rewrite_is_single(rewrite, value)) {
    return false;
  }
  const int32_t producer = rewrite->graph->values[value].producer;
  const nd4c_graph_node *node = producer < 0 ? NULL : &rewrite->graph->nodes[producer];
  switch (node == NULL || node->def == NULL ? ND4C_OP_NONE : node->def->info.op) {
    case ND4C_OP_square:
    case ND4C_OP_power:
      return read_power(rewrite, node, x, steps - 1, made);
    case ND4C_OP_add:
    case ND4C_OP_multiply:
    case ND4C_OP_divide:
      return read_binary(rewrite, node, x, steps - 1, made);
    default:
      return false;
  }
}

/* True if the value is first x + third x^3. */
static bool is_polynomial(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_value x, double first, double third) {
  const nd4c_dtype dtype = rewrite->graph->values[value].dtype;
  polynomial found;
  return read_polynomial(rewrite, value, x, MOST_STEPS, &found) && found.terms[0] == 0 && found.terms[2] == 0 &&
         is_about(found.terms[1], first, dtype) && is_about(found.terms[3], third, dtype);
}

/* -- products ------------------------------------------------------------------------------------------------------ */

/* Leaves of a product of single-use multiplies, of which `depth` may stand in each other; more than FACTORS: -1. The
 * depth bounds the search: each node of a long product would else look at all nodes before it. */
static int32_t collect_factors(const nd4c_rewrite *rewrite, const nd4c_graph_node *product, int32_t depth,
                               nd4c_value *factors, int32_t count) {
  for (int32_t i = 0; i < 2; i++) {
    nd4c_value value = product->inputs[i];
    const nd4c_graph_node *inner = nd4c_rewrite_producer(rewrite, value, ND4C_OP_multiply);
    if (inner != NULL && nd4c_rewrite_is_single(rewrite, value) && depth > 0 && count + 1 < FACTORS) {
      count = collect_factors(rewrite, inner, depth - 1, factors, count);
    } else if (count < FACTORS) {
      factors[count] = value;
      count++;
    } else {
      return -1;
    }
    if (count < 0) {
      return -1;
    }
  }
  return count;
}

/* True if the value is 1 + erf or 1 + tanh of what gelu has there of x; *approximate: it is tanh. */
static bool is_share(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_value x, bool *approximate) {
  double one = 0;
  const nd4c_graph_node *sum = nd4c_rewrite_inner(rewrite, value, ND4C_OP_add);
  const nd4c_value function = sum == NULL ? ND4C_VALUE_NONE : nd4c_scalar_partner(rewrite, sum, &one);
  const nd4c_graph_node *erf = nd4c_rewrite_inner(rewrite, function, ND4C_OP_erf);
  const nd4c_graph_node *tanh = nd4c_rewrite_inner(rewrite, function, ND4C_OP_tanh);
  *approximate = tanh != NULL;
  if (one != 1) {
    return false;
  }
  return tanh != NULL ? is_polynomial(rewrite, tanh->inputs[0], x, root_two_over_pi, root_two_over_pi * cubic)
                      : erf != NULL && is_polynomial(rewrite, erf->inputs[0], x, root_half, 0);
}

/* x if the factors are those of gelu(x), else NONE. */
static nd4c_value find_source(const nd4c_rewrite *rewrite, const nd4c_value *factors, bool *approximate) {
  for (int32_t i = 0; i < FACTORS; i++) {
    double half = 0;
    if (!nd4c_constant_scalar(rewrite, factors[i], &half) || half != 0.5) {
      continue;
    }
    const nd4c_value a = factors[(i + 1) % FACTORS], b = factors[(i + 2) % FACTORS];
    if (is_share(rewrite, a, b, approximate)) {
      return b;
    }
    if (is_share(rewrite, b, a, approximate)) {
      return a;
    }
  }
  return ND4C_VALUE_NONE;
}

/* x if the node is x sigmoid(2 p), else NONE. */
static nd4c_value find_logistic(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  for (int32_t i = 0; i < 2; i++) {
    const nd4c_graph_node *sigmoid = nd4c_rewrite_inner(rewrite, node->inputs[i], ND4C_OP_sigmoid);
    if (sigmoid != NULL && is_polynomial(rewrite, sigmoid->inputs[0], node->inputs[1 - i], 2 * root_two_over_pi,
                                         2 * root_two_over_pi * cubic)) {
      return node->inputs[1 - i];
    }
  }
  return ND4C_VALUE_NONE;
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)same;
  (void)state;
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  nd4c_value factors[FACTORS], source = ND4C_VALUE_NONE;
  bool approximate = false, done = false;
  if (node->def->info.op != ND4C_OP_multiply) {
    return ND4C_OK;
  }
  if (collect_factors(rewrite, node, FACTORS - 2, factors, 0) == FACTORS) {
    source = find_source(rewrite, factors, &approximate);
  }
  if (source < 0) {
    source = find_logistic(rewrite, node);
    approximate = true;
  }
  if (source < 0) {
    return ND4C_OK;
  }
  nd4c_attr_value attrs[ND4C_REWRITE_ATTRS];
  ND4C_TRY(nd4c_rewrite_presets(ND4C_OP_gelu, attrs));
  attrs[ND4C_ATTR_gelu_approximate].as.i = approximate;
  return nd4c_rewrite_node(
      rewrite, index, ND4C_OP_gelu, &source, 1, attrs,
      approximate ? "tanh + add + multiply + multiply" : "divide + erf + add + multiply + multiply", &done);
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(RECOGNIZE, 40, gelu, ANY,
          "recognises gelu in erf or tanh and its neighbours; exact in the tail, -0 instead of NaN at minus infinity")
