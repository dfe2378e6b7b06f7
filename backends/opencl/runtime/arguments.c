/* Implements arguments.h: adds a list of arguments to a launch, and runs launches over items or groups. The families
 * and support/ call it through the macros ND4C_CL_RUN*. */
#include "backends/opencl/runtime/opencl.h"

static void give_tensor(nd4c_cl_launch *launch, const nd4c_cl_given *given) {
  const nd4c_call *call = launch->call;
  const nd4c_tensor *tensor = given->at != NULL               ? given->at
                              : given->access == ND4C_CL_READ ? &call->inputs[0]
                                                              : &call->outputs[0];
  nd4c_cl_arg_buffer(launch, tensor->buffer, given->access);
  nd4c_cl_arg_long(launch, tensor->offset + given->shift);
}

static void give_number(nd4c_cl_launch *launch, const nd4c_cl_given *given, size_t i) {
  switch (given->kind) {
    case ND4C_CL_GIVEN_LONGS:
      nd4c_cl_arg_long(launch, ((const int64_t *)given->at)[i]);
      break;
    case ND4C_CL_GIVEN_INTS:
      nd4c_cl_arg_int(launch, ((const int32_t *)given->at)[i]);
      break;
    case ND4C_CL_GIVEN_DOUBLES:
      nd4c_cl_arg_double(launch, ((const double *)given->at)[i]);
      break;
    case ND4C_CL_GIVEN_REALS:
      nd4c_cl_arg_real(launch, ((const double *)given->at)[i]);
      break;
    default:
      nd4c_cl_arg_pair(launch, ((const double *)given->at)[i]);
      break;
  }
}

static void give(nd4c_cl_launch *launch, const nd4c_cl_given *given) {
  switch (given->kind) {
    case ND4C_CL_GIVEN_TENSOR:
      give_tensor(launch, given);
      break;
    case ND4C_CL_GIVEN_STRIDED:
      give_tensor(launch, given);
      for (int32_t i = 0; i < ((const nd4c_tensor *)given->at)->rank; i++) {
        nd4c_cl_arg_long(launch, ((const nd4c_tensor *)given->at)->strides[i]);
      }
      break;
    case ND4C_CL_GIVEN_BUFFER:
      nd4c_cl_arg_buffer(launch, given->buffer, given->access);
      break;
    case ND4C_CL_GIVEN_SCRATCH:
      nd4c_cl_arg_buffer(launch, launch->call->scratch_buffer, given->access);
      break;
    case ND4C_CL_GIVEN_BYTES:
      nd4c_cl_arg_bytes(launch, given->at, given->count);
      break;
    case ND4C_CL_GIVEN_LOCAL:
      nd4c_cl_arg_local(launch, given->at != NULL ? given->count * (size_t)launch->group : given->count);
      break;
    case ND4C_CL_GIVEN_FAULT:
      nd4c_cl_arg_fault(launch);
      break;
    default:
      for (size_t i = 0; i < given->count; i++) {
        give_number(launch, given, i);
      }
  }
}

void nd4c_cl_launch_give(nd4c_cl_launch *launch, const nd4c_cl_given *list) {
  for (; list->kind != ND4C_CL_GIVEN_END; list++) {
    give(launch, list);
  }
}

nd4c_status nd4c_cl_run(const nd4c_call *call, const char *source, const char *function, nd4c_cl_options options,
                        int64_t count, const nd4c_cl_given *list) {
  nd4c_cl_launch launch;
  if (count <= 0) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, source, function, &options));
  nd4c_cl_launch_give(&launch, list);
  return nd4c_cl_launch_run(&launch, 1, &count, NULL);
}

nd4c_status nd4c_cl_run_items(const nd4c_call *call, const char *source, const char *function, nd4c_cl_options options,
                              int64_t count, const nd4c_cl_given *list) {
  nd4c_cl_launch launch;
  if (count <= 0) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, source, function, &options));
  nd4c_cl_launch_give(&launch, list);
  nd4c_cl_arg_long(&launch, count);
  return nd4c_cl_launch_run(&launch, 1, &count, NULL);
}

int64_t nd4c_cl_group_within(const nd4c_call *call, int64_t most, int64_t each) {
  const nd4c_cl_limits *limits = nd4c_cl_device_limits(call->device);
  while (most > 1 && (most > limits->group_size || most * each > limits->local_bytes)) {
    most /= 2;
  }
  return most;
}

nd4c_status nd4c_cl_run_groups(const nd4c_call *call, const char *source, const char *function, nd4c_cl_options options,
                               int64_t groups, int64_t most, const nd4c_cl_given *list) {
  nd4c_cl_launch launch;
  if (groups <= 0) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, source, function, &options));
  launch.group = nd4c_cl_kernel_fit(launch.kernel, most);
  nd4c_cl_launch_give(&launch, list);
  int64_t global = groups * launch.group;
  return nd4c_cl_launch_run(&launch, 1, &global, &launch.group);
}
