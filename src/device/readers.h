/* The unfinished work that reads a replica: who writes there next comes after all of it. Kept in the order in which it
 * was enqueued; all under the storage's lock. A newer fence of a stream does not stand for an older one: one that
 * failed may be ready before what it stands behind. */
#ifndef ND4C_DEVICE_READERS_H
#define ND4C_DEVICE_READERS_H

#include "device/fence.h"

enum { ND4C_READERS_FEW = 4, ND4C_READERS_MOST = 256 };

/* Zeroed: none. */
typedef struct nd4c_readers {
  int32_t count, room; /* room of `many` */
  nd4c_shared_fence *few[ND4C_READERS_FEW];
  nd4c_shared_fence **many; /* instead of `few`, recycled; NULL: these do */
} nd4c_readers;

/* Retains the fence, and forgets those before it that are ready. most: of those that are not, FEW to MOST; with more,
 * or without memory for more than FEW, the host waits for the oldest. */
void nd4c_readers_add(nd4c_readers *readers, nd4c_shared_fence *fence, int32_t most);
/* Whether all are ready; forgets those that were so first. */
bool nd4c_readers_are_done(nd4c_readers *readers);
/* Waits for all, however they end. */
void nd4c_readers_settle(const nd4c_readers *readers);
/* Lets work on `stream` come after all, see nd4c_fence_enqueue_wait. */
nd4c_status nd4c_readers_enqueue_wait(const nd4c_readers *readers, nd4c_device *device, nd4c_stream stream);
/* Whether the work of all was enqueued on that stream of the device. Asks the device nothing. */
bool nd4c_readers_are_on(const nd4c_readers *readers, const nd4c_device *device, nd4c_stream stream);
void nd4c_readers_forget(nd4c_readers *readers);

#endif
