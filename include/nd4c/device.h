/* Devices, backends and the registry that finds them.
 *
 * The registry's candidates are backends: those that are built in and those of plug-ins. When the library is first
 * used, the registry notes for each candidate whether its files exist ("found"; nothing is opened). It then opens
 * candidates from the highest priority down until one passes its check ("verified"). The property `backend.type` makes
 * it use one particular candidate. */
#ifndef ND4C_DEVICE_H
#define ND4C_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

typedef struct nd4c_device nd4c_device;

/* X(NAME, number, name, priority): numbers are never reused. If the priority is not negative, the registry expects a
 * backend of that name and lists it even where it is absent. The priority holds until the backend's own tables give
 * another. */
#define ND4C_DEVICE_TYPE_TABLE(X) \
  X(CUDA, 2, "cuda", 100)         \
  X(TPU, 4, "tpu", 50)            \
  X(HEXAGON, 5, "hexagon", 60)    \
  X(OPENCL, 6, "opencl", 20)      \
  X(CPU, 1, "cpu", 0)             \
  X(ROCM, 3, "rocm", -1)          \
  X(METAL, 7, "metal", -1)        \
  X(VULKAN, 8, "vulkan", -1)      \
  X(OTHER, 9, "other", -1)

typedef enum nd4c_device_type {
  ND4C_DEVICE_NONE = 0,
#define ND4C_DEVICE_TYPE_ENUM(NAME, number, name, priority) ND4C_DEVICE_##NAME = number,
  ND4C_DEVICE_TYPE_TABLE(ND4C_DEVICE_TYPE_ENUM)
#undef ND4C_DEVICE_TYPE_ENUM
} nd4c_device_type;

/* Name of a type ("opencl"), "?" for an unknown number. Static; any thread. */
ND4C_API const char *nd4c_device_type_name(nd4c_device_type type);
/* The type of that name, in lower or upper case ("opencl", "OPENCL"); NONE if there is none. Any thread. */
ND4C_API nd4c_device_type nd4c_device_type_find(const char *name);

/* What the registry knows about a candidate backend. */
typedef enum nd4c_verdict {
  ND4C_VERDICT_ABSENT = 0,       /* software or hardware is missing, the candidate was refused, or it failed its
                                    check */
  ND4C_VERDICT_FOUND = 1,        /* its files exist; nothing was opened */
  ND4C_VERDICT_COMPILE_ONLY = 2, /* can compile ahead of time; never selected to run */
  ND4C_VERDICT_VERIFIED = 3      /* initialised, and one op gave the right answer */
} nd4c_verdict;

/* One candidate. Strings are owned by nd4c and live as long as the process. */
typedef struct nd4c_backend_status {
  uint32_t struct_size;  /* set by the caller: sizeof(nd4c_backend_status) */
  const char *name;      /* "cpu", "cuda", ...; the file's name if a plug-in was refused */
  const char *version;   /* of the backend, "" until it is opened */
  const char *origin;    /* "built in", or the path of the plug-in */
  nd4c_device_type type; /* NONE if a plug-in was refused */
  int32_t priority;
  nd4c_verdict verdict;
  const char *reason;   /* why the verdict is what it is, with the loader's message where a library failed */
  bool selected;        /* the default device is this backend's */
  int32_t device_count; /* 0 until it is opened; includes unusable devices, which keep their numbers */
  /* Appended; a shorter struct_size leaves it out. Why the registry never makes this backend the default, whatever its
   * priority: for example, because its OpenCL device is the host's own processor. A program asks for it by backend.type
   * or by a device's name. "" if it may become the default. */
  const char *by_request_only;
  /* Its unusable devices, if others are usable: one line for each, with the name and the reason, no newline at the end;
   * "" if there are none. */
  const char *unusable_devices;
  /* The backend whose devices a contributor computes for ("cpu" for OpenBLAS); "" for a backend. */
  const char *contributes_to;
  /* Kernels and compilers for its devices that were refused when it opened: one line for each, with its provider and
   * the reason; "" if there are none. */
  const char *left_out;
} nd4c_backend_status;

