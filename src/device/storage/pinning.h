/* Pinning: keeps an array's memory in place while a caller has its address (DLPack) or its name (external memory).
 * access/dlpack.c and access/external.c pin arrays. */
#ifndef ND4C_DEVICE_STORAGE_PINNING_H
#define ND4C_DEVICE_STORAGE_PINNING_H

#include "device/storage/storage.h"

/* Keeps the array's contents on the device as long as the array lives, current and ready. Unless the array is
 * read-only, they become current on that device alone, because the caller may write. view->written is NULL. Fails as
 * acquiring does. */
nd4c_status nd4c_array_pin(nd4c_array *array, nd4c_device *device, nd4c_replica_view *view);

/* Its two steps. The first pins the replica, which other replicas may equal; nd4c_storage_unpin undoes it. The second
 * makes it the only current one; a failure undoes both. */
nd4c_status nd4c_array_pin_place(nd4c_array *array, nd4c_device *device, nd4c_replica_view *view);
nd4c_status nd4c_array_pin_contents(nd4c_array *array, nd4c_device *device, nd4c_replica_view *view);

#endif
