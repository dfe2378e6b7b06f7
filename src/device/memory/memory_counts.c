/* The counts of a device's memory and the memory that remains. held.c, device/storage and device/workspace add to the
 * counts; routing (device/context) and programs ask what remains. */
#include "base/status.h"
#include "device/driver.h"
#include "device/memory/memory_body.h"
#include "device/stream/exit_and_fork.h"

void nd4c_memory_note_spill(nd4c_device *device, int64_t bytes, bool saved) {
  struct nd4c_memory_manager *manager = device->memory;
  nd4c_lock_acquire(&manager->lock);
  manager->dropped_count += !saved;
  manager->spilled_count += saved;
  manager->spilled_bytes += saved ? bytes : 0;
  nd4c_lock_release(&manager->lock);
}

/* The device's free memory; if it does not report that, its total less what nd4c holds. */
static nd4c_status device_remaining(const nd4c_device *device, int64_t live, int64_t cached, int64_t *bytes) {
  if (device->ops->memory_available != NULL && !nd4c_device_is_forked(device)) {
    ND4C_TRY(nd4c_driver_memory_available(device, bytes));
    *bytes += *bytes < INT64_MAX - cached ? cached : INT64_MAX - *bytes; /* freed before a request fails */
    return ND4C_OK;
  }
  int64_t total = nd4c_device_memory_bytes(device);
  *bytes = total > 0 ? total - live : INT64_MAX;
  return ND4C_OK;
}

nd4c_status nd4c_memory_remaining(const nd4c_device *device, int64_t *bytes) {
  ND4C_TRY(nd4c_device_check(device, "nd4c_memory_remaining"));
  if (bytes == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_memory_remaining: bytes is NULL");
  }
  struct nd4c_memory_manager *manager = device->memory;
  nd4c_memory_manager_refresh_cap(manager);
  nd4c_lock_acquire(&manager->lock);
  int64_t live = manager->live_bytes + manager->reserved_bytes, cached = manager->cached_bytes;
  int64_t cap = manager->cap_bytes;
  nd4c_lock_release(&manager->lock);
  int64_t remaining = 0;
  ND4C_TRY(device_remaining(device, live, cached, &remaining));
  remaining = cap > 0 && cap - live < remaining ? cap - live : remaining;
  *bytes = remaining > 0 ? remaining : 0;
  return ND4C_OK;
}

int64_t nd4c_memory_held(const nd4c_device *device) {
  return atomic_load_explicit(&device->memory->held_bytes, memory_order_relaxed);
}

void nd4c_memory_count_held(nd4c_device *device, int64_t bytes) {
  atomic_fetch_add_explicit(&device->memory->held_bytes, bytes, memory_order_relaxed);
}

void nd4c_memory_count_arena(nd4c_device *device, int64_t bytes) {
  nd4c_lock_acquire(&device->memory->lock);
  device->memory->arena_bytes += bytes;
  nd4c_lock_release(&device->memory->lock);
}

nd4c_status nd4c_memory_set_cap(nd4c_device *device, int64_t bytes) {
  ND4C_TRY(nd4c_device_check(device, "nd4c_memory_set_cap"));
  if (bytes < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_memory_set_cap: cap is %lld: expected 0 or more bytes", (long long)bytes);
  }
  nd4c_memory_manager_refresh_cap(device->memory);
  nd4c_lock_acquire(&device->memory->lock);
  device->memory->cap_bytes = bytes;
  nd4c_lock_release(&device->memory->lock);
  return ND4C_OK;
}
