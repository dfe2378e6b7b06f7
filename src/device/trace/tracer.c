/* Recording: each thread appends to its own chunks; readers see the events that a chunk's count publishes. device,
 * dispatch and graph record events here; programs start and stop a recording (nd4c/trace.h). */
#include "device/trace/tracer.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/config/log.h"
#include "base/os.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "device/trace/trace_text.h"
#include "device/trace/trace_times.h"
#include "nd4c/array.h"
#include "nd4c/trace.h"

enum { CHUNK_EVENTS = 512, THREAD_EVENTS = 1 << 20, PATH_SIZE = 4096 };

typedef struct chunk {
  struct chunk *_Atomic next;
  _Atomic int32_t count; /* number of complete events */
  nd4c_trace_event events[CHUNK_EVENTS];
} chunk;

/* The range of a thread's events, and of dropped ones, that belongs to one recording; open-ended while the recording is
 * on. */
typedef struct span {
  int64_t from, to, dropped_from, dropped_to;
} span;

static const span nothing, everything = {.to = INT64_MAX, .dropped_to = INT64_MAX};

/* One thread's events. Only the owner appends; the list, `ended` and freeing are under the lock. */
typedef struct thread_trace {
  struct thread_trace *next;
  uint32_t generation;
  int32_t number;
  bool ended;
  int32_t total;
  _Atomic int64_t dropped;
  chunk *_Atomic first;
  chunk *last;
  span spans[ND4C_TRACE_RECORDINGS];
  uint32_t call;            /* executions so far */
  const char *op;           /* of the execution in progress */
  const char *node;         /* see nd4c_tracer_node */
  const void *asked;        /* see nd4c_tracer_ask */
  const char *room;         /* see nd4c_tracer_make_room */
  bool placed;              /* see nd4c_tracer_place */
  const nd4c_device *where; /* device of the previous execution */
  nd4c_trace_times times;
} thread_trace;

_Atomic bool nd4c_tracer_on;

static nd4c_lock lock = ND4C_LOCK_INIT;
static thread_trace *list;
static int32_t thread_count;
static _Atomic uint32_t generation; /* of the last start */
/* The recordings of the program and of the property. Starting one discards all events, unless the other is on. */
static struct recording {
  bool on, known; /* known: its events exist */
  int64_t origin;
  char file[PATH_SIZE];
} recordings[ND4C_TRACE_RECORDINGS];
static ND4C_FAST_THREAD_LOCAL thread_trace *mine;
static nd4c_once key_once = ND4C_ONCE_INIT;
static nd4c_thread_key key;

/* -- buffers -------------------------------------------------------------------------------------------------- */

static void free_chunks(thread_trace *trace) {
  nd4c_trace_times_drop(&trace->times);
  chunk *at = atomic_load(&trace->first);
  while (at != NULL) {
    chunk *next = atomic_load(&at->next);
    for (int32_t i = 0, count = atomic_load(&at->count); i < count; i++) {
      nd4c_deallocate(at->events[i].node);
    }
    nd4c_deallocate(at);
    at = next;
  }
  atomic_store(&trace->first, NULL);
  trace->last = NULL;
}

static void end_thread(void *argument) {
  thread_trace *trace = argument;
  nd4c_lock_acquire(&lock);
  trace->ended = true; /* its events stay until the next start */
  nd4c_lock_release(&lock);
  mine = NULL;
}

static void make_key(void) {
  (void)nd4c_thread_key_make(&key, end_thread);
}

/* The calling thread's buffer, emptied if it is from an earlier recording; NULL if memory is exhausted. */
static ND4C_NOINLINE thread_trace *renew(uint32_t current) {
  nd4c_once_run(&key_once, make_key);
  thread_trace *trace = mine;
  if (trace == NULL) {
    trace = nd4c_allocate_zeroed(1, sizeof *trace);
    if (trace == NULL || !nd4c_thread_key_set(key, trace)) {
      nd4c_deallocate(trace);
      return NULL;
    }
    nd4c_lock_init(&trace->times.lock);
  }
  nd4c_lock_acquire(&lock);
  if (mine == NULL) {
    trace->next = list;
    list = trace;
  }
  free_chunks(trace);
  trace->number = ++thread_count;
  trace->generation = current;
  trace->total = 0;
  trace->call = 0;
  trace->where = NULL;
  trace->op = trace->room = trace->node = NULL;
  trace->asked = NULL;
  trace->placed = false;
  atomic_store(&trace->dropped, 0);
  for (int r = 0; r < ND4C_TRACE_RECORDINGS; r++) {
    trace->spans[r] = recordings[r].on ? everything : nothing;
  }
  nd4c_lock_release(&lock);
  mine = trace;
  return trace;
}

