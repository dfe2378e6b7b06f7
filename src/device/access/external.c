/* Arrays over external memory, and exporting arrays' memory: implements nd4c/external.h. Programs and the Python
 * package call it, and dlpack.c for memory of devices. */
#include "device/access/external.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/storage/imported.h"
#include "device/storage/pinning.h"
#include "device/storage/storage.h"

enum { NAMES_SIZE = 96 };

/* "host pointer, descriptor" for a set, "nothing" for none. */
static const char *set_names(uint32_t set, char *text) {
  size_t used = 0;
  for (nd4c_external_kind kind = ND4C_EXTERNAL_HOST_POINTER; kind <= ND4C_EXTERNAL_NATIVE; kind++) {
    if ((set & ND4C_EXTERNAL_BIT(kind)) != 0) {
      used +=
          (size_t)snprintf(text + used, NAMES_SIZE - used, "%s%s", used > 0 ? ", " : "", nd4c_external_kind_name(kind));
    }
  }
  return used > 0 ? text : "nothing";
}

static nd4c_status check_known(nd4c_external_kind kind) {
  return kind >= ND4C_EXTERNAL_HOST_POINTER && kind <= ND4C_EXTERNAL_NATIVE
             ? ND4C_OK
             : nd4c_fail(ND4C_ARGUMENT, "kind is %d, expected one of nd4c_external_kind", (int)kind);
}

/* -- from external memory ------------------------------------------------------------------------------------------ */

static bool is_pointer(nd4c_external_kind kind) {
  return kind == ND4C_EXTERNAL_HOST_POINTER || kind == ND4C_EXTERNAL_DEVICE_POINTER;
}

/* Checks the struct's size, then whether the device imports the kind. */
static nd4c_status check_kind(const nd4c_device *device, const nd4c_external *external) {
  char names[NAMES_SIZE];
  if (!ND4C_HAS_FIELD(external, user)) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_external)", external->struct_size);
  }
  ND4C_TRY(check_known(external->kind));
  return nd4c_device_imports(device, external->kind)
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED, "%s imports no %s; it imports: %s", device->name,
                         nd4c_external_kind_name(external->kind), set_names(device->description.imports, names));
}

static nd4c_status check_numbers(const nd4c_external *e) {
  int64_t end = 0;
  if (e->kind != ND4C_EXTERNAL_DESCRIPTOR && e->pointer == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "pointer is NULL");
  }
  if (e->kind == ND4C_EXTERNAL_DESCRIPTOR && e->descriptor < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "descriptor is %d, expected 0 or more", (int)e->descriptor);
  }
  if (e->offset < 0 || (is_pointer(e->kind) && e->offset != 0)) {
    return nd4c_fail(ND4C_ARGUMENT, "offset is %lld, expected %s", (long long)e->offset,
                     is_pointer(e->kind) ? "0 with a pointer" : "0 or more");
  }
  if (e->bytes <= 0) {
    return nd4c_fail(ND4C_ARGUMENT, "bytes is %lld, expected 1 or more", (long long)e->bytes);
  }
  if (!nd4c_checked_add(e->offset, e->bytes, &end) ||
      (is_pointer(e->kind) && (uint64_t)e->bytes > UINTPTR_MAX - (uintptr_t)e->pointer)) {
    return nd4c_fail(ND4C_OVERFLOW, "%lld bytes end beyond what addresses can express", (long long)e->bytes);
  }
  if (!nd4c_driver_is_alignment(e->alignment)) {
    return nd4c_fail(ND4C_ARGUMENT, "alignment is %lld, expected a power of two of at most %lld, or 0",
                     (long long)e->alignment, (long long)ND4C_DRIVER_ALIGNMENT);
  }
  return ND4C_OK;
}

