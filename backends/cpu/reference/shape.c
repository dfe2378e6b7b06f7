/* Engine reference: ops that move elements. The other shape ops are views; where a view is not possible, the op copy
 * moves the elements. dispatch/choice.c asks these kernels last, after those of all other engines. */
#include "kernels/reference/shape/shape.h"
#include "backends/cpu/cpu.h"
#include "kernels/reference/elementwise/elementwise.h"

static nd4c_operand describe(const nd4c_tensor *tensor) {
  return (nd4c_operand){tensor->dtype, tensor->data, tensor->strides};
}

static nd4c_status run_reshape(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_operand from = describe(x), to = describe(y);
  nd4c_reference_reshape(&from, x->rank, x->shape, &to, y->rank, y->shape);
  return ND4C_OK;
}

static nd4c_status run_concat(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, concat_axis), y->rank);
  nd4c_operand to = describe(y);
  for (int32_t i = 0; i < call->input_count; i++) {
    const nd4c_tensor *x = &call->inputs[i];
    nd4c_operand from = describe(x);
    nd4c_reference_map(nd4c_value_copy, 1, &from, &y->dtype, &to, x->rank, x->shape);
    to.data += x->shape[axis] * y->strides[axis] * nd4c_reference_bytes(y->dtype);
  }
  return ND4C_OK;
}

static nd4c_status run_gather(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *indices = &call->inputs[1], *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, gather_axis), x->rank);
  int64_t bad;
  nd4c_operand from = describe(x), chosen = describe(indices), to = describe(y);
  if (nd4c_reference_find_bad_index(&chosen, indices->rank, indices->shape, x->shape[axis], &bad)) {
    return nd4c_cpu_gather_fail(bad, axis, x->shape[axis]);
  }
  nd4c_reference_gather(&from, x->shape, &chosen, (int32_t)axis, indices->rank, &to, y->rank, y->shape);
  return ND4C_OK;
}

#define OPS(X)                         \
  X(reshape, reshape, ND4C_CPU_STORED) \
  X(flatten, reshape, ND4C_CPU_STORED) \
  X(concat, concat, ND4C_CPU_MOVABLE)  \
  X(gather, gather, ND4C_CPU_MOVABLE)
#define DEFINE_KERNEL(op, run, dtypes) ND4C_CPU_REFERENCE_KERNEL_IF(op, dtypes, nd4c_cpu_reference_stored, run_##run),

const nd4c_kernel *const nd4c_cpu_reference_shape_kernels[] = {OPS(DEFINE_KERNEL) NULL};
