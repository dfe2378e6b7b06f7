/* Arithmetic, matrix products, reductions and casts. */
#include <inttypes.h>

#include "base/status.h"
#include "io/onnx/emit.h"

enum { AXES_ARE_INPUT = 18, SUM_AXES_ARE_INPUT = 13 };

/* The result has the base's dtype; nd4c promotes. */
nd4c_status nd4c_onnx_emit_op_power(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand result = ND4C_ONNX_OPERAND_NONE;
  nd4c_dtype dtype = nd4c_onnx_operand_get(emission, emission->inputs[0]).dtype;
  ND4C_TRY(nd4c_onnx_emit_binary(emission, ND4C_OP_power, emission->inputs[0], emission->inputs[1], &result));
  return nd4c_onnx_emit_cast(emission, result, dtype, &emission->outputs[0]);
}

/* -- Gemm ----------------------------------------------------------------------------------------------------- */

static nd4c_status scaled(nd4c_onnx_emission *emission, nd4c_onnx_operand x, double factor, nd4c_onnx_operand *y) {
  nd4c_onnx_operand scalar = ND4C_ONNX_OPERAND_NONE;
  *y = x;
  if (factor == 1 || x == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_scalar_like(emission, x, factor, &scalar));
  return nd4c_onnx_emit_binary(emission, ND4C_OP_multiply, x, scalar, y);
}

static nd4c_status transposed(nd4c_onnx_emission *emission, nd4c_onnx_operand x, nd4c_onnx_operand *y) {
  static const int64_t axes[2] = {1, 0};
  return nd4c_onnx_emit_axes(emission, ND4C_OP_transpose, x, 2, axes, y);
}

/* alpha * a * b + beta * c. With alpha 1 and floats that is one `linear`. */
nd4c_status nd4c_onnx_emit_op_gemm(nd4c_onnx_emission *emission) {
  double alpha = 0;
  double beta = 0;
  int64_t transpose_a = 0;
  int64_t transpose_b = 0;
  nd4c_onnx_operand a = emission->inputs[0];
  nd4c_onnx_operand b = emission->inputs[1];
  nd4c_onnx_operand c = nd4c_onnx_input(emission, 2);
  nd4c_onnx_ignore(emission, "broadcast");
  ND4C_TRY(nd4c_onnx_get_float(emission, "alpha", 1, &alpha));
  ND4C_TRY(nd4c_onnx_get_float(emission, "beta", 1, &beta));
  ND4C_TRY(nd4c_onnx_get_int(emission, "transA", 0, &transpose_a));
  ND4C_TRY(nd4c_onnx_get_int(emission, "transB", 0, &transpose_b));
  if (nd4c_onnx_operand_get(emission, a).rank != 2 || nd4c_onnx_operand_get(emission, b).rank != 2) {
    return nd4c_fail(ND4C_SHAPE, "A has rank %d and B rank %d; expected 2 and 2",
                     (int)nd4c_onnx_operand_get(emission, a).rank, (int)nd4c_onnx_operand_get(emission, b).rank);
  }
  c = beta == 0 ? ND4C_ONNX_OPERAND_NONE : c;
  ND4C_TRY(scaled(emission, c, beta, &c));
  if (transpose_a != 0) {
    ND4C_TRY(transposed(emission, a, &a));
  }
  bool floating = nd4c_dtype_get_info(nd4c_onnx_operand_get(emission, a).dtype)->kind == ND4C_KIND_FLOAT;
  if (alpha == 1 && floating) {
    nd4c_onnx_operand operands[] = {a, b, c};
    nd4c_attr attr = nd4c_attr_of_bool("transpose_w", transpose_b != 0);
    return nd4c_onnx_emit(emission, ND4C_OP_linear, operands, 3, &attr, 1, &emission->outputs[0]);
  }
  nd4c_onnx_operand product = ND4C_ONNX_OPERAND_NONE;
  if (transpose_b != 0) {
    ND4C_TRY(transposed(emission, b, &b));
  }
  ND4C_TRY(nd4c_onnx_emit_binary(emission, ND4C_OP_matmul, a, b, &product));
  ND4C_TRY(scaled(emission, product, alpha, &emission->outputs[0]));
  if (c == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  return nd4c_onnx_emit_binary(emission, ND4C_OP_add, emission->outputs[0], c, &emission->outputs[0]);
}

/* -- reductions ----------------------------------------------------------------------------------------------- */

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

static nd4c_status emit_reduction(nd4c_onnx_emission *emission, nd4c_op op, nd4c_onnx_operand x, const reduction *found,
                                  nd4c_onnx_operand *y) {
  nd4c_dtype dtype = nd4c_onnx_operand_get(emission, x).dtype;
  if (found->nothing) {
    *y = x;
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_emit_reduce(emission, op, x, found->count, found->axes, found->keepdims, y));
  return nd4c_onnx_emit_cast(emission, *y, dtype, y); /* nd4c widens sums of small integers */
}

nd4c_status nd4c_onnx_emit_op_reduce(nd4c_onnx_emission *emission) {
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
    ND4C_TRY(nd4c_onnx_emit_unary(emission, op, x, &x));
  }
  return emit_reduction(emission, ND4C_OP_sum, x, &found, y);
}

