/* Devices: memory, copies, streams and fences. A backend fills nd4c_device_ops once; nd4c calls it with each device
 * that it opened. */
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
  ND4C_PLUGIN_ALIGNMENT_LIMIT = 1 << 21 /* of buffers: 2 MiB, the largest pages that drivers align to by themselves */
};

/* What a device is; nd4c presets everything with 0. nd4c copies the words, as one line of valid UTF-8. A negative
 * number, an alignment that is no power of two or beyond ND4C_PLUGIN_ALIGNMENT_LIMIT, a type that is not the backend's
 * and a PCI address of another form refuse the device. */
typedef struct nd4c_device_description {
  uint32_t struct_size;
  const char *description;     /* for people; NULL: none */
  nd4c_device_type type;       /* the backend's */
  bool addressable;            /* buffers have addresses: kernels get them, and so do the user and DLPack */
  bool host_readable;          /* the host may read and write at these addresses; only with addressable */
  bool asynchronous;           /* run and execute return before the work is done: streams and fences are needed */
  int64_t memory_bytes;        /* in all; 0: unknown */
  int32_t width;               /* parallel width of a call at most; 0: 1 */
  int64_t alignment;           /* of buffers, bytes; 0: 64 */
  const char *vendor, *driver; /* "AuthenticAMD", "3.1+debian"; NULL: unknown */
  nd4c_dtype_set dtypes;       /* that some kernel computes with here; 0: those of all kernels for it */
  bool host_processor;         /* it is the host's own processor by another name */
  bool unified_memory;         /* device and host share the memory behind buffers */
  bool has_native;             /* there is a vendor's handle: */
  void *native;                /* cl_device_id, CUdevice as a pointer, of which the first is NULL */
  int64_t largest_bytes;       /* of one buffer; 0: no limit but the memory's */
  bool has_uuid;               /* the vendor's UUID of this very piece of hardware, the same in every process: */
  uint8_t uuid[ND4C_DEVICE_UUID_BYTES];
  uint32_t memory_kinds;  /* ND4C_MEMORY_KIND_BIT of those that can be allocated beside DEVICE */
  const char *pci;        /* PCI address: domain:bus:device.function in hexadecimal, "0000:65:00.0"; NULL: unknown */
  const char *capability; /* version of what the hardware can, as its vendor counts: "8.9"; NULL: unknown */
  /* Kernels and executables take whole buffers alone: each tensor begins with its buffer, at offset 0, and lies in C
   * order. nd4c then gives each value a buffer of its own, and copies views. Copies and fills may have offsets all the
   * same. Not with host_readable. */
  bool whole_buffers;
  /* A failure in flight of a call that has a point is told with that point (fence_wait, fence_failure), whatever else
   * the fence covers. nd4c then asks for a fence only where the host or another stream waits, and one may cover
   * hundreds of calls. Else it asks for one behind each call, and everything that the fence covers counts as failed. */
  bool tells_points;
  /* Sets of ND4C_EXTERNAL_BIT: what nd4c_device_ops.external imports, and what it exports beside pointers. */
  uint32_t imports, exports;
  /* Priorities that streams may have: from the least, at most 0, to the greatest, at least 0, which goes first. Both 0:
   * there is one alone. Else stream_create_with is required. */
  int32_t least_priority, greatest_priority;
} nd4c_device_description;

/* Which calls failed, by nd4c_call.point. Zeros: not known. Not versioned by struct_size. */
typedef struct nd4c_failed_range {
  int64_t first, last; /* no call before the first failed, and none after the last */
} nd4c_failed_range;

/* What a device does with the memory of another one of its backend; nd4c presets kind NONE and rank 0. */
typedef struct nd4c_peer_link {
  uint32_t struct_size;
  nd4c_peer_kind kind; /* COPY: copy_between works from there; ACCESS: so do kernels on its buffers */
  int32_t rank;        /* of the link's speed among the backend's links: 1 is the fastest; 0: unknown; at most 65535 */
} nd4c_peer_link;

/* How a stream is to be made. */
typedef struct nd4c_stream_options {
  uint32_t struct_size;
  int32_t priority; /* within the description's range; 0: the usual one */
  bool timed;       /* nd4c records what runs, and is going to ask for times (plugin/timing.h) */
} nd4c_stream_options;

