/* Recorded work of one device: recorded once, launched any number of times as one piece. The mode "capture" of plans
 * (graph/modes/capture.c) uses it.
 *
 *     empty or ready --begin--> recording --end--> ready --launch--> ready
 *                                         --abandon, or a failure of end--> as before begin
 *
 * A call in another order is INTERNAL. One thread at a time uses a capture. */
#ifndef ND4C_DEVICE_STREAM_CAPTURE_H
#define ND4C_DEVICE_STREAM_CAPTURE_H

#include "device/device.h"
#include "device/stream/fence.h"

typedef struct nd4c_capture nd4c_capture;

/* Whether the device can record work. */
static inline bool nd4c_capture_is_offered(const nd4c_device *device) {
  return device->description.asynchronous && device->ops->capture != NULL;
}

nd4c_status nd4c_capture_make(nd4c_device *device, nd4c_capture **out);
/* Destroys a capture; none of its launches may be in flight. NULL is fine. */
void nd4c_capture_free(nd4c_capture *capture);
/* Begins a recording on a stream that no other work uses. *stream is for the calling thread until end or abandon. */
nd4c_status nd4c_capture_begin(nd4c_capture *capture, nd4c_stream *stream);
/* Ends the recording, which later launches use. `last`: fence of the latest launch, NULL: none; if the device cannot
 * update its launchable, waits for that fence. */
nd4c_status nd4c_capture_end(nd4c_capture *capture, nd4c_shared_fence *last);
void nd4c_capture_abandon(nd4c_capture *capture);
/* Enqueues the recorded work and adds `points` to the points of its calls. After a failure nothing was enqueued. */
nd4c_status nd4c_capture_launch(nd4c_capture *capture, nd4c_stream stream, int64_t points);

#endif
