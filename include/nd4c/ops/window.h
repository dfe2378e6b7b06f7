/* Op functions of the family window, made from include/nd4c/op_table/window.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_WINDOW_H
#define ND4C_OPS_WINDOW_H

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

/* Options of nd4c_conv. */
typedef struct nd4c_conv_options {
  uint32_t struct_size; /* set by ND4C_CONV_DEFAULTS */
  const nd4c_array *bias;
  const nd4c_array *addend;
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *dilations;
  int32_t dilations_count;
  int64_t groups;
  nd4c_auto_pad auto_pad;
  nd4c_activation activation;
} nd4c_conv_options;
#define ND4C_CONV_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_conv_options, activation), NULL, NULL, NULL, 0, NULL, 0, NULL, 0, 1, \
   ND4C_AUTO_PAD_EXPLICIT, ND4C_ACTIVATION_NONE}

/* conv: y = activation(x * w + bias + addend), cross-correlation over 1 to 3 spatial axes: x [n, c, ...], w [o, c /
 * groups, ...], bias [o], addend like y; strides and dilations: one value for each spatial axis, left out: 1; pads:
 * all begins, then all ends, left out: 0.
 * In: x (float), w.
 * Options: bias (NULL), addend (NULL), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), groups (1), auto_pad
 *     (ND4C_AUTO_PAD_EXPLICIT), activation (ND4C_ACTIVATION_NONE).
 * Out: y: [n, o, ...] with a cell for each window, in x's dtype, for x [n, c, ...] and w [o, c / groups, ...]. All
 *     inputs have one dtype; addend broadcasts to y.
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_conv(const nd4c_array *x, const nd4c_array *w, const nd4c_conv_options *options,
                               nd4c_array **y);
ND4C_API nd4c_status nd4c_conv_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *w,
                                  const nd4c_conv_options *options, nd4c_array **y);

/* Options of nd4c_max_pool. */
typedef struct nd4c_max_pool_options {
  uint32_t struct_size; /* set by ND4C_MAX_POOL_DEFAULTS */
  const int64_t *kernel;
  int32_t kernel_count;
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *dilations;
  int32_t dilations_count;
  nd4c_auto_pad auto_pad;
  bool ceil_mode;
  bool count_include_pad;
} nd4c_max_pool_options;
#define ND4C_MAX_POOL_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_max_pool_options, count_include_pad), NULL, 0, NULL, 0, NULL, 0, NULL, 0, \
   ND4C_AUTO_PAD_EXPLICIT, false, false}

/* max_pool: largest in each window; padding never wins; kernel: one value for each spatial axis, must be given;
 * strides left out: 1 (PyTorch: kernel); pads and dilations as of conv; count_include_pad has no effect.
 * In: x (int, uint, float).
 * Options: kernel (NULL, 0), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), auto_pad
 *     (ND4C_AUTO_PAD_EXPLICIT), ceil_mode (false), count_include_pad (false).
 * Out: y: [n, c, ...] with a cell for each window, in x's dtype, for x [n, c, ...].
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_max_pool(const nd4c_array *x, const nd4c_max_pool_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_max_pool_on(nd4c_context *context, const nd4c_array *x, const nd4c_max_pool_options *options,
                                      nd4c_array **y);

/* Options of nd4c_average_pool. */
typedef struct nd4c_average_pool_options {
  uint32_t struct_size; /* set by ND4C_AVERAGE_POOL_DEFAULTS */
  const int64_t *kernel;
  int32_t kernel_count;
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *dilations;
  int32_t dilations_count;
  nd4c_auto_pad auto_pad;
  bool ceil_mode;
  bool count_include_pad;
} nd4c_average_pool_options;
#define ND4C_AVERAGE_POOL_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_average_pool_options, count_include_pad), NULL, 0, NULL, 0, NULL, 0, NULL, 0, \
   ND4C_AUTO_PAD_EXPLICIT, false, false}

