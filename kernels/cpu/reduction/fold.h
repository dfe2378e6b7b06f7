/* Eight rows of f32, f64 or, for sums, 16-bit floats folded into a line of accumulators, in registers. A branch handles
 * NaN and infinities, which are rare. reduction.c includes it for the rows that simd/reduction.c folds. */
#ifndef ND4C_KERNELS_CPU_REDUCTION_FOLD_H
#define ND4C_KERNELS_CPU_REDUCTION_FOLD_H

#include "kernels/cpu/reduction/vector.h"
#include "kernels/cpu/support/half.h"

enum { FOLD_ROWS = 8 };

/* Folds eight rows of n elements, `step` bytes apart, into n accumulators; with `set` those are set. */
typedef void (*rows_loop)(int64_t n, const char *line, int64_t step, void *accumulators, bool set);

/* `many` takes `least` columns, a vector's, at least. Fewer go through buffers of that width, for a result must not
 * depend on how columns are shared out. Sizes are those of an element and of an accumulator. */
ND4C_INLINED void in_whole_vectors(rows_loop many, int64_t least, int64_t size, int64_t a_size, int64_t n,
                                   const char *line, int64_t step, void *a, bool set) {
  if (n >= least) {
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
  many(least, x, REGISTER, all, set);
  memcpy(a, all, (size_t)(n * a_size));
}

/* -- sums of floats: four as floats, their sums as doubles, as in_fours has them ----------------------------------- */

/* Elements from i on of a line, as many as a vector of floats has. */
typedef wide_float32 (*floats_at)(const char *line, int64_t i);

static inline wide_float32 at_float32(const char *line, int64_t i) {
  return load_float32((const float *)(const void *)line + i);
}

/* gcc 12 makes two conversions of __builtin_convertvector, and joins their halves. */
static inline wide_float32 at_bfloat16(const char *line, int64_t i) {
  const char *x = line + i * (int64_t)sizeof(uint16_t);
#if defined(__AVX512F__)
  const bits_float32 wide = (bits_float32)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)x));
#elif defined(__AVX2__)
  const bits_float32 wide = (bits_float32)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
#else
  typedef uint16_t narrow __attribute__((vector_size(REGISTER / 2), aligned(2), may_alias));
  const bits_float32 wide = __builtin_convertvector(*(const narrow *)(const void *)x, bits_float32);
#endif
  return (wide_float32)(wide << 16);
}

static inline wide_float32 at_float16(const char *line, int64_t i) {
  const char *x = line + i * (int64_t)sizeof(uint16_t);
#if defined(__AVX512F__)
  return (wide_float32)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)x));
#elif defined(__AVX__) && defined(__F16C__)
  return (wide_float32)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)x));
#else
  _Alignas(REGISTER) float wide[WIDTH_float32];
  nd4c_widen_float16(WIDTH_float32, (const uint16_t *)(const void *)x, wide);
  return load_float32(wide);
#endif
}

ND4C_INLINED void add_in_double(floats_at at, const char *line, int64_t step, int64_t i, wide_float64 *lower,
                                wide_float64 *upper) {
  wide_float64 low = -(wide_float64){0}, high = low;
  for (int row = 0; row < FOLD_ROWS; row++) {
    wide_float32 v = at(line + row * step, i);
    low += LOWER(v), high += UPPER(v);
  }
  *lower = low, *upper = high;
}

/* a[i] += the sum of eight rows, or that with `set`, for n >= WIDTH_float32 columns. */
ND4C_INLINED void add_eight(floats_at at, int64_t n, const char *line, int64_t step, void *va, bool set) {
  enum { W = WIDTH_float32, HALF = WIDTH_float64 };
  double *a = va;
  const wide_float64 nothing = -(wide_float64){0};
  for (int64_t i = 0; i < n; i += W) {
    int64_t from = i + W <= n ? i : n - W;
    wide_float32 first =
        (at(line, from) + at(line + step, from)) + (at(line + 2 * step, from) + at(line + 3 * step, from));
    wide_float32 second = (at(line + 4 * step, from) + at(line + 5 * step, from)) +
                          (at(line + 6 * step, from) + at(line + 7 * step, from));
    wide_float32 off = (first + second) - (first + second);
    wide_float64 lower = LOWER(first) + LOWER(second), upper = UPPER(first) + UPPER(second);
    seen_float32 seen = {0};
    see_float32(&seen, off, off);
    if (has_seen_float32(seen)) {
      wide_float64 low, high;
      add_in_double(at, line, step, from, &low, &high);
      lower = choose_float64((bits_float64)(lower - lower == 0), lower, low);
      upper = choose_float64((bits_float64)(upper - upper == 0), upper, high);
    }
    if (from != i && !set) { /* the vector before had the first of these columns */
      int64_t lower_count = n - i - HALF < 0 ? 0 : n - i - HALF, upper_count = n - i < HALF ? n - i : HALF;
      lower = last_of_float64(lower, lower_count, nothing);
      upper = last_of_float64(upper, upper_count, nothing);
    }
    wide_float64 *to = (wide_float64 *)(void *)(a + from), *then = (wide_float64 *)(void *)(a + from + HALF);
    if (!set) {
      lower += *to, upper += *then;
    }
    *to = lower, *then = upper;
  }
}

#define ADD_EIGHT_ROWS(d)                                                                                   \
  static void add_eight_rows_##d(int64_t n, const char *line, int64_t step, void *accumulators, bool set) { \
    add_eight(at_##d, n, line, step, accumulators, set);                                                    \
  }
#define ADD_EIGHT_HALF_ROWS(D, d, kind) ADD_EIGHT_ROWS(d)
ADD_EIGHT_ROWS(float32)
ND4C_HALF_DTYPES(ADD_EIGHT_HALF_ROWS)

#define ND4C_TEMPLATE "kernels/cpu/reduction/fold_extreme.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

#endif
