/* Fault buffers, to which kernels write the first index out of range. launch.c takes one for a launch; a fence reads
 * and resets them. A value is valid only if the previous reset succeeded; otherwise it may be from an op before that
 * fence. */
#include "backends/opencl/runtime/queue.h"

#define FAULT_BYTES (ND4C_CL_FAULT_WORDS * (int64_t)sizeof(int32_t))

/* Enqueues a barrier between earlier and later commands. Under the stream's lock. */
static nd4c_status place_barrier(nd4c_stream stream) {
  cl_int code =
      stream->device->out_of_order ? nd4c_cl.clEnqueueBarrierWithWaitList(stream->queue, 0, NULL, NULL) : CL_SUCCESS;
  return code == CL_SUCCESS ? ND4C_OK : nd4c_cl_fail(stream->device, "clEnqueueBarrierWithWaitList", code);
}

/* Enqueues zeros. Under the stream's lock. */
static nd4c_status reset(nd4c_stream stream, nd4c_cl_fault *fault) {
  static const int32_t none = 0;
  nd4c_cl_reset *made = &fault->reset;
  made->code = nd4c_cl.clEnqueueFillBuffer(stream->queue, fault->buffer->memory, &none, sizeof none, 0,
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
  return ND4C_OK;
}

static void drop_reset(nd4c_cl_reset *dropped) {
  if (dropped->event != NULL) {
    (void)nd4c_cl.clReleaseEvent(dropped->event);
    dropped->event = NULL;
  }
}

static void free_fault(nd4c_stream stream, nd4c_cl_fault *fault) {
  if (fault->reset.event != NULL) {
    (void)nd4c_cl_event_wait(fault->reset.event);
    drop_reset(&fault->reset);
  }
  if (fault->buffer != NULL) {
    nd4c_cl_buffer_end(stream->device, fault->buffer);
  }
  *fault = (nd4c_cl_fault){.buffer = NULL};
}

static nd4c_status make_buffer(nd4c_stream stream, nd4c_cl_fault *fault) {
  nd4c_status status = nd4c_cl_buffer_make(stream->device, FAULT_BYTES, &fault->buffer);
  if (status != ND4C_OK) {
    fault->buffer = NULL;
    return status;
  }
  status = reset(stream, fault);
  status = status == ND4C_OK ? place_barrier(stream) : status;
  if (status != ND4C_OK) {
    free_fault(stream, fault);
  }
  return status;
}

/* -- launches ------------------------------------------------------------------------------------------------------ */

static bool is_free(const nd4c_cl_fault *fault) {
  return fault->promised == 0 && fault->suspects.op == NULL;
}

/* Counts the memory of all buffers that the stream may make, once. Not under the stream's lock, because nd4c may have
 * to make room. */
static nd4c_status count_buffers(nd4c_stream stream) {
  const nd4c_device_memory_request request = {.struct_size = ND4C_SIZE_OF(nd4c_device_memory_request),
                                              .backend = "opencl",
                                              .device = stream->device,
                                              .bytes = ND4C_CL_FAULTS * FAULT_BYTES,
                                              .origin = "a stream's fault buffers"};
  nd4c_device_memory *counted = NULL;
  nd4c_cl_lock(&stream->lock);
  const bool missing = stream->fault_counted == NULL;
  nd4c_cl_unlock(&stream->lock);
  nd4c_status status = missing ? nd4c_cl_host->device_memory->count(&request, &counted) : ND4C_OK;
  nd4c_cl_lock(&stream->lock);
  if (stream->fault_counted == NULL) {
    stream->fault_counted = counted;
    counted = NULL;
  }
  nd4c_cl_unlock(&stream->lock);
  nd4c_cl_host->device_memory->give(counted);
  return status;
}

nd4c_status nd4c_cl_stream_fault(nd4c_stream stream, nd4c_buffer *buffer) {
  nd4c_cl_fault *fault = stream->faults, *last = &stream->faults[ND4C_CL_FAULTS - 1];
  nd4c_status counted = count_buffers(stream);
  if (counted != ND4C_OK) {
    return counted;
  }
  nd4c_cl_lock(&stream->lock);
  while (fault < last && !is_free(fault)) {
    fault++;
  }
  nd4c_status status = fault->buffer == NULL ? make_buffer(stream, fault) : ND4C_OK;
  fault->promised += status == ND4C_OK;
  *buffer = fault->buffer;
  nd4c_cl_unlock(&stream->lock);
  return status;
}

/* NULL: it is another buffer. Under the stream's lock. */
static nd4c_cl_fault *find(nd4c_stream stream, nd4c_buffer buffer) {
  for (int32_t i = 0; i < ND4C_CL_FAULTS && stream->faults[i].buffer != NULL; i++) {
    if (stream->faults[i].buffer == buffer) {
      return &stream->faults[i];
    }
  }
  return NULL;
}

void nd4c_cl_stream_return_fault(nd4c_stream stream, nd4c_buffer buffer) {
  nd4c_cl_lock(&stream->lock);
  find(stream, buffer)->promised--;
  nd4c_cl_unlock(&stream->lock);
}

void nd4c_cl_fault_note(nd4c_stream stream, nd4c_buffer buffer, const char *op, int64_t point) {
  nd4c_cl_fault *fault = find(stream, buffer);
  if (fault == NULL) {
    return;
  }
  nd4c_cl_suspects *suspects = &fault->suspects;
  const bool first = suspects->op == NULL;
  nd4c_failed_range *points = &suspects->points;
  fault->promised--;
  suspects->others = suspects->others || (!first && suspects->op != op);
  suspects->op = first ? op : suspects->op;
  points->first = first || point < points->first ? point : points->first;
  points->last = point > points->last ? point : points->last;
}

/* -- fences -------------------------------------------------------------------------------------------------------- */

/* Enqueues the read of a buffer. A failure changes nothing. */
static nd4c_status read_words(nd4c_stream stream, nd4c_cl_fault *fault) {
  nd4c_cl_reading *reading = nd4c_cl_host->allocate(sizeof *reading);
  if (reading == NULL) {
    return nd4c_cl_host->fail(ND4C_MEMORY, "%s: no memory for a fence", stream->device->name);
  }
  cl_int code = nd4c_cl.clEnqueueReadBuffer(stream->queue, fault->buffer->memory, 0, 0, sizeof reading->words,
                                            reading->words, 0, NULL, &reading->event);
  if (code != CL_SUCCESS || reading->event == NULL) {
    (void)(code == CL_SUCCESS ? nd4c_cl.clFinish(stream->queue) : CL_SUCCESS); /* it may be in flight */
    nd4c_cl_host->free(reading);
    return code != CL_SUCCESS ? nd4c_cl_fail(stream->device, "clEnqueueReadBuffer", code)
                              : nd4c_cl_fail_nothing(stream->device, "clEnqueueReadBuffer", "no event");
  }
  reading->suspects = fault->suspects;
  reading->reset = fault->reset;
  fault->reset = (nd4c_cl_reset){NULL, CL_INVALID_EVENT}; /* for as long as there is no other */
  reading->next = stream->readings;
  stream->readings = reading;
  return ND4C_OK;
}

nd4c_status nd4c_cl_fault_collect(nd4c_stream stream) {
  nd4c_cl_fault *used[ND4C_CL_FAULTS];
  int32_t count = 0;
  for (int32_t i = 0; i < ND4C_CL_FAULTS; i++) {
    if (stream->faults[i].suspects.op != NULL) {
      used[count++] = &stream->faults[i];
    }
  }
  if (count == 0) {
    return ND4C_OK;
  }
  nd4c_status status = place_barrier(stream);
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    status = read_words(stream, used[i]);
  }
  /* A barrier instead of waiting for the reads' events, because a failed read must not make the resets fail. */
  status = status == ND4C_OK ? place_barrier(stream) : status;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    status = reset(stream, used[i]);
  }
  return status == ND4C_OK ? place_barrier(stream) : status;
}

