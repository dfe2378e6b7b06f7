/* Implements memory.h: allocation, the cache of freed blocks, and the retries when a device is full. device/storage,
 * device/workspace and scratch.c allocate here; device/registry makes one manager for each device. */
#include "device/memory/memory_body.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/os.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/memory/block_cache.h"
#include "device/memory/held.h"
#include "device/memory/pending_blocks.h"
#include "device/memory/reclaim.h"
#include "device/memory/scratch.h"
#include "device/stream/exit_and_fork.h"
#include "device/stream/fence.h"
#include "device/trace/tracer.h"

static nd4c_lock managers_lock = ND4C_LOCK_INIT; /* guards the list; taken before a manager's lock */
static struct nd4c_memory_manager *managers;
static nd4c_once managers_once = ND4C_ONCE_INIT;

/* A child of fork computes on the host: the hooks keep its accounts consistent and its locks free. */
static void lock_all(void) {
  nd4c_lock_acquire(&managers_lock);
  for (struct nd4c_memory_manager *manager = managers; manager != NULL; manager = manager->next) {
    nd4c_lock_acquire(&manager->lock);
  }
}

static void unlock_all(void) {
  for (struct nd4c_memory_manager *manager = managers; manager != NULL; manager = manager->next) {
    nd4c_lock_release(&manager->lock);
  }
  nd4c_lock_release(&managers_lock);
}

static void watch_forks(void) {
  nd4c_os_around_fork(lock_all, unlock_all);
}

/* Size class of a request, and the bytes of its blocks. */
static int32_t find_class(int64_t bytes, int64_t *granted) {
  if (bytes == 0) {
    *granted = 0;
    return CLASS_NOTHING;
  }
  int64_t size = bytes < (INT64_C(1) << SMALLEST_SHIFT) ? INT64_C(1) << SMALLEST_SHIFT : bytes;
  int32_t power = 63 - __builtin_clzll((unsigned long long)size);
  int64_t step = INT64_C(1) << (power - SUBCLASS_SHIFT);
  int64_t sub = (size - (INT64_C(1) << power) + step - 1) / step;
  *granted = (INT64_C(1) << power) + sub * step;
  return (power - SMALLEST_SHIFT) * SUBCLASSES + (int32_t)sub;
}

int64_t nd4c_memory_granted(int64_t bytes) {
  int64_t granted = 0;
  (void)find_class(bytes, &granted);
  return granted;
}

nd4c_status nd4c_memory_manager_make(nd4c_device *device, struct nd4c_memory_manager **out) {
  struct nd4c_memory_manager *manager = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *manager, "a memory manager", &manager));
  manager->device = device;
  manager->releases_old = device->description.type == ND4C_DEVICE_CPU; /* others wait for their work to free memory */
  manager->limit_epoch = UINT32_MAX;
  manager->cap_epoch = UINT32_MAX;
  nd4c_lock_init(&manager->lock);
  nd4c_once_run(&managers_once, watch_forks);
  nd4c_lock_acquire(&managers_lock);
  manager->next = managers;
  managers = manager;
  nd4c_lock_release(&managers_lock);
  *out = manager;
  return ND4C_OK;
}

nd4c_device *nd4c_memory_find_device(const char *backend, const void *handle) {
  const size_t length = strlen(backend);
  nd4c_device *found = NULL;
  nd4c_lock_acquire(&managers_lock);
  for (struct nd4c_memory_manager *manager = managers; manager != NULL && found == NULL; manager = manager->next) {
    nd4c_device *device = manager->device;
    const bool named = strncmp(device->name, backend, length) == 0 && device->name[length] == ':';
    found = named && device->handle == handle ? device : NULL;
  }
  nd4c_lock_release(&managers_lock);
  return found;
}

static void free_node(struct nd4c_memory_manager *manager, nd4c_block_node *node) {
  if (!nd4c_device_is_forked(manager->device)) {
    nd4c_driver_buffer_free(manager->device, node->buffer);
  }
  nd4c_deallocate(node);
}

void nd4c_memory_manager_trim(struct nd4c_memory_manager *manager, int64_t keep_bytes) {
  for (;;) {
    nd4c_lock_acquire(&manager->lock);
    bool more = manager->cached_bytes > keep_bytes || keep_bytes == 0;
    nd4c_block_node *node = more ? nd4c_block_cache_take_oldest(manager) : NULL;
    nd4c_lock_release(&manager->lock);
    if (node == NULL) {
      return;
    }
    free_node(manager, node);
  }
}

