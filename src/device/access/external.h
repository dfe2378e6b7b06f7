/* External memory within src/device; its public side is nd4c/external.h. */
#ifndef ND4C_DEVICE_EXTERNAL_H
#define ND4C_DEVICE_EXTERNAL_H

#include "array/array.h"
#include "device/device.h"
#include "nd4c/external.h"

/* Whether arrays on the device can be made over external memory of that kind. */
static inline bool nd4c_device_imports(const nd4c_device *device, nd4c_external_kind kind) {
  return (device->description.imports & ND4C_EXTERNAL_BIT(kind)) != 0;
}

#endif
