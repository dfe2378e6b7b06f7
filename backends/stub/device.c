/* Devices: memory, copies, streams and fences through opaque handles. backend.c gives the table to the registry. Each
 * function checks its handles and leaves the work to memory.c, queue.c and fence.c. */
#include <stdio.h>
#include <string.h>

#include "stub.h"

enum { DEVICES = 16 };

typedef struct stub_device {
  int32_t index;
  char description[64], pci[16];
} stub_device;

static stub_device devices[DEVICES];

int32_t stub_device_index(const void *device) {
  return ((const stub_device *)device)->index;
}

static nd4c_status name_device(int32_t index, void **device) {
  if (index < 0 || index >= DEVICES) {
    return stub_host->fail(ND4C_HARDWARE, "stub: no device %d", index);
  }
  devices[index].index = index;
  (void)snprintf(devices[index].description, sizeof devices[index].description, "stub device %d", index);
  (void)snprintf(devices[index].pci, sizeof devices[index].pci, "00ab:%02x:1f.7", (unsigned)index & 0xff);
  *device = &devices[index];
  return ND4C_OK;
}

void *stub_device_at(int32_t index) {
  return &devices[index];
}

static nd4c_status device_open(int32_t index, void **device) {
  nd4c_status status = stub_attempt(STUB_CALL_device_open);
  if (status == ND4C_OK && strcmp(stub_settings.verdict, "compile-only") == 0) {
    status = stub_violation("a device was opened that is not there");
  }
  return status == ND4C_OK ? name_device(index, device) : status;
}

static void device_close(void *device) {
  (void)device;
}

/* Descriptions by a broken backend; STUB_LIE selects one. */
static void lie(nd4c_device_description *description) {
  const char *about = stub_settings.lie;
  if (strcmp(about, "memory_bytes") == 0) {
    description->memory_bytes = -5;
  } else if (strcmp(about, "largest_bytes") == 0) {
    description->largest_bytes = INT64_MIN;
  } else if (strcmp(about, "width") == 0) {
    description->width = -1;
  } else if (strcmp(about, "alignment") == 0) {
    description->alignment = 24;
  } else if (strcmp(about, "type_of_device") == 0) {
    description->type = (nd4c_device_type)4711;
  } else if (strcmp(about, "pci") == 0) {
    description->pci = "65:00.0\n\xff";
  } else if (strcmp(about, "priorities") == 0) {
    description->least_priority = 1;
  } else if (strcmp(about, "words") == 0) {
    description->description = "a\xff\x80 line\nand another";
    description->capability = "7\xff\n1";
  } else if (strcmp(about, "imports") == 0) {
    description->imports = ND4C_EXTERNAL_BIT(9);
  } else if (strcmp(about, "exports") == 0) {
    description->exports = ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_HOST_POINTER); /* which nd4c exports itself */
  } else if (strcmp(about, "import_pointers") == 0) {
    description->imports = ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_DEVICE_POINTER);
    description->addressable = false;
  } else if (strcmp(about, "whole_buffers") == 0) {
    description->whole_buffers = description->addressable = description->host_readable = true;
  }
}

