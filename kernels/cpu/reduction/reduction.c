/* Implements reduction.h. Runs of floats are folded by vector.h, all else by loops that the compiler vectorises.
 * Compiled once per level. simd/reduction.c reads the table by nd4c_simd.reduction. */
#include "kernels/cpu/reduction/reduction.h"

#include <math.h>

#include "kernels/cpu/reduction/fold.h"
#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/support/truth.h"
#include "kernels/types.h"

extern const nd4c_reduction_table ND4C_LEVEL_NAME(nd4c_reduction_table);

enum { PIECE = 4096, HALF_PIECE = 4 * ND4C_HALF_CHUNK, BLOCK = 64 };

#define ROWS_SIGNATURE int64_t rows, int64_t n, const void *vx, int64_t step, void *accumulators

typedef void (*fold_loop)(ROWS_SIGNATURE, int32_t first);

/* In what sums of integers of up to 2^14 elements are gathered. */
typedef uint32_t part_int8, part_int16, part_uint8, part_uint16;
typedef uint64_t part_int32, part_int64, part_uint32, part_uint64;

/* What is stored of a sum, a product or a norm. norm2 is gathered as its square. */
ND4C_INLINED double stored_total(enum nd4c_reduce_index op, double a, double count) {
  return op == ND4C_REDUCE_sum || op == ND4C_REDUCE_norm1 ? a / count : op == ND4C_REDUCE_norm2 ? sqrt(a) : a;
}

#define ND4C_TEMPLATE "kernels/cpu/reduction/reduction_dtype.h"
#define ND4C_KINDS (ND4C_SIGNED | ND4C_UNSIGNED | ND4C_WIDE_FLOAT)
#include "kernels/cpu/support/each_dtype.h"

#define ND4C_TEMPLATE "kernels/cpu/reduction/arg.h"
#define ND4C_KINDS (ND4C_SIGNED | ND4C_UNSIGNED | ND4C_WIDE_FLOAT)
#include "kernels/cpu/support/each_dtype.h"

/* -- 16-bit floats ------------------------------------------------------------------------------------------------- */

/* Of bfloat16 whole vectors are taken apart into even and odd numbers, not widened: how many elements that took. Other
 * runs have none. */
typedef uint32_t pairs_bfloat16 __attribute__((vector_size(REGISTER), aligned(2), may_alias));

ND4C_INLINED void four_bfloat16(const uint16_t *x, wide_float32 *v) {
  pairs_bfloat16 first = *(const pairs_bfloat16 *)(const void *)x;
  pairs_bfloat16 second = *(const pairs_bfloat16 *)(const void *)(x + REGISTER / 2);
  v[0] = (wide_float32)(first << 16), v[1] = (wide_float32)(first & 0xffff0000);
  v[2] = (wide_float32)(second << 16), v[3] = (wide_float32)(second & 0xffff0000);
}

ND4C_INLINED int64_t sum_fours_bfloat16(enum nd4c_reduce_index op, int64_t n, const uint16_t *x, double *all) {
  wide_float64 lower = -(wide_float64){0}, upper = lower;
  int64_t i = 0;
  for (; op == ND4C_REDUCE_sum && i + REGISTER <= n; i += REGISTER) {
    wide_float32 v[4];
    four_bfloat16(x + i, v);
    wide_float32 four = (v[0] + v[1]) + (v[2] + v[3]);
    lower += LOWER(four), upper += UPPER(four);
  }
  lower += upper;
  double sum = fold_lanes_float64(ND4C_REDUCE_sum, &lower);
  if (i == 0 || sum - sum != 0) {
    return 0;
  }
  *all = sum;
  return i;
}

