/* Checked calls of a backend's functions: a NULL handle after OK becomes a failure, every failure has a text, and its
 * status is one of nd4c's. device, ops/infer, submit, dispatch and graph/modes call backends through these, except
 * exit_and_fork.c, which calls synchronize directly at process exit because no caller needs the answer. */
#ifndef ND4C_DEVICE_DRIVER_H
#define ND4C_DEVICE_DRIVER_H

#include "base/compiler.h"
#include "base/status.h"
#include "base/threads/split.h"
#include "device/device.h"
#include "device/provider/provider_check.h"

static inline nd4c_status nd4c_driver_answer(nd4c_status status, const char *what) {
  return ND4C_LIKELY(status == ND4C_OK) ? ND4C_OK : nd4c_provider_failed(status, what);
}

/* As above, for a function that returns a handle. */
static inline nd4c_status nd4c_driver_handle(nd4c_status status, const void *handle, const char *what) {
  ND4C_TRY(nd4c_driver_answer(status, what));
  return ND4C_LIKELY(handle != NULL) ? ND4C_OK : nd4c_fail(ND4C_DEVICE, "%s returned OK but no handle", what);
}

/* Every call of a kernel's prepare and run goes through these two. */
static inline nd4c_status nd4c_driver_kernel_prepare(const nd4c_kernel *kernel, const nd4c_call *call, void **state) {
  *state = NULL;
  nd4c_error_expect();
  return nd4c_driver_answer(kernel->prepare(call, state), "prepare");
}

static inline nd4c_status nd4c_driver_kernel_run(const nd4c_kernel *kernel, const nd4c_call *call) {
  nd4c_error_expect();
  const uint64_t outer = nd4c_split_begin(call, call->output_count > 0 ? call->outputs->size : 0);
  const nd4c_status status = kernel->run(call);
  nd4c_split_end(outer);
  return nd4c_driver_answer(status, "run");
}

static inline nd4c_status nd4c_driver_buffer_allocate(const nd4c_device *device,
                                                      const nd4c_buffer_descriptor *descriptor, nd4c_buffer *buffer) {
  *buffer = NULL;
  nd4c_error_expect();
  const nd4c_status status = device->ops->buffers->allocate(device->handle, descriptor, buffer);
  return nd4c_driver_handle(status, *buffer, "buffers.allocate");
}

/* Frees a buffer; the work that used it has ended. */
static inline void nd4c_driver_buffer_free(const nd4c_device *device, nd4c_buffer buffer) {
  device->ops->buffers->free(device->handle, buffer);
}

/* Whether the device can free buffers in stream order, by the next function. */
static inline bool nd4c_driver_frees_on_streams(const nd4c_device *device) {
  const nd4c_buffer_ops *buffers = device->ops->buffers;
  return device->description.asynchronous && ND4C_HAS_FIELD(buffers, free_on) && buffers->free_on != NULL;
}

/* Frees a buffer in stream order; all work that uses it is on the stream. */
static inline void nd4c_driver_buffer_free_on(const nd4c_device *device, nd4c_buffer buffer, nd4c_stream stream) {
  device->ops->buffers->free_on(device->handle, buffer, stream);
}

/* NULL for memory of a device without addresses. */
static inline nd4c_status nd4c_driver_buffer_address(const nd4c_device *device, nd4c_buffer buffer,
                                                     nd4c_memory_kind kind, void **address) {
  const bool has = device->description.addressable || kind != ND4C_MEMORY_KIND_DEVICE;
  *address = has ? device->ops->buffers->address(device->handle, buffer) : NULL;
  return ND4C_LIKELY(*address != NULL || !has)
             ? ND4C_OK
             : nd4c_fail(ND4C_DEVICE, "buffers.address gave NULL for a buffer that has an address");
}

static inline nd4c_status nd4c_driver_stream_create(const nd4c_device *device, nd4c_stream *stream) {
  *stream = NULL;
  nd4c_error_expect();
  const nd4c_status status = device->ops->stream_create(device->handle, stream);
  return nd4c_driver_handle(status, *stream, "stream_create");
}

