/* See reduce.h. Runs of floats are folded by reduce_vector.h, everything else by loops that the compiler makes vectors
 * of. */
#include "kernels/cpu/reduction/reduction.h"

#include <math.h>

#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/reduction/fold.h"
#include "kernels/types.h"

extern const nd4c_reduce_table ND4C_LEVEL_NAME(nd4c_reduce_table);

/* Floats are added in pieces, and those pairwise: the error grows with the logarithm of the number of pieces. */
enum { PIECE = 4096 };

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
#define PAIRWISE(op, name, T, A)                                      \
  static A op##_pairs_##name(int64_t n, const T *x) {                 \
    if (n <= PIECE)                                                   \
      return op##_piece_##name(n, x);                                 \
    int64_t half = (n / PIECE + 1) / 2 * PIECE;                       \
    A left = op##_pairs_##name(half, x);                              \
    return COMBINE_##op(left, op##_pairs_##name(n - half, x + half)); \
  }
/* function: of one run. */
#define RUN(op, name, T, A, function)                                                                      \
  static void op##_run_##name(int64_t rows, int64_t n, const void *x, int64_t step, void *vaccumulators) { \
    A *accumulators = vaccumulators;                                                                       \
    for (int64_t row = 0; row < rows; row++)                                                               \
      accumulators[row] = function(n, (const T *)(const void *)((const char *)x + row * step));            \
  }
#define RUN_PAIRWISE(op, name, T, A) \
  PAIRWISE(op, name, T, A)           \
  RUN(op, name, T, A, op##_pairs_##name)
#define RUN_WHOLE(op, name, T, A) RUN(op, name, T, A, op##_piece_##name)

#define COMBINE_EIGHT(op, A)                                    \
  A p = COMBINE_##op(TAKE_##op(A, x0[i]), TAKE_##op(A, x1[i])), \
    q = COMBINE_##op(TAKE_##op(A, x2[i]), TAKE_##op(A, x3[i])); \
  A r = COMBINE_##op(TAKE_##op(A, x4[i]), TAKE_##op(A, x5[i])), \
    s = COMBINE_##op(TAKE_##op(A, x6[i]), TAKE_##op(A, x7[i])); \
  A left = COMBINE_##op(p, q), right = COMBINE_##op(r, s), all = COMBINE_##op(left, right)
/* Eight rows, so that the line of accumulators is read and written for every eighth row alone, and so many places of x
 * are read at once. */
#define ROWS(op, name, T, A)                                                                                    \
  static void op##_rows_##name(int64_t n, const char *line, int64_t step, A *a, bool set) {                     \
    const T *x0 = (const T *)(const void *)line, *x1 = (const T *)(const void *)(line + step),                  \
            *x2 = (const T *)(const void *)(line + 2 * step), *x3 = (const T *)(const void *)(line + 3 * step), \
            *x4 = (const T *)(const void *)(line + 4 * step), *x5 = (const T *)(const void *)(line + 5 * step), \
            *x6 = (const T *)(const void *)(line + 6 * step), *x7 = (const T *)(const void *)(line + 7 * step); \
    ND4C_INDEPENDENT                                                                                            \
    for (int64_t i = 0; set && i < n; i++) {                                                                    \
      COMBINE_EIGHT(op, A);                                                                                     \
      a[i] = all;                                                                                               \
    }                                                                                                           \
    ND4C_INDEPENDENT                                                                                            \
    for (int64_t i = 0; !set && i < n; i++) {                                                                   \
      COMBINE_EIGHT(op, A);                                                                                     \
      a[i] = COMBINE_##op(a[i], all);                                                                           \
    }                                                                                                           \
  }
