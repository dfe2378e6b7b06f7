/* Streams: one thread each, that runs tasks in order and late. Fences: markers in a stream. */
#include <stdio.h>
#include <string.h>

#include "stub.h"

/* Work that failed since a stream's last fence; the fence carries it away. */
typedef struct stub_failure {
  struct stub_failure *next;
  nd4c_status status;
  int64_t point; /* 0: work without a number */
  char text[STUB_TEXT];
} stub_failure;

typedef struct stub_failures {
  stub_failure *first, *last;
  nd4c_status lost; /* one for which there was no memory */
} stub_failures;

/* Shared by its handle and by the queue entries that signal or wait for it. */
struct stub_fence {
  nd4c_host_lock lock;
  nd4c_host_condition changed;
  int32_t references;
  bool ready;
  stub_failures failures;
};

typedef struct stub_entry {
  struct stub_entry *next;
  stub_task task;      /* run NULL: a marker or a wait */
  stub_fence *signals; /* set ready by this entry */
  stub_fence *awaits;  /* waited for by this entry */
  int64_t delay;
} stub_entry;

struct stub_stream {
  nd4c_host_lock lock; /* guards all below */
  nd4c_host_condition changed;
  nd4c_host_thread *thread;
  stub_entry *first, *last;
  bool busy, stop;
  int32_t device;
  stub_failures failures;
  int64_t point; /* of the latest call */
  struct stub_stream *next_stream;
  stub_recording *recording; /* not NULL: submissions go there; only the thread that began it submits then */
};

static nd4c_host_lock streams_lock;
static stub_stream *streams;

/* -- failures ---------------------------------------------------------------------------------------------------- */

static void failures_add(stub_failures *failures, nd4c_status status, int64_t point) {
  stub_failure *made = stub_host->allocate(sizeof *made);
  if (made == NULL) {
    failures->lost = status;
    return;
  }
  made->status = status;
  made->point = point;
  (void)snprintf(made->text, sizeof made->text, "%s", stub_host->error_message());
  *(failures->last != NULL ? &failures->last->next : &failures->first) = made;
  failures->last = made;
}

static void failures_free(stub_failures *failures) {
  for (stub_failure *failure = failures->first, *next = NULL; failure != NULL; failure = next) {
    next = failure->next;
    stub_host->free(failure);
  }
  *failures = (stub_failures){NULL, NULL, ND4C_OK};
}

static nd4c_status failures_tell(const stub_failures *failures, int32_t index, nd4c_failed_range *failed) {
  const stub_failure *failure = failures->first;
  for (; index > 0 && failure != NULL; index--) {
    failure = failure->next;
  }
  if (failure == NULL) {
    return index == 0 && failures->lost != ND4C_OK
               ? stub_host->fail(failures->lost, "stub: work failed, and there was no memory to say which")
               : ND4C_OK;
  }
  if (stub_settings.tells && failure->point > 0) {
    *failed = (nd4c_failed_range){failure->point, failure->point};
  }
  return stub_host->fail(failure->status, "%s", failure->text);
}

/* -- fences ------------------------------------------------------------------------------------------------------ */

static stub_fence *fence_create(void) {
  stub_fence *fence = stub_host->allocate(sizeof *fence);
  if (fence != NULL) {
    fence->references = 1;
    stub_count_add(STUB_COUNT_fences, 1);
  }
  return fence;
}

static void fence_retain(stub_fence *fence) {
  stub_lock(&fence->lock);
  fence->references++;
  stub_unlock(&fence->lock);
}

void stub_fence_release(stub_fence *fence) {
  stub_lock(&fence->lock);
  bool last = --fence->references == 0;
  stub_unlock(&fence->lock);
  if (last) {
    failures_free(&fence->failures);
    stub_host->threads->condition_destroy(&fence->changed);
    stub_host->threads->lock_destroy(&fence->lock);
    stub_host->free(fence);
    stub_count_add(STUB_COUNT_fences, -1);
  }
}

