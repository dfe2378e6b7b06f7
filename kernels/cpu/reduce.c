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

/* A run is read at four places at once: hardware then fetches more of it ahead than from one place (a third more
 * bytes a second, measured). */
enum { STREAMS = 4, PART = LANES / STREAMS, AHEAD = 1024 };

#define COMBINE_sum(a, x) ((a) + (x))
#define COMBINE_prod(a, x) ((a) * (x))
/* NaN wins. Two choices, not one of two conditions: the compiler makes vectors of these. */
#define COMBINE_max(a, x) ((x) != (x) ? (x) : (x) > (a) ? (x) : (a))
#define COMBINE_min(a, x) ((x) != (x) ? (x) : (x) < (a) ? (x) : (a))

/* norm2 is gathered as its square. */
#define COMBINE_norm1(a, x) ((a) + (x))
#define COMBINE_sum_square(a, x) ((a) + (x))
#define COMBINE_norm2(a, x) ((a) + (x))
#define COMBINE_norm_max(a, x) COMBINE_max(a, x)

/* What an element counts for. */
#define TAKE_sum(A, x) ((A)(x))
#define TAKE_prod(A, x) ((A)(x))
#define TAKE_max(A, x) ((A)(x))
#define TAKE_min(A, x) ((A)(x))
#define TAKE_norm1(A, x) ((A)fabs((A)(x)))
#define TAKE_sum_square(A, x) ((A)(x) * (A)(x))
#define TAKE_norm2(A, x) ((A)(x) * (A)(x))
#define TAKE_norm_max(A, x) ((A)fabs((A)(x)))

