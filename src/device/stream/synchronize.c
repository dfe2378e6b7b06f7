/* nd4c_device_synchronize: waits for all work of a device. Programs and the Python package call it. */
#include "base/status.h"
#include "device/driver.h"
#include "device/stream/exit_and_fork.h"
#include "device/stream/fence.h"

nd4c_status nd4c_device_synchronize(nd4c_device *device) {
  ND4C_TRY(nd4c_device_check(device, "nd4c_device_synchronize"));
  if (nd4c_device_is_forked(device)) {
    return nd4c_device_refuse(device);
  }
  nd4c_status status = nd4c_fence_drain(device);
  nd4c_status waited = nd4c_driver_synchronize(device);
  status = status != ND4C_OK ? status : waited;
  return status;
}
