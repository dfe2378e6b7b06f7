/* The CPU backend, registered through the same ABI as any plug-in: this machine's cores and memory, synchronous, with
 * addresses. device/registry/builtins.c lists its entry function. Its kernels come from the families of families.h,
 * which the build makes; OpenBLAS, oneDNN and FFTW are providers of their own, in the folders below, which contribute
 * to it. */
#include "nd4c/plugin.h"

#include <stdio.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "backends/cpu/tile/tile.h"
#include "backends/provider.h"
#include "families.h"

nd4c_status nd4c_provider_cpu_entry(const nd4c_host *host, const nd4c_provider **provider);

const nd4c_host *nd4c_cpu_host;

#define DECLARE_FAMILY(family) extern const nd4c_kernel *const nd4c_cpu_##family##_kernels[];
ND4C_FAMILIES(DECLARE_FAMILY)
#define FAMILY_ENTRY(family) nd4c_cpu_##family##_kernels,
static const nd4c_kernel *const *const families[] = {ND4C_FAMILIES(FAMILY_ENTRY)};
static const nd4c_engine *const engines[] = {&nd4c_cpu_simd_engine, &nd4c_cpu_tile_engine, &nd4c_cpu_reference_engine};
static const nd4c_compiler *const compilers[] = {&nd4c_cpu_tile_compiler};

/* -- device --------------------------------------------------------------------------------------------------- */

/* There is one device and it has no state; its handle only has to differ from NULL. */
static char the_device;

/* A buffer that the backend allocates is one block, which begins with this header of one alignment unit. A buffer over
 * imported memory is the header alone. From a huge page on the header is apart: the system would clear the whole first
 * page for it, before the buffer is used. */
enum { ALIGNMENT = 64, APART = 2 << 20 };
struct nd4c_buffer_handle {
  void *address;
  size_t total_bytes;   /* of the block with its header */
  int32_t descriptor;   /* of an import: a duplicate of the descriptor whose bytes are mapped at the address */
  int64_t mapped_bytes; /* 0: none */
  int64_t mapped_from;  /* ... from this offset on */
};

static nd4c_status device_open(int32_t index, void **device) {
  ND4C_CPU_FAIL_IF(index != 0, ND4C_INDEX, "cpu: there is no device %d, only device 0", (int)index);
  *device = &the_device;
  return ND4C_OK;
}

static void device_close(void *device) {
  (void)device;
}

static nd4c_status describe(void *device, nd4c_device_description *description) {
  (void)device;
  description->description = "this machine's processor cores and memory";
  description->type = ND4C_DEVICE_CPU;
  description->addressable = description->host_readable = true;
  description->asynchronous = false;
  description->memory_bytes = 0;
  description->width = 0;
  description->alignment = ALIGNMENT;
  description->exports = ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_DESCRIPTOR);
  description->imports = description->exports | ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_HOST_POINTER);
  return ND4C_OK;
}

static nd4c_status buffer_allocate(void *device, const nd4c_buffer_descriptor *descriptor, nd4c_buffer *buffer) {
  const int64_t bytes = descriptor->bytes;
  (void)device;
  ND4C_CPU_FAIL_IF(bytes < 0 || (uint64_t)bytes > SIZE_MAX - ALIGNMENT, ND4C_OVERFLOW,
                   "cpu: a buffer of %lld bytes is not possible", (long long)bytes);
  size_t total = (size_t)bytes + ALIGNMENT;
  char *block = nd4c_cpu_host->allocate_buffer(total);
  struct nd4c_buffer_handle *handle =
      block != NULL && total >= APART ? nd4c_cpu_host->allocate(sizeof *handle) : (void *)block;
  if (handle == NULL && block != NULL) {
    nd4c_cpu_host->free_buffer(block, total);
  }
  ND4C_CPU_FAIL_IF(handle == NULL, ND4C_MEMORY, "cpu: the system has no %lld bytes for a buffer", (long long)bytes);
  *handle = (struct nd4c_buffer_handle){.address = block + ALIGNMENT, .total_bytes = total};
  *buffer = handle;
  return ND4C_OK;
}

static void buffer_free(void *device, nd4c_buffer buffer) {
  (void)device;
  if (buffer == NULL) {
    return;
  }
  if (buffer->mapped_bytes > 0) {
    nd4c_cpu_host->files->unmap(buffer->address, buffer->mapped_bytes);
    nd4c_cpu_host->files->close(buffer->descriptor);
  }
  if (buffer->total_bytes >= APART) {
    nd4c_cpu_host->free_buffer((char *)buffer->address - ALIGNMENT, buffer->total_bytes);
    nd4c_cpu_host->free(buffer);
  } else {
    nd4c_cpu_host->free_buffer(buffer, buffer->total_bytes);
  }
}

