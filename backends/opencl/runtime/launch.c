/* Launches: a kernel's arguments, collected on the caller's stack, then set and enqueued under the kernel's lock. The
 * families and support/ launch every kernel here. */
#include <stdio.h>
#include <string.h>

#include "backends/opencl/runtime/device.h"

/* Default work items of a group: one size for all launches, because drivers compile for each size. */
enum { GROUP = 64, DIMS = 3 };

/* Arguments that are no bytes: local memory, and the fault buffer of the stream, which nd4c_cl_launch_run fills in. */
enum { LOCAL = -1, FAULT = -2 };

static struct nd4c_cl_arg *add(nd4c_cl_launch *launch) {
  static _Thread_local struct nd4c_cl_arg spare;
  launch->overflow = launch->overflow || launch->count == ND4C_CL_ARGS;
  struct nd4c_cl_arg *arg = launch->overflow ? &spare : &launch->args[launch->count++];
  *arg = (struct nd4c_cl_arg){0};
  return arg;
}

static void add_bytes(nd4c_cl_launch *launch, const void *value, size_t size) {
  struct nd4c_cl_arg *arg = add(launch);
  size_t at = (launch->used + 7) / 8 * 8;
  if (size > sizeof launch->bytes || at > sizeof launch->bytes - size) {
    launch->overflow = true;
    return;
  }
  memcpy(launch->bytes + at, value, size);
  launch->used = at + size;
  arg->size = size;
  arg->at = (int32_t)at;
}

static void add_buffer(nd4c_cl_launch *launch, nd4c_buffer buffer, nd4c_cl_access access) {
  struct nd4c_cl_arg *arg = add(launch);
  arg->buffer = buffer;
  arg->access = access;
}

static void add_tensor(nd4c_cl_launch *launch, const nd4c_cl_given *given) {
  const nd4c_call *call = launch->call;
  const nd4c_tensor *tensor = given->at != NULL               ? given->at
                              : given->access == ND4C_CL_READ ? &call->inputs[0]
                                                              : &call->outputs[0];
  int64_t first = tensor->offset + given->shift;
  add_buffer(launch, tensor->buffer, given->access);
  add_bytes(launch, &first, sizeof first);
}

static void add_number(nd4c_cl_launch *launch, const nd4c_cl_given *given, size_t i) {
  const double *real = (const double *)given->at + i;
  float parts[2];
  if (given->kind == ND4C_CL_GIVEN_INTS) {
    add_bytes(launch, (const int32_t *)given->at + i, sizeof(int32_t));
  } else if (given->kind == ND4C_CL_GIVEN_LONGS) {
    add_bytes(launch, (const int64_t *)given->at + i, sizeof(int64_t));
  } else if (given->kind == ND4C_CL_GIVEN_DOUBLES || nd4c_cl_wide(launch->call)) {
    add_bytes(launch, real, sizeof *real);
  } else {
    nd4c_cl_pair_of(*real, parts);
    add_bytes(launch, parts, given->kind == ND4C_CL_GIVEN_PAIRS ? sizeof parts : sizeof parts[0]);
  }
}

static void give(nd4c_cl_launch *launch, const nd4c_cl_given *given) {
  switch (given->kind) {
    case ND4C_CL_GIVEN_TENSOR:
      add_tensor(launch, given);
      break;
    case ND4C_CL_GIVEN_STRIDED:
      add_tensor(launch, given);
      for (int32_t i = 0; i < ((const nd4c_tensor *)given->at)->rank; i++) {
        add_bytes(launch, &((const nd4c_tensor *)given->at)->strides[i], sizeof(int64_t));
      }
      break;
    case ND4C_CL_GIVEN_BUFFER:
      add_buffer(launch, given->buffer, given->access);
      break;
    case ND4C_CL_GIVEN_SCRATCH:
      add_buffer(launch, launch->call->scratch_buffer, given->access);
      break;
    case ND4C_CL_GIVEN_BYTES:
      add_bytes(launch, given->at, given->count);
      break;
    case ND4C_CL_GIVEN_LOCAL:
      *add(launch) =
          (struct nd4c_cl_arg){.at = LOCAL, .size = given->count * (given->at != NULL ? (size_t)launch->group : 1)};
      break;
    case ND4C_CL_GIVEN_FAULT:
      *add(launch) = (struct nd4c_cl_arg){.at = FAULT};
      break;
    default:
      for (size_t i = 0; i < given->count; i++) {
        add_number(launch, given, i);
      }
  }
}

void nd4c_cl_launch_give(nd4c_cl_launch *launch, const nd4c_cl_given *list) {
  for (; list->kind != ND4C_CL_GIVEN_END; list++) {
    give(launch, list);
  }
}

/* -- launching ----------------------------------------------------------------------------------------------------- */

