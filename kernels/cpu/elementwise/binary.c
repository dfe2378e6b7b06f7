/* See binary.h. One source for every level: the compiler vectorises the plain loops. */
#include "kernels/cpu/elementwise/binary.h"

#include <stddef.h>

#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/elementwise/power.h"
#include "kernels/cpu/support/vector.h"
#include "kernels/types.h"

extern const nd4c_binary_table ND4C_LEVEL_NAME(nd4c_binary_table);

/* The unsigned type in which arithmetic of an integer type wraps (never narrower than int, which would promote). */
typedef uint32_t wrap_int8, wrap_int16, wrap_int32, wrap_uint8, wrap_uint16, wrap_uint32;
typedef uint64_t wrap_int64, wrap_uint64;

/* One loop: dtype, result type, element function, which operands vary. A lone operand is read once, before the loop:
 * y may be it. Of no elements none is read. */
#define LOOP(op, name, result, function, variant, AT)                                        \
  static void op##_##name##_##variant(int64_t n, const void *va, const void *vb, void *vy) { \
    const nd4c_c_##name *a = va, *b = vb;                                                    \
    result *y = vy;                                                                          \
    if (n < 1)                                                                               \
      return;                                                                                \
    const nd4c_c_##name first[1] = {*a}, second[1] = {*b};                                   \
    (void)first;                                                                             \
    (void)second;                                                                            \
    ND4C_INDEPENDENT                                                                         \
    for (int64_t i = 0; i < n; i++)                                                          \
      y[i] = function(name, AT(i));                                                          \
  }
#define BOTH(i) a[i], b[i]
#define FIRST(i) a[i], second[0]
#define SECOND(i) first[0], b[i]
#define LOOPS(op, name, result, function)        \
  LOOP(op, name, result, function, both, BOTH)   \
  LOOP(op, name, result, function, first, FIRST) \
  LOOP(op, name, result, function, second, SECOND)

/* -- elements ------------------------------------------------------------------------------------------------- */

