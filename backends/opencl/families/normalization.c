/* Softmax, and ops that normalise rows. dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include <stdio.h>

#include "backends/opencl/support/rows.h"

/* x and y along x's axes. */
static nd4c_cl_rows rows_of(const nd4c_call *call, const char *what) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_cl_rows r = {.what = what, .x = x, .y = y, .rank = x->rank};
  for (int32_t axis = 0; axis < x->rank; axis++) {
    r.shape[axis] = x->shape[axis];
    r.x_strides[axis] = x->strides[axis];
    r.y_strides[axis] = y->strides[axis];
  }
  return r;
}

/* An operand that is broadcast to the last axes. */
static void trail(const nd4c_cl_rows *r, const nd4c_tensor *operand, int64_t *strides) {
  for (int32_t i = 0; operand != NULL && i < operand->rank; i++) {
    int32_t axis = r->rank - operand->rank + i;
    if (axis >= 0) {
      strides[axis] = operand->shape[i] == r->shape[axis] ? operand->strides[i] : 0;
    }
  }
}

static void inner_from(nd4c_cl_rows *r, int32_t first) {
  for (int32_t axis = first; axis < r->rank; axis++) {
    r->inner[axis] = true;
  }
}

/* -- one axis ------------------------------------------------------------------------------------------------------ */

static nd4c_cl_rows axis_plan(const nd4c_call *call) {
  nd4c_op op = call->op->op;
  nd4c_cl_rows r = rows_of(call, op == ND4C_OP_softmax       ? "softmax"
                                 : op == ND4C_OP_log_softmax ? "log_softmax"
                                                             : "hardmax");
  r.inner[nd4c_axis(ND4C_INT_OF(call, softmax_axis), r.rank)] = true;
  return r;
}

static nd4c_cl_rows lp_normalize_plan(const nd4c_call *call) {
  nd4c_cl_rows r = rows_of(call, "lp_normalize");
  r.inner[nd4c_axis(ND4C_INT_OF(call, lp_normalize_axis), r.rank)] = true;
  r.parameter = ND4C_REAL_OF(call, lp_normalize_p);
  r.limit = ND4C_REAL_OF(call, lp_normalize_epsilon);
  r.extra = ND4C_CL_ROWS_LIMIT;
  return r;
}

/* -- any axes ------------------------------------------------------------------------------------------------------ */

static nd4c_cl_rows standardize_plan(const nd4c_call *call) {
  nd4c_cl_rows r = rows_of(call, "standardize");
  nd4c_cl_reduced_axes(r.rank, &call->attrs[ND4C_ATTR_standardize_axes], r.inner);
  r.parameter = ND4C_REAL_OF(call, standardize_epsilon);
  return r;
}

static nd4c_cl_rows clip_by_norm_plan(const nd4c_call *call) {
  nd4c_cl_rows r = rows_of(call, "clip_by_norm");
  nd4c_cl_reduced_axes(r.rank, &call->attrs[ND4C_ATTR_clip_by_norm_axes], r.inner);
  r.scale = nd4c_cl_input(call, ND4C_IN_clip_by_norm_norm);
  r.limit = ND4C_REAL_OF(call, clip_by_norm_max_norm);
  r.extra = ND4C_CL_ROWS_LIMIT;
  return r;
}

static nd4c_cl_rows batch_norm_training_plan(const nd4c_call *call) {
  nd4c_cl_rows r = rows_of(call, "layer");
  for (int32_t axis = 0; axis < r.rank; axis++) {
    r.inner[axis] = axis != 1;
  }
  r.scale = &call->inputs[ND4C_IN_batch_norm_training_scale];
  r.bias = &call->inputs[ND4C_IN_batch_norm_training_bias];
  r.scale_strides[1] = r.scale->strides[0];
  r.bias_strides[1] = r.bias->strides[0];
  r.parameter = ND4C_REAL_OF(call, batch_norm_training_epsilon);
  r.limit = ND4C_REAL_OF(call, batch_norm_training_momentum);
  r.extra = ND4C_CL_ROWS_RUNNING;
  r.running[0] = &call->inputs[ND4C_IN_batch_norm_training_mean];
  r.running[1] = &call->inputs[ND4C_IN_batch_norm_training_variance];
  r.statistics[0] = &call->outputs[1];
  r.statistics[1] = &call->outputs[2];
  return r;
}

