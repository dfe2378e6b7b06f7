/* The backend ABI: what a backend (built in or a plug-in of a stranger's) gives to nd4c, and what it may call back.
 *
 * A plug-in is a shared object that exports one function, nd4c_plugin_entry. It includes this header alone and
 * links against nothing of nd4c's: everything it needs comes through the host table. The built-in CPU backend is
 * registered through the same structs.
 *
 * Every struct begins with struct_size, set by whoever fills it to ND4C_SIZE_OF(its type) of the header it was compiled
 * with. Fields are only appended. A reader treats fields past struct_size as absent; a NULL function has the default
 * that its comment states. Unless stated otherwise, functions may be called from any thread at the same time. A
 * function that fails calls host->fail with a text and returns the code. */
#ifndef ND4C_PLUGIN_H
#define ND4C_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nd4c/device.h"
#include "nd4c/dtype.h"
#include "nd4c/op.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* A plug-in is accepted if its major number is equal and its minor number is not higher than the host's. */
#define ND4C_PLUGIN_ABI_MAJOR 1
#define ND4C_PLUGIN_ABI_MINOR 1

#define ND4C_SIZE_OF(type) ((uint32_t)sizeof(type))
/* True if a struct filled by the other side reaches as far as `field`. */
#define ND4C_HAS_FIELD(pointer, field) \
  ((pointer)->struct_size >= (const char *)&(pointer)->field - (const char *)(pointer) + sizeof((pointer)->field))

/* Handles of the backend's own; nd4c only stores them. */
typedef struct nd4c_buffer_handle *nd4c_buffer;
typedef struct nd4c_stream_handle *nd4c_stream;
typedef struct nd4c_fence_handle *nd4c_fence;
typedef struct nd4c_executable_handle *nd4c_executable;

/* How the bytes of a buffer are arranged. */
typedef enum nd4c_layout_tag {
  ND4C_LAYOUT_STRIDED = 0, /* element i at offset + sum of index * stride */
  ND4C_LAYOUT_BLOCKED = 1, /* known to the backend that made it */
  ND4C_LAYOUT_ENCODED = 2,
  ND4C_LAYOUT_OPAQUE = 3
} nd4c_layout_tag;

/* Flags of a tensor. */
enum {
  ND4C_TENSOR_CONSTANT = 1, /* its contents will not change as long as the prepared state lives: may be packed */
  ND4C_TENSOR_READ_ONLY = 2,
  ND4C_TENSOR_CONTIGUOUS = 4 /* C order without gaps */
};

/* One operand of a call. Not versioned by struct_size: arrays of it cross the ABI, so its size is frozen (64 bytes). */
typedef struct nd4c_tensor {
  nd4c_dtype dtype; /* ND4C_DTYPE_NONE: an optional input left out */
  int32_t rank;
  uint32_t flags;
  int32_t layout; /* nd4c_layout_tag */
  const int64_t *shape;
  const int64_t *strides; /* elements; NULL while inferring */
  int64_t size;           /* elements */
  void *data;             /* pointer devices: address of element 0; NULL on opaque devices and while choosing */
  nd4c_buffer buffer;     /* opaque devices: the storage's buffer */
  int64_t offset;         /* opaque devices: element 0, in elements from the buffer's start */
} nd4c_tensor;

/* Flags of a call. */
enum { ND4C_CALL_DETERMINISTIC = 1 };

/* The one call descriptor: what a kernel runs, what a node of a segment is. Borrowed for the duration of the function
 * it is given to. */
typedef struct nd4c_call {
  uint32_t struct_size;
  uint32_t flags;
  const nd4c_op_info *op;
  int32_t input_count; /* as many as were given, trailing optional ones left out have dtype NONE or are missing */
  int32_t output_count;
  const nd4c_tensor *inputs;
  const nd4c_tensor *outputs;
  const nd4c_attr_value *attrs; /* in the order of the schema, defaults filled in */
  void *state;                  /* what prepare made, NULL without prepare */
  void *scratch;                /* as many bytes as scratch_bytes asked for, 64-byte aligned; else NULL */
  nd4c_stream stream;           /* NULL on synchronous devices */
  void *device;                 /* the backend's own device pointer */
  int32_t width;                /* parallel width to use at most */
  /* Appended fields follow. */
  /* For ops whose result's shape depends on data (nonzero, unique): one place of rank extents an output. The outputs'
   * tensors then have the largest shape possible and C order; run writes the elements in C order of the true shape and
   * the true shape here, before it returns. NULL for all other ops. */
  int64_t *const *true_shapes;
  /* Since ABI 1.1: a buffer of the device's as long as device_scratch_bytes asked for, this call's alone until the work
   * that it enqueues is done; else NULL. */
  nd4c_buffer scratch_buffer;
} nd4c_call;