/* Looks for the candidates now, unless that has happened already. verify: also opens and checks every candidate, and
 * each of its devices separately. A candidate that cannot be opened is ABSENT, with the reason; the probe itself still
 * succeeds. If a device fails, the other devices of its backend can still be used. A device that failed for lack of
 * memory, or was not available (DEVICE_LOST), is tried again when a caller asks for it again. MEMORY if there is no
 * memory to list the candidates. */
ND4C_API nd4c_status nd4c_backend_probe(bool verify);

/* Number of candidates that the last probe saw; probes first if there was none. A plug-in that nd4c.backend.plugins
 * names is a candidate even if it is refused: ABSENT, with the reason. With nd4c.strict such a plug-in makes every call
 * that needs a device fail with STRICT. */
ND4C_API int32_t nd4c_backend_count(void);

/* Fills *status with what is known of the candidate at `index`, in the order of probing. INDEX past the end. */
ND4C_API nd4c_status nd4c_backend_get_status(int32_t index, nd4c_backend_status *status);

/* The same for providers that bring no devices and compute for those of a backend: oneDNN, OpenBLAS and FFTW for the
 * CPU, and plug-ins of that kind. `contributes_to` names the backend. Any thread. */
ND4C_API int32_t nd4c_contributor_count(void);
ND4C_API nd4c_status nd4c_contributor_get_status(int32_t index, nd4c_backend_status *status);

/* Loads a plug-in from an explicit path (absolute, or containing a '/'; never searched). The candidate joins the list.
 * It may become the default if its priority is the highest and nothing has been computed yet. Loading a file that is
 * already loaded, under any path, returns OK and changes nothing. NAME: the file's provider has the name of a backend
 * that is already listed. ABI, SYMBOL; LIBRARY with the loader's message; the plug-in's own status if its start fails.
 * Any thread. */
ND4C_API nd4c_status nd4c_backend_load(const char *path);

/* Name of an engine of a backend, or NULL past the end: index 0, 1, ... in order of preference. */
ND4C_API const char *nd4c_backend_engine(const char *backend, int32_t index);
/* State of that engine ("oneDNN 3.2.0 ...", "not found: ..."), without opening its library unless `verify`. Valid until
 * the calling thread's next call of this function. */
ND4C_API const char *nd4c_backend_engine_state(const char *backend, int32_t index, bool verify);

/* The device that the registry picked. NO_BACKEND: the text lists every candidate with the reason, and what to do. */
ND4C_API nd4c_status nd4c_device_default(nd4c_device **device);

/* A device by name, in lower or upper case: "cpu:0", "cpu" (index 0), "OPENCL:1". Opens its backend if necessary.
 * Borrowed, lives as long as the process. NO_BACKEND: the text lists the available devices, or says why this device's
 * backend cannot be used. HARDWARE: the device can only be a target of ahead-of-time compilation. INDEX: the backend
 * has fewer devices. NAME: the text is not a name with an optional number. If only this device of its backend is
 * unusable: the status with which opening it failed (MEMORY, DEVICE, DEVICE_LOST, HARDWARE, ...), with the reason. */
ND4C_API nd4c_status nd4c_device_find(const char *name, nd4c_device **device);

