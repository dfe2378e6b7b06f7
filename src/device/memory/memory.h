/* The memory of one device: size classes, a cache of freed blocks, a cap, a peak. device/storage allocates arrays here,
 * device/workspace arenas, scratch.c scratch for calls and plans. Thread-safe. */
#ifndef ND4C_DEVICE_MEMORY_MEMORY_H
#define ND4C_DEVICE_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "device/device.h"

/* A block; `bytes` is the granted size, at least the requested one. */
typedef struct nd4c_block {
  nd4c_buffer buffer;
  void *address; /* NULL on devices without addresses; the host may use it only if nd4c_device_is_immediate */
  int64_t bytes;
  int64_t offset;               /* of the first byte in the buffer: nonzero only in a workspace */
  struct nd4c_block_node *node; /* the manager's record; NULL: the block is foreign or part of another block */
} nd4c_block;

/* The purpose of a block. */
typedef struct nd4c_memory_request {
  int64_t bytes;
  const char *origin; /* static text for the leak report; NULL: none */
  nd4c_buffer_usage usage;
  nd4c_dtype dtype;   /* dtype of an ARRAY; NONE: unknown, or not an array */
  nd4c_stream stream; /* stream of the first use; NULL: unknown, or the host uses it first */
} nd4c_memory_request;

/* MEMORY, MEMORY_CAP (after trimming), DEVICE. */
nd4c_status nd4c_memory_allocate(nd4c_device *device, const nd4c_memory_request *request, nd4c_block *block);
void nd4c_memory_free(nd4c_device *device, nd4c_block *block);

/* Frees a block in stream order; all work that uses it is on the stream, which is alive. The block is not cached. Only
 * if nd4c_driver_frees_on_streams. */
void nd4c_memory_free_on(nd4c_device *device, nd4c_block *block, nd4c_stream stream);

/* Adopts a buffer that an executable of the device allocated: counted, even beyond the cap, until it is freed; then
 * returned to the device. MEMORY, DEVICE: the caller still owns the buffer. */
nd4c_status nd4c_memory_adopt(nd4c_device *device, nd4c_buffer buffer, int64_t bytes, const char *origin,
                              nd4c_block *block);
/* Whether the block was adopted: its size belongs to no class, and it has a single user. */
bool nd4c_memory_is_adopted(const nd4c_block *block);

/* The granted size for a request. */
int64_t nd4c_memory_granted(int64_t bytes);
/* Gives a live block a new origin, and counts that as an allocation from the cache. */
void nd4c_memory_take_over(nd4c_device *device, const nd4c_block *block, const char *origin);

/* Counts memory of another allocator of nd4c on the device (small storages) towards the cap, and uncounts it. */
nd4c_status nd4c_memory_reserve(nd4c_device *device, int64_t bytes);
void nd4c_memory_unreserve(nd4c_device *device, int64_t bytes);

/* The same for memory that a backend holds, which counts as live. `origin` as in a request. nd4c_memory_unhold uncounts
 * it. */
nd4c_status nd4c_memory_hold(nd4c_device *device, int64_t bytes, const char *origin);
void nd4c_memory_unhold(nd4c_device *device, int64_t bytes);
/* Changes and returns how many of the live bytes backends hold. */
int64_t nd4c_memory_held(const nd4c_device *device);
void nd4c_memory_count_held(nd4c_device *device, int64_t bytes);
/* The device of a backend with that handle, including one that is being opened; NULL if there is none. */
nd4c_device *nd4c_memory_find_device(const char *backend, const void *handle);

/* Counts a replica that was removed from the device to make room; `saved`: it had to be copied to the host first. */
void nd4c_memory_note_spill(nd4c_device *device, int64_t bytes, bool saved);
/* Whether a block of that size could be allocated by freeing only cached blocks. Frees nothing. */
bool nd4c_memory_has_room(const nd4c_device *device, int64_t bytes);
/* Counts a block's bytes as an arena's, or uncounts them if negative, for the text of MEMORY_CAP. */
void nd4c_memory_count_arena(nd4c_device *device, int64_t bytes);
/* The configured cap of the device's memory, 0: none. */
int64_t nd4c_memory_configured_cap(const nd4c_device *device);
/* Logs a warning for caps of devices that a newly opened backend does not have. */
void nd4c_memory_tell_idle_caps(const char *backend, const nd4c_device *devices, int32_t count);

#endif
