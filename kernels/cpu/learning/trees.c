/* Implements trees.h. Compiled once per level. simd/learning.c reads the table by nd4c_simd.trees. */
#include "kernels/cpu/learning/trees.h"

#include <stdbool.h>

#include "kernels/cpu/support/level.h"
#include "kernels/types.h"

extern const nd4c_trees_table ND4C_LEVEL_NAME(nd4c_trees_table);

#define LEQ(x, split) ((x) <= (split))
#define LT(x, split) ((x) < (split))
#define GEQ(x, split) ((x) >= (split))
#define GT(x, split) ((x) > (split))

/* A leaf leads to itself, so the loop has no branch for rows that have arrived. It ends when no row has moved. */
#define WALK(name, compare)                                                                                           \
  ND4C_INLINED bool step_##compare##_##name(const nd4c_tree_node_##name *nodes, const nd4c_c_##name *x, int64_t step, \
                                            int32_t rows, int32_t *at) {                                              \
    int32_t moved = 0;                                                                                                \
    for (int32_t i = 0; i < rows; i++) {                                                                              \
      const nd4c_tree_node_##name *node = &nodes[at[i]];                                                              \
      const nd4c_c_##name value = x[i * step + (int64_t)(node->feature & ~ND4C_TREE_NAN_IS_TRUE)];                    \
      const uint32_t is_true =                                                                                        \
          (uint32_t)compare(value, node->split) | ((uint32_t)ND4C_IS_NAN(value) & (node->feature >> 31));             \
      const int32_t next = node->next[is_true];                                                                       \
      moved |= next ^ at[i];                                                                                          \
      at[i] = next;                                                                                                   \
    }                                                                                                                 \
    return moved != 0;                                                                                                \
  }                                                                                                                   \
  static void walk_##compare##_##name(const void *nodes, int32_t depth, const void *x, int64_t step, int32_t rows,    \
                                      int32_t *at) {                                                                  \
    bool moves = true;                                                                                                \
    for (int32_t i = 0; i < depth && moves; i++) { /* a known number of rows lets the compiler unroll the loop */     \
      moves = rows == ND4C_TREE_ROWS ? step_##compare##_##name(nodes, x, step, ND4C_TREE_ROWS, at)                    \
                                     : step_##compare##_##name(nodes, x, step, rows, at);                             \
    }                                                                                                                 \
  }

#define WALKS(name) WALK(name, LEQ) WALK(name, LT) WALK(name, GEQ) WALK(name, GT)
WALKS(float32)
WALKS(float64)

#define ENTRIES(name) {walk_LEQ_##name, walk_LT_##name, walk_GEQ_##name, walk_GT_##name}

const nd4c_trees_table ND4C_LEVEL_NAME(nd4c_trees_table) = {.float32 = ENTRIES(float32), .float64 = ENTRIES(float64)};
