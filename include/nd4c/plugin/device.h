/* Devices: memory, copies, streams and fences. A backend fills nd4c_device_ops once; nd4c calls it with each device that it opened. */
#ifndef ND4C_PLUGIN_DEVICE_H
#define ND4C_PLUGIN_DEVICE_H

#include "nd4c/device.h"
#include "nd4c/dtype.h"
#include "nd4c/plugin/abi.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* What a device is. Strings are static or live as long as the backend is open. */
typedef struct nd4c_device_description {
  uint32_t struct_size;
  const char *description;
  nd4c_device_type type;
  bool host_addressable; /* buffers have addresses that the host may use */
  bool asynchronous;     /* run and execute return before the work is done: streams and fences are needed */
  int64_t memory_bytes;
  int32_t width;
  int64_t alignment; /* of buffers, bytes */
  const char *vendor, *driver; /* "AuthenticAMD", "3.1+debian"; NULL: unknown */
  nd4c_dtype_set dtypes;       /* that some kernel computes with here; 0: those of the backend's kernels */
  bool host_processor;         /* it is the host's own processor by another name */
  bool unified_memory;         /* device and host share the memory behind buffers */
  bool has_native;             /* there is a vendor's handle: */
  void *native;                /* cl_device_id, CUdevice as a pointer, of which the first is NULL */
  int64_t largest_bytes;       /* of one buffer; 0: no limit but the memory's */
} nd4c_device_description;

/* Operations of a backend's devices. `device` is the pointer that device_open gave. */
typedef struct nd4c_device_ops {
  uint32_t struct_size;
  nd4c_status (*device_open)(int32_t index, void **device);
  void (*device_close)(void *device);
  nd4c_status (*describe)(void *device, nd4c_device_description *description);

  nd4c_status (*buffer_allocate)(void *device, int64_t bytes, nd4c_buffer *buffer);
  void (*buffer_free)(void *device, nd4c_buffer buffer);
  /* Address of the buffer's first byte. NULL function or NULL result: no address. */
  void *(*buffer_address)(void *device, nd4c_buffer buffer);

  /* Copies between host memory and a buffer, and between buffers of one device; enqueued on stream if there is one. The
   * host memory stays valid and unchanged until the stream passed this point. */
  nd4c_status (*copy_from_host)(void *device, nd4c_stream stream, nd4c_buffer to, int64_t offset, const void *from,
                                int64_t bytes);
  nd4c_status (*copy_to_host)(void *device, nd4c_stream stream, void *to, nd4c_buffer from, int64_t offset,
                              int64_t bytes);
  nd4c_status (*copy_within)(void *device, nd4c_stream stream, nd4c_buffer to, int64_t to_offset, nd4c_buffer from,
                             int64_t from_offset, int64_t bytes);

  /* Streams and fences: all NULL for a synchronous device. A fence is ready when everything enqueued on the stream
   * before fence_record is done; it then tells the first failure among the work enqueued since the stream's previous
   * fence_record (what depends on failed work is nd4c's business: it follows the inputs' fences). Streams may be used
   * from several threads. */
  nd4c_status (*stream_create)(void *device, nd4c_stream *stream);
  /* Returns when everything enqueued on the stream is done. */
  void (*stream_destroy)(void *device, nd4c_stream stream);
  nd4c_status (*stream_wait_fence)(void *device, nd4c_stream stream, nd4c_fence fence);
  nd4c_status (*fence_record)(void *device, nd4c_stream stream, nd4c_fence *fence);
  /* True when ready. */
  bool (*fence_query)(void *device, nd4c_fence fence);
  /* Blocks until ready; the status of the work, with its text set through host->fail. A failure, too, means that the
   * work has ended: the memory that it used may be freed next. */
  nd4c_status (*fence_wait)(void *device, nd4c_fence fence);
  void (*fence_destroy)(void *device, nd4c_fence fence);
  nd4c_status (*synchronize)(void *device);

  /* What follows is optional. Bytes that could be allocated now; NULL: the total less what nd4c holds. */
  nd4c_status (*memory_available)(void *device, int64_t *bytes);
  /* Host memory from which the device copies fastest (page-locked). NULL: ordinary memory serves. */
  nd4c_status (*pinned_allocate)(void *device, int64_t bytes, void **address);
  void (*pinned_free)(void *device, void *address);
  /* The vendor's handle of a stream (cl_command_queue, CUstream). NULL: none. */
  void *(*stream_native)(void *device, nd4c_stream stream);
  /* Repeats a pattern of 1, 2, 4, 8 or 16 bytes over `bytes` bytes of a buffer, from `offset` on, of both of which its
   * length is a divisor; enqueued on stream if there is one, the pattern is read before this returns. NULL: the host
   * fills memory of its own and copies it. */
  nd4c_status (*fill)(void *device, nd4c_stream stream, nd4c_buffer buffer, int64_t offset, int64_t bytes,
                      const void *pattern, int32_t pattern_bytes);
  /* Copies a part of a buffer of another of the backend's devices to a buffer of `device`, without host memory;
   * enqueued on `stream` of `device` if there is one. What writes the source has ended. UNSUPPORTED: these two cannot
   * reach each other, nothing was enqueued. NULL: none can. Then the bytes go by way of the host. */
  nd4c_status (*copy_between)(void *device, nd4c_stream stream, nd4c_buffer to, int64_t to_offset, void *from_device,
                              nd4c_buffer from, int64_t from_offset, int64_t bytes);
} nd4c_device_ops;

ND4C_EXTERN_C_END
#endif