#define CALL(f, ...) f(__VA_ARGS__)
#define INT_ADD(name, ...) CALL(INT_ADD_, name, __VA_ARGS__)
#define INT_ADD_(name, x, z) ((nd4c_c_##name)((wrap_##name)(x) + (wrap_##name)(z)))
#define INT_SUBTRACT(name, ...) CALL(INT_SUBTRACT_, name, __VA_ARGS__)
#define INT_SUBTRACT_(name, x, z) ((nd4c_c_##name)((wrap_##name)(x) - (wrap_##name)(z)))
#define INT_MULTIPLY(name, ...) CALL(INT_MULTIPLY_, name, __VA_ARGS__)
#define INT_MULTIPLY_(name, x, z) ((nd4c_c_##name)((wrap_##name)(x) * (wrap_##name)(z)))
#define INT_DIVIDE(name, ...) CALL(INT_DIVIDE_, name, __VA_ARGS__)
#define INT_DIVIDE_(name, x, z) divide_##name(x, z)
#define INT_POWER(name, ...) CALL(INT_POWER_, name, __VA_ARGS__)
#define INT_POWER_(name, x, z) power_##name(x, z)
#define ADD(name, ...) CALL(ADD_, __VA_ARGS__)
#define ADD_(x, z) ((x) + (z))
#define SUBTRACT(name, ...) CALL(SUBTRACT_, __VA_ARGS__)
#define SUBTRACT_(x, z) ((x) - (z))
#define MULTIPLY(name, ...) CALL(MULTIPLY_, __VA_ARGS__)
#define MULTIPLY_(x, z) ((x) * (z))
#define DIVIDE(name, ...) CALL(DIVIDE_, __VA_ARGS__)
#define DIVIDE_(x, z) ((x) / (z))
#define PRELU(name, ...) CALL(PRELU_, __VA_ARGS__)
#define PRELU_(x, z) ((x) < 0 ? (x) * (z) : (x))
/* NaN wins: a NaN in x fails both comparisons of the first choice, one in z is taken by the second. */
#define MAXIMUM(name, ...) CALL(MAXIMUM_, __VA_ARGS__)
#define MAXIMUM_(x, z) ((x) >= (z) || (x) != (x) ? (x) : (z))
#define MINIMUM(name, ...) CALL(MINIMUM_, __VA_ARGS__)
#define MINIMUM_(x, z) ((x) <= (z) || (x) != (x) ? (x) : (z))
#define EQUAL(name, ...) CALL(EQUAL_, __VA_ARGS__)
#define EQUAL_(x, z) ((x) == (z))
#define NOT_EQUAL(name, ...) CALL(NOT_EQUAL_, __VA_ARGS__)
#define NOT_EQUAL_(x, z) ((x) != (z))
#define LESS(name, ...) CALL(LESS_, __VA_ARGS__)
#define LESS_(x, z) ((x) < (z))
#define LESS_EQUAL(name, ...) CALL(LESS_EQUAL_, __VA_ARGS__)
#define LESS_EQUAL_(x, z) ((x) <= (z))
#define GREATER(name, ...) CALL(GREATER_, __VA_ARGS__)
#define GREATER_(x, z) ((x) > (z))
#define GREATER_EQUAL(name, ...) CALL(GREATER_EQUAL_, __VA_ARGS__)
#define GREATER_EQUAL_(x, z) ((x) >= (z))
#define TRUTH_EQUAL(name, ...) CALL(TRUTH_EQUAL_, __VA_ARGS__)
#define TRUTH_EQUAL_(x, z) (((x) != 0) == ((z) != 0))
#define TRUTH_XOR(name, ...) CALL(TRUTH_XOR_, __VA_ARGS__)
#define TRUTH_XOR_(x, z) (((x) != 0) != ((z) != 0))
#define TRUTH_AND(name, ...) CALL(TRUTH_AND_, __VA_ARGS__)
#define TRUTH_AND_(x, z) (((x) != 0) & ((z) != 0))
#define TRUTH_OR(name, ...) CALL(TRUTH_OR_, __VA_ARGS__)
#define TRUTH_OR_(x, z) (((x) | (z)) != 0)

