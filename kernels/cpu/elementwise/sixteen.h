/* Functions of sixteen floats, for levels with permutations of whole vectors: mathematics.h computes them by quotients
 * and two branches, this file by one polynomial, whose coefficients one instruction each picks from a table of sixteen
 * intervals. Tables and coefficients are fits made for this file. unary_vector.h and power.h call them. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_SIXTEEN_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_SIXTEEN_H

#include "kernels/cpu/elementwise/eight.h"
#include "kernels/cpu/elementwise/exponential_vector.h"

#if defined(__AVX512F__)

typedef float nd4c_sixteen[16] __attribute__((aligned(64)));

static inline __m512 nd4c_pick_sixteen(__m512i index, const float *table) {
  return _mm512_permutexvar_ps(index, _mm512_load_ps(table));
}

static inline __m512 nd4c_absolute_sixteen(__m512 x) {
  return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff)));
}

/* -- tanh and erf: odd, x or next to it below the first edge, 1 from `end` on ---------------------------------- */

/* Centers of the intervals, the values there, then coefficients in the distance from the center; centers are such that
 * values are nearly exact. An interval's number is the exponent and two bits of |x| + shift. In the first one the value
 * is x itself. */
static const nd4c_sixteen nd4c_tanh_sixteen_table[8] = {
    {0x1.40b66p+0f, 0x1.c0d93p+0f, 0x1.20bb6p+1f, 0x1.609748p+1f, 0x1.c08a58p+1f, 0x1.1fa46p+2f, 0x1.5fda3p+2f,
     0x1.a05bcp+2f, 0x1.fe2a7p+2f, 0x1.30f9f8p+3f, 0, 0, 0, 0x1.7fbp-2f, 0x1.408778p-1f, 0x1.c09bcp-1f},
    {0x1.b2b846p-1f, 0x1.e22d42p-1f, 0x1.f4e03cp-1f, 0x1.fbdecep-1f, 0x1.ff132ep-1f, 0x1.ffdf4ap-1f, 0x1.fffb9ap-1f,
     0x1.ffff6ap-1f, 0x1.fffff8p-1f, 0x1p+0f, 0, 0, 0, 0x1.6eaf82p-2f, 0x1.1c523ep-1f, 0x1.68b4d4p-1f},
    {0x1.1dcaa6p-2f, 0x1.cf4622p-4f, 0x1.601a88p-5f, 0x1.073ba4p-6f, 0x1.d938acp-9f, 0x1.05a90ep-11f, 0x1.198042p-14f,
     0x1.2c0096p-17f, 0x1.004d38p-21f, 0x1.6a3bbp-26f, 0, 0, 0x1.6bb64cp-28f, 0x1.be58b6p-1f, 0x1.621cb6p-1f,
     0x1.01e176p-1f},
    {-0x1.e54f46p-3f, -0x1.b449e2p-4f, -0x1.587416p-5f, -0x1.051c1ep-6f, -0x1.d85dcep-9f, -0x1.05974ep-11f,
     -0x1.197d26p-14f, -0x1.2c0094p-17f, -0x1.fff864p-22f, -0x1.6a4038p-26f, 0, 0, -0x1.9fbcfep-20f, -0x1.3faa6ap-2f,
     -0x1.8949ap-2f, -0x1.6b5b38p-2f},
    {0x1.bb1f6ap-4f, 0x1.007a36p-4f, 0x1.b73578p-6f, 0x1.5681e2p-7f, 0x1.397a78p-9f, 0x1.5c3ff4p-12f, 0x1.76e52ep-15f,
     0x1.8f935cp-18f, 0x1.4f28a2p-22f, 0x1.e285b2p-27f, 0, 0, -0x1.554212p-2f, -0x1.6e31f2p-3f, -0x1.1aeb88p-6f,
     0x1.5040fp-4f},
    {-0x1.a54fa6p-7f, -0x1.807a9cp-6f, -0x1.90175p-7f, -0x1.4b595p-8f, -0x1.372e6ap-10f, -0x1.5c1a8ep-13f,
     -0x1.76f6b8p-16f, -0x1.8f71b8p-19f, -0x1.533b38p-23f, -0x1.e15d7cp-28f, 0, 0, -0x1.4f69a4p-10f, 0x1.583b42p-3f,
     0x1.19d8ccp-3f, 0x1.ef34e2p-5f},
    {-0x1.3e6f2ep-6f, 0x1.ce3c1cp-9f, 0x1.03091cp-8f, 0x1.f1f942p-10f, 0x1.fdd666p-12f, 0x1.21a50cp-14f,
     0x1.38c01ap-17f, 0x1.4d64e8p-20f, 0x1.411e6p-24f, 0x1.91abp-29f, 0, 0, 0x1.25d386p-3f, 0x1.39686ep-6f,
     -0x1.be6fb2p-5f, -0x1.dee77p-5f},
    {0x1.eec7cp-7f, 0x1.1390e6p-9f, -0x1.7770aep-11f, -0x1.1df0dep-11f, -0x1.4a8d68p-13f, -0x1.7b9a3p-16f,
     -0x1.9e010ep-19f, -0x1.c03ed8p-22f, -0x1.929376p-26f, -0x1.1be70cp-30f, 0, 0, -0x1.338768p-5f, -0x1.1b073p-4f,
     -0x1.8e9d5p-6f, 0x1.a5c238p-7f}};
