/* Inner loops of embedding_bag. simd/indexing/indexing_bags.c calls them. */
#ifndef ND4C_KERNELS_CPU_INDEXING_BAGS_H
#define ND4C_KERNELS_CPU_INDEXING_BAGS_H

#include <stdint.h>

/* What is gathered of a dtype; rows are of its elements. */
typedef struct nd4c_bags_loops {
  /* y[i] += weight * row[i] */
  void (*add)(int64_t n, double weight, const void *row, double *y);
  /* y[i] = row[i] where that is larger, or NaN, and y[i] is not NaN. */
  void (*larger)(int64_t n, const void *row, double *y);
} nd4c_bags_loops;

typedef struct nd4c_bags_table {
  nd4c_bags_loops float32, float64;
} nd4c_bags_table;

#endif