nd4c_status nd4c_onnx_emit_op_reduce_l1(nd4c_onnx_emission *emission) {
  return reduce_sum_of(emission, ND4C_OP_abs, &emission->outputs[0]);
}

nd4c_status nd4c_onnx_emit_op_reduce_sum_square(nd4c_onnx_emission *emission) {
  return reduce_sum_of(emission, ND4C_OP_square, &emission->outputs[0]);
}

nd4c_status nd4c_onnx_emit_op_reduce_l2(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand sum = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(reduce_sum_of(emission, ND4C_OP_square, &sum));
  return nd4c_onnx_emit_unary(emission, ND4C_OP_sqrt, sum, &emission->outputs[0]);
}

nd4c_status nd4c_onnx_emit_op_reduce_log_sum(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand sum = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(reduce_sum_of(emission, ND4C_OP_NONE, &sum));
  return nd4c_onnx_emit_unary(emission, ND4C_OP_log, sum, &emission->outputs[0]);
}

/* m + ln(sum of e^(x - m)) with m the largest, so that nothing overflows. */
nd4c_status nd4c_onnx_emit_op_reduce_log_sum_exp(nd4c_onnx_emission *emission) {
  reduction found;
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_onnx_operand largest = ND4C_ONNX_OPERAND_NONE;
  nd4c_onnx_operand rest = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(read_reduction(emission, &found));
  if (found.nothing) {
    emission->outputs[0] = x;
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_emit_reduce(emission, ND4C_OP_max, x, found.count, found.axes, true, &largest));
  ND4C_TRY(nd4c_onnx_emit_binary(emission, ND4C_OP_subtract, x, largest, &rest));
  ND4C_TRY(nd4c_onnx_emit_unary(emission, ND4C_OP_exp, rest, &rest));
  ND4C_TRY(nd4c_onnx_emit_reduce(emission, ND4C_OP_sum, rest, found.count, found.axes, true, &rest));
  ND4C_TRY(nd4c_onnx_emit_unary(emission, ND4C_OP_log, rest, &rest));
  ND4C_TRY(nd4c_onnx_emit_binary(emission, ND4C_OP_add, largest, rest, &rest));
  /* The axes have length 1 now: a reduction without keepdims only drops them. */
  emission->outputs[0] = rest;
  return found.keepdims ? ND4C_OK
                        : nd4c_onnx_emit_reduce(emission, ND4C_OP_max, rest, found.count, found.axes, false,
                                                &emission->outputs[0]);
}

/* ArgMax and ArgMin; the last of equals is the first of the reversed axis. */
nd4c_status nd4c_onnx_emit_op_arg_reduce(nd4c_onnx_emission *emission) {
  int64_t axis = 0;
  int64_t keepdims = 0;
  int64_t last = 0;
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_onnx_operand_info info = nd4c_onnx_operand_get(emission, x);
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "keepdims", 1, &keepdims));
  ND4C_TRY(nd4c_onnx_get_int(emission, "select_last_index", 0, &last));
  if (axis < -info.rank || axis >= info.rank) {
    return nd4c_fail(ND4C_INDEX, "axis %" PRId64 " of rank %d", axis, (int)info.rank);
  }
  axis += axis < 0 ? info.rank : 0;
  if (last != 0) {
    ND4C_TRY(nd4c_onnx_emit_slice(emission, x, axis, ND4C_SLICE_NONE, ND4C_SLICE_NONE, -1, &x));
  }
  nd4c_attr attrs[] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_bool("keepdims", keepdims != 0)};
  ND4C_TRY(nd4c_onnx_emit(emission, emission->node->mapping->op, &x, 1, attrs, 2, &emission->outputs[0]));
  if (last == 0) {
    return ND4C_OK;
  }
  nd4c_onnx_operand end = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(nd4c_onnx_scalar(emission, ND4C_INT64, (double)(info.shape[axis] - 1), &end));
  return nd4c_onnx_emit_binary(emission, ND4C_OP_subtract, end, emission->outputs[0], &emission->outputs[0]);
}

/* -- casts ---------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_onnx_emit_op_cast(nd4c_onnx_emission *emission) {
  int64_t number = 0;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  nd4c_onnx_ignore(emission, "saturate");   /* about 8-bit floats only */
  nd4c_onnx_ignore(emission, "round_mode"); /* likewise */
  ND4C_TRY(nd4c_onnx_get_int(emission, "to", 0, &number));
  ND4C_TRY(nd4c_onnx_dtype_resolve(number, &dtype));
  return nd4c_onnx_emit_cast(emission, emission->inputs[0], dtype, &emission->outputs[0]);
}

nd4c_status nd4c_onnx_emit_op_cast_like(nd4c_onnx_emission *emission) {
  nd4c_dtype dtype = nd4c_onnx_operand_get(emission, emission->inputs[1]).dtype;
  nd4c_onnx_ignore(emission, "saturate");
  nd4c_onnx_ignore(emission, "round_mode");
  return nd4c_onnx_emit_cast(emission, emission->inputs[0], dtype, &emission->outputs[0]);
}