/* average_pool: mean of the cells of x in each window; count_include_pad: of all cells in the window, padding
 * included; kernel, strides, pads and dilations as of max_pool.
 * In: x (float).
 * Options: kernel (NULL, 0), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), auto_pad
 *     (ND4C_AUTO_PAD_EXPLICIT), ceil_mode (false), count_include_pad (false).
 * Out: y: [n, c, ...] with a cell for each window, in x's dtype, for x [n, c, ...].
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_average_pool(const nd4c_array *x, const nd4c_average_pool_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_average_pool_on(nd4c_context *context, const nd4c_array *x,
                                          const nd4c_average_pool_options *options, nd4c_array **y);

/* Options of nd4c_conv_transpose. */
typedef struct nd4c_conv_transpose_options {
  uint32_t struct_size; /* set by ND4C_CONV_TRANSPOSE_DEFAULTS */
  const nd4c_array *bias;
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *dilations;
  int32_t dilations_count;
  const int64_t *output_padding;
  int32_t output_padding_count;
  const int64_t *output_shape;
  int32_t output_shape_count;
  int64_t groups;
  nd4c_auto_pad auto_pad;
} nd4c_conv_transpose_options;
#define ND4C_CONV_TRANSPOSE_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_conv_transpose_options, auto_pad), NULL, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, 1, \
   ND4C_AUTO_PAD_EXPLICIT}

/* conv_transpose: transpose of conv: each element of x, times w [c, o / groups, ...], is added to the cells of y from
 * which conv would have computed it; plus bias [o]; strides, pads and dilations as of conv; extent (x - 1) * stride +
 * output_padding (left out: 0) + dilation * (kernel - 1) + 1 - pads, or output_shape, or x * stride (auto_pad same).
 * In: x (float), w.
 * Options: bias (NULL), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), output_padding (NULL, 0),
 *     output_shape (NULL, 0), groups (1), auto_pad (ND4C_AUTO_PAD_EXPLICIT).
 * Out: y: [n, o, ...], in x's dtype, for x [n, c, ...] and w [c, o / groups, ...]; the spatial axes are output_shape,
 *     or follow from strides, pads and output_padding.
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_conv_transpose(const nd4c_array *x, const nd4c_array *w,
                                         const nd4c_conv_transpose_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_conv_transpose_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *w,
                                            const nd4c_conv_transpose_options *options, nd4c_array **y);

/* Options of nd4c_deformable_conv. */
typedef struct nd4c_deformable_conv_options {
  uint32_t struct_size; /* set by ND4C_DEFORMABLE_CONV_DEFAULTS */
  const nd4c_array *bias;
  const nd4c_array *mask;
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *dilations;
  int32_t dilations_count;
  int64_t groups;
  int64_t offset_groups;
} nd4c_deformable_conv_options;
#define ND4C_DEFORMABLE_CONV_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_deformable_conv_options, offset_groups), NULL, NULL, NULL, 0, NULL, 0, NULL, 0, 1, 1}

