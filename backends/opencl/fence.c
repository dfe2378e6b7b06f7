/* Fences: a marker behind everything in a queue, with the events of what was enqueued since the fence before. */
#include "backends/opencl/queue.h"

/* Keeps what stands before and behind apart. Under the stream's lock. */
static nd4c_status place_barrier(nd4c_stream stream) {
  cl_int code =
      stream->device->out_of_order ? nd4c_cl.clEnqueueBarrierWithWaitList(stream->queue, 0, NULL, NULL) : CL_SUCCESS;
  return code == CL_SUCCESS ? ND4C_OK : nd4c_cl_fail(stream->device, "clEnqueueBarrierWithWaitList", code);
}

/* Enqueues the read of the stream's fault buffer and its reset, between barriers. Under the stream's lock. */
static nd4c_status read_fault(nd4c_stream stream, nd4c_fence fence) {
  static const int32_t none = 0;
  const nd4c_cl_device *device = stream->device;
  cl_mem memory = stream->fault->memory;
  nd4c_status status = place_barrier(stream);
  if (status != ND4C_OK) {
    return status;
  }
  cl_int code = nd4c_cl.clEnqueueReadBuffer(stream->queue, memory, 0, 0, sizeof fence->fault, fence->fault, 0, NULL,
                                            &fence->fault_read);
  if (code != CL_SUCCESS) {
    return nd4c_cl_fail(device, "clEnqueueReadBuffer", code);
  }
  if (fence->fault_read == NULL) {
    (void)nd4c_cl.clFinish(stream->queue);
    return nd4c_cl_fail_nothing(device, "clEnqueueReadBuffer", "no event");
  }
  code = nd4c_cl.clEnqueueFillBuffer(stream->queue, memory, &none, sizeof none, 0, sizeof fence->fault, 1,
                                     &fence->fault_read, NULL);
  return code == CL_SUCCESS ? place_barrier(stream) : nd4c_cl_fail(device, "clEnqueueFillBuffer", code);
}

static nd4c_status place_marker(nd4c_stream stream, nd4c_fence fence) {
  nd4c_status status = ND4C_OK;
  if (stream->fault_op != NULL && stream->fault != NULL) {
    fence->fault_op = stream->fault_op;
    fence->fault_others = stream->fault_others;
    status = read_fault(stream, fence);
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
static void drop_fault_read(nd4c_fence fence) {
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
  pthread_mutex_lock(&stream->lock);
  nd4c_status status = place_marker(stream, fence);
  if (status == ND4C_OK) {
    fence->entries = stream->entries;
    fence->count = stream->count;
    stream->entries = NULL;
    stream->count = stream->capacity = 0;
    stream->fault_op = NULL;
    stream->fault_others = false;
  }
  pthread_mutex_unlock(&stream->lock);
  if (status != ND4C_OK) {
    drop_fault_read(fence);
    if (fence->marker != NULL) {
      (void)nd4c_cl.clReleaseEvent(fence->marker);
    }
    nd4c_cl_host->free(fence);
    return status;
  }
  *out = fence;
  return ND4C_OK;
}

bool nd4c_cl_fence_query(void *device, nd4c_fence fence) {
  (void)device;
  bool ready = nd4c_cl_event_status(fence->marker) <= CL_COMPLETE;
  for (int32_t i = 0; ready && i < fence->count; i++) { /* a marker may fail before what it stands behind is done */
    ready = nd4c_cl_event_status(fence->entries[i].event) <= CL_COMPLETE;
  }
  return ready && (fence->fault_read == NULL || nd4c_cl_event_status(fence->fault_read) <= CL_COMPLETE);
}

static int64_t from_halves(int32_t low, int32_t high) {
  return (int64_t)((uint64_t)(uint32_t)low | (uint64_t)(uint32_t)high << 32);
}

/* All of them, since what follows a failure may still run, and memory is freed once this returns. */
static cl_int wait_for_entries(nd4c_fence fence) {
  cl_int first = nd4c_cl_event_wait(fence->marker);
  for (int32_t i = 0; i < fence->count; i++) {
    cl_int code = nd4c_cl_event_wait(fence->entries[i].event);
    first = first == CL_SUCCESS ? code : first;
  }
  return first;
}

nd4c_status nd4c_cl_fence_wait(void *handle, nd4c_fence fence) {
  nd4c_cl_device *device = handle;
  cl_int waited = wait_for_entries(fence);
  for (int32_t i = 0; i < fence->count; i++) {
    nd4c_status status = nd4c_cl_entry_outcome(device, &fence->entries[i]);
    if (status != ND4C_OK) {
      return status;
    }
  }
  if (waited != CL_SUCCESS) {
    return nd4c_cl_fail(device, "clWaitForEvents", waited);
  }
  const nd4c_cl_entry marker = {fence->marker, "clEnqueueMarkerWithWaitList", NULL},
                      fault_read = {fence->fault_read, "clEnqueueReadBuffer", "a fault"};
  nd4c_status status = nd4c_cl_entry_outcome(device, &marker);
  if (status != ND4C_OK || fence->fault_read == NULL) {
    return status;
  }
  waited = nd4c_cl_event_wait(fence->fault_read);
  status = nd4c_cl_entry_outcome(device, &fault_read);
  if (status != ND4C_OK) {
    return status;
  }
  if (waited != CL_SUCCESS) {
    return nd4c_cl_fail(device, "clWaitForEvents", waited);
  }
  if (fence->fault[0] == 0) {
    return ND4C_OK;
  }
  int64_t extent = from_halves(fence->fault[3], fence->fault[4]);
  return nd4c_cl_host->fail(ND4C_INDEX, "%s%s: index %lld is out of range for length %lld: expected %lld to %lld",
                            fence->fault_op, fence->fault_others ? " or an op behind it" : "",
                            (long long)from_halves(fence->fault[1], fence->fault[2]), (long long)extent,
                            (long long)-extent, (long long)(extent - 1));
}

void nd4c_cl_fence_destroy(void *device, nd4c_fence fence) {
  (void)device;
  drop_fault_read(fence);
  for (int32_t i = 0; i < fence->count; i++) {
    (void)nd4c_cl.clReleaseEvent(fence->entries[i].event);
  }
  nd4c_cl_host->free(fence->entries);
  (void)nd4c_cl.clReleaseEvent(fence->marker);
  nd4c_cl_host->free(fence);
}

nd4c_status nd4c_cl_stream_wait_fence(void *handle, nd4c_stream stream, nd4c_fence fence) {
  nd4c_cl_device *device = handle;
  /* What is done needs no waiting; what failed would spread its failure to work that has nothing to do with it. */
  if (nd4c_cl_event_status(fence->marker) <= CL_COMPLETE) {
    return ND4C_OK;
  }
  pthread_mutex_lock(&stream->lock);
  cl_int code = nd4c_cl.clEnqueueBarrierWithWaitList(stream->queue, 1, &fence->marker, NULL);
  pthread_mutex_unlock(&stream->lock);
  return code == CL_SUCCESS ? ND4C_OK : nd4c_cl_fail(device, "clEnqueueBarrierWithWaitList", code);
}