/* Derives the alignment from address or offset. The first byte must have the claimed alignment and the dtype's. */
static nd4c_status settle_alignment(nd4c_external *e, nd4c_dtype dtype) {
  enum { MOST = 4096 };
  const uint64_t place = is_pointer(e->kind) ? (uint64_t)(uintptr_t)e->pointer : (uint64_t)e->offset;
  const int64_t needed = nd4c_dtype_get_info(dtype)->alignment;
  const int64_t shown = (int64_t)((place | MOST) & -(place | MOST));
  if (e->alignment > shown && (place & (uint64_t)(e->alignment - 1)) != 0) {
    return nd4c_fail(ND4C_ARGUMENT, "memory at 0x%llx does not have the claimed alignment of %lld bytes",
                     (unsigned long long)place, (long long)e->alignment);
  }
  e->alignment = e->alignment != 0 ? e->alignment : shown;
  return shown >= needed ? ND4C_OK
                         : nd4c_fail(ND4C_ARGUMENT, "memory at 0x%llx is not aligned to %lld bytes as %s needs",
                                     (unsigned long long)place, (long long)needed, nd4c_dtype_name(dtype));
}

/* Every element must lie within the memory. */
static nd4c_status check_bounds(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const int64_t *strides,
                                int64_t offset, int64_t bytes) {
  int64_t size = 0, low = 0, high = 0, ignored = 0;
  ND4C_TRY(nd4c_shape_bytes(dtype, rank, shape, &ignored));
  ND4C_TRY(nd4c_shape_size(dtype, rank, shape, &size));
  high = size - 1;
  const bool strided = strides != NULL && nd4c_dtype_size(dtype) > 0; /* packed dtypes are in C order alone */
  const bool fits = (!strided || nd4c_layout_bounds(rank, shape, strides, &low, &high)) &&
                    nd4c_checked_add(low, offset, &low) && nd4c_checked_add(high, offset, &high);
  if (!fits) {
    return nd4c_fail(ND4C_OVERFLOW, "the strides reach beyond what addresses can express");
  }
  const int64_t room = nd4c_dtype_elements(dtype, bytes);
  return offset >= 0 && offset <= room && low >= 0 && high < room
             ? ND4C_OK
             : nd4c_fail(ND4C_INDEX, "elements %lld to %lld of memory that has %lld of %s", (long long)low,
                         (long long)high, (long long)room, nd4c_dtype_name(dtype));
}

static nd4c_status import_array(nd4c_device *device, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                                const int64_t *strides, int64_t offset, const nd4c_external *external,
                                nd4c_array **out) {
  ND4C_TRY(check_kind(device, external));
  nd4c_external taken = *external;
  if (dtype == ND4C_UTF8) {
    return nd4c_fail(ND4C_DTYPE, "utf8 arrays are made by nd4c_array_from_strings");
  }
  ND4C_TRY(check_numbers(&taken));
  ND4C_TRY(check_bounds(dtype, rank, shape, strides, offset, taken.bytes));
  ND4C_TRY(settle_alignment(&taken, dtype));
  taken.struct_size = ND4C_SIZE_OF(nd4c_external);
  taken.release = NULL;
  taken.user = NULL;
  nd4c_storage *storage = NULL;
  ND4C_TRY(nd4c_storage_import(device, dtype, &taken, &storage));
  ND4C_TRY(nd4c_array_make_of(dtype, rank, shape, strides, offset, storage, out));
  nd4c_storage_set_release(storage, external->release, external->user); /* set last, because release must not be called
                                                                           if importing fails */
  return ND4C_OK;
}

nd4c_status nd4c_array_from_external(nd4c_device *device, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                                     const int64_t *strides, int64_t offset, const nd4c_external *external,
                                     nd4c_array **out) {
  ND4C_TRY(nd4c_device_check(device, "nd4c_array_from_external"));
  if (external == NULL || out == NULL || (shape == NULL && rank > 0)) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_array_from_external: %s is NULL",
                     external == NULL ? "external"
                     : out == NULL    ? "out"
                                      : "shape");
  }
  nd4c_status status = import_array(device, dtype, rank, shape, strides, offset, external, out);
  return status == ND4C_OK ? status : nd4c_device_fail_prefix(status, device, "on", "nd4c_array_from_external");
}

/* -- for others ---------------------------------------------------------------------------------------------------- */

/* An export, until its release. */
typedef struct given {
  nd4c_array *array;
  nd4c_release_callback release; /* the device's */
  void *user;
} given;

