/* Engine reference: losses and the steps of optimisers, computed in double. dispatch/choice.c asks these kernels last,
 * after those of all other engines. */
#include <math.h>

#include "backends/cpu/reference/work.h"
#include "kernels/reference/loss/loss.h"
#include "kernels/reference/normalization/channels.h"

/* -- reduction ---------------------------------------------------------------------------------------------------- */

/* Stores losses that are weighted already as the attribute says; `shares`: their weights (NULL: 1). `by_share`: the
 * mean divides by the sum of the weights. */
static nd4c_status store_losses(const nd4c_call *call, const double *losses, const double *shares, int64_t count,
                                bool by_share) {
  int64_t reduction = ND4C_INT_OF(call, mse_loss_reduction);
  double sum = 0, weight = 0;
  for (int64_t i = 0; i < count; i++) {
    sum += losses[i];
    weight += shares != NULL ? shares[i] : 1;
  }
  if (reduction == ND4C_LOSS_REDUCTION_MEAN_BY_WEIGHT || (reduction == ND4C_LOSS_REDUCTION_MEAN && by_share)) {
    sum /= weight;
  } else if (reduction == ND4C_LOSS_REDUCTION_MEAN) {
    sum /= (double)count;
  }
  nd4c_cpu_work_store(call, 0, reduction == ND4C_LOSS_REDUCTION_NONE ? losses : &sum);
  return ND4C_OK;
}

static nd4c_status pointwise(const nd4c_call *call, nd4c_cpu_work *work, nd4c_ref_loss loss, double parameter) {
  const nd4c_tensor *x = &call->inputs[0];
  const double *numbers = nd4c_cpu_work_load(work, 0), *target = nd4c_cpu_work_load(work, 1);
  const double *weights = nd4c_cpu_work_load_as(work, ND4C_IN_mse_loss_weights, x->rank, x->shape);
  double *losses = nd4c_cpu_work_make(work, x->size);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int64_t i = 0; i < x->size; i++) {
    losses[i] = nd4c_ref_loss_of(loss, numbers[i], target[i], parameter) * (weights != NULL ? weights[i] : 1);
  }
  return store_losses(call, losses, weights, x->size, false);
}

/* -- losses along an axis ----------------------------------------------------------------------------------------- */

/* x, or log_softmax(x) along the middle axis of [outer, length, inner]. */
static const double *scores_of(nd4c_cpu_work *work, bool softmax, int64_t outer, int64_t length, int64_t inner) {
  nd4c_ref_softmax_args args = {.length = length, .inner = inner, .logarithm = true, .x = nd4c_cpu_work_load(work, 0)};
  args.y = softmax ? nd4c_cpu_work_make(work, outer * length * inner) : NULL;
  if (softmax && !work->failed) {
    nd4c_ref_softmax(&args, 0, outer * inner);
  }
  return softmax ? args.y : args.x;
}

/* start - sum of target * score on the axis. */
static nd4c_status along_axis(const nd4c_call *call, nd4c_cpu_work *work, bool softmax) {
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, cosine_distance_axis), x->rank), rank = 0;
  int64_t length = x->shape[axis], outer = nd4c_ref_extent(axis, x->shape), shape[ND4C_CPU_MAX_RANK];
  int64_t inner = nd4c_ref_extent(x->rank - axis - 1, x->shape + axis + 1), rows = outer * inner;
  for (int32_t i = 0; i < x->rank; i++) {
    if (i != axis) {
      shape[rank++] = x->shape[i];
    }
  }
  const double *scores = scores_of(work, softmax, outer, length, inner), *target = nd4c_cpu_work_load(work, 1);
  const double *weights = nd4c_cpu_work_load_as(work, ND4C_IN_mse_loss_weights, rank, shape);
  double *losses = nd4c_cpu_work_make(work, rows);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int64_t row = 0; row < rows; row++) {
    double sum = softmax ? 0 : 1;
    for (int64_t i = 0; i < length; i++) {
      int64_t at = (row / inner * length + i) * inner + row % inner;
      sum -= target[at] == 0 && softmax ? 0 : target[at] * scores[at];
    }
    losses[row] = weights != NULL ? sum * weights[row] : sum;
  }
  return store_losses(call, losses, weights, rows, false);
}

/* Losses of classes. */
static nd4c_status of_classes(const nd4c_call *call, nd4c_cpu_work *work, bool softmax) {
  const nd4c_tensor *x = &call->inputs[0];
  int64_t outer = x->shape[0], classes = x->shape[1], inner = nd4c_ref_extent(x->rank - 2, x->shape + 2);
  int64_t ignored = ND4C_INT_OF(call, nll_loss_ignore_index), rows = outer * inner;
  const double *scores = scores_of(work, softmax, outer, classes, inner);
  const int64_t *target = nd4c_cpu_work_load_integers(work, ND4C_IN_nll_loss_target);
  const double *weights = nd4c_cpu_work_load(work, ND4C_IN_nll_loss_weights);
  double *losses = nd4c_cpu_work_make(work, rows), *shares = nd4c_cpu_work_make(work, rows);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int64_t i = 0; i < rows; i++) {
    if (target[i] != ignored) {
      ND4C_BACKEND_TRY(nd4c_cpu_check_integers(call, "a class in target", &target[i], 1, 0, classes - 1));
    }
  }
  if (softmax) {
    nd4c_cpu_work_result(work, 1, scores);
  }
  nd4c_ref_class_losses(scores, target, weights, outer, classes, inner, ignored, losses, shares);
  return store_losses(call, losses, shares, rows, true);
}

