/* Eight rows of f32 or f64 folded into a line of accumulators, in registers. NaN and infinities, which are rare, are
 * what a branch is for. */
#ifndef ND4C_KERNELS_CPU_REDUCTION_FOLD_H
#define ND4C_KERNELS_CPU_REDUCTION_FOLD_H

#include <string.h>

#include "kernels/cpu/reduction/vector.h"

enum { FOLD_ROWS = 8 };

/* Row `row` of the vector at column i of the line. */
#define ROW_AT(name, T, line, step, row, i) LOAD(name, (const T *)(const void *)((line) + (row) * (step)) + (i))

/* Fewer columns than a vector has: through buffers of that width, for a result must not depend on how columns are
 * shared out. A: of accumulators. */
#define FEW_COLUMNS(function, name, T, A)                                                       \
  static void function##_few(int64_t n, const char *line, int64_t step, A *a, bool set) {       \
    T x[FOLD_ROWS * WIDTH_##name] = {0};                                                        \
    A all[WIDTH_##name] = {0};                                                                  \
    for (int64_t row = 0; row < FOLD_ROWS; row++)                                               \
      memcpy(x + row * WIDTH_##name, line + row * step, (size_t)n * sizeof *x);                 \
    for (int64_t i = 0; !set && i < n; i++)                                                     \
      all[i] = a[i];                                                                            \
    function##_many(WIDTH_##name, (const char *)x, WIDTH_##name *(int64_t)sizeof *x, all, set); \
    memcpy(a, all, (size_t)n * sizeof *a);                                                      \
  }                                                                                             \
  static void function(int64_t n, const char *line, int64_t step, A *a, bool set) {             \
    (n < WIDTH_##name ? function##_few : function##_many)(n, line, step, a, set);               \
  }

/* -- sums of floats: four as floats, their sums as doubles, as BY_FOUR does it ------------------------------------- */

static inline void add_in_double(const char *line, int64_t step, int64_t i, wide_float64 *lower, wide_float64 *upper) {
  wide_float64 low = NEUTRAL_sum, high = low;
  for (int row = 0; row < FOLD_ROWS; row++) {
    wide_float32 v = ROW_AT(float32, float, line, step, row, i);
    low += LOWER(v), high += UPPER(v);
  }
  *lower = low, *upper = high;
}

/* a[i] += the sum of eight rows, or that with `set`, for n >= WIDTH_float32 columns. */
static void add_eight_rows_many(int64_t n, const char *line, int64_t step, double *a, bool set) {
  enum { W = WIDTH_float32, HALF = WIDTH_float64 };
  const wide_float64 nothing = NEUTRAL_sum;
  for (int64_t i = 0; i < n; i += W) {
    int64_t at = i + W <= n ? i : n - W;
    wide_float32 first = (ROW_AT(float32, float, line, step, 0, at) + ROW_AT(float32, float, line, step, 1, at)) +
                         (ROW_AT(float32, float, line, step, 2, at) + ROW_AT(float32, float, line, step, 3, at));
    wide_float32 second = (ROW_AT(float32, float, line, step, 4, at) + ROW_AT(float32, float, line, step, 5, at)) +
                          (ROW_AT(float32, float, line, step, 6, at) + ROW_AT(float32, float, line, step, 7, at));
    wide_float32 off = (first + second) - (first + second);
    wide_float64 lower = LOWER(first) + LOWER(second), upper = UPPER(first) + UPPER(second);
    seen_float32 seen = {0};
    SEE_float32(seen, off, off);
    if (SEEN(float32, seen)) {
      wide_float64 low, high;
      add_in_double(line, step, at, &low, &high);
      lower = CHOOSE(float64, lower - lower == 0, lower, low);
      upper = CHOOSE(float64, upper - upper == 0, upper, high);
    }
    if (at != i && !set) { /* the vector before had the first of these columns */
      int64_t lower_count = n - i - HALF < 0 ? 0 : n - i - HALF, upper_count = n - i < HALF ? n - i : HALF;
      lower = LAST_OF(float64, lower, lower_count, nothing);
      upper = LAST_OF(float64, upper, upper_count, nothing);
    }
    wide_float64 *to = (wide_float64 *)(void *)(a + at), *then = (wide_float64 *)(void *)(a + at + HALF);
    if (!set)
      lower += *to, upper += *then;
    *to = lower, *then = upper;
  }
}
FEW_COLUMNS(add_eight_rows, float32, float, double)

/* -- largest and smallest ------------------------------------------------------------------------------------------ */

#define EXTREME_ROWS(function, way, name, T, TERM)                                                                \
  static inline void function##_nan(int64_t i, const char *line, int64_t step, wide_##name *best) {               \
    for (int row = 0; row < FOLD_ROWS; row++) {                                                                   \
      wide_##name v = ROW_AT(name, T, line, step, row, i);                                                        \
      *best = CHOOSE(name, v != v, v, *best);                                                                     \
    }                                                                                                             \
  }                                                                                                               \
  /* a[i] = the best of it and eight rows, or of those with `set`, for n >= WIDTH columns. */                     \
  static void function##_many(int64_t n, const char *line, int64_t step, T *a, bool set) {                        \
    enum { W = WIDTH_##name };                                                                                    \
    for (int64_t i = 0; i < n; i += W) {                                                                          \
      int64_t at = i + W <= n ? i : n - W;                                                                        \
      wide_##name v0 = ROW_AT(name, T, line, step, 0, at), v1 = ROW_AT(name, T, line, step, 1, at),               \
                  v2 = ROW_AT(name, T, line, step, 2, at), v3 = ROW_AT(name, T, line, step, 3, at),               \
                  v4 = ROW_AT(name, T, line, step, 4, at), v5 = ROW_AT(name, T, line, step, 5, at),               \
                  v6 = ROW_AT(name, T, line, step, 6, at), v7 = ROW_AT(name, T, line, step, 7, at);               \
      seen_##name seen = {0};                                                                                     \
      SEE_##name(seen, v0, v1), SEE_##name(seen, v2, v3), SEE_##name(seen, v4, v5), SEE_##name(seen, v6, v7);     \
      v0 = VECTOR_##way##_##name(TERM(name, v0), TERM(name, v1));                                                 \
      v2 = VECTOR_##way##_##name(TERM(name, v2), TERM(name, v3));                                                 \
      v4 = VECTOR_##way##_##name(TERM(name, v4), TERM(name, v5));                                                 \
      v6 = VECTOR_##way##_##name(TERM(name, v6), TERM(name, v7));                                                 \
      v0 = VECTOR_##way##_##name(v0, v2), v4 = VECTOR_##way##_##name(v4, v6), v0 = VECTOR_##way##_##name(v0, v4); \
      wide_##name *to = (wide_##name *)(void *)(a + at);                                                          \
      v0 = set ? v0 : VECTOR_##way##_##name(v0, *to); /* NaN that is there stays */                               \
      if (SEEN(name, seen))                                                                                       \
        function##_nan(at, line, step, &v0);                                                                      \
      *to = v0;                                                                                                   \
    }                                                                                                             \
  }                                                                                                               \
  FEW_COLUMNS(function, name, T, T)
EXTREME_ROWS(max_rows_float32, max, float32, float, PLAIN)
EXTREME_ROWS(min_rows_float32, min, float32, float, PLAIN)
EXTREME_ROWS(norm_max_rows_float32, max, float32, float, MAGNITUDE)
EXTREME_ROWS(max_rows_float64, max, float64, double, PLAIN)
EXTREME_ROWS(min_rows_float64, min, float64, double, PLAIN)
EXTREME_ROWS(norm_max_rows_float64, max, float64, double, MAGNITUDE)

#endif