/* -- the last axes ------------------------------------------------------------------------------------------------- */

static nd4c_cl_rows trailing(const nd4c_call *call, const char *what, int64_t axis, double epsilon, int32_t scale,
                             int32_t bias) {
  nd4c_cl_rows r = rows_of(call, what);
  inner_from(&r, nd4c_axis(axis, r.rank));
  r.scale = nd4c_cl_input(call, scale);
  r.bias = bias >= 0 ? nd4c_cl_input(call, bias) : NULL;
  trail(&r, r.scale, r.scale_strides);
  trail(&r, r.bias, r.bias_strides);
  r.parameter = epsilon;
  return r;
}

static nd4c_cl_rows layer_norm_plan(const nd4c_call *call) {
  return trailing(call, "layer", ND4C_INT_OF(call, layer_norm_axis), ND4C_REAL_OF(call, layer_norm_epsilon),
                  ND4C_IN_layer_norm_scale, ND4C_IN_layer_norm_bias);
}

static nd4c_cl_rows rms_norm_plan(const nd4c_call *call) {
  return trailing(call, "rms", ND4C_INT_OF(call, rms_norm_axis), ND4C_REAL_OF(call, rms_norm_epsilon),
                  ND4C_IN_rms_norm_scale, -1);
}

static nd4c_cl_rows layer_norm_with_statistics_plan(const nd4c_call *call) {
  nd4c_cl_rows r = trailing(call, "layer", ND4C_INT_OF(call, layer_norm_with_statistics_axis),
                            ND4C_REAL_OF(call, layer_norm_with_statistics_epsilon),
                            ND4C_IN_layer_norm_with_statistics_scale, ND4C_IN_layer_norm_with_statistics_bias);
  r.extra = ND4C_CL_ROWS_STATISTICS;
  for (int i = 0; i < 2; i++) {
    r.statistics[i] = &call->outputs[1 + i];
    for (int32_t axis = 0; axis < r.rank; axis++) {
      r.statistics_strides[i][axis] = r.inner[axis] ? 0 : r.statistics[i]->strides[axis];
    }
  }
  return r;
}

/* -- planes and groups of channels --------------------------------------------------------------------------------- */

/* Axis 1 is seen as groups of channels; scale and bias stand by channel. */
static nd4c_cl_rows channel_plan(const nd4c_call *call, int64_t groups, bool planes, double epsilon) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const nd4c_tensor *scale = nd4c_cl_input(call, ND4C_IN_instance_norm_scale);
  const nd4c_tensor *bias = nd4c_cl_input(call, ND4C_IN_instance_norm_bias);
  nd4c_cl_rows r = {.what = "layer", .x = x, .y = y, .scale = scale, .bias = bias, .parameter = epsilon};
  int64_t channels = groups > 0 ? x->shape[1] / groups : 0;
  for (int32_t axis = 0; axis < x->rank; axis++) {
    int64_t step = axis == 1 ? channels : 1;
    r.shape[r.rank] = axis == 1 ? groups : x->shape[axis];
    r.x_strides[r.rank] = x->strides[axis] * step;
    r.y_strides[r.rank] = y->strides[axis] * step;
    r.scale_strides[r.rank] = axis == 1 && scale != NULL ? scale->strides[0] * step : 0;
    r.bias_strides[r.rank] = axis == 1 && bias != NULL ? bias->strides[0] * step : 0;
    r.inner[r.rank++] = axis > 1;
    if (axis != 1) {
      continue;
    }
    r.shape[r.rank] = channels;
    r.x_strides[r.rank] = x->strides[1];
    r.y_strides[r.rank] = y->strides[1];
    r.scale_strides[r.rank] = scale != NULL ? scale->strides[0] : 0;
    r.bias_strides[r.rank] = bias != NULL ? bias->strides[0] : 0;
    r.inner[r.rank++] = !planes;
  }
  return r;
}

