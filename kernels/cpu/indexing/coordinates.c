/* Implements coordinates.h. Compiled once per level: the compiler vectorises the plain loops. */
#include "kernels/cpu/indexing/coordinates.h"

#include <stddef.h>
#include <string.h>

#include "kernels/cpu/support/level.h"

extern const nd4c_coordinates_table ND4C_LEVEL_NAME(nd4c_coordinates_table);

#define DEFINE_LOOPS(T, name)                                                                  \
  static bool inside_##name(int64_t n, int64_t extent, const void *indices) {                  \
    const T *x = indices;                                                                      \
    int64_t outside = 0;                                                                       \
    for (int64_t i = 0; i < n; i++) {                                                          \
      const int64_t index = x[i];                                                              \
      outside |= (index < -extent ? 1 : 0) | (index >= extent ? 1 : 0);                        \
    }                                                                                          \
    return outside == 0;                                                                       \
  }                                                                                            \
                                                                                               \
  static void start_##name(int64_t n, int64_t extent, const void *indices, int64_t *numbers) { \
    const T *x = indices;                                                                      \
    ND4C_INDEPENDENT                                                                           \
    for (int64_t i = 0; i < n; i++) {                                                          \
      numbers[i] = (int64_t)x[i] + (x[i] < 0 ? extent : 0);                                    \
    }                                                                                          \
  }                                                                                            \
                                                                                               \
  static void join_##name(int64_t n, int64_t extent, const void *indices, int64_t *numbers) {  \
    const T *x = indices;                                                                      \
    ND4C_INDEPENDENT                                                                           \
    for (int64_t i = 0; i < n; i++) {                                                          \
      numbers[i] = numbers[i] * extent + (int64_t)x[i] + (x[i] < 0 ? extent : 0);              \
    }                                                                                          \
  }
DEFINE_LOOPS(int32_t, int32)
DEFINE_LOOPS(int64_t, int64)

/* A whole number below 2^52 as a double, and back: 2^52 plus the number has it as the lowest bits. */
#define SHIFT 0x1p52
static inline double double_of(int64_t x) {
  const int64_t bits = x | INT64_C(0x4330000000000000);
  double shifted;
  memcpy(&shifted, &bits, sizeof shifted);
  return shifted - SHIFT;
}

static inline int64_t whole_of(double x) {
  const double shifted = x + SHIFT;
  int64_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  return bits & INT64_C(0xfffffffffffff);
}

/* Vectors have no division of whole numbers. Below 2^50, the error of a quotient in doubles is at most a quarter, so
 * that the next whole number is the floor or one more; then the rest, which is exact, is negative. */
static void divide_small(int64_t n, int64_t extent, int64_t *numbers, int64_t *rests) {
  const double by = (double)extent, inverse = 1 / by;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const double x = double_of(numbers[i]), quotient = x * inverse + SHIFT - SHIFT, rest = x - quotient * by;
    const double less = rest < 0 ? 1 : 0;
    numbers[i] = whole_of(quotient - less);
    rests[i] = whole_of(rest + less * by);
  }
}

static void divide(int64_t n, int64_t extent, int64_t most, int64_t *numbers, int64_t *rests) {
  if (most <= INT64_C(1) << 50) {
    divide_small(n, extent, numbers, rests);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    const int64_t quotient = numbers[i] / extent;
    rests[i] = numbers[i] - quotient * extent;
    numbers[i] = quotient;
  }
}

const nd4c_coordinates_table ND4C_LEVEL_NAME(nd4c_coordinates_table) = {
    .int32 = {.inside = inside_int32, .start = start_int32, .join = join_int32},
    .int64 = {.inside = inside_int64, .start = start_int64, .join = join_int64},
    .divide = divide};
