/* The list of devices of opened backends, and nd4c_device_get_info. device/registry adds devices; every public function
 * that gets a device checks it here; dispatch and graph/plan ask for a device's kernels and compilers. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "base/threads/parallel.h"
#include "device/device.h"
#include "device/registry/candidate.h"

/* Devices of opened backends, in the order of their opening. The first entry is reserved for the host, since
 * nd4c_device_at gives no index before the host is open. Written under the registry's lock, first the entry, then the
 * count, and read without a lock. */
enum { DEVICE_LIMIT = 256 };
static nd4c_device *_Atomic opened[DEVICE_LIMIT];
static _Atomic int32_t opened_count = 1;

/* The same devices in a hash table by address, with linear probing. Entries are never removed. */
enum { PLACES = 4 * DEVICE_LIMIT };
static const nd4c_device *_Atomic places[PLACES];

static uint32_t place_of(const nd4c_device *device) {
  return (uint32_t)(((uint64_t)(uintptr_t)device >> 4) * UINT64_C(0x9fb21c651e98df25) >> 32) % PLACES;
}

static void make_known(const nd4c_device *device) {
  uint32_t at = place_of(device);
  while (atomic_load(&places[at]) != NULL) {
    at = (at + 1) % PLACES;
  }
  atomic_store_explicit(&places[at], device, memory_order_release);
}

nd4c_status nd4c_devices_publish(nd4c_device *device) {
  int32_t known = atomic_load(&opened_count);
  const bool host = strcmp(device->name, ND4C_HOST_DEVICE) == 0;
  if (!host && known == DEVICE_LIMIT) {
    return nd4c_fail(ND4C_HARDWARE, "%s and those after it make more than %d devices", device->name, DEVICE_LIMIT);
  }
  atomic_store(&opened[host ? 0 : known], device);
  make_known(device);
  atomic_store_explicit(&opened_count, host ? known : known + 1, memory_order_release);
  return ND4C_OK;
}

nd4c_device *nd4c_devices_next(int32_t *position) {
  int32_t count = atomic_load_explicit(&opened_count, memory_order_acquire);
  nd4c_device *device = NULL;
  while (device == NULL && *position < count) {
    device = atomic_load(&opened[(*position)++]);
  }
  return device;
}

int32_t nd4c_devices_count(void) {
  return atomic_load_explicit(&opened_count, memory_order_acquire);
}

nd4c_device *nd4c_devices_at(int32_t index) {
  return atomic_load(&opened[index]);
}

bool nd4c_device_is_known(const nd4c_device *device) {
  uint32_t at = place_of(device);
  const nd4c_device *there = NULL;
  while ((there = atomic_load_explicit(&places[at], memory_order_acquire)) != device && there != NULL) {
    at = (at + 1) % PLACES;
  }
  return there != NULL;
}

nd4c_status nd4c_device_check(const nd4c_device *device, const char *function) {
  if (device == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: device is NULL", function);
  }
  return nd4c_device_is_known(device)
             ? ND4C_OK
             : nd4c_fail(ND4C_HANDLE, "%s: %p is not a device of an open backend: get one from nd4c_device_find",
                         function, (const void *)device);
}

bool nd4c_device_is_named(const nd4c_device *device) {
  const char *text = nd4c_error_message();
  size_t length = strlen(device->name);
  for (const char *at = strstr(text, device->name); at != NULL; at = strstr(at + 1, device->name)) {
    bool begins = at == text || !isalnum((unsigned char)at[-1]);
    if (begins && !isdigit((unsigned char)at[length])) { /* opencl:1 must not match opencl:10 */
      return true;
    }
  }
  return false;
}

nd4c_status nd4c_device_fail_prefix(nd4c_status code, const nd4c_device *device, const char *joint, const char *format,
                                    ...) {
  char what[256];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return nd4c_device_is_named(device) ? nd4c_fail_prefix(code, "%s", what)
                                      : nd4c_fail_prefix(code, "%s %s %s", what, joint, device->name);
}

int64_t nd4c_device_memory_bytes(const nd4c_device *device) {
  const nd4c_device_description *description = &device->description;
  return description->type == ND4C_DEVICE_CPU && description->memory_bytes == 0 ? nd4c_os_memory_bytes()
                                                                                : description->memory_bytes;
}

uint32_t nd4c_device_exports(const nd4c_device *device) {
  const nd4c_device_description *description = &device->description;
  return description->exports | (description->host_readable ? ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_HOST_POINTER) : 0) |
         (description->addressable ? ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_DEVICE_POINTER) : 0);
}

static const char *text_or_empty(const char *text) {
  return text != NULL ? text : "";
}

nd4c_status nd4c_device_get_info(const nd4c_device *device, nd4c_device_info *info) {
  enum { FIRST_SIZE = offsetof(nd4c_device_info, vendor) }; /* the struct's size in version 0.1 */
  ND4C_TRY(nd4c_device_check(device, "nd4c_device_get_info"));
  if (info == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_device_get_info: info is NULL");
  }
  if (info->struct_size < FIRST_SIZE) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_device_info)", info->struct_size);
  }
  const nd4c_device_description *description = &device->description;
  const nd4c_device_info filled = {
      .struct_size = info->struct_size,
      .name = device->name,
      .description = text_or_empty(description->description),
      .type = description->type,
      .index = device->index,
      .addressable = description->addressable,
      .host_readable = description->host_readable,
      .asynchronous = description->asynchronous,
      .memory_bytes = nd4c_device_memory_bytes(device),
      .width = description->type == ND4C_DEVICE_CPU ? nd4c_parallel_width() : description->width,
      .vendor = text_or_empty(description->vendor),
      .driver = text_or_empty(description->driver),
      .dtypes = description->dtypes,
      .host_processor = description->host_processor || description->type == ND4C_DEVICE_CPU,
      .unified_memory = description->unified_memory || description->type == ND4C_DEVICE_CPU,
      .native = description->native,
      .alignment = description->alignment,
      .priority = device->backend->priority,
      .largest_bytes = description->largest_bytes,
      .has_native = description->has_native,
      .uuid = device->uuid,
      .pci = text_or_empty(description->pci),
      .capability = text_or_empty(description->capability),
      .process_rank = device->process_rank,
      .process_count = device->process_count,
      .identity = device->identity,
      .dlpack_type = nd4c_device_dlpack_type(device),
      .imports = description->imports,
      .exports = nd4c_device_exports(device),
      .registers_host = device->ops->external != NULL && device->ops->external->host_register != NULL,
      .least_priority = description->least_priority,
      .greatest_priority = description->greatest_priority,
      .wraps_streams = description->asynchronous && device->ops->stream_wrap != NULL,
  };
  memcpy(info, &filled, info->struct_size < sizeof filled ? info->struct_size : sizeof filled);
  return ND4C_OK;
}

const nd4c_kernel *const *nd4c_device_kernels(const nd4c_device *device, nd4c_op op, int32_t *count) {
  return nd4c_compute_kernels(atomic_load_explicit(&device->compute, memory_order_acquire), op, count);
}

const nd4c_compiler *const *nd4c_device_compilers(const nd4c_device *device, int32_t *count) {
  return nd4c_compute_compilers(atomic_load_explicit(&device->compute, memory_order_acquire), count);
}