/* One way to compute one op. Static. */
typedef struct nd4c_kernel {
  uint32_t struct_size;
  uint32_t op_version;
  const char *op;        /* "add" */
  const char *engine;    /* one of the backend's engines */
  const char *name;      /* of this variant, for people: "simd.add.avx512" */
  int32_t priority;      /* candidates of an op are asked from the highest down; engine reference has 0 */
  nd4c_dtype_set dtypes; /* of the first input; others are not asked */
  /* True if the kernel can compute the call: shapes, strides, dtypes and attributes are set, data is not. If not,
   * writes why into reason. NULL: always. */
  bool (*usable)(const nd4c_call *call, char *reason, size_t reason_size);
  /* Makes what is reused by every run with the same signature: packed constants, primitives. The data of inputs
   * flagged CONSTANT is set. NULL: nothing to prepare. */
  nd4c_status (*prepare)(const nd4c_call *call, void **state);
  void (*unprepare)(void *state);
  /* Bytes of scratch a run needs. NULL: none. */
  int64_t (*scratch_bytes)(const nd4c_call *call);
  /* Computes the outputs, or enqueues that on call->stream. One prepared state may be run by several threads. The
   * output of an element-wise op may be the very same view as an input; that of scatter_update, scatter_nd, masked_fill
   * and masked_scatter as the first one, of which the other elements then stay as they are. */
  nd4c_status (*run)(const nd4c_call *call);
  /* Appended fields follow. */
  /* The memory order that the kernel would like outputs to have, by axis from slowest to fastest; returns false for no
   * wish. The graph's layout pass asks. NULL: no wish. */
  bool (*preferred_order)(const nd4c_call *call, int32_t *axes);
  /* Since ABI 1.1: bytes of the device's memory that a run needs beside its operands (scratch_bytes is host memory).
   * NULL: none. */
  int64_t (*device_scratch_bytes)(const nd4c_call *call);
} nd4c_kernel;

/* A run of nodes offered to a compiler. Values are numbered: segment inputs first, then outputs of nodes. */
typedef struct nd4c_segment {
  uint32_t struct_size;
  int32_t node_count;
  const nd4c_call *nodes;            /* in execution order; data is set for CONSTANT inputs only */
  const int32_t *const *node_inputs; /* value numbers, -1 for an input left out */
  const int32_t *const *node_outputs;
  int32_t value_count;
  int32_t input_count; /* values 0 .. input_count - 1 */
  int32_t output_count;
  const int32_t *outputs; /* value numbers that leave the segment */
} nd4c_segment;

typedef struct nd4c_compiler {
  uint32_t struct_size;
  const char *engine;
  int32_t priority;
  bool (*supports)(const nd4c_call *node, char *reason, size_t reason_size);
  nd4c_status (*compile)(void *device, const nd4c_segment *segment, nd4c_executable *executable);
  /* inputs and outputs stand in the order of the segment's; returns when enqueued. */
  nd4c_status (*execute)(nd4c_executable executable, nd4c_stream stream, const nd4c_tensor *inputs,
                         const nd4c_tensor *outputs);
  void (*release)(nd4c_executable executable);
} nd4c_compiler;

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
  /* Since ABI 1.1. */
  const char *vendor, *driver; /* "AuthenticAMD", "3.1+debian"; NULL: unknown */
  nd4c_dtype_set dtypes;       /* that some kernel computes with here; 0: those of the backend's kernels */
  bool host_processor;         /* it is the host's own processor by another name */
  bool unified_memory;         /* device and host share the memory behind buffers */
  void *native;                /* the vendor's handle (cl_device_id, CUdevice as a pointer); NULL: none */
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

  /* Since ABI 1.1, all of them optional. Bytes that could be allocated now; NULL: the total less what nd4c holds. */
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

/* Reserved for collectives between processes; absent in ABI 1.0. */
struct nd4c_collective_ops;

