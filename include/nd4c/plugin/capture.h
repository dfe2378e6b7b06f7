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
 * ND4C_KERNEL_CAPTURABLE, copy_within, fill, host_callback. Everything else on the stream is illegal meanwhile: copies
 * to and from the host, kernels without the flag, executables, recording fences, waiting for fences, launches. An
 * illegal call fails with UNSUPPORTED, records nothing, and invalidates the recording: `end` then fails, too. Other
 * threads may use other streams, memory and `synchronize` as usual: recorded work is not in flight.
 *
 * A recording refers to buffers by their handles and does not retain them. nd4c launches it only while each handle
 * belongs to a live buffer, which may differ from the buffer at the time of recording. On an addressable device the
 * buffer then also has the recorded address. A device without addresses either looks up the handles at each launch, or
 * does not reuse a handle while a recording refers to it. States, scratch and host memory of recorded calls live until
 * the launchable is destroyed. Points of recorded calls (nd4c_call.point) count from 1; a launch says what to add to
 * them. */
typedef struct nd4c_capture_ops {
  uint32_t struct_size;
  /* Starts a recording: from now on, work enqueued on the stream is recorded and not run. Required. */
  nd4c_status (*begin)(void *device, nd4c_stream stream);
  /* Ends the recording and returns it. Work enqueued from now on runs, even if this call fails. Required. */
  nd4c_status (*end)(void *device, nd4c_stream stream, nd4c_recording *recording);
  /* Ends the recording and discards it. Required. */
  void (*abandon)(void *device, nd4c_stream stream);
  /* Makes a launchable from a recording. May block. Required. */
  nd4c_status (*instantiate)(void *device, nd4c_recording recording, nd4c_launchable *launchable);
  /* Replaces the launchable's operands with those of another recording of the same calls; launches in flight keep the
   * old operands. UNSUPPORTED: the launchable cannot take them and is unchanged; nd4c then instantiates another.
   * Optional; NULL: nd4c always instantiates another. */
  nd4c_status (*update)(void *device, nd4c_launchable launchable, nd4c_recording recording);
  /* Enqueues the recorded work on a stream of the device. The point of each call is its recorded point plus `points`; a
   * device without tells_points ignores it. A failure means that nothing was enqueued. Required. */
  nd4c_status (*launch)(void *device, nd4c_launchable launchable, nd4c_stream stream, int64_t points);
  /* Frees a recording. Launchables made from it stay valid. Required. */
  void (*recording_destroy)(void *device, nd4c_recording recording);
  /* Frees a launchable; none of its launches is in flight. Required. */
  void (*launchable_destroy)(void *device, nd4c_launchable launchable);
  /* Calls a function on the host when the stream reaches this point: once, or at each launch if it is recorded. The
   * stream continues when the function has returned. The function must call neither nd4c nor the device. Optional. */
  nd4c_status (*host_callback)(void *device, nd4c_stream stream, void (*function)(void *argument), void *argument);
} nd4c_capture_ops;

ND4C_EXTERN_C_END
#endif
