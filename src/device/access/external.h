/* External memory inside src/device: which kinds a device imports. dlpack.c and external.c include it; nd4c/external.h
 * is the public part. */
#ifndef ND4C_DEVICE_ACCESS_EXTERNAL_H
#define ND4C_DEVICE_ACCESS_EXTERNAL_H

#include "array/array.h"
#include "device/device.h"
#include "nd4c/external.h"

/* Whether the device imports external memory of that kind. */
static inline bool nd4c_device_imports(const nd4c_device *device, nd4c_external_kind kind) {
  return (device->description.imports & ND4C_EXTERNAL_BIT(kind)) != 0;
}

#endif