static void fence_signal(stub_fence *fence, stub_failures failures) {
  stub_lock(&fence->lock);
  fence->ready = true;
  fence->failures = failures;
  stub_host->threads->condition_broadcast(&fence->changed);
  stub_unlock(&fence->lock);
}

bool stub_fence_ready(stub_fence *fence) {
  stub_lock(&fence->lock);
  bool ready = fence->ready;
  stub_unlock(&fence->lock);
  return ready;
}

/* Turns of looking again before sleeping: being woken costs tens of microseconds on a virtual machine, and a test makes
 * some hundred thousand short waits. */
enum { LOOKS = 100 };

static void fence_block(stub_fence *fence) {
  for (int look = 0; look < LOOKS && !stub_fence_ready(fence); look++) {
    stub_host->threads->yield();
  }
  stub_lock(&fence->lock);
  while (!fence->ready) {
    stub_host->threads->condition_wait(&fence->changed, &fence->lock);
  }
  stub_unlock(&fence->lock);
}

nd4c_status stub_fence_wait(stub_fence *fence, nd4c_failed_range *failed) {
  fence_block(fence);
  nd4c_failed_range all = {0, 0}, each = {0, 0};
  nd4c_status status = failures_tell(&fence->failures, 0, &all); /* ready fences do not change */
  for (const stub_failure *failure = fence->failures.first; failure != NULL && all.first > 0; failure = failure->next) {
    each.first = failure->point < all.first ? failure->point : all.first;
    each.last = failure->point > all.last ? failure->point : all.last;
    all = failure->point > 0 ? each : (nd4c_failed_range){0, 0};
  }
  *failed = fence->failures.lost == ND4C_OK ? all : (nd4c_failed_range){0, 0};
  return status;
}

nd4c_status stub_fence_failure(const stub_fence *fence, int32_t index, nd4c_failed_range *failed) {
  return failures_tell(&fence->failures, index, failed);
}

/* -- streams ----------------------------------------------------------------------------------------------------- */

static void note_failure(stub_stream *stream, nd4c_status status, int64_t point) {
  stub_lock(&stream->lock);
  failures_add(&stream->failures, status, point);
  stub_unlock(&stream->lock);
}

/* No two calls have one number. */
static void check_point(stub_stream *stream, int64_t point) {
  if (point > 0 && point == stream->point) {
    (void)stub_violation("a number that the call before it has");
  }
  stream->point = point > 0 ? point : stream->point;
}

static void entry_run(stub_stream *stream, stub_entry *entry) {
  stub_host->threads->sleep(1000 * entry->delay);
  if (entry->awaits != NULL) {
    fence_block(entry->awaits);
    stub_fence_release(entry->awaits);
  }
  if (entry->task.run != NULL) {
    check_point(stream, entry->task.point);
    nd4c_status status = entry->task.run(entry->task.work);
    entry->task.dispose(entry->task.work);
    stub_count_add(STUB_COUNT_tasks, 1);
    if (status != ND4C_OK) {
      note_failure(stream, status, entry->task.point);
    }
  }
  if (entry->signals != NULL) {
    stub_lock(&stream->lock);
    const stub_failures failures = stream->failures;
    stream->failures = (stub_failures){NULL, NULL, ND4C_OK};
    stub_unlock(&stream->lock);
    fence_signal(entry->signals, failures);
    stub_fence_release(entry->signals);
  }
}