static nd4c_status describe(void *device, nd4c_device_description *description) {
  nd4c_status status = stub_attempt(STUB_CALL_describe);
  if (status == ND4C_OK) {
    description->description = ((stub_device *)device)->description;
    description->type = stub_settings_type();
    description->addressable = stub_settings.addresses;
    description->host_readable = strcmp(stub_settings.lie, "host_readable") == 0;
    description->asynchronous = true;
    description->whole_buffers = stub_settings.whole;
    description->tells_points = stub_settings.tells;
    description->memory_bytes = stub_memory();
    description->width = 1;
    description->alignment = 64;
    description->vendor = "stub";
    description->driver = "stub 1.0";
    description->dtypes = ~(nd4c_dtype_set)0 & ~ND4C_DTYPE_BIT(ND4C_UTF8) & ~ND4C_DTYPES_NARROW;
    description->has_native = true;
    description->native = stub_device_index(device) == 0 ? device : NULL; /* as a CUDA driver numbers its devices */
    description->has_uuid = true;
    for (int32_t i = 0; i < ND4C_DEVICE_UUID_BYTES; i++) {
      description->uuid[i] = (uint8_t)(16 * i + stub_device_index(device));
    }
    description->pci = ((stub_device *)device)->pci;
    description->capability = "7.1";
    if (strcmp(stub_settings.lie, "old_device") != 0) {
      description->memory_kinds = ND4C_MEMORY_KIND_BIT(ND4C_MEMORY_KIND_HOST_PINNED) |
                                  ND4C_MEMORY_KIND_BIT(ND4C_MEMORY_KIND_MANAGED) |
                                  ND4C_MEMORY_KIND_BIT(ND4C_MEMORY_KIND_HOST_MAPPED);
      description->exports = ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_DESCRIPTOR) | ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_NATIVE);
      description->imports = description->exports | ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_HOST_POINTER) |
                             (stub_settings.addresses ? ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_DEVICE_POINTER) : 0);
      description->least_priority = STUB_LEAST_PRIORITY;
      description->greatest_priority = STUB_GREATEST_PRIORITY;
    }
    lie(description);
  }
  return status;
}

nd4c_status stub_target_open(int32_t index, nd4c_device_description *description, void **target) {
  nd4c_status status = stub_attempt(STUB_CALL_target_open);
  status = status == ND4C_OK ? name_device(index, target) : status;
  status = status == ND4C_OK ? describe(*target, description) : status;
  if (strcmp(stub_settings.lie, "null_target") == 0) {
    *target = NULL;
  }
  return status;
}

/* Checks what nd4c promises about a descriptor. */
static nd4c_status check_descriptor(const nd4c_buffer_descriptor *d) {
  const bool is_power = d->alignment > 0 && (d->alignment & (d->alignment - 1)) == 0;
  const bool is_array = d->dtype != ND4C_DTYPE_NONE;
  if (d->struct_size != ND4C_SIZE_OF(nd4c_buffer_descriptor) || d->bytes <= 0 || !is_power || d->alignment < 64 ||
      d->layout != ND4C_LAYOUT_STRIDED || d->rank != (is_array ? 1 : 0)) {
    return stub_violation("a descriptor of a buffer that is not as buffer.h says");
  }
  if (is_array && (d->usage != ND4C_BUFFER_ARRAY || d->shape[0] < 0 ||
                   d->shape[0] > d->bytes / stub_size_of(d->dtype) * stub_elements_of(d->dtype))) {
    return stub_violation("a buffer too small for its elements");
  }
  return ND4C_OK;
}

static nd4c_status buffer_allocate(void *device, const nd4c_buffer_descriptor *descriptor, nd4c_buffer *handle) {
  const bool pinned = descriptor->kind == ND4C_MEMORY_KIND_HOST_PINNED;
  nd4c_status status = stub_attempt(pinned ? STUB_CALL_pinned_allocate : STUB_CALL_buffer_allocate);
  stub_buffer *buffer = NULL;
  const nd4c_memory_kind last =
      stub_lies("old_device") ? ND4C_MEMORY_KIND_DEVICE : ND4C_MEMORY_KIND_HOST_MAPPED; /* as describe says */
  if (status == ND4C_OK && (descriptor->kind < ND4C_MEMORY_KIND_DEVICE || descriptor->kind > last)) {
    status = stub_host->fail(ND4C_UNSUPPORTED, "stub: no memory of kind %d", (int)descriptor->kind);
  }
  if (status == ND4C_OK) {
    status = check_descriptor(descriptor);
  }
  if (status == ND4C_OK) {
    status = stub_buffer_create(stub_device_index(device), descriptor->kind, descriptor->bytes,
                                stub_stream_leaving((stub_stream *)descriptor->stream), &buffer);
  }
  if (status == ND4C_OK) {
    *handle = stub_lies("junk_buffer") ? (nd4c_buffer)(uintptr_t)12345 : buffer->handle;
  }
  return status;
}

