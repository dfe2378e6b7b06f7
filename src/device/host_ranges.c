#include "device/host_ranges.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/os.h"
#include "base/status.h"
#include "device/closing.h"
#include "device/driver.h"
#include "device/fence.h"
#include "nd4c/external.h"

struct nd4c_host_range {
  nd4c_device *device;
  uintptr_t first;
  int64_t bytes;
  int32_t uses;
  bool ready; /* false while the driver registers it, and from the beginning of its end on */
  struct nd4c_host_range *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list; nothing is called under it */
static pthread_cond_t unused = PTHREAD_COND_INITIALIZER; /* a range's last use ended */
static nd4c_host_range *ranges;
static _Atomic int32_t range_count;
static pthread_once_t forks_once = PTHREAD_ONCE_INIT;

static void lock_ranges(void) {
  pthread_mutex_lock(&lock);
}

static void unlock_ranges(void) {
  pthread_mutex_unlock(&lock);
}

static void watch_forks(void) {
  nd4c_os_around_fork(lock_ranges, unlock_ranges);
}

static bool meets(const nd4c_host_range *range, const nd4c_device *device, uintptr_t first, int64_t bytes) {
  return range->device == device && first < range->first + (uintptr_t)range->bytes &&
         range->first < first + (uintptr_t)bytes;
}

static bool holds(const nd4c_host_range *range, const nd4c_device *device, uintptr_t first, int64_t bytes) {
  return range->device == device && first >= range->first && bytes <= range->bytes &&
         first - range->first <= (uintptr_t)(range->bytes - bytes);
}

nd4c_host_range *nd4c_host_range_enter(const nd4c_device *device, const void *memory, int64_t bytes) {
  if (atomic_load_explicit(&range_count, memory_order_relaxed) == 0) {
    return NULL;
  }
  lock_ranges();
  nd4c_host_range *range = ranges;
  while (range != NULL && !(range->ready && holds(range, device, (uintptr_t)memory, bytes))) {
    range = range->next;
  }
  if (range != NULL) {
    ++range->uses;
  }
  unlock_ranges();
  return range;
}

void nd4c_host_range_leave(nd4c_host_range *range) {
  if (range != NULL) {
    lock_ranges();
    if (--range->uses == 0) {
      pthread_cond_broadcast(&unused);
    }
    unlock_ranges();
  }
}

/* Puts the range in the list, not ready yet; false if it meets another one of the device. */
static bool add(nd4c_host_range *made) {
  pthread_once(&forks_once, watch_forks);
  lock_ranges();
  const nd4c_host_range *range = ranges;
  while (range != NULL && !meets(range, made->device, made->first, made->bytes)) {
    range = range->next;
  }
  if (range == NULL) {
    made->next = ranges;
    ranges = made;
    atomic_fetch_add_explicit(&range_count, 1, memory_order_relaxed);
  }
  unlock_ranges();
  return range == NULL;
}

static void drop(nd4c_host_range *range) {
  lock_ranges();
  nd4c_host_range **link = &ranges;
  while (*link != range) {
    link = &(*link)->next;
  }
  *link = range->next;
  atomic_fetch_sub_explicit(&range_count, 1, memory_order_relaxed);
  unlock_ranges();
  nd4c_deallocate(range);
}

static void set_ready(nd4c_host_range *range) {
  lock_ranges();
  range->ready = true;
  unlock_ranges();
}

static nd4c_status register_range(nd4c_device *device, void *pointer, int64_t bytes) {
  if (device->ops->external == NULL || device->ops->external->host_register == NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s page-locks no memory of others", device->name);
  }
  if (bytes <= 0 || (uint64_t)bytes > UINTPTR_MAX - (uintptr_t)pointer) {
    return nd4c_fail(ND4C_ARGUMENT, "%lld bytes at %p, expected 1 or more that addresses can express", (long long)bytes,
                     pointer);
  }
  ND4C_TRY(nd4c_device_admit(device));
  nd4c_host_range *range = nd4c_allocate_zeroed(1, sizeof *range);
  if (range == NULL) {
    return nd4c_fail_memory("a registered range", sizeof *range);
  }
  *range = (nd4c_host_range){.device = device, .first = (uintptr_t)pointer, .bytes = bytes};
  if (!add(range)) {
    nd4c_deallocate(range);
    return nd4c_fail(ND4C_ARGUMENT, "some of the %lld bytes at %p are registered already", (long long)bytes, pointer);
  }
  nd4c_status status = nd4c_driver_host_register(device, pointer, bytes);
  if (status != ND4C_OK) {
    drop(range);
    return status;
  }
  set_ready(range);
  return ND4C_OK;
}

nd4c_status nd4c_host_register(nd4c_device *device, void *pointer, int64_t bytes) {
  ND4C_TRY(nd4c_device_check(device, "nd4c_host_register"));
  if (pointer == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_host_register: pointer is NULL");
  }
  nd4c_status status = register_range(device, pointer, bytes);
  return status == ND4C_OK ? status : nd4c_device_fail_prefix(status, device, "on", "nd4c_host_register");
}

/* The range that begins there, which no copy enters from here on; NULL: there is none. Returns when those that had are
 * done; in a child of fork none is. */
static nd4c_host_range *retire(const nd4c_device *device, const void *pointer) {
  lock_ranges();
  nd4c_host_range *range = ranges;
  while (range != NULL && !(range->ready && range->device == device && range->first == (uintptr_t)pointer)) {
    range = range->next;
  }
  if (range != NULL) {
    range->ready = false;
    while (range->uses > 0 && !nd4c_device_is_forked(device)) {
      pthread_cond_wait(&unused, &lock);
    }
  }
  unlock_ranges();
  return range;
}

nd4c_status nd4c_host_unregister(nd4c_device *device, void *pointer) {
  ND4C_TRY(nd4c_device_check(device, "nd4c_host_unregister"));
  if (pointer == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_host_unregister: pointer is NULL");
  }
  nd4c_host_range *range = retire(device, pointer);
  if (range == NULL) {
    return nd4c_fail(ND4C_INDEX, "nd4c_host_unregister: nothing is registered for %s at %p", device->name, pointer);
  }
  if (!nd4c_device_is_forked(device)) {
    nd4c_fence_settle_all(device); /* copies that go on by themselves */
    device->ops->external->host_unregister(device->handle, pointer, range->bytes);
  }
  drop(range);
  return ND4C_OK;
}
