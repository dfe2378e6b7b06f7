/* Formulas of the table in ../functions.h on whole vectors of AVX-512, where its instructions and tables replace
 * divisions and long polynomials: logarithms to other bases and of sums, powers of 2, reciprocal roots, the tangent.
 * ../functions.c compiles them into its loops. Tables and coefficients of ../eight.h and ../sixteen.h, and fits made
 * for this file. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_VECTORS_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_VECTORS_H

#include "kernels/cpu/elementwise/sixteen.h"

#if defined(__AVX512F__)

/* -- logarithms ---------------------------------------------------------------------------------------------------- */

/* Of a base: log c of nd4c_log_eight_inverse, log e and log 2, in two parts each. The first parts of log c and log 2
 * are so short that k log 2 + log c is exact; the second part of log 2 is not negative, so that infinite k stay what
 * they are. */
typedef struct nd4c_base_eight {
  nd4c_table_of_doubles high, low;
  double e, e_low, two, two_low;
} nd4c_base_eight;

static const nd4c_base_eight nd4c_base_two_eight = {
    {0, 0x1.097e38ce6p-3, 0x1.a5094b54d2p-3, 0x1.249cd2b13dp-2, 0x1.6cb0f6865dp-2, 0x1.b877c57b1bp-2, 0x1.f804ae8d0dp-2,
     0x1.1d368296b5p-1, -0x1.88e9c72e0bp-2, -0x1.52dbdfc4c9p-2, -0x1.1ac05b291fp-2, -0x1.c0db6cdd94p-3,
     -0x1.5c01a39fbep-3, -0x1.e72ec117fcp-4, -0x1.0eb389fa28p-4, 0},
    {0, 0x1.924ae921f7ecap-45, 0x1.050809db75676p-44, -0x1.49d97df07e357p-45, -0x1.c57f2495fb7fap-44,
     0x1.bfbf899cf2b3cp-48, -0x1.7f33943464056p-45, 0x1.2a606046ad444p-44, -0x1.12d25b3252647p-45,
     -0x1.acdf73d83987fp-44, -0x1.c14a31ce1b7e3p-48, -0x1.bdc81c4db3134p-44, 0x1.2f0c0bfe9dbecp-44,
     0x1.a4de3424a2624p-44, -0x1.f9ab3cf74babap-44, 0},
    0x1.71547652b82fep+0,
    0x1.777d0ffda0d24p-56,
    1,
    0};
static const nd4c_base_eight nd4c_base_ten_eight = {
    {0, 0x1.3faf7c663p-5, 0x1.fafa6d398p-5, 0x1.605735ee98p-4, 0x1.b721cd1714p-4, 0x1.093025a19ap-3, 0x1.2f7301cf4ep-3,
     0x1.576e3b0bdep-3, -0x1.d91d5866acp-4, -0x1.9806d9414cp-4, -0x1.5477731974p-4, -0x1.0e3d29d81p-4,
     -0x1.a30a9d60ap-5, -0x1.25502c0fcp-5, -0x1.45f4f5accp-6, 0},
    {0, 0x1.83662f181f53fp-47, -0x1.024e9d08ce301p-45, 0x1.7c3cf23a17d9fp-46, 0x1.7e295f660b9dap-44,
     -0x1.128d0950e065ap-44, 0x1.0f5c70d1a6341p-44, 0x1.4e036062e2e73p-48, 0x1.66473a1327abcp-44, 0x1.df68df8cd708ap-44,
     0x1.7b786f3ec11dcp-48, -0x1.65e62559618f2p-44, 0x1.0163d7e67d282p-45, -0x1.8a5c00ed6bef7p-44,
     0x1.d07e22587685bp-44, 0},
    0x1.bcb7b1526e50ep-2,
    0x1.95355baaafad3p-57,
    0x1.34413509f7p-2,
    0x1.3fde623e2566bp-43};

/* As nd4c_log_eight: log x = k log 2 + log c + log e ln(1 + r). */
static inline __m512d nd4c_log_to_base_eight(__m512d x, const nd4c_base_eight *base) {
  nd4c_split_eight s = nd4c_log_split_eight(x);
  const __m512d r = nd4c_log_ratio_eight(s), e = _mm512_set1_pd(base->e);
  __m512d q = nd4c_log_series_eight(r);
  __m512d most = _mm512_fmadd_pd(s.k, _mm512_set1_pd(base->two), nd4c_pick_eight(s.index, base->high));
  __m512d low = nd4c_pick_eight(s.index, base->low);
  low = base->two_low == 0 ? low : _mm512_fmadd_pd(s.k, _mm512_set1_pd(base->two_low), low);
  low = _mm512_fmadd_pd(r, _mm512_set1_pd(base->e_low), low);
  __m512d rest = _mm512_fmadd_pd(_mm512_mul_pd(r, r), _mm512_mul_pd(q, e), low);
  return _mm512_add_pd(most, _mm512_fmadd_pd(r, e, rest));
}

