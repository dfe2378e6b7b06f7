/* Engine reference: the family loss. */
#include <math.h>

#include "backends/cpu/reference/work.h"
#include "kernels/reference/loss/loss.h"

/* -- reduction ---------------------------------------------------------------------------------------------------- */

/* Stores losses that are weighted already as the attribute says; `shares`: their weights (NULL: 1). `by_share`: the
 * mean divides by the sum of the weights. */
static void store_losses(const nd4c_call *call, const double *losses, const double *shares, int64_t count,
                         bool by_share) {
  int64_t reduction = call->attrs[ND4C_ATTR_mse_loss_reduction].as.i;
  if (reduction == ND4C_LOSS_REDUCTION_NONE) {
    nd4c_cpu_work_store(call, 0, losses);
    return;
  }
  double sum = 0, weight = 0;
  for (int64_t i = 0; i < count; i++) {
    sum += losses[i];
    weight += shares != NULL ? shares[i] : 1;
  }
  if (reduction == ND4C_LOSS_REDUCTION_MEAN_BY_WEIGHT || (reduction == ND4C_LOSS_REDUCTION_MEAN && by_share))
    sum /= weight;
  else if (reduction == ND4C_LOSS_REDUCTION_MEAN)
    sum /= (double)count;
  nd4c_cpu_work_store(call, 0, &sum);
}

