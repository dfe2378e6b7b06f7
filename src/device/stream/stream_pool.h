/* Idle streams of one device, kept for whoever needs one next: making one costs a driver call or a thread. */
#ifndef ND4C_DEVICE_STREAM_POOL_H
#define ND4C_DEVICE_STREAM_POOL_H

#include "base/hook.h"
#include "device/device.h"
#include "device/stream/host_ranges.h"

/* What belongs to a stream and lies above it: scratch. */
typedef struct nd4c_stream_hook {
  void *(*detach)(nd4c_device *device, nd4c_stream stream); /* the stream is about to end; its work may not have */
  void (*free)(void *detached);                             /* the stream's work has ended. NULL is fine */
} nd4c_stream_hook;
enum { ND4C_STREAM_HOOKS = 1 }; /* at most */
ND4C_HOOK_LIST(stream_hooks, nd4c_stream_hook);

/* *pool NULL on a synchronous device. */
nd4c_status nd4c_stream_pool_make(nd4c_device *device, struct nd4c_stream_pool **pool);
/* Destroys what is idle. NULL is fine. */
void nd4c_stream_pool_free(struct nd4c_stream_pool *pool);

/* An idle stream, or a fresh one; NULL on a synchronous device. DEVICE if the device is closed (closing.h). Work that
 * its last user left may still be queued. */
nd4c_status nd4c_stream_take(nd4c_device *device, nd4c_stream *stream);
/* A stream on which nothing is under way, for work whose end the host waits for: it waits for nothing else. */
nd4c_status nd4c_stream_take_idle(nd4c_device *device, nd4c_stream *stream);
/* A stream for a context, which is not the pool's: with the priority, and with times where the tracer is on. NULL on a
 * synchronous device. ARGUMENT: the device has no such priority; DEVICE if it is closed. */
nd4c_status nd4c_stream_open(nd4c_device *device, int32_t priority, nd4c_stream *stream);
/* A handle for a stream of the application's, which nd4c_stream_drop leaves alone. UNSUPPORTED: the device takes none.
 */
nd4c_status nd4c_stream_wrap(nd4c_device *device, void *native, nd4c_stream *stream);
/* Gives a stream back whose last piece of work is behind a fence, so that no failure is left on it. NULL is fine. */
void nd4c_stream_give(nd4c_device *device, nd4c_stream stream);
/* Destroys a stream, with its scratch, of which it is not known what it holds; waits for its work. NULL is fine. In a
 * child of fork the parent's streams are left alone. */
void nd4c_stream_drop(nd4c_device *device, nd4c_stream stream);
/* The same after a copy that failed: its use of host memory ends when the stream's work has. */
void nd4c_stream_drop_copy(nd4c_device *device, nd4c_stream stream, nd4c_host_use *use);
/* Destroys the idle streams of the device. */
void nd4c_stream_trim(nd4c_device *device);

#endif
