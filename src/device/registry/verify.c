/* The check of a device after it was opened: copies numbers there, adds them and reads the sum. candidate_devices.c
 * calls it once for each device. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "device/compiled.h"
#include "device/driver.h"
#include "device/memory/memory.h"
#include "device/memory/scratch.h"
#include "device/provider/answer.h"
#include "device/registry/candidate.h"

enum { COUNT = 4, OPERANDS = 3 };

static const int64_t shape[1] = {COUNT};
static const int64_t strides[1] = {1};

/* Three operands of the check on the device. */
typedef struct check {
  nd4c_device *device;
  nd4c_stream stream;
  nd4c_buffer buffers[OPERANDS];
  nd4c_buffer replaced; /* the buffer that an executable returned; NULL: none */
  nd4c_tensor tensors[OPERANDS];
  float result[COUNT]; /* here, because a copy in flight may outlive the function that enqueued it */
} check;

/* The check is in a layer below src/ops, so it describes `add` itself, with the table's name and version. */
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
  for (int i = 0; i < OPERANDS; i++) {
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

static void note(char declined[ND4C_REASON_SIZE], const char *reason) {
  (void)snprintf(declined, ND4C_REASON_SIZE, "%.*s", ND4C_REASON_SIZE - 1, reason);
}

/* The scratch of one call. */
typedef struct room {
  void *host;
  nd4c_block block;
} room;

static nd4c_status take_room(check *c, int64_t host_bytes, int64_t device_bytes, room *taken) {
  if (host_bytes > 0) {
    taken->host = nd4c_allocate_aligned(64, (size_t)host_bytes);
    if (taken->host == NULL) {
      return nd4c_fail_memory("scratch", (size_t)host_bytes);
    }
  }
  const nd4c_memory_request request = {
      .bytes = device_bytes, .origin = "check", .usage = ND4C_BUFFER_SCRATCH, .stream = c->stream};
  return device_bytes > 0 ? nd4c_memory_allocate(c->device, &request, &taken->block) : ND4C_OK;
}

/* Frees the scratch; the work that used it has ended. */
static void give_room(check *c, room *taken) {
  nd4c_deallocate(taken->host);
  if (taken->block.node != NULL) {
    nd4c_memory_free(c->device, &taken->block);
  }
}

/* Allocates the scratch that the kernel asks for, at its best size, which is small for 16 bytes of operands. */
static nd4c_status ask_room(check *c, const nd4c_kernel *kernel, const nd4c_call *call, int64_t *host_bytes,
                            int64_t *device_bytes) {
  nd4c_scratch_range range = {0, 0};
  *host_bytes = kernel->scratch_bytes != NULL ? kernel->scratch_bytes(call) : 0;
  ND4C_TRY(nd4c_scratch_check_host(kernel->name, *host_bytes));
  if (ND4C_HAS_FIELD(kernel, device_scratch) && kernel->device_scratch != NULL) {
    nd4c_error_expect();
    ND4C_TRY(nd4c_driver_answer(kernel->device_scratch(call, nd4c_scratch_limit(c->device), &range), "device_scratch"));
    ND4C_TRY(nd4c_scratch_check(kernel->name, &range));
  }
  *device_bytes = range.best;
  return ND4C_OK;
}

static nd4c_status run_prepared(check *c, const nd4c_kernel *kernel, nd4c_call *call) {
  int64_t host_bytes = 0, device_bytes = 0;
  room taken = {0};
  nd4c_status status = ask_room(c, kernel, call, &host_bytes, &device_bytes);
  status = status == ND4C_OK ? take_room(c, host_bytes, device_bytes, &taken) : status;
  if (status == ND4C_OK) {
    call->scratch = taken.host;
    call->scratch_buffer = taken.block.buffer;
    call->scratch_buffer_bytes = device_bytes;
    status = nd4c_driver_kernel_run(kernel, call);
    const nd4c_status waited = wait_for(c);
    status = status != ND4C_OK ? status : waited;
  }
  give_room(c, &taken);
  return status;
}

/* *computed false: the kernel declines, in `usable` or `prepare`; `declined` says why. */
static nd4c_status try_kernel(check *c, const nd4c_kernel *kernel, nd4c_call *call, char declined[ND4C_REASON_SIZE],
                              bool *computed) {
  call->data = kernel->data;
  call->state = NULL;
  if ((kernel->dtypes & ND4C_DTYPE_BIT(ND4C_FLOAT32)) == 0) {
    return ND4C_OK;
  }
  if (kernel->usable != NULL && !kernel->usable(call, declined, ND4C_REASON_SIZE)) {
    declined[ND4C_REASON_SIZE - 1] = '\0'; /* a plug-in may have written anything */
    nd4c_text_clean(declined, false);
    return ND4C_OK;
  }
  if (kernel->prepare != NULL) {
    const nd4c_status status = nd4c_driver_kernel_prepare(kernel, call, &call->state);
    if (status != ND4C_OK) {
      note(declined, nd4c_error_message());
      return status == ND4C_MEMORY || status == ND4C_MEMORY_CAP ? status : ND4C_OK;
    }
  }
  *computed = true;
  const nd4c_status status = run_prepared(c, kernel, call);
  if (kernel->unprepare != NULL && kernel->prepare != NULL) {
    kernel->unprepare(call->state);
  }
  return status;
}

/* From the lowest priority up, so that no vendor's library is opened before a program needs it. */
static nd4c_status try_kernels(check *c, nd4c_call *call, char declined[ND4C_REASON_SIZE], bool *computed) {
  int32_t count = 0;
  const nd4c_kernel *const *kernels = nd4c_device_kernels(c->device, ND4C_OP_add, &count);
  for (int32_t i = count - 1; i >= 0 && !*computed; i--) {
    ND4C_TRY(try_kernel(c, kernels[i], call, declined, computed));
  }
  return ND4C_OK;
}

/* The returned buffer replaces the result's, and is freed at the end of the check. */
static nd4c_status take_returned(check *c, const nd4c_compiler *compiler, const nd4c_returned_buffer *returned) {
  if (returned->buffer == NULL) {
    return nd4c_fail(ND4C_DEVICE, "execute of %s returned OK but no buffer for output 0", compiler->engine);
  }
  c->replaced = c->buffers[OPERANDS - 1];
  c->buffers[OPERANDS - 1] = returned->buffer;
  return returned->bytes >= (int64_t)sizeof c->result
             ? ND4C_OK
             : nd4c_fail(ND4C_DEVICE, "execute of %s returned %lld bytes for output 0, expected %zu or more",
                         compiler->engine, (long long)returned->bytes, sizeof c->result);
}

static nd4c_status execute(check *c, const nd4c_compiler *compiler, nd4c_compiled *compiled,
                           const nd4c_executable_info *info, const nd4c_call *call) {
  const int64_t device_bytes = nd4c_compiled_scratch(info).best;
  room taken = {0};
  nd4c_status status = take_room(c, info->scratch_bytes, device_bytes, &taken);
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
                                .scratch = taken.host,
                                .scratch_buffer = taken.block.buffer,
                                .scratch_buffer_bytes = device_bytes,
                                .returned = returns ? &returned : NULL};
    status = nd4c_compiled_execute(compiled, &execution);
    status = status == ND4C_OK && returns ? take_returned(c, compiler, &returned) : status;
    const nd4c_status waited = wait_for(c);
    status = status != ND4C_OK ? status : waited;
  }
  give_room(c, &taken);
  return status;
}

