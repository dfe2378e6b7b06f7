/* External memory: host memory, which the driver uses in place, and the vendor's handles. device.c puts these
 * operations into its table; device/access/external.c imports and exports memory through them. */
#include "backends/opencl/runtime/device.h"

/* Kernels read vectors and whole words, as far as the end of the last one. */
enum { ALIGNMENT = 64, WORD = 16 };

static int64_t whole_words(int64_t bytes) {
  return (bytes + WORD - 1) / WORD * WORD;
}

/* -- the host's ---------------------------------------------------------------------------------------------------- */

static nd4c_status use_host(nd4c_cl_device *device, const nd4c_external *external, nd4c_buffer buffer) {
  cl_int code = CL_SUCCESS;
  if (external->alignment < ALIGNMENT || external->bytes % WORD != 0) {
    return nd4c_cl_host->fail(ND4C_ARGUMENT,
                              "%s: %lld bytes at %p: host memory is imported by multiples of %d bytes that begin with "
                              "a multiple of %d",
                              device->name, (long long)external->bytes, external->pointer, WORD, ALIGNMENT);
  }
  buffer->memory = nd4c_cl.clCreateBuffer(
      device->context, (external->read_only ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE) | CL_MEM_USE_HOST_PTR,
      (size_t)external->bytes, external->pointer, &code);
  if (code != CL_SUCCESS) {
    return nd4c_cl_fail_allocation(device, "clCreateBuffer", code, external->bytes);
  }
  buffer->is_hosts = !external->read_only;
  return buffer->memory != NULL ? ND4C_OK : nd4c_cl_fail_nothing(device, "clCreateBuffer", "no buffer");
}

/* -- handles ------------------------------------------------------------------------------------------------------- */

/* Context and size of a cl_mem that the program gave. */
static nd4c_status ask(const nd4c_cl_device *device, cl_mem memory, cl_context *context, size_t *size) {
  const struct {
    cl_uint what;
    size_t bytes;
    void *value;
  } questions[] = {{CL_MEM_CONTEXT, sizeof *context, context}, {CL_MEM_SIZE, sizeof *size, size}};
  for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
    const cl_int code =
        nd4c_cl.clGetMemObjectInfo(memory, questions[i].what, questions[i].bytes, questions[i].value, NULL);
    if (code != CL_SUCCESS) {
      return nd4c_cl_fail(device, "clGetMemObjectInfo", code);
    }
  }
  return ND4C_OK;
}

static nd4c_status use_part(const nd4c_cl_device *device, cl_mem memory, const nd4c_external *external,
                            nd4c_buffer buffer) {
  const struct {
    size_t origin, size;
  } region = {(size_t)external->offset, (size_t)whole_words(external->bytes)};
  cl_int code = CL_SUCCESS;
  buffer->memory = nd4c_cl.clCreateSubBuffer(memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  if (code == CL_MISALIGNED_SUB_BUFFER_OFFSET || code == CL_INVALID_MEM_OBJECT) {
    (void)nd4c_cl_fail(device, "clCreateSubBuffer", code);
    return nd4c_cl_host->fail(
        ND4C_ARGUMENT, "%s: a part begins where the device's alignment allows it, in a buffer that is no part itself",
        nd4c_cl_host->error_message());
  }
  if (code != CL_SUCCESS) {
    return nd4c_cl_fail_allocation(device, "clCreateSubBuffer", code, external->bytes);
  }
  return buffer->memory != NULL ? ND4C_OK : nd4c_cl_fail_nothing(device, "clCreateSubBuffer", "no buffer");
}

static nd4c_status use_handle(const nd4c_cl_device *device, const nd4c_external *external, nd4c_buffer buffer) {
  cl_mem memory = external->pointer;
  cl_context context = NULL;
  size_t size = 0;
  ND4C_BACKEND_TRY(ask(device, memory, &context, &size));
  if (context != device->context) {
    return nd4c_cl_host->fail(ND4C_ARGUMENT, "%s: the cl_mem is of another context than the device's", device->name);
  }
  const uint64_t end = (uint64_t)external->offset + (uint64_t)whole_words(external->bytes);
  if (end > size) {
    return nd4c_cl_host->fail(ND4C_ARGUMENT, "%s: bytes %lld to %llu of a cl_mem of %zu, in whole words of %d bytes",
                              device->name, (long long)external->offset, (unsigned long long)end, size, WORD);
  }
  if (external->offset != 0) {
    return use_part(device, memory, external, buffer);
  }
  const cl_int code = nd4c_cl.clRetainMemObject(memory);
  buffer->memory = memory;
  return code == CL_SUCCESS ? ND4C_OK : nd4c_cl_fail(device, "clRetainMemObject", code);
}

/* -- the table ----------------------------------------------------------------------------------------------------- */

static nd4c_status import_memory(void *handle, const nd4c_external *external, nd4c_buffer *out) {
  nd4c_cl_device *device = handle;
  nd4c_buffer buffer = nd4c_cl_host->allocate(sizeof *buffer);
  if (buffer == NULL) {
    return nd4c_cl_host->fail(ND4C_MEMORY, "%s: no memory for a buffer's record", device->name);
  }
  buffer->bytes = external->bytes;
  const nd4c_status status = external->kind == ND4C_EXTERNAL_HOST_POINTER ? use_host(device, external, buffer)
                                                                          : use_handle(device, external, buffer);
  if (status != ND4C_OK) {
    nd4c_cl_host->free(buffer);
    return status;
  }
  *out = buffer;
  return ND4C_OK;
}

static void release_handle(void *user) {
  (void)nd4c_cl.clReleaseMemObject(user);
}

static nd4c_status export_memory(void *device, nd4c_buffer buffer, nd4c_external_kind kind, nd4c_external *external) {
  (void)kind; /* the vendor's handle, the only kind that is exported */
  const cl_int code = nd4c_cl.clRetainMemObject(buffer->memory);
  if (code != CL_SUCCESS) {
    return nd4c_cl_fail(device, "clRetainMemObject", code);
  }
  external->pointer = buffer->memory;
  external->release = release_handle;
  external->user = buffer->memory;
  return ND4C_OK;
}

const nd4c_external_ops nd4c_cl_external_ops = {
    .struct_size = ND4C_SIZE_OF(nd4c_external_ops), .import_memory = import_memory, .export_memory = export_memory};
