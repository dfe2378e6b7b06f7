/* Copies within and between devices, and filling, complete when they return, but for nd4c_transfer_enqueue and
 * nd4c_transfer_enqueue_direct. */
#ifndef ND4C_DEVICE_TRANSFER_STREAM_H
#define ND4C_DEVICE_TRANSFER_STREAM_H

#include "device/memory/memory.h"

/* Copies the first `bytes` of a block to another block: within a device, and between two of one backend, by the devices
 * themselves where they can, else between two of which neither has addresses through buffers of the host's. Both sides
 * are idle. */
nd4c_status nd4c_transfer_copy(nd4c_device *from_device, const nd4c_block *from, nd4c_device *to_device,
                               const nd4c_block *to, int64_t bytes);

/* Repeats a pattern over host memory. */
void nd4c_transfer_repeat(void *memory, int64_t bytes, const void *pattern, int64_t pattern_bytes);

/* The same over the first `bytes` of an idle block of a device. UNSUPPORTED where that has no `fill`, and its memory no
 * address. */
nd4c_status nd4c_transfer_fill(nd4c_device *device, const nd4c_block *to, int64_t bytes, const void *pattern,
                               int32_t pattern_bytes);

/* Host memory to and from a block, waiting for the end. */
nd4c_status nd4c_transfer_from_host(nd4c_device *device, const nd4c_block *to, const void *from, int64_t bytes);
nd4c_status nd4c_transfer_to_host(nd4c_device *device, const nd4c_block *from, void *to, int64_t bytes);

/* Whether the second device may be able to copy from the first one's memory without the host; the copy itself tells,
 * by UNSUPPORTED. */
bool nd4c_transfer_is_direct(const nd4c_device *from_device, const nd4c_device *to_device);

/* Enqueues a copy between host memory and a block of `carrier`, whose block is `to` if it is the device that gets the
 * bytes. Both blocks stay as they are until `stream` has passed this point. */
nd4c_status nd4c_transfer_enqueue(nd4c_device *carrier, nd4c_stream stream, nd4c_device *to_device,
                                  const nd4c_block *from, const nd4c_block *to, int64_t bytes);
/* Enqueues a direct copy on `stream` of to_device that comes after fences of from_device. Both blocks stay until the
 * stream has passed this point. UNSUPPORTED: the devices cannot make it, nothing was enqueued. */
nd4c_status nd4c_transfer_enqueue_direct(nd4c_device *from_device, const nd4c_block *from, const nd4c_fence *waits,
                                         int32_t wait_count, nd4c_device *to_device, const nd4c_block *to,
                                         nd4c_stream stream, int64_t bytes);

#endif
