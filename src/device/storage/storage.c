/* Implements the life of a storage: making, releasing, and waiting for pending work before its memory is freed
 * (storage.h). access/create.c and dispatch/call.c make storages, graph those of plans. */
#include "device/storage/storage.h"

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/os_lock.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/memory/pending_blocks.h"
#include "device/storage/deferred.h"
#include "device/storage/encoded.h"
#include "device/storage/forms.h"
#include "device/storage/small_storage.h"
#include "device/storage/storage_body.h"
#include "device/storage/storage_source.h"
#include "device/stream/exit_and_fork.h"
#include "device/stream/shared_locks.h"
#include "device/trace/tracer.h"

/* Locks of storages, shared and selected by address: storages are small and many, and work under their lock is rare. */
enum { LOCK_COUNT = 64 };
#define FOUR(lock) lock, lock, lock, lock
static nd4c_lock locks[LOCK_COUNT] = {FOUR(FOUR(FOUR(ND4C_LOCK_INIT)))};
#undef FOUR

static nd4c_lock grave_lock = ND4C_LOCK_INIT;
static nd4c_storage_body *graves;
static _Atomic int64_t buried_bytes; /* bytes of the storages in the list; excludes one that is being examined */

static nd4c_lock *lock_of(const nd4c_storage_body *body) {
  return &locks[((uintptr_t)body >> 8) % LOCK_COUNT];
}

static void forget_locks(void) {
  for (int i = 0; i < LOCK_COUNT; i++) {
    nd4c_lock_init(&locks[i]);
  }
  nd4c_lock_init(&grave_lock);
  nd4c_residents_forget_lock();
  nd4c_forms_forget_lock();
}

static const nd4c_fork_hook storages_of_parent = {forget_locks};
ND4C_HOOK(fork_hooks, nd4c_fork_hook, storages_of_parent);

#if defined(NDEBUG)
enum { FINDS_WAITS = 0 };
#else
enum { FINDS_WAITS = 1 };
#endif

void nd4c_storage_lock(nd4c_storage_body *body) {
  nd4c_lock_acquire(lock_of(body));
  if (FINDS_WAITS) {
    nd4c_shared_locks_enter();
  }
}

void nd4c_storage_unlock(nd4c_storage_body *body) {
  if (FINDS_WAITS) {
    nd4c_shared_locks_leave();
  }
  nd4c_lock_release(lock_of(body));
}

bool nd4c_storage_try_lock(nd4c_storage_body *body) {
  const bool taken = nd4c_lock_try(lock_of(body));
  if (FINDS_WAITS && taken) {
    nd4c_shared_locks_enter();
  }
  return taken;
}

/* -- life ----------------------------------------------------------------------------------------------------- */

void nd4c_storage_body_reset(nd4c_storage_body *body) {
  nd4c_forms_detach(body);
  nd4c_encoded_free(body);
  nd4c_deferred_free(body);
  nd4c_replica_release_fences(&body->first);
  body->first.state = 'M';
  body->first.copied = body->first.eager = body->first.left = body->first.fresh = false;
  body->first.pinned = 0;
  while (body->first.next != NULL) {
    nd4c_replica_drop(body, body->first.next);
  }
  nd4c_deallocate(body->poison_text);
  body->poison_text = NULL;
  body->poison = ND4C_OK;
  body->read_apart = body->wrote_apart = 0;
  atomic_store_explicit(&body->attached, false, memory_order_relaxed);
}

bool nd4c_storage_is_alone(const nd4c_storage *storage, const nd4c_device *device) {
  const nd4c_storage_body *body = (const nd4c_storage_body *)storage;
  return storage->flags == 0 && atomic_load_explicit(&storage->references, memory_order_acquire) == 1 &&
         atomic_load_explicit(&storage->device, memory_order_relaxed) == device &&
         atomic_load_explicit(&storage->address, memory_order_acquire) != NULL && body->first.pinned == 0 &&
         body->first.next == NULL && body->release == NULL;
}

/* Hands over the replica's block with its fences, the writer's and the readers'. Waits for none, as the thread may hold
 * the lock of another storage, for which it looks for memory: false if the list of readers is full and cannot grow. */
static bool give_block_away(nd4c_replica *replica) {
  if (replica->block.node == NULL || !replica->device->description.asynchronous) {
    return false;
  }
  if (replica->written != NULL) {
    if (nd4c_readers_try_add(&replica->readers, replica->written, ND4C_READERS_MOST) != NULL) {
      return false;
    }
    nd4c_fence_release(replica->written);
    replica->written = NULL;
  }
  return nd4c_pending_blocks_add(replica->device, &replica->block, &replica->readers);
}