static void take_back(void *user) {
  given *g = user;
  if (g->release != NULL) {
    g->release(g->user);
  }
  nd4c_array_release(g->array);
  nd4c_recycle_give(g, sizeof *g);
}

static nd4c_status name_memory(nd4c_device *device, const nd4c_replica_view *view, nd4c_external *made) {
  if (is_pointer(made->kind)) {
    made->pointer = view->address;
    return ND4C_OK;
  }
  if (view->buffer == NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "small arrays of %s have no buffer to export", device->name);
  }
  const int64_t bytes = made->bytes;
  made->bytes += view->offset;
  ND4C_TRY(nd4c_driver_export_memory(device, view->buffer, made));
  made->bytes = bytes;
  made->offset += view->offset;
  made->alignment = view->offset == 0 ? made->alignment : 0;
  return ND4C_OK;
}

/* Other replicas become invalid only after the device has exported the memory. */
static nd4c_status pin_and_name(nd4c_array *array, nd4c_device *device, nd4c_external *made) {
  nd4c_replica_view view;
  ND4C_TRY(nd4c_array_pin_place(array, device, &view));
  nd4c_status status = name_memory(device, &view, made);
  if (status != ND4C_OK) {
    nd4c_storage_unpin(array->storage, device);
    return status;
  }
  status = nd4c_array_pin_contents(array, device, &view);
  if (status != ND4C_OK && made->release != NULL) {
    made->release(made->user);
  }
  return status;
}

static nd4c_status export_array(nd4c_array *array, nd4c_device *device, nd4c_external *made) {
  given *g = nd4c_recycle_take(sizeof *g);
  if (g == NULL) {
    return nd4c_fail_memory("what was exported", sizeof *g);
  }
  const nd4c_status status = pin_and_name(array, device, made);
  if (status != ND4C_OK) {
    nd4c_recycle_give(g, sizeof *g);
    return status;
  }
  *g = (given){.array = nd4c_array_retain(array), .release = made->release, .user = made->user};
  made->release = take_back;
  made->user = g;
  return ND4C_OK;
}

static nd4c_status check_export(const nd4c_array *array, const nd4c_device *device, nd4c_external_kind kind,
                                const nd4c_external *external) {
  char names[NAMES_SIZE];
  if (!ND4C_HAS_FIELD(external, user)) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_external)", external->struct_size);
  }
  ND4C_TRY(check_known(kind));
  const uint32_t exports = nd4c_device_exports(device);
  if ((exports & ND4C_EXTERNAL_BIT(kind)) == 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s exports no %s; it exports: %s", device->name, nd4c_external_kind_name(kind),
                     set_names(exports, names));
  }
  if (array->dtype == ND4C_UTF8) {
    return nd4c_fail(ND4C_DTYPE, "strings are not shared");
  }
  return array->storage->bytes > 0 ? ND4C_OK : nd4c_fail(ND4C_ARGUMENT, "an array without elements has no memory");
}

nd4c_status nd4c_array_to_external(nd4c_array *array, nd4c_device *device, nd4c_external_kind kind,
                                   nd4c_external *external, int64_t *offset) {
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_to_external: array"));
  ND4C_TRY(nd4c_device_check(device, "nd4c_array_to_external"));
  if (external == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_array_to_external: external is NULL");
  }
  nd4c_external made = {.struct_size = ND4C_SIZE_OF(nd4c_external),
                        .kind = kind,
                        .descriptor = -1,
                        .bytes = array->storage->bytes,
                        .read_only = nd4c_array_is_read_only(array)};
  nd4c_status status = check_export(array, device, kind, external);
  status = status == ND4C_OK ? export_array(array, device, &made) : status;
  if (status != ND4C_OK) {
    return nd4c_device_fail_prefix(status, device, "on", "nd4c_array_to_external");
  }
  made.struct_size = external->struct_size;
  memcpy(external, &made, external->struct_size < sizeof made ? external->struct_size : sizeof made);
  if (offset != NULL) {
    *offset = array->offset;
  }
  return ND4C_OK;
}
