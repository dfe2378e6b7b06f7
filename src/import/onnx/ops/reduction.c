/* Reductions. emission/scope.c calls the emit functions through the rows below. */
#include "base/status.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

enum { AXES_ARE_INPUT = 18, SUM_AXES_ARE_INPUT = 13 };

/* The axes of a Reduce* node. */
typedef struct reduction {
  int64_t axes[ND4C_MAX_RANK];
  int32_t count;
  bool keepdims;
  bool nothing; /* no axes are given, and noop_with_empty_axes is set */
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

static nd4c_status emit_reduction(nd4c_onnx_emission *emission, nd4c_op op, nd4c_onnx_operand x, const reduction *found,
                                  nd4c_onnx_operand *y) {
  *y = x;
  return found->nothing ? ND4C_OK
                        : nd4c_compose_reduce(&emission->emitter, op, x, found->count, found->axes, found->keepdims, y);
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

static nd4c_status emit_reduce_log_sum_exp(nd4c_onnx_emission *emission) {
  reduction found;
  ND4C_TRY(read_reduction(emission, &found));
  emission->outputs[0] = emission->inputs[0];
  return found.nothing ? ND4C_OK
                       : nd4c_compose_logsumexp(&emission->emitter, emission->inputs[0], found.count, found.axes,
                                                found.keepdims, &emission->outputs[0]);
}

static nd4c_status emit_arg_reduce(nd4c_onnx_emission *emission) {
  int64_t axis = 0, keepdims = 0, last = 0;
  int32_t fixed = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "keepdims", 1, &keepdims));
  ND4C_TRY(nd4c_onnx_get_int(emission, "select_last_index", 0, &last));
  ND4C_TRY(nd4c_onnx_fix_axis(emission, emission->inputs[0], axis, &fixed));
  return nd4c_compose_arg_reduce(&emission->emitter, emission->node->mapping->op, emission->inputs[0], fixed,
                                 keepdims != 0, last != 0, &emission->outputs[0]);
}

/* CumSum and CumProd: the axis is an input, the dtype stays. */
static nd4c_status emit_cumulative(nd4c_onnx_emission *emission) {
  double axis = 0;
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(nd4c_onnx_read_number(emission, emission->inputs[1], "input 'axis'", &axis));
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_int("axis", (int64_t)axis));
  nd4c_onnx_attrs_add(&attrs,
                      nd4c_attr_of_dtype("dtype", nd4c_emitted_get(&emission->emitter, emission->inputs[0]).dtype));
  return nd4c_onnx_emit_attrs(emission, emission->node->mapping->op, emission->inputs, 1, &attrs);
}

#define CUMULATIVE_RULES ATTR("exclusive", BOOL, "exclusive", 0), ATTR("reverse", BOOL, "reverse", 0)

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                    \
  OP(ReduceSum, 1, LAST, 1, 2, 1, reduce, sum)                                  \
  OP(ReduceProd, 1, LAST, 1, 2, 1, reduce, prod)                                \
  OP(ReduceMean, 1, LAST, 1, 2, 1, reduce, mean)                                \
  OP(ReduceMax, 1, LAST, 1, 2, 1, reduce, max)                                  \
  OP(ReduceMin, 1, LAST, 1, 2, 1, reduce, min)                                  \
  OP(ReduceL1, 1, LAST, 1, 2, 1, reduce_l1, NONE)                               \
  OP(ReduceL2, 1, LAST, 1, 2, 1, reduce_l2, NONE)                               \
  OP(ReduceSumSquare, 1, LAST, 1, 2, 1, reduce_sum_square, NONE)                \
  CHAIN(ReduceLogSum, 1, LAST, 1, 2, 1, reduce_log_sum, NONE, "sum, log")       \
  OP(ReduceLogSumExp, 1, LAST, 1, 2, 1, reduce_log_sum_exp, NONE)               \
  OP(ArgMax, 1, LAST, 1, 1, 1, arg_reduce, argmax)                              \
  OP(ArgMin, 1, LAST, 1, 1, 1, arg_reduce, argmin)                              \
  READ(CumSum, 11, LAST, 2, 2, 1, cumulative, cumulative_sum, CUMULATIVE_RULES) \
  READ(CumProd, 26, LAST, 2, 2, 1, cumulative, cumulative_prod, CUMULATIVE_RULES)

ND4C_ONNX_FAMILY(reduction, "", ROWS)
