/* Losses of elements and of rows, and their reduction. */
#include <stdio.h>

#include "backends/opencl/support/reduction.h"

enum { GROUP = 128, GROUPS_PER_UNIT = 8, MOST_GROUPS = 1024 };

static int64_t group_of(const nd4c_call *call) {
  const nd4c_cl_limits *limits = nd4c_cl_device_limits(call->device);
  int64_t group = GROUP;
  while (group > 1 && (group > limits->group_size || group * (int64_t)sizeof(double) > limits->local_bytes))
    group /= 2;
  return group;
}

static int64_t reduction_of(const nd4c_call *call) {
  return call->attrs[ND4C_ATTR_mse_loss_reduction].as.i;
}

/* The sum of pairs in the scratch buffer, or a mean; of: elements. */
static nd4c_status total(const nd4c_call *call, const nd4c_cl_options *options, int64_t count, int64_t of,
                         bool by_share) {
  nd4c_cl_launch launch;
  int64_t reduction = reduction_of(call);
  bool shares = reduction == ND4C_LOSS_REDUCTION_MEAN_BY_WEIGHT || (reduction == ND4C_LOSS_REDUCTION_MEAN && by_share);
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, ND4C_CL_BY_PAIRS(call, "share+loss"), "loss_total", options));
  int64_t group = nd4c_cl_kernel_fit(launch.kernel, group_of(call));
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_READ);
  nd4c_cl_arg_long(&launch, count);
  nd4c_cl_arg_long(&launch, of);
  nd4c_cl_arg_int(&launch, shares ? 2 : reduction == ND4C_LOSS_REDUCTION_MEAN ? 1 : 0);
  nd4c_cl_arg_tensor(&launch, &call->outputs[0], ND4C_CL_WRITE);
  nd4c_cl_arg_local(&launch, (size_t)group * sizeof(double));
  return nd4c_cl_launch_run(&launch, 1, &group, &group);
}

static void types(const nd4c_call *call, nd4c_cl_options *options) {
  const nd4c_tensor *weights = nd4c_cl_input(call, ND4C_IN_mse_loss_weights);
  nd4c_cl_define_type(options, 'A', call->inputs[0].dtype);
  nd4c_cl_define_type(options, 'B', call->inputs[1].dtype);
  nd4c_cl_define_type(options, 'C', weights != NULL ? weights->dtype : call->inputs[0].dtype);
  nd4c_cl_define_type(options, 'Y', call->outputs[0].dtype);
  nd4c_cl_define_type(options, 'Z', call->output_count > 1 ? call->outputs[1].dtype : call->outputs[0].dtype);
  nd4c_cl_define_pair(options, call);
}

/* -- losses of elements -------------------------------------------------------------------------------------------- */

static double parameter_of(const nd4c_call *call) {
  switch (call->op->op) {
    case ND4C_OP_huber_loss:
      return call->attrs[ND4C_ATTR_huber_loss_delta].as.f;
    case ND4C_OP_smooth_l1_loss:
      return call->attrs[ND4C_ATTR_smooth_l1_loss_beta].as.f;
    case ND4C_OP_log_loss:
      return call->attrs[ND4C_ATTR_log_loss_epsilon].as.f;
    case ND4C_OP_sigmoid_cross_entropy:
      return call->attrs[ND4C_ATTR_sigmoid_cross_entropy_label_smoothing].as.f;
    case ND4C_OP_kl_divergence:
      return call->attrs[ND4C_ATTR_kl_divergence_log_target].as.i != 0 ? 1 : 0;
    default:
      return 0;
  }
}

static bool element_walk(const nd4c_call *call, nd4c_cl_walk *walk, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0];
  bool each = reduction_of(call) == ND4C_LOSS_REDUCTION_NONE;
  const nd4c_tensor *const all[] = {x, &call->inputs[1], nd4c_cl_input(call, ND4C_IN_mse_loss_weights),
                                    each ? &call->outputs[0] : NULL};
  return nd4c_cl_walk_make(walk, x->rank, x->shape, 4, all, reason, reason_size);
}

static bool element_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cl_walk walk;
  return nd4c_cl_call_usable(call, reason, reason_size) && element_walk(call, &walk, reason, reason_size);
}

static int64_t groups_of(const nd4c_call *call) {
  int64_t group = group_of(call), most = nd4c_cl_device_limits(call->device)->compute_units * GROUPS_PER_UNIT;
  int64_t groups = (call->inputs[0].size + group - 1) / group;
  most = most < 1 ? 1 : most > MOST_GROUPS ? MOST_GROUPS : most;
  return groups < 1 ? 1 : groups > most ? most : groups;
}

