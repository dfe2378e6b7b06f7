/* Executables that allocate the buffers of their outputs. nd4c adopts each buffer as a block. If only the call refers
 * to an output array, or no address of it can be known, the array takes over the block. Otherwise the contents are
 * copied into the array, and the block is freed after the copy. dispatch/execute.c and graph/plan/segment.c run
 * executables through it. */
#include <string.h>

#include "base/alloc.h"
#include "base/recycle.h"
#include "device/driver.h"
#include "device/storage/transfer_stream.h"
#include "submit/submit.h"

typedef struct returning {
  nd4c_submission *submission;
  const nd4c_tensor *places; /* placement of the arrays */
  nd4c_array *const *outputs;
  int32_t count;
  nd4c_tensor *tensors; /* the entries without buffers */
  nd4c_returned_buffer *buffers;
} returning;

void nd4c_left_blocks_free(nd4c_left_block *left) {
  while (left != NULL) {
    nd4c_left_block *next = left->next;
    nd4c_memory_free(left->device, &left->block);
    nd4c_recycle_give(left, sizeof *left);
    left = next;
  }
}

/* Waits for the work on the stream, whether it succeeds or fails, so that the next recorded fence does not report
 * it. */
static nd4c_status end_work(const nd4c_context *context) {
  nd4c_fence fence = NULL;
  if (context->stream == NULL) {
    return ND4C_OK;
  }
  nd4c_status status = nd4c_driver_fence_record(context->device, context->stream, &fence);
  if (status != ND4C_OK) {
    const nd4c_status ended = nd4c_driver_synchronize(context->device);
    return ended != ND4C_OK ? ended : status;
  }
  status = nd4c_driver_fence_wait(context->device, fence);
  context->device->ops->fence_destroy(context->device->handle, fence);
  return status;
}

/* -- what came back ------------------------------------------------------------------------------------------------ */

static int64_t bytes_of(const nd4c_tensor *tensor) {
  return nd4c_dtype_bytes(tensor->dtype, tensor->size);
}

static nd4c_status check(const returning *r, const char *engine) {
  for (int32_t i = 0; i < r->count; i++) {
    const nd4c_returned_buffer *given = &r->buffers[i];
    const int64_t needed = bytes_of(&r->places[i]);
    if (given->buffer == NULL && needed > 0) {
      return nd4c_fail(ND4C_DEVICE, "execute of %s returned OK but no buffer for output %d", engine, i);
    }
    if (given->buffer != NULL && given->bytes < needed) {
      return nd4c_fail(ND4C_DEVICE, "execute of %s returned %lld bytes for output %d, expected %lld or more", engine,
                       (long long)given->bytes, i, (long long)needed);
    }
    for (int32_t k = 0; k < i && given->buffer != NULL; k++) {
      if (r->buffers[k].buffer == given->buffer) {
        return nd4c_fail(ND4C_DEVICE, "execute of %s returned one buffer for outputs %d and %d", engine, k, i);
      }
    }
  }
  return ND4C_OK;
}

/* Frees the buffers that were not adopted, each once. */
static void give_back(const returning *r, int32_t first) {
  for (int32_t i = first; i < r->count; i++) {
    bool known = r->buffers[i].buffer == NULL;
    for (int32_t k = 0; k < i && !known; k++) {
      known = r->buffers[k].buffer == r->buffers[i].buffer;
    }
    if (!known) {
      nd4c_driver_buffer_free(r->submission->context->device, r->buffers[i].buffer);
    }
  }
}

/* -- where it goes ------------------------------------------------------------------------------------------------- */

static nd4c_status leave(nd4c_submission *submission, nd4c_block *block) {
  nd4c_left_block *left = nd4c_recycle_take(sizeof *left);
  nd4c_device *device = submission->context->device;
  if (left == NULL) { /* there is no memory to note it, so it is freed now */
    (void)end_work(submission->context);
    nd4c_memory_free(device, block);
    return nd4c_fail_memory("a block that work uses", sizeof *left);
  }
  *left = (nd4c_left_block){.next = submission->left, .device = device, .block = *block};
  submission->left = left;
  return ND4C_OK;
}

static bool is_unknown(const nd4c_submission *submission, const nd4c_array *array) {
  const bool alone = atomic_load_explicit(&array->references, memory_order_acquire) == 1 &&
                     atomic_load_explicit(&array->storage->references, memory_order_acquire) == 1;
  return alone || !submission->context->device->description.addressable;
}

