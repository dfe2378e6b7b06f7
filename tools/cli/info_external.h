/* What `nd4c info` tells of a device's external memory. */
#ifndef ND4C_CLI_INFO_EXTERNAL_H
#define ND4C_CLI_INFO_EXTERNAL_H

#include "cli.h"

/* Lines for people; none where the device has nothing of it. */
void info_print_external(const nd4c_device_info *info, const nd4c_memory_info *memory);
/* The same as members of the device's object. */
void info_add_external(cJSON *object, const nd4c_device_info *info, const nd4c_memory_info *memory);

#endif
