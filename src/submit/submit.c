/* Implements submit.h but for running executables (returned.c). src/dispatch calls it for eager calls and collectives,
 * src/graph for plans. */
#include "submit/submit.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/stream/exit_and_fork.h"

nd4c_status nd4c_submission_make_room(nd4c_submission *submission, int32_t count) {
  const size_t operands = (size_t)count * sizeof *submission->operands;
  const size_t fences = (size_t)count * sizeof *submission->before;
  submission->operands = nd4c_recycle_take(operands);
  submission->before = nd4c_recycle_take(fences);
  submission->room = count;
  return submission->operands != NULL && submission->before != NULL
             ? ND4C_OK
             : nd4c_fail_memory("the operands of a submission", operands + fences);
}

/* -- operands ------------------------------------------------------------------------------------------------------ */

nd4c_status nd4c_submission_acquire_array(nd4c_submission *submission, const nd4c_array *array, nd4c_access access,
                                          nd4c_tensor *tensor) {
  nd4c_replica_view view;
  ND4C_TRY(nd4c_submission_acquire(submission, array->storage, access, submission->context->transfer, &view));
  if (view.address != NULL) {
    tensor->data = (char *)view.address + nd4c_array_offset_bytes(array);
  }
  tensor->buffer = view.buffer;
  tensor->offset = array->offset + nd4c_dtype_elements(array->dtype, view.offset);
  return ND4C_OK;
}

nd4c_access nd4c_submission_output_access(const nd4c_array *array) {
  const bool whole = nd4c_array_is_whole(array) && nd4c_dtype_bytes(array->dtype, array->size) == array->storage->bytes;
  return whole ? ND4C_ACCESS_WRITE : ND4C_ACCESS_READ_WRITE;
}

nd4c_status nd4c_submission_name_operand(const nd4c_submission *submission, nd4c_status status, const nd4c_array *array,
                                         const char *role, int32_t number, nd4c_access access) {
  if (access != ND4C_ACCESS_WRITE && nd4c_storage_is_poisoned(array->storage)) {
    return nd4c_fail(ND4C_POISONED, "%s: %s %d was left without a value: %s", submission->name, role, number,
                     nd4c_error_message());
  }
  if (status != ND4C_UNSUPPORTED && status != ND4C_MEMORY && status != ND4C_MEMORY_CAP && status != ND4C_DEVICE) {
    return status;
  }
  char shape[128] = "";
  size_t length = 0;
  for (int32_t i = 0; i < array->rank && length + 24 < sizeof shape; i++) {
    length +=
        (size_t)snprintf(shape + length, sizeof shape - length, i == 0 ? "%lld" : ", %lld", (long long)array->shape[i]);
  }
  return nd4c_fail_prefix(status, "%s: %s %d, %s (%s)", submission->name, role, number, nd4c_dtype_name(array->dtype),
                          shape);
}

/* -- scratch ------------------------------------------------------------------------------------------------------- */

static nd4c_status take_host(nd4c_submission *submission, int64_t bytes) {
  const nd4c_memory_request request = {.bytes = bytes, .origin = submission->name, .usage = ND4C_BUFFER_SCRATCH};
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  const nd4c_status status = nd4c_memory_allocate(host, &request, &submission->host_scratch);
  return status == ND4C_OK ? status
                           : nd4c_device_fail_prefix(status, host, "on", "%s: %lld bytes of scratch", submission->name,
                                                     (long long)bytes);
}

nd4c_status nd4c_submission_take_scratch(nd4c_submission *submission, int64_t host_bytes,
                                         const nd4c_scratch_range *device) {
  const nd4c_context *context = submission->context;
  if (host_bytes > 0) {
    ND4C_TRY(take_host(submission, host_bytes));
  }
  if (device->best == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_scratch_lend(context->device, context->stream, device, submission->name, &submission->device_scratch));
  submission->device_buffer = submission->device_scratch->block.buffer;
  submission->device_bytes = nd4c_scratch_granted(submission->device_scratch, device);
  return ND4C_OK;
}

static void return_scratch(nd4c_submission *submission, nd4c_shared_fence *fence) {
  if (submission->device_scratch != NULL) {
    nd4c_scratch_return(submission->device_scratch, fence);
    submission->device_scratch = NULL;
  }
}

/* -- the end of the work ------------------------------------------------------------------------------------------- */

void nd4c_submission_settle(const nd4c_context *context, nd4c_status status) {
  if (context->stream == NULL || nd4c_device_is_forked(context->device)) {
    return;
  }
  char *text = nd4c_duplicate_text(nd4c_error_message());
  nd4c_timeline_wait_all(context->timeline); /* the reported failure came first */
  if (text != NULL) {
    (void)nd4c_fail(status, "%s", text);
  }
  nd4c_deallocate(text);
}

