/* Reductions. */
#include <inttypes.h>
#include <math.h>

#include "base/status.h"
#include "import/onnx/family.h"

enum { AXES_ARE_INPUT = 18, SUM_AXES_ARE_INPUT = 13 };

/* What the Reduce* nodes say about axes. */
typedef struct reduction {
  int64_t axes[ND4C_MAX_RANK];
  int32_t count;
  bool keepdims;
  bool nothing; /* no axes, and no axes means none */
} reduction;

static nd4c_status read_reduction(nd4c_onnx_emission *emission, reduction *found) {
  int64_t keepdims = 0;
  int64_t noop = 0;
  bool given = false;
  bool is_sum = nd4c_span_is(emission->node->op, "ReduceSum");
  ND4C_TRY(nd4c_onnx_get_int(emission, "keepdims", 1, &keepdims));
  ND4C_TRY(nd4c_onnx_get_int(emission, "noop_with_empty_axes", 0, &noop));
  ND4C_TRY(nd4c_onnx_get_axes(emission, is_sum ? SUM_AXES_ARE_INPUT : AXES_ARE_INPUT, 1, found->axes, &found->count,
                              &given));
  found->keepdims = keepdims != 0;
  found->nothing = found->count == 0 && noop != 0;
  return ND4C_OK;
}

static bool is_reduced(const reduction *found, int32_t axis, int32_t rank) {
  for (int32_t i = 0; i < found->count; i++) {
    if (found->axes[i] == axis || found->axes[i] == axis - rank) {
      return true;
    }
  }
  return found->count == 0;
}

static bool nothing_to_reduce(const nd4c_onnx_emission *emission, nd4c_onnx_operand x, const reduction *found) {
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, x);
  for (int32_t i = 0; i < info.rank; i++) {
    if (info.shape[i] == 0 && is_reduced(found, i, info.rank)) {
      return true;
    }
  }
  return false;
}

/* ONNX has a largest and smallest of no elements: what every number beats. x with one such element where an axis of x
 * is empty. */
static nd4c_status put_least(nd4c_onnx_emission *emission, nd4c_op op, nd4c_onnx_operand x, nd4c_onnx_operand *y) {
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, x);
  const nd4c_dtype_info *dtype = nd4c_dtype_get_info(info.dtype);
  nd4c_onnx_operand least = ND4C_ONNX_OPERAND_NONE;
  double limit = dtype->kind == ND4C_KIND_FLOAT ? HUGE_VAL : ldexp(1, dtype->bits); /* the cast saturates */
  for (int32_t i = 0; i < info.rank; i++) {
    info.shape[i] = info.shape[i] == 0 ? 1 : info.shape[i];
  }
  ND4C_TRY(nd4c_emit_scalar(&emission->emitter, ND4C_FLOAT64, op == ND4C_OP_max ? -limit : limit, &least));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, least, info.dtype, &least));
  return nd4c_emit_broadcast(&emission->emitter, least, info.rank, info.shape, y);
}

static nd4c_status emit_reduction(nd4c_onnx_emission *emission, nd4c_op op, nd4c_onnx_operand x, const reduction *found,
                                  nd4c_onnx_operand *y) {
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, x).dtype;
  if (found->nothing) {
    *y = x;
    return ND4C_OK;
  }
  if ((op == ND4C_OP_max || op == ND4C_OP_min) && dtype == ND4C_BOOL) {
    op = op == ND4C_OP_max ? ND4C_OP_any : ND4C_OP_all;
  }
  if ((op == ND4C_OP_max || op == ND4C_OP_min) && nothing_to_reduce(emission, x, found)) {
    ND4C_TRY(put_least(emission, op, x, &x));
  }
  ND4C_TRY(nd4c_emit_reduce(&emission->emitter, op, x, found->count, found->axes, found->keepdims, y));
  return nd4c_emit_cast(&emission->emitter, *y, dtype, y); /* nd4c widens sums of small integers */
}

static nd4c_status emit_reduce(nd4c_onnx_emission *emission) {
  reduction found;
  ND4C_TRY(read_reduction(emission, &found));
  return emit_reduction(emission, emission->node->mapping->op, emission->inputs[0], &found, &emission->outputs[0]);
}

/* Sum of op(x) over the axes. */
static nd4c_status reduce_sum_of(nd4c_onnx_emission *emission, nd4c_op op, nd4c_onnx_operand *y) {
  reduction found;
  nd4c_onnx_operand x = emission->inputs[0];
  ND4C_TRY(read_reduction(emission, &found));
  if (op != ND4C_OP_NONE) {
    ND4C_TRY(nd4c_emit_unary(&emission->emitter, op, x, &x));
  }
  return emit_reduction(emission, ND4C_OP_sum, x, &found, y);
}

static nd4c_status emit_reduce_l1(nd4c_onnx_emission *emission) {
  return reduce_sum_of(emission, ND4C_OP_abs, &emission->outputs[0]);
}

static nd4c_status emit_reduce_sum_square(nd4c_onnx_emission *emission) {
  return reduce_sum_of(emission, ND4C_OP_square, &emission->outputs[0]);
}

static nd4c_status emit_reduce_l2(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand sum = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(reduce_sum_of(emission, ND4C_OP_square, &sum));
  return nd4c_emit_unary(&emission->emitter, ND4C_OP_sqrt, sum, &emission->outputs[0]);
}

static nd4c_status emit_reduce_log_sum(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand sum = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(reduce_sum_of(emission, ND4C_OP_NONE, &sum));
  return nd4c_emit_unary(&emission->emitter, ND4C_OP_log, sum, &emission->outputs[0]);
}

