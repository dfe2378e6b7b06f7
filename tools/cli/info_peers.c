/* Implements info_peers.h: streams of a device, and devices that reach each other's memory. info.c and info_json.c call
 * it. */
#include <inttypes.h>
#include <stdio.h>

#include "info_peers.h"

void info_print_streams(const nd4c_device_info *info) {
  const bool priorities = info->least_priority != info->greatest_priority;
  if (!priorities && !info->wraps_streams) {
    return;
  }
  (void)printf("    streams:");
  if (priorities) {
    (void)printf(" priorities %" PRId32 " to %" PRId32 "%s", info->least_priority, info->greatest_priority,
                 info->wraps_streams ? "," : "");
  }
  (void)printf("%s\n", info->wraps_streams ? " takes the application's own" : "");
}

/* The next device behind *position that `device` reaches by itself; NULL at the end. What cannot be told is no link. */
static nd4c_device *next_peer(nd4c_device *device, int32_t *position, nd4c_peer_info *link) {
  nd4c_device *other = NULL;
  while (*position < nd4c_device_count() && nd4c_device_at((*position)++, &other) == ND4C_OK) {
    *link = (nd4c_peer_info){.struct_size = sizeof *link};
    if (other != device && nd4c_device_peer(device, other, link) == ND4C_OK && link->kind != ND4C_PEER_NONE) {
      return other;
    }
  }
  return NULL;
}

static const char *name_of(const nd4c_device *device) {
  nd4c_device_info info = {.struct_size = sizeof info};
  return nd4c_device_get_info(device, &info) == ND4C_OK ? info.name : "?";
}

void info_print_peers(nd4c_device *device) {
  int32_t position = 0, count = 0;
  nd4c_peer_info link;
  for (nd4c_device *other = NULL; (other = next_peer(device, &position, &link)) != NULL; count++) {
    (void)printf("%s %s (%s", count == 0 ? "    reaches without the host:" : ",", name_of(other),
                 nd4c_peer_kind_name(link.kind));
    if (link.rank > 0) {
      (void)printf(", link %" PRId32, link.rank);
    }
    (void)printf(")");
  }
  if (count > 0) {
    (void)printf("\n");
  }
}

cJSON *info_peers_json(nd4c_device *device) {
  cJSON *array = cJSON_CreateArray();
  int32_t position = 0;
  nd4c_peer_info link;
  for (nd4c_device *other = NULL; (other = next_peer(device, &position, &link)) != NULL;) {
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(object, "device", name_of(other));
    (void)cJSON_AddStringToObject(object, "kind", nd4c_peer_kind_name(link.kind));
    (void)cJSON_AddNumberToObject(object, "rank", link.rank);
    (void)cJSON_AddItemToArray(array, object);
  }
  return array;
}
