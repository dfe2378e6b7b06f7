/* Streams: each has a command queue and the events of commands that were enqueued since the last fence. launch.c and
 * memory.c enqueue between nd4c_cl_command_begin and _end. */
#include <stdio.h>
#include <string.h>

#include "backends/opencl/runtime/queue.h"

/* Number of kept events at which those of successful commands are released. */
enum { PRUNE_FROM = 64 };

static void release_event(cl_event event) {
  if (event != NULL) {
    (void)nd4c_cl.clReleaseEvent(event);
  }
}

/* The code of clGetEventInfo. */
static cl_int ask_status(cl_event event, cl_int *status) {
  *status = CL_QUEUED;
  cl_int code = nd4c_cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *status, status, NULL);
  *status = code != CL_SUCCESS ? code : *status <= CL_QUEUED ? *status : CL_INVALID_EVENT;
  return code;
}

cl_int nd4c_cl_event_status(cl_event event) {
  cl_int status;
  (void)ask_status(event, &status);
  return status;
}

bool nd4c_cl_event_is_over(cl_event event) {
  cl_int status;
  return ask_status(event, &status) == CL_SUCCESS && status <= CL_COMPLETE;
}

bool nd4c_cl_event_has_failed(cl_event event) {
  cl_int status;
  return ask_status(event, &status) == CL_SUCCESS && status < CL_COMPLETE;
}

cl_int nd4c_cl_event_wait(cl_event event) {
  cl_int code = nd4c_cl.clWaitForEvents(1, &event), status = nd4c_cl_event_status(event);
  for (; status > CL_COMPLETE; status = nd4c_cl_event_status(event)) {
    nd4c_cl_host->threads->sleep(100000);
  }
  return status < CL_COMPLETE ? CL_SUCCESS : code;
}

/* -- order of commands in out-of-order queues ------------------------------------------------------------ */

/* The first code other than success. */
static cl_int finish_queues(nd4c_cl_device *device) {
  cl_int first = CL_SUCCESS;
  nd4c_cl_lock(&device->stream_lock); /* keeps the streams alive */
  for (nd4c_stream stream = device->streams; stream != NULL; stream = stream->next) {
    cl_int code = nd4c_cl.clFinish(stream->queue);
    first = first == CL_SUCCESS ? code : first;
  }
  nd4c_cl_unlock(&device->stream_lock);
  return first;
}

/* A command waits for a write even if the write is done, so that its data are visible. A failed write would pass on its
 * failure, which its own fence reports, so the command does not wait for it. But commands that the failed write waited
 * for may be in flight, and their events are no longer kept: the host waits for those first. */
static void wait_for_write(nd4c_cl_command *command, nd4c_buffer buffer) {
  if (buffer->written != NULL && nd4c_cl_event_has_failed(buffer->written)) {
    (void)finish_queues(command->stream->device); /* the queue's fences report that waiting failed */
    release_event(buffer->written);
    buffer->written = NULL;
  }
  if (buffer->written != NULL) {
    command->waits[command->wait_count++] = buffer->written;
  }
}

/* Waits only for reads in flight: a finished read has no data to make visible. What a failed read waited for is waited
 * for elsewhere. */
static void wait_for_reads(nd4c_cl_command *command, nd4c_buffer buffer) {
  for (int32_t r = 0; r < buffer->read_count; r++) {
    if (!nd4c_cl_event_is_over(buffer->reads[r])) {
      command->waits[command->wait_count++] = buffer->reads[r];
    }
  }
}

/* Reads wait for writes; writes wait for reads and writes. Under the order lock, which keeps the events alive. */
static void collect_waits(nd4c_cl_command *command) {
  for (int32_t i = 0; i < command->use_count; i++) {
    const nd4c_cl_use *use = &command->uses[i];
    wait_for_write(command, use->buffer);
    if (use->access != ND4C_CL_READ) {
      wait_for_reads(command, use->buffer);
    }
  }
  command->wait_list = command->wait_count > 0 ? command->waits : NULL;
}

static void drop_reads(nd4c_buffer buffer) {
  for (int32_t r = 0; r < buffer->read_count; r++) {
    release_event(buffer->reads[r]);
  }
  buffer->read_count = 0;
}

/* Makes room by forgetting finished reads; if there are none, waits for the oldest. */
static void add_read(nd4c_buffer buffer, cl_event event) {
  if (buffer->read_count == ND4C_CL_READS) {
    int32_t kept = 0;
    for (int32_t r = 0; r < buffer->read_count; r++) {
      if (nd4c_cl_event_is_over(buffer->reads[r])) {
        release_event(buffer->reads[r]);
      } else {
        buffer->reads[kept++] = buffer->reads[r];
      }
    }
    buffer->read_count = kept;
  }
  if (buffer->read_count == ND4C_CL_READS) {
    (void)nd4c_cl_event_wait(buffer->reads[0]);
    release_event(buffer->reads[0]);
    memmove(buffer->reads, buffer->reads + 1, (ND4C_CL_READS - 1) * sizeof *buffer->reads);
    buffer->read_count--;
  }
  buffer->reads[buffer->read_count++] = event;
}