/* Of integers: m + ln(sum of e^(x - m)) with m the largest. */
static nd4c_status emit_reduce_log_sum_exp(nd4c_onnx_emission *emission) {
  reduction found;
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_onnx_operand largest = ND4C_ONNX_OPERAND_NONE;
  nd4c_onnx_operand rest = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(read_reduction(emission, &found));
  if (found.nothing) {
    emission->outputs[0] = x;
    return ND4C_OK;
  }
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, x).dtype;
  if (nd4c_dtype_get_info(dtype)->kind == ND4C_KIND_FLOAT) {
    return nd4c_emit_reduce(&emission->emitter, ND4C_OP_logsumexp, x, found.count, found.axes, found.keepdims,
                            &emission->outputs[0]);
  }
  ND4C_TRY(nd4c_emit_reduce(&emission->emitter, ND4C_OP_max, x, found.count, found.axes, true, &largest));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_subtract, x, largest, &rest));
  ND4C_TRY(nd4c_emit_unary(&emission->emitter, ND4C_OP_exp, rest, &rest));
  ND4C_TRY(nd4c_emit_reduce(&emission->emitter, ND4C_OP_sum, rest, found.count, found.axes, true, &rest));
  ND4C_TRY(nd4c_emit_unary(&emission->emitter, ND4C_OP_log, rest, &rest));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_add, largest, rest, &rest));
  /* The axes have length 1 now: a reduction without keepdims only drops them. */
  emission->outputs[0] = rest;
  return found.keepdims ? ND4C_OK
                        : nd4c_emit_reduce(&emission->emitter, ND4C_OP_max, rest, found.count, found.axes, false,
                                           &emission->outputs[0]);
}

/* ArgMax and ArgMin; the last of equals is the first of the reversed axis. */
static nd4c_status emit_arg_reduce(nd4c_onnx_emission *emission) {
  int64_t axis = 0;
  int64_t keepdims = 0;
  int64_t last = 0;
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, x);
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "keepdims", 1, &keepdims));
  ND4C_TRY(nd4c_onnx_get_int(emission, "select_last_index", 0, &last));
  if (axis < -info.rank || axis >= info.rank) {
    return nd4c_fail(ND4C_INDEX, "axis %" PRId64 " of rank %d", axis, (int)info.rank);
  }
  axis += axis < 0 ? info.rank : 0;
  if (last != 0) {
    ND4C_TRY(nd4c_emit_slice(&emission->emitter, x, axis, ND4C_SLICE_NONE, ND4C_SLICE_NONE, -1, &x));
  }
  nd4c_attr attrs[] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_bool("keepdims", keepdims != 0)};
  ND4C_TRY(nd4c_emit(&emission->emitter, emission->node->mapping->op, &x, 1, attrs, 2, &emission->outputs[0]));
  if (last == 0) {
    return ND4C_OK;
  }
  nd4c_onnx_operand end = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(nd4c_emit_scalar(&emission->emitter, ND4C_INT64, (double)(info.shape[axis] - 1), &end));
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_subtract, end, emission->outputs[0], &emission->outputs[0]);
}

/* CumSum and CumProd: the axis is an input, the dtype stays. */
static nd4c_status emit_cumulative(nd4c_onnx_emission *emission) {
  double axis = 0;
  int64_t exclusive = 0;
  int64_t reverse = 0;
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).dtype;
  ND4C_TRY(nd4c_onnx_read_number(emission, emission->inputs[1], "input 'axis'", &axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "exclusive", 0, &exclusive));
  ND4C_TRY(nd4c_onnx_get_int(emission, "reverse", 0, &reverse));
  nd4c_attr attrs[] = {nd4c_attr_of_int("axis", (int64_t)axis), nd4c_attr_of_bool("exclusive", exclusive != 0),
                       nd4c_attr_of_bool("reverse", reverse != 0), nd4c_attr_of_dtype("dtype", dtype)};
  return nd4c_emit(&emission->emitter, emission->node->mapping->op, emission->inputs, 1, attrs, 4,
                   &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                              \
  OP(ReduceSum, 1, LAST, 1, 2, 1, reduce, sum)                            \
  OP(ReduceProd, 1, LAST, 1, 2, 1, reduce, prod)                          \
  OP(ReduceMean, 1, LAST, 1, 2, 1, reduce, mean)                          \
  OP(ReduceMax, 1, LAST, 1, 2, 1, reduce, max)                            \
  OP(ReduceMin, 1, LAST, 1, 2, 1, reduce, min)                            \
  OP(ReduceL1, 1, LAST, 1, 2, 1, reduce_l1, NONE)                         \
  OP(ReduceL2, 1, LAST, 1, 2, 1, reduce_l2, NONE)                         \
  OP(ReduceSumSquare, 1, LAST, 1, 2, 1, reduce_sum_square, NONE)          \
  CHAIN(ReduceLogSum, 1, LAST, 1, 2, 1, reduce_log_sum, NONE, "sum, log") \
  OP(ReduceLogSumExp, 1, LAST, 1, 2, 1, reduce_log_sum_exp, NONE)         \
  OP(ArgMax, 1, LAST, 1, 1, 1, arg_reduce, argmax)                        \
  OP(ArgMin, 1, LAST, 1, 1, 1, arg_reduce, argmin)                        \
  OP(CumSum, 11, LAST, 2, 2, 1, cumulative, cumulative_sum)               \
  OP(CumProd, 26, LAST, 2, 2, 1, cumulative, cumulative_prod)

ND4C_ONNX_FAMILY(reduce, "", ROWS)
