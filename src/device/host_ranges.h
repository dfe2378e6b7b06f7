/* Host memory that is registered for a device (nd4c_host_register): copies of it pass through no staging buffer. */
#ifndef ND4C_DEVICE_HOST_RANGES_H
#define ND4C_DEVICE_HOST_RANGES_H

#include "device/device.h"

typedef struct nd4c_host_range nd4c_host_range;

/* The range of the device in which these bytes lie, with one use added, which keeps it registered; NULL: there is none.
 * Takes a lock where anything is registered at all. */
nd4c_host_range *nd4c_host_range_enter(const nd4c_device *device, const void *memory, int64_t bytes);
/* NULL is fine. */
void nd4c_host_range_leave(nd4c_host_range *range);

#endif
