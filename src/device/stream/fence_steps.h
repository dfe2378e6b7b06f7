/* The dependencies of a run's results on its numbered calls. A plan makes one table (graph/modes/stream_parts.c); the
 * fences of all its runs share it, and may outlive the plan. fence.c reads it. */
#ifndef ND4C_DEVICE_STREAM_FENCE_STEPS_H
#define ND4C_DEVICE_STREAM_FENCE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/status.h"

/* Reference-counted. The creating thread fills it; it is immutable afterwards. */
typedef struct nd4c_fence_steps nd4c_fence_steps;

/* A table for calls with points 1 .. step_count and part_count parts, without dependencies and names. One reference.
 * MEMORY. */
nd4c_status nd4c_fence_steps_make(int32_t step_count, int32_t part_count, nd4c_fence_steps **out);
/* Names a step for the text of a failure; copies the name. MEMORY. */
nd4c_status nd4c_fence_steps_set_name(nd4c_fence_steps *steps, int32_t point, const char *name);
/* Makes a part depend on a step. */
void nd4c_fence_steps_add(nd4c_fence_steps *steps, int32_t part, int32_t point);
/* The name of a step; NULL for a point out of range. */
const char *nd4c_fence_steps_get_name(const nd4c_fence_steps *steps, int32_t point);
/* Whether the part depends on a step of that range. first 0: the failed steps are unknown, so every part may depend on
 * them. */
bool nd4c_fence_steps_depends(const nd4c_fence_steps *steps, int32_t part, int32_t first, int32_t last);
/* NULL is fine for both. */
nd4c_fence_steps *nd4c_fence_steps_retain(nd4c_fence_steps *steps);
void nd4c_fence_steps_release(nd4c_fence_steps *steps);

#endif
