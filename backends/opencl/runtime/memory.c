/* Buffers, of the device's memory and of page-locked host memory, and copies. device.c puts these functions into its
 * table; fault.c makes its buffers here. */
#include "backends/opencl/runtime/device.h"

static cl_mem make_memory(nd4c_cl_device *device, cl_bitfield flags, int64_t bytes, nd4c_status *status) {
  cl_int code = CL_SUCCESS;
  /* A buffer of no bytes is not possible; kernels that move words may touch the whole last one. */
  size_t size = bytes > 0 ? ((size_t)bytes + 15) / 16 * 16 : 16;
  cl_mem memory = nd4c_cl.clCreateBuffer(device->context, flags, size, NULL, &code);
  if (code != CL_SUCCESS) {
    *status = nd4c_cl_fail_allocation(device, "clCreateBuffer", code, bytes);
    return NULL;
  }
  *status = memory != NULL ? ND4C_OK : nd4c_cl_fail_nothing(device, "clCreateBuffer", "no buffer");
  return memory;
}

nd4c_status nd4c_cl_buffer_make(nd4c_cl_device *device, int64_t bytes, nd4c_buffer *out) {
  if (bytes < 0 || bytes > device->limits.buffer_bytes) {
    return nd4c_cl_host->fail(ND4C_MEMORY, "%s: a buffer of %lld bytes: the device's largest has %lld", device->name,
                              (long long)bytes, (long long)device->limits.buffer_bytes);
  }
  nd4c_buffer buffer = nd4c_cl_host->allocate(sizeof *buffer);
  if (buffer == NULL) {
    return nd4c_cl_host->fail(ND4C_MEMORY, "%s: no memory for a buffer's record", device->name);
  }
  nd4c_status status = ND4C_OK;
  buffer->memory = make_memory(device, CL_MEM_READ_WRITE, bytes, &status);
  buffer->bytes = bytes;
  if (status != ND4C_OK) {
    nd4c_cl_host->free(buffer);
    return status;
  }
  *out = buffer;
  return ND4C_OK;
}

void nd4c_cl_buffer_end(nd4c_cl_device *device, nd4c_buffer buffer) {
  nd4c_cl_buffer_forget(device, buffer);
  (void)nd4c_cl.clReleaseMemObject(buffer->memory);
  nd4c_cl_host->free(buffer);
}

/* -- copies ------------------------------------------------------------------------------------------------------- */

static nd4c_status check_range(const nd4c_cl_device *device, nd4c_buffer buffer, int64_t offset, int64_t bytes) {
  bool within = offset >= 0 && bytes >= 0 && bytes <= buffer->bytes && offset <= buffer->bytes - bytes;
  return within ? ND4C_OK
                : nd4c_cl_host->fail(ND4C_INTERNAL, "%s: bytes %lld to %lld of a buffer of %lld", device->name,
                                     (long long)offset, (long long)(offset + bytes), (long long)buffer->bytes);
}

nd4c_status nd4c_cl_copy_from_host(void *device, nd4c_stream stream, nd4c_buffer to, int64_t offset, const void *from,
                                   int64_t bytes) {
  nd4c_status status = check_range(device, to, offset, bytes);
  if (status != ND4C_OK || bytes == 0) {
    return status;
  }
  const nd4c_cl_use use = {to, ND4C_CL_WRITE};
  nd4c_cl_command c;
  nd4c_cl_command_begin(&c, stream, "clEnqueueWriteBuffer", NULL, 0, 1, &use);
  return nd4c_cl_command_end(&c, nd4c_cl.clEnqueueWriteBuffer(c.queue, to->memory, 0, (size_t)offset, (size_t)bytes,
                                                              from, c.wait_count, c.wait_list, &c.event));
}

