/* Memory of arrays of which a caller keeps an address or a name. */
#ifndef ND4C_DEVICE_PINNING_H
#define ND4C_DEVICE_PINNING_H

#include "device/storage/storage.h"

/* Keeps the array's contents on the device for as long as the array lives, current and ready there, and there alone
 * unless the array is read-only: the caller that gets the memory may write. view->written is NULL. Fails as acquiring
 * does. */
nd4c_status nd4c_array_pin(nd4c_array *array, nd4c_device *device, nd4c_replica_view *view);

/* Its two halves. The first keeps the place alone, where the contents are current beside others; nd4c_storage_unpin
 * takes it back. The second makes them current there alone, after a failure nothing is kept of both. */
nd4c_status nd4c_array_pin_place(nd4c_array *array, nd4c_device *device, nd4c_replica_view *view);
nd4c_status nd4c_array_pin_contents(nd4c_array *array, nd4c_device *device, nd4c_replica_view *view);

#endif
