/* Which devices of a backend reach each other's memory. A device asks its backend once for each other device, when that
 * is first wanted, and keeps the answer. */
#ifndef ND4C_DEVICE_PEERS_H
#define ND4C_DEVICE_PEERS_H

#include "device/device.h"

/* Room for the answers of a device whose backend has `count` devices. MEMORY. */
nd4c_status nd4c_peers_make(nd4c_device *device, int32_t count);
void nd4c_peers_free(nd4c_device *device);

/* Whether `device` copies from the other one's memory, or reaches it, without the host. A load after the first time.
 * False where the backend fails to tell, which goes to the log and, but for want of memory, is its answer then. */
bool nd4c_peers_reach(const nd4c_device *device, const nd4c_device *other);

#endif
