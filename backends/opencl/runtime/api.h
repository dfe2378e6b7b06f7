/* The part of OpenCL 1.2 that this backend uses, declared here so that it builds without OpenCL's headers. Types,
 * constants and functions have the specification's names. device.h includes it; so does the faulty loader of
 * tests/opencl. */
#ifndef ND4C_BACKENDS_OPENCL_RUNTIME_API_H
#define ND4C_BACKENDS_OPENCL_RUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;
typedef int32_t cl_int;
typedef uint32_t cl_uint, cl_bool;
typedef uint64_t cl_ulong, cl_bitfield;
typedef intptr_t cl_context_properties;

enum {
  CL_PLATFORM_VERSION = 0x0901,
  CL_PLATFORM_NAME = 0x0902,
  CL_DEVICE_TYPE = 0x1000,
  CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
  CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
  CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
  CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
  CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
  CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
  CL_DEVICE_ENDIAN_LITTLE = 0x1026,
  CL_DEVICE_AVAILABLE = 0x1027,
  CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
  CL_DEVICE_QUEUE_PROPERTIES = 0x102A,
  CL_DEVICE_NAME = 0x102B,
  CL_DEVICE_VENDOR = 0x102C,
  CL_DRIVER_VERSION = 0x102D,
  CL_DEVICE_VERSION = 0x102F,
  CL_DEVICE_EXTENSIONS = 0x1030,
  CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
  CL_DEVICE_HOST_UNIFIED_MEMORY = 0x1035,
  CL_DEVICE_UUID_KHR = 0x106A,         /* cl_khr_device_uuid */
  CL_DEVICE_PCI_BUS_INFO_KHR = 0x410F, /* cl_khr_pci_bus_info */
  CL_CONTEXT_PLATFORM = 0x1084,
  CL_QUEUE_CONTEXT = 0x1090,
  CL_QUEUE_DEVICE = 0x1091,
  CL_QUEUE_PROPERTIES = 0x1093,
  CL_QUEUE_PRIORITY_KHR = 0x1096, /* cl_khr_priority_hints */
  CL_PROGRAM_BINARY_SIZES = 0x1165,
  CL_PROGRAM_BINARIES = 0x1166,
  CL_PROGRAM_BUILD_LOG = 0x1183,
  CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
  CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
  CL_PROFILING_COMMAND_QUEUED = 0x1280,
  CL_PROFILING_COMMAND_START = 0x1282,
  CL_PROFILING_COMMAND_END = 0x1283
};
enum { CL_DEVICE_TYPE_CPU = 2, CL_DEVICE_TYPE_GPU = 4, CL_DEVICE_TYPE_ACCELERATOR = 8 };
enum { CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 128 };
enum { CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE = 1, CL_QUEUE_PROFILING_ENABLE = 2 };
enum { CL_QUEUE_PRIORITY_HIGH_KHR = 1, CL_QUEUE_PRIORITY_MED_KHR = 2, CL_QUEUE_PRIORITY_LOW_KHR = 4 };
enum { CL_MEM_READ_WRITE = 1, CL_MEM_READ_ONLY = 4, CL_MEM_USE_HOST_PTR = 8, CL_MEM_ALLOC_HOST_PTR = 16 };
enum { CL_MEM_SIZE = 0x1102, CL_MEM_CONTEXT = 0x1106, CL_BUFFER_CREATE_TYPE_REGION = 0x1220 };
enum { CL_MAP_READ = 1, CL_MAP_WRITE = 2 };
enum { CL_COMPLETE = 0, CL_QUEUED = 3 };

