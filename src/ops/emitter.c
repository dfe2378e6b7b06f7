/* Implements the helpers of emitter.h on top of an emitter's three functions: ops, shapes, constants. Composites,
 * gradients and the ONNX importer call them. */
#include "ops/emitter.h"

#include "base/status.h"
#include "device/device.h"

/* -- ops ----------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_emit_outputs(nd4c_emitter *emitter, nd4c_op op, const nd4c_emitted *inputs, int32_t input_count,
                              const nd4c_attr *attrs, int32_t attr_count, nd4c_emitted *outputs, int32_t output_count) {
  const nd4c_op_def *def = nd4c_op_get_def(op);
  if (def == NULL || def->info.output_count != output_count) {
    return nd4c_fail(ND4C_ARGUMENT, "op %u, %s, has %d outputs; expected %d", op,
                     def == NULL ? "unknown" : def->info.name, def == NULL ? 0 : (int)def->info.output_count,
                     (int)output_count);
  }
  return emitter->emit(emitter, def, inputs, input_count, attrs, attr_count, outputs);
}

nd4c_status nd4c_emit(nd4c_emitter *emitter, nd4c_op op, const nd4c_emitted *inputs, int32_t input_count,
                      const nd4c_attr *attrs, int32_t attr_count, nd4c_emitted *output) {
  return nd4c_emit_outputs(emitter, op, inputs, input_count, attrs, attr_count, output, 1);
}

nd4c_status nd4c_emit_unary(nd4c_emitter *emitter, nd4c_op op, nd4c_emitted x, nd4c_emitted *y) {
  return nd4c_emit(emitter, op, &x, 1, NULL, 0, y);
}

nd4c_status nd4c_emit_binary(nd4c_emitter *emitter, nd4c_op op, nd4c_emitted a, nd4c_emitted b, nd4c_emitted *y) {
  const nd4c_emitted inputs[] = {a, b};
  return nd4c_emit(emitter, op, inputs, 2, NULL, 0, y);
}

nd4c_status nd4c_emit_with_scalar(nd4c_emitter *emitter, nd4c_op op, nd4c_emitted x, double value, nd4c_emitted *y) {
  nd4c_emitted scalar = ND4C_EMITTED_NONE;
  ND4C_TRY(nd4c_emit_scalar_like(emitter, x, value, &scalar));
  return nd4c_emit_binary(emitter, op, x, scalar, y);
}

nd4c_status nd4c_emit_where(nd4c_emitter *emitter, nd4c_emitted condition, nd4c_emitted a, nd4c_emitted b,
                            nd4c_emitted *y) {
  const nd4c_emitted inputs[] = {condition, a, b};
  return nd4c_emit(emitter, ND4C_OP_where, inputs, 3, NULL, 0, y);
}

nd4c_status nd4c_emit_cast(nd4c_emitter *emitter, nd4c_emitted x, nd4c_dtype dtype, nd4c_emitted *y) {
  if (nd4c_emitted_get(emitter, x).dtype == dtype) {
    *y = x;
    return ND4C_OK;
  }
  const nd4c_attr attr = nd4c_attr_of_dtype("dtype", dtype);
  return nd4c_emit(emitter, ND4C_OP_cast, &x, 1, &attr, 1, y);
}

/* -- shapes -------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_emit_reshape(nd4c_emitter *emitter, nd4c_emitted x, int32_t rank, const int64_t *shape,
                              nd4c_emitted *y) {
  const nd4c_attr attr = nd4c_attr_of_ints("shape", shape, rank);
  return nd4c_emit(emitter, ND4C_OP_reshape, &x, 1, &attr, 1, y);
}

nd4c_status nd4c_emit_broadcast(nd4c_emitter *emitter, nd4c_emitted x, int32_t rank, const int64_t *shape,
                                nd4c_emitted *y) {
  const nd4c_attr attr = nd4c_attr_of_ints("shape", shape, rank);
  return nd4c_emit(emitter, ND4C_OP_broadcast_to, &x, 1, &attr, 1, y);
}

nd4c_status nd4c_emit_axes(nd4c_emitter *emitter, nd4c_op op, nd4c_emitted x, int32_t count, const int64_t *axes,
                           nd4c_emitted *y) {
  const nd4c_attr attr = nd4c_attr_of_ints("axes", count > 0 ? axes : NULL, count);
  return nd4c_emit(emitter, op, &x, 1, &attr, 1, y);
}

nd4c_status nd4c_emit_along(nd4c_emitter *emitter, nd4c_op op, const nd4c_emitted *inputs, int32_t input_count,
                            int64_t axis, nd4c_emitted *y) {
  const nd4c_attr attr = nd4c_attr_of_int("axis", axis);
  return nd4c_emit(emitter, op, inputs, input_count, &attr, 1, y);
}

nd4c_status nd4c_emit_transposed(nd4c_emitter *emitter, nd4c_emitted x, nd4c_emitted *y) {
  static const int64_t swapped[] = {1, 0};
  return nd4c_emit_axes(emitter, ND4C_OP_transpose, x, 2, swapped, y);
}

nd4c_status nd4c_emit_reduce(nd4c_emitter *emitter, nd4c_op op, nd4c_emitted x, int32_t count, const int64_t *axes,
                             bool keepdims, nd4c_emitted *y) {
  const nd4c_attr attrs[] = {nd4c_attr_of_ints("axes", count > 0 ? axes : NULL, count),
                             nd4c_attr_of_bool("keepdims", keepdims)};
  return nd4c_emit(emitter, op, &x, 1, attrs, 2, y);
}

nd4c_status nd4c_emit_slice(nd4c_emitter *emitter, nd4c_emitted x, int64_t axis, int64_t start, int64_t stop,
                            int64_t step, nd4c_emitted *y) {
  const nd4c_attr attrs[] = {nd4c_attr_of_ints("starts", &start, 1), nd4c_attr_of_ints("stops", &stop, 1),
                             nd4c_attr_of_ints("axes", &axis, 1), nd4c_attr_of_ints("steps", &step, 1)};
  return nd4c_emit(emitter, ND4C_OP_slice, &x, 1, attrs, 4, y);
}

/* -- constants ----------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_emit_constant(nd4c_emitter *emitter, nd4c_array *array, nd4c_emitted *y) {
  return emitter->constant(emitter, array, y);
}

nd4c_status nd4c_emit_scalar(nd4c_emitter *emitter, nd4c_dtype dtype, double value, nd4c_emitted *y) {
  nd4c_array *array = NULL;
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  ND4C_TRY(nd4c_array_scalar(dtype, value, host, &array));
  return emitter->constant(emitter, array, y);
}

nd4c_status nd4c_emit_scalar_like(nd4c_emitter *emitter, nd4c_emitted like, double value, nd4c_emitted *y) {
  return nd4c_emit_scalar(emitter, nd4c_emitted_get(emitter, like).dtype, value, y);
}

nd4c_status nd4c_emit_full(nd4c_emitter *emitter, nd4c_dtype dtype, double value, int32_t rank, const int64_t *shape,
                           nd4c_emitted *y) {
  nd4c_emitted scalar = ND4C_EMITTED_NONE;
  ND4C_TRY(nd4c_emit_scalar(emitter, dtype, value, &scalar));
  return nd4c_emit_broadcast(emitter, scalar, rank, shape, y);
}

/* -- looking ------------------------------------------------------------------------------------------------------- */

nd4c_emitted_info nd4c_emitted_get(const nd4c_emitter *emitter, nd4c_emitted value) {
  return emitter->describe(emitter, value);
}
