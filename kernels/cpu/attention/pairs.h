/* Products of bfloat16 for attention, two multiplications to an instruction: sums are f32, and pairs of numbers lie in
 * words of 32 bits. attention.c includes it; loops.h calls it where a panel says that the processor has the
 * instructions (AVX-512 BF16), which no level promises. Other levels have functions that are never called. */
#ifndef ND4C_KERNELS_CPU_ATTENTION_PAIRS_H
#define ND4C_KERNELS_CPU_ATTENTION_PAIRS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/cpu/contraction/gemm_vector.h"
#include "kernels/cpu/support/half.h"

/* A row of a product's right-hand side: the pairs of all lanes of a panel. */
enum { PAIR_LANES = 16, PAIR_WIDE = 32 };

#if defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
enum { HAS_PAIRS = true };
#define PAIR_CODE __attribute__((target("avx512bf16"), always_inline)) static inline
#define PAIR_FUNCTION __attribute__((target("avx512bf16"))) static

/* e^x for x up to 0 or NaN, rounded to bfloat16, so that the sum of the shares is that of the shares in the products.
 * What would be a subnormal number is 0, without being computed: the processor takes a hundred cycles for each vector
 * that underflows, as the shares of all masked keys do. */
static inline __m512 pair_exponential(__m512 x) {
  const __m512 scaled = _mm512_mul_ps(x, _mm512_set1_ps(0x1.715476p+0F));
  const __mmask16 normal = _mm512_cmp_ps_mask(scaled, _mm512_set1_ps(-126), _CMP_NLT_UQ);
  const __m512 whole = _mm512_roundscale_ps(scaled, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 rest = _mm512_sub_ps(scaled, whole); /* 2^rest by its series up to the fourth power */
  __m512 power = _mm512_fmadd_ps(_mm512_set1_ps(0x1.3b2ab6p-7F), rest, _mm512_set1_ps(0x1.c6b08ep-5F));
  power = _mm512_fmadd_ps(power, rest, _mm512_set1_ps(0x1.ebfbep-3F));
  power = _mm512_fmadd_ps(power, rest, _mm512_set1_ps(0x1.62e43p-1F));
  power = _mm512_fmadd_ps(power, rest, _mm512_set1_ps(1));
  return nd4c_bfloat16_odds(nd4c_bfloat16_rounded(_mm512_maskz_scalef_ps(normal, power, whole)));
}

/* Rows 2 i and 2 i + 1 of `wide`, PAIR_WIDE numbers each, become row i of `pairs`. */
static void pair_rows(int64_t pairs_count, int64_t width, const float *wide, uint32_t *pairs) {
  for (int64_t i = 0; i < pairs_count; i++) {
    for (int64_t l = 0; l < width; l += PAIR_LANES) {
      const float *at = wide + 2 * i * PAIR_WIDE + l;
      __m512i both = nd4c_bfloat16_narrow_pair(_mm512_loadu_ps(at), _mm512_loadu_ps(at + PAIR_WIDE));
      _mm512_storeu_si512(pairs + i * PAIR_WIDE + l, both);
    }
  }
}

/* Two rows of n bfloat16 become n pairs. */
static void pair_up(int64_t n, const uint16_t *first, const uint16_t *second, uint32_t *pairs) {
  for (int64_t i = 0; i < n; i += PAIR_LANES) {
    const __mmask16 some = (__mmask16)(n - i < PAIR_LANES ? (1U << (n - i)) - 1 : 0xffff);
    __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, first + i));
    __m512i high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, second + i));
    _mm512_mask_storeu_epi32(pairs + i, some, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
  }
}

/* `rows` rows of y, `vectors` vectors wide: both are constants where this is called. a: pairs at a + row * a_row +
 * i * a_step, counted in bfloat16. */
PAIR_CODE void pair_strip(int rows, int vectors, int64_t count, const uint16_t *a, int64_t a_row, int64_t a_step,
                          const uint32_t *b, float *y) {
  __m512 sum[TILE_ROWS][2];
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      sum[r][v] = _mm512_setzero_ps();
    }
  }
  for (int64_t i = 0; i < count; i++) {
    __m512i row[2];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      row[v] = _mm512_loadu_si512(b + i * PAIR_WIDE + v * PAIR_LANES);
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
      int32_t pair;
      memcpy(&pair, a + r * a_row + i * a_step, sizeof pair);
      const __m512i factor = _mm512_set1_epi32(pair);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        sum[r][v] = _mm512_dpbf16_ps(sum[r][v], (__m512bh)factor, (__m512bh)row[v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      _mm512_storeu_ps(y + r * PAIR_WIDE + v * PAIR_LANES, sum[r][v]);
    }
  }
}

/* Rows from `row` on, `step` at a time. */
#define PAIR_STRIPS(step, vectors)                                                            \
  for (; row + (step) <= rows; row += (step)) {                                               \
    pair_strip(step, vectors, count, a + row * a_row, a_row, a_step, b, y + row * PAIR_WIDE); \
  }

/* y [rows, PAIR_WIDE] = the product of `rows` rows of pairs and b; the first `width` lanes. */
PAIR_FUNCTION void pair_product(int64_t rows, int64_t width, int64_t count, const uint16_t *a, int64_t a_row,
                                int64_t a_step, const uint32_t *b, float *y) {
  int64_t row = 0;
  if (width > PAIR_LANES) {
    PAIR_STRIPS(TILE_ROWS, 2)
    PAIR_STRIPS(4, 2)
    PAIR_STRIPS(1, 2)
  } else {
    PAIR_STRIPS(TILE_ROWS, 1)
    PAIR_STRIPS(4, 1)
    PAIR_STRIPS(1, 1)
  }
}
#undef PAIR_STRIPS

#else
enum { HAS_PAIRS = false };

static inline void pair_rows(int64_t pairs_count, int64_t width, const float *wide, uint32_t *pairs) {
  (void)pairs_count, (void)width, (void)wide, (void)pairs;
}
static inline void pair_up(int64_t n, const uint16_t *first, const uint16_t *second, uint32_t *pairs) {
  (void)n, (void)first, (void)second, (void)pairs;
}
static inline void pair_product(int64_t rows, int64_t width, int64_t count, const uint16_t *a, int64_t a_row,
                                int64_t a_step, const uint32_t *b, float *y) {
  (void)rows, (void)width, (void)count, (void)a, (void)a_row, (void)a_step, (void)b, (void)y;
}
#endif

#endif
