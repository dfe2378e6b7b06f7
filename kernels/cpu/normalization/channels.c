/* Implements channels.h: bfloat16 is widened, computed and rounded in registers. Compiled once per level.
 * simd/normalization.c reads the table by nd4c_simd.channels. */
#include "kernels/cpu/normalization/channels.h"

#include <stddef.h>

#include "kernels/cpu/contraction/gemm_vector.h"

extern const nd4c_channels_table ND4C_LEVEL_NAME(nd4c_channels_table);

#ifndef ND4C_DTYPES_LITE
enum { LANES = VECTOR_BYTES / sizeof(float) };

typedef uint32_t wide_bits __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef uint16_t narrow_bits __attribute__((vector_size(VECTOR_BYTES / 2), aligned(2), may_alias));

/* Rounds as nd4c_bfloat16_round does: a NaN that arithmetic on widened numbers gives has zeros in its lower half. */
ND4C_INLINED narrow_bits rounded(vector_float32 x) {
  const wide_bits bits = (wide_bits)x;
  return __builtin_convertvector((bits + (0x7fff + (bits >> 16 & 1))) >> 16, narrow_bits);
}

static void each(int64_t n, const uint16_t *x, const float *a, const float *b, uint16_t *y) {
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    const vector_float32 result =
        vector_fused_float32(vector_load_bfloat16(x + i), vector_load_float32(a + i), vector_load_float32(b + i));
    *(narrow_bits *)(void *)(y + i) = rounded(result);
  }
  for (; i < n; i++) {
    y[i] = nd4c_bfloat16_from_float(ND4C_FMAF(nd4c_bfloat16_to_float(x[i]), a[i], b[i]));
  }
}

static void all(int64_t n, const uint16_t *x, float a, float b, uint16_t *y) {
  const vector_float32 factor = vector_repeat_float32(a), summand = vector_repeat_float32(b);
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    *(narrow_bits *)(void *)(y + i) = rounded(vector_fused_float32(vector_load_bfloat16(x + i), factor, summand));
  }
  for (; i < n; i++) {
    y[i] = nd4c_bfloat16_from_float(ND4C_FMAF(nd4c_bfloat16_to_float(x[i]), a, b));
  }
}
#endif

const nd4c_channels_table ND4C_LEVEL_NAME(nd4c_channels_table) = {
#ifndef ND4C_DTYPES_LITE
    .each = each,
    .all = all,
#else
    .each = NULL,
    .all = NULL,
#endif
};
