/* Implements transposed.h. Compiled once per level: the compiler vectorises the plain loops. */
#include "kernels/cpu/window/transposed.h"

#include <stddef.h>

#include "kernels/cpu/support/level.h"

extern const nd4c_transposed_table ND4C_LEVEL_NAME(nd4c_transposed_table);

#define DEFINE_LOOPS(T, name)                                                                                       \
  static void add_##name(int64_t rows, int64_t n, const void *from, int64_t from_step, void *to, int64_t to_step) { \
    for (int64_t r = 0; r < rows; r++) {                                                                            \
      const T *x = (const T *)from + r * from_step;                                                                 \
      T *y = (T *)to + r * to_step;                                                                                 \
      ND4C_INDEPENDENT                                                                                              \
      for (int64_t i = 0; i < n; i++) {                                                                             \
        y[i] += x[i];                                                                                               \
      }                                                                                                             \
    }                                                                                                               \
  }                                                                                                                 \
                                                                                                                    \
  static void write_##name(int64_t n, int64_t phases, const void *sums, int64_t step, const void *bias, void *to) { \
    const T *x = sums, shift = bias != NULL ? *(const T *)bias : 0;                                                 \
    T *y = to;                                                                                                      \
    if (phases == 1) {                                                                                              \
      ND4C_INDEPENDENT                                                                                              \
      for (int64_t i = 0; i < n; i++) {                                                                             \
        y[i] = x[i] + shift;                                                                                        \
      }                                                                                                             \
      return;                                                                                                       \
    }                                                                                                               \
    int64_t first = 0;                                                                                              \
    if (phases == 2) {                                                                                              \
      const T *odd = x + step;                                                                                      \
      ND4C_INDEPENDENT                                                                                              \
      for (int64_t i = 0; i < n / 2; i++) {                                                                         \
        y[2 * i] = x[i] + shift;                                                                                    \
        y[2 * i + 1] = odd[i] + shift;                                                                              \
      }                                                                                                             \
      first = n / 2 * 2;                                                                                            \
    }                                                                                                               \
    for (int64_t phase = 0; phase < phases; phase++) {                                                              \
      for (int64_t i = first + phase; i < n; i += phases) {                                                         \
        y[i] = x[phase * step + i / phases] + shift;                                                                \
      }                                                                                                             \
    }                                                                                                               \
  }
DEFINE_LOOPS(float, float32)
DEFINE_LOOPS(double, float64)

const nd4c_transposed_table ND4C_LEVEL_NAME(nd4c_transposed_table) = {
    .float32 = {.add = add_float32, .write = write_float32}, .float64 = {.add = add_float64, .write = write_float64}};