static inline thread_trace *get_trace(void) {
  uint32_t current = atomic_load_explicit(&generation, memory_order_acquire);
  return ND4C_LIKELY(mine != NULL && mine->generation == current) ? mine : renew(current);
}

static bool add_chunk(thread_trace *trace) {
  chunk *made = trace->total < THREAD_EVENTS ? nd4c_allocate_zeroed(1, sizeof *made) : NULL;
  if (made == NULL) {
    return false;
  }
  atomic_store_explicit(trace->last != NULL ? &trace->last->next : &trace->first, made, memory_order_release);
  trace->last = made;
  return true;
}

/* The stored event, valid as long as the recording is kept; NULL: it was dropped. */
static nd4c_trace_event *record(thread_trace *trace, const nd4c_trace_event *event) {
  int32_t count = trace->last != NULL ? atomic_load_explicit(&trace->last->count, memory_order_relaxed) : CHUNK_EVENTS;
  if (count == CHUNK_EVENTS) {
    if (!add_chunk(trace)) {
      atomic_fetch_add_explicit(&trace->dropped, 1, memory_order_relaxed);
      return NULL;
    }
    count = 0;
  }
  nd4c_trace_event *kept = &trace->last->events[count];
  *kept = *event;
  trace->total++;
  atomic_store_explicit(&trace->last->count, count + 1, memory_order_release);
  return kept;
}

/* -- events --------------------------------------------------------------------------------------------------- */

int64_t nd4c_tracer_begin(const char *op, const nd4c_context *context) {
  thread_trace *trace = get_trace();
  if (trace != NULL) {
    trace->op = op;
    trace->call++;
    nd4c_trace_times_begin(&trace->times, context);
  }
  return nd4c_os_nanoseconds();
}

static void discard(nd4c_timing timing, const nd4c_device *device) {
  if (timing != NULL) {
    device->ops->timing->destroy(device->handle, timing);
  }
}

void nd4c_tracer_end(int64_t begin, const nd4c_device *device, const char *op, const char *kernel,
                     const void *const *storages, int32_t storage_count) {
  thread_trace *trace = get_trace();
  if (trace == NULL) {
    return;
  }
  const nd4c_device *timed = trace->times.device;
  nd4c_timing timing = nd4c_trace_times_end(&trace->times);
  if (device == NULL) {
    discard(timing, timed);
    trace->op = NULL;
    return;
  }
  nd4c_trace_event event = {
      .kind = ND4C_TRACE_TRANSITION,
      .call = trace->call,
      .begin = begin,
      .from = trace->where,
      .to = device,
      .op = op,
      .kernel = kernel,
      .time = device->description.asynchronous ? ND4C_TRACE_SUBMISSION_TIME : ND4C_TRACE_WHOLE_TIME};
  if (trace->where != NULL && trace->where != device) {
    record(trace, &event);
  }
  trace->where = device;
  event.kind = ND4C_TRACE_EXECUTE;
  event.from = NULL;
  event.nanoseconds = nd4c_os_nanoseconds() - begin;
  event.node = trace->node != NULL && trace->node[0] != '\0' ? nd4c_duplicate_text(trace->node) : NULL;
  nd4c_trace_event *kept = record(trace, &event);
  if (kept == NULL) {
    nd4c_deallocate(event.node);
  }
  event.node = NULL;
  if (kept != NULL && timing != NULL) {
    nd4c_trace_times_add(&trace->times, kept, timed, timing);
  } else {
    discard(timing, timed);
  }
  event.kind = ND4C_TRACE_WRITE;
  event.begin += event.nanoseconds;
  event.nanoseconds = 0;
  for (int32_t i = 0; i < storage_count; i++) {
    event.storage = storages[i];
    record(trace, &event);
  }
  trace->op = NULL;
}