/* deformable_conv: conv in which tap k reads x at its usual position plus offset [n, offset_groups * taps * axes,
 * ...], interpolated linearly between cells, 0 outside x, and multiplied by mask [n, offset_groups * taps, ...] (left
 * out: 1); strides, pads and dilations as of conv; arXiv 1703.06211 and 1811.11168.
 * In: x (float), w, offset.
 * Options: bias (NULL), mask (NULL), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), groups (1),
 *     offset_groups (1).
 * Out: y: [n, o, ...] with a cell for each window, in x's dtype, for x [n, c, ...] and w [o, c / groups, ...]. All
 *     inputs have one dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_deformable_conv(const nd4c_array *x, const nd4c_array *w, const nd4c_array *offset,
                                          const nd4c_deformable_conv_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_deformable_conv_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *w,
                                             const nd4c_array *offset, const nd4c_deformable_conv_options *options,
                                             nd4c_array **y);

/* causal_conv_with_state: depthwise conv along time with w [c, 1, k] and bias [c], over past_state [n, c, k - 1]
 * (left out: zeros) followed by x [n, c, t]; then y * sigmoid(y) if silu; present_state: the last k - 1 steps of
 * past_state and x.
 * In: x (float), w, bias or NULL, past_state or NULL.
 * Attributes: silu (false).
 * Out: y: the shape and dtype of x [n, c, t]; present_state: [n, c, k - 1], in x's dtype, for w [c, 1, k].
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_causal_conv_with_state(const nd4c_array *x, const nd4c_array *w, const nd4c_array *bias,
                                                 const nd4c_array *past_state, bool silu, nd4c_array **y,
                                                 nd4c_array **present_state);
ND4C_API nd4c_status nd4c_causal_conv_with_state_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *w,
                                                    const nd4c_array *bias, const nd4c_array *past_state, bool silu,
                                                    nd4c_array **y, nd4c_array **present_state);

/* Options of nd4c_max_pool_with_indices. */
typedef struct nd4c_max_pool_with_indices_options {
  uint32_t struct_size; /* set by ND4C_MAX_POOL_WITH_INDICES_DEFAULTS */
  const int64_t *kernel;
  int32_t kernel_count;
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *dilations;
  int32_t dilations_count;
  nd4c_auto_pad auto_pad;
  bool ceil_mode;
  bool planar;
  bool column_major;
} nd4c_max_pool_with_indices_options;
#define ND4C_MAX_POOL_WITH_INDICES_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_max_pool_with_indices_options, column_major), NULL, 0, NULL, 0, NULL, 0, NULL, 0, \
   ND4C_AUTO_PAD_EXPLICIT, false, false, false}

/* max_pool_with_indices: largest element in each window and the int64 index of the first such cell, counted in all of
 * x or, if planar, in its [n, c] plane; column_major: counted with the first spatial axis fastest; -1 for a window of
 * padding alone; kernel, strides, pads and dilations as of max_pool.
 * In: x (int, uint, float).
 * Options: kernel (NULL, 0), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), auto_pad
 *     (ND4C_AUTO_PAD_EXPLICIT), ceil_mode (false), planar (false), column_major (false).
 * Out: y, indices: [n, c, ...] with a cell for each window, for x [n, c, ...]; y in x's dtype, indices int64.
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_max_pool_with_indices(const nd4c_array *x, const nd4c_max_pool_with_indices_options *options,
                                                nd4c_array **y, nd4c_array **indices);
ND4C_API nd4c_status nd4c_max_pool_with_indices_on(nd4c_context *context, const nd4c_array *x,
                                                   const nd4c_max_pool_with_indices_options *options, nd4c_array **y,
                                                   nd4c_array **indices);

/* Options of nd4c_max_unpool. */
typedef struct nd4c_max_unpool_options {
  uint32_t struct_size; /* set by ND4C_MAX_UNPOOL_DEFAULTS */
  const int64_t *kernel;
  int32_t kernel_count;
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *output_shape;
  int32_t output_shape_count;
  bool planar;
} nd4c_max_unpool_options;
#define ND4C_MAX_UNPOOL_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_max_unpool_options, planar), NULL, 0, NULL, 0, NULL, 0, NULL, 0, false}

/* max_unpool: zeros, with each element of x at its index; if indices repeat, the last element wins; planar: an index
 * counts in the [n, c] plane of y; else it counts in all planes of the spatial extents (x - 1) * stride + kernel -
 * pads, even if output_shape is larger; kernel and strides left out: 1; pads left out: 0.
 * In: x (int, uint, float), indices.
 * Options: kernel (NULL, 0), strides (NULL, 0), pads (NULL, 0), output_shape (NULL, 0), planar (false).
 * Out: y: [n, c, ...output_shape], in x's dtype, for x [n, c, ...]; without output_shape as large as the windows
 *     reach.
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_max_unpool(const nd4c_array *x, const nd4c_array *indices,
                                     const nd4c_max_unpool_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_max_unpool_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *indices,
                                        const nd4c_max_unpool_options *options, nd4c_array **y);

/* Options of nd4c_lp_pool. */
typedef struct nd4c_lp_pool_options {
  uint32_t struct_size; /* set by ND4C_LP_POOL_DEFAULTS */
  const int64_t *kernel;
  int32_t kernel_count;
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *dilations;
  int32_t dilations_count;
  nd4c_auto_pad auto_pad;
  bool ceil_mode;
  double p;
} nd4c_lp_pool_options;
#define ND4C_LP_POOL_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_lp_pool_options, p), NULL, 0, NULL, 0, NULL, 0, NULL, 0, ND4C_AUTO_PAD_EXPLICIT, false, \
   2.0}

