#include "device/storage.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config.h"
#include "base/os.h"
#include "base/status.h"
#include "device/small_storage.h"
#include "device/storage_body.h"
#include "device/tracer.h"
#include "device/transfer_stream.h"

/* Locks of storages, chosen by address: a storage is small and there are many; work under the lock is rare. */
enum { LOCK_COUNT = 64 };
static pthread_mutex_t locks[LOCK_COUNT];
static pthread_once_t locks_once = PTHREAD_ONCE_INIT;

static pthread_mutex_t grave_lock = PTHREAD_MUTEX_INITIALIZER;
static nd4c_storage_body *graves;

static void make_locks(void) {
  for (int i = 0; i < LOCK_COUNT; ++i) {
    pthread_mutex_init(&locks[i], NULL);
  }
}

static pthread_mutex_t *lock_of(const nd4c_storage_body *body) {
  pthread_once(&locks_once, make_locks);
  return &locks[((uintptr_t)body >> 8) % LOCK_COUNT];
}

/* -- life ----------------------------------------------------------------------------------------------------- */

static void release_fences(nd4c_replica *replica) {
  nd4c_fence_release(replica->written);
  replica->written = NULL;
  for (int i = 0; i < ND4C_REPLICA_READS; ++i) {
    nd4c_fence_release(replica->reads[i]);
    replica->reads[i] = NULL;
  }
}

void nd4c_storage_body_reset(nd4c_storage_body *body) {
  release_fences(&body->first);
  body->first.state = 'M';
  for (nd4c_replica *replica = body->first.next; replica != NULL;) {
    nd4c_replica *next = replica->next;
    release_fences(replica);
    nd4c_memory_free(replica->device, &replica->block);
    nd4c_deallocate(replica);
    replica = next;
  }
  body->first.next = NULL;
  nd4c_deallocate(body->poison_text);
  body->poison_text = NULL;
  body->poison = ND4C_OK;
}

bool nd4c_storage_body_is_idle(nd4c_storage_body *body) {
  for (const nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    if (!nd4c_fence_is_ready(replica->written)) {
      return false;
    }
    for (int i = 0; i < ND4C_REPLICA_READS; ++i) {
      if (!nd4c_fence_is_ready(replica->reads[i])) {
        return false;
      }
    }
  }
  return true;
}

void nd4c_storage_bury(nd4c_storage_body *body) {
  pthread_mutex_lock(&grave_lock);
  body->grave_next = graves;
  graves = body;
  pthread_mutex_unlock(&grave_lock);
}

static void wait_for_all(nd4c_storage_body *body) {
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    nd4c_fence_settle(replica->written);
    for (int i = 0; i < ND4C_REPLICA_READS; ++i) {
      nd4c_fence_settle(replica->reads[i]);
    }
  }
}

void nd4c_storage_collect(bool wait) {
  pthread_mutex_lock(&grave_lock);
  nd4c_storage_body *body = graves;
  graves = NULL;
  pthread_mutex_unlock(&grave_lock);
  while (body != NULL) {
    nd4c_storage_body *next = body->grave_next;
    body->grave_next = NULL;
    if (wait) {
      wait_for_all(body);
    }
    body->base.destroy(&body->base); /* buries it again if it is still busy */
    body = next;
  }
}

static void destroy_storage(nd4c_storage *base) {
  nd4c_storage_body *body = (nd4c_storage_body *)base;
  if (!nd4c_storage_body_is_idle(body)) {
    nd4c_storage_bury(body);
    return;
  }
  nd4c_storage_body_reset(body);
  if (body->first.block.node != NULL) {
    nd4c_memory_free(body->first.device, &body->first.block);
  }
  nd4c_release_callback release = body->release;
  void *user = body->release_user;
  nd4c_deallocate(body);
  if (release != NULL) {
    release(user);
  }
}

static nd4c_storage_body *make_body(nd4c_device *device, int64_t bytes, uint32_t flags) {
  nd4c_storage_body *body = nd4c_allocate_zeroed(1, sizeof *body);
  if (body == NULL) {
    (void)nd4c_fail_memory("a storage", sizeof *body);
    return NULL;
  }
  body->base.references = 1;
  body->base.flags = flags;
  body->base.bytes = bytes;
  body->base.destroy = destroy_storage;
  body->base.device = device;
  body->first.device = device;
  body->first.state = 'M';
  return body;
}

