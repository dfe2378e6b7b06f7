/* Timelines, one for each stream. Each submission has a position. A vendor's fence is recorded only when the host or
 * another stream must wait, at the current end of the stream, and settles every position up to there. fence.c puts
 * fences on them; submit/submit.c takes numbers for calls.
 *
 *     positions      1   2   3   4   5   6   7
 *     entries        e   e   e   e   e   e   e     in order; each holds a reference until its outcome is known
 *     vendor fences          |           |
 *                    ended --^           ^-- marked
 *
 * Positions count submissions. Points (nd4c_call.point) number calls, and are taken before a call is enqueued: with
 * several threads on one stream, the two orders may differ. A failure has points, so it is attributed to its submission
 * whichever vendor fence reported it.
 *
 * A device without tells_points gets a vendor fence after each submission. So does, for a while, a device on which the
 * host has waited for work after which more had been submitted.
 *
 * No function takes another lock while it holds a timeline's. Only functions of the driver run under it: those of
 * fences, `synchronize` if a fence cannot be recorded, and a copy that waits for fences (nd4c_timeline_hold). A child
 * of fork calls none of these for a device that the parent had opened, because its locks may be held. */
#ifndef ND4C_DEVICE_STREAM_TIMELINE_H
#define ND4C_DEVICE_STREAM_TIMELINE_H

#include "device/device.h"

typedef struct nd4c_timeline nd4c_timeline;

/* A failure in the work that a vendor fence covers. */
typedef struct nd4c_timeline_failure {
  struct nd4c_timeline_failure *next;
  nd4c_failed_range points; /* points of the failed calls; zeros: unknown, then any position in this range may have
                               failed: */
  int64_t after, until;     /* after the first, up to the second */
  nd4c_status status;
  char *text; /* NULL: memory was exhausted */
} nd4c_timeline_failure;

/* An entry of a timeline; the first member of a fence. */
typedef struct nd4c_timeline_entry {
  struct nd4c_timeline_entry *next;
  _Atomic int32_t references; /* includes the timeline's reference while it is listed */
  int64_t position;           /* ended if the timeline has ended up to this position */
  int64_t order;              /* among the entries */
} nd4c_timeline_entry;

/* The stream's timeline, made on first use; it lives as long as the stream or a reference. MEMORY. */
nd4c_status nd4c_timeline_of(nd4c_device *device, nd4c_stream stream, nd4c_timeline **timeline);
/* The same for a stream that may have none, retained; NULL: it has none. */
nd4c_timeline *nd4c_timeline_find(const nd4c_device *device, nd4c_stream stream);
/* Whether everything that was submitted to the stream is known to have ended. Asks the vendor fences that are there. */
bool nd4c_timeline_is_idle(nd4c_device *device, nd4c_stream stream);
/* The stream is about to be destroyed: what was submitted gets its last vendor fence. The stream's reference is the
 * caller's then; NULL: it had no timeline. */
nd4c_timeline *nd4c_timeline_end(nd4c_device *device, nd4c_stream stream);
nd4c_timeline *nd4c_timeline_retain(nd4c_timeline *timeline);
void nd4c_timeline_release(nd4c_timeline *timeline);
/* The next timeline of the device, retained; the first for NULL; releases `before`. Includes timelines of destroyed
 * streams while they have entries. */
nd4c_timeline *nd4c_timeline_next(nd4c_timeline *before, const nd4c_device *device);
nd4c_device *nd4c_timeline_device(const nd4c_timeline *timeline);
bool nd4c_timeline_is_of(const nd4c_timeline *timeline, const nd4c_device *device, nd4c_stream stream);

/* Takes numbers for `count` calls and returns the first. The caller passes each to append or to drop. */
int64_t nd4c_timeline_number(nd4c_timeline *timeline, int32_t count);
/* Drops numbers of calls that were abandoned and have ended; their failures were already reported. */
void nd4c_timeline_drop(nd4c_timeline *timeline, int64_t first, int32_t count);

