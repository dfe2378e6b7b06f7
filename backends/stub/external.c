/* External memory: buffers over the host's memory, over mapped descriptors and over other buffers of the stub;
 * registered host memory. device.c puts these operations into its table. */
#include <string.h>

#include "stub.h"

enum { ALIGNMENT = 16 }; /* which the stub requires of the host's memory */

/* -- import -------------------------------------------------------------------------------------------------------- */

/* Checks what nd4c promises about external memory. */
static nd4c_status check_external(const nd4c_external *e) {
  const bool is_power = e->alignment > 0 && (e->alignment & (e->alignment - 1)) == 0;
  const bool pointer = e->kind == ND4C_EXTERNAL_HOST_POINTER || e->kind == ND4C_EXTERNAL_DEVICE_POINTER;
  const uint64_t place = pointer ? (uint64_t)(uintptr_t)e->pointer : (uint64_t)e->offset;
  if (e->struct_size != ND4C_SIZE_OF(nd4c_external) || e->bytes <= 0 || e->offset < 0 || (pointer && e->offset != 0) ||
      !is_power || place % (uint64_t)e->alignment != 0 || e->release != NULL || e->user != NULL ||
      (e->kind == ND4C_EXTERNAL_DESCRIPTOR ? e->descriptor < 0 : e->pointer == NULL)) {
    return stub_violation("external memory that is not as external.h says");
  }
  return ND4C_OK;
}

/* STUB_LIE: memory of its own instead of the host's. */
static bool copies_imports(void) {
  return strcmp(stub_settings.lie, "copied_import") == 0;
}

static nd4c_status import_from_host(const nd4c_external *external, stub_buffer *made) {
  if (external->alignment < ALIGNMENT) {
    return stub_host->fail(ND4C_ARGUMENT, "stub: host memory is imported with an alignment of %d bytes, not of %lld",
                           ALIGNMENT, (long long)external->alignment);
  }
  made->bytes = external->pointer;
  if (copies_imports()) {
    made->bytes = stub_host->allocate((size_t)external->bytes);
    if (made->bytes == NULL) {
      return stub_host->fail(ND4C_MEMORY, "stub: no memory for an import");
    }
    memcpy(made->bytes, external->pointer, (size_t)external->bytes);
  }
  return ND4C_OK;
}

static nd4c_status import_descriptor(const nd4c_external *external, stub_buffer *made) {
  const nd4c_host_files *files = stub_host->files;
  void *address = NULL;
  nd4c_status status = files->duplicate(external->descriptor, &made->descriptor);
  if (status != ND4C_OK) {
    return status;
  }
  status = files->map(made->descriptor, external->offset, external->bytes, !external->read_only, &address);
  if (status != ND4C_OK) {
    files->close(made->descriptor);
    return status;
  }
  made->bytes = address;
  made->mapped_from = external->offset;
  return ND4C_OK;
}

/* Memory of another buffer, which is held until the import ends. */
static nd4c_status import_part(const nd4c_external *external, stub_buffer *made) {
  const bool native = external->kind == ND4C_EXTERNAL_NATIVE;
  stub_buffer *parent = native ? stub_buffer_use((nd4c_buffer)external->pointer)
                               : stub_buffer_at(made->device, external->pointer, external->bytes);
  if (parent == NULL) {
    return stub_host->fail(ND4C_ARGUMENT, "stub: %p is no memory of the device", external->pointer);
  }
  const int64_t offset = native ? external->offset : (char *)external->pointer - (char *)stub_buffer_address(parent);
  if (parent->device != made->device || external->bytes > parent->size || offset > parent->size - external->bytes) {
    stub_buffer_done(parent);
    return stub_host->fail(ND4C_ARGUMENT, "stub: a buffer of another device, or one that is too short");
  }
  made->parent = parent;
  made->bytes = parent->bytes + offset;
  made->scramble = parent->scramble;
  made->address = native ? NULL : external->pointer;
  return ND4C_OK;
}