static void buffer_free(void *device, nd4c_buffer handle) {
  stub_buffer *buffer = stub_lies("keeps") ? NULL : stub_buffer_use(handle);
  if (buffer != NULL) {
    if (buffer->device != stub_device_index(device)) {
      (void)stub_violation("a buffer was freed on another device than its own");
    }
    stub_buffer_drop(buffer);
    stub_buffer_done(buffer);
  }
}

static void buffer_free_on(void *device, nd4c_buffer handle, nd4c_stream stream) {
  (void)stub_fails(STUB_CALL_buffer_free_on); /* counted; it does not fail */
  stub_buffer *buffer = stub_buffer_use(handle);
  if (buffer != NULL) {
    if (buffer->device != stub_device_index(device)) {
      (void)stub_violation("a buffer was freed on another device than its own");
    }
    stub_stream_free((stub_stream *)stream, buffer);
  }
}

static void *buffer_address(void *device, nd4c_buffer handle) {
  (void)device;
  stub_buffer *buffer = stub_fails(STUB_CALL_buffer_address) ? NULL : stub_buffer_use(handle);
  void *address = buffer != NULL ? stub_buffer_address(buffer) : NULL;
  if (buffer != NULL) {
    stub_buffer_done(buffer);
  }
  return address;
}

static const nd4c_buffer_ops buffer_ops = {
    .struct_size = ND4C_SIZE_OF(nd4c_buffer_ops),
    .allocate = buffer_allocate,
    .free = buffer_free,
    .address = buffer_address,
    .free_on = buffer_free_on,
};

/* -- copies ------------------------------------------------------------------------------------------------------ */

typedef struct stub_copy {
  stub_buffer *to, *from; /* NULL: host memory */
  void *host_to;
  const void *host_from;
  int64_t to_offset, from_offset, bytes;
  unsigned char pattern[16];
  int32_t pattern_bytes; /* 0: no fill */
  nd4c_buffer to_handle, from_handle;
  stub_range *range; /* registered host memory that it uses */
} stub_copy;

static nd4c_status fill_run(const stub_copy *copy) {
  nd4c_status status = ND4C_OK;
  for (int64_t at = 0; status == ND4C_OK && at < copy->bytes; at += copy->pattern_bytes) {
    status = stub_buffer_write(copy->to, copy->to_offset + at, copy->pattern, copy->pattern_bytes);
  }
  return status;
}

static nd4c_status copy_run(void *argument) {
  const stub_copy *copy = argument;
  nd4c_status status = stub_attempt(STUB_CALL_in_flight_copy);
  if (status != ND4C_OK) {
    return status;
  }
  if (copy->pattern_bytes > 0) {
    return fill_run(copy);
  }
  if (copy->from == NULL) {
    return stub_buffer_write(copy->to, copy->to_offset, copy->host_from, copy->bytes);
  }
  if (copy->to == NULL) {
    return stub_buffer_read(copy->from, copy->from_offset, copy->host_to, copy->bytes);
  }
  unsigned char *bytes = stub_host->allocate((size_t)copy->bytes + 1);
  if (bytes == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a copy of %lld bytes", (long long)copy->bytes);
  }
  status = stub_buffer_read(copy->from, copy->from_offset, bytes, copy->bytes);
  if (status == ND4C_OK) {
    status = stub_buffer_write(copy->to, copy->to_offset, bytes, copy->bytes);
  }
  stub_host->free(bytes);
  return status;
}

static void copy_loosen(void *argument) {
  stub_copy *copy = argument;
  if (copy->to != NULL) {
    stub_buffer_done(copy->to);
  }
  if (copy->from != NULL) {
    stub_buffer_done(copy->from);
  }
  copy->to = copy->from = NULL;
}

static void copy_dispose(void *argument) {
  copy_loosen(argument);
  stub_range_done(((stub_copy *)argument)->range);
  stub_host->free(argument);
}

/* Makes a copy's record again, with one use of each buffer that the handles name. */
static nd4c_status copy_again(const void *argument, void **made) {
  stub_copy *copy = stub_host->allocate(sizeof *copy);
  if (copy == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a copy");
  }
  *copy = *(const stub_copy *)argument;
  copy->to = copy->to_handle != NULL ? stub_buffer_use(copy->to_handle) : NULL;
  copy->from = copy->from_handle != NULL ? stub_buffer_use(copy->from_handle) : NULL;
  if ((copy->to_handle != NULL && copy->to == NULL) || (copy->from_handle != NULL && copy->from == NULL)) {
    copy_dispose(copy);
    return ND4C_INTERNAL;
  }
  *made = copy;
  return ND4C_OK;
}

