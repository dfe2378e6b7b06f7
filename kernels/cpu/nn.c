/* See nn.h. One source for every level: the compiler vectorises the plain loops. */
#include "kernels/cpu/nn.h"

#include <math.h>
#include <stddef.h>

#include "kernels/cpu/level.h"
#include "kernels/cpu/mathematics.h"

extern const nd4c_nn_table ND4C_LEVEL_NAME(nd4c_nn_table);

#if defined(__AVX512F__)
#include <immintrin.h>

/* e^x of sixteen numbers up to 0, NaN stays: one instruction scales where the plain source needs six. */
static inline __m512 exp_sixteen(__m512 x) {
  const __m512 rounder = _mm512_set1_ps(ND4C_ROUNDER_F32);
  x = _mm512_max_ps(_mm512_set1_ps(-150.0f), x); /* of two, the second is kept if it is NaN */
  __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(x, _mm512_set1_ps(0x1.715476p+0f), rounder), rounder);
  __m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(-0x1.63p-1f), x);
  r = _mm512_fmadd_ps(n, _mm512_set1_ps(0x1.bd0106p-13f), r);
  __m512 q = _mm512_fmadd_ps(_mm512_set1_ps(1.381461240e-03f), r, _mm512_set1_ps(8.368709716e-03f));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(4.166838739e-02f));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(1.666652069e-01f));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(4.999999345e-01f));
  q = _mm512_fmadd_ps(_mm512_mul_ps(r, r), q, r);
  return _mm512_scalef_ps(_mm512_add_ps(_mm512_set1_ps(1), q), n);
}

/* y = e^(x - largest) of a cache line, and added to *sum. */
static inline void exp_line(const float *x, float largest, float *y, __m512 *sum) {
  __m512 e = exp_sixteen(_mm512_sub_ps(_mm512_loadu_ps(x), _mm512_set1_ps(largest)));
  *sum = _mm512_add_ps(*sum, e);
  if (y != NULL)
    _mm512_storeu_ps(y, e);
}

/* As exponentials_float32 for a multiple of 64 elements. */
static inline float exponentials_lines(int64_t n, const float *x, float largest, float *y, bool keep) {
  __m512 sums[4];
  for (int i = 0; i < 4; i++)
    sums[i] = _mm512_setzero_ps();
  for (int64_t i = 0; i < n; i += 64)
    for (int line = 0; line < 4; line++) {
      const float *from = x + i + 16 * line;
      ND4C_PREFETCH((uintptr_t)(from + n)); /* the next row */
      exp_line(from, largest, keep ? y + i + 16 * line : NULL, &sums[line]);
    }
  return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3])));
}
#define EXP_LINES
#endif

#define T float
#define SQRT sqrtf
#define EXP nd4c_exp_float32
#define LOG nd4c_log_float32
#define MULTIPLY_ADD ND4C_FMAF
#define NAME(name) name##_float32
#include "kernels/cpu/nn_loops.h"
#undef EXP_LINES

#define T double
#define SQRT sqrt
#define EXP nd4c_exp_float64
#define LOG nd4c_log_float64
#define MULTIPLY_ADD ND4C_FMA
#define NAME(name) name##_float64
#include "kernels/cpu/nn_loops.h"

const nd4c_nn_table ND4C_LEVEL_NAME(nd4c_nn_table) = {.float32 = &loops_float32, .float64 = &loops_float64};
