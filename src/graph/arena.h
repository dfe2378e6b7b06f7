/* Placement of blocks with known lifetimes in one arena. Pure arithmetic. */
#ifndef ND4C_GRAPH_ARENA_H
#define ND4C_GRAPH_ARENA_H

#include <stdint.h>

#include "nd4c/status.h"

enum { ND4C_ARENA_ALIGNMENT = 64 };

/* Lives from step `first` to step `last`, both included. */
typedef struct nd4c_arena_block {
  int64_t bytes;
  int32_t first, last;
  int64_t offset; /* result: a multiple of ND4C_ARENA_ALIGNMENT */
} nd4c_arena_block;

/* Places the blocks so that no two that live at the same time overlap; `bytes` is what the arena needs. Large blocks
 * are placed first, each into the smallest gap that fits (greedy best fit). MEMORY, OVERFLOW. */
nd4c_status nd4c_arena_place(nd4c_arena_block *blocks, int32_t count, int64_t *bytes);

#endif