/* An offset, unless STUB_LIE names it. */
static int64_t offset_or_lie(int64_t offset, const char *name) {
  return stub_lies(name) ? 0 : offset;
}

/* to and from: handles, or NULL for host memory. A copy with host memory cannot be recorded. */
static nd4c_status submit_copy(void *device, nd4c_stream stream, nd4c_buffer to, nd4c_buffer from, stub_copy given) {
  const bool inside = given.host_to == NULL && given.host_from == NULL;
  stub_task task = {
      .run = copy_run, .dispose = copy_dispose, .loosen = copy_loosen, .again = inside ? copy_again : NULL};
  given.to_handle = to;
  given.from_handle = from;
  nd4c_status status = copy_again(&given, &task.work);
  if (status == ND4C_OK && !inside) {
    stub_linger();
    ((stub_copy *)task.work)->range =
        stub_range_use(stub_device_index(device), given.host_to != NULL ? given.host_to : given.host_from, given.bytes);
    stub_linger();
  }
  return status != ND4C_OK ? status : stub_stream_submit((stub_stream *)stream, task);
}

static nd4c_status copy_from_host(void *device, nd4c_stream stream, nd4c_buffer to, int64_t offset, const void *from,
                                  int64_t bytes) {
  nd4c_status status = stub_attempt(STUB_CALL_copy_from_host);
  return status != ND4C_OK
             ? status
             : submit_copy(
                   device, stream, to, NULL,
                   (stub_copy){.host_from = from, .to_offset = offset_or_lie(offset, "adrift"), .bytes = bytes});
}

static nd4c_status copy_to_host(void *device, nd4c_stream stream, void *to, nd4c_buffer from, int64_t offset,
                                int64_t bytes) {
  nd4c_status status = stub_attempt(STUB_CALL_copy_to_host);
  return status != ND4C_OK
             ? status
             : submit_copy(
                   device, stream, NULL, from,
                   (stub_copy){.host_to = to, .from_offset = offset_or_lie(offset, "offset_out"), .bytes = bytes});
}

static nd4c_status copy_within(void *device, nd4c_stream stream, nd4c_buffer to, int64_t to_offset, nd4c_buffer from,
                               int64_t from_offset, int64_t bytes) {
  nd4c_status status = stub_attempt(STUB_CALL_copy_within);
  return status != ND4C_OK ? status
                           : submit_copy(device, stream, to, from,
                                         (stub_copy){.to_offset = offset_or_lie(to_offset, "within_to"),
                                                     .from_offset = offset_or_lie(from_offset, "within_from"),
                                                     .bytes = bytes});
}

/* Whether to drop waits for other devices' fences, as a broken backend would. */
static bool is_hasty(void) {
  return strcmp(stub_settings.lie, "hasty") == 0;
}

static nd4c_status wait_for_other(nd4c_stream stream, void *from_device, nd4c_fence fence) {
  return is_hasty()
             ? ND4C_OK
             : stub_stream_wait_fence((stub_stream *)stream, (stub_fence *)fence, stub_device_index(from_device));
}

static nd4c_status copy_between(void *device, nd4c_stream stream, nd4c_buffer to, int64_t to_offset, void *from_device,
                                nd4c_buffer from, int64_t from_offset, int64_t bytes, const nd4c_fence *waits,
                                int32_t wait_count) {
  nd4c_status status = stub_attempt(STUB_CALL_copy_between);
  if (status == ND4C_OK && device == from_device) {
    status = stub_violation("a copy between two devices that are one");
  }
  if (status == ND4C_OK && strcmp(stub_settings.peers, "none") == 0) {
    status = stub_violation("a copy between devices that do not reach each other");
  }
  for (int32_t i = 0; i < wait_count && status == ND4C_OK; i++) {
    status = wait_for_other(stream, from_device, waits[i]);
  }
  return status != ND4C_OK ? status
                           : submit_copy(device, stream, to, from,
                                         (stub_copy){.to_offset = offset_or_lie(to_offset, "between_to"),
                                                     .from_offset = offset_or_lie(from_offset, "between_from"),
                                                     .bytes = bytes});
}

