#include "device/fence.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/closing.h"
#include "device/driver.h"

enum { TEXT_SIZE = 512, INLINE_AFTER = 8 };

struct nd4c_shared_fence {
  _Atomic int32_t references;
  _Atomic bool done; /* status and text are final */
  nd4c_device *device;
  nd4c_stream stream; /* only to compare: it may be gone */
  nd4c_fence handle;
  const char *op;
  nd4c_status status;
  char text[TEXT_SIZE];
  _Atomic bool seen;         /* a failure was reported to someone */
  pthread_mutex_t lock;      /* guards settling: done, status, text, handle, after */
  nd4c_shared_fence **after; /* fences of the inputs, until it is done */
  nd4c_shared_fence *inline_after[INLINE_AFTER];
  int32_t after_count, after_room;
  int32_t depth; /* length of the longest chain of unfinished fences that it came after when it was recorded */
  void *kept;    /* what the work needs until it is done, see nd4c_fence_keep */
  _Atomic int64_t kept_bytes; /* of that, 0 once it is released */
  void (*release_kept)(void *kept);
  nd4c_fence_steps *steps;  /* of a run: one reference, else NULL */
  nd4c_failed_range failed; /* of a run whose device tells; final when it is done */
  nd4c_shared_fence *run;   /* of a part: one reference, else NULL. A part has no handle and is not listed */
  int32_t part;
  nd4c_shared_fence *next, *previous; /* all fences alive but parts, under list_lock */
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static nd4c_shared_fence *list; /* the newest first */
static _Atomic int64_t kept_bytes;

static void lock_list(void) {
  pthread_mutex_lock(&list_lock);
}

static void unlock_list(void) {
  pthread_mutex_unlock(&list_lock);
}

/* A child of fork finds the list in order. */
static void watch_forks(void) {
  nd4c_os_around_fork(lock_list, unlock_list);
}

static void link_fence(nd4c_shared_fence *fence) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  pthread_mutex_lock(&list_lock);
  fence->next = list;
  if (list != NULL) {
    list->previous = fence;
  }
  list = fence;
  pthread_mutex_unlock(&list_lock);
}

static void unlink_fence(nd4c_shared_fence *fence) {
  pthread_mutex_lock(&list_lock);
  if (fence->previous != NULL) {
    fence->previous->next = fence->next;
  } else {
    list = fence->next;
  }
  if (fence->next != NULL) {
    fence->next->previous = fence->previous;
  }
  pthread_mutex_unlock(&list_lock);
}

/* Recycled, as every call on an asynchronous device makes one. NULL when there is no memory. */
static nd4c_shared_fence *make_fence(int32_t after_count) {
  nd4c_shared_fence *fence = nd4c_recycle_take(sizeof *fence);
  if (fence == NULL) {
    return NULL;
  }
  fence->after = fence->inline_after;
  fence->after_room = after_count;
  if (after_count > INLINE_AFTER) {
    fence->after = nd4c_recycle_take((size_t)after_count * sizeof(void *));
  }
  if (fence->after == NULL) {
    nd4c_recycle_give(fence, sizeof *fence);
    return NULL;
  }
  return fence;
}

static void free_fence(nd4c_shared_fence *fence) {
  if (fence->after != fence->inline_after) {
    nd4c_recycle_give(fence->after, (size_t)fence->after_room * sizeof(void *));
  }
  nd4c_recycle_give(fence, sizeof *fence);
}

/* Whether the parent of this forked process recorded it, and had not seen its end. */
static bool is_orphan(const nd4c_shared_fence *fence) {
  return nd4c_device_is_forked(fence->device) && !atomic_load(&fence->done);
}

/* A chain that never was ready when it grew is waited for once it is long: settling it is a recursion. */
static void note_depth(nd4c_shared_fence *fence, nd4c_shared_fence *after) {
  enum { LONGEST = 1000 };
  if (after->depth >= LONGEST) {
    nd4c_fence_settle(after);
  }
  int32_t depth = atomic_load(&after->done) ? 0 : after->depth + 1;
  fence->depth = depth > fence->depth ? depth : fence->depth;
}

