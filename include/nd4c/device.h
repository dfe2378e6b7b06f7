/* Devices, backends and the registry that found them.
 *
 * The registry looks at its candidates when the library is first used: it notes for each whether its files are there
 * ("found", nothing opened), and opens downwards from the highest priority until one passes its own check
 * ("verified"). `backend.type` forces one. */
#ifndef ND4C_DEVICE_H
#define ND4C_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

typedef struct nd4c_device nd4c_device;

/* X(NAME, number, name, priority): numbers are never reused. A backend of the type's name is expected, and listed where
 * it is absent, too, if the priority is not negative; it is the backend's until its own tables say another. */
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
/* The type of that name, in either case ("opencl", "OPENCL"); NONE if there is none. Any thread. */
ND4C_API nd4c_device_type nd4c_device_type_find(const char *name);

/* What is known of a candidate backend. */
typedef enum nd4c_verdict {
  ND4C_VERDICT_ABSENT = 0,       /* software or hardware is missing, it was refused, or it failed its check */
  ND4C_VERDICT_FOUND = 1,        /* its files are there; nothing was opened */
  ND4C_VERDICT_COMPILE_ONLY = 2, /* can compile ahead of time; never selected to run */
  ND4C_VERDICT_VERIFIED = 3      /* initialised, and one op gave the right answer */
} nd4c_verdict;

/* One candidate. Strings are owned by nd4c and live as long as the process. */
typedef struct nd4c_backend_status {
  uint32_t struct_size;  /* set by the caller: sizeof(nd4c_backend_status) */
  const char *name;      /* "cpu", "cuda", ...; the file's name if a plug-in was refused */
  const char *version;   /* of the backend, or "" while unopened */
  const char *origin;    /* "built in", or the path of the plug-in */
  nd4c_device_type type; /* NONE if a plug-in was refused */
  int32_t priority;
  nd4c_verdict verdict;
  const char *reason;   /* why the verdict is what it is, with the loader's own words where a library failed */
  bool selected;        /* the default device is this backend's */
  int32_t device_count; /* 0 while unopened; those that cannot be used are counted, for they keep their numbers */
  /* Appended; a shorter struct_size leaves it out. Why its priority never makes it the default, as with an OpenCL that
   * is the host's own processor; "" if it may. backend.type or a device's name asks for it. */
  const char *by_request_only;
  /* Its devices that cannot be used, while others can: a line for each, its name and why, without a newline at the end;
   * "" if there are none. */
  const char *unusable_devices;
  /* The backend whose devices a contributor computes for ("cpu" for OpenBLAS); "" for a backend. */
  const char *contributes_to;
  /* Kernels and compilers for its devices that were not accepted when it opened: a line for each, who brought it and
   * why; "" if there are none. */
  const char *left_out;
} nd4c_backend_status;

/* Looks at the candidates now if that has not happened; otherwise does nothing. verify: opens and checks every one,
 * each of its devices by itself; what cannot be opened is ABSENT with the reason, which is no failure of the probe. A
 * device that fails leaves its siblings in use. What lacked memory, and a device that was not available (DEVICE_LOST),
 * is tried again when it is asked for again. MEMORY if there is none to list the candidates. */
ND4C_API nd4c_status nd4c_backend_probe(bool verify);

/* Number of candidates (of the last probe; probes if there was none), in probe order. A plug-in that
 * nd4c.backend.plugins names is one of them even when it is refused: ABSENT, with the reason; a strict process fails.
 */
ND4C_API int32_t nd4c_backend_count(void);

/* Fills the candidate at `index`. INDEX past the end. */
ND4C_API nd4c_status nd4c_backend_get_status(int32_t index, nd4c_backend_status *status);

/* The same for providers that bring no devices and compute for those of a backend: oneDNN, OpenBLAS and FFTW for the
 * CPU, and plug-ins of that kind. `contributes_to` names the backend. Any thread. */
ND4C_API int32_t nd4c_contributor_count(void);
ND4C_API nd4c_status nd4c_contributor_get_status(int32_t index, nd4c_backend_status *status);

/* Loads a plug-in from an explicit path (absolute, or containing a '/'; never searched). The candidate joins the list
 * and may become the default when its priority is the highest and nothing has been computed yet.
 * Any thread. A file that is loaded already, by any path, by nd4c.backend.plugins or by another thread, is OK and
 * changes nothing; another file whose provider has the name of a backend that is there is NAME. ABI, SYMBOL, LIBRARY
 * with the loader's words; the plug-in's own status if its start fails. */
ND4C_API nd4c_status nd4c_backend_load(const char *path);

/* Name of an engine of a backend, or NULL past the end: index 0, 1, ... in order of preference. */
ND4C_API const char *nd4c_backend_engine(const char *backend, int32_t index);
/* State of that engine ("oneDNN 3.2.0 ...", "not found: ..."), found cheaply unless verify. Static until the next call
 * on this thread. */
ND4C_API const char *nd4c_backend_engine_state(const char *backend, int32_t index, bool verify);

