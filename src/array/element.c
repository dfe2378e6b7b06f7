/* Implements element.h: one case for each dtype. device/access calls it for nd4c_array_item and nd4c_array_full,
 * dispatch/text/cast.c to parse numbers. */
#include "array/element.h"

#include <stdint.h>
#include <string.h>

#include "array/half.h"
#include "array/narrow.h"

/* The largest doubles below 2^63 and 2^64: a saturating conversion may cast up to these. */
#define INT64_LIMIT 9223372036854774784.0
#define UINT64_LIMIT 18446744073709549568.0

static int64_t to_signed(double value, int64_t low, int64_t high) {
  if (!(value == value)) {
    return 0;
  }
  if (value <= (double)low) {
    return low;
  }
  return value >= (double)high || value > INT64_LIMIT ? high : (int64_t)value;
}

static uint64_t to_unsigned(double value, uint64_t high) {
  if (!(value > 0.0)) {
    return 0;
  }
  return value >= (double)high || value > UINT64_LIMIT ? high : (uint64_t)value;
}

#define STORE(type, expression)                \
  do {                                         \
    type stored_ = (type)(expression);         \
    memcpy(element, &stored_, sizeof stored_); \
  } while (0)

void nd4c_element_from_double(nd4c_dtype dtype, double value, void *element) {
  switch (dtype) {
    case ND4C_BOOL:
      STORE(uint8_t, value != 0.0);
      break;
    case ND4C_INT8:
      STORE(int8_t, to_signed(value, INT8_MIN, INT8_MAX));
      break;
    case ND4C_INT16:
      STORE(int16_t, to_signed(value, INT16_MIN, INT16_MAX));
      break;
    case ND4C_INT32:
      STORE(int32_t, to_signed(value, INT32_MIN, INT32_MAX));
      break;
    case ND4C_INT64:
      STORE(int64_t, to_signed(value, INT64_MIN, INT64_MAX));
      break;
    case ND4C_UINT8:
      STORE(uint8_t, to_unsigned(value, UINT8_MAX));
      break;
    case ND4C_UINT16:
      STORE(uint16_t, to_unsigned(value, UINT16_MAX));
      break;
    case ND4C_UINT32:
      STORE(uint32_t, to_unsigned(value, UINT32_MAX));
      break;
    case ND4C_UINT64:
      STORE(uint64_t, to_unsigned(value, UINT64_MAX));
      break;
    case ND4C_FLOAT16:
      STORE(uint16_t, nd4c_float16_from_double(value));
      break;
    case ND4C_BFLOAT16:
      STORE(uint16_t, nd4c_bfloat16_from_double(value));
      break;
    case ND4C_FLOAT32:
      STORE(float, value);
      break;
    case ND4C_FLOAT64:
      STORE(double, value);
      break;
    case ND4C_COMPLEX64: {
      float parts[2] = {(float)value, 0.0F};
      memcpy(element, parts, sizeof parts);
      break;
    }
    case ND4C_COMPLEX128: {
      double parts[2] = {value, 0.0};
      memcpy(element, parts, sizeof parts);
      break;
    }
    default:
      if (nd4c_dtype_is_narrow(dtype)) {
        STORE(uint8_t, nd4c_narrow_from_double(dtype, value));
      }
      break;
  }
}

#define LOAD(type, convert)                    \
  do {                                         \
    type loaded_;                              \
    memcpy(&loaded_, element, sizeof loaded_); \
    return (double)convert(loaded_);           \
  } while (0)

double nd4c_element_to_double(nd4c_dtype dtype, const void *element) {
  switch (dtype) {
    case ND4C_BOOL:
    case ND4C_UINT8:
      LOAD(uint8_t, );
    case ND4C_INT8:
      LOAD(int8_t, );
    case ND4C_INT16:
      LOAD(int16_t, );
    case ND4C_INT32:
      LOAD(int32_t, );
    case ND4C_INT64:
      LOAD(int64_t, );
    case ND4C_UINT16:
      LOAD(uint16_t, );
    case ND4C_UINT32:
      LOAD(uint32_t, );
    case ND4C_UINT64:
      LOAD(uint64_t, );
    case ND4C_FLOAT16:
      LOAD(uint16_t, nd4c_float16_to_float);
    case ND4C_BFLOAT16:
      LOAD(uint16_t, nd4c_bfloat16_to_float);
    case ND4C_FLOAT32:
    case ND4C_COMPLEX64:
      LOAD(float, );
    case ND4C_FLOAT64:
    case ND4C_COMPLEX128:
      LOAD(double, );
    default:
      return nd4c_dtype_is_narrow(dtype) ? nd4c_narrow_to_double(dtype, *(const uint8_t *)element) : 0.0;
  }
}

void nd4c_element_set(nd4c_dtype dtype, void *elements, int64_t index, double value) {
  if (nd4c_dtype_is_packed(dtype)) {
    nd4c_narrow_set(dtype, elements, index, nd4c_narrow_from_double(dtype, value));
  } else {
    nd4c_element_from_double(dtype, value, (char *)elements + index * nd4c_dtype_size(dtype));
  }
}

double nd4c_element_get(nd4c_dtype dtype, const void *elements, int64_t index) {
  if (nd4c_dtype_is_packed(dtype)) {
    return nd4c_narrow_to_double(dtype, nd4c_narrow_get(dtype, elements, index));
  }
  return nd4c_element_to_double(dtype, (const char *)elements + index * nd4c_dtype_size(dtype));
}
