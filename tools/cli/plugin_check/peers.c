/* Section `peers`: how the plug-in's devices reach each other's memory, and whether bytes arrive there. The section
 * table of plugin_check.c lists it. */
#include <inttypes.h>
#include <string.h>

#include "check.h"

enum { SIBLINGS = 4 };

typedef struct siblings {
  nd4c_device *devices[SIBLINGS];
  const char *names[SIBLINGS];
  int32_t count;
} siblings;

static siblings found;

static void note_device(plugin_check *check, nd4c_device *device, const char *name) {
  nd4c_device_info info = {.struct_size = sizeof info};
  if (found.count < SIBLINGS &&
      plugin_check_status(check, nd4c_device_get_info(device, &info), "what is known of %s", name)) {
    found.devices[found.count] = device;
    found.names[found.count++] = info.name;
  }
}

static void check_copy(plugin_check *check, int32_t from, int32_t to) {
  const int64_t count = 100003;
  static float values[100003];
  nd4c_array *array = NULL, *copy = NULL;
  nd4c_status status = nd4c_array_arange(ND4C_FLOAT32, 0, 1, count, found.devices[from], &array);
  status = status == ND4C_OK ? nd4c_array_to_device(array, found.devices[to], &copy) : status;
  status = status == ND4C_OK ? nd4c_array_read(copy, values, sizeof values) : status;
  int64_t right = 0;
  while (status == ND4C_OK && right < count && values[right] == (float)right) {
    right++;
  }
  if (plugin_check_status(check, status, "a copy from %s to %s", found.names[from], found.names[to])) {
    (void)plugin_check_that(check, right == count, "a copy from %s to %s differs from element %" PRId64 " on",
                            found.names[from], found.names[to], right);
  }
  nd4c_array_release(copy);
  nd4c_array_release(array);
}

static void check_pair(plugin_check *check, int32_t from, int32_t to) {
  nd4c_peer_info link = {.struct_size = sizeof link};
  plugin_check_at("how %s reaches %s", found.names[to], found.names[from]);
  if (plugin_check_status(check, nd4c_device_peer(found.devices[to], found.devices[from], &link), "%s asked for %s",
                          found.names[to], found.names[from])) {
    plugin_check_note("%s to %s: %s", found.names[from], found.names[to], nd4c_peer_kind_name(link.kind));
    check_copy(check, from, to);
  }
}

void plugin_section_peers(plugin_check *check) {
  plugin_devices_each(check, note_device);
  for (int32_t from = 0; from < found.count; from++) {
    for (int32_t to = 0; to < found.count; to++) {
      if (from != to) {
        check_pair(check, from, to);
      }
    }
  }
}
