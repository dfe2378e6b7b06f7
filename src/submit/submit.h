/* Submissions: src/dispatch and src/graph send all work to a device through these functions. An eager call, a step of a
 * plan, a segment and a whole run of mode "stream" are each one submission:
 *
 *     nd4c_submission_start          room for the operands; refused where the thread was cancelled
 *     nd4c_submission_acquire        each operand's storage: current on the device, and the stream comes after what
 *                                    still uses it
 *     nd4c_submission_take_scratch   memory to work in
 *     nd4c_submission_number         numbers for the calls, by which a failure finds its fence
 *     (the caller runs kernels or an executable on the context's stream)
 *     nd4c_submission_record         the fence behind what was enqueued; nothing on a synchronous device
 *     nd4c_submission_keep           what the work needs until it has ended
 *     nd4c_submission_commit         tells the storages what reads and writes them
 *     nd4c_submission_end            always: releases the rest
 *
 * If a function fails, the caller calls `end`, which cancels what was acquired. */
#ifndef ND4C_SUBMIT_SUBMIT_H
#define ND4C_SUBMIT_SUBMIT_H

#include "array/array.h"
#include "base/compiler.h"
#include "base/status.h"
#include "device/compiled.h"
#include "device/context/context.h"
#include "device/memory/memory.h"
#include "device/memory/scratch.h"
#include "device/storage/storage.h"
#include "device/stream/cancellation.h"
#include "device/stream/fence.h"
#include "nd4c/plugin/call.h"

enum { ND4C_SUBMISSION_INLINE = 8 };

typedef struct nd4c_submission_operand {
  nd4c_storage *storage; /* NULL: committed */
  nd4c_access access;
} nd4c_submission_operand;

/* A block without references that the work still uses. */
typedef struct nd4c_left_block {
  struct nd4c_left_block *next;
  nd4c_device *device;
  nd4c_block block;
} nd4c_left_block;

typedef struct nd4c_submission {
  const nd4c_context *context;
  const char *name; /* static: name of the work, for error texts and memory reports */
  nd4c_submission_operand *operands;
  nd4c_shared_fence **before; /* by operand: the fence of unfinished work that writes it, if it is read; NULL: none */
  int32_t room, acquired;
  int64_t point;                /* number of the first call on the stream's timeline; 0: the calls have none */
  int32_t call_count;           /* that have one */
  nd4c_block host_scratch;      /* node NULL: none */
  nd4c_scratch *device_scratch; /* the stream's, lent; NULL: none, or returned */
  nd4c_buffer device_buffer;    /* the part of it that calls get, and its bytes */
  int64_t device_bytes;
  nd4c_left_block *left; /* returned.c's */
  nd4c_submission_operand inline_operands[ND4C_SUBMISSION_INLINE];
  nd4c_shared_fence *inline_before[ND4C_SUBMISSION_INLINE];
} nd4c_submission;

/* Room for operands beyond the inline ones. */
nd4c_status nd4c_submission_make_room(nd4c_submission *submission, int32_t count);

static inline nd4c_status nd4c_submission_start(nd4c_submission *submission, const nd4c_context *context,
                                                const char *name, int32_t count) {
  submission->context = context;
  submission->name = name;
  submission->operands = submission->inline_operands;
  submission->before = submission->inline_before;
  submission->room = ND4C_SUBMISSION_INLINE;
  submission->acquired = 0;
  submission->point = 0;
  submission->call_count = 0;
  submission->host_scratch.node = NULL;
  submission->host_scratch.address = NULL;
  submission->device_scratch = NULL;
  submission->device_buffer = NULL;
  submission->device_bytes = 0;
  submission->left = NULL;
  ND4C_TRY(nd4c_cancellation_poll());
  return ND4C_LIKELY(count <= ND4C_SUBMISSION_INLINE) ? ND4C_OK : nd4c_submission_make_room(submission, count);
}

/* Takes numbers for the calls that the caller is about to enqueue (nd4c_call.point) and returns the first; 0 on a
 * synchronous device. Once for each submission. */
