/* Binary ops: add, subtract, multiply, ... */
#include "backends/cpu/cpu.h"
#include "kernels/reference/elementwise.h"

static nd4c_value_function reference_function(nd4c_op op) {
  switch (op) {
    case ND4C_OP_add:
      return nd4c_value_add;
    case ND4C_OP_subtract:
      return nd4c_value_subtract;
    default:
      return nd4c_value_multiply;
  }
}

static nd4c_status run_reference(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  int64_t strides[2][ND4C_CPU_MAX_RANK];
  nd4c_operand inputs[2];
  for (int32_t i = 0; i < 2; i++) {
    nd4c_cpu_broadcast_strides(&call->inputs[i], y, strides[i]);
    inputs[i] = (nd4c_operand){call->inputs[i].dtype, call->inputs[i].data, strides[i]};
  }
  nd4c_operand output = {y->dtype, y->data, y->strides};
  nd4c_reference_map(reference_function(call->op->op), y->dtype, 2, inputs, &output, y->rank, y->shape);
  return ND4C_OK;
}

ND4C_CPU_REFERENCE_KERNEL(add, ND4C_CPU_NUMBERS, run_reference)
ND4C_CPU_REFERENCE_KERNEL(subtract, ND4C_CPU_NUMBERS, run_reference)
ND4C_CPU_REFERENCE_KERNEL(multiply, ND4C_CPU_NUMBERS, run_reference)

const nd4c_kernel *const nd4c_cpu_binary_kernels[] = {&reference_add, &reference_subtract, &reference_multiply, NULL};
