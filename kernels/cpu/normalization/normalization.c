/* See nn.h. One source for every level: the compiler vectorises the plain loops. */
#include "kernels/cpu/normalization/normalization.h"

#include <math.h>
#include <stddef.h>

#include "kernels/cpu/elementwise/eight.h"
#include "kernels/cpu/elementwise/exponential.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/elementwise/mathematics.h"
#include "kernels/cpu/reduction/vector.h"

extern const nd4c_nn_table ND4C_LEVEL_NAME(nd4c_nn_table);

#if defined(__AVX512F__)
/* As exponentials of nn_loops.h: four vectors at a time, then single ones, then a part of one. P: the type in names of
 * instructions; EXP: of a vector. */
#define EXPONENTIALS(name, T, V, MASK, P, EXP)                                                                        \
  /* y = e^(x - largest), and added to *sum. */                                                                       \
  static inline void line_##name(const T *x, T largest, T *y, V *sum) {                                               \
    V e = EXP(_mm512_sub_##P(_mm512_loadu_##P(x), _mm512_set1_##P(largest)));                                         \
    *sum = _mm512_add_##P(*sum, e);                                                                                   \
    if (y != NULL)                                                                                                    \
      _mm512_storeu_##P(y, e);                                                                                        \
  }                                                                                                                   \
  static inline T lines_##name(int64_t n, const T *x, T largest, T *y, bool keep) {                                   \
    enum { W = 64 / sizeof(T) };                                                                                      \
    V sums[4];                                                                                                        \
    int64_t i = 0;                                                                                                    \
    for (int line = 0; line < 4; line++)                                                                              \
      sums[line] = _mm512_setzero_##P();                                                                              \
    for (; i + 4 * W <= n; i += 4 * W)                                                                                \
      for (int line = 0; line < 4; line++) {                                                                          \
        const T *from = x + i + W * line;                                                                             \
        ND4C_PREFETCH((uintptr_t)(from + n)); /* the next row */                                                      \
        line_##name(from, largest, keep ? y + i + W *line : NULL, &sums[line]);                                       \
      }                                                                                                               \
    for (; i + W <= n; i += W)                                                                                        \
      line_##name(x + i, largest, keep ? y + i : NULL, &sums[0]);                                                     \
    if (i < n) {                                                                                                      \
      MASK some = (MASK)((1u << (n - i)) - 1);                                                                        \
      V e = EXP(_mm512_sub_##P(_mm512_maskz_loadu_##P(some, x + i), _mm512_set1_##P(largest)));                       \
      sums[1] = _mm512_mask_add_##P(sums[1], some, sums[1], e);                                                       \
      if (keep)                                                                                                       \
        _mm512_mask_storeu_##P(y + i, some, e);                                                                       \
    }                                                                                                                 \
    return _mm512_reduce_add_##P(_mm512_add_##P(_mm512_add_##P(sums[0], sums[1]), _mm512_add_##P(sums[2], sums[3]))); \
  }                                                                                                                   \
  /* Whole vectors of softmax_finish: how many elements those were. */                                                \
  static inline int64_t finish_lines_##name(int64_t n, const T *x, const T *largest, const T *rest, T *y) {           \
    enum { W = 64 / sizeof(T) };                                                                                      \
    int64_t i = 0;                                                                                                    \
    for (; i + W <= n; i += W) {                                                                                      \
      V e = EXP(_mm512_sub_##P(_mm512_loadu_##P(x + i), _mm512_loadu_##P(largest + i)));                              \
      _mm512_storeu_##P(y + i, _mm512_mul_##P(e, _mm512_loadu_##P(rest + i)));                                        \
    }                                                                                                                 \
    return i;                                                                                                         \
  }
EXPONENTIALS(float32, float, __m512, __mmask16, ps, nd4c_exp_sixteen)
EXPONENTIALS(float64, double, __m512d, __mmask8, pd, nd4c_exp_eight)
#define EXP_LINES
#endif

EXTREME(largest_float32, max, float32, float, PLAIN)
EXTREME(largest_float64, max, float64, double, PLAIN)

#define T float
#define SQRT sqrtf
#define EXP nd4c_exp_float32
#define LOG nd4c_log_float32
#define MULTIPLY_ADD ND4C_FMAF
#define NAME(name) name##_float32
#include "kernels/cpu/normalization/loops.h"

#define T double
#define SQRT sqrt
#define EXP nd4c_exp_float64
#define LOG nd4c_log_float64
#define MULTIPLY_ADD ND4C_FMA
#define NAME(name) name##_float64
#include "kernels/cpu/normalization/loops.h"

const nd4c_nn_table ND4C_LEVEL_NAME(nd4c_nn_table) = {.float32 = &loops_float32, .float64 = &loops_float64};