static void record_simple(nd4c_trace_kind kind, const nd4c_device *device, const void *storage, int64_t bytes,
                          const char *op) {
  thread_trace *trace = get_trace();
  if (trace != NULL) {
    nd4c_trace_event event = {.kind = kind,
                              .call = trace->op != NULL ? trace->call : 0,
                              .begin = nd4c_os_nanoseconds(),
                              .to = device,
                              .op = op != NULL ? op : trace->op,
                              .storage = storage,
                              .bytes = bytes};
    record(trace, &event);
  }
}

void nd4c_tracer_copy(int64_t begin, const void *storage, const nd4c_device *from, const nd4c_device *to,
                      int64_t bytes) {
  thread_trace *trace = get_trace();
  if (trace != NULL) {
    nd4c_trace_event event = {.kind = ND4C_TRACE_COPY,
                              .call = trace->op != NULL ? trace->call : 0,
                              .begin = begin,
                              .nanoseconds = nd4c_os_nanoseconds() - begin,
                              .from = from,
                              .to = to,
                              .op = trace->op != NULL ? trace->op : trace->room,
                              .storage = storage,
                              .bytes = bytes,
                              .asked = trace->asked == storage,
                              .placed = trace->placed && trace->room == NULL,
                              .room = trace->room != NULL};
    record(trace, &event);
  }
}

void nd4c_tracer_node(const char *label) {
  thread_trace *trace = get_trace();
  if (trace != NULL) {
    trace->node = label;
  }
}

void nd4c_tracer_ask(const void *storage) {
  thread_trace *trace = get_trace();
  if (trace != NULL) {
    trace->asked = storage;
  }
}

void nd4c_tracer_place(bool placed) {
  thread_trace *trace = get_trace();
  if (trace != NULL) {
    trace->placed = placed;
  }
}

void nd4c_tracer_make_room(const char *origin) {
  thread_trace *trace = get_trace();
  if (trace != NULL) {
    trace->room = origin;
  }
}

void nd4c_tracer_write(const void *storage, const nd4c_device *device) {
  record_simple(ND4C_TRACE_WRITE, device, storage, 0, NULL);
}

void nd4c_tracer_allocate(const nd4c_device *device, int64_t bytes, const char *origin_text) {
  record_simple(ND4C_TRACE_ALLOCATE, device, NULL, bytes, origin_text);
}

void nd4c_tracer_free(const nd4c_device *device, int64_t bytes) {
  record_simple(ND4C_TRACE_FREE, device, NULL, bytes, NULL);
}

/* -- start, stop ---------------------------------------------------------------------------------------------- */

/* Under the lock: frees the buffers of threads that have ended; the others empty theirs themselves. */
static void forget_ended(void) {
  thread_trace **link = &list;
  while (*link != NULL) {
    thread_trace *trace = *link;
    if (!trace->ended) {
      link = &trace->next;
      continue;
    }
    *link = trace->next;
    free_chunks(trace);
    nd4c_lock_destroy(&trace->times.lock);
    nd4c_deallocate(trace);
  }
}

/* Under the lock: how many events the thread has published. */
static int64_t count_events(const thread_trace *trace) {
  int64_t count = 0;
  for (const chunk *at = atomic_load_explicit(&trace->first, memory_order_acquire); at != NULL;
       at = atomic_load_explicit(&at->next, memory_order_acquire)) {
    count += atomic_load_explicit(&at->count, memory_order_acquire);
  }
  return count;
}

/* Under the lock. Begins or ends the recording's span of each thread that has events. */
static void mark_threads(nd4c_trace_recording which, bool begin) {
  for (thread_trace *trace = list; trace != NULL; trace = trace->next) {
    span *s = &trace->spans[which];
    if (trace->generation == atomic_load(&generation)) {
      int64_t count = count_events(trace), dropped = atomic_load(&trace->dropped);
      *s = begin ? (span){.from = count, .to = INT64_MAX, .dropped_from = dropped, .dropped_to = INT64_MAX}
                 : (span){.from = s->from, .to = count, .dropped_from = s->dropped_from, .dropped_to = dropped};
    }
  }
}