void nd4c_memory_manager_free(struct nd4c_memory_manager *manager) {
  if (manager != NULL) {
    nd4c_held_abandon(manager->device);
    nd4c_memory_manager_trim(manager, 0);
    nd4c_lock_acquire(&managers_lock);
    struct nd4c_memory_manager **link = &managers;
    while (*link != manager) {
      link = &(*link)->next;
    }
    *link = manager->next;
    nd4c_lock_release(&managers_lock);
    nd4c_lock_destroy(&manager->lock);
    nd4c_deallocate(manager);
  }
}

/* `asked` bytes were requested; the rest of the bytes that do not fit is rounding. */
static nd4c_status fail_cap(struct nd4c_memory_manager *manager, int64_t live, int64_t cached, int64_t bytes,
                            int64_t asked, int64_t cap) {
  char arenas[64] = "", held[64] = "", rounded[64] = "";
  const int64_t held_bytes = nd4c_memory_held(manager->device);
  nd4c_lock_acquire(&manager->lock);
  int64_t arena_bytes = manager->arena_bytes;
  nd4c_lock_release(&manager->lock);
  if (arena_bytes > 0) {
    (void)snprintf(arenas, sizeof arenas, " (%lld of them in arenas of workspaces)", (long long)arena_bytes);
  }
  if (held_bytes > 0) {
    (void)snprintf(held, sizeof held, " (%lld held by backends)", (long long)held_bytes);
  }
  if (asked != bytes) {
    (void)snprintf(rounded, sizeof rounded, " (rounded up to %lld)", (long long)bytes);
  }
  return nd4c_fail(ND4C_MEMORY_CAP,
                   "memory cap of %s exceeded: %lld bytes in use%s%s and %lld cached, %lld more requested%s, cap %lld",
                   manager->device->name, (long long)live, arenas, held, (long long)cached, (long long)asked, rounded,
                   (long long)cap);
}

/* Takes up a change of the properties that cap the device; what nd4c_memory_set_cap said holds until then. */
void nd4c_memory_manager_refresh_cap(struct nd4c_memory_manager *manager) {
  uint32_t epoch = atomic_load_explicit(&nd4c_config_epoch, memory_order_acquire);
  if (atomic_load_explicit(&manager->cap_epoch, memory_order_relaxed) == epoch) {
    return;
  }
  int64_t configured = nd4c_memory_configured_cap(manager->device);
  bool spills = nd4c_config_bool(ND4C_CONFIG_DEVICE_SPILL);
  nd4c_lock_acquire(&manager->lock);
  if (configured != manager->configured_cap) {
    manager->configured_cap = manager->cap_bytes = configured;
  }
  manager->spills = spills;
  atomic_store_explicit(&manager->cap_epoch, epoch, memory_order_relaxed);
  nd4c_lock_release(&manager->lock);
}

static bool ask_for_room(nd4c_reclaim_order order, const nd4c_device *device, int64_t bytes) {
  bool gave = false;
  ND4C_HOOK_EACH(reclaimers, nd4c_reclaimer, r) {
    gave = (r->order == order && r->give_way(device, bytes)) || gave;
  }
  return gave;
}

/* Frees blocks that were released while work on them was pending. */
static void collect_released(bool wait) {
  ND4C_HOOK_EACH(reclaimers, nd4c_reclaimer, r) {
    if (r->collect != NULL) {
      r->collect(wait);
    }
  }
}

/* Asks the reclaimers to free `bytes` on the device. True if another attempt is worthwhile. */
static bool make_room(struct nd4c_memory_manager *manager, int64_t bytes, const char *origin) {
  if (ask_for_room(ND4C_RECLAIM_ARENAS, manager->device, bytes) ||
      ask_for_room(ND4C_RECLAIM_FORMS, manager->device, bytes) || nd4c_held_give_way(manager->device, bytes)) {
    return true;
  }
  nd4c_lock_acquire(&manager->lock);
  bool wanted = manager->spills;
  nd4c_lock_release(&manager->lock);
  bool traced = wanted && nd4c_tracer_is_on();
  if (traced) {
    nd4c_tracer_make_room(origin != NULL ? origin : "memory");
  }
  bool spilled = wanted && ask_for_room(ND4C_RECLAIM_REPLICAS, manager->device, bytes);
  if (traced) {
    nd4c_tracer_make_room(NULL);
  }
  return spilled;
}

