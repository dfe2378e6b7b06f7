/* Functions of eight doubles, for levels with permutations of whole vectors: tables of sixteen numbers keep the
 * polynomials short and replace quotients. Coefficients are fits made for this file. unary_vector.h and sixteen.h
 * include it, normalization.c and moments.c for their exponentials. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_EIGHT_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_EIGHT_H

#include <stdbool.h>

#include "kernels/cpu/elementwise/mathematics.h"

#if defined(__AVX512F__)
#include <immintrin.h>

/* How roundscale gives the nearest integer. */
#define ND4C_TO_INTEGER (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

typedef double nd4c_table_of_doubles[16] __attribute__((aligned(64)));

/* table[the low four bits of the index] */
static inline __m512d nd4c_pick_eight(__m512i index, const double *table) {
  return _mm512_permutex2var_pd(_mm512_load_pd(table), index, _mm512_load_pd(table + 8));
}

static inline __m512d nd4c_absolute_eight(__m512d x) {
  return _mm512_castsi512_pd(_mm512_and_si512(_mm512_castpd_si512(x), _mm512_set1_epi64(INT64_MAX)));
}

/* -- exponential ------------------------------------------------------------------------------------------------- */

/* 2^(i / 16) */
static const nd4c_table_of_doubles nd4c_exp_eight_table = {
    0x1p+0,
    0x1.0b5586cf9890fp+0,
    0x1.172b83c7d517bp+0,
    0x1.2387a6e756238p+0,
    0x1.306fe0a31b715p+0,
    0x1.3dea64c123422p+0,
    0x1.4bfdad5362a27p+0,
    0x1.5ab07dd485429p+0,
    0x1.6a09e667f3bcdp+0,
    0x1.7a11473eb0187p+0,
    0x1.8ace5422aa0dbp+0,
    0x1.9c49182a3f09p+0,
    0x1.ae89f995ad3adp+0,
    0x1.c199bdd85529cp+0,
    0x1.d5818dcfba487p+0,
    0x1.ea4afa2a490dap+0,
};

/* What rounding took from these. */
static const nd4c_table_of_doubles nd4c_exp_eight_low = {
    0,
    0x1.8a62e4adc610bp-54,
    -0x1.19041b9d78a76p-55,
    0x1.9b07eb6c70573p-54,
    0x1.6f46ad23182e4p-55,
    0x1.ada0911f09ebcp-55,
    0x1.d4397afec42e2p-56,
    0x1.6324c054647adp-54,
    -0x1.bdd3413b26456p-54,
    -0x1.41577ee04992fp-55,
    0x1.6e9f156864b27p-54,
    0x1.c7c46b071f2bep-56,
    0x1.7a1cd345dcc81p-54,
    0x1.11065895048ddp-55,
    0x1.2ed02d75b3707p-55,
    -0x1.e9c23179c2893p-54,
};

/* e^r 2^(n / 16), n the integer that `shifted` has in its low bits. */
static inline __m512d nd4c_exp_scaled_eight(__m512d r, __m512d shifted, __m512d n, bool exact) {
  __m512d q = _mm512_fmadd_pd(_mm512_set1_pd(0x1.6c185fabc7718p-10), r, _mm512_set1_pd(0x1.11123b47cf75dp-7));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.555555545c578p-5));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.555555548ebcfp-3));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0.5)); /* (e^r - 1 - r) / r^2 */
  __m512d part = nd4c_pick_eight(_mm512_castpd_si512(shifted), nd4c_exp_eight_table);
  __m512d less_one = _mm512_fmadd_pd(_mm512_mul_pd(r, r), q, r);
  __m512d low = exact ? nd4c_pick_eight(_mm512_castpd_si512(shifted), nd4c_exp_eight_low) : _mm512_setzero_pd();
  __m512d more =
      exact ? _mm512_add_pd(part, _mm512_fmadd_pd(part, less_one, low)) : _mm512_fmadd_pd(part, less_one, part);
  return _mm512_scalef_pd(more, _mm512_mul_pd(n, _mm512_set1_pd(0x1p-4)));
}

/* e^(x + tail), |tail| small against 1/16: n sixteenths of ln 2 taken off, the scale is 2 to the floor of n / 16.
 * Beyond the clamp the result is 0 or infinite; NaN stays. 1.1 ulp, 0.6 with `exact`. */
