/* Op functions of the family normalization, made from include/nd4c/op_table/normalization.h by scripts/ops_header.py
 * (target ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_NORMALIZATION_H
#define ND4C_OPS_NORMALIZATION_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/ops/enums.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* batch_norm: y = (x - mean) / sqrt(variance + epsilon) * scale + bias, by channel (axis 1).
 * In: x (float), scale, bias, mean, variance.
 * Attributes: epsilon (1e-5).
 * Out: y: the shape and dtype of x [n, c, ...]. The other inputs have x's dtype and one value for each channel.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_batch_norm(const nd4c_array *x, const nd4c_array *scale, const nd4c_array *bias,
                                     const nd4c_array *mean, const nd4c_array *variance, double epsilon,
                                     nd4c_array **y);
ND4C_API nd4c_status nd4c_batch_norm_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *scale,
                                        const nd4c_array *bias, const nd4c_array *mean, const nd4c_array *variance,
                                        double epsilon, nd4c_array **y);

/* layer_norm: y = (x - m) / sqrt(v + epsilon) * scale + bias, m and v over the axes from axis on.
 * In: x (float), scale or NULL, bias or NULL.
 * Attributes: axis (-1), epsilon (1e-5).
 * Out: y: the shape and dtype of x. scale and bias have x's dtype and broadcast to the normalised axes.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_layer_norm(const nd4c_array *x, const nd4c_array *scale, const nd4c_array *bias, int64_t axis,
                                     double epsilon, nd4c_array **y);
ND4C_API nd4c_status nd4c_layer_norm_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *scale,
                                        const nd4c_array *bias, int64_t axis, double epsilon, nd4c_array **y);

/* softmax: y = e^(x - max) / sum of e^(x - max) on axis.
 * In: x (float).
 * Attributes: axis (-1).
 * Out: y: the shape and dtype of the first input.
 * Statuses: INDEX. */