/* Makes room under the cap for `bytes`, by trimming and then by the reclaimers; counts them as live on success. */
static nd4c_status reserve(struct nd4c_memory_manager *manager, int64_t bytes, int64_t asked, const char *origin,
                           int64_t *counter) {
  ND4C_TRY(nd4c_held_check());
  nd4c_memory_manager_refresh_cap(manager);
  for (int attempt = 0;; attempt++) {
    nd4c_lock_acquire(&manager->lock);
    int64_t live = manager->live_bytes + manager->reserved_bytes, cached = manager->cached_bytes;
    int64_t cap = manager->cap_bytes;
    bool fits = cap == 0 || bytes == 0 || (bytes <= cap && live + cached <= cap - bytes);
    if (fits) {
      *counter += bytes;
    }
    nd4c_lock_release(&manager->lock);
    if (fits) {
      return ND4C_OK;
    }
    bool hopeless = attempt >= 1 && bytes > cap; /* the request alone exceeds the cap, so neither trimming nor waiting
                                                    helps */
    if (hopeless || (attempt >= 2 && !make_room(manager, live + bytes - cap, origin))) {
      return fail_cap(manager, live, cached, bytes, asked, cap);
    }
    if (attempt == 1) {
      nd4c_fence_settle_all(manager->device); /* work in flight keeps memory until it ends */
    }
    collect_released(attempt == 1);
    nd4c_scratch_collect(manager->device);
    nd4c_memory_manager_trim(manager, cap - live - bytes > 0 ? cap - live - bytes : 0);
  }
}

static void unreserve(struct nd4c_memory_manager *manager, int64_t bytes, int64_t *counter) {
  nd4c_lock_acquire(&manager->lock);
  *counter -= bytes;
  nd4c_lock_release(&manager->lock);
}

/* The peak counts granted bytes, not requested ones. Under the lock. */
static void note_peak(struct nd4c_memory_manager *manager) {
  int64_t live = manager->live_bytes + manager->reserved_bytes;
  manager->peak_bytes = live > manager->peak_bytes ? live : manager->peak_bytes;
}

/* Counts memory that no block follows, so the peak is noted at once. */
static nd4c_status take(struct nd4c_memory_manager *manager, int64_t bytes, const char *origin, int64_t *counter) {
  ND4C_TRY(reserve(manager, bytes, bytes, origin, counter));
  nd4c_lock_acquire(&manager->lock);
  note_peak(manager);
  nd4c_lock_release(&manager->lock);
  return ND4C_OK;
}

nd4c_status nd4c_memory_reserve(nd4c_device *device, int64_t bytes) {
  return take(device->memory, bytes, NULL, &device->memory->reserved_bytes);
}

void nd4c_memory_unreserve(nd4c_device *device, int64_t bytes) {
  unreserve(device->memory, bytes, &device->memory->reserved_bytes);
}

nd4c_status nd4c_memory_hold(nd4c_device *device, int64_t bytes, const char *origin) {
  return take(device->memory, bytes, origin, &device->memory->live_bytes);
}

void nd4c_memory_unhold(nd4c_device *device, int64_t bytes) {
  unreserve(device->memory, bytes, &device->memory->live_bytes);
}

/* Frees blocks that nd4c_block_cache_take_old took from the cache. */
static void free_old(struct nd4c_memory_manager *manager, nd4c_block_node *old) {
  while (old != NULL) {
    nd4c_block_node *next = old->bin_next;
    free_node(manager, old);
    old = next;
  }
}

/* A block from the cache. NULL: there is none. nd4c_memory_free gives blocks that have grown too old back to the
 * system, where the caller waits for nothing; a caller that frees nothing for long does it here, before its fresh block
 * adds to them. */
static nd4c_block_node *take_cached(struct nd4c_memory_manager *manager, int32_t size_class) {
  nd4c_lock_acquire(&manager->lock);
  /* The cap was lowered below the usage: the cache is freed first. */
  int64_t held = manager->live_bytes + manager->reserved_bytes + manager->cached_bytes;
  bool usable = manager->cap_bytes == 0 || held <= manager->cap_bytes;
  nd4c_block_node *node = usable ? nd4c_block_cache_take(manager, size_class) : NULL;
  if (node != NULL) {
    manager->live_bytes += node->bytes;
    manager->cache_hits++;
    note_peak(manager);
  } else {
    nd4c_block_cache_miss(manager, size_class);
  }
  nd4c_block_node *old = node == NULL ? nd4c_block_cache_take_old(manager, true) : NULL;
  nd4c_lock_release(&manager->lock);
  free_old(manager, old);
  return node;
}

/* Whether the device, if it were empty, could allocate that many bytes in one piece, as far as is known. */
static bool is_possible(const nd4c_device *device, int64_t bytes) {
  int64_t total = nd4c_device_memory_bytes(device), largest = device->description.largest_bytes;
  return (total <= 0 || bytes <= total) && (largest <= 0 || bytes <= largest);
}

