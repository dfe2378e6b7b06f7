/* Narrow elements (float8, float4, int4, int2) to numbers and back. Loops over these functions vectorise where the
 * format is a constant. Called by kernels/cpu/elementwise/cast.c, the reference (support/value.c, quantization) and the
 * engines of the cpu backend. */
#ifndef ND4C_KERNELS_NARROW_H
#define ND4C_KERNELS_NARROW_H

#include <math.h>
#include <stdbool.h>

#include "kernels/types.h"

/* X(NAME, name) and formats of floats with a sign: X(NAME, name, fraction bits, bias, largest code, code of NaN without
 * a sign, whether the NaN is the only code of its kind (fnuz), bit of the sign). */
#ifdef ND4C_DTYPES_LITE
#define ND4C_SIGNED_FLOAT8_DTYPES(X)
#define ND4C_FLOAT8_DTYPES(X)
#define ND4C_PACKED_DTYPES(X)
#else
#define ND4C_SIGNED_FLOAT8_DTYPES(X)                                \
  X(FLOAT8_E4M3FN, float8_e4m3fn, 3, 7, 0x7e, 0x7f, false, 0x80)    \
  X(FLOAT8_E4M3FNUZ, float8_e4m3fnuz, 3, 8, 0x7f, 0x80, true, 0x80) \
  X(FLOAT8_E5M2, float8_e5m2, 2, 15, 0x7b, 0x7e, false, 0x80)       \
  X(FLOAT8_E5M2FNUZ, float8_e5m2fnuz, 2, 16, 0x7f, 0x80, true, 0x80)
#define ND4C_FLOAT8_DTYPES(X)         \
  X(FLOAT8_E4M3FN, float8_e4m3fn)     \
  X(FLOAT8_E4M3FNUZ, float8_e4m3fnuz) \
  X(FLOAT8_E5M2, float8_e5m2)         \
  X(FLOAT8_E5M2FNUZ, float8_e5m2fnuz) \
  X(FLOAT8_E8M0FNU, float8_e8m0fnu)
#define ND4C_PACKED_DTYPES(X) \
  X(INT4, int4)               \
  X(UINT4, uint4)             \
  X(INT2, int2)               \
  X(UINT2, uint2)             \
  X(FLOAT4_E2M1FN, float4_e2m1fn)
#endif

typedef uint8_t nd4c_c_float8_e4m3fn;
typedef uint8_t nd4c_c_float8_e4m3fnuz;
typedef uint8_t nd4c_c_float8_e5m2;
typedef uint8_t nd4c_c_float8_e5m2fnuz;
typedef uint8_t nd4c_c_float8_e8m0fnu;

/* What becomes of a number beyond the largest: SATURATE takes the largest, infinities too; otherwise infinity where the
 * format has one, else NaN. How e8m0, whose neighbours are powers of two, rounds: NEAREST has its ties go up. */
typedef enum nd4c_narrow_rounding { ND4C_NARROW_NEAREST, ND4C_NARROW_UP, ND4C_NARROW_DOWN } nd4c_narrow_rounding;

/* A float of 8 bits as float, exactly. Codes are scaled as float16 is; NaN keeps its sign and its fraction's bits. */
static inline float nd4c_float8_decode(uint8_t code, int fraction, int bias, uint32_t largest, bool fnuz) {
  uint32_t sign = (uint32_t)(code & 0x80) << 24, rest = code & 0x7f;
  float scale = nd4c_float_from_bits((uint32_t)(254 - bias) << 23);
  float magnitude = nd4c_float_from_bits(rest << (23 - fraction)) * scale;
  uint32_t bits = sign | nd4c_float_bits(magnitude);
  uint32_t above = rest == largest + 1 && largest == 0x7b ? 0x7f800000 : 0x7f800000 | rest << (23 - fraction);
  bits = rest > largest ? sign | above : bits;
  bits = fnuz && code == 0x80 ? 0x7fc00000 : bits;
  return nd4c_float_from_bits(bits);
}

/* Rounds to nearest even, once. */
static inline uint8_t nd4c_float8_encode(float x, int fraction, int bias, uint32_t largest, uint32_t nan, bool fnuz,
                                         bool saturate) {
  uint32_t bits = nd4c_float_bits(x), magnitude = bits & 0x7fffffff, sign = bits >> 24 & 0x80;
  /* Below the smallest normal number the adder of f32 rounds to multiples of the smallest of all. */
  uint32_t adder = (uint32_t)(127 + 24 - bias - fraction) << 23;
  uint32_t small = nd4c_float_bits(nd4c_float_from_bits(magnitude) + nd4c_float_from_bits(adder)) - adder;
  int shift = 23 - fraction;
  uint32_t odd = magnitude >> shift & 1;
  uint32_t large = (magnitude - ((uint32_t)(127 - bias) << 23) + ((1u << (shift - 1)) - 1) + odd) >> shift;
  uint32_t code = magnitude < (uint32_t)(128 - bias) << 23 ? small : large;
  /* e5m2 has infinity behind its largest; the others have NaN. */
  uint32_t beyond = saturate ? largest : largest == 0x7b ? 0x7c : nan;
  code = code > largest ? beyond : code;
  uint32_t kept = largest == 0x7b ? 0x7c | (magnitude >> shift & 3) : nan;
  code = magnitude > 0x7f800000 ? (kept == 0x7c ? nan : kept) : code;
  return (uint8_t)(fnuz && code == 0 ? 0 : code | sign);
}

