/* The core of the OpenCL backend: loader, devices, buffers, streams, fences, programs. The files of runtime/ include
 * it; kernel families include only opencl.h. */
#ifndef ND4C_BACKENDS_OPENCL_RUNTIME_DEVICE_H
#define ND4C_BACKENDS_OPENCL_RUNTIME_DEVICE_H

#include <stdio.h>
#include <string.h>

#include "backends/opencl/runtime/api.h"
#include "backends/opencl/runtime/opencl.h"

enum {
  ND4C_CL_NAME = 32,
  ND4C_CL_TEXT = 192,
  ND4C_CL_REASON = 512,
  ND4C_CL_PROGRAM_BUCKETS = 64,
  ND4C_CL_OPTIONS = 768
};

static inline void nd4c_cl_lock(nd4c_host_lock *lock) {
  nd4c_cl_host->threads->lock_acquire(lock);
}
static inline void nd4c_cl_unlock(nd4c_host_lock *lock) {
  nd4c_cl_host->threads->lock_release(lock);
}

typedef struct nd4c_cl_program nd4c_cl_program;

struct nd4c_cl_device {
  char name[ND4C_CL_NAME]; /* "opencl:0" */
  nd4c_status refusal;     /* OK, or why the device cannot be used; it keeps its number */
  char refused[ND4C_CL_REASON];
  cl_platform_id platform;
  cl_device_id id;
  nd4c_cl_limits limits;
  int64_t memory_bytes;
  bool unified_memory, exact_division, can_reorder;
  bool has_priorities; /* of queues: cl_khr_priority_hints */
  bool is_pocl;        /* caches builds on disk itself (cache.c) and can build without Clang's header (program.c) */
  char model[ND4C_CL_TEXT], vendor[ND4C_CL_TEXT], driver[ND4C_CL_TEXT], version[ND4C_CL_TEXT];
  char platform_name[ND4C_CL_TEXT], platform_version[ND4C_CL_TEXT];
  char description[2 * ND4C_CL_TEXT + 8];
  bool has_uuid;
  uint8_t uuid[ND4C_DEVICE_UUID_BYTES];
  char pci[24], capability[16]; /* "" if unknown */

  /* The fields below are set while the device is open. */
  cl_context context;
  bool out_of_order;
  char base_options[ND4C_CL_TEXT];
  nd4c_host_lock program_lock; /* guards the two below; held while a program is built */
  bool own_declarations;       /* programs are built with builtins.cl in place of Clang's header */
  nd4c_cl_program *programs[ND4C_CL_PROGRAM_BUCKETS];
  nd4c_host_lock order_lock;  /* guards the events of all buffers (out_of_order); taken after a stream's lock */
  nd4c_host_lock stream_lock; /* guards streams */
  struct nd4c_stream_handle *streams;
  nd4c_host_lock pinned_lock; /* guards the next */
  cl_command_queue pinned_queue;
};

/* Whether the device can run commands out of order and nd4c.opencl.queue asks for it. */
bool nd4c_cl_queues_reorder(const nd4c_cl_device *device);

/* Levels of nd4c_host.log, as nd4c/log.h numbers them. */
enum { ND4C_CL_LOG_ERROR = 1, ND4C_CL_LOG_WARNING = 2, ND4C_CL_LOG_INFO = 3 };

/* -- loader.c ----------------------------------------------------------------------------------------------------- */

/* Opens the ICD loader and finds its functions; once for the process. LIBRARY, SYMBOL. */
nd4c_status nd4c_cl_loader_open(void);
/* True if the loader's file is there; the path or the reason. Opens nothing. */
bool nd4c_cl_loader_find(char *text, size_t text_size);
/* "CL_OUT_OF_RESOURCES", or a description for a code that the specification lacks. */
const char *nd4c_cl_error_name(cl_int code);
/* Fails with a text that names the device, the call and the code: DEVICE, DEVICE_LOST, or MEMORY where that is the
 * host's. */
nd4c_status nd4c_cl_fail(const nd4c_cl_device *device, const char *call, cl_int code);
/* The same while a device is opened: CL_OUT_OF_RESOURCES is MEMORY, too, because other processes may free the
 * resources. */