static nd4c_cl_rows instance_norm_plan(const nd4c_call *call) {
  return channel_plan(call, call->inputs[0].shape[1], true, ND4C_REAL_OF(call, instance_norm_epsilon));
}

static nd4c_cl_rows group_norm_plan(const nd4c_call *call) {
  return channel_plan(call, ND4C_INT_OF(call, group_norm_groups), false, ND4C_REAL_OF(call, group_norm_epsilon));
}

/* -- skip_layer_norm: the sum first, unrounded in the scratch buffer ---------------------------------------------- */

static nd4c_cl_rows skip_layer_norm_plan(const nd4c_call *call, nd4c_tensor *sum) {
  bool rms = ND4C_FLAG_OF(call, skip_layer_norm_rms);
  nd4c_cl_rows r = trailing(call, rms ? "rms" : "layer", -1, ND4C_REAL_OF(call, skip_layer_norm_epsilon),
                            ND4C_IN_skip_layer_norm_scale, ND4C_IN_skip_layer_norm_bias);
  int64_t step = 1;
  *sum = (nd4c_tensor){.dtype = nd4c_cl_wide(call) ? ND4C_FLOAT64 : ND4C_FLOAT32, .buffer = call->scratch_buffer};
  for (int32_t axis = r.rank - 1; axis >= 0; axis--) {
    r.x_strides[axis] = step;
    step *= r.shape[axis];
  }
  r.x = sum;
  r.of_pairs = !nd4c_cl_wide(call);
  return r;
}

static int64_t skip_layer_norm_scratch(const nd4c_call *call) {
  return call->inputs[0].size * (int64_t)sizeof(double);
}

static nd4c_status skip_layer_norm(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *skip = &call->inputs[ND4C_IN_skip_layer_norm_skip], *y = &call->outputs[1];
  const nd4c_tensor *addend = nd4c_cl_input(call, ND4C_IN_skip_layer_norm_addend);
  const nd4c_tensor *const walked[] = {x, skip, addend, y};
  nd4c_cl_walk walk;
  nd4c_tensor sum;
  nd4c_cl_options options = {{0}};
  nd4c_cl_rows r = skip_layer_norm_plan(call, &sum);
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_tensors(step, &walk, x->rank, x->shape, 4, walked));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_rows_step(step, &r);
  }
  nd4c_cl_define_pair(&options, call);
  ND4C_CL_TYPES(&options, "ABCY", x->dtype, skip->dtype, nd4c_cl_dtype_of(addend, x->dtype), y->dtype);
  nd4c_cl_define_index(&options, call);
  ND4C_BACKEND_TRY(ND4C_CL_RUN(call, ND4C_CL_BY_PAIRS(call, "skip"), "skip_sum", options, walk.size,
                               ND4C_CL_VALUE(walk), ND4C_CL_IN(x), ND4C_CL_IN(skip), ND4C_CL_IN(addend),
                               ND4C_CL_INT(addend != NULL), ND4C_CL_OUT(y), ND4C_CL_SCRATCH(WRITE)));
  return walk.size > 0 ? nd4c_cl_rows_step(step, &r) : ND4C_OK;
}

/* -- global_norm --------------------------------------------------------------------------------------------------- */

enum { NORM_GROUP = 128, NORM_GROUPS = 64 }; /* of one array */

static int64_t global_norm_scratch(const nd4c_call *call) {
  return (int64_t)call->input_count * NORM_GROUPS * (int64_t)sizeof(double);
}

