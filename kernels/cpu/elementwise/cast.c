/* Implements the casts between real dtypes and the selection of unary.h (nd4c_cast_table). Compiled once per level.
 * simd/elementwise.c runs them for cast and where. */
#include <string.h>

#include "kernels/cpu/elementwise/unary.h"
#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/support/wrap.h"
#include "kernels/narrow.h"
#include "kernels/types.h"

extern const nd4c_cast_table ND4C_LEVEL_NAME(nd4c_cast_table);

/* -- one element ---------------------------------------------------------------------------------------------- */

#define ND4C_TEMPLATE "kernels/cpu/elementwise/cast_saturate.h"
#define ND4C_KINDS (ND4C_SIGNED | ND4C_UNSIGNED)
#include "kernels/cpu/support/each_dtype.h"

#define LOOP(from, to, expression)                                  \
  static void from##_to_##to(int64_t n, const void *vx, void *vy) { \
    const nd4c_c_##from *values = vx;                               \
    nd4c_c_##to *y = vy;                                            \
    ND4C_INDEPENDENT                                                \
    for (int64_t i = 0; i < n; i++) {                               \
      nd4c_c_##from x = values[i];                                  \
      y[i] = (expression);                                          \
    }                                                               \
  }

/* -- pairs: X(F, from) over the first, then over the second --------------------------------------------------- */

#define PLAIN_TARGETS(X, from) X(from, int32) OTHER_TARGETS(X, from)
#define OTHER_TARGETS(X, from) X(from, int8) X(from, int64) X(from, uint8) ND4C_CAST_FULL_INTS(X, from)
#ifdef ND4C_DTYPES_LITE
#define ND4C_CAST_FULL_INTS(X, from)
#else
#define ND4C_CAST_FULL_INTS(X, from) X(from, int16) X(from, uint16) X(from, uint32) X(from, uint64)
#endif

#define CONVERT(from, to) LOOP(from, to, (nd4c_c_##to)x)
#define CONVERT_FLOAT(from, to) LOOP(from, to, saturate_##to##_##from(x))

#define FROM_INTEGER(NAME, from, kind) \
  PLAIN_TARGETS(CONVERT, from)         \
  CONVERT(from, float32)               \
  CONVERT(from, float64)               \
  LOOP(from, boolean, x != 0)
ND4C_INT_DTYPES(FROM_INTEGER)
ND4C_UINT_DTYPES(FROM_INTEGER)

#define CONVERT_TRUTH(from, to) LOOP(from, to, (nd4c_c_##to)(x != 0))
PLAIN_TARGETS(CONVERT_TRUTH, boolean)
CONVERT_TRUTH(boolean, float32)
CONVERT_TRUTH(boolean, float64)
CONVERT_TRUTH(boolean, boolean)

#if defined(__AVX512F__)
/* As the plain loop: the instruction gives the lowest number for all that is out of range and for NaN. */
static void float32_to_int32(int64_t n, const void *vx, void *vy) {
  const float *x = vx;
  int32_t *y = vy;
  for (int64_t i = 0; i < n; i += 16) {
    __mmask16 some = (__mmask16)(n - i < 16 ? (1u << (n - i)) - 1 : 0xffff);
    __m512 from = _mm512_maskz_loadu_ps(some, x + i);
    __mmask16 high = _mm512_cmp_ps_mask(from, _mm512_set1_ps(0x1p31f), _CMP_GE_OQ);
    __m512i whole = _mm512_maskz_cvttps_epi32(_mm512_cmp_ps_mask(from, from, _CMP_ORD_Q), from);
    _mm512_mask_storeu_epi32(y + i, some, _mm512_mask_mov_epi32(whole, high, _mm512_set1_epi32(INT32_MAX)));
  }
}
#else
CONVERT_FLOAT(float32, int32)
#endif
CONVERT_FLOAT(float64, int32)

#define FROM_FLOAT(NAME, from, kind) \
  OTHER_TARGETS(CONVERT_FLOAT, from) \
  CONVERT(from, float32)             \
  CONVERT(from, float64)             \
  LOOP(from, boolean, x != 0)
ND4C_WIDE_FLOAT_DTYPES(FROM_FLOAT)