static nd4c_status loss_run(const nd4c_call *call, nd4c_ref_loss loss, double parameter) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  const double *numbers = nd4c_cpu_work_load(&work, call, 0), *target = nd4c_cpu_work_load(&work, call, 1);
  const double *weights = nd4c_cpu_work_load_like(&work, call, ND4C_IN_mse_loss_weights, x);
  double *losses = nd4c_cpu_work_make(&work, x->size);
  if (!work.failed) {
    for (int64_t i = 0; i < x->size; i++) {
      losses[i] = nd4c_ref_loss_of(loss, numbers[i], target[i], parameter);
      losses[i] *= weights != NULL ? weights[i] : 1;
    }
    store_losses(call, losses, weights, x->size, false);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

#define PLAIN_LOSSES(X) \
  X(mse_loss, SQUARE)   \
  X(l1_loss, ABSOLUTE)  \
  X(hinge_loss, HINGE)  \
  X(poisson_nll_loss, POISSON)
#define PLAIN_RUN(op, loss)                            \
  static nd4c_status op##_run(const nd4c_call *call) { \
    return loss_run(call, ND4C_REF_LOSS_##loss, 0);    \
  }
PLAIN_LOSSES(PLAIN_RUN)

#define PARAMETER_LOSSES(X)                      \
  X(huber_loss, HUBER, huber_loss_delta)         \
  X(smooth_l1_loss, SMOOTH, smooth_l1_loss_beta) \
  X(log_loss, LOG, log_loss_epsilon)             \
  X(sigmoid_cross_entropy, SIGMOID, sigmoid_cross_entropy_label_smoothing)
#define PARAMETER_RUN(op, loss, attr)                                                \
  static nd4c_status op##_run(const nd4c_call *call) {                               \
    return loss_run(call, ND4C_REF_LOSS_##loss, call->attrs[ND4C_ATTR_##attr].as.f); \
  }
PARAMETER_LOSSES(PARAMETER_RUN)

static nd4c_status kl_divergence_run(const nd4c_call *call) {
  bool is_log = call->attrs[ND4C_ATTR_kl_divergence_log_target].as.i != 0;
  return loss_run(call, is_log ? ND4C_REF_LOSS_DIVERGENCE_LOG : ND4C_REF_LOSS_DIVERGENCE, 0);
}

/* -- losses along an axis ----------------------------------------------------------------------------------------- */

/* start - sum of target * x (or log_softmax(x)) on the axis. */
static nd4c_status axis_loss_run(const nd4c_call *call, bool softmax) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = nd4c_axis(call->attrs[ND4C_ATTR_cosine_distance_axis].as.i, x->rank), rank = 0;
  int64_t length = x->shape[axis], outer = nd4c_ref_extent(axis, x->shape), shape[ND4C_CPU_MAX_RANK];
  int64_t inner = nd4c_ref_extent(x->rank - axis - 1, x->shape + axis + 1), rows = outer * inner;
  for (int32_t i = 0; i < x->rank; i++)
    if (i != axis)
      shape[rank++] = x->shape[i];
  const double *numbers = nd4c_cpu_work_load(&work, call, 0), *target = nd4c_cpu_work_load(&work, call, 1);
  const double *weights = nd4c_cpu_work_load_as(&work, call, ND4C_IN_mse_loss_weights, rank, shape);
  double *log_probabilities = nd4c_cpu_work_make(&work, softmax ? x->size : 0);
  double *losses = nd4c_cpu_work_make(&work, rows);
  if (!work.failed) {
    if (softmax) {
      nd4c_ref_log_softmax(numbers, outer, length, inner, log_probabilities);
      numbers = log_probabilities;
    }
    for (int64_t row = 0; row < rows; row++) {
      double sum = softmax ? 0 : 1;
      for (int64_t i = 0; i < length; i++) {
        int64_t at = (row / inner * length + i) * inner + row % inner;
        sum -= target[at] == 0 && softmax ? 0 : target[at] * numbers[at];
      }
      losses[row] = weights != NULL ? sum * weights[row] : sum;
    }
    store_losses(call, losses, weights, rows, false);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

static nd4c_status cosine_distance_run(const nd4c_call *call) {
  return axis_loss_run(call, false);
}

static nd4c_status dense_cross_entropy_run(const nd4c_call *call) {
  return axis_loss_run(call, true);
}

/* -- losses of classes -------------------------------------------------------------------------------------------- */

static nd4c_status class_loss_run(const nd4c_call *call, bool softmax) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  int64_t classes = x->shape[1], inner = nd4c_ref_extent(x->rank - 2, x->shape + 2), rows = x->shape[0] * inner;
  int64_t ignored = call->attrs[ND4C_ATTR_nll_loss_ignore_index].as.i;
  const double *numbers = nd4c_cpu_work_load(&work, call, 0);
  const int64_t *target = nd4c_cpu_work_load_integers(&work, call, ND4C_IN_nll_loss_target);
  const double *weights = nd4c_cpu_work_load(&work, call, ND4C_IN_nll_loss_weights);
  double *log_probabilities = nd4c_cpu_work_make(&work, softmax ? x->size : 0);
  double *losses = nd4c_cpu_work_make(&work, rows), *shares = nd4c_cpu_work_make(&work, rows);
  nd4c_status status = ND4C_OK;
  for (int64_t i = 0; !work.failed && status == ND4C_OK && i < rows; i++)
    if (target[i] != ignored && (target[i] < 0 || target[i] >= classes))
      status = nd4c_cpu_index_fail(call, "a class in target", target[i], 0, classes - 1);
  if (!work.failed && status == ND4C_OK) {
    if (softmax) {
      nd4c_ref_log_softmax(numbers, x->shape[0], classes, inner, log_probabilities);
      numbers = log_probabilities;
      nd4c_cpu_work_store(call, 1, log_probabilities);
    }
    nd4c_ref_class_losses(numbers, target, weights, x->shape[0], classes, inner, ignored, losses, shares);
    store_losses(call, losses, shares, rows, true);
  }
  return nd4c_cpu_work_end(&work, call, status);
}

static nd4c_status nll_loss_run(const nd4c_call *call) {
  return class_loss_run(call, false);
}

static nd4c_status softmax_cross_entropy_run(const nd4c_call *call) {
  return class_loss_run(call, true);
}

/* -- optimisers --------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(optimize_range, nd4c_ref_optimize)

/* Copies of x and the states are changed and stored: outputs 0, 1, 2. `has_v`, `has_h`: the states that there are. */
static nd4c_status optimizer_run(const nd4c_call *call, nd4c_ref_optimizer_args args, bool has_v, bool has_h,
                                 bool has_step) {
  nd4c_cpu_work work = {0};
  int32_t next = 2;
  int64_t size = call->inputs[0].size;
  args.x = nd4c_cpu_work_copy(&work, call, 0);
  args.gradient = nd4c_cpu_work_load(&work, call, 1);
  args.v = has_v ? nd4c_cpu_work_copy(&work, call, next++) : NULL;
  args.h = has_h ? nd4c_cpu_work_copy(&work, call, next++) : NULL;
  const double *rate = nd4c_cpu_work_load(&work, call, next++);
  const double *step = has_step ? nd4c_cpu_work_load(&work, call, next) : NULL;
  if (!work.failed) {
    args.rate = *rate;
    args.step = step != NULL ? *step : 0;
    nd4c_cpu_host->parallel_for(size, nd4c_cpu_grain(16), call->width, optimize_range, &args);
    nd4c_cpu_work_store(call, 0, args.x);
    if (has_v)
      nd4c_cpu_work_store(call, 1, args.v);
    if (has_h)
      nd4c_cpu_work_store(call, has_v ? 2 : 1, args.h);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

#define F(op, name) call->attrs[ND4C_ATTR_##op##_##name].as.f

static nd4c_status sgd_step_run(const nd4c_call *call) {
  return optimizer_run(call, (nd4c_ref_optimizer_args){.kind = ND4C_REF_SGD, .decay = F(sgd_step, decay)}, false, false,
                       false);
}

static nd4c_status momentum_step_run(const nd4c_call *call) {
  bool nesterov = call->attrs[ND4C_ATTR_momentum_step_nesterov].as.i != 0;
  nd4c_ref_optimizer_args args = {.kind = nesterov ? ND4C_REF_NESTEROV : ND4C_REF_MOMENTUM,
                                  .alpha = F(momentum_step, alpha),
                                  .beta = F(momentum_step, beta),
                                  .decay = F(momentum_step, decay)};
  return optimizer_run(call, args, true, false, true);
}

static nd4c_status adagrad_step_run(const nd4c_call *call) {
  nd4c_ref_optimizer_args args = {.kind = ND4C_REF_ADAGRAD,
                                  .rate_decay = F(adagrad_step, rate_decay),
                                  .decay = F(adagrad_step, decay),
                                  .epsilon = F(adagrad_step, epsilon)};
  return optimizer_run(call, args, false, true, true);
}

static nd4c_status rmsprop_step_run(const nd4c_call *call) {
  nd4c_ref_optimizer_args args = {.kind = ND4C_REF_RMSPROP,
                                  .alpha = F(rmsprop_step, alpha),
                                  .decay = F(rmsprop_step, decay),
                                  .epsilon = F(rmsprop_step, epsilon)};
  return optimizer_run(call, args, false, true, false);
}

static nd4c_status adam_step_run(const nd4c_call *call) {
  nd4c_ref_optimizer_args args = {.kind = ND4C_REF_ADAM,
                                  .alpha = F(adam_step, alpha),
                                  .beta = F(adam_step, beta),
                                  .epsilon = F(adam_step, epsilon),
                                  .decay = F(adam_step, decay),
                                  .decay_after = F(adam_step, decay_after)};
  return optimizer_run(call, args, true, true, true);
}

static nd4c_status adamw_step_run(const nd4c_call *call) {
  nd4c_ref_optimizer_args args = {.kind = ND4C_REF_ADAMW,
                                  .alpha = F(adamw_step, alpha),
                                  .beta = F(adamw_step, beta),
                                  .epsilon = F(adamw_step, epsilon),
                                  .decay = F(adamw_step, decay)};
  return optimizer_run(call, args, true, true, true);
}

#define OPS(X)             \
  X(nll_loss)              \
  X(softmax_cross_entropy) \
  X(dense_cross_entropy)   \
  X(cosine_distance)       \
  X(mse_loss)              \
  X(l1_loss)               \
  X(huber_loss)            \
  X(smooth_l1_loss)        \
  X(hinge_loss)            \
  X(log_loss)              \
  X(sigmoid_cross_entropy) \
  X(kl_divergence)         \
  X(poisson_nll_loss)      \
  X(sgd_step)              \
  X(momentum_step)         \
  X(adagrad_step)          \
  X(rmsprop_step)          \
  X(adam_step)             \
  X(adamw_step)
#define DEFINE_KERNEL(op) ND4C_CPU_REFERENCE_KERNEL(op, ND4C_CPU_FLOATS, op##_run),

const nd4c_kernel *const nd4c_cpu_reference_loss_kernels[] = {OPS(DEFINE_KERNEL) NULL};
