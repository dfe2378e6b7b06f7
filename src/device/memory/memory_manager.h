/* Creation and destruction of a device's memory manager. device/registry/candidate_devices.c calls them when it opens a
 * device; memory.h has the manager's use. */
#ifndef ND4C_DEVICE_MEMORY_MEMORY_MANAGER_H
#define ND4C_DEVICE_MEMORY_MEMORY_MANAGER_H

#include "device/device.h"

nd4c_status nd4c_memory_manager_make(nd4c_device *device, struct nd4c_memory_manager **out);
/* Frees all cached blocks; no block may be live. NULL is fine. */
void nd4c_memory_manager_free(struct nd4c_memory_manager *manager);

#endif
