/* Element-wise parts of neural networks: normalisation by given statistics, biases, steps of optimisers. */
#include <stdio.h>

#include "backends/opencl/support/reduction.h"

/* Walks x, y and a third operand of x's axes: a channel's number (bias NULL), or a bias, by one axis. */
static bool channel_walk(const nd4c_call *call, int32_t channel, const nd4c_tensor *bias, nd4c_cl_walk *walk,
                         char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t strides[ND4C_CL_MAX_RANK] = {0};
  strides[channel] = bias != NULL ? bias->strides[0] : 1;
  const int64_t *const all[] = {x->strides, y->strides, strides};
  return nd4c_cl_walk_strides(walk, x->rank, x->shape, 3, all, reason, reason_size);
}

static bool channel_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cl_walk walk;
  return nd4c_cl_call_usable(call, reason, reason_size) && channel_walk(call, 1, NULL, &walk, reason, reason_size);
}

/* Types of x and y, and the kernel. */
static nd4c_status begin(const nd4c_call *call, const char *sources, const char *function, nd4c_cl_options *options,
                         nd4c_cl_launch *launch) {
  char name[64];
  (void)snprintf(name, sizeof name, "OP_%s", call->op->name);
  nd4c_cl_define(options, name, "1");
  nd4c_cl_define_type(options, 'A', call->inputs[0].dtype);
  nd4c_cl_define_type(options, 'Y', call->outputs[0].dtype);
  nd4c_cl_define_real(options, call);
  nd4c_cl_define_index(options, call);
  return nd4c_cl_begin(launch, call, sources, function, options);
}

static void walked(nd4c_cl_launch *launch, const nd4c_cl_walk *walk) {
  nd4c_cl_arg_bytes(launch, walk, sizeof *walk);
  nd4c_cl_arg_tensor(launch, &launch->call->inputs[0], ND4C_CL_READ);
  nd4c_cl_arg_tensor(launch, &launch->call->outputs[0], ND4C_CL_WRITE);
}

static nd4c_status impossible(const nd4c_call *call, const char *reason) {
  return nd4c_cl_host->fail(ND4C_INTERNAL, "%s: %s", call->op->name, reason);
}

static nd4c_status batch_norm_run(const nd4c_call *call) {
  static const char letters[] = {'B', 'C', 'D', 'E'};
  char reason[128];
  nd4c_cl_walk walk;
  nd4c_cl_options options = {{0}};
  nd4c_cl_launch launch;
  if (!channel_walk(call, 1, NULL, &walk, reason, sizeof reason))
    return impossible(call, reason);
  for (int i = 0; i < 4; i++)
    nd4c_cl_define_type(&options, letters[i], call->inputs[1 + i].dtype);
  ND4C_BACKEND_TRY(begin(call, "pointwise", "batch_norm", &options, &launch));
  walked(&launch, &walk);
  for (int i = 0; i < 4; i++) { /* scale, bias, mean, variance */
    nd4c_cl_arg_tensor(&launch, &call->inputs[1 + i], ND4C_CL_READ);
    nd4c_cl_arg_long(&launch, call->inputs[1 + i].strides[0]);
  }
  nd4c_cl_arg_real(&launch, call->attrs[ND4C_ATTR_batch_norm_epsilon].as.f);
  return nd4c_cl_launch_run(&launch, 1, &walk.size, NULL);
}

static nd4c_status lrn_run(const nd4c_call *call) {
  char reason[128];
  nd4c_cl_walk walk;
  nd4c_cl_options options = {{0}};
  nd4c_cl_launch launch;
  if (!channel_walk(call, 1, NULL, &walk, reason, sizeof reason))
    return impossible(call, reason);
  ND4C_BACKEND_TRY(begin(call, "pointwise", "lrn", &options, &launch));
  walked(&launch, &walk);
  nd4c_cl_arg_long(&launch, call->inputs[0].shape[1]);
  nd4c_cl_arg_long(&launch, call->inputs[0].strides[1]);
  nd4c_cl_arg_long(&launch, call->attrs[ND4C_ATTR_lrn_size].as.i);
  nd4c_cl_arg_real(&launch, call->attrs[ND4C_ATTR_lrn_alpha].as.f);
  nd4c_cl_arg_real(&launch, call->attrs[ND4C_ATTR_lrn_beta].as.f);
  nd4c_cl_arg_real(&launch, call->attrs[ND4C_ATTR_lrn_bias].as.f);
  return nd4c_cl_launch_run(&launch, 1, &walk.size, NULL);
}

