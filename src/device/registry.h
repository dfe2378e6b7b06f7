/* The registry: candidates in probe order, and which one computes by default. */
#ifndef ND4C_DEVICE_REGISTRY_H
#define ND4C_DEVICE_REGISTRY_H

#include "device/device.h"

/* Waits for every opened device (a process about to end, a test). */
nd4c_status nd4c_registry_synchronize(void);

#endif
