/* Implements affine.h. Compiled once per level: the compiler vectorises the plain loops. */
#include "kernels/cpu/quantization/affine.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "kernels/cpu/support/level.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

extern const nd4c_affine_table ND4C_LEVEL_NAME(nd4c_affine_table);

enum { BLOCK = 64 }; /* elements that are computed again together */

/* Adding and subtracting 1.5 * 2^23 rounds to the nearest whole number, ties to even. |x| must be below 2^22. */
ND4C_INLINED float to_whole(float x) {
  return (x + 12582912.0F) - 12582912.0F;
}

ND4C_INLINED float within(float x, float low, float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

ND4C_INLINED int32_t to_byte(int32_t x) {
  x = x < 0 ? 0 : x;
  return x > 255 ? 255 : x;
}

/* The byte of a quotient. */
ND4C_INLINED uint8_t byte_of(float q, int32_t zero, uint8_t turn) {
  q = q == q ? q : 0;
  return (uint8_t)((uint8_t)to_byte((int32_t)to_whole(within(q, -1024, 1024)) + zero) ^ turn);
}

static void quantize_exactly(int64_t n, const float *x, nd4c_affine to, uint8_t *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = byte_of(x[i] / to.scale, to.zero, to.turn);
  }
}

static void quantize_each(int64_t n, const float *x, const float *scale, const int32_t *zero, uint8_t turn,
                          uint8_t *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = byte_of(x[i] / scale[i], zero[i], turn);
  }
}

static void divide(int64_t n, const float *x, float scale, float *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = x[i] / scale;
  }
}

static void divide_each(int64_t n, const float *x, const float *scale, float *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = x[i] / scale[i];
  }
}

#if defined(__AVX512BW__) && defined(__AVX512VL__)
/* Sixteen whole numbers or infinities as bytes. */
ND4C_INLINED __m128i bytes_of(__m512 whole, __m512i zero, __m128i turn) {
  const __m512 bounded = _mm512_max_ps(_mm512_min_ps(whole, _mm512_set1_ps(1024)), _mm512_set1_ps(-1024));
  const __m512i moved = _mm512_add_epi32(_mm512_cvtps_epi32(bounded), zero);
  return _mm_xor_si128(_mm512_cvtusepi32_epi8(_mm512_max_epi32(moved, _mm512_setzero_si512())), turn);
}

ND4C_INLINED __m512 rounded(__m512 x) {
  return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* Sixteen numbers, multiplied by the inverse as quantize_block does it. */
ND4C_INLINED void quantize_sixteen(const float *x, nd4c_affine to, __m512 inverse, uint8_t *y) {
  const __m512i zero = _mm512_set1_epi32(to.zero);
  const __m128i turn = _mm_set1_epi8((char)to.turn);
  const __m512 value = _mm512_loadu_ps(x), q = _mm512_mul_ps(value, inverse);
  __m512 whole = rounded(q);
  const __m512 apart = _mm512_abs_ps(_mm512_sub_ps(q, whole));
  if (_mm512_cmp_ps_mask(apart, _mm512_set1_ps(0.5F - 0x1p-12F), _CMP_NLE_UQ) != 0) {
    const __m512 exact = _mm512_div_ps(value, _mm512_set1_ps(to.scale));
    whole = rounded(_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(exact, exact, _CMP_ORD_Q), exact));
  }
  _mm_storeu_si128((__m128i *)(void *)y, bytes_of(whole, zero, turn));
}

