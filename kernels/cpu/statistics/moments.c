/* See gather.h. Pieces are merged as Chan, Golub and LeVeque do (1979): no sum of squares that cancels. */
#include "kernels/cpu/statistics/moments.h"

#include <math.h>

#include "kernels/cpu/elementwise/eight.h"
#include "kernels/cpu/elementwise/exponential.h"
#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/elementwise/mathematics.h"
#include "kernels/cpu/reduction/vector.h"
#include "kernels/types.h"

extern const nd4c_gather_table ND4C_LEVEL_NAME(nd4c_gather_table);

enum { LANES = 64 };

/* The rows of the block that comes next, which are asked for while this one is computed: short pieces of rows that lie
 * far apart are not foreseen by the hardware. */
typedef struct later {
  uintptr_t x;
  int64_t step, bytes;
} later;

static inline later after(const void *x, int64_t rows, int64_t step, int64_t bytes) {
  return (later){(uintptr_t)x + (uintptr_t)rows * (uintptr_t)step, step, bytes};
}

static inline void ask_for_row(later next, int64_t row) {
  for (int64_t i = 0; i < next.bytes; i += 64)
    ND4C_PREFETCH(next.x + (uintptr_t)row * (uintptr_t)next.step + (uintptr_t)i);
}

static double fold_lanes(double *lanes) {
  for (int64_t width = LANES / 2; width > 0; width /= 2)
    for (int64_t j = 0; j < width; j++)
      lanes[j] += lanes[j + width];
  return lanes[0];
}

/* -- mean and squares --------------------------------------------------------------------------------------------- */

/* Means are kept in two parts, for their differences are what counts: the distances from the rounded mean of a piece
 * have a sum of their own, which is its lesser part and whose square is taken away. An infinity among the elements
 * makes NaN of the squares. */
static inline void merge_moments(int64_t count, double *mean, double *squares, double *lesser, int64_t other_count,
                                 double other_mean, double other_squares, double other_lesser) {
  double weight = (double)other_count / (double)(count + other_count);
  double distance = (other_mean - *mean) + (other_lesser - *lesser), move = distance * weight;
  double next = *mean + move, part = next - *mean;
  *lesser += (*mean - (next - part)) + (move - part);
  *mean = next;
  *squares += other_squares + distance * distance * (weight * (double)count);
}

/* The sums of the distances from `origin` and of their squares. */
#define DISTANCES(name, T)                                                                            \
  static void distances_##name(int64_t n, const T *x, double origin, double *rest, double *own) {     \
    enum { W = WIDTH_float64 };                                                                       \
    const wide_float64 nothing = {0}, from = nothing + origin;                                        \
    wide_float64 s0 = nothing, s1 = s0, s2 = s0, s3 = s0, q0 = s0, q1 = s0, q2 = s0, q3 = s0;         \
    int64_t i = 0;                                                                                    \
    for (; i + 4 * W <= n; i += 4 * W) {                                                              \
      wide_float64 v0 = FETCH_##name(x + i) - from, v1 = FETCH_##name(x + i + W) - from;              \
      wide_float64 v2 = FETCH_##name(x + i + 2 * W) - from, v3 = FETCH_##name(x + i + 3 * W) - from;  \
      s0 += v0, s1 += v1, s2 += v2, s3 += v3;                                                         \
      q0 = FUSED(v0, v0, q0), q1 = FUSED(v1, v1, q1), q2 = FUSED(v2, v2, q2), q3 = FUSED(v3, v3, q3); \
    }                                                                                                 \
    for (; i < n && n >= W; i += W) {                                                                 \
      int64_t at = i + W <= n ? i : n - W;                                                            \
      wide_float64 v = FETCH_##name(x + at) - from;                                                   \
      if (at != i)                                                                                    \
        v = LAST_OF(float64, v, n - i, nothing);                                                      \
      s0 += v, q0 = FUSED(v, v, q0);                                                                  \
    }                                                                                                 \
    s0 = (s0 + s1) + (s2 + s3), q0 = (q0 + q1) + (q2 + q3);                                           \
    *rest = fold_sum(&s0);                                                                            \
    *own = fold_sum(&q0);                                                                             \
    for (; i < n; i++) {                                                                              \
      double distance = (double)x[i] - origin;                                                        \
      *rest += distance;                                                                              \
      *own += distance * distance;                                                                    \
    }                                                                                                 \
  }
