#include "dispatch/execute.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/memory.h"
#include "device/storage.h"
#include "device/tracer.h"

enum { INLINE_OPERANDS = 8 };

void nd4c_tensor_describe(const nd4c_array *array, nd4c_tensor *tensor) {
  if (array == NULL) {
    *tensor = (nd4c_tensor){.dtype = ND4C_DTYPE_NONE};
    return;
  }
  *tensor = (nd4c_tensor){.dtype = array->dtype,
                          .rank = array->rank,
                          .flags = (array->contiguous ? ND4C_TENSOR_CONTIGUOUS : 0U) |
                                   ((array->storage->flags & ND4C_STORAGE_READ_ONLY) != 0 ? ND4C_TENSOR_READ_ONLY : 0U),
                          .layout = ND4C_LAYOUT_STRIDED,
                          .shape = array->shape,
                          .strides = array->strides,
                          .size = array->size,
                          .offset = array->offset};
}

/* Operands of one execution: inputs first, then outputs. */
typedef struct operands {
  int32_t input_count, count;
  nd4c_tensor *tensors;
  nd4c_shared_fence **after; /* unfinished work that writes what is read: inputs, and outputs written in part */
  int64_t *const *true_shapes;
  nd4c_block device_scratch; /* node NULL: none */
  int32_t acquired;          /* of the operands, from the first on */
} operands;

static nd4c_status acquire(const nd4c_context *context, const nd4c_array *array, nd4c_access access,
                           nd4c_tensor *tensor, nd4c_shared_fence **after) {
  nd4c_tensor_describe(array, tensor);
  if (array == NULL) {
    return ND4C_OK;
  }
  nd4c_replica_view view;
  ND4C_TRY(nd4c_storage_acquire(array->storage, context->device, context->stream, access, context->transfer, &view));
  if (view.address != NULL) {
    tensor->data = (char *)view.address + nd4c_array_offset_bytes(array);
  }
  tensor->buffer = view.buffer;
  tensor->offset += nd4c_dtype_elements(array->dtype, view.offset);
  *after = view.written;
  return ND4C_OK;
}

/* Says which array it was that could not be copied, or have memory. One without a value, with the text of what failed
 * to write it, is no failure of this device, which another one could do better. */
static nd4c_status name_operand(nd4c_status status, const nd4c_op_def *def, const nd4c_array *array, int32_t number,
                                const char *role, bool read) {
  if (read && nd4c_storage_is_poisoned(array->storage)) {
    return nd4c_fail(ND4C_POISONED, "%s: %s %d was left without a value: %s", def->info.name, role, number,
                     nd4c_error_message());
  }
  if (status != ND4C_UNSUPPORTED && status != ND4C_MEMORY && status != ND4C_MEMORY_CAP && status != ND4C_DEVICE) {
    return status;
  }
  char shape[128] = "";
  size_t length = 0;
  for (int32_t i = 0; i < array->rank && length + 24 < sizeof shape; ++i) {
    length +=
        (size_t)snprintf(shape + length, sizeof shape - length, i == 0 ? "%lld" : ", %lld", (long long)array->shape[i]);
  }
  return nd4c_fail_prefix(status, "%s: %s %d, %s (%s)", def->info.name, role, number, nd4c_dtype_name(array->dtype),
                          shape);
}

nd4c_access nd4c_output_access(const nd4c_array *array) {
  bool whole =
      array->contiguous && array->offset == 0 && nd4c_dtype_bytes(array->dtype, array->size) == array->storage->bytes;
  return whole ? ND4C_ACCESS_WRITE : ND4C_ACCESS_READ_WRITE;
}

