/* Engine simd: crelu and bias_add, by the loops of binary.h and unary.h over operands that are seen along an axis.
 * dispatch/choice.c asks these kernels before the reference's. */
#include "backends/cpu/simd/elementwise/elementwise.h"
#include "backends/reading.h"

/* -- crelu --------------------------------------------------------------------------------------------------------- */

/* A part of a tensor along an axis, `length` long, as if it were an operand of its own. */
static nd4c_tensor part_of(const nd4c_tensor *tensor, int32_t axis, int64_t begin, int64_t length, int64_t *shape) {
  nd4c_tensor part = *tensor;
  for (int32_t i = 0; i < tensor->rank; i++) {
    shape[i] = tensor->shape[i];
  }
  shape[axis] = length;
  part.shape = shape;
  part.flags = 0;
  part.size = tensor->shape[axis] == 0 ? 0 : tensor->size / tensor->shape[axis] * length;
  if (part.size > 0) {
    part.data = (char *)tensor->data + begin * tensor->strides[axis] * nd4c_cpu_dtype_bytes(tensor->dtype);
  }
  return part;
}

/* A loop from one tensor to another of its shape; without a loop the elements are copied. */
static void run_loop(const nd4c_call *call, nd4c_unary_loop loop, const nd4c_tensor *x, const nd4c_tensor *y) {
  nd4c_call inner = *call;
  inner.inputs = x;
  inner.outputs = y;
  if (loop != NULL) {
    (void)nd4c_simd_run_unary(&inner, loop, NULL, 1, NULL);
  } else if (x != y) {
    nd4c_nest_copy_tensor(x, y, call->width);
  }
}

/* Integers without a sign have no loop of relu: it leaves them as they are. */
static nd4c_status run_crelu(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const int32_t axis = nd4c_axis(ND4C_INT_OF(call, crelu_axis), x->rank);
  const nd4c_unary_loop relu = nd4c_simd.unary->loops[ND4C_UNARY_relu][x->dtype];
  const int64_t half = x->shape[axis];
  int64_t shape[ND4C_CPU_MAX_RANK];
  const nd4c_tensor first = part_of(y, axis, 0, half, shape), second = part_of(y, axis, half, half, shape);
  run_loop(call, relu, x, &first);
  run_loop(call, nd4c_simd.unary->loops[ND4C_UNARY_negative][x->dtype], x, &second);
  run_loop(call, relu, &second, &second);
  return ND4C_OK;
}

/* -- bias_add ------------------------------------------------------------------------------------------------------ */

static bool usable_bias_add(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].dtype != call->inputs[1].dtype, "operands of different dtypes");
  ND4C_CPU_DECLINE_IF(ND4C_INT_OF(call, bias_add_activation) != 0, "an activation");
  return true;
}

/* The bias, seen with an axis for each of x's. */
static nd4c_status run_bias_add(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  const int32_t axis = nd4c_axis(ND4C_INT_OF(call, bias_add_axis), x->rank);
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK];
  nd4c_tensor operands[2] = {*x, call->inputs[1]};
  for (int32_t i = 0; i < x->rank; i++) {
    shape[i] = i == axis ? operands[1].shape[0] : 1;
    strides[i] = i == axis ? operands[1].strides[0] : 0;
  }
  operands[1].rank = x->rank;
  operands[1].shape = shape;
  operands[1].strides = strides;
  nd4c_call inner = *call;
  inner.inputs = operands;
  return nd4c_simd_run_binary(&inner, &nd4c_simd.binary->loops[ND4C_BINARY_add][x->dtype], 1);
}

const nd4c_kernel *const nd4c_cpu_simd_elementwise_channels_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(crelu, ND4C_CPU_REALS, NULL, run_crelu),
    ND4C_CPU_SIMD_KERNEL(bias_add, ND4C_CPU_FLOATS, usable_bias_add, run_bias_add), NULL};