static bool is_known_idle(nd4c_replica *replica) {
  return nd4c_fence_is_known(replica->written) && nd4c_readers_are_known(&replica->readers);
}

bool nd4c_storage_body_let_go(nd4c_storage_body *body) {
  bool gone = true;
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    gone = (is_known_idle(replica) || (body->release == NULL && give_block_away(replica))) && gone;
  }
  return gone;
}

int64_t nd4c_storage_buried_bytes(void) {
  return atomic_load_explicit(&buried_bytes, memory_order_relaxed) + nd4c_pending_blocks_bytes();
}

void nd4c_storage_bury(nd4c_storage_body *body) {
  atomic_fetch_add_explicit(&buried_bytes, body->base.bytes, memory_order_relaxed);
  nd4c_lock_acquire(&grave_lock);
  body->grave_next = graves;
  graves = body;
  nd4c_lock_release(&grave_lock);
}

void nd4c_storage_body_settle(nd4c_storage_body *body) {
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    nd4c_fence_settle(replica->written);
    nd4c_readers_settle(&replica->readers);
  }
}

/* Settles fences whose work has ended. */
static void ask(nd4c_storage_body *body) {
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    (void)nd4c_replica_is_idle(replica);
  }
}

static void collect_graves(bool wait, bool foreign) {
  nd4c_lock_acquire(&grave_lock);
  nd4c_storage_body *body = graves;
  graves = NULL;
  nd4c_lock_release(&grave_lock);
  while (body != NULL) {
    nd4c_storage_body *next = body->grave_next;
    body->grave_next = NULL;
    atomic_fetch_sub_explicit(&buried_bytes, body->base.bytes, memory_order_relaxed);
    if (body->release != NULL && !foreign) {
      nd4c_storage_bury(body);
      body = next;
      continue;
    }
    if (wait) {
      nd4c_storage_body_settle(body);
    } else {
      ask(body);
    }
    body->base.destroy(&body->base); /* buries it again if it is still busy */
    body = next;
  }
}

static void collect(bool asked, bool foreign) {
  const bool wait = asked && nd4c_shared_locks_allow_wait();
  collect_graves(wait, foreign);
  if (wait) {
    ND4C_HOOK_EACH(storage_sources, nd4c_storage_source, source) {
      source->collect();
    }
  }
  nd4c_pending_blocks_collect(wait);
}

void nd4c_storage_collect(bool wait) {
  collect(wait, true);
}

void nd4c_storage_collect_own(bool wait) {
  collect(wait, false);
}

bool nd4c_storage_body_end(nd4c_storage_body *body) {
  nd4c_storage_unlist(body);
  if (!nd4c_storage_body_let_go(body)) {
    nd4c_storage_bury(body);
    return false;
  }
  nd4c_storage_body_reset(body);
  return true;
}

static void destroy_storage(nd4c_storage *base) {
  nd4c_storage_body *body = (nd4c_storage_body *)base;
  if (!nd4c_storage_body_end(body)) {
    return;
  }
  if (body->first.block.node != NULL) {
    nd4c_memory_free(body->first.device, &body->first.block);
  }
  nd4c_release_callback release = body->release;
  void *user = body->release_user;
  nd4c_recycle_give(body, sizeof *body);
  if (release != NULL) {
    release(user);
  }
}

void nd4c_storage_body_start(nd4c_storage_body *body, nd4c_device *device, nd4c_dtype dtype, int64_t bytes,
                             uint32_t flags, void (*destroy)(nd4c_storage *storage)) {
  *body = (nd4c_storage_body){0};
  body->base.references = 1;
  body->base.flags = flags;
  body->base.bytes = bytes;
  body->base.dtype = dtype;
  body->base.destroy = destroy;
  body->base.device = device;
  body->first.device = device;
  body->first.state = 'M';
}

nd4c_storage_body *nd4c_storage_body_make(nd4c_device *device, nd4c_dtype dtype, int64_t bytes, uint32_t flags) {
  nd4c_storage_body *body = nd4c_recycle_take_raw(sizeof *body);
  if (body == NULL) {
    (void)nd4c_fail_memory("a storage", sizeof *body);
    return NULL;
  }
  nd4c_storage_body_start(body, device, dtype, bytes, flags, destroy_storage);
  return body;
}

/* Whether to record every block's origin; small arrays are then ordinary blocks, too. */
static _Atomic uint64_t origins_known; /* the configuration's epoch + 1 above, the value in bit 0 */

static ND4C_NOINLINE bool look_for_origins(uint64_t epoch) {
  const bool recorded = nd4c_config_bool(ND4C_CONFIG_MEMORY_ORIGINS);
  atomic_store_explicit(&origins_known, epoch << 1 | (recorded ? 1 : 0), memory_order_relaxed);
  return recorded;
}

