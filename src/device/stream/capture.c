/* Implements capture.h. graph/modes/capture.c records a plan here and launches the recording in each run. */
#include "device/stream/capture.h"

#include "base/alloc.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/stream/exit_and_fork.h"
#include "device/stream/stream_pool.h"

struct nd4c_capture {
  nd4c_device *device;
  nd4c_stream stream;         /* while recording; else NULL */
  nd4c_launchable launchable; /* NULL: nothing was recorded yet */
};

nd4c_status nd4c_capture_make(nd4c_device *device, nd4c_capture **out) {
  nd4c_capture *capture = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *capture, "recorded work", &capture));
  capture->device = device;
  *out = capture;
  return ND4C_OK;
}

static void destroy_launchable(nd4c_capture *capture) {
  if (capture->launchable != NULL && !nd4c_device_is_forked(capture->device)) {
    capture->device->ops->capture->launchable_destroy(capture->device->handle, capture->launchable);
  }
  capture->launchable = NULL;
}

void nd4c_capture_free(nd4c_capture *capture) {
  if (capture != NULL) {
    nd4c_capture_abandon(capture);
    destroy_launchable(capture);
    nd4c_deallocate(capture);
  }
}

nd4c_status nd4c_capture_begin(nd4c_capture *capture, nd4c_stream *stream) {
  if (capture->stream != NULL) {
    return nd4c_fail(ND4C_INTERNAL, "capture on %s: begin while recording", capture->device->name);
  }
  ND4C_TRY(nd4c_stream_take(capture->device, stream));
  nd4c_status status = nd4c_driver_capture_begin(capture->device, *stream);
  if (status != ND4C_OK) {
    nd4c_stream_give(capture->device, *stream);
    return status;
  }
  capture->stream = *stream;
  return ND4C_OK;
}

void nd4c_capture_abandon(nd4c_capture *capture) {
  if (capture->stream == NULL) {
    return;
  }
  if (!nd4c_device_is_forked(capture->device)) {
    capture->device->ops->capture->abandon(capture->device->handle, capture->stream);
  }
  nd4c_stream_drop(capture->device, capture->stream); /* the failure leaves the stream in an unknown state */
  capture->stream = NULL;
}

/* Updates the launchable with the recording, or replaces it by a new one. */
static nd4c_status use(nd4c_capture *capture, nd4c_recording recording, nd4c_shared_fence *last) {
  const nd4c_device *device = capture->device;
  if (capture->launchable != NULL && device->ops->capture->update != NULL) {
    nd4c_status status = nd4c_driver_capture_update(device, capture->launchable, recording);
    if (status != ND4C_UNSUPPORTED) {
      return status;
    }
  }
  nd4c_launchable fresh = NULL;
  ND4C_TRY(nd4c_driver_capture_instantiate(device, recording, &fresh));
  nd4c_fence_settle(last);
  destroy_launchable(capture);
  capture->launchable = fresh;
  return ND4C_OK;
}

nd4c_status nd4c_capture_end(nd4c_capture *capture, nd4c_shared_fence *last) {
  nd4c_device *device = capture->device;
  if (capture->stream == NULL) {
    return nd4c_fail(ND4C_INTERNAL, "capture on %s: end while not recording", device->name);
  }
  nd4c_recording recording = NULL;
  nd4c_status status = nd4c_driver_capture_end(device, capture->stream, &recording);
  if (status == ND4C_OK) {
    nd4c_stream_give(device, capture->stream); /* nothing was enqueued on it */
  } else {
    nd4c_stream_drop(device, capture->stream);
  }
  capture->stream = NULL;
  if (recording != NULL) {
    status = status == ND4C_OK ? use(capture, recording, last) : status;
    device->ops->capture->recording_destroy(device->handle, recording);
  }
  return status;
}

nd4c_status nd4c_capture_launch(nd4c_capture *capture, nd4c_stream stream, int64_t points) {
  if (capture->stream != NULL || capture->launchable == NULL) {
    return nd4c_fail(ND4C_INTERNAL, "capture on %s: launch %s", capture->device->name,
                     capture->stream != NULL ? "while recording" : "before anything was recorded");
  }
  ND4C_TRY(nd4c_device_admit(capture->device));
  return nd4c_driver_capture_launch(capture->device, capture->launchable, stream, points);
}
