/* Implements pending_blocks.h: blocks in bins by device and size, with the fences of their work.
 * device/storage/storage.c adds a block when an array is released, and takes one for a fresh array. */
#include "device/memory/pending_blocks.h"

#include "base/os.h"
#include "base/os_lock.h"
#include "base/recycle.h"
#include "device/driver.h"

typedef struct pending_block {
  nd4c_device *device;
  nd4c_block block;
  nd4c_readers users; /* the pending work that reads or writes it */
  struct pending_block *next;
} pending_block;

typedef struct pending_bin {
  pending_block *oldest, *newest;
} pending_bin;

/* Bytes from which a sweep records vendor fences; smaller blocks wait until a fence is recorded for another reason. */
enum { WORTH_ASKING = 1 << 20 };

/* By device and size. */
enum { BIN_COUNT = 64, LOOKED_AT = 32 };

static nd4c_lock lock = ND4C_LOCK_INIT; /* guards the bins; no other lock is taken under it */
static pending_bin bins[BIN_COUNT];
static _Atomic int64_t pending_bytes, pending_count;
static nd4c_once forks_once = ND4C_ONCE_INIT;

static void lock_bins(void) {
  nd4c_lock_acquire(&lock);
}

static void unlock_bins(void) {
  nd4c_lock_release(&lock);
}

static void watch_forks(void) {
  nd4c_os_around_fork(lock_bins, unlock_bins);
}

static pending_bin *bin_of(const nd4c_device *device, int64_t bytes) {
  uint64_t key = (uint64_t)bytes ^ (uint64_t)device->number << 56;
  return &bins[key * UINT64_C(0x9fb21c651e98df25) >> 58];
}

static void push(pending_block *pending) {
  atomic_fetch_add_explicit(&pending_bytes, pending->block.bytes, memory_order_relaxed);
  atomic_fetch_add_explicit(&pending_count, 1, memory_order_relaxed);
  pending->next = NULL;
  nd4c_lock_acquire(&lock);
  pending_bin *bin = bin_of(pending->device, pending->block.bytes);
  *(bin->newest != NULL ? &bin->newest->next : &bin->oldest) = pending;
  bin->newest = pending;
  nd4c_lock_release(&lock);
}

/* Removes the block after `before`, or the oldest one for NULL, from its bin. Under the lock. */
static pending_block *unlink_next(pending_bin *bin, pending_block *before) {
  pending_block **link = before != NULL ? &before->next : &bin->oldest;
  pending_block *found = *link;
  *link = found->next;
  bin->newest = bin->newest == found ? before : bin->newest;
  atomic_fetch_sub_explicit(&pending_bytes, found->block.bytes, memory_order_relaxed);
  atomic_fetch_sub_explicit(&pending_count, 1, memory_order_relaxed);
  return found;
}

bool nd4c_pending_blocks_add(nd4c_device *device, nd4c_block *block, nd4c_readers *users) {
  pending_block *pending = nd4c_recycle_take_raw(sizeof *pending);
  if (pending == NULL) {
    return false;
  }
  nd4c_once_run(&forks_once, watch_forks);
  *pending = (pending_block){.device = device, .block = *block, .users = *users};
  *block = (nd4c_block){0};
  *users = (nd4c_readers){0};
  push(pending);
  return true;
}

static void give_back(pending_block *pending) {
  nd4c_readers_forget(&pending->users);
  if (pending->block.node != NULL) {
    nd4c_memory_free(pending->device, &pending->block);
  }
  nd4c_recycle_give(pending, sizeof *pending);
}

/* Removes the oldest block of a bin. NULL: there is none. */
static pending_block *take_oldest(pending_bin *bin) {
  nd4c_lock_acquire(&lock);
  pending_block *oldest = bin->oldest != NULL ? unlink_next(bin, NULL) : NULL;
  nd4c_lock_release(&lock);
  return oldest;
}

static int64_t count_bin(const pending_bin *bin) {
  int64_t count = 0;
  nd4c_lock_acquire(&lock);
  for (const pending_block *at = bin->oldest; at != NULL; at = at->next) {
    count++;
  }
  nd4c_lock_release(&lock);
  return count;
}

