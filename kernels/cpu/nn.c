/* See nn.h. One source for every level: the compiler vectorises the plain loops. */
#include "kernels/cpu/nn.h"

#include <math.h>
#include <stddef.h>

#include "kernels/cpu/exponential.h"
#include "kernels/cpu/level.h"
#include "kernels/cpu/mathematics.h"

extern const nd4c_nn_table ND4C_LEVEL_NAME(nd4c_nn_table);

#if defined(__AVX512F__)
/* y = e^(x - largest) of a cache line, and added to *sum. */
static inline void exp_line(const float *x, float largest, float *y, __m512 *sum) {
  __m512 e = nd4c_exp_sixteen(_mm512_sub_ps(_mm512_loadu_ps(x), _mm512_set1_ps(largest)));
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
