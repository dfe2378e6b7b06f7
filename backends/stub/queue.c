/* Streams: each has a thread that runs tasks in order, with a delay. kernels.c, compiler.c, device.c and collective.c
 * submit tasks. */
#include <stdio.h>
#include <string.h>

#include "fence.h"

enum { SLOW_NANOSECONDS = 200000 };

typedef struct stub_entry {
  struct stub_entry *next;
  stub_task task;      /* run NULL: a marker or a wait */
  stub_fence *signals; /* set ready by this entry */
  stub_fence *awaits;  /* waited for by this entry */
  stub_stream *handle; /* by which it was submitted */
  stub_timing *timing; /* that the task belongs to */
  int64_t delay;
  int64_t gate; /* the pause that holds it; 0: none */
} stub_entry;

struct stub_stream {
  stub_stream *wraps;  /* not NULL: this is only a further handle of that stream */
  nd4c_host_lock lock; /* guards all below */
  nd4c_host_condition changed;
  nd4c_host_thread *thread;
  stub_entry *first, *last;
  bool busy, stop;
  bool finishing;         /* the last task has run and its fence is about to be signalled: no pause holds it */
  int64_t appended, done; /* entries */
  int32_t device, priority;
  int32_t references;     /* under streams_lock */
  int64_t leaving;        /* bytes of buffers that the stream has still to free */
  stub_failures failures; /* of work that was submitted through this handle */
  int64_t point;          /* of the latest call through this handle */
  struct stub_stream *next_stream;
  stub_timing *timing;       /* not NULL: tasks belong to it */
  stub_recording *recording; /* not NULL: submissions go there; only the thread that began it submits */
};

static nd4c_host_lock streams_lock;
static stub_stream *streams;

/* The stream behind a handle. */
static stub_stream *stream_of(stub_stream *handle) {
  return handle != NULL && handle->wraps != NULL ? handle->wraps : handle;
}

void *stub_stream_native(stub_stream *handle) {
  return stream_of(handle);
}

/* -- streams ----------------------------------------------------------------------------------------------------- */

static void note_failure(stub_stream *stream, stub_stream *handle, nd4c_status status, int64_t point) {
  stub_lock(&stream->lock);
  stub_failures_add(&handle->failures, status, point);
  stub_unlock(&stream->lock);
}

/* No two calls have one number. */
static void check_point(stub_stream *handle, int64_t point) {
  if (point > 0 && point == handle->point) {
    (void)stub_violation("a number that the call before it has");
  }
  handle->point = point > 0 ? point : handle->point;
}

static void entry_run(stub_stream *stream, stub_entry *entry) {
  stub_gate_pass(entry->gate);
  if (stub_settings.slow) {
    stub_host->threads->sleep(SLOW_NANOSECONDS);
  }
  stub_host->threads->sleep(1000 * entry->delay);
  if (entry->awaits != NULL) {
    stub_fence_block(entry->awaits);
    stub_fence_release(entry->awaits);
  }
  if (entry->task.run != NULL) {
    const int64_t begun = entry->timing != NULL ? stub_host->threads->nanoseconds() : 0;
    check_point(entry->handle, entry->task.point);
    nd4c_status status = entry->task.run(entry->task.work);
    if (entry->timing != NULL) {
      stub_timing_done(entry->timing, begun, stub_host->threads->nanoseconds(), status != ND4C_OK);
    }
    entry->task.dispose(entry->task.work);
    stub_count_add(STUB_COUNT_tasks, 1);
    if (status != ND4C_OK) {
      note_failure(stream, entry->handle, status, entry->task.point);
    }
  }
  if (entry->signals != NULL) {
    stub_lock(&stream->lock);
    stream->finishing = true;
    const stub_failures failures = entry->handle->failures;
    entry->handle->failures = (stub_failures){NULL, NULL, ND4C_OK};
    stub_unlock(&stream->lock);
    stub_fence_signal(entry->signals, failures);
    stub_fence_release(entry->signals);
  }
}

