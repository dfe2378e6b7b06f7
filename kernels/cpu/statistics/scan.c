/* Implements scan.h. A run of floats goes a register at a time: the running sums within it, then the carry of all
 * elements before them, so that the carry costs one addition for all of them. Compiled once per level.
 * simd/statistics_scan.c reads the table. */
#include "kernels/cpu/statistics/scan.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/support/truth.h"
#include "kernels/cpu/support/vector.h"
#include "kernels/types.h"

extern const nd4c_scan_table ND4C_LEVEL_NAME(nd4c_scan_table);

/* Doubles of one register: the compiler moves parts of wider vectors through memory. */
#if defined(__AVX512F__)
#define LANES 8
#define BEHIND_1(fill, v) __builtin_shufflevector(fill, v, 0, 8, 9, 10, 11, 12, 13, 14)
#define BEHIND_2(fill, v) __builtin_shufflevector(fill, v, 0, 1, 8, 9, 10, 11, 12, 13)
#define BEHIND_4(fill, v) __builtin_shufflevector(fill, v, 0, 1, 2, 3, 8, 9, 10, 11)
#define LAST(v) __builtin_shufflevector(v, v, 7, 7, 7, 7, 7, 7, 7, 7)
#elif defined(__AVX2__)
#define LANES 4
#define BEHIND_1(fill, v) __builtin_shufflevector(fill, v, 0, 4, 5, 6)
#define BEHIND_2(fill, v) __builtin_shufflevector(fill, v, 0, 1, 4, 5)
#define BEHIND_4(fill, v) (fill)
#define LAST(v) __builtin_shufflevector(v, v, 3, 3, 3, 3)
#else
#define LANES 2
#define BEHIND_1(fill, v) __builtin_shufflevector(fill, v, 0, 2)
#define BEHIND_2(fill, v) (fill)
#define BEHIND_4(fill, v) (fill)
#define LAST(v) __builtin_shufflevector(v, v, 1, 1)
#endif
typedef double lanes_float64 __attribute__((vector_size(8 * LANES)));
typedef uint64_t lanes_uint64 __attribute__((vector_size(8 * LANES)));
typedef int64_t lanes_int64 __attribute__((vector_size(8 * LANES)));

typedef enum scan_op { SUM, PROD } scan_op;
enum { by_run = 0, by_row = 1, largest_min = 0, largest_max = 1 };

/* v[i] = v[0] op ... op v[i]. */
#define DEFINE_PREFIX(name)                                      \
  ND4C_INLINED void prefix_##name(scan_op op, lanes_##name *v) { \
    const lanes_##name fill = (lanes_##name){0} + (op == PROD);  \
    const lanes_##name one = BEHIND_1(fill, *v);                 \
    *v = op == PROD ? *v * one : *v + one;                       \
    if (LANES > 2) {                                             \
      const lanes_##name two = BEHIND_2(fill, *v);               \
      *v = op == PROD ? *v * two : *v + two;                     \
    }                                                            \
    if (LANES > 4) {                                             \
      const lanes_##name four = BEHIND_4(fill, *v);              \
      *v = op == PROD ? *v * four : *v + four;                   \
    }                                                            \
  }
DEFINE_PREFIX(float64)
#if defined(__AVX512F__)
DEFINE_PREFIX(uint64)
#endif

static inline void load_floats(const float *x, lanes_float64 *v) {
#if defined(__AVX512F__)
  *v = (lanes_float64)_mm512_cvtps_pd(_mm256_loadu_ps(x));
#elif defined(__AVX2__)
  *v = (lanes_float64)_mm256_cvtps_pd(_mm_loadu_ps(x));
#else
  for (int j = 0; j < LANES; j++) {
    (*v)[j] = (double)x[j];
  }
#endif
}

