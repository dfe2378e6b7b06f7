/* Op functions of the family shape, made from include/nd4c/op_table/shape.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_SHAPE_H
#define ND4C_OPS_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/options.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* reshape: x with another shape, C order; one -1 is inferred; a view where the strides allow it.
 * In: x (bool, int, uint, float, complex, utf8, float8, packed).
 * Attributes: shape (NULL, 0).
 * Out: y: the attribute shape, in x's dtype; one extent may be -1, which stands for what is left.
 * Statuses: SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_reshape(const nd4c_array *x, const int64_t *shape, int32_t shape_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_reshape_on(nd4c_context *context, const nd4c_array *x, const int64_t *shape,
                                     int32_t shape_count, nd4c_array **y);

/* transpose: x with axes permuted (none: reversed); a view.
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: axes (NULL, 0).
 * Out: y: x with its axes in the order of axes (none: reversed), in x's dtype.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_transpose(const nd4c_array *x, const int64_t *axes, int32_t axes_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_transpose_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                       int32_t axes_count, nd4c_array **y);

/* broadcast_to: x repeated to a shape; a view.
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: shape (NULL, 0).
 * Out: y: the attribute shape, in x's dtype.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_broadcast_to(const nd4c_array *x, const int64_t *shape, int32_t shape_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_broadcast_to_on(nd4c_context *context, const nd4c_array *x, const int64_t *shape,
                                          int32_t shape_count, nd4c_array **y);

/* squeeze: x without the given axes of length 1 (none: all); a view.
 * In: x (bool, int, uint, float, complex, utf8, float8, packed).
 * Attributes: axes (NULL, 0).
 * Out: y: x without the axes (none: those of length 1), in x's dtype.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_squeeze(const nd4c_array *x, const int64_t *axes, int32_t axes_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_squeeze_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                     int32_t axes_count, nd4c_array **y);

/* expand_dims: x with axes of length 1 inserted; a view.
 * In: x (bool, int, uint, float, complex, utf8, float8, packed).
 * Attributes: axes (NULL, 0).
 * Out: y: x with 1 at each of axes, which are places of the result, in x's dtype.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_expand_dims(const nd4c_array *x, const int64_t *axes, int32_t axes_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_expand_dims_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                         int32_t axes_count, nd4c_array **y);

/* flatten: x as 2-D: the first axis joins the axes before `axis`, the second joins the others.
 * In: x (bool, int, uint, float, complex, utf8, float8, packed).
 * Attributes: axis (-1).
 * Out: y: [product of the axes before axis, product of the others], in x's dtype.
 * Statuses: INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_flatten(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_flatten_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

/* Options of nd4c_slice. */
typedef struct nd4c_slice_options {
  uint32_t struct_size; /* set by ND4C_SLICE_DEFAULTS */
  const int64_t *starts;
  int32_t starts_count;
  const int64_t *stops;
  int32_t stops_count;
  const int64_t *axes;
  int32_t axes_count;
  const int64_t *steps;
  int32_t steps_count;
} nd4c_slice_options;
#define ND4C_SLICE_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_slice_options, steps_count), NULL, 0, NULL, 0, NULL, 0, NULL, 0}

/* slice: x[start:stop:step] on the given axes (none: the first ones), as in Python; a view.
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Options: starts (NULL, 0), stops (NULL, 0), axes (NULL, 0), steps (NULL, 0).
 * Out: y: x with each axis as long as its slice, in x's dtype.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_slice(const nd4c_array *x, const nd4c_slice_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_slice_on(nd4c_context *context, const nd4c_array *x, const nd4c_slice_options *options,
                                   nd4c_array **y);

/* concat: arrays joined along an axis; dtypes promoted.
 * In: xs (one or more) (bool, int, uint, float, complex, utf8, float8).
 * Attributes: axis (0).
 * Out: y: the first input's shape with all lengths added on the axis, in the dtype that the inputs promote to.
 * Statuses: DTYPE, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_concat(const nd4c_array *const *xs, int32_t xs_count, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_concat_on(nd4c_context *context, const nd4c_array *const *xs, int32_t xs_count, int64_t axis,
                                    nd4c_array **y);

/* gather: x's slices at indices (int32 or int64, negative counts from the end) along axis; out of range: ND4C_INDEX.
 * In: x (bool, int, uint, float, complex, utf8, float8), indices.
 * Attributes: axis (0).
 * Out: y: x with the axis replaced by the shape of indices, in x's dtype.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_gather(const nd4c_array *x, const nd4c_array *indices, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_gather_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices, int64_t axis,
                                    nd4c_array **y);

ND4C_EXTERN_C_END
#endif
