/* Composites that normalise. import/onnx/ops calls them (normalization.c, learning.c). */
#include "base/status.h"
#include "ops/compose/compose.h"

/* x * scale + bias, both by channel (axis 1). */
static nd4c_status scale_channels(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted scale, nd4c_emitted bias,
                                  nd4c_emitted *y) {
  int64_t shape[ND4C_MAX_RANK];
  const nd4c_emitted_info info = nd4c_emitted_get(e, x);
  for (int32_t i = 1; i < info.rank; i++) {
    shape[i - 1] = i == 1 ? info.shape[1] : 1;
  }
  ND4C_TRY(nd4c_emit_reshape(e, scale, info.rank - 1, shape, &scale));
  ND4C_TRY(nd4c_emit_reshape(e, bias, info.rank - 1, shape, &bias));
  ND4C_TRY(nd4c_emit_binary(e, ND4C_OP_multiply, x, scale, y));
  return nd4c_emit_binary(e, ND4C_OP_add, *y, bias, y);
}

nd4c_status nd4c_compose_instance_norm(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted scale, nd4c_emitted bias,
                                       double epsilon, nd4c_emitted *y) {
  const nd4c_attr attrs[] = {nd4c_attr_of_int("axis", 2), nd4c_attr_of_float("epsilon", epsilon)};
  const int32_t rank = nd4c_emitted_get(e, x).rank;
  if (rank < 3) {
    return nd4c_fail(ND4C_SHAPE, "the input has rank %d; expected 3 or more", (int)rank);
  }
  ND4C_TRY(nd4c_emit(e, ND4C_OP_layer_norm, &x, 1, attrs, 2, &x));
  return scale_channels(e, x, scale, bias, y);
}

nd4c_status nd4c_compose_rms_norm(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted scale, int32_t axis, double epsilon,
                                  nd4c_emitted *y) {
  int64_t axes[ND4C_MAX_RANK];
  nd4c_emitted below = ND4C_EMITTED_NONE;
  const int32_t rank = nd4c_emitted_get(e, x).rank;
  for (int32_t i = axis; i < rank; i++) {
    axes[i - axis] = i;
  }
  ND4C_TRY(nd4c_emit_unary(e, ND4C_OP_square, x, &below));
  ND4C_TRY(nd4c_emit_reduce(e, ND4C_OP_mean, below, rank - axis, axes, true, &below));
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_add, below, epsilon, &below));
  ND4C_TRY(nd4c_emit_unary(e, ND4C_OP_sqrt, below, &below));
  ND4C_TRY(nd4c_emit_binary(e, ND4C_OP_divide, x, below, &x));
  return nd4c_emit_binary(e, ND4C_OP_multiply, x, scale, y);
}

nd4c_status nd4c_compose_normalize_rows(nd4c_emitter *e, nd4c_op norm, nd4c_emitted x, nd4c_emitted *y) {
  static const int64_t last = -1;
  const bool is_length = norm == ND4C_OP_lp_normalize;
  nd4c_emitted size = ND4C_EMITTED_NONE;
  ND4C_TRY(nd4c_emit_unary(e, is_length ? ND4C_OP_square : ND4C_OP_abs, x, &size));
  ND4C_TRY(nd4c_emit_reduce(e, is_length ? ND4C_OP_sum : norm, size, 1, &last, true, &size));
  if (is_length) {
    ND4C_TRY(nd4c_emit_unary(e, ND4C_OP_sqrt, size, &size));
  }
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_maximum, size, 1e-30, &size));
  return nd4c_emit_binary(e, ND4C_OP_divide, x, size, y);
}
