/* Times of executions that devices tell after the fact: each thread's that are still to come. */
#ifndef ND4C_DEVICE_TRACE_TIMES_H
#define ND4C_DEVICE_TRACE_TIMES_H

#include "base/os_lock.h"
#include "device/context/context.h"
#include "device/trace/tracer.h"

enum { ND4C_TRACE_TIMES = 256 }; /* of a thread that may be to come; the oldest is given up for a further one */

typedef struct nd4c_trace_times {
  /* Guards what follows, and the events of the thread that are in `items`. Held while the device is asked. */
  nd4c_lock lock;
  int32_t first, count; /* a ring */
  struct {
    nd4c_trace_event *event;
    const nd4c_device *device;
    nd4c_timing timing;
  } items[ND4C_TRACE_TIMES];
  /* The owner's alone: what is being timed. depth counts executions inside one another; the outermost one is timed. */
  int32_t depth;
  const nd4c_device *device; /* NULL: nothing is */
  nd4c_stream stream;
} nd4c_trace_times;

/* Around what the owning thread enqueues on the context's stream. end gives what may be added, and NULL if there is
 * nothing to tell. */
void nd4c_trace_times_begin(nd4c_trace_times *times, const nd4c_context *context);
nd4c_timing nd4c_trace_times_end(nd4c_trace_times *times);
/* The execution's times are to be written into the event, which stays where it is until they are, or are dropped. */
void nd4c_trace_times_add(nd4c_trace_times *times, nd4c_trace_event *event, const nd4c_device *device,
                          nd4c_timing timing);
/* Under the lock. Writes what is known by now (ASK), or waits for all (WAIT); what a device that is closed has not told
 * is given up. LAST: as ASK, of devices that are closing, too, which can be asked for the last time. */
typedef enum nd4c_trace_asking { ND4C_TRACE_ASK, ND4C_TRACE_WAIT, ND4C_TRACE_LAST } nd4c_trace_asking;
void nd4c_trace_times_resolve(nd4c_trace_times *times, nd4c_trace_asking how);
/* Forgets all. */
void nd4c_trace_times_drop(nd4c_trace_times *times);

#endif