/* The same of f32. */
typedef struct nd4c_base_sixteen {
  nd4c_sixteen high, low;
  float e, e_low, two, two_low;
} nd4c_base_sixteen;

static const nd4c_base_sixteen nd4c_base_two_sixteen = {
    {0, 0x1.098p-3f, 0x1.a5p-3f, 0x1.24ap-2f, 0x1.6cbp-2f, 0x1.b87p-2f, 0x1.f8p-2f, 0x1.1d38p-1f, -0x1.88fp-2f,
     -0x1.52ep-2f, -0x1.1acp-2f, -0x1.c0ep-3f, -0x1.5cp-3f, -0x1.e74p-4f, -0x1.0ecp-4f, 0},
    {0, -0x1.c731ap-19f, 0x1.296a9ap-16f, -0x1.96a762p-17f, 0x1.ed0cbap-19f, 0x1.f15ec6p-16f, 0x1.2ba344p-16f,
     -0x1.7d694ap-17f, 0x1.8e347ep-16f, 0x1.080ecep-16f, -0x1.6ca47cp-20f, 0x1.24c89ap-17f, -0x1.a39fbep-19f,
     0x1.13ee8p-16f, 0x1.8ec0bap-17f, 0},
    0x1.715476p+0f,
    0x1.4ae0cp-26f,
    1,
    0};
static const nd4c_base_sixteen nd4c_base_ten_sixteen = {
    {0, 0x1.3f8p-5f, 0x1.fbp-5f, 0x1.604p-4f, 0x1.b74p-4f, 0x1.094p-3f, 0x1.2f8p-3f, 0x1.576p-3f, -0x1.d9p-4f,
     -0x1.98p-4f, -0x1.548p-4f, -0x1.0e4p-4f, -0x1.a3p-5f, -0x1.258p-5f, -0x1.46p-6f, 0},
    {0, 0x1.7be332p-16f, -0x1.64b1ap-19f, 0x1.735eeap-16f, -0x1.e32e8ep-16f, -0x1.fb4bccp-16f, -0x1.9fc616p-16f,
     0x1.c7617cp-16f, -0x1.d5866ap-16f, -0x1.b65052p-18f, 0x1.119cd2p-17f, 0x1.6b13f8p-19f, -0x1.53ac14p-18f,
     0x1.7e9f82p-16f, 0x1.614a68p-19f, 0},
    0x1.bcb7b2p-2f,
    -0x1.5b235ep-27f,
    0x1.344p-2f,
    0x1.3509f8p-18f};

static inline __m512 nd4c_log_to_base_sixteen(__m512 x, const nd4c_base_sixteen *base) {
  nd4c_split_sixteen s = nd4c_log_split_sixteen(x);
  const __m512 e = _mm512_set1_ps(base->e);
  __m512 q = nd4c_log_series_sixteen(s.r);
  __m512 most = _mm512_fmadd_ps(s.k, _mm512_set1_ps(base->two), nd4c_pick_sixteen(s.index, base->high));
  __m512 low = nd4c_pick_sixteen(s.index, base->low);
  low = base->two_low == 0 ? low : _mm512_fmadd_ps(s.k, _mm512_set1_ps(base->two_low), low);
  low = _mm512_fmadd_ps(s.r, _mm512_set1_ps(base->e_low), low);
  __m512 rest = _mm512_fmadd_ps(_mm512_mul_ps(s.r, s.r), _mm512_mul_ps(q, e), low);
  return _mm512_add_ps(most, _mm512_fmadd_ps(s.r, e, rest));
}

static inline __m512d nd4c_log2_eight(__m512d x) {
  return nd4c_log_to_base_eight(x, &nd4c_base_two_eight);
}
static inline __m512 nd4c_log2_sixteen(__m512 x) {
  return nd4c_log_to_base_sixteen(x, &nd4c_base_two_sixteen);
}
static inline __m512d nd4c_log10_eight(__m512d x) {
  return nd4c_log_to_base_eight(x, &nd4c_base_ten_eight);
}
static inline __m512 nd4c_log10_sixteen(__m512 x) {
  return nd4c_log_to_base_sixteen(x, &nd4c_base_ten_sixteen);
}