/* X(name, code): every error of the specification and of the extensions that loaders and drivers give. */
#define ND4C_CL_ERRORS(X)                                  \
  X(CL_DEVICE_NOT_FOUND, -1)                               \
  X(CL_DEVICE_NOT_AVAILABLE, -2)                           \
  X(CL_COMPILER_NOT_AVAILABLE, -3)                         \
  X(CL_MEM_OBJECT_ALLOCATION_FAILURE, -4)                  \
  X(CL_OUT_OF_RESOURCES, -5)                               \
  X(CL_OUT_OF_HOST_MEMORY, -6)                             \
  X(CL_PROFILING_INFO_NOT_AVAILABLE, -7)                   \
  X(CL_MEM_COPY_OVERLAP, -8)                               \
  X(CL_IMAGE_FORMAT_MISMATCH, -9)                          \
  X(CL_IMAGE_FORMAT_NOT_SUPPORTED, -10)                    \
  X(CL_BUILD_PROGRAM_FAILURE, -11)                         \
  X(CL_MAP_FAILURE, -12)                                   \
  X(CL_MISALIGNED_SUB_BUFFER_OFFSET, -13)                  \
  X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -14)     \
  X(CL_COMPILE_PROGRAM_FAILURE, -15)                       \
  X(CL_LINKER_NOT_AVAILABLE, -16)                          \
  X(CL_LINK_PROGRAM_FAILURE, -17)                          \
  X(CL_DEVICE_PARTITION_FAILED, -18)                       \
  X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, -19)                 \
  X(CL_INVALID_VALUE, -30)                                 \
  X(CL_INVALID_DEVICE_TYPE, -31)                           \
  X(CL_INVALID_PLATFORM, -32)                              \
  X(CL_INVALID_DEVICE, -33)                                \
  X(CL_INVALID_CONTEXT, -34)                               \
  X(CL_INVALID_QUEUE_PROPERTIES, -35)                      \
  X(CL_INVALID_COMMAND_QUEUE, -36)                         \
  X(CL_INVALID_HOST_PTR, -37)                              \
  X(CL_INVALID_MEM_OBJECT, -38)                            \
  X(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, -39)               \
  X(CL_INVALID_IMAGE_SIZE, -40)                            \
  X(CL_INVALID_SAMPLER, -41)                               \
  X(CL_INVALID_BINARY, -42)                                \
  X(CL_INVALID_BUILD_OPTIONS, -43)                         \
  X(CL_INVALID_PROGRAM, -44)                               \
  X(CL_INVALID_PROGRAM_EXECUTABLE, -45)                    \
  X(CL_INVALID_KERNEL_NAME, -46)                           \
  X(CL_INVALID_KERNEL_DEFINITION, -47)                     \
  X(CL_INVALID_KERNEL, -48)                                \
  X(CL_INVALID_ARG_INDEX, -49)                             \
  X(CL_INVALID_ARG_VALUE, -50)                             \
  X(CL_INVALID_ARG_SIZE, -51)                              \
  X(CL_INVALID_KERNEL_ARGS, -52)                           \
  X(CL_INVALID_WORK_DIMENSION, -53)                        \
  X(CL_INVALID_WORK_GROUP_SIZE, -54)                       \
  X(CL_INVALID_WORK_ITEM_SIZE, -55)                        \
  X(CL_INVALID_GLOBAL_OFFSET, -56)                         \
  X(CL_INVALID_EVENT_WAIT_LIST, -57)                       \
  X(CL_INVALID_EVENT, -58)                                 \
  X(CL_INVALID_OPERATION, -59)                             \
  X(CL_INVALID_GL_OBJECT, -60)                             \
  X(CL_INVALID_BUFFER_SIZE, -61)                           \
  X(CL_INVALID_MIP_LEVEL, -62)                             \
  X(CL_INVALID_GLOBAL_WORK_SIZE, -63)                      \
  X(CL_INVALID_PROPERTY, -64)                              \
  X(CL_INVALID_IMAGE_DESCRIPTOR, -65)                      \
  X(CL_INVALID_COMPILER_OPTIONS, -66)                      \
  X(CL_INVALID_LINKER_OPTIONS, -67)                        \
  X(CL_INVALID_DEVICE_PARTITION_COUNT, -68)                \
  X(CL_INVALID_PIPE_SIZE, -69)                             \
  X(CL_INVALID_DEVICE_QUEUE, -70)                          \
  X(CL_INVALID_SPEC_ID, -71)                               \
  X(CL_MAX_SIZE_RESTRICTION_EXCEEDED, -72)                 \
  X(CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR, -1000)         \
  X(CL_PLATFORM_NOT_FOUND_KHR, -1001)                      \
  X(CL_INVALID_D3D10_DEVICE_KHR, -1002)                    \
  X(CL_INVALID_D3D10_RESOURCE_KHR, -1003)                  \
  X(CL_D3D10_RESOURCE_ALREADY_ACQUIRED_KHR, -1004)         \
  X(CL_D3D10_RESOURCE_NOT_ACQUIRED_KHR, -1005)             \
  X(CL_INVALID_D3D11_DEVICE_KHR, -1006)                    \
  X(CL_INVALID_D3D11_RESOURCE_KHR, -1007)                  \
  X(CL_D3D11_RESOURCE_ALREADY_ACQUIRED_KHR, -1008)         \
  X(CL_D3D11_RESOURCE_NOT_ACQUIRED_KHR, -1009)             \
  X(CL_INVALID_DX9_MEDIA_ADAPTER_KHR, -1010)               \
  X(CL_INVALID_DX9_MEDIA_SURFACE_KHR, -1011)               \
  X(CL_DX9_MEDIA_SURFACE_ALREADY_ACQUIRED_KHR, -1012)      \
  X(CL_DX9_MEDIA_SURFACE_NOT_ACQUIRED_KHR, -1013)          \
  X(CL_DEVICE_PARTITION_FAILED_EXT, -1057)                 \
  X(CL_INVALID_PARTITION_COUNT_EXT, -1058)                 \
  X(CL_INVALID_PARTITION_NAME_EXT, -1059)                  \
  X(CL_INVALID_EGL_OBJECT_KHR, -1093)                      \
  X(CL_EGL_RESOURCE_NOT_ACQUIRED_KHR, -1092)               \
  X(CL_INVALID_ACCELERATOR_INTEL, -1094)                   \
  X(CL_INVALID_ACCELERATOR_TYPE_INTEL, -1095)              \
  X(CL_INVALID_ACCELERATOR_DESCRIPTOR_INTEL, -1096)        \
  X(CL_ACCELERATOR_TYPE_NOT_SUPPORTED_INTEL, -1097)        \
  X(CL_INVALID_VA_API_MEDIA_ADAPTER_INTEL, -1098)          \
  X(CL_INVALID_VA_API_MEDIA_SURFACE_INTEL, -1099)          \
  X(CL_VA_API_MEDIA_SURFACE_ALREADY_ACQUIRED_INTEL, -1100) \
  X(CL_VA_API_MEDIA_SURFACE_NOT_ACQUIRED_INTEL, -1101)     \
  X(CL_CONTEXT_TERMINATED_KHR, -1121)