static int64_t element_scratch(const nd4c_call *call) {
  return reduction_of(call) == ND4C_LOSS_REDUCTION_NONE ? 0 : groups_of(call) * 2 * (int64_t)sizeof(double);
}

static nd4c_status element_run(const nd4c_call *call) {
  const nd4c_tensor *weights = nd4c_cl_input(call, ND4C_IN_mse_loss_weights);
  bool each = reduction_of(call) == ND4C_LOSS_REDUCTION_NONE;
  char reason[128], name[64];
  nd4c_cl_walk walk;
  nd4c_cl_options options = {{0}};
  nd4c_cl_launch launch;
  if (!element_walk(call, &walk, reason, sizeof reason))
    return nd4c_cl_host->fail(ND4C_INTERNAL, "%s: %s", call->op->name, reason);
  types(call, &options);
  (void)snprintf(name, sizeof name, "LOSS_%s", call->op->name);
  nd4c_cl_define(&options, name, "1");
  nd4c_cl_define(&options, "ELEMENT", "1");
  nd4c_cl_define_index(&options, call);
  nd4c_status status =
      nd4c_cl_begin(&launch, call, ND4C_CL_BY_PAIRS(call, "share+loss"), each ? "losses" : "loss_sums", &options);
  if (status != ND4C_OK)
    return status;
  nd4c_cl_arg_bytes(&launch, &walk, sizeof walk);
  nd4c_cl_arg_tensor(&launch, &call->inputs[0], ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, &call->inputs[1], ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, weights != NULL ? weights : &call->inputs[0], ND4C_CL_READ);
  nd4c_cl_arg_int(&launch, weights != NULL);
  nd4c_cl_arg_pair(&launch, parameter_of(call));
  if (each) {
    nd4c_cl_arg_tensor(&launch, &call->outputs[0], ND4C_CL_WRITE);
    return nd4c_cl_launch_run(&launch, 1, &walk.size, NULL);
  }
  int64_t group = nd4c_cl_kernel_fit(launch.kernel, group_of(call)), groups = groups_of(call), global = groups * group;
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_WRITE);
  nd4c_cl_arg_local(&launch, (size_t)group * sizeof(double));
  status = nd4c_cl_launch_run(&launch, 1, &global, &group);
  return status == ND4C_OK ? total(call, &options, groups, walk.size, false) : status;
}

/* -- losses of rows ------------------------------------------------------------------------------------------------ */

typedef struct row_plan {
  nd4c_cl_walk kept, inner, y;
  bool classes, softmax;
  int64_t class_step;
} row_plan;

static bool row_make(const nd4c_call *call, row_plan *p, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *target = &call->inputs[1], *y = &call->outputs[0];
  const nd4c_tensor *weights = nd4c_cl_input(call, ND4C_IN_mse_loss_weights);
  nd4c_op op = call->op->op;
  int64_t shape[ND4C_CL_MAX_RANK], strides[4][ND4C_CL_MAX_RANK] = {{0}}, inner[4] = {0};
  p->classes = op == ND4C_OP_nll_loss || op == ND4C_OP_softmax_cross_entropy;
  p->softmax = op == ND4C_OP_dense_cross_entropy || op == ND4C_OP_softmax_cross_entropy;
  int32_t axis = p->classes ? 1 : nd4c_axis(call->attrs[ND4C_ATTR_cosine_distance_axis].as.i, x->rank), rank = 0;
  const nd4c_tensor *logs = op == ND4C_OP_softmax_cross_entropy ? &call->outputs[1] : NULL;
  for (int32_t i = 0; i < x->rank; i++) {
    if (i == axis)
      continue;
    shape[rank] = x->shape[i];
    strides[0][rank] = x->strides[i];
    strides[1][rank] = target->strides[p->classes ? rank : i];
    strides[3][rank] = logs != NULL ? logs->strides[i] : 0;
    rank++;
  }
  for (int32_t i = 0; !p->classes && weights != NULL && i < weights->rank; i++) { /* broadcast to the rows */
    int32_t place = rank - weights->rank + i;
    strides[2][place] = weights->shape[i] == shape[place] ? weights->strides[i] : 0;
  }
  inner[0] = p->class_step = x->strides[axis];
  inner[1] = p->classes ? 0 : target->strides[axis];
  inner[3] = logs != NULL ? logs->strides[axis] : 0;
  const int64_t *const kept[] = {strides[0], strides[1], strides[2], strides[3]};
  const int64_t *const along[] = {&inner[0], &inner[1], &inner[2], &inner[3]};
  const nd4c_tensor *const results[] = {y};
  return nd4c_cl_walk_strides(&p->kept, rank, shape, 4, kept, reason, reason_size) &&
         nd4c_cl_walk_strides(&p->inner, 1, &x->shape[axis], 4, along, reason, reason_size) &&
         nd4c_cl_walk_make(&p->y, y->rank, y->shape, 1, results, reason, reason_size);
}