nd4c_status nd4c_cl_copy_to_host(void *device, nd4c_stream stream, void *to, nd4c_buffer from, int64_t offset,
                                 int64_t bytes) {
  nd4c_status status = check_range(device, from, offset, bytes);
  if (status != ND4C_OK || bytes == 0) {
    return status;
  }
  const nd4c_cl_use use = {from, ND4C_CL_READ};
  nd4c_cl_command c;
  nd4c_cl_command_begin(&c, stream, "clEnqueueReadBuffer", NULL, 0, 1, &use);
  return nd4c_cl_command_end(&c, nd4c_cl.clEnqueueReadBuffer(c.queue, from->memory, 0, (size_t)offset, (size_t)bytes,
                                                             to, c.wait_count, c.wait_list, &c.event));
}

static nd4c_status copy(nd4c_stream stream, nd4c_buffer to, int64_t to_offset, nd4c_buffer from, int64_t from_offset,
                        int64_t bytes) {
  const nd4c_cl_use uses[2] = {{from, ND4C_CL_READ}, {to, ND4C_CL_WRITE}};
  nd4c_cl_command c;
  nd4c_cl_command_begin(&c, stream, "clEnqueueCopyBuffer", NULL, 0, 2, uses);
  return nd4c_cl_command_end(
      &c, nd4c_cl.clEnqueueCopyBuffer(c.queue, from->memory, to->memory, (size_t)from_offset, (size_t)to_offset,
                                      (size_t)bytes, c.wait_count, c.wait_list, &c.event));
}

nd4c_status nd4c_cl_copy_within(void *device, nd4c_stream stream, nd4c_buffer to, int64_t to_offset, nd4c_buffer from,
                                int64_t from_offset, int64_t bytes) {
  nd4c_status status = check_range(device, to, to_offset, bytes);
  status = status == ND4C_OK ? check_range(device, from, from_offset, bytes) : status;
  if (status != ND4C_OK || bytes == 0 || (to == from && to_offset == from_offset)) {
    return status;
  }
  return copy(stream, to, to_offset, from, from_offset, bytes);
}

nd4c_status nd4c_cl_enqueue_fill(nd4c_stream stream, const char *op, int64_t point, nd4c_buffer buffer, int64_t offset,
                                 int64_t bytes, const void *pattern, int32_t pattern_bytes) {
  const nd4c_cl_use use = {buffer, ND4C_CL_WRITE};
  nd4c_cl_command c;
  if (bytes == 0) {
    return ND4C_OK;
  }
  nd4c_cl_command_begin(&c, stream, "clEnqueueFillBuffer", op, point, 1, &use);
  return nd4c_cl_command_end(
      &c, nd4c_cl.clEnqueueFillBuffer(c.queue, buffer->memory, pattern, (size_t)pattern_bytes, (size_t)offset,
                                      (size_t)bytes, c.wait_count, c.wait_list, &c.event));
}

nd4c_status nd4c_cl_buffer_fill(void *device, nd4c_stream stream, nd4c_buffer buffer, int64_t offset, int64_t bytes,
                                const void *pattern, int32_t pattern_bytes) {
  nd4c_status status = check_range(device, buffer, offset, bytes);
  return status == ND4C_OK ? nd4c_cl_enqueue_fill(stream, NULL, 0, buffer, offset, bytes, pattern, pattern_bytes)
                           : status;
}

/* -- pinned memory ------------------------------------------------------------------------------------------------ */

/* A buffer that the driver puts where the device copies fastest, mapped as long as it lives. Under the pinned lock. */
static nd4c_status map(nd4c_cl_device *device, nd4c_buffer buffer) {
  cl_int code = CL_SUCCESS;
  if (device->pinned_queue == NULL) {
    device->pinned_queue = nd4c_cl.clCreateCommandQueue(device->context, device->id, 0, &code);
    if (code != CL_SUCCESS || device->pinned_queue == NULL) {
      device->pinned_queue = NULL;
      return code != CL_SUCCESS ? nd4c_cl_fail_opening(device, "clCreateCommandQueue", code)
                                : nd4c_cl_fail_nothing(device, "clCreateCommandQueue", "no queue");
    }
  }
  buffer->mapped = nd4c_cl.clEnqueueMapBuffer(device->pinned_queue, buffer->memory, 1, CL_MAP_READ | CL_MAP_WRITE, 0,
                                              (size_t)buffer->bytes, 0, NULL, NULL, &code);
  if (code != CL_SUCCESS) {
    buffer->mapped = NULL;
    return nd4c_cl_fail_allocation(device, "clEnqueueMapBuffer", code, buffer->bytes);
  }
  return buffer->mapped != NULL ? ND4C_OK : nd4c_cl_fail_nothing(device, "clEnqueueMapBuffer", "no address");
}