enum {
  CL_SUCCESS = 0,
#define ND4C_CL_ERROR_ENUM(name, code) name = code,
  ND4C_CL_ERRORS(ND4C_CL_ERROR_ENUM)
#undef ND4C_CL_ERROR_ENUM
};

#define CL_WAITS cl_uint, const cl_event *
/* X(result, name, parameters): required functions of the ICD loader; a library that lacks one is refused. */
#define ND4C_CL_SYMBOLS(X)                                                                                          \
  X(cl_int, clGetPlatformIDs, (cl_uint, cl_platform_id *, cl_uint *))                                               \
  X(cl_int, clGetPlatformInfo, (cl_platform_id, cl_uint, size_t, void *, size_t *))                                 \
  X(cl_int, clGetDeviceIDs, (cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *))                      \
  X(cl_int, clGetDeviceInfo, (cl_device_id, cl_uint, size_t, void *, size_t *))                                     \
  X(cl_context, clCreateContext,                                                                                    \
    (const cl_context_properties *, cl_uint, const cl_device_id *,                                                  \
     void (*)(const char *, const void *, size_t, void *), void *, cl_int *))                                       \
  X(cl_int, clReleaseContext, (cl_context))                                                                         \
  X(cl_command_queue, clCreateCommandQueue, (cl_context, cl_device_id, cl_bitfield, cl_int *))                      \
  X(cl_int, clReleaseCommandQueue, (cl_command_queue))                                                              \
  X(cl_mem, clCreateBuffer, (cl_context, cl_bitfield, size_t, void *, cl_int *))                                    \
  X(cl_mem, clCreateSubBuffer, (cl_mem, cl_bitfield, cl_uint, const void *, cl_int *))                              \
  X(cl_int, clRetainMemObject, (cl_mem))                                                                            \
  X(cl_int, clReleaseMemObject, (cl_mem))                                                                           \
  X(cl_int, clGetMemObjectInfo, (cl_mem, cl_uint, size_t, void *, size_t *))                                        \
  X(cl_int, clEnqueueReadBuffer, (cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, CL_WAITS, cl_event *)) \
  X(cl_int, clEnqueueWriteBuffer,                                                                                   \
    (cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, CL_WAITS, cl_event *))                        \
  X(cl_int, clEnqueueCopyBuffer, (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, CL_WAITS, cl_event *))  \
  X(cl_int, clEnqueueFillBuffer,                                                                                    \
    (cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, CL_WAITS, cl_event *))                         \
  X(void *, clEnqueueMapBuffer,                                                                                     \
    (cl_command_queue, cl_mem, cl_bool, cl_bitfield, size_t, size_t, CL_WAITS, cl_event *, cl_int *))               \
  X(cl_int, clEnqueueUnmapMemObject, (cl_command_queue, cl_mem, void *, CL_WAITS, cl_event *))                      \
  X(cl_program, clCreateProgramWithSource, (cl_context, cl_uint, const char **, const size_t *, cl_int *))          \
  X(cl_program, clCreateProgramWithBinary,                                                                          \
    (cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **, cl_int *, cl_int *))        \
  X(cl_int, clBuildProgram,                                                                                         \
    (cl_program, cl_uint, const cl_device_id *, const char *, void (*)(cl_program, void *), void *))                \
  X(cl_int, clGetProgramInfo, (cl_program, cl_uint, size_t, void *, size_t *))                                      \
  X(cl_int, clGetProgramBuildInfo, (cl_program, cl_device_id, cl_uint, size_t, void *, size_t *))                   \
  X(cl_int, clReleaseProgram, (cl_program))                                                                         \
  X(cl_kernel, clCreateKernel, (cl_program, const char *, cl_int *))                                                \
  X(cl_int, clReleaseKernel, (cl_kernel))                                                                           \
  X(cl_int, clSetKernelArg, (cl_kernel, cl_uint, size_t, const void *))                                             \
  X(cl_int, clGetKernelWorkGroupInfo, (cl_kernel, cl_device_id, cl_uint, size_t, void *, size_t *))                 \
  X(cl_int, clEnqueueNDRangeKernel,                                                                                 \
    (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, CL_WAITS, cl_event *))   \
  X(cl_int, clEnqueueMarkerWithWaitList, (cl_command_queue, CL_WAITS, cl_event *))                                  \
  X(cl_int, clEnqueueBarrierWithWaitList, (cl_command_queue, CL_WAITS, cl_event *))                                 \
  X(cl_int, clGetEventInfo, (cl_event, cl_uint, size_t, void *, size_t *))                                          \
  X(cl_int, clWaitForEvents, (cl_uint, const cl_event *))                                                           \
  X(cl_int, clRetainEvent, (cl_event))                                                                              \
  X(cl_int, clReleaseEvent, (cl_event))                                                                             \
  X(cl_int, clFlush, (cl_command_queue))                                                                            \
  X(cl_int, clFinish, (cl_command_queue))

/* The same for optional functions, without which a part of the backend is missing; NULL if the library lacks them. */
#define ND4C_CL_OPTIONAL_SYMBOLS(X)                                                       \
  X(cl_int, clRetainCommandQueue, (cl_command_queue))                                     \
  X(cl_int, clGetCommandQueueInfo, (cl_command_queue, cl_uint, size_t, void *, size_t *)) \
  X(cl_int, clGetEventProfilingInfo, (cl_event, cl_uint, size_t, void *, size_t *))       \
  X(cl_command_queue, clCreateCommandQueueWithProperties,                                 \
    (cl_context, cl_device_id, const cl_ulong *, cl_int *)) /* OpenCL 2.0 */

/* The functions, set by nd4c_cl_loader_open. */
typedef struct nd4c_cl_api {
#define ND4C_CL_MEMBER(result, name, parameters) result(*name) parameters;
  ND4C_CL_SYMBOLS(ND4C_CL_MEMBER)
  ND4C_CL_OPTIONAL_SYMBOLS(ND4C_CL_MEMBER)
#undef ND4C_CL_MEMBER
} nd4c_cl_api;
extern nd4c_cl_api nd4c_cl;

#endif