/* lp_pool: y = (sum of |x|^p in each window)^(1 / p), padding counts as 0; kernel, strides, pads and dilations as of
 * max_pool.
 * In: x (float).
 * Options: kernel (NULL, 0), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), auto_pad
 *     (ND4C_AUTO_PAD_EXPLICIT), ceil_mode (false), p (2.0).
 * Out: y: [n, c, ...] with a cell for each window, in x's dtype, for x [n, c, ...].
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_lp_pool(const nd4c_array *x, const nd4c_lp_pool_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_lp_pool_on(nd4c_context *context, const nd4c_array *x, const nd4c_lp_pool_options *options,
                                     nd4c_array **y);

/* global_average_pool: mean over the spatial axes of x [n, c, ...], kept with extent 1.
 * In: x (float).
 * Out: y: x [n, c, ...] with 1 on each spatial axis, in x's dtype.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_global_average_pool(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_global_average_pool_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* global_max_pool: largest over the spatial axes of x [n, c, ...], kept with extent 1; NaN wins.
 * In: x (float).
 * Out: y: x [n, c, ...] with 1 on each spatial axis, in x's dtype.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_global_max_pool(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_global_max_pool_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* global_lp_pool: (sum of |x|^p)^(1 / p) over the spatial axes of x [n, c, ...], kept with extent 1.
 * In: x (float).
 * Attributes: p (2.0).
 * Out: y: x [n, c, ...] with 1 on each spatial axis, in x's dtype.
 * Statuses: ARGUMENT, SHAPE. */
ND4C_API nd4c_status nd4c_global_lp_pool(const nd4c_array *x, double p, nd4c_array **y);
ND4C_API nd4c_status nd4c_global_lp_pool_on(nd4c_context *context, const nd4c_array *x, double p, nd4c_array **y);

/* adaptive_average_pool: for each of output_shape's spatial positions i, the mean of the cells floor(i * x / y) to
 * ceil((i + 1) * x / y) - 1, x and y being the extents.
 * In: x (float).
 * Attributes: output_shape (NULL, 0).
 * Out: y: [n, c, ...output_shape], in x's dtype, for x [n, c, ...].
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_adaptive_average_pool(const nd4c_array *x, const int64_t *output_shape,
                                                int32_t output_shape_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_adaptive_average_pool_on(nd4c_context *context, const nd4c_array *x,
                                                   const int64_t *output_shape, int32_t output_shape_count,
                                                   nd4c_array **y);

/* adaptive_max_pool: largest of the cells over which adaptive_average_pool takes the mean, and its int64 index in the
 * [n, c] plane; NaN wins.
 * In: x (float).
 * Attributes: output_shape (NULL, 0).
 * Out: y, indices: [n, c, ...output_shape], for x [n, c, ...]; y in x's dtype, indices int64.
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_adaptive_max_pool(const nd4c_array *x, const int64_t *output_shape,
                                            int32_t output_shape_count, nd4c_array **y, nd4c_array **indices);
ND4C_API nd4c_status nd4c_adaptive_max_pool_on(nd4c_context *context, const nd4c_array *x, const int64_t *output_shape,
                                               int32_t output_shape_count, nd4c_array **y, nd4c_array **indices);

/* Options of nd4c_morphological_dilation. */
typedef struct nd4c_morphological_dilation_options {
  uint32_t struct_size; /* set by ND4C_MORPHOLOGICAL_DILATION_DEFAULTS */
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *dilations;
  int32_t dilations_count;
  nd4c_auto_pad auto_pad;
} nd4c_morphological_dilation_options;
#define ND4C_MORPHOLOGICAL_DILATION_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_morphological_dilation_options, auto_pad), NULL, 0, NULL, 0, NULL, 0, \
   ND4C_AUTO_PAD_EXPLICIT}