/* Whether every block's origin is to be recorded; then small arrays are ordinary blocks too. */
static bool origins_are_recorded(void) {
  static _Atomic uint64_t cached; /* epoch + 1 above, the value in bit 0 */
  uint64_t epoch = (uint64_t)atomic_load_explicit(&nd4c_config_epoch, memory_order_relaxed) + 1;
  uint64_t known = atomic_load_explicit(&cached, memory_order_relaxed);
  if (known >> 1 != epoch) {
    known = epoch << 1 | (nd4c_config_bool(ND4C_CONFIG_MEMORY_ORIGINS) ? 1 : 0);
    atomic_store_explicit(&cached, known, memory_order_relaxed);
  }
  return (known & 1) != 0;
}

static inline bool has_usable_address(const nd4c_device *device) {
  return device->description.host_addressable && !device->description.asynchronous;
}

nd4c_status nd4c_storage_create(nd4c_device *device, int64_t bytes, const char *origin, nd4c_storage **storage) {
  if (bytes <= ND4C_SMALL_STORAGE_BYTES && has_usable_address(device) && device->index == 0 &&
      device->description.type == ND4C_DEVICE_CPU && !origins_are_recorded()) {
    return nd4c_small_storage_create(device, bytes, storage);
  }
  if (device->description.asynchronous) {
    nd4c_storage_collect(false);
  }
  nd4c_storage_body *body = make_body(device, bytes, 0);
  if (body == NULL) {
    return ND4C_MEMORY;
  }
  nd4c_status status = nd4c_memory_allocate(device, bytes, origin, &body->first.block);
  if (status != ND4C_OK) {
    nd4c_deallocate(body);
    return status;
  }
  if (has_usable_address(device)) {
    body->base.address = body->first.block.address;
  }
  *storage = &body->base;
  return ND4C_OK;
}

nd4c_status nd4c_storage_wrap(void *address, int64_t bytes, bool read_only, nd4c_release_callback release, void *user,
                              nd4c_storage **storage) {
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  nd4c_storage_body *body = make_body(host, bytes, ND4C_STORAGE_FOREIGN | (read_only ? ND4C_STORAGE_READ_ONLY : 0U));
  if (body == NULL) {
    return ND4C_MEMORY;
  }
  body->first.block.address = address;
  body->first.block.bytes = bytes;
  body->base.address = address;
  body->release = release;
  body->release_user = user;
  *storage = &body->base;
  return ND4C_OK;
}

/* -- coherence ------------------------------------------------------------------------------------------------ */

static nd4c_replica *find_replica(nd4c_storage_body *body, const nd4c_device *device) {
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    if (replica->device == device) {
      return replica;
    }
  }
  return NULL;
}

static nd4c_replica *find_current(nd4c_storage_body *body) {
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    if (replica->state != 'I') {
      return replica;
    }
  }
  return NULL;
}

static nd4c_status add_replica(nd4c_storage_body *body, nd4c_device *device, nd4c_replica **out) {
  nd4c_replica *replica = nd4c_allocate_zeroed(1, sizeof *replica);
  if (replica == NULL) {
    return nd4c_fail_memory("a replica", sizeof *replica);
  }
  nd4c_status status = nd4c_memory_allocate(device, body->base.bytes, "a replica", &replica->block);
  if (status != ND4C_OK) {
    nd4c_deallocate(replica);
    return status;
  }
  replica->device = device;
  replica->state = 'I';
  replica->next = body->first.next;
  body->first.next = replica;
  *out = replica;
  return ND4C_OK;
}

/* Publishes or withdraws the address through which the host may use the storage without asking. */
static void update_address(nd4c_storage_body *body) {
  nd4c_replica *only = NULL;
  int current = 0;
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    if (replica->state != 'I') {
      only = replica;
      ++current;
    }
  }
  bool direct = current == 1 && body->poison == ND4C_OK && has_usable_address(only->device) && only->written == NULL;
  for (int i = 0; direct && i < ND4C_REPLICA_READS; ++i) {
    direct = only->reads[i] == NULL;
  }
  atomic_store(&body->base.address, direct ? only->block.address : NULL);
}

static nd4c_status fail_poisoned(const nd4c_storage_body *body) {
  return nd4c_fail(body->poison, "%s", body->poison_text != NULL ? body->poison_text : "a failed operation");
}

