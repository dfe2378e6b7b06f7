/* Matrix products of engine reference. */
#include "backends/cpu/window.h"

typedef struct matmul_args {
  nd4c_ref_tensor a, b, y;
} matmul_args;

static void matmul_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const matmul_args *args = user;
  (void)worker;
  nd4c_ref_matmul(&args->a, &args->b, &args->y, begin, end);
}

static nd4c_status matmul_run(const nd4c_call *call) {
  matmul_args args = {nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_matmul_a]),
                      nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_matmul_b]), nd4c_cpu_ref_tensor(&call->outputs[0])};
  int64_t work = args.a.shape[args.a.rank - 1];
  nd4c_cpu_host->parallel_for(call->outputs[0].size, nd4c_cpu_grain(work), call->width, matmul_range, &args);
  return ND4C_OK;
}

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

const nd4c_kernel *const nd4c_cpu_reference_linalg_kernels[] = {
    ND4C_CPU_REFERENCE_KERNEL(matmul, ND4C_CPU_NUMBERS, matmul_run),
    ND4C_CPU_REFERENCE_KERNEL(linear, ND4C_CPU_FLOATS, linear_run), NULL};
