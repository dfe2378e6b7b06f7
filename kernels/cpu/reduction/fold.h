/* Eight rows of f32 or f64 folded into a line of accumulators, in registers. A branch handles NaN and infinities, which
 * are rare. reduction.c includes it for the rows that simd/reduction.c folds. */
#ifndef ND4C_KERNELS_CPU_REDUCTION_FOLD_H
#define ND4C_KERNELS_CPU_REDUCTION_FOLD_H

#include "kernels/cpu/reduction/vector.h"

enum { FOLD_ROWS = 8 };

/* Folds eight rows of n elements, `step` bytes apart, into n accumulators; with `set` those are set. */
typedef void (*rows_loop)(int64_t n, const char *line, int64_t step, void *accumulators, bool set);

/* `many` takes a vector's columns at least. Fewer go through buffers of that width, for a result must not depend on how
 * columns are shared out. Sizes are those of an element and of an accumulator. */
ND4C_INLINED void in_whole_vectors(rows_loop many, int64_t size, int64_t a_size, int64_t n, const char *line,
                                   int64_t step, void *a, bool set) {
  if (n * size >= REGISTER) {
    many(n, line, step, a, set);
    return;
  }
  _Alignas(64) char x[FOLD_ROWS * REGISTER] = {0};
  _Alignas(64) char all[2 * REGISTER] = {0};
  for (int64_t row = 0; row < FOLD_ROWS; row++) {
    memcpy(x + row * REGISTER, line + row * step, (size_t)(n * size));
  }
  if (!set) {
    memcpy(all, a, (size_t)(n * a_size));
  }
  many(REGISTER / size, x, REGISTER, all, set);
  memcpy(a, all, (size_t)(n * a_size));
}

/* -- sums of floats: four as floats, their sums as doubles, as in_fours has them ----------------------------------- */

ND4C_INLINED wide_float32 row_at(const char *line, int64_t step, int64_t row, int64_t i) {
  return load_float32((const float *)(const void *)(line + row * step) + i);
}

static inline void add_in_double(const char *line, int64_t step, int64_t i, wide_float64 *lower, wide_float64 *upper) {
  wide_float64 low = -(wide_float64){0}, high = low;
  for (int row = 0; row < FOLD_ROWS; row++) {
    wide_float32 v = row_at(line, step, row, i);
    low += LOWER(v), high += UPPER(v);
  }
  *lower = low, *upper = high;
}

/* a[i] += the sum of eight rows, or that with `set`, for n >= WIDTH_float32 columns. */
static void add_eight_rows(int64_t n, const char *line, int64_t step, void *va, bool set) {
  enum { W = WIDTH_float32, HALF = WIDTH_float64 };
  double *a = va;
  const wide_float64 nothing = -(wide_float64){0};
  for (int64_t i = 0; i < n; i += W) {
    int64_t at = i + W <= n ? i : n - W;
    wide_float32 first = (row_at(line, step, 0, at) + row_at(line, step, 1, at)) +
                         (row_at(line, step, 2, at) + row_at(line, step, 3, at));
    wide_float32 second = (row_at(line, step, 4, at) + row_at(line, step, 5, at)) +
                          (row_at(line, step, 6, at) + row_at(line, step, 7, at));
    wide_float32 off = (first + second) - (first + second);
    wide_float64 lower = LOWER(first) + LOWER(second), upper = UPPER(first) + UPPER(second);
    seen_float32 seen = {0};
    see_float32(&seen, off, off);
    if (has_seen_float32(seen)) {
      wide_float64 low, high;
      add_in_double(line, step, at, &low, &high);
      lower = choose_float64((bits_float64)(lower - lower == 0), lower, low);
      upper = choose_float64((bits_float64)(upper - upper == 0), upper, high);
    }
    if (at != i && !set) { /* the vector before had the first of these columns */
      int64_t lower_count = n - i - HALF < 0 ? 0 : n - i - HALF, upper_count = n - i < HALF ? n - i : HALF;
      lower = last_of_float64(lower, lower_count, nothing);
      upper = last_of_float64(upper, upper_count, nothing);
    }
    wide_float64 *to = (wide_float64 *)(void *)(a + at), *then = (wide_float64 *)(void *)(a + at + HALF);
    if (!set) {
      lower += *to, upper += *then;
    }
    *to = lower, *then = upper;
  }
}

#define ND4C_TEMPLATE "kernels/cpu/reduction/fold_extreme.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

#endif