DISTANCES(float32, float)
DISTANCES(float64, double)
IN_DOUBLE(total_float64, float64, double, sum, PLAIN)

#define MOMENTS(name, T)                                                                                 \
  static void moments_run_##name(int64_t n, const void *vx, int64_t count, nd4c_gathered state) {        \
    double own, rest, middle = total_##name(n, vx) / (double)n;                                          \
    distances_##name(n, vx, middle, &rest, &own);                                                        \
    own -= rest * rest / (double)n;                                                                      \
    if (count > 0) {                                                                                     \
      merge_moments(count, state.first, state.second, state.third, n, middle, own, rest / (double)n);    \
      return;                                                                                            \
    }                                                                                                    \
    *state.first = middle;                                                                               \
    *state.third = rest / (double)n;                                                                     \
    *state.second = own;                                                                                 \
  }                                                                                                      \
  static void moments_block_##name(int64_t rows, int64_t n, const void *vx, int64_t step, int64_t count, \
                                   nd4c_gathered state) {                                                \
    double middle[ND4C_GATHER_COLUMNS], own[ND4C_GATHER_COLUMNS], rest[ND4C_GATHER_COLUMNS];             \
    for (int64_t i = 0; i < n; i++)                                                                      \
      middle[i] = own[i] = rest[i] = 0;                                                                  \
    for (int64_t row = 0; row < rows; row++) {                                                           \
      const T *x = (const T *)(const void *)((const char *)vx + row * step);                             \
      ND4C_INDEPENDENT                                                                                   \
      for (int64_t i = 0; i < n; i++)                                                                    \
        middle[i] += (double)x[i];                                                                       \
    }                                                                                                    \
    for (int64_t i = 0; i < n; i++)                                                                      \
      middle[i] /= (double)rows;                                                                         \
    for (int64_t row = 0; row < rows; row++) {                                                           \
      const T *x = (const T *)(const void *)((const char *)vx + row * step);                             \
      ND4C_INDEPENDENT                                                                                   \
      for (int64_t i = 0; i < n; i++) {                                                                  \
        double distance = (double)x[i] - middle[i];                                                      \
        own[i] += distance * distance;                                                                   \
        rest[i] += distance;                                                                             \
      }                                                                                                  \
    }                                                                                                    \
    for (int64_t i = 0; i < n; i++)                                                                      \
      own[i] -= rest[i] * rest[i] / (double)rows;                                                        \
    for (int64_t i = 0; count == 0 && i < n; i++) {                                                      \
      state.first[i] = middle[i];                                                                        \
      state.third[i] = rest[i] / (double)rows;                                                           \
      state.second[i] = own[i];                                                                          \
    }                                                                                                    \
    for (int64_t i = 0; count > 0 && i < n; i++)                                                         \
      merge_moments(count, &state.first[i], &state.second[i], &state.third[i], rows, middle[i], own[i],  \
                    rest[i] / (double)rows);                                                             \
  }
MOMENTS(float64, double)

/* Of f32 one pass in f64 is enough, relative to an element of the piece: no more cancels than the piece has elements.
 */
static void moments_run_float32(int64_t n, const void *vx, int64_t count, nd4c_gathered state) {
  const float *x = vx;
  double sum, own, origin = (double)x[0];
  distances_float32(n, x, origin, &sum, &own);
  own -= sum * sum / (double)n;
  double middle = origin + sum / (double)n;
  if (count > 0) {
    merge_moments(count, state.first, state.second, state.third, n, middle, own, 0);
    return;
  }
  *state.first = middle;
  *state.second = own;
  *state.third = 0;
}

