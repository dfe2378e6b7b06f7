/* The inside of a timeline. Only timeline.c and timeline_marks.c include it. */
#ifndef ND4C_DEVICE_STREAM_TIMELINE_BODY_H
#define ND4C_DEVICE_STREAM_TIMELINE_BODY_H

#include "base/os_lock.h"
#include "device/stream/timeline.h"

/* A vendor's fence that is not known to be signalled. */
typedef struct nd4c_vendor_fence {
  struct nd4c_vendor_fence *next;
  nd4c_fence handle;
  int64_t position; /* it covers positions up to this one */
  bool busy;        /* a thread waits for it, without the lock */
} nd4c_vendor_fence;

struct nd4c_timeline {
  _Atomic int32_t references; /* one for the stream, one for each entry's owner */
  nd4c_device *device;
  nd4c_stream _Atomic stream; /* NULL: the stream was destroyed */
  nd4c_timeline *next;        /* in the registry's row, under its lock */
  uint32_t row;
  _Atomic int64_t points; /* numbers taken for calls */
  _Atomic int64_t open;   /* of them: neither appended nor dropped yet */
  _Atomic int64_t ended;  /* positions that are known to have ended; written under the lock */
  /* Of the oldest entry, INT64_MAX: there is none; written under the lock. */
  _Atomic int64_t oldest_position;

  nd4c_lock lock; /* guards what follows */
  nd4c_condition changed;
  int64_t end;                     /* positions given */
  int64_t marked;                  /* of them: covered by vendor fences; equal to `ended` if none is pending */
  int64_t apart_until;             /* see nd4c_timeline_stand_apart */
  int64_t fenced_until;            /* number of positions that get their own vendor fences, because waits came too
                                      late */
  int32_t late;                    /* number of such waits */
  nd4c_vendor_fence *first, *last; /* in order */
  nd4c_timeline_entry *oldest, *newest;
  int64_t order;                   /* of the newest entry ever */
  nd4c_timeline_failure *failures; /* failures that no submission has taken */
  nd4c_timeline_failure spare;     /* several failures without texts, after memory was exhausted; status OK: none */
};

/* All under the lock. */

/* Records a vendor fence at the end. A failure changes nothing. */
nd4c_status nd4c_timeline_record(nd4c_timeline *timeline);
/* The same, if there is unfenced work. After a failure it waits for the work in another way, and the work counts as
 * failed. */
void nd4c_timeline_cover(nd4c_timeline *timeline);
/* Removes signalled vendor fences up to a position. May release the lock in between. */
void nd4c_timeline_absorb(nd4c_timeline *timeline, int64_t position);
/* Drops failures that no remaining entry can have. */
void nd4c_timeline_purge(nd4c_timeline *timeline);

static inline bool nd4c_timeline_tells_points(const nd4c_timeline *timeline) {
  return timeline->device->description.tells_points;
}

#endif
