/* Composites that reduce over axes and over lists of arrays. import/onnx/ops calls them (reduction.c, direct.c). */
#include <math.h>

#include "base/status.h"
#include "ops/compose/compose.h"

nd4c_status nd4c_compose_fold(nd4c_emitter *e, nd4c_op op, const nd4c_emitted *inputs, int32_t count, nd4c_emitted *y) {
  nd4c_emitted result = inputs[0];
  for (int32_t i = 1; i < count; i++) {
    ND4C_TRY(nd4c_emit_binary(e, op, result, inputs[i], &result));
  }
  *y = result;
  return ND4C_OK;
}

nd4c_status nd4c_compose_mean(nd4c_emitter *e, const nd4c_emitted *inputs, int32_t count, nd4c_emitted *y) {
  ND4C_TRY(nd4c_compose_fold(e, ND4C_OP_add, inputs, count, y));
  return count == 1 ? ND4C_OK : nd4c_emit_with_scalar(e, ND4C_OP_divide, *y, count, y);
}

static bool is_reduced(int32_t axis, int32_t rank, int32_t count, const int64_t *axes) {
  for (int32_t i = 0; i < count; i++) {
    if (axes[i] == axis || axes[i] == axis - rank) {
      return true;
    }
  }
  return count == 0;
}

static bool reduces_nothing(const nd4c_emitted_info *x, int32_t count, const int64_t *axes) {
  for (int32_t i = 0; i < x->rank; i++) {
    if (x->shape[i] == 0 && is_reduced(i, x->rank, count, axes)) {
      return true;
    }
  }
  return false;
}

/* In place of x: one element that every number beats, where an axis of x is empty. */
static nd4c_status put_least(nd4c_emitter *e, nd4c_op op, nd4c_emitted_info info, nd4c_emitted *y) {
  const nd4c_dtype_info *dtype = nd4c_dtype_get_info(info.dtype);
  const double limit = dtype->kind == ND4C_KIND_FLOAT ? HUGE_VAL : ldexp(1, dtype->bits); /* the cast saturates */
  for (int32_t i = 0; i < info.rank; i++) {
    info.shape[i] = info.shape[i] == 0 ? 1 : info.shape[i];
  }
  ND4C_TRY(nd4c_emit_scalar(e, ND4C_FLOAT64, op == ND4C_OP_max ? -limit : limit, y));
  ND4C_TRY(nd4c_emit_cast(e, *y, info.dtype, y));
  return nd4c_emit_broadcast(e, *y, info.rank, info.shape, y);
}

nd4c_status nd4c_compose_reduce(nd4c_emitter *e, nd4c_op op, nd4c_emitted x, int32_t count, const int64_t *axes,
                                bool keepdims, nd4c_emitted *y) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, x);
  const bool is_extreme = op == ND4C_OP_max || op == ND4C_OP_min;
  if (is_extreme && info.dtype == ND4C_BOOL) {
    op = op == ND4C_OP_max ? ND4C_OP_any : ND4C_OP_all;
  } else if (is_extreme && reduces_nothing(&info, count, axes)) {
    ND4C_TRY(put_least(e, op, info, &x));
  }
  ND4C_TRY(nd4c_emit_reduce(e, op, x, count, axes, keepdims, y));
  return nd4c_emit_cast(e, *y, info.dtype, y); /* sums of small integers are wider */
}

nd4c_status nd4c_compose_logsumexp(nd4c_emitter *e, nd4c_emitted x, int32_t count, const int64_t *axes, bool keepdims,
                                   nd4c_emitted *y) {
  const nd4c_dtype dtype = nd4c_emitted_get(e, x).dtype;
  const bool is_float = nd4c_dtype_get_info(dtype)->kind == ND4C_KIND_FLOAT;
  ND4C_TRY(nd4c_emit_cast(e, x, is_float ? dtype : ND4C_FLOAT64, &x));
  ND4C_TRY(nd4c_emit_reduce(e, ND4C_OP_logsumexp, x, count, axes, keepdims, y));
  return nd4c_emit_cast(e, *y, dtype, y);
}

/* The last of equals is the first of the reversed axis. */
nd4c_status nd4c_compose_arg_reduce(nd4c_emitter *e, nd4c_op op, nd4c_emitted x, int32_t axis, bool keepdims, bool last,
                                    nd4c_emitted *y) {
  const nd4c_attr attrs[] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_bool("keepdims", keepdims)};
  const int64_t extent = nd4c_emitted_get(e, x).shape[axis];
  nd4c_emitted end = ND4C_EMITTED_NONE;
  if (!last) {
    return nd4c_emit(e, op, &x, 1, attrs, 2, y);
  }
  ND4C_TRY(nd4c_compose_check_number(extent, "the length of an axis that is reversed"));
  ND4C_TRY(nd4c_emit_slice(e, x, axis, ND4C_SLICE_NONE, ND4C_SLICE_NONE, -1, &x));
  ND4C_TRY(nd4c_emit(e, op, &x, 1, attrs, 2, y));
  ND4C_TRY(nd4c_emit_scalar(e, ND4C_INT64, (double)(extent - 1), &end));
  return nd4c_emit_binary(e, ND4C_OP_subtract, end, *y, y);
}
