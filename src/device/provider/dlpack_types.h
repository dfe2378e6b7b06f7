/* DLPack's numbers for kinds of memory (DLDeviceType in dlpack.h of version 1.1), for dlpack_types.c and
 * device/access/dlpack.c. */
#ifndef ND4C_DEVICE_PROVIDER_DLPACK_TYPES_H
#define ND4C_DEVICE_PROVIDER_DLPACK_TYPES_H

enum { DL_CPU = 1, DL_CUDA = 2, DL_OPENCL = 4, DL_VULKAN = 7, DL_METAL = 8, DL_ROCM = 10, DL_OTHER = 12 };

#endif
