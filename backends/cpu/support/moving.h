/* Checks of indices, blocks and plans for the families that move elements (indexing, creation, shape), in engine
 * reference and in engine simd. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_MOVING_H
#define ND4C_BACKENDS_CPU_SUPPORT_MOVING_H

#include <stdio.h>

#include "backends/cpu/reference/reference.h"
#include "kernels/cpu/indexing/blocks.h"
#include "kernels/reference/indexing/indexing.h"
#include "kernels/reference/indexing/move.h"

/* The failure of an index out of range: number `flat` of the input, in C order. */
nd4c_status nd4c_cpu_index_fail(const nd4c_call *call, int32_t input, int64_t flat, int64_t value, int32_t axis,
                                int64_t extent);
/* Refuses indices that are not in -extent .. extent - 1. */
nd4c_status nd4c_cpu_check_indices(const nd4c_call *call, int32_t input, int32_t axis, int64_t extent);

/* The same for positions (gather_nd, scatter_nd). */
nd4c_status nd4c_cpu_check_positions(const nd4c_call *call, const nd4c_ref_positions *args);

/* Refuses counts of repeat that are negative or do not add up to the attribute total. */
nd4c_status nd4c_cpu_check_counts(const nd4c_call *call);

/* depth_to_space and space_to_depth as a copy between views of more axes. */
typedef struct nd4c_cpu_blocks {
  int32_t rank;
  int64_t shape[ND4C_CPU_MAX_RANK + 2], from[ND4C_CPU_MAX_RANK + 2], to[ND4C_CPU_MAX_RANK + 2];
} nd4c_cpu_blocks;

void nd4c_cpu_blocks_make(const nd4c_call *call, bool to_deep, nd4c_cpu_blocks *blocks);

/* Runs a plan; the pool's threads share its slowest axis if there is enough to move. */
void nd4c_cpu_run_plan(const nd4c_call *call, const nd4c_ref_plan *plan, const void *from, void *to);

/* The bytes of every dtype's zero. */
extern const char nd4c_cpu_zero[16];

#endif
