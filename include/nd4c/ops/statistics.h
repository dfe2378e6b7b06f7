/* Op functions of the family statistics, made from include/nd4c/op_table/statistics.h by scripts/ops_header.py
 * (target ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_STATISTICS_H
#define ND4C_OPS_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/ops/enums.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* var: sum of |x - mean|^2 over axes (none: all) / (count - correction); NaN if that is 0 / 0.
 * In: x (float, complex).
 * Attributes: axes (NULL, 0), keepdims (false), correction (0).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 *     complex.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_var(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                              double correction, nd4c_array **y);
ND4C_API nd4c_status nd4c_var_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                 bool keepdims, double correction, nd4c_array **y);

/* std: square root of var.
 * In: x (float, complex).
 * Attributes: axes (NULL, 0), keepdims (false), correction (0).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 *     complex.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_std(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                              double correction, nd4c_array **y);
ND4C_API nd4c_status nd4c_std_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                 bool keepdims, double correction, nd4c_array **y);

/* cumulative_sum: y[i] = sum of x[0] to x[i] along axis; exclusive: without x[i]; include_initial: a 0 goes before
 * the result; reverse: sums from the end; small integers widen to (u)int64; dtype: x is cast to it first.
 * In: x (bool, int, uint, float, complex).
 * Attributes: axis (-1), reverse (false), exclusive (false), include_initial (false), dtype (ND4C_DTYPE_NONE).
 * Out: y: x's shape, one longer on the axis with include_initial, in dtype; by default int64 or uint64 for bool and
 *     integers, else x's.
 * Statuses: ARGUMENT, DTYPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_cumulative_sum(const nd4c_array *x, int64_t axis, bool reverse, bool exclusive,
                                         bool include_initial, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_cumulative_sum_on(nd4c_context *context, const nd4c_array *x, int64_t axis, bool reverse,
                                            bool exclusive, bool include_initial, nd4c_dtype dtype, nd4c_array **y);

/* cumulative_prod: y[i] = product of x[0] to x[i] along axis; attributes as in cumulative_sum, with 1 as the initial
 * value.
 * In: x (bool, int, uint, float, complex).
 * Attributes: axis (-1), reverse (false), exclusive (false), include_initial (false), dtype (ND4C_DTYPE_NONE).
 * Out: y: x's shape, one longer on the axis with include_initial, in dtype; by default int64 or uint64 for bool and
 *     integers, else x's.
 * Statuses: ARGUMENT, DTYPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_cumulative_prod(const nd4c_array *x, int64_t axis, bool reverse, bool exclusive,
                                          bool include_initial, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_cumulative_prod_on(nd4c_context *context, const nd4c_array *x, int64_t axis, bool reverse,
                                             bool exclusive, bool include_initial, nd4c_dtype dtype, nd4c_array **y);

/* cumulative_max: y[i] = largest of x[0] to x[i] along axis, and the latest index of that value; NaN wins.
 * In: x (int, uint, float).
 * Attributes: axis (-1).
 * Out: y: the shape and dtype of x; indices: int64, in x's shape.
 * Statuses: INDEX. */
ND4C_API nd4c_status nd4c_cumulative_max(const nd4c_array *x, int64_t axis, nd4c_array **y, nd4c_array **indices);
ND4C_API nd4c_status nd4c_cumulative_max_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y,
                                            nd4c_array **indices);

/* cumulative_min: y[i] = smallest of x[0] to x[i] along axis, and the latest index of that value; NaN wins.
 * In: x (int, uint, float).
 * Attributes: axis (-1).
 * Out: y: the shape and dtype of x; indices: int64, in x's shape.
 * Statuses: INDEX. */
ND4C_API nd4c_status nd4c_cumulative_min(const nd4c_array *x, int64_t axis, nd4c_array **y, nd4c_array **indices);
ND4C_API nd4c_status nd4c_cumulative_min_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y,
                                            nd4c_array **indices);

/* cumulative_logsumexp: y[i] = ln of the sum of e^x over x[0] to x[i] along axis, without overflow; of no elements:
 * -inf.
 * In: x (float).
 * Attributes: axis (-1), reverse (false), exclusive (false).
 * Out: y: the shape and dtype of x.
 * Statuses: INDEX. */
