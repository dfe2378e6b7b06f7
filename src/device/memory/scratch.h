/* Scratch: device memory that calls and executables work in. It belongs to a stream, whose work begins in order, so
 * that one block serves every call there, however many are under way. A block is lent to one submission at a time while
 * that enqueues; only where two threads enqueue on one stream at once does the stream get a second block.
 *
 *     nd4c_scratch_lend, or nd4c_scratch_take of one that is held
 *     (the caller enqueues work that uses the block)
 *     nd4c_scratch_return, with the fence behind that work
 *
 * A block goes back to the memory manager when its stream goes, when the stream needs a larger one, when memory is
 * short or trimmed to 0: always after the work that used it. */
#ifndef ND4C_DEVICE_SCRATCH_H
#define ND4C_DEVICE_SCRATCH_H

#include "device/stream/fence.h"
#include "device/memory/memory.h"

typedef struct nd4c_scratch {
  nd4c_block block;
  nd4c_device *device;
  nd4c_stream stream; /* NULL: the device is synchronous, or the stream is gone */
  /* Under the pool's lock: */
  nd4c_shared_fence *last; /* of the latest work that used it; NULL: none, or it has ended */
  bool lent, gone;         /* gone: the stream is */
  int32_t holders;
  struct nd4c_scratch *next, *looked;
} nd4c_scratch;

nd4c_status nd4c_scratch_pool_make(nd4c_device *device, struct nd4c_scratch_pool **pool);
/* No stream is left that has scratch. NULL is fine. */
void nd4c_scratch_pool_free(struct nd4c_scratch_pool *pool);

/* What one call may work in on the device now: what its memory and cap leave, its largest buffer, and the property
 * nd4c.device.scratch. INT64_MAX where nothing limits it. */
int64_t nd4c_scratch_limit(nd4c_device *device);
/* The most that anything is believed to work in. Far below what sums of sizes, rounded up, can hold. */
#define ND4C_SCRATCH_MOST (INT64_C(1) << 56)
/* UNSUPPORTED, with `who` in the text, unless 0 <= least <= best <= ND4C_SCRATCH_MOST. */
nd4c_status nd4c_scratch_check(const char *who, const nd4c_scratch_range *range);
/* The same of host memory: unless 0 <= bytes <= ND4C_SCRATCH_MOST. */
nd4c_status nd4c_scratch_check_host(const char *who, int64_t bytes);
/* How many of a block's bytes a call is told that it has: never more than it asked for. */
static inline int64_t nd4c_scratch_granted(const nd4c_scratch *scratch, const nd4c_scratch_range *range) {
  return scratch->block.bytes < range->best ? scratch->block.bytes : range->best;
}

/* Lends a block with at least range->least bytes for work on the stream. It has range->best or more where that takes
 * nothing from others, and else what room there is. MEMORY, MEMORY_CAP with a text if not even the least can be had;
 * `who`: of whom the text speaks. */
nd4c_status nd4c_scratch_lend(nd4c_device *device, nd4c_stream stream, const nd4c_scratch_range *range,
                              const char *who, nd4c_scratch **scratch);
/* Gives it back; `fence`: behind the work that used it. NULL: none was enqueued, or it has ended. */
void nd4c_scratch_return(nd4c_scratch *scratch, nd4c_shared_fence *fence);

/* For a plan, whose calls name the block: it lives until the holder drops it. By who has it lent. */
void nd4c_scratch_hold(nd4c_scratch *scratch);
/* Lends what the caller holds. Blocks while another thread enqueues work that uses it. */
void nd4c_scratch_take(nd4c_scratch *scratch);
/* The work that the holder enqueued has ended, or stands on the stream. */
void nd4c_scratch_drop(nd4c_scratch *scratch);

/* Gives back what no work uses and no plan holds. */
void nd4c_scratch_collect(nd4c_device *device);
/* Bytes that the device's streams have. */
int64_t nd4c_scratch_bytes(const nd4c_device *device);

#endif
