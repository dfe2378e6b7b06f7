/* The vendor's fences of a timeline, and the failures that they report. fence.c calls it when a thread waits for a
 * fence or asks about it, timeline.c for each new entry. */
#include <string.h>

#include "base/alloc.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/stream/shared_locks.h"
#include "device/stream/timeline_body.h"

/* Limit of failures read from one fence, in case a device never stops reporting them. */
enum { ND4C_FENCE_FAILURES = 4096 };

/* -- failures ------------------------------------------------------------------------------------------------------ */

void nd4c_timeline_free_failures(nd4c_timeline_failure *failures) {
  while (failures != NULL) {
    nd4c_timeline_failure *next = failures->next;
    nd4c_deallocate(failures->text);
    nd4c_deallocate(failures);
    failures = next;
  }
}

static bool has_points(const nd4c_timeline_failure *failure) {
  return failure->points.first > 0;
}

/* Merges several failures into one without text and points. */
static void note_spare(nd4c_timeline *timeline, nd4c_status status, int64_t after, int64_t until) {
  nd4c_timeline_failure *spare = &timeline->spare;
  const bool fresh = spare->status == ND4C_OK;
  spare->status = fresh ? status : spare->status;
  spare->after = fresh || after < spare->after ? after : spare->after;
  spare->until = fresh || until > spare->until ? until : spare->until;
}

/* The failure's text is the thread's error text. NULL if memory is exhausted. */
static nd4c_timeline_failure *make_failure(nd4c_status status, nd4c_failed_range points) {
  nd4c_timeline_failure *made = nd4c_allocate_zeroed(1, sizeof *made);
  if (made != NULL) {
    made->status = status;
    made->points = points;
    made->text = nd4c_duplicate_text(nd4c_error_message());
  }
  return made;
}

static void push(nd4c_timeline *timeline, nd4c_timeline_failure *failure, nd4c_status status, int64_t until) {
  const int64_t after = atomic_load(&timeline->ended);
  if (failure == NULL) {
    note_spare(timeline, status, after, until);
    return;
  }
  const nd4c_failed_range *points = &failure->points;
  if (!nd4c_timeline_tells_points(timeline) || points->last > atomic_load(&timeline->points)) {
    failure->points = (nd4c_failed_range){0, 0};
  }
  failure->after = after;
  failure->until = until;
  failure->next = timeline->failures;
  timeline->failures = failure;
}

/* Reads the failures of a vendor fence. `lost`: a failure that was dropped because memory was exhausted, or OK. */
typedef struct told {
  nd4c_timeline_failure *list;
  nd4c_status lost;
} told;

static void add(told *all, nd4c_status status, nd4c_failed_range points) {
  nd4c_timeline_failure *made = make_failure(status, points);
  if (made == NULL) {
    all->lost = status;
    return;
  }
  made->next = all->list;
  all->list = made;
}

/* Reads them one by one, up to a limit; any others count as failures of unknown calls. */
static told listen_to_each(const nd4c_device *device, nd4c_fence handle) {
  told each = {NULL, ND4C_OK};
  nd4c_failed_range points;
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < ND4C_FENCE_FAILURES; i++) {
    status = nd4c_driver_fence_failure(device, handle, i, &points);
    if (status == ND4C_OK) {
      return each;
    }
    add(&each, status, points);
  }
  add(&each, status, (nd4c_failed_range){0, 0});
  return each;
}

/* Blocks until the fence is signalled. */
static told listen(const nd4c_timeline *timeline, nd4c_fence handle) {
  const nd4c_device *device = timeline->device;
  told all = {NULL, ND4C_OK};
  nd4c_failed_range points;
  nd4c_status status = nd4c_driver_fence_wait_range(device, handle, &points);
  if (status == ND4C_OK) {
    return all;
  }
  add(&all, status, points);
  if (!nd4c_timeline_tells_points(timeline) || device->ops->fence_failure == NULL) {
    return all;
  }
  const told each = listen_to_each(device, handle);
  if (each.list == NULL && each.lost == ND4C_OK) {
    return all;
  }
  nd4c_timeline_free_failures(all.list);
  return each;
}

static bool touches(const nd4c_timeline_failure *failure, int64_t first, int64_t last) {
  return has_points(failure) && failure->points.first <= last && failure->points.last >= first;
}

