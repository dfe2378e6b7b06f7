/* Op functions of the family loss, made from include/nd4c/op_table/loss.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_LOSS_H
#define ND4C_OPS_LOSS_H

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

/* nll_loss: -weights[c] x[n, c, ...] with c the class in target [n, ...]; where target is ignore_index, loss and
 * weight are 0.
 * In: x (float), target, weights or NULL.
 * Attributes: reduction (ND4C_LOSS_REDUCTION_MEAN), ignore_index (-100).
 * Out: loss: x's shape without its axis 1 for the reduction NONE, else a scalar; in x's dtype. target has that shape,
 *     weights one value for each class.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_nll_loss(const nd4c_array *x, const nd4c_array *target, const nd4c_array *weights,
                                   nd4c_loss_reduction reduction, int64_t ignore_index, nd4c_array **loss);
ND4C_API nd4c_status nd4c_nll_loss_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *target,
                                      const nd4c_array *weights, nd4c_loss_reduction reduction, int64_t ignore_index,
                                      nd4c_array **loss);

/* softmax_cross_entropy: nll_loss of log_softmax(x) on axis 1; also gives that log_softmax.
 * In: x (float), target, weights or NULL.
 * Attributes: reduction (ND4C_LOSS_REDUCTION_MEAN), ignore_index (-100).
 * Out: loss: x's shape without its axis 1 for the reduction NONE, else a scalar; log_probabilities: x's shape; both
 *     in x's dtype. target has the loss's shape, weights one value for each class.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_softmax_cross_entropy(const nd4c_array *x, const nd4c_array *target,
                                                const nd4c_array *weights, nd4c_loss_reduction reduction,
                                                int64_t ignore_index, nd4c_array **loss,
                                                nd4c_array **log_probabilities);
ND4C_API nd4c_status nd4c_softmax_cross_entropy_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *target,
                                                   const nd4c_array *weights, nd4c_loss_reduction reduction,
                                                   int64_t ignore_index, nd4c_array **loss,
                                                   nd4c_array **log_probabilities);

/* dense_cross_entropy: -sum of target * log_softmax(x) on axis; the loss does not have that axis.
 * In: x (float), target, weights or NULL.
 * Attributes: reduction (ND4C_LOSS_REDUCTION_MEAN), axis (-1).
 * Out: loss: x's shape without the axis for the reduction NONE, else a scalar; in x's dtype. target has x's shape,
 *     weights broadcasts to the loss's.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_dense_cross_entropy(const nd4c_array *x, const nd4c_array *target, const nd4c_array *weights,
                                              nd4c_loss_reduction reduction, int64_t axis, nd4c_array **loss);
ND4C_API nd4c_status nd4c_dense_cross_entropy_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *target,
                                                 const nd4c_array *weights, nd4c_loss_reduction reduction, int64_t axis,
                                                 nd4c_array **loss);

/* cosine_distance: 1 - sum of x * target on axis, for x and target of norm 1; the loss does not have that axis.
 * In: x (float), target, weights or NULL.
 * Attributes: reduction (ND4C_LOSS_REDUCTION_MEAN), axis (-1).
 * Out: loss: x's shape without the axis for the reduction NONE, else a scalar; in x's dtype. target has x's shape,
 *     weights broadcasts to the loss's.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_cosine_distance(const nd4c_array *x, const nd4c_array *target, const nd4c_array *weights,
                                          nd4c_loss_reduction reduction, int64_t axis, nd4c_array **loss);
ND4C_API nd4c_status nd4c_cosine_distance_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *target,
                                             const nd4c_array *weights, nd4c_loss_reduction reduction, int64_t axis,
                                             nd4c_array **loss);

/* mse_loss: (x - target)^2.
 * In: x (float), target, weights or NULL.
 * Attributes: reduction (ND4C_LOSS_REDUCTION_MEAN).
 * Out: loss: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts
 *     to it.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_mse_loss(const nd4c_array *x, const nd4c_array *target, const nd4c_array *weights,
                                   nd4c_loss_reduction reduction, nd4c_array **loss);
ND4C_API nd4c_status nd4c_mse_loss_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *target,
                                      const nd4c_array *weights, nd4c_loss_reduction reduction, nd4c_array **loss);

/* l1_loss: |x - target|.
 * In: x (float), target, weights or NULL.
 * Attributes: reduction (ND4C_LOSS_REDUCTION_MEAN).
 * Out: loss: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts
 *     to it.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_l1_loss(const nd4c_array *x, const nd4c_array *target, const nd4c_array *weights,
                                  nd4c_loss_reduction reduction, nd4c_array **loss);
ND4C_API nd4c_status nd4c_l1_loss_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *target,
                                     const nd4c_array *weights, nd4c_loss_reduction reduction, nd4c_array **loss);

/* huber_loss: d^2 / 2 for d = |x - target| <= delta, else delta (d - delta / 2).
 * In: x (float), target, weights or NULL.
 * Attributes: reduction (ND4C_LOSS_REDUCTION_MEAN), delta (1.0).
 * Out: loss: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts
 *     to it.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_huber_loss(const nd4c_array *x, const nd4c_array *target, const nd4c_array *weights,
                                     nd4c_loss_reduction reduction, double delta, nd4c_array **loss);
ND4C_API nd4c_status nd4c_huber_loss_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *target,
                                        const nd4c_array *weights, nd4c_loss_reduction reduction, double delta,
                                        nd4c_array **loss);

/* smooth_l1_loss: d^2 / (2 beta) for d = |x - target| < beta, else d - beta / 2.
 * In: x (float), target, weights or NULL.
 * Attributes: reduction (ND4C_LOSS_REDUCTION_MEAN), beta (1.0).
 * Out: loss: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts
 *     to it.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_smooth_l1_loss(const nd4c_array *x, const nd4c_array *target, const nd4c_array *weights,
                                         nd4c_loss_reduction reduction, double beta, nd4c_array **loss);
ND4C_API nd4c_status nd4c_smooth_l1_loss_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *target,
                                            const nd4c_array *weights, nd4c_loss_reduction reduction, double beta,
                                            nd4c_array **loss);

/* hinge_loss: max(0, 1 - x target), target -1 or 1.
 * In: x (float), target, weights or NULL.
 * Attributes: reduction (ND4C_LOSS_REDUCTION_MEAN).
 * Out: loss: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts
 *     to it.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_hinge_loss(const nd4c_array *x, const nd4c_array *target, const nd4c_array *weights,
                                     nd4c_loss_reduction reduction, nd4c_array **loss);
ND4C_API nd4c_status nd4c_hinge_loss_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *target,
                                        const nd4c_array *weights, nd4c_loss_reduction reduction, nd4c_array **loss);

/* log_loss: -target ln(x + epsilon) - (1 - target) ln(1 - x + epsilon), a factor of 0 giving 0.
 * In: x (float), target, weights or NULL.
 * Attributes: reduction (ND4C_LOSS_REDUCTION_MEAN), epsilon (0.0).
 * Out: loss: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts
 *     to it.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_log_loss(const nd4c_array *x, const nd4c_array *target, const nd4c_array *weights,
                                   nd4c_loss_reduction reduction, double epsilon, nd4c_array **loss);
ND4C_API nd4c_status nd4c_log_loss_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *target,
                                      const nd4c_array *weights, nd4c_loss_reduction reduction, double epsilon,
                                      nd4c_array **loss);

/* sigmoid_cross_entropy: log_loss of sigmoid(x) against target (1 - label_smoothing) + label_smoothing / 2, exact for
 * large x; for infinite x its limit: 0 if the target says the same, else infinity (PyTorch, TensorFlow: NaN for
 * some).
 * In: x (float), target, weights or NULL.
 * Attributes: reduction (ND4C_LOSS_REDUCTION_MEAN), label_smoothing (0.0).
 * Out: loss: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts
 *     to it.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_sigmoid_cross_entropy(const nd4c_array *x, const nd4c_array *target,
                                                const nd4c_array *weights, nd4c_loss_reduction reduction,
                                                double label_smoothing, nd4c_array **loss);
ND4C_API nd4c_status nd4c_sigmoid_cross_entropy_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *target,
                                                   const nd4c_array *weights, nd4c_loss_reduction reduction,
                                                   double label_smoothing, nd4c_array **loss);

/* kl_divergence: target (ln target - x), 0 for target 0; log_target: target is a logarithm, too.
 * In: x (float), target, weights or NULL.
 * Attributes: reduction (ND4C_LOSS_REDUCTION_MEAN), log_target (false).
 * Out: loss: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts
 *     to it.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_kl_divergence(const nd4c_array *x, const nd4c_array *target, const nd4c_array *weights,
                                        nd4c_loss_reduction reduction, bool log_target, nd4c_array **loss);
ND4C_API nd4c_status nd4c_kl_divergence_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *target,
                                           const nd4c_array *weights, nd4c_loss_reduction reduction, bool log_target,
                                           nd4c_array **loss);

/* poisson_nll_loss: e^x - target x.
 * In: x (float), target, weights or NULL.
 * Attributes: reduction (ND4C_LOSS_REDUCTION_MEAN).
 * Out: loss: x's shape for the reduction NONE, else a scalar; in x's dtype. target has x's shape, weights broadcasts
 *     to it.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_poisson_nll_loss(const nd4c_array *x, const nd4c_array *target, const nd4c_array *weights,
                                           nd4c_loss_reduction reduction, nd4c_array **loss);
ND4C_API nd4c_status nd4c_poisson_nll_loss_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *target,
                                              const nd4c_array *weights, nd4c_loss_reduction reduction,
                                              nd4c_array **loss);

/* sgd_step: x - rate (gradient + decay x).
 * In: x (float), gradient, rate.
 * Attributes: decay (0.0).
 * Out: next_x: the shape and dtype of x. gradient has the same shape and dtype; rate is a scalar.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_sgd_step(const nd4c_array *x, const nd4c_array *gradient, const nd4c_array *rate,
                                   double decay, nd4c_array **next_x);
ND4C_API nd4c_status nd4c_sgd_step_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *gradient,
                                      const nd4c_array *rate, double decay, nd4c_array **next_x);

/* Options of nd4c_momentum_step. */
typedef struct nd4c_momentum_step_options {
  uint32_t struct_size; /* set by ND4C_MOMENTUM_STEP_DEFAULTS */
  double alpha;
  double beta;
  double decay;
  bool nesterov;
} nd4c_momentum_step_options;
#define ND4C_MOMENTUM_STEP_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_momentum_step_options, nesterov), 0.9, 1.0, 0.0, false}

