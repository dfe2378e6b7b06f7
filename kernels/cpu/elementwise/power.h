/* y = a^b over runs of floats. A step of 0 repeats one element. y may be a or b. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_POWER_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_POWER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernels/cpu/support/level.h"
#include "kernels/cpu/elementwise/mathematics.h"
#include "kernels/cpu/elementwise/sixteen.h"

/* The exponents that people write: true if one of them served. Zero has its sign and minus infinity its value as pow
 * says. */
#define ND4C_POWER_PLAIN(name, type, root)                                                \
  static inline bool nd4c_power_plain_##name(int64_t n, const type *a, type b, type *y) { \
    ND4C_INDEPENDENT                                                                      \
    for (int64_t i = 0; b == 2 && i < n; i++)                                             \
      y[i] = a[i] * a[i];                                                                 \
    ND4C_INDEPENDENT                                                                      \
    for (int64_t i = 0; b == (type)0.5 && i < n; i++)                                     \
      y[i] = a[i] == -(type)INFINITY ? (type)INFINITY : root(a[i] + 0);                   \
    ND4C_INDEPENDENT                                                                      \
    for (int64_t i = 0; b == -1 && i < n; i++)                                            \
      y[i] = 1 / a[i];                                                                    \
    return b == 2 || b == (type)0.5 || b == -1;                                           \
  }
ND4C_POWER_PLAIN(float32, float, sqrtf)
ND4C_POWER_PLAIN(float64, double, sqrt)
#undef ND4C_POWER_PLAIN

#if defined(__AVX512F__)
/* Vector by vector; elements for which the formula does not hold (zeros, infinities, NaN, subnormal f64) once more. Of
 * a negative a the sign is that of the last bit of b, which must be an integer. */
