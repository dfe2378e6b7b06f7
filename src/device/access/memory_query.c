/* Queries of a device's memory for programs: nd4c_memory_get_info, _trim and _report. They collect from the memory
 * manager, storages, scratch and workspaces. Only programs and the Python package call them. */
#include <string.h>

#include "base/recycle.h"
#include "base/status.h"
#include "base/threads/pages.h"
#include "device/context/scope.h"
#include "device/driver.h"
#include "device/memory/held.h"
#include "device/memory/memory_body.h"
#include "device/memory/scratch.h"
#include "device/memory/staging.h"
#include "device/storage/forms.h"
#include "device/storage/imported.h"
#include "device/storage/small_storage.h"
#include "device/storage/storage.h"
#include "device/stream/exit_and_fork.h"
#include "device/stream/stream_pool.h"

static bool holds_small_storages(const nd4c_device *device) {
  nd4c_device *host = NULL;
  return nd4c_device_host(&host) == ND4C_OK && host == device;
}

nd4c_status nd4c_memory_get_info(const nd4c_device *device, nd4c_memory_info *info) {
  enum { FIRST_SIZE = offsetof(nd4c_memory_info, dropped_count) }; /* the struct's size in version 0.1 */
  ND4C_TRY(nd4c_device_check(device, "nd4c_memory_get_info"));
  if (info == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_memory_get_info: info is NULL");
  }
  if (info->struct_size < FIRST_SIZE) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_memory_info)", info->struct_size);
  }
  nd4c_storage_collect(false); /* blocks that were released while work was pending and are idle now do not count as
                                  live */
  nd4c_fence_collect(device);  /* nor do blocks that finished work kept */
  int64_t bytes = 0, count = 0, total = 0, hits = 0, cached = 0, imported_count = 0, imported_bytes = 0;
  nd4c_imports_count(device, &imported_count, &imported_bytes);
  if (holds_small_storages(device)) {
    nd4c_thread_sum_small(&bytes, &count, &total, &hits, &cached);
  }
  struct nd4c_memory_manager *manager = device->memory;
  nd4c_memory_manager_refresh_cap(manager);
  nd4c_lock_acquire(&manager->lock);
  int64_t live = manager->live_bytes + bytes;
  manager->peak_bytes = live > manager->peak_bytes ? live : manager->peak_bytes;
  const nd4c_memory_info filled = {.struct_size = info->struct_size,
                                   .live_bytes = live,
                                   .cached_bytes = manager->cached_bytes + manager->reserved_bytes - bytes,
                                   .peak_bytes = manager->peak_bytes,
                                   .cap_bytes = manager->cap_bytes,
                                   .live_count = manager->live_count + count,
                                   .total_count = manager->total_count + total,
                                   .cache_hits = manager->cache_hits + hits,
                                   .dropped_count = manager->dropped_count,
                                   .spilled_count = manager->spilled_count,
                                   .spilled_bytes = manager->spilled_bytes,
                                   .imported_count = imported_count,
                                   .imported_bytes = imported_bytes,
                                   .scratch_bytes = nd4c_scratch_bytes(device),
                                   .held_bytes = nd4c_memory_held(device)};
  nd4c_lock_release(&manager->lock);
  memcpy(info, &filled, info->struct_size < sizeof filled ? info->struct_size : sizeof filled);
  return ND4C_OK;
}

nd4c_status nd4c_memory_trim(nd4c_device *device, int64_t keep_bytes) {
  ND4C_TRY(nd4c_device_check(device, "nd4c_memory_trim"));
  if (keep_bytes < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_memory_trim: keep_bytes is %lld: expected 0 or more bytes",
                     (long long)keep_bytes);
  }
  nd4c_thread *thread = nd4c_thread_get();
  if (thread != NULL && keep_bytes == 0) {
    nd4c_small_storage_trim(thread);
  }
  nd4c_storage_collect(false);
  nd4c_fence_collect(device);
  if (keep_bytes == 0) { /* scratch goes with its stream, too */
    (void)nd4c_forms_give_way(device, INT64_MAX);
    nd4c_scope_trim(device);
    nd4c_stream_trim(device);
    nd4c_scratch_collect(device);
    (void)nd4c_held_give_way(device, INT64_MAX);
  }
  nd4c_memory_manager_trim(device->memory, keep_bytes);
  if (keep_bytes == 0) {
    nd4c_staging_trim(device);
    nd4c_pages_trim();
    nd4c_recycle_trim(); /* last, because the calls above return records */
  }
  return ND4C_OK;
}

nd4c_status nd4c_memory_reset_peak(nd4c_device *device) {
  ND4C_TRY(nd4c_device_check(device, "nd4c_memory_reset_peak"));
  nd4c_memory_info info = {.struct_size = ND4C_SIZE_OF(nd4c_memory_info)};
  ND4C_TRY(nd4c_memory_get_info(device, &info));
  nd4c_lock_acquire(&device->memory->lock);
  device->memory->peak_bytes = info.live_bytes;
  nd4c_lock_release(&device->memory->lock);
  return ND4C_OK;
}

/* Same size and origin as an older block: it has been counted there. */
static bool is_repeated(const nd4c_block_node *node) {
  for (const nd4c_block_node *other = node->older; other != NULL; other = other->older) {
    if (other->bytes == node->bytes && other->origin == node->origin) {
      return true;
    }
  }
  return false;
}

nd4c_status nd4c_memory_report(const nd4c_device *device, char **text) {
  ND4C_TRY(nd4c_device_check(device, "nd4c_memory_report"));
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_memory_report: text is NULL");
  }
  nd4c_text report = {0};
  int64_t bytes = 0, count = 0, total = 0, hits = 0, cached = 0;
  if (holds_small_storages(device)) {
    nd4c_thread_sum_small(&bytes, &count, &total, &hits, &cached);
  }
  nd4c_lock_acquire(&device->memory->lock);
  for (const nd4c_block_node *node = device->memory->alive.oldest; node != NULL; node = node->newer) {
    int64_t same = 0;
    for (const nd4c_block_node *other = node; !is_repeated(node) && other != NULL; other = other->newer) {
      same += other->bytes == node->bytes && other->origin == node->origin;
    }
    if (same > 0) {
      nd4c_text_print(&report, "%lld x %lld bytes from %s\n", (long long)same, (long long)node->bytes,
                      node->origin != NULL ? node->origin : "(origins not recorded: set nd4c.memory.origins)");
    }
  }
  nd4c_lock_release(&device->memory->lock);
  nd4c_held_print(device, &report);
  if (count > 0) {
    nd4c_text_print(&report, "%lld x %d bytes of small arrays\n", (long long)count, ND4C_SMALL_STORAGE_BYTES);
  }
  nd4c_imports_report(device, &report);
  return nd4c_text_take(&report, text);
}
