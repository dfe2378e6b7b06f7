/* What the element-wise kernels of engine simd share: elementwise.c and the files of this folder. */
#ifndef ND4C_BACKENDS_CPU_SIMD_ELEMENTWISE_H
#define ND4C_BACKENDS_CPU_SIMD_ELEMENTWISE_H

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/nest.h"

/* Whether the calling thread computes the call in one piece: all operands are contiguous and have as many elements as
 * the output, which are few. cost: of one element, in the unit of nd4c_nest_run. */
static inline bool nd4c_simd_is_small(const nd4c_call *call, int32_t inputs, int32_t cost) {
  const nd4c_tensor *y = &call->outputs[0];
  uint32_t flags = y->flags;
  for (int32_t i = 0; i < inputs; i++) {
    flags &= call->inputs[i].flags;
    if (call->inputs[i].size != y->size) {
      return false;
    }
  }
  /* An empty output, whose data may be NULL, is not small: its size less 1 wraps. */
  return (flags & ND4C_TENSOR_CONTIGUOUS) && (uint64_t)y->size - 1 < (uint64_t)(ND4C_NEST_PIECE_COST / cost);
}

/* Computes the call's first output from its first two inputs, of any strides, or from its first. cost: of one element,
 * in the unit of nd4c_nest_run. stream: the loop for large results, or NULL. */
nd4c_status nd4c_simd_run_binary(const nd4c_call *call, const nd4c_binary_loops *loops, int32_t cost);
nd4c_status nd4c_simd_run_unary(const nd4c_call *call, nd4c_unary_loop loop, nd4c_unary_loop stream, int32_t cost,
                                const nd4c_unary_parameters *parameters);

#endif
