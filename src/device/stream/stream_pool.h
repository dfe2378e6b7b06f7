/* Pool of idle streams of one device, because creating a stream costs a driver call or a thread. device/context opens
 * streams of contexts here; device/storage takes streams for copies, capture.c for recordings. */
#ifndef ND4C_DEVICE_STREAM_STREAM_POOL_H
#define ND4C_DEVICE_STREAM_STREAM_POOL_H

#include "base/hook.h"
#include "device/device.h"
#include "device/stream/host_ranges.h"

/* Objects of higher layers that belong to a stream: its scratch. */
typedef struct nd4c_stream_hook {
  void *(*detach)(nd4c_device *device, nd4c_stream stream); /* the stream is about to be destroyed; its work may be in
                                                               flight */
  void (*free)(void *detached);                             /* the stream's work has ended. NULL is fine */
} nd4c_stream_hook;
enum { ND4C_STREAM_HOOKS = 1 }; /* at most */
ND4C_HOOK_LIST(stream_hooks, nd4c_stream_hook);

/* *out is NULL on a synchronous device. */
nd4c_status nd4c_stream_pool_make(nd4c_device *device, struct nd4c_stream_pool **out);
/* Destroys the pool and its idle streams. NULL is fine. */
void nd4c_stream_pool_free(struct nd4c_stream_pool *pool);

/* Takes an idle stream, or creates one; NULL on a synchronous device. DEVICE if the device is closed (exit_and_fork.h).
 * Work of its last user may still be queued. */
nd4c_status nd4c_stream_take(nd4c_device *device, nd4c_stream *stream);
/* A stream without work in flight, for work for which the host waits: the host then waits for nothing else. */
nd4c_status nd4c_stream_take_idle(nd4c_device *device, nd4c_stream *stream);
/* Creates a stream for a context, outside the pool: with the priority, and with times if the tracer is on. NULL on a
 * synchronous device. ARGUMENT: the device has no such priority; DEVICE if it is closed. */
nd4c_status nd4c_stream_open(nd4c_device *device, int32_t priority, nd4c_stream *stream);
/* Makes a handle for a stream of the application, which nd4c_stream_drop does not destroy. UNSUPPORTED: the device
 * takes no such streams. */
nd4c_status nd4c_stream_wrap(nd4c_device *device, void *native, nd4c_stream *stream);
/* Returns a stream whose last work has a fence, so that no failure remains on it. NULL is fine. */
void nd4c_stream_give(nd4c_device *device, nd4c_stream stream);
/* Destroys a stream in an unknown state, with its scratch; waits for its work. NULL is fine. In a child of fork it does
 * nothing to the parent's streams. */
void nd4c_stream_drop(nd4c_device *device, nd4c_stream stream);
/* The same after a failed copy, whose use of host memory ends with the stream's work. */
void nd4c_stream_drop_copy(nd4c_device *device, nd4c_stream stream, nd4c_host_use *use);
/* Destroys the idle streams of the device. */
void nd4c_stream_trim(nd4c_device *device);

#endif
