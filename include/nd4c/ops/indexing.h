/* Op functions of the family indexing, made from include/nd4c/op_table/indexing.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_INDEXING_H
#define ND4C_OPS_INDEXING_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/options.h"
#include "nd4c/ops/enums.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* flip: x with the order along the axes (none: all) reversed; a view.
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: axes (NULL, 0).
 * Out: y: the shape and dtype of x.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_flip(const nd4c_array *x, const int64_t *axes, int32_t axes_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_flip_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes, int32_t axes_count,
                                  nd4c_array **y);

/* swapaxes: x with two axes exchanged; a view.
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: axis1 (-2), axis2 (-1).
 * Out: y: x with axis1 and axis2 exchanged, in x's dtype.
 * Statuses: INDEX. */
ND4C_API nd4c_status nd4c_swapaxes(const nd4c_array *x, int64_t axis1, int64_t axis2, nd4c_array **y);
ND4C_API nd4c_status nd4c_swapaxes_on(nd4c_context *context, const nd4c_array *x, int64_t axis1, int64_t axis2,
                                      nd4c_array **y);

/* moveaxis: x with the axes of source moved to the positions of destination, the others in their order; a view.
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: source (NULL, 0), destination (NULL, 0).
 * Out: y: x with the axes source at the places destination, in x's dtype.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_moveaxis(const nd4c_array *x, const int64_t *source, int32_t source_count,
                                   const int64_t *destination, int32_t destination_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_moveaxis_on(nd4c_context *context, const nd4c_array *x, const int64_t *source,
                                      int32_t source_count, const int64_t *destination, int32_t destination_count,
                                      nd4c_array **y);

/* atleast_nd: x with axes of length 1 added in front until there are ndim; a view.
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: ndim (1).
 * Out: y: x with 1 in front until it has ndim axes, in x's dtype.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_atleast_nd(const nd4c_array *x, int64_t ndim, nd4c_array **y);
ND4C_API nd4c_status nd4c_atleast_nd_on(nd4c_context *context, const nd4c_array *x, int64_t ndim, nd4c_array **y);

/* select: x[..., index, ...]: one slice, without its axis; a view.
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: axis (0), index (0).
 * Out: y: x without the axis, in x's dtype.
 * Statuses: INDEX. */
ND4C_API nd4c_status nd4c_select(const nd4c_array *x, int64_t axis, int64_t index, nd4c_array **y);
ND4C_API nd4c_status nd4c_select_on(nd4c_context *context, const nd4c_array *x, int64_t axis, int64_t index,
                                    nd4c_array **y);

