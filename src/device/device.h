/* A device as the library sees it: its backend's operations, its memory manager, its queue of failures. */
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

/* Host memory of others that the driver is being given for copies; host_ranges.c's. */
struct nd4c_host_uses {
  _Atomic int32_t count[2]; /* uses that have begun and not ended, by the turn in which they began */
  _Atomic int32_t turn;     /* 0 or 1: of uses that begin now */
  bool awaited;             /* a thread waits for them; under the lock of host_ranges.c */
};

struct nd4c_device {
  const nd4c_backend *backend;
  const nd4c_device_ops *ops;
  void *handle; /* the backend's own */
  int32_t index;
  int32_t number; /* unique in the process */
  char name[32]; /* "name:index" */
  char uuid[37]; /* as text, "" if there is none */
  char identity[48]; /* "name:index", or "rank/name:index" among several processes */
  int32_t process_rank, process_count;
  nd4c_device_description description;
  struct nd4c_memory_manager *memory;
  struct nd4c_stream_pool *streams; /* idle ones; NULL on synchronous devices */
  struct nd4c_scratch_pool *scratch; /* what streams' work works in */
  struct nd4c_staging *staging;     /* pinned host buffers; NULL where the backend offers none */
  _Atomic int32_t *peers;           /* by index of the backend's devices, peers.c's */
  int32_t peer_count;
  struct nd4c_replica *residents;   /* replicas that spilling considers, residence.c's */
  const struct nd4c_compute *_Atomic compute; /* what computes on it; another one once a plug-in adds to it */
  _Atomic int32_t closed; /* why it takes no more work, 0: it does; see closing.h */
  struct nd4c_host_uses host_uses;
};

static inline bool nd4c_device_is_synchronous(const nd4c_device *device) {
  return !device->description.asynchronous;
}

/* Whether the host may read and write its memory by address, and finds a call's results there as soon as the call
 * returns. */
static inline bool nd4c_device_is_immediate(const nd4c_device *device) {
  return device->description.host_readable && !device->description.asynchronous;
}

#define ND4C_HOST_DEVICE "cpu:0"

/* The host's own device, opened on first use: where foreign host memory and host replicas live. Never fails
 * after it succeeded once. */
nd4c_status nd4c_device_host(nd4c_device **device);

/* Adds a device that was just opened to those that nd4c_device_at gives. Under the registry's lock. */
nd4c_status nd4c_devices_publish(nd4c_device *device);
/* How many there are, with the place that is kept for the host's; the one at a place, NULL: the host's is not open. */
int32_t nd4c_devices_count(void);
nd4c_device *nd4c_devices_at(int32_t index);
/* Those devices one by one, *position 0 first; NULL behind the last. Takes no lock. */
nd4c_device *nd4c_devices_next(int32_t *position);
/* Whether a pointer is one of those; never looks behind it. */
bool nd4c_device_is_known(const nd4c_device *device);
/* HANDLE, with the function's name, unless it is; NULL_ARGUMENT. For what callers give. */
nd4c_status nd4c_device_check(const nd4c_device *device, const char *function);
/* Puts "TEXT JOINT DEVICE: " in front of the thread's error text, or "TEXT: " where that names the device already.
 * Returns `code`. `joint`: "on", "to". */
nd4c_status nd4c_device_fail_prefix(nd4c_status code, const nd4c_device *device, const char *joint, const char *format,
                                    ...) ND4C_PRINTF(4, 5);
/* Whether the thread's error text names the device. */
bool nd4c_device_is_named(const nd4c_device *device);
/* DLPack's type of its memory (dlpack_types.c). */
int32_t nd4c_device_dlpack_type(const nd4c_device *device);
/* Kinds of external memory as which the device's is given to others: those of its backend, and pointers. */
uint32_t nd4c_device_exports(const nd4c_device *device);
/* Total memory, 0 if unknown. */
int64_t nd4c_device_memory_bytes(const nd4c_device *device);

/* Kernels for an op, and compilers, from the highest priority down. */
const nd4c_kernel *const *nd4c_device_kernels(const nd4c_device *device, nd4c_op op, int32_t *count);
const nd4c_compiler *const *nd4c_device_compilers(const nd4c_device *device, int32_t *count);

#endif
