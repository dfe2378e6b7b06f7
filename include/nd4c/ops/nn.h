/* Op functions of the family nn, made from include/nd4c/op_table/nn.h by scripts/ops_header.py (target ops-header):
 * change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_NN_H
#define ND4C_OPS_NN_H

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
 * groups, ...], bias [o], addend like y; pads: all begins, then all ends.
 * In: x (float), w.
 * Options: bias (NULL), addend (NULL), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), groups (1), auto_pad
 *     (ND4C_AUTO_PAD_EXPLICIT), activation (ND4C_ACTIVATION_NONE).
 * Out: y.
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

/* max_pool: largest in each window; padding never wins.
 * In: x (int, uint, float).
 * Options: kernel (NULL, 0), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), auto_pad
 *     (ND4C_AUTO_PAD_EXPLICIT), ceil_mode (false), count_include_pad (false).
 * Out: y.
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

/* average_pool: mean of each window, of its cells inside x or, count_include_pad, inside the padded x.
 * In: x (float).
 * Options: kernel (NULL, 0), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), auto_pad
 *     (ND4C_AUTO_PAD_EXPLICIT), ceil_mode (false), count_include_pad (false).
 * Out: y.
 * Statuses: ARGUMENT, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_average_pool(const nd4c_array *x, const nd4c_average_pool_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_average_pool_on(nd4c_context *context, const nd4c_array *x,
                                          const nd4c_average_pool_options *options, nd4c_array **y);

/* batch_norm: y = (x - mean) / sqrt(variance + epsilon) * scale + bias, by channel (axis 1).
 * In: x (float), scale, bias, mean, variance.
 * Attributes: epsilon (1e-5).
 * Out: y.
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
 * Out: y.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_layer_norm(const nd4c_array *x, const nd4c_array *scale, const nd4c_array *bias, int64_t axis,
                                     double epsilon, nd4c_array **y);
ND4C_API nd4c_status nd4c_layer_norm_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *scale,
                                        const nd4c_array *bias, int64_t axis, double epsilon, nd4c_array **y);

/* softmax: y = e^(x - max) / sum of e^(x - max) on axis.
 * In: x (float).
 * Attributes: axis (-1).
 * Out: y. the shape and dtype of the first input.
 * Statuses: INDEX. */
ND4C_API nd4c_status nd4c_softmax(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_softmax_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

/* log_softmax: y = x - max - ln sum of e^(x - max).
 * In: x (float).
 * Attributes: axis (-1).
 * Out: y. the shape and dtype of the first input.
 * Statuses: INDEX. */
ND4C_API nd4c_status nd4c_log_softmax(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_log_softmax_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

/* lrn: y = x / (bias + alpha / size * sum of squares over size neighbouring channels)^beta.
 * In: x (float).
 * Attributes: size (5), alpha (1e-4), beta (0.75), bias (1.0).
 * Out: y.
 * Statuses: ARGUMENT, SHAPE. */
ND4C_API nd4c_status nd4c_lrn(const nd4c_array *x, int64_t size, double alpha, double beta, double bias,
                              nd4c_array **y);
ND4C_API nd4c_status nd4c_lrn_on(nd4c_context *context, const nd4c_array *x, int64_t size, double alpha, double beta,
                                 double bias, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
