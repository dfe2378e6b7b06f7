/* Where the memory of a thread's new storages comes from while it is in a workspace. storage.c asks; workspaces, which
 * lie above, are the only source. */
#ifndef ND4C_DEVICE_STORAGE_SOURCE_H
#define ND4C_DEVICE_STORAGE_SOURCE_H

#include <stdbool.h>

#include "array/array.h"
#include "base/hook.h"
#include "device/device.h"
#include "device/stream/thread.h"

typedef struct nd4c_storage_source {
  /* A storage for the thread, which has entered a workspace. *taken false: none is to be had of it for that device. */
  nd4c_status (*allocate)(nd4c_thread *thread, nd4c_device *device, nd4c_dtype dtype, int64_t bytes, const char *origin,
                          bool *taken, nd4c_storage **storage);
  /* Gives a storage of the source memory of its own; any other is left as it is. */
  nd4c_status (*move_out)(nd4c_storage *storage);
  /* Forgets a storage whose contents are on other devices alone. Any other is left as it is. */
  void (*part)(nd4c_storage *storage);
  /* Waits for the work on storages without references, and ends them. Called without a lock. */
  void (*collect)(void);
} nd4c_storage_source;

ND4C_HOOK_LIST(storage_sources, nd4c_storage_source);

#endif