ND4C_INLINED void quantize_block(int64_t n, const float *x, nd4c_affine to, float inverse, uint8_t *y) {
  for (int64_t i = 0; i < n; i += 16) {
    quantize_sixteen(x + i, to, _mm512_set1_ps(inverse), y + i);
  }
}
#elif defined(__AVX2__)
ND4C_INLINED __m256 rounded(__m256 x) {
  return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* Eight numbers, multiplied by the inverse as the plain quantize_block does it, with the zero point. */
ND4C_INLINED __m256i quantize_eight(const float *x, nd4c_affine to, __m256 inverse) {
  const __m256 sign = _mm256_set1_ps(-0.0F), value = _mm256_loadu_ps(x), q = _mm256_mul_ps(value, inverse);
  __m256 whole = rounded(q);
  const __m256 apart = _mm256_andnot_ps(sign, _mm256_sub_ps(q, whole));
  if (_mm256_movemask_ps(_mm256_cmp_ps(apart, _mm256_set1_ps(0.5F - 0x1p-12F), _CMP_NLE_UQ)) != 0) {
    const __m256 exact = _mm256_div_ps(value, _mm256_set1_ps(to.scale));
    whole = rounded(_mm256_and_ps(_mm256_cmp_ps(exact, exact, _CMP_ORD_Q), exact));
  }
  whole = _mm256_max_ps(_mm256_min_ps(whole, _mm256_set1_ps(1024)), _mm256_set1_ps(-1024));
  return _mm256_add_epi32(_mm256_cvtps_epi32(whole), _mm256_set1_epi32(to.zero));
}

/* 32 numbers. The instructions that join words work on halves of vectors; the last one restores the order. */
ND4C_INLINED void quantize_32(const float *x, nd4c_affine to, __m256 inverse, uint8_t *y) {
  const __m256i first = _mm256_packs_epi32(quantize_eight(x, to, inverse), quantize_eight(x + 8, to, inverse));
  const __m256i second = _mm256_packs_epi32(quantize_eight(x + 16, to, inverse), quantize_eight(x + 24, to, inverse));
  const __m256i bytes =
      _mm256_permutevar8x32_epi32(_mm256_packus_epi16(first, second), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  _mm256_storeu_si256((__m256i *)(void *)y, _mm256_xor_si256(bytes, _mm256_set1_epi8((char)to.turn)));
}

ND4C_INLINED void quantize_block(int64_t n, const float *x, nd4c_affine to, float inverse, uint8_t *y) {
  for (int64_t i = 0; i < n; i += 32) {
    quantize_32(x + i, to, _mm256_set1_ps(inverse), y + i);
  }
}
#else
/* Multiplies by the inverse, which is off by less than three roundings, or 2^-12 where that counts. Divides where the
 * result is that close to the middle between two numbers, or NaN. n is a constant where it is called for a whole block.
 */
ND4C_INLINED void quantize_block(int64_t n, const float *x, nd4c_affine to, float inverse, uint8_t *y) {
  uint8_t made[BLOCK];
  int32_t close = 0;
  for (int64_t i = 0; i < n; i++) {
    float q = within(x[i] * inverse, -1024, 1024), whole = to_whole(q);
    close |= fabsf(q - whole) <= 0.5F - 0x1p-12F ? 0 : 1;
    whole = whole == whole ? whole : 0; /* NaN has no int32 */
    made[i] = (uint8_t)((uint8_t)to_byte((int32_t)whole + to.zero) ^ to.turn);
  }
  if (close != 0) {
    quantize_exactly(n, x, to, made);
  }
  memcpy(y, made, (size_t)n);
}
#endif

static void quantize(int64_t n, const float *x, nd4c_affine to, uint8_t *y) {
  const float inverse = 1.0F / to.scale;
  int64_t i = 0;
  if (fabsf(to.scale) >= 0x1p-120F && fabsf(to.scale) <= 0x1p120F) { /* the inverse is a normal number */
    for (; i + BLOCK <= n; i += BLOCK) {
      quantize_block(BLOCK, x + i, to, inverse, y + i);
    }
  }
  quantize_exactly(n - i, x + i, to, y + i);
}

static void dequantize(int64_t n, const uint8_t *x, nd4c_affine from, float *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = (float)((int32_t)(uint8_t)(x[i] ^ from.turn) - from.zero) * from.scale;
  }
}

static void dequantize_each(int64_t n, const uint8_t *x, const float *scale, const int32_t *zero, uint8_t turn,
                            float *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = (float)((int32_t)(uint8_t)(x[i] ^ turn) - zero[i]) * scale[i];
  }
}