static nd4c_status stream_loop(void *argument) {
  stub_stream *stream = argument;
  stub_lock(&stream->lock);
  for (;;) {
    const int64_t until = stub_host->threads->nanoseconds() + STUB_LOOK_NANOSECONDS;
    while (stream->first == NULL && !stream->stop && stub_host->threads->nanoseconds() < until) {
      stub_unlock(&stream->lock);
      stub_host->threads->yield();
      stub_lock(&stream->lock);
    }
    while (stream->first == NULL && !stream->stop) {
      stub_host->threads->condition_wait(&stream->changed, &stream->lock);
    }
    stub_entry *entry = stream->first;
    if (entry == NULL) {
      break;
    }
    stream->first = entry->next;
    if (stream->first == NULL) {
      stream->last = NULL;
    }
    stream->busy = true;
    stub_unlock(&stream->lock);
    entry_run(stream, entry);
    stub_host->free(entry);
    stub_lock(&stream->lock);
    stream->busy = stream->finishing = false;
    stream->done++;
    stub_host->threads->condition_broadcast(&stream->changed);
  }
  stub_unlock(&stream->lock);
  return ND4C_OK; /* fences report failures of the work */
}

nd4c_status stub_stream_create(int32_t device, int32_t priority, stub_stream **result) {
  stub_stream *stream = stub_host->allocate(sizeof *stream);
  if (stream == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a stream");
  }
  stream->device = device;
  stream->priority = priority;
  stream->references = 1;
  nd4c_status status = stub_host->threads->thread_start("stub stream", 0, stream_loop, stream, &stream->thread);
  if (status != ND4C_OK) {
    stub_host->free(stream);
    return status;
  }
  stub_lock(&streams_lock);
  stream->next_stream = streams;
  streams = stream;
  stub_unlock(&streams_lock);
  stub_count_add(STUB_COUNT_streams, 1);
  stub_count_add(STUB_COUNT_priorities, priority);
  *result = stream;
  return ND4C_OK;
}

/* Waits until nothing is enqueued. The stream's lock is held. */
static void wait_until_idle(stub_stream *stream) {
  if (stream->first != NULL || (stream->busy && !stream->finishing)) {
    stub_gate_host_waits();
  }
  while (stream->first != NULL || stream->busy) {
    stub_host->threads->condition_wait(&stream->changed, &stream->lock);
  }
}

static void stream_settle(stub_stream *stream) {
  stub_lock(&stream->lock);
  wait_until_idle(stream);
  stub_unlock(&stream->lock);
}

nd4c_status stub_stream_wrap(int32_t device, void *native, stub_stream **result) {
  stub_stream *handle = stub_host->allocate(sizeof *handle);
  if (handle == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a stream");
  }
  stub_lock(&streams_lock);
  stub_stream *stream = streams;
  while (stream != NULL && ((void *)stream != native || stream->device != device)) {
    stream = stream->next_stream;
  }
  if (stream != NULL) {
    stream->references++;
  }
  stub_unlock(&streams_lock);
  if (stream == NULL) {
    stub_host->free(handle);
    return stub_host->fail(ND4C_ARGUMENT, "stub:%d: %p is no stream of this device", device, native);
  }
  handle->wraps = stream;
  stub_count_add(STUB_COUNT_wrapped, 1);
  *result = handle;
  return ND4C_OK;
}

static bool drop_reference(stub_stream *stream) {
  stub_lock(&streams_lock);
  const bool last = --stream->references == 0;
  stub_unlock(&streams_lock);
  return last;
}

/* The lie "drops": a broken backend that drops the work of a destroyed stream. */
static void drop_work(stub_stream *stream) {
  stub_lock(&stream->lock);
  stub_entry *entry = stream->first;
  stream->first = stream->last = NULL;
  stub_unlock(&stream->lock);
  while (entry != NULL) {
    stub_entry *next = entry->next;
    if (entry->task.run != NULL) {
      entry->task.dispose(entry->task.work);
    }
    stub_host->free(entry);
    entry = next;
  }
}