/* -- optimisers --------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(optimize_range, nd4c_ref_optimize)

/* Updates x and the states (outputs 0, 1, 2). `has_v`, `has_h`: which states the optimiser has. The next inputs are the
 * rate and, if the optimiser counts steps, their number. */
static nd4c_status optimize(const nd4c_call *call, nd4c_cpu_work *work, nd4c_ref_optimizer_args args, bool has_v,
                            bool has_h) {
  int32_t next = 2;
  args.x = nd4c_cpu_work_load(work, 0);
  args.gradient = nd4c_cpu_work_load(work, 1);
  args.v = has_v ? nd4c_cpu_work_load(work, next++) : NULL;
  args.h = has_h ? nd4c_cpu_work_load(work, next++) : NULL;
  const double *rate = nd4c_cpu_work_load(work, next), *step = nd4c_cpu_work_load(work, next + 1);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  args.rate = *rate;
  args.step = step != NULL ? *step : 0;
  nd4c_cpu_work_result(work, 0, args.x);
  if (has_v) {
    nd4c_cpu_work_result(work, 1, args.v);
  }
  if (has_h) {
    nd4c_cpu_work_result(work, has_v ? 2 : 1, args.h);
  }
  return nd4c_cpu_work_parallel(work, call->inputs[0].size, 16, optimize_range, &args);
}

/* X(op, dtypes, expression) */
#define ARGS(...) ((nd4c_ref_optimizer_args){__VA_ARGS__})
#define A(name) ND4C_REAL_OF(call, name)
#define F ND4C_CPU_FLOATS
#define OPS(X)                                                                                                        \
  X(mse_loss, F, pointwise(call, work, ND4C_REF_LOSS_SQUARE, 0))                                                      \
  X(l1_loss, F, pointwise(call, work, ND4C_REF_LOSS_ABSOLUTE, 0))                                                     \
  X(hinge_loss, F, pointwise(call, work, ND4C_REF_LOSS_HINGE, 0))                                                     \
  X(poisson_nll_loss, F, pointwise(call, work, ND4C_REF_LOSS_POISSON, 0))                                             \
  X(huber_loss, F, pointwise(call, work, ND4C_REF_LOSS_HUBER, A(huber_loss_delta)))                                   \
  X(smooth_l1_loss, F, pointwise(call, work, ND4C_REF_LOSS_SMOOTH, A(smooth_l1_loss_beta)))                           \
  X(log_loss, F, pointwise(call, work, ND4C_REF_LOSS_LOG, A(log_loss_epsilon)))                                       \
  X(sigmoid_cross_entropy, F, pointwise(call, work, ND4C_REF_LOSS_SIGMOID, A(sigmoid_cross_entropy_label_smoothing))) \
  X(kl_divergence, F,                                                                                                 \
    pointwise(call, work,                                                                                             \
              ND4C_FLAG_OF(call, kl_divergence_log_target) ? ND4C_REF_LOSS_DIVERGENCE_LOG : ND4C_REF_LOSS_DIVERGENCE, \
              0))                                                                                                     \
  X(cosine_distance, F, along_axis(call, work, false))                                                                \
  X(dense_cross_entropy, F, along_axis(call, work, true))                                                             \
  X(nll_loss, F, of_classes(call, work, false))                                                                       \
  X(softmax_cross_entropy, F, of_classes(call, work, true))                                                           \
  X(sgd_step, F, optimize(call, work, ARGS(.kind = ND4C_REF_SGD, .decay = A(sgd_step_decay)), false, false))          \
  X(momentum_step, F,                                                                                                 \
    optimize(call, work,                                                                                              \
             ARGS(.kind = ND4C_FLAG_OF(call, momentum_step_nesterov) ? ND4C_REF_NESTEROV : ND4C_REF_MOMENTUM,         \
                  .alpha = A(momentum_step_alpha), .beta = A(momentum_step_beta), .decay = A(momentum_step_decay)),   \
             true, false))                                                                                            \
  X(adagrad_step, F,                                                                                                  \
    optimize(call, work,                                                                                              \
             ARGS(.kind = ND4C_REF_ADAGRAD, .rate_decay = A(adagrad_step_rate_decay), .decay = A(adagrad_step_decay), \
                  .epsilon = A(adagrad_step_epsilon)),                                                                \
             false, true))                                                                                            \
  X(rmsprop_step, F,                                                                                                  \
    optimize(call, work,                                                                                              \
             ARGS(.kind = ND4C_REF_RMSPROP, .alpha = A(rmsprop_step_alpha), .decay = A(rmsprop_step_decay),           \
                  .epsilon = A(rmsprop_step_epsilon)),                                                                \
             false, true))                                                                                            \
  X(adam_step, F,                                                                                                     \
    optimize(                                                                                                         \
        call, work,                                                                                                   \
        ARGS(.kind = ND4C_REF_ADAM, .alpha = A(adam_step_alpha), .beta = A(adam_step_beta),                           \
             .epsilon = A(adam_step_epsilon), .decay = A(adam_step_decay), .decay_after = A(adam_step_decay_after)),  \
        true, true))                                                                                                  \
  X(adamw_step, F,                                                                                                    \
    optimize(call, work,                                                                                              \
             ARGS(.kind = ND4C_REF_ADAMW, .alpha = A(adamw_step_alpha), .beta = A(adamw_step_beta),                   \
                  .epsilon = A(adamw_step_epsilon), .decay = A(adamw_step_decay)),                                    \
             true, true))
OPS(ND4C_CPU_WORK_RUN)

const nd4c_kernel *const nd4c_cpu_reference_loss_kernels[] = {OPS(ND4C_CPU_WORK_ROW) NULL};
