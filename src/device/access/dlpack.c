/* Exchange with other libraries through DLPack: implements nd4c/dlpack.h. Programs and the Python package call it;
 * external.c imports the memory of devices for it. */
#include "nd4c/dlpack.h"

#include <string.h>

#include "array/array.h"
#include "array/narrow.h"
#include "array/shape.h"
#include "base/alloc.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/access/external.h"
#include "device/provider/dlpack_types.h"
#include "device/storage/pinning.h"

enum { DL_VERSION_MAJOR = 1, DL_READ_ONLY = 1, DL_SUB_BYTE = 4 };
/* The type codes up to 6 are those of version 1.0, the narrow floats came with 1.1. */
enum {
  DL_INT = 0,
  DL_UINT = 1,
  DL_FLOAT = 2,
  DL_BFLOAT = 4,
  DL_COMPLEX = 5,
  DL_BOOL = 6,
  DL_FLOAT8_E4M3FN = 10,
  DL_FLOAT8_E4M3FNUZ = 11,
  DL_FLOAT8_E5M2 = 12,
  DL_FLOAT8_E5M2FNUZ = 13,
  DL_FLOAT8_E8M0FNU = 14,
  DL_FLOAT4_E2M1FN = 17
};

static uint8_t float_code(nd4c_dtype dtype) {
  switch (dtype) {
    case ND4C_BFLOAT16:
      return DL_BFLOAT;
    case ND4C_FLOAT8_E4M3FN:
      return DL_FLOAT8_E4M3FN;
    case ND4C_FLOAT8_E4M3FNUZ:
      return DL_FLOAT8_E4M3FNUZ;
    case ND4C_FLOAT8_E5M2:
      return DL_FLOAT8_E5M2;
    case ND4C_FLOAT8_E5M2FNUZ:
      return DL_FLOAT8_E5M2FNUZ;
    case ND4C_FLOAT8_E8M0FNU:
      return DL_FLOAT8_E8M0FNU;
    case ND4C_FLOAT4_E2M1FN:
      return DL_FLOAT4_E2M1FN;
    default:
      return DL_FLOAT;
  }
}

static nd4c_dl_dtype to_dl(nd4c_dtype dtype) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  uint8_t code = info->kind == ND4C_KIND_BOOL      ? DL_BOOL
                 : info->kind == ND4C_KIND_INT     ? DL_INT
                 : info->kind == ND4C_KIND_UINT    ? DL_UINT
                 : info->kind == ND4C_KIND_COMPLEX ? DL_COMPLEX
                                                   : float_code(dtype);
  return (nd4c_dl_dtype){.code = code, .bits = (uint8_t)info->bits, .lanes = 1};
}

static nd4c_status from_dl(nd4c_dl_dtype from, nd4c_dtype *dtype) {
  for (nd4c_dtype candidate = 1; candidate < ND4C_DTYPE_END; candidate++) {
    nd4c_dl_dtype row = to_dl(candidate);
    if (candidate != ND4C_UTF8 && from.lanes == 1 && row.code == from.code && row.bits == from.bits) {
      *dtype = candidate;
      return ND4C_OK;
    }
  }
  return nd4c_fail(ND4C_UNSUPPORTED, "DLPack: type code %u of %u bits and %u lanes has no dtype here", from.code,
                   from.bits, from.lanes);
}

static void delete_managed(void *user) {
  nd4c_dl_managed *managed = user;
  if (managed->deleter != NULL) {
    managed->deleter(managed);
  }
}

/* The device with this DLPack type and index, among those that import addresses; NULL: none, or several. */
static nd4c_device *find_device(nd4c_dl_device wanted) {
  nd4c_device *found = NULL, *device = NULL;
  int32_t position = 0, count = 0;
  while ((device = nd4c_devices_next(&position)) != NULL) {
    const bool is_it = nd4c_device_imports(device, ND4C_EXTERNAL_DEVICE_POINTER) &&
                       nd4c_device_dlpack_type(device) == wanted.device_type && device->index == wanted.device_id;
    found = is_it ? device : found;
    count += is_it;
  }
  return count == 1 ? found : NULL;
}

/* Over memory of a device. `data` is the address of element 0. */
static nd4c_status import_on(nd4c_device *device, nd4c_dtype dtype, nd4c_dl_managed *managed, char *data,
                             nd4c_array **out) {
  const nd4c_dl_tensor *tensor = &managed->tensor;
  int64_t first = 0, bytes = 0;
  ND4C_TRY(nd4c_layout_extent(dtype, tensor->ndim, tensor->shape, tensor->strides, &first, &bytes));
  if (bytes == 0) { /* nothing is shared */
    ND4C_TRY(nd4c_array_empty(dtype, tensor->ndim, tensor->shape, device, out));
    delete_managed(managed);
    return ND4C_OK;
  }
  const nd4c_external external = {.struct_size = ND4C_SIZE_OF(nd4c_external),
                                  .kind = ND4C_EXTERNAL_DEVICE_POINTER,
                                  .pointer = data != NULL ? data + first : NULL,
                                  .descriptor = -1,
                                  .read_only = (managed->flags & DL_READ_ONLY) != 0,
                                  .bytes = bytes,
                                  .release = delete_managed,
                                  .user = managed};
  const int64_t offset = first == 0 ? 0 : -first / nd4c_dtype_size(dtype);
  return nd4c_array_from_external(device, dtype, tensor->ndim, tensor->shape, tensor->strides, offset, &external, out);
}