/* sliding_window_view: all windows of x: y[i..., j...] = x[i + j]; the axes i (none: all) are shorter by window - 1,
 * the axes j of the window come last; a view.
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: window (NULL, 0), axes (NULL, 0).
 * Out: y: x with each axis shorter by its window less 1, and the windows as new last axes, in x's dtype.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_sliding_window_view(const nd4c_array *x, const int64_t *window, int32_t window_count,
                                              const int64_t *axes, int32_t axes_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_sliding_window_view_on(nd4c_context *context, const nd4c_array *x, const int64_t *window,
                                                 int32_t window_count, const int64_t *axes, int32_t axes_count,
                                                 nd4c_array **y);

/* unfold: slices of size along axis, step apart: y[..., i, ..., j] = x[..., i step + j, ...]; a view.
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: axis (-1), size (1), step (1).
 * Out: y: x with (length - size) / step + 1 on the axis, and size as a new last axis, in x's dtype.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_unfold(const nd4c_array *x, int64_t axis, int64_t size, int64_t step, nd4c_array **y);
ND4C_API nd4c_status nd4c_unfold_on(nd4c_context *context, const nd4c_array *x, int64_t axis, int64_t size,
                                    int64_t step, nd4c_array **y);

/* stack: arrays of one shape joined along a new axis; dtypes promoted.
 * In: xs (one or more) (bool, int, uint, float, complex, utf8, float8).
 * Attributes: axis (0).
 * Out: y: the first input's shape with a new axis that is as long as there are inputs, in the dtype that the inputs
 *     promote to. All inputs have one shape.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_stack(const nd4c_array *const *xs, int32_t xs_count, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_stack_on(nd4c_context *context, const nd4c_array *const *xs, int32_t xs_count, int64_t axis,
                                   nd4c_array **y);

/* pad: x with pads (all begins, then all ends, of the axes; none: all) around it; they hold value (left out: zero),
 * or x's edge (edge), its mirror image without the edge (reflect) or with it (symmetric), or x again (wrap); negative
 * pads cut off.
 * In: x (bool, int, uint, float, complex, utf8, float8), value or NULL.
 * Attributes: pads (NULL, 0), axes (NULL, 0), mode (ND4C_PAD_MODE_CONSTANT).
 * Out: y: x with each chosen axis longer by its two pads (negative ones cut), in x's dtype. pads has all begins, then
 *     all ends.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_pad(const nd4c_array *x, const nd4c_array *value, const int64_t *pads, int32_t pads_count,
                              const int64_t *axes, int32_t axes_count, nd4c_pad_mode mode, nd4c_array **y);
ND4C_API nd4c_status nd4c_pad_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *value,
                                 const int64_t *pads, int32_t pads_count, const int64_t *axes, int32_t axes_count,
                                 nd4c_pad_mode mode, nd4c_array **y);

/* tile: x repeated as a whole: y[i] = x[i mod extent]; repeats and the shape of x are aligned at the last axis.
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: repeats (NULL, 0).
 * Out: y: each axis of x times its repeats, in x's dtype; the shorter of x's shape and repeats is filled up with 1 in
 *     front.
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_tile(const nd4c_array *x, const int64_t *repeats, int32_t repeats_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_tile_on(nd4c_context *context, const nd4c_array *x, const int64_t *repeats,
                                  int32_t repeats_count, nd4c_array **y);

/* repeat: each slice along the axis (none: of x flattened) repeated: repeats has one number for all slices or one for
 * each; the input counts replaces repeats, and its sum must be total.
 * In: x (bool, int, uint, float, complex, utf8, float8), counts or NULL.
 * Attributes: repeats (NULL, 0), axes (NULL, 0), total (-1).
 * Out: y: x with the axis as long as all repeats together, in x's dtype. Without axes, x is flattened and y has one
 *     axis. With the input counts the length is total.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_repeat(const nd4c_array *x, const nd4c_array *counts, const int64_t *repeats,
                                 int32_t repeats_count, const int64_t *axes, int32_t axes_count, int64_t total,
                                 nd4c_array **y);
ND4C_API nd4c_status nd4c_repeat_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *counts,
                                    const int64_t *repeats, int32_t repeats_count, const int64_t *axes,
                                    int32_t axes_count, int64_t total, nd4c_array **y);

/* roll: y[(i + shift) mod extent] = x[i] along the axes (none: of x flattened).
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: shifts (NULL, 0), axes (NULL, 0).
 * Out: y: the shape and dtype of x.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_roll(const nd4c_array *x, const int64_t *shifts, int32_t shifts_count, const int64_t *axes,
                               int32_t axes_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_roll_on(nd4c_context *context, const nd4c_array *x, const int64_t *shifts,
                                  int32_t shifts_count, const int64_t *axes, int32_t axes_count, nd4c_array **y);

/* depth_to_space: channels into blocks of space: [..., C b b, H, W] becomes [..., C, H b, W b]; depth_first: C is the
 * slowest part of the channels (ONNX's CRD, pixel shuffle), else the fastest (DCR).
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: block_size (1), depth_first (false), channels_last (false).
 * Out: y: x with its channels divided by block_size^2, rows and columns times block_size, in x's dtype. Axes are
 *     [..., c, h, w], with channels_last [..., h, w, c].
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_depth_to_space(const nd4c_array *x, int64_t block_size, bool depth_first, bool channels_last,
                                         nd4c_array **y);
ND4C_API nd4c_status nd4c_depth_to_space_on(nd4c_context *context, const nd4c_array *x, int64_t block_size,
                                            bool depth_first, bool channels_last, nd4c_array **y);

/* space_to_depth: blocks of space into channels: [..., C, H b, W b] becomes [..., C b b, H, W]; inverse of
 * depth_to_space.
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: block_size (1), depth_first (false), channels_last (false).
 * Out: y: x with its channels times block_size^2, rows and columns divided by block_size, in x's dtype. Axes are
 *     [..., c, h, w], with channels_last [..., h, w, c].
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_space_to_depth(const nd4c_array *x, int64_t block_size, bool depth_first, bool channels_last,
                                         nd4c_array **y);
ND4C_API nd4c_status nd4c_space_to_depth_on(nd4c_context *context, const nd4c_array *x, int64_t block_size,
                                            bool depth_first, bool channels_last, nd4c_array **y);

/* space_to_batch: x [n, space..., rest], padded with zeros (all begins, then all ends), cut into blocks; the position
 * in a block becomes the slowest part of axis 0.
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: block_shape (NULL, 0), pads (NULL, 0).
 * Out: y: x with axis 0 times the product of block_shape, and each following axis padded and divided by its block, in
 *     x's dtype.
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_space_to_batch(const nd4c_array *x, const int64_t *block_shape, int32_t block_shape_count,
                                         const int64_t *pads, int32_t pads_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_space_to_batch_on(nd4c_context *context, const nd4c_array *x, const int64_t *block_shape,
                                            int32_t block_shape_count, const int64_t *pads, int32_t pads_count,
                                            nd4c_array **y);

/* batch_to_space: inverse of space_to_batch; pads are cut off.
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Attributes: block_shape (NULL, 0), pads (NULL, 0).
 * Out: y: x with axis 0 divided by the product of block_shape, and each following axis times its block less its pads,
 *     in x's dtype.
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_batch_to_space(const nd4c_array *x, const int64_t *block_shape, int32_t block_shape_count,
                                         const int64_t *pads, int32_t pads_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_batch_to_space_on(nd4c_context *context, const nd4c_array *x, const int64_t *block_shape,
                                            int32_t block_shape_count, const int64_t *pads, int32_t pads_count,
                                            nd4c_array **y);

/* Options of nd4c_im2col. */
typedef struct nd4c_im2col_options {
  uint32_t struct_size; /* set by ND4C_IM2COL_DEFAULTS */
  const int64_t *kernel;
  int32_t kernel_count;
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *dilations;
  int32_t dilations_count;
} nd4c_im2col_options;
#define ND4C_IM2COL_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_im2col_options, dilations_count), NULL, 0, NULL, 0, NULL, 0, NULL, 0}

