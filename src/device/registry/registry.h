/* The registry: candidates in probe order, and which one computes by default. */
#ifndef ND4C_DEVICE_REGISTRY_H
#define ND4C_DEVICE_REGISTRY_H

#include <stdbool.h>

#include "device/device.h"

/* As nd4c_device_find. *unusable: the failure is that of a backend which is known, and which or whose device cannot be
 * used on this machine or is not there; false where the name is nobody's, and where memory ran out, which may come
 * back. */
nd4c_status nd4c_registry_find(const char *name, nd4c_device **device, bool *unusable);

/* A device to compile for, by name: one that is here, or the target of a backend that only compiles (handle and
 * description alone: no memory, no streams, *here false). As nd4c_device_find otherwise. */
nd4c_status nd4c_registry_find_target(const char *name, nd4c_device **target, bool *here);

#endif