static const nd4c_sixteen nd4c_erf_sixteen_table[8] = {
    {0x1.c01e18p+0f, 0x1.1fb1cp+1f, 0x1.5f4258p+1f, 0x1.9f074p+1f, 0x1.df3b08p+1f, 0, 0, 0, 0, 0x1.7fd2fp-3f,
     0x1.4078ap-2f, 0x1.c0852p-2f, 0x1.3fcf8p-1f, 0x1.c0bae8p-1f, 0x1.1f5aep+0f, 0x1.60957p+0f},
    {0x1.f93034p-1f, 0x1.ff3e08p-1f, 0x1.fff25cp-1f, 0x1.ffff68p-1f, 0x1.fffffcp-1f, 0, 0, 0, 0, 0x1.ac14ccp-3f,
     0x1.5e2562p-2f, 0x1.db8422p-2f, 0x1.3ef464p-1f, 0x1.91d43ep-1f, 0x1.c6716ap-1f, 0x1.e5a94ep-1f},
    {0x1.afa31ap-5f, 0x1.d921dep-8f, 0x1.3d5172p-11f, 0x1.01433ep-15f, 0x1.ef444cp-21f, 0, 0, 0, 0x1.06eba8p-3f,
     0x1.16e524p+0f, 0x1.05e9f2p+0f, 0x1.dce032p-1f, 0x1.8717b2p-1f, 0x1.0bffd2p-1f, 0x1.47c36ap-2f, 0x1.5ab6ccp-3f},
    {-0x1.79c846p-4f, -0x1.09daa6p-6f, -0x1.b3605ep-10f, -0x1.a0fecap-14f, -0x1.cf57b4p-19f, 0, 0, 0, -0x1.e5122cp-26f,
     -0x1.a2269ep-3f, -0x1.47dfd8p-2f, -0x1.a1c02ap-2f, -0x1.e89386p-2f, -0x1.d5c35cp-2f, -0x1.6fe86ep-2f,
     -0x1.dd85bcp-3f},
    {0x1.71015p-4f, 0x1.66f86cp-6f, 0x1.738a16p-9f, 0x1.ac0c38p-13f, 0x1.14d4aap-17f, 0, 0, 0, -0x1.812696p-2f,
     -0x1.59bcc6p-2f, -0x1.18cf82p-2f, -0x1.87dd16p-3f, -0x1.ca3a3ep-5f, 0x1.7f384p-4f, 0x1.4c1cep-3f, 0x1.42e25p-3f},
    {-0x1.89fac8p-5f, -0x1.3ad52ap-6f, -0x1.b5c9c8p-9f, -0x1.3969a4p-12f, -0x1.e2bf5cp-17f, 0, 0, 0, -0x1.7aca2ap-14f,
     0x1.985ab8p-4f, 0x1.3276c8p-3f, 0x1.6c51d8p-3f, 0x1.697e1ep-3f, 0x1.ca6fap-4f, 0x1.d6fdaap-6f, -0x1.f9649p-6f},
    {0x1.88fc94p-8f, 0x1.5c105cp-7f, 0x1.79ebfcp-9f, 0x1.69cb4ep-12f, 0x1.5f9caep-16f, 0, 0, 0, 0x1.d3e886p-4f,
     0x1.7fb55p-4f, 0x1.03f164p-4f, 0x1.add94ep-6f, -0x1.b976eep-6f, -0x1.11a0aap-4f, -0x1.f61c76p-5f, -0x1.f1200ep-6f},
    {0x1.2918cp-7f, -0x1.6abab2p-9f, -0x1.b5cdf8p-10f, -0x1.207c02p-12f, -0x1.5e3332p-16f, 0, 0, 0, -0x1.472ab2p-7f,
     -0x1.07b3ecp-5f, -0x1.7baa7ep-5f, -0x1.a34d8cp-5f, -0x1.51d3e6p-5f, -0x1.5854cp-7f, 0x1.f5591ep-7f,
     0x1.68ba7p-6f}};

