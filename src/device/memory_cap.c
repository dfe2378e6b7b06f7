/* Which cap configuration gives a device. */
#include "base/config.h"
#include "device/memory.h"

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
