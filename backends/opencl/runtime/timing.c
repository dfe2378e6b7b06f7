/* Times of commands, from their events, if the queue was created with profiling. nd4c's tracer asks through the
 * device's table; queue.c adds each command. */
#include <string.h>

#include "backends/opencl/runtime/queue.h"

void nd4c_cl_timing_note(nd4c_stream stream, cl_event event) {
  nd4c_timing timing = stream->timing;
  if (timing->count == timing->capacity) {
    const int32_t capacity = timing->capacity == 0 ? 4 : 2 * timing->capacity;
    cl_event *grown = nd4c_cl_host->allocate((size_t)capacity * sizeof *grown);
    if (grown == NULL) {
      timing->lost = true;
      return;
    }
    if (timing->count > 0) {
      memcpy(grown, timing->events, (size_t)timing->count * sizeof *grown);
    }
    nd4c_cl_host->free(timing->events);
    timing->events = grown;
    timing->capacity = capacity;
  }
  if (nd4c_cl.clRetainEvent(event) == CL_SUCCESS) {
    timing->events[timing->count++] = event;
  } else {
    timing->lost = true;
  }
}

static nd4c_status begin(void *handle, nd4c_stream stream) {
  const nd4c_cl_device *device = handle;
  if (!stream->timed || nd4c_cl.clGetEventProfilingInfo == NULL) {
    return nd4c_cl_host->fail(ND4C_UNSUPPORTED, "%s: this queue was made without CL_QUEUE_PROFILING_ENABLE",
                              device->name);
  }
  nd4c_timing timing = nd4c_cl_host->allocate(sizeof *timing);
  if (timing == NULL) {
    return nd4c_cl_host->fail(ND4C_MEMORY, "%s: no memory for times", device->name);
  }
  nd4c_cl_lock(&stream->lock);
  const bool busy = stream->timing != NULL;
  stream->timing = busy ? stream->timing : timing;
  nd4c_cl_unlock(&stream->lock);
  if (busy) {
    nd4c_cl_host->free(timing);
    return nd4c_cl_host->fail(ND4C_UNSUPPORTED, "%s: the stream is being timed already", device->name);
  }
  return ND4C_OK;
}

static nd4c_status end(void *device, nd4c_stream stream, nd4c_timing *timing) {
  (void)device;
  nd4c_cl_lock(&stream->lock);
  *timing = stream->timing;
  stream->timing = NULL;
  nd4c_cl_unlock(&stream->lock);
  return ND4C_OK;
}

static nd4c_status ask(const nd4c_cl_device *device, cl_event event, cl_uint what, int64_t *nanoseconds) {
  cl_ulong value = 0;
  const cl_int code = nd4c_cl.clGetEventProfilingInfo(event, what, sizeof value, &value, NULL);
  *nanoseconds = (int64_t)value;
  return code == CL_SUCCESS ? ND4C_OK : nd4c_cl_fail(device, "clGetEventProfilingInfo", code);
}

static nd4c_status add(const nd4c_cl_device *device, cl_event event, bool first, nd4c_timing_span *span) {
  int64_t queued = 0, begun = 0, ended = 0;
  nd4c_status status = ask(device, event, CL_PROFILING_COMMAND_QUEUED, &queued);
  status = status == ND4C_OK ? ask(device, event, CL_PROFILING_COMMAND_START, &begun) : status;
  status = status == ND4C_OK ? ask(device, event, CL_PROFILING_COMMAND_END, &ended) : status;
  if (status != ND4C_OK) {
    return status;
  }
  span->submitted = first || queued < span->submitted ? queued : span->submitted;
  span->begin = first || begun < span->begin ? begun : span->begin;
  span->end = first || ended > span->end ? ended : span->end;
  span->busy += ended - begun;
  return ND4C_OK;
}

static nd4c_status read(void *handle, nd4c_timing timing, bool wait, bool *ready, nd4c_timing_span *span) {
  const nd4c_cl_device *device = handle;
  for (int32_t i = 0; i < timing->count; i++) {
    if (wait) {
      (void)nd4c_cl_event_wait(timing->events[i]);
    } else if (nd4c_cl_event_status(timing->events[i]) > CL_COMPLETE) {
      *ready = false;
      return ND4C_OK;
    }
  }
  *ready = true;
  if (timing->lost) {
    return nd4c_cl_host->fail(ND4C_MEMORY, "%s: there was no memory for the times of a command", device->name);
  }
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < timing->count && status == ND4C_OK; i++) {
    status = add(device, timing->events[i], i == 0, span);
  }
  return status;
}

static void destroy(void *device, nd4c_timing timing) {
  (void)device;
  for (int32_t i = 0; i < timing->count; i++) {
    (void)nd4c_cl.clReleaseEvent(timing->events[i]);
  }
  nd4c_cl_host->free(timing->events);
  nd4c_cl_host->free(timing);
}

const nd4c_timing_ops nd4c_cl_timing_ops = {
    .struct_size = ND4C_SIZE_OF(nd4c_timing_ops), .begin = begin, .end = end, .read = read, .destroy = destroy};