ND4C_API nd4c_status nd4c_softmax(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_softmax_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

/* log_softmax: y = x - max - ln sum of e^(x - max).
 * In: x (float).
 * Attributes: axis (-1).
 * Out: y: the shape and dtype of the first input.
 * Statuses: INDEX. */
ND4C_API nd4c_status nd4c_log_softmax(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_log_softmax_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

/* lrn: y = x / (bias + alpha / size * sum of squares over size neighbouring channels)^beta.
 * In: x (float).
 * Attributes: size (5), alpha (1e-4), beta (0.75), bias (1.0).
 * Out: y: the shape and dtype of x.
 * Statuses: ARGUMENT, SHAPE. */
ND4C_API nd4c_status nd4c_lrn(const nd4c_array *x, int64_t size, double alpha, double beta, double bias,
                              nd4c_array **y);
ND4C_API nd4c_status nd4c_lrn_on(nd4c_context *context, const nd4c_array *x, int64_t size, double alpha, double beta,
                                 double bias, nd4c_array **y);

/* instance_norm: y = (x - m) / sqrt(v + epsilon) * scale + bias, m and v over the spatial axes of each [n, c] plane.
 * In: x (float), scale or NULL, bias or NULL.
 * Attributes: epsilon (1e-5).
 * Out: y: the shape and dtype of x [n, c, ...]. scale and bias have x's dtype and one value for each channel.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_instance_norm(const nd4c_array *x, const nd4c_array *scale, const nd4c_array *bias,
                                        double epsilon, nd4c_array **y);
ND4C_API nd4c_status nd4c_instance_norm_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *scale,
                                           const nd4c_array *bias, double epsilon, nd4c_array **y);

/* group_norm: y = (x - m) / sqrt(v + epsilon) * scale + bias by channel, m and v over each of `groups` runs of
 * channels.
 * In: x (float), scale or NULL, bias or NULL.
 * Attributes: groups (1), epsilon (1e-5).
 * Out: y: the shape and dtype of x [n, c, ...]. scale and bias have x's dtype and one value for each channel.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_group_norm(const nd4c_array *x, const nd4c_array *scale, const nd4c_array *bias,
                                     int64_t groups, double epsilon, nd4c_array **y);
ND4C_API nd4c_status nd4c_group_norm_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *scale,
                                        const nd4c_array *bias, int64_t groups, double epsilon, nd4c_array **y);

/* rms_norm: y = x / sqrt(mean of x^2 + epsilon) * scale, the mean over the axes from axis on.
 * In: x (float), scale or NULL.
 * Attributes: axis (-1), epsilon (1e-5).
 * Out: y: the shape and dtype of x. scale has x's dtype and broadcasts to the normalised axes.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_rms_norm(const nd4c_array *x, const nd4c_array *scale, int64_t axis, double epsilon,
                                   nd4c_array **y);
ND4C_API nd4c_status nd4c_rms_norm_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *scale, int64_t axis,
                                      double epsilon, nd4c_array **y);

/* lp_normalize: y = x / max((sum of |x|^p on axis)^(1 / p), epsilon); 0 if this norm is 0 and epsilon is 0.
 * In: x (float).
 * Attributes: p (2.0), axis (-1), epsilon (0.0).
 * Out: y: the shape and dtype of x.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_lp_normalize(const nd4c_array *x, double p, int64_t axis, double epsilon, nd4c_array **y);
ND4C_API nd4c_status nd4c_lp_normalize_on(nd4c_context *context, const nd4c_array *x, double p, int64_t axis,
                                          double epsilon, nd4c_array **y);

/* standardize: y = (x - m) / (sqrt(v) + epsilon), mean and variance over axes (none: all).
 * In: x (float).
 * Attributes: axes (NULL, 0), epsilon (0.0).
 * Out: y: the shape and dtype of x.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_standardize(const nd4c_array *x, const int64_t *axes, int32_t axes_count, double epsilon,
                                      nd4c_array **y);
ND4C_API nd4c_status nd4c_standardize_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                         int32_t axes_count, double epsilon, nd4c_array **y);

/* batch_norm_training: batch_norm with the mean and (population) variance of x itself; running_* = momentum * given +
 * (1 - momentum) * that of x.
 * In: x (float), scale, bias, mean, variance.
 * Attributes: epsilon (1e-5), momentum (0.9).
 * Out: y: the shape and dtype of x [n, c, ...]; running_mean and running_variance: [c], in x's dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_batch_norm_training(const nd4c_array *x, const nd4c_array *scale, const nd4c_array *bias,
                                              const nd4c_array *mean, const nd4c_array *variance, double epsilon,
                                              double momentum, nd4c_array **y, nd4c_array **running_mean,
                                              nd4c_array **running_variance);
ND4C_API nd4c_status nd4c_batch_norm_training_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *scale,
                                                 const nd4c_array *bias, const nd4c_array *mean,
                                                 const nd4c_array *variance, double epsilon, double momentum,
                                                 nd4c_array **y, nd4c_array **running_mean,
                                                 nd4c_array **running_variance);

/* layer_norm_with_statistics: layer_norm, and m and 1 / sqrt(v + epsilon) in the given floating dtype, normalised
 * axes kept with extent 1.
 * In: x (float), scale or NULL, bias or NULL.
 * Attributes: axis (-1), epsilon (1e-5), dtype (ND4C_FLOAT32).
 * Out: y: the shape and dtype of x; mean and inverse_deviation: x's shape with 1 from axis on, in the attribute
 *     dtype.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_layer_norm_with_statistics(const nd4c_array *x, const nd4c_array *scale,
                                                     const nd4c_array *bias, int64_t axis, double epsilon,
                                                     nd4c_dtype dtype, nd4c_array **y, nd4c_array **mean,
                                                     nd4c_array **inverse_deviation);
ND4C_API nd4c_status nd4c_layer_norm_with_statistics_on(nd4c_context *context, const nd4c_array *x,
                                                        const nd4c_array *scale, const nd4c_array *bias, int64_t axis,
                                                        double epsilon, nd4c_dtype dtype, nd4c_array **y,
                                                        nd4c_array **mean, nd4c_array **inverse_deviation);

/* skip_layer_norm: layer_norm (or rms_norm) on the last axis of sum = x + skip + addend; the second output is that
 * sum.
 * In: x (float), skip, scale or NULL, bias or NULL, addend or NULL.
 * Attributes: epsilon (1e-5), rms (false).
 * Out: y, sum: each the shape and dtype of x. skip broadcasts to x; scale, bias and addend to its last axis.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_skip_layer_norm(const nd4c_array *x, const nd4c_array *skip, const nd4c_array *scale,
                                          const nd4c_array *bias, const nd4c_array *addend, double epsilon, bool rms,
                                          nd4c_array **y, nd4c_array **sum);
ND4C_API nd4c_status nd4c_skip_layer_norm_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *skip,
                                             const nd4c_array *scale, const nd4c_array *bias, const nd4c_array *addend,
                                             double epsilon, bool rms, nd4c_array **y, nd4c_array **sum);

/* bias_add: y = activation(x + bias), bias along axis.
 * In: x (float), bias.
 * Attributes: axis (1), activation (ND4C_ACTIVATION_NONE).
 * Out: y: the shape and dtype of x. bias has x's dtype and one value for each place of the axis.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_bias_add(const nd4c_array *x, const nd4c_array *bias, int64_t axis,
                                   nd4c_activation activation, nd4c_array **y);
ND4C_API nd4c_status nd4c_bias_add_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *bias, int64_t axis,
                                      nd4c_activation activation, nd4c_array **y);

/* clip_by_norm: y = x * max_norm / max(norm, max_norm); norm is the input or, if left out, the Euclidean norm over
 * axes (none: all).
 * In: x (float), norm or NULL.
 * Attributes: max_norm (1.0), axes (NULL, 0).
 * Out: y: the shape and dtype of x. norm is a scalar of x's dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_clip_by_norm(const nd4c_array *x, const nd4c_array *norm, double max_norm,
                                       const int64_t *axes, int32_t axes_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_clip_by_norm_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *norm,
                                          double max_norm, const int64_t *axes, int32_t axes_count, nd4c_array **y);

/* global_norm: y = sqrt(sum of the squares of all elements of all xs), 0-d.
 * In: xs (one or more) (float).
 * Out: y: a scalar in the dtype of the inputs, which must be the same.
 * Statuses: DTYPE. */
ND4C_API nd4c_status nd4c_global_norm(const nd4c_array *const *xs, int32_t xs_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_global_norm_on(nd4c_context *context, const nd4c_array *const *xs, int32_t xs_count,
                                         nd4c_array **y);

/* hardmax: 1 at the first largest element on axis, 0 elsewhere; NaN wins.
 * In: x (float).
 * Attributes: axis (-1).
 * Out: y: the shape and dtype of the first input.
 * Statuses: INDEX. */
ND4C_API nd4c_status nd4c_hardmax(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_hardmax_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
