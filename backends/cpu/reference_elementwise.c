/* Engine reference: element-wise ops. */
#include "backends/cpu/cpu.h"
#include "kernels/reference/elementwise.h"

/* Describes input `i` of the call, seen with the output's shape. */
static nd4c_operand describe_input(const nd4c_call *call, int32_t i, int64_t *strides) {
  const nd4c_tensor *input = &call->inputs[i];
  nd4c_cpu_broadcast_strides(input, &call->outputs[0], strides);
  return (nd4c_operand){input->dtype, input->data, strides};
}

static void map(nd4c_value_function function, int32_t count, const nd4c_operand *inputs, const nd4c_dtype *as,
                const nd4c_tensor *y) {
  nd4c_operand output = {y->dtype, y->data, y->strides};
  nd4c_reference_map(function, count, inputs, as, &output, y->rank, y->shape);
}

/* Runs a function on all inputs of the call, each cast to the dtype given for it. */
static void map_inputs(const nd4c_call *call, nd4c_value_function function, int32_t count, const nd4c_dtype *as) {
  int64_t strides[ND4C_REFERENCE_MAX_INPUTS][ND4C_CPU_MAX_RANK];
  nd4c_operand inputs[ND4C_REFERENCE_MAX_INPUTS];
  for (int32_t i = 0; i < count; i++)
    inputs[i] = describe_input(call, i, strides[i]);
  map(function, count, inputs, as, &call->outputs[0]);
}

#define RUN_UNARY(op_name)                                  \
  static nd4c_status run_##op_name(const nd4c_call *call) { \
    const nd4c_dtype as[1] = {ND4C_DTYPE_NONE};             \
    map_inputs(call, nd4c_value_##op_name, 1, as);          \
    return ND4C_OK;                                         \
  }
#define RUN_ARITHMETIC(op_name)                                                \
  static nd4c_status run_##op_name(const nd4c_call *call) {                    \
    const nd4c_dtype as[2] = {call->outputs[0].dtype, call->outputs[0].dtype}; \
    map_inputs(call, nd4c_value_##op_name, 2, as);                             \
    return ND4C_OK;                                                            \
  }
#define RUN_COMPARISON(op_name)                                  \
  static nd4c_status run_##op_name(const nd4c_call *call) {      \
    const nd4c_dtype as[2] = {ND4C_DTYPE_NONE, ND4C_DTYPE_NONE}; \
    map_inputs(call, nd4c_value_##op_name, 2, as);               \
    return ND4C_OK;                                              \
  }

static nd4c_status run_cast(const nd4c_call *call) {
  map_inputs(call, nd4c_value_copy, 1, &call->outputs[0].dtype);
  return ND4C_OK;
}

static nd4c_status run_where(const nd4c_call *call) {
  const nd4c_dtype as[3] = {ND4C_DTYPE_NONE, call->outputs[0].dtype, call->outputs[0].dtype};
  map_inputs(call, nd4c_value_where, 3, as);
  return ND4C_OK;
}

static nd4c_status run_gelu(const nd4c_call *call) {
  const nd4c_dtype as[1] = {ND4C_DTYPE_NONE};
  bool approximate = call->attrs[ND4C_ATTR_gelu_approximate].as.i != 0;
  map_inputs(call, approximate ? nd4c_value_gelu_tanh : nd4c_value_gelu, 1, as);
  return ND4C_OK;
}

static nd4c_status run_leaky_relu(const nd4c_call *call) {
  static const int64_t repeated[ND4C_CPU_MAX_RANK] = {0};
  const nd4c_dtype as[2] = {ND4C_DTYPE_NONE, ND4C_DTYPE_NONE};
  int64_t strides[ND4C_CPU_MAX_RANK];
  double alpha = call->attrs[ND4C_ATTR_leaky_relu_alpha].as.f;
  nd4c_operand inputs[2] = {describe_input(call, 0, strides), {ND4C_FLOAT64, (char *)&alpha, repeated}};
  map(nd4c_value_leaky_relu, 2, inputs, as, &call->outputs[0]);
  return ND4C_OK;
}

