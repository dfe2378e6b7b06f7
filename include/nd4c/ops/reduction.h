/* Op functions of the family reduction, made from include/nd4c/op_table/reduction.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_REDUCTION_H
#define ND4C_OPS_REDUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* sum: sum over axes (none: all); pairwise in f32 or wider; small integers widen to (u)int64; dtype: each element is
 * cast to it first.
 * In: x (bool, int, uint, float, complex).
 * Attributes: axes (NULL, 0), keepdims (false), dtype (ND4C_DTYPE_NONE).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in dtype; by default int64 or uint64 for
 *     bool and integers, else x's.
 * Statuses: ARGUMENT, DTYPE, INDEX. */
ND4C_API nd4c_status nd4c_sum(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                              nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_sum_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                 bool keepdims, nd4c_dtype dtype, nd4c_array **y);

/* prod: product over axes (none: all); small integers widen to (u)int64; dtype: each element is cast to it first.
 * In: x (bool, int, uint, float, complex).
 * Attributes: axes (NULL, 0), keepdims (false), dtype (ND4C_DTYPE_NONE).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in dtype; by default int64 or uint64 for
 *     bool and integers, else x's.
 * Statuses: ARGUMENT, DTYPE, INDEX. */
ND4C_API nd4c_status nd4c_prod(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                               nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_prod_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                  bool keepdims, nd4c_dtype dtype, nd4c_array **y);

/* mean: arithmetic mean over axes (none: all).
 * In: x (float, complex).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_mean(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                               nd4c_array **y);
ND4C_API nd4c_status nd4c_mean_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                  bool keepdims, nd4c_array **y);

/* max: largest over axes (none: all); NaN wins.
 * In: x (int, uint, float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype. An empty axis cannot be
 *     reduced.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_max(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                              nd4c_array **y);
ND4C_API nd4c_status nd4c_max_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                 bool keepdims, nd4c_array **y);

/* min: smallest over axes (none: all); NaN wins.
 * In: x (int, uint, float).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype. An empty axis cannot be
 *     reduced.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_min(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                              nd4c_array **y);
ND4C_API nd4c_status nd4c_min_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                 bool keepdims, nd4c_array **y);

/* all: true if every element over axes is true; a number counts as true unless it is 0 (NaN is true).
 * In: x (bool, int, uint, float, complex).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: bool, in x's shape without the reduced axes (keepdims: with 1 in their places).
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_all(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                              nd4c_array **y);
ND4C_API nd4c_status nd4c_all_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                 bool keepdims, nd4c_array **y);

/* any: true if some element over axes is true; a number counts as true unless it is 0 (NaN is true).
 * In: x (bool, int, uint, float, complex).
 * Attributes: axes (NULL, 0), keepdims (false).
 * Out: y: bool, in x's shape without the reduced axes (keepdims: with 1 in their places).
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_any(const nd4c_array *x, const int64_t *axes, int32_t axes_count, bool keepdims,
                              nd4c_array **y);
ND4C_API nd4c_status nd4c_any_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                 bool keepdims, nd4c_array **y);

/* argmax: int64 index of the first largest; NaN wins.
 * In: x (int, uint, float).
 * Attributes: axis (0), keepdims (false).
 * Out: y: int64, in x's shape without the axis (keepdims: with 1 in its place). The axis must not be empty.
 * Statuses: SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_argmax(const nd4c_array *x, int64_t axis, bool keepdims, nd4c_array **y);
ND4C_API nd4c_status nd4c_argmax_on(nd4c_context *context, const nd4c_array *x, int64_t axis, bool keepdims,
                                    nd4c_array **y);

/* argmin: int64 index of the first smallest; NaN wins.
 * In: x (int, uint, float).
 * Attributes: axis (0), keepdims (false).
 * Out: y: int64, in x's shape without the axis (keepdims: with 1 in its place). The axis must not be empty.
 * Statuses: SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_argmin(const nd4c_array *x, int64_t axis, bool keepdims, nd4c_array **y);
ND4C_API nd4c_status nd4c_argmin_on(nd4c_context *context, const nd4c_array *x, int64_t axis, bool keepdims,
                                    nd4c_array **y);

ND4C_EXTERN_C_END
#endif
