/* Statistics of the reference: results gathered over axes, and running results along one axis.
 * backends/cpu/reference/statistics.c calls these. */
#ifndef ND4C_KERNELS_REFERENCE_STATISTICS_STATISTICS_H
#define ND4C_KERNELS_REFERENCE_STATISTICS_STATISTICS_H

#include "kernels/reference/support/runs.h"

/* Computed in doubles in one or two passes over the elements; gather.c says how. */
typedef enum nd4c_ref_statistic {
  ND4C_REF_STATISTIC_sum,
  ND4C_REF_STATISTIC_prod,
  ND4C_REF_STATISTIC_mean,
  ND4C_REF_STATISTIC_max,
  ND4C_REF_STATISTIC_min,
  ND4C_REF_STATISTIC_variance,
  ND4C_REF_STATISTIC_deviation,
  ND4C_REF_STATISTIC_logsumexp,
  ND4C_REF_STATISTIC_norm1,
  ND4C_REF_STATISTIC_norm2,
  ND4C_REF_STATISTIC_norm_max,
  ND4C_REF_STATISTIC_norm_p,
  ND4C_REF_STATISTIC_sum_square,
  ND4C_REF_STATISTIC_abs_min,
  ND4C_REF_STATISTIC_abs_mean,
  ND4C_REF_STATISTIC_entropy,
  ND4C_REF_STATISTIC_shannon_entropy,
  ND4C_REF_STATISTIC_log_entropy,
  ND4C_REF_STATISTIC_count_nonzero,
  ND4C_REF_STATISTIC_count_zero,
  ND4C_REF_STATISTIC_zero_fraction,
  ND4C_REF_STATISTIC_COUNT
} nd4c_ref_statistic;

/* One statistic of x over the axes `inner` for every position of the axes `outer`. */
typedef struct nd4c_ref_gathering {
  nd4c_ref_statistic statistic;
  bool skip_nan;
  double parameter; /* correction of variance and deviation, p of norm_p */
  nd4c_dtype x_dtype, y_dtype;
  const char *x;
  char *y;
  nd4c_ref_axes outer, inner;
} nd4c_ref_gathering;

/* Splits the axes. y has the reduced axes with length 1 (keepdims) or not at all. */
void nd4c_ref_split_axes(const nd4c_ref_tensor *x, const bool *reduced, bool keepdims, const nd4c_ref_tensor *y,
                         nd4c_ref_axes *outer, nd4c_ref_axes *inner);

/* Positions begin .. end - 1, stored into y. */
void nd4c_ref_gather(const nd4c_ref_gathering *gathering, int64_t begin, int64_t end);

/* Largest minus smallest; NaN if there is one; integers wrap. */
void nd4c_ref_ptp(const nd4c_ref_gathering *gathering, int64_t begin, int64_t end);

/* -- along one axis ---------------------------------------------------------------------------------------------- */

typedef enum nd4c_ref_running {
  ND4C_REF_RUNNING_SUM,
  ND4C_REF_RUNNING_PROD,
  ND4C_REF_RUNNING_LOGSUMEXP,
  ND4C_REF_RUNNING_MAX,
  ND4C_REF_RUNNING_MIN
} nd4c_ref_running;

/* The lines of x along an axis, each into a line of y. Strides of the axis are in elements. */
typedef struct nd4c_ref_lines {
  nd4c_ref_running kind;
  bool include_initial, reverse, exclusive;
  nd4c_dtype x_dtype, y_dtype;
  const char *x;
  char *y;
  int64_t *indices; /* MAX and MIN: where, int64 */
  nd4c_ref_axes outer;
  int64_t length, x_stride, y_stride;
  nd4c_ref_axes index_outer; /* its y strides belong to `indices` */
  int64_t index_stride;
} nd4c_ref_lines;

/* Lines begin .. end - 1 of SUM, PROD and LOGSUMEXP: elements are cast to y's dtype first. */
void nd4c_ref_accumulate(const nd4c_ref_lines *lines, int64_t begin, int64_t end);
/* Lines of MAX and MIN with the index of the latest best. NaN is best of all. */
void nd4c_ref_running_best(const nd4c_ref_lines *lines, int64_t begin, int64_t end);

/* Differences of `order`-th order of the line prepend, x, append; `work` has room for as many values. Pieces left out
 * have no data. `lines` tells x and y. */
void nd4c_ref_diff(const nd4c_ref_lines *lines, const nd4c_ref_tensor *pieces, const nd4c_ref_axes *piece_axes,
                   int32_t axis, int64_t order, nd4c_value *work, int64_t begin, int64_t end);

/* Quantile q (0 .. 1) of sorted numbers: between two neighbours by the method. */
typedef enum nd4c_ref_quantile_method {
  ND4C_REF_QUANTILE_LINEAR,
  ND4C_REF_QUANTILE_LOWER,
  ND4C_REF_QUANTILE_HIGHER,
  ND4C_REF_QUANTILE_MIDPOINT,
  ND4C_REF_QUANTILE_NEAREST
} nd4c_ref_quantile_method;
double nd4c_ref_quantile(const double *sorted, int64_t count, double q, nd4c_ref_quantile_method method);

/* All elements of `inner` at a position of `outer` as doubles; returns whether there is a NaN. */
bool nd4c_ref_collect(const nd4c_ref_gathering *gathering, int64_t position, double *to);

#endif
