/* Random numbers whose elements are functions of the state and of their number alone: the state is read on the device.
 */
#include <stdio.h>

#include "backends/opencl/families/random.h"

#define BIT(NAME) ND4C_DTYPE_BIT(ND4C_##NAME)
#define STATES ND4C_CL_STATES

static bool fits(const nd4c_call *call, bool needs_fp64, char *reason, size_t reason_size) {
  nd4c_cl_walk walk;
  const nd4c_tensor *y = &call->outputs[0];
  if (needs_fp64 && !nd4c_cl_fp64_usable(call->device, reason, reason_size)) {
    return false;
  }
  return nd4c_cl_call_usable(call, reason, reason_size) &&
         nd4c_cl_walk_make(&walk, y->rank, y->shape, 1, &y, reason, reason_size);
}

static bool integers_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  return fits(call, false, reason, reason_size);
}

static bool numbers_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  return fits(call, true, reason, reason_size);
}

/* -- one element after the other ---------------------------------------------------------------------------------- */

typedef struct law {
  const char *function;
  double numbers[4];
  int64_t whole[2];
} law;

void nd4c_cl_arg_state(nd4c_cl_launch *launch, const nd4c_tensor *state, int64_t count) {
  nd4c_cl_arg_tensor(launch, state, ND4C_CL_READ);
  nd4c_cl_arg_long(launch, count > 0 ? state->strides[0] : 0);
  nd4c_cl_arg_long(launch, count);
}

static nd4c_status draw(const nd4c_call *call, const law *l) {
  const nd4c_tensor *state = &call->inputs[0], *y = &call->outputs[0];
  char reason[64];
  nd4c_cl_walk walk;
  (void)nd4c_cl_walk_make(&walk, y->rank, y->shape, 1, &y, reason, sizeof reason);
  nd4c_cl_options options = {""};
  nd4c_cl_define(&options, "OP", "op_%s", l->function);
  nd4c_cl_define_type(&options, 'A', state->dtype);
  nd4c_cl_define_type(&options, 'Y', y->dtype);
  nd4c_cl_define(&options, "NUMBER", "%s", nd4c_cl_wide(call) ? "double" : "float");
  nd4c_cl_define_index(&options, call);
  nd4c_cl_launch launch;
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, "convert+philox+normal+random", "draw", &options));
  nd4c_cl_arg_state(&launch, state, state->shape[0]);
  nd4c_cl_arg_tensor(&launch, y, ND4C_CL_WRITE);
  nd4c_cl_arg_bytes(&launch, &walk, sizeof walk);
  for (int32_t i = 0; i < 4; i++) {
    nd4c_cl_arg_real(&launch, l->numbers[i]);
  }
  nd4c_cl_arg_long(&launch, l->whole[0]);
  nd4c_cl_arg_long(&launch, l->whole[1]);
  return nd4c_cl_launch_run(&launch, 1, &walk.size, NULL);
}

static nd4c_status random_bits_run(const nd4c_call *call) {
  nd4c_dtype dtype = call->outputs[0].dtype;
  const law l = {.function = dtype == ND4C_INT64 || dtype == ND4C_UINT64 ? "bits64" : "bits32"};
  return draw(call, &l);
}

static nd4c_status random_integers_run(const nd4c_call *call) {
  int64_t low = call->attrs[ND4C_ATTR_random_integers_low].as.i;
  uint64_t range = (uint64_t)call->attrs[ND4C_ATTR_random_integers_high].as.i - (uint64_t)low;
  const law l = {.function = "integers", .whole = {low, (int64_t)range}};
  return draw(call, &l);
}

static nd4c_status random_advance_run(const nd4c_call *call) {
  const law l = {.function = "advance", .whole = {call->attrs[ND4C_ATTR_random_advance_steps].as.i}};
  return draw(call, &l);
}

static nd4c_status random_uniform_run(const nd4c_call *call) {
  nd4c_dtype dtype = call->outputs[0].dtype;
  const law l = {
      .function = dtype == ND4C_FLOAT64 ? "uniform64" : "uniform32",
      .numbers = {call->attrs[ND4C_ATTR_random_uniform_low].as.f, call->attrs[ND4C_ATTR_random_uniform_high].as.f},
      .whole = {dtype == ND4C_FLOAT16    ? 11
                : dtype == ND4C_BFLOAT16 ? 8
                                         : 24}};
  return draw(call, &l);
}

static nd4c_status normal(const nd4c_call *call, const char *function) {
  const law l = {
      .function = function,
      .numbers = {call->attrs[ND4C_ATTR_random_normal_mean].as.f, call->attrs[ND4C_ATTR_random_normal_scale].as.f}};
  return draw(call, &l);
}

static nd4c_status random_normal_run(const nd4c_call *call) {
  return normal(call, "normal");
}

static nd4c_status random_log_normal_run(const nd4c_call *call) {
  return normal(call, "log_normal");
}

static nd4c_status random_truncated_normal_run(const nd4c_call *call) {
  const law l = {.function = "truncated_normal",
                 .numbers = {call->attrs[ND4C_ATTR_random_truncated_normal_mean].as.f,
                             call->attrs[ND4C_ATTR_random_truncated_normal_scale].as.f,
                             call->attrs[ND4C_ATTR_random_truncated_normal_low].as.f,
                             call->attrs[ND4C_ATTR_random_truncated_normal_high].as.f}};
  return draw(call, &l);
}

