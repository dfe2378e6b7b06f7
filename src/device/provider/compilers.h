/* Checks of compilers' tables, before a compiler is used. device/compute.c, device/kept.c and graph/plan call
 * them. */
#ifndef ND4C_DEVICE_PROVIDER_COMPILERS_H
#define ND4C_DEVICE_PROVIDER_COMPILERS_H

#include "device/device.h"

/* Whether a table has all required fields; writes why not. */
bool nd4c_compiler_is_complete(const nd4c_compiler *compiler, char *reason, size_t reason_size);
/* Whether its executables can be written and loaded. */
bool nd4c_compiler_keeps(const nd4c_compiler *compiler);
/* Whether its executables run on operands of any strides. */
bool nd4c_compiler_takes_any_strides(const nd4c_compiler *compiler);
/* Whether a segment's single output may have the memory of an input. */
bool nd4c_compiler_computes_in_place(const nd4c_compiler *compiler);
/* Whether it looks at the contents of constants before an execution. */
bool nd4c_compiler_reads_constants(const nd4c_compiler *compiler);

#endif