/* momentum_step: g = gradient + decay x; v = alpha v + beta g (g at step 0); x - rate v or, nesterov, x - rate (g +
 * alpha v).
 * In: x (float), gradient, v, rate, step.
 * Options: alpha (0.9), beta (1.0), decay (0.0), nesterov (false).
 * Out: next_x, next_v: each the shape and dtype of x. gradient and the state have the same shape and dtype; rate and
 *     step are scalars.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_momentum_step(const nd4c_array *x, const nd4c_array *gradient, const nd4c_array *v,
                                        const nd4c_array *rate, const nd4c_array *step,
                                        const nd4c_momentum_step_options *options, nd4c_array **next_x,
                                        nd4c_array **next_v);
ND4C_API nd4c_status nd4c_momentum_step_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *gradient,
                                           const nd4c_array *v, const nd4c_array *rate, const nd4c_array *step,
                                           const nd4c_momentum_step_options *options, nd4c_array **next_x,
                                           nd4c_array **next_v);

/* adagrad_step: g = gradient + decay x; h = h + g^2; x - rate / (1 + rate_decay step) g / (sqrt h + epsilon).
 * In: x (float), gradient, h, rate, step.
 * Attributes: rate_decay (0.0), decay (0.0), epsilon (1e-6).
 * Out: next_x, next_h: each the shape and dtype of x. gradient and the state have the same shape and dtype; rate and
 *     step are scalars.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_adagrad_step(const nd4c_array *x, const nd4c_array *gradient, const nd4c_array *h,
                                       const nd4c_array *rate, const nd4c_array *step, double rate_decay, double decay,
                                       double epsilon, nd4c_array **next_x, nd4c_array **next_h);
ND4C_API nd4c_status nd4c_adagrad_step_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *gradient,
                                          const nd4c_array *h, const nd4c_array *rate, const nd4c_array *step,
                                          double rate_decay, double decay, double epsilon, nd4c_array **next_x,
                                          nd4c_array **next_h);

/* rmsprop_step: g = gradient + decay x; h = alpha h + (1 - alpha) g^2; x - rate g / (sqrt h + epsilon).
 * In: x (float), gradient, h, rate.
 * Attributes: alpha (0.99), decay (0.0), epsilon (1e-8).
 * Out: next_x, next_h: the shape and dtype of x. gradient has the same shape and dtype; rate is a scalar.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_rmsprop_step(const nd4c_array *x, const nd4c_array *gradient, const nd4c_array *h,
                                       const nd4c_array *rate, double alpha, double decay, double epsilon,
                                       nd4c_array **next_x, nd4c_array **next_h);
ND4C_API nd4c_status nd4c_rmsprop_step_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *gradient,
                                          const nd4c_array *h, const nd4c_array *rate, double alpha, double decay,
                                          double epsilon, nd4c_array **next_x, nd4c_array **next_h);

/* Options of nd4c_adam_step. */
typedef struct nd4c_adam_step_options {
  uint32_t struct_size; /* set by ND4C_ADAM_STEP_DEFAULTS */
  double alpha;
  double beta;
  double epsilon;
  double decay;
  double decay_after;
} nd4c_adam_step_options;
#define ND4C_ADAM_STEP_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_adam_step_options, decay_after), 0.9, 0.999, 1e-6, 0.0, 0.0}