/* A buffer for a node, with its address. If the device is out of memory, frees cached and pending blocks and tries
 * again. */
static nd4c_status make_buffer(struct nd4c_memory_manager *manager, const nd4c_memory_request *request, int64_t bytes,
                               nd4c_block_node *node) {
  nd4c_device *device = manager->device;
  const nd4c_dtype_info *dtype = nd4c_dtype_get_info(request->dtype);
  const int64_t size = bytes > 0 ? bytes : INT64_C(1) << SMALLEST_SHIFT;
  const int64_t count = dtype != NULL ? request->bytes / dtype->block_bytes * dtype->block_elements : 0;
  const nd4c_buffer_descriptor descriptor = {.struct_size = ND4C_SIZE_OF(nd4c_buffer_descriptor),
                                             .kind = ND4C_MEMORY_KIND_DEVICE,
                                             .usage = request->usage,
                                             .dtype = request->dtype,
                                             .bytes = size,
                                             .alignment = device->description.alignment,
                                             .layout = ND4C_LAYOUT_STRIDED,
                                             .rank = dtype != NULL ? 1 : 0,
                                             .shape = &count,
                                             .stream = request->stream};
  nd4c_status status = nd4c_driver_buffer_allocate(device, &descriptor, &node->buffer);
  if (status == ND4C_MEMORY && nd4c_pending_blocks_free_on(device, request->stream)) {
    nd4c_memory_manager_trim(manager, 0);
    status = nd4c_driver_buffer_allocate(device, &descriptor, &node->buffer);
  }
  if (status == ND4C_MEMORY && is_possible(device, size)) {
    nd4c_fence_settle_all(device);
    collect_released(true);
    nd4c_scratch_collect(device);
    nd4c_memory_manager_trim(manager, 0);
    status = nd4c_driver_buffer_allocate(device, &descriptor, &node->buffer);
    while (status == ND4C_MEMORY && make_room(manager, bytes, request->origin)) {
      nd4c_memory_manager_trim(manager, 0);
      status = nd4c_driver_buffer_allocate(device, &descriptor, &node->buffer);
    }
  }
  ND4C_TRY(status);
  status = nd4c_driver_buffer_address(device, node->buffer, descriptor.kind, &node->address);
  if (status != ND4C_OK) {
    nd4c_driver_buffer_free(device, node->buffer);
  }
  return status;
}

/* `bytes`: the rounded size of the request. */
static nd4c_status allocate_node(struct nd4c_memory_manager *manager, int32_t size_class, int64_t bytes,
                                 const nd4c_memory_request *request, nd4c_block_node **out) {
  nd4c_device *device = manager->device;
  ND4C_TRY(nd4c_device_admit(device));
  ND4C_TRY(reserve(manager, bytes, request->bytes, request->origin, &manager->live_bytes));
  nd4c_block_node *node = nd4c_allocate_zeroed(1, sizeof *node);
  nd4c_status status =
      node == NULL ? nd4c_fail_memory("a block's record", sizeof *node) : make_buffer(manager, request, bytes, node);
  if (status != ND4C_OK) {
    unreserve(manager, bytes, &manager->live_bytes);
    nd4c_deallocate(node);
    return status;
  }
  node->bytes = bytes;
  node->size_class = size_class;
  *out = node;
  return ND4C_OK;
}

nd4c_status nd4c_memory_allocate(nd4c_device *device, const nd4c_memory_request *request, nd4c_block *block) {
  struct nd4c_memory_manager *manager = device->memory;
  const int64_t bytes = request->bytes;
  if (bytes < 0 || bytes > INT64_C(1) << 56) {
    return nd4c_fail(ND4C_OVERFLOW, "%lld bytes cannot be allocated on %s", (long long)bytes, device->name);
  }
  int64_t granted = 0;
  int32_t size_class = find_class(bytes, &granted);
  nd4c_memory_manager_refresh_cap(manager);
  nd4c_block_node *node = take_cached(manager, size_class);
  if (node == NULL) {
    ND4C_TRY(allocate_node(manager, size_class, granted, request, &node));
  }
  nd4c_lock_acquire(&manager->lock);
  manager->total_count++;
  manager->live_count++;
  manager->granted_bytes += node->bytes;
  note_peak(manager);
  node->origin = request->origin;
  nd4c_block_list_push(&manager->alive, node);
  nd4c_lock_release(&manager->lock);
  *block = (nd4c_block){.buffer = node->buffer, .address = node->address, .bytes = node->bytes, .node = node};
  if (nd4c_tracer_is_on()) {
    nd4c_tracer_allocate(device, node->bytes, request->origin);
  }
  return ND4C_OK;
}

