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

static void weigh(int64_t n, int64_t taps, const double *row, const int32_t *indices, const double *weights,
                  float *to) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 8 <= n; i += 8) {
    __m512d sum = _mm512_setzero_pd();
    for (int64_t k = 0; k < taps; k++) {
      const __m256i index = _mm256_loadu_si256((const __m256i *)(const void *)(indices + k * n + i));
      const __m512d weight = _mm512_loadu_pd(weights + k * n + i), x = _mm512_i32gather_pd(index, row, 8);
      /* An element without a weight may be infinite or NaN. */
      const __mmask8 some = _mm512_cmp_pd_mask(weight, _mm512_setzero_pd(), _CMP_NEQ_UQ);
      sum = _mm512_mask3_fmadd_pd(weight, x, sum, some);
    }
    _mm256_storeu_ps(to + i, _mm512_cvtpd_ps(sum));
  }
#endif
  for (; i < n; i++) {
    double sum = 0;
    for (int64_t k = i; k < taps * n; k += n) {
      sum += weights[k] != 0 ? weights[k] * row[indices[k]] : 0;
    }
    to[i] = (float)sum;
  }
}

const nd4c_resample_table ND4C_LEVEL_NAME(nd4c_resample_table) = {.blend = blend, .store = store, .weigh = weigh};
