/* Walks down decision trees, several rows of x side by side. simd/learning.c packs trees into nodes and calls this. */
#ifndef ND4C_KERNELS_CPU_LEARNING_TREES_H
#define ND4C_KERNELS_CPU_LEARNING_TREES_H

#include <stdint.h>

/* Rows that are walked side by side, so that the loads of one row do not wait for those of another. */
enum { ND4C_TREE_ROWS = 16 };
/* In a node's feature: a NaN goes the way of "true". */
#define ND4C_TREE_NAN_IS_TRUE UINT32_C(0x80000000)

/* next[1] is the node for a true comparison, next[0] the other one. A leaf is a node that leads to itself. */
typedef struct nd4c_tree_node_float32 {
  float split;
  uint32_t feature;
  int32_t next[2];
} nd4c_tree_node_float32;

typedef struct nd4c_tree_node_float64 {
  double split;
  uint32_t feature;
  int32_t next[2];
} nd4c_tree_node_float64;

/* Moves each of `rows` positions, at most ND4C_TREE_ROWS, from its node to a leaf, which lies at most `depth` steps
 * below. x: the first of the rows, which are `step` elements apart. */
typedef void (*nd4c_tree_walk)(const void *nodes, int32_t depth, const void *x, int64_t step, int32_t rows,
                               int32_t *at);

/* By the comparison of all nodes, in the order of nd4c_tree_mode: x <= split, <, >=, >. */
enum { ND4C_TREE_COMPARISONS = 4 };
typedef struct nd4c_trees_table {
  nd4c_tree_walk float32[ND4C_TREE_COMPARISONS], float64[ND4C_TREE_COMPARISONS];
} nd4c_trees_table;

#endif