ND4C_INLINED int64_t extreme_fours_bfloat16(enum nd4c_reduce_index op, int64_t n, const uint16_t *x, float *all) {
  wide_float32 a0 = {0}, a1 = a0, a2 = a0, a3 = a0;
  seen_float32 seen = {0};
  int64_t i = 0;
  if (op == ND4C_REDUCE_norm_max) {
    return 0;
  }
  for (; i + REGISTER <= n; i += REGISTER) {
    wide_float32 v[4];
    four_bfloat16(x + i, v);
    see_float32(&seen, v[0], v[1]);
    see_float32(&seen, v[2], v[3]);
    if (i == 0) {
      a0 = v[0], a1 = v[1], a2 = v[2], a3 = v[3];
    }
    a0 = better_float32(op, v[0], a0), a1 = better_float32(op, v[1], a1);
    a2 = better_float32(op, v[2], a2), a3 = better_float32(op, v[3], a3);
  }
  a0 = better_float32(op, better_float32(op, a0, a1), better_float32(op, a2, a3));
  *all = has_seen_float32(seen) ? (float)NAN : fold_lanes_float32(op, &a0);
  return i;
}

ND4C_INLINED int64_t sum_fours_float16(enum nd4c_reduce_index op, int64_t n, const uint16_t *x, double *all) {
  (void)op, (void)n, (void)x, (void)all;
  return 0;
}

ND4C_INLINED int64_t extreme_fours_float16(enum nd4c_reduce_index op, int64_t n, const uint16_t *x, float *all) {
  (void)op, (void)n, (void)x, (void)all;
  return 0;
}

#define FROM_FLOAT ND4C_LEVEL_PASTE(NAME(nd4c), from_float)
#define ND4C_TEMPLATE "kernels/cpu/reduction/reduction_half.h"
#define ND4C_KINDS ND4C_HALF
#include "kernels/cpu/support/each_dtype.h"

/* -- truth values: as uint8, but any and all are settled by one element, and the rest is not read -------------------
 */

ND4C_INLINED void run_until_settled(enum nd4c_reduce_index op, ROWS_SIGNATURE) {
  uint8_t *a = accumulators;
  for (int64_t row = 0; row < rows; row++) {
    const uint8_t *x = (const uint8_t *)vx + row * step;
    uint8_t best = x[0];
    for (int64_t i = 0; i < n && (best != 0) != (op == ND4C_REDUCE_max); i += PIECE) {
      uint8_t piece = extreme_piece_uint8(op, n - i < PIECE ? n - i : PIECE, x + i);
      best = extreme_combine_uint8(op, best, piece);
    }
    a[row] = best;
  }
}

static void max_run_boolean(ROWS_SIGNATURE) {
  run_until_settled(ND4C_REDUCE_max, rows, n, vx, step, accumulators);
}

static void min_run_boolean(ROWS_SIGNATURE) {
  run_until_settled(ND4C_REDUCE_min, rows, n, vx, step, accumulators);
}

static void store_boolean(int64_t n, const void *accumulators, double count, void *vy) {
  const uint8_t *a = accumulators;
  uint8_t *y = vy;
  (void)count;
  for (int64_t i = 0; i < n; i++) {
    y[i] = a[i] != 0;
  }
}

/* A product of truth values is 1 or 0 in int64. */
static void store_product_boolean(int64_t n, const void *accumulators, double count, void *vy) {
  const uint8_t *a = accumulators;
  int64_t *y = vy;
  (void)count;
  for (int64_t i = 0; i < n; i++) {
    y[i] = a[i] != 0;
  }
}

/* -- loops of each op ---------------------------------------------------------------------------------------------- */

/* what: total or extreme; A: of its accumulators. */
#define STORE(op, d, what)                                                      \
  static void op##_store_##d(int64_t n, const void *a, double count, void *y) { \
    what##_store_##d(ND4C_REDUCE_##op, n, a, count, y);                         \
  }
#define LOOPS(op, d, what, A, whole)                                                          \
  static A op##_piece_##d(int64_t n, const nd4c_c_##d *x) {                                   \
    return what##_piece_##d(ND4C_REDUCE_##op, n, x);                                          \
  }                                                                                           \
  static void op##_run_##d(ROWS_SIGNATURE) {                                                  \
    what##_run_##d(ND4C_REDUCE_##op, op##_piece_##d, whole, rows, n, vx, step, accumulators); \
  }                                                                                           \
  static void op##_rows_##d(int64_t n, const char *line, int64_t step, void *a, bool set) {   \
    what##_rows_##d(ND4C_REDUCE_##op, n, line, step, a, set);                                 \
  }                                                                                           \
  static void op##_fold_##d(ROWS_SIGNATURE, int32_t first) {                                  \
    what##_fold_##d(ND4C_REDUCE_##op, op##_rows_##d, rows, n, vx, step, accumulators, first); \
  }                                                                                           \
  static void op##_merge_##d(int64_t n, const void *x, void *a) {                             \
    what##_merge_##d(ND4C_REDUCE_##op, n, x, a);                                              \
  }                                                                                           \
  STORE(op, d, what)
