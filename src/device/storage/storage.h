/* Storages: replicas on devices, their coherence (Modified, Shared, Invalid) and their fences. submit, dispatch, graph
 * and device/access use storages through this. All copies between devices are decided here: on demand in
 * nd4c_storage_acquire, on request in nd4c_storage_migrate and nd4c_storage_prefetch, and for parts that the host reads
 * or writes in nd4c_storage_reads_apart and _writes_apart. */
#ifndef ND4C_DEVICE_STORAGE_STORAGE_H
#define ND4C_DEVICE_STORAGE_STORAGE_H

#include "array/array.h"
#include "device/device.h"
#include "device/memory/memory.h"
#include "device/stream/fence.h"
#include "nd4c/context.h"

/* A fresh storage of `bytes` on `device` with one reference; contents undefined. `dtype`: of its array; NONE: it will
 * hold several arrays. `stream`: of the first work that writes it; the memory may still be in use by pending work of
 * that stream. NULL: unknown. */
nd4c_status nd4c_storage_create(nd4c_device *device, nd4c_stream stream, nd4c_dtype dtype, int64_t bytes,
                                const char *origin, nd4c_storage **storage);

/* As nd4c_storage_create, but never in a workspace; for memory that lives as long as a plan. */
nd4c_status nd4c_storage_create_own(nd4c_device *device, nd4c_stream stream, nd4c_dtype dtype, int64_t bytes,
                                    const char *origin, nd4c_storage **storage);

/* Foreign host memory; see nd4c_array_wrap. */
nd4c_status nd4c_storage_wrap(void *address, nd4c_dtype dtype, int64_t bytes, bool read_only,
                              nd4c_release_callback release, void *user, nd4c_storage **storage);

/* Sets the callback of foreign memory after nd4c_storage_wrap, before other code sees the storage. */
void nd4c_storage_set_release(nd4c_storage *storage, nd4c_release_callback release, void *user);

/* The place of a storage's bytes on one device. */
typedef struct nd4c_replica_view {
  void *address; /* NULL on devices without addresses */
  nd4c_buffer buffer;
  int64_t offset;             /* of the first byte in the buffer */
  nd4c_shared_fence *written; /* asynchronous devices: fence of unfinished work that writes the bytes to be read; one
                                 reference, or NULL */
} nd4c_replica_view;

/* Replaces the first `bytes` bytes, which are the whole value, on the storage's current device: from host memory,
 * ... */
nd4c_status nd4c_storage_upload(nd4c_storage *storage, const void *host, int64_t bytes);
/* ... from `view`, acquired for reading on `from` and ready, ... */
nd4c_status nd4c_storage_receive(nd4c_storage *storage, nd4c_device *from, const nd4c_replica_view *view,
                                 int64_t bytes);
/* ... or with a pattern, on a device that has `fill`. */
nd4c_status nd4c_storage_fill(nd4c_storage *storage, int64_t bytes, const void *pattern, int32_t pattern_bytes);

/* How an operation uses a storage. */
typedef enum nd4c_access { ND4C_ACCESS_READ, ND4C_ACCESS_WRITE, ND4C_ACCESS_READ_WRITE } nd4c_access;

/* Makes the storage usable on `device` for work on `stream` (NULL on synchronous devices): copies from a valid replica
 * if the device has none, and makes the stream wait for the relevant fences. The replica is held until
 * nd4c_storage_commit or nd4c_storage_cancel, one of which must follow, except after a READ on a synchronous device.
 * READ fails with POISONED if the operation that should have written it failed; READ_ONLY for a write to read-only
 * storage; UNSUPPORTED if a copy is needed and `transfer` is ND4C_TRANSFER_NONE. */
nd4c_status nd4c_storage_acquire(nd4c_storage *storage, nd4c_device *device, nd4c_stream stream, nd4c_access access,
                                 nd4c_transfer transfer, nd4c_replica_view *view);

/* The common case of nd4c_storage_acquire: the address if the storage is ready, current and alone on `device`, else
 * NULL. */
static inline void *nd4c_storage_ready_address(nd4c_storage *storage, const nd4c_device *device) {
  void *address = atomic_load_explicit(&storage->address, memory_order_acquire);
  return atomic_load_explicit(&storage->device, memory_order_relaxed) == device ? address : NULL;
}

/* Whether the host should read `bytes` of the contents in `pieces` pieces directly from their device
 * (nd4c_storage_read_piece); counts them as read. False if a replica on the host is at least as good: there is a
 * current one, or the bytes (at least 256 a piece), with those read apart since the storage's last write, reach a
 * quarter of the storage. */
bool nd4c_storage_reads_apart(nd4c_storage *storage, int64_t bytes, int64_t pieces);
/* Copies a part of the contents to host memory that is not a replica: no state changes. Fails with POISONED as
 * acquiring does. */
nd4c_status nd4c_storage_read_piece(nd4c_storage *storage, int64_t offset, int64_t bytes, void *to);

/* Whether the host should write `bytes` of the contents in `pieces` pieces directly on their device
 * (nd4c_storage_write_piece); counts them as written. True if the contents are current on a device without host
 * addresses, and the bytes (at least 256 a piece), with those written apart since a device's last use of the storage,
 * are less than a quarter of the storage. */