void nd4c_cl_fault_hand_over(nd4c_stream stream, nd4c_fence fence) {
  fence->readings = stream->readings;
  stream->readings = NULL;
  for (int32_t i = 0; i < ND4C_CL_FAULTS; i++) {
    stream->faults[i].suspects = (nd4c_cl_suspects){.op = NULL};
  }
}

void nd4c_cl_reading_wait(nd4c_cl_reading *reading) {
  reading->waited = nd4c_cl_event_wait(reading->event);
  if (reading->words[0] != 0 && reading->reset.event != NULL) {
    (void)nd4c_cl_event_wait(reading->reset.event);
  }
}

void nd4c_cl_readings_drop(nd4c_cl_reading *readings) {
  while (readings != NULL) {
    nd4c_cl_reading *next = readings->next;
    drop_reset(&readings->reset);
    if (nd4c_cl_event_status(readings->event) > CL_COMPLETE) {
      (void)nd4c_cl_event_wait(readings->event);
    }
    (void)nd4c_cl.clReleaseEvent(readings->event);
    nd4c_cl_host->free(readings);
    readings = next;
  }
}

static int64_t from_halves(int32_t low, int32_t high) {
  return (int64_t)((uint64_t)(uint32_t)low | (uint64_t)(uint32_t)high << 32);
}

static nd4c_status fail_index(const nd4c_cl_reading *reading) {
  const int32_t *words = reading->words;
  int64_t extent = from_halves(words[3], words[4]);
  return nd4c_cl_host->fail(ND4C_INDEX, "%s%s: index %lld is out of range for length %lld: expected %lld to %lld",
                            reading->suspects.op, reading->suspects.others ? " or an op behind it" : "",
                            (long long)from_halves(words[1], words[2]), (long long)extent, (long long)-extent,
                            (long long)(extent - 1));
}

nd4c_status nd4c_cl_reading_outcome(const nd4c_cl_device *device, const nd4c_cl_reading *reading) {
  const nd4c_cl_entry read = {reading->event, "clEnqueueReadBuffer", "a fault", 0},
                      cleared = {reading->reset.event, "clEnqueueFillBuffer", "a fault's reset", 0};
  ND4C_BACKEND_TRY(nd4c_cl_entry_outcome(device, &read));
  if (reading->waited != CL_SUCCESS) {
    return nd4c_cl_fail(device, "clWaitForEvents", reading->waited);
  }
  if (reading->words[0] == 0) {
    return ND4C_OK;
  }
  if (cleared.event == NULL) {
    return nd4c_cl_entry_fail(device, &cleared, reading->reset.code);
  }
  nd4c_status status = nd4c_cl_entry_outcome(device, &cleared);
  return status != ND4C_OK ? status : fail_index(reading);
}

void nd4c_cl_fault_free(nd4c_stream stream) {
  nd4c_cl_readings_drop(stream->readings);
  for (int32_t i = 0; i < ND4C_CL_FAULTS; i++) {
    free_fault(stream, &stream->faults[i]);
  }
  nd4c_cl_host->device_memory->give(stream->fault_counted);
  stream->fault_counted = NULL;
}