void stub_import_end(stub_buffer *buffer) {
  if (buffer->imported == ND4C_EXTERNAL_DESCRIPTOR) {
    stub_host->files->unmap(buffer->bytes, buffer->size);
    stub_host->files->close(buffer->descriptor);
  }
  if (buffer->imported == ND4C_EXTERNAL_HOST_POINTER && copies_imports()) {
    stub_host->free(buffer->bytes);
  }
  if (buffer->parent != NULL) {
    stub_buffer_done(buffer->parent);
  }
}

static nd4c_status import_memory(void *device, const nd4c_external *external, nd4c_buffer *handle) {
  stub_buffer made = {.size = external->bytes,
                      .device = stub_device_index(device),
                      .imported = external->kind,
                      .kind = ND4C_MEMORY_KIND_DEVICE};
  stub_buffer *buffer = NULL;
  nd4c_status status = stub_attempt(STUB_CALL_import_memory);
  status = status == ND4C_OK ? check_external(external) : status;
  if (status == ND4C_OK) {
    status = external->kind == ND4C_EXTERNAL_HOST_POINTER ? import_from_host(external, &made)
             : external->kind == ND4C_EXTERNAL_DESCRIPTOR ? import_descriptor(external, &made)
                                                          : import_part(external, &made);
  }
  if (status != ND4C_OK) {
    return status;
  }
  status = stub_buffer_adopt(&made, &buffer);
  if (status != ND4C_OK) {
    stub_import_end(&made);
    return status;
  }
  *handle = buffer->handle;
  return ND4C_OK;
}

/* -- export -------------------------------------------------------------------------------------------------------- */

/* Exports that are not released yet, by number; guarded by the lock. */
typedef struct stub_export {
  uintptr_t number;
  stub_buffer *buffer; /* one use held */
  int32_t descriptor;  /* -1: none */
  struct stub_export *next;
} stub_export;

static nd4c_host_lock lock;
static stub_export *exported;
static uintptr_t last_number;

static stub_export *take_export(uintptr_t number) {
  stub_lock(&lock);
  stub_export **link = &exported;
  while (*link != NULL && (*link)->number != number) {
    link = &(*link)->next;
  }
  stub_export *found = *link;
  if (found != NULL) {
    *link = found->next;
  }
  stub_unlock(&lock);
  return found;
}

static void release_export(void *user) {
  stub_export *found = take_export((uintptr_t)user);
  if (found == NULL) {
    (void)stub_violation("an export was released twice");
    return;
  }
  if (found->descriptor >= 0) {
    stub_host->files->close(found->descriptor);
  }
  stub_buffer_done(found->buffer);
  stub_host->free(found);
  stub_count_add(STUB_COUNT_exports, -1);
}

static nd4c_status fill_export(stub_export *made, nd4c_external_kind kind, nd4c_external *external) {
  const stub_buffer *buffer = made->buffer;
  if (external->bytes <= 0 || external->bytes > buffer->size) {
    return stub_violation("an export of more than the buffer");
  }
  if (kind == ND4C_EXTERNAL_NATIVE) {
    external->pointer = buffer->handle;
    return ND4C_OK;
  }
  if (buffer->imported != ND4C_EXTERNAL_DESCRIPTOR) {
    return stub_host->fail(ND4C_UNSUPPORTED, "stub: only memory that was imported from a descriptor has one");
  }
  external->offset = buffer->mapped_from;
  nd4c_status status = stub_host->files->duplicate(buffer->descriptor, &made->descriptor);
  external->descriptor = made->descriptor;
  return status;
}

static nd4c_status export_memory(void *device, nd4c_buffer handle, nd4c_external_kind kind, nd4c_external *external) {
  (void)device;
  nd4c_status status = stub_attempt(STUB_CALL_export_memory);
  if (status != ND4C_OK) {
    return status;
  }
  stub_export *made = stub_host->allocate(sizeof *made);
  if (made == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for an export");
  }
  made->descriptor = -1;
  made->buffer = stub_buffer_use(handle);
  status = made->buffer != NULL ? fill_export(made, kind, external) : ND4C_INTERNAL;
  if (status != ND4C_OK) {
    if (made->buffer != NULL) {
      stub_buffer_done(made->buffer);
    }
    stub_host->free(made);
    return status;
  }
  stub_lock(&lock);
  made->number = ++last_number;
  made->next = exported;
  exported = made;
  external->user = (void *)made->number;
  stub_unlock(&lock);
  external->release = release_export;
  stub_count_add(STUB_COUNT_exports, 1);
  if (strcmp(stub_settings.lie, "export_nothing") == 0) {
    external->descriptor = -1;
    external->pointer = NULL;
  }
  return ND4C_OK;
}