/* The device that the registry picked. NO_BACKEND: the text lists every candidate, the reason, and what to do. */
ND4C_API nd4c_status nd4c_device_default(nd4c_device **device);

/* A device by name, in either case: "cpu:0", "cpu" (index 0), "OPENCL:1". Opens its backend if need be. Borrowed, lives
 * as long as the process. NO_BACKEND: the text lists the devices there are, or says why this one's backend cannot be
 * used. HARDWARE: it can only compile ahead of time. INDEX: the backend has fewer devices, however large the number is.
 * NAME: no name and number. If it is this device alone that cannot be used: the status of its opening (MEMORY, DEVICE,
 * DEVICE_LOST, HARDWARE, ...) with the reason. */
ND4C_API nd4c_status nd4c_device_find(const char *name, nd4c_device **device);

typedef struct nd4c_device_info {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_device_info) */
  const char *name;     /* "cpu:0" */
  const char *description;
  nd4c_device_type type;
  int32_t index;
  bool addressable;      /* arrays on it have addresses, which nd4c_array_to_dlpack_on gives away */
  bool host_readable;    /* the host may read and write there */
  bool asynchronous;     /* operations return before they are done */
  int64_t memory_bytes;  /* total, 0 if unknown */
  int32_t width;         /* parallel width of the default context */
  /* Appended; a shorter struct_size leaves them out. */
  const char *vendor, *driver; /* "" if unknown */
  nd4c_dtype_set dtypes;       /* that some kernel computes with; 0: unknown */
  bool host_processor;         /* it is the host's own processor by another name */
  bool unified_memory;         /* device and host share the memory behind buffers */
  void *native;                /* the vendor's handle (cl_device_id, CUdevice as a pointer); see has_native */
  int64_t alignment;           /* of its buffers, bytes */
  int32_t priority;            /* of its backend, among those that may become the default */
  int64_t largest_bytes;       /* that one array may take, 0: no limit but the memory's */
  bool has_native;             /* `native` is a vendor's handle, also where it is NULL: CUdevice 0 is */
  const char *uuid; /* the vendor's, of this piece of hardware: 8-4-4-4-12 hexadecimal digits; "" if unknown */
  const char *pci;  /* address, domain:bus:device.function: "0000:65:00.0"; "" if it is unknown or has none */
  const char *capability;      /* version of what the hardware can, as its vendor counts: "8.9"; "" if unknown */
  int32_t process_rank;        /* this process's among process_count, as configured when the device was opened */
  int32_t process_count;
  const char *identity; /* the name; where there are several processes, behind the rank: "2/cpu:0" */
  int32_t dlpack_type;  /* DLPack's number for memory there: 1 host, 2 CUDA, ...; 12 where DLPack has no other */
  uint32_t imports;     /* kinds of external memory (external.h) of which arrays are made there, ... */
  uint32_t exports;     /* ... and as which their memory is given to others: sets of ND4C_EXTERNAL_BIT */
  bool registers_host;  /* nd4c_host_register page-locks host memory for it */
  /* Priorities of streams (nd4c_context_options.priority); both 0: it has one alone. */
  int32_t least_priority, greatest_priority;
  bool wraps_streams; /* nd4c_context_wrap takes streams of the application's */
} nd4c_device_info;

/* Devices of all backends that are open: an index never changes its device. The host's own has index 0 and is there
 * from the start; others follow in the order of their opening, when something needs them: nd4c_device_find,
 * nd4c_device_default, nd4c_backend_probe(true) for all. 0 if not even the host can be opened. Any thread. */
ND4C_API int32_t nd4c_device_count(void);
/* The device at an index. Borrowed, lives as long as the process. INDEX past the end. */
ND4C_API nd4c_status nd4c_device_at(int32_t index, nd4c_device **device);

/* Fills *info as far as its struct_size reaches. */
ND4C_API nd4c_status nd4c_device_get_info(const nd4c_device *device, nd4c_device_info *info);

/* What a device does with another one's memory by itself. */
typedef enum nd4c_peer_kind {
  ND4C_PEER_NONE = 0,  /* nothing: bytes go by way of the host */
  ND4C_PEER_COPY = 1,  /* it copies from there */
  ND4C_PEER_ACCESS = 2 /* its kernels read and write there, too */
} nd4c_peer_kind;

typedef struct nd4c_peer_info {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_peer_info) */
  nd4c_peer_kind kind;
  int32_t rank; /* of the link's speed among those of the backend: 1 is the fastest; 0: unknown */
} nd4c_peer_info;

/* "none", "copy", "access"; "?" for another number. Static; any thread. */
ND4C_API const char *nd4c_peer_kind_name(nd4c_peer_kind kind);
/* Fills *info with what `device` does with the memory of `other`, which need not be what `other` does with its. Of one
 * and the same device ACCESS; of devices of two backends NONE. Where the backend does not tell, a device that copies
 * from others counts as COPY until such a copy fails. Asks the driver once for each pair. Any thread. HANDLE: one is no
 * device of an open backend; ABI: what its backend told makes no sense; the backend's status if it fails. */