/* Links are faster between devices with closer numbers. */
static nd4c_status peer(void *device, void *other, nd4c_peer_link *link) {
  nd4c_status status = stub_attempt(STUB_CALL_peer);
  const int32_t distance = stub_device_index(device) - stub_device_index(other);
  if (status == ND4C_OK && distance == 0) {
    status = stub_violation("a device was asked how it reaches itself");
  }
  if (status == ND4C_OK) {
    const char *kind = stub_settings.peers;
    link->kind = strcmp(stub_settings.lie, "peer") == 0 ? (nd4c_peer_kind)77
                 : strcmp(kind, "none") == 0            ? ND4C_PEER_NONE
                 : strcmp(kind, "access") == 0          ? ND4C_PEER_ACCESS
                                                        : ND4C_PEER_COPY;
    link->rank = link->kind == ND4C_PEER_NONE ? 0 : distance < 0 ? -distance : distance;
  }
  return status;
}

static nd4c_status fill(void *device, nd4c_stream stream, nd4c_buffer buffer, int64_t offset, int64_t bytes,
                        const void *pattern, int32_t pattern_bytes) {
  nd4c_status status = stub_attempt(STUB_CALL_fill);
  stub_copy copy = {.to_offset = offset_or_lie(offset, "offset_fill"), .bytes = bytes, .pattern_bytes = pattern_bytes};
  if (status != ND4C_OK) {
    return status;
  }
  bool known = pattern_bytes >= 1 && pattern_bytes <= 16 && (pattern_bytes & (pattern_bytes - 1)) == 0;
  if (!known || offset % pattern_bytes != 0 || bytes % pattern_bytes != 0) {
    return stub_violation("a fill with a pattern that does not fit");
  }
  memcpy(copy.pattern, pattern, (size_t)pattern_bytes);
  return submit_copy(device, stream, buffer, NULL, copy);
}

/* -- streams and fences ------------------------------------------------------------------------------------------ */

static nd4c_status stream_create(void *device, nd4c_stream *stream) {
  nd4c_status status = stub_attempt(STUB_CALL_stream_create);
  stub_stream *made = NULL;
  if (status == ND4C_OK) {
    status = stub_stream_create(stub_device_index(device), 0, &made);
  }
  if (status == ND4C_OK) {
    *stream = (nd4c_stream)made;
  }
  return status;
}

static nd4c_status stream_create_with(void *device, const nd4c_stream_options *options, nd4c_stream *stream) {
  nd4c_status status = stub_attempt(STUB_CALL_stream_create);
  stub_stream *made = NULL;
  if (status == ND4C_OK) {
    status = stub_attempt(STUB_CALL_stream_create_with);
  }
  if (status == ND4C_OK && (options->struct_size != ND4C_SIZE_OF(nd4c_stream_options) ||
                            options->priority < STUB_LEAST_PRIORITY || options->priority > STUB_GREATEST_PRIORITY)) {
    status = stub_violation("a priority that the device does not have");
  }
  if (status == ND4C_OK) {
    status = stub_stream_create(stub_device_index(device), options->priority, &made);
  }
  *stream = (nd4c_stream)made;
  return status;
}

static nd4c_status stream_wrap(void *device, void *native, nd4c_stream *stream) {
  nd4c_status status = stub_attempt(STUB_CALL_stream_wrap);
  stub_stream *wrapped = NULL;
  if (status == ND4C_OK) {
    status = stub_stream_wrap(stub_device_index(device), native, &wrapped);
  }
  *stream = (nd4c_stream)wrapped;
  return status;
}

static void stream_destroy(void *device, nd4c_stream stream) {
  (void)device;
  stub_stream_destroy((stub_stream *)stream);
}

