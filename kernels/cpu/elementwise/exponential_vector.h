/* The exponential of whole vectors, where an instruction of the level shortens it. Coefficients as in mathematics.h.
 * Called by unary_vector.h, normalization.c, recurrent.c and moments.c. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_EXPONENTIAL_VECTOR_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_EXPONENTIAL_VECTOR_H

#include "kernels/cpu/elementwise/mathematics.h"

#if defined(__AVX512F__)
#include <immintrin.h>

/* e^x of sixteen numbers as the result times 2 to the given power; below -150 as of -150. NaN stays. */
static inline __m512 nd4c_exp_parts_sixteen(__m512 x, __m512 *power) {
  const __m512 rounder = _mm512_set1_ps(ND4C_ROUNDER_F32);
  x = _mm512_max_ps(_mm512_set1_ps(-150.0f), x); /* of two, the second is kept if it is NaN */
  __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(x, _mm512_set1_ps(0x1.715476p+0f), rounder), rounder);
  __m512 most = _mm512_fmadd_ps(n, _mm512_set1_ps(-0x1.63p-1f), x);
  __m512 rest = _mm512_mul_ps(n, _mm512_set1_ps(0x1.bd0106p-13f)), r = _mm512_add_ps(most, rest);
  __m512 q = _mm512_fmadd_ps(_mm512_set1_ps(1.381461240e-03f), r, _mm512_set1_ps(8.368709716e-03f));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(4.166838739e-02f));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(1.666652069e-01f));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(4.999999345e-01f));
  q = _mm512_add_ps(_mm512_fmadd_ps(_mm512_mul_ps(r, r), q, rest), most);
  *power = n;
  return _mm512_add_ps(_mm512_set1_ps(1), q);
}

/* e^x of sixteen numbers up to 150, NaN stays: one instruction scales where the plain source needs six. What it would
 * round to 0 is not scaled: the processor takes a hundred cycles for a vector that underflows, as masked scores do. */
static inline __m512 nd4c_exp_sixteen(__m512 x) {
  __m512 n, mantissa = nd4c_exp_parts_sixteen(x, &n);
  return _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(n, _mm512_set1_ps(-150), _CMP_NLT_UQ), mantissa, n);
}

static inline __m512 nd4c_exp_any_sixteen(__m512 x) {
  return nd4c_exp_sixteen(_mm512_min_ps(_mm512_set1_ps(150), x));
}

static inline __m512 nd4c_sigmoid_sixteen(__m512 x) {
  const __m512 sign = _mm512_set1_ps(-0.0f), one = _mm512_set1_ps(1);
  __m512 e = nd4c_exp_sixteen(_mm512_or_ps(x, sign)); /* of -|x| */
  __m512 above = _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ), one, e);
  return _mm512_div_ps(above, _mm512_add_ps(one, e));
}

/* x sigmoid(x). Of negative numbers, e^x is scaled last, so that the left tail keeps its digits; from -200 down, and so
 * for minus infinity, the result is -0. */
static inline __m512 nd4c_swish_sixteen(__m512 x) {
  const __m512 sign = _mm512_set1_ps(-0.0f), one = _mm512_set1_ps(1);
  const __mmask16 below = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
  x = _mm512_max_ps(_mm512_set1_ps(-200), x); /* of two, the second is kept if it is NaN */
  __m512 n, mantissa = nd4c_exp_parts_sixteen(_mm512_or_ps(x, sign), &n);
  __m512 sum = _mm512_add_ps(one, _mm512_scalef_ps(mantissa, n));
  __m512 y = _mm512_div_ps(_mm512_mask_mul_ps(x, below, x, mantissa), sum);
  return _mm512_mask_scalef_ps(y, below, y, n);
}
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

/* 2 to a power from -300 to 0, as two factors: their product may be subnormal. */
typedef struct nd4c_scale_eight_f32 {
  __m256 half, rest;
} nd4c_scale_eight_f32;

/* e^x of eight numbers from -200 to 0, NaN stays, as the result times scale.half times scale.rest. Below -150 as of
 * -150, which is 0. */