#define ND4C_POWER(name, type, count, bits, vector, suffix, special_class)                                      \
  static inline vector nd4c_power_signed_##name(vector y, vector b, __mmask##count negative) {                  \
    vector half = _mm512_mul_##suffix(b, _mm512_set1_##suffix((type)0.5));                                      \
    __mmask##count odd =                                                                                        \
        _mm512_cmp_##suffix##_mask(_mm512_roundscale_##suffix(half, ND4C_TO_INTEGER), half, _CMP_NEQ_UQ);       \
    __mmask##count broken =                                                                                     \
        _mm512_cmp_##suffix##_mask(_mm512_roundscale_##suffix(b, ND4C_TO_INTEGER), b, _CMP_NEQ_UQ);             \
    y = _mm512_mask_sub_##suffix(y, (__mmask##count)(negative & odd), _mm512_set1_##suffix(-(type)0), y);       \
    return _mm512_mask_mov_##suffix(y, (__mmask##count)(negative & broken), _mm512_set1_##suffix((type)NAN));   \
  }                                                                                                             \
  static void nd4c_power_mend_##name(__mmask##count special, vector a, vector b, type *y) {                     \
    type base[count], exponent[count];                                                                          \
    _mm512_storeu_##suffix(base, a);                                                                            \
    _mm512_storeu_##suffix(exponent, b);                                                                        \
    for (; special != 0; special = (__mmask##count)(special & (special - 1))) {                                 \
      int i = __builtin_ctz(special);                                                                           \
      y[i] = (type)pow((double)base[i], (double)exponent[i]);                                                   \
    }                                                                                                           \
  }                                                                                                             \
  static inline void nd4c_power_##name(int64_t n, const type *a, int64_t a_step, const type *b, int64_t b_step, \
                                       type *y) {                                                               \
    if (n < 1 || (b_step == 0 && a_step == 1 && nd4c_power_plain_##name(n, a, *b, y)))                          \
      return;                                                                                                   \
    vector base = _mm512_set1_##suffix(*a), exponent = _mm512_set1_##suffix(*b);                                \
    for (int64_t i = 0; i < n; i += count) {                                                                    \
      __mmask##count some = (__mmask##count)(n - i < count ? (1u << (n - i)) - 1 : (1u << count) - 1);          \
      base = a_step ? _mm512_maskz_loadu_##suffix(some, a + i) : base;                                          \
      exponent = b_step ? _mm512_maskz_loadu_##suffix(some, b + i) : exponent;                                  \
      __mmask##count special =                                                                                  \
          (__mmask##count)(_mm512_mask_fpclass_##suffix##_mask(some, base, special_class) |                     \
                           _mm512_mask_fpclass_##suffix##_mask(some, exponent, 0x99)); /* NaN and infinities */ \
      __mmask##count negative = _mm512_fpclass_##suffix##_mask(base, 0x40);                                     \
      vector result = nd4c_power_positive_##bits(nd4c_absolute_##bits(base), exponent);                         \
      if (negative)                                                                                             \
        result = nd4c_power_signed_##name(result, exponent, negative);                                          \
      _mm512_mask_storeu_##suffix(y + i, some, result);                                                         \
      if (special)                                                                                              \
        nd4c_power_mend_##name(special, base, exponent, y + i);                                                 \
    }                                                                                                           \
  }
ND4C_POWER(float32, float, 16, sixteen, __m512, ps, 0x9f) /* also zeros */
ND4C_POWER(float64, double, 8, eight, __m512d, pd, 0xbf)  /* and subnormal numbers */
#undef ND4C_POWER
#else
/* True if the formulas below do not hold: zeros, infinities, NaN, and subnormal f64 have rules of their own. */
static inline int nd4c_power_is_special_float32(float a, float b) {
  return !(fabsf(a) > 0) | !(fabsf(a) < INFINITY) | !(fabsf(b) < INFINITY);
}

static inline int nd4c_power_is_special_float64(double a, double b) {
  return !(fabs(a) >= 0x1p-1022) | !(fabs(a) < INFINITY) | !(fabs(b) < INFINITY);
}

/* |a| = 2^k m, m from sqrt(1/2) to sqrt 2. */
static inline double nd4c_power_split(double a, double *k) {
  uint64_t bits = nd4c_double_bits(fabs(a)) + (UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd));
  *k = nd4c_double_from_bits((bits >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023);
  return nd4c_double_from_bits((bits & UINT64_C(0x000fffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd));
}

/* a^b as e^(b ln |a|) in f64, of which 32 bits are right; a negative a wants an integer b, whose last bit gives the
 * sign. ln m = 2 artanh s, s = (m - 1) / (m + 1). */
static inline float nd4c_power_finite_float32(float a, float b) {
  double k, m = nd4c_power_split((double)a, &k), s = (m - 1) / (m + 1), z = s * s;
  double p = ND4C_FMA(z, 0.19363884986633198, 0.22191337428065783);
  p = ND4C_FMA(z, p, 0.28571755535032944);
  p = ND4C_FMA(z, p, 0.3999999879244169);
  p = ND4C_FMA(z, p, 0.6666666666737868);
  double x = (double)b * ND4C_FMA(k, 0x1.62e42fefa39efp-1, ND4C_FMA(s * z, p, 2 * s));
  x = x > 200 ? 200 : x;
  x = x < -200 ? -200 : x;
  double rounded = ND4C_FMA(x, 0x1.71547652b82fep+0, ND4C_ROUNDER_F64);
  double r = ND4C_FMA(rounded - ND4C_ROUNDER_F64, -0x1.62e42fefa39efp-1, x);
  double q = ND4C_FMA(r, 0.00019890988455544567, 0.0013933647862928863); /* (e^r - 1 - r) / r^2 */
  q = ND4C_FMA(r, q, 0.008333310927615311);
  q = ND4C_FMA(r, q, 0.041666464944505696);
  q = ND4C_FMA(r, q, 0.16666666681621095);
  q = ND4C_FMA(r, q, 0.5000000013463886);
  float y = (float)(ND4C_FMA(r * r, q, 1 + r) * nd4c_power_of_two_f64(rounded));
  float whole = rintf(b), half = 0.5f * b;
  float negative = whole != b ? NAN : rintf(half) != half ? -y : y;
  return a < 0 ? negative : y;
}

#if defined(ND4C_HAS_FMA)
/* The same, ln |a| and its product with b in two doubles each: e^ makes an absolute error of its exponent a relative
 * one. */
static inline double nd4c_power_finite_float64(double a, double b) {
  double k, m = nd4c_power_split(a, &k), f = m - 1, d = m + 1, d_low = m - (d - 1);
  double s = f / d, s_low = (fma(-s, d, f) - s * d_low) / d;
  double z = s * s, z_low = fma(s, s, -z) + 2 * s * s_low;
  double cube = z * s, cube_low = fma(z, s, -cube) + (z_low * s + z * s_low);
  const double third = 2.0 / 3, third_low = 0x1.5555555555555p-55;
  double t = third * cube, t_low = fma(third, cube, -t) + (third * cube_low + third_low * cube);
  double p = fma(z, 0.1076362151501126, 0.10456195110401492);
  p = fma(z, p, 0.11766819021629554);
  p = fma(z, p, 0.13333296397963834);
  p = fma(z, p, 0.1538461576290815);
  p = fma(z, p, 0.1818181817964499);
  p = fma(z, p, 0.2222222222222847);
  p = fma(z, p, 0.28571428571428564);
  p = fma(z, p, 0.4);
  double high = k * 0x1.62e42fefa3000p-1, twice = 2 * s, sum = high + twice, part = sum - high;
  double low = (high - (sum - part)) + (twice - part), log = sum + t;
  low += t - (log - sum);
  low += fma(z * cube, p, fma(k, 0x1.3de6af278ece6p-42, 2 * s_low + t_low));
  double rounded = log + low;
  low -= rounded - log;
  double by = b > 0x1p80 ? 0x1p80 : b < -0x1p80 ? -0x1p80 : b;
  double x = by * rounded, x_low = fma(by, rounded, -x) + by * low;
  nd4c_scaled_float64 e = nd4c_exp_scaled_f64(x, fabs(x) < 1000 ? x_low : 0);
  double y = e.mantissa * e.half * e.rest, whole = rint(b), half = 0.5 * b;
  double negative = whole != b ? (double)NAN : rint(half) != half ? -y : y;
  return a < 0 ? negative : y;
}
#else
static inline double nd4c_power_finite_float64(double a, double b) {
  return pow(a, b);
}
#endif

/* Piece by piece: the formula for all, then the elements for which it does not hold once more. */
#define ND4C_POWER(name, type, dtype, finite)                                                                   \
  static inline void nd4c_power_##name(int64_t n, const type *a, int64_t a_step, const type *b, int64_t b_step, \
                                       type *y) {                                                               \
    enum { PIECE = 256 };                                                                                       \
    type bases[PIECE], exponents[PIECE], results[PIECE];                                                        \
    if (n < 1 || (b_step == 0 && a_step == 1 && nd4c_power_plain_##dtype(n, a, *b, y)))                         \
      return;                                                                                                   \
    for (int64_t i = 0; i < PIECE; i++) {                                                                       \
      bases[i] = *a;                                                                                            \
      exponents[i] = *b;                                                                                        \
    }                                                                                                           \
    for (int64_t i = 0; i < n; i += PIECE) {                                                                    \
      int64_t count = n - i < PIECE ? n - i : PIECE;                                                            \
      uint32_t special = 0;                                                                                     \
      if (a_step)                                                                                               \
        memcpy(bases, a + i, (size_t)count * sizeof *a);                                                        \
      if (b_step)                                                                                               \
        memcpy(exponents, b + i, (size_t)count * sizeof *b);                                                    \
      for (int64_t j = 0; j < count; j++)                                                                       \
        special |= (uint32_t)nd4c_power_is_special_##dtype(bases[j], exponents[j]);                             \
      for (int64_t j = 0; j < count; j++)                                                                       \
        results[j] = finite(bases[j], exponents[j]);                                                            \
      for (int64_t j = 0; special && j < count; j++)                                                            \
        if (nd4c_power_is_special_##dtype(bases[j], exponents[j]))                                              \
          results[j] = (type)pow((double)bases[j], (double)exponents[j]);                                       \
      memcpy(y + i, results, (size_t)count * sizeof *y);                                                        \
    }                                                                                                           \
  }
ND4C_POWER(float32, float, float32, nd4c_power_finite_float32)
ND4C_POWER(float64, double, float64, nd4c_power_finite_float64)
#endif

#endif
