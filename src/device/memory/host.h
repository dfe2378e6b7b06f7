/* The host table (nd4c/plugin/host.h), the functions that nd4c gives to providers. device/registry passes it to them;
 * device/access, device/storage and dispatch call a few functions of it themselves. */
#ifndef ND4C_DEVICE_MEMORY_HOST_H
#define ND4C_DEVICE_MEMORY_HOST_H

#include "nd4c/plugin.h"

const nd4c_host *nd4c_host_table(void);
/* The table for plug-ins: the one above, unless a program that tests plug-ins has set another. */
const nd4c_host *nd4c_host_for_plugins(void);

#endif
