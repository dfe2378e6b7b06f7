/* Recordings of the tracer as text and JSON, and their round trips. tracer.c calls the first two when a recording ends,
 * trace_report.c the search for round trips. */
#ifndef ND4C_DEVICE_TRACE_TRACE_TEXT_H
#define ND4C_DEVICE_TRACE_TRACE_TEXT_H

#include "base/text.h"
#include "device/trace/tracer.h"

/* Writes the events of a recording as JSON for Chrome's trace viewer. MEMORY. */
nd4c_status nd4c_trace_chrome(nd4c_trace_recording recording, nd4c_text *text);
/* nd4c_trace_report of a recording. */
nd4c_status nd4c_trace_table(nd4c_trace_recording recording, char **text);

/* One round trip (include/nd4c/trace.h defines them). */
typedef struct nd4c_round_trip {
  const char *kind; /* "bounce", "detour" or "spill" */
  const char *op;   /* the op that caused it, NULL: the host, outside an op */
  const nd4c_device *home, *away;
  int64_t bytes; /* bytes in both directions */
  int64_t count; /* of the same kind, op and devices */
} nd4c_round_trip;

/* Finds and merges the round trips among `count` events in order of time. Free *trips with nd4c_deallocate. */
nd4c_status nd4c_trace_find_trips(const nd4c_trace_event *const *events, int64_t count, nd4c_round_trip **trips,
                                  int32_t *trip_count);

#endif
