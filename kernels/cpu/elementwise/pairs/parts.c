/* Implements parts.h. Compiled once per level: the compiler vectorises the plain loops.
 * simd/elementwise/elementwise_parts.c picks them from nd4c_simd.parts. */
#include "kernels/cpu/elementwise/pairs/parts.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/support/wrap.h"
#include "kernels/types.h"

extern const nd4c_parts_table ND4C_LEVEL_NAME(nd4c_parts_table);

#define SIGNATURE int64_t n, const void *vx, void *vy, const nd4c_unary_parameters *parameters

/* -- bits of bytes: shifted in words of 16 bits, for there are no shifts of bytes; masks take off what comes from the
 * other byte. The compiler makes words of 32 bits of plain loops over bytes ------------------------------------------
 */

enum { VECTOR_BYTES = 32 };
typedef uint8_t byte_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int8_t signed_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef uint16_t word_vector __attribute__((vector_size(VECTOR_BYTES)));
#define SHIFTED(v, by) ((byte_vector)((word_vector)(v) >> (by)))

/* Bits that are 1 in the magnitudes of whole vectors of bytes; returns how many bytes these are. */
static inline int64_t ones_of_bytes(bool is_signed, int64_t n, const uint8_t *x, uint8_t *y) {
  int64_t i = 0;
  for (; i + VECTOR_BYTES <= n; i += VECTOR_BYTES) {
    byte_vector v;
    memcpy(&v, x + i, sizeof v);
    if (is_signed) {
      const byte_vector below = (byte_vector)((signed_vector)v < 0);
      v = (v ^ below) - below;
    }
    v -= SHIFTED(v, 1) & 0x55;
    v = (v & 0x33) + (SHIFTED(v, 2) & 0x33);
    v = (v & 0x0f) + (SHIFTED(v, 4) & 0x0f);
    memcpy(y + i, &v, sizeof v);
  }
  return i;
}

#define ND4C_TEMPLATE "kernels/cpu/elementwise/pairs/parts_whole.h"
#define ND4C_KINDS (ND4C_SIGNED | ND4C_UNSIGNED)
#include "kernels/cpu/support/each_dtype.h"

typedef uint16_t bits_float16, bits_bfloat16;
typedef uint32_t bits_float32;
typedef uint64_t bits_float64;
#define infinity_float16 0x7c00
#define infinity_bfloat16 0x7f80
#define infinity_float32 UINT32_C(0x7f800000)
#define infinity_float64 UINT64_C(0x7ff0000000000000)
#define ND4C_TEMPLATE "kernels/cpu/elementwise/pairs/parts_float.h"
#define ND4C_KINDS (ND4C_WIDE_FLOAT | ND4C_HALF)
#include "kernels/cpu/support/each_dtype.h"

/* -- loops of each op ---------------------------------------------------------------------------------------------- */

#define LOOP_BY(run, op, d)                           \
  static void op##_##d(SIGNATURE) {                   \
    run##_##d(ND4C_PART_##op, n, vx, vy, parameters); \
  }
#define LOOP(op, D, d) LOOP_BY(loop, op, d)
#define PREDICATE(op, D, d) LOOP_BY(predicate, op, d)
#define INTEGERS(D, d, kind) ND4C_PART_WHOLES(LOOP, D, d) LOOP(cube, D, d)
#define FLOATS(D, d, kind) ND4C_PART_FLOATS(LOOP, D, d) LOOP(cube, D, d) ND4C_PART_PREDICATES(PREDICATE, D, d)
ND4C_INT_DTYPES(INTEGERS)
ND4C_UINT_DTYPES(INTEGERS)
ND4C_WIDE_FLOAT_DTYPES(FLOATS)

#define HALF_LOOP(op, D, d)                                              \
  static void op##_##d(SIGNATURE) {                                      \
    const nd4c_c_##d *x = vx;                                            \
    nd4c_c_##d *y = vy;                                                  \
    float wide[ND4C_HALF_CHUNK];                                         \
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                   \
      int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK; \
      nd4c_widen_##d(count, x + i, wide);                                \
      op##_float32(count, wide, wide, parameters);                       \
      nd4c_narrow_##d(count, wide, y + i);                               \
    }                                                                    \
  }
#define HALVES(D, d, kind) ND4C_PART_FLOATS(HALF_LOOP, D, d) HALF_LOOP(cube, D, d) ND4C_PART_PREDICATES(PREDICATE, D, d)
ND4C_HALF_DTYPES(HALVES)

/* -- table --------------------------------------------------------------------------------------------------------- */

#define ENTRY(op, D, d) [ND4C_PART_##op][ND4C_##D] = op##_##d,
#define INTEGER_ENTRIES(D, d, kind) ND4C_PART_WHOLES(ENTRY, D, d) ENTRY(cube, D, d) ENTRY(bit_count, D, d)
#define FLOAT_ENTRIES(D, d, kind) \
  ND4C_PART_FLOATS(ENTRY, D, d) ND4C_PART_PREDICATES(ENTRY, D, d) ENTRY(nan_to_num, D, d) ENTRY(cube, D, d)

const nd4c_parts_table ND4C_LEVEL_NAME(nd4c_parts_table) = {
    .loops = {ND4C_INT_DTYPES(INTEGER_ENTRIES) ND4C_UINT_DTYPES(INTEGER_ENTRIES) ND4C_FLOAT_DTYPES(FLOAT_ENTRIES)}};