/* -- bias_add ------------------------------------------------------------------------------------------------------ */

static bool bias_walk(const nd4c_call *call, nd4c_cl_walk *walk, char *reason, size_t reason_size) {
  int32_t axis = nd4c_axis(call->attrs[ND4C_ATTR_bias_add_axis].as.i, call->inputs[0].rank);
  return channel_walk(call, axis, &call->inputs[ND4C_IN_bias_add_bias], walk, reason, reason_size);
}

static bool bias_add_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cl_walk walk;
  return nd4c_cl_call_usable(call, reason, reason_size) && bias_walk(call, &walk, reason, reason_size);
}

static nd4c_status bias_add_run(const nd4c_call *call) {
  const nd4c_tensor *bias = &call->inputs[ND4C_IN_bias_add_bias];
  char reason[128];
  nd4c_cl_walk walk;
  nd4c_cl_options options = {{0}};
  nd4c_cl_launch launch;
  if (!bias_walk(call, &walk, reason, sizeof reason))
    return impossible(call, reason);
  nd4c_cl_define_type(&options, 'B', bias->dtype);
  nd4c_cl_define(&options, "ACTIVATION", "%d", (int)call->attrs[ND4C_ATTR_bias_add_activation].as.i);
  ND4C_BACKEND_TRY(begin(call, "activate+pointwise", "bias_add", &options, &launch));
  walked(&launch, &walk);
  nd4c_cl_arg_tensor(&launch, bias, ND4C_CL_READ);
  return nd4c_cl_launch_run(&launch, 1, &walk.size, NULL);
}

/* -- optimisers ---------------------------------------------------------------------------------------------------- */

typedef struct optimizer {
  const char *what; /* STEP_<what> */
  bool has_v, has_h, has_step;
  double alpha, beta, decay, epsilon, extra;
} optimizer;

#define F(op, name) call->attrs[ND4C_ATTR_##op##_##name].as.f

static optimizer optimizer_of(const nd4c_call *call) {
  switch (call->op->op) {
    case ND4C_OP_momentum_step:
      return (optimizer){
          .what = call->attrs[ND4C_ATTR_momentum_step_nesterov].as.i != 0 ? "STEP_nesterov" : "STEP_momentum",
          .has_v = true,
          .has_step = true,
          .alpha = F(momentum_step, alpha),
          .beta = F(momentum_step, beta),
          .decay = F(momentum_step, decay)};
    case ND4C_OP_adagrad_step:
      return (optimizer){.what = "STEP_adagrad",
                         .has_h = true,
                         .has_step = true,
                         .decay = F(adagrad_step, decay),
                         .epsilon = F(adagrad_step, epsilon),
                         .extra = F(adagrad_step, rate_decay)};
    case ND4C_OP_rmsprop_step:
      return (optimizer){.what = "STEP_rmsprop",
                         .has_h = true,
                         .alpha = F(rmsprop_step, alpha),
                         .decay = F(rmsprop_step, decay),
                         .epsilon = F(rmsprop_step, epsilon)};
    case ND4C_OP_adam_step:
      return (optimizer){.what = "STEP_adam",
                         .has_v = true,
                         .has_h = true,
                         .has_step = true,
                         .alpha = F(adam_step, alpha),
                         .beta = F(adam_step, beta),
                         .decay = F(adam_step, decay),
                         .epsilon = F(adam_step, epsilon),
                         .extra = F(adam_step, decay_after)};
    case ND4C_OP_adamw_step:
      return (optimizer){.what = "STEP_adamw",
                         .has_v = true,
                         .has_h = true,
                         .has_step = true,
                         .alpha = F(adamw_step, alpha),
                         .beta = F(adamw_step, beta),
                         .decay = F(adamw_step, decay),
                         .epsilon = F(adamw_step, epsilon)};
    default:
      return (optimizer){.what = "STEP_sgd", .decay = F(sgd_step, decay)};
  }
}

typedef struct step_plan {
  optimizer by;
  const nd4c_tensor *given[6], *next[3]; /* x, gradient, v, h, rate, step; x, v, h */
  nd4c_cl_walk given_walk, next_walk;
} step_plan;

