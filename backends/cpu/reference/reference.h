/* What the files of engine reference share: operands as the reference kernels see them, shares of the pool, and the
 * rows of a family's list. The headers of support/ include it for the same operands. */
#ifndef ND4C_BACKENDS_CPU_REFERENCE_REFERENCE_H
#define ND4C_BACKENDS_CPU_REFERENCE_REFERENCE_H

#include "backends/cpu/cpu.h"
#include "kernels/reference/elementwise/elementwise.h"
#include "kernels/reference/support/tensor.h"

/* Input `index` of the call, or NULL if it was left out. */
static inline const nd4c_tensor *nd4c_cpu_input(const nd4c_call *call, int32_t index) {
  return index < call->input_count && call->inputs[index].dtype != ND4C_DTYPE_NONE ? &call->inputs[index] : NULL;
}

/* A tensor as the reference kernels see it; no data for one left out. */
static inline nd4c_ref_tensor nd4c_cpu_ref_tensor(const nd4c_tensor *tensor) {
  nd4c_ref_tensor result = {.dtype = ND4C_DTYPE_NONE};
  if (tensor != NULL) {
    result = (nd4c_ref_tensor){tensor->dtype, tensor->rank, tensor->shape, tensor->strides, tensor->data};
  }
  return result;
}

/* An input, without data if it was left out, and an output. */
static inline nd4c_ref_tensor nd4c_cpu_ref_input(const nd4c_call *call, int32_t index) {
  return nd4c_cpu_ref_tensor(nd4c_cpu_input(call, index));
}
static inline nd4c_ref_tensor nd4c_cpu_ref_output(const nd4c_call *call, int32_t index) {
  return nd4c_cpu_ref_tensor(&call->outputs[index]);
}

/* A function on the call's inputs, all cast to `as` (NONE: as they are) and broadcast to the first output, and on
 * numbers that are the same for every element. */
void nd4c_cpu_reference_map(const nd4c_call *call, nd4c_value_function function, nd4c_dtype as, int32_t number_count,
                            const double *numbers);

/* Elements or rows that a piece of the pool computes at least: a few microseconds of work. */
static inline int64_t nd4c_cpu_grain(int64_t work_per_item) {
  int64_t items = 4096 / (work_per_item + 1);
  return items > 1 ? items : 1;
}

/* Runs the range over `count` items, each of work_per_item; the pool's threads share it if there is enough work. */
static inline nd4c_status nd4c_cpu_reference_parallel(const nd4c_call *call, int64_t count, int64_t work_per_item,
                                                      nd4c_range_function range, void *user) {
  if (count > 0) {
    nd4c_cpu_parallel(count, nd4c_cpu_grain(work_per_item), call->width, range, user);
  }
  return ND4C_OK;
}

/* A family's list has rows X(op, dtypes of the first operand) or X(op, dtypes, expression). The first macro defines
 * op##_run, which returns the row's expression of `call`; the others make the kernels' entries. */
#define ND4C_CPU_REFERENCE_RUN(op, dtypes, ...)        \
  static nd4c_status op##_run(const nd4c_call *call) { \
    return __VA_ARGS__;                                \
  }
#define ND4C_CPU_REFERENCE_ROW(op, ...) ND4C_CPU_REFERENCE_ROW_(op, __VA_ARGS__, 0)
#define ND4C_CPU_REFERENCE_ROW_(op, dtypes, ...) ND4C_CPU_REFERENCE_KERNEL(op, dtypes, op##_run),
#define ND4C_CPU_REFERENCE_STORED(op, ...) ND4C_CPU_REFERENCE_STORED_(op, __VA_ARGS__, 0)
#define ND4C_CPU_REFERENCE_STORED_(op, dtypes, ...) \
  ND4C_CPU_REFERENCE_KERNEL_IF(op, dtypes, nd4c_cpu_reference_stored, op##_run),

#endif
