/* Submissions: the one way by which work gets to a device. An eager call, a step of a plan, a segment and a whole run
 * of mode "stream" each are a submission:
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
 *     nd4c_submission_end            always: lets go of the rest
 *
 * A step that fails ends the submission: `end` then cancels what was acquired. */
#ifndef ND4C_SUBMIT_SUBMIT_H
#define ND4C_SUBMIT_SUBMIT_H

#include "array/array.h"
#include "base/compiler.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "device/compiled.h"
#include "device/context/context.h"
#include "device/stream/fence.h"
#include "device/memory/memory.h"
#include "device/memory/scratch.h"
#include "device/storage/storage.h"
#include "nd4c/plugin/call.h"

enum { ND4C_SUBMISSION_INLINE = 8 };

typedef struct nd4c_submission_operand {
  nd4c_storage *storage; /* NULL: committed */
  nd4c_access access;
} nd4c_submission_operand;

/* A block that the work still uses and that nothing refers to any more. */
typedef struct nd4c_left_block {
  struct nd4c_left_block *next;
  nd4c_device *device;
  nd4c_block block;
} nd4c_left_block;

typedef struct nd4c_submission {
  const nd4c_context *context;
  const char *name; /* static: of what is enqueued, for texts and reports of memory */
  nd4c_submission_operand *operands;
  nd4c_shared_fence **before; /* by operand: unfinished work that writes what is read; NULL: none */
  int32_t room, acquired;
  int64_t point;            /* number of the first call on the stream's timeline; 0: they have none */
  int32_t call_count;       /* that have one */
  nd4c_block host_scratch;      /* node NULL: none */
  nd4c_scratch *device_scratch; /* the stream's, lent; NULL: none, or returned */
  nd4c_buffer device_buffer;    /* of it: what calls are given, with their bytes */
  int64_t device_bytes;
  nd4c_left_block *left;        /* returned.c's */
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

/* Numbers for the calls that are about to be enqueued, see nd4c_call.point: the first one; 0 on a synchronous device.
 * Once a submission. */
static inline int64_t nd4c_submission_number(nd4c_submission *submission, int32_t count) {
  nd4c_timeline *timeline = submission->context->timeline;
  if (timeline != NULL) {
    submission->point = nd4c_timeline_number(timeline, count);
    submission->call_count = count;
  }
  return submission->point;
}

/* The next operand. *view: where it is; its fence is the submission's. A storage may be acquired several times. */
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

/* The same for an array, whose element 0 goes into *tensor: data, buffer, offset; offset is the array's before. */
nd4c_status nd4c_submission_acquire_array(nd4c_submission *submission, const nd4c_array *array, nd4c_access access,
                                          nd4c_tensor *tensor);

/* How an output is acquired: a write into part of a storage keeps the rest, so the bytes around the view must be
 * current too. */
nd4c_access nd4c_submission_output_access(const nd4c_array *array);

/* Says which array it was that could not be copied, or have memory: "add: input 0, float32 (3, 4): ...". One without a
 * value, with the text of what failed to write it, is POISONED: no other device could do better. Returns the status. */
nd4c_status nd4c_submission_name_operand(const nd4c_submission *submission, nd4c_status status, const nd4c_array *array,
                                         const char *role, int32_t number, nd4c_access access);

/* Host memory of so many bytes, freed by `end`, and the stream's scratch, returned by `record`; zeros: none. */
nd4c_status nd4c_submission_take_scratch(nd4c_submission *submission, int64_t host_bytes,
                                         const nd4c_scratch_range *device);

/* Runs an executable; `outputs`: the arrays that were acquired for execution->outputs, in C order. Of one that returns
 * its outputs, the storages get the buffers where that can be, else their contents by a copy. */
nd4c_status nd4c_submission_execute(nd4c_submission *submission, const nd4c_compiled *compiled,
                                    nd4c_execution *execution, nd4c_array *const *outputs);

/* The fence behind what was enqueued; one reference. NULL on a synchronous device. With `steps` the fence knows no
 * inputs: its parts do. After a failure the work has ended. */
nd4c_status nd4c_submission_record(nd4c_submission *submission, nd4c_fence_steps *steps, nd4c_shared_fence **fence);

/* Keeps blocks that are left over, and calls `release` with `object`, when the fence's work has ended: before this
 * returns where there is no memory for the note. Not with a NULL fence. */
void nd4c_submission_keep(nd4c_submission *submission, nd4c_shared_fence *fence, void *object,
                          void (*release)(void *object));

/* Tells each storage that the work which ends with the fence (NULL: done) reads or writes it. */
void nd4c_submission_commit(nd4c_submission *submission, nd4c_shared_fence *fence);
/* The same for one operand, where they have fences of their own. */
void nd4c_submission_commit_operand(nd4c_submission *submission, int32_t index, nd4c_shared_fence *fence);

/* Cancels what was acquired and not committed, releases fences, scratch and blocks that are left over. */
void nd4c_submission_end(nd4c_submission *submission);
/* Frees the list. */
void nd4c_left_blocks_free(nd4c_left_block *left);

/* After work failed with `status` and has ended: why, if it had not what it was to read. Of an input that has no value
 * POISONED; what a copy failed with that was to bring an input, which is whole elsewhere; else `status`, and the
 * thread's error as it is. */
nd4c_status nd4c_submission_explain(const nd4c_submission *submission, nd4c_status status);

/* After a failure with `status`: waits for what may be under way on the context's stream, before what it uses goes. The
 * thread's error stays as it is. */
void nd4c_submission_settle(const nd4c_context *context, nd4c_status status);

#endif
