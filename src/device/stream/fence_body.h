/* The inside of a fence. Only fence.c and fence_failed.c include it. */
#ifndef ND4C_DEVICE_STREAM_FENCE_BODY_H
#define ND4C_DEVICE_STREAM_FENCE_BODY_H

#include "base/os_lock.h"
#include "device/stream/fence.h"

enum { ND4C_FENCE_TEXT_SIZE = 512, ND4C_FENCE_INLINE_AFTER = 8 };

struct nd4c_shared_fence {
  nd4c_timeline_entry entry; /* first member: position on the timeline and reference count */
  nd4c_timeline *timeline;
  nd4c_device *device;
  const char *op;
  int64_t first; /* points of its calls; 0: the calls have none */
  int32_t count;
  int32_t after_count, after_room;
  _Atomic bool done; /* status and text are final */
  _Atomic bool seen; /* a failure was reported to a caller */
  nd4c_status status;
  char *text;                /* of a failure */
  size_t root;               /* where in it the text of the root failure begins */
  nd4c_lock lock;            /* guards settling: done, status, text, after, kept */
  nd4c_shared_fence **after; /* fences of the inputs, until it is done */
  nd4c_shared_fence *inline_after[ND4C_FENCE_INLINE_AFTER];
  void *kept; /* object that the work needs until it is done, see nd4c_fence_keep */
  int64_t kept_bytes;
  void (*release_kept)(void *kept);
  nd4c_fence_steps *steps;       /* of a run: one reference, else NULL */
  nd4c_timeline_failure *failed; /* of a run: the failures in it; final when it is done */
  bool all_failed;               /* of a run: its failed calls are not known */
  nd4c_shared_fence *run;        /* of a part: one reference, else NULL */
  int32_t part;
  nd4c_shared_fence *next, *previous; /* list of failed fences, under the lock of fence_failed.c */
  nd4c_shared_fence *next_release;    /* list of fences whose `kept` is released when the thread holds no fence's
                                         lock */
};

/* Of one that failed. */
static inline const char *nd4c_fence_text(const nd4c_shared_fence *fence) {
  return fence->text != NULL ? fence->text : "work failed, and there was no memory to store the reason";
}

/* Adds a failed fence to the list that nd4c_fence_drain reads. */
void nd4c_fence_list_failed(nd4c_shared_fence *fence);
/* Removes it; if it was never reported, keeps its failure: for each device the oldest. */
void nd4c_fence_unlist_failed(nd4c_shared_fence *fence);
/* Returns the kept failure of the device, once: OK if there is none. `text` has room for ND4C_FENCE_TEXT_SIZE. */
nd4c_status nd4c_fence_take_lost(const nd4c_device *device, char *text);
/* The next older unreported failure of the device, retained; the newest for NULL. Releases `newer`, which kept the
 * position in the list. */
nd4c_shared_fence *nd4c_fence_next_failed(nd4c_shared_fence *newer, const nd4c_device *device);

#endif
