/* The ops of plug-ins. They are added under the registry's lock and never go away; threads read them without a lock,
 * because an op's definition is complete before the count that makes it visible is stored. */
#ifndef ND4C_DEVICE_PLUGIN_OPS_H
#define ND4C_DEVICE_PLUGIN_OPS_H

#include "device/op_def.h"

/* Adds the ops of a provider, whose tables are checked: all of them, or none. NAME: another plug-in has brought an op
 * of that name, in whatever version; ABI: more than ND4C_PLUGIN_OP_LIMIT in all; MEMORY. `from`: the plug-in's path or
 * name, for texts. Under the registry's lock. */
nd4c_status nd4c_plugin_ops_add(const char *from, const char *provider, const nd4c_plugin_op *const *ops,
                                int32_t count);

int32_t nd4c_plugin_ops_count(void);
/* By position, 0 for number ND4C_OP_PLUGIN; NULL past the end. */
const nd4c_op_def *nd4c_plugin_ops_at(uint32_t position);
/* The highest version, up to `most`, of the op of that name, which has no version in it; NULL if there is none. */
const nd4c_op_def *nd4c_plugin_ops_find(const char *name, size_t length, uint32_t most);

/* The reference kernels of a provider's ops, as a contribution to the CPU's devices that lives as long as the process.
 * The provider brings an op at least. MEMORY. */
nd4c_status nd4c_plugin_ops_contribute(const nd4c_plugin_op *const *ops, int32_t count,
                                       nd4c_contribution **contribution);

#endif
