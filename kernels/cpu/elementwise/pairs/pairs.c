/* Implements pairs.h. Compiled once per level: the compiler vectorises the plain loops.
 * simd/elementwise/elementwise_pairs.c picks them from nd4c_simd.pairs. */
#include "kernels/cpu/elementwise/pairs/pairs.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernels/cpu/elementwise/pairs/division.h"
#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/support/wrap.h"
#include "kernels/quotient.h"
#include "kernels/types.h"

extern const nd4c_pairs_table ND4C_LEVEL_NAME(nd4c_pairs_table);

#define SIGNATURE int64_t n, const void *va, const void *vb, void *vy

typedef uint32_t bits_float32;
typedef uint64_t bits_float64;

#define ND4C_TEMPLATE "kernels/cpu/elementwise/pairs/pairs_element.h"
#define ND4C_KINDS (ND4C_SIGNED | ND4C_UNSIGNED | ND4C_WIDE_FLOAT)
#include "kernels/cpu/support/each_dtype.h"

#define ND4C_TEMPLATE "kernels/cpu/elementwise/pairs/pairs_divisor.h"
#define ND4C_KINDS (ND4C_SIGNED | ND4C_UNSIGNED)
#include "kernels/cpu/support/each_dtype.h"

#define ND4C_TEMPLATE "kernels/cpu/elementwise/pairs/pairs_rest.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

#define ND4C_TEMPLATE "kernels/cpu/elementwise/pairs/pairs_close.h"
#define ND4C_KINDS (ND4C_SIGNED | ND4C_UNSIGNED | ND4C_WIDE_FLOAT)
#include "kernels/cpu/support/each_dtype.h"

enum { infinity_float16 = 0x7c00, infinity_bfloat16 = 0x7f80, quiet_float16 = 0x200, quiet_bfloat16 = 0x40 };
#define ND4C_TEMPLATE "kernels/cpu/elementwise/pairs/pairs_half.h"
#define ND4C_KINDS ND4C_HALF
#include "kernels/cpu/support/each_dtype.h"

#define ND4C_TEMPLATE "kernels/cpu/elementwise/binary_half.h"
#define ND4C_KINDS ND4C_HALF
#include "kernels/cpu/support/each_dtype.h"

/* -- loops of each op ---------------------------------------------------------------------------------------------- */

#define VARIANT(run, op, d, variant, ...)       \
  static void op##_##d##_##variant(SIGNATURE) { \
    run(__VA_ARGS__, n, va, vb, vy);            \
  }
#define VARIANTS(run, op, d, ...)                      \
  VARIANT(run, op, d, both, __VA_ARGS__, true, true)   \
  VARIANT(run, op, d, first, __VA_ARGS__, true, false) \
  VARIANT(run, op, d, second, __VA_ARGS__, false, true)
#define LOOP(op, D, d) VARIANTS(loop_##d, op, d, ND4C_PAIR_##op)
#define DIVISOR_LOOP(op, D, d) VARIANTS(loop_divisor_##d, op, d, ND4C_PAIR_##op)
#define REST_LOOP(op, D, d) VARIANTS(rest_loop_##d, op, d, ND4C_PAIR_##op, false)