nd4c_status nd4c_cl_fail_opening(const nd4c_cl_device *device, const char *call, cl_int code);
/* The same for calls that may run out of memory: MEMORY with `bytes` in the text. */
nd4c_status nd4c_cl_fail_allocation(const nd4c_cl_device *device, const char *call, cl_int code, int64_t bytes);
/* Fails for a driver that reports success but returns nothing. */
nd4c_status nd4c_cl_fail_nothing(const nd4c_cl_device *device, const char *call, const char *what);

/* -- platform.c --------------------------------------------------------------------------------------------------- */

/* Finds the devices of all platforms: GPUs and accelerators first, then processors. Runs once; later calls return the
 * first outcome, with its text in `reason`. Includes devices that are refused. */
nd4c_status nd4c_cl_platforms_open(char *reason, size_t reason_size);
int32_t nd4c_cl_device_count(void);
nd4c_cl_device *nd4c_cl_device_at(int32_t index);
/* Queries a refused device again; returns its status, with the text. */
nd4c_status nd4c_cl_device_read(nd4c_cl_device *device);
/* by_request_only of nd4c_backend. */
bool nd4c_cl_host_only(char *reason, size_t reason_size);

/* -- queue.c: streams, commands and fences ------------------------------------------------------------------------ */

/* Events of work on a buffer that may be in flight; only with out-of-order queues. */
enum { ND4C_CL_READS = 8 };
struct nd4c_buffer_handle {
  cl_mem memory;
  void *mapped;  /* kind HOST_PINNED: its address; else NULL */
  bool is_hosts; /* over host memory, which has the written data at the latest when the buffer is freed */
  int64_t bytes;
  cl_event written;
  cl_event reads[ND4C_CL_READS];
  int32_t read_count;
};

typedef struct nd4c_cl_use {
  nd4c_buffer buffer;
  nd4c_cl_access access;
} nd4c_cl_use;

/* A command while it is enqueued: the stream's lock is held. */
typedef struct nd4c_cl_command {
  nd4c_stream stream;
  cl_command_queue queue;
  const char *call; /* name of the function that enqueues */
  const char *op;   /* whose work it is, or NULL */
  int64_t point;    /* of the call, or 0 */
  int32_t use_count;
  nd4c_cl_use uses[ND4C_CL_ARGS];
  cl_uint wait_count;
  cl_event waits[ND4C_CL_ARGS * (ND4C_CL_READS + 1)];
  const cl_event *wait_list; /* NULL if empty, as the specification wants it */
  cl_event event;            /* for the function to fill */
} nd4c_cl_command;

/* point: nd4c_call.point; 0: none. If the command's op uses a fault buffer, the next fence reads that buffer; noted
 * under the lock of enqueuing, so that no fence comes in between. */
void nd4c_cl_command_begin(nd4c_cl_command *command, nd4c_stream stream, const char *call, const char *op,
                           int64_t point, int32_t use_count, const nd4c_cl_use *uses);
/* Ends enqueuing with the function's result; the stream takes over the event. */
nd4c_status nd4c_cl_command_end(nd4c_cl_command *command, cl_int code);
/* The same, and blocks until the command is done. */
nd4c_status nd4c_cl_command_end_and_wait(nd4c_cl_command *command, cl_int code);
/* The first failure among the finished commands of a call; OK if there is none. */
nd4c_status nd4c_cl_stream_outcome(nd4c_stream stream, int64_t point);
/* A fault buffer for a launch (fault.c), which the caller enqueues next; otherwise it returns the buffer. */
nd4c_status nd4c_cl_stream_fault(nd4c_stream stream, nd4c_buffer *buffer);
void nd4c_cl_stream_return_fault(nd4c_stream stream, nd4c_buffer buffer);
/* Drops the events of a buffer that is freed. */
void nd4c_cl_buffer_forget(nd4c_cl_device *device, nd4c_buffer buffer);

/* `handle`: the nd4c_cl_device, here and in fence.c. */
nd4c_status nd4c_cl_stream_create(void *device, nd4c_stream *stream);
nd4c_status nd4c_cl_stream_create_with(void *handle, const nd4c_stream_options *options, nd4c_stream *stream);
nd4c_status nd4c_cl_stream_wrap(void *handle, void *native, nd4c_stream *stream);
void nd4c_cl_stream_destroy(void *handle, nd4c_stream stream);
nd4c_status nd4c_cl_stream_wait_fence(void *handle, nd4c_stream stream, nd4c_fence fence);
void *nd4c_cl_stream_native(void *device, nd4c_stream stream);
nd4c_status nd4c_cl_synchronize(void *handle);

