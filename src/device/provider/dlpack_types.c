/* The DLPack type of a device's memory. device/access/dlpack.c and nd4c_device_get_info (device/opened.c) ask for
 * it. */
#include "device/provider/dlpack_types.h"

#include "device/device.h"

int32_t nd4c_device_dlpack_type(const nd4c_device *device) {
  if (nd4c_device_is_immediate(device)) {
    return DL_CPU;
  }
  switch (device->description.type) {
    case ND4C_DEVICE_CUDA:
      return DL_CUDA;
    case ND4C_DEVICE_OPENCL:
      return DL_OPENCL;
    case ND4C_DEVICE_VULKAN:
      return DL_VULKAN;
    case ND4C_DEVICE_METAL:
      return DL_METAL;
    case ND4C_DEVICE_ROCM:
      return DL_ROCM;
    default:
      return DL_OTHER;
  }
}