/* Puts an entry behind everything enqueued so far, and keeps a reference. `now`: with a vendor fence, without which the
 * entry is not put there; else there is one where the timeline needs it. `count`: points that it took. Waits for the
 * oldest vendor fence where very many submissions have not ended, unless the thread must not wait (shared_locks.h). */
nd4c_status nd4c_timeline_append(nd4c_timeline *timeline, nd4c_timeline_entry *entry, int32_t count, bool now);
/* Adds an entry at the position of another one, with which it ends. */
void nd4c_timeline_append_beside(nd4c_timeline *timeline, nd4c_timeline_entry *entry, int64_t position);
/* The oldest entry up to `order`, retained; NULL: there is none. */
nd4c_timeline_entry *nd4c_timeline_oldest(nd4c_timeline *timeline, int64_t order);
/* The order of the newest entry, 0: there has been none. */
int64_t nd4c_timeline_newest(nd4c_timeline *timeline);
/* Removes the oldest entry, whose outcome is known; the caller takes over its reference. False: another thread has
 * removed it. */
bool nd4c_timeline_take_off(nd4c_timeline *timeline, nd4c_timeline_entry *entry);
/* Whether the oldest entry's work is known to have ended. Takes no lock. */
bool nd4c_timeline_has_finished(nd4c_timeline *timeline);

/* Records a vendor fence for unfenced work now, so that a wait does not include later work. Not for work without
 * numbers whose failure must be distinguished from earlier ones: that needs a fence before and after. */
void nd4c_timeline_mark(nd4c_timeline *timeline);
/* Until the next submission is known to have ended, each submission gets its own vendor fence, and so does work that is
 * unfenced now: the next submission may wait for other ranks, and waits for other work must not include it. */
void nd4c_timeline_stand_apart(nd4c_timeline *timeline);
bool nd4c_timeline_stands_apart(nd4c_timeline *timeline);
/* Whether work up to the position is known to have ended. Queries existing vendor fences and records none. */
bool nd4c_timeline_is_known(nd4c_timeline *timeline, int64_t position);
/* The same, but repeated calls become true: if no vendor fence is pending, records one for the next query. */
bool nd4c_timeline_has_ended(nd4c_timeline *timeline, int64_t position);
void nd4c_timeline_wait(nd4c_timeline *timeline, int64_t position);
/* Waits for all enqueued work, whether it was submitted or not. */
void nd4c_timeline_wait_all(nd4c_timeline *timeline);
/* Makes a stream of a device wait for the position. UNSUPPORTED: that device cannot wait for this one's fences; waits
 * for some of them may have been enqueued. */
nd4c_status nd4c_timeline_enqueue_wait(nd4c_timeline *timeline, int64_t position, const nd4c_device *device,
                                       nd4c_stream stream);
enum { ND4C_TIMELINE_WAITS = 8 };
/* The vendor fences behind which the position has ended; -1: there are more than ND4C_TIMELINE_WAITS. Where it returns
 * more than 0, they stay until nd4c_timeline_let_go, by the same thread, and the lock is held. */
int32_t nd4c_timeline_hold(nd4c_timeline *timeline, int64_t position, nd4c_fence *handles);
void nd4c_timeline_let_go(nd4c_timeline *timeline);

/* Removes the failures of a range of points and gives them to the caller. The work has ended. */
nd4c_timeline_failure *nd4c_timeline_take_failures(nd4c_timeline *timeline, int64_t first, int32_t count);
/* Whether the position is in the range of a failure whose calls are unknown: its status and text (duplicated, or NULL);
 * OK: it is not. */
nd4c_status nd4c_timeline_find_unknown(nd4c_timeline *timeline, int64_t position, char **text);
void nd4c_timeline_free_failures(nd4c_timeline_failure *failures);

#endif