ND4C_API nd4c_status nd4c_cumulative_logsumexp(const nd4c_array *x, int64_t axis, bool reverse, bool exclusive,
                                               nd4c_array **y);
ND4C_API nd4c_status nd4c_cumulative_logsumexp_on(nd4c_context *context, const nd4c_array *x, int64_t axis,
                                                  bool reverse, bool exclusive, nd4c_array **y);

/* logsumexp: ln of the sum of e^x over axes (none: all), without overflow; -inf for no elements.
 * In: x (float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_logsumexp(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                    nd4c_array **y);
ND4C_API nd4c_status nd4c_logsumexp_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                       int32_t axes_count, bool keepdims, nd4c_array **y);

/* norm1: sum of |x| over axes (none: all).
 * In: x (float, complex).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 *     complex.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_norm1(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                nd4c_array **y);
ND4C_API nd4c_status nd4c_norm1_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                   bool keepdims, nd4c_array **y);

/* norm2: square root of the sum of |x|^2 over axes (none: all), without overflow.
 * In: x (float, complex).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 *     complex.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_norm2(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                nd4c_array **y);
ND4C_API nd4c_status nd4c_norm2_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                   bool keepdims, nd4c_array **y);

/* norm_max: largest |x| over axes (none: all); 0 for no elements; NaN wins.
 * In: x (float, complex).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 *     complex.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_norm_max(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                   nd4c_array **y);
ND4C_API nd4c_status nd4c_norm_max_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                      int32_t axes_count, bool keepdims, nd4c_array **y);

/* norm_p: (sum of |x|^p over axes)^(1 / p); p inf: the largest |x|, -inf: the smallest, 0: how many are not 0.
 * In: x (float, complex).
 * Attributes: axes (NULL, 0), keepdims (false), p (2).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 *     complex.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_norm_p(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims, double p,
                                 nd4c_array **y);
ND4C_API nd4c_status nd4c_norm_p_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                    bool keepdims, double p, nd4c_array **y);

/* sum_square: sum of |x|^2 over axes (none: all).
 * In: x (float, complex).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 *     complex.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_sum_square(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                     nd4c_array **y);
ND4C_API nd4c_status nd4c_sum_square_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                        int32_t axes_count, bool keepdims, nd4c_array **y);

/* count_nonzero: int64 number of elements over axes (none: all) that are not 0; NaN counts as not 0.
 * In: x (bool, int, uint, float, complex).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: int64, in x's shape without the reduced axes (keepdims: with 1 in their places).
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_count_nonzero(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                        nd4c_array **y);
ND4C_API nd4c_status nd4c_count_nonzero_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                           int32_t axes_count, bool keepdims, nd4c_array **y);

/* count_zero: int64 number of elements over axes (none: all) that are 0.
 * In: x (bool, int, uint, float, complex).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: int64, in x's shape without the reduced axes (keepdims: with 1 in their places).
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_count_zero(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                     nd4c_array **y);
ND4C_API nd4c_status nd4c_count_zero_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                        int32_t axes_count, bool keepdims, nd4c_array **y);

/* zero_fraction: fraction of the elements over axes (none: all) that are 0, in float64 for x of float64, else in
 * float32; NaN if there are no elements.
 * In: x (bool, int, uint, float, complex).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: float32 (float64 for float64), in x's shape without the reduced axes (keepdims: with 1 in their places).
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_zero_fraction(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                        nd4c_array **y);
ND4C_API nd4c_status nd4c_zero_fraction_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                           int32_t axes_count, bool keepdims, nd4c_array **y);

/* entropy: sum of -x ln x over axes (none: all), 0 ln 0 being 0.
 * In: x (float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_entropy(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                  nd4c_array **y);
ND4C_API nd4c_status nd4c_entropy_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                     int32_t axes_count, bool keepdims, nd4c_array **y);

/* log_entropy: ln of entropy.
 * In: x (float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_log_entropy(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                      nd4c_array **y);
ND4C_API nd4c_status nd4c_log_entropy_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                         int32_t axes_count, bool keepdims, nd4c_array **y);

/* shannon_entropy: sum of -x log2 x over axes (none: all), 0 log2 0 being 0.
 * In: x (float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_shannon_entropy(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                          nd4c_array **y);
ND4C_API nd4c_status nd4c_shannon_entropy_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                             int32_t axes_count, bool keepdims, nd4c_array **y);

/* abs_min: smallest |x| over axes (none: all); NaN wins.
 * In: x (float, complex).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 *     complex. An empty axis cannot be reduced.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_abs_min(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                  nd4c_array **y);
ND4C_API nd4c_status nd4c_abs_min_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                     int32_t axes_count, bool keepdims, nd4c_array **y);

/* abs_mean: mean of |x| over axes (none: all).
 * In: x (float, complex).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 *     complex.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_abs_mean(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                   nd4c_array **y);
ND4C_API nd4c_status nd4c_abs_mean_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                      int32_t axes_count, bool keepdims, nd4c_array **y);

/* moments: mean and variance (correction 0) over axes (none: all).
 * In: x (float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: mean, variance: each x without the reduced axes (keepdims: with 1 in their places), in x's dtype.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_moments(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                  nd4c_array **mean, nd4c_array **variance);
ND4C_API nd4c_status nd4c_moments_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                     int32_t axes_count, bool keepdims, nd4c_array **mean, nd4c_array **variance);

/* ptp: largest minus smallest over axes (none: all); NaN wins; integers wrap.
 * In: x (int, uint, float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype. An empty axis cannot be
 *     reduced.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_ptp(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                              nd4c_array **y);
ND4C_API nd4c_status nd4c_ptp_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                 bool keepdims, nd4c_array **y);

/* median: middle of the sorted elements over axes (none: all), of an even number the mean of two; NaN wins; integers
 * give float64.
 * In: x (int, uint, float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or float64 for integers. An
 *     empty axis cannot be reduced.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_median(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                 nd4c_array **y);
ND4C_API nd4c_status nd4c_median_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                    bool keepdims, nd4c_array **y);

/* quantile: element at position q (count - 1) of the sorted elements over axes (none: all), between two elements by
 * method linear, lower, higher, midpoint or nearest; the first axis of y counts the q (0 .. 1); NaN wins; integers
 * give float64.
 * In: x (int, uint, float).
 * Attributes: axes (NULL, 0), keepdims (false), q (NULL, 0), method (ND4C_QUANTILE_METHOD_LINEAR).
 * Out: y: a first axis with a place for each q, then x without the reduced axes (keepdims: with 1 in their places),
 *     in x's dtype, or float64 for integers. An empty axis cannot be reduced.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_quantile(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                   const double *q, int32_t q_count, nd4c_quantile_method method, nd4c_array **y);
ND4C_API nd4c_status nd4c_quantile_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                      int32_t axes_count, bool keepdims, const double *q, int32_t q_count,
                                      nd4c_quantile_method method, nd4c_array **y);

/* nansum: sum over axes (none: all) without NaN.
 * In: x (float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_nansum(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                 nd4c_array **y);
ND4C_API nd4c_status nd4c_nansum_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                    bool keepdims, nd4c_array **y);

/* nanprod: product over axes (none: all) without NaN.
 * In: x (float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_nanprod(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                  nd4c_array **y);
ND4C_API nd4c_status nd4c_nanprod_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                     int32_t axes_count, bool keepdims, nd4c_array **y);

/* nanmean: mean over axes (none: all) without NaN; NaN if there is nothing else.
 * In: x (float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_nanmean(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                  nd4c_array **y);
ND4C_API nd4c_status nd4c_nanmean_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                     int32_t axes_count, bool keepdims, nd4c_array **y);

/* nanmax: largest over axes (none: all) without NaN; NaN if there is nothing else.
 * In: x (float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype. An empty axis cannot be
 *     reduced.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_nanmax(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                 nd4c_array **y);
ND4C_API nd4c_status nd4c_nanmax_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                    bool keepdims, nd4c_array **y);

/* nanmin: smallest over axes (none: all) without NaN; NaN if there is nothing else.
 * In: x (float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype. An empty axis cannot be
 *     reduced.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_nanmin(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                 nd4c_array **y);
ND4C_API nd4c_status nd4c_nanmin_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                    bool keepdims, nd4c_array **y);

/* nanvar: var without NaN.
 * In: x (float).
 * Attributes: axes (NULL, 0), keepdims (false), correction (0).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_nanvar(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                 double correction, nd4c_array **y);
ND4C_API nd4c_status nd4c_nanvar_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                    bool keepdims, double correction, nd4c_array **y);

/* nanstd: std without NaN.
 * In: x (float).
 * Attributes: axes (NULL, 0), keepdims (false), correction (0).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_nanstd(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                 double correction, nd4c_array **y);
ND4C_API nd4c_status nd4c_nanstd_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                    bool keepdims, double correction, nd4c_array **y);

/* nanmedian: median without NaN; NaN if there is nothing else.
 * In: x (float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or float64 for integers. An
 *     empty axis cannot be reduced.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_nanmedian(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                                    nd4c_array **y);
ND4C_API nd4c_status nd4c_nanmedian_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                       int32_t axes_count, bool keepdims, nd4c_array **y);

/* diff: x[1:] - x[:-1] along axis, `order` times; prepend and append are joined to x first; integers wrap.
 * In: x (int, uint, float, complex), prepend or NULL, append or NULL.
 * Attributes: axis (-1), order (1).
 * Out: y: x with prepend and append joined to it, then shorter by order on the axis, in x's dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_diff(const nd4c_array *x, const nd4c_array *prepend, const nd4c_array *append, int64_t axis,
                               int64_t order, nd4c_array **y);
ND4C_API nd4c_status nd4c_diff_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *prepend,
                                  const nd4c_array *append, int64_t axis, int64_t order, nd4c_array **y);

/* cosine_similarity: sum of a b / (norm2 of a times norm2 of b) over axes (none: all); NaN where a norm is 0.
 * In: a (float), b.
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: a without the reduced axes (keepdims: with 1 in their places), in a's dtype. The inputs have one dtype and
 *     shape.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_cosine_similarity(const nd4c_array *a, const nd4c_array *b, const int64_t *axes,
                                            int32_t axes_count, bool keepdims, nd4c_array **y);
ND4C_API nd4c_status nd4c_cosine_similarity_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                               const int64_t *axes, int32_t axes_count, bool keepdims, nd4c_array **y);

/* euclidean_distance: square root of the sum of (a - b)^2 over axes (none: all).
 * In: a (float), b.
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: a without the reduced axes (keepdims: with 1 in their places), in a's dtype. The inputs have one dtype and
 *     shape.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_euclidean_distance(const nd4c_array *a, const nd4c_array *b, const int64_t *axes,
                                             int32_t axes_count, bool keepdims, nd4c_array **y);
ND4C_API nd4c_status nd4c_euclidean_distance_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                                const int64_t *axes, int32_t axes_count, bool keepdims, nd4c_array **y);

/* manhattan_distance: sum of |a - b| over axes (none: all).
 * In: a (float), b.
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: a without the reduced axes (keepdims: with 1 in their places), in a's dtype. The inputs have one dtype and
 *     shape.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_manhattan_distance(const nd4c_array *a, const nd4c_array *b, const int64_t *axes,
                                             int32_t axes_count, bool keepdims, nd4c_array **y);
ND4C_API nd4c_status nd4c_manhattan_distance_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                                const int64_t *axes, int32_t axes_count, bool keepdims, nd4c_array **y);

/* hamming_distance: number of places over axes (none: all) where a and b differ; NaN differs from everything.
 * In: a (float), b.
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: a without the reduced axes (keepdims: with 1 in their places), in a's dtype. The inputs have one dtype and
 *     shape.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_hamming_distance(const nd4c_array *a, const nd4c_array *b, const int64_t *axes,
                                           int32_t axes_count, bool keepdims, nd4c_array **y);
ND4C_API nd4c_status nd4c_hamming_distance_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                              const int64_t *axes, int32_t axes_count, bool keepdims, nd4c_array **y);

/* jaccard_distance: 1 - sum of min(a, b) / sum of max(a, b) over axes (none: all); NaN wins.
 * In: a (float), b.
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: a without the reduced axes (keepdims: with 1 in their places), in a's dtype. The inputs have one dtype and
 *     shape.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_jaccard_distance(const nd4c_array *a, const nd4c_array *b, const int64_t *axes,
                                           int32_t axes_count, bool keepdims, nd4c_array **y);
ND4C_API nd4c_status nd4c_jaccard_distance_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                              const int64_t *axes, int32_t axes_count, bool keepdims, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
