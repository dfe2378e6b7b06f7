/* The part of `nd4c info` about external memory of a device, as text and as JSON. info.c and info_json.c call these. */
#ifndef ND4C_CLI_INFO_EXTERNAL_H
#define ND4C_CLI_INFO_EXTERNAL_H

#include "cli.h"

/* Lines of text; none if the device supports no external memory. */
void info_print_external(const nd4c_device_info *info, const nd4c_memory_info *memory);
/* The same as members of the device's object. */
void info_add_external(cJSON *object, const nd4c_device_info *info, const nd4c_memory_info *memory);

#endif