static inline __m512 nd4c_odd_sixteen(__m512 x, const nd4c_sixteen *table, float shift, float end) {
  __m512 a = _mm512_min_ps(_mm512_set1_ps(end), nd4c_absolute_sixteen(x)); /* of two, the second is kept if it is NaN */
  __m512 moved = _mm512_add_ps(a, _mm512_set1_ps(shift));
  __m512i index = _mm512_srli_epi32(_mm512_castps_si512(moved), 21);
  __mmask16 beyond_first = _mm512_cmp_ps_mask(moved, _mm512_set1_ps(1.25f * shift), _CMP_GE_OQ);
  __m512 r = _mm512_sub_ps(a, nd4c_pick_sixteen(index, table[0])), p = nd4c_pick_sixteen(index, table[7]);
  for (int i = 6; i > 1; i--) {
    p = _mm512_fmadd_ps(p, r, nd4c_pick_sixteen(index, table[i]));
  }
  __m512 value = _mm512_mask_permutexvar_ps(a, beyond_first, index, _mm512_load_ps(table[1]));
  __m512i y = _mm512_castps_si512(_mm512_fmadd_ps(p, r, value));
  return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(y, _mm512_castps_si512(x), _mm512_set1_epi32(INT32_MIN), 0xf8));
}

/* 0.70 ulp */
static inline __m512 nd4c_tanh_sixteen(__m512 x) {
  return nd4c_odd_sixteen(x, nd4c_tanh_sixteen_table, 1.0f, 10.0f);
}

/* 0.70 ulp */
static inline __m512 nd4c_erf_sixteen(__m512 x) {
  return nd4c_odd_sixteen(x, nd4c_erf_sixteen_table, 0.5f, 4.0f);
}

/* -- gelu: max(x, 0) - |x| Q(|x|), Q the tail of the normal distribution or what stands for it ----------------- */

/* 2^r for |r| up to a half. */
static inline __m512 nd4c_exp2_reduced_sixteen(__m512 r) {
  __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(0x1.446c52p-13f), r, _mm512_set1_ps(0x1.5f0898p-10f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.3b29e4p-7f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.c6af6cp-5f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.ebfbep-3f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.62e43p-1f));
  return _mm512_fmadd_ps(p, r, _mm512_set1_ps(1));
}

/* Zero has its sign, and so has what is too small on the negative side; NaN stays. */
static inline __m512 nd4c_gelu_from_tail_sixteen(__m512 x, __m512 tail) {
  return _mm512_sub_ps(_mm512_max_ps(_mm512_set1_ps(-0.0f), x), tail);
}

