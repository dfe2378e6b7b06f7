/* Fences: a marker behind everything in a queue, with the events of what was enqueued since the fence before. */
#include "backends/opencl/queue.h"

static nd4c_status place_marker(nd4c_stream stream, nd4c_fence fence) {
  nd4c_status status = ND4C_OK;
  if (stream->fault_op != NULL && stream->fault != NULL) {
    fence->fault_op = stream->fault_op;
    fence->fault_others = stream->fault_others;
    status = nd4c_cl_fault_collect(stream, fence);
  }
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

/* The read may still write to the fence. */
static void drop_fault(nd4c_fence fence) {
  nd4c_cl_reset_drop(&fence->reset);
  if (fence->fault_read != NULL) {
    if (nd4c_cl_event_status(fence->fault_read) > CL_COMPLETE) {
      (void)nd4c_cl_event_wait(fence->fault_read);
    }
    (void)nd4c_cl.clReleaseEvent(fence->fault_read);
    fence->fault_read = NULL;
  }
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
    stream->fault_op = NULL;
    stream->fault_others = false;
  }
  nd4c_cl_unlock(&stream->lock);
  if (status != ND4C_OK) {
    drop_fault(fence);
    if (fence->marker != NULL) {
      (void)nd4c_cl.clReleaseEvent(fence->marker);
    }
    nd4c_cl_host->free(fence);
    return status;
  }
  *out = fence;
  return ND4C_OK;
}

/* Where the driver cannot tell, this waits: whoever asks until it is ready would ask for good. */
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
  for (int32_t i = 0; ready && i < fence->count; i++) { /* a marker may fail before what it stands behind is done */
    ready = is_ready(fence->entries[i].event);
  }
  return ready && (fence->fault_read == NULL || is_ready(fence->fault_read));
}

/* All of them, since what follows a failure may still run, and memory is freed once this returns. */
static cl_int wait_for_entries(nd4c_fence fence) {
  cl_int first = CL_SUCCESS;
  for (int32_t i = 0; i < fence->count; i++) {
    cl_int code = nd4c_cl_event_wait(fence->entries[i].event);
    first = first == CL_SUCCESS ? code : first;
  }
  return first;
}

nd4c_status nd4c_cl_fence_wait(void *handle, nd4c_fence fence, nd4c_failed_range *failed) {
  (void)failed; /* an event does not lead back to its call */
  nd4c_cl_device *device = handle;
  cl_int marked = nd4c_cl_event_wait(fence->marker), waited = wait_for_entries(fence);
  waited = marked == CL_SUCCESS ? waited : marked;
  for (int32_t i = 0; i < fence->count; i++) {
    nd4c_status status = nd4c_cl_entry_outcome(device, &fence->entries[i]);
    if (status != ND4C_OK) {
      return status;
    }
  }
  if (waited != CL_SUCCESS) {
    return nd4c_cl_fail(device, "clWaitForEvents", waited);
  }
  const nd4c_cl_entry marker = {fence->marker, "clEnqueueMarkerWithWaitList", NULL};
  nd4c_status status = nd4c_cl_entry_outcome(device, &marker);
  return status != ND4C_OK ? status : nd4c_cl_fault_outcome(device, fence);
}

void nd4c_cl_fence_destroy(void *device, nd4c_fence fence) {
  (void)device;
  drop_fault(fence);
  for (int32_t i = 0; i < fence->count; i++) {
    (void)nd4c_cl.clReleaseEvent(fence->entries[i].event);
  }
  nd4c_cl_host->free(fence->entries);
  (void)nd4c_cl.clReleaseEvent(fence->marker);
  nd4c_cl_host->free(fence);
}

nd4c_status nd4c_cl_stream_wait_fence(void *handle, nd4c_stream stream, nd4c_fence fence) {
  nd4c_cl_device *device = handle;
  /* What failed would spread its failure to work that has nothing to do with it, but commands that it stands behind may
   * still be under way: the host waits for those. What is done is waited for like what is not, so that what it wrote is
   * seen. */
  if (nd4c_cl_event_has_failed(fence->marker)) {
    (void)wait_for_entries(fence); /* whoever waits for the fence itself is told */
    return ND4C_OK;
  }
  nd4c_cl_lock(&stream->lock);
  cl_int code = nd4c_cl.clEnqueueBarrierWithWaitList(stream->queue, 1, &fence->marker, NULL);
  nd4c_cl_unlock(&stream->lock);
  return code == CL_SUCCESS ? ND4C_OK : nd4c_cl_fail(device, "clEnqueueBarrierWithWaitList", code);
}