static nd4c_status start(nd4c_trace_recording which, const char *path) {
  struct recording *recording = &recordings[which], *other = &recordings[ND4C_TRACE_RECORDINGS - 1 - which];
  if (path != NULL && (path[0] == '\0' || strlen(path) >= sizeof recording->file)) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_trace_start: a path of %zu bytes: expected 1 to %zu", strlen(path),
                     sizeof recording->file - 1);
  }
  nd4c_lock_acquire(&lock);
  if (!other->on) {
    forget_ended();
    thread_count = 0;
    other->known = false;
    atomic_fetch_add_explicit(&generation, 1, memory_order_release);
  }
  mark_threads(which, true);
  (void)snprintf(recording->file, sizeof recording->file, "%s", path != NULL ? path : "");
  recording->origin = nd4c_os_nanoseconds();
  recording->on = recording->known = true;
  atomic_store(&nd4c_tracer_on, true);
  nd4c_lock_release(&lock);
  return ND4C_OK;
}

nd4c_status nd4c_trace_start(const char *path) {
  nd4c_tracer_follow_config(); /* the property's recording has already begun */
  return start(ND4C_TRACE_PROGRAM, path);
}

bool nd4c_trace_is_on(void) {
  nd4c_lock_acquire(&lock);
  bool on = recordings[ND4C_TRACE_PROGRAM].on;
  nd4c_lock_release(&lock);
  return on;
}

nd4c_trace_recording nd4c_tracer_shown(void) {
  nd4c_lock_acquire(&lock);
  nd4c_trace_recording shown = recordings[ND4C_TRACE_PROGRAM].known ? ND4C_TRACE_PROGRAM : ND4C_TRACE_PROPERTY;
  nd4c_lock_release(&lock);
  return shown;
}

int64_t nd4c_tracer_origin(nd4c_trace_recording recording) {
  nd4c_lock_acquire(&lock);
  int64_t began = recordings[recording].origin;
  nd4c_lock_release(&lock);
  return began;
}

int32_t nd4c_tracer_threads(void) {
  nd4c_lock_acquire(&lock);
  int32_t count = thread_count;
  nd4c_lock_release(&lock);
  return count;
}

/* The events of one thread within a span. A change from an execution before the span is no transition. */
static void visit_span(const thread_trace *trace, const span *s, nd4c_trace_visitor visit, void *user) {
  int64_t at_event = 0;
  bool executed = false;
  for (const chunk *at = atomic_load_explicit(&trace->first, memory_order_acquire); at != NULL && at_event < s->to;
       at = atomic_load_explicit(&at->next, memory_order_acquire)) {
    int32_t count = atomic_load_explicit(&at->count, memory_order_acquire);
    for (int32_t i = 0; i < count && at_event < s->to; i++, at_event++) {
      const nd4c_trace_event *event = &at->events[i];
      if (at_event >= s->from && (executed || event->kind != ND4C_TRACE_TRANSITION)) {
        executed = executed || event->kind == ND4C_TRACE_EXECUTE;
        visit(user, trace->number, event);
      }
    }
  }
}

int64_t nd4c_tracer_visit(nd4c_trace_recording recording, int32_t thread, nd4c_trace_visitor visit, void *user) {
  int64_t dropped = 0;
  nd4c_lock_acquire(&lock);
  for (thread_trace *trace = list; trace != NULL; trace = trace->next) {
    if (trace->generation == atomic_load(&generation) && (thread == 0 || trace->number == thread)) {
      const span *s = &trace->spans[recording];
      int64_t now = atomic_load(&trace->dropped);
      dropped += (now < s->dropped_to ? now : s->dropped_to) - s->dropped_from;
      nd4c_lock_acquire(&trace->times.lock);
      nd4c_trace_times_resolve(&trace->times, ND4C_TRACE_WAIT);
      visit_span(trace, s, visit, user);
      nd4c_lock_release(&trace->times.lock);
    }
  }
  nd4c_lock_release(&lock);
  return dropped;
}