/* Only if the backend has stream_create_with. */
static inline nd4c_status nd4c_driver_stream_create_with(const nd4c_device *device, const nd4c_stream_options *options,
                                                         nd4c_stream *stream) {
  *stream = NULL;
  nd4c_error_expect();
  const nd4c_status status = device->ops->stream_create_with(device->handle, options, stream);
  return nd4c_driver_handle(status, *stream, "stream_create_with");
}

/* Only if the backend has stream_wrap. */
static inline nd4c_status nd4c_driver_stream_wrap(const nd4c_device *device, void *native, nd4c_stream *stream) {
  *stream = NULL;
  nd4c_error_expect();
  const nd4c_status status = device->ops->stream_wrap(device->handle, native, stream);
  return nd4c_driver_handle(status, *stream, "stream_wrap");
}

static inline nd4c_status nd4c_driver_fence_record(const nd4c_device *device, nd4c_stream stream, nd4c_fence *fence) {
  *fence = NULL;
  nd4c_error_expect();
  const nd4c_status status = device->ops->fence_record(device->handle, stream, fence);
  return nd4c_driver_handle(status, *fence, "fence_record");
}

/* *failed: zeros unless the device reports which calls failed. */
static inline nd4c_status nd4c_driver_fence_wait_range(const nd4c_device *device, nd4c_fence fence,
                                                       nd4c_failed_range *failed) {
  *failed = (nd4c_failed_range){0, 0};
  nd4c_error_expect();
  const nd4c_status status = nd4c_driver_answer(device->ops->fence_wait(device->handle, fence, failed), "fence_wait");
  if (failed->first < 1 || failed->last < failed->first) {
    *failed = (nd4c_failed_range){0, 0}; /* an invalid range counts as unknown */
  }
  return status;
}

/* OK: there are no more; see fence_failure, which the device has. *failed: as above. */
static inline nd4c_status nd4c_driver_fence_failure(const nd4c_device *device, nd4c_fence fence, int32_t index,
                                                    nd4c_failed_range *failed) {
  *failed = (nd4c_failed_range){0, 0};
  nd4c_error_expect();
  const nd4c_status status =
      nd4c_driver_answer(device->ops->fence_failure(device->handle, fence, index, failed), "fence_failure");
  if (failed->first < 1 || failed->last < failed->first) {
    *failed = (nd4c_failed_range){0, 0};
  }
  return status;
}

static inline nd4c_status nd4c_driver_fence_wait(const nd4c_device *device, nd4c_fence fence) {
  nd4c_failed_range failed;
  return nd4c_driver_fence_wait_range(device, fence, &failed);
}

static inline nd4c_status nd4c_driver_copy_from_host(const nd4c_device *device, nd4c_stream stream, nd4c_buffer to,
                                                     int64_t offset, const void *from, int64_t bytes) {
  nd4c_error_expect();
  return nd4c_driver_answer(device->ops->copy_from_host(device->handle, stream, to, offset, from, bytes),
                            "copy_from_host");
}

static inline nd4c_status nd4c_driver_copy_to_host(const nd4c_device *device, nd4c_stream stream, void *to,
                                                   nd4c_buffer from, int64_t offset, int64_t bytes) {
  nd4c_error_expect();
  return nd4c_driver_answer(device->ops->copy_to_host(device->handle, stream, to, from, offset, bytes), "copy_to_host");
}

/* The functions below are optional for a backend; the caller has checked that they are set. */

static inline nd4c_status nd4c_driver_copy_within(const nd4c_device *device, nd4c_stream stream, nd4c_buffer to,
                                                  int64_t to_offset, nd4c_buffer from, int64_t from_offset,
                                                  int64_t bytes) {
  nd4c_error_expect();
  return nd4c_driver_answer(device->ops->copy_within(device->handle, stream, to, to_offset, from, from_offset, bytes),
                            "copy_within");
}

