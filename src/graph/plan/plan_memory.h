/* Placement of a plan's values: blocks with known lifetimes in one arena, or in whole buffers. Pure arithmetic, which
 * nd4c_plan_make_memory applies to each device of a plan. */
#ifndef ND4C_GRAPH_PLAN_PLAN_MEMORY_H
#define ND4C_GRAPH_PLAN_PLAN_MEMORY_H

#include <stdint.h>

#include "graph/plan.h"

enum { ND4C_PLAN_ALIGNMENT = 64 };

/* Lives from step `first` to step `last`, both included. */
typedef struct nd4c_plan_block {
  int64_t bytes;
  int32_t first, last;
  int64_t offset; /* result of nd4c_plan_place_blocks: a multiple of ND4C_PLAN_ALIGNMENT */
  int32_t buffer; /* result of nd4c_plan_share_buffers; -1: it has no bytes */
} nd4c_plan_block;

/* The blocks of a plan's values, for a binding of the same bucket, whose blocks may be smaller. In the plan's region.
 */
typedef struct nd4c_plan_layout {
  int32_t block_count, slot_count;
  int64_t bytes; /* of all blocks; the steps' scratch lies behind them */
  const nd4c_plan_block *blocks;
  const int32_t *block_of; /* by slot; -1: none */
} nd4c_plan_layout;

/* Places the blocks so that no two that live at the same time overlap; `bytes` is what the arena needs. Large blocks
 * are placed first, each into the smallest gap that fits (greedy best fit); a thousand and more of the largest size,
 * with nothing in their way, in linear time. Tells `progress` (may be NULL) of each. MEMORY, OVERFLOW. */
nd4c_status nd4c_plan_place_blocks(nd4c_plan_block *blocks, int32_t count, const nd4c_plan_progress *progress,
                                   int64_t *bytes);

/* Assigns whole buffers to the blocks, in order of their first steps: blocks of equal size with disjoint lifetimes
 * share one. buffer_bytes has room for `count`; returns the number of buffers. */
int32_t nd4c_plan_share_buffers(nd4c_plan_block *blocks, int32_t count, int64_t *buffer_bytes, int32_t *buffer_last);

#endif
