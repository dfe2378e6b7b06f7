/* Implements scratch.h. submit/submit.c borrows a block for each call that it enqueues, graph/modes/stream.c holds one
 * for a plan; dispatch/choice.c checks requests for scratch. */
#include "device/memory/scratch.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/os_lock.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/stream/exit_and_fork.h"
#include "device/stream/stream_pool.h"

struct nd4c_scratch_pool {
  nd4c_lock lock;          /* guards the list; no other function is called under it */
  nd4c_condition returned; /* signalled when a block is returned */
  nd4c_scratch *list;
  _Atomic int64_t bytes;
};

nd4c_status nd4c_scratch_pool_make(nd4c_device *device, struct nd4c_scratch_pool **out) {
  (void)device;
  struct nd4c_scratch_pool *pool = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *pool, "a pool of scratch", &pool));
  nd4c_lock_init(&pool->lock);
  nd4c_condition_init(&pool->returned);
  *out = pool;
  return ND4C_OK;
}

void nd4c_scratch_pool_free(struct nd4c_scratch_pool *pool) {
  if (pool != NULL) {
    nd4c_condition_destroy(&pool->returned);
    nd4c_lock_destroy(&pool->lock);
    nd4c_deallocate(pool);
  }
}

/* -- sizes --------------------------------------------------------------------------------------------------------- */

int64_t nd4c_scratch_limit(nd4c_device *device) {
  int64_t limit = INT64_MAX;
  if (nd4c_memory_remaining(device, &limit) != ND4C_OK) {
    limit = INT64_MAX; /* the driver does not report it */
  }
  const int64_t largest = device->description.largest_bytes, most = nd4c_config_int(ND4C_CONFIG_DEVICE_SCRATCH);
  limit = largest > 0 && largest < limit ? largest : limit;
  return most > 0 && most < limit ? most : limit;
}

nd4c_status nd4c_scratch_check(const char *who, const nd4c_scratch_range *range) {
  const bool sound = range->least >= 0 && range->least <= range->best && range->best <= ND4C_SCRATCH_MOST;
  return sound ? ND4C_OK
               : nd4c_fail(ND4C_UNSUPPORTED,
                           "%s asks for %lld to %lld bytes of scratch: expected 0 to %lld, the "
                           "least first",
                           who, (long long)range->least, (long long)range->best, (long long)ND4C_SCRATCH_MOST);
}

nd4c_status nd4c_scratch_check_host(const char *who, int64_t bytes) {
  return bytes >= 0 && bytes <= ND4C_SCRATCH_MOST
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED, "%s asks for %lld bytes of the host's memory as scratch: expected 0 to %lld",
                         who, (long long)bytes, (long long)ND4C_SCRATCH_MOST);
}

/* The size of a block for the range when memory is not short. */
static int64_t preferred(const nd4c_scratch_range *range) {
  const int64_t most = nd4c_config_int(ND4C_CONFIG_DEVICE_SCRATCH);
  const int64_t best = most > 0 && most < range->best ? most : range->best;
  return best > range->least ? best : range->least;
}

/* The largest part of `wanted`, but at least `least`, that fits, rounding included, without taking memory from
 * others. */
static int64_t roomy(const nd4c_device *device, int64_t least, int64_t wanted) {
  int64_t room = 0;
  if (least >= wanted || nd4c_memory_has_room(device, wanted) || nd4c_memory_remaining(device, &room) != ND4C_OK) {
    return wanted;
  }
  const int64_t largest = device->description.largest_bytes;
  room -= room / 8; /* what rounding up may add */
  room = largest > 0 && largest < room ? largest : room;
  room = room < wanted ? room : wanted;
  return room > least ? room : least;
}

/* -- the list ------------------------------------------------------------------------------------------------------ */

/* Lends the largest idle block of the stream, if it has that many bytes. *crowded: smaller blocks are idle, too, which
 * the stream no longer needs. */
static nd4c_scratch *lend_idle(struct nd4c_scratch_pool *pool, nd4c_stream stream, int64_t least, bool *crowded) {
  nd4c_scratch *found = NULL;
  int32_t spare = 0;
  nd4c_lock_acquire(&pool->lock);
  for (nd4c_scratch *at = pool->list; at != NULL; at = at->next) {
    if (!at->lent && !at->gone && at->stream == stream) {
      spare += at->holders == 0;
      found = found == NULL || at->block.bytes > found->block.bytes ? at : found;
    }
  }
  found = found != NULL && found->block.bytes >= least ? found : NULL;
  if (found != NULL) {
    *crowded = spare > (found->holders == 0);
    found->lent = true;
  }
  nd4c_lock_release(&pool->lock);
  return found;
}

