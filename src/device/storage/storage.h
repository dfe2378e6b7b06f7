/* Storages: replicas on devices, their coherence (Modified, Shared, Invalid) and their fences. The only place where a
 * copy between devices is decided: on demand in nd4c_storage_acquire, by request in nd4c_storage_migrate and
 * nd4c_storage_prefetch, of a part that the host reads or writes in nd4c_storage_reads_apart and _writes_apart. */
#ifndef ND4C_DEVICE_STORAGE_H
#define ND4C_DEVICE_STORAGE_H

#include "array/array.h"
#include "device/device.h"
#include "device/memory/memory.h"
#include "device/stream/fence.h"
#include "nd4c/context.h"

/* A fresh storage of `bytes` on `device` with one reference; contents undefined. `dtype`: of the array that it is for;
 * NONE: parts of it are going to be arrays. `stream`: of the work that is going to
 * write it; its memory may be what that stream's pending work still uses. NULL: not known. */
nd4c_status nd4c_storage_create(nd4c_device *device, nd4c_stream stream, nd4c_dtype dtype, int64_t bytes,
                                const char *origin, nd4c_storage **storage);

/* As nd4c_storage_create, never in a workspace: what lives as long as a plan. */
nd4c_status nd4c_storage_create_own(nd4c_device *device, nd4c_stream stream, nd4c_dtype dtype, int64_t bytes,
                                    const char *origin, nd4c_storage **storage);

/* Foreign host memory; see nd4c_array_wrap. */
nd4c_status nd4c_storage_wrap(void *address, nd4c_dtype dtype, int64_t bytes, bool read_only,
                              nd4c_release_callback release, void *user, nd4c_storage **storage);

/* Names the callback of foreign memory later than nd4c_storage_wrap, before anyone else sees the storage. */
void nd4c_storage_set_release(nd4c_storage *storage, nd4c_release_callback release, void *user);

/* Where a storage's bytes are on one device. */
typedef struct nd4c_replica_view {
  void *address; /* NULL on devices without addresses */
  nd4c_buffer buffer;
  int64_t offset; /* of the first byte in the buffer */
  nd4c_shared_fence
      *written; /* asynchronous devices: unfinished work that writes what is read; one reference, or NULL */
} nd4c_replica_view;

/* Replaces the first `bytes` bytes, which are all that matter, on the storage's current device from host memory, ... */
nd4c_status nd4c_storage_upload(nd4c_storage *storage, const void *host, int64_t bytes);
/* ... from where `view`, acquired for reading on `from` and ready, shows them, ... */
nd4c_status nd4c_storage_receive(nd4c_storage *storage, nd4c_device *from, const nd4c_replica_view *view,
                                 int64_t bytes);
/* ... and by a pattern, on a device that has `fill`. */
nd4c_status nd4c_storage_fill(nd4c_storage *storage, int64_t bytes, const void *pattern, int32_t pattern_bytes);

/* How an operation is about to use a storage. */
typedef enum nd4c_access { ND4C_ACCESS_READ, ND4C_ACCESS_WRITE, ND4C_ACCESS_READ_WRITE } nd4c_access;

/* Makes the storage usable on `device` for work on `stream` (NULL on synchronous devices): copies from a valid replica
 * if there is none here, lets the stream wait for the fences that matter. The replica is held there until
 * nd4c_storage_commit or nd4c_storage_cancel, one of which must follow, but after a READ on a synchronous device. READ
 * fails with POISONED if the operation that should have written it failed; READ_ONLY for a write to read-only storage;
 * UNSUPPORTED if a copy is needed and `transfer` is ND4C_TRANSFER_NONE. */
nd4c_status nd4c_storage_acquire(nd4c_storage *storage, nd4c_device *device, nd4c_stream stream, nd4c_access access,
                                 nd4c_transfer transfer, nd4c_replica_view *view);

/* The common case of nd4c_storage_acquire: the address if the storage is ready, current and alone on `device`, else
 * NULL. */
static inline void *nd4c_storage_ready_address(nd4c_storage *storage, const nd4c_device *device) {
  void *address = atomic_load_explicit(&storage->address, memory_order_acquire);
  return atomic_load_explicit(&storage->device, memory_order_relaxed) == device ? address : NULL;
}

/* Whether the host should read `bytes` of the contents, in so many pieces, from where they are
 * (nd4c_storage_read_piece), and counts them as read; else a replica on the host is as good or better: there is a
 * current one, or the bytes, at least 256 a piece, and those that were read apart since the storage was written last
 * come to a quarter of it. */
bool nd4c_storage_reads_apart(nd4c_storage *storage, int64_t bytes, int64_t pieces);
/* Copies a part of the contents to host memory that is no replica: no state changes. Fails with POISONED as acquiring
 * does. */
nd4c_status nd4c_storage_read_piece(nd4c_storage *storage, int64_t offset, int64_t bytes, void *to);

/* Whether the host should write `bytes` of the contents, in so many pieces, where they are (nd4c_storage_write_piece),
 * and counts them as written: they are current on a device that the host does not reach by address, and the bytes, at
 * least 256 a piece, with those that were written apart since a device used the storage last come to less than a
 * quarter of it. */
