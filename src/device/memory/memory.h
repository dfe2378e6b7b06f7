/* Accounted memory of one device: size classes, a cache of freed blocks, a cap, a peak. Thread-safe. */
#ifndef ND4C_DEVICE_MEMORY_H
#define ND4C_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "device/device.h"

/* A block; `bytes` is what was granted (>= what was asked). */
typedef struct nd4c_block {
  nd4c_buffer buffer;
  void *address; /* NULL on devices without addresses; the host's to read only where nd4c_device_is_immediate */
  int64_t bytes;
  int64_t offset;               /* of the first byte in the buffer: not 0 within a workspace alone */
  struct nd4c_block_node *node; /* the manager's; NULL: the block is somebody else's, or part of another */
} nd4c_block;

/* What a block is for. */
typedef struct nd4c_memory_request {
  int64_t bytes;
  const char *origin; /* static text for the leak report; NULL: none */
  nd4c_buffer_usage usage;
  nd4c_dtype dtype;   /* of the elements of an ARRAY; NONE: not known, or no array */
  nd4c_stream stream; /* of the work that uses it first; NULL: not known, or the host's */
} nd4c_memory_request;

/* MEMORY, MEMORY_CAP (after trimming), DEVICE. */
nd4c_status nd4c_memory_allocate(nd4c_device *device, const nd4c_memory_request *request, nd4c_block *block);
void nd4c_memory_free(nd4c_device *device, nd4c_block *block);

/* Frees a block behind the work that still uses it, all of it on the stream, which is alive: not kept for reuse. Only
 * where nd4c_driver_frees_on_streams. */
void nd4c_memory_free_on(nd4c_device *device, nd4c_block *block, nd4c_stream stream);

/* Makes a block of a buffer that an executable of the device made: counted, whatever the cap, until it is freed, and
 * then given back to the device. MEMORY, DEVICE: the buffer is still the caller's. */
nd4c_status nd4c_memory_adopt(nd4c_device *device, nd4c_buffer buffer, int64_t bytes, const char *origin,
                              nd4c_block *block);
/* Whether it is one of those: its bytes are no class's, and it is used by nothing else. */
bool nd4c_memory_is_adopted(const nd4c_block *block);

/* How many bytes a block for so many has. */
int64_t nd4c_memory_granted(int64_t bytes);
/* Names a new origin for a block that is alive, and counts it as an allocation that the cache served. */
void nd4c_memory_take_over(nd4c_device *device, const nd4c_block *block, const char *origin);

/* Counts memory that another allocator of nd4c took for the device (small storages) against its cap, and gives it back.
 */
nd4c_status nd4c_memory_reserve(nd4c_device *device, int64_t bytes);
void nd4c_memory_unreserve(nd4c_device *device, int64_t bytes);

/* The same for what a backend holds: live from here on. `origin` as in a request. nd4c_memory_unhold ends it. */
nd4c_status nd4c_memory_hold(nd4c_device *device, int64_t bytes, const char *origin);
void nd4c_memory_unhold(nd4c_device *device, int64_t bytes);
/* Tells how many of the live bytes backends hold, and changes that. */
int64_t nd4c_memory_held(const nd4c_device *device);
void nd4c_memory_count_held(nd4c_device *device, int64_t bytes);
/* The device of a backend with that handle, also one that is being opened; NULL if there is none. */
nd4c_device *nd4c_memory_find_device(const char *backend, const void *handle);

/* Counts a replica that was taken from the device to make room; `saved`: it had to be copied to the host first. */
void nd4c_memory_note_spill(nd4c_device *device, int64_t bytes, bool saved);
/* Whether a block of that size can be had with nothing more than what is cached given back. Gives nothing back. */
bool nd4c_memory_has_room(const nd4c_device *device, int64_t bytes);
/* Counts a block as an arena's (its bytes), or no more (minus its bytes): the text of MEMORY_CAP tells of them. */
void nd4c_memory_count_arena(nd4c_device *device, int64_t bytes);
/* What configuration caps the device's memory with, 0: nothing. */
int64_t nd4c_memory_configured_cap(const nd4c_device *device);
/* Warns of caps for devices behind the last one of a backend that was just opened. */
void nd4c_memory_tell_idle_caps(const char *backend, const nd4c_device *devices, int32_t count);

#endif