/* wait: of from_device, NULL: none. UNSUPPORTED: nothing was enqueued. */
static inline nd4c_status nd4c_driver_copy_between(const nd4c_device *device, nd4c_stream stream, nd4c_buffer to,
                                                   int64_t to_offset, const nd4c_device *from_device, nd4c_buffer from,
                                                   int64_t from_offset, int64_t bytes, const nd4c_fence *waits,
                                                   int32_t wait_count) {
  nd4c_error_expect();
  return nd4c_driver_answer(device->ops->copy_between(device->handle, stream, to, to_offset, from_device->handle, from,
                                                      from_offset, bytes, waits, wait_count),
                            "copy_between");
}

/* UNSUPPORTED, also if the backend has no such function: nothing was enqueued. */
static inline nd4c_status nd4c_driver_stream_wait_other(const nd4c_device *device, nd4c_stream stream,
                                                        const nd4c_device *from_device, nd4c_fence fence) {
  if (device->backend != from_device->backend || device->ops->stream_wait_other == NULL) {
    return ND4C_UNSUPPORTED;
  }
  nd4c_error_expect();
  return nd4c_driver_answer(device->ops->stream_wait_other(device->handle, stream, from_device->handle, fence),
                            "stream_wait_other");
}

static inline nd4c_status nd4c_driver_peer(const nd4c_device *device, const nd4c_device *other, nd4c_peer_link *link) {
  nd4c_error_expect();
  return nd4c_driver_answer(device->ops->peer(device->handle, other->handle, link), "peer");
}

static inline nd4c_status nd4c_driver_fill(const nd4c_device *device, nd4c_stream stream, nd4c_buffer buffer,
                                           int64_t offset, int64_t bytes, const void *pattern, int32_t pattern_bytes) {
  nd4c_error_expect();
  return nd4c_driver_answer(device->ops->fill(device->handle, stream, buffer, offset, bytes, pattern, pattern_bytes),
                            "fill");
}

static inline nd4c_status nd4c_driver_memory_available(const nd4c_device *device, int64_t *bytes) {
  *bytes = 0;
  nd4c_error_expect();
  ND4C_TRY(nd4c_driver_answer(device->ops->memory_available(device->handle, bytes), "memory_available"));
  return *bytes >= 0
             ? ND4C_OK
             : nd4c_fail(ND4C_DEVICE, "memory_available gave %lld bytes, expected 0 or more", (long long)*bytes);
}

/* -- timing: the caller has checked that the device has it
 * ------------------------------------------------------------ */

static inline nd4c_status nd4c_driver_timing_end(const nd4c_device *device, nd4c_stream stream, nd4c_timing *timing) {
  *timing = NULL;
  nd4c_error_expect();
  const nd4c_status status = device->ops->timing->end(device->handle, stream, timing);
  return nd4c_driver_handle(status, *timing, "timing.end");
}

static inline nd4c_status nd4c_driver_timing_read(const nd4c_device *device, nd4c_timing timing, bool wait, bool *ready,
                                                  nd4c_timing_span *span) {
  *ready = wait;
  nd4c_error_expect();
  ND4C_TRY(nd4c_driver_answer(device->ops->timing->read(device->handle, timing, wait, ready, span), "timing.read"));
  const bool sound = !*ready || (span->begin <= span->end && span->busy >= 0 &&
                                 (span->submitted == 0 || span->submitted <= span->begin));
  return sound ? ND4C_OK
               : nd4c_fail(ND4C_DEVICE, "timing.read gave %lld, %lld to %lld and %lld busy, which are not in order",
                           (long long)span->submitted, (long long)span->begin, (long long)span->end,
                           (long long)span->busy);
}

/* -- capture: the caller has checked that the device has it
 * ----------------------------------------------------------- */

static inline nd4c_status nd4c_driver_capture_begin(const nd4c_device *device, nd4c_stream stream) {
  nd4c_error_expect();
  return nd4c_driver_answer(device->ops->capture->begin(device->handle, stream), "capture.begin");
}

