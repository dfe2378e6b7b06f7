/* Op functions of the family creation, made from include/nd4c/op_table/creation.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_CREATION_H
#define ND4C_OPS_CREATION_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* full: an array of the given shape; every element is the one element of value.
 * In: value (bool, int, uint, float, complex, utf8, float8).
 * Attributes: shape (NULL, 0).
 * Out: y: the attribute shape, in the dtype of value, which has one element.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_full(const nd4c_array *value, const int64_t *shape, int32_t shape_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_full_on(nd4c_context *context, const nd4c_array *value, const int64_t *shape,
                                  int32_t shape_count, nd4c_array **y);

/* full_like: an array of x's shape; every element is the one element of value, which has x's dtype.
 * In: x (bool, int, uint, float, complex, utf8, float8), value.
 * Out: y: the shape and dtype of x. value has one element of x's dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_full_like(const nd4c_array *x, const nd4c_array *value, nd4c_array **y);
ND4C_API nd4c_status nd4c_full_like_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *value,
                                       nd4c_array **y);

/* zeros: an array of zeros.
 * Attributes: shape (NULL, 0), dtype (ND4C_FLOAT32).
 * Out: y: the attribute shape, in the attribute dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_zeros(const int64_t *shape, int32_t shape_count, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_zeros_on(nd4c_context *context, const int64_t *shape, int32_t shape_count, nd4c_dtype dtype,
                                   nd4c_array **y);

/* ones: an array of ones.
 * Attributes: shape (NULL, 0), dtype (ND4C_FLOAT32).
 * Out: y: the attribute shape, in the attribute dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_ones(const int64_t *shape, int32_t shape_count, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_ones_on(nd4c_context *context, const int64_t *shape, int32_t shape_count, nd4c_dtype dtype,
                                  nd4c_array **y);

/* zeros_like: zeros in x's shape, of x's dtype or the one given.
 * In: x (bool, int, uint, float, complex).
 * Attributes: dtype (ND4C_DTYPE_NONE).
 * Out: y: x's shape, in the attribute dtype; by default x's.
 * Statuses: DTYPE. */
ND4C_API nd4c_status nd4c_zeros_like(const nd4c_array *x, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_zeros_like_on(nd4c_context *context, const nd4c_array *x, nd4c_dtype dtype, nd4c_array **y);

/* ones_like: ones in x's shape, of x's dtype or the one given.
 * In: x (bool, int, uint, float, complex).
 * Attributes: dtype (ND4C_DTYPE_NONE).
 * Out: y: x's shape, in the attribute dtype; by default x's.
 * Statuses: DTYPE. */
ND4C_API nd4c_status nd4c_ones_like(const nd4c_array *x, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_ones_like_on(nd4c_context *context, const nd4c_array *x, nd4c_dtype dtype, nd4c_array **y);

/* arange: start + i step for every i for which this is before stop: ceil((stop - start) / step) elements, counted
 * exactly; computed in float64, integers truncated.
 * Attributes: start (0), stop (0), step (1), dtype (ND4C_FLOAT32).
 * Out: y: a vector of ceil((stop - start) / step) elements, none if that is negative, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_arange(double start, double stop, double step, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_arange_on(nd4c_context *context, double start, double stop, double step, nd4c_dtype dtype,
                                    nd4c_array **y);

/* integer_range: start + i step for every i for which this is before stop (endpoint: not after stop), exact in 64
 * bits; for uint64, start and stop are read as unsigned; refused if the integer dtype does not hold all elements.
 * Attributes: start (0), stop (0), step (1), endpoint (false), dtype (ND4C_INT64).
 * Out: y: a vector of the numbers from start to stop by step (including stop if endpoint), in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_integer_range(int64_t start, int64_t stop, int64_t step, bool endpoint, nd4c_dtype dtype,
                                        nd4c_array **y);
ND4C_API nd4c_status nd4c_integer_range_on(nd4c_context *context, int64_t start, int64_t stop, int64_t step,
                                           bool endpoint, nd4c_dtype dtype, nd4c_array **y);

/* linspace: num numbers from start to stop in equal steps: start + i (stop - start) / (num - endpoint); the last is
 * stop unless endpoint is false; integers are rounded down.
 * Attributes: start (0), stop (1), num (50), endpoint (true), dtype (ND4C_FLOAT32).
 * Out: y: a vector of num elements, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE. */
ND4C_API nd4c_status nd4c_linspace(double start, double stop, int64_t num, bool endpoint, nd4c_dtype dtype,
                                   nd4c_array **y);
ND4C_API nd4c_status nd4c_linspace_on(nd4c_context *context, double start, double stop, int64_t num, bool endpoint,
                                      nd4c_dtype dtype, nd4c_array **y);

/* logspace: base to the power of linspace(start, stop).
 * Attributes: start (0), stop (1), num (50), base (10), endpoint (true), dtype (ND4C_FLOAT32).
 * Out: y: a vector of num elements, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE. */
ND4C_API nd4c_status nd4c_logspace(double start, double stop, int64_t num, double base, bool endpoint, nd4c_dtype dtype,
                                   nd4c_array **y);
ND4C_API nd4c_status nd4c_logspace_on(nd4c_context *context, double start, double stop, int64_t num, double base,
                                      bool endpoint, nd4c_dtype dtype, nd4c_array **y);

/* eye: a matrix of rows by columns (columns -1: as many as rows): ones where column - row = k, else zeros.
 * Attributes: rows (1), columns (-1), k (0), dtype (ND4C_FLOAT32).
 * Out: y: [rows, columns], in the attribute dtype; columns -1: as many as rows.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_eye(int64_t rows, int64_t columns, int64_t k, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_eye_on(nd4c_context *context, int64_t rows, int64_t columns, int64_t k, nd4c_dtype dtype,
                                 nd4c_array **y);

/* tri: a matrix of rows by columns (columns -1: as many as rows): ones where column - row <= k, else zeros.
 * Attributes: rows (1), columns (-1), k (0), dtype (ND4C_FLOAT32).
 * Out: y: [rows, columns], in the attribute dtype; columns -1: as many as rows.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_tri(int64_t rows, int64_t columns, int64_t k, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_tri_on(nd4c_context *context, int64_t rows, int64_t columns, int64_t k, nd4c_dtype dtype,
                                 nd4c_array **y);

/* indices: the indices of a grid of the given shape: y[a, i0, i1, ...] = i_a; the first axis has one entry for each
 * axis of the grid.
 * Attributes: shape (NULL, 0), dtype (ND4C_INT64).
 * Out: y: [number of axes of shape, ...shape], in the attribute dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_indices(const int64_t *shape, int32_t shape_count, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_indices_on(nd4c_context *context, const int64_t *shape, int32_t shape_count, nd4c_dtype dtype,
                                     nd4c_array **y);

ND4C_EXTERN_C_END
#endif
