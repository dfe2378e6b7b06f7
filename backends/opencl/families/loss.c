/* Losses of elements and of rows, and their reduction. dispatch/choice.c asks these kernels for arrays on OpenCL
 * devices. */
#include <stdio.h>

#include "backends/opencl/support/reduction.h"

enum { GROUP = 128, GROUPS_PER_UNIT = 8, MOST_GROUPS = 1024 };

#define SOURCES(call) ND4C_CL_BY_PAIRS(call, "share+loss")

static int64_t group_of(const nd4c_call *call) {
  return nd4c_cl_group_within(call, GROUP, sizeof(double));
}

static int64_t reduction_of(const nd4c_call *call) {
  return ND4C_INT_OF(call, mse_loss_reduction);
}

static const nd4c_tensor *weights_of(const nd4c_call *call) {
  return nd4c_cl_input(call, ND4C_IN_mse_loss_weights);
}

/* The sum of pairs in the scratch buffer, or a mean; of: elements. */
static nd4c_status total(const nd4c_call *call, const nd4c_cl_options *options, int64_t count, int64_t of,
                         bool by_share) {
  int64_t reduction = reduction_of(call);
  bool shares = reduction == ND4C_LOSS_REDUCTION_MEAN_BY_WEIGHT || (reduction == ND4C_LOSS_REDUCTION_MEAN && by_share);
  return ND4C_CL_RUN_GROUPS(call, SOURCES(call), "loss_total", *options, 1, group_of(call), ND4C_CL_SCRATCH(READ),
                            ND4C_CL_LONG(count, of),
                            ND4C_CL_INT(shares                                  ? 2
                                        : reduction == ND4C_LOSS_REDUCTION_MEAN ? 1
                                                                                : 0),
                            ND4C_CL_OUT(&call->outputs[0]), ND4C_CL_LOCAL_EACH(sizeof(double)));
}

static nd4c_cl_options options_of(const nd4c_call *call) {
  const nd4c_dtype x = call->inputs[0].dtype, y = call->outputs[0].dtype;
  nd4c_cl_options options = {""};
  ND4C_CL_TYPES(&options, "ABCYZ", x, call->inputs[1].dtype, nd4c_cl_dtype_of(weights_of(call), x), y,
                call->output_count > 1 ? call->outputs[1].dtype : y);
  nd4c_cl_define_pair(&options, call);
  nd4c_cl_define_index(&options, call);
  return options;
}

/* -- losses of elements -------------------------------------------------------------------------------------------- */

static double parameter_of(const nd4c_call *call) {
  switch (call->op->op) {
    case ND4C_OP_huber_loss:
      return ND4C_REAL_OF(call, huber_loss_delta);
    case ND4C_OP_smooth_l1_loss:
      return ND4C_REAL_OF(call, smooth_l1_loss_beta);
    case ND4C_OP_log_loss:
      return ND4C_REAL_OF(call, log_loss_epsilon);
    case ND4C_OP_sigmoid_cross_entropy:
      return ND4C_REAL_OF(call, sigmoid_cross_entropy_label_smoothing);
    case ND4C_OP_kl_divergence:
      return ND4C_FLAG_OF(call, kl_divergence_log_target) ? 1 : 0;
    default:
      return 0;
  }
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

static nd4c_status losses_of_elements(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0], *weights = weights_of(call);
  bool each = reduction_of(call) == ND4C_LOSS_REDUCTION_NONE;
  const nd4c_tensor *const walked[] = {x, &call->inputs[1], weights, each ? y : NULL};
  char name[64];
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_tensors(step, &walk, x->rank, x->shape, 4, walked));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  nd4c_cl_options options = options_of(call);
  (void)snprintf(name, sizeof name, "LOSS_%s", call->op->name);
  nd4c_cl_define(&options, name, "1");
  nd4c_cl_define(&options, "ELEMENT", "1");
#define OPERANDS                                                                                                       \
  ND4C_CL_VALUE(walk), ND4C_CL_IN(x), ND4C_CL_IN(&call->inputs[1]), ND4C_CL_IN(weights), ND4C_CL_INT(weights != NULL), \
      ND4C_CL_PAIR(parameter_of(call))
  if (each) {
    return ND4C_CL_RUN(call, SOURCES(call), "losses", options, walk.size, OPERANDS, ND4C_CL_OUT(y));
  }
  int64_t groups = groups_of(call);
  ND4C_BACKEND_TRY(ND4C_CL_RUN_GROUPS(call, SOURCES(call), "loss_sums", options, groups, group_of(call), OPERANDS,
                                      ND4C_CL_SCRATCH(WRITE), ND4C_CL_LOCAL_EACH(sizeof(double))));
