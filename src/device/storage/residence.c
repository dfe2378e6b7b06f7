/* Where storages have replicas: migration, prefetching, and spilling when memory is short. access/placement.c moves
 * storages here; the memory manager spills through a reclaimer; coherence.c makes and drops replicas. */

#include "base/alloc.h"
#include "base/os_lock.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/memory/reclaim.h"
#include "device/storage/replica_copy.h"
#include "device/storage/storage.h"
#include "device/storage/storage_body.h"
#include "device/storage/storage_source.h"
#include "device/stream/shared_locks.h"

/* The replicas on each device whose memory is not the host's: candidates for spilling. One lock for all devices, held
 * while a replica is spilled, so that its storage cannot be freed meanwhile (freeing begins with unlisting). Recursive,
 * because allocating on the host may free other storages. Order: a storage's lock first, then this one; code that holds
 * this one only tries storages' locks. */
static nd4c_lock residents_lock;
static nd4c_once residents_once = ND4C_ONCE_INIT;

static void make_lock(void) {
  nd4c_lock_init_recursive(&residents_lock);
}

void nd4c_residents_forget_lock(void) {
  nd4c_once_run(&residents_once, make_lock);
  make_lock();
}

void nd4c_replica_use(nd4c_replica *replica) {
  static _Atomic uint64_t tick;
  replica->used = atomic_fetch_add_explicit(&tick, 1, memory_order_relaxed);
}

static inline bool has_residents(const nd4c_device *device) {
  return device->description.asynchronous && !device->description.host_readable;
}

void nd4c_storage_use(nd4c_storage *storage, const nd4c_device *device) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  if (!has_residents(device)) {
    return;
  }
  nd4c_storage_lock(body);
  nd4c_replica *replica = nd4c_replica_find(body, device);
  if (replica != NULL) {
    nd4c_replica_use(replica);
  }
  nd4c_storage_unlock(body);
}

void nd4c_replica_list(nd4c_storage_body *body, nd4c_replica *replica) {
  nd4c_device *device = replica->device;
  if (!has_residents(device)) {
    return;
  }
  nd4c_once_run(&residents_once, make_lock);
  nd4c_lock_acquire(&residents_lock);
  nd4c_storage_attach(body);
  replica->body = body;
  replica->listed = true;
  nd4c_replica_use(replica);
  replica->previous_there = NULL;
  replica->next_there = device->residents;
  if (device->residents != NULL) {
    device->residents->previous_there = replica;
  }
  device->residents = replica;
  nd4c_lock_release(&residents_lock);
}

void nd4c_replica_unlist(nd4c_replica *replica) {
  if (!replica->listed) {
    return;
  }
  nd4c_lock_acquire(&residents_lock);
  if (replica->previous_there != NULL) {
    replica->previous_there->next_there = replica->next_there;
  } else {
    replica->device->residents = replica->next_there;
  }
  if (replica->next_there != NULL) {
    replica->next_there->previous_there = replica->previous_there;
  }
  replica->listed = false;
  nd4c_lock_release(&residents_lock);
}

void nd4c_storage_unlist(nd4c_storage_body *body) {
  if (!nd4c_storage_is_attached(body)) {
    return;
  }
  nd4c_once_run(&residents_once, make_lock);
  nd4c_lock_acquire(&residents_lock);
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    nd4c_replica_unlist(replica);
  }
  nd4c_lock_release(&residents_lock);
}

void nd4c_replica_release_fences(nd4c_replica *replica) {
  nd4c_fence_release(replica->written);
  replica->written = NULL;
  replica->copied = false;
  nd4c_readers_forget(&replica->readers);
}

bool nd4c_replica_is_idle(nd4c_replica *replica) {
  return nd4c_fence_is_ready(replica->written) && nd4c_readers_are_done(&replica->readers);
}

static void settle_replica(nd4c_replica *replica) {
  nd4c_fence_settle(replica->written);
  nd4c_readers_settle(&replica->readers);
}

nd4c_status nd4c_replica_make(nd4c_storage_body *body, nd4c_device *device, nd4c_replica **out) {
  nd4c_block block = {0};
  const nd4c_memory_request request = {.bytes = body->base.bytes, .origin = "a replica", .dtype = body->base.dtype};
  nd4c_shared_locks_enter();
  const nd4c_status status = nd4c_memory_allocate(device, &request, &block);
  nd4c_shared_locks_leave();
  return status == ND4C_OK ? nd4c_replica_install(body, device, &block, out) : status;
}