nd4c_status nd4c_array_from_dlpack(nd4c_dl_managed *managed, nd4c_array **out) {
  if (managed == NULL || out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_array_from_dlpack: %s is NULL", managed == NULL ? "managed" : "out");
  }
  if (managed->version_major != DL_VERSION_MAJOR) {
    return nd4c_fail(ND4C_UNSUPPORTED, "DLPack: version %u.%u, expected %d.x", managed->version_major,
                     managed->version_minor, DL_VERSION_MAJOR);
  }
  const nd4c_dl_tensor *tensor = &managed->tensor;
  nd4c_device *device = tensor->device.device_type != DL_CPU ? find_device(tensor->device) : NULL;
  if (device == NULL && tensor->device.device_type != DL_CPU) {
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "DLPack: memory of device type %d, number %d: expected type %d (CPU) or that of one open device "
                     "that imports device pointers",
                     tensor->device.device_type, tensor->device.device_id, DL_CPU);
  }
  if ((managed->flags & DL_SUB_BYTE) != 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "DLPack: padded sub-byte types are not supported");
  }
  if (tensor->ndim < 0 || tensor->ndim > ND4C_MAX_RANK || (tensor->ndim > 0 && tensor->shape == NULL)) {
    return nd4c_fail(ND4C_SHAPE, "DLPack: %d axes%s, expected 0 to %d with a shape", tensor->ndim,
                     tensor->shape == NULL ? " without a shape" : "", ND4C_MAX_RANK);
  }
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(from_dl(tensor->dtype, &dtype));
  char *data = tensor->data != NULL ? (char *)tensor->data + tensor->byte_offset : NULL;
  if (device != NULL) {
    return import_on(device, dtype, managed, data, out);
  }
  return nd4c_array_wrap(dtype, tensor->ndim, tensor->shape, tensor->strides, data,
                         (managed->flags & DL_READ_ONLY) != 0, delete_managed, managed, out);
}

/* The objects that an exported tensor keeps alive. */
typedef struct dl_export {
  nd4c_dl_managed managed;
  nd4c_array *array;
} dl_export;

static void delete_export(nd4c_dl_managed *managed) {
  dl_export *exported = managed->manager_ctx;
  nd4c_array_release(exported->array);
  nd4c_recycle_give(exported, sizeof *exported);
}

static void *address_in(const nd4c_array *array, const nd4c_replica_view *view) {
  return view->address != NULL ? (char *)view->address + nd4c_array_offset_bytes(array) : NULL;
}

static nd4c_status export_on(nd4c_array *array, nd4c_device *device, nd4c_dl_managed **managed) {
  bool read_only = nd4c_array_is_read_only(array);
  nd4c_replica_view view;
  dl_export *exported = nd4c_recycle_take(sizeof *exported);
  if (exported == NULL) {
    return nd4c_fail_memory("a DLPack tensor", sizeof *exported);
  }
  nd4c_status status = nd4c_array_pin(array, device, &view);
  if (status != ND4C_OK) {
    nd4c_recycle_give(exported, sizeof *exported);
    return status;
  }
  exported->array = nd4c_array_retain(array);
  exported->managed = (nd4c_dl_managed){.version_major = DL_VERSION_MAJOR,
                                        .version_minor = nd4c_dtype_is_narrow(array->dtype) ? 1 : 0,
                                        .manager_ctx = exported,
                                        .deleter = delete_export,
                                        .flags = read_only ? DL_READ_ONLY : 0,
                                        .tensor = {.data = address_in(array, &view),
                                                   .device = {nd4c_device_dlpack_type(device), device->index},
                                                   .ndim = array->rank,
                                                   .dtype = to_dl(array->dtype),
                                                   .shape = array->shape,
                                                   .strides = array->strides}};
  *managed = &exported->managed;
  return ND4C_OK;
}

static nd4c_status check_export(const nd4c_array *array, nd4c_dl_managed *const *managed, const char *function) {
  if (managed == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: managed is NULL", function);
  }
  return array->dtype != ND4C_UTF8 ? ND4C_OK : nd4c_fail(ND4C_DTYPE, "%s: DLPack has no strings", function);
}

nd4c_status nd4c_array_to_dlpack(nd4c_array *array, nd4c_dl_managed **managed) {
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_to_dlpack: array"));
  ND4C_TRY(check_export(array, managed, "nd4c_array_to_dlpack"));
  ND4C_TRY(nd4c_device_host(&host));
  return export_on(array, host, managed);
}

nd4c_status nd4c_array_to_dlpack_on(nd4c_array *array, nd4c_device *device, nd4c_dl_managed **managed) {
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_to_dlpack_on: array"));
  ND4C_TRY(check_export(array, managed, "nd4c_array_to_dlpack_on"));
  ND4C_TRY(nd4c_device_check(device, "nd4c_array_to_dlpack_on"));
  if (!device->description.addressable) {
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "nd4c_array_to_dlpack_on: memory of %s has no addresses: nd4c_array_to_dlpack gives host memory",
                     device->name);
  }
  return export_on(array, device, managed);
}
