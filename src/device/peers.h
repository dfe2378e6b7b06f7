/* How devices of one backend access each other's memory. device/storage/transfer_stream.c asks; a device asks its
 * backend once for each other device, when a copy first needs it, and keeps the answer. */
#ifndef ND4C_DEVICE_PEERS_H
#define ND4C_DEVICE_PEERS_H

#include "device/device.h"

/* Allocates the answers of a device whose backend has `count` devices. MEMORY. */
nd4c_status nd4c_peers_make(nd4c_device *device, int32_t count);
void nd4c_peers_free(nd4c_device *device);

/* Whether `device` can copy from, or access, the other's memory without the host. Costs a load after the first time.
 * False if the backend fails to answer; the failure is logged and, unless it is MEMORY, kept as the answer. */
bool nd4c_peers_reach(const nd4c_device *device, const nd4c_device *other);

#endif
