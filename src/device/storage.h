/* Storages: replicas on devices, their coherence (Modified, Shared, Invalid) and their fences. The only place where a
 * copy between devices is decided. */
#ifndef ND4C_DEVICE_STORAGE_H
#define ND4C_DEVICE_STORAGE_H

#include "array/array.h"
#include "device/device.h"
#include "device/fence.h"

/* A fresh storage of `bytes` on `device` with one reference; contents undefined. */
nd4c_status nd4c_storage_create(nd4c_device *device, int64_t bytes, const char *origin, nd4c_storage **storage);

/* Foreign host memory; see nd4c_array_wrap. */
nd4c_status nd4c_storage_wrap(void *address, int64_t bytes, bool read_only, nd4c_release_callback release, void *user,
                              nd4c_storage **storage);

/* Names the callback of foreign memory later than nd4c_storage_wrap, before anyone else sees the storage. */
void nd4c_storage_set_release(nd4c_storage *storage, nd4c_release_callback release, void *user);

/* Replaces the first `bytes` bytes, which are all that matter, on the storage's current device from host memory. */
nd4c_status nd4c_storage_upload(nd4c_storage *storage, const void *host, int64_t bytes);

/* How an operation is about to use a storage. */
typedef enum nd4c_access { ND4C_ACCESS_READ, ND4C_ACCESS_WRITE, ND4C_ACCESS_READ_WRITE } nd4c_access;

/* Where a storage's bytes are on one device. */
typedef struct nd4c_replica_view {
  void *address; /* NULL on opaque devices */
  nd4c_buffer buffer;
  nd4c_shared_fence
      *written; /* asynchronous devices: unfinished work that writes what is read; one reference, or NULL */
} nd4c_replica_view;

/* Makes the storage usable on `device` for work on `stream` (NULL on synchronous devices): copies from a valid replica
 * if there is none here, lets the stream wait for the fences that matter. READ fails with POISONED if the operation
 * that should have written it failed. READ_ONLY for a write to read-only storage. */
nd4c_status nd4c_storage_acquire(nd4c_storage *storage, nd4c_device *device, nd4c_stream stream, nd4c_access access,
                                 nd4c_replica_view *view);

/* The common case of nd4c_storage_acquire: the address if the storage is ready, current and alone on `device`, else
 * NULL. */
static inline void *nd4c_storage_ready_address(nd4c_storage *storage, const nd4c_device *device) {
  void *address = atomic_load_explicit(&storage->address, memory_order_acquire);
  return atomic_load_explicit(&storage->device, memory_order_relaxed) == device ? address : NULL;
}

/* Tells that work using the storage was enqueued and that `fence` (NULL: already done) is its end. A WRITE makes this
 * replica Modified and all others Invalid. */
void nd4c_storage_commit(nd4c_storage *storage, nd4c_device *device, nd4c_access access, nd4c_shared_fence *fence);

/* Marks a storage as left without a value by a failed operation: reads fail with POISONED and this text. */
void nd4c_storage_poison(nd4c_storage *storage, nd4c_status code, const char *text);

/* Takes the poison back that a write on `device` left which failed before anything of it was enqueued: the storage is
 * as its other replicas have it; without one, as the device has it. */
void nd4c_storage_spare(nd4c_storage *storage, const nd4c_device *device);

/* Waits for the last write and reports its failure. */
nd4c_status nd4c_storage_wait(nd4c_storage *storage);

/* Frees storages that were released while work on them was pending and that are now done; wait: waits for all. */
void nd4c_storage_collect(bool wait);

/* State of the replica on a device, for tests and reports: 'M', 'S', 'I', or '-' if there is none. */
char nd4c_storage_state(nd4c_storage *storage, const nd4c_device *device);

#endif
