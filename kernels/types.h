/* C types of the dtypes, and 16-bit floats as numbers. Portable C; vector code has separate conversions
 * (kernels/cpu/support/half.h). The kernels of cpu and reference, backends/cpu/cpu.h and src/array include this. */
#ifndef ND4C_KERNELS_TYPES_H
#define ND4C_KERNELS_TYPES_H

#include <complex.h>
#include <stdint.h>
#include <string.h>

#include "nd4c/dtype.h"

/* X(NAME, name, kind) for every numeric or bool dtype of this build; nd4c_c_<name> is its C type (boolean: bool is a
 * macro of stdbool.h and would not survive the pasting). */
#define ND4C_BUILD_LITE(X, NAME, name, kind) X(NAME, name, kind)
#ifdef ND4C_DTYPES_LITE
#define ND4C_BUILD_FULL(X, NAME, name, kind)
#else
#define ND4C_BUILD_FULL(X, NAME, name, kind) X(NAME, name, kind)
#endif

#define ND4C_BOOL_DTYPES(X) ND4C_BUILD_LITE(X, BOOL, boolean, BOOL)
#define ND4C_INT_DTYPES(X)              \
  ND4C_BUILD_LITE(X, INT8, int8, INT)   \
  ND4C_BUILD_FULL(X, INT16, int16, INT) \
  ND4C_BUILD_LITE(X, INT32, int32, INT) \
  ND4C_BUILD_LITE(X, INT64, int64, INT)
#define ND4C_UINT_DTYPES(X)                \
  ND4C_BUILD_LITE(X, UINT8, uint8, UINT)   \
  ND4C_BUILD_FULL(X, UINT16, uint16, UINT) \
  ND4C_BUILD_FULL(X, UINT32, uint32, UINT) \
  ND4C_BUILD_FULL(X, UINT64, uint64, UINT)
#define ND4C_HALF_DTYPES(X)                   \
  ND4C_BUILD_FULL(X, FLOAT16, float16, FLOAT) \
  ND4C_BUILD_FULL(X, BFLOAT16, bfloat16, FLOAT)
#define ND4C_WIDE_FLOAT_DTYPES(X)             \
  ND4C_BUILD_LITE(X, FLOAT32, float32, FLOAT) \
  ND4C_BUILD_LITE(X, FLOAT64, float64, FLOAT)
#define ND4C_COMPLEX_DTYPES(X)                      \
  ND4C_BUILD_FULL(X, COMPLEX64, complex64, COMPLEX) \
  ND4C_BUILD_FULL(X, COMPLEX128, complex128, COMPLEX)
#define ND4C_WHOLE_DTYPES(X) ND4C_BOOL_DTYPES(X) ND4C_INT_DTYPES(X) ND4C_UINT_DTYPES(X)
#define ND4C_FLOAT_DTYPES(X) ND4C_HALF_DTYPES(X) ND4C_WIDE_FLOAT_DTYPES(X)
#define ND4C_REAL_DTYPES(X) ND4C_WHOLE_DTYPES(X) ND4C_FLOAT_DTYPES(X)
#define ND4C_NUMBER_DTYPES(X) ND4C_REAL_DTYPES(X) ND4C_COMPLEX_DTYPES(X)

typedef uint8_t nd4c_c_boolean; /* 0 or 1; read as != 0, for memory may be foreign */
typedef int8_t nd4c_c_int8;
typedef int16_t nd4c_c_int16;
typedef int32_t nd4c_c_int32;
typedef int64_t nd4c_c_int64;
typedef uint8_t nd4c_c_uint8;
typedef uint16_t nd4c_c_uint16;
typedef uint32_t nd4c_c_uint32;
typedef uint64_t nd4c_c_uint64;
typedef uint16_t nd4c_c_float16;
typedef uint16_t nd4c_c_bfloat16;
typedef float nd4c_c_float32;
typedef double nd4c_c_float64;
typedef float complex nd4c_c_complex64;
typedef double complex nd4c_c_complex128;

static inline uint32_t nd4c_float_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float nd4c_float_from_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline float nd4c_bfloat16_to_float(uint16_t h) {
  return nd4c_float_from_bits((uint32_t)h << 16);
}

/* Rounds to nearest even; NaN stays a quiet NaN. Without branches, so that loops over it vectorise. */
static inline uint16_t nd4c_bfloat16_from_float(float x) {
  uint32_t bits = nd4c_float_bits(x);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  uint32_t nan = (bits >> 16) | 0x40;
  return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

static inline float nd4c_float16_to_float(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16;
  uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13;
  if (magnitude >= 0x0f800000) { /* infinity or NaN */
    return nd4c_float_from_bits(sign | magnitude | 0x7f800000);
  }
  /* Scaling by 2^112 rebiases the exponent and makes subnormals normal, exactly. */
  return nd4c_float_from_bits(sign | nd4c_float_bits(nd4c_float_from_bits(magnitude) * 0x1p112f));
}

/* Rounds to nearest even; NaN stays a quiet NaN. */
static inline uint16_t nd4c_float16_from_float(float x) {
  uint32_t bits = nd4c_float_bits(x);
  uint32_t sign = (bits >> 16) & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) {
    return (uint16_t)(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
  }
  if (magnitude >= 0x477ff000) { /* rounds past the largest finite number */
    return (uint16_t)(sign | 0x7c00);
  }
  if (magnitude < 0x38800000) { /* subnormal: the adder of f32 does the rounding */
    float rounded = nd4c_float_from_bits(magnitude) + 0.5f;
    return (uint16_t)(sign | (nd4c_float_bits(rounded) - 0x3f000000));
  }
  uint32_t rounded = magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1);
  return (uint16_t)(sign | (rounded >> 13));
}

/* double to float rounded to odd: a second rounding to 16 bits then gives what one rounding would have given. */
static inline float nd4c_double_to_odd_float(double x) {
  float near = (float)x;
  if ((double)near == x || x != x) {
    return near;
  }
  uint32_t bits = nd4c_float_bits(near);
  double magnitude = x < 0 ? -x : x;
  if ((double)nd4c_float_from_bits(bits & 0x7fffffff) > magnitude) {
    bits--;
  }
  return nd4c_float_from_bits(bits | 1);
}

#endif
