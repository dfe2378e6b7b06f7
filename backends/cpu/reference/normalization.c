/* Engine reference: the family normalization. */
#include <math.h>

#include "backends/cpu/reference/work.h"
#include "kernels/reference/window/network.h"
#include "kernels/reference/normalization/normalization.h"

/* -- rows --------------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(rows_range, nd4c_ref_normalize_rows)

static void run_rows(const nd4c_call *call, nd4c_ref_rows_args *args, int64_t size) {
  int64_t rows = args->length > 0 ? size / args->length : 0;
  nd4c_cpu_host->parallel_for(rows, nd4c_cpu_grain(4 * args->length), call->width, rows_range, args);
}

/* Rows of `length`, scale and bias by channel. */
static nd4c_status channel_norm(const nd4c_call *call, int64_t length, double epsilon) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_rows_args args = {.length = length,
                             .x = nd4c_cpu_work_load(&work, call, ND4C_IN_instance_norm_x),
                             .scale = nd4c_cpu_work_load(&work, call, ND4C_IN_instance_norm_scale),
                             .bias = nd4c_cpu_work_load(&work, call, ND4C_IN_instance_norm_bias),
                             .inner = nd4c_ref_extent(x->rank - 2, x->shape + 2),
                             .count = x->shape[1],
                             .epsilon = epsilon,
                             .y = nd4c_cpu_work_make(&work, x->size)};
  if (!work.failed) {
    run_rows(call, &args, x->size);
    nd4c_cpu_work_store(call, 0, args.y);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

static nd4c_status instance_norm_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  return channel_norm(call, nd4c_ref_extent(x->rank - 2, x->shape + 2),
                      call->attrs[ND4C_ATTR_instance_norm_epsilon].as.f);
}

static nd4c_status group_norm_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  int64_t length = nd4c_ref_extent(x->rank - 1, x->shape + 1) / call->attrs[ND4C_ATTR_group_norm_groups].as.i;
  return channel_norm(call, length, call->attrs[ND4C_ATTR_group_norm_epsilon].as.f);
}

