/* The host table (nd4c/plugin/host.h), which the registry passes to providers. */
#ifndef ND4C_DEVICE_MEMORY_HOST_H
#define ND4C_DEVICE_MEMORY_HOST_H

#include "nd4c/plugin.h"

const nd4c_host *nd4c_host_table(void);
/* The table for plug-ins: the one above, unless a program that tests plug-ins has set another. */
const nd4c_host *nd4c_host_for_plugins(void);

#endif
