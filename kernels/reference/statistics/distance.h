/* Distances of the reference: one number from two arrays over axes. The family statistics calls this. */
#ifndef ND4C_KERNELS_REFERENCE_STATISTICS_DISTANCE_H
#define ND4C_KERNELS_REFERENCE_STATISTICS_DISTANCE_H

#include "kernels/reference/support/runs.h"

typedef enum nd4c_ref_distance {
  ND4C_REF_DISTANCE_COSINE_SIMILARITY,
  ND4C_REF_DISTANCE_EUCLIDEAN,
  ND4C_REF_DISTANCE_MANHATTAN,
  ND4C_REF_DISTANCE_HAMMING,
  ND4C_REF_DISTANCE_JACCARD
} nd4c_ref_distance;

/* a and b over the axes `inner` for every position of `outer`. Both pairs of axes have one shape; y's strides are those
 * of a_outer. */
typedef struct nd4c_ref_comparison {
  nd4c_ref_distance distance;
  nd4c_dtype dtype;
  const char *a, *b;
  char *y;
  nd4c_ref_axes a_outer, a_inner, b_outer, b_inner;
} nd4c_ref_comparison;

/* Positions begin .. end - 1. */
void nd4c_ref_compare(const nd4c_ref_comparison *comparison, int64_t begin, int64_t end);

#endif
