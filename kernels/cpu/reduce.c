/* See reduce.h. A run is folded into LANES accumulators side by side, which vectorises without changing the order of
 * operations that the source states. */
#include "kernels/cpu/reduce.h"

#include <math.h>

#include "kernels/cpu/half.h"
#include "kernels/cpu/level.h"
#include "kernels/types.h"

extern const nd4c_reduce_table ND4C_LEVEL_NAME(nd4c_reduce_table);

/* PIECE elements are added lane by lane, pieces pairwise: the error grows with the logarithm of the number of pieces.
 */
enum { LANES = 64, PIECE = 64 * LANES };

#define COMBINE_sum(a, x) ((a) + (x))
#define COMBINE_prod(a, x) ((a) * (x))
/* NaN wins: it fails no comparison that could replace it, and replaces whatever is there. */
#define COMBINE_max(a, x) ((x) > (a) || (x) != (x) ? (x) : (a))
#define COMBINE_min(a, x) ((x) < (a) || (x) != (x) ? (x) : (a))

/* T: the element's C type as loaded; A: of accumulators. */
#define LANE_LOOP(function, op, T, A)                       \
  static A function(int64_t n, const T *x) {                \
    A lanes[LANES];                                         \
    int64_t i = 1, width = n < LANES ? n : LANES;           \
    for (int64_t j = 0; j < width; j++)                     \
      lanes[j] = (A)x[j];                                   \
    for (i = width; i + LANES <= n; i += LANES)             \
      for (int64_t j = 0; j < LANES; j++)                   \
        lanes[j] = COMBINE_##op(lanes[j], (A)x[i + j]);     \
    for (int64_t j = 0; i + j < n; j++)                     \
      lanes[j] = COMBINE_##op(lanes[j], (A)x[i + j]);       \
    while (width > 1) {                                     \
      int64_t half = (width + 1) / 2;                       \
      for (int64_t j = 0; j + half < width; j++)            \
        lanes[j] = COMBINE_##op(lanes[j], lanes[j + half]); \
      width = half;                                         \
    }                                                       \
    return lanes[0];                                        \
  }
#define RUN(op, name, T, A) LANE_LOOP(op##_piece_##name, op, T, A)

#define RUN_PAIRWISE(op, name, T, A)                                         \
  static A op##_pairs_##name(int64_t n, const T *x) {                        \
    if (n <= PIECE)                                                          \
      return op##_piece_##name(n, x);                                        \
    int64_t half = (n / PIECE + 1) / 2 * PIECE;                              \
    A left = op##_pairs_##name(half, x);                                     \
    return COMBINE_##op(left, op##_pairs_##name(n - half, x + half));        \
  }                                                                          \
  static void op##_run_##name(int64_t n, const void *x, void *accumulator) { \
    *(A *)accumulator = op##_pairs_##name(n, x);                             \
  }

#define FOLD(op, name, T, A)                                                                   \
  static void op##_fold_##name(int64_t n, const void *vx, void *accumulators, int32_t first) { \
    const T *x = vx;                                                                           \
    A *a = accumulators;                                                                       \
    ND4C_INDEPENDENT                                                                           \
    for (int64_t i = 0; first && i < n; i++)                                                   \
      a[i] = (A)x[i];                                                                          \
    ND4C_INDEPENDENT                                                                           \
    for (int64_t i = 0; !first && i < n; i++)                                                  \
      a[i] = COMBINE_##op(a[i], (A)x[i]);                                                      \
  }

#define MERGE(op, name, A)                                                           \
  static void op##_merge_##name(int64_t n, const void *others, void *accumulators) { \
    const A *x = others;                                                             \
    A *a = accumulators;                                                             \
    ND4C_INDEPENDENT                                                                 \
    for (int64_t i = 0; i < n; i++)                                                  \
      a[i] = COMBINE_##op(a[i], x[i]);                                               \
  }

#define STORE(op, name, A, expression)                                                         \
  static void op##_store_##name(int64_t n, const void *accumulators, double count, void *vy) { \
    const A *a = accumulators;                                                                 \
    RESULT_##op(name) *y = vy;                                                                 \
    (void)count;                                                                               \
    for (int64_t i = 0; i < n; i++)                                                            \
      y[i] = (expression);                                                                     \
  }