static nd4c_status global_norm(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const char *sources = ND4C_CL_BY_PAIRS(call, "share+global_norm");
  int64_t group = nd4c_cl_group_within(call, NORM_GROUP, sizeof(double));
  nd4c_cl_options options = {{0}};
  for (int32_t i = 0; i < call->input_count; i++) {
    const nd4c_tensor *x = &call->inputs[i];
    nd4c_cl_walk walk;
    ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &walk, x));
    if (nd4c_cl_is_dry(step)) {
      continue;
    }
    options = (nd4c_cl_options){{0}};
    ND4C_CL_TYPES(&options, "AY", x->dtype, call->outputs[0].dtype);
    nd4c_cl_define_pair(&options, call);
    nd4c_cl_define_index(&options, call);
    ND4C_BACKEND_TRY(ND4C_CL_RUN_GROUPS(call, sources, "square_sums", options, NORM_GROUPS, group, ND4C_CL_VALUE(walk),
                                        ND4C_CL_IN(x), ND4C_CL_SCRATCH(READ_WRITE),
                                        ND4C_CL_LONG((int64_t)i * NORM_GROUPS), ND4C_CL_LOCAL_EACH(sizeof(double))));
  }
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  return ND4C_CL_RUN_GROUPS(call, sources, "norm_end", options, 1, group, ND4C_CL_SCRATCH(READ),
                            ND4C_CL_LONG((int64_t)call->input_count * NORM_GROUPS), ND4C_CL_OUT(&call->outputs[0]),
                            ND4C_CL_LOCAL_EACH(sizeof(double)));
}

/* hardmax stores the place of the largest element in a REAL, and a float counts only to 2^24. */

/* One launch over x, y and a third operand of x's axes, the strides of which are 0 but for one axis: a channel's
 * number, or a bias. `more`: definitions; `list`: the arguments behind x and y. */
static nd4c_status by_channel(const nd4c_cl_step *step, const char *sources, const char *function, int32_t channel,
                              int64_t stride, nd4c_cl_options options, const nd4c_cl_given *list) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t strides[ND4C_CL_MAX_RANK] = {0};
  const int64_t *const all[] = {x->strides, y->strides, strides};
  nd4c_cl_walk walk;
  strides[channel] = stride;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, x->rank, x->shape, 3, all));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  char name[64];
  (void)snprintf(name, sizeof name, "OP_%s", call->op->name);
  nd4c_cl_define(&options, name, "1");
  ND4C_CL_TYPES(&options, "AY", x->dtype, y->dtype);
  nd4c_cl_define_real(&options, call);
  nd4c_cl_define_index(&options, call);
  nd4c_cl_launch launch;
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, sources, function, &options));
  ND4C_CL_ARGS(&launch, ND4C_CL_VALUE(walk), ND4C_CL_IN(x), ND4C_CL_OUT(y));
  nd4c_cl_launch_give(&launch, list);
  return nd4c_cl_launch_run(&launch, 1, &walk.size, NULL);
}

static nd4c_status batch_norm(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *by = &call->inputs[1]; /* scale, bias, mean, variance */
  nd4c_cl_options options = {""};
  ND4C_CL_TYPES(&options, "BCDE", by[0].dtype, by[1].dtype, by[2].dtype, by[3].dtype);
  return by_channel(
      step, "channel", "batch_norm", 1, 1, options,
      ND4C_CL_GIVEN_LIST(ND4C_CL_STRIDED(&by[0], READ), ND4C_CL_STRIDED(&by[1], READ), ND4C_CL_STRIDED(&by[2], READ),
                         ND4C_CL_STRIDED(&by[3], READ), ND4C_CL_REAL(ND4C_REAL_OF(call, batch_norm_epsilon))));
}