/* Beyond 2^24, what f32 would round away is kept in one bit, far below those that a 16-bit float has. */
static inline float odd_float_of_int32(int32_t x) {
  uint32_t bits = (uint32_t)x, low = bits & 255;
  uint32_t odd = (bits - low) | (low != 0 ? 256 : 0);
  return (float)(int32_t)(bits + 0x1000000 <= 0x2000000 ? bits : odd);
}

/* 16-bit floats go through f32, by which every one of them is exact; the other way only from what f32 holds, and from
 * f64 with one rounding. */
#define ND4C_TEMPLATE "kernels/cpu/elementwise/cast_half.h"
#define ND4C_KINDS ND4C_HALF
#include "kernels/cpu/support/each_dtype.h"

#ifndef ND4C_DTYPES_LITE
/* Of 64-bit integers beyond 2^53 what f64 would round away is kept in one bit, so that f64 holds the rest exactly. */
static inline double odd_double_of_uint64(uint64_t x) {
  const uint64_t low = x & 2047, odd = (x - low) | (uint64_t)(low != 0) << 11;
  return (double)(x < UINT64_C(1) << 53 ? x : odd);
}
static inline double odd_double_of_int64(int64_t x) {
  const uint64_t bits = (uint64_t)x, low = bits & 1023, odd = (bits - low) | (uint64_t)(low != 0) << 10;
  return (double)(int64_t)(bits + (UINT64_C(1) << 53) <= UINT64_C(1) << 54 ? bits : odd);
}

static void float64_to_odd(int64_t n, const void *x, void *y) {
  nd4c_odd_floats(n, x, y);
}

#define WIDE_TO_ODD(from)                                         \
  static void from##_to_odd(int64_t n, const void *vx, void *y) { \
    const nd4c_c_##from *x = vx;                                  \
    double wide[ND4C_HALF_CHUNK]; /* n is at most that */         \
    ND4C_INDEPENDENT                                              \
    for (int64_t i = 0; i < n; i++) {                             \
      wide[i] = odd_double_of_##from(x[i]);                       \
    }                                                             \
    nd4c_odd_floats(n, wide, y);                                  \
  }
WIDE_TO_ODD(int64)
WIDE_TO_ODD(uint64)
#endif

#define HALF_FROM(from, to)                                       \
  static void from##_to_##to(int64_t n, const void *x, void *y) { \
    from_##from(float32_to_##to, sizeof(nd4c_c_##to), n, x, y);   \
  }
#define HALF_TO(from, to)                                         \
  static void from##_to_##to(int64_t n, const void *x, void *y) { \
    to_##to(from##_to_float32, sizeof(nd4c_c_##from), n, x, y);   \
  }