static void note_order(nd4c_cl_command *command) {
  for (int32_t i = 0; i < command->use_count; i++) {
    const nd4c_cl_use *use = &command->uses[i];
    if (nd4c_cl.clRetainEvent(command->event) != CL_SUCCESS) {
      (void)nd4c_cl_event_wait(command->event); /* done, it needs no place in the order */
    } else if (use->access == ND4C_CL_READ) {
      add_read(use->buffer, command->event);
    } else {
      drop_reads(use->buffer);
      release_event(use->buffer->written);
      use->buffer->written = command->event;
    }
  }
}

void nd4c_cl_buffer_forget(nd4c_cl_device *device, nd4c_buffer buffer) {
  nd4c_cl_lock(&device->order_lock);
  drop_reads(buffer);
  release_event(buffer->written);
  buffer->written = NULL;
  nd4c_cl_unlock(&device->order_lock);
}

/* -- commands -------------------------------------------------------------------------------------------- */

void nd4c_cl_command_begin(nd4c_cl_command *command, nd4c_stream stream, const char *call, const char *op,
                           int64_t point, int32_t use_count, const nd4c_cl_use *uses) {
  command->stream = stream;
  command->queue = stream->queue;
  command->call = call;
  command->op = op;
  command->point = point;
  command->use_count = use_count;
  command->wait_count = 0;
  command->wait_list = NULL;
  command->event = NULL;
  if (use_count > 0) {
    memcpy(command->uses, uses, (size_t)use_count * sizeof *uses);
  }
  nd4c_cl_lock(&stream->lock);
  for (int32_t i = 0; i < use_count && op != NULL; i++) {
    nd4c_cl_fault_note(stream, uses[i].buffer, op, point);
  }
  if (stream->device->out_of_order) {
    nd4c_cl_lock(&stream->device->order_lock);
    collect_waits(command);
  }
}

/* Releases the events of successful commands; those of failed ones stay for the fence. */
static void prune(nd4c_stream stream) {
  int32_t kept = 0;
  for (int32_t i = 0; i < stream->count; i++) {
    if (nd4c_cl_event_status(stream->entries[i].event) == CL_COMPLETE) {
      release_event(stream->entries[i].event);
    } else {
      stream->entries[kept++] = stream->entries[i];
    }
  }
  stream->count = kept;
}

static bool make_room(nd4c_stream stream) {
  if (stream->count == stream->capacity && stream->count >= PRUNE_FROM) {
    prune(stream);
  }
  if (stream->count < stream->capacity) {
    return true;
  }
  int32_t capacity = stream->capacity == 0 ? 4 : 2 * stream->capacity;
  nd4c_cl_entry *grown = nd4c_cl_host->allocate((size_t)capacity * sizeof *grown);
  if (grown == NULL) {
    return false;
  }
  if (stream->count > 0) {
    memcpy(grown, stream->entries, (size_t)stream->count * sizeof *grown);
  }
  nd4c_cl_host->free(stream->entries);
  stream->entries = grown;
  stream->capacity = capacity;
  return true;
}

nd4c_status nd4c_cl_entry_fail(const nd4c_cl_device *device, const nd4c_cl_entry *entry, cl_int code) {
  char call[128];
  (void)snprintf(call, sizeof call, "%s%s%.60s", entry->call, entry->op != NULL ? " of " : "",
                 entry->op != NULL ? entry->op : "");
  if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE) { /* drivers may allocate only when the command runs */
    return nd4c_cl_host->fail(ND4C_MEMORY, "%s: %s: %d %s", device->name, call, (int)code, nd4c_cl_error_name(code));
  }
  return nd4c_cl_fail(device, call, code);
}

nd4c_status nd4c_cl_entry_outcome(const nd4c_cl_device *device, const nd4c_cl_entry *entry) {
  cl_int status, code = ask_status(entry->event, &status);
  if (code != CL_SUCCESS) {
    char call[128];
    (void)snprintf(call, sizeof call, "clGetEventInfo for %s%s%.60s", entry->call, entry->op != NULL ? " of " : "",
                   entry->op != NULL ? entry->op : "");
    return nd4c_cl_fail(device, call, code);
  }
  return status < CL_COMPLETE ? nd4c_cl_entry_fail(device, entry, status) : ND4C_OK;
}