static void moments_rows_float32(int64_t rows, int64_t n, const void *vx, int64_t step, int64_t count,
                                 nd4c_gathered state, later next) {
  double sums[ND4C_GATHER_COLUMNS], squares[ND4C_GATHER_COLUMNS];
  const float *first = vx;
  for (int64_t i = 0; i < n; i++)
    sums[i] = squares[i] = 0;
  ask_for_row(next, 0);
  for (int64_t row = 1; row < rows; row++) {
    const float *x = (const float *)(const void *)((const char *)vx + row * step);
    ask_for_row(next, row);
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      double distance = (double)x[i] - (double)first[i];
      sums[i] += distance;
      squares[i] = ND4C_FMA(distance, distance, squares[i]);
    }
  }
  for (int64_t i = 0; i < n; i++) {
    double from = (double)first[i], middle = from + sums[i] / (double)rows;
    double own = squares[i] - sums[i] * sums[i] / (double)rows + (from - from); /* NaN of a lone infinity */
    if (count > 0) {
      merge_moments(count, &state.first[i], &state.second[i], &state.third[i], rows, middle, own, 0);
      continue;
    }
    state.first[i] = middle;
    state.second[i] = own;
    state.third[i] = 0;
  }
}

static void moments_block_float32(int64_t rows, int64_t n, const void *vx, int64_t step, int64_t count,
                                  nd4c_gathered state) {
  moments_rows_float32(rows, n, vx, step, count, state, after(vx, rows, step, n * (int64_t)sizeof(float)));
}

/* -- largest and exponentials ------------------------------------------------------------------------------------- */

/* What exponents are relative to: the largest, unless it is not finite. */
static inline double origin(double largest) {
  return largest - largest == 0 ? largest : 0;
}

static inline void merge_exponentials(double *largest, double *sum, double other_largest, double other_sum) {
  double top = other_largest > *largest ? other_largest : *largest;
  top = other_largest != other_largest ? other_largest : top;
  double here = nd4c_exp_float64(origin(*largest) - origin(top));
  double there = nd4c_exp_float64(origin(other_largest) - origin(top));
  /* Sums relative to an infinity are 0 or no longer asked for. */
  *sum = (*largest == -INFINITY ? 0 : *sum * here) + (other_largest == -INFINITY ? 0 : other_sum * there);
  *largest = top;
}

#define LARGER(a, x) ((((x) > (a)) | ((x) != (x))) ? (x) : (a))

/* x[i] = e^x[i] */
static inline void powers_of_e(int64_t n, double *x) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 8 <= n; i += 8)
    _mm512_storeu_pd(x + i, nd4c_exp_eight(_mm512_loadu_pd(x + i)));
#endif
  ND4C_INDEPENDENT
  for (int64_t j = i; j < n; j++)
    x[j] = nd4c_exp_float64(x[j]);
}

/* sums[i] += e^(x[i] - from[i]) */
static inline void add_powers_float64(int64_t n, const double *x, const double *from, double *sums) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 8 <= n; i += 8) {
    __m512d e = nd4c_exp_eight(_mm512_sub_pd(_mm512_loadu_pd(x + i), _mm512_loadu_pd(from + i)));
    _mm512_storeu_pd(sums + i, _mm512_add_pd(_mm512_loadu_pd(sums + i), e));
  }
#endif
  ND4C_INDEPENDENT
  for (int64_t j = i; j < n; j++)
    sums[j] += nd4c_exp_float64(x[j] - from[j]);
}

static inline void add_powers_float32(int64_t n, const float *x, const float *from, double *sums) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    __m512 e = nd4c_exp_sixteen(_mm512_sub_ps(_mm512_loadu_ps(x + i), _mm512_loadu_ps(from + i)));
    _mm512_storeu_pd(sums + i, _mm512_add_pd(_mm512_loadu_pd(sums + i), (__m512d)LOWER(e)));
    _mm512_storeu_pd(sums + i + 8, _mm512_add_pd(_mm512_loadu_pd(sums + i + 8), (__m512d)UPPER(e)));
  }