#define HALF_LOOPS(op, d, what, A)                                                                                   \
  static void op##_run_##d(ROWS_SIGNATURE) {                                                                         \
    for (int64_t row = 0; row < rows; row++)                                                                         \
      ((A *)accumulators)[row] =                                                                                     \
          what##_pieces_##d(ND4C_REDUCE_##op, op##_piece_float32, n, (const void *)((const char *)vx + row * step)); \
  }                                                                                                                  \
  static void op##_fold_##d(ROWS_SIGNATURE, int32_t first) {                                                         \
    fold_##d(ND4C_REDUCE_##op == ND4C_REDUCE_sum ? add_eight_rows_##d : NULL, op##_fold_float32, sizeof(A), rows, n, \
             vx, step, accumulators, first);                                                                         \
  }                                                                                                                  \
  STORE(op, d, what)
#define ARG_LOOPS(arg, op, d)                                                                     \
  static int64_t arg##_run_##d(int64_t n, const void *x) {                                        \
    return arg_run_##d(ND4C_REDUCE_##op, op##_piece_##d, n, x);                                   \
  }                                                                                               \
  static void arg##_fold_##d(int64_t n, const void *x, int64_t row, void *best, int64_t *where) { \
    arg_fold_##d(ND4C_REDUCE_##op, n, x, row, best, where);                                       \
  }

#define TOTALS(X, d, ...) X(sum, d, total, __VA_ARGS__) X(prod, d, total, __VA_ARGS__)
#define NORMS(X, d, ...) \
  X(norm1, d, total, __VA_ARGS__) X(sum_square, d, total, __VA_ARGS__) X(norm2, d, total, __VA_ARGS__)