#undef OPERANDS
  return total(call, &options, groups, walk.size, false);
}

/* -- losses of rows ------------------------------------------------------------------------------------------------ */

typedef struct row_plan {
  nd4c_cl_walk kept, inner, y;
  bool classes, softmax;
  int64_t class_step;
} row_plan;

static nd4c_status row_make(const nd4c_cl_step *step, row_plan *p) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *target = &call->inputs[1], *y = &call->outputs[0];
  const nd4c_tensor *weights = weights_of(call);
  nd4c_op op = call->op->op;
  int64_t shape[ND4C_CL_MAX_RANK], strides[4][ND4C_CL_MAX_RANK] = {{0}}, inner[4] = {0};
  p->classes = op == ND4C_OP_nll_loss || op == ND4C_OP_softmax_cross_entropy;
  p->softmax = op == ND4C_OP_dense_cross_entropy || op == ND4C_OP_softmax_cross_entropy;
  int32_t axis = p->classes ? 1 : nd4c_axis(ND4C_INT_OF(call, cosine_distance_axis), x->rank), rank = 0;
  const nd4c_tensor *logs = op == ND4C_OP_softmax_cross_entropy ? &call->outputs[1] : NULL;
  for (int32_t i = 0; i < x->rank; i++) {
    if (i == axis) {
      continue;
    }
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
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &p->kept, rank, shape, 4, kept));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &p->inner, 1, &x->shape[axis], 4, along));
  return nd4c_cl_step_walk_all(step, &p->y, y);
}

static int64_t row_scratch(const nd4c_call *call) {
  row_plan p;
  char reason[128];
  const nd4c_cl_step dry = {call, reason, sizeof reason};
  return row_make(&dry, &p) == ND4C_OK ? (p.kept.size + 1) * 2 * (int64_t)sizeof(double) : 0;
}

static nd4c_status losses_of_rows(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *weights = weights_of(call), *y = &call->outputs[0];
  row_plan p;
  ND4C_BACKEND_TRY(row_make(step, &p));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  nd4c_cl_options options = options_of(call);
  nd4c_cl_define_if(&options, p.softmax, "SOFTMAX");
  nd4c_cl_define_if(&options, p.classes, "CLASSES");
  ND4C_BACKEND_TRY(
      ND4C_CL_RUN_GROUPS(call, SOURCES(call), "row_losses", options, p.kept.size, group_of(call), ND4C_CL_VALUE(p.kept),
                         ND4C_CL_VALUE(p.inner), ND4C_CL_IN(&call->inputs[0]), ND4C_CL_IN(&call->inputs[1]),
                         ND4C_CL_IN(weights), ND4C_CL_LONG(p.classes ? nd4c_cl_stride_of(weights, 0) : 0),
                         ND4C_CL_INT(weights != NULL), ND4C_CL_OUT(call->output_count > 1 ? &call->outputs[1] : y),
                         ND4C_CL_LONG(p.class_step, p.classes ? ND4C_INT_OF(call, nll_loss_ignore_index) : 0),
                         ND4C_CL_SCRATCH(WRITE), ND4C_CL_LOCAL_EACH(sizeof(double)), ND4C_CL_FAULT));
  return reduction_of(call) != ND4C_LOSS_REDUCTION_NONE
             ? total(call, &options, p.kept.size, p.kept.size, p.classes)
             : ND4C_CL_RUN(call, SOURCES(call), "loss_rows_store", options, p.y.size, ND4C_CL_VALUE(p.y),
                           ND4C_CL_SCRATCH(READ), ND4C_CL_OUT(y));
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
#define DEFINE_ELEMENT(op) ND4C_CL_STEP_KERNEL(op, ND4C_CL_FLOATS, losses_of_elements(step), element_scratch)
#define DEFINE_ROW(op) ND4C_CL_STEP_KERNEL(op, ND4C_CL_FLOATS, losses_of_rows(step), row_scratch)
ELEMENTS(DEFINE_ELEMENT)
ROWS(DEFINE_ROW)

const nd4c_kernel *const nd4c_cl_loss_kernels[] = {ELEMENTS(ND4C_CL_LISTED_OP) ROWS(ND4C_CL_LISTED_OP) NULL};
