/* Copies between layouts: the op copy, and what it does for shape ops that are not views. */
#include "backends/cpu/cpu.h"
#include "kernels/reference/elementwise.h"

static nd4c_status run_reference(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_operand input = {x->dtype, x->data, x->strides};
  nd4c_operand output = {y->dtype, y->data, y->strides};
  nd4c_reference_map(nd4c_value_copy, y->dtype, 1, &input, &output, y->rank, y->shape);
  return ND4C_OK;
}

ND4C_CPU_REFERENCE_KERNEL(copy, ND4C_CPU_ALL, run_reference)

const nd4c_kernel *const nd4c_cpu_copy_kernels[] = {&reference_copy, NULL};
