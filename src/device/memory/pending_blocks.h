/* Blocks that were released while work on them was pending. Work on the same stream takes one over at once, because a
 * stream does its work in order (in an OpenCL queue that does not, the buffer itself keeps the order); anybody else
 * gets it through the memory manager, once its fences are ready. Until then the manager counts it as alive. */
#ifndef ND4C_DEVICE_PENDING_BLOCKS_H
#define ND4C_DEVICE_PENDING_BLOCKS_H

#include "device/memory/memory.h"
#include "device/stream/readers.h"

/* Takes over a block of an asynchronous device's manager with the work that is pending on it: both are empty then.
 * False without memory for the record: nothing was done. */
bool nd4c_pending_blocks_add(nd4c_device *device, nd4c_block *block, nd4c_readers *users);
/* Gives a block, as large as the manager would give for `bytes`, on which all pending work is on `stream`, or else,
 * where the device has no room for another one, any block of that size. The caller's first writer must come after
 * `users`, which become the caller's. Never waits. False: there is none. */
bool nd4c_pending_blocks_take(nd4c_device *device, nd4c_stream stream, int64_t bytes, const char *origin,
                              nd4c_block *block, nd4c_readers *users);
/* Frees the blocks of the device on which all pending work is on `stream`, in the order of the stream and without
 * waiting. False: there is none, or no stream, or the device cannot. */
bool nd4c_pending_blocks_free_on(nd4c_device *device, nd4c_stream stream);
/* Gives blocks on which no work is pending any more back to their managers; wait: waits for the work on all. */
void nd4c_pending_blocks_collect(bool wait);
/* The same for those that are known to be free; where much waits here, the others are asked, see nd4c_fence_is_ready.
 * Never waits. */
void nd4c_pending_blocks_sweep(void);
/* Of all that wait here, on whatever device. */
int64_t nd4c_pending_blocks_bytes(void);

#endif