static inline int64_t nd4c_submission_number(nd4c_submission *submission, int32_t count) {
  nd4c_timeline *timeline = submission->context->timeline;
  if (timeline != NULL) {
    submission->point = nd4c_timeline_number(timeline, count);
    submission->call_count = count;
  }
  return submission->point;
}

/* Acquires the next operand. *view says where it is; the submission owns the view's fence. A storage may be acquired
 * several times. */
static inline nd4c_status nd4c_submission_acquire(nd4c_submission *submission, nd4c_storage *storage,
                                                  nd4c_access access, nd4c_transfer transfer, nd4c_replica_view *view) {
  const nd4c_context *context = submission->context;
  const nd4c_status status = nd4c_storage_acquire(storage, context->device, context->stream, access, transfer, view);
  if (ND4C_LIKELY(status == ND4C_OK)) {
    submission->operands[submission->acquired] = (nd4c_submission_operand){storage, access};
    submission->before[submission->acquired++] = view->written;
  }
  return status;
}

/* Acquires an array and fills data, buffer and offset of *tensor; before the call, offset is the array's. */
nd4c_status nd4c_submission_acquire_array(nd4c_submission *submission, const nd4c_array *array, nd4c_access access,
                                          nd4c_tensor *tensor);

/* How to acquire an output: a write to part of a storage keeps the rest, so the bytes around the view must be current,
 * too. */
nd4c_access nd4c_submission_output_access(const nd4c_array *array);

/* Puts the operand that could not be copied or allocated in front of the error text: "add: input 0, float32 (3, 4):
 * ...". An array without a value, because the work that should have written it failed, gives POISONED: no other device
 * could compute the call either. Returns the status. */
nd4c_status nd4c_submission_name_operand(const nd4c_submission *submission, nd4c_status status, const nd4c_array *array,
                                         const char *role, int32_t number, nd4c_access access);

/* Takes host memory, which `end` frees, and the stream's scratch, which `record` returns; zeros: none. */
nd4c_status nd4c_submission_take_scratch(nd4c_submission *submission, int64_t host_bytes,
                                         const nd4c_scratch_range *device);

/* Runs an executable; `outputs` are the arrays that were acquired for execution->outputs, in C order. If the executable
 * returns its outputs, the storages take over the buffers where possible, else the contents are copied. */
nd4c_status nd4c_submission_execute(nd4c_submission *submission, const nd4c_compiled *compiled,
                                    nd4c_execution *execution, nd4c_array *const *outputs);

/* Records the fence of the enqueued work; one reference. NULL on a synchronous device. With `steps` the fence has no
 * inputs of its own; its parts have. After a failure the work has ended. */
nd4c_status nd4c_submission_record(nd4c_submission *submission, nd4c_fence_steps *steps, nd4c_shared_fence **fence);

/* Keeps remaining blocks until the fence's work has ended, and then calls `release` with `object`. If there is no
 * memory to note that, it waits before it returns. Not with a NULL fence. */
void nd4c_submission_keep(nd4c_submission *submission, nd4c_shared_fence *fence, void *object,
                          void (*release)(void *object));

/* Tells each storage that the fence's work (NULL: already done) reads or writes it. */
void nd4c_submission_commit(nd4c_submission *submission, nd4c_shared_fence *fence);
/* The same for one operand, if operands have separate fences. */
void nd4c_submission_commit_operand(nd4c_submission *submission, int32_t index, nd4c_shared_fence *fence);

/* Cancels operands that were acquired but not committed, and releases fences, scratch and remaining blocks. */
void nd4c_submission_end(nd4c_submission *submission);
/* Frees the list. */
void nd4c_left_blocks_free(nd4c_left_block *left);

/* After work has failed with `status` and ended: returns the failure's cause in an input, if there is one. POISONED if
 * an input has no value; the failure of the copy that should have brought an input, whose value is intact on another
 * device; otherwise `status`, with the thread's error unchanged. */
nd4c_status nd4c_submission_explain(const nd4c_submission *submission, nd4c_status status);

/* After a failure with `status`: waits for work that may be in flight on the context's stream, before the memory that
 * it uses is freed. Leaves the thread's error unchanged. */
void nd4c_submission_settle(const nd4c_context *context, nd4c_status status);

#endif
