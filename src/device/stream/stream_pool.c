/* Implements stream_pool.h as a ring, from which the stream that was returned first is taken first. context.c opens
 * streams here; device/storage takes one for each copy, capture.c for a recording. */
#include "device/stream/stream_pool.h"

#include "base/alloc.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/stream/exit_and_fork.h"
#include "device/stream/fence.h"
#include "device/stream/shared_locks.h"
#include "device/trace/tracer.h"

/* The number of streams that the pool keeps, and the larger number that it keeps when a thread returns one while it
 * must not wait (shared_locks.h), because destroying a stream waits for its work. */
enum { IDLE_LIMIT = 32, ROOM = 256 };

struct nd4c_stream_pool {
  nd4c_device *device;
  nd4c_lock lock; /* guards the fields below; not held while the backend runs */
  int32_t count, oldest;
  nd4c_stream idle[ROOM]; /* a ring: returned first, taken first, because that work has most likely ended */
};

nd4c_status nd4c_stream_pool_make(nd4c_device *device, struct nd4c_stream_pool **out) {
  *out = NULL;
  if (!device->description.asynchronous) {
    return ND4C_OK;
  }
  struct nd4c_stream_pool *pool = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *pool, "a pool of streams", &pool));
  pool->device = device;
  nd4c_lock_init(&pool->lock);
  *out = pool;
  return ND4C_OK;
}

static nd4c_stream take_idle(struct nd4c_stream_pool *pool) {
  nd4c_lock_acquire(&pool->lock);
  nd4c_stream stream = NULL;
  if (pool->count > 0) {
    stream = pool->idle[pool->oldest];
    pool->oldest = (pool->oldest + 1) % ROOM;
    pool->count--;
  }
  nd4c_lock_release(&pool->lock);
  return stream;
}

static void destroy_idle(struct nd4c_stream_pool *pool) {
  for (nd4c_stream stream; (stream = take_idle(pool)) != NULL;) {
    nd4c_stream_drop(pool->device, stream);
  }
}

void nd4c_stream_pool_free(struct nd4c_stream_pool *pool) {
  if (pool != NULL) {
    destroy_idle(pool);
    nd4c_lock_destroy(&pool->lock);
    nd4c_deallocate(pool);
  }
}

nd4c_status nd4c_stream_take(nd4c_device *device, nd4c_stream *stream) {
  ND4C_TRY(nd4c_device_admit(device));
  *stream = device->streams != NULL ? take_idle(device->streams) : NULL;
  return device->streams == NULL || *stream != NULL ? ND4C_OK : nd4c_driver_stream_create(device, stream);
}

/* Takes the first stream of the pool whose work has ended; the others keep their order. NULL: there is none. Called
 * without the pool's lock, because querying a stream calls the backend. */
static nd4c_stream take_finished(struct nd4c_stream_pool *pool) {
  nd4c_lock_acquire(&pool->lock);
  const int32_t count = pool->count;
  nd4c_lock_release(&pool->lock);
  for (int32_t i = 0; i < count; i++) {
    nd4c_stream stream = take_idle(pool);
    if (stream == NULL || nd4c_timeline_is_idle(pool->device, stream)) {
      return stream;
    }
    nd4c_stream_give(pool->device, stream); /* goes to the end of the ring */
  }
  return NULL;
}

nd4c_status nd4c_stream_take_idle(nd4c_device *device, nd4c_stream *stream) {
  ND4C_TRY(nd4c_device_admit(device));
  *stream = device->streams != NULL ? take_finished(device->streams) : NULL;
  return device->streams == NULL || *stream != NULL ? ND4C_OK : nd4c_driver_stream_create(device, stream);
}

nd4c_status nd4c_stream_open(nd4c_device *device, int32_t priority, nd4c_stream *stream) {
  const nd4c_device_description *description = &device->description;
  *stream = NULL;
  if (priority < description->least_priority || priority > description->greatest_priority) {
    return nd4c_fail(ND4C_ARGUMENT, "priority is %d: streams of %s have %d to %d", priority, device->name,
                     description->least_priority, description->greatest_priority);
  }
  if (!description->asynchronous) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_device_admit(device));
  const nd4c_stream_options options = {
      .struct_size = ND4C_SIZE_OF(nd4c_stream_options), .priority = priority, .timed = nd4c_tracer_is_on()};
  return device->ops->stream_create_with != NULL ? nd4c_driver_stream_create_with(device, &options, stream)
                                                 : nd4c_driver_stream_create(device, stream);
}

nd4c_status nd4c_stream_wrap(nd4c_device *device, void *native, nd4c_stream *stream) {
  *stream = NULL;
  if (!device->description.asynchronous || device->ops->stream_wrap == NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s takes no streams of others", device->name);
  }
  ND4C_TRY(nd4c_device_admit(device));
  return nd4c_driver_stream_wrap(device, native, stream);
}

void nd4c_stream_give(nd4c_device *device, nd4c_stream stream) {
  if (stream == NULL) {
    return;
  }
  struct nd4c_stream_pool *pool = device->streams;
  nd4c_lock_acquire(&pool->lock);
  bool kept = pool->count < (nd4c_shared_locks_allow_wait() ? IDLE_LIMIT : ROOM);
  if (kept) {
    pool->idle[(pool->oldest + pool->count++) % ROOM] = stream;
  }
  nd4c_lock_release(&pool->lock);
  if (!kept) {
    nd4c_stream_drop(device, stream);
  }
}

static void detach_all(nd4c_device *device, nd4c_stream stream, void *detached[ND4C_STREAM_HOOKS]) {
  int32_t count = 0;
  ND4C_HOOK_EACH(stream_hooks, nd4c_stream_hook, hook) {
    detached[count++] = hook->detach(device, stream);
  }
}

static void free_detached(void *const detached[ND4C_STREAM_HOOKS]) {
  int32_t count = 0;
  ND4C_HOOK_EACH(stream_hooks, nd4c_stream_hook, hook) {
    hook->free(detached[count++]);
  }
}

void nd4c_stream_drop_copy(nd4c_device *device, nd4c_stream stream, nd4c_host_use *use) {
  if (stream != NULL && !nd4c_device_is_forked(device)) {
    void *detached[ND4C_STREAM_HOOKS] = {NULL};
    detach_all(device, stream, detached); /* before it is destroyed: its handle may then name another stream */
    nd4c_fence_end_stream(device, stream, use);
    free_detached(detached);
  }
  nd4c_host_use_end(use);
}

void nd4c_stream_drop(nd4c_device *device, nd4c_stream stream) {
  nd4c_stream_drop_copy(device, stream, NULL);
}

void nd4c_stream_trim(nd4c_device *device) {
  if (device->streams != NULL) {
    destroy_idle(device->streams);
  }
}
