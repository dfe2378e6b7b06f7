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

nd4c_status nd4c_cpu_packed_panels(const nd4c_tensor *w, int64_t panel, bool channels_inside, float *to) {
  const int64_t outputs = w->shape[0], channels = w->shape[1], cells = w->shape[2] * w->shape[3];
  float zeros = 0;
  for (int64_t first = 0; first < outputs; first += panel) {
    for (int64_t term = 0; term < channels * cells; term++) {
      const int64_t cell = channels_inside ? term / channels : term % cells;
      const int64_t channel = channels_inside ? term % channels : term / cells;
      const float *from = (const float *)w->data + channel * w->strides[1] + cell / w->shape[3] * w->strides[2] +
                          cell % w->shape[3] * w->strides[3];
      for (int64_t o = first; o < first + panel; o++) {
        const float weight = o < outputs ? from[o * w->strides[0]] : 0;
        zeros += weight * 0; /* NaN, unless all are finite */
        *to++ = weight;
      }
    }
  }
  ND4C_CPU_FAIL_IF(zeros != 0, ND4C_UNSUPPORTED, "a weight is infinite or NaN: times the zeros of padding it is NaN");
  return ND4C_OK;
}

nd4c_status nd4c_cpu_packed_prepare(const nd4c_call *call, int32_t input, void **state) {
  ND4C_CPU_FAIL_IF(call->inputs[input].layout == ND4C_LAYOUT_STRIDED, ND4C_UNSUPPORTED,
                   "there is no memory for packed weights");
  *state = NULL;
  return ND4C_OK;
}
