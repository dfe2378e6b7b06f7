/* Recording events for nd4c/trace.h. src/device, dispatch and graph call it, after nd4c_tracer_is_on, which is one
 * relaxed load. */
#ifndef ND4C_DEVICE_TRACE_TRACER_H
#define ND4C_DEVICE_TRACE_TRACER_H

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
  ND4C_TRACE_WHOLE_TIME,      /* the time of the work: the device is synchronous */
  ND4C_TRACE_SUBMISSION_TIME, /* the time until submission; the device has not reported a time */
  ND4C_TRACE_DEVICE_TIME      /* the time until submission; the device has reported its own */
} nd4c_trace_time;

/* The recordings that may be on at the same time: the program's and the property's. */
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
  char *node;          /* EXECUTE: the label of the plan's node, own; NULL: none */
  const void *storage; /* COPY, WRITE */
  int64_t bytes;
  bool asked;  /* COPY: the program asked for it explicitly */
  bool placed; /* COPY: for an op that runs where the program's placement put it */
  bool room;   /* COPY: to make room, for `op` */
  /* EXECUTE: the meaning of `nanoseconds`, and the device's times: how long it worked, when it began (approximately, on
   * the host's clock), and how long until the end. */
  nd4c_trace_time time;
  int64_t device_nanoseconds, device_begin, device_span;
} nd4c_trace_event;

extern _Atomic bool nd4c_tracer_on;

static inline bool nd4c_tracer_is_on(void) {
  return ND4C_UNLIKELY(atomic_load_explicit(&nd4c_tracer_on, memory_order_relaxed));
}

/* Begin and end the execution of one op on the calling thread: copies in between belong to the op. `storages`: those
 * that it wrote; device NULL: it failed and is not recorded. context: the one to whose stream the work goes. */
int64_t nd4c_tracer_begin(const char *op, const struct nd4c_context *context);
void nd4c_tracer_end(int64_t begin, const nd4c_device *device, const char *op, const char *kernel,
                     const void *const *storages, int32_t storage_count);
/* From now on, executions on the calling thread belong to the node with this label, of which the events get copies;
 * NULL: to none. */
void nd4c_tracer_node(const char *label);
/* Records a copy that began at `begin` (nd4c_os_nanoseconds) and has ended. */
void nd4c_tracer_copy(int64_t begin, const void *storage, const nd4c_device *from, const nd4c_device *to,
                      int64_t bytes);
/* From now on, copies of this storage on the calling thread count as explicit; NULL: no longer. Copies of other
 * storages, made meanwhile to make room, do not. */
void nd4c_tracer_ask(const void *storage);
/* Sets whether, from now on, the calling thread's ops run where the program's placement put them. */
void nd4c_tracer_place(bool placed);
/* From now on, copies on the calling thread make room for the current op or, outside ops, for `origin`; NULL: no
 * longer. */
void nd4c_tracer_make_room(const char *origin);
/* Records that the host gave a storage a new value. */
void nd4c_tracer_write(const void *storage, const nd4c_device *device);
void nd4c_tracer_allocate(const nd4c_device *device, int64_t bytes, const char *origin);
void nd4c_tracer_free(const nd4c_device *device, int64_t bytes);

/* Stores the times that devices have reported; called before the end of the process, while devices can still be
 * queried. */
void nd4c_tracer_settle(void);

/* Applies a change of nd4j.multibackend.trace. Cheap if there is none; logs failures. */
void nd4c_tracer_follow_config(void);

/* The recording for the program's queries: its own if it has started one, else the property's. */
nd4c_trace_recording nd4c_tracer_shown(void);
/* Calls `visit` for every event of a recording, thread by thread, in each thread's order; threads are numbered from 1.
 * `thread`: only that one, 0: all. Holds the tracer's lock. Returns the number of dropped events. */
typedef void (*nd4c_trace_visitor)(void *user, int32_t thread, const nd4c_trace_event *event);
int64_t nd4c_tracer_visit(nd4c_trace_recording recording, int32_t thread, nd4c_trace_visitor visit, void *user);
/* When the recording began. */
int64_t nd4c_tracer_origin(nd4c_trace_recording recording);
/* The highest number of a thread. */
int32_t nd4c_tracer_threads(void);

#endif
