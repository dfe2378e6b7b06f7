/* Implements trace_times.h. tracer.c adds an execution whose time is missing and resolves it when the device knows the
 * time. */
#include "device/trace/trace_times.h"

#include "base/status.h"
#include "device/driver.h"
#include "device/stream/exit_and_fork.h"

void nd4c_trace_times_begin(nd4c_trace_times *times, const nd4c_context *context) {
  const nd4c_device *device = context->device;
  if (times->depth++ > 0 || context->stream == NULL || device->ops->timing == NULL ||
      atomic_load_explicit(&device->closed, memory_order_relaxed) != ND4C_DEVICE_TAKES_WORK) {
    return;
  }
  if (device->ops->timing->begin(device->handle, context->stream) == ND4C_OK) {
    times->device = device;
    times->stream = context->stream;
  }
}

nd4c_timing nd4c_trace_times_end(nd4c_trace_times *times) {
  nd4c_timing timing = NULL;
  times->depth -= times->depth > 0;
  if (times->depth > 0 || times->device == NULL) {
    return NULL;
  }
  const nd4c_device *device = times->device;
  times->device = NULL;
  return nd4c_driver_timing_end(device, times->stream, &timing) == ND4C_OK ? timing : NULL;
}

/* Under the lock. Gives up the oldest; does not call a closed device. */
static void drop_oldest(nd4c_trace_times *times) {
  const nd4c_device *device = times->items[times->first].device;
  if (atomic_load(&device->closed) == ND4C_DEVICE_TAKES_WORK) {
    device->ops->timing->destroy(device->handle, times->items[times->first].timing);
  }
  times->first = (times->first + 1) % ND4C_TRACE_TIMES;
  times->count--;
}

/* The device's clock differs from the host's: the time at which the first command was enqueued relates the two. */
static void write_times(nd4c_trace_event *event, const nd4c_timing_span *span) {
  event->time = ND4C_TRACE_DEVICE_TIME;
  event->device_nanoseconds = span->busy;
  event->device_span = span->end - span->begin;
  event->device_begin = event->begin + (span->submitted != 0 ? span->begin - span->submitted : 0);
}

static bool may_be_asked(const nd4c_device *device, nd4c_trace_asking how) {
  const int32_t closed = atomic_load(&device->closed);
  return closed == ND4C_DEVICE_TAKES_WORK || (closed == ND4C_DEVICE_ENDS && how == ND4C_TRACE_LAST);
}

/* A thread mostly uses one stream, so the oldest execution has most likely ended and is queried first. */
void nd4c_trace_times_resolve(nd4c_trace_times *times, nd4c_trace_asking how) {
  while (times->count > 0) {
    const nd4c_device *device = times->items[times->first].device;
    nd4c_timing_span span = {.struct_size = ND4C_SIZE_OF(nd4c_timing_span)};
    bool ready = true;
    const nd4c_status status =
        may_be_asked(device, how)
            ? nd4c_driver_timing_read(device, times->items[times->first].timing, how == ND4C_TRACE_WAIT, &ready, &span)
            : ND4C_DEVICE;
    if (status == ND4C_OK && !ready) {
      return;
    }
    if (status == ND4C_OK) {
      write_times(times->items[times->first].event, &span);
    }
    drop_oldest(times);
  }
}

void nd4c_trace_times_add(nd4c_trace_times *times, nd4c_trace_event *event, const nd4c_device *device,
                          nd4c_timing timing) {
  nd4c_lock_acquire(&times->lock);
  nd4c_trace_times_resolve(times, ND4C_TRACE_ASK);
  if (times->count == ND4C_TRACE_TIMES) {
    drop_oldest(times);
  }
  const int32_t place = (times->first + times->count++) % ND4C_TRACE_TIMES;
  times->items[place].event = event;
  times->items[place].device = device;
  times->items[place].timing = timing;
  nd4c_lock_release(&times->lock);
}

void nd4c_trace_times_drop(nd4c_trace_times *times) {
  nd4c_lock_acquire(&times->lock);
  while (times->count > 0) {
    drop_oldest(times);
  }
  nd4c_lock_release(&times->lock);
}
