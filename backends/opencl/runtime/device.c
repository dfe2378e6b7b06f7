/* The device functions of the ABI: opening and describing devices, and the table of all device operations. backend.c
 * gives the table to the registry; src calls it through device/driver.h. */
#include <stdio.h>
#include <string.h>

#include "backends/opencl/runtime/device.h"

/* -- opening --------------------------------------------------------------------------------------------- */

static nd4c_status make_context(nd4c_cl_device *device) {
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)device->platform, 0};
  cl_int code = CL_SUCCESS;
  device->context = nd4c_cl.clCreateContext(properties, 1, &device->id, NULL, NULL, &code);
  if (code != CL_SUCCESS) {
    device->context = NULL;
    return nd4c_cl_fail_opening(device, "clCreateContext", code);
  }
  return device->context != NULL ? ND4C_OK : nd4c_cl_fail_nothing(device, "clCreateContext", "no context");
}

bool nd4c_cl_queues_reorder(const nd4c_cl_device *device) {
  char order[32];
  return nd4c_cl_host->config("nd4c.opencl.queue", order, sizeof order) && device->can_reorder &&
         strcmp(order, "out_of_order") == 0;
}

static nd4c_status device_open(int32_t index, void **out) {
  nd4c_cl_device *device = nd4c_cl_device_at(index);
  if (device == NULL) {
    return nd4c_cl_host->fail(ND4C_INDEX, "opencl: there is no device %d: there are %d", (int)index,
                              (int)nd4c_cl_device_count());
  }
  nd4c_status status = device->refusal == ND4C_OK ? ND4C_OK : nd4c_cl_device_read(device);
  status = status == ND4C_OK ? make_context(device) : status;
  if (status != ND4C_OK) {
    return status;
  }
  device->out_of_order = nd4c_cl_queues_reorder(device);
  (void)snprintf(device->base_options, sizeof device->base_options, "-cl-std=CL1.2%s%s",
                 device->exact_division ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
                 device->limits.has_fp64 ? " -D HAS_FP64=1" : "");
  device->own_declarations = device->is_pocl;
  device->program_lock = device->order_lock = device->stream_lock = device->pinned_lock = (nd4c_host_lock){0};
  *out = device;
  return ND4C_OK;
}

static void device_close(void *handle) {
  nd4c_cl_device *device = handle;
  nd4c_cl_pinned_close(device);
  nd4c_cl_programs_close(device);
  (void)nd4c_cl.clReleaseContext(device->context);
  device->context = NULL;
  nd4c_cl_host->threads->lock_destroy(&device->program_lock);
  nd4c_cl_host->threads->lock_destroy(&device->order_lock);
  nd4c_cl_host->threads->lock_destroy(&device->stream_lock);
  nd4c_cl_host->threads->lock_destroy(&device->pinned_lock);
}

/* -- describing ------------------------------------------------------------------------------------------ */

static nd4c_dtype_set usable_dtypes(const nd4c_cl_device *device) {
  char reason[ND4C_CL_REASON];
  nd4c_dtype_set set = 0;
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    set |= nd4c_cl_dtype_usable(device, dtype, reason, sizeof reason) ? ND4C_DTYPE_BIT(dtype) : 0;
  }
  return set;
}

static nd4c_status describe(void *handle, nd4c_device_description *description) {
  nd4c_cl_device *device = handle;
  description->description = device->description;
  description->type = ND4C_DEVICE_OPENCL;
  description->addressable = description->host_readable = false;
  description->asynchronous = true;
  description->memory_bytes = device->memory_bytes;
  description->width = device->limits.compute_units;
  description->alignment = 64;
  if (ND4C_HAS_FIELD(description, native)) {
    description->vendor = device->vendor;
    description->driver = device->driver;
    description->dtypes = usable_dtypes(device);
    description->host_processor = device->limits.is_cpu;
    description->unified_memory = device->unified_memory;
    description->has_native = true;
    description->native = device->id;
  }
  if (ND4C_HAS_FIELD(description, largest_bytes)) {
    description->largest_bytes = device->limits.buffer_bytes;
  }
  if (ND4C_HAS_FIELD(description, capability)) {
    description->has_uuid = device->has_uuid;
    memcpy(description->uuid, device->uuid, sizeof description->uuid);
    description->pci = device->pci[0] != '\0' ? device->pci : NULL;
    description->capability = device->capability;
    description->memory_kinds = ND4C_MEMORY_KIND_BIT(ND4C_MEMORY_KIND_HOST_PINNED);
  }
  if (ND4C_HAS_FIELD(description, exports)) {
    description->exports = ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_NATIVE);
    description->imports = description->exports | ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_HOST_POINTER);
  }
  if (ND4C_HAS_FIELD(description, greatest_priority) && device->has_priorities &&
      nd4c_cl.clCreateCommandQueueWithProperties != NULL) {
    description->least_priority = -1;
    description->greatest_priority = 1;
  }
  if (ND4C_HAS_FIELD(description, tells_points)) {
    description->tells_points = true;
  }
  return ND4C_OK;
}

const nd4c_device_ops nd4c_cl_device_ops = {
    .struct_size = ND4C_SIZE_OF(nd4c_device_ops),
    .device_open = device_open,
    .device_close = device_close,
    .describe = describe,
    .buffers = &nd4c_cl_buffer_ops,
    .copy_from_host = nd4c_cl_copy_from_host,
    .copy_to_host = nd4c_cl_copy_to_host,
    .copy_within = nd4c_cl_copy_within,
    .stream_create = nd4c_cl_stream_create,
    .stream_destroy = nd4c_cl_stream_destroy,
    .stream_wait_fence = nd4c_cl_stream_wait_fence,
    .fence_record = nd4c_cl_fence_record,
    .fence_query = nd4c_cl_fence_query,
    .fence_wait = nd4c_cl_fence_wait,
    .fence_destroy = nd4c_cl_fence_destroy,
    .synchronize = nd4c_cl_synchronize,
    .stream_native = nd4c_cl_stream_native,
    .fill = nd4c_cl_buffer_fill,
    .external = &nd4c_cl_external_ops,
    .stream_create_with = nd4c_cl_stream_create_with,
    .stream_wrap = nd4c_cl_stream_wrap,
    .timing = &nd4c_cl_timing_ops,
    .fence_failure = nd4c_cl_fence_failure,
};
