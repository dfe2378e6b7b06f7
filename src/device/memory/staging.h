/* Staging buffers: host memory from which a device copies fastest, a few of them kept for each device that offers any.
 */
#ifndef ND4C_DEVICE_STAGING_H
#define ND4C_DEVICE_STAGING_H

#include "device/device.h"

/* Bytes of one buffer. */
enum { ND4C_STAGING_BYTES = 1 << 20 };

/* *staging NULL where the backend offers no pinned memory, or where it would be no use: the device is the host's own
 * processor or works on the host's memory. */
nd4c_status nd4c_staging_make(nd4c_device *device, struct nd4c_staging **staging);
void nd4c_staging_free(struct nd4c_staging *staging);

/* Zeroed: none. */
typedef struct nd4c_staging_buffer {
  nd4c_buffer buffer;
  void *address; /* of ND4C_STAGING_BYTES that the host reads and writes */
} nd4c_staging_buffer;

/* False, and no buffer, if there is none (the log says why): then the copy goes without. */
bool nd4c_staging_take(nd4c_device *device, nd4c_staging_buffer *buffer);
/* One without memory is fine. */
void nd4c_staging_give(nd4c_device *device, const nd4c_staging_buffer *buffer);
/* The same for a buffer that stays with work under way. Of these a device has eight at most. */
bool nd4c_staging_take_spare(nd4c_device *device, nd4c_staging_buffer *buffer);
void nd4c_staging_give_spare(nd4c_device *device, const nd4c_staging_buffer *buffer);
/* Frees the idle buffers. */
void nd4c_staging_trim(nd4c_device *device);

#endif
