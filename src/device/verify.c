#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "device/candidate.h"
#include "device/compiled.h"
#include "device/driver.h"
#include "device/memory.h"

enum { COUNT = 4, OPERANDS = 3 };

static const int64_t shape[1] = {COUNT};
static const int64_t strides[1] = {1};

/* Three operands of the check on the device. */
typedef struct check {
  nd4c_device *device;
  nd4c_stream stream;
  nd4c_buffer buffers[OPERANDS];
  nd4c_buffer replaced; /* by one that an executable returned; NULL: none */
  nd4c_tensor tensors[OPERANDS];
  float result[COUNT]; /* here, because a copy in flight may outlive the function that asked for it */
} check;

/* The check stands below src/ops, so it describes `add` itself; name and version are the table's. */
static const nd4c_op_input add_inputs[] = {{"a", false, false}, {"b", false, false}};
#define VERSION_ROW(number, version, name, ...) VERSION_##name = version,
enum { ND4C_OP_TABLE(VERSION_ROW) };
#undef VERSION_ROW
static const nd4c_op_info add_info = {.struct_size = ND4C_SIZE_OF(nd4c_op_info),
                                      .op = ND4C_OP_add,
                                      .version = VERSION_add,
                                      .name = "add",
                                      .category_name = "BINARY",
                                      .category = ND4C_CATEGORY_BINARY,
                                      .dtypes = ND4C_DTYPE_BIT(ND4C_FLOAT32),
                                      .input_count = 2,
                                      .output_count = 1,
                                      .inputs = add_inputs,
                                      .doc = "a + b"};

static nd4c_status make_operands(check *c) {
  static const float values[OPERANDS][COUNT] = {{1, 2, 3, 4}, {10, 20, 30, 40}, {0, 0, 0, 0}};
  const nd4c_device_description *description = &c->device->description;
  if (description->asynchronous) {
    ND4C_TRY(nd4c_driver_stream_create(c->device, &c->stream));
  }
  const nd4c_buffer_descriptor descriptor = {.struct_size = ND4C_SIZE_OF(nd4c_buffer_descriptor),
                                             .dtype = ND4C_FLOAT32,
                                             .bytes = sizeof values[0],
                                             .alignment = description->alignment,
                                             .rank = 1,
                                             .shape = shape,
                                             .stream = c->stream};
  for (int i = 0; i < OPERANDS; ++i) {
    ND4C_TRY(nd4c_driver_buffer_allocate(c->device, &descriptor, &c->buffers[i]));
    ND4C_TRY(nd4c_driver_copy_from_host(c->device, c->stream, c->buffers[i], 0, values[i], sizeof values[i]));
    c->tensors[i] = (nd4c_tensor){.dtype = ND4C_FLOAT32,
                                  .rank = 1,
                                  .flags = ND4C_TENSOR_CONTIGUOUS,
                                  .shape = shape,
                                  .strides = strides,
                                  .size = COUNT,
                                  .buffer = c->buffers[i]};
    ND4C_TRY(nd4c_driver_buffer_address(c->device, c->buffers[i], descriptor.kind, &c->tensors[i].data));
  }
  return ND4C_OK;
}

static nd4c_status wait_for(check *c) {
  nd4c_fence fence = NULL;
  if (c->stream == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_driver_fence_record(c->device, c->stream, &fence));
  nd4c_status status = nd4c_driver_fence_wait(c->device, fence);
  c->device->ops->fence_destroy(c->device->handle, fence);
  return status;
}

static nd4c_status run_kernel(check *c, const nd4c_kernel *kernel, nd4c_call *call) {
  if (kernel->prepare != NULL) {
    ND4C_TRY(nd4c_driver_kernel_prepare(kernel, call, &call->state));
  }
  nd4c_status status = nd4c_driver_kernel_run(kernel, call);
  nd4c_status waited = wait_for(c);
  if (kernel->unprepare != NULL && kernel->prepare != NULL) {
    kernel->unprepare(call->state);
  }
  return status != ND4C_OK ? status : waited;
}

/* The buffer takes the place of the result's, which goes at the end of the check. */
static nd4c_status take_returned(check *c, const nd4c_compiler *compiler, const nd4c_returned_buffer *returned) {
  if (returned->buffer == NULL) {
    return nd4c_fail(ND4C_DEVICE, "execute of %s returned no buffer for output 0, and no failure", compiler->engine);
  }
  c->replaced = c->buffers[OPERANDS - 1];
  c->buffers[OPERANDS - 1] = returned->buffer;
  return returned->bytes >= (int64_t)sizeof c->result
             ? ND4C_OK
             : nd4c_fail(ND4C_DEVICE, "execute of %s returned %lld bytes for output 0, expected %zu or more",
                         compiler->engine, (long long)returned->bytes, sizeof c->result);
}

