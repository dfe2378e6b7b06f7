/* Element types. One table, ND4C_DTYPE_TABLE, defines them all: the enum, the names and sizes, which dtypes the tests
 * cover and which a lite build has. */
#ifndef ND4C_DTYPE_H
#define ND4C_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* X(NAME, name, number, build, kind, bits, block elements, block bytes, alignment, NumPy type string). build: LITE rows
 * are in every build; FULL rows are left out of a library configured with ND4C_DTYPES=lite (their numbers stay
 * reserved). Strides count elements. Sub-byte rows have block elements > 1: that many elements share a block, the first
 * in its lowest bits; such arrays are contiguous, and their views consist of whole blocks. */
#define ND4C_DTYPE_TABLE(X)                                               \
  X(BOOL, bool, 1, LITE, BOOL, 8, 1, 1, 1, "|b1")                         \
  X(INT8, int8, 2, LITE, INT, 8, 1, 1, 1, "|i1")                          \
  X(INT16, int16, 3, FULL, INT, 16, 1, 2, 2, "<i2")                       \
  X(INT32, int32, 4, LITE, INT, 32, 1, 4, 4, "<i4")                       \
  X(INT64, int64, 5, LITE, INT, 64, 1, 8, 8, "<i8")                       \
  X(UINT8, uint8, 6, LITE, UINT, 8, 1, 1, 1, "|u1")                       \
  X(UINT16, uint16, 7, FULL, UINT, 16, 1, 2, 2, "<u2")                    \
  X(UINT32, uint32, 8, FULL, UINT, 32, 1, 4, 4, "<u4")                    \
  X(UINT64, uint64, 9, FULL, UINT, 64, 1, 8, 8, "<u8")                    \
  X(FLOAT16, float16, 10, FULL, FLOAT, 16, 1, 2, 2, "<f2")                \
  X(BFLOAT16, bfloat16, 11, FULL, FLOAT, 16, 1, 2, 2, "<V2")              \
  X(FLOAT32, float32, 12, LITE, FLOAT, 32, 1, 4, 4, "<f4")                \
  X(FLOAT64, float64, 13, LITE, FLOAT, 64, 1, 8, 8, "<f8")                \
  X(COMPLEX64, complex64, 14, FULL, COMPLEX, 64, 1, 8, 4, "<c8")          \
  X(COMPLEX128, complex128, 15, FULL, COMPLEX, 128, 1, 16, 8, "<c16")     \
  X(UTF8, utf8, 16, LITE, STRING, 128, 1, 16, 8, "|O")                    \
  X(FLOAT8_E4M3FN, float8_e4m3fn, 17, FULL, FLOAT, 8, 1, 1, 1, "|V1")     \
  X(FLOAT8_E4M3FNUZ, float8_e4m3fnuz, 18, FULL, FLOAT, 8, 1, 1, 1, "|V1") \
  X(FLOAT8_E5M2, float8_e5m2, 19, FULL, FLOAT, 8, 1, 1, 1, "|V1")         \
  X(FLOAT8_E5M2FNUZ, float8_e5m2fnuz, 20, FULL, FLOAT, 8, 1, 1, 1, "|V1") \
  X(FLOAT8_E8M0FNU, float8_e8m0fnu, 21, FULL, FLOAT, 8, 1, 1, 1, "|V1")   \
  X(INT4, int4, 22, FULL, INT, 4, 2, 1, 1, "|V1")                         \
  X(UINT4, uint4, 23, FULL, UINT, 4, 2, 1, 1, "|V1")                      \
  X(INT2, int2, 24, FULL, INT, 2, 4, 1, 1, "|V1")                         \
  X(UINT2, uint2, 25, FULL, UINT, 2, 4, 1, 1, "|V1")                      \
  X(FLOAT4_E2M1FN, float4_e2m1fn, 26, FULL, FLOAT, 4, 2, 1, 1, "|V1")

typedef int32_t nd4c_dtype;

enum nd4c_dtype_id {
  ND4C_DTYPE_NONE = 0,
#define ND4C_DTYPE_ENUM(NAME, name, number, ...) ND4C_##NAME = number,
  ND4C_DTYPE_TABLE(ND4C_DTYPE_ENUM)
#undef ND4C_DTYPE_ENUM
      ND4C_DTYPE_END = 27
};

typedef enum nd4c_dtype_kind {
  ND4C_KIND_NONE = 0,
  ND4C_KIND_BOOL,
  ND4C_KIND_INT,
  ND4C_KIND_UINT,
  ND4C_KIND_FLOAT,
  ND4C_KIND_COMPLEX,
  ND4C_KIND_STRING
} nd4c_dtype_kind;

