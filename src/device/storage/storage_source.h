/* The source of memory for a thread's new storages while it has entered a workspace. storage.c and residence.c ask;
 * workspaces (device/workspace), a layer above, are the only source. */
#ifndef ND4C_DEVICE_STORAGE_STORAGE_SOURCE_H
#define ND4C_DEVICE_STORAGE_STORAGE_SOURCE_H

#include <stdbool.h>

#include "array/array.h"
#include "base/hook.h"
#include "device/device.h"
#include "device/stream/thread.h"

typedef struct nd4c_storage_source {
  /* Makes a storage for the thread, which has entered a workspace. *taken false: the workspace does not serve that
   * device. */
  nd4c_status (*allocate)(nd4c_thread *thread, nd4c_device *device, nd4c_dtype dtype, int64_t bytes, const char *origin,
                          bool *taken, nd4c_storage **storage);
  /* Moves a storage of the source to separate memory; leaves any other unchanged. */
  nd4c_status (*move_out)(nd4c_storage *storage);
  /* Forgets a storage whose contents are only on other devices; leaves any other unchanged. */
  void (*part)(nd4c_storage *storage);
  /* Waits for the work on storages without references, and frees them. Called without locks. */
  void (*collect)(void);
} nd4c_storage_source;

ND4C_HOOK_LIST(storage_sources, nd4c_storage_source);

#endif
