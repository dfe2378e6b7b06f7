/* Implements staging.h. device/storage/transfer_stream.c takes a buffer while it copies, device/storage/cargo.c for
 * copies that are in flight; device/registry makes the buffers when it opens a device. */
#include "device/memory/staging.h"

#include "base/alloc.h"
#include "base/config/log.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/stream/exit_and_fork.h"
#include "device/stream/fence.h"

enum { IDLE_LIMIT = 8, SPARE_LIMIT = 8 };

struct nd4c_staging {
  nd4c_device *device;
  nd4c_lock lock; /* guards the fields below; not held while the backend runs */
  int32_t count;
  int32_t spared; /* lent for work in flight */
  nd4c_staging_buffer idle[IDLE_LIMIT];
};

nd4c_status nd4c_staging_make(nd4c_device *device, struct nd4c_staging **out) {
  const nd4c_device_description *description = &device->description;
  *out = NULL;
  if ((description->memory_kinds & ND4C_MEMORY_KIND_BIT(ND4C_MEMORY_KIND_HOST_PINNED)) == 0 ||
      !description->asynchronous || description->host_processor || description->unified_memory) {
    return ND4C_OK;
  }
  struct nd4c_staging *staging = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *staging, "a pool of staging buffers", &staging));
  staging->device = device;
  nd4c_lock_init(&staging->lock);
  *out = staging;
  return ND4C_OK;
}

/* False: there is no buffer. */
static bool take_idle(struct nd4c_staging *staging, nd4c_staging_buffer *buffer) {
  nd4c_lock_acquire(&staging->lock);
  bool found = staging->count > 0;
  if (found) {
    *buffer = staging->idle[--staging->count];
  }
  nd4c_lock_release(&staging->lock);
  return found;
}

static void unpin(const nd4c_device *device, const nd4c_staging_buffer *buffer) {
  if (!nd4c_device_is_forked(device)) {
    nd4c_driver_buffer_free(device, buffer->buffer);
  }
}

static void free_idle(struct nd4c_staging *staging) {
  for (nd4c_staging_buffer buffer; take_idle(staging, &buffer);) {
    unpin(staging->device, &buffer);
  }
}

void nd4c_staging_free(struct nd4c_staging *staging) {
  if (staging != NULL) {
    free_idle(staging);
    nd4c_lock_destroy(&staging->lock);
    nd4c_deallocate(staging);
  }
}

static nd4c_status pin(const nd4c_device *device, nd4c_staging_buffer *buffer) {
  const nd4c_buffer_descriptor descriptor = {.struct_size = ND4C_SIZE_OF(nd4c_buffer_descriptor),
                                             .kind = ND4C_MEMORY_KIND_HOST_PINNED,
                                             .usage = ND4C_BUFFER_STAGING,
                                             .bytes = ND4C_STAGING_BYTES,
                                             .alignment = device->description.alignment};
  ND4C_TRY(nd4c_driver_buffer_allocate(device, &descriptor, &buffer->buffer));
  nd4c_status status = nd4c_driver_buffer_address(device, buffer->buffer, descriptor.kind, &buffer->address);
  if (status != ND4C_OK) {
    nd4c_driver_buffer_free(device, buffer->buffer);
  }
  return status;
}

bool nd4c_staging_take(nd4c_device *device, nd4c_staging_buffer *buffer) {
  *buffer = (nd4c_staging_buffer){0};
  if (device->staging == NULL || take_idle(device->staging, buffer)) {
    return device->staging != NULL;
  }
  if (pin(device, buffer) != ND4C_OK) {
    nd4c_log_write(ND4C_LOG_INFO, "memory", "no pinned memory for %s, copies do without: %s", device->name,
                   nd4c_error_message());
    *buffer = (nd4c_staging_buffer){0};
    return false;
  }
  return true;
}

void nd4c_staging_give(nd4c_device *device, const nd4c_staging_buffer *buffer) {
  if (buffer->address == NULL) {
    return;
  }
  struct nd4c_staging *staging = device->staging;
  nd4c_lock_acquire(&staging->lock);
  bool kept = staging->count < IDLE_LIMIT;
  if (kept) {
    staging->idle[staging->count++] = *buffer;
  }
  nd4c_lock_release(&staging->lock);
  if (!kept) {
    unpin(device, buffer);
  }
}

/* Counts another buffer that is lent for work in flight; false: the limit is reached. */
static bool reserve_spare(struct nd4c_staging *staging) {
  nd4c_lock_acquire(&staging->lock);
  const bool more = staging->spared < SPARE_LIMIT;
  staging->spared += more;
  nd4c_lock_release(&staging->lock);
  return more;
}

static void unreserve_spare(struct nd4c_staging *staging) {
  nd4c_lock_acquire(&staging->lock);
  staging->spared--;
  nd4c_lock_release(&staging->lock);
}

bool nd4c_staging_take_spare(nd4c_device *device, nd4c_staging_buffer *buffer) {
  struct nd4c_staging *staging = device->staging;
  *buffer = (nd4c_staging_buffer){0};
  if (staging == NULL) {
    return false;
  }
  bool reserved = reserve_spare(staging);
  if (!reserved) {
    nd4c_fence_collect(device); /* finished work keeps its buffers until its fence is queried */
    reserved = reserve_spare(staging);
  }
  if (reserved && !nd4c_staging_take(device, buffer)) {
    unreserve_spare(staging);
    reserved = false;
  }
  return reserved;
}

void nd4c_staging_give_spare(nd4c_device *device, const nd4c_staging_buffer *buffer) {
  unreserve_spare(device->staging);
  nd4c_staging_give(device, buffer);
}

void nd4c_staging_trim(nd4c_device *device) {
  if (device->staging != NULL) {
    free_idle(device->staging);
  }
}
