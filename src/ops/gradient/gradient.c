/* Implements gradient.h: finds the rule of an op, and sums a gradient to the shape of its input.
 * graph/gradient.c and import/onnx/ops/gradient.c call it. */
#include "ops/gradient/gradient.h"

#include "base/checked.h"
#include "base/status.h"
#include "nd4c/extent.h"

static nd4c_gradient_rule find(nd4c_op op, const nd4c_gradient_row *const *families, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (const nd4c_gradient_row *row = families[i]; row->op != ND4C_OP_NONE; row++) {
      if (row->op == op) {
        return row->rule;
      }
    }
  }
  return NULL;
}

nd4c_gradient_rule nd4c_gradient_find(nd4c_op op) {
  static const nd4c_gradient_row *const families[] = {nd4c_gradient_elementwise, nd4c_gradient_activation,
                                                      nd4c_gradient_contraction};
  return find(op, families, sizeof families / sizeof families[0]);
}

nd4c_gradient_rule nd4c_gradient_find_any(nd4c_op op) {
  static const nd4c_gradient_row *const families[] = {
      nd4c_gradient_reduction,  nd4c_gradient_loss,          nd4c_gradient_mathematics,   nd4c_gradient_layer,
      nd4c_gradient_pool,       nd4c_gradient_normalization, nd4c_gradient_arrangement,   nd4c_gradient_attention,
      nd4c_gradient_functions,  nd4c_gradient_units,         nd4c_gradient_moves,         nd4c_gradient_picks,
      nd4c_gradient_statistics, nd4c_gradient_products,      nd4c_gradient_decomposition, nd4c_gradient_replacements,
      nd4c_gradient_quantiles};
  const nd4c_gradient_rule rule = nd4c_gradient_find(op);
  return rule != NULL ? rule : find(op, families, sizeof families / sizeof families[0]);
}

bool nd4c_gradient_takes_all(nd4c_op op) {
  return op == ND4C_OP_slogdet;
}

int64_t nd4c_gradient_join_extents(const int64_t *extents, int32_t count) {
  int64_t joined = 1;
  for (int32_t i = 0; i < count; i++) {
    if (nd4c_extent_is_symbolic(extents[i]) || !nd4c_checked_multiply(joined, extents[i], &joined)) {
      return -1;
    }
  }
  return joined;
}

/* Sums what was broadcast from x's shape. */
static nd4c_status sum_to(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *gradient) {
  int64_t axes[ND4C_MAX_RANK];
  int32_t count = 0;
  const nd4c_emitted_info wanted = nd4c_emitted_get(e, x), given = nd4c_emitted_get(e, *gradient);
  const int32_t more = given.rank - wanted.rank;
  for (int32_t i = 0; i < given.rank; i++) {
    if (i < more || (wanted.shape[i - more] == 1 && given.shape[i] != 1)) {
      axes[count++] = i;
    }
  }
  if (count == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_emit_reduce(e, ND4C_OP_sum, *gradient, count, axes, true, gradient));
  return nd4c_emit_reshape(e, *gradient, wanted.rank, wanted.shape, gradient);
}

nd4c_status nd4c_gradient_emit(nd4c_emitter *e, nd4c_gradient_rule rule, const nd4c_gradient_step *step, int32_t index,
                               nd4c_emitted *gradient) {
  ND4C_TRY(rule(e, step, index, gradient));
  return sum_to(e, step->inputs[index], gradient);
}