/* Waits, and gives the outcome of the command. */
static nd4c_status finish_event(const nd4c_cl_command *command) {
  const nd4c_cl_device *device = command->stream->device;
  const nd4c_cl_entry entry = {command->event, command->call, command->op, command->point};
  cl_int code = nd4c_cl_event_wait(command->event);
  nd4c_status status = nd4c_cl_entry_outcome(device, &entry);
  return status != ND4C_OK || code == CL_SUCCESS ? status : nd4c_cl_fail(device, "clWaitForEvents", code);
}

static nd4c_status end(nd4c_cl_command *command, cl_int code, bool keep) {
  nd4c_stream stream = command->stream;
  nd4c_cl_device *device = stream->device;
  nd4c_status status = ND4C_OK;
  if (code != CL_SUCCESS) {
    const nd4c_cl_entry entry = {NULL, command->call, command->op, command->point};
    status = nd4c_cl_entry_fail(device, &entry, code);
  } else if (command->event == NULL) {
    (void)nd4c_cl.clFinish(stream->queue); /* it is in flight and has no event, so the host waits for the queue */
    status = nd4c_cl_fail_nothing(device, command->call, "no event");
  } else if (device->out_of_order) {
    note_order(command);
  }
  if (device->out_of_order) {
    nd4c_cl_unlock(&device->order_lock);
    if (status == ND4C_OK) {
      (void)nd4c_cl.clFlush(stream->queue); /* commands of other queues may wait for it */
    }
  }
  if (status == ND4C_OK && stream->timing != NULL) {
    nd4c_cl_timing_note(stream, command->event);
  }
  if (status == ND4C_OK && keep) {
    if (make_room(stream)) {
      stream->entries[stream->count++] = (nd4c_cl_entry){command->event, command->call, command->op, command->point};
    } else { /* there is no room for its event, so the host waits for it here */
      status = finish_event(command);
      release_event(command->event);
    }
  }
  nd4c_cl_unlock(&stream->lock);
  return status;
}

nd4c_status nd4c_cl_command_end(nd4c_cl_command *command, cl_int code) {
  return end(command, code, true);
}

nd4c_status nd4c_cl_command_end_and_wait(nd4c_cl_command *command, cl_int code) {
  nd4c_status status = end(command, code, false);
  if (status == ND4C_OK) {
    status = finish_event(command);
    release_event(command->event);
  }
  return status;
}

/* -- streams --------------------------------------------------------------------------------------------- */

nd4c_status nd4c_cl_stream_adopt(nd4c_cl_device *device, cl_command_queue queue, nd4c_stream *out) {
  nd4c_stream stream = nd4c_cl_host->allocate(sizeof *stream);
  if (stream == NULL) {
    return nd4c_cl_host->fail(ND4C_MEMORY, "%s: no memory for a stream", device->name);
  }
  stream->queue = queue;
  stream->device = device;
  nd4c_cl_lock(&device->stream_lock);
  stream->next = device->streams;
  device->streams = stream;
  nd4c_cl_unlock(&device->stream_lock);
  *out = stream;
  return ND4C_OK;
}

void nd4c_cl_stream_destroy(void *handle, nd4c_stream stream) {
  nd4c_cl_device *device = handle;
  nd4c_cl_lock(&device->stream_lock);
  nd4c_stream *link = &device->streams;
  while (*link != stream) {
    link = &(*link)->next;
  }
  *link = stream->next;
  nd4c_cl_unlock(&device->stream_lock);
  (void)nd4c_cl.clFinish(stream->queue);
  for (int32_t i = 0; i < stream->count; i++) {
    (void)nd4c_cl_event_wait(stream->entries[i].event); /* should clFinish have failed */
    release_event(stream->entries[i].event);
  }
  nd4c_cl_host->free(stream->entries);
  nd4c_cl_fault_free(stream);
  (void)nd4c_cl.clReleaseCommandQueue(stream->queue);
  nd4c_cl_host->threads->lock_destroy(&stream->lock);
  nd4c_cl_host->free(stream);
}

void *nd4c_cl_stream_native(void *device, nd4c_stream stream) {
  (void)device;
  return stream->queue;
}

nd4c_status nd4c_cl_stream_outcome(nd4c_stream stream, int64_t point) {
  nd4c_status status = ND4C_OK;
  nd4c_cl_lock(&stream->lock);
  for (int32_t i = 0; i < stream->count && status == ND4C_OK; i++) {
    const nd4c_cl_entry *entry = &stream->entries[i];
    status = entry->point == point ? nd4c_cl_entry_outcome(stream->device, entry) : ND4C_OK;
  }
  nd4c_cl_unlock(&stream->lock);
  return status;
}

nd4c_status nd4c_cl_synchronize(void *handle) {
  nd4c_cl_device *device = handle;
  cl_int code = finish_queues(device);
  return code == CL_SUCCESS ? ND4C_OK : nd4c_cl_fail(device, "clFinish", code);
}