/* Rows are the axes from `axis` on, to which scale and bias are broadcast. */
static nd4c_status trailing_norm(const nd4c_call *call, int64_t at, double epsilon, bool rms, int32_t bias) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = nd4c_axis(at, x->rank);
  int64_t length = nd4c_ref_extent(x->rank - axis, x->shape + axis);
  nd4c_ref_rows_args args = {.length = length,
                             .x = nd4c_cpu_work_load(&work, call, 0),
                             .scale = nd4c_cpu_work_load_as(&work, call, 1, x->rank - axis, x->shape + axis),
                             .inner = 1,
                             .count = length,
                             .epsilon = epsilon,
                             .rms = rms,
                             .y = nd4c_cpu_work_make(&work, x->size)};
  if (bias >= 0)
    args.bias = nd4c_cpu_work_load_as(&work, call, bias, x->rank - axis, x->shape + axis);
  if (call->output_count > 1) {
    args.mean = nd4c_cpu_work_make(&work, call->outputs[1].size);
    args.inverse_deviation = nd4c_cpu_work_make(&work, call->outputs[1].size);
  }
  if (!work.failed) {
    for (int64_t i = 0; length == 0 && args.mean != NULL && i < call->outputs[1].size; i++)
      args.mean[i] = args.inverse_deviation[i] = (double)NAN; /* of nothing */
    run_rows(call, &args, x->size);
    nd4c_cpu_work_store(call, 0, args.y);
    if (args.mean != NULL) {
      nd4c_cpu_work_store(call, 1, args.mean);
      nd4c_cpu_work_store(call, 2, args.inverse_deviation);
    }
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

static nd4c_status layer_norm_run(const nd4c_call *call) {
  return trailing_norm(call, call->attrs[ND4C_ATTR_layer_norm_axis].as.i,
                       call->attrs[ND4C_ATTR_layer_norm_epsilon].as.f, false, ND4C_IN_layer_norm_bias);
}

static nd4c_status rms_norm_run(const nd4c_call *call) {
  return trailing_norm(call, call->attrs[ND4C_ATTR_rms_norm_axis].as.i, call->attrs[ND4C_ATTR_rms_norm_epsilon].as.f,
                       true, -1);
}

static nd4c_status layer_norm_with_statistics_run(const nd4c_call *call) {
  return trailing_norm(call, call->attrs[ND4C_ATTR_layer_norm_with_statistics_axis].as.i,
                       call->attrs[ND4C_ATTR_layer_norm_with_statistics_epsilon].as.f, false,
                       ND4C_IN_layer_norm_with_statistics_bias);
}

static nd4c_status skip_layer_norm_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  const int64_t *last = &x->shape[x->rank - 1];
  const double *a = nd4c_cpu_work_load(&work, call, ND4C_IN_skip_layer_norm_x);
  const double *b = nd4c_cpu_work_load_like(&work, call, ND4C_IN_skip_layer_norm_skip, x);
  const double *addend = nd4c_cpu_work_load_as(&work, call, ND4C_IN_skip_layer_norm_addend, 1, last);
  double *sum = nd4c_cpu_work_make(&work, x->size);
  nd4c_ref_rows_args args = {.length = *last,
                             .x = sum,
                             .scale = nd4c_cpu_work_load_as(&work, call, ND4C_IN_skip_layer_norm_scale, 1, last),
                             .bias = nd4c_cpu_work_load_as(&work, call, ND4C_IN_skip_layer_norm_bias, 1, last),
                             .inner = 1,
                             .count = *last,
                             .epsilon = call->attrs[ND4C_ATTR_skip_layer_norm_epsilon].as.f,
                             .rms = call->attrs[ND4C_ATTR_skip_layer_norm_rms].as.i != 0,
                             .y = nd4c_cpu_work_make(&work, x->size)};
  if (!work.failed) {
    for (int64_t i = 0; i < x->size; i++)
      sum[i] = a[i] + b[i] + (addend != NULL ? addend[i % *last] : 0);
    run_rows(call, &args, x->size);
    nd4c_cpu_work_store(call, 0, args.y);
    nd4c_cpu_work_store(call, 1, sum);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

/* -- groups over any axes ----------------------------------------------------------------------------------------- */

/* The group of each element of x. */
static int64_t *group_of(nd4c_cpu_work *work, const nd4c_call *call, const bool *reduced, int64_t *count) {
  const nd4c_tensor *x = &call->inputs[0];
  int64_t *groups = nd4c_cpu_work_make_integers(work, x->size);
  *count = 0;
  if (groups != NULL)
    *count = nd4c_ref_group_elements(x->rank, x->shape, reduced, groups);
  return groups;
}

static nd4c_status lp_normalize_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  double p = call->attrs[ND4C_ATTR_lp_normalize_p].as.f, least = call->attrs[ND4C_ATTR_lp_normalize_epsilon].as.f;
  bool reduced[ND4C_CPU_MAX_RANK] = {false};
  int64_t count;
  reduced[nd4c_axis(call->attrs[ND4C_ATTR_lp_normalize_axis].as.i, x->rank)] = true;
  int64_t *groups = group_of(&work, call, reduced, &count);
  const double *numbers = nd4c_cpu_work_load(&work, call, 0);
  double *norms = nd4c_cpu_work_make(&work, count), *y = nd4c_cpu_work_make(&work, x->size);
  if (!work.failed) {
    nd4c_ref_group_powers(x->size, numbers, groups, p, norms);
    for (int64_t i = 0; i < count; i++) {
      double norm = p == 2 ? sqrt(norms[i]) : p == 1 ? norms[i] : pow(norms[i], 1 / p);
      norms[i] = norm < least ? least : norm;
    }
    for (int64_t i = 0; i < x->size; i++)
      y[i] = norms[groups[i]] == 0 ? 0 : numbers[i] / norms[groups[i]];
    nd4c_cpu_work_store(call, 0, y);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

static nd4c_status standardize_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  double epsilon = call->attrs[ND4C_ATTR_standardize_epsilon].as.f;
  bool reduced[ND4C_CPU_MAX_RANK];
  int64_t count;
  nd4c_cpu_reduced_axes(x->rank, &call->attrs[ND4C_ATTR_standardize_axes], reduced);
  int64_t *groups = group_of(&work, call, reduced, &count);
  const double *numbers = nd4c_cpu_work_load(&work, call, 0);
  double *mean = nd4c_cpu_work_make(&work, count), *variance = nd4c_cpu_work_make(&work, count);
  double *y = nd4c_cpu_work_make(&work, x->size);
  if (!work.failed) {
    nd4c_ref_group_statistics(x->size, numbers, groups, count, mean, variance);
    for (int64_t i = 0; i < x->size; i++)
      y[i] = (numbers[i] - mean[groups[i]]) / (sqrt(variance[groups[i]]) + epsilon);
    nd4c_cpu_work_store(call, 0, y);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

static nd4c_status batch_norm_training_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  double epsilon = call->attrs[ND4C_ATTR_batch_norm_training_epsilon].as.f;
  double momentum = call->attrs[ND4C_ATTR_batch_norm_training_momentum].as.f;
  bool reduced[ND4C_CPU_MAX_RANK];
  int64_t count;
  for (int32_t axis = 0; axis < x->rank; axis++)
    reduced[axis] = axis != 1;
  int64_t *groups = group_of(&work, call, reduced, &count);
  const double *numbers = nd4c_cpu_work_load(&work, call, 0);
  const double *scale = nd4c_cpu_work_load(&work, call, ND4C_IN_batch_norm_training_scale);
  const double *bias = nd4c_cpu_work_load(&work, call, ND4C_IN_batch_norm_training_bias);
  const double *old_mean = nd4c_cpu_work_load(&work, call, ND4C_IN_batch_norm_training_mean);
  const double *old_variance = nd4c_cpu_work_load(&work, call, ND4C_IN_batch_norm_training_variance);
  double *mean = nd4c_cpu_work_make(&work, count), *variance = nd4c_cpu_work_make(&work, count);
  double *y = nd4c_cpu_work_make(&work, x->size);
  if (!work.failed) {
    nd4c_ref_group_statistics(x->size, numbers, groups, count, mean, variance);
    for (int64_t i = 0; i < x->size; i++) {
      int64_t c = groups[i];
      y[i] = (numbers[i] - mean[c]) / sqrt(variance[c] + epsilon) * scale[c] + bias[c];
    }
    for (int64_t c = 0; c < count; c++) {
      mean[c] = old_mean[c] * momentum + mean[c] * (1 - momentum);
      variance[c] = old_variance[c] * momentum + variance[c] * (1 - momentum);
    }
    nd4c_cpu_work_store(call, 0, y);
    nd4c_cpu_work_store(call, 1, mean);
    nd4c_cpu_work_store(call, 2, variance);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

static nd4c_status clip_by_norm_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  double most = call->attrs[ND4C_ATTR_clip_by_norm_max_norm].as.f;
  bool reduced[ND4C_CPU_MAX_RANK];
  int64_t count;
  nd4c_cpu_reduced_axes(x->rank, &call->attrs[ND4C_ATTR_clip_by_norm_axes], reduced);
  int64_t *groups = group_of(&work, call, reduced, &count);
  const double *numbers = nd4c_cpu_work_load(&work, call, 0), *given = nd4c_cpu_work_load(&work, call, 1);
  double *norms = nd4c_cpu_work_make(&work, count), *y = nd4c_cpu_work_make(&work, x->size);
  if (!work.failed) {
    nd4c_ref_group_powers(x->size, numbers, groups, 2, norms);
    for (int64_t i = 0; i < x->size; i++) {
      double norm = given != NULL ? given[0] : sqrt(norms[groups[i]]);
      y[i] = norm <= most ? numbers[i] : numbers[i] * most / norm;
    }
    nd4c_cpu_work_store(call, 0, y);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

static nd4c_status global_norm_run(const nd4c_call *call) {
  double sum = 0;
  for (int32_t i = 0; i < call->input_count; i++) {
    nd4c_cpu_work work = {0};
    const double *numbers = nd4c_cpu_work_load(&work, call, i);
    for (int64_t j = 0; !work.failed && j < call->inputs[i].size; j++)
      sum += numbers[j] * numbers[j];
    ND4C_BACKEND_TRY(nd4c_cpu_work_end(&work, call, ND4C_OK));
  }
  sum = sqrt(sum);
  nd4c_cpu_work_store(call, 0, &sum);
  return ND4C_OK;
}

/* -- hardmax and bias_add ----------------------------------------------------------------------------------------- */

static nd4c_status hardmax_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = nd4c_axis(call->attrs[ND4C_ATTR_hardmax_axis].as.i, x->rank);
  int64_t length = x->shape[axis], inner = nd4c_ref_extent(x->rank - axis - 1, x->shape + axis + 1);
  const double *numbers = nd4c_cpu_work_load(&work, call, 0);
  double *y = nd4c_cpu_work_make(&work, x->size);
  for (int64_t row = 0; !work.failed && length > 0 && row < x->size / length; row++) {
    int64_t first = row / inner * inner * length + row % inner, best = first;
    for (int64_t i = 1; i < length; i++) {
      int64_t at = first + i * inner;
      if (!isnan(numbers[best]) && !(numbers[at] <= numbers[best]))
        best = at;
    }
    y[best] = 1;
  }
  if (!work.failed)
    nd4c_cpu_work_store(call, 0, y);
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

static nd4c_status bias_add_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = nd4c_axis(call->attrs[ND4C_ATTR_bias_add_axis].as.i, x->rank);
  int64_t inner = nd4c_ref_extent(x->rank - axis - 1, x->shape + axis + 1);
  int64_t activation = call->attrs[ND4C_ATTR_bias_add_activation].as.i;
  const double *numbers = nd4c_cpu_work_load(&work, call, 0), *bias = nd4c_cpu_work_load(&work, call, 1);
  double *y = nd4c_cpu_work_make(&work, x->size);
  if (!work.failed) {
    for (int64_t i = 0; i < x->size; i++)
      y[i] = nd4c_ref_activate(activation, numbers[i] + bias[i / inner % x->shape[axis]]);
    nd4c_cpu_work_store(call, 0, y);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

#define OPS(X)                  \
  X(instance_norm)              \
  X(group_norm)                 \
  X(layer_norm)                 \
  X(rms_norm)                   \
  X(lp_normalize)               \
  X(standardize)                \
  X(batch_norm_training)        \
  X(layer_norm_with_statistics) \
  X(skip_layer_norm)            \
  X(bias_add)                   \
  X(clip_by_norm)               \
  X(global_norm)                \
  X(hardmax)
#define DEFINE_KERNEL(op) ND4C_CPU_REFERENCE_KERNEL(op, ND4C_CPU_FLOATS, op##_run),

const nd4c_kernel *const nd4c_cpu_reference_normalization_kernels[] = {OPS(DEFINE_KERNEL) NULL};
