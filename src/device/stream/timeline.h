/* Timelines: one a stream. Each submission has a position on it; a vendor's fence is recorded only where the host or
 * another stream has to wait, at the present end of the stream, and settles every position up to there.
 *
 *     positions      1   2   3   4   5   6   7
 *     entries        e   e   e   e   e   e   e     in order; each holds a reference until its outcome is known
 *     vendor fences          |           |
 *                    ended --^           ^-- marked
 *
 * Positions count what was submitted. Points (nd4c_call.point) number the calls, and are taken before a call is
 * enqueued: with several threads on one stream, the order of the two may differ. A failure names points, so that it
 * finds its submission whichever vendor fence told it.
 *
 * A device that does not tell points (tells_points of its description) gets a vendor fence behind each submission; so
 * does one where the host has waited for work when more had been submitted behind it, for a while.
 *
 * No function here takes another lock while it holds a timeline's. Under it runs nothing but functions of the driver:
 * those of fences, `synchronize` where a fence cannot be recorded, and a copy that comes after fences
 * (nd4c_timeline_hold). In a child of fork nothing here is called for a device that the parent had opened: its locks
 * may be held.
 */
#ifndef ND4C_DEVICE_TIMELINE_H
#define ND4C_DEVICE_TIMELINE_H

#include "device/device.h"

typedef struct nd4c_timeline nd4c_timeline;

/* A failure of work that a vendor fence covered. */
typedef struct nd4c_timeline_failure {
  struct nd4c_timeline_failure *next;
  nd4c_failed_range points; /* zeros: not known, then it may be any of the positions: */
  int64_t after, until;     /* behind the first, up to the second */
  nd4c_status status;
  char *text; /* NULL: there was no memory for it */
} nd4c_timeline_failure;

/* What stands on a timeline; the first member of a fence. */
typedef struct nd4c_timeline_entry {
  struct nd4c_timeline_entry *next;
  _Atomic int32_t references; /* the timeline's own among them as long as it is listed */
  int64_t position;           /* ended with the timeline's up to there */
  int64_t order;              /* among the entries */
} nd4c_timeline_entry;

/* The stream's timeline, made on first use; it lives as long as the stream, and as long as it is retained. MEMORY. */
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
/* The next timeline of the device, retained, the first for NULL; releases `before`. Those that have ended are found,
 * too, while anything stands on them. */
nd4c_timeline *nd4c_timeline_next(nd4c_timeline *before, const nd4c_device *device);
nd4c_device *nd4c_timeline_device(const nd4c_timeline *timeline);
bool nd4c_timeline_is_of(const nd4c_timeline *timeline, const nd4c_device *device, nd4c_stream stream);

/* Numbers for so many calls: the first one. The caller gives each to append or to drop. */
int64_t nd4c_timeline_number(nd4c_timeline *timeline, int32_t count);
/* Numbers of calls that were given up, and have ended: what they failed with is told already. */
void nd4c_timeline_drop(nd4c_timeline *timeline, int64_t first, int32_t count);

/* Puts an entry behind everything enqueued so far, and keeps a reference. `now`: with a vendor fence, without which the
 * entry is not put there; else there is one where the timeline needs it. `count`: points that it took. Waits for the
 * oldest vendor fence where very many submissions have not ended, unless the thread holds a lock that storages share.
 */
nd4c_status nd4c_timeline_append(nd4c_timeline *timeline, nd4c_timeline_entry *entry, int32_t count, bool now);
/* Puts an entry beside another one: it ends with that. */
void nd4c_timeline_append_beside(nd4c_timeline *timeline, nd4c_timeline_entry *entry, int64_t position);
/* The oldest entry up to `order`, retained; NULL: there is none. */
nd4c_timeline_entry *nd4c_timeline_oldest(nd4c_timeline *timeline, int64_t order);
/* The order of the newest entry, 0: there has been none. */
int64_t nd4c_timeline_newest(nd4c_timeline *timeline);
/* Takes the oldest entry off, whose outcome is known; false: another thread did. The reference is the caller's then. */
bool nd4c_timeline_take_off(nd4c_timeline *timeline, nd4c_timeline_entry *entry);
/* Whether the oldest entry's work is known to have ended. Takes no lock. */
bool nd4c_timeline_has_finished(nd4c_timeline *timeline);

/* Gives what is unfenced a vendor fence now, so that a wait does not include what comes later. Not for work without a
 * number that is to be told apart from what stands before it: that needs one on either side. */
void nd4c_timeline_mark(nd4c_timeline *timeline);
/* From here until it is known that the next submission has ended, each one gets a vendor fence of its own, and so does
 * what is unfenced now: the next one may wait for other ranks, which a wait for anything else must not include. */
void nd4c_timeline_stand_apart(nd4c_timeline *timeline);
bool nd4c_timeline_stands_apart(nd4c_timeline *timeline);
/* Whether work up to the position is known to have ended. Asks the vendor fences that are there, and records none. */
bool nd4c_timeline_is_known(nd4c_timeline *timeline, int64_t position);
/* The same, with an answer in the end: where no vendor fence is under way, one is recorded to be asked the next time.
 */
bool nd4c_timeline_has_ended(nd4c_timeline *timeline, int64_t position);
void nd4c_timeline_wait(nd4c_timeline *timeline, int64_t position);
/* Waits for everything that was enqueued, submitted or not. */
void nd4c_timeline_wait_all(nd4c_timeline *timeline);
/* Lets a stream of a device come after the position. UNSUPPORTED: that device cannot wait for this one's fences; some
 * of them may have been enqueued. */
nd4c_status nd4c_timeline_enqueue_wait(nd4c_timeline *timeline, int64_t position, const nd4c_device *device,
                                       nd4c_stream stream);
enum { ND4C_TIMELINE_WAITS = 8 };
/* The vendor fences behind which the position has ended; -1: there are more than ND4C_TIMELINE_WAITS. Where it returns
 * more than 0, they stay until nd4c_timeline_let_go, by the same thread, and the lock is held. */
int32_t nd4c_timeline_hold(nd4c_timeline *timeline, int64_t position, nd4c_fence *handles);
void nd4c_timeline_let_go(nd4c_timeline *timeline);

/* Takes the failures of so many points out. They are the caller's. The work has ended. */
nd4c_timeline_failure *nd4c_timeline_take_failures(nd4c_timeline *timeline, int64_t first, int32_t count);
/* Whether the position is among those of a failure whose calls are not known; its status and text (duplicated, or
 * NULL), OK: it is not. */
nd4c_status nd4c_timeline_find_unknown(nd4c_timeline *timeline, int64_t position, char **text);
void nd4c_timeline_free_failures(nd4c_timeline_failure *failures);

#endif
