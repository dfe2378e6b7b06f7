/* Device scratch of calls and executables, for submit, graph/modes and dispatch/choice.c. It belongs to a stream: work
 * on a stream runs in order, so one block serves all its calls in flight. A block is lent to one submission at a time
 * while that enqueues. A stream gets a second block only if two threads enqueue on it at once.
 *
 *     nd4c_scratch_lend, or nd4c_scratch_take of one that is held
 *     (the caller enqueues work that uses the block)
 *     nd4c_scratch_return, with the fence behind that work
 *
 * A block returns to the memory manager when its stream is destroyed, when the stream needs a larger one, when memory
 * is short, or when memory is trimmed to 0; always after the work that used it. */
#ifndef ND4C_DEVICE_MEMORY_SCRATCH_H
#define ND4C_DEVICE_MEMORY_SCRATCH_H

#include "device/memory/memory.h"
#include "device/stream/fence.h"

typedef struct nd4c_scratch {
  nd4c_block block;
  nd4c_device *device;
  nd4c_stream stream; /* NULL: the device is synchronous, or the stream is gone */
  /* Under the pool's lock: */
  nd4c_shared_fence *last; /* fence of the latest work that used it; NULL: none, or it has ended */
  bool lent, gone;         /* the stream has been destroyed */
  int32_t holders;
  struct nd4c_scratch *next, *looked;
  nd4c_shared_fence *seen; /* the value of `last` that a thread which trims the pool queries; retained by that thread */
} nd4c_scratch;

nd4c_status nd4c_scratch_pool_make(nd4c_device *device, struct nd4c_scratch_pool **out);
/* Destroys the pool; no stream has scratch any more. NULL is fine. */
void nd4c_scratch_pool_free(struct nd4c_scratch_pool *pool);

/* The most scratch that one call can get on the device now, given its free memory and cap, its largest buffer, and the
 * property nd4c.device.scratch. INT64_MAX: no limit. */
int64_t nd4c_scratch_limit(nd4c_device *device);
/* Maximum of a plausible request. Sums of rounded sizes below it cannot overflow. */
#define ND4C_SCRATCH_MOST (INT64_C(1) << 56)
/* UNSUPPORTED, with `who` in the text, unless 0 <= least <= best <= ND4C_SCRATCH_MOST. */
nd4c_status nd4c_scratch_check(const char *who, const nd4c_scratch_range *range);
/* The same of host memory: unless 0 <= bytes <= ND4C_SCRATCH_MOST. */
nd4c_status nd4c_scratch_check_host(const char *who, int64_t bytes);
/* The bytes of a block that a call gets: never more than it asked for. */
static inline int64_t nd4c_scratch_granted(const nd4c_scratch *scratch, const nd4c_scratch_range *range) {
  return scratch->block.bytes < range->best ? scratch->block.bytes : range->best;
}

/* Lends a block with at least range->least bytes for work on the stream: range->best or more if that takes no memory
 * from others, else as much as fits. MEMORY, MEMORY_CAP if not even the least fits; the text begins with `who`. */
nd4c_status nd4c_scratch_lend(nd4c_device *device, nd4c_stream stream, const nd4c_scratch_range *range, const char *who,
                              nd4c_scratch **scratch);
/* Returns a block; `fence`: of the work that used it. NULL: no work was enqueued, or it has ended. */
void nd4c_scratch_return(nd4c_scratch *scratch, nd4c_shared_fence *fence);

/* Holds a block for a plan, whose calls refer to it, until nd4c_scratch_drop. The caller has the block lent. */
void nd4c_scratch_hold(nd4c_scratch *scratch);
/* Lends a held block. Blocks while another thread enqueues work that uses it. */
void nd4c_scratch_take(nd4c_scratch *scratch);
/* Ends a hold. The holder's work has ended, or is enqueued on the stream. */
void nd4c_scratch_drop(nd4c_scratch *scratch);

/* Frees blocks that no work uses and no plan holds. */
void nd4c_scratch_collect(nd4c_device *device);
/* Bytes of scratch of the device's streams. */
int64_t nd4c_scratch_bytes(const nd4c_device *device);

#endif
