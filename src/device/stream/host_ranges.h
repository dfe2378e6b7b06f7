/* Host memory that is registered for a device (nd4c_host_register): copies of it pass through no staging buffer. And
 * the uses of host memory by a device's driver, for which unregistering waits:
 *
 *     use begins -> the driver is given the memory -> the copy's fence is recorded, or the copy has ended -> use ends
 *
 * No owner of memory is called during a use, so that its release callback may unregister memory. */
#ifndef ND4C_DEVICE_HOST_RANGES_H
#define ND4C_DEVICE_HOST_RANGES_H

#include "device/device.h"

/* Zeroed: none. */
typedef struct nd4c_host_use {
  nd4c_device *device;
  int32_t turn;
} nd4c_host_use;

/* Whether these bytes lie in a range of the device, from which it copies fastest without a detour. The answer may be
 * out of date a moment later. Takes a lock where anything is registered at all. */
bool nd4c_host_range_holds(const nd4c_device *device, const void *memory, int64_t bytes);

/* Before the driver is given host memory that nd4c did not allocate for copying. False, and no use: some of the bytes
 * lie in a range that is being unregistered, and the driver must not be given them. Never waits. Takes a lock where
 * anything is registered at all, and counts where the device registers memory. */
bool nd4c_host_use_begin(nd4c_host_use *use, nd4c_device *device, const void *memory, int64_t bytes);
/* When the copy's fence is on its timeline, or the copy has ended. NULL, and one that has ended, are fine. */
void nd4c_host_use_end(nd4c_host_use *use);

#endif