static nd4c_status pin(nd4c_cl_device *device, int64_t bytes, nd4c_buffer *out) {
  nd4c_buffer buffer = nd4c_cl_host->allocate(sizeof *buffer);
  if (buffer == NULL) {
    return nd4c_cl_host->fail(ND4C_MEMORY, "%s: no memory for a pinned block's record", device->name);
  }
  nd4c_status status = ND4C_OK;
  buffer->bytes = bytes;
  buffer->memory = make_memory(device, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, &status);
  if (status == ND4C_OK) {
    nd4c_cl_lock(&device->pinned_lock);
    status = map(device, buffer);
    nd4c_cl_unlock(&device->pinned_lock);
    if (status != ND4C_OK) {
      (void)nd4c_cl.clReleaseMemObject(buffer->memory);
    }
  }
  if (status != ND4C_OK) {
    nd4c_cl_host->free(buffer);
    return status;
  }
  *out = buffer;
  return ND4C_OK;
}

static void unpin(nd4c_cl_device *device, nd4c_buffer buffer) {
  nd4c_cl_lock(&device->pinned_lock);
  (void)nd4c_cl.clEnqueueUnmapMemObject(device->pinned_queue, buffer->memory, buffer->mapped, 0, NULL, NULL);
  (void)nd4c_cl.clFinish(device->pinned_queue);
  nd4c_cl_unlock(&device->pinned_lock);
}

void nd4c_cl_pinned_close(nd4c_cl_device *device) {
  if (device->pinned_queue != NULL) {
    (void)nd4c_cl.clReleaseCommandQueue(device->pinned_queue);
    device->pinned_queue = NULL;
  }
}

/* -- the table ---------------------------------------------------------------------------------------------------- */

static nd4c_status buffer_allocate(void *handle, const nd4c_buffer_descriptor *descriptor, nd4c_buffer *buffer) {
  nd4c_cl_device *device = handle;
  switch (descriptor->kind) {
    case ND4C_MEMORY_KIND_DEVICE:
      return nd4c_cl_buffer_make(device, descriptor->bytes, buffer);
    case ND4C_MEMORY_KIND_HOST_PINNED:
      return pin(device, descriptor->bytes, buffer);
    default:
      return nd4c_cl_host->fail(ND4C_UNSUPPORTED, "%s: memory of kind %d: expected the device's own or page-locked",
                                device->name, (int)descriptor->kind);
  }
}

/* Mapping makes the device's writes visible in the host's memory. */
static void show_host(nd4c_cl_device *device, nd4c_buffer buffer) {
  nd4c_cl_lock(&device->pinned_lock);
  nd4c_status status = map(device, buffer);
  nd4c_cl_unlock(&device->pinned_lock);
  if (status != ND4C_OK) {
    nd4c_cl_host->log(ND4C_CL_LOG_ERROR, "opencl", "imported memory may lack what was written last: %s",
                      nd4c_cl_host->error_message());
  }
}

static void buffer_free(void *device, nd4c_buffer buffer) {
  if (buffer->is_hosts) {
    show_host(device, buffer);
  }
  if (buffer->mapped != NULL) {
    unpin(device, buffer);
  }
  nd4c_cl_buffer_end(device, buffer);
}

static void *buffer_address(void *device, nd4c_buffer buffer) {
  (void)device;
  return buffer->mapped;
}

const nd4c_buffer_ops nd4c_cl_buffer_ops = {.struct_size = ND4C_SIZE_OF(nd4c_buffer_ops),
                                            .allocate = buffer_allocate,
                                            .free = buffer_free,
                                            .address = buffer_address};