/* Takes back a lent block; under the lock. True: it is off the list, and the caller frees it. */
static bool put_back(struct nd4c_scratch_pool *pool, nd4c_scratch *scratch, bool unwanted) {
  scratch->lent = false;
  nd4c_condition_wake_all(&pool->returned);
  if (scratch->holders > 0 || !(unwanted || scratch->gone)) {
    return false;
  }
  nd4c_scratch **link = &pool->list;
  while (*link != scratch) {
    link = &(*link)->next;
  }
  *link = scratch->next;
  atomic_fetch_sub(&pool->bytes, scratch->block.bytes);
  return true;
}

/* Frees a block that is in no list. If settling the block's fence released a plan, the fence's work has ended and its
 * lock is held. */
static void free_scratch(nd4c_scratch *scratch) {
  if (!nd4c_fence_is_ready(scratch->last)) {
    nd4c_fence_settle(scratch->last);
  }
  nd4c_fence_release(scratch->last);
  nd4c_memory_free(scratch->device, &scratch->block);
  nd4c_recycle_give(scratch, sizeof *scratch);
}

/* Frees idle blocks that no work uses: blocks of `stream` with less than `below` bytes; stream NULL: of all streams.
 * Each is held while its fence is queried, which calls the driver. A block that another thread borrows meanwhile
 * stays: if it could not be borrowed, that thread would allocate one more. */
static void give_back(nd4c_device *device, nd4c_stream stream, int64_t below) {
  struct nd4c_scratch_pool *pool = device->scratch;
  nd4c_scratch *looked = NULL;
  if (nd4c_device_is_forked(device) || atomic_load_explicit(&pool->bytes, memory_order_relaxed) == 0) {
    return;
  }
  nd4c_lock_acquire(&pool->lock);
  for (nd4c_scratch *at = pool->list; at != NULL; at = at->next) {
    const bool meant = stream == NULL || (at->stream == stream && at->block.bytes < below);
    if (meant && !at->lent && at->holders == 0) {
      at->holders++;
      at->seen = nd4c_fence_retain(at->last);
      at->looked = looked;
      looked = at;
    }
  }
  nd4c_lock_release(&pool->lock);
  for (nd4c_scratch *next; looked != NULL; looked = next) {
    next = looked->looked;
    nd4c_shared_fence *seen = looked->seen;
    const bool ready = nd4c_fence_is_ready(seen);
    nd4c_lock_acquire(&pool->lock);
    looked->holders--;
    const bool out = !looked->lent && put_back(pool, looked, ready && looked->last == seen);
    nd4c_lock_release(&pool->lock);
    nd4c_fence_release(seen);
    if (out) {
      free_scratch(looked);
    }
  }
}

/* -- lending ------------------------------------------------------------------------------------------------------- */

/* Allocates a block and lends it. */
static nd4c_status allocate(nd4c_device *device, nd4c_stream stream, int64_t bytes, const char *who,
                            nd4c_scratch **out) {
  struct nd4c_scratch_pool *pool = device->scratch;
  const nd4c_memory_request request = {
      .bytes = bytes, .origin = "scratch", .usage = ND4C_BUFFER_SCRATCH, .stream = stream};
  nd4c_scratch *scratch = nd4c_recycle_take(sizeof *scratch);
  if (scratch == NULL) {
    return nd4c_fail_memory("the record of scratch", sizeof *scratch);
  }
  const nd4c_status status = nd4c_memory_allocate(device, &request, &scratch->block);
  if (status != ND4C_OK) {
    nd4c_recycle_give(scratch, sizeof *scratch);
    return nd4c_device_fail_prefix(status, device, "on", "%s: %lld bytes of scratch", who, (long long)bytes);
  }
  scratch->device = device;
  scratch->stream = stream;
  scratch->lent = true;
  scratch->gone = stream == NULL;
  nd4c_lock_acquire(&pool->lock);
  scratch->next = pool->list;
  pool->list = scratch;
  atomic_fetch_add(&pool->bytes, scratch->block.bytes);
  nd4c_lock_release(&pool->lock);
  *out = scratch;
  return ND4C_OK;
}

