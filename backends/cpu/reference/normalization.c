/* Engine reference: the family normalization, computed in double. dispatch/choice.c asks these kernels last, after
 * those of all other engines. */
#include <math.h>

#include "backends/cpu/reference/work.h"
#include "kernels/reference/contraction/linear.h"
#include "kernels/reference/normalization/channels.h"
#include "kernels/reference/normalization/normalization.h"

/* -- rows --------------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(rows_range, nd4c_ref_normalize_rows)

static nd4c_status run_rows(nd4c_cpu_work *work, nd4c_ref_rows_args *args) {
  int64_t rows = args->length > 0 ? work->call->inputs[0].size / args->length : 0;
  args->y = nd4c_cpu_work_output(work, 0);
  return nd4c_cpu_work_parallel(work, rows, 4 * args->length, rows_range, args);
}

/* The rows of `groups` groups of channels, scale and bias by channel. */
static nd4c_status channel_norm(const nd4c_call *call, nd4c_cpu_work *work, int64_t groups, double epsilon) {
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_rows_args args = {.length = nd4c_ref_extent(x->rank - 1, x->shape + 1) / groups,
                             .x = nd4c_cpu_work_load(work, ND4C_IN_instance_norm_x),
                             .scale = nd4c_cpu_work_load(work, ND4C_IN_instance_norm_scale),
                             .bias = nd4c_cpu_work_load(work, ND4C_IN_instance_norm_bias),
                             .inner = nd4c_ref_extent(x->rank - 2, x->shape + 2),
                             .count = x->shape[1],
                             .epsilon = epsilon};
  return run_rows(work, &args);
}

static nd4c_status instance_norm(const nd4c_call *call, nd4c_cpu_work *work) {
  int64_t channels = call->inputs[0].shape[1];
  return channel_norm(call, work, channels > 0 ? channels : 1, ND4C_REAL_OF(call, instance_norm_epsilon));
}

/* Rows are the axes from `axis` on, to which scale and bias (an input's position, or -1) are broadcast. */
static nd4c_status trailing_norm(const nd4c_call *call, nd4c_cpu_work *work, int64_t at, double epsilon, bool rms,
                                 int32_t bias) {
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = nd4c_axis(at, x->rank);
  int64_t length = nd4c_ref_extent(x->rank - axis, x->shape + axis);
  nd4c_ref_rows_args args = {
      .length = length,
      .x = nd4c_cpu_work_load(work, 0),
      .scale = nd4c_cpu_work_load_as(work, 1, x->rank - axis, x->shape + axis),
      .bias = bias < 0 ? NULL : nd4c_cpu_work_load_as(work, bias, x->rank - axis, x->shape + axis),
      .inner = 1,
      .count = length,
      .epsilon = epsilon,
      .rms = rms,
      .mean = nd4c_cpu_work_output(work, 1),
      .inverse_deviation = nd4c_cpu_work_output(work, 2)};
  for (int64_t i = 0; length == 0 && !work->failed && args.mean != NULL && i < call->outputs[1].size; i++) {
    args.mean[i] = args.inverse_deviation[i] = (double)NAN; /* of nothing */
  }
  return run_rows(work, &args);
}

static nd4c_status skip_layer_norm(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0];
  const int64_t *last = &x->shape[x->rank - 1];
  const double *a = nd4c_cpu_work_load(work, ND4C_IN_skip_layer_norm_x);
  const double *b = nd4c_cpu_work_load_as(work, ND4C_IN_skip_layer_norm_skip, x->rank, x->shape);
  const double *addend = nd4c_cpu_work_load_as(work, ND4C_IN_skip_layer_norm_addend, 1, last);
  double *sum = nd4c_cpu_work_make(work, x->size);
  nd4c_ref_rows_args args = {.length = *last,
                             .x = sum,
                             .scale = nd4c_cpu_work_load_as(work, ND4C_IN_skip_layer_norm_scale, 1, last),
                             .bias = nd4c_cpu_work_load_as(work, ND4C_IN_skip_layer_norm_bias, 1, last),
                             .inner = 1,
                             .count = *last,
                             .epsilon = ND4C_REAL_OF(call, skip_layer_norm_epsilon),
                             .rms = ND4C_FLAG_OF(call, skip_layer_norm_rms)};
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int64_t i = 0; i < x->size; i++) {
    sum[i] = a[i] + b[i] + (addend != NULL ? addend[i % *last] : 0);
  }
  nd4c_cpu_work_result(work, 1, sum);
  return run_rows(work, &args);
}