#define FOLD(op, name, T, A, eight)                                                                       \
  static void op##_fold_##name(int64_t rows, int64_t n, const void *vx, int64_t step, void *accumulators, \
                               int32_t first) {                                                           \
    A *a = accumulators;                                                                                  \
    const char *line = vx;                                                                                \
    for (; rows >= FOLD_ROWS; rows -= FOLD_ROWS, line += FOLD_ROWS * step, first = 0)                     \
      eight(n, line, step, a, first != 0);                                                                \
    for (; rows > 0; rows--, line += step, first = 0) {                                                   \
      const T *x = (const T *)(const void *)line;                                                         \
      ND4C_INDEPENDENT                                                                                    \
      for (int64_t i = 0; first && i < n; i++)                                                            \
        a[i] = TAKE_##op(A, x[i]);                                                                        \
      ND4C_INDEPENDENT                                                                                    \
      for (int64_t i = 0; !first && i < n; i++)                                                           \
        a[i] = COMBINE_##op(a[i], TAKE_##op(A, x[i]));                                                    \
    }                                                                                                     \
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

#define MERGE_AND_STORE(op, name, A, expression) \
  MERGE(op, name, A)                             \
  STORE(op, name, A, expression)
#define SHARED(op, name, T, A, expression) \
  ROWS(op, name, T, A)                     \
  FOLD(op, name, T, A, op##_rows_##name)   \
  MERGE_AND_STORE(op, name, A, expression)

/* -- integers: sums and products in uint64_t, where overflow wraps; a signed element is extended first ----------- */

/* Sums of narrow ones are gathered in 32 bits, as many as those hold. */
#define PART_int8 uint32_t
#define PART_uint8 uint32_t
#define PART_int16 uint32_t
#define PART_uint16 uint32_t
#define PART_int32 uint64_t
#define PART_uint32 uint64_t
#define PART_int64 uint64_t
#define PART_uint64 uint64_t
#define EXTENDED_int8(part) ((uint64_t)(int64_t)(int32_t)(part))
#define EXTENDED_int16(part) ((uint64_t)(int64_t)(int32_t)(part))
#define EXTENDED_uint8(part) (part)
#define EXTENDED_uint16(part) (part)
#define EXTENDED_int32(part) (part)
#define EXTENDED_uint32(part) (part)
#define EXTENDED_int64(part) (part)
#define EXTENDED_uint64(part) (part)

#define INTEGER_SUM(name)                                               \
  static uint64_t sum_piece_##name(int64_t n, const nd4c_c_##name *x) { \
    enum { SOME = 16384 };                                              \
    uint64_t all = 0;                                                   \
    for (int64_t i = 0; i < n; i += SOME) {                             \
      int64_t count = n - i < SOME ? n - i : SOME;                      \
      PART_##name part = 0;                                             \
      for (int64_t j = 0; j < count; j++)                               \
        part += (PART_##name)x[i + j];                                  \
      all += EXTENDED_##name(part);                                     \
    }                                                                   \
    return all;                                                         \
  }
#define INTEGER_PRODUCT(name)                                            \
  static uint64_t prod_piece_##name(int64_t n, const nd4c_c_##name *x) { \
    uint64_t all = 1;                                                    \
    for (int64_t i = 0; i < n; i++)                                      \
      all *= (uint64_t)x[i];                                             \
    return all;                                                          \
  }
/* Plain loops, for which the levels have instructions. */
#define INTEGER_EXTREME(op, sign, name)                                       \
  static nd4c_c_##name op##_piece_##name(int64_t n, const nd4c_c_##name *x) { \
    nd4c_c_##name best = x[0];                                                \
    for (int64_t i = 1; i < n; i++)                                           \
      best = x[i] sign best ? x[i] : best;                                    \
    return best;                                                              \
  }