static nd4c_status random_exponential_run(const nd4c_call *call) {
  const law l = {.function = "exponential", .numbers = {0, call->attrs[ND4C_ATTR_random_exponential_scale].as.f}};
  return draw(call, &l);
}

/* -- with an array beside the state ------------------------------------------------------------------------------- */

/* Begins a launch of dropout or rrelu: x, then y, and walks of y, x and, if there is one, the mask. */
static nd4c_status begin(const nd4c_call *call, const char *function, const nd4c_tensor *state, const nd4c_tensor *x,
                         nd4c_cl_walk *walk, nd4c_cl_launch *launch) {
  const nd4c_tensor *y = &call->outputs[0];
  const nd4c_tensor *walked[3] = {y, x, call->output_count > 1 ? &call->outputs[1] : NULL};
  char reason[128];
  if (!nd4c_cl_walk_make(walk, y->rank, y->shape, 3, walked, reason, sizeof reason)) {
    return nd4c_cl_host->fail(ND4C_INTERNAL, "%s", reason);
  }
  nd4c_cl_options options = {""};
  nd4c_cl_define(&options, "OP", "op_bits64");
  nd4c_cl_define_type(&options, 'A', state != NULL ? state->dtype : ND4C_INT64);
  nd4c_cl_define_type(&options, 'B', x->dtype);
  nd4c_cl_define_type(&options, 'Y', y->dtype);
  nd4c_cl_define(&options, "NUMBER", "double");
  nd4c_cl_define_index(&options, call);
  ND4C_BACKEND_TRY(nd4c_cl_begin(launch, call, "convert+philox+normal+random", function, &options));
  nd4c_cl_arg_state(launch, state != NULL ? state : x,
                    state != NULL ? state->shape[0] : 0); /* not read without a state */
  nd4c_cl_arg_tensor(launch, x, ND4C_CL_READ);
  nd4c_cl_arg_tensor(launch, y, ND4C_CL_WRITE);
  if (walked[2] != NULL) {
    nd4c_cl_arg_tensor(launch, walked[2], ND4C_CL_WRITE);
  }
  nd4c_cl_arg_bytes(launch, walk, sizeof *walk);
  return ND4C_OK;
}

static bool with_array_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *y = &call->outputs[0], *x = &call->inputs[call->op->op == ND4C_OP_rrelu ? 0 : 1];
  const nd4c_tensor *walked[3] = {y, x, call->output_count > 1 ? &call->outputs[1] : NULL};
  nd4c_cl_walk walk;
  return fits(call, true, reason, reason_size) &&
         nd4c_cl_walk_make(&walk, y->rank, y->shape, 3, walked, reason, reason_size);
}

static nd4c_status random_dropout_run(const nd4c_call *call) {
  nd4c_cl_walk walk;
  nd4c_cl_launch launch;
  ND4C_BACKEND_TRY(begin(call, "dropout", &call->inputs[0], &call->inputs[1], &walk, &launch));
  nd4c_cl_arg_double(&launch, call->attrs[ND4C_ATTR_random_dropout_rate].as.f);
  return nd4c_cl_launch_run(&launch, 1, &walk.size, NULL);
}

static nd4c_status rrelu_run(const nd4c_call *call) {
  bool seeded = call->input_count > ND4C_IN_rrelu_state && call->inputs[ND4C_IN_rrelu_state].dtype != ND4C_DTYPE_NONE;
  nd4c_cl_walk walk;
  nd4c_cl_launch launch;
  nd4c_status status =
      begin(call, "rrelu", seeded ? &call->inputs[ND4C_IN_rrelu_state] : NULL, &call->inputs[0], &walk, &launch);
  if (status != ND4C_OK) {
    return status;
  }
  nd4c_cl_arg_double(&launch, call->attrs[ND4C_ATTR_rrelu_low].as.f);
  nd4c_cl_arg_double(&launch, call->attrs[ND4C_ATTR_rrelu_high].as.f);
  return nd4c_cl_launch_run(&launch, 1, &walk.size, NULL);
}

/* -- kernels ------------------------------------------------------------------------------------------------------ */

/* X(op, usable, dtypes of the first input) */
#define OPS(X)                                       \
  X(random_advance, integers_usable, STATES)         \
  X(random_bits, integers_usable, STATES)            \
  X(random_integers, integers_usable, STATES)        \
  X(random_uniform, numbers_usable, STATES)          \
  X(random_normal, numbers_usable, STATES)           \
  X(random_log_normal, numbers_usable, STATES)       \
  X(random_truncated_normal, numbers_usable, STATES) \
  X(random_exponential, numbers_usable, STATES)      \
  X(random_dropout, with_array_usable, STATES)       \
  X(rrelu, with_array_usable, ND4C_CL_FLOATS)
#define DEFINE_KERNEL(op_name, usable_function, dtype_set) \
  ND4C_CL_KERNEL(op_name, dtype_set, usable_function, op_name##_run, NULL)
OPS(DEFINE_KERNEL)

#define KERNEL_ENTRY(op_name, ...) &opencl_##op_name,
const nd4c_kernel *const nd4c_cl_random_kernels[] = {OPS(KERNEL_ENTRY) NULL};