static inline __m256 nd4c_exp_parts_eight_f32(__m256 x, nd4c_scale_eight_f32 *scale) {
  const __m256 rounder = _mm256_set1_ps(ND4C_ROUNDER_F32);
  x = _mm256_max_ps(_mm256_set1_ps(-150.0f), x); /* of two, the second is kept if it is NaN */
  __m256 rounded = _mm256_fmadd_ps(x, _mm256_set1_ps(0x1.715476p+0f), rounder), n = _mm256_sub_ps(rounded, rounder);
  __m256 most = _mm256_fmadd_ps(n, _mm256_set1_ps(-0x1.63p-1f), x);
  __m256 rest = _mm256_mul_ps(n, _mm256_set1_ps(0x1.bd0106p-13f)), r = _mm256_add_ps(most, rest);
  __m256 q = _mm256_fmadd_ps(_mm256_set1_ps(1.381461240e-03f), r, _mm256_set1_ps(8.368709716e-03f));
  q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(4.166838739e-02f));
  q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(1.666652069e-01f));
  q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(4.999999345e-01f));
  q = _mm256_add_ps(_mm256_fmadd_ps(_mm256_mul_ps(r, r), q, rest), most);
  const __m256i power = _mm256_sub_epi32(_mm256_castps_si256(rounded), _mm256_castps_si256(rounder));
  const __m256i half = _mm256_srai_epi32(power, 1), bias = _mm256_set1_epi32(127);
  const __m256i left = _mm256_sub_epi32(power, half);
  scale->half = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, bias), 23));
  scale->rest = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(left, bias), 23));
  return _mm256_add_ps(_mm256_set1_ps(1), q);
}

/* e^x of eight numbers up to 0, NaN stays. */
static inline __m256 nd4c_exp_eight_f32(__m256 x) {
  nd4c_scale_eight_f32 scale;
  const __m256 e = nd4c_exp_parts_eight_f32(x, &scale);
  return _mm256_mul_ps(_mm256_mul_ps(e, scale.half), scale.rest);
}

/* e^x of eight numbers up to 0 as a softmax needs it: 0 below e^-87, where a share cannot change a sum of shares. NaN
 * stays. Half as many instructions as nd4c_exp_eight_f32. x log2(e) = n + f; 2^f is a polynomial that was fitted to the
 * least relative error between -1/2 and 1/2, and 2^n is the low bits of the sum with which n was rounded. */
static inline __m256 nd4c_share_eight_f32(__m256 x) {
  const __m256 rounder = _mm256_set1_ps(0x1.8p23f + 127);
  const __m256 sum = _mm256_fmadd_ps(x, _mm256_set1_ps(0x1.715476p+0f), rounder), n = _mm256_sub_ps(sum, rounder);
  __m256 f = _mm256_fmsub_ps(x, _mm256_set1_ps(0x1.715476p+0f), n);
  f = _mm256_fmadd_ps(x, _mm256_set1_ps(0x1.4ae0cp-26f), f);
  __m256 y = _mm256_fmadd_ps(_mm256_set1_ps(0x1.41fbbcp-13f), f, _mm256_set1_ps(0x1.5f3e52p-10f));
  y = _mm256_fmadd_ps(y, f, _mm256_set1_ps(0x1.3b2d4cp-7f));
  y = _mm256_fmadd_ps(y, f, _mm256_set1_ps(0x1.c6aee8p-5f));
  y = _mm256_fmadd_ps(y, f, _mm256_set1_ps(0x1.ebfbdcp-3f));
  y = _mm256_fmadd_ps(y, f, _mm256_set1_ps(0x1.62e43p-1f));
  y = _mm256_fmadd_ps(y, f, _mm256_set1_ps(1));
  const __m256 power = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(sum), 23));
  return _mm256_and_ps(_mm256_mul_ps(y, power), _mm256_cmp_ps(x, _mm256_set1_ps(-87), _CMP_NLT_UQ));
}

/* Negative numbers and -0 take the second. */
static inline __m256 nd4c_by_sign_eight_f32(__m256 x, __m256 first, __m256 second) {
  return _mm256_blendv_ps(first, second, x);
}

static inline __m256 nd4c_sigmoid_eight_f32(__m256 x) {
  const __m256 one = _mm256_set1_ps(1);
  const __m256 e = nd4c_exp_eight_f32(_mm256_or_ps(x, _mm256_set1_ps(-0.0f))); /* of -|x| */
  return _mm256_div_ps(nd4c_by_sign_eight_f32(x, one, e), _mm256_add_ps(one, e));
}

/* x sigmoid(x), as nd4c_swish_sixteen. */
static inline __m256 nd4c_swish_eight_f32(__m256 x) {
  const __m256 one = _mm256_set1_ps(1);
  nd4c_scale_eight_f32 scale;
  x = _mm256_max_ps(_mm256_set1_ps(-200), x);
  __m256 mantissa = nd4c_exp_parts_eight_f32(_mm256_or_ps(x, _mm256_set1_ps(-0.0f)), &scale);
  __m256 sum = _mm256_add_ps(one, _mm256_mul_ps(_mm256_mul_ps(mantissa, scale.half), scale.rest));
  __m256 y = _mm256_div_ps(nd4c_by_sign_eight_f32(x, x, _mm256_mul_ps(x, mantissa)), sum);
  return nd4c_by_sign_eight_f32(x, y, _mm256_mul_ps(_mm256_mul_ps(y, scale.half), scale.rest));
}
#endif

#endif