nd4c_status nd4c_replica_install(nd4c_storage_body *body, nd4c_device *device, nd4c_block *block, nd4c_replica **out) {
  nd4c_replica *replica = nd4c_replica_find(body, device); /* the first one may have been dropped */
  if (replica != NULL && nd4c_replica_is_there(replica)) {
    nd4c_memory_free(device, block);
    *out = replica;
    return ND4C_OK;
  }
  if (replica == NULL) {
    replica = nd4c_recycle_take(sizeof *replica);
    if (replica == NULL) {
      nd4c_memory_free(device, block);
      return nd4c_fail_memory("a replica", sizeof *replica);
    }
    replica->device = device;
    replica->next = body->first.next;
    body->first.next = replica;
    nd4c_storage_attach(body);
  }
  replica->state = 'I';
  replica->fresh = true;
  replica->block = *block;
  nd4c_replica_list(body, replica);
  *out = replica;
  return ND4C_OK;
}

void nd4c_replica_drop(nd4c_storage_body *body, nd4c_replica *replica) {
  nd4c_replica_unlist(replica);
  nd4c_replica_release_fences(replica);
  if (replica->block.node != NULL) {
    nd4c_memory_free(replica->device, &replica->block);
  }
  replica->block = (nd4c_block){0};
  replica->state = 'I';
  replica->fresh = false;
  if (replica == &body->first) {
    return;
  }
  nd4c_replica **link = &body->first.next;
  while (*link != replica) {
    link = &(*link)->next;
  }
  *link = replica->next;
  nd4c_recycle_give(replica, sizeof *replica);
}

void nd4c_replica_drop_fresh(nd4c_storage_body *body) {
  for (nd4c_replica *replica = &body->first, *next; replica != NULL; replica = next) {
    next = replica->next;
    if (replica->fresh && replica->state == 'I' && replica->holds == 0 && !replica->pinned &&
        replica->block.node != NULL && nd4c_replica_is_idle(replica)) {
      nd4c_replica_drop(body, replica);
    }
  }
}

/* -- by request -------------------------------------------------------------------------------------------------- */

/* Makes the replica on `device` current, possibly by a copy in flight. A failure leaves no fresh memory. */
static nd4c_status bring_to(nd4c_storage_body *body, nd4c_device *device, nd4c_bring when, nd4c_replica **out) {
  if (body->poison != ND4C_OK) {
    nd4c_replica_drop_fresh(body);
    return nd4c_storage_fail_poisoned(body);
  }
  nd4c_replica *replica = nd4c_replica_find(body, device);
  if (replica == NULL || !nd4c_replica_is_there(replica)) {
    return nd4c_storage_ask_for_memory(body, device);
  }
  if (when == ND4C_BRING_NOW && replica->copied) {
    ND4C_TRY(nd4c_storage_await(body, replica->written));
    nd4c_replica_settle_copy(replica);
  }
  nd4c_replica_use(replica);
  nd4c_status status = nd4c_replica_bring(body, replica, when);
  if (status == ND4C_OK) {
    replica->fresh = false;
  } else if (!nd4c_storage_is_put_off(body)) {
    nd4c_replica_drop_fresh(body);
  }
  *out = replica;
  return status;
}

/* Replicas in foreign memory and pinned ones must not be freed: they stay current, too. */
static bool must_stay(const nd4c_storage_body *body, const nd4c_replica *replica) {
  return replica->pinned || (replica == &body->first && (body->base.flags & ND4C_STORAGE_FOREIGN) != 0);
}

/* Makes the replica the only current one beside those that must stay. */
static void make_only(nd4c_storage_body *body, nd4c_replica *kept) {
  bool alone = true;
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    if (replica == kept || !nd4c_replica_is_there(replica)) {
      continue;
    }
    if (replica->state != 'I' && must_stay(body, replica)) {
      alone = false;
      continue;
    }
    replica->state = 'I';
  }
  kept->state = alone ? 'M' : 'S';
}

/* Under the lock. */
static nd4c_status move(nd4c_storage_body *body, nd4c_device *device) {
  nd4c_replica *replica = NULL;
  ND4C_TRY(bring_to(body, device, ND4C_BRING_NOW, &replica));
  make_only(body, replica);
  atomic_store(&body->base.device, device);
  nd4c_storage_update_address(body);
  return ND4C_OK;
}

/* Frees stale replicas after the work on them has ended. If another thread begins to use one while this waits, that
 * replica becomes current and stays. Under the lock. */