/* -- logarithms of sums -------------------------------------------------------------------------------------------- */

/* y with the sign of x. */
static inline __m512d nd4c_with_sign_eight(__m512d y, __m512d x) {
  const __m512i sign = _mm512_set1_epi64(INT64_MIN);
  return _mm512_castsi512_pd(
      _mm512_ternarylogic_epi64(sign, _mm512_castpd_si512(x), _mm512_castpd_si512(y), 0xca)); /* sign ? x : y */
}
static inline __m512 nd4c_with_sign_sixteen(__m512 y, __m512 x) {
  const __m512i sign = _mm512_set1_epi32(INT32_MIN);
  return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(sign, _mm512_castps_si512(x), _mm512_castps_si512(y), 0xca));
}

/* ln(u + c), |c| up to a unit in the last place of u. ln(1 + c / u) is c / u, which is c / (2^k c'), c' of the table,
 * times 1 - r + r^2: all the more exact, the nearer u is to 1. A c of 0 or NaN adds nothing. */
static inline __m512d nd4c_log_of_sum_eight(__m512d u, __m512d c) {
  const __m512d one = _mm512_set1_pd(1), zero = _mm512_setzero_pd();
  const nd4c_split_eight s = nd4c_log_split_eight(u);
  const __m512d inverse = nd4c_pick_eight(s.index, nd4c_log_eight_inverse), r = _mm512_fmsub_pd(s.m, inverse, one);
  __m512d part = _mm512_mul_pd(_mm512_mul_pd(c, inverse), _mm512_fmadd_pd(r, r, _mm512_sub_pd(one, r)));
  part = _mm512_maskz_scalef_pd(_mm512_cmp_pd_mask(c, zero, _CMP_NEQ_OQ), part, _mm512_sub_pd(zero, s.k));
  return nd4c_log_end_eight(s, r, _mm512_add_pd(nd4c_log_rest_eight(s), part));
}

static inline __m512 nd4c_log_of_sum_sixteen(__m512 u, __m512 c) {
  const __m512 one = _mm512_set1_ps(1), zero = _mm512_setzero_ps();
  const nd4c_split_sixteen s = nd4c_log_split_sixteen(u);
  __m512 part = _mm512_mul_ps(c, nd4c_pick_sixteen(s.index, nd4c_log_sixteen_table[0]));
  part = _mm512_mul_ps(part, _mm512_fmadd_ps(s.r, s.r, _mm512_sub_ps(one, s.r)));
  part = _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(c, zero, _CMP_NEQ_OQ), part, _mm512_sub_ps(zero, s.k));
  return nd4c_log_end_sixteen(s, _mm512_add_ps(nd4c_log_rest_sixteen(s), part));
}

static inline __m512d nd4c_log1p_eight(__m512d x) {
  const __m512d one = _mm512_set1_pd(1);
  const __mmask8 large = _mm512_cmp_pd_mask(x, one, _CMP_GE_OQ);
  __m512d u = _mm512_add_pd(one, x), most = _mm512_mask_mov_pd(one, large, x), less = _mm512_mask_mov_pd(x, large, one);
  return nd4c_with_sign_eight(nd4c_log_of_sum_eight(u, _mm512_sub_pd(less, _mm512_sub_pd(u, most))), x);
}

static inline __m512 nd4c_log1p_sixteen(__m512 x) {
  const __m512 one = _mm512_set1_ps(1);
  const __mmask16 large = _mm512_cmp_ps_mask(x, one, _CMP_GE_OQ);
  __m512 u = _mm512_add_ps(one, x), most = _mm512_mask_mov_ps(one, large, x), less = _mm512_mask_mov_ps(x, large, one);
  return nd4c_with_sign_sixteen(nd4c_log_of_sum_sixteen(u, _mm512_sub_ps(less, _mm512_sub_ps(u, most))), x);
}

/* ln((1 + a) / (1 - a)) / 2 */
static inline __m512d nd4c_atanh_eight(__m512d x) {
  const __m512d one = _mm512_set1_pd(1), a = nd4c_absolute_eight(x);
  __m512d over = _mm512_add_pd(one, a), over_low = _mm512_add_pd(_mm512_sub_pd(one, over), a);
  __m512d under = _mm512_sub_pd(one, a), under_low = _mm512_sub_pd(_mm512_sub_pd(one, under), a);
  __m512d inverse = _mm512_div_pd(one, under), quotient = _mm512_mul_pd(over, inverse);
  __m512d low = _mm512_add_pd(_mm512_fnmadd_pd(quotient, under, over), _mm512_fnmadd_pd(quotient, under_low, over_low));
  __m512d y = nd4c_log_of_sum_eight(quotient, _mm512_mul_pd(low, inverse));
  return nd4c_with_sign_eight(_mm512_mul_pd(_mm512_set1_pd(0.5), y), x);
}

