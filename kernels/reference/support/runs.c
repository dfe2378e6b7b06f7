#include "kernels/reference/support/runs.h"

#include "kernels/types.h"

#define TO_DOUBLE_boolean(x) ((x) != 0)
#define TO_DOUBLE_int8(x) (x)
#define TO_DOUBLE_int16(x) (x)
#define TO_DOUBLE_int32(x) (x)
#define TO_DOUBLE_int64(x) (x)
#define TO_DOUBLE_uint8(x) (x)
#define TO_DOUBLE_uint16(x) (x)
#define TO_DOUBLE_uint32(x) (x)
#define TO_DOUBLE_uint64(x) (x)
#define TO_DOUBLE_float16(x) nd4c_float16_to_float(x)
#define TO_DOUBLE_bfloat16(x) nd4c_bfloat16_to_float(x)
#define TO_DOUBLE_float32(x) (x)
#define TO_DOUBLE_float64(x) (x)
#define FROM_DOUBLE_float16(x) nd4c_float16_from_float(nd4c_double_to_odd_float(x))
#define FROM_DOUBLE_bfloat16(x) nd4c_bfloat16_from_float(nd4c_double_to_odd_float(x))
#define FROM_DOUBLE_float32(x) ((float)(x))
#define FROM_DOUBLE_float64(x) (x)

/* Memory from outside need not be aligned: every access is a memcpy. */
#define LOAD(type, variable, index) \
  type variable;                    \
  memcpy(&variable, data + (index) * (int64_t)sizeof variable, sizeof variable)

#define READ_DOUBLES(NAME, name, kind)            \
  case ND4C_##NAME:                               \
    for (int64_t i = 0; i < count; i++) {         \
      LOAD(nd4c_c_##name, x, start + i * stride); \
      to[i] = (double)TO_DOUBLE_##name(x);        \
    }                                             \
    break;
#define READ_PAIRS(NAME, name, kind)                    \
  case ND4C_##NAME:                                     \
    for (int64_t i = 0; i < count; i++) {               \
      LOAD(nd4c_c_##name, x, start + i * stride);       \
      to[2 * i] = (double)creal((double complex)x);     \
      to[2 * i + 1] = (double)cimag((double complex)x); \
    }                                                   \
    break;

void nd4c_ref_read_doubles(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count,
                           double *to) {
  switch (dtype) {
    ND4C_BOOL_DTYPES(READ_DOUBLES)
    ND4C_INT_DTYPES(READ_DOUBLES)
    ND4C_UINT_DTYPES(READ_DOUBLES)
    ND4C_HALF_DTYPES(READ_DOUBLES)
    ND4C_WIDE_FLOAT_DTYPES(READ_DOUBLES)
    ND4C_COMPLEX_DTYPES(READ_PAIRS)
    default:
      break;
  }
}

#define READ_WORDS(NAME, name, kind)              \
  case ND4C_##NAME:                               \
    for (int64_t i = 0; i < count; i++) {         \
      LOAD(nd4c_c_##name, x, start + i * stride); \
      to[i] = (uint64_t)TO_DOUBLE_##name(x);      \
    }                                             \
    break;

void nd4c_ref_read_words(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count,
                         uint64_t *to) {
  switch (dtype) {
    ND4C_BOOL_DTYPES(READ_WORDS)
    ND4C_INT_DTYPES(READ_WORDS)
    ND4C_UINT_DTYPES(READ_WORDS)
    default:
      break;
  }
}

#define STORE(variable, index) memcpy(data + (index) * (int64_t)sizeof variable, &variable, sizeof variable)

#define WRITE_DOUBLES(NAME, name, kind)              \
  case ND4C_##NAME:                                  \
    for (int64_t i = 0; i < count; i++) {            \
      nd4c_c_##name x = FROM_DOUBLE_##name(from[i]); \
      STORE(x, start + i * stride);                  \
    }                                                \
    break;
#define WRITE_PAIRS(NAME, name, kind)                                                   \
  case ND4C_##NAME:                                                                     \
    for (int64_t i = 0; i < count; i++) {                                               \
      nd4c_c_##name x = (nd4c_c_##name)nd4c_complex_make(from[2 * i], from[2 * i + 1]); \
      STORE(x, start + i * stride);                                                     \
    }                                                                                   \
    break;

void nd4c_ref_write_doubles(nd4c_dtype dtype, char *data, int64_t start, int64_t stride, int64_t count,
                            const double *from) {
  switch (dtype) {
    ND4C_HALF_DTYPES(WRITE_DOUBLES)
    ND4C_WIDE_FLOAT_DTYPES(WRITE_DOUBLES)
    ND4C_COMPLEX_DTYPES(WRITE_PAIRS)
    default:
      break;
  }
}

#define WRITE_WORDS(NAME, name, kind)           \
  case ND4C_##NAME:                             \
    for (int64_t i = 0; i < count; i++) {       \
      nd4c_c_##name x = (nd4c_c_##name)from[i]; \
      STORE(x, start + i * stride);             \
    }                                           \
    break;

void nd4c_ref_write_words(nd4c_dtype dtype, char *data, int64_t start, int64_t stride, int64_t count,
                          const uint64_t *from) {
  switch (dtype) {
    ND4C_BOOL_DTYPES(WRITE_WORDS)
    ND4C_INT_DTYPES(WRITE_WORDS)
    ND4C_UINT_DTYPES(WRITE_WORDS)
    default:
      break;
  }
}

#define RAW_SIZES(X) X(1) X(2) X(4) X(8) X(16)

void nd4c_ref_read_raw(int64_t bytes, const char *data, int64_t start, int64_t stride, int64_t count, void *to) {
  char *row = to;
  switch (bytes) {
#define READ_RAW(size)                                                                \
  case size:                                                                          \
    for (int64_t i = 0; i < count; i++) {                                             \
      memcpy(row + i * (size), data + (start + i * stride) * (size), (size_t)(size)); \
    }                                                                                 \
    break;
    RAW_SIZES(READ_RAW)
    default:
      break;
  }
}

void nd4c_ref_write_raw(int64_t bytes, char *data, int64_t start, int64_t stride, int64_t count, const void *from) {
  const char *row = from;
  switch (bytes) {
#define WRITE_RAW(size)                                                               \
  case size:                                                                          \
    for (int64_t i = 0; i < count; i++) {                                             \
      memcpy(data + (start + i * stride) * (size), row + i * (size), (size_t)(size)); \
    }                                                                                 \
    break;
    RAW_SIZES(WRITE_RAW)
    default:
      break;
  }
}

void nd4c_ref_permute_raw(int64_t bytes, const char *data, int64_t start, int64_t stride, const int64_t *order,
                          int64_t count, char *to, int64_t to_start, int64_t to_stride) {
  switch (bytes) {
#define PERMUTE_RAW(size)                                                                                            \
  case size:                                                                                                         \
    for (int64_t i = 0; i < count; i++) {                                                                            \
      memcpy(to + (to_start + i * to_stride) * (size), data + (start + order[i] * stride) * (size), (size_t)(size)); \
    }                                                                                                                \
    break;
    RAW_SIZES(PERMUTE_RAW)
    default:
      break;
  }
}
