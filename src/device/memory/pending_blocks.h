/* Blocks that were released while work on them was pending; device/storage/storage.c adds and takes them. Work on the
 * same stream may reuse one at once, because a stream executes in order (an OpenCL queue that is out of order orders
 * the users of a buffer). Other work gets it from the memory manager once its fences are signalled. Until then the
 * manager counts it as live. */
#ifndef ND4C_DEVICE_MEMORY_PENDING_BLOCKS_H
#define ND4C_DEVICE_MEMORY_PENDING_BLOCKS_H

#include "device/memory/memory.h"
#include "device/stream/readers.h"

/* Takes over a block of an asynchronous device's manager and its pending work, and empties both arguments. False if
 * there is no memory for the record: nothing changed. */
bool nd4c_pending_blocks_add(nd4c_device *device, nd4c_block *block, nd4c_readers *users);
/* Gives a block of the manager's size for `bytes` whose pending work is all on `stream` or, if the device has no room
 * for another one, any block of that size. The caller takes over `users`; its first write must come after them. Never
 * waits. False: there is none. */
bool nd4c_pending_blocks_take(nd4c_device *device, nd4c_stream stream, int64_t bytes, const char *origin,
                              nd4c_block *block, nd4c_readers *users);
/* Frees, in stream order and without waiting, the device's blocks whose pending work is all on `stream`. False: there
 * is none, or no stream, or the device cannot. */
bool nd4c_pending_blocks_free_on(nd4c_device *device, nd4c_stream stream);
/* Returns blocks without pending work to their managers; wait: first waits for the work on all of them. */
void nd4c_pending_blocks_collect(bool wait);
/* The same for blocks that are known to be free; if many bytes are pending, also asks the others, see
 * nd4c_fence_is_ready. Never waits. */
void nd4c_pending_blocks_sweep(void);
/* Total of pending blocks on all devices. */
int64_t nd4c_pending_blocks_bytes(void);

#endif
