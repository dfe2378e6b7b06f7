/* y = a^b over runs of floats. A step of 0 repeats one element. y may be a or b. */
#ifndef ND4C_KERNELS_CPU_POWER_H
#define ND4C_KERNELS_CPU_POWER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernels/cpu/level.h"
#include "kernels/cpu/mathematics.h"

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

static inline void nd4c_power_float64(int64_t n, const double *a, int64_t a_step, const double *b, int64_t b_step,
                                      double *y) {
  if (n < 1 || (b_step == 0 && a_step == 1 && nd4c_power_plain_float64(n, a, *b, y)))
    return;
  double first = *a, second = *b;
  for (int64_t i = 0; i < n; i++)
    y[i] = pow(a_step ? a[i] : first, b_step ? b[i] : second);
}

/* Piece by piece: the formula for all, then the elements for which it does not hold once more. */
static inline void nd4c_power_float32(int64_t n, const float *a, int64_t a_step, const float *b, int64_t b_step,
                                      float *y) {
  enum { PIECE = 256 };
  float bases[PIECE], exponents[PIECE], results[PIECE];
  if (n < 1 || (b_step == 0 && a_step == 1 && nd4c_power_plain_float32(n, a, *b, y)))
    return;
  for (int64_t i = 0; i < PIECE; i++) {
    bases[i] = *a;
    exponents[i] = *b;
  }
  for (int64_t i = 0; i < n; i += PIECE) {
    int64_t count = n - i < PIECE ? n - i : PIECE;
    uint32_t special = 0;
    if (a_step)
      memcpy(bases, a + i, (size_t)count * sizeof *a);
    if (b_step)
      memcpy(exponents, b + i, (size_t)count * sizeof *b);
    for (int64_t j = 0; j < count; j++)
      special |= (uint32_t)nd4c_power_is_special_f32(bases[j], exponents[j]);
    for (int64_t j = 0; j < count; j++)
      results[j] = nd4c_power_finite_f32(bases[j], exponents[j]);
    for (int64_t j = 0; special && j < count; j++)
      if (nd4c_power_is_special_f32(bases[j], exponents[j]))
        results[j] = (float)pow((double)bases[j], (double)exponents[j]);
    memcpy(y + i, results, (size_t)count * sizeof *y);
  }
}

#endif