static inline __m512d nd4c_exp_tail_eight(__m512d x, __m512d tail, bool exact) {
  const __m512d rounder = _mm512_set1_pd(ND4C_ROUNDER_F64);
  x = _mm512_max_pd(_mm512_set1_pd(-1000), _mm512_min_pd(_mm512_set1_pd(1000), x));
  __m512d shifted = _mm512_fmadd_pd(x, _mm512_set1_pd(0x1.71547652b82fep+4), rounder);
  __m512d n = _mm512_sub_pd(shifted, rounder), most = _mm512_fnmadd_pd(n, _mm512_set1_pd(0x1.62e42fefap-5), x);
  __m512d r = _mm512_add_pd(most, _mm512_fnmadd_pd(n, _mm512_set1_pd(0x1.cf79abc9e3b3ap-44), tail));
  return nd4c_exp_scaled_eight(r, shifted, n, exact);
}

static inline __m512d nd4c_exp_eight(__m512d x) {
  return nd4c_exp_tail_eight(x, _mm512_setzero_pd(), false);
}

static inline __m512d nd4c_sigmoid_eight(__m512d x) {
  const __m512d one = _mm512_set1_pd(1);
  __m512d e = nd4c_exp_eight(_mm512_or_pd(x, _mm512_set1_pd(-0.0))); /* of -|x| */
  __m512d above = _mm512_mask_blend_pd(_mm512_cmp_pd_mask(x, _mm512_setzero_pd(), _CMP_LT_OQ), one, e);
  return _mm512_div_pd(above, _mm512_add_pd(one, e));
}

/* -- logarithm --------------------------------------------------------------------------------------------------- */

/* 1 / c, c next to the middle of an interval of the mantissa, and 1 next to 1, as in sixteen.h; ln c in two parts. */
static const nd4c_table_of_doubles nd4c_log_eight_inverse = {
    0x1p+0,    0x1.d4p-1, 0x1.bcp-1, 0x1.a4p-1, 0x1.9p-1, 0x1.7cp-1, 0x1.6cp-1, 0x1.5cp-1,
    0x1.4ep+0, 0x1.42p+0, 0x1.36p+0, 0x1.2ap+0, 0x1.2p+0, 0x1.16p+0, 0x1.0cp+0, 0x1p+0,
};
static const nd4c_table_of_doubles nd4c_log_eight_high = {
    0,
    0x1.700d30aeacp-4,
    0x1.23d712a49cp-3,
    0x1.95a5adcf7p-3,
    0x1.f991c6cb3cp-3,
    0x1.314f1e1d36p-2,
    0x1.5d5bddf596p-2,
    0x1.8b639a88b3p-2,
    -0x1.1058bf9ae5p-2,
    -0x1.d5c216b4fcp-3,
    -0x1.87fa06520cp-3,
    -0x1.371fc201e8p-3,
    -0x1.e27076e2bp-4,
    -0x1.51b073f06p-4,
    -0x1.77458f633p-5,
    0,
};
static const nd4c_table_of_doubles nd4c_log_eight_low = {
    0,
    0x1.c1e8da99ded32p-49,
    0x1.00d238fd3df5cp-46,
    0x1.7f22858a0ff6fp-47,
    -0x1.90d04cd7cc834p-44,
    -0x1.8e27ad3213cb8p-45,
    -0x1.a0b2a08a465dcp-47,
    -0x1.05ae1e5e7047p-45,
    0x1.4ab9d817d52cdp-44,
    0x1.1ba91bbca681bp-45,
    -0x1.22120401202fcp-44,
    -0x1.ee8779b2d8abcp-44,
    0x1.a342c2af0003cp-45,
    -0x1.83f69278e686ap-44,
    0x1.181dce586af09p-44,
    0,
};

/* x = 2^k m, m from 3/4 to 3/2, and the number of m's interval. Of infinities and zero k is infinite, of negative
 * numbers m is NaN. */
typedef struct nd4c_split_eight {
  __m512d m, k;
  __m512i index;
} nd4c_split_eight;

static inline nd4c_split_eight nd4c_log_split_eight(__m512d x) {
  const __m512d one = _mm512_set1_pd(1);
  nd4c_split_eight s = {.m = _mm512_getmant_pd(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan), .k = _mm512_getexp_pd(x)};
  s.k = _mm512_mask_add_pd(s.k, _mm512_cmp_pd_mask(s.m, one, _CMP_LT_OQ), s.k, one);
  s.index = _mm512_srli_epi64(_mm512_castpd_si512(s.m), 48);
  return s;
}

