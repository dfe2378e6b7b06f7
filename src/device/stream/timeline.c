/* Implements the list of timelines and their entries (timeline.h); timeline_marks.c has the vendor's fences. fence.c
 * calls it for every submission, submit/submit.c for the numbers of calls. */
#include "device/stream/timeline.h"

#include "base/alloc.h"
#include "base/os.h"
#include "base/status.h"
#include "device/stream/shared_locks.h"
#include "device/stream/timeline_body.h"

/* Number of submissions without a vendor fence after which one is recorded, so that what they keep can be released
 * without a wait; and number of unfinished submissions after which the host waits for the oldest vendor fence. */
enum { CADENCE = 512, AHEAD = 2048 };

/* -- all timelines ------------------------------------------------------------------------------------------------- */

enum { ROWS = 64 };

static nd4c_lock registry_lock = ND4C_LOCK_INIT; /* no other lock is taken under it */
static nd4c_timeline *registry[ROWS];
static nd4c_once forks_once = ND4C_ONCE_INIT;

static void lock_registry(void) {
  nd4c_lock_acquire(&registry_lock);
}

static void unlock_registry(void) {
  nd4c_lock_release(&registry_lock);
}

/* The hook keeps the registry consistent in a child of fork. */
static void watch_forks(void) {
  nd4c_os_around_fork(lock_registry, unlock_registry);
}

static uint32_t row_of(nd4c_stream stream) {
  return (uint32_t)(((uint64_t)(uintptr_t)stream >> 4) * UINT64_C(0x9fb21c651e98df25) >> 58);
}

bool nd4c_timeline_is_of(const nd4c_timeline *timeline, const nd4c_device *device, nd4c_stream stream) {
  return timeline->device == device && stream != NULL &&
         atomic_load_explicit(&timeline->stream, memory_order_relaxed) == stream;
}

/* Under the registry's lock. */
static nd4c_timeline *find(const nd4c_device *device, nd4c_stream stream) {
  nd4c_timeline *found = registry[row_of(stream)];
  while (found != NULL && !nd4c_timeline_is_of(found, device, stream)) {
    found = found->next;
  }
  return found;
}

static nd4c_timeline *make(nd4c_device *device, nd4c_stream stream) {
  nd4c_timeline *timeline = nd4c_allocate_zeroed(1, sizeof *timeline);
  if (timeline != NULL) {
    atomic_init(&timeline->references, 1);
    timeline->device = device;
    atomic_init(&timeline->stream, stream);
    timeline->row = row_of(stream);
    atomic_init(&timeline->oldest_position, INT64_MAX);
    nd4c_lock_init(&timeline->lock);
    nd4c_condition_init(&timeline->changed);
  }
  return timeline;
}

nd4c_status nd4c_timeline_of(nd4c_device *device, nd4c_stream stream, nd4c_timeline **timeline) {
  nd4c_once_run(&forks_once, watch_forks);
  lock_registry();
  nd4c_timeline *found = find(device, stream);
  if (found == NULL && (found = make(device, stream)) != NULL) {
    found->next = registry[found->row];
    registry[found->row] = found;
  }
  unlock_registry();
  *timeline = found;
  return found != NULL ? ND4C_OK : nd4c_fail_memory("a stream's timeline", sizeof *found);
}

nd4c_timeline *nd4c_timeline_retain(nd4c_timeline *timeline) {
  atomic_fetch_add_explicit(&timeline->references, 1, memory_order_relaxed);
  return timeline;
}

static void unlist(nd4c_timeline *timeline) {
  lock_registry();
  nd4c_timeline **link = &registry[timeline->row];
  while (*link != timeline) {
    link = &(*link)->next;
  }
  *link = timeline->next;
  unlock_registry();
}