static void collect(bool wait, bool ask) {
  for (int b = 0; b < BIN_COUNT && atomic_load_explicit(&pending_count, memory_order_relaxed) > 0; b++) {
    pending_block *pending = NULL;
    /* Checks each block once; blocks with pending work go to the end. */
    for (int64_t left = count_bin(&bins[b]); left > 0 && (pending = take_oldest(&bins[b])) != NULL; left--) {
      if (wait) {
        nd4c_readers_settle(&pending->users);
      }
      if (wait || (ask ? nd4c_readers_are_done(&pending->users) : nd4c_readers_are_known(&pending->users))) {
        give_back(pending);
      } else {
        push(pending);
      }
    }
  }
}

/* The oldest block of the size whose pending work is all on the stream. stream NULL: the oldest block. */
static pending_block *find(const nd4c_device *device, nd4c_stream stream, int64_t bytes) {
  pending_block *found = NULL, *before = NULL;
  int looked = 0;
  nd4c_lock_acquire(&lock);
  pending_bin *bin = bin_of(device, bytes);
  for (pending_block *at = bin->oldest; at != NULL && looked < LOOKED_AT; before = at, at = at->next, ++looked) {
    if (at->device == device && at->block.bytes == bytes && !nd4c_memory_is_adopted(&at->block) &&
        (stream == NULL || nd4c_readers_are_on(&at->users, device, stream))) {
      found = unlink_next(bin, before);
      break;
    }
  }
  nd4c_lock_release(&lock);
  return found;
}

bool nd4c_pending_blocks_take(nd4c_device *device, nd4c_stream stream, int64_t bytes, const char *origin,
                              nd4c_block *block, nd4c_readers *users) {
  if (atomic_load_explicit(&pending_count, memory_order_relaxed) == 0 || bytes <= 0) {
    return false;
  }
  int64_t granted = nd4c_memory_granted(bytes);
  pending_block *found = find(device, stream, granted);
  if (found == NULL) {
    nd4c_pending_blocks_sweep();
    found = find(device, NULL, granted);
    if (found != NULL && nd4c_memory_has_room(device, bytes)) { /* asked last, because it calls the backend */
      push(found);
      found = NULL;
    }
  }
  if (found == NULL) {
    return false;
  }
  *block = found->block;
  *users = found->users;
  nd4c_memory_take_over(device, block, origin);
  nd4c_recycle_give(found, sizeof *found);
  return true;
}

/* Removes the first block of a bin whose pending work is all on the stream. NULL: there is none. */
static pending_block *take_on(pending_bin *bin, const nd4c_device *device, nd4c_stream stream) {
  pending_block *found = NULL, *before = NULL;
  nd4c_lock_acquire(&lock);
  for (pending_block *at = bin->oldest; at != NULL && found == NULL; before = at, at = at->next) {
    if (at->device == device && at->block.node != NULL && nd4c_readers_are_on(&at->users, device, stream)) {
      found = unlink_next(bin, before);
    }
  }
  nd4c_lock_release(&lock);
  return found;
}

bool nd4c_pending_blocks_free_on(nd4c_device *device, nd4c_stream stream) {
  bool any = false;
  if (stream == NULL || !nd4c_driver_frees_on_streams(device)) {
    return false;
  }
  for (int b = 0; b < BIN_COUNT; b++) {
    for (pending_block *found; (found = take_on(&bins[b], device, stream)) != NULL;) {
      nd4c_memory_free_on(device, &found->block, stream);
      push(found); /* its work may need what a fence keeps, so the record stays without a block */
      any = true;
    }
  }
  return any;
}

void nd4c_pending_blocks_collect(bool wait) {
  collect(wait, true);
}

void nd4c_pending_blocks_sweep(void) {
  collect(false, nd4c_pending_blocks_bytes() > WORTH_ASKING);
}

int64_t nd4c_pending_blocks_bytes(void) {
  return atomic_load_explicit(&pending_bytes, memory_order_relaxed);
}
