/* Implements held.h: the list of pieces that backends hold, and the order in which it asks their owners to free memory.
 * Backends enter through the host table, memory.c when a request does not fit. */
#include "device/memory/held.h"

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/os.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "device/memory/memory.h"
#include "device/provider/provider_check.h"

struct nd4c_device_memory {
  nd4c_device *device; /* NULL: it was closed */
  nd4c_block block;    /* node NULL: the memory is only counted */
  int64_t bytes;
  const char *origin; /* interned */
  void (*give_way)(void *owner, int64_t bytes);
  void *owner;
  uint64_t asked; /* the round in which its holder was asked last */
  struct nd4c_device_memory *next;
};

/* Guards the fields below; no other function is called under it. */
static nd4c_lock lock = ND4C_LOCK_INIT;
static nd4c_condition changed = ND4C_CONDITION_INIT;
static nd4c_device_memory *list;    /* the newest first */
static nd4c_device_memory *running; /* the piece whose give_way is running; NULL: none, or the callback has given it
                                       already */
static bool asking;                 /* a thread is asking holders */
static uint64_t rounds;
static nd4c_once forks_once = ND4C_ONCE_INIT;
static _Thread_local bool inside;       /* of a give_way */
static _Thread_local bool given_within; /* the callback gave something */

static void lock_list(void) {
  nd4c_lock_acquire(&lock);
}

static void unlock_list(void) {
  nd4c_lock_release(&lock);
}

/* In a child of fork the asking thread does not exist. */
static void reset_child(void) {
  asking = inside;
  running = inside ? running : NULL;
}

static void watch_forks(void) {
  nd4c_os_around_fork(lock_list, unlock_list);
  nd4c_os_on_fork(reset_child);
}

/* -- taking -------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_held_check(void) {
  return ND4C_LIKELY(!inside) ? ND4C_OK : nd4c_fail(ND4C_MEMORY, "memory was requested inside give_way");
}

static nd4c_status check(const nd4c_device_memory_request *request, nd4c_device **device) {
  const int64_t most = INT64_C(1) << 56;
  if (request == NULL || request->struct_size < ND4C_SIZE_OF(nd4c_device_memory_request)) {
    return nd4c_fail(ND4C_ARGUMENT, "device memory: no request, or a struct_size of less than %u",
                     ND4C_SIZE_OF(nd4c_device_memory_request));
  }
  if (request->bytes <= 0 || request->bytes > most) {
    return nd4c_fail(ND4C_ARGUMENT, "device memory: %lld bytes, expected 1 to %lld", (long long)request->bytes,
                     (long long)most);
  }
  if (request->backend == NULL || request->origin == NULL || request->origin[0] == '\0') {
    return nd4c_fail(ND4C_ARGUMENT, "device memory: %s is missing", request->backend == NULL ? "backend" : "origin");
  }
  *device = nd4c_memory_find_device(request->backend, request->device);
  return *device != NULL ? nd4c_held_check()
                         : nd4c_fail(ND4C_ARGUMENT, "device memory: backend %.40s has no open device at that pointer",
                                     request->backend);
}

static nd4c_status make_record(const nd4c_device_memory_request *request, nd4c_device *device,
                               nd4c_device_memory **out) {
  nd4c_device_memory *memory = nd4c_allocate_zeroed(1, sizeof *memory);
  const char *origin = nd4c_provider_words(request->origin);
  if (memory == NULL || origin == NULL) {
    nd4c_deallocate(memory);
    return nd4c_fail_memory("a record of device memory", sizeof *memory);
  }
  nd4c_once_run(&forks_once, watch_forks);
  memory->device = device;
  memory->origin = origin;
  memory->give_way = request->give_way;
  memory->owner = request->owner;
  *out = memory;
  return ND4C_OK;
}

static void publish(nd4c_device_memory *memory) {
  nd4c_memory_count_held(memory->device, memory->bytes);
  nd4c_lock_acquire(&lock);
  memory->next = list;
  list = memory;
  nd4c_lock_release(&lock);
}

static nd4c_status count(const nd4c_device_memory_request *request, nd4c_device_memory **out) {
  nd4c_device *device = NULL;
  nd4c_device_memory *memory = NULL;
  if (out == NULL) {
    return nd4c_fail(ND4C_ARGUMENT, "device memory: no place for the record");
  }
  ND4C_TRY(check(request, &device));
  ND4C_TRY(make_record(request, device, &memory));
  nd4c_status status = nd4c_memory_hold(device, request->bytes, memory->origin);
  if (status != ND4C_OK) {
    nd4c_deallocate(memory);
    return status;
  }
  memory->bytes = request->bytes;
  publish(memory);
  *out = memory;
  return ND4C_OK;
}

static nd4c_status allocate(const nd4c_device_memory_request *request, nd4c_device_memory **out, nd4c_buffer *buffer,
                            void **address) {
  nd4c_device *device = NULL;
  nd4c_device_memory *memory = NULL;
  if (out == NULL || buffer == NULL) {
    return nd4c_fail(ND4C_ARGUMENT, "device memory: no place for the %s", out == NULL ? "record" : "buffer");
  }
  ND4C_TRY(check(request, &device));
  ND4C_TRY(make_record(request, device, &memory));
  const nd4c_memory_request wanted = {.bytes = request->bytes, .origin = memory->origin, .usage = ND4C_BUFFER_SCRATCH};
  nd4c_status status = nd4c_memory_allocate(device, &wanted, &memory->block);
  if (status != ND4C_OK) {
    nd4c_deallocate(memory);
    return status;
  }
  memory->bytes = memory->block.bytes;
  publish(memory);
  *out = memory;
  *buffer = memory->block.buffer;
  if (address != NULL) {
    *address = memory->block.address;
  }
  return ND4C_OK;
}

/* -- giving back --------------------------------------------------------------------------------------------------- */