static inline nd4c_status nd4c_driver_capture_end(const nd4c_device *device, nd4c_stream stream,
                                                  nd4c_recording *recording) {
  *recording = NULL;
  nd4c_error_expect();
  const nd4c_status status = device->ops->capture->end(device->handle, stream, recording);
  return nd4c_driver_handle(status, *recording, "capture.end");
}

static inline nd4c_status nd4c_driver_capture_instantiate(const nd4c_device *device, nd4c_recording recording,
                                                          nd4c_launchable *launchable) {
  *launchable = NULL;
  nd4c_error_expect();
  const nd4c_status status = device->ops->capture->instantiate(device->handle, recording, launchable);
  return nd4c_driver_handle(status, *launchable, "capture.instantiate");
}

/* UNSUPPORTED: the launchable is unchanged. */
static inline nd4c_status nd4c_driver_capture_update(const nd4c_device *device, nd4c_launchable launchable,
                                                     nd4c_recording recording) {
  nd4c_error_expect();
  return nd4c_driver_answer(device->ops->capture->update(device->handle, launchable, recording), "capture.update");
}

static inline nd4c_status nd4c_driver_capture_launch(const nd4c_device *device, nd4c_launchable launchable,
                                                     nd4c_stream stream, int64_t points) {
  nd4c_error_expect();
  return nd4c_driver_answer(device->ops->capture->launch(device->handle, launchable, stream, points), "capture.launch");
}

/* -- external memory: the caller has checked that the device has it
 * -------------------------------------------------- */

static inline nd4c_status nd4c_driver_import_memory(const nd4c_device *device, const nd4c_external *external,
                                                    nd4c_buffer *buffer) {
  *buffer = NULL;
  nd4c_error_expect();
  const nd4c_status status = device->ops->external->import_memory(device->handle, external, buffer);
  return nd4c_driver_handle(status, *buffer, "external.import_memory");
}

/* Maximum alignment of external memory: the largest page of any machine. */
#define ND4C_DRIVER_ALIGNMENT (INT64_C(1) << 30)

static inline bool nd4c_driver_is_alignment(int64_t alignment) {
  return alignment >= 0 && alignment <= ND4C_DRIVER_ALIGNMENT && (alignment & (alignment - 1)) == 0;
}

/* A refused answer is released to the device. */
static inline nd4c_status nd4c_driver_export_memory(const nd4c_device *device, nd4c_buffer buffer,
                                                    nd4c_external *external) {
  const nd4c_external_kind kind = external->kind;
  const int64_t bytes = external->bytes;
  nd4c_error_expect();
  ND4C_TRY(nd4c_driver_answer(device->ops->external->export_memory(device->handle, buffer, kind, external),
                              "external.export_memory"));
  const bool named = kind == ND4C_EXTERNAL_DESCRIPTOR ? external->descriptor >= 0 : external->pointer != NULL;
  const bool aligned = nd4c_driver_is_alignment(external->alignment);
  if (external->kind == kind && named && aligned && external->offset >= 0 && external->bytes == bytes) {
    return ND4C_OK;
  }
  if (external->release != NULL) {
    external->release(external->user);
  }
  return nd4c_fail(ND4C_DEVICE, "external.export_memory returned OK but gave %s",
                   external->kind != kind ? "a kind other than the requested one"
                   : !named               ? "no memory"
                                          : "odd numbers");
}

static inline nd4c_status nd4c_driver_host_register(const nd4c_device *device, void *pointer, int64_t bytes) {
  nd4c_error_expect();
  return nd4c_driver_answer(device->ops->external->host_register(device->handle, pointer, bytes),
                            "external.host_register");
}

/* OK if the backend has no such function. */
static inline nd4c_status nd4c_driver_synchronize(const nd4c_device *device) {
  nd4c_error_expect();
  return device->ops->synchronize == NULL ? ND4C_OK
                                          : nd4c_driver_answer(device->ops->synchronize(device->handle), "synchronize");
}

#endif
