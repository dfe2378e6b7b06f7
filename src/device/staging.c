#include "device/staging.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "device/closing.h"

enum { IDLE_LIMIT = 8 };

struct nd4c_staging {
  nd4c_device *device;
  pthread_mutex_t lock; /* guards the rest; not held while the backend runs */
  int32_t count;
  void *idle[IDLE_LIMIT];
};

nd4c_status nd4c_staging_make(nd4c_device *device, struct nd4c_staging **out) {
  const nd4c_device_description *description = &device->description;
  *out = NULL;
  if (device->ops->pinned_allocate == NULL || device->ops->pinned_free == NULL || !description->asynchronous ||
      description->host_processor || description->unified_memory) {
    return ND4C_OK;
  }
  struct nd4c_staging *staging = nd4c_allocate_zeroed(1, sizeof *staging);
  if (staging == NULL) {
    return nd4c_fail_memory("a pool of staging buffers", sizeof *staging);
  }
  staging->device = device;
  pthread_mutex_init(&staging->lock, NULL);
  *out = staging;
  return ND4C_OK;
}

static void *take_idle(struct nd4c_staging *staging) {
  pthread_mutex_lock(&staging->lock);
  void *buffer = staging->count > 0 ? staging->idle[--staging->count] : NULL;
  pthread_mutex_unlock(&staging->lock);
  return buffer;
}

static void unpin(const nd4c_device *device, void *buffer) {
  if (!nd4c_device_is_forked(device)) {
    device->ops->pinned_free(device->handle, buffer);
  }
}

static void free_idle(struct nd4c_staging *staging) {
  for (void *buffer; (buffer = take_idle(staging)) != NULL;) {
    unpin(staging->device, buffer);
  }
}

void nd4c_staging_free(struct nd4c_staging *staging) {
  if (staging != NULL) {
    free_idle(staging);
    pthread_mutex_destroy(&staging->lock);
    nd4c_deallocate(staging);
  }
}

void *nd4c_staging_take(nd4c_device *device) {
  if (device->staging == NULL) {
    return NULL;
  }
  void *buffer = take_idle(device->staging);
  if (buffer == NULL && device->ops->pinned_allocate(device->handle, ND4C_STAGING_BYTES, &buffer) != ND4C_OK) {
    nd4c_log_write(ND4C_LOG_INFO, "memory", "no pinned memory for %s, copies go without: %s", device->name,
                   nd4c_error_message());
    buffer = NULL;
  }
  return buffer;
}

void nd4c_staging_give(nd4c_device *device, void *buffer) {
  if (buffer == NULL) {
    return;
  }
  struct nd4c_staging *staging = device->staging;
  pthread_mutex_lock(&staging->lock);
  bool kept = staging->count < IDLE_LIMIT;
  if (kept) {
    staging->idle[staging->count++] = buffer;
  }
  pthread_mutex_unlock(&staging->lock);
  if (!kept) {
    unpin(device, buffer);
  }
}

void nd4c_staging_trim(nd4c_device *device) {
  if (device->staging != NULL) {
    free_idle(device->staging);
  }
}