void stub_stream_destroy(stub_stream *handle) {
  stub_stream *stream = stream_of(handle);
  if (stub_lies("drops")) {
    drop_work(stream);
  }
  stream_settle(stream); /* what the handle submitted refers to it */
  if (handle != stream) {
    stub_failures_free(&handle->failures);
    stub_host->free(handle);
    stub_count_add(STUB_COUNT_wrapped, -1);
  }
  if (!drop_reference(stream)) {
    return;
  }
  stub_lock(&streams_lock);
  stub_stream **link = &streams;
  while (*link != stream) {
    link = &(*link)->next_stream;
  }
  *link = stream->next_stream;
  stub_unlock(&streams_lock);
  stub_lock(&stream->lock);
  stream->stop = true;
  stub_host->threads->condition_broadcast(&stream->changed);
  stub_unlock(&stream->lock);
  (void)stub_host->threads->thread_join(stream->thread);
  stub_failures_free(&stream->failures);
  stub_host->threads->condition_destroy(&stream->changed);
  stub_host->threads->lock_destroy(&stream->lock);
  stub_count_add(STUB_COUNT_priorities, -stream->priority);
  stub_host->free(stream);
  stub_count_add(STUB_COUNT_streams, -1);
}

/* Appends an entry for a handle, which gets the failures of the entry. */
static void append(stub_stream *handle, stub_entry *entry) {
  stub_stream *stream = stream_of(handle);
  entry->handle = handle;
  entry->gate = stub_gate_number();
  stub_lock(&stream->lock);
  if (stream->timing != NULL && entry->task.run != NULL) {
    entry->timing = stub_timing_add(stream->timing);
  }
  if (stream->last != NULL) {
    stream->last->next = entry;
  } else {
    stream->first = entry;
  }
  stream->last = entry;
  stub_host->threads->condition_broadcast(&stream->changed);
  const int64_t number = ++stream->appended;
  while (stub_settings.swift && stub_gate_is_open() && stream->done < number) {
    stub_host->threads->condition_wait(&stream->changed, &stream->lock);
  }
  stub_unlock(&stream->lock);
}

static nd4c_status entry_create(stub_entry **entry) {
  *entry = stub_host->allocate(sizeof **entry);
  return *entry != NULL ? ND4C_OK : stub_host->fail(ND4C_MEMORY, "stub: no memory for a queue entry");
}

static stub_recording *recording_of(stub_stream *stream) {
  stub_lock(&stream->lock);
  stub_recording *recording = stream->recording;
  stub_unlock(&stream->lock);
  return recording;
}

nd4c_status stub_stream_begin_timing(stub_stream *handle, stub_timing *timing) {
  stub_stream *stream = stream_of(handle);
  stub_lock(&stream->lock);
  const bool timed = stream->timing != NULL;
  stream->timing = timed ? stream->timing : timing;
  stub_unlock(&stream->lock);
  return timed ? stub_host->fail(ND4C_UNSUPPORTED, "stub: the stream is timed already") : ND4C_OK;
}

stub_timing *stub_stream_end_timing(stub_stream *handle) {
  stub_stream *stream = stream_of(handle);
  stub_lock(&stream->lock);
  stub_timing *timing = stream->timing;
  stream->timing = NULL;
  stub_unlock(&stream->lock);
  return timing;
}

nd4c_status stub_stream_begin_recording(stub_stream *handle) {
  stub_stream *stream = stream_of(handle);
  stub_recording *recording = NULL;
  if (recording_of(stream) != NULL) {
    return stub_violation("a recording was begun on a stream that is being recorded");
  }
  nd4c_status status = stub_recording_create(&recording);
  stub_lock(&stream->lock);
  stream->recording = recording;
  stub_unlock(&stream->lock);
  return status;
}