ND4C_API nd4c_status nd4c_device_peer(const nd4c_device *device, const nd4c_device *other, nd4c_peer_info *info);

/* Waits for everything submitted to the device from any thread. Reports the first failure in flight that nobody has
 * seen yet. */
ND4C_API nd4c_status nd4c_device_synchronize(nd4c_device *device);

/* -- the machine ---------------------------------------------------------------------------------------------- */

/* The host as nd4c sees and uses it. Strings are static. */
typedef struct nd4c_machine_info {
  uint32_t struct_size;     /* set by the caller: sizeof(nd4c_machine_info) */
  const char *cpu_model;    /* as the CPU states it */
  const char *cpu_features; /* "avx2 fma avx512f ...": what CPU and operating system allow */
  const char *cpu_level;    /* instruction-set level of nd4c's own kernels, lowered by nd4c.cpu.level */
  int64_t cache_bytes;      /* last-level cache, 0 if unknown */
  int64_t memory_bytes;     /* 0 if unknown */
  int32_t width;            /* default parallel width */
  const char *pool;         /* "openmp", "threads" or "serial" */
  const char *level_reason; /* why cpu_level is what it is */
} nd4c_machine_info;

/* Cheap, opens nothing. Any thread. */
ND4C_API nd4c_status nd4c_machine_get_info(nd4c_machine_info *info);

/* -- memory --------------------------------------------------------------------------------------------------- */

typedef struct nd4c_memory_info {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_memory_info) */
  int64_t live_bytes;   /* in use by arrays, workspaces and what streams work in */
  int64_t cached_bytes; /* kept for reuse */
  int64_t peak_bytes;   /* highest live since start or nd4c_memory_reset_peak */
  int64_t cap_bytes;    /* limit of live + cached, 0: none */
  int64_t live_count;   /* allocations alive */
  int64_t total_count;  /* allocations ever served */
  int64_t cache_hits;   /* of those, served from the cache */
  /* Appended; a shorter struct_size leaves them out. What nd4c.device.memory.spill took away to make room: */
  int64_t dropped_count; /* copies of arrays that were elsewhere, too */
  int64_t spilled_count; /* arrays that were copied to the host first, and their bytes */
  int64_t spilled_bytes;
  int64_t imported_count; /* arrays over external memory that are alive, and its bytes: not live, not against the cap */
  int64_t imported_bytes;
  /* Of live_bytes: */
  int64_t scratch_bytes; /* what streams work in, kept from call to call: goes when memory is short, and by trim to 0 */
  int64_t held_bytes;    /* what backends hold beside arrays: packed weights, what vendors' libraries have */
} nd4c_memory_info;

/* Fills *info as far as its struct_size reaches. */
ND4C_API nd4c_status nd4c_memory_get_info(const nd4c_device *device, nd4c_memory_info *info);
/* Bytes that arrays could take on the device now: what its cap leaves, and what the device says, or else its total less
 * what nd4c holds there. INT64_MAX if nothing of that is known. Others may be faster: no promise. */
ND4C_API nd4c_status nd4c_memory_remaining(const nd4c_device *device, int64_t *bytes);
/* Limits live + cached bytes of the device; 0 removes the limit. A request over it first trims the cache and, unless it
 * is larger than the limit itself, waits for what is under way on the device, whose released arrays and scratch may be
 * what is missing; then arenas of workspaces that no thread has entered go, and backends
 * are asked for what they hold, and then it fails with MEMORY_CAP stating
 * usage, request and cap. Nothing else that is alive is taken away, unless the property
 * nd4c.device.memory.spill is true: then arrays that nothing is using go to the host first, and come back when they are
 * needed. The cap holds until one of the properties that cap the device gives another value
 * (nd4j.device.memory.cap.<TYPE>.<INDEX>; else org.bytedeco.javacpp.maxbytes for the host, gpuMemoryCapFraction for
 * others). */
ND4C_API nd4c_status nd4c_memory_set_cap(nd4c_device *device, int64_t bytes);
/* Returns cached memory until at most `keep_bytes` are cached; 0: idle streams, scratch and staging buffers, what
 * backends can spare of what they hold, what kernels on
 * the host worked in, and the records of calls that the calling thread and all threads together keep, too. ARGUMENT for
 * less than 0: nothing is given back. */
ND4C_API nd4c_status nd4c_memory_trim(nd4c_device *device, int64_t keep_bytes);
ND4C_API nd4c_status nd4c_memory_reset_peak(nd4c_device *device);
/* Text listing what is alive: one line a size and origin; "" if nothing. Free with nd4c_free. Origins (the op or call
 * that allocated) are recorded while the property nd4c.memory.origins is true. */
ND4C_API nd4c_status nd4c_memory_report(const nd4c_device *device, char **text);

ND4C_EXTERN_C_END
#endif
