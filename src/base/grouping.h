/* Orders nodes topologically so that the nodes of each group are adjacent. graph/plan/partition.c calls it to partition
 * a plan, device/provider/answer.c to check a compiler's answer. */
#ifndef ND4C_BASE_GROUPING_H
#define ND4C_BASE_GROUPING_H

#include <stdint.h>

#include "nd4c/status.h"

/* Nodes and their predecessors: those of node i are before[first_before[i]] .. before[first_before[i + 1] - 1]. These
 * numbers are in range. group_of is -1 for a node by itself, else less than group_count. */
typedef struct nd4c_grouping {
  int32_t count, group_count;
  const int32_t *first_before, *before;
  const int32_t *group_of;
} nd4c_grouping;

/* Writes the nodes in an order in which they can run and each group is adjacent. The order is stable: without groups,
 * nodes in a valid order keep it. `*crossed` is -1, or a group that cannot be adjacent because a path leaves it and
 * enters it again; `order` is then incomplete. MEMORY. */
nd4c_status nd4c_grouping_order(const nd4c_grouping *grouping, int32_t *order, int32_t *crossed);

#endif