/* The compiler makes four conversions of one. */
static inline void store_floats(const lanes_float64 *v, float *y) {
#if defined(__AVX512F__)
  _mm256_storeu_ps(y, _mm512_cvtpd_ps((__m512d)*v));
#elif defined(__AVX2__)
  _mm_storeu_ps(y, _mm256_cvtpd_ps((__m256d)*v));
#else
  for (int j = 0; j < LANES; j++) {
    y[j] = (float)(*v)[j];
  }
#endif
}

/* The rounding error of a + b; 0 where the sum is not finite. */
static inline double lost_by(double a, double b, double sum) {
  double part = sum - a, lost = (a - (sum - part)) + (b - part);
  return lost - lost == 0 ? lost : 0;
}

/* -- sums of floats: those of f64 carry along what rounding loses ------------------------------------------------- */

static void sum_run_float32(int64_t n, const void *vx, void *vy, void *carry, double *lost) {
  const float *x = vx;
  float *y = vy;
  double sum = *(double *)carry;
  lanes_float64 zero = {0}, all = zero + sum;
  int64_t i = 0;
  (void)lost;
  for (; i + LANES <= n; i += LANES) {
    lanes_float64 v = zero;
    load_floats(x + i, &v);
    prefix_float64(SUM, &v);
    lanes_float64 here = v + all;
    all += LAST(v);
    store_floats(&here, y + i);
  }
  sum = all[0];
  for (; i < n; i++) {
    sum += (double)x[i];
    y[i] = (float)sum;
  }
  *(double *)carry = sum;
}

static void sum_run_float64(int64_t n, const void *vx, void *vy, void *carry, double *lost) {
  const double *x = vx;
  double *y = vy, sum = *(double *)carry;
  lanes_float64 zero = {0}, all = zero + sum, rest = zero + *lost;
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    lanes_float64 v;
    memcpy(&v, x + i, sizeof v);
    prefix_float64(SUM, &v);
    lanes_float64 here = all + (v + rest), b = LAST(v), next = all + b, part = next - all;
    lanes_float64 off = (all - (next - part)) + (b - part);
    rest += (lanes_float64)((lanes_int64)off & (off - off == 0));
    all = next;
    memcpy(y + i, &here, sizeof here);
  }
  sum = all[0];
  *lost = rest[0];
  for (; i < n; i++) {
    double next = sum + x[i];
    *lost += lost_by(sum, x[i], next);
    sum = next;
    y[i] = sum + *lost;
  }
  *(double *)carry = sum;
}

static void sum_row_float64(int64_t n, const void *vx, void *vy, void *carries, double *lost) {
  const double *x = vx;
  double *y = vy, *sums = carries;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    double a = sums[i], b = x[i], next = a + b;
    lost[i] += lost_by(a, b, next);
    sums[i] = next;
    y[i] = next + lost[i];
  }
}

/* -- products of floats: those of f32 a register at a time where neither they nor their parts leave the range of double
 * ----
 */

/* Are the magnitudes of all between 2^-400 and 2^400? */
static inline bool moderate(const lanes_float64 *v) {
  const uint64_t least = 0x26f0000000000000, most = 0x58f0000000000000; /* the bits of both */
  lanes_uint64 above = ((lanes_uint64)*v & 0x7fffffffffffffff) - least;
#if defined(__AVX512F__)
  return _mm512_cmplt_epu64_mask((__m512i)above, _mm512_set1_epi64((int64_t)(most - least))) == 0xff;
#elif defined(__AVX2__)
  const lanes_int64 outside = ((lanes_int64)above < 0) | ((lanes_int64)above >= (int64_t)(most - least));
  return _mm256_movemask_pd((__m256d)outside) == 0;
#else
  bool all = true;
  for (int i = 0; i < LANES; i++) {
    all &= above[i] < most - least;
  }
  return all;
#endif
}

