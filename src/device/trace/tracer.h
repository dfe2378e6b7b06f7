/* Recording for include/nd4c/trace.h. Callers ask nd4c_tracer_is_on first: one relaxed load. */
#ifndef ND4C_DEVICE_TRACER_H
#define ND4C_DEVICE_TRACER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "device/device.h"

typedef enum nd4c_trace_kind {
  ND4C_TRACE_EXECUTE,
  ND4C_TRACE_TRANSITION,
  ND4C_TRACE_COPY,
  ND4C_TRACE_WRITE, /* an operation, or the host, gave a storage a new value on `to` */
  ND4C_TRACE_ALLOCATE,
  ND4C_TRACE_FREE
} nd4c_trace_kind;

typedef enum nd4c_trace_time {
  ND4C_TRACE_WHOLE_TIME,      /* the work's: the device is synchronous */
  ND4C_TRACE_SUBMISSION_TIME, /* until it was submitted; the device told nothing, or not yet */
  ND4C_TRACE_DEVICE_TIME      /* the same, and the device told its own */
} nd4c_trace_time;

/* What may be recorded at the same time: what the program started, and what the property did. */
typedef enum nd4c_trace_recording {
  ND4C_TRACE_PROGRAM,
  ND4C_TRACE_PROPERTY,
  ND4C_TRACE_RECORDINGS
} nd4c_trace_recording;

/* One event. Names are static: ops', kernels' and devices' live as long as the process. */
typedef struct nd4c_trace_event {
  nd4c_trace_kind kind;
  uint64_t call; /* number of the execution in its thread that this belongs to, 0: none */
  int64_t begin, nanoseconds;
  const nd4c_device *from, *to; /* the one device of an event without a pair is `to` */
  const char *op, *kernel;
  const void *storage; /* COPY, WRITE */
  int64_t bytes;
  bool asked;  /* COPY: the user named the storage and the device */
  bool placed; /* COPY: for an op that runs where a placement of the user's put it */
  bool room;   /* COPY: to make room, for `op` */
  /* EXECUTE: what `nanoseconds` are, and what the device told beside: how long it worked, and when it began, on the
   * host's clock as near as can be told, and for how long until all was over. */
  nd4c_trace_time time;
  int64_t device_nanoseconds, device_begin, device_span;
} nd4c_trace_event;

extern _Atomic bool nd4c_tracer_on;

static inline bool nd4c_tracer_is_on(void) {
  return ND4C_UNLIKELY(atomic_load_explicit(&nd4c_tracer_on, memory_order_relaxed));
}

/* Around the execution of one op on the calling thread: copies in between are the op's. `storages` are those that it
 * wrote; device NULL: it failed and is not recorded. context: whose stream the work goes to. */
int64_t nd4c_tracer_begin(const char *op, const struct nd4c_context *context);
void nd4c_tracer_end(int64_t begin, const nd4c_device *device, const char *op, const char *kernel,
                     const void *const *storages, int32_t storage_count);
/* A copy that began at `begin` (nd4c_os_nanoseconds) and is over. */
void nd4c_tracer_copy(int64_t begin, const void *storage, const nd4c_device *from, const nd4c_device *to,
                      int64_t bytes);
/* From here on copies of this storage on the calling thread are the user's wish; NULL: no longer. Others that are made
 * meanwhile, to make room, are not. */
void nd4c_tracer_ask(const void *storage);
/* Whether from here on the calling thread's ops run where a placement of the user's put them. */
void nd4c_tracer_place(bool placed);
/* From here on copies on the calling thread make room for what the op at work needs or, outside of ops, `origin`; NULL:
 * no longer. */
void nd4c_tracer_make_room(const char *origin);
/* The host gave a storage a new value. */
void nd4c_tracer_write(const void *storage, const nd4c_device *device);
void nd4c_tracer_allocate(const nd4c_device *device, int64_t bytes, const char *origin);
void nd4c_tracer_free(const nd4c_device *device, int64_t bytes);

/* Writes down what devices have told by now; before the end of the process, while they still can be asked. */
void nd4c_tracer_settle(void);

/* Takes up nd4j.multibackend.trace when it changed. Cheap otherwise; failures go to the log. */
void nd4c_tracer_follow_config(void);

/* The recording that the program is told about: its own if it started one, else the property's. */
nd4c_trace_recording nd4c_tracer_shown(void);
/* Calls `visit` for every event of a recording, thread by thread, in the order of each; numbers of threads begin at 1.
 * `thread`: that one's alone, 0: all. Holds the tracer's lock. Returns how many events were dropped. */
typedef void (*nd4c_trace_visitor)(void *user, int32_t thread, const nd4c_trace_event *event);
int64_t nd4c_tracer_visit(nd4c_trace_recording recording, int32_t thread, nd4c_trace_visitor visit, void *user);
/* When the recording began. */
int64_t nd4c_tracer_origin(nd4c_trace_recording recording);
/* The highest number of a thread. */
int32_t nd4c_tracer_threads(void);

#endif
