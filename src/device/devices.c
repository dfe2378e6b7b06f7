/* Queries of devices. */
#include "base/os.h"
#include "base/parallel.h"
#include "base/status.h"
#include "device/candidate.h"
#include "device/device.h"
#include "device/fence.h"

nd4c_status nd4c_device_get_info(const nd4c_device *device, nd4c_device_info *info) {
  if (device == NULL || info == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s is NULL", device == NULL ? "device" : "info");
  }
  if (info->struct_size < ND4C_SIZE_OF(nd4c_device_info)) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_device_info)", info->struct_size);
  }
  const nd4c_device_description *description = &device->description;
  *info = (nd4c_device_info){
      .struct_size = info->struct_size,
      .name = device->name,
      .description = description->description != NULL ? description->description : "",
      .type = description->type,
      .index = device->index,
      .host_addressable = description->host_addressable,
      .asynchronous = description->asynchronous,
      .memory_bytes = description->type == ND4C_DEVICE_CPU && description->memory_bytes == 0
                          ? nd4c_os_memory_bytes()
                          : description->memory_bytes,
      .width = description->type == ND4C_DEVICE_CPU ? nd4c_parallel_width() : description->width,
  };
  return ND4C_OK;
}

nd4c_status nd4c_device_synchronize(nd4c_device *device) {
  if (device == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "device is NULL");
  }
  nd4c_status status = nd4c_fence_drain(device);
  if (device->ops->synchronize != NULL) {
    nd4c_status waited = device->ops->synchronize(device->handle);
    status = status != ND4C_OK ? status : waited;
  }
  return status;
}

const nd4c_kernel *const *nd4c_device_kernels(const nd4c_device *device, nd4c_op op, int32_t *count) {
  return nd4c_kernel_index_get(device->kernels, op, count);
}
