/* Accounted memory of one device: size classes, a cache of freed blocks, a cap, a peak. Thread-safe. */
#ifndef ND4C_DEVICE_MEMORY_H
#define ND4C_DEVICE_MEMORY_H

#include <stdint.h>

#include "device/device.h"

/* A block; `bytes` is what was granted (>= what was asked). */
typedef struct nd4c_block {
  nd4c_buffer buffer;
  void *address; /* NULL on opaque devices */
  int64_t bytes;
  struct nd4c_block_node *node; /* the manager's */
} nd4c_block;

/* MEMORY, MEMORY_CAP (after trimming), DEVICE. `origin`: static text for the leak report, may be NULL. */
nd4c_status nd4c_memory_allocate(nd4c_device *device, int64_t bytes, const char *origin, nd4c_block *block);
void nd4c_memory_free(nd4c_device *device, nd4c_block *block);

/* Counts memory that another allocator of nd4c took for the device (small storages) against its cap, and gives it back.
 */
nd4c_status nd4c_memory_reserve(nd4c_device *device, int64_t bytes);
void nd4c_memory_unreserve(nd4c_device *device, int64_t bytes);

#endif