/* A backend. Filled by the entry function; static for the life of the process. */
typedef struct nd4c_backend {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor; /* ND4C_PLUGIN_ABI_MAJOR, _MINOR */
  const char *name;              /* "cuda" */
  const char *version;
  nd4c_device_type type;
  int32_t priority;
  /* Looks whether the backend could run. verify false: look only for files, open nothing, be done in a millisecond.
   * Writes the verdict's reason. NULL: found. */
  nd4c_verdict (*probe)(bool verify, char *reason, size_t reason_size);
  /* Initialises the backend; called once, before any function below. */
  nd4c_status (*open)(void);
  void (*close)(void);
  int32_t (*device_count)(void);
  const nd4c_device_ops *device;
  int32_t engine_count;
  const char *const *engines; /* in order of preference; "reference" last */
  /* State of an engine for people; verify: opens its library if it has one. Returns false if it cannot be used. */
  bool (*engine_state)(const char *engine, bool verify, char *text, size_t text_size);
  /* Kernels, valid after open. */
  int32_t (*kernel_count)(void);
  const nd4c_kernel *const *(*kernels)(void);
  /* NULL if the backend has no compiler. Valid after open. */
  const nd4c_compiler *compiler;
  /* Reserved, NULL. */
  const struct nd4c_collective_ops *collective;
  /* Since ABI 1.1. True, with the reason, if the backend must be asked for by name and never becomes the default by its
   * priority: its devices are the host's own processor, say. As cheap as probe without verify before open; exact after
   * it. NULL: false. */
  bool (*by_request_only)(char *reason, size_t reason_size);
} nd4c_backend;

/* Computes [begin, end) of a parallel loop; `worker` is 0 .. width - 1. */
typedef void (*nd4c_range_function)(void *user, int64_t begin, int64_t end, int32_t worker);

/* What nd4c offers a backend. Static for the life of the process. */
typedef struct nd4c_host {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;
  /* Sets the calling thread's error text and returns `code`. */
  nd4c_status (*fail)(nd4c_status code, const char *format, ...) ND4C_PRINTF(2, 3);
  const char *(*error_message)(void);
  /* One line to the log; level is nd4c_log_level. */
  void (*log)(int level, const char *area, const char *format, ...) ND4C_PRINTF(3, 4);
  /* Value of a configuration property, NULL if there is none of that name. Valid until it is set again. */
  const char *(*config)(const char *property);
  /* Small host memory, zeroed; NULL when there is none. Blocks that come and go with every call are recycled, as those
   * of allocate_pages are: they cost no allocation from the system. Any thread may free them. */
  void *(*allocate)(size_t bytes);
  void (*free)(void *memory);
  /* Runs range over [0, count) in pieces of at least `grain` with at most `width` workers of the shared pool, including
   * the caller; returns when all are done. Nested calls run in the caller. */
  void (*parallel_for)(int64_t count, int64_t grain, int32_t width, nd4c_range_function range, void *user);
  /* Name of the instruction-set level that the CPU and the operating system allow and configuration permits: "base",
   * "avx2", "avx512"; on arm64 "neon", "dotprod". */
  const char *(*cpu_level)(void);
  /* Bulk host memory to work in, aligned to 64 bytes, large blocks in whole pages and huge ones where they help;
   * contents undefined. Blocks of up to 64 MiB that come and go with every call are recycled, 256 MiB of them at most
   * (nd4c.memory.cache allows less). free_pages wants the size that was asked for. Any thread may free them. */
  void *(*allocate_pages)(size_t bytes);
  void (*free_pages)(void *memory, size_t bytes);
  /* Run-time libraries: by name in the directories of nd4c.library.path, then beside libnd4c, then where the system's
   * loader looks; by path if it contains '/'. Never in the current directory. library_open fails with LIBRARY and the
   * loader's words for each attempt; library_find opens nothing and writes the path found. */
  nd4c_status (*library_open)(const char *name, void **library);
  bool (*library_find)(const char *name, char *path, size_t path_size);
  void *(*library_symbol)(void *library, const char *symbol);
  /* Bytes of the last-level cache that the process can count on, 0 if unknown. */
  int64_t (*cache_bytes)(void);
  /* Since ABI 1.1. As allocate_pages, for the buffers of devices whose memory is the host's: nothing is recycled, since
   * nd4c keeps the buffers themselves. */
  void *(*allocate_buffer)(size_t bytes);
  void (*free_buffer)(void *memory, size_t bytes);
} nd4c_host;

/* The exported function of a plug-in. `host` lives as long as the process. *backend must stay valid as long. */
typedef nd4c_status (*nd4c_plugin_entry_function)(const nd4c_host *host, const nd4c_backend **backend);
#define ND4C_PLUGIN_ENTRY "nd4c_plugin_entry"

ND4C_EXTERN_C_END
#endif
