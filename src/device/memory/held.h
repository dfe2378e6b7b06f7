/* Device memory that backends hold besides arrays: implements host->device_memory (nd4c/plugin/memory.h). memory.c asks
 * it for memory; device/access/memory_query.c reports it. */
#ifndef ND4C_DEVICE_MEMORY_HELD_H
#define ND4C_DEVICE_MEMORY_HELD_H

#include "base/text.h"
#include "device/device.h"

/* The table for plug-ins. */
extern const nd4c_host_device_memory nd4c_held_table;

/* Asks backends to free memory that they hold on the device, until that many bytes were freed or all were asked. True
 * if another attempt is worthwhile: something was freed, by this thread or by another one that was asking. Does nothing
 * inside a give_way. */
bool nd4c_held_give_way(nd4c_device *device, int64_t bytes);
/* MEMORY while the calling thread is in a give_way, which must not request memory. */
nd4c_status nd4c_held_check(void);
/* Lists memory that is only counted: "2 x 4096 bytes held for ORIGIN". */
void nd4c_held_print(const nd4c_device *device, nd4c_text *text);
/* Forgets the pieces on a closing device: buffers go to the manager, and a later give frees only the record. */
void nd4c_held_abandon(nd4c_device *device);

#endif
