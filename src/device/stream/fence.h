/* Fences: the end of a submission's work, shared by the storages that it reads or writes. submit/submit.c records them;
 * device/storage, graph and programs' waits (device/access) wait for them. */
#ifndef ND4C_DEVICE_STREAM_FENCE_H
#define ND4C_DEVICE_STREAM_FENCE_H

#include "device/device.h"
#include "device/stream/fence_steps.h"
#include "device/stream/host_ranges.h"
#include "device/stream/timeline.h"

/* In a child of fork a fence that the parent recorded is never signalled. It counts as ready, so that no caller waits
 * for it, and its outcome is that of nd4c_device_refuse. */
typedef struct nd4c_shared_fence nd4c_shared_fence;

/* Describes enqueued work of calls that were numbered by nd4c_timeline_number. */
typedef struct nd4c_fence_work {
  const char *op;          /* static: name of the work, for the text of a failure */
  int64_t first;           /* number of the first call */
  int32_t count;           /* number of calls; 0: they have no numbers */
  nd4c_fence_steps *steps; /* of a run; else NULL */
  /* Fences of the inputs (NULL entries are skipped); the new fence fails if one of them fails. */
  nd4c_shared_fence *const *after;
  int32_t after_count;
} nd4c_fence_work;

/* Records the fence of work that was just enqueued. The vendor's fence is recorded when the host or another stream
 * waits for it, or at once for a run and for work without numbers. The fence fails if one of its calls fails: the text
 * names the op, or the first failed step of a run. With `steps` the inputs belong to its parts. One reference. A
 * failure means that there is no fence for the work. */
nd4c_status nd4c_fence_submit(nd4c_timeline *timeline, const nd4c_fence_work *work, nd4c_shared_fence **out);
/* A fence of all work enqueued so far, without further work. One reference. */
nd4c_status nd4c_fence_place(nd4c_timeline *timeline, const char *op, nd4c_shared_fence **out);
/* For work without numbers on a stream with no other work in flight: records, at once, everything that was enqueued
 * there since the last record, so that the stream may be returned. One reference. Does not run release callbacks:
 * nd4c_fence_settle_earlier, which must follow, does. */
nd4c_status nd4c_fence_record(nd4c_device *device, nd4c_stream stream, const char *op, nd4c_shared_fence *const *after,
                              int32_t after_count, nd4c_shared_fence **out);
/* Settles fences on the fence's stream that are known to have ended, and releases what their work needed. */
void nd4c_fence_settle_earlier(const nd4c_shared_fence *fence);
/* The fence of one result of a run: ready when `run` is, and failed if one of the calls on which the part depends, or
 * one of `after`, has failed. One reference; retains `run`. */
nd4c_status nd4c_fence_make_part(nd4c_shared_fence *run, int32_t part, nd4c_shared_fence *const *after,
                                 int32_t after_count, nd4c_shared_fence **out);
/* Attaches an object that the work needs, with `bytes` bytes of the device's memory. nd4c calls `release` with it when
 * the work is known to have ended, possibly before this returns, if another thread has drained the device. Once for
 * each fence. If `bytes` is not 0, records a vendor's fence, so that the end is known early. */
void nd4c_fence_keep(nd4c_shared_fence *fence, void *kept, int64_t bytes, void (*release)(void *kept));
/* Total bytes, on all devices, attached to fences whose work is not known to have ended. */
int64_t nd4c_fence_kept_bytes(void);
nd4c_shared_fence *nd4c_fence_retain(nd4c_shared_fence *fence);
void nd4c_fence_release(nd4c_shared_fence *fence);
/* Whether the fence was recorded on that stream of the device. */
bool nd4c_fence_is_on(const nd4c_shared_fence *fence, const nd4c_device *device, nd4c_stream stream);
/* Whether it is signalled with or after another one, because both are on one timeline. Outcomes do not matter. */
bool nd4c_fence_covers(const nd4c_shared_fence *fence, const nd4c_shared_fence *earlier);
/* Whether its work is known to have ended, without recording a vendor's fence: may be false although the work has
 * ended. Callers that ask repeatedly use nd4c_fence_is_ready. NULL: true. */
bool nd4c_fence_is_known(nd4c_shared_fence *fence);
/* The same, but repeated calls become true: records a vendor's fence if none of the stream is pending. Also false while
 * another thread is waiting for it. NULL: true. */
bool nd4c_fence_is_ready(nd4c_shared_fence *fence);
/* Records a vendor's fence now, so that a later wait does not include work that is enqueued meanwhile. */
void nd4c_fence_mark(nd4c_shared_fence *fence);
/* Waits and returns the status of the work. Repeated calls return the same status and text. A failure counts as
 * reported. */
nd4c_status nd4c_fence_wait(nd4c_shared_fence *fence);
/* The same for a caller that handles the failure itself. A failure counts as reported. NULL: OK. */
nd4c_status nd4c_fence_outcome(nd4c_shared_fence *fence);
/* Waits without reporting the outcome. NULL is fine. */
void nd4c_fence_settle(nd4c_shared_fence *fence);
/* The same for all live fences of the device that were recorded before this began; releases what their work needed. A
 * thread that must not wait (shared_locks.h) settles only fences whose work has ended. False: there was none. */
bool nd4c_fence_settle_all(const nd4c_device *device);
/* Releases memory that finished work of the device still keeps. Cheap if no work keeps any. */
void nd4c_fence_collect(const nd4c_device *device);
/* Destroys the stream after its work has ended; its fences stay valid. `use` ends before release callbacks run; NULL is
 * fine. */
void nd4c_fence_end_stream(nd4c_device *device, nd4c_stream stream, nd4c_host_use *use);
/* Orders work on `stream` of `device` after the fence, whatever the fence's outcome. *on_host: the host has to wait for
 * the fence before it enqueues the work, because there is no stream, or because the device cannot wait for the fence's
 * device. */
nd4c_status nd4c_fence_enqueue_wait(nd4c_shared_fence *fence, nd4c_device *device, nd4c_stream stream, bool *on_host);
/* Whether a stream of that device recorded it. */
bool nd4c_fence_is_of(const nd4c_shared_fence *fence, const nd4c_device *device);
/* Writes the vendor's fences, at most ND4C_TIMELINE_WAITS, for a driver call that makes work wait for this fence, and
 * returns their number. If it is positive, the caller must soon call nd4c_fence_let_go, because other threads that
 * query the stream's fences wait until then. 0: the work has ended, or `fence` is NULL. -1: there are more vendor
 * fences, and the host has to wait for nd4c_fence_oldest first. After 0 and -1 the caller does not call
 * nd4c_fence_let_go. */
int32_t nd4c_fence_hold(nd4c_shared_fence *fence, nd4c_fence *handles);
void nd4c_fence_let_go(nd4c_shared_fence *fence);
/* The oldest fence of the same stream whose work is not known to have ended, retained; NULL: there is none. */
nd4c_shared_fence *nd4c_fence_oldest(const nd4c_shared_fence *fence);
/* Waits for all work of the device that was submitted before this began, and reports the first failure that no caller
 * has seen yet. */
nd4c_status nd4c_fence_drain(nd4c_device *device);

#endif
