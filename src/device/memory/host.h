/* The table of services that backends get. */
#ifndef ND4C_DEVICE_HOST_H
#define ND4C_DEVICE_HOST_H

#include "nd4c/plugin.h"

const nd4c_host *nd4c_host_table(void);
/* The table that a plug-in is given: the one above, unless a program that tests plug-ins set another. */
const nd4c_host *nd4c_host_for_plugins(void);

#endif