/* *computed false: the compiler declines the addition or cannot compile it. */
static nd4c_status try_compiler(check *c, const nd4c_compiler *compiler, const nd4c_call *call,
                                char declined[ND4C_REASON_SIZE], bool *computed) {
  static const int32_t inputs[] = {0, 1}, outputs[] = {2};
  static const int32_t *const node_inputs[] = {inputs}, *const node_outputs[] = {outputs};
  const nd4c_segment segment = {.struct_size = ND4C_SIZE_OF(nd4c_segment),
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
  nd4c_answer answer;
  nd4c_status status = nd4c_answer_ask(compiler, c->device->handle, &segment, &options, &answer);
  const bool takes = status == ND4C_OK && answer.piece_of[0] >= 0;
  if (status == ND4C_OK && !takes) {
    note(declined, nd4c_answer_reason(&answer, 0));
  }
  nd4c_answer_free(&answer);
  if (!takes) {
    return status;
  }
  status = nd4c_compiled_make(compiler, c->device, &segment, &options, NULL, &compiled, &info);
  if (status != ND4C_OK) {
    note(declined, nd4c_error_message());
    return status == ND4C_UNSUPPORTED ? ND4C_OK : status;
  }
  *computed = true;
  status = execute(c, compiler, compiled, &info, call);
  nd4c_compiled_release(compiled);
  return status;
}

static nd4c_status try_compilers(check *c, const nd4c_call *call, char declined[ND4C_REASON_SIZE], bool *computed) {
  int32_t count = 0;
  const nd4c_compiler *const *compilers = nd4c_device_compilers(c->device, &count);
  for (int32_t i = 0; i < count && !*computed; i++) {
    ND4C_TRY(try_compiler(c, compilers[i], call, declined, computed));
  }
  return ND4C_OK;
}

/* No kernel or compiler adds two numbers; refused kernels are a likely cause. */
static nd4c_status fail_without_kernel(const nd4c_device *device, const char *declined) {
  const char *first = "";
  char left_out[512] = "";
  const int32_t dropped = nd4c_compute_dropped(atomic_load(&device->compute), &first);
  if (dropped > 0) {
    (void)snprintf(left_out, sizeof left_out,
                   "; %d of its kernels were left out, the first one because of this: %.400s", dropped, first);
  }
  return declined[0] == '\0'
             ? nd4c_fail(ND4C_UNSUPPORTED, "the backend has neither a kernel nor a compiler%s", left_out)
             : nd4c_fail(ND4C_UNSUPPORTED, "nothing of the backend adds 4 numbers of float32: %.400s%s", declined,
                         left_out);
}

/* Whether the device computes anything besides additions of float32. */
static bool has_others(const nd4c_device *device) {
  int32_t compilers = 0;
  (void)nd4c_device_compilers(device, &compilers);
  return compilers > 0 || nd4c_compute_dtypes(atomic_load(&device->compute)) != 0;
}

static nd4c_status read_back(check *c, int operand, float first, const char *what) {
  ND4C_TRY(nd4c_driver_copy_to_host(c->device, c->stream, c->result, c->buffers[operand], 0, sizeof c->result));
  ND4C_TRY(wait_for(c));
  for (int i = 0; i < COUNT; i++) {
    const float expected = first * (float)(i + 1);
    if (!(c->result[i] == expected)) {
      return nd4c_fail(ND4C_DEVICE, "wrong result: element %d of %s is %g, expected %g", i, what, (double)c->result[i],
                       (double)expected);
    }
  }
  return ND4C_OK;
}

static nd4c_call make_call(const check *c) {
  return (nd4c_call){.struct_size = ND4C_SIZE_OF(nd4c_call),
                     .op = &add_info,
                     .input_count = 2,
                     .output_count = 1,
                     .inputs = c->tensors,
                     .outputs = c->tensors + 2,
                     .stream = c->stream,
                     .device = c->device->handle,
                     .width = 1};
}

/* A device with other ops, but without a kernel that adds float32, is checked only by copying numbers there and back,
 * even if its compilers decline the addition. A kernel for the addition that declines counts as a failure of the
 * device. */
static nd4c_status compute(check *c, bool *computed) {
  char declined[ND4C_REASON_SIZE] = "";
  *computed = false;
  ND4C_TRY(make_operands(c));
  nd4c_call call = make_call(c);
  ND4C_TRY(try_kernels(c, &call, declined, computed));
  const bool lacks = declined[0] != '\0';
  if (!*computed) {
    call = make_call(c); /* no kernel has written it */
    ND4C_TRY(try_compilers(c, &call, declined, computed));
  }
  if (*computed) {
    return read_back(c, 2, 11, "an addition");
  }
  return !lacks && has_others(c->device) ? read_back(c, 1, 10, "a copy") : fail_without_kernel(c->device, declined);
}

nd4c_status nd4c_device_verify(nd4c_device *device, bool *added) {
  check c = {.device = device};
  nd4c_status status = compute(&c, added);
  if (c.stream != NULL) {
    device->ops->stream_destroy(device->handle, c.stream); /* from here on no work uses the operands */
  }
  for (int i = 0; i < OPERANDS; i++) {
    if (c.buffers[i] != NULL) {
      nd4c_driver_buffer_free(device, c.buffers[i]);
    }
  }
  if (c.replaced != NULL) {
    nd4c_driver_buffer_free(device, c.replaced);
  }
  return status == ND4C_OK ? status : nd4c_device_fail_prefix(status, device, "of", "check");
}
