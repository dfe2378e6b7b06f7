/* Implements binary.h. Compiled once per level: the compiler vectorises the plain loops. simd/elementwise.c picks them
 * from nd4c_simd.binary. */
#include "kernels/cpu/elementwise/binary.h"

#include <stdbool.h>
#include <stddef.h>

#include "kernels/cpu/elementwise/complex/numbers.h"
#include "kernels/cpu/elementwise/pairs/division.h"
#include "kernels/cpu/elementwise/power.h"
#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/support/vector.h"
#include "kernels/cpu/support/wrap.h"
#include "kernels/types.h"

extern const nd4c_binary_table ND4C_LEVEL_NAME(nd4c_binary_table);

#define SIGNATURE int64_t n, const void *va, const void *vb, void *vy

#define ND4C_TEMPLATE "kernels/cpu/elementwise/binary_element.h"
#define ND4C_KINDS (ND4C_SIGNED | ND4C_UNSIGNED | ND4C_WIDE_FLOAT)
#include "kernels/cpu/support/each_dtype.h"

#define ND4C_TEMPLATE "kernels/cpu/elementwise/binary_half.h"
#define ND4C_KINDS ND4C_HALF
#include "kernels/cpu/support/each_dtype.h"

#define ND4C_TEMPLATE "kernels/cpu/elementwise/complex/pairs_complex.h"
#include "kernels/cpu/elementwise/complex/each_complex.h"

ND4C_INLINED void loop_boolean(enum nd4c_binary_index op, bool a_varies, bool b_varies, SIGNATURE) {
  const uint8_t *a = va, *b = vb;
  uint8_t *y = vy;
  if (n < 1) {
    return;
  }
  const uint8_t first = *a, second = *b;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    uint8_t x = a_varies ? a[i] : first, z = b_varies ? b[i] : second;
    y[i] = op == ND4C_BINARY_logical_and  ? (x != 0) & (z != 0)
           : op == ND4C_BINARY_logical_or ? (x | z) != 0
           : op == ND4C_BINARY_equal      ? (x != 0) == (z != 0)
                                          : (x != 0) != (z != 0);
  }
}

/* -- cache lines of 16-bit floats ---------------------------------------------------------------------------------- */

typedef nd4c_block_uint16 nd4c_block_float16, nd4c_block_bfloat16;

ND4C_INLINED void line_float16(enum nd4c_binary_index op, const uint16_t *a, int64_t a_step, const uint16_t *b,
                               int64_t b_step, nd4c_block_uint16 *line) {
  float wide_x[ND4C_HALF_BLOCK], wide_z[ND4C_HALF_BLOCK];
  uint16_t x[ND4C_HALF_BLOCK];
  nd4c_widen_block_float16(a, a_step, wide_x);
  nd4c_widen_block_float16(b, b_step, wide_z);
  for (int64_t j = 0; j < ND4C_HALF_BLOCK; j++) {
    wide_x[j] = element_float32(op, wide_x[j], wide_z[j]);
  }
  nd4c_narrow_float16(ND4C_HALF_BLOCK, wide_x, x);
  memcpy(line, x, sizeof x);
}

/* *a = *a op *b, both of them the bits of f32. */
ND4C_INLINED void combine_words(enum nd4c_binary_index op, nd4c_block_uint32 *a, const nd4c_block_uint32 *b) {
  nd4c_block_float32 x = (nd4c_block_float32)*a, z = (nd4c_block_float32)*b;
  *a = (nd4c_block_uint32)(op == ND4C_BINARY_add ? x + z : op == ND4C_BINARY_subtract ? x - z : x * z);
}

ND4C_INLINED void line_bfloat16(enum nd4c_binary_index op, const uint16_t *a, int64_t a_step, const uint16_t *b,
                                int64_t b_step, nd4c_block_uint16 *line) {
  nd4c_bfloat16_pair left, right;
  bool sparse = a_step == 2 && b_step == 2;
  nd4c_bfloat16_load(a, a_step, sparse, &left);
  nd4c_bfloat16_load(b, b_step, sparse, &right);
  combine_words(op, &left.first, &right.first);
  combine_words(op, &left.second, &right.second);
  nd4c_bfloat16_join(&left, sparse, line);
}

#define ND4C_TEMPLATE "kernels/cpu/elementwise/binary_stream.h"
#define ND4C_KINDS (ND4C_WIDE_FLOAT | ND4C_HALF)
#include "kernels/cpu/support/each_dtype.h"

/* -- loops of each op ---------------------------------------------------------------------------------------------- */

#define VARIANT(run, op, d, variant, a_varies, b_varies)            \
  static void op##_##d##_##variant(SIGNATURE) {                     \
    run##_##d(ND4C_BINARY_##op, a_varies, b_varies, n, va, vb, vy); \
  }
#define VARIANTS(run, op, d)              \
  VARIANT(run, op, d, both, true, true)   \
  VARIANT(run, op, d, first, true, false) \
  VARIANT(run, op, d, second, false, true)
#define LOOP(op, D, d) VARIANTS(loop, op, d)
#define COMPARISON(op, D, d) VARIANTS(comparison, op, d)

#define HALF_VARIANT(op, d, variant, ...)                             \
  static void op##_##d##_##variant(SIGNATURE) {                       \
    in_float_##d(op##_float32_##variant, __VA_ARGS__, n, va, vb, vy); \
  }
