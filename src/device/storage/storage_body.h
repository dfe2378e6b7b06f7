/* The complete storage, for the files of src/device that implement it: storage.c its life, coherence.c the states of
 * replicas and copies, residence.c the places of replicas and spilling. access/apart.c and device/workspace use it,
 * too. */
#ifndef ND4C_DEVICE_STORAGE_STORAGE_BODY_H
#define ND4C_DEVICE_STORAGE_STORAGE_BODY_H

#include "array/storage.h"
#include "device/memory/memory.h"
#include "device/stream/fence.h"
#include "device/stream/readers.h"
#include "nd4c/array.h"

struct nd4c_storage_body;

/* The bytes of a storage on one device. */
typedef struct nd4c_replica {
  nd4c_device *device;
  nd4c_block block; /* all zero: the replica was dropped (see nd4c_replica_is_there) */
  char state;       /* 'M' the only current one, 'S' one of several current ones, 'I' stale */
  bool copied;      /* `written` is a copy from another replica: its failure loses nothing */
  bool fresh;       /* made for an operation that has not succeeded yet; its memory is freed if the operation fails */
  uint32_t pinned;  /* number of users that rely on its address; it is dropped only at 0 */
  bool eager;       /* the write in flight asks for the other replicas to be updated after it */
  bool left;        /* the last write made it stale; if that write is eager, the replica is updated */
  bool missed;      /* for access/apart.c, during a write: this replica did not receive the part */
  bool listed;      /* among its device's residents */
  int32_t holds; /* uses between acquire and commit or cancel: all on asynchronous devices, writes to a stale replica on
                    others; until 0 it is neither dropped nor overwritten by a copy */
  uint64_t used; /* when it was used last, see nd4c_replica_use */
  nd4c_shared_fence *written;
  nd4c_readers readers;
  struct nd4c_replica *next;
  struct nd4c_storage_body *body;                   /* while listed */
  struct nd4c_replica *next_there, *previous_there; /* links of the device's residents, under their lock */
} nd4c_replica;

/* Replicas, states and fences are guarded by the storage's lock (one of a fixed set, by address); `base` as its comment
 * says. */
typedef struct nd4c_storage_body {
  nd4c_storage base;
  nd4c_replica first;
  nd4c_release_callback release; /* of foreign memory */
  void *release_user;
  nd4c_status poison;
  char *poison_text;
  struct nd4c_storage_body *grave_next;
  int64_t read_apart; /* what reading pieces of this value has cost, see nd4c_storage_reads_apart */
  /* What an operation that was put off waits for, see nd4c_storage_resume. */
  nd4c_shared_fence *awaited; /* one reference */
  nd4c_device *lacking;       /* memory on that device */
  int64_t wrote_apart;        /* what writing pieces has cost since a device used it, see nd4c_storage_writes_apart */
  /* The storage had more than its first replica, was among a device's residents, or was pinned. Set under one of
   * several locks, and read without a lock by the thread that ends the storage. See nd4c_storage_attach. */
  _Atomic bool attached;
  struct nd4c_encoding *encoding;  /* of an encoded storage, which may have no current replica */
  struct nd4c_deferral *deferral;  /* of a deferred storage, likewise */
  struct nd4c_form *_Atomic forms; /* packed forms of the contents; under the lock of forms.c */
} nd4c_storage_body;

static inline void nd4c_storage_attach(nd4c_storage_body *body) {
  atomic_store_explicit(&body->attached, true, memory_order_relaxed);
}
static inline bool nd4c_storage_is_attached(const nd4c_storage_body *body) {
  return atomic_load_explicit(&body->attached, memory_order_relaxed);
}

void nd4c_storage_lock(nd4c_storage_body *body);
void nd4c_storage_unlock(nd4c_storage_body *body);
/* False if it is taken, by this thread or another. */
bool nd4c_storage_try_lock(nd4c_storage_body *body);

/* -- waiting.c ---------------------------------------------------------------------------------------------------- */