/* (ln(1 + r) - r) / r^2 */
static inline __m512d nd4c_log_series_eight(__m512d r) {
  __m512d q = _mm512_fmadd_pd(_mm512_set1_pd(-0x1.682243e3a4296p-4), r, _mm512_set1_pd(0x1.c5cc9fe51c31ep-4));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(-0x1.000b8524b7c42p-3));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.2492d00a9135ap-3));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(-0x1.555553e8d89dep-3));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.9999997fa01eap-3));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(-0x1.000000000432ep-2));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.5555555556091p-2));
  return _mm512_fmadd_pd(q, r, _mm512_set1_pd(-0.5));
}

/* The r of s: m / c - 1. */
static inline __m512d nd4c_log_ratio_eight(nd4c_split_eight s) {
  return _mm512_fmsub_pd(s.m, nd4c_pick_eight(s.index, nd4c_log_eight_inverse), _mm512_set1_pd(1));
}

static inline __m512d nd4c_log_rest_eight(nd4c_split_eight s) {
  return _mm512_fmadd_pd(s.k, _mm512_set1_pd(0x1.ef35793c7673p-45), nd4c_pick_eight(s.index, nd4c_log_eight_low));
}

/* As nd4c_log_end_sixteen. */
static inline __m512d nd4c_log_end_eight(nd4c_split_eight s, __m512d r, __m512d rest) {
  const __m512d high = nd4c_pick_eight(s.index, nd4c_log_eight_high), q = nd4c_log_series_eight(r);
  __m512d most = _mm512_fmadd_pd(s.k, _mm512_set1_pd(0x1.62e42fefa38p-1), high);
  return _mm512_add_pd(most, _mm512_add_pd(r, _mm512_fmadd_pd(_mm512_mul_pd(r, r), q, rest)));
}

static inline __m512d nd4c_log_eight(__m512d x) {
  const nd4c_split_eight s = nd4c_log_split_eight(x);
  return nd4c_log_end_eight(s, nd4c_log_ratio_eight(s), nd4c_log_rest_eight(s));
}

/* -- power --------------------------------------------------------------------------------------------------------- */

/* a^b for positive a that are neither infinite nor subnormal and finite b: e^(b ln a), with ln a and its product in two
 * doubles each. */
