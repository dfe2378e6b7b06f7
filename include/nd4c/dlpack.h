/* Exchange of arrays with other libraries through DLPack 1.x (structures as its specification lays them out). */
#ifndef ND4C_DLPACK_H
#define ND4C_DLPACK_H

#include "nd4c/array.h"

ND4C_EXTERN_C_BEGIN

/* DLPack's structures, declared here under nd4c's names so that its own header may be included beside this one. They
 * are binary compatible with DLDevice, DLDataType, DLTensor and DLManagedTensorVersioned 1.0. */
typedef struct nd4c_dl_device {
  int32_t device_type; /* 1: CPU; nd4c_device_info.dlpack_type tells that of a device */
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

/* int4, int2 and float4 are packed, the first element in the lowest bits (DLPack's padded form is refused).
 * Takes over a tensor without a copy; its deleter is called when the last use is gone. If this fails the caller still
 * owns it. Host memory (CPU), or memory of an open device that imports device pointers (external.h), by that device's
 * DLPack type and index; work of others on it has ended. UNSUPPORTED for other devices, lanes, or versions with another
 * major number; as nd4c_array_from_external. */
ND4C_API nd4c_status nd4c_array_from_dlpack(nd4c_dl_managed *managed, nd4c_array **out);
/* Gives an array out as host memory, which it shares from then on; the consumer calls the deleter. The contents are
 * copied to the host first if they are elsewhere. DTYPE for utf8; waits for pending work. */
ND4C_API nd4c_status nd4c_array_to_dlpack(nd4c_array *array, nd4c_dl_managed **managed);
/* The same as memory of `device`, under its own type and index: a pointer for those who compute there, which the host
 * must not read unless the device is host_readable. The contents are copied to the device first if they are elsewhere,
 * and stay there as long as the array lives. UNSUPPORTED: the device has no addresses. NULL_ARGUMENT, HANDLE; what
 * copying fails with. */
ND4C_API nd4c_status nd4c_array_to_dlpack_on(nd4c_array *array, nd4c_device *device, nd4c_dl_managed **managed);

ND4C_EXTERN_C_END
#endif