/* A low bound left out is x itself, which bounds nothing; without a high one the larger of x and low is the result. */
static nd4c_status run_clip(const nd4c_call *call) {
  nd4c_dtype y = call->outputs[0].dtype;
  const nd4c_dtype as[3] = {y, y, y};
  int64_t strides[3][ND4C_CPU_MAX_RANK];
  nd4c_operand inputs[3];
  for (int32_t i = 0; i < 3; i++) {
    bool given = i < call->input_count && call->inputs[i].dtype != ND4C_DTYPE_NONE;
    inputs[i] = describe_input(call, given ? i : 0, strides[i]);
  }
  bool bounded = call->input_count > 2 && call->inputs[2].dtype != ND4C_DTYPE_NONE;
  map(bounded ? nd4c_value_clip : nd4c_value_maximum, bounded ? 3 : 2, inputs, as, &call->outputs[0]);
  return ND4C_OK;
}

/* X(op, dtypes of the first input) */
#define UNARY_OPS(X)           \
  X(negative, ND4C_CPU_ALL)    \
  X(abs, ND4C_CPU_ALL)         \
  X(sign, ND4C_CPU_REALS)      \
  X(square, ND4C_CPU_ALL)      \
  X(sqrt, FLOATING)            \
  X(reciprocal, FLOATING)      \
  X(exp, FLOATING)             \
  X(log, FLOATING)             \
  X(sin, FLOATING)             \
  X(cos, FLOATING)             \
  X(tanh, FLOATING)            \
  X(erf, ND4C_CPU_FLOATS)      \
  X(sigmoid, ND4C_CPU_FLOATS)  \
  X(relu, ND4C_CPU_REALS)      \
  X(floor, ND4C_CPU_REALS)     \
  X(ceil, ND4C_CPU_REALS)      \
  X(round, ND4C_CPU_REALS)     \
  X(is_nan, ND4C_CPU_ALL)      \
  X(logical_not, ND4C_CPU_ALL) \
  X(copy, ND4C_CPU_ALL)
#define ARITHMETIC_OPS(X)   \
  X(add, ND4C_CPU_ALL)      \
  X(subtract, ND4C_CPU_ALL) \
  X(multiply, ND4C_CPU_ALL) \
  X(divide, ND4C_CPU_ALL)   \
  X(power, ND4C_CPU_ALL)    \
  X(maximum, ND4C_CPU_ALL)  \
  X(minimum, ND4C_CPU_ALL)
#define COMPARISON_OPS(X)        \
  X(equal, ND4C_CPU_ALL)         \
  X(not_equal, ND4C_CPU_ALL)     \
  X(less, ND4C_CPU_ALL)          \
  X(less_equal, ND4C_CPU_ALL)    \
  X(greater, ND4C_CPU_ALL)       \
  X(greater_equal, ND4C_CPU_ALL) \
  X(logical_and, ND4C_CPU_ALL)   \
  X(logical_or, ND4C_CPU_ALL)    \
  X(logical_xor, ND4C_CPU_ALL)
#define OTHER_OPS(X)             \
  X(cast, ND4C_CPU_ALL)          \
  X(where, ND4C_CPU_ALL)         \
  X(gelu, ND4C_CPU_FLOATS)       \
  X(leaky_relu, ND4C_CPU_FLOATS) \
  X(clip, ND4C_CPU_REALS)
#define FLOATING (ND4C_CPU_FLOATS | ND4C_CPU_COMPLEXES)

#define DEFINE_UNARY(op, dtypes) RUN_UNARY(op)
#define DEFINE_ARITHMETIC(op, dtypes) RUN_ARITHMETIC(op)
#define DEFINE_COMPARISON(op, dtypes) RUN_COMPARISON(op)
UNARY_OPS(DEFINE_UNARY)
ARITHMETIC_OPS(DEFINE_ARITHMETIC)
COMPARISON_OPS(DEFINE_COMPARISON)

#define ALL_OPS(X) UNARY_OPS(X) ARITHMETIC_OPS(X) COMPARISON_OPS(X) OTHER_OPS(X)
#define DEFINE_KERNEL(op, dtypes) ND4C_CPU_REFERENCE_KERNEL(op, dtypes, run_##op)
ALL_OPS(DEFINE_KERNEL)

#define KERNEL_ENTRY(op, dtypes) &reference_##op,
const nd4c_kernel *const nd4c_cpu_reference_elementwise_kernels[] = {ALL_OPS(KERNEL_ENTRY) NULL};