#define HALF_OTHERS(op, d, compares)                \
  HALF_VARIANT(op, d, first, compares, true, false) \
  HALF_VARIANT(op, d, second, compares, false, true)
#define HALF_LOOP(op, D, d) HALF_VARIANT(op, d, both, false, true, true) HALF_OTHERS(op, d, false)
#define HALF_COMPARISON(op, D, d) HALF_VARIANT(op, d, both, true, true, true) HALF_OTHERS(op, d, true)
#define WHOLE_LOOP(op, D, d)                                       \
  static void op##_##d##_both(SIGNATURE) {                         \
    whole_##d(ND4C_BINARY_##op, op##_float32_both, n, va, vb, vy); \
  }                                                                \
  HALF_OTHERS(op, d, false)
#define STREAM(op, D, d)                                                                                            \
  static void op##_##d##_stream(int64_t n, const void *a, int64_t a_step, const void *b, int64_t b_step, void *y) { \
    stream_##d(ND4C_BINARY_##op, op##_##d##_both, n, a, a_step, b, b_step, y);                                      \
  }

#define SUMS(D, d, kind) ND4C_BINARY_SUMS(LOOP, D, d)
#define QUOTIENT(D, d, kind) VARIANTS(quotient, divide, d)
#define NUMBERS(D, d, kind) ND4C_BINARY_EXTREMES(LOOP, D, d) LOOP(power, D, d) ND4C_BINARY_COMPARISONS(COMPARISON, D, d)
#define HALVES(D, d, kind)             \
  ND4C_BINARY_NUMBERS(HALF_LOOP, D, d) \
  ND4C_BINARY_COMPARISONS(HALF_COMPARISON, D, d) HALF_LOOP(power, D, d) HALF_LOOP(prelu, D, d)
#define STREAMS(D, d, kind) ND4C_BINARY_SUMS(STREAM, D, d)
#define COMPLEXES(D, d, kind)  \
  ND4C_BINARY_SUMS(LOOP, D, d) \
  LOOP(divide, D, d) COMPARISON(equal, D, d) COMPARISON(not_equal, D, d)
ND4C_INT_DTYPES(SUMS)
ND4C_INT_DTYPES(NUMBERS)
ND4C_INT_DTYPES(QUOTIENT)
ND4C_UINT_DTYPES(SUMS)
ND4C_UINT_DTYPES(NUMBERS)
ND4C_UINT_DTYPES(QUOTIENT)
ND4C_WIDE_FLOAT_DTYPES(SUMS)
ND4C_WIDE_FLOAT_DTYPES(NUMBERS)
LOOP(divide, FLOAT32, float32)
LOOP(divide, FLOAT64, float64)
LOOP(prelu, FLOAT32, float32)
LOOP(prelu, FLOAT64, float64)
#ifndef ND4C_DTYPES_LITE
ND4C_BINARY_SUMS(HALF_LOOP, FLOAT16, float16)
ND4C_BINARY_SUMS(WHOLE_LOOP, BFLOAT16, bfloat16)
#endif
ND4C_HALF_DTYPES(HALVES)
ND4C_HALF_DTYPES(STREAMS)
ND4C_WIDE_FLOAT_DTYPES(STREAMS)
ND4C_COMPLEX_DTYPES(COMPLEXES)
ND4C_BINARY_LOGIC(LOOP, BOOL, boolean)
LOOP(equal, BOOL, boolean)
LOOP(not_equal, BOOL, boolean)

/* -- table ---------------------------------------------------------------------------------------------------- */

#define ENTRY_WITH(op, D, d, stream) \
  [ND4C_BINARY_##op][ND4C_##D] = {op##_##d##_both, op##_##d##_first, op##_##d##_second, stream},
#define ENTRY(op, D, d) ENTRY_WITH(op, D, d, NULL)
#define STREAM_ENTRY(op, D, d) ENTRY_WITH(op, D, d, op##_##d##_stream)
#define NUMBER_ENTRIES(D, d, kind) \
  ND4C_BINARY_NUMBERS(ENTRY, D, d) ND4C_BINARY_COMPARISONS(ENTRY, D, d) ENTRY(power, D, d)
#define INTEGER_ENTRIES(D, d, kind) ND4C_BINARY_SUMS(ENTRY, D, d) NUMBER_ENTRIES(D, d, kind)
#define FLOAT_ENTRIES(D, d, kind) ND4C_BINARY_SUMS(STREAM_ENTRY, D, d) ENTRY(prelu, D, d) NUMBER_ENTRIES(D, d, kind)
#define COMPLEX_ENTRIES(D, d, kind) \
  ND4C_BINARY_SUMS(ENTRY, D, d) ENTRY(divide, D, d) ENTRY(equal, D, d) ENTRY(not_equal, D, d)

const nd4c_binary_table ND4C_LEVEL_NAME(nd4c_binary_table) = {
    .loops = {ND4C_INT_DTYPES(INTEGER_ENTRIES) ND4C_UINT_DTYPES(INTEGER_ENTRIES) ND4C_HALF_DTYPES(FLOAT_ENTRIES)
                  ND4C_WIDE_FLOAT_DTYPES(FLOAT_ENTRIES) ND4C_COMPLEX_DTYPES(COMPLEX_ENTRIES) ENTRY(equal, BOOL, boolean)
                      ENTRY(not_equal, BOOL, boolean) ND4C_BINARY_LOGIC(ENTRY, BOOL, boolean)}};
