/* Implements small_storage.h. storage.c makes small storages here; a released one goes back to its thread's list; a
 * thread that ends frees its list. */
#include "device/storage/small_storage.h"

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/status.h"

enum { FREE_LIMIT = 4096 };

static inline void bump(_Atomic int64_t *counter, int64_t by) {
  /* Written by only one thread, so no read-modify-write instruction is needed. */
  atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_relaxed);
}

static inline void set_free_count(nd4c_thread *thread, int32_t count) {
  atomic_store_explicit(&thread->small_free_count, count, memory_order_relaxed);
}

static void give_back(nd4c_small_storage *storage) {
  nd4c_memory_unreserve(storage->body.first.device, ND4C_SMALL_STORAGE_BYTES);
  nd4c_deallocate(storage);
}

static void destroy_small(nd4c_storage *base) {
  nd4c_small_storage *storage = (nd4c_small_storage *)base;
  nd4c_storage_body *body = &storage->body;
  /* An address means: current only on the host, nothing pending. */
  bool plain = atomic_load_explicit(&base->address, memory_order_relaxed) != NULL && !nd4c_storage_is_attached(body);
  if (!plain && !nd4c_storage_body_end(body)) {
    return;
  }
  nd4c_thread *thread = nd4c_thread_get();
  if (thread == NULL) {
    give_back(storage);
    return;
  }
  bump(&thread->small_live_bytes, -ND4C_SMALL_STORAGE_BYTES);
  bump(&thread->small_live_count, -1);
  int32_t count = atomic_load_explicit(&thread->small_free_count, memory_order_relaxed);
  if (count >= FREE_LIMIT) {
    give_back(storage);
    return;
  }
  storage->next = thread->small_free;
  thread->small_free = storage;
  set_free_count(thread, count + 1);
}

static nd4c_small_storage *make_small(nd4c_device *host) {
  if (nd4c_memory_reserve(host, ND4C_SMALL_STORAGE_BYTES) != ND4C_OK) {
    return NULL;
  }
  nd4c_small_storage *storage = nd4c_allocate_aligned(64, sizeof *storage);
  if (storage == NULL) {
    nd4c_memory_unreserve(host, ND4C_SMALL_STORAGE_BYTES);
    (void)nd4c_fail_memory("a small storage", sizeof *storage);
    return NULL;
  }
  storage->body = (nd4c_storage_body){0};
  storage->body.base.destroy = destroy_small;
  storage->body.first.device = host;
  storage->body.first.block.address = storage->data;
  storage->body.first.block.bytes = ND4C_SMALL_STORAGE_BYTES;
  storage->body.first.state = 'M';
  storage->next = NULL;
  return storage;
}

static inline nd4c_status hand_out(nd4c_thread *thread, nd4c_small_storage *storage, nd4c_device *host,
                                   nd4c_dtype dtype, int64_t bytes, nd4c_storage **out) {
  bump(&thread->small_live_bytes, ND4C_SMALL_STORAGE_BYTES);
  bump(&thread->small_live_count, 1);
  bump(&thread->small_total_count, 1);
  nd4c_storage *base = &storage->body.base;
  atomic_store_explicit(&base->references, 1, memory_order_relaxed);
  base->flags = 0;
  base->bytes = bytes;
  base->dtype = dtype;
  atomic_store_explicit(&base->lent, false, memory_order_relaxed);
  atomic_store_explicit(&base->device, host, memory_order_relaxed);
  atomic_store_explicit(&base->address, storage->data, memory_order_release);
  *out = base;
  return ND4C_OK;
}

/* For an empty list. A separate function, so that the common path saves no registers. */
static ND4C_NOINLINE nd4c_status create_new(nd4c_device *host, nd4c_dtype dtype, int64_t bytes, nd4c_storage **out) {
  nd4c_thread *thread = NULL;
  ND4C_TRY(nd4c_thread_find(&thread));
  nd4c_small_storage *storage = make_small(host);
  return storage != NULL ? hand_out(thread, storage, host, dtype, bytes, out) : nd4c_error_code();
}

nd4c_status nd4c_small_storage_create(nd4c_device *host, nd4c_dtype dtype, int64_t bytes, nd4c_storage **out) {
  nd4c_thread *thread = nd4c_thread_current;
  if (ND4C_UNLIKELY(thread == NULL || thread->small_free == NULL)) {
    return create_new(host, dtype, bytes, out);
  }
  nd4c_small_storage *storage = thread->small_free;
  thread->small_free = storage->next;
  set_free_count(thread, atomic_load_explicit(&thread->small_free_count, memory_order_relaxed) - 1);
  bump(&thread->small_hits, 1);
  return hand_out(thread, storage, host, dtype, bytes, out);
}

void nd4c_small_storage_trim(nd4c_thread *thread) {
  nd4c_small_storage *storage = thread->small_free;
  thread->small_free = NULL;
  set_free_count(thread, 0);
  while (storage != NULL) {
    nd4c_small_storage *next = storage->next;
    give_back(storage);
    storage = next;
  }
}

static const nd4c_thread_hook small_storages = {ND4C_THREAD_END_SMALL_STORAGES, nd4c_small_storage_trim};
ND4C_HOOK(thread_hooks, nd4c_thread_hook, small_storages);