static inline __m512 nd4c_atanh_sixteen(__m512 x) {
  const __m512 one = _mm512_set1_ps(1), a = nd4c_absolute_sixteen(x);
  __m512 over = _mm512_add_ps(one, a), over_low = _mm512_add_ps(_mm512_sub_ps(one, over), a);
  __m512 under = _mm512_sub_ps(one, a), under_low = _mm512_sub_ps(_mm512_sub_ps(one, under), a);
  __m512 inverse = _mm512_div_ps(one, under), quotient = _mm512_mul_ps(over, inverse);
  __m512 low = _mm512_add_ps(_mm512_fnmadd_ps(quotient, under, over), _mm512_fnmadd_ps(quotient, under_low, over_low));
  __m512 y = nd4c_log_of_sum_sixteen(quotient, _mm512_mul_ps(low, inverse));
  const __mmask16 tiny = _mm512_cmp_ps_mask(a, _mm512_set1_ps(0x1p-13f), _CMP_LT_OQ);
  return nd4c_with_sign_sixteen(_mm512_mask_mov_ps(_mm512_mul_ps(_mm512_set1_ps(0.5f), y), tiny, a), x);
}

/* -- powers of 2 --------------------------------------------------------------------------------------------------- */

/* x less n sixteenths is exact; 2^(n / 16) as in nd4c_exp_tail_eight. */
static inline __m512d nd4c_exp2_eight(__m512d x) {
  const __m512d rounder = _mm512_set1_pd(ND4C_ROUNDER_F64);
  x = _mm512_max_pd(_mm512_set1_pd(-1200), _mm512_min_pd(_mm512_set1_pd(1200), x)); /* NaN, the second, stays */
  __m512d shifted = _mm512_fmadd_pd(x, _mm512_set1_pd(16), rounder), n = _mm512_sub_pd(shifted, rounder);
  __m512d r = _mm512_mul_pd(_mm512_fnmadd_pd(n, _mm512_set1_pd(0x1p-4), x), _mm512_set1_pd(0x1.62e42fefa39efp-1));
  return nd4c_exp_scaled_eight(r, shifted, n, true);
}

static inline __m512 nd4c_exp2_sixteen(__m512 x) {
  x = _mm512_max_ps(_mm512_set1_ps(-160), _mm512_min_ps(_mm512_set1_ps(160), x));
  __m512 n = _mm512_roundscale_ps(x, ND4C_TO_INTEGER);
  return _mm512_scalef_ps(nd4c_exp2_reduced_sixteen(_mm512_sub_ps(x, n)), n);
}

/* -- reciprocal roots ---------------------------------------------------------------------------------------------- */

/* An estimate of 14 bits, made good by a step of three times as many, at last by one that knows what rounding took from
 * x y. Estimates of zeros and infinity are their results. */
static inline __m512d nd4c_rsqrt_eight(__m512d x) {
  const __m512d one = _mm512_set1_pd(1), half = _mm512_set1_pd(0.5);
  __m512d estimate = _mm512_rsqrt14_pd(x), off = _mm512_fnmadd_pd(_mm512_mul_pd(x, estimate), estimate, one);
  __m512d step = _mm512_mul_pd(off, _mm512_fmadd_pd(off, _mm512_set1_pd(0.375), half));
  __m512d y = _mm512_fmadd_pd(estimate, step, estimate);
  __m512d product = _mm512_mul_pd(x, y), lost = _mm512_fmsub_pd(x, y, product);
  off = _mm512_fnmadd_pd(lost, y, _mm512_fnmadd_pd(product, y, one));
  y = _mm512_fmadd_pd(_mm512_mul_pd(y, half), off, y);
  return _mm512_mask_mov_pd(y, _mm512_fpclass_pd_mask(x, 0x1e), estimate); /* zeros and infinities */
}