static nd4c_status run_compiled(check *c, const nd4c_compiler *compiler, const nd4c_call *call) {
  static const int32_t inputs[] = {0, 1}, outputs[] = {2};
  static const int32_t *const node_inputs[] = {inputs}, *const node_outputs[] = {outputs};
  nd4c_segment segment = {.struct_size = ND4C_SIZE_OF(nd4c_segment),
                          .node_count = 1,
                          .nodes = &call,
                          .node_inputs = node_inputs,
                          .node_outputs = node_outputs,
                          .value_count = OPERANDS,
                          .input_count = 2,
                          .output_count = 1,
                          .outputs = outputs};
  const nd4c_compile_options options = {.struct_size = ND4C_SIZE_OF(nd4c_compile_options), .width = 1};
  nd4c_compiled *compiled = NULL;
  nd4c_executable_info info;
  nd4c_block scratch = {0};
  ND4C_TRY(nd4c_compiled_make(compiler, c->device, &segment, &options, NULL, &compiled, &info));
  const int64_t scratch_bytes = nd4c_compiled_scratch(&info).best;
  nd4c_status status = scratch_bytes > 0
                           ? nd4c_memory_allocate(c->device,
                                                  &(nd4c_memory_request){.bytes = scratch_bytes,
                                                                         .origin = "check",
                                                                         .usage = ND4C_BUFFER_SCRATCH,
                                                                         .stream = call->stream},
                                                  &scratch)
                           : ND4C_OK;
  void *host = info.scratch_bytes > 0 ? nd4c_allocate_aligned(64, (size_t)info.scratch_bytes) : NULL;
  if (status == ND4C_OK && host == NULL && info.scratch_bytes > 0) {
    status = nd4c_fail_memory("scratch", (size_t)info.scratch_bytes);
  }
  if (status == ND4C_OK) {
    nd4c_returned_buffer returned = {0};
    nd4c_tensor unplaced = call->outputs[0];
    const bool returns = nd4c_compiled_returns(compiled);
    unplaced.buffer = NULL;
    unplaced.data = NULL;
    nd4c_execution execution = {.stream = call->stream,
                                .width = 1,
                                .input_count = 2,
                                .output_count = 1,
                                .inputs = call->inputs,
                                .outputs = returns ? &unplaced : call->outputs,
                                .scratch = host,
                                .scratch_buffer = scratch.buffer,
                                .scratch_buffer_bytes = scratch_bytes,

                                .returned = returns ? &returned : NULL};
    status = nd4c_compiled_execute(compiled, &execution);
    status = status == ND4C_OK && returns ? take_returned(c, compiler, &returned) : status;
  }
  nd4c_status waited = wait_for(c);
  nd4c_deallocate(host);
  if (scratch.node != NULL) {
    nd4c_memory_free(c->device, &scratch);
  }
  nd4c_compiled_release(compiled);
  return status != ND4C_OK ? status : waited;
}

/* The lowest-priority kernel that fits: it opens no library that nobody has asked for yet. `reason`: why the last one that
 * was asked declined. */
static const nd4c_kernel *find_kernel(const nd4c_device *device, nd4c_call *call, char reason[ND4C_REASON_SIZE]) {
  int32_t count = 0;
  const nd4c_kernel *const *kernels = nd4c_device_kernels(device, ND4C_OP_add, &count);
  reason[0] = '\0';
  for (int32_t i = count - 1; i >= 0; --i) {
    call->data = kernels[i]->data;
    if ((kernels[i]->dtypes & ND4C_DTYPE_BIT(ND4C_FLOAT32)) != 0 &&
        (kernels[i]->usable == NULL || kernels[i]->usable(call, reason, ND4C_REASON_SIZE))) {
      return kernels[i];
    }
  }
  reason[ND4C_REASON_SIZE - 1] = '\0';
  nd4c_text_clean(reason, false);
  return NULL;
}

/* Nothing adds two numbers. Kernels that were left out are the likely cause. */
static nd4c_status fail_without_kernel(const nd4c_device *device, const char *declined) {
  const char *first = "";
  const int32_t dropped = nd4c_compute_dropped(atomic_load(&device->compute), &first);
  const char *before = declined[0] != '\0' ? "; the kernel declines: " : "";
  return dropped == 0
             ? nd4c_fail(ND4C_UNSUPPORTED, "the backend has neither a kernel for add nor a compiler%s%.400s", before,
                         declined)
             : nd4c_fail(ND4C_UNSUPPORTED,
                         "the backend has neither a kernel for add nor a compiler%s%.400s; %d of its kernels were left "
                         "out, the first one because of this: %.400s",
                         before, declined, dropped, first);
}

static nd4c_status compute(check *c) {
  char declined[ND4C_REASON_SIZE];
  ND4C_TRY(make_operands(c));
  nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                    .op = &add_info,
                    .input_count = 2,
                    .output_count = 1,
                    .inputs = c->tensors,
                    .outputs = c->tensors + 2,
                    .stream = c->stream,
                    .device = c->device->handle,
                    .width = 1};
  int32_t compiler_count = 0;
  const nd4c_compiler *const *compilers = nd4c_device_compilers(c->device, &compiler_count);
  const nd4c_kernel *kernel = find_kernel(c->device, &call, declined);
  if (kernel != NULL) {
    ND4C_TRY(run_kernel(c, kernel, &call));
  } else if (compiler_count > 0) {
    ND4C_TRY(run_compiled(c, compilers[0], &call));
  } else {
    return fail_without_kernel(c->device, declined);
  }
  const float *result = c->result;
  ND4C_TRY(nd4c_driver_copy_to_host(c->device, c->stream, c->result, c->buffers[2], 0, sizeof c->result));
  ND4C_TRY(wait_for(c));
  for (int i = 0; i < COUNT; ++i) {
    float expected = 11.0F * (float)(i + 1);
    if (!(result[i] == expected)) {
      return nd4c_fail(ND4C_DEVICE, "wrong result: element %d of an addition is %g, expected %g", i, (double)result[i],
                       (double)expected);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_device_verify(nd4c_device *device) {
  check c = {.device = device};
  nd4c_status status = compute(&c);
  if (c.stream != NULL) {
    device->ops->stream_destroy(device->handle, c.stream); /* from here on nothing touches the operands any more */
  }
  for (int i = 0; i < OPERANDS; ++i) {
    if (c.buffers[i] != NULL) {
      nd4c_driver_buffer_free(device, c.buffers[i]);
    }
  }
  if (c.replaced != NULL) {
    nd4c_driver_buffer_free(device, c.replaced);
  }
  return status == ND4C_OK ? status : nd4c_device_fail_prefix(status, device, "of", "check");
}