/* The part of a failure that concerns these points. NULL if memory is exhausted. */
static nd4c_timeline_failure *cut(const nd4c_timeline_failure *failure, int64_t first, int64_t last) {
  nd4c_timeline_failure *made = nd4c_allocate_zeroed(1, sizeof *made);
  if (made != NULL) {
    *made = *failure;
    made->points.first = made->points.first < first ? first : made->points.first;
    made->points.last = made->points.last > last ? last : made->points.last;
    made->text = failure->text != NULL ? nd4c_duplicate_text(failure->text) : NULL;
  }
  return made;
}

nd4c_timeline_failure *nd4c_timeline_take_failures(nd4c_timeline *timeline, int64_t first, int32_t count) {
  const int64_t last = first + count - 1;
  nd4c_timeline_failure *taken = NULL;
  nd4c_lock_acquire(&timeline->lock);
  nd4c_timeline_failure **link = &timeline->failures;
  while (count > 0 && *link != NULL) {
    nd4c_timeline_failure *failure = *link;
    if (!touches(failure, first, last)) {
      link = &failure->next;
      continue;
    }
    if (failure->points.first >= first && failure->points.last <= last) {
      *link = failure->next;
    } else { /* it has points of others, too */
      link = &failure->next;
      const nd4c_timeline_failure *whole = failure;
      failure = cut(whole, first, last);
      if (failure == NULL) {
        note_spare(timeline, whole->status, whole->after, timeline->end);
        continue;
      }
    }
    failure->next = taken;
    taken = failure;
  }
  nd4c_lock_release(&timeline->lock);
  return taken;
}

static bool is_within(const nd4c_timeline_failure *failure, int64_t position) {
  return failure->status != ND4C_OK && !has_points(failure) && failure->after < position && position <= failure->until;
}

nd4c_status nd4c_timeline_find_unknown(nd4c_timeline *timeline, int64_t position, char **text) {
  nd4c_status status = ND4C_OK;
  *text = NULL;
  nd4c_lock_acquire(&timeline->lock);
  for (const nd4c_timeline_failure *at = timeline->failures; at != NULL && status == ND4C_OK; at = at->next) {
    if (is_within(at, position)) {
      status = at->status;
      *text = at->text != NULL ? nd4c_duplicate_text(at->text) : NULL;
    }
  }
  if (status == ND4C_OK && is_within(&timeline->spare, position)) {
    status = timeline->spare.status;
  }
  nd4c_lock_release(&timeline->lock);
  return status;
}

void nd4c_timeline_purge(nd4c_timeline *timeline) {
  const bool empty = timeline->oldest == NULL;
  const int64_t oldest = empty ? timeline->end + 1 : timeline->oldest->position;
  const bool idle = empty && atomic_load_explicit(&timeline->open, memory_order_relaxed) == 0;
  if (timeline->spare.until < oldest) {
    timeline->spare.status = ND4C_OK;
  }
  for (nd4c_timeline_failure **link = &timeline->failures; *link != NULL;) {
    nd4c_timeline_failure *failure = *link;
    if (idle || (!has_points(failure) && failure->until < oldest)) {
      *link = failure->next;
      failure->next = NULL;
      nd4c_timeline_free_failures(failure);
    } else {
      link = &failure->next;
    }
  }
}

/* -- vendor fences ------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_timeline_record(nd4c_timeline *timeline) {
  nd4c_vendor_fence *mark = nd4c_recycle_take(sizeof *mark);
  if (mark == NULL) {
    return nd4c_fail_memory("a fence", sizeof *mark);
  }
  nd4c_status status = nd4c_driver_fence_record(timeline->device, atomic_load(&timeline->stream), &mark->handle);
  if (status != ND4C_OK) {
    nd4c_recycle_give(mark, sizeof *mark);
    return status;
  }
  mark->position = timeline->marked = timeline->end;
  *(timeline->last != NULL ? &timeline->last->next : &timeline->first) = mark;
  timeline->last = mark;
  return ND4C_OK;
}

/* Without a pending vendor fence, all marked positions have ended. */
static void advance(nd4c_timeline *timeline, int64_t position) {
  atomic_store(&timeline->ended, timeline->first != NULL ? position : timeline->marked);
  nd4c_condition_wake_all(&timeline->changed);
}