/* Operations of a backend's devices. `device` is the pointer that device_open gave. Functions may be called by several
 * threads at once, also for one stream; one fence is waited for, asked and destroyed by one thread at a time, while
 * others may let streams wait for it. A handle that is NULL after OK counts as a failure.
 *
 * On an asynchronous device everything that takes a stream enqueues its work and returns; on a synchronous one the
 * stream is NULL, and the work has ended when the function returns. nd4c keeps buffers, host memory and executables
 * alive until the work that uses them has ended, unless a comment says otherwise. */
typedef struct nd4c_device_ops {
  uint32_t struct_size;
  /* Opens device `index` of 0 .. device_count() - 1. Called under nd4c's registry lock; again only after MEMORY or
   * DEVICE_LOST. Required. May block. */
  nd4c_status (*device_open)(int32_t index, void **device);
  /* Called where a device that was opened cannot be used all the same; not at the end of the process. Nothing of it is
   * in use. Optional. May block. */
  void (*device_close)(void *device);
  /* Called once, after device_open. Required. May block for questions to the driver.
   *
   * Behind it nd4c checks the device: it copies eight numbers there, adds them by the kernel of the lowest priority
   * that takes them, else by the first compiler that does, with the scratch that each asks for, and reads the sum. A
   * device without an addition of float32 has to give back what was copied; one without any kernel or compiler is
   * refused. */
  nd4c_status (*describe)(void *device, nd4c_device_description *description);

  /* Its memory. Required. */
  const nd4c_buffer_ops *buffers;

  /* Copies between host memory and a buffer, and between buffers of one device. The host memory stays valid and
   * unchanged until the stream has passed this point. The ranges of copy_within do not overlap where the buffers are
   * the same. The first two are required; copy_within is optional: NULL: by way of the host. */
  nd4c_status (*copy_from_host)(void *device, nd4c_stream stream, nd4c_buffer to, int64_t offset, const void *from,
                                int64_t bytes);
  nd4c_status (*copy_to_host)(void *device, nd4c_stream stream, void *to, nd4c_buffer from, int64_t offset,
                              int64_t bytes);
  nd4c_status (*copy_within)(void *device, nd4c_stream stream, nd4c_buffer to, int64_t to_offset, nd4c_buffer from,
                             int64_t from_offset, int64_t bytes);

  /* Streams and fences: required of asynchronous devices, not called for others. Work on one stream begins, as far as
   * it can be told from its results, in the order in which it was enqueued. stream_create may block for as long as the
   * driver takes, but does not wait for work under way. */
  nd4c_status (*stream_create)(void *device, nd4c_stream *stream);
  /* Blocks until everything enqueued on the stream has ended. */
  void (*stream_destroy)(void *device, nd4c_stream stream);
  /* Lets what is enqueued on `stream` from here on begin after the fence, which another stream of the device may have
   * recorded, is ready, however its work ended. Does not block. The fence may be destroyed before that. */
  nd4c_status (*stream_wait_fence)(void *device, nd4c_stream stream, nd4c_fence fence);
  /* A fence that is ready when everything enqueued on the stream before this call has ended; where work has failed, it
   * is enough that everything has ended which was enqueued since the stream's previous fence, because nd4c asks a
   * stream's fences in their order. It tells the failures among the work enqueued since the previous fence. What
   * depends on failed work is nd4c's matter: it follows the fences of inputs. Does not block. */
  nd4c_status (*fence_record)(void *device, nd4c_stream stream, nd4c_fence *fence);
  /* Whether it is ready. Does not block. */
  bool (*fence_query)(void *device, nd4c_fence fence);
  /* Blocks until it is ready. The status of the work, with its text set through host->fail, in every call the same. A
   * failure, too, means that the work has ended: the memory that it used may be freed next. After a failure a device
   * that tells points writes to *failed, which nd4c presets with zeros, which calls failed: what depends on those
   * counts as failed. Zeros: everything that the fence covers has failed. */
  nd4c_status (*fence_wait)(void *device, nd4c_fence fence, nd4c_failed_range *failed);
  /* Also of a fence that is not ready yet: its work goes on. Does not block. */
  void (*fence_destroy)(void *device, nd4c_fence fence);
  /* Blocks until everything enqueued on any stream of the device has ended. A failure that no fence has told. Also used
   * where fence_record fails, so that the work ends whose fence is missing. Optional; NULL: fences alone are waited
   * for. */
  nd4c_status (*synchronize)(void *device);

  /* -- what follows is optional ------------------------------------------------------------------------------------ */

  /* Bytes that could be allocated now. Does not block. NULL: the total less what nd4c holds. */
  nd4c_status (*memory_available)(void *device, int64_t *bytes);
  /* The vendor's handle of a stream (cl_command_queue, CUstream), as long as the stream lives. Does not block.
   * NULL: none. */
  void *(*stream_native)(void *device, nd4c_stream stream);
  /* Repeats a pattern of 1, 2, 4, 8 or 16 bytes over `bytes` bytes of a buffer, from `offset` on, of both of which its
   * length is a divisor. The pattern is read before this returns. NULL: the host fills memory of its own and copies
   * it. */
  nd4c_status (*fill)(void *device, nd4c_stream stream, nd4c_buffer buffer, int64_t offset, int64_t bytes,
                      const void *pattern, int32_t pattern_bytes);
  /* Copies a part of a buffer of another of the backend's devices to a buffer of `device`, without host memory, on
   * `stream` of `device`. The copy begins after the `wait_count` fences of from_device are ready, which mark the end of
   * the work that writes the source, however that work ended. The fences may be destroyed when this returns. On a
   * synchronous device there are none. Does not block. UNSUPPORTED: these two cannot reach each other, nothing was
   * enqueued, and the bytes go by way of the host. NULL: none can. */
  nd4c_status (*copy_between)(void *device, nd4c_stream stream, nd4c_buffer to, int64_t to_offset, void *from_device,
                              nd4c_buffer from, int64_t from_offset, int64_t bytes, const nd4c_fence *waits,
                              int32_t wait_count);
  /* Recording work and launching it again; of asynchronous devices. NULL: it records none. */
  const nd4c_capture_ops *capture;
  /* What `device` does with the memory of `other`, another of the backend's devices that are open. Asked once for each
   * pair, in each direction; the answer holds as long as both are open. NONE: copy_between is not called for the two.
   * May block for a question to the driver. NULL: COPY where there is a copy_between, whose UNSUPPORTED tells more. */
  nd4c_status (*peer)(void *device, void *other, nd4c_peer_link *link);
  /* Memory of others, memory for others, and host memory that is page-locked. NULL: none of that. */
  const nd4c_external_ops *external;
  /* As stream_wait_fence, for a fence that a stream of another of the backend's devices has recorded. Does not block.
   * UNSUPPORTED: `device` cannot wait for that one, nothing was enqueued, and the host waits for the fence instead.
   * NULL: none can. */
  nd4c_status (*stream_wait_other)(void *device, nd4c_stream stream, void *from_device, nd4c_fence fence);
  /* As stream_create, with options; nd4c then calls this one for streams of contexts. Blocks no longer than
   * stream_create. NULL: streams have no priority. */
  nd4c_status (*stream_create_with)(void *device, const nd4c_stream_options *options, nd4c_stream *stream);
  /* A handle, another one at each call, for a stream that the application has made with the vendor's functions and owns
   * (CUstream, cl_command_queue): nd4c's work goes there, in order with the application's own. `native` may be NULL,
   * which names a stream where the vendor's default one has no handle (CUDA). The application keeps it alive until
   * stream_destroy, which frees the handle, leaves the vendor's stream alone, and blocks until everything on it has
   * ended. ARGUMENT, with a text that says what is expected: it is no stream of this device. Does not block. NULL: none
   * can be taken. */
  nd4c_status (*stream_wrap)(void *device, void *native, nd4c_stream *stream);
  /* Times of work, of asynchronous devices. NULL: it tells none, and the tracer has the time until work is submitted.
   */
  const nd4c_timing_ops *timing;
  /* The failures that a fence tells, one by one, for a device that tells points: number `index`, 0 first, in any order.
   * Its status, with its text through host->fail, and in *failed, which nd4c presets with zeros, the point of its call.
   * OK: there are no more. nd4c asks for 4096 at most; what is left counts as failed without a point. Only called where
   * fence_wait has failed. Does not block. NULL: what fence_wait says is all. */
  nd4c_status (*fence_failure)(void *device, nd4c_fence fence, int32_t index, nd4c_failed_range *failed);
} nd4c_device_ops;

ND4C_EXTERN_C_END
#endif
