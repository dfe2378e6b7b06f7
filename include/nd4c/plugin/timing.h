/* Times of a device's work, for the tracer. A device that reports them points nd4c_device_ops.timing to an
 * nd4c_timing_ops. nd4c calls it only while the tracer is on. */
#ifndef ND4C_PLUGIN_TIMING_H
#define ND4C_PLUGIN_TIMING_H

#include "nd4c/plugin/abi.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Nanoseconds on one clock, which the device chooses and uses for all its streams; nd4c presets zeros. All zero: no
 * work was enqueued. */
typedef struct nd4c_timing_span {
  uint32_t struct_size;
  int64_t submitted;  /* when the host enqueued the first command; 0: unknown */
  int64_t begin, end; /* when the first command began, and the last one ended */
  int64_t busy;       /* how long the device worked on all commands, without the gaps in which it waited */
} nd4c_timing_span;

/* `device` is the pointer that device_open gave. No function blocks unless its comment says so. All functions are
 * required. */
typedef struct nd4c_timing_ops {
  uint32_t struct_size;
  /* Begins a timing: it covers the work that is enqueued on the stream until `end`. One timing at a time for each
   * stream; the thread that calls begin also enqueues the work and calls end. Must not enqueue anything that another
   * stream or the host waits for. UNSUPPORTED: the stream reports no times, for example because it was created while
   * the tracer was off (nd4c_stream_options.timed). */
  nd4c_status (*begin)(void *device, nd4c_stream stream);
  /* Ends the timing and returns it. nd4c calls it once after each successful begin, even if enqueuing the work
   * failed. */
  nd4c_status (*end)(void *device, nd4c_stream stream, nd4c_timing *timing);
  /* Sets *ready to whether the work has ended and, if so, writes the times. wait: blocks until the work has ended. A
   * failure means that there are no times, for example because the work failed. Any thread, one at a time for each
   * timing. */
  nd4c_status (*read)(void *device, nd4c_timing timing, bool wait, bool *ready, nd4c_timing_span *span);
  /* Frees a timing. Its work may still be in flight and is not affected. */
  void (*destroy)(void *device, nd4c_timing timing);
} nd4c_timing_ops;

ND4C_EXTERN_C_END
#endif
