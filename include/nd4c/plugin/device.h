/* Devices: memory, copies, streams and fences. A backend fills one nd4c_device_ops, which nd4c uses for each of the
 * backend's devices. */
#ifndef ND4C_PLUGIN_DEVICE_H
#define ND4C_PLUGIN_DEVICE_H

#include "nd4c/device.h"
#include "nd4c/dtype.h"
#include "nd4c/plugin/abi.h"
#include "nd4c/plugin/buffer.h"
#include "nd4c/plugin/capture.h"
#include "nd4c/plugin/external.h"
#include "nd4c/plugin/timing.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

enum {
  ND4C_DEVICE_UUID_BYTES = 16,
  ND4C_PLUGIN_ALIGNMENT_LIMIT = 1 << 21 /* of buffers: 2 MiB, the largest page size to which drivers align */
};

/* Describes a device; nd4c presets everything with 0. nd4c copies the texts, as one line of valid UTF-8. nd4c refuses
 * the device for a negative number, an alignment that is not a power of two or exceeds ND4C_PLUGIN_ALIGNMENT_LIMIT, a
 * type other than the backend's, or a malformed PCI address. */
typedef struct nd4c_device_description {
  uint32_t struct_size;
  const char *description;     /* a text for users; NULL: none */
  nd4c_device_type type;       /* the backend's */
  bool addressable;            /* buffers have addresses, which kernels, programs and DLPack get */
  bool host_readable;          /* the host may read and write through these addresses; requires addressable */
  bool asynchronous;           /* run and execute return before the work is done; requires streams and fences */
  int64_t memory_bytes;        /* total memory; 0: unknown */
  int32_t width;               /* maximum parallel width of a call; 0 stands for 1 */
  int64_t alignment;           /* of buffers, bytes; 0 stands for 64 */
  const char *vendor, *driver; /* "AuthenticAMD", "3.1+debian"; NULL: unknown */
  nd4c_dtype_set dtypes;       /* dtypes that at least one kernel computes with; 0: those of the device's kernels */
  bool host_processor;         /* it is the host's own processor under another name */
  bool unified_memory;         /* device and host share physical memory */
  bool has_native;             /* `native` is the vendor's handle, even if it is NULL */
  void *native;                /* cl_device_id, CUdevice as a pointer (CUdevice 0 is NULL) */
  int64_t largest_bytes;       /* maximum size of one buffer; 0: limited by the memory alone */
  bool has_uuid;               /* `uuid` is the vendor's UUID of this unit, the same in every process */
  uint8_t uuid[ND4C_DEVICE_UUID_BYTES];
  uint32_t memory_kinds;  /* set of ND4C_MEMORY_KIND_BIT: the kinds besides DEVICE that can be allocated */
  const char *pci;        /* PCI address: domain:bus:device.function in hexadecimal, "0000:65:00.0"; NULL: unknown */
  const char *capability; /* the vendor's version of the hardware's features: "8.9"; NULL: unknown */
  /* Kernels and executables take only whole buffers: each tensor starts at offset 0 of its buffer and lies in C order.
   * nd4c then allocates a separate buffer for each value, and copies views. Copies and fills may still have offsets.
   * Excludes host_readable. */
  bool whole_buffers;
  /* If a numbered call (nd4c_call.point) fails in flight, fence_wait and fence_failure report its number, whatever
   * other calls the fence covers. nd4c then records a fence only where the host or another stream waits, so one fence
   * may cover hundreds of calls. Without tells_points nd4c records a fence after each call, and a failure counts for
   * everything that the fence covers. */
  bool tells_points;
  /* Sets of ND4C_EXTERNAL_BIT: the kinds that nd4c_device_ops.external imports, and those that it exports besides
   * pointers. */
  uint32_t imports, exports;
  /* Range of stream priorities: the least is at most 0; the greatest, served first, is at least 0. Both 0: there is a
   * single priority. Otherwise stream_create_with is required. */
  int32_t least_priority, greatest_priority;
} nd4c_device_description;

/* Which calls failed, by nd4c_call.point. Zeros: unknown. Not versioned by struct_size. */
typedef struct nd4c_failed_range {
  int64_t first, last; /* all calls that failed have numbers from `first` to `last` */
} nd4c_failed_range;

/* How a device accesses the memory of another device of its backend; nd4c presets kind NONE and rank 0. */
typedef struct nd4c_peer_link {
  uint32_t struct_size;
  nd4c_peer_kind kind; /* COPY: copy_between works from the other device; ACCESS: kernels on its buffers do, too */
  int32_t rank;        /* of the link's speed among the backend's links: 1 is the fastest; 0: unknown; at most 65535 */
} nd4c_peer_link;

