/* Fences shared by the storages that one submission writes or reads. */
#ifndef ND4C_DEVICE_FENCE_H
#define ND4C_DEVICE_FENCE_H

#include "device/device.h"
#include "device/stream/fence_steps.h"
#include "device/stream/host_ranges.h"
#include "device/stream/timeline.h"

/* In a child of fork a fence that the parent recorded never ends: it counts as ready, so that nothing waits for it, and
 * who asks for its outcome gets that of nd4c_device_refuse. */
typedef struct nd4c_shared_fence nd4c_shared_fence;

/* Work that was enqueued on a stream by calls with numbers of nd4c_timeline_number. */
typedef struct nd4c_fence_work {
  const char *op;          /* static: name of what was enqueued, for the text of a failure */
  int64_t first;           /* number of the first call */
  int32_t count;           /* of calls; 0: they have none */
  nd4c_fence_steps *steps; /* of a run; else NULL */
  /* Fences of the inputs (NULLs are skipped); the new fence fails if one of them does. */
  nd4c_shared_fence *const *after;
  int32_t after_count;
} nd4c_fence_work;

/* The fence of work that was just enqueued. A vendor's fence is made where the host or another stream waits for it; for
 * a run and for work without numbers at once. It fails if one of its calls did: the text names the op, or the first
 * step of a run that failed. With `steps` the inputs are those of its parts. One reference. A failure means that the
 * end of the work is not marked. */
nd4c_status nd4c_fence_submit(nd4c_timeline *timeline, const nd4c_fence_work *work, nd4c_shared_fence **fence);
/* Behind what was enqueued before, with no work of its own. One reference. */
nd4c_status nd4c_fence_place(nd4c_timeline *timeline, const char *op, nd4c_shared_fence **fence);
/* For work without numbers on a stream that has nothing else under way: records everything that was enqueued there
 * since the last record, at once, so that the stream may be given back. One reference. Calls no owner of memory:
 * nd4c_fence_settle_earlier, which is to follow, does. */
nd4c_status nd4c_fence_record(nd4c_device *device, nd4c_stream stream, const char *op, nd4c_shared_fence *const *after,
                              int32_t after_count, nd4c_shared_fence **fence);
/* Settles what stands on the fence's stream and is known to have ended, and gives back what that needed. */
void nd4c_fence_settle_earlier(const nd4c_shared_fence *fence);
/* The fence of one result of such work: ready with `run`, and failed if one of the calls failed on which the part
 * depends, or one of `after`. One reference; retains `run`. */
nd4c_status nd4c_fence_make_part(nd4c_shared_fence *run, int32_t part, nd4c_shared_fence *const *after,
                                 int32_t after_count, nd4c_shared_fence **fence);
/* Gives the fence something that the work needs, with so many bytes of the device's memory; `release` is called with it
 * once the work is known to be done, which it may be: somebody who drains the device has waited for it. Once a fence.
 * With bytes a vendor's fence is made, so that it is known early. */
void nd4c_fence_keep(nd4c_shared_fence *fence, void *kept, int64_t bytes, void (*release)(void *kept));
/* Of all fences, on whatever device: what work under way, or not yet known to be done, keeps. */
int64_t nd4c_fence_kept_bytes(void);
nd4c_shared_fence *nd4c_fence_retain(nd4c_shared_fence *fence);
void nd4c_fence_release(nd4c_shared_fence *fence);
/* Whether it was recorded on that stream of the device. */
bool nd4c_fence_is_on(const nd4c_shared_fence *fence, const nd4c_device *device, nd4c_stream stream);
/* Whether it ends with, or after, another one: both are on one timeline. However they end. */
bool nd4c_fence_covers(const nd4c_shared_fence *fence, const nd4c_shared_fence *earlier);
/* Whether its work is known to have ended, without making a vendor's fence: it may have ended and this says false. What
 * goes on asking uses nd4c_fence_is_ready. NULL: true. */
bool nd4c_fence_is_known(nd4c_shared_fence *fence);
/* The same with an answer in the end: makes a vendor's fence where none of the stream is under way. False also while
 * another thread is waiting for it. NULL: true. */
bool nd4c_fence_is_ready(nd4c_shared_fence *fence);
/* Makes a vendor's fence now, for a wait that is to come and should not include what is enqueued meanwhile. */
void nd4c_fence_mark(nd4c_shared_fence *fence);
/* Waits; the status of the work. Repeated calls give the same status and text. A failure counts as seen from now on. */
nd4c_status nd4c_fence_wait(nd4c_shared_fence *fence);
/* Waits for what the caller deals with himself, and gives its status. A failure counts as seen from now on. NULL: OK.
 */
nd4c_status nd4c_fence_outcome(nd4c_shared_fence *fence);
/* Waits without a word about the outcome, which stays unseen. NULL is fine. */
void nd4c_fence_settle(nd4c_shared_fence *fence);
/* The same for all fences of the device that are alive, and none recorded after this began: what their work needed is
 * given back. A thread that holds a lock that storages share settles what has ended, and waits for nothing. False:
 * there was none. */
bool nd4c_fence_settle_all(const nd4c_device *device);
/* Gives back the memory that finished work of the device still keeps; looks at nothing where none keeps any. */
void nd4c_fence_collect(const nd4c_device *device);
/* Destroys the stream when its work has ended; fences on it stay good. `use`: ends before owners of memory are called;
 * NULL is fine. */
void nd4c_fence_end_stream(nd4c_device *device, nd4c_stream stream, nd4c_host_use *use);
/* Lets work on `stream` of `device` come after the fence, however that ends. *on_host: the host has to wait for the
 * fence before it enqueues the work, because there is no stream, or because the device cannot wait for the fence's. */
nd4c_status nd4c_fence_enqueue_wait(nd4c_shared_fence *fence, nd4c_device *device, nd4c_stream stream, bool *on_host);
/* Whether a stream of that device recorded it. */
bool nd4c_fence_is_of(const nd4c_shared_fence *fence, const nd4c_device *device);
/* The device's own fences, at most ND4C_TIMELINE_WAITS, for a call that lets work come after this one; where there are
 * any, nd4c_fence_let_go must follow soon, because others who ask the stream's fences wait for that. 0, and nothing to
 * let go of: the work has ended, or there is none. -1, the same: there are more of them, and the host has to wait for
 * nd4c_fence_oldest first. */
int32_t nd4c_fence_hold(nd4c_shared_fence *fence, nd4c_fence *handles);
void nd4c_fence_let_go(nd4c_shared_fence *fence);
/* The oldest fence of the same stream whose work is not known to have ended, retained; NULL: there is none. */
nd4c_shared_fence *nd4c_fence_oldest(const nd4c_shared_fence *fence);
/* Waits for all work of the device that was submitted before this began, and reports the first failure that no caller
 * has seen yet. */
nd4c_status nd4c_fence_drain(nd4c_device *device);

#endif