static nd4c_status acquire_all(const nd4c_context *context, const nd4c_op_def *def, const nd4c_array *const *inputs,
                               nd4c_array *const *outputs, operands *o) {
  for (; o->acquired < o->input_count; ++o->acquired) {
    int32_t i = o->acquired;
    nd4c_status status = acquire(context, inputs[i], ND4C_ACCESS_READ, &o->tensors[i], &o->after[i]);
    if (status != ND4C_OK) {
      return name_operand(status, def, inputs[i], i, "input", true);
    }
  }
  for (; o->acquired < o->count; ++o->acquired) {
    int32_t i = o->acquired;
    const nd4c_array *output = outputs[i - o->input_count];
    nd4c_access access = nd4c_output_access(output);
    nd4c_status status = acquire(context, output, access, &o->tensors[i], &o->after[i]);
    if (status != ND4C_OK) {
      return name_operand(status, def, output, i - o->input_count, "output", access != ND4C_ACCESS_WRITE);
    }
  }
  return ND4C_OK;
}

/* Lets go of what nothing was enqueued for. */
static void cancel_all(const nd4c_context *context, const nd4c_array *const *inputs, nd4c_array *const *outputs,
                       const operands *o) {
  for (int32_t i = 0; i < o->acquired; ++i) {
    const nd4c_array *array = i < o->input_count ? inputs[i] : outputs[i - o->input_count];
    if (array != NULL) {
      nd4c_storage_cancel(array->storage, context->device);
    }
  }
}

/* A kernel that failed may have written part of its outputs: unless what they held before is on another device, too,
 * they have no value until something writes them again. */
static void poison_outputs(const nd4c_context *context, nd4c_array *const *outputs, int32_t count, nd4c_status status) {
  for (int32_t i = 0; i < count; ++i) {
    nd4c_storage_fail_write(outputs[i]->storage, context->device, status, nd4c_error_message());
  }
}

/* Kernels read arguments before they write: these codes mean that nothing was touched. What enqueues may run out of
 * memory at any of its commands. */
static bool is_refusal(const nd4c_context *context, nd4c_status status) {
  bool memory = status == ND4C_MEMORY || status == ND4C_MEMORY_CAP;
  return (status >= 200 && status < 300) || (memory && context->stream == NULL);
}

nd4c_status nd4c_execute_fail(const nd4c_choice *choice, const nd4c_context *context, const nd4c_op_def *def,
                              nd4c_array *const *outputs, nd4c_status status) {
  const char *name = def->info.name, *choice_name = nd4c_choice_name(choice);
  status = nd4c_provider_failed(status, "run");
  status = nd4c_device_is_named(context->device)
               ? nd4c_fail_prefix(status, "%s (%s)", name, choice_name)
               : nd4c_fail_prefix(status, "%s on %s (%s)", name, context->device->name, choice_name);
  if (!is_refusal(context, status)) {
    poison_outputs(context, outputs, def->info.output_count, status);
  }
  return status;
}

/* Ends work whose end nothing marks. What failed before it, and was not told yet, is none of its business. */
static nd4c_status end_unmarked(const nd4c_context *context) {
  nd4c_device *device = context->device;
  return nd4c_driver_synchronize(device);
}

void nd4c_execute_end_stream(const nd4c_context *context, nd4c_status status) {
  if (context->stream == NULL) {
    return;
  }
  nd4c_device *device = context->device;
  nd4c_fence fence = NULL;
  char *text = nd4c_duplicate_text(nd4c_error_message());
  if (nd4c_driver_fence_record(device, context->stream, &fence) == ND4C_OK) {
    (void)nd4c_driver_fence_wait(device, fence); /* the failure that is told came first */
    device->ops->fence_destroy(device->handle, fence);
  } else {
    (void)end_unmarked(context);
  }
  if (text != NULL) {
    (void)nd4c_fail(status, "%s", text);
  }
  nd4c_deallocate(text);
}

/* What work in flight needs of ours. */
typedef struct in_flight {
  nd4c_choice *choice;
  nd4c_block device_scratch;
} in_flight;

static void release_in_flight(void *argument) {
  in_flight *kept = argument;
  if (kept->device_scratch.node != NULL) {
    nd4c_memory_free(kept->choice->device, &kept->device_scratch);
  }
  nd4c_choice_release(kept->choice);
  nd4c_recycle_give(kept, sizeof *kept);
}

