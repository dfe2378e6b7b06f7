/* Implements host_ranges.h, nd4c_host_register and nd4c_host_unregister. Programs register memory; replica_copy.c and
 * transfer_stream.c in device/storage count their uses here. */
#include "device/stream/host_ranges.h"

#include "base/alloc.h"
#include "base/os.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/stream/exit_and_fork.h"
#include "device/stream/fence.h"
#include "nd4c/external.h"

typedef enum range_state {
  REGISTERING, /* the driver is registering it: copies treat it as ordinary memory */
  READY,
  LEAVING /* no new uses begin; the driver unregisters the memory when the earlier ones have ended */
} range_state;

typedef struct host_range {
  nd4c_device *device;
  uintptr_t first;
  int64_t bytes;
  range_state state;
  struct host_range *next;
} host_range;

/* Guards the list, and the flags of devices whose uses are awaited; no other function is called under it. */
static nd4c_lock lock = ND4C_LOCK_INIT;
static nd4c_condition answered = ND4C_CONDITION_INIT; /* signalled when a device's uses are no longer awaited */
static host_range *ranges;
static _Atomic int32_t range_count;
static nd4c_once forks_once = ND4C_ONCE_INIT;

static void lock_ranges(void) {
  nd4c_lock_acquire(&lock);
}

static void unlock_ranges(void) {
  nd4c_lock_release(&lock);
}

/* The other threads do not exist in a child of fork, so their uses would never end. */
static void forget_uses(void) {
  int32_t position = 0;
  for (nd4c_device *device; (device = nd4c_devices_next(&position)) != NULL;) {
    atomic_store(&device->host_uses.count[0], 0);
    atomic_store(&device->host_uses.count[1], 0);
    device->host_uses.awaited = false;
  }
}

static void watch_forks(void) {
  nd4c_os_around_fork(lock_ranges, unlock_ranges);
  nd4c_os_on_fork(forget_uses);
}

static bool meets(const host_range *range, const nd4c_device *device, uintptr_t first, int64_t bytes) {
  return range->device == device && first < range->first + (uintptr_t)range->bytes &&
         range->first < first + (uintptr_t)bytes;
}

static bool holds(const host_range *range, const nd4c_device *device, uintptr_t first, int64_t bytes) {
  return range->device == device && first >= range->first && bytes <= range->bytes &&
         first - range->first <= (uintptr_t)(range->bytes - bytes);
}

/* -- copies -------------------------------------------------------------------------------------------------------- */

bool nd4c_host_range_holds(const nd4c_device *device, const void *memory, int64_t bytes) {
  if (atomic_load_explicit(&range_count, memory_order_relaxed) == 0) {
    return false;
  }
  lock_ranges();
  const host_range *range = ranges;
  while (range != NULL && !(range->state == READY && holds(range, device, (uintptr_t)memory, bytes))) {
    range = range->next;
  }
  unlock_ranges();
  return range != NULL;
}

static bool is_leaving(const nd4c_device *device, const void *memory, int64_t bytes) {
  if (atomic_load(&range_count) == 0) {
    return false;
  }
  lock_ranges();
  const host_range *range = ranges;
  while (range != NULL && !(range->state == LEAVING && meets(range, device, (uintptr_t)memory, bytes))) {
    range = range->next;
  }
  unlock_ranges();
  return range != NULL;
}

static bool registers(const nd4c_device *device) {
  return device->ops->external != NULL && device->ops->external->host_register != NULL;
}

/* Uses of ordinary memory count, too: it may be registered and unregistered before the driver gets the copy. The use is
 * counted before the ranges are read, so that either a thread that marks a range sees the use, or the use sees the
 * mark. */
bool nd4c_host_use_begin(nd4c_host_use *use, nd4c_device *device, const void *memory, int64_t bytes) {
  *use = (nd4c_host_use){0};
  if (!registers(device)) {
    return true;
  }
  nd4c_once_run(&forks_once, watch_forks);
  const int32_t turn = atomic_load(&device->host_uses.turn);
  atomic_fetch_add(&device->host_uses.count[turn], 1);
  *use = (nd4c_host_use){.device = device, .turn = turn};
  const bool leaving = is_leaving(device, memory, bytes);
  if (leaving) {
    nd4c_host_use_end(use);
  }
  return !leaving;
}

void nd4c_host_use_end(nd4c_host_use *use) {
  if (use != NULL && use->device != NULL) {
    atomic_fetch_sub(&use->device->host_uses.count[use->turn], 1);
    *use = (nd4c_host_use){0};
  }
}

