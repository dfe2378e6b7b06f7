/* linear of engine reference; matmul is a sum of products (reference_contraction.c). */
#include "backends/cpu/support/window.h"

ND4C_CPU_RANGE(linear_range, nd4c_ref_linear)

static nd4c_status linear_run(const nd4c_call *call) {
  nd4c_ref_linear_args args = {
      .x = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_linear_x]),
      .w = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_linear_w]),
      .bias = nd4c_cpu_ref_tensor(nd4c_cpu_input(call, ND4C_IN_linear_bias)),
      .addend = nd4c_cpu_ref_tensor(nd4c_cpu_input(call, ND4C_IN_linear_addend)),
      .y = nd4c_cpu_ref_tensor(&call->outputs[0]),
      .transpose_w = call->attrs[ND4C_ATTR_linear_transpose_w].as.i != 0,
      .activation = call->attrs[ND4C_ATTR_linear_activation].as.i,
  };
  int64_t work = args.x.shape[args.x.rank - 1];
  nd4c_cpu_host->parallel_for(call->outputs[0].size, nd4c_cpu_grain(work), call->width, linear_range, &args);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_reference_contraction_linear_kernels[] = {
    ND4C_CPU_REFERENCE_KERNEL(linear, ND4C_CPU_FLOATS, linear_run), NULL};
