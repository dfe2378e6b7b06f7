/* The fences of unfinished work that reads a replica, in the order in which the work was enqueued. The next writer
 * waits for all of them. device/storage and device/memory/pending_blocks.c call these functions, for a storage under
 * its lock. A newer fence of a timeline replaces the older ones: a timeline queries its vendor fences in order, so a
 * position counts as ended only with all earlier ones, even after failures. */
#ifndef ND4C_DEVICE_STREAM_READERS_H
#define ND4C_DEVICE_STREAM_READERS_H

#include "device/stream/fence.h"

enum { ND4C_READERS_FEW = 4, ND4C_READERS_MOST = 256 };

/* Zeroed: none. */
typedef struct nd4c_readers {
  int32_t count, room; /* room of `many` */
  int32_t replaced;    /* number of fences that newer ones have replaced since a fence was last forgotten */
  nd4c_shared_fence *few[ND4C_READERS_FEW];
  nd4c_shared_fence **many; /* replaces `few`, recycled; NULL: `few` suffices */
} nd4c_readers;

/* NULL if there is room for one more reader, given a limit of `most` (FEW to MOST); forgets readers that are known to
 * have ended. Else the oldest reader, not retained: the host waits for it and asks again. With FEW, which keeps the
 * host from running far ahead, a newer fence replaces no older one, and each gets a vendor's fence, so that the host
 * waits for a single reader. */
nd4c_shared_fence *nd4c_readers_find_excess(nd4c_readers *readers, int32_t most);
/* Adds the fence, retained, in place of the older fence of its timeline if there is one. NULL: the fence, or a newer
 * one of its timeline, is listed; else the oldest reader, as above, and the fence was not added. */
nd4c_shared_fence *nd4c_readers_try_add(nd4c_readers *readers, nd4c_shared_fence *fence, int32_t most);
/* The same, but waits for the oldest reader while there is no room: never, if nd4c_readers_find_excess has just found
 * none. */
void nd4c_readers_add(nd4c_readers *readers, nd4c_shared_fence *fence, int32_t most);
/* Whether all are ready; forgets the leading ready ones. Queries as nd4c_fence_is_ready does. */
bool nd4c_readers_are_done(nd4c_readers *readers);
/* The same without querying, see nd4c_fence_is_known. */
bool nd4c_readers_are_known(nd4c_readers *readers);
/* Waits for all and ignores their outcomes. */
void nd4c_readers_settle(const nd4c_readers *readers);
/* Orders work on `stream` after all readers, see nd4c_fence_enqueue_wait. *on_host: a fence, not retained, for which
 * the host has to wait before it calls this again; NULL: none. */
nd4c_status nd4c_readers_enqueue_wait(const nd4c_readers *readers, nd4c_device *device, nd4c_stream stream,
                                      nd4c_shared_fence **on_host);
/* A fence, not retained, whose work is not known to have ended; NULL: all have. */
nd4c_shared_fence *nd4c_readers_find_pending(const nd4c_readers *readers);
/* Whether the work of all was enqueued on that stream of the device. Asks the device nothing. */
bool nd4c_readers_are_on(const nd4c_readers *readers, const nd4c_device *device, nd4c_stream stream);
void nd4c_readers_forget(nd4c_readers *readers);

#endif
