/* Storages over external memory that a device imported: their first replica is that memory, and is never moved.
 * access/external.c makes them; access/memory_query.c counts them. */
#ifndef ND4C_DEVICE_STORAGE_IMPORTED_H
#define ND4C_DEVICE_STORAGE_IMPORTED_H

#include "base/text.h"
#include "device/storage/storage.h"
#include "nd4c/external.h"

/* A storage with one reference. The caller has checked the numbers and that the device imports the kind. Does not take
 * over the owner's release: nd4c_storage_set_release does, when nothing can fail any more. */
nd4c_status nd4c_storage_import(nd4c_device *device, nd4c_dtype dtype, const nd4c_external *external,
                                nd4c_storage **out);

/* Counts the live ones of a device. Takes a lock under which no other function is called. */
void nd4c_imports_count(const nd4c_device *device, int64_t *count, int64_t *bytes);
/* Writes a line for each live one of the device. */
void nd4c_imports_report(const nd4c_device *device, nd4c_text *report);

#endif
