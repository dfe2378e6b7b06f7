/* Recorded work of one device: recorded once, launched again and again as one piece. Plans' mode "capture" uses it.
 *
 *     empty or ready --begin--> recording --end--> ready --launch--> ready
 *                                         --abandon, or a failure of end--> as before begin
 *
 * A call in another order is INTERNAL. One thread at a time uses a capture. */
#ifndef ND4C_DEVICE_CAPTURE_H
#define ND4C_DEVICE_CAPTURE_H

#include "device/device.h"
#include "device/stream/fence.h"

typedef struct nd4c_capture nd4c_capture;

/* Whether the device records work at all. */
static inline bool nd4c_capture_is_offered(const nd4c_device *device) {
  return device->description.asynchronous && device->ops->capture != NULL;
}

nd4c_status nd4c_capture_make(nd4c_device *device, nd4c_capture **capture);
/* Not while a launch is under way. NULL is fine. */
void nd4c_capture_free(nd4c_capture *capture);
/* Begins a recording on a stream that no other work uses. *stream: to be used by the calling thread until end or
 * abandon. */
nd4c_status nd4c_capture_begin(nd4c_capture *capture, nd4c_stream *stream);
/* Makes what was recorded what is launched from here on. `last`: fence of the latest launch, NULL: none; a device that
 * cannot put new operands into what it launched is waited for. */
nd4c_status nd4c_capture_end(nd4c_capture *capture, nd4c_shared_fence *last);
void nd4c_capture_abandon(nd4c_capture *capture);
/* Enqueues the recorded work; `points` is added to the points of its calls. A failure: nothing was enqueued. */
nd4c_status nd4c_capture_launch(nd4c_capture *capture, nd4c_stream stream, int64_t points);

#endif
