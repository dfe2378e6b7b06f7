/* Engine reference: reductions (sum, max, all, argmax, ...). dispatch/choice.c asks these kernels last, after those of
 * all other engines. */
#include "kernels/reference/reduction/reduction.h"
#include "backends/cpu/cpu.h"

static nd4c_status reduce(nd4c_reduction reduction, const nd4c_call *call, const bool *reduced, bool keepdims) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t strides[ND4C_CPU_MAX_RANK];
  nd4c_cpu_reduction_strides(x->rank, reduced, keepdims, y, strides);
  nd4c_operand input = {x->dtype, x->data, x->strides}, output = {y->dtype, y->data, strides};
  nd4c_reference_reduce(reduction, &input, x->rank, x->shape, reduced, &output);
  return ND4C_OK;
}

static nd4c_status run_axes(nd4c_reduction reduction, const nd4c_call *call) {
  bool reduced[ND4C_CPU_MAX_RANK];
  nd4c_cpu_reduced_axes(call->inputs[0].rank, &call->attrs[ND4C_ATTR_sum_axes], reduced);
  return reduce(reduction, call, reduced, ND4C_FLAG_OF(call, sum_keepdims));
}

static nd4c_status run_axis(nd4c_reduction reduction, const nd4c_call *call) {
  bool reduced[ND4C_CPU_MAX_RANK] = {false};
  if (call->inputs[0].rank > 0) {
    reduced[nd4c_axis(ND4C_INT_OF(call, argmax_axis), call->inputs[0].rank)] = true;
  }
  return reduce(reduction, call, reduced, ND4C_FLAG_OF(call, argmax_keepdims));
}

/* X(op, reduction, dtypes, how the attributes name the axes) */
#define OPS(X)                                                \
  X(sum, SUM, ND4C_CPU_ALL, axes)                             \
  X(prod, PROD, ND4C_CPU_ALL, axes)                           \
  X(mean, MEAN, ND4C_CPU_FLOATS | ND4C_CPU_COMPLEXES, axes)   \
  X(max, MAX, ND4C_CPU_ALL & ~ND4C_CPU_COMPLEXES, axes)       \
  X(min, MIN, ND4C_CPU_ALL & ~ND4C_CPU_COMPLEXES, axes)       \
  X(all, ALL, ND4C_CPU_ALL, axes)                             \
  X(any, ANY, ND4C_CPU_ALL, axes)                             \
  X(argmax, ARGMAX, ND4C_CPU_ALL & ~ND4C_CPU_COMPLEXES, axis) \
  X(argmin, ARGMIN, ND4C_CPU_ALL & ~ND4C_CPU_COMPLEXES, axis)

#define DEFINE_RUN(op, reduction, dtypes, how)          \
  static nd4c_status run_##op(const nd4c_call *call) {  \
    return run_##how(ND4C_REDUCTION_##reduction, call); \
  }
OPS(DEFINE_RUN)

#define KERNEL(op, reduction, dtypes, how) ND4C_CPU_REFERENCE_KERNEL(op, dtypes, run_##op),
const nd4c_kernel *const nd4c_cpu_reference_reduction_kernels[] = {OPS(KERNEL) NULL};
