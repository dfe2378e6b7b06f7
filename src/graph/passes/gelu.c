/* Recognises the product of x, 1 + erf(x / sqrt 2) and 0.5, in any order and nesting, as gelu. passes.c runs it on
 * every optimised plan. */
#include <math.h>

#include "base/status.h"
#include "graph/passes.h"

enum { FACTORS = 3 };

/* Models have constants with float32's precision. */
static bool is_about(double number, double expected) {
  return fabs(number - expected) <= 1e-5 * fabs(expected);
}

/* Leaves of a product of single-use multiplies; more than FACTORS: -1. */
static int32_t collect_factors(const nd4c_rewrite *rewrite, const nd4c_graph_node *product, nd4c_value *factors,
                               int32_t count) {
  for (int32_t i = 0; i < 2; i++) {
    nd4c_value value = product->inputs[i];
    const nd4c_graph_node *inner = nd4c_rewrite_producer(rewrite, value, ND4C_OP_multiply);
    if (inner != NULL && nd4c_rewrite_is_single(rewrite, value) && count + 1 < FACTORS) {
      count = collect_factors(rewrite, inner, factors, count);
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

/* x if the value is x / sqrt 2 or x * (1 / sqrt 2), else NONE. */
static nd4c_value scaled_source(const nd4c_rewrite *rewrite, nd4c_value value) {
  double number = 0;
  const nd4c_graph_node *node = nd4c_rewrite_producer(rewrite, value, ND4C_OP_divide);
  if (node != NULL) {
    bool fits = nd4c_constant_scalar(rewrite, node->inputs[1], &number) && is_about(number, sqrt(2.0));
    return fits ? node->inputs[0] : ND4C_VALUE_NONE;
  }
  node = nd4c_rewrite_producer(rewrite, value, ND4C_OP_multiply);
  for (int32_t i = 0; node != NULL && i < 2; i++) {
    if (nd4c_constant_scalar(rewrite, node->inputs[i], &number) && is_about(number, sqrt(0.5))) {
      return node->inputs[1 - i];
    }
  }
  return ND4C_VALUE_NONE;
}

/* x if the value is 1 + erf(x / sqrt 2) and its intermediate values have no other reader; else NONE. */
static nd4c_value erf_source(const nd4c_rewrite *rewrite, nd4c_value value) {
  const nd4c_graph_node *sum = nd4c_rewrite_producer(rewrite, value, ND4C_OP_add);
  for (int32_t i = 0; sum != NULL && nd4c_rewrite_is_single(rewrite, value) && i < 2; i++) {
    double one = 0;
    const nd4c_graph_node *erf = nd4c_rewrite_producer(rewrite, sum->inputs[i], ND4C_OP_erf);
    if (erf != NULL && nd4c_rewrite_is_single(rewrite, sum->inputs[i]) &&
        nd4c_rewrite_is_single(rewrite, erf->inputs[0]) && nd4c_constant_scalar(rewrite, sum->inputs[1 - i], &one) &&
        is_about(one, 1.0)) {
      return scaled_source(rewrite, erf->inputs[0]);
    }
  }
  return ND4C_VALUE_NONE;
}

/* x if the factors are those of gelu(x). */
static nd4c_value find_source(const nd4c_rewrite *rewrite, const nd4c_value *factors) {
  for (int32_t i = 0; i < FACTORS; i++) {
    nd4c_value source = erf_source(rewrite, factors[i]);
    for (int32_t k = 0; k < FACTORS && source >= 0; k++) {
      double half = 0;
      if (k != i && factors[k] == source && nd4c_constant_scalar(rewrite, factors[FACTORS - i - k], &half) &&
          is_about(half, 0.5)) {
        return source;
      }
    }
  }
  return ND4C_VALUE_NONE;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  for (int32_t i = 0; i < rewrite->graph->node_count; i++) {
    const nd4c_graph_node *node = &rewrite->graph->nodes[i];
    nd4c_value factors[FACTORS];
    if (node->def->info.op != ND4C_OP_multiply || collect_factors(rewrite, node, factors, 0) != FACTORS) {
      continue;
    }
    nd4c_value source = find_source(rewrite, factors);
    if (source >= 0) {
      nd4c_attr_value attrs[ND4C_REWRITE_ATTRS];
      bool done = false;
      ND4C_TRY(nd4c_rewrite_presets(ND4C_OP_gelu, attrs));
      ND4C_TRY(nd4c_rewrite_node(rewrite, i, ND4C_OP_gelu, &source, 1, attrs,
                                 "divide + erf + add + multiply + multiply", &done));
    }
  }
  return ND4C_OK;
}

ND4C_PASS(RECOGNIZE, 40, gelu, ANY, "recognises gelu in erf and its neighbours")