/* -- softmax, batch_norm, lrn ------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(softmax_range, nd4c_ref_softmax)

static nd4c_status softmax(const nd4c_call *call, nd4c_cpu_work *work, bool logarithm) {
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, softmax_axis), x->rank);
  nd4c_ref_softmax_args args = {.length = x->shape[axis],
                                .inner = nd4c_ref_extent(x->rank - axis - 1, x->shape + axis + 1),
                                .logarithm = logarithm,
                                .x = nd4c_cpu_work_load(work, 0),
                                .y = nd4c_cpu_work_output(work, 0)};
  int64_t rows = args.length > 0 ? x->size / args.length : 0;
  return nd4c_cpu_work_parallel(work, rows, 8 * args.length, softmax_range, &args);
}

ND4C_CPU_RANGE(batch_norm_range, nd4c_ref_batch_norm)

static nd4c_status batch_norm(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_channels args = {.inner = nd4c_ref_extent(x->rank - 2, x->shape + 2),
                            .count = x->shape[1],
                            .x = nd4c_cpu_work_load(work, ND4C_IN_batch_norm_x),
                            .scale = nd4c_cpu_work_load(work, ND4C_IN_batch_norm_scale),
                            .bias = nd4c_cpu_work_load(work, ND4C_IN_batch_norm_bias),
                            .mean = nd4c_cpu_work_load(work, ND4C_IN_batch_norm_mean),
                            .variance = nd4c_cpu_work_load(work, ND4C_IN_batch_norm_variance),
                            .epsilon = ND4C_REAL_OF(call, batch_norm_epsilon),
                            .y = nd4c_cpu_work_output(work, 0)};
  return nd4c_cpu_work_parallel(work, x->size, 8, batch_norm_range, &args);
}

ND4C_CPU_RANGE(lrn_range, nd4c_ref_lrn)

static nd4c_status lrn(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_lrn_args args = {.inner = nd4c_ref_extent(x->rank - 2, x->shape + 2),
                            .channels = x->shape[1],
                            .size = ND4C_INT_OF(call, lrn_size),
                            .alpha = ND4C_REAL_OF(call, lrn_alpha),
                            .beta = ND4C_REAL_OF(call, lrn_beta),
                            .bias = ND4C_REAL_OF(call, lrn_bias),
                            .x = nd4c_cpu_work_load(work, ND4C_IN_lrn_x),
                            .y = nd4c_cpu_work_output(work, 0)};
  return nd4c_cpu_work_parallel(work, x->size, args.size + 16, lrn_range, &args);
}

/* -- groups over any axes ----------------------------------------------------------------------------------------- */

/* The elements of x in groups: elements that differ in reduced axes only are in one group. */
typedef struct grouping {
  int64_t count, *of; /* the group of each element */
  const double *x;
  double *y;
} grouping;

static nd4c_status group(nd4c_cpu_work *work, const bool *reduced, grouping *g) {
  const nd4c_tensor *x = &work->call->inputs[0];
  *g = (grouping){.of = nd4c_cpu_work_make_integers(work, x->size),
                  .x = nd4c_cpu_work_load(work, 0),
                  .y = nd4c_cpu_work_output(work, 0)};
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  g->count = nd4c_ref_group_elements(x->rank, x->shape, reduced, g->of);
  return ND4C_OK;
}

/* The norm of each group. */
static nd4c_status take_norms(nd4c_cpu_work *work, const bool *reduced, double p, grouping *g, double **norms) {
  const nd4c_ref_tensor x = nd4c_cpu_ref_input(work->call, 0);
  int64_t steps[ND4C_CPU_MAX_RANK] = {0}, step = 1;
  ND4C_BACKEND_TRY(group(work, reduced, g));
  *norms = nd4c_cpu_work_make(work, g->count);
  double *units = nd4c_cpu_work_make(work, g->count);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int32_t axis = x.rank - 1; axis >= 0; axis--) {
    steps[axis] = reduced[axis] ? 0 : step;
    step *= reduced[axis] ? 1 : x.shape[axis];
  }
  nd4c_ref_group_powers(work->call->inputs[0].size, g->x, g->of, p, *norms);
  nd4c_ref_group_norms(&x, steps, g->count, p, *norms, units);
  return ND4C_OK;
}

static nd4c_status group_by_axes(nd4c_cpu_work *work, const nd4c_attr_value *axes, grouping *g) {
  bool reduced[ND4C_CPU_MAX_RANK];
  nd4c_cpu_reduced_axes(work->call->inputs[0].rank, axes, reduced);
  return group(work, reduced, g);
}