static void fill_fence(nd4c_shared_fence *fence, nd4c_device *device, nd4c_stream stream, const char *op,
                       nd4c_shared_fence *const *after, int32_t after_count) {
  fence->references = 1;
  fence->device = device;
  fence->stream = stream;
  fence->op = op;
  for (int32_t i = 0; i < after_count; ++i) {
    if (after[i] != NULL) {
      fence->after[fence->after_count++] = nd4c_fence_retain(after[i]);
      note_depth(fence, after[i]);
    }
  }
  pthread_mutex_init(&fence->lock, NULL);
}

static nd4c_status record(nd4c_device *device, nd4c_stream stream, const char *op, nd4c_fence_steps *steps,
                          nd4c_shared_fence *const *after, int32_t after_count, nd4c_shared_fence **out) {
  if (nd4c_device_is_forked(device)) {
    return nd4c_device_refuse(device);
  }
  nd4c_shared_fence *fence = make_fence(after_count);
  if (fence == NULL) {
    return nd4c_fail_memory("a fence", sizeof *fence);
  }
  nd4c_status status = nd4c_driver_fence_record(device, stream, &fence->handle);
  if (status != ND4C_OK) {
    free_fence(fence);
    return status;
  }
  fill_fence(fence, device, stream, op, after, after_count);
  fence->steps = nd4c_fence_steps_retain(steps);
  link_fence(fence);
  *out = fence;
  return ND4C_OK;
}

nd4c_status nd4c_fence_record(nd4c_device *device, nd4c_stream stream, const char *op, nd4c_shared_fence *const *after,
                              int32_t after_count, nd4c_shared_fence **fence) {
  return record(device, stream, op, NULL, after, after_count, fence);
}

nd4c_status nd4c_fence_record_steps(nd4c_device *device, nd4c_stream stream, const char *op, nd4c_fence_steps *steps,
                                    nd4c_shared_fence **fence) {
  return record(device, stream, op, steps, NULL, 0, fence);
}

nd4c_status nd4c_fence_make_part(nd4c_shared_fence *run, int32_t part, nd4c_shared_fence *const *after,
                                 int32_t after_count, nd4c_shared_fence **out) {
  nd4c_shared_fence *fence = make_fence(after_count);
  if (fence == NULL) {
    return nd4c_fail_memory("a fence", sizeof *fence);
  }
  fill_fence(fence, run->device, run->stream, run->op, after, after_count);
  fence->run = nd4c_fence_retain(run);
  fence->part = part;
  *out = fence;
  return ND4C_OK;
}

void nd4c_fence_keep(nd4c_shared_fence *fence, void *kept, int64_t bytes, void (*release)(void *kept)) {
  if (is_orphan(fence)) { /* a thread of the parent may have held its lock at the fork */
    release(kept);
    return;
  }
  pthread_mutex_lock(&fence->lock);
  bool done = atomic_load(&fence->done);
  if (!done) {
    fence->kept = kept;
    atomic_store_explicit(&fence->kept_bytes, bytes, memory_order_relaxed);
    fence->release_kept = release;
    atomic_fetch_add_explicit(&kept_bytes, bytes, memory_order_relaxed);
  }
  pthread_mutex_unlock(&fence->lock);
  if (done) {
    release(kept);
  }
}

int64_t nd4c_fence_kept_bytes(void) {
  return atomic_load_explicit(&kept_bytes, memory_order_relaxed);
}

nd4c_shared_fence *nd4c_fence_retain(nd4c_shared_fence *fence) {
  if (fence != NULL) {
    atomic_fetch_add_explicit(&fence->references, 1, memory_order_relaxed);
  }
  return fence;
}

static void settle(nd4c_shared_fence *fence);

