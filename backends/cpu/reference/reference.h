/* What the files of engine reference share. */
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

/* A function on the call's inputs, all cast to `as` (NONE: as they are) and broadcast to the first output, and on
 * numbers that are the same for every element. */
void nd4c_cpu_reference_map(const nd4c_call *call, nd4c_value_function function, nd4c_dtype as, int32_t number_count,
                            const double *numbers);

/* Elements or rows that a piece of the pool computes at least: a few microseconds of work. */
static inline int64_t nd4c_cpu_grain(int64_t work_per_item) {
  int64_t items = 4096 / (work_per_item + 1);
  return items > 1 ? items : 1;
}

#endif
