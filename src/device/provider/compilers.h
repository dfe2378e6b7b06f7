/* Checks of compilers' tables, before a compiler is used. device/compute.c and device/kept.c call them. */
#ifndef ND4C_DEVICE_PROVIDER_COMPILERS_H
#define ND4C_DEVICE_PROVIDER_COMPILERS_H

#include "device/device.h"

/* Whether a table has all required fields; writes why not. */
bool nd4c_compiler_is_complete(const nd4c_compiler *compiler, char *reason, size_t reason_size);
/* Whether its executables can be written and loaded. */
bool nd4c_compiler_keeps(const nd4c_compiler *compiler);

#endif
