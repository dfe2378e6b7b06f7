/* Engine reference: element-wise ops. */
#include "backends/cpu/reference/reference.h"
#include "kernels/reference/elementwise/elementwise.h"

/* Elements that a thread computes at least: some ten microseconds. */
enum { GRAIN = 1024 };

ND4C_CPU_RANGE(map_range, nd4c_map_range)

/* Inputs cast to `as[i]`, then numbers that are the same for every element. */
static void map(const nd4c_call *call, nd4c_value_function function, const nd4c_dtype *as, int32_t input_count,
                const nd4c_tensor *const *tensors, int32_t number_count, const double *numbers) {
  static const int64_t repeated[ND4C_CPU_MAX_RANK] = {0};
  const nd4c_tensor *y = &call->outputs[0];
  int64_t strides[ND4C_REFERENCE_MAX_INPUTS][ND4C_CPU_MAX_RANK];
  nd4c_operand output = {y->dtype, y->data, y->strides}, inputs[ND4C_REFERENCE_MAX_INPUTS];
  nd4c_dtype casts[ND4C_REFERENCE_MAX_INPUTS] = {ND4C_DTYPE_NONE};
  for (int32_t i = 0; i < input_count; i++) {
    nd4c_cpu_broadcast_strides(tensors[i], y, strides[i]);
    inputs[i] = (nd4c_operand){tensors[i]->dtype, tensors[i]->data, strides[i]};
    casts[i] = as[i];
  }
  double kept[ND4C_REFERENCE_MAX_INPUTS];
  for (int32_t i = 0; i < number_count; i++) {
    kept[i] = numbers[i];
    inputs[input_count + i] = (nd4c_operand){ND4C_FLOAT64, (char *)&kept[i], repeated};
  }
  nd4c_map job;
  nd4c_map_start(&job, function, input_count + number_count, inputs, casts, &output, y->rank, y->shape);
  /* Packed elements share bytes: one thread writes them all. Bits without an element are 0. */
  int bits = nd4c_packed_bits(y->dtype);
  nd4c_cpu_parallel(job.size, GRAIN, bits != 0 ? 1 : call->width, map_range, &job);
  for (int64_t i = y->size; bits != 0 && i * bits % 8 != 0; i++)
    nd4c_packed_set(y->data, i, bits, 0);
}

void nd4c_cpu_reference_map(const nd4c_call *call, nd4c_value_function function, nd4c_dtype as, int32_t number_count,
                            const double *numbers) {
  const nd4c_tensor *tensors[ND4C_REFERENCE_MAX_INPUTS];
  nd4c_dtype casts[ND4C_REFERENCE_MAX_INPUTS];
  for (int32_t i = 0; i < call->input_count; i++) {
    tensors[i] = &call->inputs[i];
    casts[i] = as;
  }
  map(call, function, casts, call->input_count, tensors, number_count, numbers);
}

#define RUN_UNARY(op_name)                                                        \
  static nd4c_status run_##op_name(const nd4c_call *call) {                       \
    nd4c_cpu_reference_map(call, nd4c_value_##op_name, ND4C_DTYPE_NONE, 0, NULL); \
    return ND4C_OK;                                                               \
  }
#define RUN_ARITHMETIC(op_name)                                                          \
  static nd4c_status run_##op_name(const nd4c_call *call) {                              \
    nd4c_cpu_reference_map(call, nd4c_value_##op_name, call->outputs[0].dtype, 0, NULL); \
    return ND4C_OK;                                                                      \
  }
#define RUN_COMPARISON(op_name)                                                   \
  static nd4c_status run_##op_name(const nd4c_call *call) {                       \
    nd4c_cpu_reference_map(call, nd4c_value_##op_name, ND4C_DTYPE_NONE, 0, NULL); \
    return ND4C_OK;                                                               \
  }

static nd4c_status run_cast(const nd4c_call *call) {
  nd4c_cpu_reference_map(call, nd4c_value_copy, call->outputs[0].dtype, 0, NULL);
  return ND4C_OK;
}

static nd4c_status run_where(const nd4c_call *call) {
  const nd4c_dtype as[3] = {ND4C_DTYPE_NONE, call->outputs[0].dtype, call->outputs[0].dtype};
  const nd4c_tensor *const tensors[3] = {&call->inputs[0], &call->inputs[1], &call->inputs[2]};
  map(call, nd4c_value_where, as, 3, tensors, 0, NULL);
  return ND4C_OK;
}

static nd4c_status run_leaky_relu(const nd4c_call *call) {
  double alpha = call->attrs[ND4C_ATTR_leaky_relu_alpha].as.f;
  nd4c_cpu_reference_map(call, nd4c_value_leaky_relu, ND4C_DTYPE_NONE, 1, &alpha);
  return ND4C_OK;
}

/* A low bound left out is x itself, which bounds nothing; without a high one the larger of x and low is the result. */
static nd4c_status run_clip(const nd4c_call *call) {
  nd4c_dtype x = call->inputs[0].dtype;
  const nd4c_dtype as[3] = {x, x, x};
  const nd4c_tensor *tensors[3];
  for (int32_t i = 0; i < 3; i++) {
    bool given = i < call->input_count && call->inputs[i].dtype != ND4C_DTYPE_NONE;
    tensors[i] = &call->inputs[given ? i : 0];
  }
  bool bounded = tensors[2] != tensors[0];
  map(call, bounded ? nd4c_value_clip : nd4c_value_maximum, as, bounded ? 3 : 2, tensors, 0, NULL);
  return ND4C_OK;
}

/* X(op, dtypes of the first input) */
#define UNARY_OPS(X)        \
  X(negative, ND4C_CPU_ALL) \
  X(abs, ND4C_CPU_ALL)      \
  X(sign, ND4C_CPU_ALL)     \
  X(square, ND4C_CPU_ALL)   \
  X(sqrt, FLOATING)         \
  X(reciprocal, FLOATING)   \
  X(exp, FLOATING)          \
  X(log, FLOATING)          \
  X(sin, FLOATING)          \
  X(cos, FLOATING)          \
  X(relu, ND4C_CPU_REALS)   \
  X(floor, ND4C_CPU_REALS)  \
  X(ceil, ND4C_CPU_REALS)   \
  X(round, ND4C_CPU_ALL)    \
  X(is_nan, ND4C_CPU_ALL)   \
  X(logical_not, ND4C_CPU_ALL)
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
  X(where, ND4C_CPU_ALL)         \
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
#define DEFINE_KERNEL(op, dtypes) ND4C_CPU_REFERENCE_KERNEL(op, dtypes, run_##op),
RUN_UNARY(copy)

const nd4c_kernel *const nd4c_cpu_reference_elementwise_kernels[] = {
    ALL_OPS(DEFINE_KERNEL) ND4C_CPU_REFERENCE_KERNEL_IF(copy, ND4C_CPU_STORED, nd4c_cpu_reference_stored, run_copy),
    ND4C_CPU_REFERENCE_KERNEL_IF(cast, ND4C_CPU_STORED, nd4c_cpu_reference_stored, run_cast), NULL};