/* Q(a) e^(a^2 / 2) in powers of the distance from the lower end of an interval. */
static const nd4c_sixteen nd4c_normal_tail_sixteen_table[7] = {
    {0x1.0bdb2ep-2f, 0x1.a57056p-3f, 0x1.5845dcp-3f, 0x1.217252p-3f, 0x1.f1b89cp-4f, 0x1.82b4bcp-4f, 0x1.3b0fbcp-4f,
     0x1.095608p-4f, 0x1.c9e12p-5f, 0x1.66ccb8p-5f, 0x1.26b4dp-5f, 0x1.f3ddc2p-6f, 0x1p-1f, 0x1.a7f808p-2f,
     0x1.66027ap-2f, 0x1.337024p-2f},
    {-0x1.195246p-3f, -0x1.71c048p-4f, -0x1.00f9d8p-4f, -0x1.75ab62p-5f, -0x1.19cedcp-5f, -0x1.5cf972p-6f,
     -0x1.d614e6p-7f, -0x1.5068cp-7f, -0x1.f7d566p-8f, -0x1.378118p-8f, -0x1.a5dabcp-9f, -0x1.3012a6p-9f,
     -0x1.988452p-2f, -0x1.2e865p-2f, -0x1.cb062cp-3f, -0x1.63e072p-3f},
    {0x1.fcc5aep-5f, 0x1.203f62p-5f, 0x1.5d2f68p-6f, 0x1.bf391cp-7f, 0x1.2c03bp-7f, 0x1.2dd7a6p-8f, 0x1.542946p-9f,
     0x1.a0ee08p-10f, 0x1.105c76p-10f, 0x1.0b6b5cp-11f, 0x1.2b994cp-12f, 0x1.6fdb7p-13f, 0x1.ffffb6p-3f, 0x1.5c564ep-3f,
     0x1.e681b8p-4f, 0x1.5bf7dcp-4f},
    {-0x1.9ac538p-6f, -0x1.99579ep-7f, -0x1.b740bp-8f, -0x1.f60ed2p-9f, -0x1.2e5abp-9f, -0x1.f631ap-11f,
     -0x1.de66aep-12f, -0x1.f9a2aep-13f, -0x1.20fa4cp-13f, -0x1.c5b67cp-15f, -0x1.a619a4p-16f, -0x1.ba699p-17f,
     -0x1.105154p-3f, -0x1.59483cp-4f, -0x1.c1d562p-5f, -0x1.2c807ep-5f},
    {0x1.2c92p-7f, 0x1.0b8544p-8f, 0x1.019e8ep-9f, 0x1.09a45ep-10f, 0x1.1ddba2p-11f, 0x1.8eecacp-13f, 0x1.451b74p-14f,
     0x1.2ac048p-15f, 0x1.271cbap-16f, 0x1.77a31p-18f, 0x1.247e64p-19f, 0x1.06f3ep-20f, 0x1.fec1f6p-5f, 0x1.30885ep-5f,
     0x1.755c3ep-6f, 0x1.d5ce0ep-7f},
    {-0x1.7dc21ap-9f, -0x1.354654p-10f, -0x1.0fb65ap-11f, -0x1.005cf2p-12f, -0x1.d22842p-14f, -0x1.19decap-15f,
     -0x1.924c9p-17f, -0x1.4720a6p-18f, -0x1.055e98p-19f, -0x1.176d1ep-21f, -0x1.75224cp-23f, -0x1.24accep-24f,
     -0x1.a4d358p-6f, -0x1.dc0f44p-7f, -0x1.14e7e8p-7f, -0x1.4abe96p-8f},
    {0x1.3f2a1ep-11f, 0x1.e4382p-13f, 0x1.8e7dd2p-14f, 0x1.60852cp-15f, 0x1.d8060ep-17f, 0x1.02fcfap-18f,
     0x1.50dddap-20f, 0x1.f5bf96p-22f, 0x1.1a9ef2p-23f, 0x1.0c6688p-25f, 0x1.41b55ep-27f, 0x1.c93a9p-29f,
     0x1.f30998p-8f, 0x1.0f6412p-8f, 0x1.2f8044p-9f, 0x1.5c7866p-10f}};

