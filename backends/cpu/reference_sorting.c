/* Engine reference: sorting, searching, sets. */
#include "backends/cpu/reference.h"
#include "kernels/reference/sorting.h"

static nd4c_status nonzero_run(const nd4c_call *call) {
  nd4c_ref_tensor x = nd4c_cpu_ref_tensor(&call->inputs[0]);
  int64_t count = nd4c_ref_count_nonzero(&x);
  nd4c_ref_nonzero(&x, count, call->outputs[0].data);
  call->true_shapes[0][0] = call->outputs[0].shape[0];
  call->true_shapes[0][1] = count;
  return ND4C_OK;
}

ND4C_CPU_REFERENCE_KERNEL(nonzero, ND4C_CPU_ALL, nonzero_run)

const nd4c_kernel *const nd4c_cpu_reference_sorting_kernels[] = {&reference_nonzero, NULL};
