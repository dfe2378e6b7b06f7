/* Fences: a marker after everything in a queue, with the events of commands that were enqueued since the previous
 * fence. device.c puts these functions into its table, which nd4c uses to wait for work. */
#include "backends/opencl/runtime/queue.h"

static nd4c_status place_marker(nd4c_stream stream, nd4c_fence fence) {
  nd4c_status status = nd4c_cl_fault_collect(stream);
  if (status == ND4C_OK) {
    cl_int code = nd4c_cl.clEnqueueMarkerWithWaitList(stream->queue, 0, NULL, &fence->marker);
    if (code != CL_SUCCESS) {
      fence->marker = NULL;
      status = nd4c_cl_fail(stream->device, "clEnqueueMarkerWithWaitList", code);
    } else if (fence->marker == NULL) {
      status = nd4c_cl_fail_nothing(stream->device, "clEnqueueMarkerWithWaitList", "no event");
    }
  }
  if (status == ND4C_OK) {
    cl_int code = nd4c_cl.clFlush(stream->queue);
    status = code == CL_SUCCESS ? ND4C_OK : nd4c_cl_fail(stream->device, "clFlush", code);
  }
  return status;
}

nd4c_status nd4c_cl_fence_record(void *handle, nd4c_stream stream, nd4c_fence *out) {
  nd4c_cl_device *device = handle;
  nd4c_fence fence = nd4c_cl_host->allocate(sizeof *fence);
  if (fence == NULL) {
    return nd4c_cl_host->fail(ND4C_MEMORY, "%s: no memory for a fence", device->name);
  }
  nd4c_cl_lock(&stream->lock);
  nd4c_status status = place_marker(stream, fence);
  if (status == ND4C_OK) {
    fence->entries = stream->entries;
    fence->count = stream->count;
    stream->entries = NULL;
    stream->count = stream->capacity = 0;
    nd4c_cl_fault_hand_over(stream, fence);
  }
  nd4c_cl_unlock(&stream->lock);
  if (status != ND4C_OK) {
    if (fence->marker != NULL) {
      (void)nd4c_cl.clReleaseEvent(fence->marker);
    }
    nd4c_cl_host->free(fence);
    return status;
  }
  *out = fence;
  return ND4C_OK;
}

/* If the driver cannot say, this waits, because a caller that polls would otherwise poll for ever. */
static bool is_ready(cl_event event) {
  cl_int status = nd4c_cl_event_status(event);
  if (status < CL_COMPLETE) {
    (void)nd4c_cl_event_wait(event);
  }
  return status <= CL_COMPLETE;
}

bool nd4c_cl_fence_query(void *device, nd4c_fence fence) {
  (void)device;
  bool ready = is_ready(fence->marker);
  for (int32_t i = 0; ready && i < fence->count; i++) { /* a marker may fail before the commands that it follows are
                                                           done */
    ready = is_ready(fence->entries[i].event);
  }
  for (const nd4c_cl_reading *reading = fence->readings; ready && reading != NULL; reading = reading->next) {
    ready = is_ready(reading->event);
  }
  return ready;
}

/* Waits for all commands, because those after a failure may still run, and memory is freed when this returns. */
static cl_int wait_for_entries(nd4c_fence fence) {
  cl_int first = CL_SUCCESS;
  for (int32_t i = 0; i < fence->count; i++) {
    cl_int code = nd4c_cl_event_wait(fence->entries[i].event);
    first = first == CL_SUCCESS ? code : first;
  }
  return first;
}

/* A failure of the marker or of waiting has no known command. If it only results from a failed command, it is not
 * reported. */