typedef struct nd4c_device_info {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_device_info) */
  const char *name;     /* "cpu:0" */
  const char *description;
  nd4c_device_type type;
  int32_t index;
  bool addressable;     /* arrays on it have addresses, which nd4c_array_to_dlpack_on exports */
  bool host_readable;   /* the host may read and write its memory */
  bool asynchronous;    /* operations return before they are done */
  int64_t memory_bytes; /* total, 0 if unknown */
  int32_t width;        /* parallel width of the default context */
  /* Appended; a shorter struct_size leaves them out. */
  const char *vendor, *driver; /* "" if unknown */
  nd4c_dtype_set dtypes;       /* dtypes that at least one kernel computes with; 0: unknown */
  bool host_processor;         /* it is the host's own processor under another name */
  bool unified_memory;         /* device and host share physical memory */
  void *native;                /* the vendor's handle (cl_device_id, CUdevice as a pointer); see has_native */
  int64_t alignment;           /* of its buffers, bytes */
  int32_t priority;            /* of its backend, when the registry picks the default */
  int64_t largest_bytes;       /* the most that one array may take; 0: limited by the memory alone */
  bool has_native;             /* `native` is a vendor's handle, even if it is NULL (CUdevice 0 is NULL) */
  const char *uuid;            /* the vendor's identifier of this unit: 8-4-4-4-12 hexadecimal digits; "" if unknown */
  const char *pci; /* PCI address, domain:bus:device.function: "0000:65:00.0"; "" if it has none or it is unknown */
  const char *capability; /* the vendor's version of the hardware's features: "8.9"; "" if unknown */
  int32_t process_rank;   /* rank of this process among process_count, as configured when the device was opened */
  int32_t process_count;
  const char *identity; /* the name; with several processes, the rank and the name: "2/cpu:0" */
  int32_t dlpack_type;  /* DLPack's number for its memory: 1 host, 2 CUDA, ...; 12 (extension device) where DLPack has
                           none */
  uint32_t imports;     /* set of ND4C_EXTERNAL_BIT: kinds of external memory (external.h) that it imports as arrays */
  uint32_t exports;     /* set of ND4C_EXTERNAL_BIT: kinds of external memory that it can export arrays as */
  bool registers_host;  /* nd4c_host_register page-locks host memory for it */
  /* Range of stream priorities (nd4c_context_options.priority); both 0: it has a single one. */
  int32_t least_priority, greatest_priority;
  bool wraps_streams; /* nd4c_context_wrap takes the application's streams */
} nd4c_device_info;

/* Number of devices of all open backends. A device keeps its index. The host has index 0 and is open from the start;
 * the others follow in the order in which nd4c_device_find, nd4c_device_default or nd4c_backend_probe(true) opened
 * them. 0 if not even the host can be opened. Any thread. */
ND4C_API int32_t nd4c_device_count(void);
/* The device at an index. Borrowed, lives as long as the process. INDEX past the end. */
ND4C_API nd4c_status nd4c_device_at(int32_t index, nd4c_device **device);

/* Fills *info as far as its struct_size reaches. */
ND4C_API nd4c_status nd4c_device_get_info(const nd4c_device *device, nd4c_device_info *info);

/* How a device can access another device's memory without the host. */
typedef enum nd4c_peer_kind {
  ND4C_PEER_NONE = 0,  /* not at all: copies pass through the host */
  ND4C_PEER_COPY = 1,  /* it copies from that memory */
  ND4C_PEER_ACCESS = 2 /* its kernels read and write that memory, too */
} nd4c_peer_kind;

typedef struct nd4c_peer_info {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_peer_info) */
  nd4c_peer_kind kind;
  int32_t rank; /* of the link's speed among the backend's links: 1 is the fastest; 0: unknown */
} nd4c_peer_info;

/* "none", "copy", "access"; "?" for another number. Static; any thread. */
ND4C_API const char *nd4c_peer_kind_name(nd4c_peer_kind kind);
/* Fills *info with how `device` can access the memory of `other`; the opposite direction may differ. A device has
 * ACCESS to itself; devices of different backends have NONE. Where the backend does not report it, a device that can
 * copy from its peers counts as COPY until such a copy fails. Asks the driver once for each pair. Any thread. HANDLE:
 * one is not a device of an open backend; ABI: the backend's answer is invalid; the backend's status if it fails. */
ND4C_API nd4c_status nd4c_device_peer(const nd4c_device *device, const nd4c_device *other, nd4c_peer_info *info);

/* Waits for all work that any thread has submitted to the device. Reports the first failure of that work that no call
 * has reported yet. */
ND4C_API nd4c_status nd4c_device_synchronize(nd4c_device *device);

/* -- the machine ---------------------------------------------------------------------------------------------- */

/* The host as nd4c sees and uses it. Strings are static. */
typedef struct nd4c_machine_info {
  uint32_t struct_size;     /* set by the caller: sizeof(nd4c_machine_info) */
  const char *cpu_model;    /* as the CPU states it */
  const char *cpu_features; /* "avx2 fma avx512f ...": what both the CPU and the operating system support */
  const char *cpu_level;    /* instruction-set level of nd4c's kernels; nd4c.cpu.level can lower it */
  int64_t cache_bytes;      /* last-level cache, 0 if unknown */
  int64_t memory_bytes;     /* 0 if unknown */
  int32_t width;            /* default parallel width */
  const char *pool;         /* nd4c.pool, where auto is "threads": "threads", "openmp" or "serial" */
  const char *level_reason; /* why cpu_level is what it is */
} nd4c_machine_info;

