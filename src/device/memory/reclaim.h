/* Reclaimers free memory of a device when a request does not fit. memory.c calls them; arenas (device/workspace),
 * packed constants and storages (device/storage), which are layers above, have one entry each:
 *
 *     static const nd4c_reclaimer arenas = {.order = ND4C_RECLAIM_ARENAS, .give_way = nd4c_workspace_give_way};
 *     ND4C_HOOK(reclaimers, nd4c_reclaimer, arenas); */
#ifndef ND4C_DEVICE_MEMORY_RECLAIM_H
#define ND4C_DEVICE_MEMORY_RECLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hook.h"
#include "device/device.h"

/* The order of the calls, the cheapest memory first. Memory that backends hold comes between FORMS and REPLICAS. */
typedef enum nd4c_reclaim_order {
  ND4C_RECLAIM_ARENAS,   /* of workspaces that no thread has entered */
  ND4C_RECLAIM_FORMS,    /* packed constants that no plan uses */
  ND4C_RECLAIM_REPLICAS, /* idle arrays, which move to the host: only if nd4c.device.memory.spill is set */
  ND4C_RECLAIM_ORDERS
} nd4c_reclaim_order;

typedef struct nd4c_reclaimer {
  nd4c_reclaim_order order;
  /* Frees memory of the device, if possible at least `bytes`. False: nothing was freed. Called without locks. */
  bool (*give_way)(const nd4c_device *device, int64_t bytes);
  /* Frees memory that was released while work was pending; wait: waits for that work. The caller may hold a lock, so it
   * must not run callbacks of the program. NULL: nothing of that kind. */
  void (*collect)(bool wait);
} nd4c_reclaimer;

ND4C_HOOK_LIST(reclaimers, nd4c_reclaimer);

#endif