/* T: the element's C type as loaded; A: of accumulators. */
#define LANE_LOOP(function, op, T, A)                                                               \
  static A function(int64_t n, const T *x) {                                                        \
    A lanes[LANES];                                                                                 \
    int64_t width = n < LANES ? n : LANES, stream = n < 4 * LANES ? PART : n / LANES * PART, i = 0; \
    for (int64_t j = 0; j < width; j++)                                                             \
      lanes[j] = TAKE_##op(A, x[j / PART * stream + j % PART]);                                     \
    for (i = PART; i < stream; i += PART)                                                           \
      for (int64_t s = 0; s < STREAMS; s++) {                                                       \
        const T *from = x + s * stream + i;                                                         \
        ND4C_PREFETCH((uintptr_t)from + AHEAD);                                                     \
        for (int64_t j = 0; j < PART; j++)                                                          \
          lanes[s * PART + j] = COMBINE_##op(lanes[s * PART + j], TAKE_##op(A, from[j]));           \
      }                                                                                             \
    for (i = STREAMS * stream; i + LANES <= n; i += LANES)                                          \
      for (int64_t j = 0; j < LANES; j++)                                                           \
        lanes[j] = COMBINE_##op(lanes[j], TAKE_##op(A, x[i + j]));                                  \
    for (int64_t j = 0; i + j < n; j++)                                                             \
      lanes[j] = COMBINE_##op(lanes[j], TAKE_##op(A, x[i + j]));                                    \
    while (width > 1) {                                                                             \
      int64_t half = (width + 1) / 2;                                                               \
      for (int64_t j = 0; j + half < width; j++)                                                    \
        lanes[j] = COMBINE_##op(lanes[j], lanes[j + half]);                                         \
      width = half;                                                                                 \
    }                                                                                               \
    return lanes[0];                                                                                \
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

/* Four rows at a time, so that the line of accumulators is read and written for every fourth row alone. */
#define FOLD(op, name, T, A)                                                                                    \
  static void op##_fold_##name(int64_t rows, int64_t n, const void *vx, int64_t step, void *accumulators,       \
                               int32_t first) {                                                                 \
    A *a = accumulators;                                                                                        \
    const char *line = vx;                                                                                      \
    if (first) {                                                                                                \
      const T *x = (const T *)(const void *)line;                                                               \
      ND4C_INDEPENDENT                                                                                          \
      for (int64_t i = 0; i < n; i++)                                                                           \
        a[i] = TAKE_##op(A, x[i]);                                                                              \
      rows--, line += step;                                                                                     \
    }                                                                                                           \
    for (; rows >= 4; rows -= 4, line += 4 * step) {                                                            \
      const T *x = (const T *)(const void *)line, *b = (const T *)(const void *)(line + step),                  \
              *c = (const T *)(const void *)(line + 2 * step), *d = (const T *)(const void *)(line + 3 * step); \
      ND4C_INDEPENDENT                                                                                          \
      for (int64_t i = 0; i < n; i++) {                                                                         \
        A left = COMBINE_##op(TAKE_##op(A, x[i]), TAKE_##op(A, b[i]));                                          \
        A right = COMBINE_##op(TAKE_##op(A, c[i]), TAKE_##op(A, d[i]));                                         \
        A both = COMBINE_##op(left, right);                                                                     \
        a[i] = COMBINE_##op(a[i], both);                                                                        \
      }                                                                                                         \
    }                                                                                                           \
    for (; rows > 0; rows--, line += step) {                                                                    \
      const T *x = (const T *)(const void *)line;                                                               \
      ND4C_INDEPENDENT                                                                                          \
      for (int64_t i = 0; i < n; i++)                                                                           \
        a[i] = COMBINE_##op(a[i], TAKE_##op(A, x[i]));                                                          \
    }                                                                                                           \
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
#define RESULT_norm1(name) result_##name
#define RESULT_sum_square(name) result_##name
#define RESULT_norm2(name) result_##name
#define RESULT_norm_max(name) result_##name
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
EXTREMES(norm1, float32, float, double, (float)(a[i] / count))
EXTREMES(norm1, float64, double, double, a[i] / count)
EXTREMES(sum_square, float32, float, double, (float)a[i])
EXTREMES(sum_square, float64, double, double, a[i])
EXTREMES(norm2, float32, float, double, (float)sqrt(a[i]))
EXTREMES(norm2, float64, double, double, sqrt(a[i]))
EXTREMES(norm_max, float32, float, float, a[i])
EXTREMES(norm_max, float64, double, double, a[i])

/* 16-bit floats are widened in pieces. */
#define HALF(op, name, A, expression)                                                                        \
  static void op##_run_##name(int64_t n, const void *vx, void *accumulator) {                                \
    enum { SHARE = ND4C_HALF_CHUNK / STREAMS };                                                              \
    const uint16_t *x = vx;                                                                                  \
    float wide[ND4C_HALF_CHUNK];                                                                             \
    A all = 0;                                                                                               \
    int64_t stream = n / ND4C_HALF_CHUNK * SHARE;                                                            \
    for (int64_t i = 0; i < stream; i += SHARE) {                                                            \
      for (int64_t s = 0; s < STREAMS; s++)                                                                  \
        nd4c_widen_##name(SHARE, x + s * stream + i, wide + s * SHARE);                                      \
      A piece = op##_piece_float32(ND4C_HALF_CHUNK, wide);                                                   \
      all = i == 0 ? piece : COMBINE_##op(all, piece);                                                       \
    }                                                                                                        \
    if (STREAMS * stream < n) {                                                                              \
      nd4c_widen_##name(n - STREAMS * stream, x + STREAMS * stream, wide);                                   \
      A piece = op##_piece_float32(n - STREAMS * stream, wide);                                              \
      all = stream == 0 ? piece : COMBINE_##op(all, piece);                                                  \
    }                                                                                                        \
    *(A *)accumulator = all;                                                                                 \
  }                                                                                                          \
  static void op##_fold_##name(int64_t rows, int64_t n, const void *vx, int64_t step, void *accumulators,    \
                               int32_t first) {                                                              \
    enum { ROWS = 4 };                                                                                       \
    float wide[ROWS * ND4C_HALF_CHUNK];                                                                      \
    const char *line = vx;                                                                                   \
    int64_t taken = 0;                                                                                       \
    for (; rows > 0; rows -= taken, line += taken * step, first = 0) {                                       \
      taken = first ? 1 : rows < ROWS ? rows : ROWS;                                                         \
      for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                                                     \
        int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;                                   \
        for (int64_t row = 0; row < taken; row++)                                                            \
          nd4c_widen_##name(count, (const uint16_t *)(const void *)(line + row * step) + i,                  \
                            wide + row * ND4C_HALF_CHUNK);                                                   \
        op##_fold_float32(taken, count, wide, ND4C_HALF_CHUNK * sizeof *wide, (A *)accumulators + i, first); \
      }                                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
  MERGE(op, name, A)                                                                                         \
  STORE(op, name, A, expression)