#define EXTREMES(X, d, ...) X(max, d, extreme, __VA_ARGS__) X(min, d, extreme, __VA_ARGS__)
#define INTEGERS(D, d, kind) TOTALS(LOOPS, d, uint64_t, true) EXTREMES(LOOPS, d, nd4c_c_##d, true)
#define FLOATS(D, d, kind)        \
  TOTALS(LOOPS, d, double, false) \
  NORMS(LOOPS, d, double, false) EXTREMES(LOOPS, d, nd4c_c_##d, true) LOOPS(norm_max, d, extreme, nd4c_c_##d, true)
#define HALVES(D, d, kind)      \
  TOTALS(HALF_LOOPS, d, double) \
  NORMS(HALF_LOOPS, d, double) EXTREMES(HALF_LOOPS, d, float) HALF_LOOPS(norm_max, d, extreme, float)
#define ARGS(D, d, kind) ARG_LOOPS(argmax, max, d) ARG_LOOPS(argmin, min, d)
#define max_piece_float16 max_piece_float32
#define min_piece_float16 min_piece_float32
#define max_piece_bfloat16 max_piece_float32
#define min_piece_bfloat16 min_piece_float32
ND4C_INT_DTYPES(INTEGERS)
ND4C_UINT_DTYPES(INTEGERS)
ND4C_WIDE_FLOAT_DTYPES(FLOATS)
ND4C_HALF_DTYPES(HALVES)
ND4C_INT_DTYPES(ARGS)
ND4C_UINT_DTYPES(ARGS)
ND4C_WIDE_FLOAT_DTYPES(ARGS)
ND4C_HALF_DTYPES(ARGS)

/* -- sums of truth values ------------------------------------------------------------------------------------------ */

/* Many short rows at a time, or pieces of a long one. */
static void sum_run_boolean(ROWS_SIGNATURE) {
  uint8_t values[ND4C_TRUTH_CHUNK];
  uint64_t *a = accumulators;
  const int64_t many = n > 0 && n < ND4C_TRUTH_CHUNK ? ND4C_TRUTH_CHUNK / n : 1;
  for (int64_t row = 0; row < rows; row += many) {
    const int64_t count = rows - row < many ? rows - row : many;
    for (int64_t i = 0; i < n || i == 0; i += ND4C_TRUTH_CHUNK) {
      const int64_t length = n - i < ND4C_TRUTH_CHUNK ? n - i : ND4C_TRUTH_CHUNK;
      uint64_t part = 0;
      for (int64_t k = 0; k < count; k++) {
        nd4c_truth_values(length, (const uint8_t *)vx + (row + k) * step + i, values + k * length);
      }
      sum_run_uint8(count, length, values, length, i == 0 ? a + row : &part);
      a[row] += part;
    }
  }
}

static void sum_fold_boolean(ROWS_SIGNATURE, int32_t first) {
  enum { ROWS = 8, COLUMNS = ND4C_TRUTH_CHUNK / ROWS };
  uint8_t values[ND4C_TRUTH_CHUNK];
  uint64_t *a = accumulators;
  for (int64_t row = 0; row < rows; row += ROWS, first = 0) {
    const int64_t count = rows - row < ROWS ? rows - row : ROWS;
    for (int64_t i = 0; i < n; i += COLUMNS) {
      const int64_t length = n - i < COLUMNS ? n - i : COLUMNS;
      for (int64_t k = 0; k < count; k++) {
        nd4c_truth_values(length, (const uint8_t *)vx + (row + k) * step + i, values + k * length);
      }
      sum_fold_uint8(count, length, values, length, a + i, first);
    }
  }
}

/* -- table ---------------------------------------------------------------------------------------------------- */

/* 16-bit floats have the accumulators of f32. */
#define ENTRY(op, D, d, of) \
  [ND4C_REDUCE_##op][ND4C_##D] = {op##_run_##d, op##_fold_##d, op##_merge_##of, op##_store_##d},
#define ENTRIES(D, d, of) ENTRY(sum, D, d, of) ENTRY(prod, D, d, of) ENTRY(max, D, d, of) ENTRY(min, D, d, of)
#define NORM_ENTRIES(D, d, of) \
  ENTRY(norm1, D, d, of) ENTRY(sum_square, D, d, of) ENTRY(norm2, D, d, of) ENTRY(norm_max, D, d, of)
#define OWN_ENTRIES(D, d, kind) ENTRIES(D, d, d)
#define OWN_NORM_ENTRIES(D, d, kind) NORM_ENTRIES(D, d, d)
#define HALF_ENTRIES(D, d, kind) ENTRIES(D, d, float32) NORM_ENTRIES(D, d, float32)
#define ARGMAX_ENTRY(D, d, kind) [ND4C_##D] = {argmax_run_##d, argmax_fold_##d},
#define ARGMIN_ENTRY(D, d, kind) [ND4C_##D] = {argmin_run_##d, argmin_fold_##d},
#define ALL(X) ND4C_INT_DTYPES(X) ND4C_UINT_DTYPES(X) ND4C_WIDE_FLOAT_DTYPES(X)

const nd4c_reduction_table ND4C_LEVEL_NAME(nd4c_reduction_table) = {
    .loops = {ALL(OWN_ENTRIES) ND4C_WIDE_FLOAT_DTYPES(OWN_NORM_ENTRIES)
                  ND4C_HALF_DTYPES(HALF_ENTRIES)[ND4C_REDUCE_max][ND4C_BOOL] = {max_run_boolean, max_fold_uint8,
                                                                                max_merge_uint8, store_boolean},
              [ND4C_REDUCE_min][ND4C_BOOL] = {min_run_boolean, min_fold_uint8, min_merge_uint8, store_boolean},
              [ND4C_REDUCE_sum][ND4C_BOOL] = {sum_run_boolean, sum_fold_boolean, sum_merge_uint8, sum_store_uint8},
              [ND4C_REDUCE_prod][ND4C_BOOL] = {min_run_boolean, min_fold_uint8, min_merge_uint8,
                                               store_product_boolean}},
    .argmax = {ALL(ARGMAX_ENTRY) ND4C_HALF_DTYPES(ARGMAX_ENTRY)},
    .argmin = {ALL(ARGMIN_ENTRY) ND4C_HALF_DTYPES(ARGMIN_ENTRY)}};