void nd4c_tracer_settle(void) {
  nd4c_lock_acquire(&lock);
  for (thread_trace *trace = list; trace != NULL; trace = trace->next) {
    nd4c_lock_acquire(&trace->times.lock);
    nd4c_trace_times_resolve(&trace->times, ND4C_TRACE_LAST);
    nd4c_lock_release(&trace->times.lock);
  }
  nd4c_lock_release(&lock);
}

static nd4c_status write_file(nd4c_trace_recording which, const char *path) {
  nd4c_text text = {0};
  nd4c_status status = nd4c_trace_chrome(which, &text);
  if (status == ND4C_OK) {
    status = nd4c_os_write_file(path, text.bytes, text.length);
  }
  nd4c_text_free(&text);
  return status;
}

static nd4c_status stop(nd4c_trace_recording which, char **table) {
  char path[PATH_SIZE];
  nd4c_lock_acquire(&lock);
  bool was_on = recordings[which].on;
  if (was_on) {
    recordings[which].on = false;
    atomic_store(&nd4c_tracer_on, recordings[ND4C_TRACE_RECORDINGS - 1 - which].on);
    mark_threads(which, false);
  }
  bool other = atomic_load(&nd4c_tracer_on);
  (void)snprintf(path, sizeof path, "%s", recordings[which].file);
  nd4c_lock_release(&lock);
  if (!was_on) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_trace_stop: nothing is recorded: nd4c_trace_start begins a recording%s",
                     other ? "; the one of nd4j.multibackend.trace ends with the property or the process" : "");
  }
  nd4c_status status = table != NULL ? nd4c_trace_table(which, table) : ND4C_OK;
  nd4c_status written = path[0] != '\0' ? write_file(which, path) : ND4C_OK;
  return status != ND4C_OK ? status : written;
}

nd4c_status nd4c_trace_stop(char **table) {
  return stop(ND4C_TRACE_PROGRAM, table);
}

/* -- by the property ------------------------------------------------------------------------------------------ */

/* Ends the property's recording: prints the table, and the reason if there is no file, to stderr. */
static void stop_and_tell(void) {
  char *table = NULL;
  if (stop(ND4C_TRACE_PROPERTY, &table) != ND4C_OK) {
    (void)fprintf(stderr, "nd4j.multibackend.trace: %s\n", nd4c_error_message());
  }
  (void)fputs(table != NULL ? table : "", stderr);
  nd4c_free(table);
}

void nd4c_tracer_follow_config(void) {
  static _Atomic uint64_t seen; /* epoch + 1 */
  static char applied[PATH_SIZE];
  uint64_t epoch = (uint64_t)atomic_load_explicit(&nd4c_config_epoch, memory_order_relaxed) + 1;
  if (atomic_load_explicit(&seen, memory_order_relaxed) == epoch) {
    return;
  }
  char value[PATH_SIZE];
  (void)nd4c_config_string(ND4C_CONFIG_TRACE, value, sizeof value);
  bool wanted = nd4c_config_bool(ND4C_CONFIG_TRACE);
  nd4c_lock_acquire(&lock);
  bool changed = strcmp(value, applied) != 0;
  bool on = recordings[ND4C_TRACE_PROPERTY].on;
  (void)snprintf(applied, sizeof applied, "%s", value);
  atomic_store_explicit(&seen, epoch, memory_order_relaxed);
  nd4c_lock_release(&lock);
  if (changed && on) {
    stop_and_tell();
  }
  if (changed && wanted && start(ND4C_TRACE_PROPERTY, strchr(value, '/') != NULL ? value : NULL) != ND4C_OK) {
    nd4c_log_write(ND4C_LOG_ERROR, "trace", "nd4j.multibackend.trace: %s", nd4c_error_message());
  }
}

static ND4C_AT_UNLOAD void tell_at_end(void) {
  if (!recordings[ND4C_TRACE_PROPERTY].on) {
    nd4c_tracer_follow_config(); /* a program that never used a device gets a table that says that nothing ran */
  }
  if (recordings[ND4C_TRACE_PROPERTY].on) {
    stop_and_tell();
  }
}