/* e^(-a^2 / 2) as a power of 2: the square and its factor in two parts each. */
static inline __m512 nd4c_gelu_sixteen(__m512 x) {
  __m512 a = _mm512_min_ps(_mm512_set1_ps(14.99f), nd4c_absolute_sixteen(x)); /* beyond 14.5 the tail is 0 */
  __m512 moved = _mm512_add_ps(a, _mm512_set1_ps(1));
  __m512i bits = _mm512_castps_si512(moved), index = _mm512_srli_epi32(bits, 21);
  __m512 low = _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32(-0x200000)));
  __m512 r = _mm512_sub_ps(a, _mm512_sub_ps(low, _mm512_set1_ps(1)));
  __m512 p = nd4c_pick_sixteen(index, nd4c_normal_tail_sixteen_table[6]);
  for (int i = 5; i >= 0; i--) {
    p = _mm512_fmadd_ps(p, r, nd4c_pick_sixteen(index, nd4c_normal_tail_sixteen_table[i]));
  }
  const __m512 factor = _mm512_set1_ps(-0x1.715476p-1f), factor_low = _mm512_set1_ps(-0x1.4ae0c000p-27f);
  __m512 square = _mm512_mul_ps(a, a), lost = _mm512_fmsub_ps(a, a, square);
  __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(square, factor), ND4C_TO_INTEGER);
  __m512 exponent = _mm512_fmadd_ps(square, factor_low, _mm512_fmsub_ps(square, factor, n));
  __m512 e = nd4c_exp2_reduced_sixteen(_mm512_fmadd_ps(lost, factor, exponent));
  __m512 tail = _mm512_scalef_ps(_mm512_mul_ps(_mm512_mul_ps(a, p), e), n);
  return nd4c_gelu_from_tail_sixteen(x, tail);
}

/* The tail is a e / (1 + e), e = 2^(-a (c + k a^2)). The sum is kept in two parts, for the left tail: c's first part is
 * so short that it can be taken off again without a loss. */
static inline __m512 nd4c_gelu_tanh_sixteen(__m512 x) {
  const __m512 c = _mm512_set1_ps(0x1.26aecp+1f), k = _mm512_set1_ps(0x1.a5a7dp-4f);
  __m512 a = _mm512_min_ps(_mm512_set1_ps(11), nd4c_absolute_sixteen(x));
  __m512 square = _mm512_mul_ps(a, a), lost = _mm512_fmsub_ps(a, a, square);
  __m512 sum = _mm512_fnmsub_ps(square, k, c), low = _mm512_fnmsub_ps(square, k, _mm512_add_ps(sum, c));
  low = _mm512_fnmadd_ps(lost, k, _mm512_sub_ps(low, _mm512_set1_ps(0x1.0de73ap-22f)));
  low = _mm512_fnmadd_ps(square, _mm512_set1_ps(-0x1.151aaep-29f), low);
  __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(a, sum), ND4C_TO_INTEGER);
  __m512 e = nd4c_exp2_reduced_sixteen(_mm512_fmadd_ps(a, low, _mm512_fmsub_ps(a, sum, n)));
  __m512 below = _mm512_add_ps(_mm512_set1_ps(1), _mm512_scalef_ps(e, n));
  return nd4c_gelu_from_tail_sixteen(x, _mm512_scalef_ps(_mm512_div_ps(_mm512_mul_ps(a, e), below), n));
}

/* -- what is rounded to bfloat16 afterwards: as good as the functions above for all of its numbers ---------------- */

/* The binary logarithms of the tails, in powers of the distance from the lower end of an interval. */
static const nd4c_sixteen nd4c_gelu_near_table[4] = {
    {-0x1.53f8f2p+1f, -0x1.f3b17cp+1f, -0x1.5d4f94p+2f, -0x1.d53384p+2f, -0x1.310dd8p+3f, -0x1.de497cp+3f,
     -0x1.5bbf48p+4f, -0x1.deab5ap+4f, -0x1.3c0ec6p+5f, -0x1.f78976p+5f, -0x1.7051d6p+6f, -0x1.fbc4f4p+6f, -0x1p+0f,
     -0x1.51389ap+0f, -0x1.b24caap+0f, -0x1.122028p+1f},
    {-0x1.199f6p+1f, -0x1.65fe8p+1f, -0x1.b63de2p+1f, -0x1.04a0d6p+2f, -0x1.2f1f9p+2f, -0x1.862766p+2f, -0x1.dee106p+2f,
     -0x1.1c501ap+3f, -0x1.498258p+3f, -0x1.a48118p+3f, -0x1.fff53ap+3f, -0x1.2dd5e2p+4f, -0x1.26ad7cp+0f,
     -0x1.63dce2p+0f, -0x1.a56da4p+0f, -0x1.eac098p+0f},
    {-0x1.287856p-1f, -0x1.3a92aap-1f, -0x1.4773c6p-1f, -0x1.50b266p-1f, -0x1.57d3fcp-1f, -0x1.606102p-1f,
     -0x1.656948p-1f, -0x1.688fe2p-1f, -0x1.6ac69ap-1f, -0x1.6d2944p-1f, -0x1.6e7626p-1f, -0x1.6f3de8p-1f,
     -0x1.d6bb94p-2f, -0x1.fc632p-2f, -0x1.0e68dp-1f, -0x1.1c3f84p-1f},
    {-0x1.85655ap-6f, -0x1.151864p-6f, -0x1.8daa8p-7f, -0x1.216e6cp-7f, -0x1.75128ap-8f, -0x1.b5565ap-9f,
     -0x1.10e82ap-9f, -0x1.674262p-10f, -0x1.a3961ep-11f, -0x1.c5e1bep-12f, -0x1.0eee4ep-12f, -0x1.5bd64ap-13f,
     -0x1.9266e2p-5f, -0x1.5a5a74p-5f, -0x1.27b4dap-5f, -0x1.f55f3ep-6f}};