nd4c_status stub_stream_end_recording(stub_stream *handle, stub_recording **recording) {
  stub_stream *stream = stream_of(handle);
  stub_lock(&stream->lock);
  *recording = stream->recording;
  stream->recording = NULL;
  stub_unlock(&stream->lock);
  return *recording != NULL ? ND4C_OK : stub_violation("a recording was ended on a stream that is not being recorded");
}

nd4c_status stub_stream_submit_all(stub_stream *handle, const stub_task *tasks, int32_t count, int64_t points) {
  stub_stream *stream = stream_of(handle);
  stub_recording *recording = recording_of(stream);
  stub_entry *first = NULL, **link = &first;
  nd4c_status status = recording != NULL ? stub_recording_spoil(recording, "a launch") : ND4C_OK;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    status = entry_create(link);
    if (status == ND4C_OK) {
      (*link)->task = tasks[i];
      (*link)->task.point += tasks[i].point > 0 ? points : 0;
      (*link)->delay = stub_delay();
      link = &(*link)->next;
    }
  }
  for (int32_t i = 0; i < count && status != ND4C_OK; i++) {
    tasks[i].dispose(tasks[i].work);
  }
  for (stub_entry *entry = first, *next = NULL; entry != NULL; entry = next) {
    next = entry->next;
    entry->next = NULL;
    if (status == ND4C_OK) {
      append(handle, entry);
    } else {
      stub_host->free(entry);
    }
  }
  return status;
}

nd4c_status stub_stream_submit(stub_stream *handle, stub_task task) {
  stub_stream *stream = stream_of(handle);
  if (stream == NULL) {
    nd4c_status status = task.run(task.work);
    task.dispose(task.work);
    stub_count_add(STUB_COUNT_tasks, 1);
    return status;
  }
  stub_recording *recording = recording_of(stream);
  if (recording != NULL) {
    return stub_recording_add(recording, task);
  }
  stub_entry *entry = NULL;
  nd4c_status status = entry_create(&entry);
  if (status != ND4C_OK) {
    task.dispose(task.work);
    return status;
  }
  entry->task = task;
  entry->delay = stub_delay();
  append(handle, entry);
  return ND4C_OK;
}

nd4c_status stub_stream_wait_fence(stub_stream *handle, stub_fence *fence, int32_t device) {
  stub_stream *stream = stream_of(handle);
  if (fence->device != device) {
    return stub_violation("a wait for a fence that another device's stream recorded");
  }
  stub_recording *recording = recording_of(stream);
  if (recording != NULL) {
    return stub_recording_spoil(recording, "a wait for a fence");
  }
  stub_entry *entry = NULL;
  nd4c_status status = entry_create(&entry);
  if (status == ND4C_OK) {
    stub_fence_retain(fence);
    entry->awaits = fence;
    append(handle, entry);
  }
  return status;
}

nd4c_status stub_fence_record(stub_stream *handle, stub_fence **result) {
  stub_stream *stream = stream_of(handle);
  stub_recording *recording = recording_of(stream);
  if (recording != NULL) {
    return stub_recording_spoil(recording, "a fence");
  }
  stub_entry *entry = NULL;
  nd4c_status status = entry_create(&entry);
  if (status != ND4C_OK) {
    return status;
  }
  stub_fence *fence = stub_fence_create(stream->device);
  if (fence == NULL) {
    stub_host->free(entry);
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a fence");
  }
  stub_fence_retain(fence);
  entry->signals = fence;
  append(handle, entry);
  *result = fence;
  return ND4C_OK;
}

/* -- buffers that end -------------------------------------------------------------------------------------------- */

typedef struct stub_leave {
  stub_stream *stream;
  stub_buffer *buffer; /* one use of it, and its owner's */
} stub_leave;

/* This stream's work on the buffer has ended, so pending work on it must be on another stream. */
static nd4c_status leave_run(void *argument) {
  stub_leave *leave = argument;
  const int64_t bytes = leave->buffer->size;
  stub_buffer_drop(leave->buffer);
  stub_buffer_done(leave->buffer);
  stub_lock(&leave->stream->lock);
  leave->stream->leaving -= bytes;
  stub_unlock(&leave->stream->lock);
  return ND4C_OK;
}