static nd4c_status drop_stale(nd4c_storage_body *body) {
  for (nd4c_replica *replica = &body->first, *next; replica != NULL; replica = next) {
    next = replica->next;
    if (replica->state == 'I' && replica->holds == 0 && !must_stay(body, replica) && replica->block.node != NULL) {
      ND4C_TRY(nd4c_storage_await_replica(body, replica));
      settle_replica(replica);
      nd4c_replica_drop(body, replica);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_storage_migrate(nd4c_storage *storage, nd4c_device *device) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_status status;
  nd4c_storage_lock_settled(body, device, false);
  do {
    status = move(body, device);
  } while (nd4c_storage_resume(body, &status));
  if (status == ND4C_OK) {
    do {
      status = drop_stale(body);
    } while (nd4c_storage_resume(body, &status));
  }
  nd4c_storage_unlock(body);
  if (status == ND4C_OK) {
    ND4C_HOOK_EACH(storage_sources, nd4c_storage_source, source) {
      source->part(storage);
    }
  }
  return status;
}

nd4c_status nd4c_storage_prefetch(nd4c_storage *storage, nd4c_device *device) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  if (nd4c_storage_ready_address(storage, device) != NULL) {
    return ND4C_OK;
  }
  nd4c_replica *replica = NULL;
  nd4c_storage_lock(body);
  nd4c_status status;
  do {
    status = bring_to(body, device, ND4C_BRING_REQUESTED, &replica);
  } while (nd4c_storage_resume(body, &status));
  nd4c_storage_unlock(body);
  return status;
}

char nd4c_storage_state(nd4c_storage *storage, const nd4c_device *device) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_storage_lock(body);
  const nd4c_replica *replica = nd4c_replica_find(body, device);
  bool there = replica != NULL && nd4c_replica_is_there(replica) &&
               (replica->state != 'I' || body->base.bytes > 0); /* a stale one without bytes does not count */
  char state = there ? replica->state : '-';
  nd4c_storage_unlock(body);
  return state;
}

uint64_t nd4c_storage_places(nd4c_storage *storage) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  uint64_t places = 0;
  nd4c_storage_lock(body);
  for (const nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    places |= (uint64_t)(replica->state != 'I') << (replica->device->number & 63);
  }
  nd4c_storage_unlock(body);
  return places;
}

bool nd4c_storage_is_ready(nd4c_storage *storage, const nd4c_device *device) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  if (!nd4c_storage_try_lock(body)) {
    return false;
  }
  nd4c_replica *replica = nd4c_replica_find(body, device);
  bool there = replica != NULL && nd4c_replica_is_there(replica) && body->poison == ND4C_OK;
  if (there && replica->copied && nd4c_fence_is_ready(replica->written)) {
    nd4c_replica_settle_copy(replica);
    nd4c_storage_update_address(body);
  }
  bool ready = there && replica->state != 'I' && nd4c_fence_is_ready(replica->written);
  nd4c_storage_unlock(body);
  return ready;
}

/* -- spilling ---------------------------------------------------------------------------------------------------- */

static bool is_elsewhere(const nd4c_storage_body *body, const nd4c_replica *than) {
  bool found = false;
  for (const nd4c_replica *replica = &body->first; replica != NULL && !found; replica = replica->next) {
    found = replica != than && replica->state != 'I' && !replica->copied;
  }
  return found;
}

/* Whether a use of the storage on any device is between acquire and commit: saving this replica must not overwrite what
 * that use writes. */
static bool is_held(const nd4c_storage_body *body) {
  bool held = false;
  for (const nd4c_replica *replica = &body->first; replica != NULL && !held; replica = replica->next) {
    held = replica->holds > 0;
  }
  return held;
}

/* Whether the contents can be saved on the host without a wait. */
static bool can_be_saved(nd4c_storage_body *body) {
  nd4c_device *host = NULL;
  nd4c_replica *there = nd4c_device_host(&host) == ND4C_OK ? nd4c_replica_find(body, host) : NULL;
  return there == NULL || there->state != 'I' || nd4c_replica_is_idle(there);
}

/* Takes the storage's lock if the replica may go now. */
static bool take_if_idle(nd4c_replica *replica) {
  if (!nd4c_storage_try_lock(replica->body)) {
    return false;
  }
  nd4c_storage_body *body = replica->body;
  bool usable = !is_held(body) && !replica->pinned && replica->block.node != NULL && body->poison == ND4C_OK &&
                nd4c_replica_is_idle(replica) && can_be_saved(body);
  if (usable && replica->copied) {
    nd4c_replica_settle_copy(replica);
  }
  if (!usable) {
    nd4c_storage_unlock(body);
  }
  return usable;
}