static void prod_run_float32(int64_t n, const void *vx, void *vy, void *carry, double *lost) {
  const float *x = vx;
  float *y = vy;
  double product = *(double *)carry;
  lanes_float64 zero = {0}, all = zero + product;
  int64_t i = 0;
  (void)lost;
  for (; i + LANES <= n; i += LANES) {
    lanes_float64 v = zero;
    load_floats(x + i, &v);
    prefix_float64(PROD, &v);
    bool usable = moderate(&v);
    if (usable && !moderate(&all)) {
      usable = all[0] == 0 || all[0] - all[0] != 0; /* zero, infinite or NaN, and stays so */
    }
    if (usable) {
      lanes_float64 here = v * all;
      all *= LAST(v);
      store_floats(&here, y + i);
      continue;
    }
    product = all[0];
    for (int j = 0; j < LANES; j++) {
      product *= (double)x[i + j];
      y[i + j] = (float)product;
    }
    all = zero + product;
  }
  product = all[0];
  for (; i < n; i++) {
    product *= (double)x[i];
    y[i] = (float)product;
  }
  *(double *)carry = product;
}

/* Products of f64 keep their order, for there is no room for other roundings: lines side by side instead. */
static void prod_run_float64(int64_t n, const void *vx, void *vy, void *carry, double *lost) {
  const double *x = vx;
  double *y = vy, product = *(double *)carry;
  (void)lost;
  for (int64_t i = 0; i < n; i++) {
    y[i] = product *= x[i];
  }
  *(double *)carry = product;
}

static void prod_four_float64(int64_t n, const void *vx, int64_t step, void *vy, int64_t y_step, void *carries) {
  const double *x[4];
  double *y[4], *products = carries;
  for (int line = 0; line < 4; line++) {
    x[line] = (const double *)(const void *)((const char *)vx + line * step);
    y[line] = (double *)(void *)((char *)vy + line * y_step);
  }
  double a = products[0], b = products[1], c = products[2], d = products[3];
  for (int64_t i = 0; i < n; i++) {
    y[0][i] = a *= x[0][i];
    y[1][i] = b *= x[1][i];
    y[2][i] = c *= x[2][i];
    y[3][i] = d *= x[3][i];
  }
  products[0] = a, products[1] = b, products[2] = c, products[3] = d;
}

#define SIGNATURE int64_t n, const void *vx, void *vy, void *carry, double *lost

#define ND4C_TEMPLATE "kernels/cpu/statistics/scan_dtype.h"
#define ND4C_KINDS (ND4C_SIGNED | ND4C_UNSIGNED | ND4C_WIDE_FLOAT)
#include "kernels/cpu/support/each_dtype.h"

#define ND4C_TEMPLATE "kernels/cpu/statistics/scan_half.h"
#define ND4C_KINDS ND4C_HALF
#include "kernels/cpu/support/each_dtype.h"

/* -- loops of each op ---------------------------------------------------------------------------------------------- */

#define LOOP(op, way, d, OP)                \
  static void op##_##way##_##d(SIGNATURE) { \
    (void)lost;                             \
    way##_##d(OP, n, vx, vy, carry);        \
  }
#define HALF_LOOP(op, way, d)                                             \
  static void op##_##way##_##d(SIGNATURE) {                               \
    in_float_##d(op##_##way##_float32, by_##way, n, vx, vy, carry, lost); \
  }
#define BEST(op, way, d)                                                                                        \
  static void op##_##way##_##d(int64_t n, const void *x, int64_t position, void *best, int64_t *where, void *y, \
                               int64_t *indices) {                                                              \
    best_##way##_##d(largest_##op, n, x, position, best, where, y, indices);                                    \
  }
#define HALF_BEST(op, way, d)                                                                                   \
  static void op##_##way##_##d(int64_t n, const void *x, int64_t position, void *best, int64_t *where, void *y, \
                               int64_t *indices) {                                                              \
    best_in_float_##d(op##_##way##_float32, by_##way, n, x, position, best, where, y, indices);                 \
  }
#define WORDS(D, d, kind) \
  LOOP(sum, run, d, SUM) LOOP(prod, run, d, PROD) LOOP(sum, row, d, SUM) LOOP(prod, row, d, PROD)