static void set_poison(nd4c_storage_body *body, nd4c_status code, const char *text) {
  nd4c_deallocate(body->poison_text);
  body->poison = code;
  body->poison_text = nd4c_duplicate_text(text);
  update_address(body);
}

/* Waits for the work that writes `source`; if that failed the storage has no value. */
static nd4c_status settle_source(nd4c_storage_body *body, nd4c_replica *source) {
  nd4c_status status = nd4c_fence_wait(source->written);
  if (status != ND4C_OK) {
    set_poison(body, status, nd4c_error_message());
    return status;
  }
  nd4c_fence_release(source->written);
  source->written = NULL;
  return ND4C_OK;
}

/* Brings `target` up to date. Transfers are complete when this returns. */
static nd4c_status copy_replica(nd4c_storage_body *body, nd4c_replica *target) {
  nd4c_replica *source = find_current(body);
  if (source == NULL) {
    return nd4c_fail(ND4C_INTERNAL, "a storage without a current replica");
  }
  ND4C_TRY(settle_source(body, source));
  int64_t begin = nd4c_tracer_is_on() ? nd4c_os_nanoseconds() : 0;
  ND4C_TRY(nd4c_transfer_copy(source->device, &source->block, target->device, &target->block, body->base.bytes));
  if (nd4c_tracer_is_on()) {
    nd4c_tracer_copy(begin, body, source->device, target->device, body->base.bytes);
  }
  source->state = target->state = 'S';
  return ND4C_OK;
}

/* Lets work on `stream` come after everything that still uses the replica. */
static nd4c_status order_after(nd4c_replica *replica, nd4c_stream stream, bool writes) {
  ND4C_TRY(nd4c_fence_enqueue_wait(replica->written, replica->device, stream));
  for (int i = 0; writes && i < ND4C_REPLICA_READS; ++i) {
    ND4C_TRY(nd4c_fence_enqueue_wait(replica->reads[i], replica->device, stream));
  }
  return ND4C_OK;
}

static nd4c_status acquire_slowly(nd4c_storage_body *body, nd4c_device *device, nd4c_stream stream, nd4c_access access,
                                  nd4c_replica_view *view) {
  if (access != ND4C_ACCESS_WRITE && body->poison != ND4C_OK) {
    return fail_poisoned(body);
  }
  nd4c_replica *replica = find_replica(body, device);
  if (replica == NULL) {
    ND4C_TRY(add_replica(body, device, &replica));
  }
  if (access != ND4C_ACCESS_WRITE && replica->state == 'I') {
    ND4C_TRY(copy_replica(body, replica));
    update_address(body);
  }
  if (!device->description.asynchronous && access != ND4C_ACCESS_WRITE) {
    ND4C_TRY(settle_source(body, replica));
  }
  ND4C_TRY(order_after(replica, stream, access != ND4C_ACCESS_READ));
  view->address = device->description.host_addressable ? replica->block.address : NULL;
  view->buffer = replica->block.buffer;
  view->written = access != ND4C_ACCESS_WRITE ? nd4c_fence_retain(replica->written) : NULL;
  return ND4C_OK;
}

nd4c_status nd4c_storage_acquire(nd4c_storage *storage, nd4c_device *device, nd4c_stream stream, nd4c_access access,
                                 nd4c_replica_view *view) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  *view = (nd4c_replica_view){0};
  if (access != ND4C_ACCESS_READ && (storage->flags & ND4C_STORAGE_READ_ONLY) != 0) {
    return nd4c_fail(ND4C_READ_ONLY, "the array's storage is read-only");
  }
  void *address = nd4c_storage_ready_address(storage, device);
  if (address != NULL) {
    view->address = address;
    view->buffer = body->first.device == device ? body->first.block.buffer : NULL;
    return ND4C_OK;
  }
  pthread_mutex_lock(lock_of(body));
  nd4c_status status = acquire_slowly(body, device, stream, access, view);
  pthread_mutex_unlock(lock_of(body));
  return status;
}

/* Remembers work that reads the replica; finished entries make room, else the oldest is waited for. */
static void add_read(nd4c_replica *replica, nd4c_shared_fence *fence) {
  for (int i = 0; i < ND4C_REPLICA_READS; ++i) {
    if (replica->reads[i] == NULL || nd4c_fence_is_ready(replica->reads[i])) {
      nd4c_fence_release(replica->reads[i]);
      replica->reads[i] = nd4c_fence_retain(fence);
      return;
    }
  }
  nd4c_fence_settle(replica->reads[0]);
  nd4c_fence_release(replica->reads[0]);
  memmove(&replica->reads[0], &replica->reads[1], (ND4C_REPLICA_READS - 1) * sizeof replica->reads[0]);
  replica->reads[ND4C_REPLICA_READS - 1] = nd4c_fence_retain(fence);
}

