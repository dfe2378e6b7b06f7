/* Streams: one thread each, that runs tasks in order and late. Fences: markers in a stream. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "stub.h"

/* Shared by its handle and by the queue entries that signal or wait for it. */
struct stub_fence {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int32_t references;
  bool ready;
  nd4c_status status;
  char text[STUB_TEXT];
};

typedef struct stub_entry {
  struct stub_entry *next;
  stub_task task;      /* run NULL: a marker or a wait */
  stub_fence *signals; /* set ready by this entry */
  stub_fence *awaits;  /* waited for by this entry */
  int64_t delay;
} stub_entry;

struct stub_stream {
  pthread_mutex_t lock; /* guards all below */
  pthread_cond_t changed;
  pthread_t thread;
  stub_entry *first, *last;
  bool busy, stop;
  int32_t device;
  /* First failure since the last fence; a fence carries it away. */
  nd4c_status status;
  char text[STUB_TEXT];
  struct stub_stream *next_stream;
};

static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;
static stub_stream *streams;

static void sleep_microseconds(int64_t microseconds) {
  if (microseconds > 0) {
    struct timespec time = {.tv_sec = (time_t)(microseconds / 1000000), .tv_nsec = (microseconds % 1000000) * 1000};
    (void)nanosleep(&time, NULL);
  }
}

/* -- fences ------------------------------------------------------------------------------------------------------ */

static stub_fence *fence_create(void) {
  stub_fence *fence = stub_host->allocate(sizeof *fence);
  if (fence != NULL) {
    fence->references = 1;
    pthread_mutex_init(&fence->lock, NULL);
    pthread_cond_init(&fence->changed, NULL);
    stub_count_add(STUB_COUNT_fences, 1);
  }
  return fence;
}

static void fence_retain(stub_fence *fence) {
  pthread_mutex_lock(&fence->lock);
  fence->references++;
  pthread_mutex_unlock(&fence->lock);
}

void stub_fence_release(stub_fence *fence) {
  pthread_mutex_lock(&fence->lock);
  bool last = --fence->references == 0;
  pthread_mutex_unlock(&fence->lock);
  if (last) {
    pthread_cond_destroy(&fence->changed);
    pthread_mutex_destroy(&fence->lock);
    stub_host->free(fence);
    stub_count_add(STUB_COUNT_fences, -1);
  }
}

static void fence_signal(stub_fence *fence, nd4c_status status, const char *text) {
  pthread_mutex_lock(&fence->lock);
  fence->ready = true;
  fence->status = status;
  (void)snprintf(fence->text, sizeof fence->text, "%s", text);
  pthread_cond_broadcast(&fence->changed);
  pthread_mutex_unlock(&fence->lock);
}

bool stub_fence_ready(stub_fence *fence) {
  pthread_mutex_lock(&fence->lock);
  bool ready = fence->ready;
  pthread_mutex_unlock(&fence->lock);
  return ready;
}

/* Turns of looking again before sleeping: being woken costs tens of microseconds on a virtual machine, and a test makes
 * some hundred thousand short waits. */
enum { LOOKS = 100 };

static void fence_block(stub_fence *fence) {
  for (int look = 0; look < LOOKS && !stub_fence_ready(fence); look++) {
    (void)sched_yield();
  }
  pthread_mutex_lock(&fence->lock);
  while (!fence->ready) {
    pthread_cond_wait(&fence->changed, &fence->lock);
  }
  pthread_mutex_unlock(&fence->lock);
}

nd4c_status stub_fence_wait(stub_fence *fence) {
  fence_block(fence);
  /* Ready fences do not change. */
  return fence->status == ND4C_OK ? ND4C_OK : stub_host->fail(fence->status, "%s", fence->text);
}

/* -- streams ----------------------------------------------------------------------------------------------------- */

static void entry_run(stub_stream *stream, stub_entry *entry) {
  sleep_microseconds(entry->delay);
  if (entry->awaits != NULL) {
    fence_block(entry->awaits);
    stub_fence_release(entry->awaits);
  }
  if (entry->task.run != NULL) {
    nd4c_status status = entry->task.run(entry->task.work);
    entry->task.dispose(entry->task.work);
    stub_count_add(STUB_COUNT_tasks, 1);
    if (status != ND4C_OK) {
      pthread_mutex_lock(&stream->lock);
      if (stream->status == ND4C_OK) {
        stream->status = status;
        (void)snprintf(stream->text, sizeof stream->text, "%s", stub_host->error_message());
      }
      pthread_mutex_unlock(&stream->lock);
    }
  }
  if (entry->signals != NULL) {
    pthread_mutex_lock(&stream->lock);
    nd4c_status status = stream->status;
    stream->status = ND4C_OK;
    pthread_mutex_unlock(&stream->lock);
    /* Only this thread writes the text. */
    fence_signal(entry->signals, status, status == ND4C_OK ? "" : stream->text);
    stub_fence_release(entry->signals);
  }
}

