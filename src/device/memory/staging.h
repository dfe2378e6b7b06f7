/* Staging buffers: page-locked host memory, from which a device copies fastest. Each device that offers it keeps a few.
 * transfer_stream.c and cargo.c in device/storage use them for copies between host and device. */
#ifndef ND4C_DEVICE_MEMORY_STAGING_H
#define ND4C_DEVICE_MEMORY_STAGING_H

#include "device/device.h"

/* Bytes of one buffer. */
enum { ND4C_STAGING_BYTES = 1 << 20 };

/* *out is NULL if the backend offers no pinned memory, or if it would be useless because the device is the host's
 * own processor or computes in the host's memory. */
nd4c_status nd4c_staging_make(nd4c_device *device, struct nd4c_staging **out);
void nd4c_staging_free(struct nd4c_staging *staging);

/* Zeroed: none. */
typedef struct nd4c_staging_buffer {
  nd4c_buffer buffer;
  void *address; /* ND4C_STAGING_BYTES bytes that the host reads and writes */
} nd4c_staging_buffer;

/* Takes a buffer. False if there is none (the log says why): the copy then uses ordinary memory. */
bool nd4c_staging_take(nd4c_device *device, nd4c_staging_buffer *buffer);
/* Returns a buffer; an empty one is fine. */
void nd4c_staging_give(nd4c_device *device, const nd4c_staging_buffer *buffer);
/* The same for a buffer that work in flight keeps; a device has at most eight of these. */
bool nd4c_staging_take_spare(nd4c_device *device, nd4c_staging_buffer *buffer);
void nd4c_staging_give_spare(nd4c_device *device, const nd4c_staging_buffer *buffer);
/* Frees the idle buffers. */
void nd4c_staging_trim(nd4c_device *device);

#endif