/* morphological_dilation: y = largest x + w in each window, w [c, ...]; padding never wins; strides, pads and
 * dilations as of conv.
 * In: x (float), w.
 * Options: strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), auto_pad (ND4C_AUTO_PAD_EXPLICIT).
 * Out: y: [n, c, ...] with a cell for each window, in x's dtype, for x [n, c, ...] and w [c, ...].
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_morphological_dilation(const nd4c_array *x, const nd4c_array *w,
                                                 const nd4c_morphological_dilation_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_morphological_dilation_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *w,
                                                    const nd4c_morphological_dilation_options *options, nd4c_array **y);

/* Options of nd4c_morphological_erosion. */
typedef struct nd4c_morphological_erosion_options {
  uint32_t struct_size; /* set by ND4C_MORPHOLOGICAL_EROSION_DEFAULTS */
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *dilations;
  int32_t dilations_count;
  nd4c_auto_pad auto_pad;
} nd4c_morphological_erosion_options;
#define ND4C_MORPHOLOGICAL_EROSION_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_morphological_erosion_options, auto_pad), NULL, 0, NULL, 0, NULL, 0, \
   ND4C_AUTO_PAD_EXPLICIT}

/* morphological_erosion: y = smallest x - w in each window, w [c, ...]; padding never wins; strides, pads and
 * dilations as of conv.
 * In: x (float), w.
 * Options: strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), auto_pad (ND4C_AUTO_PAD_EXPLICIT).
 * Out: y: [n, c, ...] with a cell for each window, in x's dtype, for x [n, c, ...] and w [c, ...].
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_morphological_erosion(const nd4c_array *x, const nd4c_array *w,
                                                const nd4c_morphological_erosion_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_morphological_erosion_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *w,
                                                   const nd4c_morphological_erosion_options *options, nd4c_array **y);

/* Options of nd4c_separable_conv2d. */
typedef struct nd4c_separable_conv2d_options {
  uint32_t struct_size; /* set by ND4C_SEPARABLE_CONV2D_DEFAULTS */
  const nd4c_array *bias;
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *dilations;
  int32_t dilations_count;
  nd4c_auto_pad auto_pad;
} nd4c_separable_conv2d_options;
#define ND4C_SEPARABLE_CONV2D_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_separable_conv2d_options, auto_pad), NULL, NULL, 0, NULL, 0, NULL, 0, \
   ND4C_AUTO_PAD_EXPLICIT}

/* separable_conv2d: conv of each channel of x [n, c, h, w] with its own filters, depthwise [c m, 1, kh, kw], then
 * conv with pointwise [o, c m, 1, 1], plus bias [o]; strides, pads and dilations, of the first conv, as of conv; the
 * intermediate result is not rounded to the dtype.
 * In: x (float), depthwise, pointwise.
 * Options: bias (NULL), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), auto_pad (ND4C_AUTO_PAD_EXPLICIT).
 * Out: y: [n, o, h, w] with a cell for each window, in x's dtype, for pointwise [o, ...].
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_separable_conv2d(const nd4c_array *x, const nd4c_array *depthwise,
                                           const nd4c_array *pointwise, const nd4c_separable_conv2d_options *options,
                                           nd4c_array **y);
ND4C_API nd4c_status nd4c_separable_conv2d_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *depthwise,
                                              const nd4c_array *pointwise, const nd4c_separable_conv2d_options *options,
                                              nd4c_array **y);

ND4C_EXTERN_C_END
#endif