void nd4c_timeline_release(nd4c_timeline *timeline) {
  if (timeline == NULL || atomic_fetch_sub_explicit(&timeline->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  unlist(timeline);
  nd4c_timeline_free_failures(timeline->failures);
  nd4c_condition_destroy(&timeline->changed);
  nd4c_lock_destroy(&timeline->lock);
  nd4c_deallocate(timeline);
}

/* A timeline whose last reference is being dropped may still be listed: it must not be retained again. */
static bool try_retain(nd4c_timeline *timeline) {
  int32_t references = atomic_load(&timeline->references);
  while (references > 0) {
    if (atomic_compare_exchange_weak(&timeline->references, &references, references + 1)) {
      return true;
    }
  }
  return false;
}

nd4c_timeline *nd4c_timeline_next(nd4c_timeline *before, const nd4c_device *device) {
  lock_registry();
  uint32_t row = before != NULL ? before->row : 0;
  nd4c_timeline *found = before != NULL ? before->next : registry[row];
  while (found == NULL || found->device != device || !try_retain(found)) {
    if (found == NULL && ++row == ROWS) {
      break;
    }
    found = found != NULL ? found->next : registry[row];
  }
  unlock_registry();
  nd4c_timeline_release(before);
  return found;
}

nd4c_device *nd4c_timeline_device(const nd4c_timeline *timeline) {
  return timeline->device;
}

nd4c_timeline *nd4c_timeline_find(const nd4c_device *device, nd4c_stream stream) {
  lock_registry();
  nd4c_timeline *found = find(device, stream);
  found = found != NULL && try_retain(found) ? found : NULL;
  unlock_registry();
  return found;
}

nd4c_timeline *nd4c_timeline_end(nd4c_device *device, nd4c_stream stream) {
  lock_registry();
  nd4c_timeline *timeline = find(device, stream);
  unlock_registry();
  if (timeline != NULL) {
    nd4c_lock_acquire(&timeline->lock);
    nd4c_timeline_cover(timeline);
    atomic_store_explicit(&timeline->stream, NULL, memory_order_relaxed);
    nd4c_lock_release(&timeline->lock);
  }
  return timeline;
}

/* -- numbers of calls ---------------------------------------------------------------------------------------------- */

int64_t nd4c_timeline_number(nd4c_timeline *timeline, int32_t count) {
  atomic_fetch_add_explicit(&timeline->open, count, memory_order_relaxed);
  return atomic_fetch_add_explicit(&timeline->points, count, memory_order_relaxed) + 1;
}

void nd4c_timeline_drop(nd4c_timeline *timeline, int64_t first, int32_t count) {
  nd4c_timeline_free_failures(nd4c_timeline_take_failures(timeline, first, count));
  atomic_fetch_sub_explicit(&timeline->open, count, memory_order_relaxed);
}

/* -- entries ------------------------------------------------------------------------------------------------------- */

/* Under the lock. */
static void note_oldest(nd4c_timeline *timeline) {
  atomic_store(&timeline->oldest_position, timeline->oldest != NULL ? timeline->oldest->position : INT64_MAX);
}

/* Under the lock. */
static void list_entry(nd4c_timeline *timeline, nd4c_timeline_entry *entry, int64_t position) {
  atomic_fetch_add_explicit(&entry->references, 1, memory_order_relaxed);
  entry->next = NULL;
  entry->position = position;
  entry->order = ++timeline->order;
  *(timeline->newest != NULL ? &timeline->newest->next : &timeline->oldest) = entry;
  timeline->newest = entry;
  note_oldest(timeline);
}

/* Whether each submission gets its own vendor fence. */
static bool is_exact(const nd4c_timeline *timeline) {
  return !nd4c_timeline_tells_points(timeline) || atomic_load(&timeline->ended) < timeline->apart_until ||
         timeline->end <= timeline->fenced_until;
}

nd4c_status nd4c_timeline_append(nd4c_timeline *timeline, nd4c_timeline_entry *entry, int32_t count, bool now) {
  nd4c_status status = ND4C_OK;
  int64_t wait_for = 0;
  nd4c_lock_acquire(&timeline->lock);
  nd4c_timeline_absorb(timeline, timeline->end);
  timeline->end++;
  if (now || is_exact(timeline)) {
    status = nd4c_timeline_record(timeline);
  } else if (timeline->end - timeline->marked >= CADENCE) {
    nd4c_timeline_cover(timeline);
  }
  if (status == ND4C_OK) {
    list_entry(timeline, entry, timeline->end);
    atomic_fetch_sub_explicit(&timeline->open, count, memory_order_relaxed);
  } else {
    timeline->end--;
  }
  if (timeline->end - atomic_load(&timeline->ended) > AHEAD && timeline->first != NULL) {
    wait_for = timeline->first->position;
  }
  nd4c_lock_release(&timeline->lock);
  if (wait_for > 0 && nd4c_shared_locks_allow_wait()) { /* else the next submission waits */
    nd4c_timeline_wait(timeline, wait_for);
  }
  return status;
}

void nd4c_timeline_append_beside(nd4c_timeline *timeline, nd4c_timeline_entry *entry, int64_t position) {
  nd4c_lock_acquire(&timeline->lock);
  list_entry(timeline, entry, position);
  nd4c_lock_release(&timeline->lock);
}

nd4c_timeline_entry *nd4c_timeline_oldest(nd4c_timeline *timeline, int64_t order) {
  nd4c_lock_acquire(&timeline->lock);
  nd4c_timeline_entry *oldest = timeline->oldest;
  if (oldest != NULL && oldest->order <= order) {
    atomic_fetch_add_explicit(&oldest->references, 1, memory_order_relaxed);
  } else {
    oldest = NULL;
  }
  nd4c_lock_release(&timeline->lock);
  return oldest;
}

int64_t nd4c_timeline_newest(nd4c_timeline *timeline) {
  nd4c_lock_acquire(&timeline->lock);
  const int64_t order = timeline->order;
  nd4c_lock_release(&timeline->lock);
  return order;
}

bool nd4c_timeline_take_off(nd4c_timeline *timeline, nd4c_timeline_entry *entry) {
  nd4c_lock_acquire(&timeline->lock);
  const bool found = timeline->oldest == entry;
  if (found) {
    timeline->oldest = entry->next;
    timeline->newest = entry->next != NULL ? timeline->newest : NULL;
    note_oldest(timeline);
    nd4c_timeline_purge(timeline);
  }
  nd4c_lock_release(&timeline->lock);
  return found;
}

bool nd4c_timeline_has_finished(nd4c_timeline *timeline) {
  return atomic_load(&timeline->oldest_position) <= atomic_load(&timeline->ended);
}