static nd4c_status copy(const nd4c_submission *submission, const nd4c_block *from, const nd4c_tensor *place) {
  nd4c_device *device = submission->context->device;
  const int64_t offset = nd4c_dtype_bytes(place->dtype, place->offset), bytes = bytes_of(place);
  if (device->ops->copy_within != NULL) {
    return nd4c_driver_copy_within(device, submission->context->stream, place->buffer, offset, from->buffer, 0, bytes);
  }
  const nd4c_block to = {.buffer = place->buffer, .address = place->data, .bytes = bytes, .offset = offset};
  ND4C_TRY(end_work(submission->context));
  return nd4c_transfer_copy(device, from, device, &to, bytes);
}

/* Takes over the block, even if it fails. */
static nd4c_status deliver(const returning *r, int32_t index, nd4c_block *block) {
  nd4c_submission *submission = r->submission;
  const nd4c_array *array = r->outputs[index];
  const bool whole = nd4c_submission_output_access(array) == ND4C_ACCESS_WRITE && is_unknown(submission, array);
  const bool exchanged = whole && nd4c_storage_exchange(array->storage, submission->context->device, block);
  nd4c_status status = exchanged ? ND4C_OK : copy(submission, block, &r->places[index]);
  const nd4c_status left = leave(submission, block);
  return status == ND4C_OK ? left : status;
}

static nd4c_status take_buffers(const returning *r, const char *engine) {
  const nd4c_submission *submission = r->submission;
  nd4c_status status = check(r, engine);
  int32_t adopted = 0;
  for (; adopted < r->count && status == ND4C_OK; adopted++) {
    nd4c_block block = {0};
    const nd4c_returned_buffer *given = &r->buffers[adopted];
    if (given->buffer == NULL) {
      continue;
    }
    status = nd4c_memory_adopt(submission->context->device, given->buffer, given->bytes, submission->name, &block);
    if (status != ND4C_OK) {
      break;
    }
    status = deliver(r, adopted, &block);
  }
  if (status != ND4C_OK) {
    nd4c_submission_settle(submission->context, status);
    give_back(r, adopted);
  }
  return status;
}

/* -- running ------------------------------------------------------------------------------------------------------- */

/* Makes room under the device's cap before the executable allocates. */
static nd4c_status reserve(const returning *r, int64_t *bytes) {
  *bytes = 0;
  for (int32_t i = 0; i < r->count; i++) {
    *bytes += bytes_of(&r->places[i]);
  }
  return nd4c_memory_reserve(r->submission->context->device, *bytes);
}

static nd4c_status run(const returning *r, const nd4c_compiled *compiled, nd4c_execution *execution) {
  int64_t reserved = 0;
  ND4C_TRY(reserve(r, &reserved));
  for (int32_t i = 0; i < r->count; i++) {
    r->tensors[i] = r->places[i];
    r->tensors[i].buffer = NULL;
    r->tensors[i].data = NULL;
    r->tensors[i].offset = 0;
  }
  execution->outputs = r->tensors;
  execution->returned = r->buffers;
  const nd4c_status status = nd4c_compiled_execute(compiled, execution);
  nd4c_memory_unreserve(r->submission->context->device, reserved);
  execution->outputs = r->places;
  return status == ND4C_OK ? take_buffers(r, compiled->compiler->engine) : status;
}

nd4c_status nd4c_submission_execute(nd4c_submission *submission, const nd4c_compiled *compiled,
                                    nd4c_execution *execution, nd4c_array *const *outputs) {
  if (!nd4c_compiled_returns(compiled)) {
    return nd4c_compiled_execute(compiled, execution);
  }
  const size_t count = (size_t)execution->output_count;
  const size_t bytes = count * (sizeof(nd4c_tensor) + sizeof(nd4c_returned_buffer));
  nd4c_tensor *room = nd4c_recycle_take(bytes);
  if (room == NULL) {
    return nd4c_fail_memory("outputs that are returned", bytes);
  }
  const returning r = {.submission = submission,
                       .places = execution->outputs,
                       .outputs = outputs,
                       .count = execution->output_count,
                       .tensors = room,
                       .buffers = (nd4c_returned_buffer *)(room + count)};
  const nd4c_status status = run(&r, compiled, execution);
  nd4c_recycle_give(room, bytes);
  return status;
}
