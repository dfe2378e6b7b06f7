/* Orders nodes so that each group of them stands together: what runs before what is kept. */
#ifndef ND4C_BASE_GROUPING_H
#define ND4C_BASE_GROUPING_H

#include <stdint.h>

#include "nd4c/status.h"

/* Nodes with the nodes that must come before each: before[first_before[i]] .. before[first_before[i + 1] - 1]. The
 * numbers of these are in range. group_of is -1 for a node by itself, else less than group_count. */
typedef struct nd4c_grouping {
  int32_t count, group_count;
  const int32_t *first_before, *before;
  const int32_t *group_of;
} nd4c_grouping;

/* Writes the nodes in an order in which they can run and each group stands together; stable: without groups, and with
 * nodes given in such an order, it is the order given. `*crossed` is -1, or a group that cannot stand together, since a
 * path leaves it and enters it again: then `order` is not complete. MEMORY. */
nd4c_status nd4c_grouping_order(const nd4c_grouping *grouping, int32_t *order, int32_t *crossed);

#endif