static const nd4c_sixteen nd4c_gelu_tanh_near_table[4] = {
    {-0x1.53cb52p+1f, -0x1.f34abcp+1f, -0x1.5d826cp+2f, -0x1.d7daeap+2f, -0x1.3602aep+3f, -0x1.f982dep+3f,
     -0x1.86102ap+4f, -0x1.206454p+5f, -0x1.9b666p+5f, -0x1.7f0fdep+6f, -0x1.44aef8p+7f, -0x1.001852p+8f, -0x1p+0f,
     -0x1.51377p+0f, -0x1.b2421ap+0f, -0x1.120cfcp+1f},
    {-0x1.1926fcp+1f, -0x1.65fae8p+1f, -0x1.ba9118p+1f, -0x1.0d40ep+2f, -0x1.44de12p+2f, -0x1.cf9388p+2f,
     -0x1.40bc04p+3f, -0x1.ad7148p+3f, -0x1.16f534p+4f, -0x1.b51422p+4f, -0x1.3d5d66p+5f, -0x1.b3f498p+5f,
     -0x1.26ad5cp+0f, -0x1.63ce36p+0f, -0x1.a52a44p+0f, -0x1.ea21cep+0f},
    {-0x1.26164cp-1f, -0x1.3f58b8p-1f, -0x1.649d8cp-1f, -0x1.9ac612p-1f, -0x1.ddc0e2p-1f, -0x1.3c479p+0f,
     -0x1.8b4d5cp+0f, -0x1.da5ccap+0f, -0x1.14b62p+1f, -0x1.63c598p+1f, -0x1.b2d50ep+1f, -0x1.00f242p+2f,
     -0x1.d6c844p-2f, -0x1.fb6762p-2f, -0x1.0d33cep-1f, -0x1.1a7cacp-1f},
    {-0x1.153b76p-5f, -0x1.8e42e4p-5f, -0x1.1e86dcp-4f, -0x1.680674p-4f, -0x1.9a7d06p-4f, -0x1.a55f0ep-4f,
     -0x1.a5a788p-4f, -0x1.a5a7dp-4f, -0x1.a5a7dp-4f, -0x1.a5a7dp-4f, -0x1.a5a7dp-4f, -0x1.a5a7dp-4f, -0x1.87cdfcp-5f,
     -0x1.4c01d6p-5f, -0x1.1d7282p-5f, -0x1.03bc9ep-5f}};

static inline __m512 nd4c_gelu_of_logarithm_sixteen(__m512 x, const nd4c_sixteen *table) {
  __m512 a = _mm512_min_ps(_mm512_set1_ps(14.99f), nd4c_absolute_sixteen(x));
  __m512 moved = _mm512_add_ps(a, _mm512_set1_ps(1));
  __m512i bits = _mm512_castps_si512(moved), index = _mm512_srli_epi32(bits, 21);
  __m512 r = _mm512_sub_ps(moved, _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32(-0x200000))));
  __m512 log = nd4c_pick_sixteen(index, table[3]);
  for (int i = 2; i >= 0; i--) {
    log = _mm512_fmadd_ps(log, r, nd4c_pick_sixteen(index, table[i]));
  }
  __m512 n = _mm512_roundscale_ps(log, ND4C_TO_INTEGER), f = _mm512_sub_ps(log, n);
  __m512 e = _mm512_fmadd_ps(_mm512_set1_ps(0x1.5f48cap-10f), f, _mm512_set1_ps(0x1.3cbf6ap-7f)); /* 2^f */
  e = _mm512_fmadd_ps(e, f, _mm512_set1_ps(0x1.c6aeecp-5f));
  e = _mm512_fmadd_ps(e, f, _mm512_set1_ps(0x1.ebfa4ap-3f));
  e = _mm512_fmadd_ps(e, f, _mm512_set1_ps(0x1.62e43p-1f));
  e = _mm512_fmadd_ps(e, f, _mm512_set1_ps(1));
  return nd4c_gelu_from_tail_sixteen(x, _mm512_scalef_ps(_mm512_mul_ps(a, e), n));
}

