/* Fences shared by the storages that one submission writes or reads. */
#ifndef ND4C_DEVICE_FENCE_H
#define ND4C_DEVICE_FENCE_H

#include "device/device.h"

typedef struct nd4c_shared_fence nd4c_shared_fence;

/* Records everything enqueued on `stream` so far. One reference. */
nd4c_status nd4c_fence_record(nd4c_device *device, nd4c_stream stream, nd4c_shared_fence **fence);
nd4c_shared_fence *nd4c_fence_retain(nd4c_shared_fence *fence);
void nd4c_fence_release(nd4c_shared_fence *fence);
bool nd4c_fence_is_ready(nd4c_shared_fence *fence);
/* Waits; the status of the work. Repeated calls give the same status and text. */
nd4c_status nd4c_fence_wait(nd4c_shared_fence *fence);
nd4c_status nd4c_fence_enqueue_wait(nd4c_shared_fence *fence, nd4c_device *device, nd4c_stream stream);

#endif