/* Cheap, opens nothing. Any thread. */
ND4C_API nd4c_status nd4c_machine_get_info(nd4c_machine_info *info);

/* -- memory --------------------------------------------------------------------------------------------------- */

typedef struct nd4c_memory_info {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_memory_info) */
  int64_t live_bytes;   /* in use by arrays, workspaces and streams' scratch */
  int64_t cached_bytes; /* kept for reuse */
  int64_t peak_bytes;   /* highest live since start or nd4c_memory_reset_peak */
  int64_t cap_bytes;    /* limit of live + cached, 0: none */
  int64_t live_count;   /* allocations alive */
  int64_t total_count;  /* allocations ever served */
  int64_t cache_hits;   /* of those, served from the cache */
  /* Appended; a shorter struct_size leaves them out. What nd4c.device.memory.spill freed to make room: */
  int64_t dropped_count; /* replicas of arrays that were current on another device, too */
  int64_t spilled_count; /* arrays that had to be copied to the host first, and their bytes */
  int64_t spilled_bytes;
  int64_t imported_count; /* live arrays over external memory, and their bytes: part of neither live_bytes nor the
                             cap */
  int64_t imported_bytes;
  /* Of live_bytes: */
  int64_t scratch_bytes; /* streams' scratch, kept from call to call: freed when memory is short, and by a trim to 0 */
  int64_t held_bytes;    /* held by backends besides arrays: packed weights, memory of vendors' libraries */
} nd4c_memory_info;

/* Fills *info as far as its struct_size reaches. */
ND4C_API nd4c_status nd4c_memory_get_info(const nd4c_device *device, nd4c_memory_info *info);
/* Bytes that arrays could take on the device now: the smaller of what its cap leaves and what the device reports as
 * free (if it does not report that, its total less what nd4c holds there). INT64_MAX if none of these is known. Other
 * threads and processes may take the memory first. */
ND4C_API nd4c_status nd4c_memory_remaining(const nd4c_device *device, int64_t *bytes);
/* Limits live + cached bytes of the device; 0 removes the limit. A request that exceeds it first trims the cache. If
 * that is not enough, nd4c waits for work in flight on the device, which may free released arrays and scratch. It then
 * frees the arenas of workspaces that no thread has entered, and asks backends to free what they hold. It skips these
 * steps if the request alone is larger than the limit. If there is still no room, the request fails with MEMORY_CAP;
 * the text states usage, request and cap. Live arrays stay where they are, unless the property nd4c.device.memory.spill
 * is true: then arrays that no operation is using are moved to the host first, and copied back when they are needed.
 * The cap holds until one of the properties that cap the device is changed (nd4j.device.memory.cap.<TYPE>.<INDEX>; else
 * org.bytedeco.javacpp.maxbytes for the host, gpuMemoryCapFraction for others). */
ND4C_API nd4c_status nd4c_memory_set_cap(nd4c_device *device, int64_t bytes);
/* Frees cached memory until at most `keep_bytes` are cached. 0 also frees idle streams, scratch and staging buffers,
 * the memory that backends can spare, the scratch of kernels on the host, and the call records that the calling thread
 * and the process cache. ARGUMENT for less than 0: nothing is freed. */
ND4C_API nd4c_status nd4c_memory_trim(nd4c_device *device, int64_t keep_bytes);
ND4C_API nd4c_status nd4c_memory_reset_peak(nd4c_device *device);
/* Text that lists live allocations, one line for each size and origin; "" if there are none. Free with nd4c_free.
 * Origins (the op or call that allocated) are recorded while the property nd4c.memory.origins is true. */
ND4C_API nd4c_status nd4c_memory_report(const nd4c_device *device, char **text);

ND4C_EXTERN_C_END
#endif