/* -- registering --------------------------------------------------------------------------------------------------- */

/* Adds the range to the list, not ready yet; false if it overlaps another one of the device. */
static bool add(host_range *made) {
  nd4c_once_run(&forks_once, watch_forks);
  lock_ranges();
  const host_range *range = ranges;
  while (range != NULL && !meets(range, made->device, made->first, made->bytes)) {
    range = range->next;
  }
  if (range == NULL) {
    made->next = ranges;
    ranges = made;
    atomic_fetch_add(&range_count, 1);
  }
  unlock_ranges();
  return range == NULL;
}

static void drop(host_range *range) {
  lock_ranges();
  host_range **link = &ranges;
  while (*link != range) {
    link = &(*link)->next;
  }
  *link = range->next;
  atomic_fetch_sub(&range_count, 1);
  unlock_ranges();
  nd4c_deallocate(range);
}

static void set_ready(host_range *range) {
  lock_ranges();
  range->state = READY;
  unlock_ranges();
}

static nd4c_status register_range(nd4c_device *device, void *pointer, int64_t bytes) {
  if (!registers(device)) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s page-locks no memory of others", device->name);
  }
  if (bytes <= 0 || (uint64_t)bytes > UINTPTR_MAX - (uintptr_t)pointer) {
    return nd4c_fail(ND4C_ARGUMENT, "%lld bytes at %p, expected 1 or more that addresses can express", (long long)bytes,
                     pointer);
  }
  ND4C_TRY(nd4c_device_admit(device));
  host_range *range = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *range, "a registered range", &range));
  *range = (host_range){.device = device, .first = (uintptr_t)pointer, .bytes = bytes, .state = REGISTERING};
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

/* -- unregistering ------------------------------------------------------------------------------------------------- */

/* Finds the range that begins at the pointer and blocks new uses of it; NULL: there is none. */
static host_range *retire(const nd4c_device *device, const void *pointer) {
  lock_ranges();
  host_range *range = ranges;
  while (range != NULL && !(range->state == READY && range->device == device && range->first == (uintptr_t)pointer)) {
    range = range->next;
  }
  if (range != NULL) {
    range->state = LEAVING;
  }
  unlock_ranges();
  return range;
}

static void await_turn(const nd4c_device *device, int32_t turn) {
  enum { FIRST_NAP = 20000, LONGEST_NAP = 1000000 }; /* nanoseconds */
  for (int64_t nap = FIRST_NAP; atomic_load(&device->host_uses.count[turn]) > 0 && !nd4c_device_is_given_up(device);
       nap = nap < LONGEST_NAP ? 2 * nap : LONGEST_NAP) {
    nd4c_os_sleep(nap);
  }
}

/* Waits for the device's uses that began before this call, but not for those that begin meanwhile, which count in the
 * other turn. First waits for the few uses that read the turn before it last changed and were counted afterwards. */
static void await_uses(nd4c_device *device) {
  struct nd4c_host_uses *uses = &device->host_uses;
  lock_ranges();
  while (uses->awaited) {
    nd4c_condition_wait(&answered, &lock);
  }
  uses->awaited = true;
  unlock_ranges();
  const int32_t turn = atomic_load(&uses->turn);
  await_turn(device, 1 - turn);
  atomic_store(&uses->turn, 1 - turn);
  await_turn(device, turn);
  lock_ranges();
  uses->awaited = false;
  nd4c_condition_wake_all(&answered);
  unlock_ranges();
}

/* False: the work will not end before the process exits, and the memory stays registered. */
static bool await_work(nd4c_device *device) {
  if (!nd4c_device_is_given_up(device)) {
    await_uses(device);
  }
  if (!nd4c_device_is_given_up(device)) {
    (void)nd4c_fence_settle_all(device); /* asynchronous copies */
  }
  return !nd4c_device_is_given_up(device);
}

nd4c_status nd4c_host_unregister(nd4c_device *device, void *pointer) {
  ND4C_TRY(nd4c_device_check(device, "nd4c_host_unregister"));
  if (pointer == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_host_unregister: pointer is NULL");
  }
  host_range *range = retire(device, pointer);
  if (range == NULL) {
    return nd4c_fail(ND4C_INDEX, "nd4c_host_unregister: nothing is registered for %s at %p", device->name, pointer);
  }
  if (await_work(device)) {
    device->ops->external->host_unregister(device->handle, pointer, range->bytes);
  }
  drop(range);
  return ND4C_OK;
}
