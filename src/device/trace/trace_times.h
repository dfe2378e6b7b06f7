/* Times of executions that devices report later: for each thread, the executions whose times are still missing.
 * tracer.c uses it. */
#ifndef ND4C_DEVICE_TRACE_TRACE_TIMES_H
#define ND4C_DEVICE_TRACE_TRACE_TIMES_H

#include "base/os_lock.h"
#include "device/context/context.h"
#include "device/trace/tracer.h"

enum { ND4C_TRACE_TIMES = 256 }; /* limit of missing times of a thread; beyond it the oldest is given up */

typedef struct nd4c_trace_times {
  /* Guards the fields below, and the thread's events in `items`. Held while the device is queried. */
  nd4c_lock lock;
  int32_t first, count; /* a ring */
  struct {
    nd4c_trace_event *event;
    const nd4c_device *device;
    nd4c_timing timing;
  } items[ND4C_TRACE_TIMES];
  /* Only for the owning thread: the current timing. depth counts nested executions, of which the outermost is timed. */
  int32_t depth;
  const nd4c_device *device; /* NULL: nothing is */
  nd4c_stream stream;
} nd4c_trace_times;

/* Begin and end a timing around work that the owning thread enqueues on the context's stream. end returns the timing to
 * add, NULL if there is none. */
void nd4c_trace_times_begin(nd4c_trace_times *times, const nd4c_context *context);
nd4c_timing nd4c_trace_times_end(nd4c_trace_times *times);
/* Adds a timing whose times are written to the event later. The event must not move until they are written or
 * dropped. */
void nd4c_trace_times_add(nd4c_trace_times *times, nd4c_trace_event *event, const nd4c_device *device,
                          nd4c_timing timing);
/* Under the lock. Writes the times that are available (ASK), or waits for all (WAIT); gives up times of closed devices.
 * LAST: as ASK, including devices that are closing, which can be queried for the last time. */
typedef enum nd4c_trace_asking { ND4C_TRACE_ASK, ND4C_TRACE_WAIT, ND4C_TRACE_LAST } nd4c_trace_asking;
void nd4c_trace_times_resolve(nd4c_trace_times *times, nd4c_trace_asking how);
/* Drops all missing times. */
void nd4c_trace_times_drop(nd4c_trace_times *times);

#endif