bool nd4c_storage_writes_apart(nd4c_storage *storage, int64_t bytes, int64_t pieces);
/* Copies host memory to a part of every current replica, after the work that uses it, and waits for the copies. The
 * replicas stay current, except those for which the copy fails, which become Invalid; if all copies fail, returns the
 * failure. POISONED as for acquiring; READ_ONLY. */
nd4c_status nd4c_storage_write_piece(nd4c_storage *storage, int64_t offset, int64_t bytes, const void *from);

/* Notes that work that uses the storage was enqueued, with `fence` (NULL: already done). A WRITE makes this replica
 * Modified and all others Invalid. If it was acquired with ND4C_TRANSFER_EAGER, the replicas that were current until
 * then are updated after it. */
void nd4c_storage_commit(nd4c_storage *storage, nd4c_device *device, nd4c_access access, nd4c_shared_fence *fence);

/* Between acquire for writing the whole storage and commit: replaces the device's block by *block, which has the new
 * value or will have it; *block is then the old one. False: the old block must stay, because other code may have its
 * address. */
bool nd4c_storage_exchange(nd4c_storage *storage, nd4c_device *device, nd4c_block *block);

/* Cancels an acquire: nothing was enqueued. */
void nd4c_storage_cancel(nd4c_storage *storage, nd4c_device *device);

/* Removes the storage from its workspace, if it is in one. */
nd4c_status nd4c_storage_own(nd4c_storage *storage);

/* Ends an acquire by pinning the replica: its address stays valid as long as the storage lives. */
void nd4c_storage_pin(nd4c_storage *storage, nd4c_device *device);
/* Undoes one nd4c_storage_pin. */
void nd4c_storage_unpin(nd4c_storage *storage, const nd4c_device *device);

/* Makes the replica on `device` the only one. Others are freed, or left Invalid while an operation uses them; foreign
 * memory and pinned replicas stay Shared. */
nd4c_status nd4c_storage_migrate(nd4c_storage *storage, nd4c_device *device);
/* Starts copying the contents to `device`. */
nd4c_status nd4c_storage_prefetch(nd4c_storage *storage, nd4c_device *device);
/* Completes an eager write whose bytes are written after nd4c_storage_commit: updates the replicas that the commit made
 * stale. After a failure one stays stale. Not needed after a write through a ready address, since no other replica was
 * current. */
void nd4c_storage_refresh(nd4c_storage *storage);

/* The best source of the contents for `device`: itself, the host, or the device that wrote them. */
nd4c_device *nd4c_storage_nearest(nd4c_storage *storage, nd4c_device *device);

/* Whether the storage is nd4c's own writable memory, of which no other code has a reference or a pinned address, and
 * which is current on this device alone, ready and with an address: its memory may serve another array. Only for a
 * thread that no other one shares the storage with. */
bool nd4c_storage_is_alone(const nd4c_storage *storage, const nd4c_device *device);

/* Counts as a use of the replica on the device, so that it is spilled later; for inputs of an operation whose results
 * are not allocated yet. */
void nd4c_storage_use(nd4c_storage *storage, const nd4c_device *device);

/* Frees at least `bytes` of the device's memory, if possible: first idle replicas with another current copy, least
 * recently used first, then idle sole copies, which move to the host. Returns the freed bytes. */
int64_t nd4c_storage_spill(const nd4c_device *device, int64_t bytes);

/* Marks a storage as left without a value by a failed operation: reads fail with POISONED and this text. */
void nd4c_storage_poison(nd4c_storage *storage, nd4c_status code, const char *text);
/* A storage without bytes for arrays that have given their memory away: it is read-only, and reading it fails with
 * POISONED and this text. */
nd4c_status nd4c_storage_create_spent(const char *text, nd4c_storage **storage);
/* After a failed kernel that may have written part of the device's replica: a value that is current on another device
 * stays; if there is none, the storage is poisoned. */
void nd4c_storage_fail_write(nd4c_storage *storage, const nd4c_device *device, nd4c_status code, const char *text);

/* True if the storage has no value because the work that wrote it failed. */
bool nd4c_storage_is_poisoned(nd4c_storage *storage);

/* Removes the poison of a write on `device` that failed before any of it was enqueued: the value is that of the other
 * replicas or, if there are none, of the device's. */
void nd4c_storage_spare(nd4c_storage *storage, const nd4c_device *device);

/* Waits for the last write and reports its failure. */
nd4c_status nd4c_storage_wait(nd4c_storage *storage);

/* Frees storages that were released while work on them was pending and that are idle now; wait: waits for all of them.
 * May run release callbacks of foreign memory, so the caller must hold no lock. */
void nd4c_storage_collect(bool wait);
/* The same for a caller that may hold a lock: foreign memory is left to the next nd4c_storage_collect, and a thread
 * that must not wait (shared_locks.h) does not wait. */
void nd4c_storage_collect_own(bool wait);

/* State of the replica on a device, for tests and reports: 'M', 'S', 'I', or '-' if there is none. */
char nd4c_storage_state(nd4c_storage *storage, const nd4c_device *device);
/* The set of devices where the contents are current: bit number % 64 for each. */
uint64_t nd4c_storage_places(nd4c_storage *storage);
/* Whether the storage is current on the device with no pending work. Never waits: also false while another thread uses
 * it. */
bool nd4c_storage_is_ready(nd4c_storage *storage, const nd4c_device *device);

#endif
