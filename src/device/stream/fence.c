/* Implements fence.h: records fences, waits for them, passes failures on to later work. submit/submit.c records one for
 * each submission; device/storage waits for them before it copies or frees. */
#include "device/stream/fence.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/stream/exit_and_fork.h"
#include "device/stream/fence_body.h"
#include "device/stream/shared_locks.h"

static _Atomic int64_t kept_bytes;

/* -- making and freeing -------------------------------------------------------------------------------------------- */

/* Recycled, as every call on an asynchronous device makes one. NULL when there is no memory. */
static nd4c_shared_fence *take_fence(int32_t after_count) {
  nd4c_shared_fence *fence = nd4c_recycle_take(sizeof *fence);
  if (fence == NULL) {
    return NULL;
  }
  fence->after = fence->inline_after;
  fence->after_room = after_count;
  if (after_count > ND4C_FENCE_INLINE_AFTER) {
    fence->after = nd4c_recycle_take((size_t)after_count * sizeof(void *));
  }
  if (fence->after == NULL) {
    nd4c_recycle_give(fence, sizeof *fence);
    return NULL;
  }
  return fence;
}

static nd4c_status make_fence(nd4c_timeline *timeline, const char *op, nd4c_shared_fence *const *after,
                              int32_t after_count, nd4c_shared_fence **out) {
  nd4c_shared_fence *fence = take_fence(after_count);
  if (fence == NULL) {
    return nd4c_fail_memory("a fence", sizeof *fence);
  }
  atomic_init(&fence->entry.references, 1);
  fence->timeline = nd4c_timeline_retain(timeline);
  fence->device = nd4c_timeline_device(timeline);
  fence->op = op;
  for (int32_t i = 0; i < after_count; i++) {
    if (after[i] != NULL) {
      fence->after[fence->after_count++] = nd4c_fence_retain(after[i]);
    }
  }
  nd4c_lock_init(&fence->lock);
  *out = fence;
  return ND4C_OK;
}

/* Whether the parent of this child recorded the fence and had not settled it before the fork. */
static bool is_orphan(const nd4c_shared_fence *fence) {
  return nd4c_device_is_forked(fence->device) && !atomic_load(&fence->done);
}

static void free_fence(nd4c_shared_fence *fence) {
  if (fence->after != fence->inline_after) {
    nd4c_recycle_give(fence->after, (size_t)fence->after_room * sizeof(void *));
  }
  nd4c_deallocate(fence->text);
  nd4c_recycle_give(fence, sizeof *fence);
}

nd4c_shared_fence *nd4c_fence_retain(nd4c_shared_fence *fence) {
  if (fence != NULL) {
    atomic_fetch_add_explicit(&fence->entry.references, 1, memory_order_relaxed);
  }
  return fence;
}