#endif
  ND4C_INDEPENDENT
  for (int64_t j = i; j < n; j++)
    sums[j] += (double)nd4c_exp_float32(x[j] - from[j]);
}

/* own[i] = what state i holds, times e^own[i]: relative to another largest. */
static inline void move_origins(int64_t n, nd4c_gathered state, double *own) {
  powers_of_e(n, own);
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++)
    own[i] = state.first[i] == -INFINITY ? 0 : state.second[i] * own[i];
}

#define EXPONENTIALS(name, T)                                                                                 \
  static void exponentials_run_##name(int64_t n, const void *vx, int64_t count, nd4c_gathered state) {        \
    const T *x = vx;                                                                                          \
    T tops[LANES], powers[LANES];                                                                             \
    double lanes[LANES] = {0};                                                                                \
    for (int64_t j = 0; j < LANES; j++)                                                                       \
      tops[j] = x[j < n ? j : 0];                                                                             \
    for (int64_t i = LANES; i < n; i += LANES) {                                                              \
      int64_t some = n - i < LANES ? n - i : LANES;                                                           \
      for (int64_t j = 0; j < some; j++)                                                                      \
        tops[j] = LARGER(tops[j], x[i + j]);                                                                  \
    }                                                                                                         \
    for (int64_t width = LANES / 2; width > 0; width /= 2)                                                    \
      for (int64_t j = 0; j < width; j++)                                                                     \
        tops[j] = LARGER(tops[j], tops[j + width]);                                                           \
    T top = tops[0], from = (T)origin((double)top);                                                           \
    for (int64_t i = 0; i < n; i += LANES) {                                                                  \
      int64_t some = n - i < LANES ? n - i : LANES;                                                           \
      ND4C_INDEPENDENT                                                                                        \
      for (int64_t j = 0; j < some; j++)                                                                      \
        powers[j] = nd4c_exp_##name(x[i + j] - from);                                                         \
      ND4C_INDEPENDENT                                                                                        \
      for (int64_t j = 0; j < some; j++)                                                                      \
        lanes[j] += (double)powers[j];                                                                        \
    }                                                                                                         \
    double own = fold_lanes(lanes);                                                                           \
    if (count > 0) {                                                                                          \
      merge_exponentials(state.first, state.second, (double)top, own);                                        \
      return;                                                                                                 \
    }                                                                                                         \
    *state.first = (double)top;                                                                               \
    *state.second = own;                                                                                      \
  }                                                                                                           \
  static void exponentials_rows_##name(int64_t rows, int64_t n, const void *vx, int64_t step, int64_t count,  \
                                       nd4c_gathered state, later next) {                                     \
    T tops[ND4C_GATHER_COLUMNS], from[ND4C_GATHER_COLUMNS];                                                   \
    double own[ND4C_GATHER_COLUMNS];                                                                          \
    const T *top_row = vx;                                                                                    \
    for (int64_t i = 0; i < n; i++)                                                                           \
      tops[i] = count > 0 ? (T)state.first[i] : top_row[i];                                                   \
    for (int64_t row = 0; row < rows; row++) {                                                                \
      const T *x = (const T *)(const void *)((const char *)vx + row * step);                                  \
      ND4C_INDEPENDENT                                                                                        \
      for (int64_t i = 0; i < n; i++)                                                                         \
        tops[i] = LARGER(tops[i], x[i]);                                                                      \
    }                                                                                                         \
    for (int64_t i = 0; i < n; i++) {                                                                         \
      from[i] = tops[i] - tops[i] == 0 ? tops[i] : 0;                                                         \
      own[i] = 0;                                                                                             \
    }                                                                                                         \
    ND4C_INDEPENDENT                                                                                          \
    for (int64_t i = 0; count > 0 && i < n; i++)                                                              \
      own[i] = origin(state.first[i]) - (double)from[i];                                                      \
    if (count > 0)                                                                                            \
      move_origins(n, state, own);                                                                            \
    for (int64_t row = 0; row < rows; row++) {                                                                \
      const T *x = (const T *)(const void *)((const char *)vx + row * step);                                  \
      ask_for_row(next, row);                                                                                 \
      add_powers_##name(n, x, from, own);                                                                     \
    }                                                                                                         \
    for (int64_t i = 0; i < n; i++) {                                                                         \
      state.first[i] = (double)tops[i];                                                                       \
      state.second[i] = own[i];                                                                               \
    }                                                                                                         \
  }                                                                                                           \
  static void exponentials_block_##name(int64_t rows, int64_t n, const void *vx, int64_t step, int64_t count, \
                                        nd4c_gathered state) {                                                \
    exponentials_rows_##name(rows, n, vx, step, count, state, after(vx, rows, step, n *(int64_t)sizeof(T)));  \
  }
