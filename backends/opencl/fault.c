/* A stream's fault buffer, where kernels tell the first index that is out of range: read with a fence, then reset. What
 * it says is of use only where the reset before worked; else it may be what an op before that fence told. */
#include "backends/opencl/queue.h"

#define FAULT_BYTES (ND4C_CL_FAULT_WORDS * (int64_t)sizeof(int32_t))

/* Keeps what stands before and behind apart. Under the stream's lock. */
static nd4c_status place_barrier(nd4c_stream stream) {
  cl_int code =
      stream->device->out_of_order ? nd4c_cl.clEnqueueBarrierWithWaitList(stream->queue, 0, NULL, NULL) : CL_SUCCESS;
  return code == CL_SUCCESS ? ND4C_OK : nd4c_cl_fail(stream->device, "clEnqueueBarrierWithWaitList", code);
}

/* Enqueues zeros, and a barrier. Under the stream's lock. */
static nd4c_status reset(nd4c_stream stream) {
  static const int32_t none = 0;
  nd4c_cl_reset *made = &stream->reset;
  made->code = nd4c_cl.clEnqueueFillBuffer(stream->queue, stream->fault->memory, &none, sizeof none, 0,
                                           ND4C_CL_FAULT_WORDS * sizeof none, 0, NULL, &made->event);
  if (made->code != CL_SUCCESS) {
    made->event = NULL;
    return nd4c_cl_fail(stream->device, "clEnqueueFillBuffer", made->code);
  }
  if (made->event == NULL) {
    made->code = CL_INVALID_EVENT;
    (void)nd4c_cl.clFinish(stream->queue);
    return nd4c_cl_fail_nothing(stream->device, "clEnqueueFillBuffer", "no event");
  }
  return place_barrier(stream);
}

static nd4c_status make_buffer(nd4c_stream stream) {
  nd4c_status status = nd4c_cl_buffer_make(stream->device, FAULT_BYTES, &stream->fault);
  if (status != ND4C_OK) {
    stream->fault = NULL;
    return status;
  }
  status = reset(stream);
  if (status != ND4C_OK) {
    nd4c_cl_fault_free(stream);
  }
  return status;
}

/* Not under the stream's lock: nd4c may have to make room. */
static nd4c_status count_buffer(nd4c_stream stream, nd4c_device_memory **counted) {
  const nd4c_device_memory_request request = {.struct_size = ND4C_SIZE_OF(nd4c_device_memory_request),
                                              .backend = "opencl",
                                              .device = stream->device,
                                              .bytes = FAULT_BYTES,
                                              .origin = "a stream's fault buffer"};
  return nd4c_cl_host->device_memory->count(&request, counted);
}

nd4c_status nd4c_cl_stream_fault(nd4c_stream stream, nd4c_buffer *fault) {
  nd4c_device_memory *counted = NULL;
  nd4c_cl_lock(&stream->lock);
  const bool missing = stream->fault == NULL;
  nd4c_cl_unlock(&stream->lock);
  nd4c_status status = missing ? count_buffer(stream, &counted) : ND4C_OK;
  if (status != ND4C_OK) {
    return status;
  }
  nd4c_cl_lock(&stream->lock);
  if (stream->fault == NULL) {
    status = make_buffer(stream);
    if (status == ND4C_OK) {
      stream->fault_counted = counted;
      counted = NULL;
    }
  }
  *fault = stream->fault;
  nd4c_cl_unlock(&stream->lock);
  nd4c_cl_host->device_memory->give(counted);
  return status;
}

static nd4c_status read_and_reset(nd4c_stream stream, nd4c_fence fence) {
  nd4c_status status = place_barrier(stream);
  if (status != ND4C_OK) {
    return status;
  }
  cl_int code = nd4c_cl.clEnqueueReadBuffer(stream->queue, stream->fault->memory, 0, 0, sizeof fence->fault,
                                            fence->fault, 0, NULL, &fence->fault_read);
  if (code != CL_SUCCESS) {
    fence->fault_read = NULL;
    return nd4c_cl_fail(stream->device, "clEnqueueReadBuffer", code);
  }
  if (fence->fault_read == NULL) {
    (void)nd4c_cl.clFinish(stream->queue);
    return nd4c_cl_fail_nothing(stream->device, "clEnqueueReadBuffer", "no event");
  }
  /* Not by waiting for the read's event: should that fail, the reset need not. */
  status = place_barrier(stream);
  return status == ND4C_OK ? reset(stream) : status;
}

nd4c_status nd4c_cl_fault_collect(nd4c_stream stream, nd4c_fence fence) {
  fence->reset = stream->reset;
  stream->reset = (nd4c_cl_reset){NULL, CL_INVALID_EVENT}; /* for as long as there is no other */
  return read_and_reset(stream, fence);
}

static int64_t from_halves(int32_t low, int32_t high) {
  return (int64_t)((uint64_t)(uint32_t)low | (uint64_t)(uint32_t)high << 32);
}

static nd4c_status fail_index(const struct nd4c_fence_handle *fence) {
  int64_t extent = from_halves(fence->fault[3], fence->fault[4]);
  return nd4c_cl_host->fail(ND4C_INDEX, "%s%s: index %lld is out of range for length %lld: expected %lld to %lld",
                            fence->fault_op, fence->fault_others ? " or an op behind it" : "",
                            (long long)from_halves(fence->fault[1], fence->fault[2]), (long long)extent,
                            (long long)-extent, (long long)(extent - 1));
}

nd4c_status nd4c_cl_fault_outcome(const nd4c_cl_device *device, nd4c_fence fence) {
  const nd4c_cl_entry read = {fence->fault_read, "clEnqueueReadBuffer", "a fault"},
                      cleared = {fence->reset.event, "clEnqueueFillBuffer", "a fault's reset"};
  if (fence->fault_read == NULL) {
    return ND4C_OK;
  }
  cl_int waited = nd4c_cl_event_wait(fence->fault_read);
  nd4c_status status = nd4c_cl_entry_outcome(device, &read);
  if (status != ND4C_OK) {
    return status;
  }
  if (waited != CL_SUCCESS) {
    return nd4c_cl_fail(device, "clWaitForEvents", waited);
  }
  if (fence->fault[0] == 0) {
    return ND4C_OK;
  }
  if (cleared.event == NULL) {
    return nd4c_cl_entry_fail(device, &cleared, fence->reset.code);
  }
  (void)nd4c_cl_event_wait(cleared.event);
  status = nd4c_cl_entry_outcome(device, &cleared);
  return status != ND4C_OK ? status : fail_index(fence);
}

void nd4c_cl_reset_drop(nd4c_cl_reset *dropped) {
  if (dropped->event != NULL) {
    (void)nd4c_cl.clReleaseEvent(dropped->event);
    dropped->event = NULL;
  }
}

void nd4c_cl_fault_free(nd4c_stream stream) {
  if (stream->reset.event != NULL) {
    (void)nd4c_cl_event_wait(stream->reset.event);
    nd4c_cl_reset_drop(&stream->reset);
  }
  if (stream->fault != NULL) {
    nd4c_cl_buffer_end(stream->device, stream->fault);
    stream->fault = NULL;
    nd4c_cl_host->device_memory->give(stream->fault_counted);
    stream->fault_counted = NULL;
  }
}
