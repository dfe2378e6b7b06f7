/* The registry: candidates in probe order, and the default device. device/context/routing.c finds devices by name here,
 * graph/ahead.c the targets to compile for; device.h has the host's device. */
#ifndef ND4C_DEVICE_REGISTRY_REGISTRY_H
#define ND4C_DEVICE_REGISTRY_REGISTRY_H

#include <stdbool.h>

#include "device/device.h"

/* As nd4c_device_find. *unusable: the backend is known, but it or its device is missing or cannot be used on this
 * machine; false if the name is unknown, or if memory was exhausted, which may be temporary. */
nd4c_status nd4c_registry_find(const char *name, nd4c_device **device, bool *unusable);

/* The device to compile for, by name: a device of this machine, or a target of a backend that only compiles (only
 * handle and description, no memory, no streams, *here false). Otherwise as nd4c_device_find. */
nd4c_status nd4c_registry_find_target(const char *name, nd4c_device **target, bool *here);

#endif