/* Under the lock. */
static void count_out(struct nd4c_memory_manager *manager, nd4c_block_node *node) {
  nd4c_block_list_remove(&manager->alive, node);
  manager->live_count--;
  manager->live_bytes -= node->bytes;
  node->origin = NULL;
}

static void free_adopted(struct nd4c_memory_manager *manager, nd4c_block_node *node) {
  nd4c_lock_acquire(&manager->lock);
  count_out(manager, node);
  nd4c_lock_release(&manager->lock);
  free_node(manager, node);
}

void nd4c_memory_free(nd4c_device *device, nd4c_block *block) {
  struct nd4c_memory_manager *manager = device->memory;
  nd4c_block_node *node = block->node;
  *block = (nd4c_block){0};
  if (nd4c_tracer_is_on()) {
    nd4c_tracer_free(device, node->bytes);
  }
  if (ND4C_UNLIKELY(node->size_class == CLASS_ADOPTED)) {
    free_adopted(manager, node);
    return;
  }
  uint32_t epoch = atomic_load_explicit(&nd4c_config_epoch, memory_order_relaxed);
  int64_t limit = atomic_load_explicit(&manager->limit_epoch, memory_order_relaxed) != epoch
                      ? nd4c_config_int(ND4C_CONFIG_MEMORY_CACHE)
                      : -1;
  nd4c_lock_acquire(&manager->lock);
  if (limit >= 0) {
    manager->cache_limit = limit;
    atomic_store_explicit(&manager->limit_epoch, epoch, memory_order_relaxed);
  }
  limit = manager->cache_limit;
  count_out(manager, node);
  nd4c_block_cache_put(manager, node);
  bool over = manager->cached_bytes > limit;
  nd4c_block_node *old = nd4c_block_cache_take_old(manager, false);
  nd4c_lock_release(&manager->lock);
  free_old(manager, old);
  if (over) {
    nd4c_memory_manager_trim(manager, limit);
  }
}

void nd4c_memory_free_on(nd4c_device *device, nd4c_block *block, nd4c_stream stream) {
  struct nd4c_memory_manager *manager = device->memory;
  nd4c_block_node *node = block->node;
  *block = (nd4c_block){0};
  if (nd4c_tracer_is_on()) {
    nd4c_tracer_free(device, node->bytes);
  }
  nd4c_lock_acquire(&manager->lock);
  nd4c_block_list_remove(&manager->alive, node);
  manager->live_count--;
  manager->live_bytes -= node->bytes;
  nd4c_lock_release(&manager->lock);
  nd4c_driver_buffer_free_on(device, node->buffer, stream);
  nd4c_deallocate(node);
}

nd4c_status nd4c_memory_adopt(nd4c_device *device, nd4c_buffer buffer, int64_t bytes, const char *origin,
                              nd4c_block *block) {
  struct nd4c_memory_manager *manager = device->memory;
  void *address = NULL;
  ND4C_TRY(nd4c_driver_buffer_address(device, buffer, ND4C_MEMORY_KIND_DEVICE, &address));
  nd4c_block_node *node = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *node, "a block's record", &node));
  *node = (nd4c_block_node){
      .buffer = buffer, .address = address, .bytes = bytes, .size_class = CLASS_ADOPTED, .origin = origin};
  nd4c_lock_acquire(&manager->lock);
  manager->total_count++;
  manager->live_count++;
  manager->live_bytes += bytes;
  note_peak(manager);
  nd4c_block_list_push(&manager->alive, node);
  nd4c_lock_release(&manager->lock);
  *block = (nd4c_block){.buffer = buffer, .address = address, .bytes = bytes, .node = node};
  if (nd4c_tracer_is_on()) {
    nd4c_tracer_allocate(device, bytes, origin);
  }
  return ND4C_OK;
}

bool nd4c_memory_is_adopted(const nd4c_block *block) {
  return block->node != NULL && block->node->size_class == CLASS_ADOPTED;
}

void nd4c_memory_take_over(nd4c_device *device, const nd4c_block *block, const char *origin) {
  struct nd4c_memory_manager *manager = device->memory;
  nd4c_lock_acquire(&manager->lock);
  manager->total_count++;
  manager->cache_hits++;
  block->node->origin = origin;
  nd4c_lock_release(&manager->lock);
  if (nd4c_tracer_is_on()) {
    nd4c_tracer_free(device, block->bytes);
    nd4c_tracer_allocate(device, block->bytes, origin);
  }
}
