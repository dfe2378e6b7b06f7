/* Runs of 16-bit floats to f32 and back, by the level's instructions. The *_half.h templates of elementwise, reduction
 * and statistics call these, and cast.c and gemm_vector.h. */
#ifndef ND4C_KERNELS_CPU_SUPPORT_HALF_H
#define ND4C_KERNELS_CPU_SUPPORT_HALF_H

#include "kernels/cpu/support/level.h"
#include "kernels/cpu/support/vector.h"
#include "kernels/types.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

/* Elements that loops over 16-bit floats convert at a time: three f32 buffers of it stay in the L1 cache. */
enum { ND4C_HALF_CHUNK = 512 };

static inline void nd4c_widen_bfloat16(int64_t n, const uint16_t *x, float *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = nd4c_bfloat16_to_float(x[i]);
  }
}

static inline void nd4c_narrow_bfloat16(int64_t n, const float *x, uint16_t *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = nd4c_bfloat16_from_float(x[i]);
  }
}

#if defined(__AVX512BW__) && defined(__AVX512VL__)
static inline void nd4c_widen_float16(int64_t n, const uint16_t *x, float *y) {
  for (int64_t i = 0; i < n; i += 16) {
    const __mmask16 some = (__mmask16)(n - i < 16 ? (1u << (n - i)) - 1 : 0xffff);
    _mm512_mask_storeu_ps(y + i, some, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(some, x + i)));
  }
}

static inline void nd4c_narrow_float16(int64_t n, const float *x, uint16_t *y) {
  enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
  for (int64_t i = 0; i < n; i += 16) {
    const __mmask16 some = (__mmask16)(n - i < 16 ? (1u << (n - i)) - 1 : 0xffff);
    _mm256_mask_storeu_epi16(y + i, some, _mm512_cvtps_ph(_mm512_maskz_loadu_ps(some, x + i), NEAREST));
  }
}
#else
static inline void nd4c_widen_float16(int64_t n, const uint16_t *x, float *y) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(x + i))));
  }
#endif
  for (; i < n; i++) {
    y[i] = nd4c_float16_to_float(x[i]);
  }
}

static inline void nd4c_narrow_float16(int64_t n, const float *x, uint16_t *y) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    _mm_storeu_si128((__m128i *)(void *)(y + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
#endif
  for (; i < n; i++) {
    y[i] = nd4c_float16_from_float(x[i]);
  }
}
#endif

/* nd4c_double_to_odd_float of each: the digits that a float lacks become its last bit. Below the normal floats a float
 * has fewer digits. */
static inline void nd4c_odd_floats(int64_t n, const double *x, float *y) {
  const uint64_t lacking = (UINT64_C(1) << 29) - 1;
  uint64_t is_tiny = 0;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    union {
      double number;
      uint64_t bits;
    } odd = {x[i]};
    is_tiny |= (uint64_t)((fabs(x[i]) < 0x1p-126) & (x[i] != 0));
    odd.bits = (odd.bits & ~lacking) | (uint64_t)((odd.bits & lacking) != 0) << 29;
    y[i] = (float)odd.number;
  }
  for (int64_t i = 0; is_tiny && i < n; i++) {
    y[i] = nd4c_double_to_odd_float(x[i]);
  }
}

/* The elements from[0], from[step], ... of one streaming block, widened; touches what nd4c_block_load does. */
enum { ND4C_HALF_BLOCK = ND4C_STREAM_BLOCK / sizeof(uint16_t) };

static inline void nd4c_widen_block_float16(const uint16_t *from, int64_t step, float *wide) {
  nd4c_block_uint16 block;
  uint16_t narrow[ND4C_HALF_BLOCK];
  nd4c_block_load_uint16(from, step, &block);
  memcpy(narrow, &block, sizeof narrow);
  nd4c_widen_float16(ND4C_HALF_BLOCK, narrow, wide);
}

/* A streaming block of bfloat16 as two vectors of f32. Vectors, not arrays, which the compiler would keep in memory. */
typedef uint32_t nd4c_block_uint32 __attribute__((vector_size(64), aligned(2), may_alias));
typedef struct nd4c_bfloat16_pair {
  nd4c_block_uint32 first, second;
} nd4c_bfloat16_pair;

/* Contiguous ones are taken apart into even and odd ones, for that needs no shuffle; of every second one (`sparse`)
 * each wanted number is the low half of a 32-bit word, and the pair holds the first and the later ones. */
static inline void nd4c_bfloat16_load(const uint16_t *from, int64_t step, bool sparse, nd4c_bfloat16_pair *pair) {
  if (sparse) {
    pair->first = *(const nd4c_block_uint32 *)(const void *)from << 16;
    pair->second = *(const nd4c_block_uint32 *)(const void *)(from + ND4C_HALF_BLOCK) << 16;
    return;
  }
  nd4c_block_uint16 block;
  nd4c_block_load_uint16(from, step, &block);
  nd4c_block_uint32 words = (nd4c_block_uint32)block;
  pair->first = words << 16;
  pair->second = words & 0xffff0000;
}

/* As nd4c_bfloat16_from_float, for results of arithmetic on widened numbers: NaN among them has zeros in its lower
 * half, which rounding leaves alone. The result is in the upper half of each word, the lower is undefined. */
static inline void nd4c_bfloat16_round(nd4c_block_uint32 *words) {
  *words += 0x7fff + (*words >> 16 & 1);
}

static inline void nd4c_bfloat16_join(nd4c_bfloat16_pair *pair, bool sparse, nd4c_block_uint16 *block) {
  nd4c_bfloat16_round(&pair->first);
  nd4c_bfloat16_round(&pair->second);
  if (sparse) {
    nd4c_block_uint16 first = (nd4c_block_uint16)pair->first, second = (nd4c_block_uint16)pair->second;
    *block = __builtin_shufflevector(first, second, ND4C_ODDS_32, ND4C_LATER_ODDS_32);
  } else {
    *block = (nd4c_block_uint16)(pair->first >> 16 | (pair->second & 0xffff0000));
  }
}

#if defined(__AVX512F__)
/* Thirty-two of them as two vectors of f32, and back: rounded as nd4c_bfloat16_round does it. */
static inline __m512 nd4c_bfloat16_evens(__m512i words) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
}

static inline __m512 nd4c_bfloat16_odds(__m512i words) {
  return _mm512_castsi512_ps(_mm512_and_si512(words, _mm512_set1_epi32(-0x10000)));
}

static inline __m512i nd4c_bfloat16_rounded(__m512 x) {
  __m512i bits = _mm512_castps_si512(x), last = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  return _mm512_add_epi32(bits, _mm512_add_epi32(last, _mm512_set1_epi32(0x7fff)));
}

static inline __m512i nd4c_bfloat16_narrow_pair(__m512 evens, __m512 odds) {
  __m512i low = _mm512_srli_epi32(nd4c_bfloat16_rounded(evens), 16);
  return _mm512_mask_blend_epi16(0xaaaaaaaa, low, nd4c_bfloat16_rounded(odds));
}
#endif

#endif
