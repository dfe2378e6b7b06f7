/* The part of `nd4c info` about streams of a device, and access to other devices' memory. info.c and info_json.c call
 * these. */
#ifndef ND4C_CLI_INFO_PEERS_H
#define ND4C_CLI_INFO_PEERS_H

#include "cli.h"

/* A line, or nothing if its streams have no special features. */
void info_print_streams(const nd4c_device_info *info);
/* A line, or nothing if the device can access no other. */
void info_print_peers(nd4c_device *device);
/* [{"device": "cuda:1", "kind": "copy", "rank": 1}, ...]; rank 0: unknown. */
cJSON *info_peers_json(nd4c_device *device);

#endif