static void commit_write(nd4c_storage_body *body, nd4c_replica *written, nd4c_shared_fence *fence) {
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    replica->state = replica == written ? 'M' : 'I';
  }
  release_fences(written); /* the new fence lies behind all of them on the stream */
  written->written = nd4c_fence_retain(fence);
  nd4c_deallocate(body->poison_text);
  body->poison_text = NULL;
  body->poison = ND4C_OK;
  atomic_store(&body->base.device, written->device);
  update_address(body);
}

void nd4c_storage_commit(nd4c_storage *storage, nd4c_device *device, nd4c_access access, nd4c_shared_fence *fence) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  if (fence == NULL && nd4c_storage_ready_address(storage, device) != NULL) {
    return;
  }
  pthread_mutex_lock(lock_of(body));
  nd4c_replica *replica = find_replica(body, device);
  if (replica != NULL && access != ND4C_ACCESS_READ) {
    commit_write(body, replica, fence);
  } else if (replica != NULL && fence != NULL) {
    add_read(replica, fence);
    update_address(body);
  }
  pthread_mutex_unlock(lock_of(body));
}

void nd4c_storage_poison(nd4c_storage *storage, nd4c_status code, const char *text) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  pthread_mutex_lock(lock_of(body));
  set_poison(body, code, text);
  pthread_mutex_unlock(lock_of(body));
}

void nd4c_storage_spare(nd4c_storage *storage, const nd4c_device *device) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  pthread_mutex_lock(lock_of(body));
  nd4c_deallocate(body->poison_text);
  body->poison_text = NULL;
  body->poison = ND4C_OK;
  nd4c_replica *suspect = find_replica(body, device), *current = NULL;
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    current = replica != suspect && replica->state != 'I' ? replica : current;
  }
  if (suspect != NULL && current != NULL) {
    suspect->state = 'I';
    atomic_store(&body->base.device, current->device);
  }
  update_address(body);
  pthread_mutex_unlock(lock_of(body));
}

nd4c_status nd4c_storage_wait(nd4c_storage *storage) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  if (atomic_load(&storage->address) != NULL) {
    return ND4C_OK;
  }
  pthread_mutex_lock(lock_of(body));
  nd4c_replica *current = find_current(body);
  nd4c_status status = body->poison != ND4C_OK ? fail_poisoned(body)
                       : current != NULL       ? settle_source(body, current)
                                               : ND4C_OK;
  pthread_mutex_unlock(lock_of(body));
  return status;
}

char nd4c_storage_state(nd4c_storage *storage, const nd4c_device *device) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  pthread_mutex_lock(lock_of(body));
  const nd4c_replica *replica = find_replica(body, device);
  char state = replica != NULL ? replica->state : '-';
  pthread_mutex_unlock(lock_of(body));
  return state;
}

nd4c_status nd4c_storage_upload(nd4c_storage *storage, const void *host, int64_t bytes) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  if ((storage->flags & ND4C_STORAGE_READ_ONLY) != 0) {
    return nd4c_fail(ND4C_READ_ONLY, "the array's storage is read-only");
  }
  pthread_mutex_lock(lock_of(body));
  nd4c_replica *replica = find_replica(body, atomic_load(&storage->device));
  /* How the work that used it so far ended does not matter to a new value. */
  wait_for_all(body);
  int64_t begin = nd4c_tracer_is_on() ? nd4c_os_nanoseconds() : 0;
  nd4c_status status = nd4c_transfer_from_host(replica->device, &replica->block, host, bytes);
  if (status == ND4C_OK) {
    if (nd4c_tracer_is_on()) {
      nd4c_tracer_copy(begin, body, NULL, replica->device, bytes);
      nd4c_tracer_write(body, replica->device);
    }
    commit_write(body, replica, NULL);
  }
  pthread_mutex_unlock(lock_of(body));
  return status;
}

void nd4c_storage_set_release(nd4c_storage *storage, nd4c_release_callback release, void *user) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  body->release = release;
  body->release_user = user;
}
