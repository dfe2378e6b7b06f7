/* Times of a device's work, for the tracer. A device that tells them points nd4c_device_ops.timing to one
 * nd4c_timing_ops. nd4c asks while a recording goes on, and never else. */
#ifndef ND4C_PLUGIN_TIMING_H
#define ND4C_PLUGIN_TIMING_H

#include "nd4c/plugin/abi.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Nanoseconds on one clock of the device's choice, the same for all its streams; nd4c presets zeros. All zero: nothing
 * was enqueued. */
typedef struct nd4c_timing_span {
  uint32_t struct_size;
  int64_t submitted;  /* when the host enqueued the first command; 0: not known */
  int64_t begin, end; /* when the first command began, and the last one ended */
  int64_t busy;       /* how long the device worked on all of them; gaps in which it waited do not count */
} nd4c_timing_span;

/* `device` is the pointer that device_open gave. No function blocks unless its comment says so. All are required. */
typedef struct nd4c_timing_ops {
  uint32_t struct_size;
  /* What is enqueued on the stream from here on belongs to one timing, until end is called. One at a time for each
   * stream; the thread that begins enqueues and ends. Enqueues nothing that another stream or the host waits for.
   * UNSUPPORTED: this stream tells no times, as one that was made while nothing was recorded
   * (nd4c_stream_options.timed). */
  nd4c_status (*begin)(void *device, nd4c_stream stream);
  /* Called once after each begin that succeeded, also where what was enqueued failed. Gives what was begun. */
  nd4c_status (*end)(void *device, nd4c_stream stream, nd4c_timing *timing);
  /* Tells the times if the work has ended, which *ready says. wait: blocks until it has. A failure, as of work that
   * failed, means that there are no times. By any thread, one at a time for each timing. */
  nd4c_status (*read)(void *device, nd4c_timing timing, bool wait, bool *ready, nd4c_timing_span *span);
  /* Also of one whose work is under way: that goes on. */
  void (*destroy)(void *device, nd4c_timing timing);
} nd4c_timing_ops;

ND4C_EXTERN_C_END
#endif
