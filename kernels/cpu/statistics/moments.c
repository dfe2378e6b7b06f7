/* Implements moments.h. Pieces are merged as Chan, Golub and LeVeque do (1979): no sum of squares cancels. Compiled
 * once per level. simd/statistics.c reads the table by nd4c_simd.moments. */
#include "kernels/cpu/statistics/moments.h"

#include <math.h>

#include "kernels/cpu/elementwise/eight.h"
#include "kernels/cpu/elementwise/exponential_vector.h"
#include "kernels/cpu/elementwise/mathematics.h"
#include "kernels/cpu/reduction/vector.h"
#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/types.h"

extern const nd4c_moments_table ND4C_LEVEL_NAME(nd4c_moments_table);

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
  for (int64_t i = 0; i < next.bytes; i += 64) {
    ND4C_PREFETCH(next.x + (uintptr_t)row * (uintptr_t)next.step + (uintptr_t)i);
  }
}

static double fold_lanes(double *lanes) {
  for (int64_t width = LANES / 2; width > 0; width /= 2) {
    for (int64_t j = 0; j < width; j++) {
      lanes[j] += lanes[j + width];
    }
  }
  return lanes[0];
}

/* -- mean and squares --------------------------------------------------------------------------------------------- */

/* Means are kept in two parts, because their differences matter: the distances from the rounded mean of a piece have a
 * sum, which is the mean's lesser part and whose square is subtracted. An infinity among the elements makes NaN of the
 * squares. */
static inline void merge_moments(int64_t count, double *mean, double *squares, double *lesser, int64_t other_count,
                                 double other_mean, double other_squares, double other_lesser) {
  double weight = (double)other_count / (double)(count + other_count);
  double distance = (other_mean - *mean) + (other_lesser - *lesser), move = distance * weight;
  double next = *mean + move, part = next - *mean;
  *lesser += (*mean - (next - part)) + (move - part);
  *mean = next;
  *squares += other_squares + distance * distance * (weight * (double)count);
}

/* State i, of `count` elements, with a piece; of none it is the piece's. */
static inline void set_moments(int64_t count, nd4c_gathered state, int64_t i, int64_t n, double mean, double squares,
                               double lesser) {
  if (count > 0) {
    merge_moments(count, &state.first[i], &state.second[i], &state.third[i], n, mean, squares, lesser);
    return;
  }
  state.first[i] = mean;
  state.second[i] = squares;
  state.third[i] = lesser;
}

#define ND4C_TEMPLATE "kernels/cpu/statistics/distances.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

static void moments_run_float64(int64_t n, const void *x, int64_t count, nd4c_gathered state) {
  double own, rest, middle = in_double_float64(ND4C_REDUCE_sum, n, x) / (double)n;
  distances_float64(n, x, middle, &rest, &own);
  own -= rest * rest / (double)n;
  set_moments(count, state, 0, n, middle, own, rest / (double)n);
}

static void moments_block_float64(int64_t rows, int64_t n, const void *vx, int64_t step, int64_t count,
                                  nd4c_gathered state) {
  double middle[ND4C_GATHER_COLUMNS], own[ND4C_GATHER_COLUMNS], rest[ND4C_GATHER_COLUMNS];
  for (int64_t i = 0; i < n; i++) {
    middle[i] = own[i] = rest[i] = 0;
  }
  for (int64_t row = 0; row < rows; row++) {
    const double *x = (const double *)(const void *)((const char *)vx + row * step);
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      middle[i] += x[i];
    }
  }
  for (int64_t i = 0; i < n; i++) {
    middle[i] /= (double)rows;
  }
  for (int64_t row = 0; row < rows; row++) {
    const double *x = (const double *)(const void *)((const char *)vx + row * step);
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      double distance = x[i] - middle[i];
      own[i] += distance * distance;
      rest[i] += distance;
    }
  }
  for (int64_t i = 0; i < n; i++) {
    own[i] -= rest[i] * rest[i] / (double)rows;
  }
  for (int64_t i = 0; i < n; i++) {
    set_moments(count, state, i, rows, middle[i], own[i], rest[i] / (double)rows);
  }
}

/* Of f32 one pass in f64 is enough, relative to an element of the piece: no more cancels than the piece has elements.
 */
static void moments_run_float32(int64_t n, const void *vx, int64_t count, nd4c_gathered state) {
  const float *x = vx;
  double sum, own, origin = (double)x[0];
  distances_float32(n, x, origin, &sum, &own);
  own -= sum * sum / (double)n;
  set_moments(count, state, 0, n, origin + sum / (double)n, own, 0);
}

static void moments_rows_float32(int64_t rows, int64_t n, const void *vx, int64_t step, int64_t count,
                                 nd4c_gathered state, later next) {
  double sums[ND4C_GATHER_COLUMNS], squares[ND4C_GATHER_COLUMNS];
  const float *first = vx;
  for (int64_t i = 0; i < n; i++) {
    sums[i] = squares[i] = 0;
  }
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
    set_moments(count, state, i, rows, middle, own, 0);
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
  for (; i + 8 <= n; i += 8) {
    _mm512_storeu_pd(x + i, nd4c_exp_eight(_mm512_loadu_pd(x + i)));
  }
#endif
  ND4C_INDEPENDENT
  for (int64_t j = i; j < n; j++) {
    x[j] = nd4c_exp_float64(x[j]);
  }
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
  for (int64_t j = i; j < n; j++) {
    sums[j] += nd4c_exp_float64(x[j] - from[j]);
  }
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
  for (int64_t j = i; j < n; j++) {
    sums[j] += (double)nd4c_exp_float32(x[j] - from[j]);
  }
}

/* own[i] = what state i holds, times e^own[i]: relative to another largest. */
static inline void move_origins(int64_t n, nd4c_gathered state, double *own) {
  powers_of_e(n, own);
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    own[i] = state.first[i] == -INFINITY ? 0 : state.second[i] * own[i];
  }
}

#define ND4C_TEMPLATE "kernels/cpu/statistics/exponentials.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

#define ND4C_TEMPLATE "kernels/cpu/statistics/moments_half.h"
#define ND4C_KINDS ND4C_HALF
#include "kernels/cpu/support/each_dtype.h"

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

const nd4c_moments_table ND4C_LEVEL_NAME(nd4c_moments_table) = {
    .moments = {ND4C_HALF_DTYPES(MOMENTS_ENTRY) ND4C_WIDE_FLOAT_DTYPES(MOMENTS_ENTRY)},
    .exponentials = {ND4C_HALF_DTYPES(EXPONENTIALS_ENTRY) ND4C_WIDE_FLOAT_DTYPES(EXPONENTIALS_ENTRY)}};