extern const nd4c_timing_ops nd4c_cl_timing_ops; /* timing.c */

/* fence.c */
nd4c_status nd4c_cl_fence_record(void *handle, nd4c_stream stream, nd4c_fence *out);
bool nd4c_cl_fence_query(void *device, nd4c_fence fence);
nd4c_status nd4c_cl_fence_wait(void *device, nd4c_fence fence, nd4c_failed_range *failed);
nd4c_status nd4c_cl_fence_failure(void *device, nd4c_fence fence, int32_t index, nd4c_failed_range *failed);
void nd4c_cl_fence_destroy(void *device, nd4c_fence fence);

/* -- memory.c ----------------------------------------------------------------------------------------------------- */

extern const nd4c_buffer_ops nd4c_cl_buffer_ops;
/* For the backend's own use. */
nd4c_status nd4c_cl_buffer_make(nd4c_cl_device *device, int64_t bytes, nd4c_buffer *out);
void nd4c_cl_buffer_end(nd4c_cl_device *device, nd4c_buffer buffer);
nd4c_status nd4c_cl_copy_from_host(void *device, nd4c_stream stream, nd4c_buffer to, int64_t offset, const void *from,
                                   int64_t bytes);
nd4c_status nd4c_cl_copy_to_host(void *device, nd4c_stream stream, void *to, nd4c_buffer from, int64_t offset,
                                 int64_t bytes);
nd4c_status nd4c_cl_copy_within(void *device, nd4c_stream stream, nd4c_buffer to, int64_t to_offset, nd4c_buffer from,
                                int64_t from_offset, int64_t bytes);
nd4c_status nd4c_cl_buffer_fill(void *device, nd4c_stream stream, nd4c_buffer buffer, int64_t offset, int64_t bytes,
                                const void *pattern, int32_t pattern_bytes);
/* The same within the buffer for an op, whose name a failure tells; NULL: none. point: its call's, or 0. */
nd4c_status nd4c_cl_enqueue_fill(nd4c_stream stream, const char *op, int64_t point, nd4c_buffer buffer, int64_t offset,
                                 int64_t bytes, const void *pattern, int32_t pattern_bytes);
/* external.c */
extern const nd4c_external_ops nd4c_cl_external_ops;
/* Releases the queue for pinned memory, after the last pinned buffer was freed. */
void nd4c_cl_pinned_close(nd4c_cl_device *device);

/* -- program.c, cache.c ------------------------------------------------------------------------------------------- */

/* Frees all programs and kernels of a device. */
void nd4c_cl_programs_close(nd4c_cl_device *device);

struct nd4c_cl_kernel {
  nd4c_cl_kernel *next; /* of the program */
  nd4c_cl_device *device;
  cl_kernel handle;
  int64_t group_size;
  nd4c_host_lock lock; /* from the first clSetKernelArg to the launch */
  char function[];
};

/* Loads the program's binary from the directory of nd4c.opencl.cache and builds it; false if it is missing or invalid.
 * `text` and `options` are the key. */
bool nd4c_cl_cache_load(nd4c_cl_device *device, const char *text, size_t text_size, const char *options,
                        cl_program *program);
/* Describes the caching of the device's programs, after "; ", for the engine's state. Creates the directory. */
void nd4c_cl_cache_state(const nd4c_cl_device *device, char *text, size_t text_size);
/* Stores the binary of a program, except on PoCL, which caches itself. Failures are only logged, the first one as a
 * warning, because the cache is optional. */
void nd4c_cl_cache_store(nd4c_cl_device *device, const char *text, size_t text_size, const char *options,
                         cl_program program);

/* Sources embedded by CMake (embed.cmake): name without ".cl", text without a terminating zero. Ends with name NULL. */
typedef struct nd4c_cl_source {
  const char *name;
  const unsigned char *text;
  size_t size;
} nd4c_cl_source;
extern const nd4c_cl_source nd4c_cl_sources[];

/* -- device.c ----------------------------------------------------------------------------------------------------- */

extern const nd4c_device_ops nd4c_cl_device_ops;

/* In the order in which they are preferred; of families/contraction_clblast.c and backend.c. */
extern const nd4c_engine nd4c_cl_clblast_engine, nd4c_cl_opencl_engine;
/* Empties CLBlast's cache of compiled programs. */
void nd4c_cl_clblast_close(void);

#endif