static inline __m512 nd4c_gelu_near_sixteen(__m512 x) {
  return nd4c_gelu_of_logarithm_sixteen(x, nd4c_gelu_near_table);
}

static inline __m512 nd4c_gelu_tanh_near_sixteen(__m512 x) {
  return nd4c_gelu_of_logarithm_sixteen(x, nd4c_gelu_tanh_near_table);
}

/* An estimate made good once, in a third of the time that the hardware's root takes. */
static inline __m512 nd4c_sqrt_near_sixteen(__m512 x) {
  __m512 inverse = _mm512_rsqrt14_ps(x), y = _mm512_mul_ps(x, inverse);
  __m512 off = _mm512_fnmadd_ps(y, inverse, _mm512_set1_ps(1));
  __mmask16 itself = _mm512_fpclass_ps_mask(x, 0x0e); /* zeros and infinity */
  y = _mm512_fmadd_ps(_mm512_mul_ps(y, _mm512_set1_ps(0.5f)), off, y);
  return _mm512_mask_mov_ps(y, itself, x);
}

/* The root, correctly rounded: an estimate made good twice, in half of the time that the hardware's root takes, and on
 * other units of the processor than quotients. The last step adds what is missing from the square, which is exact from
 * 2^-100 on; for vectors with a smaller, negative or infinite number or NaN the hardware computes. */
static inline __m512 nd4c_sqrt_sixteen(__m512 x) {
  const __m512 half = _mm512_set1_ps(0.5f);
  __m512i beyond = _mm512_sub_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x0d800000));
  if (_mm512_cmplt_epu32_mask(beyond, _mm512_set1_epi32(0x7f800000 - 0x0d800000)) != 0xffff) {
    return _mm512_sqrt_ps(x);
  }
  __m512 inverse = _mm512_rsqrt14_ps(x), y = _mm512_mul_ps(x, inverse), halved = _mm512_mul_ps(inverse, half);
  __m512 off = _mm512_fnmadd_ps(y, halved, half);
  y = _mm512_fmadd_ps(y, off, y);
  halved = _mm512_fmadd_ps(halved, off, halved);
  return _mm512_fmadd_ps(_mm512_fnmadd_ps(y, y, x), halved, y);
}

/* -- power ------------------------------------------------------------------------------------------------------- */

static inline __m512 nd4c_join_sixteen(__m256 low, __m256 high) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

/* a^b for positive a and finite b. */
static inline __m512 nd4c_power_positive_sixteen(__m512 a, __m512 b) {
  nd4c_split_exponent low = nd4c_power_exponent_eight(_mm512_castps512_ps256(a), _mm512_castps512_ps256(b));
  nd4c_split_exponent high = nd4c_power_exponent_eight(_mm512_extractf32x8_ps(a, 1), _mm512_extractf32x8_ps(b, 1));
  __m512 e = nd4c_exp2_reduced_sixteen(nd4c_join_sixteen(low.rest, high.rest));
  return _mm512_scalef_ps(e, nd4c_join_sixteen(low.whole, high.whole));
}

/* -- logarithm --------------------------------------------------------------------------------------------------- */

/* 1 / c for c next to the middle of an interval of the mantissa, so short that m / c - 1 loses next to nothing; ln c in
 * two parts. Next to 1, c is 1. */
