/* What the kernels of quantised ops share that scale, round and saturate in oneDNN: quantization_conv.c and
 * quantization_matmul.c include it. Scales and zero points are constants of the call. */
#ifndef ND4C_BACKENDS_CPU_ONEDNN_QUANTIZATION_H
#define ND4C_BACKENDS_CPU_ONEDNN_QUANTIZATION_H

#include "backends/cpu/onednn/onednn.h"
#include "backends/cpu/support/quantization_product.h"

/* Positions of a call's scales and of the zero point of its result. */
typedef struct nd4c_onednn_scaled {
  int x_scale, w_scale, y_scale, y_zero;
} nd4c_onednn_scaled;

/* x_scale w_scale / y_scale of one channel, rounded as the ops say. */
float nd4c_onednn_factor(const nd4c_call *call, const nd4c_onednn_scaled *at, int64_t channel);

/* What a call is refused for before it is prepared: scales and zero points that are no constants of float32, and, if
 * their numbers are there, what refuse_factors says; NULL: nothing. Of the inputs only the first, and b of a matmul,
 * may vary. */
const char *nd4c_onednn_refuse_scaled(const nd4c_call *call, const nd4c_onednn_scaled *at);
/* What it is refused for when it is prepared: factors that are 0 or no numbers, and factors with which results lie in
 * the middle between two bytes, if the zero point of y is odd. */
const char *nd4c_onednn_refuse_factors(const nd4c_call *call, const nd4c_onednn_scaled *at);
/* nd4c_onednn_accept, and whether oneDNN's products of bytes are exact here. */
bool nd4c_onednn_accept_bytes(const char *why, nd4c_dtype dtype, char *reason, size_t reason_size);

#endif
