/* nd4c_device_count and nd4c_device_at: the host, which they open, and all devices that were opened since. Programs
 * call them: the Python package, `nd4c info`. */
#include "base/status.h"
#include "device/device.h"

int32_t nd4c_device_count(void) {
  nd4c_device *host = NULL;
  return nd4c_device_host(&host) == ND4C_OK ? nd4c_devices_count() : 0;
}

nd4c_status nd4c_device_at(int32_t index, nd4c_device **device) {
  if (device == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_device_at: device is NULL");
  }
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  int32_t count = nd4c_device_count();
  if (index < 0 || index >= count) {
    return nd4c_fail(ND4C_INDEX, "device %d: %d are open", index, count);
  }
  *device = nd4c_devices_at(index);
  return ND4C_OK;
}
