/* Cached routing decisions, keyed by the call and the places of its inputs. Each thread has its own table, so a hit
 * takes no lock; it grows from 8 to 128 KiB. routed.c uses it. */
#ifndef ND4C_DISPATCH_DECISIONS_H
#define ND4C_DISPATCH_DECISIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/device.h"

typedef struct nd4c_decision {
  uint64_t key;
  uint32_t epoch, routing; /* epoch of the configuration; number of the routing object */
  int32_t uses;            /* uses left until the next vote */
  nd4c_device *device;
} nd4c_decision;

/* The thread's decision by the routing object with this number that has uses left; NULL: none. The next
 * nd4c_decisions_add may move it. */
nd4c_decision *nd4c_decisions_find(uint64_t key, uint32_t routing);
/* Drops the decision, so that the next call votes. */
void nd4c_decisions_forget(uint64_t key, uint32_t routing);
/* Adds a decision, if there is memory. */
void nd4c_decisions_add(uint64_t key, uint32_t routing, nd4c_device *device, int32_t uses);

#endif