nd4c_status nd4c_submission_record(nd4c_submission *submission, nd4c_fence_steps *steps, nd4c_shared_fence **fence) {
  const nd4c_context *context = submission->context;
  *fence = NULL;
  if (context->stream == NULL) {
    return ND4C_OK;
  }
  const nd4c_fence_work work = {.op = submission->name,
                                .first = submission->point,
                                .count = submission->call_count,
                                .steps = steps,
                                .after = submission->before,
                                .after_count = steps != NULL ? 0 : submission->acquired};
  const nd4c_status status = nd4c_fence_submit(context->timeline, &work, fence);
  if (ND4C_LIKELY(status == ND4C_OK)) {
    return_scratch(submission, *fence);
    submission->call_count = 0;
    return ND4C_OK;
  }
  /* The work is in flight without a fence, so the host waits for it here. A failure of the work is more specific than
   * that of recording. */
  const nd4c_status ended = nd4c_driver_synchronize(context->device);
  return ended != ND4C_OK ? ended : status;
}

nd4c_status nd4c_submission_explain(const nd4c_submission *submission, nd4c_status status) {
  const bool stopped = status == ND4C_CANCELLED || status == ND4C_DEADLINE;
  for (int32_t i = 0; i < submission->acquired && !stopped; i++) {
    if (submission->before[i] != NULL && nd4c_fence_outcome(submission->before[i]) != ND4C_OK) {
      const nd4c_status why = nd4c_fence_wait(submission->before[i]);
      nd4c_storage *storage = submission->operands[i].storage;
      const bool lost = storage != NULL && nd4c_storage_wait(storage) != ND4C_OK;
      return nd4c_fail_prefix(lost ? ND4C_POISONED : why, "%s: an input was left without a value", submission->name);
    }
  }
  return status;
}

/* Blocks that work in flight still needs. */
typedef struct in_flight {
  nd4c_left_block *left;
  void *object;
  void (*release)(void *object);
} in_flight;

static void release_in_flight(void *argument) {
  in_flight *kept = argument;
  nd4c_left_blocks_free(kept->left);
  kept->release(kept->object);
  nd4c_recycle_give(kept, sizeof *kept);
}

void nd4c_submission_keep(nd4c_submission *submission, nd4c_shared_fence *fence, void *object,
                          void (*release)(void *object)) {
  if (ND4C_LIKELY(submission->left == NULL)) {
    nd4c_fence_keep(fence, object, 0, release);
    return;
  }
  in_flight *kept = nd4c_recycle_take(sizeof *kept);
  if (kept == NULL) {
    nd4c_fence_settle(fence); /* `end` frees the blocks */
    release(object);
    return;
  }
  *kept = (in_flight){submission->left, object, release};
  submission->left = NULL;
  int64_t bytes = 0;
  for (const nd4c_left_block *left = kept->left; left != NULL; left = left->next) {
    bytes += left->block.bytes;
  }
  nd4c_fence_keep(fence, kept, bytes, release_in_flight);
}

void nd4c_submission_commit_operand(nd4c_submission *submission, int32_t index, nd4c_shared_fence *fence) {
  nd4c_submission_operand *operand = &submission->operands[index];
  nd4c_storage_commit(operand->storage, submission->context->device,
                      operand->access == ND4C_ACCESS_READ ? ND4C_ACCESS_READ : ND4C_ACCESS_WRITE, fence);
  operand->storage = NULL;
}

void nd4c_submission_commit(nd4c_submission *submission, nd4c_shared_fence *fence) {
  const bool asynchronous = submission->context->stream != NULL;
  for (int32_t i = 0; i < submission->acquired; i++) {
    if (asynchronous || submission->operands[i].access != ND4C_ACCESS_READ) {
      nd4c_submission_commit_operand(submission, i, fence);
    } else {
      submission->operands[i].storage = NULL; /* a synchronous device has read it already and holds no use */
    }
  }
}

void nd4c_submission_end(nd4c_submission *submission) {
  const nd4c_context *context = submission->context;
  for (int32_t i = 0; i < submission->acquired; i++) {
    if (ND4C_UNLIKELY(submission->operands[i].storage != NULL)) {
      nd4c_storage_cancel(submission->operands[i].storage, context->device);
    }
    nd4c_fence_release(submission->before[i]);
  }
  return_scratch(submission, NULL); /* enqueued work without a fence has ended by now */
  if (ND4C_UNLIKELY(submission->left != NULL)) {
    nd4c_left_blocks_free(submission->left);
  }
  if (ND4C_UNLIKELY(submission->call_count > 0) && !nd4c_device_is_forked(context->device)) {
    nd4c_timeline_drop(context->timeline, submission->point, submission->call_count);
  }
  if (submission->host_scratch.node != NULL) {
    nd4c_device *host = NULL;
    (void)nd4c_device_host(&host);
    nd4c_memory_free(host, &submission->host_scratch);
  }
  if (ND4C_UNLIKELY(submission->room > ND4C_SUBMISSION_INLINE)) {
    nd4c_recycle_give(submission->operands, (size_t)submission->room * sizeof *submission->operands);
    nd4c_recycle_give(submission->before, (size_t)submission->room * sizeof *submission->before);
  }
}