#define HALF_LOOPS(NAME, name, kind)                                                          \
  HALF(sum, name, double, nd4c_##name##_from_float(nd4c_double_to_odd_float(a[i] / count)))   \
  HALF(prod, name, double, nd4c_##name##_from_float(nd4c_double_to_odd_float(a[i])))          \
  HALF(max, name, float, nd4c_##name##_from_float(a[i]))                                      \
  HALF(min, name, float, nd4c_##name##_from_float(a[i]))                                      \
  HALF(norm1, name, double, nd4c_##name##_from_float(nd4c_double_to_odd_float(a[i] / count))) \
  HALF(sum_square, name, double, nd4c_##name##_from_float(nd4c_double_to_odd_float(a[i])))    \
  HALF(norm2, name, double, nd4c_##name##_from_float(nd4c_double_to_odd_float(sqrt(a[i]))))   \
  HALF(norm_max, name, float, nd4c_##name##_from_float(a[i]))
ND4C_HALF_DTYPES(HALF_LOOPS)

/* -- positions ------------------------------------------------------------------------------------------------ */

#define BEATS_argmax(x, best) ((x) > (best) || ((x) != (x) && (best) == (best)))
#define BEATS_argmin(x, best) ((x) < (best) || ((x) != (x) && (best) == (best)))

/* The extreme of each piece, in lanes of the elements' own width; then where it stands in the first piece that has it.
 */
#define ARG(op, extreme, name, T)                                                                     \
  LANE_LOOP(op##_piece_##name, extreme, T, T)                                                         \
  /* Where `best` stands first from i on, where it is known to stand. */                              \
  static int64_t op##_find_##name(int64_t n, int64_t i, const T *x, T best) {                         \
    for (; i + LANES <= n; i += LANES) {                                                              \
      uint32_t found = 0;                                                                             \
      for (int64_t j = 0; j < LANES; j++)                                                             \
        found |= x[i + j] == best || (best != best && x[i + j] != x[i + j]);                          \
      if (found)                                                                                      \
        break;                                                                                        \
    }                                                                                                 \
    while (!(x[i] == best || (best != best && x[i] != x[i])))                                         \
      i++;                                                                                            \
    return i;                                                                                         \
  }                                                                                                   \
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
    return op##_find_##name(n, i, x, best);                                                           \
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

/* 16-bit floats: widened in pieces. */
#define HALF_ARG(op, extreme, name)                                                                  \
  static int64_t op##_run_##name(int64_t n, const void *vx) {                                        \
    const uint16_t *x = vx;                                                                          \
    float wide[ND4C_HALF_CHUNK], best = 0;                                                           \
    int64_t begin = 0;                                                                               \
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                                               \
      int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;                             \
      nd4c_widen_##name(count, x + i, wide);                                                         \
      float piece = op##_piece_float32(count, wide);                                                 \
      if (i == 0 || BEATS_##op(piece, best)) {                                                       \
        best = piece;                                                                                \
        begin = i;                                                                                   \
      }                                                                                              \
    }                                                                                                \
    int64_t count = n - begin < ND4C_HALF_CHUNK ? n - begin : ND4C_HALF_CHUNK;                       \
    nd4c_widen_##name(count, x + begin, wide);                                                       \
    return begin + op##_find_float32(count, 0, wide, best);                                          \
  }                                                                                                  \
  static void op##_fold_##name(int64_t n, const void *vx, int64_t row, void *best, int64_t *where) { \
    const uint16_t *x = vx;                                                                          \
    float wide[ND4C_HALF_CHUNK];                                                                     \
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                                               \
      int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;                             \
      nd4c_widen_##name(count, x + i, wide);                                                         \
      op##_fold_float32(count, wide, row, (float *)best + i, where + i);                             \
    }                                                                                                \
  }
#define HALF_ARG_LOOPS(NAME, name, kind) HALF_ARG(argmax, max, name) HALF_ARG(argmin, min, name)
ND4C_HALF_DTYPES(HALF_ARG_LOOPS)

/* -- table ---------------------------------------------------------------------------------------------------- */

#define ENTRY(op, NAME, name) \
  [ND4C_REDUCE_##op][ND4C_##NAME] = {op##_run_##name, op##_fold_##name, op##_merge_##name, op##_store_##name},
#define ENTRIES(NAME, name, kind) \
  ENTRY(sum, NAME, name) ENTRY(prod, NAME, name) ENTRY(max, NAME, name) ENTRY(min, NAME, name)
#define NORM_ENTRIES(NAME, name, kind) \
  ENTRY(norm1, NAME, name) ENTRY(sum_square, NAME, name) ENTRY(norm2, NAME, name) ENTRY(norm_max, NAME, name)
#define BOOL_ENTRIES(NAME, name, kind) ENTRY(max, NAME, name) ENTRY(min, NAME, name)
#define ARGMAX_ENTRY(NAME, name, kind) [ND4C_##NAME] = {argmax_run_##name, argmax_fold_##name},
#define ARGMIN_ENTRY(NAME, name, kind) [ND4C_##NAME] = {argmin_run_##name, argmin_fold_##name},

const nd4c_reduce_table ND4C_LEVEL_NAME(nd4c_reduce_table) = {
    .loops = {ND4C_INT_DTYPES(ENTRIES) ND4C_UINT_DTYPES(ENTRIES) ND4C_HALF_DTYPES(ENTRIES)
                  ND4C_WIDE_FLOAT_DTYPES(ENTRIES) ND4C_BOOL_DTYPES(BOOL_ENTRIES) ND4C_HALF_DTYPES(NORM_ENTRIES)
                      ND4C_WIDE_FLOAT_DTYPES(NORM_ENTRIES)},
    .argmax = {ND4C_INT_DTYPES(ARGMAX_ENTRY) ND4C_UINT_DTYPES(ARGMAX_ENTRY) ND4C_WIDE_FLOAT_DTYPES(ARGMAX_ENTRY)
                   ND4C_HALF_DTYPES(ARGMAX_ENTRY)},
    .argmin = {ND4C_INT_DTYPES(ARGMIN_ENTRY) ND4C_UINT_DTYPES(ARGMIN_ENTRY) ND4C_WIDE_FLOAT_DTYPES(ARGMIN_ENTRY)
                   ND4C_HALF_DTYPES(ARGMIN_ENTRY)}};