#define HALF_CASTS(NAME, name, kind)                                 \
  PLAIN_TARGETS(HALF_FROM, name)                                     \
  static void name##_to_float32(int64_t n, const void *x, void *y) { \
    nd4c_widen_##name(n, x, y);                                      \
  }                                                                  \
  HALF_FROM(name, float64)                                           \
  HALF_FROM(name, boolean)                                           \
  HALF_TO(boolean, name)                                             \
  HALF_TO(int8, name)                                                \
  HALF_TO(int16, name)                                               \
  HALF_TO(uint8, name)                                               \
  HALF_TO(uint16, name)                                              \
  static void float32_to_##name(int64_t n, const void *x, void *y) { \
    nd4c_narrow_##name(n, x, y);                                     \
  }                                                                  \
  static void float64_to_##name(int64_t n, const void *x, void *y) { \
    to_##name(float64_to_odd, sizeof(double), n, x, y);              \
  }                                                                  \
  static void int64_to_##name(int64_t n, const void *x, void *y) {   \
    to_##name(int64_to_odd, sizeof(int64_t), n, x, y);               \
  }                                                                  \
  static void uint64_to_##name(int64_t n, const void *x, void *y) {  \
    to_##name(uint64_to_odd, sizeof(uint64_t), n, x, y);             \
  }                                                                  \
  LOOP(int32, name, nd4c_##name##_from_float(odd_float_of_int32(x))) \
  LOOP(uint32, name, nd4c_##name##_from_float(nd4c_double_to_odd_float((double)x)))
ND4C_HALF_DTYPES(HALF_CASTS)
#ifndef ND4C_DTYPES_LITE
HALF_TO(float16, bfloat16)
HALF_TO(bfloat16, float16)
#endif

/* float8 from and to the other floats, with the saturation of the op cast; other pairs are the reference's. */
#define FLOAT8_CASTS(NAME, name)                                           \
  LOOP(float32, name, nd4c_##name##_saturate(x))                           \
  LOOP(float64, name, nd4c_##name##_saturate(nd4c_double_to_odd_float(x))) \
  LOOP(float16, name, nd4c_##name##_saturate(nd4c_float16_to_float(x)))    \
  LOOP(bfloat16, name, nd4c_##name##_saturate(nd4c_bfloat16_to_float(x)))  \
  LOOP(name, float32, nd4c_##name##_to_float(x))                           \
  LOOP(name, float64, (double)nd4c_##name##_to_float(x))                   \
  LOOP(name, float16, nd4c_float16_from_float(nd4c_##name##_to_float(x)))  \
  LOOP(name, bfloat16, nd4c_bfloat16_from_float(nd4c_##name##_to_float(x)))
ND4C_FLOAT8_DTYPES(FLOAT8_CASTS)

/* -- selection ------------------------------------------------------------------------------------------------ */

#define ND4C_TEMPLATE "kernels/cpu/elementwise/where.h"
#include "kernels/cpu/support/each_unit.h"

/* -- table ---------------------------------------------------------------------------------------------------- */

#define ENTRY(FROM, from, TO, to) [ND4C_##FROM][ND4C_##TO] = from##_to_##to,
#ifdef ND4C_DTYPES_LITE
#define FULL_ENTRIES(FROM, from)
#define HALF_TARGETS(FROM, from)
#else
#define FULL_ENTRIES(FROM, from)  \
  ENTRY(FROM, from, INT16, int16) \
  ENTRY(FROM, from, UINT16, uint16) ENTRY(FROM, from, UINT32, uint32) ENTRY(FROM, from, UINT64, uint64)
#define HALF_TARGETS(FROM, from) ENTRY(FROM, from, FLOAT16, float16) ENTRY(FROM, from, BFLOAT16, bfloat16)
#endif
#define ENTRIES(FROM, from, kind)  \
  ENTRY(FROM, from, BOOL, boolean) \
  ENTRY(FROM, from, INT8, int8)    \
  ENTRY(FROM, from, INT32, int32)  \
  ENTRY(FROM, from, INT64, int64)  \
  ENTRY(FROM, from, UINT8, uint8)  \
  ENTRY(FROM, from, FLOAT32, float32) ENTRY(FROM, from, FLOAT64, float64) FULL_ENTRIES(FROM, from)

const nd4c_cast_table ND4C_LEVEL_NAME(nd4c_cast_table) = {
    .loops = {ND4C_BOOL_DTYPES(ENTRIES) ND4C_INT_DTYPES(ENTRIES) ND4C_UINT_DTYPES(ENTRIES)
                  ND4C_WIDE_FLOAT_DTYPES(ENTRIES) ND4C_HALF_DTYPES(ENTRIES) HALF_TARGETS(BOOL, boolean)
                      HALF_TARGETS(INT8, int8) HALF_TARGETS(UINT8, uint8) HALF_TARGETS(INT32, int32)
                          HALF_TARGETS(FLOAT32, float32) HALF_TARGETS(FLOAT64, float64)
#ifndef ND4C_DTYPES_LITE
                              HALF_TARGETS(INT16, int16) HALF_TARGETS(UINT16, uint16) HALF_TARGETS(UINT32, uint32)
                                  HALF_TARGETS(INT64, int64) HALF_TARGETS(UINT64, uint64)
                                      ENTRY(FLOAT16, float16, BFLOAT16, bfloat16)
                                          ENTRY(BFLOAT16, bfloat16, FLOAT16, float16)
#endif
#define FLOAT8_ENTRIES(NAME, name)      \
  ENTRY(FLOAT32, float32, NAME, name)   \
  ENTRY(FLOAT64, float64, NAME, name)   \
  ENTRY(FLOAT16, float16, NAME, name)   \
  ENTRY(BFLOAT16, bfloat16, NAME, name) \
  ENTRY(NAME, name, FLOAT32, float32)   \
  ENTRY(NAME, name, FLOAT64, float64)   \
  ENTRY(NAME, name, FLOAT16, float16) ENTRY(NAME, name, BFLOAT16, bfloat16)
                                              ND4C_FLOAT8_DTYPES(FLOAT8_ENTRIES)},
    .where = ND4C_BY_SIZE(where)};