/* Storages share locks. A thread that waited for submitted work under one would keep other threads from submitting what
 * that work may wait for, as a collective waits for the other ranks. An operation that has to wait is therefore put
 * off: it notes what it needs and returns UNSUPPORTED with the storage as it was, and its outermost function, which
 * took the lock, tries again:
 *
 *     nd4c_storage_lock(body);
 *     do {
 *       status = operate(body);          ... ND4C_TRY(nd4c_storage_await(body, replica->written)); ...
 *     } while (nd4c_storage_resume(body, &status));
 *     nd4c_storage_unlock(body);
 *
 * A copy for which the host waits may run under the lock: its stream is idle, so that it comes after no other work. */

/* OK if the fence's work has ended, or if there is no fence. Else the operation is put off. */
nd4c_status nd4c_storage_await(nd4c_storage_body *body, nd4c_shared_fence *fence);
/* The same for the work that writes or reads the replica, and for that of all replicas. */
nd4c_status nd4c_storage_await_replica(nd4c_storage_body *body, nd4c_replica *replica);
nd4c_status nd4c_storage_await_all(nd4c_storage_body *body);
/* Puts the operation off until the fence, which may have ended, is settled. */
nd4c_status nd4c_storage_put_off(nd4c_storage_body *body, nd4c_shared_fence *fence);
/* Puts the operation off until the storage has a replica with memory on the device; it is stale, and `fresh`. */
nd4c_status nd4c_storage_ask_for_memory(nd4c_storage_body *body, nd4c_device *device);
static inline bool nd4c_storage_is_put_off(const nd4c_storage_body *body) {
  return body->awaited != NULL || body->lacking != NULL;
}
/* Called under the lock, which it releases while it waits or allocates: gets what an operation that was put off needs.
 * True: the caller tries again; the storage may have changed in any way. False: the operation was not put off, or there
 * is no memory, and *status says so. */
bool nd4c_storage_provide(nd4c_storage_body *body, nd4c_status *status);
static inline bool nd4c_storage_resume(nd4c_storage_body *body, nd4c_status *status) {
  return nd4c_storage_is_put_off(body) && nd4c_storage_provide(body, status);
}
/* For an operation that is not tried again: forgets what it needs. */
void nd4c_storage_forget_need(nd4c_storage_body *body);

/* Initialises a body: one reference, first replica on `device` without a block. */
void nd4c_storage_body_start(nd4c_storage_body *body, nd4c_device *device, nd4c_dtype dtype, int64_t bytes,
                             uint32_t flags, void (*destroy)(nd4c_storage *storage));
/* Allocates an ordinary storage; NULL if memory is exhausted, with the thread's error set. */
nd4c_storage_body *nd4c_storage_body_make(nd4c_device *device, nd4c_dtype dtype, int64_t bytes, uint32_t flags);
/* Frees everything except the first replica's block: other replicas, fences, texts. */
void nd4c_storage_body_reset(nd4c_storage_body *body);
/* For a storage without references: true if nothing has to wait for pending work. Blocks of asynchronous devices with
 * pending work move to the pending blocks, with their fences; replicas of foreign memory stay until that memory is
 * released. */
bool nd4c_storage_body_let_go(nd4c_storage_body *body);
/* Waits for the work on the storage and ignores its outcome. */
void nd4c_storage_body_settle(nd4c_storage_body *body);
/* Keeps a storage with pending work until nd4c_storage_collect finds it idle. */
void nd4c_storage_bury(nd4c_storage_body *body);
/* Frees a storage without references except its first replica's block, which the caller frees. False: work is pending;
 * the storage was buried, and will be destroyed later. */
bool nd4c_storage_body_end(nd4c_storage_body *body);
/* Total bytes of buried storages and of pending blocks. */
int64_t nd4c_storage_buried_bytes(void);

/* As nd4c_storage_lock, but if a reader on the device (NULL: the host) has to wait for the work that writes the
 * contents, waits for that work before it returns with the lock. With `follows` it does not wait if a copy for the
 * reader can be enqueued behind that work. */
