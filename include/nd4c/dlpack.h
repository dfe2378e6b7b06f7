/* Exchange of arrays with other libraries through DLPack 1.x. Programs include this header beside nd4c.h; the
 * structures have the layout of DLPack's specification. */
#ifndef ND4C_DLPACK_H
#define ND4C_DLPACK_H

#include "nd4c/array.h"

ND4C_EXTERN_C_BEGIN

/* DLPack's structures, declared here under nd4c's names so that DLPack's header may be included beside this one. They
 * are binary compatible with DLDevice, DLDataType, DLTensor and DLManagedTensorVersioned 1.0. */
typedef struct nd4c_dl_device {
  int32_t device_type; /* 1: CPU; nd4c_device_info.dlpack_type has a device's number */
  int32_t device_id;
} nd4c_dl_device;

typedef struct nd4c_dl_dtype {
  uint8_t code; /* 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool; of 1.1: 10 .. 14 float8, 17 float4 */
  uint8_t bits;
  uint16_t lanes;
} nd4c_dl_dtype;

typedef struct nd4c_dl_tensor {
  void *data;
  nd4c_dl_device device;
  int32_t ndim;
  nd4c_dl_dtype dtype;
  int64_t *shape;
  int64_t *strides; /* elements, NULL: C-contiguous */
  uint64_t byte_offset;
} nd4c_dl_tensor;

typedef struct nd4c_dl_managed {
  uint32_t version_major, version_minor;
  void *manager_ctx;
  void (*deleter)(struct nd4c_dl_managed *self);
  uint64_t flags; /* 1: read-only, 2: copied */
  nd4c_dl_tensor tensor;
} nd4c_dl_managed;

/* Takes ownership of a tensor, without a copy; nd4c calls its deleter after the last use. If this fails, the caller
 * still owns the tensor. The tensor's memory is the host's (CPU), or that of an open device that imports device
 * pointers (external.h); the tensor names the device by its DLPack type and index. Before the call, the caller waits
 * for all other work on the memory. int4, int2 and float4 are packed, the first element in the lowest bits; DLPack's
 * padded form is refused. UNSUPPORTED for other devices, for lanes, and for versions with another major number; other
 * errors as nd4c_array_from_external. */
ND4C_API nd4c_status nd4c_array_from_dlpack(nd4c_dl_managed *managed, nd4c_array **out);
/* Exports an array as host memory, which the consumer shares until it calls the deleter. Waits for pending work and
 * first copies the contents to the host if they are on another device. DTYPE for utf8. */
ND4C_API nd4c_status nd4c_array_to_dlpack(nd4c_array *array, nd4c_dl_managed **managed);
/* As nd4c_array_to_dlpack, but exports memory of `device`, with that device's DLPack type and index. The pointer is for
 * libraries that compute on the device; the host must not dereference it unless the device is host_readable. The
 * contents are first copied to the device if necessary, and stay there as long as the array lives. UNSUPPORTED: the
 * device has no addresses. NULL_ARGUMENT, HANDLE; the failure of the copy. */
ND4C_API nd4c_status nd4c_array_to_dlpack_on(nd4c_array *array, nd4c_device *device, nd4c_dl_managed **managed);

ND4C_EXTERN_C_END
#endif