/* Waits for the device's fence and lets it go. A failure's text is the fence's. Under fence->lock. */
static nd4c_status end_work(nd4c_shared_fence *fence, char *text, size_t text_size) {
  nd4c_status status = nd4c_driver_fence_wait_range(fence->device, fence->handle, &fence->failed);
  if (status != ND4C_OK) {
    const char *name = fence->steps == NULL ? NULL : nd4c_fence_steps_get_name(fence->steps, fence->failed.first);
    (void)snprintf(text, text_size, "%s failed on %s: %.400s", name != NULL ? name : fence->op, fence->device->name,
                   nd4c_error_message());
  }
  fence->device->ops->fence_destroy(fence->device->handle, fence->handle);
  fence->handle = NULL;
  return status;
}

/* Waits for the run of a part; OK if what failed in it is none of the part's business. Takes the run's lock under the
 * part's; a run never takes that of a part. */
static nd4c_status end_run(const nd4c_shared_fence *part, char *text, size_t text_size) {
  nd4c_shared_fence *run = part->run;
  pthread_mutex_lock(&run->lock);
  settle(run);
  nd4c_status status = run->status;
  if (status != ND4C_OK && !nd4c_fence_steps_depends(run->steps, part->part, run->failed.first, run->failed.last)) {
    status = ND4C_OK;
  }
  if (status != ND4C_OK) {
    (void)snprintf(text, text_size, "%s", run->text);
  }
  pthread_mutex_unlock(&run->lock);
  return status;
}

/* Waits for the work and for the inputs' fences, and keeps the outcome. Under fence->lock. */
static void settle(nd4c_shared_fence *fence) {
  if (atomic_load(&fence->done)) {
    return;
  }
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < fence->after_count; ++i) {
    nd4c_status before = nd4c_fence_wait(fence->after[i]);
    if (before != ND4C_OK && status == ND4C_OK) {
      status = ND4C_POISONED;
      (void)snprintf(fence->text, sizeof fence->text, "%s: an input was left without a value: %.400s", fence->op,
                     nd4c_error_message());
    }
  }
  char text[TEXT_SIZE];
  nd4c_status waited = fence->run != NULL ? end_run(fence, text, sizeof text) : end_work(fence, text, sizeof text);
  if (waited != ND4C_OK && status == ND4C_OK) {
    status = waited;
    memcpy(fence->text, text, sizeof text);
  }
  fence->status = status;
  atomic_store(&fence->done, true);
  for (int32_t i = 0; i < fence->after_count; ++i) {
    nd4c_fence_release(fence->after[i]); /* their outcome is in ours */
  }
  fence->after_count = 0;
  if (fence->release_kept != NULL) {
    fence->release_kept(fence->kept);
    fence->release_kept = NULL;
    int64_t bytes = atomic_exchange_explicit(&fence->kept_bytes, 0, memory_order_relaxed);
    atomic_fetch_sub_explicit(&kept_bytes, bytes, memory_order_relaxed);
  }
}

/* Failures of fences that went away before anyone asked, for nd4c_fence_drain: the oldest of each device. */
enum { LOST_LIMIT = 16 };
static struct {
  const nd4c_device *device;
  nd4c_status status;
  char text[TEXT_SIZE];
} lost[LOST_LIMIT];

static void remember_lost(const nd4c_shared_fence *fence) {
  pthread_mutex_lock(&list_lock);
  int free_slot = -1;
  for (int i = 0; i < LOST_LIMIT; ++i) {
    if (lost[i].device == fence->device) {
      free_slot = -1;
      break;
    }
    if (lost[i].device == NULL && free_slot < 0) {
      free_slot = i;
    }
  }
  if (free_slot >= 0) {
    lost[free_slot].device = fence->device;
    lost[free_slot].status = fence->status;
    memcpy(lost[free_slot].text, fence->text, TEXT_SIZE);
  }
  pthread_mutex_unlock(&list_lock);
}

static nd4c_status take_lost(const nd4c_device *device, char *text) {
  nd4c_status status = ND4C_OK;
  pthread_mutex_lock(&list_lock);
  for (int i = 0; i < LOST_LIMIT; ++i) {
    if (lost[i].device == device) {
      status = lost[i].status;
      memcpy(text, lost[i].text, TEXT_SIZE);
      lost[i].device = NULL;
    }
  }
  pthread_mutex_unlock(&list_lock);
  return status;
}