/* im2col: windows as columns: x [n, c, space...] gives [n, c prod(kernel), windows], zeros in the padding (begins,
 * then ends).
 * In: x (bool, int, uint, float, complex, utf8, float8).
 * Options: kernel (NULL, 0), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0).
 * Out: y: [n, c * product of kernel, number of windows], in x's dtype, for x [n, c, ...].
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_im2col(const nd4c_array *x, const nd4c_im2col_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_im2col_on(nd4c_context *context, const nd4c_array *x, const nd4c_im2col_options *options,
                                    nd4c_array **y);

/* Options of nd4c_col2im. */
typedef struct nd4c_col2im_options {
  uint32_t struct_size; /* set by ND4C_COL2IM_DEFAULTS */
  const int64_t *image;
  int32_t image_count;
  const int64_t *kernel;
  int32_t kernel_count;
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *dilations;
  int32_t dilations_count;
} nd4c_col2im_options;
#define ND4C_COL2IM_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_col2im_options, dilations_count), NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0}

/* col2im: sum of windows, the reverse of im2col: x [n, c prod(kernel), windows] gives [n, c, image...]; every element
 * is added where im2col took it from.
 * In: x (int, uint, float, complex).
 * Options: image (NULL, 0), kernel (NULL, 0), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0).
 * Out: y: [n, c, ...image], in x's dtype, for x [n, c * product of kernel, number of windows].
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_col2im(const nd4c_array *x, const nd4c_col2im_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_col2im_on(nd4c_context *context, const nd4c_array *x, const nd4c_col2im_options *options,
                                    nd4c_array **y);

/* reverse_sequence: the first lengths[b] steps of sequence b reversed, the others as they are.
 * In: x (bool, int, uint, float, complex, utf8, float8), lengths.
 * Attributes: batch_axis (1), time_axis (0).
 * Out: y: the shape and dtype of x. lengths has one value for each element of the batch axis.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_reverse_sequence(const nd4c_array *x, const nd4c_array *lengths, int64_t batch_axis,
                                           int64_t time_axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_reverse_sequence_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *lengths,
                                              int64_t batch_axis, int64_t time_axis, nd4c_array **y);

/* take: x's slices at indices along the axis (none: of x flattened); mode says what an index out of range does.
 * In: x (bool, int, uint, float, complex, utf8, float8), indices.
 * Attributes: axes (NULL, 0), mode (ND4C_INDEX_MODE_RAISE).
 * Out: y: x with the axis replaced by the shape of indices, in x's dtype. Without axes, x is flattened and y has the
 *     shape of indices.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_take(const nd4c_array *x, const nd4c_array *indices, const int64_t *axes, int32_t axes_count,
                               nd4c_index_mode mode, nd4c_array **y);
ND4C_API nd4c_status nd4c_take_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                  const int64_t *axes, int32_t axes_count, nd4c_index_mode mode, nd4c_array **y);

/* embedding_lookup: rows of table at indices.
 * In: table (bool, int, uint, float, complex, utf8, float8), indices.
 * Out: y: table with its first axis replaced by the shape of indices, in table's dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_embedding_lookup(const nd4c_array *table, const nd4c_array *indices, nd4c_array **y);
ND4C_API nd4c_status nd4c_embedding_lookup_on(nd4c_context *context, const nd4c_array *table, const nd4c_array *indices,
                                              nd4c_array **y);

/* take_along_axis: y[..., i, ...] = x[..., indices[..., i, ...], ...]; the other axes are broadcast.
 * In: x (bool, int, uint, float, complex, utf8, float8), indices.
 * Attributes: axis (-1).
 * Out: y: the shape that x and indices broadcast to beside the axis, with the length of indices on it, in x's dtype.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_take_along_axis(const nd4c_array *x, const nd4c_array *indices, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_take_along_axis_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                             int64_t axis, nd4c_array **y);

/* gather_elements: as take_along_axis, but y has the shape of indices, and the other axes of indices may be shorter
 * than x's.
 * In: x (bool, int, uint, float, complex, utf8, float8), indices.
 * Attributes: axis (-1).
 * Out: y: the shape of indices, in x's dtype.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_gather_elements(const nd4c_array *x, const nd4c_array *indices, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_gather_elements_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                             int64_t axis, nd4c_array **y);

/* gather_nd: y[b, i...] = x[b, indices[b, i..., :], ...]: the last axis of indices holds whole positions.
 * In: x (bool, int, uint, float, complex, utf8, float8), indices.
 * Attributes: batch_dims (0).
 * Out: y: the shape of indices without its last axis of length k, then x's axes behind the first batch_dims + k, in
 *     x's dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_gather_nd(const nd4c_array *x, const nd4c_array *indices, int64_t batch_dims, nd4c_array **y);
ND4C_API nd4c_status nd4c_gather_nd_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                       int64_t batch_dims, nd4c_array **y);

/* put_along_axis: x with y[..., indices[..., i, ...], ...] = values[..., i, ...]; the other axes are broadcast; the
 * last of several values for one element wins.
 * In: x (bool, int, uint, float, complex, utf8, float8), indices, values.
 * Attributes: axis (-1).
 * Out: y: the shape and dtype of x. values has x's dtype and broadcasts to the places.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_put_along_axis(const nd4c_array *x, const nd4c_array *indices, const nd4c_array *values,
                                         int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_put_along_axis_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                            const nd4c_array *values, int64_t axis, nd4c_array **y);

/* scatter_elements: x with y[..., indices[..., i, ...], ...] = updates[..., i, ...], or combined with x by reduction.
 * In: x (bool, int, uint, float, complex, utf8, float8), indices, updates.
 * Attributes: axis (0), reduction (ND4C_SCATTER_REDUCTION_NONE).
 * Out: y: the shape and dtype of x. updates has x's dtype and the shape of indices.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_scatter_elements(const nd4c_array *x, const nd4c_array *indices, const nd4c_array *updates,
                                           int64_t axis, nd4c_scatter_reduction reduction, nd4c_array **y);
ND4C_API nd4c_status nd4c_scatter_elements_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                              const nd4c_array *updates, int64_t axis, nd4c_scatter_reduction reduction,
                                              nd4c_array **y);

/* scatter_nd: x with y[indices[i..., :]] = updates[i...], or combined with x by reduction; the last axis of indices
 * holds whole positions.
 * In: x (bool, int, uint, float, complex, utf8, float8), indices, updates.
 * Attributes: reduction (ND4C_SCATTER_REDUCTION_NONE).
 * Out: y: the shape and dtype of x. updates has x's dtype, and the shape of indices without its last axis of length
 *     k, then x's axes behind the first k.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_scatter_nd(const nd4c_array *x, const nd4c_array *indices, const nd4c_array *updates,
                                     nd4c_scatter_reduction reduction, nd4c_array **y);
ND4C_API nd4c_status nd4c_scatter_nd_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                        const nd4c_array *updates, nd4c_scatter_reduction reduction, nd4c_array **y);

/* scatter_update: x with y[..., indices[i], ...] = updates[..., i, ...], slices along axis.
 * In: x (bool, int, uint, float, complex, utf8, float8), indices, updates.
 * Attributes: axis (0).
 * Out: y: the shape and dtype of x. updates has x's dtype, and x's shape with the axis replaced by the shape of
 *     indices (int32 or int64).
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_scatter_update(const nd4c_array *x, const nd4c_array *indices, const nd4c_array *updates,
                                         int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_scatter_update_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                            const nd4c_array *updates, int64_t axis, nd4c_array **y);

/* scatter_add: x with y[..., indices[i], ...] += updates[..., i, ...], slices along axis; bool: or.
 * In: x (bool, int, uint, float, complex), indices, updates.
 * Attributes: axis (0).
 * Out: y: the shape and dtype of x. updates has x's dtype, and x's shape with the axis replaced by the shape of
 *     indices (int32 or int64).
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_scatter_add(const nd4c_array *x, const nd4c_array *indices, const nd4c_array *updates,
                                      int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_scatter_add_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                         const nd4c_array *updates, int64_t axis, nd4c_array **y);

/* scatter_subtract: x with y[..., indices[i], ...] -= updates[..., i, ...], slices along axis.
 * In: x (int, uint, float, complex), indices, updates.
 * Attributes: axis (0).
 * Out: y: the shape and dtype of x. updates has x's dtype, and x's shape with the axis replaced by the shape of
 *     indices (int32 or int64).
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_scatter_subtract(const nd4c_array *x, const nd4c_array *indices, const nd4c_array *updates,
                                           int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_scatter_subtract_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                              const nd4c_array *updates, int64_t axis, nd4c_array **y);

/* scatter_multiply: x with y[..., indices[i], ...] *= updates[..., i, ...], slices along axis; bool: and.
 * In: x (bool, int, uint, float, complex), indices, updates.
 * Attributes: axis (0).
 * Out: y: the shape and dtype of x. updates has x's dtype, and x's shape with the axis replaced by the shape of
 *     indices (int32 or int64).
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_scatter_multiply(const nd4c_array *x, const nd4c_array *indices, const nd4c_array *updates,
                                           int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_scatter_multiply_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                              const nd4c_array *updates, int64_t axis, nd4c_array **y);

/* scatter_divide: x with y[..., indices[i], ...] /= updates[..., i, ...], slices along axis; integers as the op
 * divide.
 * In: x (int, uint, float, complex), indices, updates.
 * Attributes: axis (0).
 * Out: y: the shape and dtype of x. updates has x's dtype, and x's shape with the axis replaced by the shape of
 *     indices (int32 or int64).
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_scatter_divide(const nd4c_array *x, const nd4c_array *indices, const nd4c_array *updates,
                                         int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_scatter_divide_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                            const nd4c_array *updates, int64_t axis, nd4c_array **y);

/* scatter_maximum: x with y[..., indices[i], ...] = max(that, updates[..., i, ...]), slices along axis; NaN wins.
 * In: x (int, uint, float), indices, updates.
 * Attributes: axis (0).
 * Out: y: the shape and dtype of x. updates has x's dtype, and x's shape with the axis replaced by the shape of
 *     indices (int32 or int64).
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_scatter_maximum(const nd4c_array *x, const nd4c_array *indices, const nd4c_array *updates,
                                          int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_scatter_maximum_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                             const nd4c_array *updates, int64_t axis, nd4c_array **y);

/* scatter_minimum: x with y[..., indices[i], ...] = min(that, updates[..., i, ...]), slices along axis; NaN wins.
 * In: x (int, uint, float), indices, updates.
 * Attributes: axis (0).
 * Out: y: the shape and dtype of x. updates has x's dtype, and x's shape with the axis replaced by the shape of
 *     indices (int32 or int64).
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_scatter_minimum(const nd4c_array *x, const nd4c_array *indices, const nd4c_array *updates,
                                          int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_scatter_minimum_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                             const nd4c_array *updates, int64_t axis, nd4c_array **y);

/* index_fill: x with the slices at indices along axis filled with value.
 * In: x (bool, int, uint, float, complex, utf8, float8), indices, value.
 * Attributes: axis (0).
 * Out: y: the shape and dtype of x. value has one element of x's dtype.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_index_fill(const nd4c_array *x, const nd4c_array *indices, const nd4c_array *value,
                                     int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_index_fill_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                        const nd4c_array *value, int64_t axis, nd4c_array **y);

/* masked_fill: value where mask is true, else x; mask and value are broadcast to x.
 * In: x (bool, int, uint, float, complex, utf8, float8), mask, value.
 * Out: y: the shape and dtype of x. mask and value broadcast to x.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_masked_fill(const nd4c_array *x, const nd4c_array *mask, const nd4c_array *value,
                                      nd4c_array **y);
ND4C_API nd4c_status nd4c_masked_fill_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *mask,
                                         const nd4c_array *value, nd4c_array **y);

/* masked_select: the elements of x where mask is true, in C order; x and mask are broadcast; 1-D.
 * In: x (bool, int, uint, float, complex, utf8, float8), mask.
 * Out: y: a vector in x's dtype, as long as the broadcast mask has true elements; the length depends on the data.
 * Statuses: DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_masked_select(const nd4c_array *x, const nd4c_array *mask, nd4c_array **y);
ND4C_API nd4c_status nd4c_masked_select_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *mask,
                                           nd4c_array **y);

/* masked_scatter: x with the elements where mask is true (broadcast to x) replaced by the first ones of value in C
 * order.
 * In: x (bool, int, uint, float, complex, utf8, float8), mask, value.
 * Out: y: the shape and dtype of x. mask broadcasts to x.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_masked_scatter(const nd4c_array *x, const nd4c_array *mask, const nd4c_array *value,
                                         nd4c_array **y);
ND4C_API nd4c_status nd4c_masked_scatter_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *mask,
                                            const nd4c_array *value, nd4c_array **y);

/* boolean_mask: x's slices where mask is true; mask covers the axes of x from axis on, and one axis takes their
 * place.
 * In: x (bool, int, uint, float, complex, utf8, float8), mask.
 * Attributes: axis (0).
 * Out: y: x with the axes of mask, which begin at axis, replaced by one that counts its true elements, in x's dtype;
 *     the length depends on the data.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_boolean_mask(const nd4c_array *x, const nd4c_array *mask, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_boolean_mask_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *mask,
                                          int64_t axis, nd4c_array **y);

/* compress: x's slices along the axis (none: of x flattened) where the 1-D condition is true; slices past the end of
 * condition are left out.
 * In: x (bool, int, uint, float, complex, utf8, float8), condition.
 * Attributes: axes (NULL, 0).
 * Out: y: x with the axis as long as condition has true elements, in x's dtype. Without axes, x is flattened and y is
 *     a vector. The length depends on the data.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_compress(const nd4c_array *x, const nd4c_array *condition, const int64_t *axes,
                                   int32_t axes_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_compress_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *condition,
                                      const int64_t *axes, int32_t axes_count, nd4c_array **y);

/* one_hot: y[..., d, ...] = on if the index is d or d - depth, else off, d along axis; values holds (off, on), left
 * out: 0 and 1 of dtype; an index out of range: all off.
 * In: indices (int32, int64), values or NULL.
 * Attributes: depth (1), axis (-1), dtype (ND4C_FLOAT32).
 * Out: y: the shape of indices with depth as a new axis, in the dtype of values, or the attribute dtype without
 *     values. values has 2 elements: off and on.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_one_hot(const nd4c_array *indices, const nd4c_array *values, int64_t depth, int64_t axis,
                                  nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_one_hot_on(nd4c_context *context, const nd4c_array *indices, const nd4c_array *values,
                                     int64_t depth, int64_t axis, nd4c_dtype dtype, nd4c_array **y);

/* tensor_scatter: cache x with update written along axis from write_indices[b] (left out: 0) on in batch b (axis 0);
 * circular: modulo the extent.
 * In: x (bool, int, uint, float, complex, utf8, float8), update, write_indices or NULL.
 * Attributes: axis (-2), circular (false).
 * Out: y: the shape and dtype of x. update has x's dtype, and x's shape but for the axis.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_tensor_scatter(const nd4c_array *x, const nd4c_array *update, const nd4c_array *write_indices,
                                         int64_t axis, bool circular, nd4c_array **y);
ND4C_API nd4c_status nd4c_tensor_scatter_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *update,
                                            const nd4c_array *write_indices, int64_t axis, bool circular,
                                            nd4c_array **y);

/* tril: x where column - row <= k in its last two axes, else zero.
 * In: x (bool, int, uint, float, complex).
 * Attributes: k (0).
 * Out: y: the shape and dtype of x, which has at least 2 axes.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_tril(const nd4c_array *x, int64_t k, nd4c_array **y);
ND4C_API nd4c_status nd4c_tril_on(nd4c_context *context, const nd4c_array *x, int64_t k, nd4c_array **y);

/* triu: x where column - row >= k in its last two axes, else zero.
 * In: x (bool, int, uint, float, complex).
 * Attributes: k (0).
 * Out: y: the shape and dtype of x, which has at least 2 axes.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_triu(const nd4c_array *x, int64_t k, nd4c_array **y);
ND4C_API nd4c_status nd4c_triu_on(nd4c_context *context, const nd4c_array *x, int64_t k, nd4c_array **y);

/* matrix_band_part: x where row - column <= lower and column - row <= upper (negative: all) in its last two axes,
 * else zero.
 * In: x (bool, int, uint, float, complex).
 * Attributes: lower (-1), upper (-1).
 * Out: y: the shape and dtype of x, which has at least 2 axes.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_matrix_band_part(const nd4c_array *x, int64_t lower, int64_t upper, nd4c_array **y);
ND4C_API nd4c_status nd4c_matrix_band_part_on(nd4c_context *context, const nd4c_array *x, int64_t lower, int64_t upper,
                                              nd4c_array **y);

/* diag: 1-D: the square matrix with x on diagonal k; 2-D: diagonal k.
 * In: x (bool, int, uint, float, complex).
 * Attributes: k (0).
 * Out: y: for a matrix, the vector of its diagonal k; for a vector of n elements, [n + |k|, n + |k|]; in x's dtype.
 * Statuses: SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_diag(const nd4c_array *x, int64_t k, nd4c_array **y);
ND4C_API nd4c_status nd4c_diag_on(nd4c_context *context, const nd4c_array *x, int64_t k, nd4c_array **y);

/* diag_embed: zeros with x's last axis on the diagonal where axis2's index - axis1's = offset.
 * In: x (bool, int, uint, float, complex).
 * Attributes: offset (0), axis1 (-2), axis2 (-1).
 * Out: y: x without its last axis of n elements, and with n + |offset| on the new axes axis1 and axis2, in x's dtype.
 * Statuses: ARGUMENT, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_diag_embed(const nd4c_array *x, int64_t offset, int64_t axis1, int64_t axis2, nd4c_array **y);
ND4C_API nd4c_status nd4c_diag_embed_on(nd4c_context *context, const nd4c_array *x, int64_t offset, int64_t axis1,
                                        int64_t axis2, nd4c_array **y);

/* matrix_set_diag: x with diagonal k of its last two axes replaced; diagonal is broadcast.
 * In: x (bool, int, uint, float, complex, utf8, float8), diagonal.
 * Attributes: k (0).
 * Out: y: the shape and dtype of x, which has at least 2 axes. diagonal broadcasts to the diagonals.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_matrix_set_diag(const nd4c_array *x, const nd4c_array *diagonal, int64_t k, nd4c_array **y);
ND4C_API nd4c_status nd4c_matrix_set_diag_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *diagonal,
                                             int64_t k, nd4c_array **y);

/* sequence_mask: y[..., i] = i < lengths[...] for i in 0 .. maxlen - 1, as 1 and 0 of dtype.
 * In: lengths (int32, int64).
 * Attributes: maxlen (0), dtype (ND4C_BOOL).
 * Out: y: the shape of lengths with maxlen as a new last axis, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_sequence_mask(const nd4c_array *lengths, int64_t maxlen, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_sequence_mask_on(nd4c_context *context, const nd4c_array *lengths, int64_t maxlen,
                                           nd4c_dtype dtype, nd4c_array **y);

/* invert_permutation: y[x[i]] = i for a permutation x of 0 .. n - 1.
 * In: x (int32, int64).
 * Out: y: the shape and dtype of x, which has one axis.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_invert_permutation(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_invert_permutation_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* dynamic_partition: y: x's slices (one for each element of partitions) ordered by partition, stably; counts: how
 * many slices each of the partitions 0 .. num_partitions - 1 has.
 * In: x (bool, int, uint, float, complex, utf8, float8), partitions.
 * Attributes: num_partitions (1).
 * Out: y: [elements of partitions, ...axes of x behind those of partitions], in x's dtype; counts: int64
 *     [num_partitions]. partitions has the first axes of x.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_dynamic_partition(const nd4c_array *x, const nd4c_array *partitions, int64_t num_partitions,
                                            nd4c_array **y, nd4c_array **counts);
ND4C_API nd4c_status nd4c_dynamic_partition_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *partitions,
                                               int64_t num_partitions, nd4c_array **y, nd4c_array **counts);

/* dynamic_stitch: y[indices] = slices of data; xs: the arrays of indices, then as many arrays of data; where an index
 * repeats, the last slice wins; where no slice goes, zeros; y has size slices (-1: as many as indices).
 * In: xs (one or more) (bool, int, uint, float, complex, utf8, float8).
 * Attributes: size (-1).
 * Out: y: [size, ...axes of the data behind those of the indices], in the data's dtype; size below 0: as many as
 *     indices. xs has the indices first, then as many arrays of data.
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_dynamic_stitch(const nd4c_array *const *xs, int32_t xs_count, int64_t size, nd4c_array **y);
ND4C_API nd4c_status nd4c_dynamic_stitch_on(nd4c_context *context, const nd4c_array *const *xs, int32_t xs_count,
                                            int64_t size, nd4c_array **y);

/* segment_sum: y[s] = sum of the x[i] whose segments[i] = s; segments need not be sorted; y has num_segments segments
 * (-1: as many as the largest number in segments needs; that number must be less than x has rows); an empty segment
 * gives 0.
 * In: x (int, uint, float, complex), segments.
 * Attributes: num_segments (-1).
 * Out: y: x with num_segments as its first axis, in x's dtype; num_segments below 0: as many as the data needs. The
 *     second input is as long as that axis of x.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_segment_sum(const nd4c_array *x, const nd4c_array *segments, int64_t num_segments,
                                      nd4c_array **y);
ND4C_API nd4c_status nd4c_segment_sum_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *segments,
                                         int64_t num_segments, nd4c_array **y);

/* segment_mean: mean of each segment, see segment_sum; an empty segment gives 0.
 * In: x (float, complex), segments.
 * Attributes: num_segments (-1).
 * Out: y: x with num_segments as its first axis, in x's dtype; num_segments below 0: as many as the data needs. The
 *     second input is as long as that axis of x.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_segment_mean(const nd4c_array *x, const nd4c_array *segments, int64_t num_segments,
                                       nd4c_array **y);
ND4C_API nd4c_status nd4c_segment_mean_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *segments,
                                          int64_t num_segments, nd4c_array **y);

/* segment_max: largest of each segment, see segment_sum; NaN wins; an empty segment gives the dtype's least number,
 * floats -infinity.
 * In: x (int, uint, float), segments.
 * Attributes: num_segments (-1).
 * Out: y: x with num_segments as its first axis, in x's dtype; num_segments below 0: as many as the data needs. The
 *     second input is as long as that axis of x.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_segment_max(const nd4c_array *x, const nd4c_array *segments, int64_t num_segments,
                                      nd4c_array **y);
ND4C_API nd4c_status nd4c_segment_max_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *segments,
                                         int64_t num_segments, nd4c_array **y);

/* segment_min: least of each segment, see segment_sum; NaN wins; an empty segment gives the dtype's largest number,
 * floats infinity.
 * In: x (int, uint, float), segments.
 * Attributes: num_segments (-1).
 * Out: y: x with num_segments as its first axis, in x's dtype; num_segments below 0: as many as the data needs. The
 *     second input is as long as that axis of x.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_segment_min(const nd4c_array *x, const nd4c_array *segments, int64_t num_segments,
                                      nd4c_array **y);
ND4C_API nd4c_status nd4c_segment_min_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *segments,
                                         int64_t num_segments, nd4c_array **y);

/* segment_prod: product of each segment, see segment_sum; an empty segment gives 1.
 * In: x (int, uint, float, complex), segments.
 * Attributes: num_segments (-1).
 * Out: y: x with num_segments as its first axis, in x's dtype; num_segments below 0: as many as the data needs. The
 *     second input is as long as that axis of x.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_segment_prod(const nd4c_array *x, const nd4c_array *segments, int64_t num_segments,
                                       nd4c_array **y);
ND4C_API nd4c_status nd4c_segment_prod_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *segments,
                                          int64_t num_segments, nd4c_array **y);

/* segment_sqrt_n: sum of each segment divided by the root of its count, see segment_sum; an empty segment gives 0.
 * In: x (float, complex), segments.
 * Attributes: num_segments (-1).
 * Out: y: x with num_segments as its first axis, in x's dtype; num_segments below 0: as many as the data needs. The
 *     second input is as long as that axis of x.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_segment_sqrt_n(const nd4c_array *x, const nd4c_array *segments, int64_t num_segments,
                                         nd4c_array **y);
ND4C_API nd4c_status nd4c_segment_sqrt_n_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *segments,
                                            int64_t num_segments, nd4c_array **y);

/* unravel_index: positions of elements in C order (numbers from 0) as indices: one row for each axis of shape.
 * In: indices (int32, int64).
 * Attributes: shape (NULL, 0).
 * Out: y: int64 [number of axes of shape, ...shape of indices].
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_unravel_index(const nd4c_array *indices, const int64_t *shape, int32_t shape_count,
                                        nd4c_array **y);
ND4C_API nd4c_status nd4c_unravel_index_on(nd4c_context *context, const nd4c_array *indices, const int64_t *shape,
                                           int32_t shape_count, nd4c_array **y);

/* ravel_multi_index: indices, one row for each axis of shape, as positions of elements in C order (numbers from 0).
 * In: indices (int32, int64).
 * Attributes: shape (NULL, 0).
 * Out: y: int64, in the shape of indices without its first axis, which is as long as shape has axes.
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_ravel_multi_index(const nd4c_array *indices, const int64_t *shape, int32_t shape_count,
                                            nd4c_array **y);
ND4C_API nd4c_status nd4c_ravel_multi_index_on(nd4c_context *context, const nd4c_array *indices, const int64_t *shape,
                                               int32_t shape_count, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