/* The least recently used replica that may be spilled; `alone`: includes replicas without another copy. */
static nd4c_replica *find_idle(const nd4c_device *device, bool alone) {
  nd4c_replica *best = NULL;
  uint64_t least = UINT64_MAX; /* a copy: another thread may use the best candidate after its lock is released */
  for (nd4c_replica *replica = device->residents; replica != NULL; replica = replica->next_there) {
    if (!take_if_idle(replica)) {
      continue;
    }
    bool fits = alone || replica->state == 'I' || is_elsewhere(replica->body, replica);
    bool better = fits && (best == NULL || replica->used < least);
    least = better ? replica->used : least;
    nd4c_storage_unlock(replica->body);
    best = better ? replica : best;
  }
  return best;
}

/* The same, with its storage locked. Skips a replica that another thread starts to use meanwhile. */
static nd4c_replica *find_victim(const nd4c_device *device, bool alone) {
  enum { ATTEMPTS = 4 };
  for (int i = 0; i < ATTEMPTS; i++) {
    nd4c_replica *best = find_idle(device, alone);
    if (best == NULL || take_if_idle(best)) {
      return best;
    }
  }
  return NULL;
}

/* Copies the only current replica to the host. */
static nd4c_status save_to_host(nd4c_storage_body *body) {
  nd4c_device *host = NULL;
  nd4c_replica *there = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  there = nd4c_replica_find(body, host);
  if (there == NULL || !nd4c_replica_is_there(there)) {
    ND4C_TRY(nd4c_replica_make(body, host, &there));
  }
  return bring_to(body, host, ND4C_BRING_NOW, &there);
}

/* A device with the contents, preferably one where they are complete. */
static nd4c_device *current_device(nd4c_storage_body *body) {
  const nd4c_replica *found = NULL;
  for (const nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    bool better = found == NULL || (found->copied && !replica->copied);
    found = replica->state != 'I' && better ? replica : found;
  }
  return found != NULL ? found->device : atomic_load(&body->base.device);
}

nd4c_status nd4c_replica_evict(nd4c_storage_body *body, nd4c_replica *replica) {
  nd4c_device *device = replica->device;
  bool saved = body->poison == ND4C_OK && replica->state != 'I' && !is_elsewhere(body, replica);
  int64_t bytes = replica->block.bytes;
  if (saved) {
    ND4C_TRY(save_to_host(body));
  }
  nd4c_replica_drop(body, replica);
  if (atomic_load(&body->base.device) == device) {
    atomic_store(&body->base.device, current_device(body));
  }
  int current = 0;
  nd4c_replica *only = NULL;
  for (nd4c_replica *other = &body->first; other != NULL; other = other->next) {
    current += other->state != 'I';
    only = other->state != 'I' ? other : only;
  }
  if (current == 1) {
    only->state = 'M';
  }
  nd4c_storage_update_address(body);
  nd4c_memory_note_spill(device, bytes, saved);
  return ND4C_OK;
}

/* Frees one replica. The storage's lock is held and is released here. Returns the bytes; 0: the host cannot take the
 * contents; -1: there are no contents, because the work that should have written them failed. */
static int64_t evict(nd4c_replica *replica) {
  nd4c_storage_body *body = replica->body;
  int64_t bytes = replica->block.bytes;
  if (nd4c_replica_evict(body, replica) != ND4C_OK) {
    bytes = body->poison != ND4C_OK ? -1 : 0;
    nd4c_storage_forget_need(body);
  }
  nd4c_storage_unlock(body);
  return bytes;
}

int64_t nd4c_storage_spill(const nd4c_device *device, int64_t bytes) {
  int64_t freed = 0;
  nd4c_once_run(&residents_once, make_lock);
  nd4c_lock_acquire(&residents_lock);
  for (int alone = 0; alone <= 1 && freed < bytes; alone++) {
    nd4c_replica *victim = NULL;
    while (freed < bytes && (victim = find_victim(device, alone == 1)) != NULL) {
      int64_t got = evict(victim);
      if (got == 0) {
        break; /* the host cannot take it, so it cannot take others either */
      }
      freed += got > 0 ? got : 0;
    }
  }
  nd4c_lock_release(&residents_lock);
  return freed;
}

static bool give_way(const nd4c_device *device, int64_t bytes) {
  return nd4c_storage_spill(device, bytes) > 0;
}

static const nd4c_reclaimer idle_replicas = {
    .order = ND4C_RECLAIM_REPLICAS, .give_way = give_way, .collect = nd4c_storage_collect_own};
ND4C_HOOK(reclaimers, nd4c_reclaimer, idle_replicas);