static inline __m512 nd4c_rsqrt_sixteen(__m512 x) {
  const __m512 one = _mm512_set1_ps(1), half = _mm512_set1_ps(0.5f);
  __m512 estimate = _mm512_rsqrt14_ps(x), product = _mm512_mul_ps(x, estimate);
  __m512 lost = _mm512_fmsub_ps(x, estimate, product);
  __m512 off = _mm512_fnmadd_ps(lost, estimate, _mm512_fnmadd_ps(product, estimate, one));
  __m512 step = _mm512_mul_ps(off, _mm512_fmadd_ps(off, _mm512_set1_ps(0.375f), half));
  __m512 y = _mm512_fmadd_ps(estimate, step, estimate);
  return _mm512_mask_mov_ps(y, _mm512_fpclass_ps_mask(x, 0x1e), estimate);
}

/* -- tangent ------------------------------------------------------------------------------------------------------- */

/* Of |x| below ND4C_TRIGONOMETRIC_NEAR, reduced as by nd4c_sine_near_f32: the quotient of sine and cosine, in two parts
 * each, or of cosine and sine. */
static inline __m512 nd4c_tan_near_sixteen(__m512 x) {
  const __m512 one = _mm512_set1_ps(1), half = _mm512_set1_ps(0.5f), rounder = _mm512_set1_ps(ND4C_ROUNDER_F32);
  const __m512 second = _mm512_set1_ps(0x1.7778p-25f);
  __m512 a = nd4c_absolute_sixteen(x), rounded = _mm512_fmadd_ps(a, _mm512_set1_ps(0x1.45f306p-1f), rounder);
  __m512 n = _mm512_sub_ps(rounded, rounder), first = _mm512_fmadd_ps(n, _mm512_set1_ps(-0x1.921fb6p+0f), a);
  __m512 r = _mm512_fmadd_ps(n, second, first), lost = _mm512_fmadd_ps(n, second, _mm512_sub_ps(first, r));
  lost = _mm512_fmadd_ps(n, _mm512_set1_ps(0x1.2e7b96p-40f), lost);
  __m512 z = _mm512_mul_ps(r, r), halved = _mm512_mul_ps(z, half), most = _mm512_sub_ps(one, halved);
  __m512 p = _mm512_fmadd_ps(z, _mm512_set1_ps(2.7249901e-6f), _mm512_set1_ps(-0.00019840087f));
  p = _mm512_fmadd_ps(z, p, _mm512_set1_ps(0.0083333319f));
  p = _mm512_fmadd_ps(z, p, _mm512_set1_ps(-0.16666667f));
  p = _mm512_fmadd_ps(_mm512_mul_ps(r, z), p, _mm512_mul_ps(lost, most));
  __m512 q = _mm512_fmadd_ps(z, _mm512_set1_ps(0.000024547922f), _mm512_set1_ps(-0.0013888303f));
  q = _mm512_fmadd_ps(z, q, _mm512_set1_ps(0.041666665f));
  q = _mm512_fmadd_ps(_mm512_mul_ps(z, z), q, _mm512_sub_ps(_mm512_sub_ps(one, most), halved));
  q = _mm512_fnmadd_ps(r, lost, _mm512_fnmadd_ps(_mm512_fmsub_ps(r, r, z), half, q));
  __m512 sine = _mm512_add_ps(r, p), sine_low = _mm512_add_ps(_mm512_sub_ps(r, sine), p);
  __m512 cosine = _mm512_add_ps(most, q), cosine_low = _mm512_add_ps(_mm512_sub_ps(most, cosine), q);
  const __m512i quadrant = _mm512_castps_si512(rounded);
  const __mmask16 odd = _mm512_test_epi32_mask(quadrant, _mm512_set1_epi32(1));
  __m512 over = _mm512_mask_mov_ps(sine, odd, cosine), over_low = _mm512_mask_mov_ps(sine_low, odd, cosine_low);
  __m512 under = _mm512_mask_mov_ps(cosine, odd, sine), under_low = _mm512_mask_mov_ps(cosine_low, odd, sine_low);
  __m512 inverse = _mm512_rcp14_ps(under);
  inverse = _mm512_fmadd_ps(inverse, _mm512_fnmadd_ps(under, inverse, one), inverse);
  __m512 y = _mm512_mul_ps(over, inverse);
  __m512 rest = _mm512_add_ps(_mm512_fnmadd_ps(y, under, over), _mm512_fnmadd_ps(y, under_low, over_low));
  y = _mm512_fmadd_ps(rest, inverse, y);
  __m512i turn = _mm512_xor_si512(_mm512_slli_epi32(quadrant, 31), _mm512_castps_si512(x));
  turn = _mm512_and_si512(turn, _mm512_set1_epi32(INT32_MIN));
  return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(y), turn));
}

#endif
#endif
