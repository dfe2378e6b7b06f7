/* Element-wise ops: one expression each, compiled for the operands' dtypes. */
#include "backends/opencl/device.h"

static bool add_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cl_walk walk;
  const nd4c_tensor *tensors[3] = {&call->inputs[0], &call->inputs[1], &call->outputs[0]};
  return nd4c_cl_call_usable(call, reason, reason_size) &&
         nd4c_cl_walk_make(&walk, call->outputs[0].rank, call->outputs[0].shape, 3, tensors, reason, reason_size);
}

static nd4c_status run_add(const nd4c_call *call) {
  char reason[ND4C_CL_REASON];
  nd4c_cl_walk walk;
  const nd4c_tensor *y = &call->outputs[0], *tensors[3] = {&call->inputs[0], &call->inputs[1], y};
  (void)nd4c_cl_walk_make(&walk, y->rank, y->shape, 3, tensors, reason, sizeof reason);
  nd4c_cl_options options = {""};
  nd4c_cl_define_type(&options, 'A', call->inputs[0].dtype);
  nd4c_cl_define_type(&options, 'B', call->inputs[1].dtype);
  nd4c_cl_define_type(&options, 'Y', y->dtype);
  nd4c_cl_define_index(&options, call);
  nd4c_cl_kernel *kernel = NULL;
  nd4c_status status = nd4c_cl_kernel_get(call->device, "elementwise", "binary", &options, &kernel);
  if (status != ND4C_OK) {
    return status;
  }
  nd4c_cl_launch launch;
  nd4c_cl_launch_begin(&launch, call, kernel);
  nd4c_cl_arg_tensor(&launch, tensors[0], ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, tensors[1], ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, y, ND4C_CL_WRITE);
  nd4c_cl_arg_bytes(&launch, &walk, sizeof walk);
  return nd4c_cl_launch_run(&launch, 1, &walk.size, NULL);
}

static const nd4c_kernel add_kernel = {.struct_size = ND4C_SIZE_OF(nd4c_kernel),
                                       .op_version = 1,
                                       .op = "add",
                                       .engine = "opencl",
                                       .name = "opencl.add",
                                       .priority = 10,
                                       .dtypes = ND4C_DTYPE_BIT(ND4C_FLOAT32),
                                       .usable = add_usable,
                                       .run = run_add};
const nd4c_kernel *const nd4c_cl_elementwise_kernels[] = {&add_kernel, NULL};