#if defined(__AVX2__) && !defined(__AVX512F__)
/* The numbers of [0, n), n a multiple of BLOCK. A minimum of x86 gives its second operand if the first is NaN. */
static void range_of_blocks(int64_t n, const float *x, float *low, float *high) {
  enum { VECTORS = 4, WIDE = 8 };
  __m256 lows[VECTORS], highs[VECTORS];
  float last[2][WIDE];
  for (int v = 0; v < VECTORS; v++) {
    lows[v] = _mm256_set1_ps(*low);
    highs[v] = _mm256_set1_ps(*high);
  }
  for (int64_t i = 0; i < n; i += (int64_t)VECTORS * WIDE) {
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
      const __m256 some = _mm256_loadu_ps(x + i + (ptrdiff_t)v * WIDE);
      lows[v] = _mm256_min_ps(some, lows[v]);
      highs[v] = _mm256_max_ps(some, highs[v]);
    }
  }
  _mm256_storeu_ps(last[0], _mm256_min_ps(_mm256_min_ps(lows[0], lows[1]), _mm256_min_ps(lows[2], lows[3])));
  _mm256_storeu_ps(last[1], _mm256_max_ps(_mm256_max_ps(highs[0], highs[1]), _mm256_max_ps(highs[2], highs[3])));
  for (int k = 0; k < WIDE; k++) {
    *low = last[0][k] < *low ? last[0][k] : *low;
    *high = last[1][k] > *high ? last[1][k] : *high;
  }
}
#else
static void range_of_blocks(int64_t n, const float *x, float *low, float *high) {
  float lows[BLOCK], highs[BLOCK]; /* as many numbers side by side, which vectors hold */
  for (int64_t k = 0; k < BLOCK; k++) {
    lows[k] = *low;
    highs[k] = *high;
  }
  for (int64_t i = 0; i < n; i += BLOCK) {
    for (int64_t k = 0; k < BLOCK; k++) {
      lows[k] = x[i + k] < lows[k] ? x[i + k] : lows[k];
      highs[k] = x[i + k] > highs[k] ? x[i + k] : highs[k];
    }
  }
  for (int64_t k = 0; k < BLOCK; k++) {
    *low = lows[k] < *low ? lows[k] : *low;
    *high = highs[k] > *high ? highs[k] : *high;
  }
}
#endif

static void range(int64_t n, const float *x, float *low, float *high) {
  float least = *low, most = *high;
  int64_t i = n / BLOCK * BLOCK;
  range_of_blocks(i, x, &least, &most);
  for (; i < n; i++) {
    least = x[i] < least ? x[i] : least;
    most = x[i] > most ? x[i] : most;
  }
  *low = least;
  *high = most;
}

static void add_exactly(int64_t n, const uint8_t *a, const uint8_t *b, const nd4c_affine_sum *sum, uint8_t *y) {
  const double a_scale = sum->a.scale, b_scale = sum->b.scale, y_scale = sum->y.scale, zero = sum->y.zero;
  for (int64_t i = 0; i < n; i++) {
    double left = (double)((int32_t)(uint8_t)(a[i] ^ sum->a.turn) - sum->a.zero) * a_scale;
    double right = (double)((int32_t)(uint8_t)(b[i] ^ sum->b.turn) - sum->b.zero) * b_scale;
    double value = (left + right) / y_scale;
    value = (value == value ? rint(value) : 0) + zero;
    value = value < 0 ? 0 : value > 255 ? 255 : value;
    y[i] = (uint8_t)((uint8_t)(int32_t)value ^ sum->y.turn);
  }
}

/* n is a constant where it is called for a whole block. With a margin below 0.5, values are below 2^17. */
ND4C_INLINED void add_block(int64_t n, const uint8_t *a, const uint8_t *b, const nd4c_affine_sum *sum, uint8_t *y) {
  const float a_factor = sum->a_factor, b_factor = sum->b_factor, term = sum->term, margin = 0.5F - sum->margin;
  const uint8_t a_turn = sum->a.turn, b_turn = sum->b.turn, y_turn = sum->y.turn;
  const int32_t zero = sum->y.zero;
  uint8_t made[BLOCK];
  int32_t close = 0;
  for (int64_t i = 0; i < n; i++) {
    int32_t left = (uint8_t)(a[i] ^ a_turn), right = (uint8_t)(b[i] ^ b_turn);
    float value = (float)left * a_factor + ((float)right * b_factor + term), whole = to_whole(value);
    close |= fabsf(value - whole) > margin ? 1 : 0;
    made[i] = (uint8_t)((uint8_t)to_byte((int32_t)whole + zero) ^ y_turn);
  }
  if (close != 0) {
    add_exactly(n, a, b, sum, made);
  }
  memcpy(y, made, (size_t)n);
}

static void add(int64_t n, const uint8_t *a, const uint8_t *b, const nd4c_affine_sum *sum, uint8_t *y) {
  if (sum->margin > 0.5F) {
    add_exactly(n, a, b, sum, y);
    return;
  }
  int64_t i = 0;
  for (; i + BLOCK <= n; i += BLOCK) {
    add_block(BLOCK, a + i, b + i, sum, y + i);
  }
  if (i < n) {
    add_block(n - i, a + i, b + i, sum, y + i);
  }
}

const nd4c_affine_table ND4C_LEVEL_NAME(nd4c_affine_table) = {.quantize = quantize,
                                                              .dequantize = dequantize,
                                                              .quantize_each = quantize_each,
                                                              .dequantize_each = dequantize_each,
                                                              .divide = divide,
                                                              .divide_each = divide_each,
                                                              .range = range,
                                                              .add = add};
