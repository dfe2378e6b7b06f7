/* Memory of devices that backends hold beside arrays: host->device_memory (nd4c/plugin/memory.h). */
#ifndef ND4C_DEVICE_HELD_H
#define ND4C_DEVICE_HELD_H

#include "base/text.h"
#include "device/device.h"

/* What plug-ins are given. */
extern const nd4c_host_device_memory nd4c_held_table;

/* Asks backends for memory that they hold on the device, until so many bytes were given back or all were asked. Whether
 * it is worth another attempt: something was given back, here or by another thread that was asking. Nothing is asked
 * from within such a request. */
bool nd4c_held_give_way(nd4c_device *device, int64_t bytes);
/* MEMORY while the calling thread is in a give_way: memory is not asked for there. */
nd4c_status nd4c_held_check(void);
/* Lists what is only counted: "2 x 4096 bytes held for ORIGIN". */
void nd4c_held_print(const nd4c_device *device, nd4c_text *text);
/* Forgets what is held on a device that closes: buffers become the manager's, and a later give frees the record
 * alone. */
void nd4c_held_abandon(nd4c_device *device);

#endif