static nd4c_status marker_outcome(const nd4c_cl_device *device, nd4c_fence fence, bool commands_failed) {
  enum { OF_WHAT_IT_WAITED_FOR = -14 }; /* CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST */
  const nd4c_cl_entry marker = {fence->marker, "clEnqueueMarkerWithWaitList", NULL, 0};
  if (fence->waited != CL_SUCCESS) {
    return nd4c_cl_fail(device, "clWaitForEvents", fence->waited);
  }
  return commands_failed && nd4c_cl_event_status(fence->marker) == OF_WHAT_IT_WAITED_FOR
             ? ND4C_OK
             : nd4c_cl_entry_outcome(device, &marker);
}

/* Failure `index` of a signalled fence. */
static nd4c_status tell(const nd4c_cl_device *device, nd4c_fence fence, int32_t index, nd4c_failed_range *failed) {
  bool any = false;
  for (int32_t i = 0; i < fence->count; i++) {
    const nd4c_cl_entry *entry = &fence->entries[i];
    nd4c_status status = nd4c_cl_entry_outcome(device, entry);
    any = any || status != ND4C_OK;
    if (status != ND4C_OK && index-- == 0) {
      *failed = (nd4c_failed_range){entry->point, entry->point};
      return status;
    }
  }
  nd4c_status status = marker_outcome(device, fence, any);
  if (status != ND4C_OK && index-- == 0) {
    return status;
  }
  for (const nd4c_cl_reading *reading = fence->readings; reading != NULL; reading = reading->next) {
    status = nd4c_cl_reading_outcome(device, reading);
    if (status != ND4C_OK && index-- == 0) {
      *failed = reading->suspects.points;
      return status;
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_cl_fence_failure(void *device, nd4c_fence fence, int32_t index, nd4c_failed_range *failed) {
  return tell(device, fence, index, failed);
}

nd4c_status nd4c_cl_fence_wait(void *device, nd4c_fence fence, nd4c_failed_range *failed) {
  cl_int marked = nd4c_cl_event_wait(fence->marker), waited = wait_for_entries(fence);
  fence->waited = marked == CL_SUCCESS ? waited : marked;
  for (nd4c_cl_reading *reading = fence->readings; reading != NULL; reading = reading->next) {
    nd4c_cl_reading_wait(reading);
  }
  nd4c_failed_range all = {0, 0};
  bool known = true;
  for (int32_t i = 0;; i++) {
    nd4c_failed_range each = {0, 0};
    if (tell(device, fence, i, &each) == ND4C_OK) {
      break;
    }
    known = known && each.first > 0;
    all.first = i == 0 || each.first < all.first ? each.first : all.first;
    all.last = each.last > all.last ? each.last : all.last;
  }
  nd4c_failed_range unused = {0, 0};
  *failed = known ? all : unused;
  return tell(device, fence, 0, &unused); /* whose text is the thread's */
}

void nd4c_cl_fence_destroy(void *device, nd4c_fence fence) {
  (void)device;
  nd4c_cl_readings_drop(fence->readings);
  for (int32_t i = 0; i < fence->count; i++) {
    (void)nd4c_cl.clReleaseEvent(fence->entries[i].event);
  }
  nd4c_cl_host->free(fence->entries);
  (void)nd4c_cl.clReleaseEvent(fence->marker);
  nd4c_cl_host->free(fence);
}

nd4c_status nd4c_cl_stream_wait_fence(void *handle, nd4c_stream stream, nd4c_fence fence) {
  nd4c_cl_device *device = handle;
  /* A failed command would pass its failure to unrelated work that waits for it, but commands before it may be in
   * flight: the host waits for those. Finished commands stay in the wait list, so that their writes are visible. */
  if (nd4c_cl_event_has_failed(fence->marker)) {
    (void)wait_for_entries(fence); /* waiting for the fence itself reports it */
    return ND4C_OK;
  }
  nd4c_cl_lock(&stream->lock);
  cl_int code = nd4c_cl.clEnqueueBarrierWithWaitList(stream->queue, 1, &fence->marker, NULL);
  nd4c_cl_unlock(&stream->lock);
  return code == CL_SUCCESS ? ND4C_OK : nd4c_cl_fail(device, "clEnqueueBarrierWithWaitList", code);
}