void stub_stream_free(stub_stream *handle, stub_buffer *buffer) {
  stub_stream *stream = stream_of(handle);
  const int64_t bytes = buffer->size;
  stub_leave *leave = stub_host->allocate(sizeof *leave);
  stub_entry *entry = NULL;
  stub_buffer_retire(buffer);
  if (stream->device != buffer->device || recording_of(stream) != NULL) {
    (void)stub_violation("a buffer was freed on a stream of another device, or while that is being recorded");
  }
  stub_lock(&stream->lock);
  stream->leaving += bytes;
  stub_unlock(&stream->lock);
  if (leave == NULL || entry_create(&entry) != ND4C_OK) {
    stub_lock(&stream->lock);
    wait_until_idle(stream);
    stub_unlock(&stream->lock);
    (void)leave_run(&(stub_leave){stream, buffer});
    stub_host->free(leave);
    return;
  }
  *leave = (stub_leave){stream, buffer};
  entry->task = (stub_task){.run = leave_run, .dispose = stub_host->free, .work = leave};
  append(handle, entry);
}

int64_t stub_stream_leaving(stub_stream *handle) {
  stub_stream *stream = stream_of(handle);
  if (stream == NULL) {
    return 0;
  }
  stub_lock(&stream->lock);
  const int64_t bytes = stream->leaving;
  stub_unlock(&stream->lock);
  return bytes;
}

/* -- the device -------------------------------------------------------------------------------------------------- */

nd4c_status stub_synchronize(int32_t device) {
  nd4c_status status = ND4C_OK;
  char text[STUB_TEXT] = "";
  /* The caller ensures that no stream is destroyed while its device is synchronized. */
  stub_lock(&streams_lock);
  for (stub_stream *stream = streams; stream != NULL; stream = stream->next_stream) {
    if (stream->device != device) {
      continue;
    }
    stub_lock(&stream->lock);
    wait_until_idle(stream);
    nd4c_failed_range unused;
    nd4c_status told = stub_failures_tell(&stream->failures, 0, &unused);
    if (status == ND4C_OK && told != ND4C_OK) {
      status = told;
      (void)snprintf(text, sizeof text, "%s", stub_host->error_message());
    }
    stub_failures_free(&stream->failures);
    stub_unlock(&stream->lock);
  }
  stub_unlock(&streams_lock);
  return status == ND4C_OK ? ND4C_OK : stub_host->fail(status, "%s", text);
}

/* -- streams of an application's ----------------------------------------------------------------------------------- */

void *stub_native_create(int32_t device) {
  stub_stream *stream = NULL;
  if (stub_stream_create(device, 0, &stream) == ND4C_OK) {
    stub_count_add(STUB_COUNT_natives, 1);
  }
  return stream;
}

typedef struct native_work {
  int64_t microseconds;
  _Atomic int32_t *place;
  int32_t number;
} native_work;

static nd4c_status native_run(void *argument) {
  const native_work *work = argument;
  stub_host->threads->sleep(1000 * work->microseconds);
  atomic_store(work->place, work->number);
  return ND4C_OK;
}

int32_t stub_native_work(void *native, int64_t microseconds, _Atomic int32_t *place, int32_t number) {
  native_work *work = stub_host->allocate(sizeof *work);
  if (work == NULL) {
    return ND4C_MEMORY;
  }
  *work = (native_work){microseconds, place, number};
  return stub_stream_submit(native, (stub_task){.run = native_run, .dispose = stub_host->free, .work = work});
}

void stub_native_destroy(void *native) {
  stub_stream *stream = native;
  stub_lock(&streams_lock);
  if (stream->references != 1) {
    (void)stub_violation("a stream of the application's is still wrapped where the application destroys it");
  }
  stub_unlock(&streams_lock);
  stub_count_add(STUB_COUNT_natives, -1);
  stub_stream_destroy(stream);
}
