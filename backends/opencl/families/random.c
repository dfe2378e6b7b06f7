/* Random numbers of which each depends only on the state and on its position. The device reads the state.
 * dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include "backends/opencl/families/random.h"
#include "backends/opencl/support/moving.h"

#define SOURCES "convert+philox+normal+random"

/* -- one element after the other ---------------------------------------------------------------------------------- */

typedef struct law {
  const char *function;
  double numbers[4];
  int64_t whole[2];
} law;

static nd4c_status draw(const nd4c_cl_step *step, bool needs_fp64, const law *l) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *state = &call->inputs[0], *y = &call->outputs[0];
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &walk, y));
  if (nd4c_cl_is_dry(step)) {
    return needs_fp64 ? nd4c_cl_step_fp64(step) : nd4c_cl_step_call(step);
  }
  nd4c_cl_options options = {""};
  nd4c_cl_define(&options, "OP", "op_%s", l->function);
  ND4C_CL_TYPES(&options, "AY", state->dtype, y->dtype);
  nd4c_cl_define(&options, "NUMBER", "%s", nd4c_cl_wide(call) ? "double" : "float");
  nd4c_cl_define_index(&options, call);
  return ND4C_CL_RUN(call, SOURCES, "draw", options, walk.size, ND4C_CL_STATE(state), ND4C_CL_OUT(y),
                     ND4C_CL_VALUE(walk), ND4C_CL_REAL(l->numbers[0], l->numbers[1], l->numbers[2], l->numbers[3]),
                     ND4C_CL_LONG(l->whole[0], l->whole[1]));
}

static nd4c_status random_bits(const nd4c_cl_step *step) {
  nd4c_dtype dtype = step->call->outputs[0].dtype;
  return draw(step, false, &(law){.function = dtype == ND4C_INT64 || dtype == ND4C_UINT64 ? "bits64" : "bits32"});
}

static nd4c_status random_integers(const nd4c_cl_step *step) {
  int64_t low = ND4C_INT_OF(step->call, random_integers_low);
  uint64_t range = (uint64_t)ND4C_INT_OF(step->call, random_integers_high) - (uint64_t)low;
  return draw(step, false, &(law){.function = "integers", .whole = {low, (int64_t)range}});
}

static nd4c_status random_advance(const nd4c_cl_step *step) {
  int64_t steps = ND4C_INT_OF(step->call, random_advance_steps);
  return draw(step, false, &(law){.function = "advance", .whole = {steps}});
}

static nd4c_status random_uniform(const nd4c_cl_step *step) {
  nd4c_dtype dtype = step->call->outputs[0].dtype;
  const nd4c_attr_value *attrs = step->call->attrs;
  int64_t bits = dtype == ND4C_FLOAT16 ? 11 : dtype == ND4C_BFLOAT16 ? 8 : 24;
  return draw(step, true,
              &(law){.function = dtype == ND4C_FLOAT64 ? "uniform64" : "uniform32",
                     .numbers = {attrs[ND4C_ATTR_random_uniform_low].as.f, attrs[ND4C_ATTR_random_uniform_high].as.f},
                     .whole = {bits}});
}

/* Laws of two or four numbers, which are attributes one behind the other. */
static nd4c_status normal(const nd4c_cl_step *step, const char *function, const nd4c_attr_value *numbers,
                          int32_t count) {
  law l = {.function = function};
  for (int32_t i = 0; i < count; i++) {
    l.numbers[i] = numbers[i].as.f;
  }
  return draw(step, true, &l);
}

static nd4c_status random_exponential(const nd4c_cl_step *step) {
  double scale = ND4C_REAL_OF(step->call, random_exponential_scale);
  return draw(step, true, &(law){.function = "exponential", .numbers = {0, scale}});
}

/* -- with an array beside the state ------------------------------------------------------------------------------- */

/* dropout or rrelu: x, then y, and walks of y, x and, if there is one, the mask; the attributes from `numbers` on. */
static nd4c_status with_array(const nd4c_cl_step *step, const nd4c_tensor *state, const nd4c_tensor *x,
                              const nd4c_attr_value *numbers) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *y = &call->outputs[0], *mask = call->output_count > 1 ? &call->outputs[1] : NULL;
  const nd4c_tensor *const walked[3] = {y, x, mask};
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_tensors(step, &walk, y->rank, y->shape, 3, walked));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_fp64(step);
  }
  nd4c_cl_options options = {""};
  nd4c_cl_define(&options, "OP", "op_bits64");
  ND4C_CL_TYPES(&options, "ABY", nd4c_cl_dtype_of(state, ND4C_INT64), x->dtype, y->dtype);
  nd4c_cl_define(&options, "NUMBER", "double");
  nd4c_cl_define_index(&options, call);
  const int64_t count = state != NULL ? state->shape[0] : 0; /* x stands for a state that is not there */
  return mask != NULL
             ? ND4C_CL_RUN(call, SOURCES, "dropout", options, walk.size, ND4C_CL_STATE(state), ND4C_CL_IN(x),
                           ND4C_CL_OUT(y), ND4C_CL_OUT(mask), ND4C_CL_VALUE(walk), ND4C_CL_DOUBLE(numbers[0].as.f))
             : ND4C_CL_RUN(call, SOURCES, "rrelu", options, walk.size, ND4C_CL_IN(state),
                           ND4C_CL_LONG(nd4c_cl_stride_of(state, 0), count), ND4C_CL_IN(x), ND4C_CL_OUT(y),
                           ND4C_CL_VALUE(walk), ND4C_CL_DOUBLE(numbers[0].as.f, numbers[1].as.f));
}

static nd4c_status random_dropout(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  return with_array(step, &call->inputs[0], &call->inputs[1], &call->attrs[ND4C_ATTR_random_dropout_rate]);
}

static nd4c_status rrelu(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  return with_array(step, nd4c_cl_input(call, ND4C_IN_rrelu_state), &call->inputs[0],
                    &call->attrs[ND4C_ATTR_rrelu_low]);
}

/* -- kernels ------------------------------------------------------------------------------------------------------ */

#define AT(name) &step->call->attrs[ND4C_ATTR_##name]
#define OPS(X)                                                                                                      \
  X(random_advance, ND4C_CL_STATES, random_advance(step))                                                           \
  X(random_bits, ND4C_CL_STATES, random_bits(step))                                                                 \
  X(random_integers, ND4C_CL_STATES, random_integers(step))                                                         \
  X(random_uniform, ND4C_CL_STATES, random_uniform(step))                                                           \
  X(random_normal, ND4C_CL_STATES, normal(step, "normal", AT(random_normal_mean), 2))                               \
  X(random_log_normal, ND4C_CL_STATES, normal(step, "log_normal", AT(random_log_normal_mean), 2))                   \
  X(random_truncated_normal, ND4C_CL_STATES, normal(step, "truncated_normal", AT(random_truncated_normal_mean), 4)) \
  X(random_exponential, ND4C_CL_STATES, random_exponential(step))                                                   \
  X(random_dropout, ND4C_CL_STATES, random_dropout(step))                                                           \
  X(rrelu, ND4C_CL_FLOATS, rrelu(step))
#define DEFINE_KERNEL(op, dtypes, what) ND4C_CL_STEP_KERNEL(op, dtypes, what, NULL)
OPS(DEFINE_KERNEL)

const nd4c_kernel *const nd4c_cl_random_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