/* Never waits, because the timeline holds a reference until the outcome is known. */
void nd4c_fence_release(nd4c_shared_fence *fence) {
  if (fence == NULL || atomic_fetch_sub_explicit(&fence->entry.references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  if (fence->run == NULL && atomic_load(&fence->done) && fence->status != ND4C_OK) {
    nd4c_fence_unlist_failed(fence);
  }
  for (int32_t i = 0; i < fence->after_count; i++) { /* for a fence that is not on its timeline */
    nd4c_fence_release(fence->after[i]);
  }
  nd4c_lock_destroy(&fence->lock);
  nd4c_fence_steps_release(fence->steps);
  nd4c_timeline_free_failures(fence->failed);
  nd4c_fence_release(fence->run);
  nd4c_timeline_release(fence->timeline);
  free_fence(fence);
}

/* -- recording ----------------------------------------------------------------------------------------------------- */

static nd4c_status refuse_forked(const nd4c_device *device) {
  return nd4c_device_is_forked(device) ? nd4c_device_refuse(device) : ND4C_OK;
}

static void settle_finished(nd4c_timeline *timeline);

/* Puts it on its timeline; after a failure the caller's reference is released. */
static nd4c_status put(nd4c_shared_fence *fence, bool now, nd4c_shared_fence **out) {
  nd4c_status status = nd4c_timeline_append(fence->timeline, &fence->entry, fence->count, now);
  if (status != ND4C_OK) {
    nd4c_fence_release(fence);
    return status;
  }
  *out = fence;
  return ND4C_OK;
}

static nd4c_status append(nd4c_shared_fence *fence, bool now, nd4c_shared_fence **out) {
  ND4C_TRY(put(fence, now, out));
  settle_finished(fence->timeline);
  return ND4C_OK;
}

nd4c_status nd4c_fence_record(nd4c_device *device, nd4c_stream stream, const char *op, nd4c_shared_fence *const *after,
                              int32_t after_count, nd4c_shared_fence **out) {
  nd4c_timeline *timeline = NULL;
  nd4c_shared_fence *fence = NULL;
  ND4C_TRY(refuse_forked(device));
  ND4C_TRY(nd4c_timeline_of(device, stream, &timeline));
  ND4C_TRY(make_fence(timeline, op, after, after_count, &fence));
  return put(fence, true, out);
}

void nd4c_fence_settle_earlier(const nd4c_shared_fence *fence) {
  settle_finished(fence->timeline);
}

nd4c_status nd4c_fence_place(nd4c_timeline *timeline, const char *op, nd4c_shared_fence **out) {
  nd4c_shared_fence *fence = NULL;
  ND4C_TRY(refuse_forked(nd4c_timeline_device(timeline)));
  ND4C_TRY(make_fence(timeline, op, NULL, 0, &fence));
  return append(fence, false, out);
}

nd4c_status nd4c_fence_submit(nd4c_timeline *timeline, const nd4c_fence_work *work, nd4c_shared_fence **out) {
  nd4c_shared_fence *fence = NULL;
  ND4C_TRY(refuse_forked(nd4c_timeline_device(timeline)));
  ND4C_TRY(make_fence(timeline, work->op, work->after, work->after_count, &fence));
  fence->first = work->first;
  fence->count = work->count;
  fence->steps = nd4c_fence_steps_retain(work->steps);
  /* Records the vendor's fence of a run at once, so that waiting for the run does not include the next one. Does the
   * same for work without numbers, so that its failure is not attributed to later work. */
  return append(fence, work->steps != NULL || work->count == 0, out);
}

nd4c_status nd4c_fence_make_part(nd4c_shared_fence *run, int32_t part, nd4c_shared_fence *const *after,
                                 int32_t after_count, nd4c_shared_fence **out) {
  nd4c_shared_fence *fence = NULL;
  ND4C_TRY(make_fence(run->timeline, run->op, after, after_count, &fence));
  fence->run = nd4c_fence_retain(run);
  fence->part = part;
  nd4c_timeline_append_beside(run->timeline, &fence->entry, run->entry.position);
  *out = fence;
  return ND4C_OK;
}

void nd4c_fence_keep(nd4c_shared_fence *fence, void *kept, int64_t bytes, void (*release)(void *kept)) {
  if (is_orphan(fence)) { /* a thread of the parent may have held its lock at the fork */
    release(kept);
    return;
  }
  nd4c_lock_acquire(&fence->lock);
  bool done = atomic_load(&fence->done);
  if (!done) {
    fence->kept = kept;
    fence->kept_bytes = bytes;
    fence->release_kept = release;
    atomic_fetch_add_explicit(&kept_bytes, bytes, memory_order_relaxed);
  }
  nd4c_lock_release(&fence->lock);
  if (done) {
    release(kept);
  } else if (bytes > 0) { /* so that memory is known to be free as soon as it is */
    nd4c_timeline_mark(fence->timeline);
  }
}

int64_t nd4c_fence_kept_bytes(void) {
  return atomic_load_explicit(&kept_bytes, memory_order_relaxed);
}

/* -- settling ------------------------------------------------------------------------------------------------------ */

/* A failure of the work itself. */
static void fail_work(nd4c_shared_fence *fence, nd4c_status status, const char *op, const char *why) {
  char text[ND4C_FENCE_TEXT_SIZE];
  (void)snprintf(text, sizeof text, "%s failed on %s: %.400s", op != NULL ? op : fence->op, fence->device->name,
                 why != NULL ? why : "there was no memory to store the reason");
  fence->status = status;
  fence->text = nd4c_duplicate_text(text);
}

static const nd4c_timeline_failure *find_first(const nd4c_timeline_failure *failures) {
  const nd4c_timeline_failure *first = failures;
  for (const nd4c_timeline_failure *at = failures; at != NULL; at = at->next) {
    first = at->points.first < first->points.first ? at : first;
  }
  return first;
}

/* The name of the step with a point; NULL: there is none. */
static const char *name_step(const nd4c_shared_fence *fence, int64_t point) {
  return fence->steps == NULL ? NULL : nd4c_fence_steps_get_name(fence->steps, (int32_t)(point - fence->first + 1));
}

/* Waits for the work. */
static void end_work(nd4c_shared_fence *fence) {
  nd4c_timeline_wait(fence->timeline, fence->entry.position);
  char *why = NULL;
  nd4c_timeline_failure *failed = nd4c_timeline_take_failures(fence->timeline, fence->first, fence->count);
  const nd4c_status unknown = nd4c_timeline_find_unknown(fence->timeline, fence->entry.position, &why);
  const nd4c_timeline_failure *first = find_first(failed);
  if (fence->status == ND4C_OK && first != NULL) {
    fail_work(fence, first->status, name_step(fence, first->points.first), first->text);
  } else if (fence->status == ND4C_OK && unknown != ND4C_OK) {
    fail_work(fence, unknown, NULL, why);
  }
  nd4c_deallocate(why);
  fence->all_failed = unknown != ND4C_OK;
  if (fence->steps != NULL) {
    fence->failed = failed; /* for the parts */
  } else {
    nd4c_timeline_free_failures(failed);
  }
}

/* The first failure in a run on which the part depends; NULL: there is none. */
static const nd4c_timeline_failure *find_failure(const nd4c_shared_fence *run, int32_t part) {
  const nd4c_timeline_failure *found = NULL;
  for (const nd4c_timeline_failure *at = run->failed; at != NULL; at = at->next) {
    const int32_t first = (int32_t)(at->points.first - run->first + 1),
                  last = (int32_t)(at->points.last - run->first + 1);
    if ((found == NULL || at->points.first < found->points.first) &&
        nd4c_fence_steps_depends(run->steps, part, first, last)) {
      found = at;
    }
  }
  return found;
}

/* Waits for the run of a part; settling the run does not settle the part. */
static void end_run(nd4c_shared_fence *part) {
  const nd4c_shared_fence *run = part->run;
  nd4c_fence_settle(part->run);
  const nd4c_timeline_failure *failure = find_failure(run, part->part);
  if (part->status != ND4C_OK) {
    return;
  }
  if (failure != NULL) {
    fail_work(part, failure->status, name_step(run, failure->points.first), failure->text);
  } else if (run->all_failed) {
    part->status = run->status;
    part->text = nd4c_duplicate_text(nd4c_fence_text(run));
    part->root = run->root;
  }
}

/* A long chain may lead to a failure; the text leaves out the middle. */
static void poison(nd4c_shared_fence *fence, const nd4c_shared_fence *after) {
  char text[ND4C_FENCE_TEXT_SIZE];
  const int begin = snprintf(text, sizeof text, "%.60s: an input was left without a value: ", fence->op);
  (void)snprintf(text + begin, sizeof text - (size_t)begin, "%.400s",
                 after->text != NULL ? after->text + after->root : nd4c_fence_text(after));
  fence->status = ND4C_POISONED;
  fence->text = nd4c_duplicate_text(text);
  fence->root = (size_t)begin;
}

/* The first input without a value makes the result fail. */
static void end_inputs(nd4c_shared_fence *fence) {
  for (int32_t i = 0; i < fence->after_count; i++) {
    nd4c_shared_fence *after = fence->after[i];
    if (nd4c_fence_outcome(after) != ND4C_OK && fence->status == ND4C_OK) {
      poison(fence, after);
    }
  }
}

/* The number of fences' locks that the thread holds, and the settled fences, retained, whose `kept` must still be
 * released: releasing may submit, wait, and destroy a stream. */
static _Thread_local int32_t settling, releasing;
static _Thread_local nd4c_shared_fence *unreleased;
static _Atomic int32_t unreleased_count; /* of all threads */

static void release_kept(void) {
  while (settling == 0 && unreleased != NULL) {
    nd4c_shared_fence *fence = unreleased;
    unreleased = fence->next_release;
    releasing++;
    fence->release_kept(fence->kept);
    releasing--;
    atomic_fetch_sub(&unreleased_count, 1);
    nd4c_fence_release(fence);
  }
}

/* The other threads do not exist in a child of fork. */
static void forget_other_threads(void) {
  atomic_store(&unreleased_count, 0);
}

static void watch_forks(void) {
  nd4c_os_on_fork(forget_other_threads);
}

/* Memory that other threads are about to release may be what this one waits for. */
static void wait_for_releases(void) {
  enum { NAP = 20000 };
  while (settling == 0 && releasing == 0 && atomic_load(&unreleased_count) > 0) {
    nd4c_os_sleep(NAP);
  }
}

/* Under its lock. */
static void end_fence(nd4c_shared_fence *fence) {
  end_inputs(fence);
  if (fence->run != NULL) {
    end_run(fence);
  } else {
    end_work(fence);
  }
  if (fence->status != ND4C_OK && fence->run == NULL) {
    nd4c_fence_list_failed(fence);
  }
  for (int32_t i = 0; i < fence->after_count; i++) {
    nd4c_fence_release(fence->after[i]); /* their outcome is in this one */
  }
  fence->after_count = 0;
  if (fence->release_kept != NULL) {
    atomic_fetch_sub_explicit(&kept_bytes, fence->kept_bytes, memory_order_relaxed);
    fence->next_release = unreleased;
    unreleased = nd4c_fence_retain(fence);
    static nd4c_once once = ND4C_ONCE_INIT;
    nd4c_once_run(&once, watch_forks);
    atomic_fetch_add(&unreleased_count, 1);
  }
  atomic_store(&fence->done, true);
}

/* Settles the fence: waits for the work and for the inputs' fences, stores the outcome, and releases what the work
 * needed. While it holds a fence's lock, it takes only locks of fences that were recorded before. */
static void settle(nd4c_shared_fence *fence) {
  nd4c_lock_acquire(&fence->lock);
  settling++;
  if (!atomic_load(&fence->done)) {
    end_fence(fence);
  }
  settling--;
  nd4c_lock_release(&fence->lock);
  release_kept();
}

/* Settles fences from the oldest on, so that each finds its predecessors settled: otherwise a chain of submissions
 * would be a recursion as deep as the chain is long. Between timelines the recursion ends, since each fence depends
 * only on fences that were recorded before. */
static bool settle_up_to(nd4c_timeline *timeline, int64_t order, bool finished) {
  bool any = false;
  nd4c_timeline_entry *entry = NULL;
  while ((!finished || nd4c_timeline_has_finished(timeline)) &&
         (entry = nd4c_timeline_oldest(timeline, order)) != NULL) {
    nd4c_shared_fence *fence = (nd4c_shared_fence *)entry;
    settle(fence);
    if (nd4c_timeline_take_off(timeline, entry)) {
      nd4c_fence_release(fence);
    }
    nd4c_fence_release(fence);
    any = true;
  }
  return any;
}

/* Settles fences that are known to have ended. */
static void settle_finished(nd4c_timeline *timeline) {
  (void)settle_up_to(timeline, INT64_MAX, true);
}

void nd4c_fence_settle(nd4c_shared_fence *fence) {
  if (fence != NULL && !atomic_load(&fence->done) && !is_orphan(fence)) {
    nd4c_timeline_wait(fence->timeline, fence->entry.position);
    /* Only what has ended: before a run's part, an entry of another thread may be listed whose work comes after the
     * run. The thread may hold a lock under which it must not wait for that. */
    (void)settle_up_to(fence->timeline, fence->entry.order, true);
    settle(fence); /* another thread may have taken it off */
  }
}

/* -- asking -------------------------------------------------------------------------------------------------------- */

bool nd4c_fence_is_on(const nd4c_shared_fence *fence, const nd4c_device *device, nd4c_stream stream) {
  return nd4c_timeline_is_of(fence->timeline, device, stream);
}

bool nd4c_fence_covers(const nd4c_shared_fence *fence, const nd4c_shared_fence *earlier) {
  return fence->timeline == earlier->timeline && fence->entry.position >= earlier->entry.position;
}

bool nd4c_fence_is_known(nd4c_shared_fence *fence) {
  return fence == NULL || atomic_load(&fence->done) || is_orphan(fence) ||
         nd4c_timeline_is_known(fence->timeline, fence->entry.position);
}

bool nd4c_fence_is_ready(nd4c_shared_fence *fence) {
  return fence == NULL || atomic_load(&fence->done) || is_orphan(fence) ||
         nd4c_timeline_has_ended(fence->timeline, fence->entry.position);
}

void nd4c_fence_mark(nd4c_shared_fence *fence) {
  if (fence != NULL && !atomic_load(&fence->done) && !is_orphan(fence)) {
    nd4c_timeline_mark(fence->timeline);
  }
}

nd4c_status nd4c_fence_outcome(nd4c_shared_fence *fence) {
  if (fence == NULL) {
    return ND4C_OK;
  }
  if (is_orphan(fence)) {
    return nd4c_device_refuse(fence->device);
  }
  nd4c_fence_settle(fence);
  fence->seen = true;
  if (fence->run != NULL && fence->status != ND4C_OK && fence->status != ND4C_POISONED) {
    fence->run->seen = true;
  }
  return fence->status;
}

nd4c_status nd4c_fence_wait(nd4c_shared_fence *fence) {
  if (fence != NULL && is_orphan(fence)) {
    return nd4c_device_refuse(fence->device);
  }
  nd4c_status status = nd4c_fence_outcome(fence);
  return status == ND4C_OK ? ND4C_OK : nd4c_fail(status, "%s", nd4c_fence_text(fence));
}

/* Work that depends on work that may wait for other ranks may wait for them, too. */
static nd4c_status stand_apart_as(nd4c_timeline *awaited, nd4c_device *device, nd4c_stream stream) {
  nd4c_timeline *timeline = NULL;
  if (!nd4c_timeline_stands_apart(awaited)) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_timeline_of(device, stream, &timeline));
  nd4c_timeline_stand_apart(timeline);
  return ND4C_OK;
}

nd4c_status nd4c_fence_enqueue_wait(nd4c_shared_fence *fence, nd4c_device *device, nd4c_stream stream, bool *on_host) {
  *on_host = false;
  if (fence == NULL || nd4c_fence_is_on(fence, device, stream) || nd4c_fence_is_known(fence)) {
    return ND4C_OK;
  }
  if (stream == NULL) {
    *on_host = true;
    return ND4C_OK;
  }
  ND4C_TRY(stand_apart_as(fence->timeline, device, stream));
  const nd4c_status status = nd4c_timeline_enqueue_wait(fence->timeline, fence->entry.position, device, stream);
  *on_host = status == ND4C_UNSUPPORTED && fence->device != device;
  return *on_host ? ND4C_OK : status;
}

bool nd4c_fence_is_of(const nd4c_shared_fence *fence, const nd4c_device *device) {
  return fence->device == device;
}

int32_t nd4c_fence_hold(nd4c_shared_fence *fence, nd4c_fence *handles) {
  if (fence == NULL || atomic_load(&fence->done) || is_orphan(fence)) {
    return 0;
  }
  return nd4c_timeline_hold(fence->timeline, fence->entry.position, handles);
}

void nd4c_fence_let_go(nd4c_shared_fence *fence) {
  nd4c_timeline_let_go(fence->timeline);
}

nd4c_shared_fence *nd4c_fence_oldest(const nd4c_shared_fence *fence) {
  settle_finished(fence->timeline);
  return (nd4c_shared_fence *)nd4c_timeline_oldest(fence->timeline, INT64_MAX);
}

/* -- all of a device ----------------------------------------------------------------------------------------------- */

bool nd4c_fence_settle_all(const nd4c_device *device) {
  const bool waits = nd4c_shared_locks_allow_wait();
  bool any = false;
  nd4c_timeline *timeline = NULL;
  while (!nd4c_device_is_forked(device) && (timeline = nd4c_timeline_next(timeline, device)) != NULL) {
    const int64_t newest = nd4c_timeline_newest(timeline);
    nd4c_timeline_mark(timeline);
    (void)nd4c_timeline_is_known(timeline, INT64_MAX);
    any = settle_up_to(timeline, newest, !waits) || any;
  }
  if (waits) {
    wait_for_releases();
  }
  return any;
}

void nd4c_fence_collect(const nd4c_device *device) {
  nd4c_timeline *timeline = NULL;
  while (nd4c_fence_kept_bytes() > 0 && !nd4c_device_is_forked(device) &&
         (timeline = nd4c_timeline_next(timeline, device)) != NULL) {
    (void)nd4c_timeline_is_known(timeline, INT64_MAX);
    settle_finished(timeline);
  }
  nd4c_timeline_release(timeline);
}

void nd4c_fence_end_stream(nd4c_device *device, nd4c_stream stream, nd4c_host_use *use) {
  nd4c_timeline *timeline = nd4c_timeline_end(device, stream);
  device->ops->stream_destroy(device->handle, stream);
  nd4c_host_use_end(use);
  if (timeline != NULL) {
    (void)settle_up_to(timeline, INT64_MAX, false);
    nd4c_timeline_release(timeline);
  }
}

nd4c_status nd4c_fence_drain(nd4c_device *device) {
  char text[ND4C_FENCE_TEXT_SIZE] = "";
  (void)nd4c_fence_settle_all(device);
  nd4c_status first = nd4c_fence_take_lost(device, text);
  nd4c_shared_fence *fence = NULL;
  while ((fence = nd4c_fence_next_failed(fence, device)) != NULL) {
    const nd4c_status status = nd4c_fence_outcome(fence);
    /* Reports the root of a chain of failures, not the work that depends on it. */
    if (status != ND4C_OK && (first == ND4C_OK || (first == ND4C_POISONED && status != ND4C_POISONED))) {
      first = status;
      (void)snprintf(text, sizeof text, "%s", nd4c_fence_text(fence));
    }
  }
  return first == ND4C_OK ? ND4C_OK : nd4c_fail(first, "%s", text);
}