static nd4c_status stream_wait_fence(void *device, nd4c_stream stream, nd4c_fence fence) {
  nd4c_status status = stub_attempt(STUB_CALL_stream_wait_fence);
  return status != ND4C_OK || stub_lies("no_wait")
             ? status
             : stub_stream_wait_fence((stub_stream *)stream, (stub_fence *)fence, stub_device_index(device));
}

static nd4c_status stream_wait_other(void *device, nd4c_stream stream, void *from_device, nd4c_fence fence) {
  nd4c_status status = stub_attempt(STUB_CALL_stream_wait_other);
  if (status == ND4C_OK && device == from_device) {
    status = stub_violation("a wait for another device that is the stream's own");
  }
  return status != ND4C_OK ? status : wait_for_other(stream, from_device, fence);
}

static nd4c_status fence_record(void *device, nd4c_stream stream, nd4c_fence *fence) {
  (void)device;
  nd4c_status status = stub_attempt(STUB_CALL_fence_record);
  stub_fence *made = NULL;
  if (status == ND4C_OK) {
    status = stub_fence_record((stub_stream *)stream, &made);
  }
  if (status == ND4C_OK) {
    *fence = (nd4c_fence)made;
  }
  return status;
}

static bool fence_query(void *device, nd4c_fence fence) {
  (void)device;
  return !stub_fails(STUB_CALL_fence_query) && (stub_lies("ready") || stub_fence_ready((stub_fence *)fence));
}

static nd4c_status fence_wait(void *device, nd4c_fence fence, nd4c_failed_range *failed) {
  (void)device;
  if (stub_lies("early")) {
    return ND4C_OK;
  }
  nd4c_status status = stub_fence_wait((stub_fence *)fence, failed); /* the work has ended even if it failed */
  return status != ND4C_OK && !stub_lies("dropped") ? status : stub_attempt(STUB_CALL_fence_wait);
}

static nd4c_status fence_failure(void *device, nd4c_fence fence, int32_t index, nd4c_failed_range *failed) {
  (void)device;
  const bool endless = stub_fails(STUB_CALL_fence_failure); /* it reports its first failure again and again */
  return stub_fence_failure((stub_fence *)fence, endless ? 0 : index, failed);
}

static void fence_destroy(void *device, nd4c_fence fence) {
  (void)device;
  stub_fence_release((stub_fence *)fence);
}

static nd4c_status synchronize(void *device) {
  nd4c_status status = stub_attempt(STUB_CALL_synchronize);
  return status != ND4C_OK ? status : stub_synchronize(stub_device_index(device));
}

/* -- what is optional ---------------------------------------------------------------------------------------------- */

static nd4c_status memory_available(void *device, int64_t *bytes) {
  nd4c_status status = stub_attempt(STUB_CALL_memory_available);
  if (status == ND4C_OK) {
    const int64_t memory = stub_memory(), used = stub_buffer_used(stub_device_index(device));
    *bytes = memory < 0 ? memory : used < memory ? memory - used : 0; /* negative for a test that asks for it */
  }
  return status;
}

static void *stream_native(void *device, nd4c_stream stream) {
  (void)device;
  return stub_stream_native((stub_stream *)stream);
}

const nd4c_device_ops stub_device_ops = {
    .struct_size = ND4C_SIZE_OF(nd4c_device_ops),
    .device_open = device_open,
    .device_close = device_close,
    .describe = describe,
    .buffers = &buffer_ops,
    .copy_from_host = copy_from_host,
    .copy_to_host = copy_to_host,
    .copy_within = copy_within,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_wait_fence = stream_wait_fence,
    .fence_record = fence_record,
    .fence_query = fence_query,
    .fence_wait = fence_wait,
    .fence_destroy = fence_destroy,
    .synchronize = synchronize,
    .memory_available = memory_available,
    .stream_native = stream_native,
    .fill = fill,
    .copy_between = copy_between,
    .peer = peer,
    .external = &stub_external_ops,
    .stream_wait_other = stream_wait_other,
    .stream_create_with = stream_create_with,
    .stream_wrap = stream_wrap,
    .timing = &stub_timing_ops,
    .fence_failure = fence_failure,
};