static void *buffer_address(void *device, nd4c_buffer buffer) {
  (void)device;
  return buffer->address;
}

static const nd4c_buffer_ops buffer_ops = {.struct_size = ND4C_SIZE_OF(nd4c_buffer_ops),
                                           .allocate = buffer_allocate,
                                           .free = buffer_free,
                                           .address = buffer_address};

/* -- external memory ------------------------------------------------------------------------------------------ */

static nd4c_status map_descriptor(const nd4c_external *external, struct nd4c_buffer_handle *handle) {
  const nd4c_host_files *files = nd4c_cpu_host->files;
  ND4C_BACKEND_TRY(files->duplicate(external->descriptor, &handle->descriptor));
  nd4c_status status =
      files->map(handle->descriptor, external->offset, external->bytes, !external->read_only, &handle->address);
  if (status != ND4C_OK) {
    files->close(handle->descriptor);
  } else {
    handle->mapped_bytes = external->bytes;
  }
  handle->mapped_from = external->offset;
  return status;
}

static nd4c_status import_memory(void *device, const nd4c_external *external, nd4c_buffer *buffer) {
  (void)device;
  struct nd4c_buffer_handle *handle = nd4c_cpu_host->allocate_buffer(ALIGNMENT);
  ND4C_CPU_FAIL_IF(handle == NULL, ND4C_MEMORY, "cpu: no memory for a buffer's record");
  *handle = (struct nd4c_buffer_handle){.address = external->pointer, .total_bytes = ALIGNMENT};
  nd4c_status status = external->kind == ND4C_EXTERNAL_DESCRIPTOR ? map_descriptor(external, handle) : ND4C_OK;
  if (status != ND4C_OK) {
    nd4c_cpu_host->free_buffer(handle, ALIGNMENT);
  } else {
    *buffer = handle;
  }
  return status;
}

static void close_exported(void *user) {
  nd4c_cpu_host->files->close((int32_t)(intptr_t)user);
}

static nd4c_status export_memory(void *device, nd4c_buffer buffer, nd4c_external_kind kind, nd4c_external *external) {
  (void)device;
  (void)kind; /* a descriptor: nothing else is offered */
  ND4C_CPU_FAIL_IF(buffer->mapped_bytes == 0, ND4C_UNSUPPORTED,
                   "cpu: only memory that was imported from a descriptor has one");
  nd4c_status status = nd4c_cpu_host->files->duplicate(buffer->descriptor, &external->descriptor);
  if (status == ND4C_OK) {
    external->offset = buffer->mapped_from;
    external->release = close_exported;
    external->user = (void *)(intptr_t)external->descriptor;
  }
  return status;
}

static const nd4c_external_ops external_ops = {
    .struct_size = ND4C_SIZE_OF(nd4c_external_ops), .import_memory = import_memory, .export_memory = export_memory};

/* -- copies --------------------------------------------------------------------------------------------------- */

static nd4c_status copy_from_host(void *device, nd4c_stream stream, nd4c_buffer to, int64_t offset, const void *from,
                                  int64_t bytes) {
  (void)stream;
  if (bytes > 0) {
    memcpy((char *)buffer_address(device, to) + offset, from, (size_t)bytes);
  }
  return ND4C_OK;
}

static nd4c_status copy_to_host(void *device, nd4c_stream stream, void *to, nd4c_buffer from, int64_t offset,
                                int64_t bytes) {
  (void)stream;
  if (bytes > 0) {
    memcpy(to, (char *)buffer_address(device, from) + offset, (size_t)bytes);
  }
  return ND4C_OK;
}

static nd4c_status copy_within(void *device, nd4c_stream stream, nd4c_buffer to, int64_t to_offset, nd4c_buffer from,
                               int64_t from_offset, int64_t bytes) {
  (void)stream;
  if (bytes > 0) {
    memmove((char *)buffer_address(device, to) + to_offset, (char *)buffer_address(device, from) + from_offset,
            (size_t)bytes);
  }
  return ND4C_OK;
}

static nd4c_status synchronize(void *device) {
  (void)device;
  return ND4C_OK;
}

static const nd4c_device_ops device_ops = {
    .struct_size = ND4C_SIZE_OF(nd4c_device_ops),
    .device_open = device_open,
    .device_close = device_close,
    .describe = describe,
    .buffers = &buffer_ops,
    .copy_from_host = copy_from_host,
    .copy_to_host = copy_to_host,
    .copy_within = copy_within,
    .synchronize = synchronize,
    .external = &external_ops,
};

