/* What the tracer recorded, as text. */
#ifndef ND4C_DEVICE_TRACE_TEXT_H
#define ND4C_DEVICE_TRACE_TEXT_H

#include "base/text.h"
#include "device/trace/tracer.h"

/* The events of a recording in the JSON of Chrome's trace viewer. MEMORY. */
nd4c_status nd4c_trace_chrome(nd4c_trace_recording recording, nd4c_text *text);
/* nd4c_trace_report of a recording. */
nd4c_status nd4c_trace_table(nd4c_trace_recording recording, char **text);

/* One round trip (include/nd4c/trace.h defines them). */
typedef struct nd4c_round_trip {
  const char *kind; /* "bounce", "detour" or "spill" */
  const char *op;   /* that caused it, NULL: none, the host */
  const nd4c_device *home, *away;
  int64_t bytes; /* there and back */
  int64_t count; /* of the same kind, op and devices */
} nd4c_round_trip;

/* The round trips among `count` events in the order of time, merged: *trips is freed with nd4c_deallocate. */
nd4c_status nd4c_trace_find_trips(const nd4c_trace_event *const *events, int64_t count, nd4c_round_trip **trips,
                                  int32_t *trip_count);

#endif