#define INT_HELPERS(NAME, name, kind)                                                           \
  static inline nd4c_c_##name divide_##name(nd4c_c_##name x, nd4c_c_##name z) {                 \
    return z == 0 ? 0 : z == -1 ? (nd4c_c_##name)(0 - (wrap_##name)x) : (nd4c_c_##name)(x / z); \
  }                                                                                             \
  static inline nd4c_c_##name power_##name(nd4c_c_##name x, nd4c_c_##name z) {                  \
    if (z < 0)                                                                                  \
      return (nd4c_c_##name)(x == 1 ? 1 : x == -1 ? (z & 1 ? -1 : 1) : 0);                      \
    wrap_##name base = (wrap_##name)x, result = 1;                                              \
    for (; z != 0; z = (nd4c_c_##name)(z >> 1), base *= base)                                   \
      result = z & 1 ? result * base : result;                                                  \
    return (nd4c_c_##name)result;                                                               \
  }
#define UINT_HELPERS(NAME, name, kind)                                          \
  static inline nd4c_c_##name divide_##name(nd4c_c_##name x, nd4c_c_##name z) { \
    return z == 0 ? 0 : (nd4c_c_##name)(x / z);                                 \
  }                                                                             \
  static inline nd4c_c_##name power_##name(nd4c_c_##name x, nd4c_c_##name z) {  \
    wrap_##name base = (wrap_##name)x, result = 1;                              \
    for (; z != 0; z = (nd4c_c_##name)(z >> 1), base *= base)                   \
      result = z & 1 ? result * base : result;                                  \
    return (nd4c_c_##name)result;                                               \
  }
ND4C_INT_DTYPES(INT_HELPERS)
ND4C_UINT_DTYPES(UINT_HELPERS)

/* -- loops of each group of dtypes ---------------------------------------------------------------------------- */

#define COMPARISON_LOOPS(name)                 \
  LOOPS(equal, name, uint8_t, EQUAL)           \
  LOOPS(not_equal, name, uint8_t, NOT_EQUAL)   \
  LOOPS(less, name, uint8_t, LESS)             \
  LOOPS(less_equal, name, uint8_t, LESS_EQUAL) \
  LOOPS(greater, name, uint8_t, GREATER)       \
  LOOPS(greater_equal, name, uint8_t, GREATER_EQUAL)

#define INTEGER_LOOPS(NAME, name, kind)              \
  LOOPS(add, name, nd4c_c_##name, INT_ADD)           \
  LOOPS(subtract, name, nd4c_c_##name, INT_SUBTRACT) \
  LOOPS(multiply, name, nd4c_c_##name, INT_MULTIPLY) \
  LOOPS(divide, name, nd4c_c_##name, INT_DIVIDE)     \
  LOOPS(power, name, nd4c_c_##name, INT_POWER)       \
  LOOPS(maximum, name, nd4c_c_##name, MAXIMUM)       \
  LOOPS(minimum, name, nd4c_c_##name, MINIMUM)       \
  COMPARISON_LOOPS(name)

#define FLOAT_LOOPS(NAME, name, kind)                                                   \
  LOOPS(add, name, nd4c_c_##name, ADD)                                                  \
  LOOPS(subtract, name, nd4c_c_##name, SUBTRACT)                                        \
  LOOPS(multiply, name, nd4c_c_##name, MULTIPLY)                                        \
  LOOPS(divide, name, nd4c_c_##name, DIVIDE)                                            \
  LOOPS(prelu, name, nd4c_c_##name, PRELU)                                              \
  LOOPS(maximum, name, nd4c_c_##name, MAXIMUM)                                          \
  LOOPS(minimum, name, nd4c_c_##name, MINIMUM)                                          \
  COMPARISON_LOOPS(name)                                                                \
  static void power_##name##_both(int64_t n, const void *a, const void *b, void *y) {   \
    nd4c_power_##name(n, a, 1, b, 1, y);                                                \
  }                                                                                     \
  static void power_##name##_first(int64_t n, const void *a, const void *b, void *y) {  \
    nd4c_power_##name(n, a, 1, b, 0, y);                                                \
  }                                                                                     \
  static void power_##name##_second(int64_t n, const void *a, const void *b, void *y) { \
    nd4c_power_##name(n, a, 0, b, 1, y);                                                \
  }

/* 16-bit floats: widened in pieces, computed by the loop of f32, narrowed. */
#define HALF_ARITHMETIC(op, name, variant, A_STEP, B_STEP)                                   \
  static void op##_##name##_##variant(int64_t n, const void *va, const void *vb, void *vy) { \
    const uint16_t *a = va, *b = vb;                                                         \
    uint16_t *y = vy;                                                                        \
    float wide_a[ND4C_HALF_CHUNK], wide_b[ND4C_HALF_CHUNK], wide_y[ND4C_HALF_CHUNK];         \
    if (n < 1)                                                                               \
      return;                                                                                \
    nd4c_widen_##name(1, a, wide_a);                                                         \
    nd4c_widen_##name(1, b, wide_b);                                                         \
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                                       \
      int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;                     \
      if (A_STEP)                                                                            \
        nd4c_widen_##name(count, a + i, wide_a);                                             \
      if (B_STEP)                                                                            \
        nd4c_widen_##name(count, b + i, wide_b);                                             \
      op##_float32_##variant(count, wide_a, wide_b, wide_y);                                 \
      nd4c_narrow_##name(count, wide_y, y + i);                                              \
    }                                                                                        \
  }
#define HALF_COMPARISON(op, name, variant, A_STEP, B_STEP)                                   \
  static void op##_##name##_##variant(int64_t n, const void *va, const void *vb, void *vy) { \
    const uint16_t *a = va, *b = vb;                                                         \
    uint8_t *y = vy;                                                                         \
    float wide_a[ND4C_HALF_CHUNK], wide_b[ND4C_HALF_CHUNK];                                  \
    if (n < 1)                                                                               \
      return;                                                                                \
    nd4c_widen_##name(1, a, wide_a);                                                         \
    nd4c_widen_##name(1, b, wide_b);                                                         \
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                                       \
      int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;                     \
      if (A_STEP)                                                                            \
        nd4c_widen_##name(count, a + i, wide_a);                                             \
      if (B_STEP)                                                                            \
        nd4c_widen_##name(count, b + i, wide_b);                                             \
      op##_float32_##variant(count, wide_a, wide_b, y + i);                                  \
    }                                                                                        \
  }
#define HALF_VARIANTS(HALF, op, name) \
  HALF(op, name, both, 1, 1)          \
  HALF(op, name, first, 1, 0)         \
  HALF(op, name, second, 0, 1)
#define HALF_LOOPS(NAME, name, kind)               \
  HALF_VARIANTS(HALF_ARITHMETIC, add, name)        \
  HALF_VARIANTS(HALF_ARITHMETIC, subtract, name)   \
  HALF_VARIANTS(HALF_ARITHMETIC, multiply, name)   \
  HALF_VARIANTS(HALF_ARITHMETIC, divide, name)     \
  HALF_VARIANTS(HALF_ARITHMETIC, power, name)      \
  HALF_VARIANTS(HALF_ARITHMETIC, prelu, name)      \
  HALF_VARIANTS(HALF_ARITHMETIC, maximum, name)    \
  HALF_VARIANTS(HALF_ARITHMETIC, minimum, name)    \
  HALF_VARIANTS(HALF_COMPARISON, equal, name)      \
  HALF_VARIANTS(HALF_COMPARISON, not_equal, name)  \
  HALF_VARIANTS(HALF_COMPARISON, less, name)       \
  HALF_VARIANTS(HALF_COMPARISON, less_equal, name) \
  HALF_VARIANTS(HALF_COMPARISON, greater, name)    \
  HALF_VARIANTS(HALF_COMPARISON, greater_equal, name)

ND4C_INT_DTYPES(INTEGER_LOOPS)
ND4C_UINT_DTYPES(INTEGER_LOOPS)
ND4C_WIDE_FLOAT_DTYPES(FLOAT_LOOPS)
ND4C_HALF_DTYPES(HALF_LOOPS)
LOOPS(equal, boolean, uint8_t, TRUTH_EQUAL)
LOOPS(not_equal, boolean, uint8_t, TRUTH_XOR)
LOOPS(logical_and, boolean, uint8_t, TRUTH_AND)
LOOPS(logical_or, boolean, uint8_t, TRUTH_OR)
LOOPS(logical_xor, boolean, uint8_t, TRUTH_XOR)

/* -- streaming: whole cache lines, the rest as usual ---------------------------------------------------------- */

/* The elements before the first whole line of y, and after the last. */
#define STREAM_REST(op, name)                                                                               \
  static void op##_##name##_rest(int64_t n, const nd4c_c_##name *a, int64_t a_step, const nd4c_c_##name *b, \
                                 int64_t b_step, nd4c_c_##name *y) {                                        \
    if (a_step == 1 && b_step == 1)                                                                         \
      op##_##name##_both(n, a, b, y);                                                                       \
    for (int64_t i = 0; (a_step != 1 || b_step != 1) && i < n; i++)                                         \
      op##_##name##_both(1, a + i * a_step, b + i * b_step, y + i);                                         \
  }
/* The blocks of one cache line of y from element i on; returns where they end. */
#define BLOCKS(op, name, kind, COMBINE, STORE)                                                             \
  static inline int64_t op##_##name##_##kind(int64_t i, int64_t n, const nd4c_c_##name *a, int64_t a_step, \
                                             const nd4c_c_##name *b, int64_t b_step, nd4c_c_##name *y) {   \
    enum { BLOCK = ND4C_STREAM_BLOCK / sizeof(nd4c_c_##name) };                                            \
    int64_t reach = a_step != 1 || b_step != 1; /* block loads touch all before the next block */          \
    for (; i + BLOCK + reach <= n; i += BLOCK) {                                                           \
      COMBINE(op, name)                                                                                    \
      STORE(y + i, &x);                                                                                    \
    }                                                                                                      \
    return i;                                                                                              \
  }
/* The usual steps as constants: a loop that asks for them at every block keeps the blocks in memory. */
#define STREAM_LOOP(op, name, COMBINE)                                                                        \
  STREAM_REST(op, name)                                                                                       \
  BLOCKS(op, name, blocks, COMBINE, nd4c_stream_block)                                                        \
  static void op##_##name##_stream(int64_t n, const void *va, int64_t a_step, const void *vb, int64_t b_step, \
                                   void *vy) {                                                                \
    const nd4c_c_##name *a = va, *b = vb;                                                                     \
    nd4c_c_##name *y = vy;                                                                                    \
    int64_t i = (int64_t)(-(uintptr_t)y % ND4C_STREAM_BLOCK / sizeof *y);                                     \
    i = i < n ? i : n;                                                                                        \
    op##_##name##_rest(i, a, a_step, b, b_step, y);                                                           \
    if (a_step == 1 && b_step == 1)                                                                           \
      i = op##_##name##_blocks(i, n, a, 1, b, 1, y);                                                          \
    else if (a_step == 2 && b_step == 2)                                                                      \
      i = op##_##name##_blocks(i, n, a, 2, b, 2, y);                                                          \
    else                                                                                                      \
      i = op##_##name##_blocks(i, n, a, a_step, b, b_step, y);                                                \
    op##_##name##_rest(n - i, a + i * a_step, a_step, b + i * b_step, b_step, y + i);                         \
  }
#define OPERATOR_add +
#define OPERATOR_subtract -
#define OPERATOR_multiply *
#define FLOAT_BLOCK(op, name)                         \
  nd4c_block_##name x, z;                             \
  nd4c_block_load_##name(a + i * a_step, a_step, &x); \
  nd4c_block_load_##name(b + i * b_step, b_step, &z); \
  x = x OPERATOR_##op z;
#define HALF_BLOCK_float16(op)                              \
  float wide_x[BLOCK], wide_z[BLOCK];                       \
  uint16_t x[BLOCK];                                        \
  nd4c_widen_block_float16(a + i * a_step, a_step, wide_x); \
  nd4c_widen_block_float16(b + i * b_step, b_step, wide_z); \
  for (int64_t j = 0; j < BLOCK; j++)                       \
    wide_x[j] = wide_x[j] OPERATOR_##op wide_z[j];          \
  nd4c_narrow_float16(BLOCK, wide_x, x);
#define WORDS_COMBINE(op, x, z) x = (nd4c_block_uint32)((nd4c_block_float32)(x)OPERATOR_##op(nd4c_block_float32)(z));
#define HALF_BLOCK_bfloat16(op)                               \
  nd4c_block_uint16 x;                                        \
  nd4c_bfloat16_pair left, right;                             \
  bool sparse = a_step == 2 && b_step == 2;                   \
  nd4c_bfloat16_load(a + i * a_step, a_step, sparse, &left);  \
  nd4c_bfloat16_load(b + i * b_step, b_step, sparse, &right); \
  WORDS_COMBINE(op, left.first, right.first)                  \
  WORDS_COMBINE(op, left.second, right.second)                \
  nd4c_bfloat16_join(&left, sparse, &x);
#define HALF_BLOCK(op, name) HALF_BLOCK_##name(op)
#define FLOAT_STREAMS(NAME, name, kind)    \
  STREAM_LOOP(add, name, FLOAT_BLOCK)      \
  STREAM_LOOP(subtract, name, FLOAT_BLOCK) \
  STREAM_LOOP(multiply, name, FLOAT_BLOCK)
#define HALF_STREAMS(NAME, name, kind)    \
  STREAM_LOOP(add, name, HALF_BLOCK)      \
  STREAM_LOOP(subtract, name, HALF_BLOCK) \
  STREAM_LOOP(multiply, name, HALF_BLOCK)
ND4C_WIDE_FLOAT_DTYPES(FLOAT_STREAMS)
ND4C_HALF_DTYPES(HALF_STREAMS)

/* Sums and products of bfloat16 that stay in the caches: blocks in registers here, too, for buffers cost as much again.
 */
#define STORE_BLOCK(to, block) memcpy(to, block, ND4C_STREAM_BLOCK)
#define WHOLE_LOOP(op)                                                                   \
  BLOCKS(op, bfloat16, kept, HALF_BLOCK, STORE_BLOCK)                                    \
  static void op##_bfloat16_whole(int64_t n, const void *va, const void *vb, void *vy) { \
    const uint16_t *a = va, *b = vb;                                                     \
    uint16_t *y = vy;                                                                    \
    int64_t i = op##_bfloat16_kept(0, n, a, 1, b, 1, y);                                 \
    op##_bfloat16_both(n - i, a + i, b + i, y + i);                                      \
  }
#ifndef ND4C_DTYPES_LITE
WHOLE_LOOP(add)
WHOLE_LOOP(subtract)
WHOLE_LOOP(multiply)
#endif

/* -- table ---------------------------------------------------------------------------------------------------- */

#define ENTRY(op, NAME, name) \
  [ND4C_BINARY_##op][ND4C_##NAME] = {op##_##name##_both, op##_##name##_first, op##_##name##_second, NULL},
#define BOTH_float16 both
#define BOTH_bfloat16 whole
#define BOTH_float32 both
#define BOTH_float64 both
#define STREAM_ENTRY(op, NAME, name) STREAM_ENTRY_OF(op, NAME, name, BOTH_##name)
#define STREAM_ENTRY_OF(op, NAME, name, both_loop) STREAM_ENTRY_WITH(op, NAME, name, both_loop)
#define STREAM_ENTRY_WITH(op, NAME, name, both_loop) \
  [ND4C_BINARY_##                                    \
      op][ND4C_##NAME] = {op##_##name##_##both_loop, op##_##name##_first, op##_##name##_second, op##_##name##_stream},
#define INTEGER_ENTRIES(NAME, name, kind) \
  ENTRY(add, NAME, name)                  \
  ENTRY(subtract, NAME, name)             \
  ENTRY(multiply, NAME, name)             \
  NUMBER_ENTRIES(NAME, name, kind)
#define FLOAT_ENTRIES(NAME, name, kind) \
  STREAM_ENTRY(add, NAME, name)         \
  STREAM_ENTRY(subtract, NAME, name)    \
  STREAM_ENTRY(multiply, NAME, name)    \
  ENTRY(prelu, NAME, name)              \
  NUMBER_ENTRIES(NAME, name, kind)
#define NUMBER_ENTRIES(NAME, name, kind) \
  ENTRY(divide, NAME, name)              \
  ENTRY(power, NAME, name)               \
  ENTRY(maximum, NAME, name)             \
  ENTRY(minimum, NAME, name)             \
  ENTRY(equal, NAME, name)               \
  ENTRY(not_equal, NAME, name)           \
  ENTRY(less, NAME, name)                \
  ENTRY(less_equal, NAME, name)          \
  ENTRY(greater, NAME, name)             \
  ENTRY(greater_equal, NAME, name)

const nd4c_binary_table ND4C_LEVEL_NAME(nd4c_binary_table) = {
    .loops = {ND4C_INT_DTYPES(INTEGER_ENTRIES) ND4C_UINT_DTYPES(INTEGER_ENTRIES) ND4C_HALF_DTYPES(FLOAT_ENTRIES)
                  ND4C_WIDE_FLOAT_DTYPES(FLOAT_ENTRIES) ENTRY(equal, BOOL, boolean) ENTRY(not_equal, BOOL, boolean)
                      ENTRY(logical_and, BOOL, boolean) ENTRY(logical_or, BOOL, boolean)
                          ENTRY(logical_xor, BOOL, boolean)}};
