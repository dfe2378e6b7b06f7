/* Capture: work that a device records once and launches again as one piece, such as CUDA graphs and command buffers of
 * OpenCL. A device that offers it points nd4c_device_ops.capture to one nd4c_capture_ops. Plans use it. */
#ifndef ND4C_PLUGIN_CAPTURE_H
#define ND4C_PLUGIN_CAPTURE_H

#include "nd4c/plugin/abi.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* `device` is the pointer that device_open gave. No function blocks unless its comment says so. Several streams may be
 * recorded at once, by several threads; one recording or launchable is used by one thread at a time.
 *
 * Between begin and end nd4c enqueues on the stream, from the thread that called begin: kernels whose flags have
 * ND4C_KERNEL_CAPTURABLE, copy_within, fill, host_callback. Everything else on the stream is illegal meanwhile:
 * copies to and from the host, kernels without the flag, executables, fences, waiting for fences, launches. An illegal
 * call fails with UNSUPPORTED, records nothing, and spoils the recording: `end` then fails, too. Other streams,
 * memory and `synchronize` are used by other threads as ever: what is being recorded is not work under way.
 *
 * A recording names buffers by their handles and keeps none of them. nd4c launches only while each handle is that of a
 * live buffer, which may be another one than while it was recorded. On an addressable device each address is then the
 * recorded one, too. Without addresses a device looks up at each launch what a handle names, or gives no handle out
 * again while a recording names it. States, scratch and host memory that the recorded calls were given live until the
 * launchable is destroyed. Points of recorded calls (nd4c_call.point) count from 1; a launch says what is to be added
 * to them. */
typedef struct nd4c_capture_ops {
  uint32_t struct_size;
  /* From here on, work is recorded and not run. Nothing is enqueued on the stream. Required. */
  nd4c_status (*begin)(void *device, nd4c_stream stream);
  /* Ends the recording and gives it; the stream runs what is enqueued from here on, also after a failure. Required. */
  nd4c_status (*end)(void *device, nd4c_stream stream, nd4c_recording *recording);
  /* Ends the recording and throws it away. Required. */
  void (*abandon)(void *device, nd4c_stream stream);
  /* Makes what can be launched. May block. Required. */
  nd4c_status (*instantiate)(void *device, nd4c_recording recording, nd4c_launchable *launchable);
  /* Gives the launchable the operands of a recording of the same calls; launches under way keep theirs. UNSUPPORTED: it
   * cannot take those, and is as before; nd4c makes another. Optional; NULL: none can be updated. */
  nd4c_status (*update)(void *device, nd4c_launchable launchable, nd4c_recording recording);
  /* Enqueues the recorded work on a stream, any one of the device. The point of each call is the recorded one and
   * `points`; a device that does not tell points ignores it. A failure means that nothing was enqueued. Required. */
  nd4c_status (*launch)(void *device, nd4c_launchable launchable, nd4c_stream stream, int64_t points);
  /* A launchable made of it goes on. Required. */
  void (*recording_destroy)(void *device, nd4c_recording recording);
  /* No launch of it is under way. Required. */
  void (*launchable_destroy)(void *device, nd4c_launchable launchable);
  /* Lets the host run a function when the stream gets there: once, or with each launch of the recording that it is part
   * of. The stream goes on when the function has returned. It must neither call nd4c nor the device. Optional. */
  nd4c_status (*host_callback)(void *device, nd4c_stream stream, void (*function)(void *argument), void *argument);
} nd4c_capture_ops;

ND4C_EXTERN_C_END
#endif