void nd4c_fence_release(nd4c_shared_fence *fence) {
  if (fence == NULL || atomic_fetch_sub_explicit(&fence->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  if (fence->run == NULL) {
    unlink_fence(fence);
  }
  bool forked = is_orphan(fence);
  if (forked) {
    fence->handle = NULL; /* the driver's, which is not called any more */
    if (fence->release_kept != NULL) {
      fence->release_kept(fence->kept);
    }
  }
  /* Work that needs something of ours is waited for: a rare case, a result overwritten while it is being computed. */
  if (fence->handle != NULL &&
      (fence->release_kept != NULL || fence->device->ops->fence_query(fence->device->handle, fence->handle))) {
    settle(fence);
  }
  if (fence->run == NULL && atomic_load(&fence->done) && fence->status != ND4C_OK && !fence->seen) {
    remember_lost(fence);
  }
  if (fence->handle != NULL) {
    fence->device->ops->fence_destroy(fence->device->handle, fence->handle);
  }
  for (int32_t i = 0; i < fence->after_count; ++i) {
    nd4c_fence_release(fence->after[i]);
  }
  if (!forked) { /* else a thread of the parent may have held it */
    pthread_mutex_destroy(&fence->lock);
  }
  nd4c_fence_steps_release(fence->steps);
  nd4c_fence_release(fence->run);
  free_fence(fence);
}

bool nd4c_fence_is_on(const nd4c_shared_fence *fence, const nd4c_device *device, nd4c_stream stream) {
  return fence->device == device && fence->stream == stream;
}

bool nd4c_fence_is_ready(nd4c_shared_fence *fence) {
  if (fence == NULL || atomic_load(&fence->done) || is_orphan(fence)) {
    return true;
  }
  if (fence->run != NULL) {
    return nd4c_fence_is_ready(fence->run);
  }
  if (pthread_mutex_trylock(&fence->lock) != 0) {
    return false; /* somebody is waiting for it */
  }
  bool ready = atomic_load(&fence->done) || fence->device->ops->fence_query(fence->device->handle, fence->handle);
  pthread_mutex_unlock(&fence->lock);
  return ready;
}

nd4c_status nd4c_fence_outcome(nd4c_shared_fence *fence) {
  if (fence == NULL) {
    return ND4C_OK;
  }
  if (is_orphan(fence)) {
    return nd4c_device_refuse(fence->device);
  }
  pthread_mutex_lock(&fence->lock);
  settle(fence);
  nd4c_status status = fence->status;
  fence->seen = true;
  if (fence->run != NULL && status != ND4C_OK && status != ND4C_POISONED) {
    fence->run->seen = true;
  }
  pthread_mutex_unlock(&fence->lock);
  return status;
}

nd4c_status nd4c_fence_wait(nd4c_shared_fence *fence) {
  if (fence != NULL && is_orphan(fence)) {
    return nd4c_device_refuse(fence->device);
  }
  nd4c_status status = nd4c_fence_outcome(fence);
  return status == ND4C_OK ? ND4C_OK : nd4c_fail(status, "%s", fence->text);
}

void nd4c_fence_settle(nd4c_shared_fence *fence) {
  if (fence != NULL && !is_orphan(fence)) {
    pthread_mutex_lock(&fence->lock);
    settle(fence);
    pthread_mutex_unlock(&fence->lock);
  }
}

nd4c_status nd4c_fence_enqueue_wait(nd4c_shared_fence *fence, nd4c_device *device, nd4c_stream stream) {
  if (nd4c_fence_is_ready(fence)) {
    return ND4C_OK;
  }
  if (stream == NULL) {
    nd4c_fence_settle(fence);
    return ND4C_OK;
  }
  nd4c_status status = ND4C_OK;
  const nd4c_fence handle = nd4c_fence_hold(fence);
  if (handle != NULL) {
    status = fence->device == device ? device->ops->stream_wait_fence(device->handle, stream, handle)
                                     : nd4c_driver_stream_wait_other(device, stream, fence->device, handle);
    nd4c_fence_let_go(fence);
  }
  if (status == ND4C_UNSUPPORTED && fence->device != device) {
    nd4c_fence_settle(fence); /* these devices meet on the host */
    status = ND4C_OK;
  }
  return status;
}

bool nd4c_fence_is_of(const nd4c_shared_fence *fence, const nd4c_device *device) {
  return fence->device == device;
}

nd4c_fence nd4c_fence_hold(nd4c_shared_fence *fence) {
  if (fence == NULL || atomic_load(&fence->done) || is_orphan(fence)) {
    return NULL;
  }
  nd4c_shared_fence *run = fence->run != NULL ? fence->run : fence;
  pthread_mutex_lock(&run->lock);
  if (atomic_load(&run->done)) {
    pthread_mutex_unlock(&run->lock);
    return NULL;
  }
  return run->handle;
}

void nd4c_fence_let_go(nd4c_shared_fence *fence) {
  pthread_mutex_unlock(&(fence->run != NULL ? fence->run : fence)->lock);
}

/* Which fences are looked for: of which nobody knows how they ended, which are not known to have ended, or those of the
 * latter that keep memory. */
typedef enum search { UNSEEN, UNFINISHED, KEEPING } search;

static bool is_wanted(const nd4c_shared_fence *fence, const nd4c_device *device, search what) {
  return fence->device == device && !(what == UNSEEN ? fence->seen : atomic_load(&fence->done)) &&
         (what != KEEPING || atomic_load_explicit(&fence->kept_bytes, memory_order_relaxed) > 0);
}

/* The next older fence of the device that is alive and wanted, retained, and NULL if there is none; from the newest on
 * for NULL. Lets go of `newer`, which kept its place in the list. What is recorded after the first call is not found:
 * a walk ends, whatever other threads submit meanwhile. */
static nd4c_shared_fence *next_older(nd4c_shared_fence *newer, const nd4c_device *device, search what) {
  nd4c_shared_fence *found = NULL;
  pthread_mutex_lock(&list_lock);
  nd4c_shared_fence *fence = newer != NULL ? newer->next : list;
  for (; fence != NULL && found == NULL; fence = fence->next) {
    int32_t references = atomic_load(&fence->references);
    /* A fence whose last reference is being dropped is still listed for a moment: it must not come back to life. */
    while (is_wanted(fence, device, what) && references > 0 && found == NULL) {
      if (atomic_compare_exchange_weak(&fence->references, &references, references + 1)) {
        found = fence;
      }
    }
  }
  pthread_mutex_unlock(&list_lock);
  nd4c_fence_release(newer);
  return found;
}

bool nd4c_fence_settle_all(const nd4c_device *device) {
  bool any = false;
  nd4c_shared_fence *fence = NULL;
  while ((fence = next_older(fence, device, UNFINISHED)) != NULL) {
    nd4c_fence_settle(fence);
    any = true;
  }
  return any;
}

void nd4c_fence_collect(const nd4c_device *device) {
  nd4c_shared_fence *fence = NULL;
  while (nd4c_fence_kept_bytes() > 0 && (fence = next_older(fence, device, KEEPING)) != NULL) {
    if (nd4c_fence_is_ready(fence)) {
      nd4c_fence_settle(fence);
    }
  }
  nd4c_fence_release(fence);
}

nd4c_status nd4c_fence_drain(nd4c_device *device) {
  char text[TEXT_SIZE] = "";
  nd4c_status first = take_lost(device, text);
  nd4c_shared_fence *fence = NULL;
  while ((fence = next_older(fence, device, UNSEEN)) != NULL) {
    nd4c_status status = nd4c_fence_wait(fence);
    /* The root of a chain of failures is the report, not what came to depend on it. */
    if (status != ND4C_OK && (first == ND4C_OK || (first == ND4C_POISONED && status != ND4C_POISONED))) {
      first = status;
      (void)snprintf(text, sizeof text, "%s", fence->text);
    }
  }
  return first == ND4C_OK ? ND4C_OK : nd4c_fail(first, "%s", text);
}