#define INTEGER_LOOPS(NAME, name, kind)                            \
  INTEGER_SUM(name)                                                \
  INTEGER_PRODUCT(name)                                            \
  INTEGER_EXTREME(max, >, name)                                    \
  INTEGER_EXTREME(min, <, name)                                    \
  RUN_WHOLE(sum, name, nd4c_c_##name, uint64_t)                    \
  RUN_WHOLE(prod, name, nd4c_c_##name, uint64_t)                   \
  RUN_WHOLE(max, name, nd4c_c_##name, nd4c_c_##name)               \
  RUN_WHOLE(min, name, nd4c_c_##name, nd4c_c_##name)               \
  SHARED(sum, name, nd4c_c_##name, uint64_t, (result_##name)a[i])  \
  SHARED(prod, name, nd4c_c_##name, uint64_t, (result_##name)a[i]) \
  SHARED(max, name, nd4c_c_##name, nd4c_c_##name, a[i])            \
  SHARED(min, name, nd4c_c_##name, nd4c_c_##name, a[i])
ND4C_INT_DTYPES(INTEGER_LOOPS)
ND4C_UINT_DTYPES(INTEGER_LOOPS)

/* any and all are settled by one element: the rest is not read. */
#define BOOL_RUN(op, sign, settled)                                                    \
  INTEGER_EXTREME(op, sign, boolean)                                                   \
  static nd4c_c_boolean op##_until_settled(int64_t n, const nd4c_c_boolean *x) {       \
    nd4c_c_boolean best = x[0];                                                        \
    for (int64_t i = 0; i < n && (best != 0) != (settled); i += PIECE) {               \
      nd4c_c_boolean piece = op##_piece_boolean(n - i < PIECE ? n - i : PIECE, x + i); \
      best = piece sign best ? piece : best;                                           \
    }                                                                                  \
    return best;                                                                       \
  }                                                                                    \
  RUN(op, boolean, nd4c_c_boolean, nd4c_c_boolean, op##_until_settled)                 \
  SHARED(op, boolean, nd4c_c_boolean, nd4c_c_boolean, a[i] != 0)
BOOL_RUN(max, >, true)
BOOL_RUN(min, <, false)

/* -- floats: sums and products in double --------------------------------------------------------------------------- */

IN_DOUBLE(sum_exact_float32, float32, float, sum, PLAIN)
IN_DOUBLE(norm1_exact_float32, float32, float, sum, MAGNITUDE)
BY_FOUR(sum_piece_float32, sum_exact_float32, PLAIN)
BY_FOUR(norm1_piece_float32, norm1_exact_float32, MAGNITUDE)
IN_DOUBLE(prod_piece_float32, float32, float, prod, PLAIN)
IN_DOUBLE(sum_square_piece_float32, float32, float, sum, SQUARED)
IN_DOUBLE(sum_piece_float64, float64, double, sum, PLAIN)
IN_DOUBLE(norm1_piece_float64, float64, double, sum, MAGNITUDE)
IN_DOUBLE(prod_piece_float64, float64, double, prod, PLAIN)
IN_DOUBLE(sum_square_piece_float64, float64, double, sum, SQUARED)
EXTREME(max_piece_float32, max, float32, float, PLAIN)
EXTREME(min_piece_float32, min, float32, float, PLAIN)
EXTREME(norm_max_piece_float32, max, float32, float, MAGNITUDE)
EXTREME(max_piece_float64, max, float64, double, PLAIN)
EXTREME(min_piece_float64, min, float64, double, PLAIN)
EXTREME(norm_max_piece_float64, max, float64, double, MAGNITUDE)

#define FLOAT_LOOPS(op, name, T, A, expression) \
  RUN_PAIRWISE(op, name, T, A)                  \
  SHARED(op, name, T, A, expression)
#define norm2_piece_float32 sum_square_piece_float32
#define norm2_piece_float64 sum_square_piece_float64
RUN_PAIRWISE(sum, float32, float, double)
FOLD(sum, float32, float, double, add_eight_rows)
MERGE_AND_STORE(sum, float32, double, (float)(a[i] / count))
FLOAT_LOOPS(prod, float32, float, double, (float)a[i])
FLOAT_LOOPS(sum, float64, double, double, a[i] / count)
FLOAT_LOOPS(prod, float64, double, double, a[i])
FLOAT_LOOPS(norm1, float32, float, double, (float)(a[i] / count))
FLOAT_LOOPS(norm1, float64, double, double, a[i] / count)
FLOAT_LOOPS(sum_square, float32, float, double, (float)a[i])
FLOAT_LOOPS(sum_square, float64, double, double, a[i])
FLOAT_LOOPS(norm2, float32, float, double, (float)sqrt(a[i]))
FLOAT_LOOPS(norm2, float64, double, double, sqrt(a[i]))

#define EXTREME_LOOPS(op, name, T)       \
  RUN_WHOLE(op, name, T, T)              \
  FOLD(op, name, T, T, op##_rows_##name) \
  MERGE_AND_STORE(op, name, T, a[i])
EXTREME_LOOPS(max, float32, float)
EXTREME_LOOPS(min, float32, float)
EXTREME_LOOPS(max, float64, double)
EXTREME_LOOPS(min, float64, double)
EXTREME_LOOPS(norm_max, float32, float)
EXTREME_LOOPS(norm_max, float64, double)

/* -- 16-bit floats: widened in pieces ------------------------------------------------------------------------------ */

/* Of bfloat16 whole vectors are taken apart into even and odd numbers instead: how many elements that took. */
typedef uint32_t pairs_bfloat16 __attribute__((vector_size(REGISTER), aligned(2), may_alias));
#define FOUR_BFLOAT16(at)                                                           \
  pairs_bfloat16 w0 = *(const pairs_bfloat16 *)(const void *)(at);                  \
  pairs_bfloat16 w1 = *(const pairs_bfloat16 *)(const void *)((at) + REGISTER / 2); \
  wide_float32 v0 = (wide_float32)(w0 << 16), v1 = (wide_float32)(w0 & 0xffff0000); \
  wide_float32 v2 = (wide_float32)(w1 << 16), v3 = (wide_float32)(w1 & 0xffff0000)

#ifndef ND4C_DTYPES_LITE
static int64_t sum_fours(int64_t n, const uint16_t *x, double *all) {
  wide_float64 lower = NEUTRAL_sum, upper = lower;
  int64_t i = 0;
  for (; i + REGISTER <= n; i += REGISTER) {
    FOUR_BFLOAT16(x + i);
    wide_float32 four = (v0 + v1) + (v2 + v3);
    lower += LOWER(four), upper += UPPER(four);
  }
  lower += upper;
  double sum = fold_sum(&lower);
  if (i == 0 || sum - sum != 0)
    return 0;
  *all = sum;
  return i;
}
#endif

#define EXTREME_FOURS(way)                                                      \
  static int64_t way##_fours(int64_t n, const uint16_t *x, float *all) {        \
    wide_float32 a0 = {0}, a1 = a0, a2 = a0, a3 = a0;                           \
    seen_float32 seen = {0};                                                    \
    int64_t i = 0;                                                              \
    for (; i + REGISTER <= n; i += REGISTER) {                                  \
      FOUR_BFLOAT16(x + i);                                                     \
      SEE_float32(seen, v0, v1);                                                \
      SEE_float32(seen, v2, v3);                                                \
      if (i == 0)                                                               \
        a0 = v0, a1 = v1, a2 = v2, a3 = v3;                                     \
      a0 = VECTOR_##way##_float32(v0, a0), a1 = VECTOR_##way##_float32(v1, a1); \
      a2 = VECTOR_##way##_float32(v2, a2), a3 = VECTOR_##way##_float32(v3, a3); \
    }                                                                           \
    a0 = VECTOR_##way##_float32(a0, a1), a2 = VECTOR_##way##_float32(a2, a3);   \
    a0 = VECTOR_##way##_float32(a0, a2);                                        \
    *all = SEEN(float32, seen) ? (float)NAN : fold_##way##_float32(&a0);        \
    return i;                                                                   \
  }
#ifndef ND4C_DTYPES_LITE
EXTREME_FOURS(max)
EXTREME_FOURS(min)
#endif
#define NO_FOURS(n, x, all) 0
#define SUM_FOURS_float16(n, x, all) 0
#define MAX_FOURS_float16(n, x, all) 0
#define MIN_FOURS_float16(n, x, all) 0
#define SUM_FOURS_bfloat16 sum_fours
#define MAX_FOURS_bfloat16 max_fours
#define MIN_FOURS_bfloat16 min_fours

enum { HALF_PIECE = 4 * ND4C_HALF_CHUNK };
#define HALF(op, name, A, FOURS, expression)                                                                 \
  static A op##_pieces_##name(int64_t n, const uint16_t *x) {                                                \
    float wide[HALF_PIECE];                                                                                  \
    A all = 0;                                                                                               \
    for (int64_t i = FOURS(n, x, &all); i < n; i += HALF_PIECE) {                                            \
      int64_t count = n - i < HALF_PIECE ? n - i : HALF_PIECE;                                               \
      nd4c_widen_##name(count, x + i, wide);                                                                 \
      A piece = op##_piece_float32(count, wide);                                                             \
      all = i == 0 ? piece : COMBINE_##op(all, piece);                                                       \
    }                                                                                                        \
    return all;                                                                                              \
  }                                                                                                          \
  RUN(op, name, uint16_t, A, op##_pieces_##name)                                                             \
  static void op##_fold_##name(int64_t rows, int64_t n, const void *vx, int64_t step, void *accumulators,    \
                               int32_t first) {                                                              \
    enum { ROWS = 8 };                                                                                       \
    float wide[ROWS * ND4C_HALF_CHUNK];                                                                      \
    const char *line = vx;                                                                                   \
    int64_t taken = 0;                                                                                       \
    for (; rows > 0; rows -= taken, line += taken * step, first = 0) {                                       \
      taken = rows < ROWS ? rows : ROWS;                                                                     \
      for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                                                     \
        int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;                                   \
        for (int64_t row = 0; row < taken; row++)                                                            \
          nd4c_widen_##name(count, (const uint16_t *)(const void *)(line + row * step) + i,                  \
                            wide + row * ND4C_HALF_CHUNK);                                                   \
        op##_fold_float32(taken, count, wide, ND4C_HALF_CHUNK * sizeof *wide, (A *)accumulators + i, first); \
      }                                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
  MERGE_AND_STORE(op, name, A, expression)
#define HALF_LOOPS(NAME, name, kind)                                                                          \
  HALF(sum, name, double, SUM_FOURS_##name, nd4c_##name##_from_float(nd4c_double_to_odd_float(a[i] / count))) \
  HALF(prod, name, double, NO_FOURS, nd4c_##name##_from_float(nd4c_double_to_odd_float(a[i])))                \
  HALF(max, name, float, MAX_FOURS_##name, nd4c_##name##_from_float(a[i]))                                    \
  HALF(min, name, float, MIN_FOURS_##name, nd4c_##name##_from_float(a[i]))                                    \
  HALF(norm1, name, double, NO_FOURS, nd4c_##name##_from_float(nd4c_double_to_odd_float(a[i] / count)))       \
  HALF(sum_square, name, double, NO_FOURS, nd4c_##name##_from_float(nd4c_double_to_odd_float(a[i])))          \
  HALF(norm2, name, double, NO_FOURS, nd4c_##name##_from_float(nd4c_double_to_odd_float(sqrt(a[i]))))         \
  HALF(norm_max, name, float, NO_FOURS, nd4c_##name##_from_float(a[i]))
ND4C_HALF_DTYPES(HALF_LOOPS)

/* -- positions ------------------------------------------------------------------------------------------------ */

#define BEATS_argmax(x, best) ((x) > (best) || ((x) != (x) && (best) == (best)))
#define BEATS_argmin(x, best) ((x) < (best) || ((x) != (x) && (best) == (best)))

/* The extreme of each piece, then where it stands in the first piece that has it. */
enum { BLOCK = 64 };
#define ARG(op, extreme, name, T)                                                                     \
  /* Where `best` stands first from i on, where it is known to stand. */                              \
  static int64_t op##_find_##name(int64_t n, int64_t i, const T *x, T best) {                         \
    for (; i + BLOCK <= n; i += BLOCK) {                                                              \
      uint32_t found = 0;                                                                             \
      for (int64_t j = 0; j < BLOCK; j++)                                                             \
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
      T piece = extreme##_piece_##name(n - begin < PIECE ? n - begin : PIECE, x + begin);             \
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
      float piece = extreme##_piece_float32(count, wide);                                            \
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