/* Allocates `wanted` bytes or, if that would take memory from others, the largest size in the range that does not. */
static nd4c_status make(nd4c_device *device, nd4c_stream stream, const nd4c_scratch_range *range, int64_t wanted,
                        const char *who, nd4c_scratch **out) {
  bool crowded = false;
  if (range->least < wanted && !nd4c_memory_has_room(device, wanted)) {
    nd4c_scratch_collect(device);
  }
  const int64_t size = roomy(device, range->least, wanted);
  *out = size < wanted ? lend_idle(device->scratch, stream, size, &crowded) : NULL;
  nd4c_status status = *out != NULL ? ND4C_OK : allocate(device, stream, size, who, out);
  if ((status == ND4C_MEMORY || status == ND4C_MEMORY_CAP) && range->least < size) {
    *out = lend_idle(device->scratch, stream, range->least, &crowded);
    status = *out != NULL ? ND4C_OK : allocate(device, stream, range->least, who, out);
  }
  return status;
}

nd4c_status nd4c_scratch_lend(nd4c_device *device, nd4c_stream stream, const nd4c_scratch_range *range, const char *who,
                              nd4c_scratch **scratch) {
  const int64_t wanted = preferred(range);
  bool crowded = false;
  *scratch = lend_idle(device->scratch, stream, wanted, &crowded);
  if (*scratch == NULL) {
    give_back(device, stream, wanted); /* a larger one takes their place */
    ND4C_TRY(make(device, stream, range, wanted, who, scratch));
  } else if (ND4C_UNLIKELY(crowded)) {
    give_back(device, stream, (*scratch)->block.bytes);
  }
  return ND4C_OK;
}

void nd4c_scratch_return(nd4c_scratch *scratch, nd4c_shared_fence *fence) {
  struct nd4c_scratch_pool *pool = scratch->device->scratch;
  nd4c_shared_fence *before = NULL;
  nd4c_lock_acquire(&pool->lock);
  if (fence != NULL) {
    before = scratch->last;
    scratch->last = nd4c_fence_retain(fence);
  }
  const bool out = put_back(pool, scratch, false);
  nd4c_lock_release(&pool->lock);
  nd4c_fence_release(before);
  if (out) {
    free_scratch(scratch);
  }
}

void nd4c_scratch_hold(nd4c_scratch *scratch) {
  nd4c_lock_acquire(&scratch->device->scratch->lock);
  scratch->holders++;
  nd4c_lock_release(&scratch->device->scratch->lock);
}

void nd4c_scratch_take(nd4c_scratch *scratch) {
  struct nd4c_scratch_pool *pool = scratch->device->scratch;
  nd4c_lock_acquire(&pool->lock);
  while (scratch->lent) {
    nd4c_condition_wait(&pool->returned, &pool->lock);
  }
  scratch->lent = true;
  nd4c_lock_release(&pool->lock);
}

void nd4c_scratch_drop(nd4c_scratch *scratch) {
  struct nd4c_scratch_pool *pool = scratch->device->scratch;
  if (nd4c_device_is_forked(scratch->device)) {
    return; /* a thread of the parent may have held the lock */
  }
  nd4c_lock_acquire(&pool->lock);
  scratch->holders--;
  const bool out = !scratch->lent && put_back(pool, scratch, false);
  nd4c_lock_release(&pool->lock);
  if (out) {
    free_scratch(scratch);
  }
}

/* -- giving back --------------------------------------------------------------------------------------------------- */

void nd4c_scratch_collect(nd4c_device *device) {
  give_back(device, NULL, 0);
}

int64_t nd4c_scratch_bytes(const nd4c_device *device) {
  return atomic_load_explicit(&device->scratch->bytes, memory_order_relaxed);
}

/* Removes the scratch of a stream that is about to be destroyed; lent blocks are freed when they are returned. */
static void *detach(nd4c_device *device, nd4c_stream stream) {
  struct nd4c_scratch_pool *pool = device->scratch;
  nd4c_scratch *detached = NULL, *next = NULL;
  nd4c_lock_acquire(&pool->lock);
  for (nd4c_scratch *at = pool->list; at != NULL; at = next) {
    next = at->next;
    if (at->stream != stream) {
      continue;
    }
    at->gone = true;
    at->stream = NULL;
    if (!at->lent && put_back(pool, at, true)) {
      at->next = detached;
      detached = at;
    }
  }
  nd4c_lock_release(&pool->lock);
  return detached;
}

static void free_detached(void *of_stream) {
  for (nd4c_scratch *detached = of_stream, *next; detached != NULL; detached = next) {
    next = detached->next;
    free_scratch(detached);
  }
}

static const nd4c_stream_hook scratch_of_stream = {detach, free_detached};
ND4C_HOOK(stream_hooks, nd4c_stream_hook, scratch_of_stream);
