/* The ops that plug-ins define. device/registry adds them under its lock, and they are never removed; ops/op.c and
 * compute.c find them. Threads read them without a lock, because an op's definition is complete before the count that
 * publishes it is stored. */
#ifndef ND4C_DEVICE_PLUGIN_OPS_H
#define ND4C_DEVICE_PLUGIN_OPS_H

#include "device/op_def.h"

/* Adds all ops of a provider, or none; their tables were checked. NAME: another plug-in has defined an op of that name,
 * in any version; ABI: more than ND4C_PLUGIN_OP_LIMIT in total; MEMORY. `from`: the plug-in's path or name, for texts.
 * Under the registry's lock. */
nd4c_status nd4c_plugin_ops_add(const char *from, const char *provider, const nd4c_plugin_op *const *ops,
                                int32_t count);

int32_t nd4c_plugin_ops_count(void);
/* An op by position, 0 for number ND4C_OP_PLUGIN; NULL past the end. */
const nd4c_op_def *nd4c_plugin_ops_at(uint32_t position);
/* The highest version, up to `most`, of the op with that name (without a version suffix); NULL if there is none. */
const nd4c_op_def *nd4c_plugin_ops_find(const char *name, size_t length, uint32_t most);

/* The reference kernels of a provider's ops, as a contribution to the CPU's devices that lives as long as the process.
 * The provider has at least one op. MEMORY. */
nd4c_status nd4c_plugin_ops_contribute(const nd4c_plugin_op *const *ops, int32_t count,
                                       nd4c_contribution **contribution);

#endif