/* Hands the choice and the scratch over to the fence. Without memory for the note the work is waited for. */
static void keep_in_flight(nd4c_choice *choice, operands *o, nd4c_shared_fence *fence) {
  in_flight *kept = nd4c_recycle_take(sizeof *kept);
  if (kept == NULL) {
    nd4c_fence_settle(fence);
    return;
  }
  kept->choice = nd4c_choice_retain(choice);
  kept->device_scratch = o->device_scratch;
  o->device_scratch = (nd4c_block){0};
  nd4c_fence_keep(fence, kept, kept->device_scratch.bytes, release_in_flight);
}

/* Tells the storages that the work is under way, or done on a synchronous device. */
static nd4c_status commit(nd4c_choice *choice, const nd4c_context *context, const nd4c_op_def *def,
                          const nd4c_array *const *inputs, nd4c_array *const *outputs, operands *o) {
  nd4c_shared_fence *fence = NULL;
  if (context->stream != NULL) {
    nd4c_status status =
        nd4c_fence_record(context->device, context->stream, def->info.name, o->after, o->count, &fence);
    if (status != ND4C_OK) {
      /* The work is under way and nothing marks its end: it must end here. */
      nd4c_status ended = end_unmarked(context);
      return nd4c_execute_fail(choice, context, def, outputs, ended != ND4C_OK ? ended : status);
    }
    keep_in_flight(choice, o, fence);
    for (int32_t i = 0; i < o->input_count; ++i) {
      if (inputs[i] != NULL) {
        nd4c_storage_commit(inputs[i]->storage, context->device, ND4C_ACCESS_READ, fence);
      }
    }
  }
  for (int32_t i = o->input_count; i < o->count; ++i) {
    nd4c_storage_commit(outputs[i - o->input_count]->storage, context->device, ND4C_ACCESS_WRITE, fence);
  }
  nd4c_fence_release(fence);
  return ND4C_OK;
}

static nd4c_status run(const nd4c_choice *choice, const nd4c_context *context, const nd4c_op_def *def,
                       const nd4c_attr_value *attrs, nd4c_array *const *outputs, operands *o, void *scratch) {
  nd4c_call call = {.flags = context->deterministic ? ND4C_CALL_DETERMINISTIC : 0U,
                    .op = &def->info,
                    .input_count = o->input_count,
                    .output_count = o->count - o->input_count,
                    .inputs = o->tensors,
                    .outputs = o->tensors + o->input_count,
                    .attrs = attrs,
                    .scratch = scratch,
                    .true_shapes = o->true_shapes,
                    .scratch_buffer = o->device_scratch.buffer};
  nd4c_status status = nd4c_choice_run(choice, context, &call);
  if (status == ND4C_OK) {
    return ND4C_OK;
  }
  nd4c_execute_end_stream(context, status);
  return nd4c_execute_fail(choice, context, def, outputs, status);
}

static nd4c_status take_scratch(nd4c_device *device, nd4c_stream stream, const nd4c_op_def *def, int64_t bytes,
                                nd4c_block *block) {
  const nd4c_memory_request request = {
      .bytes = bytes, .origin = def->info.name, .usage = ND4C_BUFFER_SCRATCH, .stream = stream};
  nd4c_status status = nd4c_memory_allocate(device, &request, block);
  return status == ND4C_OK ? status
                           : nd4c_device_fail_prefix(status, device, "on", "%s: %lld bytes of scratch", def->info.name,
                                                     (long long)bytes);
}

