/* Implements whole.h: decides whether views must be copied, and runs calls on the copies. call.c and explain.c ask it;
 * graph/run.c calls nd4c_copy_by_host. */
#include "dispatch/whole.h"

#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/storage/storage.h"
#include "device/stream/fence.h"
#include "dispatch/choice.h"
#include "dispatch/pending.h"
#include "nd4c/context.h"

/* Strings are the host's: they never get to such a device. */
static bool lies_right(const nd4c_device *device, const nd4c_array *array) {
  return array == NULL || array->dtype == ND4C_UTF8 ||
         (device->description.whole_buffers ? nd4c_array_is_whole(array) : array->contiguous);
}

bool nd4c_whole_takes(const nd4c_device *device, const nd4c_op_def *def, const nd4c_eager_call *call) {
  bool takes = true;
  for (int32_t i = 0; i < call->input_count && takes; i++) {
    takes = lies_right(device, call->inputs[i]);
  }
  for (int32_t i = 0; i < def->info.output_count && takes; i++) {
    takes = lies_right(device, call->outputs[i]);
  }
  return takes;
}

bool nd4c_whole_would_help(const nd4c_context *context, const nd4c_call *call) {
  nd4c_tensor tensors[ND4C_PENDING_INPUTS + ND4C_PENDING_OUTPUTS];
  int64_t strides[ND4C_PENDING_INPUTS + ND4C_PENDING_OUTPUTS][ND4C_MAX_RANK];
  const int32_t count = call->input_count + call->output_count;
  bool differs = false;
  if (call->input_count > ND4C_PENDING_INPUTS) {
    return false;
  }
  for (int32_t i = 0; i < count; i++) {
    tensors[i] = i < call->input_count ? call->inputs[i] : call->outputs[i - call->input_count];
    differs = differs || (tensors[i].dtype != ND4C_DTYPE_NONE && (tensors[i].flags & ND4C_TENSOR_CONTIGUOUS) == 0);
    nd4c_shape_strides(tensors[i].rank, tensors[i].shape, strides[i]);
    tensors[i].strides = strides[i];
    tensors[i].flags |= ND4C_TENSOR_CONTIGUOUS;
  }
  nd4c_call ordered = *call;
  ordered.inputs = tensors;
  ordered.outputs = tensors + call->input_count;
  return differs && nd4c_choice_is_possible(context, &ordered, NULL);
}

/* A context that forbids copies between devices must refuse operands on other devices, with the usual text. */
static nd4c_status check_transfer(const nd4c_context *context, const nd4c_op_def *def, const nd4c_array *array,
                                  int32_t index) {
  nd4c_replica_view view;
  if (context->transfer != ND4C_TRANSFER_NONE) {
    return ND4C_OK;
  }
  const nd4c_status status = nd4c_storage_acquire(array->storage, context->device, context->stream, ND4C_ACCESS_READ,
                                                  ND4C_TRANSFER_NONE, &view);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "%s: input %d", def->info.name, index);
  }
  nd4c_fence_release(view.written);
  nd4c_storage_cancel(array->storage, context->device);
  return ND4C_OK;
}

/* *copied: arrays to release, or NULLs. */
static nd4c_status copy_inputs(const nd4c_context *context, const nd4c_op_def *def, const nd4c_eager_call *call,
                               const nd4c_array **inputs, nd4c_array **copied) {
  for (int32_t i = 0; i < call->input_count; i++) {
    inputs[i] = call->inputs[i];
    if (!lies_right(context->device, call->inputs[i])) {
      ND4C_TRY(check_transfer(context, def, call->inputs[i], i));
      ND4C_TRY(nd4c_array_to_device(call->inputs[i], context->device, &copied[i]));
      inputs[i] = copied[i];
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_copy_by_host(const nd4c_array *from, nd4c_array *to) {
  nd4c_device *host = NULL;
  nd4c_context *context = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  ND4C_TRY(nd4c_context_acquire(host, &context)); /* without routing: the op runs there */
  context->unasked = true;
  const nd4c_status status = nd4c_call_inside(context, ND4C_OP_copy, from, &to);
  const nd4c_status released = nd4c_context_release(context);
  return status != ND4C_OK ? status : released;
}

/* The host copies the results to their places, because the device cannot write inside a buffer or has no kernel for
 * it. */
static nd4c_status hand_over(const nd4c_eager_call *call, nd4c_array *const *fresh, int32_t count) {
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    if (call->outputs[i] != NULL) {
      status = nd4c_copy_by_host(fresh[i], call->outputs[i]);
    }
  }
  return status;
}

/* All results exist and fit before the first given output is written. */
static nd4c_status compute_aside(nd4c_context *context, const nd4c_op_def *def, const nd4c_eager_call *call,
                                 const nd4c_array *const *inputs) {
  const int32_t count = def->info.output_count;
  nd4c_array *fresh[ND4C_PENDING_OUTPUTS] = {NULL};
  nd4c_eager_call aside = *call;
  aside.inputs = inputs;
  aside.outputs = fresh;
  aside.key = 0;
  nd4c_status status = nd4c_call_on(context, &aside);
  status = status == ND4C_OK ? nd4c_pending_check_given(def, call->outputs, fresh) : status;
  status = status == ND4C_OK ? hand_over(call, fresh, count) : status;
  nd4c_pending_hand_out(call->outputs, fresh, count, status);
  return status;
}

static nd4c_status call_with(nd4c_context *context, const nd4c_op_def *def, const nd4c_eager_call *call,
                             const nd4c_array **inputs, nd4c_array **copied) {
  ND4C_TRY(copy_inputs(context, def, call, inputs, copied));
  for (int32_t i = 0; i < def->info.output_count; i++) {
    if (!lies_right(context->device, call->outputs[i])) {
      return compute_aside(context, def, call, inputs);
    }
  }
  nd4c_eager_call whole = *call;
  whole.inputs = inputs;
  whole.key = 0;
  return nd4c_call_on(context, &whole);
}

nd4c_status nd4c_whole_call(nd4c_context *context, const nd4c_op_def *def, const nd4c_eager_call *call) {
  const size_t bytes = (size_t)(call->input_count + 1) * sizeof(nd4c_array *);
  const nd4c_array **inputs = nd4c_recycle_take(bytes);
  nd4c_array **copied = nd4c_recycle_take(bytes);
  nd4c_status status = ND4C_OK;
  if (inputs == NULL || copied == NULL) {
    status = nd4c_fail_memory("copies of a call's operands", bytes);
  } else {
    memset(copied, 0, bytes);
    status = call_with(context, def, call, inputs, copied);
    for (int32_t i = 0; i < call->input_count; i++) {
      nd4c_array_release(copied[i]);
    }
  }
  nd4c_recycle_give(inputs, inputs != NULL ? bytes : 0);
  nd4c_recycle_give(copied, copied != NULL ? bytes : 0);
  return status;
}