static inline __m512d nd4c_power_positive_eight(__m512d a, __m512d b) {
  const __m512d one = _mm512_set1_pd(1), half = _mm512_set1_pd(0.5);
  nd4c_split_eight s = nd4c_log_split_eight(a);
  __m512d inverse = nd4c_pick_eight(s.index, nd4c_log_eight_inverse), quotient = _mm512_mul_pd(s.m, inverse);
  __m512d r = _mm512_sub_pd(quotient, one), r_low = _mm512_fmsub_pd(s.m, inverse, quotient);
  /* (ln(1 + r) - r + r^2 / 2 - r^3 / 3) / r^4 */
  __m512d q = _mm512_fmadd_pd(_mm512_set1_pd(-0x1.2558870378796p-4), r, _mm512_set1_pd(0x1.727d6edb4164dp-4));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(-0x1.99ab397268999p-4));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.c71dda9fd6136p-4));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(-0x1.000000490acaap-3));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.249248ff5f8bp-3));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(-0x1.55555555043acp-3));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.999999999c003p-3));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(-0x1.0000000000028p-2));
  __m512d halved = _mm512_mul_pd(r, half), square = _mm512_mul_pd(halved, r);
  __m512d square_low = _mm512_fmsub_pd(halved, r, square);
  const __m512d third = _mm512_set1_pd(0x1.5555555555555p-1),
                third_low = _mm512_set1_pd(0x1.5555555555555p-55); /* of 2 */
  __m512d volume = _mm512_mul_pd(square, r), cube = _mm512_mul_pd(volume, third);
  __m512d cube_low = _mm512_fmadd_pd(square_low, r, _mm512_fmsub_pd(square, r, volume));
  cube_low = _mm512_fmadd_pd(cube_low, third, _mm512_fmadd_pd(volume, third_low, _mm512_fmsub_pd(volume, third, cube)));
  __m512d high = nd4c_pick_eight(s.index, nd4c_log_eight_high), low = nd4c_pick_eight(s.index, nd4c_log_eight_low);
  __m512d most = _mm512_fmadd_pd(s.k, _mm512_set1_pd(0x1.62e42fefa38p-1), high);
  low = _mm512_fmadd_pd(s.k, _mm512_set1_pd(0x1.ef35793c7673p-45), low);
  /* Sums of terms that fall, each with what it lost. */
  __m512d first = _mm512_add_pd(most, r), second = _mm512_sub_pd(first, square), log = _mm512_add_pd(second, cube);
  low = _mm512_add_pd(low, _mm512_sub_pd(r, _mm512_sub_pd(first, most)));
  low = _mm512_add_pd(low, _mm512_sub_pd(_mm512_sub_pd(_mm512_sub_pd(first, second), square), square_low));
  low = _mm512_add_pd(low, _mm512_add_pd(_mm512_sub_pd(cube, _mm512_sub_pd(log, second)), cube_low));
  low = _mm512_add_pd(low, _mm512_fmadd_pd(r_low, _mm512_fmsub_pd(r, r, r), r_low));
  low = _mm512_fmadd_pd(_mm512_mul_pd(_mm512_mul_pd(r, r), _mm512_mul_pd(r, r)), q, low);
  __m512d sum = _mm512_add_pd(log, low);
  low = _mm512_sub_pd(low, _mm512_sub_pd(sum, log));
  b = _mm512_max_pd(_mm512_set1_pd(-0x1p80), _mm512_min_pd(_mm512_set1_pd(0x1p80), b));
  __m512d x = _mm512_mul_pd(b, sum), x_low = _mm512_fmadd_pd(b, low, _mm512_fmsub_pd(b, sum, x));
  __mmask8 inside = _mm512_cmp_pd_mask(nd4c_absolute_eight(x), _mm512_set1_pd(1000), _CMP_LT_OQ);
  return nd4c_exp_tail_eight(x, _mm512_maskz_mov_pd(inside, x_low), true);
}

/* The same of floats in f64, of which 33 bits are right: b log2 a as the nearest integer and a rest. */
static const nd4c_table_of_doubles nd4c_log2_eight_table = {
    0,
    0x1.097e38ce60649p-3,
    0x1.a5094b54d2828p-3,
    0x1.249cd2b13cd6cp-2,
    0x1.6cb0f6865c8eap-2,
    0x1.b877c57b1b07p-2,
    0x1.f804ae8d0cd02p-2,
    0x1.1d368296b5255p-1,
    -0x1.88e9c72e0b226p-2,
    -0x1.52dbdfc4c96b3p-2,
    -0x1.1ac05b291f07p-2,
    -0x1.c0db6cdd94deep-3,
    -0x1.5c01a39fbd688p-3,
    -0x1.e72ec117fa5b2p-4,
    -0x1.0eb389fa29f9bp-4,
    0,
};

typedef struct nd4c_split_exponent {
  __m256 whole, rest;
} nd4c_split_exponent;

static inline nd4c_split_exponent nd4c_power_exponent_eight(__m256 a, __m256 b) {
  nd4c_split_eight s = nd4c_log_split_eight(_mm512_cvtps_pd(a));
  __m512d r = _mm512_fmsub_pd(s.m, nd4c_pick_eight(s.index, nd4c_log_eight_inverse), _mm512_set1_pd(1));
  /* log2(1 + r) / r */
  __m512d q = _mm512_fmadd_pd(_mm512_set1_pd(-0x1.c9869741acb5cp-3), r, _mm512_set1_pd(0x1.27801800acdb8p-2));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(-0x1.715b497585d45p-2));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.ec70a87638e8fp-2));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(-0x1.71547608a730dp-1));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.71547652a070cp+0));
  __m512d log = _mm512_fmadd_pd(q, r, _mm512_add_pd(s.k, nd4c_pick_eight(s.index, nd4c_log2_eight_table)));
  __m512d x = _mm512_mul_pd(log, _mm512_cvtps_pd(b));
  __m512d whole = _mm512_roundscale_pd(x, ND4C_TO_INTEGER);
  nd4c_split_exponent split = {_mm512_cvtpd_ps(whole), _mm512_cvtpd_ps(_mm512_sub_pd(x, whole))};
  return split;
}

#endif
#endif
