/* The table of services that backends get. */
#ifndef ND4C_DEVICE_HOST_H
#define ND4C_DEVICE_HOST_H

#include "nd4c/plugin.h"

const nd4c_host *nd4c_host_table(void);

#endif