/* Sums and products of integers give 64 bits, everything else its own dtype. */
#define RESULT_sum(name) result_##name
#define RESULT_prod(name) result_##name
#define RESULT_max(name) nd4c_c_##name
#define RESULT_min(name) nd4c_c_##name
typedef int64_t result_int8, result_int16, result_int32, result_int64;
typedef uint64_t result_uint8, result_uint16, result_uint32, result_uint64;
typedef uint16_t result_float16, result_bfloat16;
typedef float result_float32;
typedef double result_float64;

/* -- integers: in uint64_t, where overflow wraps; a signed element is extended first -------------------------- */

#define EXTREMES(op, name, T, A, expression) \
  RUN(op, name, T, A)                        \
  RUN_PAIRWISE(op, name, T, A)               \
  FOLD(op, name, T, A)                       \
  MERGE(op, name, A)                         \
  STORE(op, name, A, expression)

#define INTEGER_LOOPS(name, wide)                                    \
  EXTREMES(sum, name, nd4c_c_##name, uint64_t, (result_##name)a[i])  \
  EXTREMES(prod, name, nd4c_c_##name, uint64_t, (result_##name)a[i]) \
  EXTREMES(max, name, nd4c_c_##name, wide, (nd4c_c_##name)a[i])      \
  EXTREMES(min, name, nd4c_c_##name, wide, (nd4c_c_##name)a[i])
#define INT_LOOPS(NAME, name, kind) INTEGER_LOOPS(name, int64_t)
#define UINT_LOOPS(NAME, name, kind) INTEGER_LOOPS(name, uint64_t)
ND4C_INT_DTYPES(INT_LOOPS)
ND4C_UINT_DTYPES(UINT_LOOPS)
#define BOOL_LOOPS(NAME, name, kind)                      \
  EXTREMES(max, name, nd4c_c_##name, uint64_t, a[i] != 0) \
  EXTREMES(min, name, nd4c_c_##name, uint64_t, a[i] != 0)
ND4C_BOOL_DTYPES(BOOL_LOOPS)

/* -- floats: sums and products in double --------------------------------------------------------------------- */

EXTREMES(sum, float32, float, double, (float)(a[i] / count))
EXTREMES(prod, float32, float, double, (float)a[i])
EXTREMES(max, float32, float, float, a[i])
EXTREMES(min, float32, float, float, a[i])
EXTREMES(sum, float64, double, double, a[i] / count)
EXTREMES(prod, float64, double, double, a[i])
EXTREMES(max, float64, double, double, a[i])
EXTREMES(min, float64, double, double, a[i])

/* 16-bit floats are widened in pieces. */
#define HALF(op, name, A, expression)                                                          \
  static void op##_run_##name(int64_t n, const void *vx, void *accumulator) {                  \
    const uint16_t *x = vx;                                                                    \
    float wide[ND4C_HALF_CHUNK];                                                               \
    A all = 0;                                                                                 \
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                                         \
      int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;                       \
      nd4c_widen_##name(count, x + i, wide);                                                   \
      A piece = op##_piece_float32(count, wide);                                               \
      all = i == 0 ? piece : COMBINE_##op(all, piece);                                         \
    }                                                                                          \
    *(A *)accumulator = all;                                                                   \
  }                                                                                            \
  static void op##_fold_##name(int64_t n, const void *vx, void *accumulators, int32_t first) { \
    const uint16_t *x = vx;                                                                    \
    float wide[ND4C_HALF_CHUNK];                                                               \
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                                         \
      int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;                       \
      nd4c_widen_##name(count, x + i, wide);                                                   \
      op##_fold_float32(count, wide, (A *)accumulators + i, first);                            \
    }                                                                                          \
  }                                                                                            \
  MERGE(op, name, A)                                                                           \
  STORE(op, name, A, expression)
#define HALF_LOOPS(NAME, name, kind)                                                        \
  HALF(sum, name, double, nd4c_##name##_from_float(nd4c_double_to_odd_float(a[i] / count))) \
  HALF(prod, name, double, nd4c_##name##_from_float(nd4c_double_to_odd_float(a[i])))        \
  HALF(max, name, float, nd4c_##name##_from_float(a[i]))                                    \
  HALF(min, name, float, nd4c_##name##_from_float(a[i]))
ND4C_HALF_DTYPES(HALF_LOOPS)

/* -- positions ------------------------------------------------------------------------------------------------ */

#define BEATS_argmax(x, best) ((x) > (best) || ((x) != (x) && (best) == (best)))
#define BEATS_argmin(x, best) ((x) < (best) || ((x) != (x) && (best) == (best)))

/* The extreme of each piece, in lanes of the elements' own width; then where it stands in the first piece that has it.
 */
#define ARG(op, extreme, name, T)                                                                     \
  LANE_LOOP(op##_piece_##name, extreme, T, T)                                                         \
  static int64_t op##_run_##name(int64_t n, const void *vx) {                                         \
    const T *x = vx;                                                                                  \
    T best = x[0];                                                                                    \
    int64_t i = 0;                                                                                    \
    for (int64_t begin = 0; begin < n; begin += PIECE) {                                              \
      T piece = op##_piece_##name(n - begin < PIECE ? n - begin : PIECE, x + begin);                  \
      if (BEATS_##op(piece, best)) {                                                                  \
        best = piece;                                                                                 \
        i = begin;                                                                                    \
      }                                                                                               \
    }                                                                                                 \
    while (!(x[i] == best || (best != best && x[i] != x[i])))                                         \
      i++;                                                                                            \
    return i;                                                                                         \
  }                                                                                                   \
  static void op##_fold_##name(int64_t n, const void *vx, int64_t row, void *vbest, int64_t *where) { \
    const T *x = vx;                                                                                  \
    T *best = vbest;                                                                                  \
    for (int64_t i = 0; i < n; i++) {                                                                 \
      int taken = row == 0 || BEATS_##op(x[i], best[i]);                                              \
      where[i] = taken ? row : where[i];                                                              \
      best[i] = taken ? x[i] : best[i];                                                               \
    }                                                                                                 \
  }
#define ARG_LOOPS(NAME, name, kind)     \
  ARG(argmax, max, name, nd4c_c_##name) \
  ARG(argmin, min, name, nd4c_c_##name)
ND4C_INT_DTYPES(ARG_LOOPS)
ND4C_UINT_DTYPES(ARG_LOOPS)
ND4C_WIDE_FLOAT_DTYPES(ARG_LOOPS)

/* -- table ---------------------------------------------------------------------------------------------------- */

#define ENTRY(op, NAME, name) \
  [ND4C_REDUCE_##op][ND4C_##NAME] = {op##_run_##name, op##_fold_##name, op##_merge_##name, op##_store_##name},
#define ENTRIES(NAME, name, kind) \
  ENTRY(sum, NAME, name) ENTRY(prod, NAME, name) ENTRY(max, NAME, name) ENTRY(min, NAME, name)
#define BOOL_ENTRIES(NAME, name, kind) ENTRY(max, NAME, name) ENTRY(min, NAME, name)
#define ARGMAX_ENTRY(NAME, name, kind) [ND4C_##NAME] = {argmax_run_##name, argmax_fold_##name},
#define ARGMIN_ENTRY(NAME, name, kind) [ND4C_##NAME] = {argmin_run_##name, argmin_fold_##name},

const nd4c_reduce_table ND4C_LEVEL_NAME(nd4c_reduce_table) = {
    .loops = {ND4C_INT_DTYPES(ENTRIES) ND4C_UINT_DTYPES(ENTRIES) ND4C_HALF_DTYPES(ENTRIES)
                  ND4C_WIDE_FLOAT_DTYPES(ENTRIES) ND4C_BOOL_DTYPES(BOOL_ENTRIES)},
    .argmax = {ND4C_INT_DTYPES(ARGMAX_ENTRY) ND4C_UINT_DTYPES(ARGMAX_ENTRY) ND4C_WIDE_FLOAT_DTYPES(ARGMAX_ENTRY)},
    .argmin = {ND4C_INT_DTYPES(ARGMIN_ENTRY) ND4C_UINT_DTYPES(ARGMIN_ENTRY) ND4C_WIDE_FLOAT_DTYPES(ARGMIN_ENTRY)}};
