/* Element-wise parts of neural networks: normalisation by given statistics, biases, steps of optimisers.
 * dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include <stdio.h>

#include "backends/opencl/support/reduction.h"

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
      step, "pointwise", "batch_norm", 1, 1, options,
      ND4C_CL_GIVEN_LIST(ND4C_CL_STRIDED(&by[0], READ), ND4C_CL_STRIDED(&by[1], READ), ND4C_CL_STRIDED(&by[2], READ),
                         ND4C_CL_STRIDED(&by[3], READ), ND4C_CL_REAL(call->attrs[ND4C_ATTR_batch_norm_epsilon].as.f)));
}

static nd4c_status lrn(const nd4c_cl_step *step) {
  const nd4c_tensor *x = &step->call->inputs[0];
  const nd4c_attr_value *attrs = step->call->attrs;
  return by_channel(step, "pointwise", "lrn", 1, 1, (nd4c_cl_options){""},
                    ND4C_CL_GIVEN_LIST(ND4C_CL_LONG(x->shape[1], x->strides[1], attrs[ND4C_ATTR_lrn_size].as.i),
                                       ND4C_CL_REAL(attrs[ND4C_ATTR_lrn_alpha].as.f, attrs[ND4C_ATTR_lrn_beta].as.f,
                                                    attrs[ND4C_ATTR_lrn_bias].as.f)));
}

static nd4c_status bias_add(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *bias = &call->inputs[ND4C_IN_bias_add_bias];
  int32_t axis = nd4c_axis(call->attrs[ND4C_ATTR_bias_add_axis].as.i, call->inputs[0].rank);
  nd4c_cl_options options = {""};
  nd4c_cl_define_type(&options, 'B', bias->dtype);
  nd4c_cl_define(&options, "ACTIVATION", "%d", (int)call->attrs[ND4C_ATTR_bias_add_activation].as.i);
  return by_channel(step, "activate+pointwise", "bias_add", axis, bias->strides[0], options,
                    ND4C_CL_GIVEN_LIST(ND4C_CL_IN(bias)));
}

/* -- optimisers ---------------------------------------------------------------------------------------------------- */

typedef struct optimizer {
  const char *what; /* STEP_<what> */
  bool has_v, has_h, has_step;
  double alpha, beta, decay, epsilon, extra;
} optimizer;

#define F(op, name) call->attrs[ND4C_ATTR_##op##_##name].as.f

static optimizer optimizer_of(const nd4c_call *call) {
  bool nesterov = call->op->op == ND4C_OP_momentum_step && call->attrs[ND4C_ATTR_momentum_step_nesterov].as.i != 0;
  switch (call->op->op) {
    case ND4C_OP_momentum_step:
      return (optimizer){nesterov ? "STEP_nesterov" : "STEP_momentum",
                         true,
                         false,
                         true,
                         F(momentum_step, alpha),
                         F(momentum_step, beta),
                         F(momentum_step, decay),
                         0,
                         0};
    case ND4C_OP_adagrad_step:
      return (optimizer){"STEP_adagrad",
                         false,
                         true,
                         true,
                         0,
                         0,
                         F(adagrad_step, decay),
                         F(adagrad_step, epsilon),
                         F(adagrad_step, rate_decay)};
    case ND4C_OP_rmsprop_step:
      return (optimizer){
          "STEP_rmsprop",           false, true, false, F(rmsprop_step, alpha), 0, F(rmsprop_step, decay),
          F(rmsprop_step, epsilon), 0};
    case ND4C_OP_adam_step:
      return (optimizer){"STEP_adam",
                         true,
                         true,
                         true,
                         F(adam_step, alpha),
                         F(adam_step, beta),
                         F(adam_step, decay),
                         F(adam_step, epsilon),
                         F(adam_step, decay_after)};
    case ND4C_OP_adamw_step:
      return (optimizer){
          "STEP_adamw",           true, true, true, F(adamw_step, alpha), F(adamw_step, beta), F(adamw_step, decay),
          F(adamw_step, epsilon), 0};
    default:
      return (optimizer){.what = "STEP_sgd", .decay = F(sgd_step, decay)};
  }
}

/* Reads x, the gradient, v, h, the rate and the step; writes x, v and h. x stands for a state that an optimiser does
 * not have. */
static nd4c_status optimize(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const optimizer by = optimizer_of(call);
  const nd4c_tensor *x = &call->inputs[0], *next_x = &call->outputs[0];
  const nd4c_tensor *const rate = &call->inputs[2 + by.has_v + by.has_h];
  const nd4c_tensor *const given[6] = {
      x,    &call->inputs[1],          by.has_v ? &call->inputs[2] : x, by.has_h ? &call->inputs[2 + by.has_v] : x,
      rate, by.has_step ? rate + 1 : x};
  const nd4c_tensor *const next[3] = {next_x, by.has_v ? &call->outputs[1] : next_x,
                                      by.has_h ? &call->outputs[1 + by.has_v] : next_x};
  nd4c_cl_walk given_walk, next_walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_tensors(step, &given_walk, x->rank, x->shape, 4, given));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_tensors(step, &next_walk, x->rank, x->shape, 3, next));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  nd4c_cl_options options = {""};
  ND4C_CL_TYPES(&options, "ABCDEFY", given[0]->dtype, given[1]->dtype, given[2]->dtype, given[3]->dtype,
                given[4]->dtype, given[5]->dtype, next_x->dtype);
  nd4c_cl_define_pair(&options, call);
  nd4c_cl_define(&options, "OP_step", "1");
  nd4c_cl_define(&options, by.what, "1");
  nd4c_cl_define_if(&options, by.has_v, "HAS_V");
  nd4c_cl_define_if(&options, by.has_h, "HAS_H");
  nd4c_cl_define_if(&options, by.has_step, "HAS_STEP");
  nd4c_cl_define_index(&options, call);
  return ND4C_CL_RUN(call, ND4C_CL_BY_PAIRS(call, "pointwise"), "optimize", options, given_walk.size,
                     ND4C_CL_VALUE(given_walk), ND4C_CL_VALUE(next_walk), ND4C_CL_IN(given[0]), ND4C_CL_IN(given[1]),
                     ND4C_CL_IN(given[2]), ND4C_CL_IN(given[3]), ND4C_CL_IN(given[4]), ND4C_CL_IN(given[5]),
                     ND4C_CL_OUT(next[0]), ND4C_CL_OUT(next[1]), ND4C_CL_OUT(next[2]),
                     ND4C_CL_PAIR(by.alpha, by.beta, by.decay, by.epsilon, by.extra));
}

#define OPS(X)                     \
  X(batch_norm, batch_norm(step))  \
  X(lrn, lrn(step))                \
  X(bias_add, bias_add(step))      \
  X(sgd_step, optimize(step))      \
  X(momentum_step, optimize(step)) \
  X(adagrad_step, optimize(step))  \
  X(rmsprop_step, optimize(step))  \
  X(adam_step, optimize(step))     \
  X(adamw_step, optimize(step))
#define DEFINE(op, what) ND4C_CL_STEP_KERNEL(op, ND4C_CL_FLOATS, what, NULL)
OPS(DEFINE)

const nd4c_kernel *const nd4c_cl_pointwise_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