static nd4c_status execute_now(nd4c_choice *choice, const nd4c_context *context, const nd4c_op_def *def,
                               const nd4c_attr_value *attrs, const nd4c_array *const *inputs,
                               nd4c_array *const *outputs, operands *o, void *scratch) {
  nd4c_block block = {0};
  nd4c_status status = acquire_all(context, def, inputs, outputs, o);
  if (status == ND4C_OK && scratch == NULL && choice->scratch_bytes > 0) {
    nd4c_device *host = NULL;
    status = nd4c_device_host(&host);
    if (status == ND4C_OK) {
      status = take_scratch(host, NULL, def, choice->scratch_bytes, &block);
    }
  }
  if (status == ND4C_OK && choice->device_scratch_bytes > 0) {
    status = take_scratch(context->device, context->stream, def, choice->device_scratch_bytes, &o->device_scratch);
  }
  if (status == ND4C_OK) {
    status = run(choice, context, def, attrs, outputs, o, scratch != NULL ? scratch : block.address);
  }
  if (status == ND4C_OK) {
    status = commit(choice, context, def, inputs, outputs, o);
  }
  if (status != ND4C_OK) {
    cancel_all(context, inputs, outputs, o);
  }
  if (block.node != NULL) {
    nd4c_device *host = NULL;
    (void)nd4c_device_host(&host);
    nd4c_memory_free(host, &block);
  }
  if (o->device_scratch.node != NULL) { /* nothing is in flight that uses it, or nobody could note that it is */
    nd4c_memory_free(context->device, &o->device_scratch);
  }
  for (int32_t i = 0; i < o->count; ++i) {
    nd4c_fence_release(o->after[i]);
  }
  return status;
}

/* As execute_now, recorded. */
static ND4C_NOINLINE nd4c_status execute_traced(nd4c_choice *choice, const nd4c_context *context,
                                                const nd4c_op_def *def, const nd4c_attr_value *attrs,
                                                const nd4c_array *const *inputs, nd4c_array *const *outputs,
                                                operands *o, void *scratch) {
  int64_t begin = nd4c_tracer_begin(def->info.name);
  nd4c_status status = execute_now(choice, context, def, attrs, inputs, outputs, o, scratch);
  const void *written[INLINE_OPERANDS];
  int32_t count = 0;
  for (int32_t i = 0; i < def->info.output_count && i < INLINE_OPERANDS; ++i) {
    written[count++] = outputs[i]->storage;
  }
  nd4c_tracer_end(begin, status == ND4C_OK ? context->device : NULL, def->info.name, nd4c_choice_name(choice), written,
                  count);
  return status;
}

static nd4c_status execute_with(nd4c_choice *choice, const nd4c_context *context, const nd4c_op_def *def,
                                const nd4c_attr_value *attrs, const nd4c_array *const *inputs,
                                nd4c_array *const *outputs, operands *o, void *scratch) {
  return nd4c_tracer_is_on() ? execute_traced(choice, context, def, attrs, inputs, outputs, o, scratch)
                             : execute_now(choice, context, def, attrs, inputs, outputs, o, scratch);
}

nd4c_status nd4c_execute(nd4c_choice *choice, const nd4c_context *context, const nd4c_op_def *def,
                         const nd4c_attr_value *attrs, const nd4c_array *const *inputs, int32_t input_count,
                         nd4c_array *const *outputs, void *scratch, int64_t *const *true_shapes) {
  nd4c_tensor tensors[INLINE_OPERANDS];
  nd4c_shared_fence *after[INLINE_OPERANDS] = {NULL};
  operands o = {.input_count = input_count,
                .count = input_count + def->info.output_count,
                .tensors = tensors,
                .after = after,
                .true_shapes = true_shapes};
  if (o.count <= INLINE_OPERANDS) {
    return execute_with(choice, context, def, attrs, inputs, outputs, &o, scratch);
  }
  size_t tensor_bytes = (size_t)o.count * sizeof *o.tensors, after_bytes = (size_t)o.count * sizeof *o.after;
  o.tensors = nd4c_recycle_take(tensor_bytes);
  o.after = nd4c_recycle_take(after_bytes);
  nd4c_status status = o.tensors == NULL || o.after == NULL
                           ? nd4c_fail_memory("a call's operands", tensor_bytes)
                           : execute_with(choice, context, def, attrs, inputs, outputs, &o, scratch);
  nd4c_recycle_give(o.tensors, tensor_bytes);
  nd4c_recycle_give(o.after, after_bytes);
  return status;
}
