/* Implements creation.h. Compiled once per level: the compiler vectorises the plain loops. simd/creation/creation.c
 * runs them from nd4c_simd.creation. */
#include "kernels/cpu/creation/creation.h"

#include <stddef.h>

#include "kernels/cpu/support/level.h"

extern const nd4c_creation_table ND4C_LEVEL_NAME(nd4c_creation_table);

#define ND4C_TEMPLATE "kernels/cpu/creation/fill.h"
#include "kernels/cpu/support/each_unit.h"

static void steps(int64_t n, int64_t first, double start, double step, double *y) {
  for (int64_t i = 0; i < n; i++) {
    y[i] = start + (double)(first + i) * step;
  }
}

static void wholes(int64_t n, int64_t first, int64_t start, int64_t stride, int64_t *y) {
  uint64_t *bits = (uint64_t *)y;
  for (int64_t i = 0; i < n; i++) {
    bits[i] = (uint64_t)start + (uint64_t)(first + i) * (uint64_t)stride;
  }
}

#if ND4C_HAS_FMA
/* What a rounded sum has lost. */
ND4C_INLINED double lost(double a, double b, double sum) {
  const double of_b = sum - a;
  return (a - (sum - of_b)) + (b - of_b);
}

static void spaced(int64_t n, int64_t first, const nd4c_spacing *spacing, double *y) {
  const double start = spacing->start, whole = (double)spacing->steps, inverse = 1 / whole;
  const double gap = spacing->stop - start, gap_low = lost(spacing->stop, -start, gap);
  for (int64_t i = 0; i < n; i++) {
    const double at = (double)(first + i), product = gap * at;
    const double product_low = ND4C_FMA(gap, at, -product) + gap_low * at;
    const double share = product * inverse;
    const double share_low = (ND4C_FMA(-share, whole, product) + product_low) * inverse;
    const double sum = start + share;
    y[i] = sum + (lost(start, share, sum) + share_low);
  }
}
#define SPACED spaced
#else
#define SPACED NULL
#endif

const nd4c_creation_table ND4C_LEVEL_NAME(nd4c_creation_table) = {
    .fill = ND4C_BY_SIZE(fill), .steps = steps, .wholes = wholes, .spaced = SPACED};