static nd4c_status lrn(const nd4c_cl_step *step) {
  const nd4c_tensor *x = &step->call->inputs[0];
  const nd4c_attr_value *attrs = step->call->attrs;
  return by_channel(step, "channel", "lrn", 1, 1, (nd4c_cl_options){""},
                    ND4C_CL_GIVEN_LIST(ND4C_CL_LONG(x->shape[1], x->strides[1], attrs[ND4C_ATTR_lrn_size].as.i),
                                       ND4C_CL_REAL(attrs[ND4C_ATTR_lrn_alpha].as.f, attrs[ND4C_ATTR_lrn_beta].as.f,
                                                    attrs[ND4C_ATTR_lrn_bias].as.f)));
}

static nd4c_status bias_add(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *bias = &call->inputs[ND4C_IN_bias_add_bias];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, bias_add_axis), call->inputs[0].rank);
  nd4c_cl_options options = {""};
  nd4c_cl_define_type(&options, 'B', bias->dtype);
  nd4c_cl_define(&options, "ACTIVATION", "%d", (int)ND4C_INT_OF(call, bias_add_activation));
  return by_channel(step, "activate+channel", "bias_add", axis, bias->strides[0], options,
                    ND4C_CL_GIVEN_LIST(ND4C_CL_IN(bias)));
}

/* hardmax carries the index of the largest element in a REAL: a float32 holds whole numbers up to 2^24 exactly. */
static nd4c_status places_fit(const nd4c_cl_step *step, const nd4c_cl_rows *r) {
  int64_t length = 1;
  for (int32_t axis = 0; axis < r->rank; axis++) {
    length *= r->inner[axis] ? r->shape[axis] : 1;
  }
  return step->call->op->op != ND4C_OP_hardmax || nd4c_cl_wide(step->call) || length <= INT64_C(1) << 24
             ? ND4C_OK
             : nd4c_cl_step_refuse(step, "rows of more than 2^24 elements on a device without float64");
}

/* -- list ---------------------------------------------------------------------------------------------------------- */

/* X(op, plan) */
#define OPS(X)                                                   \
  X(softmax, axis_plan)                                          \
  X(log_softmax, axis_plan)                                      \
  X(hardmax, axis_plan)                                          \
  X(lp_normalize, lp_normalize_plan)                             \
  X(standardize, standardize_plan)                               \
  X(clip_by_norm, clip_by_norm_plan)                             \
  X(batch_norm_training, batch_norm_training_plan)               \
  X(layer_norm, layer_norm_plan)                                 \
  X(rms_norm, rms_norm_plan)                                     \
  X(layer_norm_with_statistics, layer_norm_with_statistics_plan) \
  X(instance_norm, instance_norm_plan)                           \
  X(group_norm, group_norm_plan)

static nd4c_status normalize(const nd4c_cl_step *step, nd4c_cl_rows r) {
  ND4C_BACKEND_TRY(places_fit(step, &r));
  return nd4c_cl_rows_step(step, &r);
}

#define DEFINE(op, plan) ND4C_CL_STEP_KERNEL(op, ND4C_CL_FLOATS, normalize(step, plan(step->call)), NULL)
OPS(DEFINE)
ND4C_CL_STEP_KERNEL(batch_norm, ND4C_CL_FLOATS, batch_norm(step), NULL)
ND4C_CL_STEP_KERNEL(lrn, ND4C_CL_FLOATS, lrn(step), NULL)
ND4C_CL_STEP_KERNEL(bias_add, ND4C_CL_FLOATS, bias_add(step), NULL)
ND4C_CL_STEP_KERNEL(skip_layer_norm, ND4C_CL_FLOATS, skip_layer_norm(step), skip_layer_norm_scratch)
ND4C_CL_STEP_KERNEL(global_norm, ND4C_CL_FLOATS, global_norm(step), global_norm_scratch)

const nd4c_kernel *const nd4c_cl_normalization_kernels[] = {&opencl_batch_norm,  &opencl_lrn,
                                                            &opencl_bias_add,    &opencl_skip_layer_norm,
                                                            &opencl_global_norm, OPS(ND4C_CL_LISTED) NULL};
