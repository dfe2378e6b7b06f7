/* Copies between the replicas of a storage, for coherence.c and residence.c. All functions run under the storage's
 * lock. */
#ifndef ND4C_DEVICE_STORAGE_REPLICA_COPY_H
#define ND4C_DEVICE_STORAGE_REPLICA_COPY_H

#include "device/storage/storage_body.h"

/* When a copy must be complete. */
typedef enum nd4c_bring {
  ND4C_BRING_NOW,       /* when nd4c_replica_bring returns */
  ND4C_BRING_REQUESTED, /* later if the devices can: the user asked for the copy and does not write to the source */
  ND4C_BRING_FOLLOWING  /* later if the devices can; memory that the user may write to is read at once */
} nd4c_bring;

/* Makes the replica current: the copy is complete when this returns, or in flight with replica->written as its fence.
 * Does nothing if the replica is current. Puts the operation off if the host has to wait for submitted work before it
 * copies. */
nd4c_status nd4c_replica_bring(nd4c_storage_body *body, nd4c_replica *replica, nd4c_bring when);

/* Whether a copy for work on `device` can be enqueued while the work that writes `source` is in flight. */
bool nd4c_replica_can_follow(const nd4c_replica *source, nd4c_device *device);

#endif