static nd4c_status stream_loop(void *argument) {
  stub_stream *stream = argument;
  stub_lock(&stream->lock);
  for (;;) {
    for (int look = 0; look < LOOKS && stream->first == NULL && !stream->stop; look++) {
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
    stream->busy = false;
    stub_host->threads->condition_broadcast(&stream->changed);
  }
  stub_unlock(&stream->lock);
  return ND4C_OK; /* failures of the work are told by fences */
}

nd4c_status stub_stream_create(int32_t device, stub_stream **result) {
  stub_stream *stream = stub_host->allocate(sizeof *stream);
  if (stream == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a stream");
  }
  stream->device = device;
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
  *result = stream;
  return ND4C_OK;
}

void stub_stream_destroy(stub_stream *stream) {
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
  failures_free(&stream->failures);
  stub_host->threads->condition_destroy(&stream->changed);
  stub_host->threads->lock_destroy(&stream->lock);
  stub_host->free(stream);
  stub_count_add(STUB_COUNT_streams, -1);
}

static void append(stub_stream *stream, stub_entry *entry) {
  stub_lock(&stream->lock);
  if (stream->last != NULL) {
    stream->last->next = entry;
  } else {
    stream->first = entry;
  }
  stream->last = entry;
  stub_host->threads->condition_broadcast(&stream->changed);
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

nd4c_status stub_stream_begin_recording(stub_stream *stream) {
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

nd4c_status stub_stream_end_recording(stub_stream *stream, stub_recording **recording) {
  stub_lock(&stream->lock);
  *recording = stream->recording;
  stream->recording = NULL;
  stub_unlock(&stream->lock);
  return *recording != NULL ? ND4C_OK : stub_violation("a recording was ended on a stream that is not being recorded");
}

nd4c_status stub_stream_submit_all(stub_stream *stream, const stub_task *tasks, int32_t count, int64_t points) {
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
      append(stream, entry);
    } else {
      stub_host->free(entry);
    }
  }
  return status;
}

nd4c_status stub_stream_submit(stub_stream *stream, stub_task task) {
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
  append(stream, entry);
  return ND4C_OK;
}

nd4c_status stub_stream_wait_fence(stub_stream *stream, stub_fence *fence) {
  stub_recording *recording = recording_of(stream);
  if (recording != NULL) {
    return stub_recording_spoil(recording, "a wait for a fence");
  }
  stub_entry *entry = NULL;
  nd4c_status status = entry_create(&entry);
  if (status == ND4C_OK) {
    fence_retain(fence);
    entry->awaits = fence;
    append(stream, entry);
  }
  return status;
}

nd4c_status stub_fence_record(stub_stream *stream, stub_fence **result) {
  stub_recording *recording = recording_of(stream);
  if (recording != NULL) {
    return stub_recording_spoil(recording, "a fence");
  }
  stub_entry *entry = NULL;
  nd4c_status status = entry_create(&entry);
  if (status != ND4C_OK) {
    return status;
  }
  stub_fence *fence = fence_create();
  if (fence == NULL) {
    stub_host->free(entry);
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a fence");
  }
  fence_retain(fence);
  entry->signals = fence;
  append(stream, entry);
  *result = fence;
  return ND4C_OK;
}

nd4c_status stub_synchronize(int32_t device) {
  nd4c_status status = ND4C_OK;
  char text[STUB_TEXT] = "";
  /* Streams are not destroyed while their device is synchronized: the caller's business, as with any handle. */
  stub_lock(&streams_lock);
  for (stub_stream *stream = streams; stream != NULL; stream = stream->next_stream) {
    if (stream->device != device) {
      continue;
    }
    stub_lock(&stream->lock);
    while (stream->first != NULL || stream->busy) {
      stub_host->threads->condition_wait(&stream->changed, &stream->lock);
    }
    nd4c_failed_range unused;
    nd4c_status told = failures_tell(&stream->failures, 0, &unused);
    if (status == ND4C_OK && told != ND4C_OK) {
      status = told;
      (void)snprintf(text, sizeof text, "%s", stub_host->error_message());
    }
    failures_free(&stream->failures);
    stub_unlock(&stream->lock);
  }
  stub_unlock(&streams_lock);
  return status == ND4C_OK ? ND4C_OK : stub_host->fail(status, "%s", text);
}
