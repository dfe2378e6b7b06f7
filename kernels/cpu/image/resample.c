/* Implements resample.h. Compiled once per level: the compiler vectorises the plain loops. */
#include "kernels/cpu/image/resample.h"

#include "kernels/cpu/support/level.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

extern const nd4c_resample_table ND4C_LEVEL_NAME(nd4c_resample_table);

static void blend(int64_t n, int64_t count, const float *const *rows, const double *weights, double *to) {
  if (count == 2) {
    const float *a = rows[0], *b = rows[1];
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      to[i] = weights[0] * (double)a[i] + weights[1] * (double)b[i];
    }
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    to[i] = 0;
  }
  for (int64_t k = 0; k < count; k++) {
    const float *row = rows[k];
    const double weight = weights[k];
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      to[i] += weight * (double)row[i];
    }
  }
}

static void store(int64_t n, const double *x, float *to) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    to[i] = (float)x[i];
  }
}

#if defined(__AVX512F__)
ND4C_INLINED __m512d gather_float64(__m256i index, const double *from) {
  return _mm512_i32gather_pd(index, from, 8);
}

ND4C_INLINED __m512d gather_float32(__m256i index, const float *from) {
  return _mm512_cvtps_pd(_mm256_i32gather_ps(from, index, 4));
}

/* Eight sums at a time; an element without a weight may be infinite or NaN. */
#define DEFINE_EIGHT(T, name)                                                                                      \
  ND4C_INLINED int64_t eights_of_##name(int64_t n, int64_t taps, const T *from, const int32_t *indices,            \
                                        const double *weights, float *to) {                                        \
    int64_t i = 0;                                                                                                 \
    for (; i + 8 <= n; i += 8) {                                                                                   \
      __m512d sum = _mm512_setzero_pd();                                                                           \
      for (int64_t k = i; k < taps * n; k += n) {                                                                  \
        const __m512d weight = _mm512_loadu_pd(weights + k);                                                       \
        const __m512d x = gather_##name(_mm256_loadu_si256((const __m256i *)(const void *)(indices + k)), from);   \
        sum = _mm512_mask3_fmadd_pd(weight, x, sum, _mm512_cmp_pd_mask(weight, _mm512_setzero_pd(), _CMP_NEQ_UQ)); \
      }                                                                                                            \
      _mm256_storeu_ps(to + i, _mm512_cvtpd_ps(sum));                                                              \
    }                                                                                                              \
    return i;                                                                                                      \
  }
#else
#define DEFINE_EIGHT(T, name)                                                                           \
  ND4C_INLINED int64_t eights_of_##name(int64_t n, int64_t taps, const T *from, const int32_t *indices, \
                                        const double *weights, float *to) {                             \
    (void)n, (void)taps, (void)from, (void)indices, (void)weights, (void)to;                            \
    return 0;                                                                                           \
  }
#endif

/* The element is read in any case, so that the choice is no branch. */
#define DEFINE_SUMS(T, name, sums)                                                                                     \
  DEFINE_EIGHT(T, name)                                                                                                \
  ND4C_INLINED void sums_of_##name(int64_t first, int64_t n, int64_t taps, const T *from, const int32_t *indices,      \
                                   const double *weights, float *to) {                                                 \
    for (int64_t i = first; i < n; i++) {                                                                              \
      double sum = 0;                                                                                                  \
      for (int64_t k = 0; k < taps; k++) {                                                                             \
        const double weight = weights[k * n + i], term = weight * (double)from[indices[k * n + i]];                    \
        sum += weight != 0 ? term : 0;                                                                                 \
      }                                                                                                                \
      to[i] = (float)sum;                                                                                              \
    }                                                                                                                  \
  }                                                                                                                    \
  static void sums(int64_t n, int64_t taps, const T *from, const int32_t *indices, const double *weights, float *to) { \
    const int64_t first = eights_of_##name(n, taps, from, indices, weights, to);                                       \
    if (taps == 4) {                                                                                                   \
      sums_of_##name(first, n, 4, from, indices, weights, to);                                                         \
    } else {                                                                                                           \
      sums_of_##name(first, n, taps, from, indices, weights, to);                                                      \
    }                                                                                                                  \
  }
DEFINE_SUMS(double, float64, weigh)
DEFINE_SUMS(float, float32, pick)

const nd4c_resample_table ND4C_LEVEL_NAME(nd4c_resample_table) = {
    .blend = blend, .store = store, .weigh = weigh, .pick = pick};