#define ND4C_FLOAT8_FUNCTIONS(NAME, name, fraction, bias, largest, nan, fnuz, sign) \
  static inline float nd4c_##name##_to_float(uint8_t code) {                        \
    return nd4c_float8_decode(code, fraction, bias, largest, fnuz);                 \
  }                                                                                 \
  static inline uint8_t nd4c_##name##_from_float(float x) {                         \
    return nd4c_float8_encode(x, fraction, bias, largest, nan, fnuz, false);        \
  }                                                                                 \
  static inline uint8_t nd4c_##name##_saturate(float x) {                           \
    return nd4c_float8_encode(x, fraction, bias, largest, nan, fnuz, true);         \
  }
ND4C_SIGNED_FLOAT8_DTYPES(ND4C_FLOAT8_FUNCTIONS)
#undef ND4C_FLOAT8_FUNCTIONS

/* 2^(code - 127); 0xff is NaN. The smallest is subnormal as float. */
static inline float nd4c_float8_e8m0fnu_to_float(uint8_t code) {
  uint32_t bits = code == 0xff ? 0x7fc00000 : code == 0 ? 0x00400000 : (uint32_t)code << 23;
  return nd4c_float_from_bits(bits);
}

/* From double: f32 would lose what decides. Below the smallest counts as beyond, zero too; what is negative as NaN. */
static inline uint8_t nd4c_float8_e8m0fnu_encode(double x, nd4c_narrow_rounding rounding, bool saturate) {
  int exponent;
  if (!(x >= 0)) {
    return 0xff;
  }
  if (x > 0x1p127 && !saturate && (rounding == ND4C_NARROW_UP || (rounding == ND4C_NARROW_NEAREST && x >= 0x1.8p127))) {
    return 0xff;
  }
  if (x >= 0x1p127) {
    return isinf(x) && !saturate ? 0xff : 0xfe;
  }
  if (x < 0x1p-127) {
    return saturate || (rounding == ND4C_NARROW_UP && x > 0) || (rounding == ND4C_NARROW_NEAREST && x >= 0x1.8p-128)
               ? 0
               : 0xff;
  }
  double half = frexp(x, &exponent); /* 1/2 .. 1 */
  bool up = rounding == ND4C_NARROW_UP ? half > 0.5 : rounding == ND4C_NARROW_NEAREST && half >= 0.75;
  return (uint8_t)(exponent + 126 + up);
}

static inline uint8_t nd4c_float8_e8m0fnu_from_float(float x) {
  return nd4c_float8_e8m0fnu_encode((double)x, ND4C_NARROW_NEAREST, false);
}
static inline uint8_t nd4c_float8_e8m0fnu_saturate(float x) {
  return nd4c_float8_e8m0fnu_encode((double)x, ND4C_NARROW_NEAREST, true);
}

static inline float nd4c_float4_e2m1fn_to_float(uint8_t code) {
  static const float numbers[16] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6, -0.0F, -0.5F, -1, -1.5F, -2, -3, -4, -6};
  return numbers[code & 0xf];
}

/* Saturates, for there is nothing beyond 6; NaN becomes -0, as in ml_dtypes. */
static inline uint8_t nd4c_float4_e2m1fn_from_float(float x) {
  float magnitude = fabsf(x);
  int code = (magnitude > 0.25F) + (magnitude >= 0.75F) + (magnitude > 1.25F) + (magnitude >= 1.75F) +
             (magnitude > 2.5F) + (magnitude >= 3.5F) + (magnitude > 5);
  return (uint8_t)(x != x ? 8 : code | (nd4c_float_bits(x) >> 28 & 8));
}

/* Whether a dtype has several elements in a byte, and its bits. */
static inline int nd4c_packed_bits(nd4c_dtype dtype) {
  switch (dtype) {
    case ND4C_INT4:
    case ND4C_UINT4:
    case ND4C_FLOAT4_E2M1FN:
      return 4;
    case ND4C_INT2:
    case ND4C_UINT2:
      return 2;
    default:
      return 0;
  }
}

/* Code of element `index` of packed memory of `bits` bits an element, the first in the lowest bits. */
static inline uint8_t nd4c_packed_get(const void *data, int64_t index, int bits) {
  int each = 8 / bits;
  return (uint8_t)(((const uint8_t *)data)[index / each] >> (index % each * bits) & ((1 << bits) - 1));
}

static inline void nd4c_packed_set(void *data, int64_t index, int bits, uint8_t code) {
  int each = 8 / bits, shift = (int)(index % each) * bits, mask = (1 << bits) - 1;
  uint8_t *byte = (uint8_t *)data + index / each;
  *byte = (uint8_t)((*byte & ~(mask << shift)) | (code & mask) << shift);
}

/* A two's complement number of `bits` bits. */
static inline int nd4c_packed_signed(uint8_t code, int bits) {
  int half = 1 << (bits - 1);
  return (code ^ half) - half;
}

#endif
