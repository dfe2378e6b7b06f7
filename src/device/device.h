/* A device inside the library: its backend's operations, its memory manager, its streams. All of src/device and the
 * layers above use it; device/registry fills it. */
#ifndef ND4C_DEVICE_DEVICE_H
#define ND4C_DEVICE_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "nd4c/plugin.h"

struct nd4c_memory_manager;
struct nd4c_compute;
struct nd4c_stream_pool;
struct nd4c_scratch_pool;
struct nd4c_staging;
struct nd4c_replica;

/* Uses of foreign host memory by the driver's copies; host_ranges.c owns it. */
struct nd4c_host_uses {
  _Atomic int32_t count[2]; /* unfinished uses, by the turn in which they began */
  _Atomic int32_t turn;     /* turn of uses that begin now: 0 or 1 */
  bool awaited;             /* a thread waits for them; under the lock of host_ranges.c */
};

struct nd4c_device {
  const nd4c_backend *backend;
  const nd4c_device_ops *ops;
  void *handle; /* the backend's own */
  int32_t index;
  int32_t number;    /* unique in the process */
  char name[32];     /* "name:index" */
  char uuid[37];     /* as text, "" if there is none */
  char identity[48]; /* "name:index", or "rank/name:index" with several processes */
  int32_t process_rank, process_count;
  nd4c_device_description description;
  struct nd4c_memory_manager *memory;
  struct nd4c_stream_pool *streams;  /* idle ones; NULL on synchronous devices */
  struct nd4c_scratch_pool *scratch; /* scratch of its streams */
  struct nd4c_staging *staging;      /* pinned host buffers; NULL where the backend offers none */
  _Atomic int32_t *peers;            /* by index of the backend's devices; peers.c owns it */
  int32_t peer_count;
  struct nd4c_replica *residents;             /* replicas that may be spilled; residence.c owns it */
  const struct nd4c_compute *_Atomic compute; /* its kernels and compilers; replaced when a plug-in adds some */
  _Atomic int32_t closed;                     /* why it accepts no more work, 0: it accepts work; see exit_and_fork.h */
  struct nd4c_host_uses host_uses;
};

static inline bool nd4c_device_is_synchronous(const nd4c_device *device) {
  return !device->description.asynchronous;
}

/* Whether the host may access its memory by address and finds a call's results there when the call returns. */
static inline bool nd4c_device_is_immediate(const nd4c_device *device) {
  return device->description.host_readable && !device->description.asynchronous;
}

#define ND4C_HOST_DEVICE "cpu:0"

/* The host's device, opened on first use, which holds foreign host memory and host replicas. After one success it never
 * fails. */
nd4c_status nd4c_device_host(nd4c_device **device);

/* Adds a newly opened device to those of nd4c_device_at. Under the registry's lock. */
nd4c_status nd4c_devices_publish(nd4c_device *device);
/* Their number, including the reserved entry of the host; the device at an index, NULL: the host is not open. */
int32_t nd4c_devices_count(void);
nd4c_device *nd4c_devices_at(int32_t index);
/* Iterates over these devices, *position first 0; NULL after the last. Takes no lock. */
nd4c_device *nd4c_devices_next(int32_t *position);
/* Whether a pointer is such a device; never dereferences it. */
bool nd4c_device_is_known(const nd4c_device *device);
/* Checks a caller's argument: HANDLE, with the function's name, unless it is such a device; NULL_ARGUMENT. */
nd4c_status nd4c_device_check(const nd4c_device *device, const char *function);
/* Puts "TEXT JOINT DEVICE: " in front of the thread's error text, or "TEXT: " if it names the device already. Returns
 * `code`. `joint`: "on", "to". */
nd4c_status nd4c_device_fail_prefix(nd4c_status code, const nd4c_device *device, const char *joint, const char *format,
                                    ...) ND4C_PRINTF(4, 5);
/* Whether the thread's error text names the device. */
bool nd4c_device_is_named(const nd4c_device *device);
/* DLPack's type of its memory (dlpack_types.c). */
int32_t nd4c_device_dlpack_type(const nd4c_device *device);
/* Kinds of external memory as which the device exports its memory: those of its backend, and pointers. */
uint32_t nd4c_device_exports(const nd4c_device *device);
/* Total memory, 0 if unknown. */
int64_t nd4c_device_memory_bytes(const nd4c_device *device);

/* Its kernels for an op, and its compilers, from the highest priority down. */
const nd4c_kernel *const *nd4c_device_kernels(const nd4c_device *device, nd4c_op op, int32_t *count);
const nd4c_compiler *const *nd4c_device_compilers(const nd4c_device *device, int32_t *count);

#endif
