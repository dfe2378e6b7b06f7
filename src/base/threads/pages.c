/* Implements pages.h: one list of freed blocks under a lock. device/memory/host.c calls it for backends and for
 * kernels' scratch; device/access/memory_query.c trims it. */
#include "base/threads/pages.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/os.h"
#include "base/os_lock.h"
#include "base/recycle.h"

/* Sizes are rounded up to eight steps between powers of two: blocks of about the same size serve each other. */
enum { KEPT_BLOCKS = 256, STEP_BITS = 3 };
static const size_t largest = (size_t)64 << 20, kept_at_most = (size_t)256 << 20;

typedef struct idle_pages {
  void *memory;
  size_t bytes;
} idle_pages;

static nd4c_lock lock = ND4C_LOCK_INIT;
static idle_pages kept[KEPT_BLOCKS]; /* under lock, the oldest first */
static int32_t kept_count;           /* under lock */
static size_t kept_bytes;            /* under lock */
static nd4c_once once = ND4C_ONCE_INIT;

/* In a child of fork a thread of the parent may have held the lock: the child forgets the kept blocks. */
static void fork_in_child(void) {
  nd4c_lock_init(&lock);
  kept_count = 0;
  kept_bytes = 0;
}

static void start(void) {
  nd4c_os_on_fork(fork_in_child);
}

static void acquire(void) {
  nd4c_once_run(&once, start);
  nd4c_lock_acquire(&lock);
}

static size_t granted(size_t bytes) {
  int bits = 63 - __builtin_clzll((unsigned long long)bytes | 1);
  size_t step = (size_t)1 << (bits > STEP_BITS ? bits - STEP_BITS : 0);
  return (bytes + step - 1) / step * step;
}

/* Takes one out of the list, under the lock. */
static void *take_out(int32_t index) {
  void *memory = kept[index].memory;
  kept_bytes -= kept[index].bytes;
  kept_count--;
  memmove(&kept[index], &kept[index + 1], (size_t)(kept_count - index) * sizeof *kept);
  return memory;
}

static void *take_kept(size_t bytes) {
  void *memory = NULL;
  acquire();
  for (int32_t i = kept_count - 1; i >= 0 && memory == NULL; i--) {
    if (kept[i].bytes == bytes) {
      memory = take_out(i);
    }
  }
  nd4c_lock_release(&lock);
  return memory;
}

void *nd4c_pages_map(size_t bytes) {
  if (nd4c_allocation_should_fail()) {
    return NULL;
  }
  bool huge = nd4c_config_bool(ND4C_CONFIG_HUGE_PAGES);
  void *memory = nd4c_os_pages_allocate(bytes, huge);
  if (memory == NULL) {
    nd4c_pages_trim();
    memory = nd4c_os_pages_allocate(bytes, huge);
  }
  return memory;
}

void nd4c_pages_unmap(void *memory, size_t bytes) {
  nd4c_os_pages_free(memory, bytes);
}

void *nd4c_pages_take(size_t bytes, bool zeroed) {
  if (!ND4C_RECYCLES || bytes > largest) {
    return nd4c_pages_map(bytes);
  }
  void *memory = nd4c_allocation_is_awaited() ? NULL : take_kept(granted(bytes));
  if (memory == NULL) {
    return nd4c_pages_map(granted(bytes));
  }
  return zeroed ? memset(memory, 0, bytes) : memory;
}

/* Keeps the block, or returns a block that must be freed first: the oldest one, or the block itself if it is larger
 * than all that may be kept. */
static idle_pages keep(idle_pages block) {
  idle_pages goes = {.memory = NULL};
  size_t configured = (size_t)nd4c_config_int(ND4C_CONFIG_MEMORY_CACHE);
  size_t limit = configured < kept_at_most ? configured : kept_at_most;
  acquire();
  if (kept_count < KEPT_BLOCKS && kept_bytes + block.bytes <= limit) {
    kept[kept_count++] = block;
    kept_bytes += block.bytes;
  } else if (block.bytes > limit && kept_bytes <= limit) {
    goes = block;
  } else {
    goes.bytes = kept[0].bytes;
    goes.memory = take_out(0);
  }
  nd4c_lock_release(&lock);
  return goes;
}

void nd4c_pages_give(void *memory, size_t bytes) {
  if (memory == NULL) {
    return;
  }
  if (!ND4C_RECYCLES || bytes > largest) {
    nd4c_pages_unmap(memory, bytes);
    return;
  }
  const idle_pages block = {memory, granted(bytes)};
  for (idle_pages goes = keep(block); goes.memory != NULL; goes = keep(block)) {
    nd4c_pages_unmap(goes.memory, goes.bytes);
    if (goes.memory == memory) {
      return;
    }
  }
}

void nd4c_pages_trim(void) {
  for (;;) {
    idle_pages goes = {.memory = NULL};
    acquire();
    if (kept_count > 0) {
      goes = kept[kept_count - 1];
      (void)take_out(kept_count - 1);
    }
    nd4c_lock_release(&lock);
    if (goes.memory == NULL) {
      return;
    }
    nd4c_pages_unmap(goes.memory, goes.bytes);
  }
}

/* The thread that ends the process or unloads the library frees the kept blocks. */
static ND4C_AT_UNLOAD void end_process(void) {
  nd4c_pages_trim();
}