EXPONENTIALS(float32, float)
EXPONENTIALS(float64, double)

/* -- 16-bit floats: widened in pieces ----------------------------------------------------------------------------- */

#define HALF_GATHER(kind, name)                                                                         \
  static void kind##_run_##name(int64_t n, const void *x, int64_t count, nd4c_gathered state) {         \
    float wide[ND4C_GATHER_PIECE];                                                                      \
    nd4c_widen_##name(n, x, wide);                                                                      \
    kind##_run_float32(n, wide, count, state);                                                          \
  }                                                                                                     \
  static void kind##_block_##name(int64_t rows, int64_t n, const void *vx, int64_t step, int64_t count, \
                                  nd4c_gathered state) {                                                \
    float wide[ND4C_GATHER_ROWS * ND4C_GATHER_COLUMNS];                                                 \
    for (int64_t row = 0; row < rows; row++)                                                            \
      nd4c_widen_##name(n, (const uint16_t *)(const void *)((const char *)vx + row * step),             \
                        wide + row * ND4C_GATHER_COLUMNS);                                              \
    kind##_rows_float32(rows, n, wide, ND4C_GATHER_COLUMNS * sizeof *wide, count, state,                \
                        after(vx, rows, step, 2 * n));                                                  \
  }
#define HALF_GATHERS(NAME, name, kind) HALF_GATHER(moments, name) HALF_GATHER(exponentials, name)
ND4C_HALF_DTYPES(HALF_GATHERS)

/* -- table -------------------------------------------------------------------------------------------------------- */

static void moments_merge(int64_t count, nd4c_gathered s, int64_t other_count, nd4c_gathered other) {
  merge_moments(count, s.first, s.second, s.third, other_count, *other.first, *other.second, *other.third);
}

static void exponentials_merge(int64_t count, nd4c_gathered s, int64_t other_count, nd4c_gathered other) {
  (void)count;
  (void)other_count;
  merge_exponentials(s.first, s.second, *other.first, *other.second);
}

#define MOMENTS_ENTRY(NAME, name, kind) [ND4C_##NAME] = {moments_run_##name, moments_block_##name, moments_merge},
#define EXPONENTIALS_ENTRY(NAME, name, kind) \
  [ND4C_##NAME] = {exponentials_run_##name, exponentials_block_##name, exponentials_merge},

const nd4c_gather_table ND4C_LEVEL_NAME(nd4c_gather_table) = {
    .moments = {ND4C_HALF_DTYPES(MOMENTS_ENTRY) ND4C_WIDE_FLOAT_DTYPES(MOMENTS_ENTRY)},
    .exponentials = {ND4C_HALF_DTYPES(EXPONENTIALS_ENTRY) ND4C_WIDE_FLOAT_DTYPES(EXPONENTIALS_ENTRY)}};