bool nd4c_storage_writes_apart(nd4c_storage *storage, int64_t bytes, int64_t pieces);
/* Copies host memory to a part of every replica that is current, after the work that uses it, and waits for the end.
 * They stay current; one that the part does not reach becomes Invalid, and if that is each of them the failure is
 * told. POISONED as for acquiring; READ_ONLY. */
nd4c_status nd4c_storage_write_piece(nd4c_storage *storage, int64_t offset, int64_t bytes, const void *from);

/* Tells that work using the storage was enqueued and that `fence` (NULL: already done) is its end. A WRITE makes this
 * replica Modified and all others Invalid; acquired with ND4C_TRANSFER_EAGER, exactly those of them that were current
 * until then are brought up to date behind it. */
void nd4c_storage_commit(nd4c_storage *storage, nd4c_device *device, nd4c_access access, nd4c_shared_fence *fence);

/* Between acquire for writing all of it and commit: puts the block, in which the value is or will be, in the place of
 * the device's, which *block is then. False: that one has to stay, since others may know where it is. */
bool nd4c_storage_exchange(nd4c_storage *storage, nd4c_device *device, nd4c_block *block);

/* Tells that nothing was enqueued after all. */
void nd4c_storage_cancel(nd4c_storage *storage, nd4c_device *device);

/* Takes the storage out of the workspace that it is in, if any. */
nd4c_status nd4c_storage_own(nd4c_storage *storage);

/* Ends an acquire by keeping the place of the replica for the life of the storage: it is never dropped. */
void nd4c_storage_pin(nd4c_storage *storage, nd4c_device *device);
/* Takes one nd4c_storage_pin back. */
void nd4c_storage_unpin(nd4c_storage *storage, const nd4c_device *device);

/* Makes the replica on `device` the only one; others are freed, or left Invalid where somebody is just using them.
 * Replicas that cannot go, foreign memory and pinned ones, stay Shared. */
nd4c_status nd4c_storage_migrate(nd4c_storage *storage, nd4c_device *device);
/* Begins to bring the contents to `device`. */
nd4c_status nd4c_storage_prefetch(nd4c_storage *storage, nd4c_device *device);
/* The second half of an eager write whose bytes are written after nd4c_storage_commit: brings the replicas up to date
 * that the commit made stale. One that fails stays stale. Not after a write through a ready address: no replica was
 * current beside it, and those that are stale since an earlier write stay so. */
void nd4c_storage_refresh(nd4c_storage *storage);

/* Where a copy of the contents for `device` comes from best: there, the host, or where they were written. */
nd4c_device *nd4c_storage_nearest(nd4c_storage *storage, nd4c_device *device);

/* Counts as a use of what is on the device, for spilling. For inputs of an operation whose results have no memory yet.
 */
void nd4c_storage_use(nd4c_storage *storage, const nd4c_device *device);

/* Frees at least `bytes` of the device's memory if that can be: idle replicas whose contents are elsewhere too, the one
 * used least lately first, then idle ones that are alone, which go to the host. Returns what was freed. */
int64_t nd4c_storage_spill(const nd4c_device *device, int64_t bytes);

/* Marks a storage as left without a value by a failed operation: reads fail with POISONED and this text. */
void nd4c_storage_poison(nd4c_storage *storage, nd4c_status code, const char *text);
/* After a kernel that may have written part of the device's replica, and no other: a value that is current elsewhere
 * stays, without one the storage is poisoned. */
void nd4c_storage_fail_write(nd4c_storage *storage, const nd4c_device *device, nd4c_status code, const char *text);

/* True if the storage has no value because what wrote it failed. */
bool nd4c_storage_is_poisoned(nd4c_storage *storage);

/* Takes the poison back that a write on `device` left which failed before anything of it was enqueued: the storage is
 * as its other replicas have it; without one, as the device has it. */
void nd4c_storage_spare(nd4c_storage *storage, const nd4c_device *device);

/* Waits for the last write and reports its failure. */
nd4c_status nd4c_storage_wait(nd4c_storage *storage);

/* Frees storages that were released while work on them was pending and that are now done; wait: waits for all. May run
 * release callbacks of foreign memory: no lock is held. */
void nd4c_storage_collect(bool wait);
/* The same for who may hold a lock: foreign memory is left to the next nd4c_storage_collect, and under a storage's lock
 * nothing is waited for. */
void nd4c_storage_collect_own(bool wait);

/* State of the replica on a device, for tests and reports: 'M', 'S', 'I', or '-' if there is none. */
char nd4c_storage_state(nd4c_storage *storage, const nd4c_device *device);
/* A set of the devices where the contents are current: bit number % 64 of each. */
uint64_t nd4c_storage_places(nd4c_storage *storage);
/* Current on the device, and no work on it pending. False also while somebody is just at it: never waits. */
bool nd4c_storage_is_ready(nd4c_storage *storage, const nd4c_device *device);

#endif
