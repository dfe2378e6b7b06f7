/* Rules for the gradients of sums and means, of softmax, and of ops that only move elements. gradient.c looks rules up
 * in this list. */
#include <string.h>

#include "base/status.h"
#include "nd4c/extent.h"
#include "ops/gradient/gradient.h"

bool nd4c_gradient_is_reduced(const nd4c_attr_value *axes, int32_t rank, int32_t axis) {
  for (int32_t i = 0; i < axes->count; i++) {
    if (axes->as.ints[i] == axis || axes->as.ints[i] + rank == axis) {
      return true;
    }
  }
  return axes->as.ints == NULL;
}

/* The axes of a global pool of x [n, c, ...]. */
static nd4c_attr_value spatial_axes(const nd4c_emitter *e, nd4c_emitted x, int64_t *axes) {
  const int32_t rank = nd4c_emitted_get(e, x).rank;
  for (int32_t i = 2; i < rank; i++) {
    axes[i - 2] = i;
  }
  return (nd4c_attr_value){.kind = ND4C_ATTR_INTS, .count = rank - 2, .as.ints = axes};
}

nd4c_status nd4c_gradient_keep_axes(nd4c_emitter *e, nd4c_emitted x, const nd4c_attr_value *axes, nd4c_emitted result,
                                    nd4c_emitted *kept) {
  nd4c_emitted_info info = nd4c_emitted_get(e, x);
  for (int32_t i = 0; i < info.rank; i++) {
    info.shape[i] = nd4c_gradient_is_reduced(axes, info.rank, i) ? 1 : info.shape[i];
  }
  return nd4c_emit_reshape(e, result, info.rank, info.shape, kept);
}

nd4c_status nd4c_gradient_spread(nd4c_emitter *e, const nd4c_gradient_step *step, const nd4c_attr_value *axes,
                                 nd4c_emitted *gradient) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  ND4C_TRY(nd4c_gradient_keep_axes(e, step->inputs[0], axes, step->given, gradient));
  return nd4c_emit_broadcast(e, *gradient, info.rank, info.shape, gradient);
}

ND4C_GRADIENT(total) {
  (void)index;
  ND4C_TRY(nd4c_gradient_spread(e, step, &step->attrs[0], gradient));
  return nd4c_emit_cast(e, *gradient, nd4c_emitted_get(e, step->inputs[0]).dtype, gradient);
}

/* g / n for n elements; n is computed where it depends on dims. */
static nd4c_status divide_by_count(nd4c_emitter *e, nd4c_emitted x, const nd4c_attr_value *axes,
                                   nd4c_emitted *gradient) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, x);
  double count = 1;
  for (int32_t i = 0; i < info.rank; i++) {
    if (!nd4c_gradient_is_reduced(axes, info.rank, i)) {
      continue;
    }
    if (nd4c_extent_is_symbolic(info.shape[i])) {
      nd4c_emitted ones = ND4C_EMITTED_NONE;
      ND4C_TRY(nd4c_emit_full(e, info.dtype, 1, 1, &info.shape[i], &ones));
      ND4C_TRY(nd4c_emit_reduce(e, ND4C_OP_sum, ones, 0, NULL, false, &ones));
      BINARY(divide, *gradient, ones, gradient);
    } else {
      count *= (double)info.shape[i];
    }
  }
  return count == 1 ? ND4C_OK : nd4c_emit_with_scalar(e, ND4C_OP_divide, *gradient, count, gradient);
}

static nd4c_status average_over(nd4c_emitter *e, const nd4c_gradient_step *step, const nd4c_attr_value *axes,
                                nd4c_emitted *gradient) {
  ND4C_TRY(nd4c_gradient_spread(e, step, axes, gradient));
  return divide_by_count(e, step->inputs[0], axes, gradient);
}

ND4C_GRADIENT(average) {
  (void)index;
  return average_over(e, step, &step->attrs[0], gradient);
}

ND4C_GRADIENT(global_average) {
  int64_t spatial[ND4C_MAX_RANK];
  const nd4c_attr_value axes = spatial_axes(e, step->inputs[0], spatial);
  (void)index;
  return average_over(e, step, &axes, gradient);
}

