/* Implements packed_weights.h. */
#include "backends/cpu/support/packed_weights.h"

void nd4c_cpu_packed_describe(const nd4c_tensor *w, const char form[8], int64_t variant, nd4c_dtype dtype,
                              int64_t bytes, nd4c_layout *layout) {
  static const char owner[] = "simd";
  layout->tag = ND4C_LAYOUT_OPAQUE;
  layout->bytes = bytes;
  layout->dtype = dtype;
  layout->rank = w->rank;
  memcpy(layout->shape, w->shape, (size_t)w->rank * sizeof *w->shape);
  memcpy(layout->owner, owner, sizeof owner);
  memcpy(&layout->fingerprint, form, sizeof layout->fingerprint);
  layout->fingerprint += (uint64_t)variant;
}

nd4c_status nd4c_cpu_packed_prepare(const nd4c_call *call, int32_t input, void **state) {
  ND4C_CPU_FAIL_IF(call->inputs[input].layout == ND4C_LAYOUT_STRIDED, ND4C_UNSUPPORTED,
                   "there is no memory for packed weights");
  *state = NULL;
  return ND4C_OK;
}
