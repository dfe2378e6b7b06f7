/* Steps of optimisers (sgd_step, adam_step and their kin): one kernel each, a row of the table below. dispatch/choice.c
 * chooses these kernels, dispatch/call.c runs them. */
#include "backends/opencl/support/reduction.h"

typedef struct optimizer {
  const char *what; /* STEP_<what> */
  bool has_v, has_h, has_step;
  double alpha, beta, decay, epsilon, extra;
} optimizer;

/* Reads x, the gradient, v, h, the rate and the step; writes x, v and h. An optimiser that lacks one of them passes x
 * in its place. */
static nd4c_status optimize(const nd4c_cl_step *step, const optimizer *by) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *next_x = &call->outputs[0];
  const nd4c_tensor *const rate = &call->inputs[2 + by->has_v + by->has_h];
  const nd4c_tensor *const given[6] = {
      x,    &call->inputs[1],           by->has_v ? &call->inputs[2] : x, by->has_h ? &call->inputs[2 + by->has_v] : x,
      rate, by->has_step ? rate + 1 : x};
  const nd4c_tensor *const next[3] = {next_x, by->has_v ? &call->outputs[1] : next_x,
                                      by->has_h ? &call->outputs[1 + by->has_v] : next_x};
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
  nd4c_cl_define(&options, by->what, "1");
  nd4c_cl_define_if(&options, by->has_v, "HAS_V");
  nd4c_cl_define_if(&options, by->has_h, "HAS_H");
  nd4c_cl_define_if(&options, by->has_step, "HAS_STEP");
  nd4c_cl_define_index(&options, call);
  return ND4C_CL_RUN(call, ND4C_CL_BY_PAIRS(call, "optimizer"), "optimize", options, given_walk.size,
                     ND4C_CL_VALUE(given_walk), ND4C_CL_VALUE(next_walk), ND4C_CL_IN(given[0]), ND4C_CL_IN(given[1]),
                     ND4C_CL_IN(given[2]), ND4C_CL_IN(given[3]), ND4C_CL_IN(given[4]), ND4C_CL_IN(given[5]),
                     ND4C_CL_OUT(next[0]), ND4C_CL_OUT(next[1]), ND4C_CL_OUT(next[2]),
                     ND4C_CL_PAIR(by->alpha, by->beta, by->decay, by->epsilon, by->extra));
}

/* X(op, what it is, has v, has h, has step, alpha, beta, decay, epsilon, extra) */
#define F(name) ND4C_REAL_OF(step->call, name)
#define OPS(X)                                                                                                        \
  X(sgd_step, "STEP_sgd", false, false, false, 0, 0, F(sgd_step_decay), 0, 0)                                         \
  X(momentum_step, ND4C_FLAG_OF(step->call, momentum_step_nesterov) ? "STEP_nesterov" : "STEP_momentum", true, false, \
    true, F(momentum_step_alpha), F(momentum_step_beta), F(momentum_step_decay), 0, 0)                                \
  X(adagrad_step, "STEP_adagrad", false, true, true, 0, 0, F(adagrad_step_decay), F(adagrad_step_epsilon),            \
    F(adagrad_step_rate_decay))                                                                                       \
  X(rmsprop_step, "STEP_rmsprop", false, true, false, F(rmsprop_step_alpha), 0, F(rmsprop_step_decay),                \
    F(rmsprop_step_epsilon), 0)                                                                                       \
  X(adam_step, "STEP_adam", true, true, true, F(adam_step_alpha), F(adam_step_beta), F(adam_step_decay),              \
    F(adam_step_epsilon), F(adam_step_decay_after))                                                                   \
  X(adamw_step, "STEP_adamw", true, true, true, F(adamw_step_alpha), F(adamw_step_beta), F(adamw_step_decay),         \
    F(adamw_step_epsilon), 0)
#define DEFINE(op, ...) ND4C_CL_STEP_KERNEL(op, ND4C_CL_FLOATS, optimize(step, &(optimizer){__VA_ARGS__}), NULL)
OPS(DEFINE)

const nd4c_kernel *const nd4c_cl_loss_optimizer_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