nd4c_status nd4c_gradient_share(nd4c_emitter *e, const nd4c_gradient_step *step, const nd4c_attr_value *axes,
                                nd4c_emitted x, nd4c_emitted *gradient) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, x);
  nd4c_emitted equal = ND4C_EMITTED_NONE, count = ND4C_EMITTED_NONE;
  int64_t reduced[ND4C_MAX_RANK];
  int32_t reduced_count = 0;
  for (int32_t i = 0; i < info.rank; i++) {
    if (nd4c_gradient_is_reduced(axes, info.rank, i)) {
      reduced[reduced_count++] = i;
    }
  }
  ND4C_TRY(nd4c_gradient_keep_axes(e, x, axes, step->given, gradient));
  if (reduced_count == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_gradient_keep_axes(e, x, axes, step->output, &equal));
  BINARY(equal, x, equal, &equal);
  ND4C_TRY(nd4c_emit_cast(e, equal, info.dtype, &equal));
  ND4C_TRY(nd4c_emit_reduce(e, ND4C_OP_sum, equal, reduced_count, reduced, true, &count));
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_maximum, count, 1, &count)); /* NaN is equal to nothing */
  BINARY(divide, *gradient, count, gradient);
  return nd4c_emit_binary(e, ND4C_OP_multiply, *gradient, equal, gradient);
}

ND4C_GRADIENT(extreme) {
  (void)index;
  return nd4c_gradient_share(e, step, &step->attrs[0], step->inputs[0], gradient);
}

ND4C_GRADIENT(global_extreme) {
  int64_t spatial[ND4C_MAX_RANK];
  const nd4c_attr_value axes = spatial_axes(e, step->inputs[0], spatial);
  (void)index;
  return nd4c_gradient_share(e, step, &axes, step->inputs[0], gradient);
}

/* y (g - sum of g y) */
ND4C_GRADIENT(softmax) {
  nd4c_emitted sum = ND4C_EMITTED_NONE;
  (void)index;
  BINARY(multiply, step->given, step->output, &sum);
  ND4C_TRY(nd4c_emit_reduce(e, ND4C_OP_sum, sum, 1, &step->attrs[0].as.i, true, &sum));
  BINARY(subtract, step->given, sum, gradient);
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->output, *gradient, gradient);
}

/* g - e^y sum of g */
ND4C_GRADIENT(log_softmax) {
  nd4c_emitted sum = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nd4c_emit_reduce(e, ND4C_OP_sum, step->given, 1, &step->attrs[0].as.i, true, &sum));
  UNARY(exp, step->output, gradient);
  BINARY(multiply, *gradient, sum, gradient);
  return nd4c_emit_binary(e, ND4C_OP_subtract, step->given, *gradient, gradient);
}

/* The same elements in the same order. */
ND4C_GRADIENT(reshaped) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  (void)index;
  return nd4c_emit_reshape(e, step->given, info.rank, info.shape, gradient);
}

/* The axes back where they were. */
ND4C_GRADIENT(transposed) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  const nd4c_attr_value *axes = &step->attrs[0];
  int64_t back[ND4C_MAX_RANK];
  (void)index;
  for (int32_t i = 0; i < info.rank; i++) {
    const int64_t axis = axes->as.ints == NULL ? info.rank - 1 - i : axes->as.ints[i];
    back[axis < 0 ? axis + info.rank : axis] = i;
  }
  return nd4c_emit_axes(e, ND4C_OP_transpose, step->given, info.rank, back, gradient);
}

/* What was broadcast is summed by nd4c_gradient_emit. */
ND4C_GRADIENT(broadcast) {
  (void)e, (void)index;
  *gradient = step->given;
  return ND4C_OK;
}

ND4C_GRADIENT(converted) {
  (void)index;
  return nd4c_emit_cast(e, step->given, nd4c_emitted_get(e, step->inputs[0]).dtype, gradient);
}

ND4C_GRADIENT(squared) {
  (void)index;
  BINARY(add, step->inputs[0], step->inputs[0], gradient);
  return nd4c_emit_binary(e, ND4C_OP_multiply, step->given, *gradient, gradient);
}

/* g where the condition holds, and where it does not */
ND4C_GRADIENT(chosen) {
  nd4c_emitted zero = ND4C_EMITTED_NONE;
  if (index == 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "a condition has no gradient");
  }
  ND4C_TRY(nd4c_emit_scalar_like(e, step->given, 0, &zero));
  return nd4c_emit_where(e, step->inputs[0], index == 1 ? step->given : zero, index == 1 ? zero : step->given,
                         gradient);
}

const nd4c_gradient_row nd4c_gradient_reduction[] = {ND4C_GRADIENT_REDUCTION(ROW){ND4C_OP_NONE, NULL}};
