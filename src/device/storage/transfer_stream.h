/* Copies within and between devices, and fills. They are complete when they return, except nd4c_transfer_enqueue and
 * nd4c_transfer_enqueue_direct. replica_copy.c and coherence.c call them for replicas, access/apart.c for parts. */
#ifndef ND4C_DEVICE_STORAGE_TRANSFER_STREAM_H
#define ND4C_DEVICE_STORAGE_TRANSFER_STREAM_H

#include "device/memory/memory.h"

/* Copies the first `bytes` of a block to another block, both idle. Devices copy by themselves within one device and, if
 * they can, between two of one backend; otherwise, between two devices without addresses, the copy passes through
 * buffers of the host. */
nd4c_status nd4c_transfer_copy(nd4c_device *from_device, const nd4c_block *from, nd4c_device *to_device,
                               const nd4c_block *to, int64_t bytes);

/* Repeats a pattern over host memory. */
void nd4c_transfer_repeat(void *memory, int64_t bytes, const void *pattern, int64_t pattern_bytes);

/* The same over the first `bytes` of an idle block of a device. UNSUPPORTED if the device has no `fill` and its memory
 * no address. */
nd4c_status nd4c_transfer_fill(nd4c_device *device, const nd4c_block *to, int64_t bytes, const void *pattern,
                               int32_t pattern_bytes);

/* Copies host memory to and from a block; blocks until complete. */
nd4c_status nd4c_transfer_from_host(nd4c_device *device, const nd4c_block *to, const void *from, int64_t bytes);
nd4c_status nd4c_transfer_to_host(nd4c_device *device, const nd4c_block *from, void *to, int64_t bytes);

/* Whether the second device may be able to copy from the first one's memory without the host; the copy may still return
 * UNSUPPORTED. */
bool nd4c_transfer_is_direct(const nd4c_device *from_device, const nd4c_device *to_device);

/* Enqueues a copy between host memory and a block of `carrier`, which is `to` if the carrier receives the bytes. Both
 * blocks must stay unchanged until `stream` has passed this point. */
nd4c_status nd4c_transfer_enqueue(nd4c_device *carrier, nd4c_stream stream, nd4c_device *to_device,
                                  const nd4c_block *from, const nd4c_block *to, int64_t bytes);
/* Enqueues a direct copy on `stream` of to_device that waits for fences of from_device. Both blocks must live until the
 * stream has passed this point. UNSUPPORTED: the devices cannot make the copy, and nothing was enqueued. */
nd4c_status nd4c_transfer_enqueue_direct(nd4c_device *from_device, const nd4c_block *from, const nd4c_fence *waits,
                                         int32_t wait_count, nd4c_device *to_device, const nd4c_block *to,
                                         nd4c_stream stream, int64_t bytes);

#endif