/* Options of stream_create_with. */
typedef struct nd4c_stream_options {
  uint32_t struct_size;
  int32_t priority; /* within the description's range; 0: the default */
  bool timed;       /* the tracer is on and will ask for times (plugin/timing.h) */
} nd4c_stream_options;

/* Operations of a backend's devices. `device` is the pointer that device_open gave. Several threads may call functions
 * at once, also for one stream. One thread at a time waits for, queries or destroys a fence, while other threads may
 * make streams wait for it. A NULL handle after OK counts as a failure.
 *
 * On an asynchronous device every function that takes a stream enqueues its work and returns. On a synchronous one the
 * stream is NULL, and the work has ended when the function returns. nd4c keeps buffers, host memory and executables
 * alive until the work that uses them has ended, unless a comment says otherwise. */
typedef struct nd4c_device_ops {
  uint32_t struct_size;
  /* Opens device `index`, 0 .. device_count() - 1. nd4c calls it holding its registry lock, and again only after MEMORY
   * or DEVICE_LOST. Required. May block. */
  nd4c_status (*device_open)(int32_t index, void **device);
  /* Closes an opened device that turns out to be unusable; none of its objects is in use. Not called at process exit.
   * Optional. May block. */
  void (*device_close)(void *device);
  /* Fills the description. Called once, after device_open. Required. May block for queries to the driver.
   *
   * nd4c then checks the device. It copies eight numbers to the device, adds them and reads the sum. For the addition
   * it takes the kernel of the lowest priority that accepts them or, if there is none, the first compiler that does. A
   * device without an addition of float32 only has to return the copied numbers; a device without any kernel or
   * compiler is refused. */
  nd4c_status (*describe)(void *device, nd4c_device_description *description);

  /* The device's memory. Required. */
  const nd4c_buffer_ops *buffers;

  /* Copies between host memory and a buffer, and between buffers of one device. The host memory stays valid and
   * unchanged until the stream has passed this point. The ranges of copy_within do not overlap where the buffers are
   * the same. The first two are required. copy_within is optional; NULL: nd4c copies through the host. */
  nd4c_status (*copy_from_host)(void *device, nd4c_stream stream, nd4c_buffer to, int64_t offset, const void *from,
                                int64_t bytes);
  nd4c_status (*copy_to_host)(void *device, nd4c_stream stream, void *to, nd4c_buffer from, int64_t offset,
                              int64_t bytes);
  nd4c_status (*copy_within)(void *device, nd4c_stream stream, nd4c_buffer to, int64_t to_offset, nd4c_buffer from,
                             int64_t from_offset, int64_t bytes);

  /* Streams and fences: required for asynchronous devices, not called for others. Work on one stream behaves as if it
   * ran in the order in which it was enqueued. stream_create may block in the driver, but does not wait for work in
   * flight. */
  nd4c_status (*stream_create)(void *device, nd4c_stream *stream);
  /* Blocks until everything enqueued on the stream has ended. */
  void (*stream_destroy)(void *device, nd4c_stream stream);
  /* Makes work that is enqueued on `stream` from now on wait until the fence is signalled, whether the fence's work
   * succeeded or failed. Any stream of the device may have recorded the fence. Does not block. nd4c may destroy the
   * fence before it is signalled. */
  nd4c_status (*stream_wait_fence)(void *device, nd4c_stream stream, nd4c_fence fence);
  /* Records a fence that is signalled when everything enqueued on the stream before this call has ended. If this work
   * fails, the fence may be signalled earlier, as soon as everything enqueued since the stream's previous fence has
   * ended; nd4c queries a stream's fences in order. The fence reports failures among the work enqueued since the
   * previous fence. nd4c itself tracks what depends on failed work, through the fences of inputs. Does not block. */
  nd4c_status (*fence_record)(void *device, nd4c_stream stream, nd4c_fence *fence);
  /* Whether the fence is signalled. Does not block. */
  bool (*fence_query)(void *device, nd4c_fence fence);
  /* Blocks until the fence is signalled. Returns the status of the work, the same in every call; the text of a failure
   * is set through host->fail. A failure also means that the work has ended: nd4c may free the memory that it used.
   * After a failure, a device with tells_points writes to *failed, which nd4c presets with zeros, the range of calls
   * that failed; nd4c then treats everything that depends on these calls as failed. Zeros: everything that the fence
   * covers has failed. */
  nd4c_status (*fence_wait)(void *device, nd4c_fence fence, nd4c_failed_range *failed);
  /* Destroys a fence, signalled or not; its work is not affected. Does not block. */
  void (*fence_destroy)(void *device, nd4c_fence fence);
  /* Blocks until everything enqueued on any stream of the device has ended. Returns a failure that no fence has
   * reported. nd4c also calls it if fence_record fails, to wait for work that has no fence. Optional; NULL: nd4c waits
   * for fences alone. */
  nd4c_status (*synchronize)(void *device);

  /* -- what follows is optional ------------------------------------------------------------------------------------ */

  /* Bytes that could be allocated now. Does not block. NULL: nd4c assumes the total less what it holds itself. */
  nd4c_status (*memory_available)(void *device, int64_t *bytes);
  /* The vendor's handle of a stream (cl_command_queue, CUstream), valid as long as the stream. Does not block. NULL:
   * streams have none. */
  void *(*stream_native)(void *device, nd4c_stream stream);
  /* Repeats a pattern of 1, 2, 4, 8 or 16 bytes over `bytes` bytes of a buffer, from `offset` on; both are multiples of
   * pattern_bytes. Reads the pattern before it returns. NULL: nd4c fills host memory and copies it. */
  nd4c_status (*fill)(void *device, nd4c_stream stream, nd4c_buffer buffer, int64_t offset, int64_t bytes,
                      const void *pattern, int32_t pattern_bytes);
  /* Copies a part of a buffer of from_device, another device of the backend, to a buffer of `device`, on `stream` of
   * `device` and without passing through host memory. The copy starts when the `wait_count` fences of from_device are
   * signalled, whether their work, which wrote the source, succeeded or failed. nd4c may destroy the fences when this
   * returns. On a synchronous device there are none. Does not block. UNSUPPORTED: the two devices cannot reach each
   * other, and nothing was enqueued; nd4c then copies through the host. NULL: no two devices of the backend can. */
  nd4c_status (*copy_between)(void *device, nd4c_stream stream, nd4c_buffer to, int64_t to_offset, void *from_device,
                              nd4c_buffer from, int64_t from_offset, int64_t bytes, const nd4c_fence *waits,
                              int32_t wait_count);
  /* Recording work and launching it again, on asynchronous devices. NULL: the device cannot. */
  const nd4c_capture_ops *capture;
  /* Says how `device` accesses the memory of `other`, another open device of the backend. nd4c asks once for each pair,
   * in each direction; the answer holds as long as both are open. NONE: nd4c does not call copy_between for the two.
   * May block for a query to the driver. NULL: COPY if there is a copy_between, until it returns UNSUPPORTED. */
  nd4c_status (*peer)(void *device, void *other, nd4c_peer_link *link);
  /* Importing, exporting and page-locking memory. NULL: the device can do none of these. */
  const nd4c_external_ops *external;
  /* As stream_wait_fence, for a fence that a stream of another device of the backend has recorded. Does not block.
   * UNSUPPORTED: `device` cannot wait for from_device, and nothing was enqueued; the host then waits for the fence.
   * NULL: no device can. */
  nd4c_status (*stream_wait_other)(void *device, nd4c_stream stream, void *from_device, nd4c_fence fence);
  /* As stream_create, with options; if it is set, nd4c uses it for the streams of contexts. Blocks no longer than
   * stream_create. NULL: streams have no priority. */
  nd4c_status (*stream_create_with)(void *device, const nd4c_stream_options *options, nd4c_stream *stream);
  /* Makes a new handle for a stream that the application has created with the vendor's functions and owns (CUstream,
   * cl_command_queue). nd4c enqueues its work there, in order with the application's own. `native` may be NULL where
   * that names the vendor's default stream (CUDA). The application keeps the stream alive until stream_destroy, which
   * blocks until everything on the stream has ended and frees the handle, but does not destroy the vendor's stream.
   * ARGUMENT, with a text that says what is expected: it is not a stream of this device. Does not block. NULL: the
   * device takes no such streams. */
  nd4c_status (*stream_wrap)(void *device, void *native, nd4c_stream *stream);
  /* Times of work, on asynchronous devices. NULL: the device reports none, and the tracer records the time until
   * submission. */
  const nd4c_timing_ops *timing;
  /* For a device with tells_points: failure number `index`, from 0, of those that a fence reports, in any order.
   * Returns its status, with its text through host->fail, and writes the point of its call to *failed, which nd4c
   * presets with zeros. OK: there are no more. nd4c asks for at most 4096; it treats any further failures as failures
   * of calls that have no point. Only called after fence_wait has failed. Does not block. NULL: fence_wait reports
   * everything. */
  nd4c_status (*fence_failure)(void *device, nd4c_fence fence, int32_t index, nd4c_failed_range *failed);
} nd4c_device_ops;

ND4C_EXTERN_C_END
#endif
