/* The inside of a memory manager, for memory*.c in this folder and access/memory_query.c. */
#ifndef ND4C_DEVICE_MEMORY_MEMORY_BODY_H
#define ND4C_DEVICE_MEMORY_MEMORY_BODY_H

#include <stdatomic.h>

#include "base/os_lock.h"
#include "device/memory/memory.h"
#include "device/memory/memory_manager.h"

/* Size classes: SUBCLASSES steps between powers of two, so that at most a ninth of a block is slack. */
enum {
  SMALLEST_SHIFT = 9,
  SUBCLASS_SHIFT = 3,
  SUBCLASSES = 1 << SUBCLASS_SHIFT,
  CLASS_COUNT = (62 - SMALLEST_SHIFT) * SUBCLASSES,
  CLASS_NOTHING = CLASS_COUNT, /* class of storages without bytes: a buffer that counts as 0 bytes */
  CLASS_ADOPTED = -1           /* adopted from an executable: freed, never cached */
};

/* One block of the device, alive or cached. */
typedef struct nd4c_block_node {
  nd4c_buffer buffer;
  void *address;
  int64_t bytes;
  int32_t size_class;
  const char *origin;
  int64_t freed_at;                              /* cached: the manager's granted_bytes then */
  struct nd4c_block_node *bin_next, *bin_before; /* cached: free blocks of the class, last freed first */
  struct nd4c_block_node *older, *newer;         /* cached: by time of freeing; alive: all alive */
} nd4c_block_node;

typedef struct nd4c_block_list {
  nd4c_block_node *oldest, *newest;
} nd4c_block_list;

/* The free blocks of a size class. */
typedef struct nd4c_block_bin {
  nd4c_block_node *newest, *oldest;
  int64_t kept;          /* age that its blocks may reach, as learnt; 0: the usual one */
  int64_t released_from; /* freed_at of the last block that was released as too old */
  bool has_released;     /* there is one, and no request for the class came since */
} nd4c_block_bin;

struct nd4c_memory_manager {
  nd4c_device *device;
  nd4c_lock lock; /* guards the fields below; never held while the backend or a callback runs */
  nd4c_block_bin bins[CLASS_COUNT + 1];
  nd4c_block_list cached, alive;
  int64_t live_bytes, cached_bytes, reserved_bytes, peak_bytes, cap_bytes, cache_limit;
  int64_t granted_bytes;  /* to all requests so far: the time by which blocks grow old, see block_cache.h */
  int64_t sweep_at;       /* the time of the next look for old blocks */
  bool releases_old;      /* whether they go back to the system */
  int64_t configured_cap; /* the property's last value */
  _Atomic uint32_t limit_epoch;
  _Atomic uint32_t cap_epoch;
  int64_t live_count, total_count, cache_hits;
  int64_t dropped_count, spilled_count, spilled_bytes;
  int64_t arena_bytes;              /* of what is alive: in arenas of workspaces */
  _Atomic int64_t held_bytes;       /* of what is alive: held by backends */
  bool spills;                      /* nd4c.device.memory.spill */
  struct nd4c_memory_manager *next; /* under managers_lock */
};

/* Frees cached blocks, the oldest first, until at most that many bytes are cached; 0: all. */
void nd4c_memory_manager_trim(struct nd4c_memory_manager *manager, int64_t keep_bytes);
/* Takes up a change of the properties that cap the device; what nd4c_memory_set_cap said holds until then. */
void nd4c_memory_manager_refresh_cap(struct nd4c_memory_manager *manager);

#endif
