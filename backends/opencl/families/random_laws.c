/* Random numbers with arrays of parameters. The device checks the parameters' values before anything is written, and
 * the verdict is read back. dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include "backends/opencl/families/random.h"
#include "backends/opencl/support/judge.h"

typedef struct law {
  const char *function;
  int32_t parameters; /* inputs behind the state */
  nd4c_cl_range allowed[ND4C_CL_JUDGED];
  double scale;
} law;

static const nd4c_cl_range probability = {0, 1, false}, trials = {0, 0x1p53, true}, rates = {0, 0x1p53, false},
                           finite = {0, 0x1.fffffffffffffp1023, false};

static nd4c_status judge(const nd4c_call *call, const law *l, const nd4c_tensor *const *parameters) {
  nd4c_cl_outlier outlier;
  ND4C_BACKEND_TRY(nd4c_cl_judge(call, l->parameters, parameters, l->allowed, &outlier));
  if (outlier.tensor < 0) {
    return ND4C_OK;
  }
  const nd4c_cl_range *range = &l->allowed[outlier.tensor];
  return nd4c_cl_host->fail(ND4C_ARGUMENT, "%s: element %lld of %s is %g, expected %s%g to %g", call->op->name,
                            (long long)outlier.place, call->op->inputs[1 + outlier.tensor].name, outlier.value,
                            range->whole ? "a whole number of " : "", range->least, range->most);
}

static nd4c_status draw(const nd4c_cl_step *step, const law *l) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *state = &call->inputs[0], *y = &call->outputs[0];
  const nd4c_tensor *first = &call->inputs[1], *last = &call->inputs[l->parameters];
  const nd4c_tensor *const parameters[ND4C_CL_JUDGED] = {first, last};
  const nd4c_tensor *const walked[] = {y, first, last};
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_tensors(step, &walk, y->rank, y->shape, 3, walked));
  if (nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(nd4c_cl_judge_check(step, l->parameters, parameters));
    return nd4c_cl_step_call(step);
  }
  ND4C_BACKEND_TRY(judge(call, l, parameters));
  nd4c_cl_options options = {""};
  nd4c_cl_define(&options, "OP", "op_%s", l->function);
  ND4C_CL_TYPES(&options, "ABCY", state->dtype, first->dtype, last->dtype, y->dtype);
  nd4c_cl_define_index(&options, call);
  return ND4C_CL_RUN_ITEMS(call, "convert+philox+normal+random_laws", "draw_law", options, walk.size,
                           ND4C_CL_STATE(state), ND4C_CL_IN(first), ND4C_CL_IN(last), ND4C_CL_OUT(y),
                           ND4C_CL_VALUE(walk), ND4C_CL_DOUBLE(l->scale));
}

static nd4c_status random_bernoulli(const nd4c_cl_step *step) {
  return draw(step, &(law){.function = "bernoulli", .parameters = 1, .allowed = {probability}});
}

static nd4c_status random_binomial(const nd4c_cl_step *step) {
  return draw(step, &(law){.function = "binomial", .parameters = 2, .allowed = {trials, probability}});
}

static nd4c_status random_poisson(const nd4c_cl_step *step) {
  return draw(step, &(law){.function = "poisson", .parameters = 1, .allowed = {rates}});
}

static nd4c_status random_gamma(const nd4c_cl_step *step) {
  return draw(step, &(law){.function = "gamma",
                           .parameters = 1,
                           .allowed = {finite},
                           .scale = ND4C_REAL_OF(step->call, random_gamma_scale)});
}

#define OPS(X)                                \
  X(random_bernoulli, random_bernoulli(step)) \
  X(random_binomial, random_binomial(step))   \
  X(random_gamma, random_gamma(step))         \
  X(random_poisson, random_poisson(step))
#define DEFINE_KERNEL(op, what) ND4C_CL_STEP_KERNEL(op, ND4C_CL_STATES, what, nd4c_cl_judge_scratch)
OPS(DEFINE_KERNEL)

const nd4c_kernel *const nd4c_cl_random_laws_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