void nd4c_storage_lock_settled(nd4c_storage_body *body, nd4c_device *device, bool follows);

/* -- coherence.c; all under the storage's lock -------------------------------------------------------------------- */

nd4c_replica *nd4c_replica_find(nd4c_storage_body *body, const nd4c_device *device);
/* A current replica to copy from: a complete one, preferably on a usable device; else one whose own copy is in flight,
 * with `written` as that copy's fence. */
nd4c_replica *nd4c_storage_find_current(nd4c_storage_body *body);
/* Puts the operation off until the work that writes `source` has ended. If that work failed, the storage has no value.
 * Also releases what finished work of the device still keeps. */
nd4c_status nd4c_storage_settle_source(nd4c_storage_body *body, nd4c_replica *source);
/* Orders work on `stream` of `device` after the work that writes the replica and, if the new work `writes`, after all
 * work that reads it. Puts the operation off if the host has to wait for that work. */
nd4c_status nd4c_replica_order_after(nd4c_storage_body *body, nd4c_replica *replica, nd4c_device *device,
                                     nd4c_stream stream, bool writes);
/* Whether much memory waits for pending work, which cannot be freed before: released arrays, what enqueued copies still
 * read, memory of destroyed plans. The host then runs less far ahead. */
bool nd4c_replica_runs_far_ahead(void);
/* How many readers a replica may have, for nd4c_readers_add: few while the host runs far ahead. */
int32_t nd4c_replica_count_readers(void);
/* For a copy that is known to have ended: forgets its fence. If the copy failed, the replica is stale. */
void nd4c_replica_settle_copy(nd4c_replica *replica);
/* Publishes or withdraws the address through which the host may use the storage directly. */
void nd4c_storage_update_address(nd4c_storage_body *body);
nd4c_status nd4c_storage_fail_poisoned(const nd4c_storage_body *body);

/* -- residence.c; all under the storage's lock -------------------------------------------------------------------- */

/* Whether the replica has memory. */
static inline bool nd4c_replica_is_there(const nd4c_replica *replica) {
  return replica->block.node != NULL || replica->block.address != NULL || replica->block.buffer != NULL;
}
/* Marks it as the most recently used: it was made, acquired, written or prefetched. */
void nd4c_replica_use(nd4c_replica *replica);
/* Whether it has no pending work. */
bool nd4c_replica_is_idle(nd4c_replica *replica);
void nd4c_replica_release_fences(nd4c_replica *replica);
/* Makes a stale replica on a device, with memory that can be allocated without waiting. */
nd4c_status nd4c_replica_make(nd4c_storage_body *body, nd4c_device *device, nd4c_replica **out);
/* The same with a block that the caller has allocated. If the storage has a replica with memory there by now, the block
 * is freed. */
nd4c_status nd4c_replica_install(nd4c_storage_body *body, nd4c_device *device, nd4c_block *block, nd4c_replica **out);
/* Frees replicas that were made for operations that then failed. */
void nd4c_replica_drop_fresh(nd4c_storage_body *body);
/* Frees the block of a replica that is idle, and the replica unless it is the first. */
void nd4c_replica_drop(nd4c_storage_body *body, nd4c_replica *replica);
/* Drops an idle replica, after copying its contents to the host if no other device has them (a poisoned storage has
 * none). Counts as spilled. */
nd4c_status nd4c_replica_evict(nd4c_storage_body *body, nd4c_replica *replica);
/* Adds a replica with a block of its device's manager to the residents, which spilling considers, and removes it. Needs
 * no lock of the storage. */
void nd4c_replica_list(nd4c_storage_body *body, nd4c_replica *replica);
void nd4c_replica_unlist(nd4c_replica *replica);
/* In a child of fork: resets the residents' lock, which a thread of the parent may have held. */
void nd4c_residents_forget_lock(void);
/* First step of freeing a storage: its replicas can no longer be found through their device. */
void nd4c_storage_unlist(nd4c_storage_body *body);

#endif