/* -- backend -------------------------------------------------------------------------------------------------- */

/* Runs the simplest kernel on two numbers, to show that the families are linked and that the call's layout is right. */
static bool add_gives_three(void) {
  const int64_t shape[] = {1}, strides[] = {1};
  float a = 1, b = 2, y = 0;
  const nd4c_tensor like = {.dtype = ND4C_FLOAT32, .rank = 1, .shape = shape, .strides = strides, .size = 1};
  nd4c_tensor inputs[2] = {like, like}, output = like;
  inputs[0].data = &a;
  inputs[1].data = &b;
  output.data = &y;
  const nd4c_op_info op = {.struct_size = ND4C_SIZE_OF(nd4c_op_info), .op = ND4C_OP_add, .name = "add"};
  const nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                          .op = &op,
                          .input_count = 2,
                          .output_count = 1,
                          .inputs = inputs,
                          .outputs = &output,
                          .width = 1};
  for (const nd4c_kernel *const *kernel = nd4c_cpu_reference_elementwise_kernels; *kernel != NULL; kernel++) {
    if (strcmp((*kernel)->op, "add") == 0 && strcmp((*kernel)->engine, "reference") == 0) {
      return (*kernel)->run(&call) == ND4C_OK && y == 3;
    }
  }
  return false;
}

static nd4c_verdict probe(bool verify, char *reason, size_t reason_size) {
  if (!verify) {
    snprintf(reason, reason_size, "part of this library");
    return ND4C_VERDICT_FOUND;
  }
  if (!add_gives_three()) {
    snprintf(reason, reason_size, "1 + 2 did not give 3");
    return ND4C_VERDICT_ABSENT;
  }
  snprintf(reason, reason_size, "part of this library; computed 1 + 2 at level %s", nd4c_cpu_host->cpu_level());
  return ND4C_VERDICT_VERIFIED;
}

static nd4c_status open_provider(void) {
  nd4c_cpu_simd_open();
  return ND4C_OK;
}

static int32_t device_count(void) {
  return 1;
}

/* -- properties ----------------------------------------------------------------------------------------------- */

static const nd4c_plugin_property *const properties[] = {
    &(const nd4c_plugin_property){
        .struct_size = ND4C_SIZE_OF(nd4c_plugin_property),
        .type = ND4C_PROPERTY_STRING,
        .name = "nd4c.cpu.math",
        .environment = "ND4C_CPU_MATH",
        .default_value = "",
        .words = "accurate,fast",
        .meaning =
            "fast: engine simd computes float32 tanh, erf, gelu, log and power by shorter, less accurate formulas, if "
            "its level has them (avx2, the levels of arm64); empty or accurate: the usual formulas"},
    &(const nd4c_plugin_property){
        .struct_size = ND4C_SIZE_OF(nd4c_plugin_property),
        .type = ND4C_PROPERTY_BYTES,
        .name = "nd4c.cpu.stream_bytes",
        .environment = "ND4C_CPU_STREAM_BYTES",
        .default_value = "0",
        .meaning = "Results larger than this are written with streaming stores, and so are results of element-wise "
                   "calls that read and write more than three times this size; 0: half the last-level cache, of which "
                   "at most 16 MiB count for each core"},
};

/* -- provider ------------------------------------------------------------------------------------------------- */

static const nd4c_backend the_backend = {
    .struct_size = ND4C_SIZE_OF(nd4c_backend),
    .type = ND4C_DEVICE_CPU,
    .priority = 0,
    .device_count = device_count,
    .device = &device_ops,
};

static const nd4c_contribution contribution = {
    .struct_size = ND4C_SIZE_OF(nd4c_contribution),
    ND4C_PROVIDER_LIST(engine_count, engines),
    ND4C_PROVIDER_LIST(family_count, families),
    ND4C_PROVIDER_LIST(compiler_count, compilers),
};
static const nd4c_contribution *const contributions[] = {&contribution};

static const nd4c_provider the_provider = {
    ND4C_PROVIDER_HEAD("cpu", ND4C_CPU_VERSION),
    .probe = probe,
    .open = open_provider,
    .backend = &the_backend,
    ND4C_PROVIDER_LIST(contribution_count, contributions),
    ND4C_PROVIDER_LIST(property_count, properties),
};

nd4c_status nd4c_provider_cpu_entry(const nd4c_host *host, const nd4c_provider **provider) {
  nd4c_cpu_host = host;
  *provider = &the_provider;
  return ND4C_OK;
}