static nd4c_status lp_normalize(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0];
  double p = ND4C_REAL_OF(call, lp_normalize_p), least = ND4C_REAL_OF(call, lp_normalize_epsilon);
  bool reduced[ND4C_CPU_MAX_RANK] = {false};
  double *norms = NULL;
  grouping g;
  reduced[nd4c_axis(ND4C_INT_OF(call, lp_normalize_axis), x->rank)] = true;
  ND4C_BACKEND_TRY(take_norms(work, reduced, p, &g, &norms));
  for (int64_t i = 0; i < g.count; i++) {
    norms[i] = norms[i] < least ? least : norms[i];
  }
  for (int64_t i = 0; i < x->size; i++) {
    g.y[i] = norms[g.of[i]] == 0 ? 0 : g.x[i] / norms[g.of[i]];
  }
  return ND4C_OK;
}

static nd4c_status standardize(const nd4c_call *call, nd4c_cpu_work *work) {
  double epsilon = ND4C_REAL_OF(call, standardize_epsilon);
  int64_t size = call->inputs[0].size;
  grouping g;
  ND4C_BACKEND_TRY(group_by_axes(work, &call->attrs[ND4C_ATTR_standardize_axes], &g));
  double *mean = nd4c_cpu_work_make(work, g.count), *variance = nd4c_cpu_work_make(work, g.count);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  nd4c_ref_group_statistics(size, g.x, g.of, g.count, mean, variance);
  for (int64_t i = 0; i < size; i++) {
    g.y[i] = (g.x[i] - mean[g.of[i]]) / (sqrt(variance[g.of[i]]) + epsilon);
  }
  return ND4C_OK;
}

/* Normalises by the moments of the batch. The moments that it returns are these, mixed with the previous ones. */
static nd4c_status batch_norm_training(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0];
  double momentum = ND4C_REAL_OF(call, batch_norm_training_momentum);
  bool reduced[ND4C_CPU_MAX_RANK];
  for (int32_t axis = 0; axis < x->rank; axis++) {
    reduced[axis] = axis != 1;
  }
  grouping g;
  ND4C_BACKEND_TRY(group(work, reduced, &g));
  const double *old[2] = {nd4c_cpu_work_load(work, ND4C_IN_batch_norm_training_mean),
                          nd4c_cpu_work_load(work, ND4C_IN_batch_norm_training_variance)};
  double *own[2] = {nd4c_cpu_work_output(work, 1), nd4c_cpu_work_output(work, 2)};
  nd4c_ref_channels args = {.inner = nd4c_ref_extent(x->rank - 2, x->shape + 2),
                            .count = x->shape[1],
                            .x = g.x,
                            .scale = nd4c_cpu_work_load(work, ND4C_IN_batch_norm_training_scale),
                            .bias = nd4c_cpu_work_load(work, ND4C_IN_batch_norm_training_bias),
                            .mean = own[0],
                            .variance = own[1],
                            .epsilon = ND4C_REAL_OF(call, batch_norm_training_epsilon),
                            .y = g.y};
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  nd4c_ref_group_statistics(x->size, g.x, g.of, g.count, own[0], own[1]);
  (void)nd4c_cpu_work_parallel(work, x->size, 8, batch_norm_range, &args);
  for (int64_t i = 0; i < 2 * g.count; i++) {
    double *to = &own[i / g.count][i % g.count];
    *to = old[i / g.count][i % g.count] * momentum + *to * (1 - momentum);
  }
  return ND4C_OK;
}

static nd4c_status clip_by_norm(const nd4c_call *call, nd4c_cpu_work *work) {
  double most = ND4C_REAL_OF(call, clip_by_norm_max_norm);
  bool reduced[ND4C_CPU_MAX_RANK];
  double *norms = NULL;
  grouping g;
  nd4c_cpu_reduced_axes(call->inputs[0].rank, &call->attrs[ND4C_ATTR_clip_by_norm_axes], reduced);
  ND4C_BACKEND_TRY(take_norms(work, reduced, 2, &g, &norms));
  const double *given = nd4c_cpu_work_load(work, 1);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int64_t i = 0; i < call->inputs[0].size; i++) {
    double norm = given != NULL ? given[0] : norms[g.of[i]], part = norm / most;
    g.y[i] = norm <= most ? g.x[i] : isinf(part) ? g.x[i] / norm * most : g.x[i] / part;
  }
  return ND4C_OK;
}

