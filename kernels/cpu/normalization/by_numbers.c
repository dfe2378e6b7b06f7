/* Implements by_numbers.h. Compiled once per level. simd/reduction/reduction_normalize.c reads the table by
 * nd4c_simd.by_numbers. */
#include "kernels/cpu/normalization/by_numbers.h"

#include <stdbool.h>

#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/types.h"

extern const nd4c_by_numbers_table ND4C_LEVEL_NAME(nd4c_by_numbers_table);

/* Of element i: index i of numbers that vary, else 0. FROM and TO: types of x and y. */
#define NORMALIZE(suffix, FROM, TO, name, middle_at, scale_at)                                                 \
  static void name##_##suffix(int64_t n, const void *vx, const nd4c_by_numbers *numbers, void *vy) {           \
    const FROM *x = vx;                                                                                        \
    TO *y = vy;                                                                                                \
    const double *middle = numbers->middle, *divisor = numbers->divisor;                                       \
    const double *scale = numbers->scale, *bias = numbers->bias;                                               \
    const bool is_plain = scale == NULL;                                                                       \
    ND4C_INDEPENDENT                                                                                           \
    for (int64_t i = 0; is_plain && i < n; i++) {                                                              \
      y[i] = (TO)(((double)x[i] - middle[middle_at]) / divisor[middle_at]);                                    \
    }                                                                                                          \
    ND4C_INDEPENDENT                                                                                           \
    for (int64_t i = 0; !is_plain && i < n; i++) {                                                             \
      y[i] = (TO)(((double)x[i] - middle[middle_at]) / divisor[middle_at] * scale[scale_at] + bias[scale_at]); \
    }                                                                                                          \
  }
#define LOOPS(suffix, FROM, TO)          \
  NORMALIZE(suffix, FROM, TO, one, 0, 0) \
  NORMALIZE(suffix, FROM, TO, row, 0, i) \
  NORMALIZE(suffix, FROM, TO, each, i, i)
LOOPS(float32, float, float)
LOOPS(float64, double, double)

#ifndef ND4C_DTYPES_LITE
LOOPS(widened, float, double)

/* The numbers of element i on. */
static inline nd4c_by_numbers numbers_from(const nd4c_by_numbers *numbers, int64_t middle, int64_t scale) {
  return (nd4c_by_numbers){numbers->middle + middle, numbers->divisor + middle,
                           numbers->scale != NULL ? numbers->scale + scale : NULL,
                           numbers->bias != NULL ? numbers->bias + scale : NULL};
}

#define HALF_LOOP(d, name, middle_at, scale_at)                                                 \
  static void name##_##d(int64_t n, const void *vx, const nd4c_by_numbers *numbers, void *vy) { \
    const uint16_t *x = vx;                                                                     \
    uint16_t *y = vy;                                                                           \
    float wide[ND4C_HALF_CHUNK];                                                                \
    double made[ND4C_HALF_CHUNK];                                                               \
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                                          \
      const int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;                  \
      const nd4c_by_numbers own = numbers_from(numbers, middle_at, scale_at);                   \
      nd4c_widen_##d(count, x + i, wide);                                                       \
      name##_widened(count, wide, &own, made);                                                  \
      nd4c_odd_floats(count, made, wide);                                                       \
      nd4c_narrow_##d(count, wide, y + i);                                                      \
    }                                                                                           \
  }
#define HALF_LOOPS(D, d, kind) HALF_LOOP(d, one, 0, 0) HALF_LOOP(d, row, 0, i) HALF_LOOP(d, each, i, i)
ND4C_HALF_DTYPES(HALF_LOOPS)
#endif

#define ENTRY(D, d, kind) [ND4C_##D] = {one_##d, row_##d, each_##d},
const nd4c_by_numbers_table ND4C_LEVEL_NAME(nd4c_by_numbers_table) = {
    .loops = {ND4C_WIDE_FLOAT_DTYPES(ENTRY) ND4C_HALF_DTYPES(ENTRY)}};