void nd4c_timeline_cover(nd4c_timeline *timeline) {
  if (timeline->marked == timeline->end || nd4c_timeline_record(timeline) == ND4C_OK) {
    return;
  }
  /* Waits for the work; afterwards recording a fence may succeed, which reports the outcome. A failure of the work is
   * more specific than the failure of recording. */
  nd4c_status status = nd4c_driver_synchronize(timeline->device);
  status = status == ND4C_OK ? nd4c_timeline_record(timeline) : status;
  if (status == ND4C_OK) {
    return;
  }
  nd4c_timeline_failure *failure = make_failure(status, (nd4c_failed_range){0, 0});
  const int64_t after = timeline->marked;
  timeline->marked = timeline->end;
  push(timeline, failure, status, timeline->end);
  if (failure != NULL) {
    failure->after = after;
  }
  advance(timeline, atomic_load(&timeline->ended));
}

/* Removes the oldest vendor fence that no other thread is handling. Releases the lock while it waits. */
static void end_first(nd4c_timeline *timeline) {
  nd4c_vendor_fence *mark = timeline->first;
  mark->busy = true;
  nd4c_lock_release(&timeline->lock);
  told all = listen(timeline, mark->handle);
  nd4c_lock_acquire(&timeline->lock);
  while (all.list != NULL) {
    nd4c_timeline_failure *failure = all.list;
    all.list = failure->next;
    push(timeline, failure, failure->status, mark->position);
  }
  if (all.lost != ND4C_OK) {
    push(timeline, NULL, all.lost, mark->position);
  }
  timeline->first = mark->next;
  timeline->last = mark->next != NULL ? timeline->last : NULL;
  advance(timeline, mark->position);
  timeline->device->ops->fence_destroy(timeline->device->handle, mark->handle);
  nd4c_recycle_give(mark, sizeof *mark);
}

void nd4c_timeline_absorb(nd4c_timeline *timeline, int64_t position) {
  const nd4c_device *device = timeline->device;
  while (timeline->first != NULL && atomic_load(&timeline->ended) < position && !timeline->first->busy &&
         device->ops->fence_query(device->handle, timeline->first->handle)) {
    end_first(timeline);
  }
}

void nd4c_timeline_mark(nd4c_timeline *timeline) {
  nd4c_lock_acquire(&timeline->lock);
  nd4c_timeline_cover(timeline);
  nd4c_lock_release(&timeline->lock);
}

void nd4c_timeline_stand_apart(nd4c_timeline *timeline) {
  nd4c_lock_acquire(&timeline->lock);
  nd4c_timeline_cover(timeline);
  timeline->apart_until = timeline->end + 1;
  nd4c_lock_release(&timeline->lock);
}

bool nd4c_timeline_stands_apart(nd4c_timeline *timeline) {
  nd4c_lock_acquire(&timeline->lock);
  nd4c_timeline_absorb(timeline, timeline->apart_until);
  const bool apart = atomic_load(&timeline->ended) < timeline->apart_until;
  nd4c_lock_release(&timeline->lock);
  return apart;
}

/* Records a vendor fence to ask for. Where the thread must not wait, a fence that cannot be recorded is left for a
 * later question: nd4c_timeline_cover would wait for the device. */
static void record_to_ask(nd4c_timeline *timeline) {
  if (nd4c_shared_locks_allow_wait()) {
    nd4c_timeline_cover(timeline);
  } else {
    (void)nd4c_timeline_record(timeline);
  }
}

static bool ask(nd4c_timeline *timeline, int64_t position, bool record) {
  if (atomic_load(&timeline->ended) >= position) {
    return true;
  }
  nd4c_lock_acquire(&timeline->lock);
  nd4c_timeline_absorb(timeline, position);
  if (record && timeline->first == NULL && timeline->marked < position) {
    record_to_ask(timeline);
    nd4c_timeline_absorb(timeline, position);
  }
  const bool ended = atomic_load(&timeline->ended) >= position;
  nd4c_lock_release(&timeline->lock);
  return ended;
}

bool nd4c_timeline_is_known(nd4c_timeline *timeline, int64_t position) {
  return ask(timeline, position, false);
}

bool nd4c_timeline_has_ended(nd4c_timeline *timeline, int64_t position) {
  return ask(timeline, position, true);
}

/* A program that submits a step and then reads the previous one would wait for both each time. After such a wait,
 * submissions get their own vendor fences, each time for longer. */
static void note_late(nd4c_timeline *timeline, int64_t position) {
  enum { FIRST_SPAN = 64, DOUBLINGS = 8 };
  if (position < timeline->end) {
    timeline->fenced_until = timeline->end + ((int64_t)FIRST_SPAN << timeline->late);
    timeline->late += timeline->late < DOUBLINGS;
  }
}