/* Fills in the stream's fault buffer where an argument asks for it, and lists the buffers that the launch uses. */
static nd4c_status resolve(nd4c_cl_launch *launch, int32_t *use_count, nd4c_cl_use *uses) {
  *use_count = 0;
  for (int32_t i = 0; i < launch->count; i++) {
    struct nd4c_cl_arg *arg = &launch->args[i];
    if (arg->at == FAULT) {
      ND4C_BACKEND_TRY(nd4c_cl_stream_fault(launch->call->stream, &arg->buffer));
      arg->access = ND4C_CL_READ_WRITE;
    }
    if (arg->buffer != NULL) {
      uses[(*use_count)++] = (nd4c_cl_use){arg->buffer, arg->access};
    }
  }
  return ND4C_OK;
}

/* The launch is not enqueued after all. */
static void return_faults(const nd4c_cl_launch *launch) {
  for (int32_t i = 0; i < launch->count; i++) {
    if (launch->args[i].at == FAULT && launch->args[i].buffer != NULL) {
      nd4c_cl_stream_return_fault(launch->call->stream, launch->args[i].buffer);
    }
  }
}

/* Under the kernel's lock. */
static nd4c_status set_args(const nd4c_cl_launch *launch) {
  for (int32_t i = 0; i < launch->count; i++) {
    const struct nd4c_cl_arg *arg = &launch->args[i];
    const void *value = arg->buffer != NULL ? (const void *)&arg->buffer->memory
                        : arg->at >= 0      ? launch->bytes + arg->at
                                            : NULL;
    size_t size = arg->buffer != NULL ? sizeof(cl_mem) : arg->size;
    cl_int code = nd4c_cl.clSetKernelArg(launch->kernel->handle, (cl_uint)i, size, value);
    if (code != CL_SUCCESS) {
      char call[128];
      (void)snprintf(call, sizeof call, "clSetKernelArg %d of %.60s", (int)i, launch->kernel->function);
      return nd4c_cl_fail(launch->kernel->device, call, code);
    }
  }
  return ND4C_OK;
}

/* Extents rounded up to whole groups; false if an extent is 0. */
static bool round_extents(const nd4c_cl_launch *launch, int32_t dims, const int64_t *global, const int64_t *local,
                          size_t *extents, size_t *groups) {
  bool any = true;
  int64_t left = launch->kernel->group_size < GROUP ? launch->kernel->group_size : GROUP;
  for (int32_t d = 0; d < dims; d++) {
    int64_t group = local != NULL ? local[d] : d == 0 ? left : 1;
    any = any && global[d] > 0;
    groups[d] = (size_t)group;
    extents[d] = (size_t)((global[d] + group - 1) / group * group);
  }
  return any;
}

nd4c_status nd4c_cl_launch_run(nd4c_cl_launch *launch, int32_t dims, const int64_t *global, const int64_t *local) {
  nd4c_cl_kernel *kernel = launch->kernel;
  if (launch->overflow || dims < 1 || dims > DIMS) {
    return nd4c_cl_host->fail(ND4C_INTERNAL, "%s: kernel %s has more arguments or dimensions than a launch holds",
                              kernel->device->name, kernel->function);
  }
  size_t extents[DIMS], groups[DIMS];
  if (!round_extents(launch, dims, global, local, extents, groups)) {
    return ND4C_OK;
  }
  nd4c_cl_use uses[ND4C_CL_ARGS];
  int32_t use_count = 0;
  nd4c_status status = resolve(launch, &use_count, uses);
  if (status != ND4C_OK) {
    return_faults(launch);
    return status;
  }
  nd4c_cl_lock(&kernel->lock);
  status = set_args(launch);
  if (status == ND4C_OK) {
    nd4c_cl_command c;
    nd4c_cl_command_begin(&c, launch->call->stream, "clEnqueueNDRangeKernel", launch->call->op->name,
                          launch->call->point, use_count, uses);
    status =
        nd4c_cl_command_end(&c, nd4c_cl.clEnqueueNDRangeKernel(c.queue, kernel->handle, (cl_uint)dims, NULL, extents,
                                                               groups, c.wait_count, c.wait_list, &c.event));
  } else {
    return_faults(launch);
  }
  nd4c_cl_unlock(&kernel->lock);
  return status;
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

nd4c_status nd4c_cl_read_back(const nd4c_call *call, nd4c_buffer buffer, int64_t offset, void *to, int64_t bytes) {
  const nd4c_cl_use use = {buffer, ND4C_CL_READ};
  nd4c_cl_command c;
  if (bytes == 0) {
    return ND4C_OK;
  }
  nd4c_cl_command_begin(&c, call->stream, "clEnqueueReadBuffer", call->op->name, call->point, 1, &use);
  nd4c_status status = nd4c_cl_command_end_and_wait(
      &c, nd4c_cl.clEnqueueReadBuffer(c.queue, buffer->memory, 0, (size_t)offset, (size_t)bytes, to, c.wait_count,
                                      c.wait_list, &c.event));
  /* A driver may execute the read although an earlier kernel failed: the data are then invalid. */
  return status == ND4C_OK ? nd4c_cl_stream_outcome(call->stream, call->point) : status;
}

nd4c_status nd4c_cl_fill(const nd4c_call *call, nd4c_buffer buffer, int64_t offset, int64_t bytes, const void *pattern,
                         int32_t pattern_bytes) {
  return nd4c_cl_enqueue_fill(call->stream, call->op->name, call->point, buffer, offset, bytes, pattern, pattern_bytes);
}