/* -- registered host memory ---------------------------------------------------------------------------------------- */

struct stub_range {
  int32_t device;
  uintptr_t first;
  int64_t bytes;
  int32_t uses; /* copies in flight, and 1 until it is unregistered */
  bool ended;
  struct stub_range *next;
};
static stub_range *ranges; /* under the lock */

/* The registered range that holds all these bytes or, if `meets`, at least one of them. Under the lock. */
static stub_range *find_range(int32_t device, uintptr_t first, int64_t bytes, bool meets) {
  for (stub_range *range = ranges; range != NULL; range = range->next) {
    const uintptr_t end = first + (uintptr_t)bytes, range_end = range->first + (uintptr_t)range->bytes;
    const bool found = meets ? first < range_end && range->first < end : first >= range->first && end <= range_end;
    if (found && range->device == device && !range->ended) {
      return range;
    }
  }
  return NULL;
}

stub_range *stub_range_use(int32_t device, const void *memory, int64_t bytes) {
  stub_lock(&lock);
  stub_range *range = find_range(device, (uintptr_t)memory, bytes, false);
  if (range != NULL) {
    range->uses++;
    stub_count_add(STUB_COUNT_direct_copies, 1);
  }
  stub_unlock(&lock);
  return range;
}

void stub_range_done(stub_range *range) {
  if (range == NULL) {
    return;
  }
  stub_lock(&lock);
  const bool last = --range->uses == 0;
  for (stub_range **link = &ranges; last && *link != NULL;) {
    if (*link == range) {
      *link = range->next;
    } else {
      link = &(*link)->next;
    }
  }
  stub_unlock(&lock);
  if (last) {
    stub_host->free(range);
    stub_count_add(STUB_COUNT_registrations, -1);
  }
}

static nd4c_status host_register(void *device, void *pointer, int64_t bytes) {
  nd4c_status status = stub_attempt(STUB_CALL_host_register);
  if (status != ND4C_OK) {
    return status;
  }
  stub_range *made = stub_host->allocate(sizeof *made);
  if (made == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a registered range");
  }
  *made = (stub_range){.device = stub_device_index(device), .first = (uintptr_t)pointer, .bytes = bytes, .uses = 1};
  stub_lock(&lock);
  const bool meets = bytes <= 0 || find_range(made->device, made->first, bytes, true) != NULL;
  if (!meets) {
    made->next = ranges;
    ranges = made;
  }
  stub_unlock(&lock);
  if (meets) {
    stub_host->free(made);
    return stub_violation("host memory was registered twice, or none of it");
  }
  stub_count_add(STUB_COUNT_registrations, 1);
  stub_linger();
  return ND4C_OK;
}

static void host_unregister(void *device, void *pointer, int64_t bytes) {
  stub_linger();
  stub_lock(&lock);
  stub_range *range = find_range(stub_device_index(device), (uintptr_t)pointer, bytes, false);
  const bool known = range != NULL && range->first == (uintptr_t)pointer && range->bytes == bytes;
  const bool pending = known && range->uses > 1;
  if (known) {
    range->ended = true;
  }
  stub_unlock(&lock);
  if (!known || pending) {
    (void)stub_violation(known ? "host memory was unregistered under a copy" : "no such host memory is registered");
  }
  if (known) {
    stub_range_done(range);
  }
}

const nd4c_external_ops stub_external_ops = {.struct_size = ND4C_SIZE_OF(nd4c_external_ops),
                                             .import_memory = import_memory,
                                             .export_memory = export_memory,
                                             .host_register = host_register,
                                             .host_unregister = host_unregister};
