/* Host memory that is registered for a device (nd4c_host_register) and is copied without staging buffers; and the uses
 * of host memory by a device's driver, for which unregistering waits. replica_copy.c and transfer_stream.c in
 * device/storage begin and end uses:
 *
 *     use begins -> the driver is given the memory -> the copy's fence is recorded, or the copy has ended -> use ends
 *
 * No release callback runs during a use, so that a callback may unregister memory. */
#ifndef ND4C_DEVICE_STREAM_HOST_RANGES_H
#define ND4C_DEVICE_STREAM_HOST_RANGES_H

#include "device/device.h"

/* Zeroed: none. */
typedef struct nd4c_host_use {
  nd4c_device *device;
  int32_t turn;
} nd4c_host_use;

/* Whether these bytes lie in a registered range of the device, which it copies directly. The answer may be out of date
 * at once. Takes a lock only if any range is registered. */
bool nd4c_host_range_holds(const nd4c_device *device, const void *memory, int64_t bytes);

/* Begins a use, before the driver gets host memory that nd4c did not allocate for copying. False, with no use begun:
 * some of the bytes are being unregistered, and the driver must not get them. Never waits. Takes a lock only if any
 * range is registered, and counts only if the device can register memory. */
bool nd4c_host_use_begin(nd4c_host_use *use, nd4c_device *device, const void *memory, int64_t bytes);
/* Ends a use, when the copy's fence is on its timeline or the copy has ended. NULL, and a use that has ended, are
 * fine. */
void nd4c_host_use_end(nd4c_host_use *use);

#endif