static const nd4c_sixteen nd4c_log_sixteen_table[3] = {
    {0x1p+0f, 0x1.d4p-1f, 0x1.bcp-1f, 0x1.a4p-1f, 0x1.9p-1f, 0x1.7cp-1f, 0x1.6cp-1f, 0x1.5cp-1f, 0x1.4ep+0f, 0x1.42p+0f,
     0x1.36p+0f, 0x1.2ap+0f, 0x1.2p+0f, 0x1.16p+0f, 0x1.0cp+0f, 0x1p+0f},
    {0, 0x1.701p-4f, 0x1.23d8p-3f, 0x1.95a8p-3f, 0x1.f99p-3f, 0x1.315p-2f, 0x1.5d5cp-2f, 0x1.8b64p-2f, -0x1.1058p-2f,
     -0x1.d5cp-3f, -0x1.87f8p-3f, -0x1.372p-3f, -0x1.e27p-4f, -0x1.51bp-4f, -0x1.774p-5f, 0},
    {0, -0x1.67a8aap-19f, -0x1.dab6c8p-20f, -0x1.291848p-18f, 0x1.c6cb3cp-19f, -0x1.c3c594p-19f, -0x1.10535p-21f,
     -0x1.95dd34p-20f, -0x1.7f35cap-19f, -0x1.0b5a7ep-18f, -0x1.032906p-18f, 0x1.eff0b8p-22f, -0x1.db8abcp-22f,
     -0x1.cfc186p-22f, -0x1.63d8ccp-19f, 0}};

/* x = 2^k m, m from 3/4 to 3/2; r = m / c - 1. Of infinities and zero k is infinite, of negative numbers r is NaN. */
typedef struct nd4c_split_sixteen {
  __m512 k, r;
  __m512i index;
} nd4c_split_sixteen;

static inline nd4c_split_sixteen nd4c_log_split_sixteen(__m512 x) {
  __m512 m = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan), k = _mm512_getexp_ps(x);
  nd4c_split_sixteen s = {.index = _mm512_srli_epi32(_mm512_castps_si512(m), 19)};
  const __m512 one = _mm512_set1_ps(1);
  s.k = _mm512_mask_add_ps(k, _mm512_cmp_ps_mask(m, one, _CMP_LT_OQ), k, one);
  s.r = _mm512_fmsub_ps(m, nd4c_pick_sixteen(s.index, nd4c_log_sixteen_table[0]), one);
  return s;
}

/* (ln(1 + r) - r) / r^2 */
static inline __m512 nd4c_log_series_sixteen(__m512 r) {
  __m512 q = _mm512_fmadd_ps(_mm512_set1_ps(0x1.84c632p-3f), r, _mm512_set1_ps(-0x1.002becp-2f));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(0x1.555868p-2f));
  return _mm512_fmadd_ps(q, r, _mm512_set1_ps(-0x1.fffffep-2f));
}

static inline __m512 nd4c_log_rest_sixteen(nd4c_split_sixteen s) {
  return _mm512_fmadd_ps(s.k, _mm512_set1_ps(0x1.7f7d1cp-20f), nd4c_pick_sixteen(s.index, nd4c_log_sixteen_table[2]));
}

/* ln x = k ln 2 + ln c + ln(1 + r), the rest of the first two is given. The first parts of ln 2 and ln c are so short
 * that their sum is exact; infinite k and the r of negative numbers make the special results. 0.6 ulp. */
static inline __m512 nd4c_log_end_sixteen(nd4c_split_sixteen s, __m512 rest) {
  const __m512 high = nd4c_pick_sixteen(s.index, nd4c_log_sixteen_table[1]), r = s.r, q = nd4c_log_series_sixteen(r);
  __m512 most = _mm512_fmadd_ps(s.k, _mm512_set1_ps(0x1.62e4p-1f), high);
  __m512 sum = _mm512_add_ps(most, r), lost = _mm512_sub_ps(r, _mm512_sub_ps(sum, most));
  __mmask16 finite = _mm512_cmp_ps_mask(lost, lost, _CMP_ORD_Q);
  return _mm512_mask_add_ps(sum, finite, sum, _mm512_add_ps(lost, _mm512_fmadd_ps(_mm512_mul_ps(r, r), q, rest)));
}

static inline __m512 nd4c_log_sixteen(__m512 x) {
  const nd4c_split_sixteen s = nd4c_log_split_sixteen(x);
  return nd4c_log_end_sixteen(s, nd4c_log_rest_sixteen(s));
}

#endif
#endif
