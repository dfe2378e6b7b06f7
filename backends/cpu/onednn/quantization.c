/* Implements quantization.h, for the kernels quantization_conv.c and quantization_matmul.c. */
#include "backends/cpu/onednn/quantization.h"

#include <math.h>

float nd4c_onednn_factor(const nd4c_call *call, const nd4c_onednn_scaled *at, int64_t channel) {
  float x = (float)nd4c_bytes_number(&call->inputs[at->x_scale], 0);
  float w = (float)nd4c_bytes_number(&call->inputs[at->w_scale], channel);
  return x * w / (float)nd4c_bytes_number(&call->inputs[at->y_scale], 0);
}

/* Whether whole numbers times the factor can lie in the middle between two bytes. A factor is M 2^-e with odd M; such
 * numbers are multiples of 2^(e - 1), and so at least M / 2 times a byte's range: M is below 512. */
static bool has_middles(float factor) {
  int exponent = 0;
  float fraction = ldexpf(frexpf(factor, &exponent), 9);
  return fraction == rintf(fraction);
}

const char *nd4c_onednn_refuse_factors(const nd4c_call *call, const nd4c_onednn_scaled *at) {
  const int64_t factors = call->inputs[at->w_scale].size;
  int64_t with_middles = 0;
  for (int64_t i = 0; i < factors; i++) {
    float factor = nd4c_onednn_factor(call, at, i);
    if (!(fabsf(factor) >= 0x1p-100F && fabsf(factor) <= 0x1p100F)) {
      return "x_scale w_scale / y_scale is 0, no number, or far from 1";
    }
    with_middles += has_middles(factor);
  }
  bool odd = ((int32_t)nd4c_bytes_number(&call->inputs[at->y_zero], 0) & 1) != 0;
  return odd && with_middles * 64 > factors
             ? "oneDNN rounds after it has added the zero point, which is odd: middles would go to odd numbers"
             : NULL;
}

const char *nd4c_onednn_refuse_scaled(const nd4c_call *call, const nd4c_onednn_scaled *at) {
  const int positions[] = {at->x_scale, at->x_scale + 1, at->w_scale, at->w_scale + 1, at->y_scale, at->y_zero};
  for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
    if ((call->inputs[positions[i]].flags & ND4C_TENSOR_CONSTANT) == 0) {
      return "a scale or zero point is not a constant";
    }
  }
  if (call->inputs[at->x_scale].dtype != ND4C_FLOAT32) {
    return "the scales are not float32";
  }
  bool known = true;
  for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
    known = known && call->inputs[positions[i]].data != NULL;
  }
  return known ? nd4c_onednn_refuse_factors(call, at) : NULL;
}

bool nd4c_onednn_accept_bytes(const char *why, nd4c_dtype dtype, char *reason, size_t reason_size) {
  return nd4c_onednn_accept(why, dtype, reason, reason_size) &&
         nd4c_onednn_accept(
             nd4c_onednn_get()->exact_bytes
                 ? NULL
                 : "oneDNN has no VNNI here: it may add products of bytes in 16 bits, where they saturate",
             dtype, reason, reason_size);
}
