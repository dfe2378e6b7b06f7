/* The compilers of devices. */
#ifndef ND4C_DEVICE_COMPILERS_H
#define ND4C_DEVICE_COMPILERS_H

#include "device/device.h"

/* Compilers of the device with complete tables, from the highest priority down; they never change. */
const nd4c_compiler *const *nd4c_device_compilers(const nd4c_device *device, int32_t *count);

/* Whether a table has what is required; writes why not. */
bool nd4c_compiler_is_complete(const nd4c_compiler *compiler, char *reason, size_t reason_size);

#endif