#define HALVES(D, d, kind) HALF_LOOP(sum, run, d) HALF_LOOP(sum, row, d) HALF_LOOP(prod, run, d) HALF_LOOP(prod, row, d)
#define HALF_BESTS(D, d, kind) \
  HALF_BEST(max, run, d) HALF_BEST(max, row, d) HALF_BEST(min, run, d) HALF_BEST(min, row, d)
#define BESTS(D, d, kind) BEST(max, run, d) BEST(max, row, d) BEST(min, run, d) BEST(min, row, d)
#define ALL(X) ND4C_INT_DTYPES(X) ND4C_UINT_DTYPES(X) ND4C_WIDE_FLOAT_DTYPES(X)
ND4C_INT_DTYPES(WORDS)
ND4C_UINT_DTYPES(WORDS)
LOOP(sum, row, float32, SUM)
LOOP(prod, row, float32, PROD)
LOOP(prod, row, float64, PROD)
ND4C_HALF_DTYPES(HALVES)
ALL(BESTS)
ND4C_HALF_DTYPES(HALF_BESTS)

/* -- truth values -------------------------------------------------------------------------------------------------- */

static void in_truth(void (*loop)(SIGNATURE), bool of_row, SIGNATURE) {
  uint8_t values[ND4C_TRUTH_CHUNK];
  for (int64_t i = 0; i < n; i += ND4C_TRUTH_CHUNK) {
    const int64_t count = n - i < ND4C_TRUTH_CHUNK ? n - i : ND4C_TRUTH_CHUNK;
    nd4c_truth_values(count, (const uint8_t *)vx + i, values);
    loop(count, values, (uint64_t *)vy + i, (uint64_t *)carry + (of_row ? i : 0), lost);
  }
}

#define TRUTH_LOOP(op, way)                                                   \
  static void op##_##way##_boolean(SIGNATURE) {                               \
    in_truth(op##_##way##_uint8, by_##way == by_row, n, vx, vy, carry, lost); \
  }
TRUTH_LOOP(sum, run)
TRUTH_LOOP(sum, row)
TRUTH_LOOP(prod, run)
TRUTH_LOOP(prod, row)

/* -- table -------------------------------------------------------------------------------------------------------- */

#define SUM_ENTRY(NAME, name, kind) [ND4C_##NAME] = {.run = sum_run_##name, .row = sum_row_##name},
#define WHOLE_SUM_ENTRY(NAME, name, kind) \
  [ND4C_##NAME] = {.run = sum_run_##name, .row = sum_row_##name, .total = sum_total_##name},
#define PROD_ENTRY(NAME, name, kind) [ND4C_##NAME] = {.run = prod_run_##name, .row = prod_row_##name},
#define MAX_ENTRY(NAME, name, kind) [ND4C_##NAME] = {max_run_##name, max_row_##name},
#define MIN_ENTRY(NAME, name, kind) [ND4C_##NAME] = {min_run_##name, min_row_##name},

const nd4c_scan_table ND4C_LEVEL_NAME(nd4c_scan_table) = {
    .sum = {ND4C_INT_DTYPES(WHOLE_SUM_ENTRY) ND4C_UINT_DTYPES(WHOLE_SUM_ENTRY)
                ND4C_FLOAT_DTYPES(SUM_ENTRY)[ND4C_BOOL] = {.run = sum_run_boolean, .row = sum_row_boolean}},
    .prod = {ND4C_INT_DTYPES(PROD_ENTRY) ND4C_UINT_DTYPES(PROD_ENTRY)
                 ND4C_HALF_DTYPES(PROD_ENTRY)[ND4C_FLOAT32] = {.run = prod_run_float32, .row = prod_row_float32},
             [ND4C_BOOL] = {.run = prod_run_boolean, .row = prod_row_boolean},
             [ND4C_FLOAT64] = {.run = prod_run_float64, .row = prod_row_float64, .four = prod_four_float64}},
    .max = {ALL(MAX_ENTRY) ND4C_HALF_DTYPES(MAX_ENTRY)},
    .min = {ALL(MIN_ENTRY) ND4C_HALF_DTYPES(MIN_ENTRY)}};