static inline bool origins_are_recorded(void) {
  const uint64_t epoch = (uint64_t)atomic_load_explicit(&nd4c_config_epoch, memory_order_relaxed) + 1;
  const uint64_t known = atomic_load_explicit(&origins_known, memory_order_relaxed);
  return ND4C_LIKELY(known >> 1 == epoch) ? (known & 1) != 0 : look_for_origins(epoch);
}

/* Memory for a storage that work on `stream` writes first; stream NULL: the first writer is unknown. */
static nd4c_status find_memory(nd4c_replica *first, nd4c_stream stream, nd4c_dtype dtype, int64_t bytes,
                               const char *origin) {
  nd4c_device *device = first->device;
  if (device->description.asynchronous) {
    collect_graves(false, true);
    if (stream != NULL && nd4c_pending_blocks_take(device, stream, bytes, origin, &first->block, &first->readers)) {
      return ND4C_OK;
    }
    nd4c_pending_blocks_sweep(); /* may return a block to the manager's cache */
  }
  const nd4c_memory_request request = {.bytes = bytes,
                                       .origin = origin,
                                       .usage = dtype != ND4C_DTYPE_NONE ? ND4C_BUFFER_ARRAY : ND4C_BUFFER_ARENA,
                                       .dtype = dtype,
                                       .stream = stream};
  return nd4c_memory_allocate(device, &request, &first->block);
}

nd4c_status nd4c_storage_create_own(nd4c_device *device, nd4c_stream stream, nd4c_dtype dtype, int64_t bytes,
                                    const char *origin, nd4c_storage **storage) {
  nd4c_storage_body *body = nd4c_storage_body_make(device, dtype, bytes, 0);
  if (body == NULL) {
    return ND4C_MEMORY;
  }
  nd4c_status status = find_memory(&body->first, stream, dtype, bytes, origin);
  if (status != ND4C_OK) {
    nd4c_recycle_give(body, sizeof *body);
    return status;
  }
  if (nd4c_device_is_immediate(device)) {
    body->base.address = body->first.block.address;
  }
  nd4c_replica_list(body, &body->first);
  *storage = &body->base;
  return ND4C_OK;
}

/* From the thread's workspace, if it has entered one. */
static ND4C_NOINLINE nd4c_status create_block(nd4c_device *device, nd4c_stream stream, nd4c_dtype dtype, int64_t bytes,
                                              const char *origin, nd4c_storage **storage) {
  nd4c_thread *thread = nd4c_thread_current;
  if (ND4C_UNLIKELY(thread != NULL && thread->workspace != NULL)) {
    ND4C_HOOK_EACH(storage_sources, nd4c_storage_source, source) {
      bool taken = false;
      nd4c_status status = source->allocate(thread, device, dtype, bytes, origin, &taken, storage);
      if (taken) {
        return status;
      }
    }
  }
  return nd4c_storage_create_own(device, stream, dtype, bytes, origin, storage);
}

nd4c_status nd4c_storage_create(nd4c_device *device, nd4c_stream stream, nd4c_dtype dtype, int64_t bytes,
                                const char *origin, nd4c_storage **storage) {
  if (bytes <= ND4C_SMALL_STORAGE_BYTES && nd4c_device_is_immediate(device) && device->index == 0 &&
      device->description.type == ND4C_DEVICE_CPU && !origins_are_recorded()) {
    return nd4c_small_storage_create(device, dtype, bytes, storage);
  }
  return create_block(device, stream, dtype, bytes, origin, storage);
}

nd4c_status nd4c_storage_own(nd4c_storage *storage) {
  nd4c_status status = ND4C_OK;
  ND4C_HOOK_EACH(storage_sources, nd4c_storage_source, source) {
    status = status == ND4C_OK ? source->move_out(storage) : status;
  }
  return status;
}

nd4c_status nd4c_storage_wrap(void *address, nd4c_dtype dtype, int64_t bytes, bool read_only,
                              nd4c_release_callback release, void *user, nd4c_storage **storage) {
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  nd4c_storage_body *body =
      nd4c_storage_body_make(host, dtype, bytes, ND4C_STORAGE_FOREIGN | (read_only ? ND4C_STORAGE_READ_ONLY : 0U));
  if (body == NULL) {
    return ND4C_MEMORY;
  }
  body->first.block.address = address;
  body->first.block.bytes = bytes;
  body->base.address = address;
  body->release = release;
  body->release_user = user;
  *storage = &body->base;
  if (nd4c_tracer_is_on()) {
    nd4c_tracer_write(body, host);
  }
  return ND4C_OK;
}

void nd4c_storage_set_release(nd4c_storage *storage, nd4c_release_callback release, void *user) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  body->release = release;
  body->release_user = user;
}