/* A set of dtypes: bit n stands for the dtype with number n. */
typedef uint64_t nd4c_dtype_set;
#define ND4C_DTYPE_BIT(dtype) (UINT64_C(1) << (dtype))

/* The narrow dtypes are the floats of fewer than 16 bits and the integers of fewer than 8. Ops store, move, cast and
 * quantise their elements, but never compute with them or mix them with other dtypes. The packed dtypes are those with
 * several elements in a byte. */
#define ND4C_DTYPE_NARROW_BIT(NAME, name, number, build, kind, bits, ...) \
  | ((bits) < (ND4C_KIND_##kind == ND4C_KIND_FLOAT ? 16 : 8) ? ND4C_DTYPE_BIT(number) : 0)
#define ND4C_DTYPE_PACKED_BIT(NAME, name, number, build, kind, bits, ...) | ((bits) < 8 ? ND4C_DTYPE_BIT(number) : 0)
#define ND4C_DTYPES_NARROW (UINT64_C(0) ND4C_DTYPE_TABLE(ND4C_DTYPE_NARROW_BIT))
#define ND4C_DTYPES_PACKED (UINT64_C(0) ND4C_DTYPE_TABLE(ND4C_DTYPE_PACKED_BIT))

/* One row of the table at run time. */
typedef struct nd4c_dtype_info {
  const char *name;       /* "float32" */
  const char *numpy_type; /* type string of the .npy format and the array interface */
  nd4c_dtype_kind kind;
  int32_t bits;           /* bits per element */
  int32_t block_elements; /* elements per block; 1 for all dtypes but the packed ones */
  int32_t block_bytes;    /* bytes per block */
  int32_t alignment;      /* bytes */
  bool available;         /* false for rows left out of a lite build */
} nd4c_dtype_info;

/* The row of a dtype, or NULL for a number that is not in the table. Static; any thread. */
ND4C_API const nd4c_dtype_info *nd4c_dtype_get_info(nd4c_dtype dtype);

/* Name of a dtype ("float32"), "?" for an unknown number. Static. */
ND4C_API const char *nd4c_dtype_name(nd4c_dtype dtype);

/* Bytes of one element; 0 for packed dtypes such as int4 (use nd4c_dtype_bytes) and for an unknown number. */
ND4C_API int64_t nd4c_dtype_size(nd4c_dtype dtype);

/* Bytes of `count` consecutive elements, rounded up to whole blocks. 0 for an unknown number and a count below 1. The
 * result must fit 64 bits, as it does for the size of any array. */
ND4C_API int64_t nd4c_dtype_bytes(nd4c_dtype dtype, int64_t count);

/* Looks a dtype up by its name ("float32"; also NumPy's "<f4", "f4" and the short forms "f32", "i64", "bf16"). Narrow
 * dtypes are found by their full name only: "i4" is NumPy's int32, and ml_dtypes writes "V1" for all of them. NAME if
 * no dtype has that name, or if the name is ambiguous ("i8": 8 bits, or NumPy's 8 bytes); the text lists the names.
 * DTYPE if the dtype is left out of this build. */
ND4C_API nd4c_status nd4c_dtype_find(const char *name, nd4c_dtype *dtype);

/* The dtype that two operands share, by the Array API standard's promotion table; bfloat16 with float16 gives float32.
 * Combinations that the standard leaves undefined (int64 with uint64, integer with float) follow NumPy's result_type
 * for arrays. DTYPE if the two do not promote: strings with numbers, narrow dtypes with any other dtype. */
ND4C_API nd4c_status nd4c_dtype_promote(nd4c_dtype a, nd4c_dtype b, nd4c_dtype *result);

/* Whether type promotion can convert `from` to `to`, as the Array API's can_cast. False for unknown dtypes and those
 * left out of this build. */
ND4C_API bool nd4c_dtype_can_cast(nd4c_dtype from, nd4c_dtype to);

/* Limits of a dtype's numbers: the Array API's finfo and iinfo. For a complex dtype, the limits of its real and
 * imaginary parts. */
typedef struct nd4c_dtype_limits {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_dtype_limits) */
  int32_t bits;         /* of one number */
  int64_t integer_min;  /* integers and bool; 0 for floats */
  uint64_t integer_max;
  double min, max; /* lowest and highest finite number; for integers rounded to double */
  double epsilon;  /* distance from 1 to the next larger number; 0 for integers */
  double smallest_normal;
  double smallest_subnormal; /* equal to smallest_normal for dtypes without subnormal numbers */
} nd4c_dtype_limits;

/* Fills *limits. DTYPE for strings and unknown numbers, ARGUMENT for another struct_size. Any thread. */
ND4C_API nd4c_status nd4c_dtype_get_limits(nd4c_dtype dtype, nd4c_dtype_limits *limits);

ND4C_EXTERN_C_END
#endif