static void unlink_memory(const nd4c_device_memory *memory) {
  nd4c_device_memory **link = &list;
  while (*link != memory) {
    link = &(*link)->next;
  }
  *link = memory->next;
}

/* For a piece that is in no list. */
static void end(nd4c_device *device, nd4c_block block, int64_t bytes) {
  nd4c_memory_count_held(device, -bytes);
  if (block.node != NULL) {
    nd4c_memory_free(device, &block);
  } else {
    nd4c_memory_unhold(device, bytes);
  }
}

static void give(nd4c_device_memory *memory) {
  if (memory == NULL) {
    return;
  }
  nd4c_lock_acquire(&lock);
  while (running == memory && !inside) {
    nd4c_condition_wait(&changed, &lock);
  }
  running = running == memory ? NULL : running;
  nd4c_device *device = memory->device;
  if (device != NULL) {
    unlink_memory(memory);
    given_within = given_within || inside;
  }
  nd4c_lock_release(&lock);
  if (device != NULL) {
    end(device, memory->block, memory->bytes);
  }
  nd4c_deallocate(memory);
}

const nd4c_host_device_memory nd4c_held_table = {
    .struct_size = ND4C_SIZE_OF(nd4c_host_device_memory), .count = count, .allocate = allocate, .give = give};

/* The oldest piece of the device with a give_way that was not asked in this round. Under the lock. */
static nd4c_device_memory *next_to_ask(const nd4c_device *device) {
  nd4c_device_memory *found = NULL;
  for (nd4c_device_memory *at = list; at != NULL; at = at->next) {
    if (at->device == device && at->give_way != NULL && at->asked != rounds) {
      found = at;
    }
  }
  return found;
}

/* Called under the lock, which is released around the callback. */
static void ask(nd4c_device_memory *memory, int64_t bytes) {
  void (*const give_way)(void *, int64_t) = memory->give_way;
  void *owner = memory->owner;
  memory->asked = rounds;
  running = memory;
  nd4c_lock_release(&lock);
  inside = true;
  give_way(owner, bytes);
  inside = false;
  nd4c_lock_acquire(&lock);
  running = NULL;
  nd4c_condition_wake_all(&changed);
}

bool nd4c_held_give_way(nd4c_device *device, int64_t bytes) {
  const int64_t before = nd4c_memory_held(device);
  if (inside || before == 0) {
    return false;
  }
  nd4c_device_memory *memory = NULL;
  nd4c_lock_acquire(&lock);
  const bool waits = asking;
  while (asking) {
    nd4c_condition_wait(&changed, &lock);
  }
  asking = true;
  given_within = false;
  rounds++;
  while (!waits && before - nd4c_memory_held(device) < bytes && (memory = next_to_ask(device)) != NULL) {
    ask(memory, bytes);
  }
  asking = false;
  nd4c_condition_wake_all(&changed);
  nd4c_lock_release(&lock);
  return waits || given_within || nd4c_memory_held(device) < before;
}

/* -- reports, and the end of a device ------------------------------------------------------------------------------ */

static bool is_alike(const nd4c_device_memory *a, const nd4c_device_memory *b) {
  return a->device == b->device && a->block.node == NULL && b->block.node == NULL && a->bytes == b->bytes &&
         a->origin == b->origin;
}

void nd4c_held_print(const nd4c_device *device, nd4c_text *text) {
  nd4c_lock_acquire(&lock);
  for (const nd4c_device_memory *memory = list; memory != NULL; memory = memory->next) {
    int64_t same = 0;
    const nd4c_device_memory *first = list;
    while (!is_alike(first, memory) && first != memory) {
      first = first->next;
    }
    for (const nd4c_device_memory *other = memory; first == memory && other != NULL; other = other->next) {
      same += is_alike(memory, other);
    }
    if (same > 0 && memory->device == device) {
      nd4c_text_print(text, "%lld x %lld bytes held for %s\n", (long long)same, (long long)memory->bytes,
                      memory->origin);
    }
  }
  nd4c_lock_release(&lock);
}

/* Removes a piece of the device from the list; false: there is none. The backend still gives the record. */
static bool take_out(const nd4c_device *device, nd4c_block *block, int64_t *bytes) {
  nd4c_lock_acquire(&lock);
  nd4c_device_memory *found = list;
  while (found != NULL && found->device != device) {
    found = found->next;
  }
  if (found != NULL) {
    unlink_memory(found);
    found->device = NULL;
    *block = found->block;
    *bytes = found->bytes;
  }
  nd4c_lock_release(&lock);
  return found != NULL;
}

void nd4c_held_abandon(nd4c_device *device) {
  nd4c_block block;
  int64_t bytes = 0;
  while (take_out(device, &block, &bytes)) {
    end(device, block, bytes);
  }
}