static void *stream_loop(void *argument) {
  stub_stream *stream = argument;
  pthread_mutex_lock(&stream->lock);
  for (;;) {
    for (int look = 0; look < LOOKS && stream->first == NULL && !stream->stop; look++) {
      pthread_mutex_unlock(&stream->lock);
      (void)sched_yield();
      pthread_mutex_lock(&stream->lock);
    }
    while (stream->first == NULL && !stream->stop) {
      pthread_cond_wait(&stream->changed, &stream->lock);
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
    pthread_mutex_unlock(&stream->lock);
    entry_run(stream, entry);
    stub_host->free(entry);
    pthread_mutex_lock(&stream->lock);
    stream->busy = false;
    pthread_cond_broadcast(&stream->changed);
  }
  pthread_mutex_unlock(&stream->lock);
  return NULL;
}

nd4c_status stub_stream_create(int32_t device, stub_stream **result) {
  stub_stream *stream = stub_host->allocate(sizeof *stream);
  if (stream == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a stream");
  }
  stream->device = device;
  pthread_mutex_init(&stream->lock, NULL);
  pthread_cond_init(&stream->changed, NULL);
  if (pthread_create(&stream->thread, NULL, stream_loop, stream) != 0) {
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->lock);
    stub_host->free(stream);
    return stub_host->fail(ND4C_DEVICE, "stub: no thread for a stream");
  }
  pthread_mutex_lock(&streams_lock);
  stream->next_stream = streams;
  streams = stream;
  pthread_mutex_unlock(&streams_lock);
  stub_count_add(STUB_COUNT_streams, 1);
  *result = stream;
  return ND4C_OK;
}

void stub_stream_destroy(stub_stream *stream) {
  pthread_mutex_lock(&streams_lock);
  stub_stream **link = &streams;
  while (*link != stream) {
    link = &(*link)->next_stream;
  }
  *link = stream->next_stream;
  pthread_mutex_unlock(&streams_lock);
  pthread_mutex_lock(&stream->lock);
  stream->stop = true;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->lock);
  (void)pthread_join(stream->thread, NULL);
  pthread_cond_destroy(&stream->changed);
  pthread_mutex_destroy(&stream->lock);
  stub_host->free(stream);
  stub_count_add(STUB_COUNT_streams, -1);
}

static void append(stub_stream *stream, stub_entry *entry) {
  pthread_mutex_lock(&stream->lock);
  if (stream->last != NULL) {
    stream->last->next = entry;
  } else {
    stream->first = entry;
  }
  stream->last = entry;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->lock);
}

static nd4c_status entry_create(stub_entry **entry) {
  *entry = stub_host->allocate(sizeof **entry);
  return *entry != NULL ? ND4C_OK : stub_host->fail(ND4C_MEMORY, "stub: no memory for a queue entry");
}

nd4c_status stub_stream_submit(stub_stream *stream, stub_task task) {
  if (stream == NULL) {
    nd4c_status status = task.run(task.work);
    task.dispose(task.work);
    stub_count_add(STUB_COUNT_tasks, 1);
    return status;
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
  pthread_mutex_lock(&streams_lock);
  for (stub_stream *stream = streams; stream != NULL; stream = stream->next_stream) {
    if (stream->device != device) {
      continue;
    }
    pthread_mutex_lock(&stream->lock);
    while (stream->first != NULL || stream->busy) {
      pthread_cond_wait(&stream->changed, &stream->lock);
    }
    if (status == ND4C_OK && stream->status != ND4C_OK) {
      status = stream->status;
      memcpy(text, stream->text, sizeof text);
    }
    stream->status = ND4C_OK;
    pthread_mutex_unlock(&stream->lock);
  }
  pthread_mutex_unlock(&streams_lock);
  return status == ND4C_OK ? ND4C_OK : stub_host->fail(status, "%s", text);
}