static nd4c_status add_squares(const nd4c_call *call, nd4c_cpu_work *work, int32_t input, double *sum) {
  const double *numbers = nd4c_cpu_work_load(work, input);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int64_t i = 0; i < call->inputs[input].size; i++) {
    *sum += numbers[i] * numbers[i];
  }
  return ND4C_OK;
}

/* The memory of one input at a time. */
static nd4c_status global_norm_run(const nd4c_call *call) {
  double sum = 0;
  for (int32_t i = 0; i < call->input_count; i++) {
    nd4c_cpu_work work = nd4c_cpu_work_in(call, 0);
    ND4C_BACKEND_TRY(nd4c_cpu_work_end(&work, add_squares(call, &work, i, &sum)));
  }
  sum = sqrt(sum);
  nd4c_cpu_work_store(call, 0, &sum);
  return ND4C_OK;
}

/* -- hardmax and bias_add ----------------------------------------------------------------------------------------- */

static nd4c_status hardmax(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, hardmax_axis), x->rank);
  int64_t length = x->shape[axis], inner = nd4c_ref_extent(x->rank - axis - 1, x->shape + axis + 1);
  const double *numbers = nd4c_cpu_work_load(work, 0);
  double *y = nd4c_cpu_work_output(work, 0);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int64_t row = 0; length > 0 && row < x->size / length; row++) {
    int64_t first = row / inner * inner * length + row % inner, best = first;
    for (int64_t at = first + inner; at < first + length * inner; at += inner) {
      best = !isnan(numbers[best]) && !(numbers[at] <= numbers[best]) ? at : best;
    }
    y[best] = 1;
  }
  return ND4C_OK;
}

static nd4c_status bias_add(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, bias_add_axis), x->rank);
  int64_t inner = nd4c_ref_extent(x->rank - axis - 1, x->shape + axis + 1);
  int64_t activation = ND4C_INT_OF(call, bias_add_activation);
  const double *numbers = nd4c_cpu_work_load(work, 0), *bias = nd4c_cpu_work_load(work, 1);
  double *y = nd4c_cpu_work_output(work, 0);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int64_t i = 0; i < x->size; i++) {
    y[i] = nd4c_ref_activate(activation, numbers[i] + bias[i / inner % x->shape[axis]]);
  }
  return ND4C_OK;
}

/* -- kernels ------------------------------------------------------------------------------------------------------ */

#define F ND4C_CPU_FLOATS
#define OPS(X)                                                                                                   \
  X(instance_norm, F, instance_norm(call, work))                                                                 \
  X(group_norm, F,                                                                                               \
    channel_norm(call, work, ND4C_INT_OF(call, group_norm_groups), ND4C_REAL_OF(call, group_norm_epsilon)))      \
  X(layer_norm, F,                                                                                               \
    trailing_norm(call, work, ND4C_INT_OF(call, layer_norm_axis), ND4C_REAL_OF(call, layer_norm_epsilon), false, \
                  ND4C_IN_layer_norm_bias))                                                                      \
  X(rms_norm, F,                                                                                                 \
    trailing_norm(call, work, ND4C_INT_OF(call, rms_norm_axis), ND4C_REAL_OF(call, rms_norm_epsilon), true, -1)) \
  X(layer_norm_with_statistics, F,                                                                               \
    trailing_norm(call, work, ND4C_INT_OF(call, layer_norm_with_statistics_axis),                                \
                  ND4C_REAL_OF(call, layer_norm_with_statistics_epsilon), false,                                 \
                  ND4C_IN_layer_norm_with_statistics_bias))                                                      \
  X(skip_layer_norm, F, skip_layer_norm(call, work))                                                             \
  X(softmax, F, softmax(call, work, false))                                                                      \
  X(log_softmax, F, softmax(call, work, true))                                                                   \
  X(batch_norm, F, batch_norm(call, work))                                                                       \
  X(lrn, F, lrn(call, work))                                                                                     \
  X(lp_normalize, F, lp_normalize(call, work))                                                                   \
  X(standardize, F, standardize(call, work))                                                                     \
  X(batch_norm_training, F, batch_norm_training(call, work))                                                     \
  X(clip_by_norm, F, clip_by_norm(call, work))                                                                   \
  X(hardmax, F, hardmax(call, work))                                                                             \
  X(bias_add, F, bias_add(call, work))
OPS(ND4C_CPU_WORK_RUN)

const nd4c_kernel *const nd4c_cpu_reference_normalization_kernels[] = {
    OPS(ND4C_CPU_WORK_ROW) ND4C_CPU_REFERENCE_KERNEL(global_norm, F, global_norm_run), NULL};