/* adam_step: g = gradient + decay x; v = alpha v + (1 - alpha) g; h = beta h + (1 - beta) g^2; (1 - decay_after) (x -
 * r v / (sqrt h + epsilon)), r = rate sqrt(1 - beta^step) / (1 - alpha^step), at step 0 rate.
 * In: x (float), gradient, v, h, rate, step.
 * Options: alpha (0.9), beta (0.999), epsilon (1e-6), decay (0.0), decay_after (0.0).
 * Out: next_x, next_v, next_h: each the shape and dtype of x. gradient and the state have the same shape and dtype;
 *     rate and step are scalars.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_adam_step(const nd4c_array *x, const nd4c_array *gradient, const nd4c_array *v,
                                    const nd4c_array *h, const nd4c_array *rate, const nd4c_array *step,
                                    const nd4c_adam_step_options *options, nd4c_array **next_x, nd4c_array **next_v,
                                    nd4c_array **next_h);
ND4C_API nd4c_status nd4c_adam_step_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *gradient,
                                       const nd4c_array *v, const nd4c_array *h, const nd4c_array *rate,
                                       const nd4c_array *step, const nd4c_adam_step_options *options,
                                       nd4c_array **next_x, nd4c_array **next_v, nd4c_array **next_h);

/* Options of nd4c_adamw_step. */
typedef struct nd4c_adamw_step_options {
  uint32_t struct_size; /* set by ND4C_ADAMW_STEP_DEFAULTS */
  double alpha;
  double beta;
  double epsilon;
  double decay;
} nd4c_adamw_step_options;
#define ND4C_ADAMW_STEP_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_adamw_step_options, decay), 0.9, 0.999, 1e-8, 0.01}

/* adamw_step: v = alpha v + (1 - alpha) gradient; h = beta h + (1 - beta) gradient^2; (1 - rate decay) x - rate V /
 * (sqrt H + epsilon), V = v / (1 - alpha^step), H = h / (1 - beta^step), step from 1.
 * In: x (float), gradient, v, h, rate, step.
 * Options: alpha (0.9), beta (0.999), epsilon (1e-8), decay (0.01).
 * Out: next_x, next_v, next_h: each the shape and dtype of x. gradient and the state have the same shape and dtype;
 *     rate and step are scalars.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_adamw_step(const nd4c_array *x, const nd4c_array *gradient, const nd4c_array *v,
                                     const nd4c_array *h, const nd4c_array *rate, const nd4c_array *step,
                                     const nd4c_adamw_step_options *options, nd4c_array **next_x, nd4c_array **next_v,
                                     nd4c_array **next_h);
ND4C_API nd4c_status nd4c_adamw_step_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *gradient,
                                        const nd4c_array *v, const nd4c_array *h, const nd4c_array *rate,
                                        const nd4c_array *step, const nd4c_adamw_step_options *options,
                                        nd4c_array **next_x, nd4c_array **next_v, nd4c_array **next_h);

ND4C_EXTERN_C_END
#endif