static bool step_make(const nd4c_call *call, step_plan *p, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0];
  int32_t at = 2, out = 1;
  p->by = optimizer_of(call);
  p->given[0] = x;
  p->given[1] = &call->inputs[1];
  p->given[2] = p->by.has_v ? &call->inputs[at++] : x;
  p->given[3] = p->by.has_h ? &call->inputs[at++] : x;
  p->given[4] = &call->inputs[at++];
  p->given[5] = p->by.has_step ? &call->inputs[at] : x;
  p->next[0] = &call->outputs[0];
  p->next[1] = p->by.has_v ? &call->outputs[out++] : p->next[0];
  p->next[2] = p->by.has_h ? &call->outputs[out] : p->next[0];
  return nd4c_cl_walk_make(&p->given_walk, x->rank, x->shape, 4, p->given, reason, reason_size) &&
         nd4c_cl_walk_make(&p->next_walk, x->rank, x->shape, 3, p->next, reason, reason_size);
}

static bool step_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  step_plan p;
  return nd4c_cl_call_usable(call, reason, reason_size) && step_make(call, &p, reason, reason_size);
}

static nd4c_status step_run(const nd4c_call *call) {
  static const char letters[] = {'A', 'B', 'C', 'D', 'E', 'F'};
  char reason[128];
  step_plan p;
  nd4c_cl_options options = {{0}};
  nd4c_cl_launch launch;
  if (!step_make(call, &p, reason, sizeof reason))
    return impossible(call, reason);
  for (int i = 0; i < 6; i++)
    nd4c_cl_define_type(&options, letters[i], p.given[i]->dtype);
  nd4c_cl_define_type(&options, 'Y', p.next[0]->dtype);
  nd4c_cl_define_pair(&options, call);
  nd4c_cl_define(&options, "OP_step", "1");
  nd4c_cl_define(&options, p.by.what, "1");
  if (p.by.has_v)
    nd4c_cl_define(&options, "HAS_V", "1");
  if (p.by.has_h)
    nd4c_cl_define(&options, "HAS_H", "1");
  if (p.by.has_step)
    nd4c_cl_define(&options, "HAS_STEP", "1");
  nd4c_cl_define_index(&options, call);
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, ND4C_CL_BY_PAIRS(call, "pointwise"), "optimize", &options));
  nd4c_cl_arg_bytes(&launch, &p.given_walk, sizeof p.given_walk);
  nd4c_cl_arg_bytes(&launch, &p.next_walk, sizeof p.next_walk);
  for (int i = 0; i < 6; i++)
    nd4c_cl_arg_tensor(&launch, p.given[i], ND4C_CL_READ);
  for (int i = 0; i < 3; i++)
    nd4c_cl_arg_tensor(&launch, p.next[i], ND4C_CL_WRITE);
  const double numbers[] = {p.by.alpha, p.by.beta, p.by.decay, p.by.epsilon, p.by.extra};
  for (int i = 0; i < 5; i++)
    nd4c_cl_arg_pair(&launch, numbers[i]);
  return nd4c_cl_launch_run(&launch, 1, &p.given_walk.size, NULL);
}

/* X(op, dtypes, usable, run) */
#define OPS(X)                                                  \
  X(batch_norm, ND4C_CL_FLOATS, channel_usable, batch_norm_run) \
  X(lrn, ND4C_CL_FLOATS, channel_usable, lrn_run)               \
  X(bias_add, ND4C_CL_FLOATS, bias_add_usable, bias_add_run)    \
  X(sgd_step, ND4C_CL_FLOATS, step_usable, step_run)            \
  X(momentum_step, ND4C_CL_FLOATS, step_usable, step_run)       \
  X(adagrad_step, ND4C_CL_FLOATS, step_usable, step_run)        \
  X(rmsprop_step, ND4C_CL_FLOATS, step_usable, step_run)        \
  X(adam_step, ND4C_CL_FLOATS, step_usable, step_run)           \
  X(adamw_step, ND4C_CL_FLOATS, step_usable, step_run)
#define DEFINE(op, dtypes, usable, run) ND4C_CL_KERNEL(op, dtypes, usable, run, NULL)
OPS(DEFINE)

#define LISTED(op, ...) &opencl_##op,
const nd4c_kernel *const nd4c_cl_pointwise_kernels[] = {OPS(LISTED) NULL};
