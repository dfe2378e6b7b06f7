/* Storages over external memory that a device imported: the first replica is the memory, and stays where it is. */
#ifndef ND4C_DEVICE_IMPORTED_H
#define ND4C_DEVICE_IMPORTED_H

#include "base/text.h"
#include "device/storage/storage.h"
#include "nd4c/external.h"

/* A storage with one reference. The caller has checked the numbers and that the device imports the kind. The owner's
 * release is not taken over: nd4c_storage_set_release does that when nothing can fail any more. */
nd4c_status nd4c_storage_import(nd4c_device *device, nd4c_dtype dtype, const nd4c_external *external,
                                nd4c_storage **storage);

/* Counts those that are alive on a device. Takes a lock under which nothing else is called. */
void nd4c_imports_count(const nd4c_device *device, int64_t *count, int64_t *bytes);
/* Writes a line for each that is alive on the device. */
void nd4c_imports_report(const nd4c_device *device, nd4c_text *report);

#endif
