/* The configured cap of a device, and the room under it. memory.c asks for the cap; scratch.c, pending_blocks.c and
 * device/workspace ask whether a block fits without taking memory from others. */
#include "base/config/config.h"
#include "base/config/config_family.h"
#include "base/config/log.h"
#include "device/memory/memory.h"

int64_t nd4c_memory_configured_cap(const nd4c_device *device) {
  nd4c_device_type type = device->description.type;
  int64_t own = nd4c_config_device_cap(type, device->index);
  if (own != 0) {
    return own;
  }
  if (type == ND4C_DEVICE_CPU) {
    return nd4c_config_int(ND4C_CONFIG_MEMORY_CAP);
  }
  double fraction = (double)nd4c_config_int(ND4C_CONFIG_GPU_MEMORY_CAP_FRACTION) / (double)ND4C_FRACTION_ONE;
  double bytes = fraction * (double)nd4c_device_memory_bytes(device);
  return bytes > 0 && bytes < 1 ? 1 : (int64_t)bytes; /* 0 would mean none */
}

void nd4c_memory_tell_idle_caps(const char *backend, const nd4c_device *devices, int32_t count) {
  nd4c_device_type type = devices[0].backend->type;
  for (int32_t i = count; i < ND4C_FAMILY_INDEXES; i++) {
    char property[ND4C_FAMILY_NAME_SIZE], environment[ND4C_FAMILY_NAME_SIZE];
    if (nd4c_config_device_cap(type, i) != 0 && nd4c_family_names(nd4c_family_member(type, i), property, environment)) {
      nd4c_log_write(ND4C_LOG_WARNING, "memory", "%s (%s) caps no device of backend %s, whose last one is %s", property,
                     environment, backend, devices[count - 1].name);
    }
  }
}

bool nd4c_memory_has_room(const nd4c_device *device, int64_t bytes) {
  int64_t remaining = 0;
  if (bytes > INT64_C(1) << 60) {
    return false; /* the rounded size would overflow */
  }
  return nd4c_memory_remaining(device, &remaining) == ND4C_OK && nd4c_memory_granted(bytes) <= remaining;
}
