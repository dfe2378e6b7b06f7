/* The window of a conv or pool call, from its attributes and shapes. */
#ifndef ND4C_BACKENDS_CPU_WINDOW_H
#define ND4C_BACKENDS_CPU_WINDOW_H

#include "backends/cpu/cpu.h"
#include "kernels/reference/nn.h"

/* Positions of the attributes that say how windows lie; conv and pools differ. */
typedef struct nd4c_cpu_window_attrs {
  int32_t strides, pads, dilations, auto_pad;
} nd4c_cpu_window_attrs;

/* Inference has checked the call: this only repeats its arithmetic. `kernel` has one extent for each spatial axis. */
void nd4c_cpu_window(const nd4c_call *call, nd4c_cpu_window_attrs at, const int64_t *kernel, nd4c_ref_window *window);
void nd4c_cpu_conv_window(const nd4c_call *call, nd4c_ref_window *window);
void nd4c_cpu_pool_window(const nd4c_call *call, nd4c_ref_window *window);

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

#endif
