/* The loop of calls.h over one op. bench/ours.py loads it from libnd4c_bench.so and calls it through ctypes for
 * bench/compare. */
#include "calls.h"

#include "measure.h"

enum { MAX_OUTPUTS = 8 };

double bench_calls(nd4c_op op, const nd4c_array *const *inputs, int32_t input_count, const nd4c_attr_value *attrs,
                   nd4c_array **outputs, int32_t output_count, bool fresh, int64_t calls) {
  if (output_count > MAX_OUTPUTS) {
    return -1;
  }
  nd4c_array *made[MAX_OUTPUTS] = {NULL};
  nd4c_status status = ND4C_OK;
  double begin = bench_now();
  for (int64_t i = 0; i < calls && status == ND4C_OK; i++) {
    status = nd4c_op_call_positional(NULL, op, inputs, input_count, attrs, fresh ? made : outputs);
    for (int32_t k = 0; fresh && k < output_count; k++) {
      nd4c_array_release(made[k]);
      made[k] = NULL;
    }
  }
  return status == ND4C_OK ? (bench_now() - begin) / (double)calls : -1;
}