/* By the loops of f32. */
#define HALF_VARIANTS(op, d, wide)                                      \
  VARIANT(in_float_##d, op, d, both, wide##_both, false, true, true)    \
  VARIANT(in_float_##d, op, d, first, wide##_first, false, true, false) \
  VARIANT(in_float_##d, op, d, second, wide##_second, false, false, true)
#define HALF_LOOP(op, D, d) HALF_VARIANTS(op, d, op##_float32)
#define HALF_REST_LOOP(op, D, d) HALF_VARIANTS(op, d, op##_odd)

#define INTEGERS(D, d, kind)                                       \
  ND4C_PAIR_WHOLES(LOOP, D, d)                                     \
  ND4C_PAIR_DIVISORS(DIVISOR_LOOP, D, d)                           \
  VARIANTS(nd4c_divide_##d, floor_divide, d, ND4C_DIVISION_FLOOR)  \
  VARIANTS(nd4c_divide_##d, remainder, d, ND4C_DIVISION_REMAINDER) \
  VARIANTS(nd4c_divide_##d, fmod, d, ND4C_DIVISION_FMOD)
/* The same for both signs. */
#define SIGNLESS(D, d, kind) ND4C_PAIR_BITS(LOOP, D, d) LOOP(squared_difference, D, d)
#define FLOATS(D, d, kind)     \
  ND4C_PAIR_FLOATS(LOOP, D, d) \
  ND4C_PAIR_SIGNS(LOOP, D, d) ND4C_PAIR_DIVISIONS(REST_LOOP, D, d) LOOP(squared_difference, D, d)
ND4C_INT_DTYPES(INTEGERS)
ND4C_UINT_DTYPES(INTEGERS)
ND4C_INT_DTYPES(SIGNLESS)
ND4C_WIDE_FLOAT_DTYPES(FLOATS)

#ifndef ND4C_DTYPES_LITE
#define ODD_LOOP(op, D, d) VARIANTS(rest_loop_float32, op, d, ND4C_PAIR_##op, true)
ND4C_PAIR_DIVISIONS(ODD_LOOP, , odd)
#define HALVES(D, d, kind)                                                                                        \
  ND4C_PAIR_FLOATS(HALF_LOOP, D, d)                                                                               \
  ND4C_PAIR_SIGNS(LOOP, D, d)                                                                                     \
  ND4C_PAIR_DIVISIONS(HALF_REST_LOOP, D, d)                                                                       \
  HALF_LOOP(squared_difference, D, d)                                                                             \
  static void close_##d(int64_t n, const void *va, const void *vb, uint8_t *y, const nd4c_closeness *closeness) { \
    const nd4c_c_##d *a = va, *b = vb;                                                                            \
    float x[ND4C_HALF_CHUNK], z[ND4C_HALF_CHUNK];                                                                 \
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                                                            \
      const int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;                                    \
      nd4c_widen_##d(count, a + i, x);                                                                            \
      nd4c_widen_##d(count, b + i, z);                                                                            \
      close_float32(count, x, z, y + i, closeness);                                                               \
    }                                                                                                             \
  }
ND4C_HALF_DTYPES(HALVES)
#endif

/* -- table --------------------------------------------------------------------------------------------------------- */

#define ENTRY_OF(op, D, d) [ND4C_PAIR_##op][ND4C_##D] = {op##_##d##_both, op##_##d##_first, op##_##d##_second, NULL},
#define ENTRY ENTRY_OF
#define SIGNLESS_ENTRIES(D, d) ND4C_PAIR_BITS(ENTRY_OF, D, d) ENTRY_OF(squared_difference, D, d)
#define INTEGER_ENTRIES(D, d, kind) \
  ND4C_PAIR_WHOLES(ENTRY, D, d) ND4C_PAIR_DIVISORS(ENTRY, D, d) ND4C_PAIR_DIVISIONS(ENTRY, D, d)
#define INT_ENTRIES(D, d, kind) SIGNLESS_ENTRIES(D, d)
#define UINT_ENTRIES(D, d, kind) SIGNLESS_ENTRIES(D, SIGNED_##d)
#define SIGNED_uint8 int8
#define SIGNED_uint16 int16
#define SIGNED_uint32 int32
#define SIGNED_uint64 int64
#define FLOAT_ENTRIES(D, d, kind) \
  ND4C_PAIR_FLOATS(ENTRY, D, d)   \
  ND4C_PAIR_SIGNS(ENTRY, D, d) ND4C_PAIR_DIVISIONS(ENTRY, D, d) ENTRY(squared_difference, D, d)
#define CLOSE_ENTRY(D, d, kind) [ND4C_##D] = close_##d,

const nd4c_pairs_table ND4C_LEVEL_NAME(nd4c_pairs_table) = {
    .loops = {ND4C_INT_DTYPES(INTEGER_ENTRIES) ND4C_UINT_DTYPES(INTEGER_ENTRIES) ND4C_INT_DTYPES(INT_ENTRIES)
                  ND4C_UINT_DTYPES(UINT_ENTRIES) ND4C_FLOAT_DTYPES(FLOAT_ENTRIES)},
    .close = {ND4C_INT_DTYPES(CLOSE_ENTRY) ND4C_UINT_DTYPES(CLOSE_ENTRY) ND4C_FLOAT_DTYPES(CLOSE_ENTRY)}};