static bool row_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  row_plan p;
  return nd4c_cl_call_usable(call, reason, reason_size) && row_make(call, &p, reason, reason_size);
}

static int64_t row_scratch(const nd4c_call *call) {
  row_plan p;
  char reason[128];
  return row_make(call, &p, reason, sizeof reason) ? (p.kept.size + 1) * 2 * (int64_t)sizeof(double) : 0;
}

static nd4c_status row_results(const nd4c_call *call, const row_plan *p, const nd4c_cl_options *options) {
  nd4c_cl_launch launch;
  if (reduction_of(call) != ND4C_LOSS_REDUCTION_NONE)
    return total(call, options, p->kept.size, p->kept.size, p->classes);
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, ND4C_CL_BY_PAIRS(call, "share+loss"), "loss_rows_store", options));
  nd4c_cl_arg_bytes(&launch, &p->y, sizeof p->y);
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, &call->outputs[0], ND4C_CL_WRITE);
  return nd4c_cl_launch_run(&launch, 1, &p->y.size, NULL);
}

static nd4c_status row_run(const nd4c_call *call) {
  const nd4c_tensor *weights = nd4c_cl_input(call, ND4C_IN_mse_loss_weights), *y = &call->outputs[0];
  char reason[128];
  row_plan p;
  nd4c_cl_options options = {{0}};
  nd4c_cl_launch launch;
  if (!row_make(call, &p, reason, sizeof reason))
    return nd4c_cl_host->fail(ND4C_INTERNAL, "%s: %s", call->op->name, reason);
  types(call, &options);
  if (p.softmax)
    nd4c_cl_define(&options, "SOFTMAX", "1");
  if (p.classes)
    nd4c_cl_define(&options, "CLASSES", "1");
  nd4c_cl_define_index(&options, call);
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, ND4C_CL_BY_PAIRS(call, "share+loss"), "row_losses", &options));
  int64_t group = nd4c_cl_kernel_fit(launch.kernel, group_of(call)), global = p.kept.size * group;
  nd4c_cl_arg_bytes(&launch, &p.kept, sizeof p.kept);
  nd4c_cl_arg_bytes(&launch, &p.inner, sizeof p.inner);
  nd4c_cl_arg_tensor(&launch, &call->inputs[0], ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, &call->inputs[1], ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, weights != NULL ? weights : &call->inputs[0], ND4C_CL_READ);
  nd4c_cl_arg_long(&launch, p.classes && weights != NULL ? weights->strides[0] : 0);
  nd4c_cl_arg_int(&launch, weights != NULL);
  nd4c_cl_arg_tensor(&launch, call->output_count > 1 ? &call->outputs[1] : y, ND4C_CL_WRITE);
  nd4c_cl_arg_long(&launch, p.class_step);
  nd4c_cl_arg_long(&launch, p.classes ? call->attrs[ND4C_ATTR_nll_loss_ignore_index].as.i : 0);
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_WRITE);
  nd4c_cl_arg_local(&launch, (size_t)group * sizeof(double));
  nd4c_cl_arg_fault(&launch);
  nd4c_status status = nd4c_cl_launch_run(&launch, 1, &global, &group);
  return status == ND4C_OK ? row_results(call, &p, &options) : status;
}

#define ELEMENTS(X)        \
  X(mse_loss)              \
  X(l1_loss)               \
  X(hinge_loss)            \
  X(poisson_nll_loss)      \
  X(huber_loss)            \
  X(smooth_l1_loss)        \
  X(log_loss)              \
  X(sigmoid_cross_entropy) \
  X(kl_divergence)
#define ROWS(X)            \
  X(nll_loss)              \
  X(softmax_cross_entropy) \
  X(dense_cross_entropy)   \
  X(cosine_distance)
#define DEFINE_ELEMENT(op) ND4C_CL_KERNEL(op, ND4C_CL_FLOATS, element_usable, element_run, element_scratch)
#define DEFINE_ROW(op) ND4C_CL_KERNEL(op, ND4C_CL_FLOATS, row_usable, row_run, row_scratch)
ELEMENTS(DEFINE_ELEMENT)
ROWS(DEFINE_ROW)

#define LISTED(op) &opencl_##op,
const nd4c_kernel *const nd4c_cl_loss_kernels[] = {ELEMENTS(LISTED) ROWS(LISTED) NULL};
