/* What fence.c and fence_failed.c share. */
#ifndef ND4C_DEVICE_FENCE_BODY_H
#define ND4C_DEVICE_FENCE_BODY_H

#include "base/os_lock.h"
#include "device/stream/fence.h"

enum { ND4C_FENCE_TEXT_SIZE = 512, ND4C_FENCE_INLINE_AFTER = 8 };

struct nd4c_shared_fence {
  nd4c_timeline_entry entry; /* first: where it stands, how often it is referred to */
  nd4c_timeline *timeline;
  nd4c_device *device;
  const char *op;
  int64_t first; /* points of its calls; 0: they have none */
  int32_t count;
  int32_t after_count, after_room;
  _Atomic bool done; /* status and text are final */
  _Atomic bool seen; /* a failure was reported to someone */
  nd4c_status status;
  char *text;                /* of a failure */
  size_t root;               /* where in it the text of the failure begins that the others come from */
  nd4c_lock lock;            /* guards settling: done, status, text, after, kept */
  nd4c_shared_fence **after; /* fences of the inputs, until it is done */
  nd4c_shared_fence *inline_after[ND4C_FENCE_INLINE_AFTER];
  void *kept; /* what the work needs until it is done, see nd4c_fence_keep */
  int64_t kept_bytes;
  void (*release_kept)(void *kept);
  nd4c_fence_steps *steps;       /* of a run: one reference, else NULL */
  nd4c_timeline_failure *failed; /* of a run: what failed in it; final when it is done */
  bool all_failed;               /* of a run: it is not known what failed in it */
  nd4c_shared_fence *run;        /* of a part: one reference, else NULL */
  int32_t part;
  nd4c_shared_fence *next, *previous; /* of those that failed, under the lock of fence_failed.c */
  nd4c_shared_fence *next_release;    /* of those whose `kept` waits for the thread to hold no fence's lock */
};

/* Of one that failed. */
static inline const char *nd4c_fence_text(const nd4c_shared_fence *fence) {
  return fence->text != NULL ? fence->text : "work failed, and there was no memory for the text that says why";
}

/* Puts one that is known to have failed among those that nd4c_fence_drain looks at. */
void nd4c_fence_list_failed(nd4c_shared_fence *fence);
/* Takes it away; if it was reported to no one, what it says is kept: of each device the oldest. */
void nd4c_fence_unlist_failed(nd4c_shared_fence *fence);
/* That one of the device, once: OK if there is none. `text` has room for ND4C_FENCE_TEXT_SIZE. */
nd4c_status nd4c_fence_take_lost(const nd4c_device *device, char *text);
/* The next older failure of the device that was reported to no one, retained; the newest for NULL. Releases `newer`,
 * which kept its place in the list. */
nd4c_shared_fence *nd4c_fence_next_failed(nd4c_shared_fence *newer, const nd4c_device *device);

#endif