/* The thread is about to wait for the oldest vendor fence. */
static void check_wait(const nd4c_timeline *timeline) {
  const nd4c_device *device = timeline->device;
  if (ND4C_UNLIKELY(!nd4c_shared_locks_allow_wait()) &&
      (timeline->first->busy || !device->ops->fence_query(device->handle, timeline->first->handle))) {
    nd4c_shared_locks_note_wait();
  }
}

/* Under the lock. */
static void wait_until(nd4c_timeline *timeline, int64_t position) {
  while (atomic_load(&timeline->ended) < position) {
    if (timeline->marked < position) {
      note_late(timeline, position);
      nd4c_timeline_cover(timeline);
      continue;
    }
    check_wait(timeline);
    if (timeline->first->busy) {
      nd4c_condition_wait(&timeline->changed, &timeline->lock);
    } else {
      end_first(timeline);
    }
  }
}

void nd4c_timeline_wait(nd4c_timeline *timeline, int64_t position) {
  if (atomic_load(&timeline->ended) < position) {
    nd4c_lock_acquire(&timeline->lock);
    wait_until(timeline, position);
    nd4c_lock_release(&timeline->lock);
  }
}

bool nd4c_timeline_is_idle(nd4c_device *device, nd4c_stream stream) {
  nd4c_timeline *timeline = nd4c_timeline_find(device, stream);
  if (timeline == NULL) {
    return true; /* no fence was ever recorded there */
  }
  nd4c_lock_acquire(&timeline->lock);
  nd4c_timeline_absorb(timeline, timeline->end);
  const bool idle = atomic_load(&timeline->ended) >= timeline->end;
  nd4c_lock_release(&timeline->lock);
  nd4c_timeline_release(timeline);
  return idle;
}

void nd4c_timeline_wait_all(nd4c_timeline *timeline) {
  nd4c_lock_acquire(&timeline->lock);
  timeline->end++; /* for work that was enqueued but not submitted */
  wait_until(timeline, timeline->end);
  nd4c_lock_release(&timeline->lock);
}

static nd4c_status wait_on(const nd4c_timeline *timeline, const nd4c_device *device, nd4c_stream stream,
                           nd4c_fence handle) {
  nd4c_error_expect();
  return device == timeline->device
             ? nd4c_driver_answer(device->ops->stream_wait_fence(device->handle, stream, handle), "stream_wait_fence")
             : nd4c_driver_stream_wait_other(device, stream, timeline->device, handle);
}

/* Checks each vendor fence up to the position, because a failed one may be signalled before earlier ones. */
nd4c_status nd4c_timeline_enqueue_wait(nd4c_timeline *timeline, int64_t position, const nd4c_device *device,
                                       nd4c_stream stream) {
  nd4c_status status = ND4C_OK;
  nd4c_lock_acquire(&timeline->lock);
  if (timeline->marked < position) {
    nd4c_timeline_cover(timeline);
  }
  int64_t at = atomic_load(&timeline->ended);
  for (const nd4c_vendor_fence *mark = timeline->first; mark != NULL && at < position && status == ND4C_OK;
       mark = mark->next) {
    status = wait_on(timeline, device, stream, mark->handle);
    at = mark->position;
  }
  nd4c_lock_release(&timeline->lock);
  return status;
}

/* The vendor fences that cover positions up to this one. Under the lock. */
static int32_t count_marks(const nd4c_timeline *timeline, int64_t position) {
  int32_t count = 0;
  int64_t at = atomic_load(&timeline->ended);
  for (const nd4c_vendor_fence *mark = timeline->first; mark != NULL && at < position; mark = mark->next) {
    at = mark->position;
    count++;
  }
  return count;
}

int32_t nd4c_timeline_hold(nd4c_timeline *timeline, int64_t position, nd4c_fence *handles) {
  nd4c_lock_acquire(&timeline->lock);
  if (timeline->marked < position) {
    nd4c_timeline_cover(timeline);
  }
  const int32_t count = count_marks(timeline, position);
  if (count > ND4C_TIMELINE_WAITS) {
    nd4c_lock_release(&timeline->lock);
    return -1;
  }
  const nd4c_vendor_fence *mark = timeline->first;
  for (int32_t i = 0; i < count; ++i, mark = mark->next) {
    handles[i] = mark->handle;
  }
  if (count == 0) {
    nd4c_lock_release(&timeline->lock);
  }
  return count;
}

void nd4c_timeline_let_go(nd4c_timeline *timeline) {
  nd4c_lock_release(&timeline->lock);
}
