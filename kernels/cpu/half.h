/* Runs of 16-bit floats to f32 and back. */
#ifndef ND4C_KERNELS_CPU_HALF_H
#define ND4C_KERNELS_CPU_HALF_H

#include "kernels/cpu/level.h"
#include "kernels/types.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

/* Elements that loops over 16-bit floats convert at a time: three f32 buffers of it stay in the L1 cache. */
enum { ND4C_HALF_CHUNK = 512 };

static inline void nd4c_widen_bfloat16(int64_t n, const uint16_t *x, float *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++)
    y[i] = nd4c_bfloat16_to_float(x[i]);
}

static inline void nd4c_narrow_bfloat16(int64_t n, const float *x, uint16_t *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++)
    y[i] = nd4c_bfloat16_from_float(x[i]);
}

static inline void nd4c_widen_float16(int64_t n, const uint16_t *x, float *y) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(x + i))));
#endif
  for (; i < n; i++)
    y[i] = nd4c_float16_to_float(x[i]);
}

static inline void nd4c_narrow_float16(int64_t n, const float *x, uint16_t *y) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128((__m128i *)(void *)(y + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#endif
  for (; i < n; i++)
    y[i] = nd4c_float16_from_float(x[i]);
}

#endif
