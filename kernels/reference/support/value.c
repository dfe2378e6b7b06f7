/* Elements of every dtype as values (value.h). The map of element-wise ops and most other reference kernels call
 * these. */
#include "kernels/reference/support/value.h"

#include "kernels/narrow.h"
#include "kernels/reference/support/element.h"

/* -- narrow elements: codes ------------------------------------------------------------------------------------- */

#ifdef ND4C_DTYPES_LITE
#define NARROW_BUILD 0
#else
#define NARROW_BUILD 1
#endif

static nd4c_dtype_kind narrow_kind(nd4c_dtype dtype) {
  switch (dtype) {
#define CASE(NAME, name) case ND4C_##NAME:
    ND4C_FLOAT8_DTYPES(CASE)
#undef CASE
    case ND4C_FLOAT4_E2M1FN:
      return NARROW_BUILD ? ND4C_KIND_FLOAT : ND4C_KIND_NONE;
    case ND4C_INT4:
    case ND4C_INT2:
      return NARROW_BUILD ? ND4C_KIND_INT : ND4C_KIND_NONE;
    case ND4C_UINT4:
    case ND4C_UINT2:
      return NARROW_BUILD ? ND4C_KIND_UINT : ND4C_KIND_NONE;
    default:
      return ND4C_KIND_NONE;
  }
}

static uint8_t load_code(nd4c_dtype dtype, const char *data, int64_t index) {
  int bits = nd4c_packed_bits(dtype);
  return bits != 0 ? nd4c_packed_get(data, index, bits) : (uint8_t)data[index];
}

static void store_code(nd4c_dtype dtype, char *data, int64_t index, uint8_t code) {
  int bits = nd4c_packed_bits(dtype);
  if (bits != 0) {
    nd4c_packed_set(data, index, bits, code);
  } else {
    data[index] = (char)code;
  }
}

static float narrow_number(nd4c_dtype dtype, uint8_t code) {
  switch (dtype) {
#define CASE(NAME, name) \
  case ND4C_##NAME:      \
    return nd4c_##name##_to_float(code);
    ND4C_FLOAT8_DTYPES(CASE)
#undef CASE
    default:
      return nd4c_float4_e2m1fn_to_float(code);
  }
}

static nd4c_value load_narrow(nd4c_dtype dtype, const char *data, int64_t index) {
  uint8_t code = load_code(dtype, data, index);
  nd4c_value value = {.u = code};
  if (narrow_kind(dtype) == ND4C_KIND_FLOAT) {
    value.f = (double)narrow_number(dtype, code);
  } else if (narrow_kind(dtype) == ND4C_KIND_INT) {
    value.i = nd4c_packed_signed(code, nd4c_packed_bits(dtype));
  }
  return value;
}

static uint8_t narrow_code(nd4c_dtype dtype, double x) {
  switch (dtype) {
    case ND4C_FLOAT8_E8M0FNU:
      return nd4c_float8_e8m0fnu_encode(x, ND4C_NARROW_NEAREST, false);
#define CASE(NAME, name, ...) \
  case ND4C_##NAME:           \
    return nd4c_##name##_from_float(nd4c_double_to_odd_float(x));
      ND4C_SIGNED_FLOAT8_DTYPES(CASE)
#undef CASE
    default:
      return nd4c_float4_e2m1fn_from_float(nd4c_double_to_odd_float(x));
  }
}

static void store_narrow(nd4c_dtype dtype, char *data, int64_t index, nd4c_value value) {
  bool real = narrow_kind(dtype) == ND4C_KIND_FLOAT;
  store_code(dtype, data, index, real ? narrow_code(dtype, value.f) : (uint8_t)value.u);
}

/* The largest finite number, for saturation. */
static double narrow_largest(nd4c_dtype dtype) {
  switch (dtype) {
#define CASE(NAME, name, fraction, bias, largest, ...) \
  case ND4C_##NAME:                                    \
    return (double)nd4c_##name##_to_float(largest);
    ND4C_SIGNED_FLOAT8_DTYPES(CASE)
#undef CASE
    case ND4C_FLOAT8_E8M0FNU:
      return 0x1p127;
    default:
      return 6;
  }
}

/* Infinities saturate too; e8m0 has a smallest number, and nothing negative to saturate to. */
static double narrow_saturated(nd4c_dtype dtype, double x) {
  double largest = narrow_largest(dtype);
  if (dtype == ND4C_FLOAT8_E8M0FNU && x >= 0) {
    return x < 0x1p-127 ? 0x1p-127 : x > largest ? largest : x;
  }
  return x > largest ? largest : x < -largest ? -largest : x;
}

/* -- elements --------------------------------------------------------------------------------------------------- */

nd4c_dtype_kind nd4c_reference_kind(nd4c_dtype dtype) {
  switch (dtype) {
#define CASE(NAME, name, kind) \
  case ND4C_##NAME:            \
    return ND4C_KIND_##kind;
    ND4C_NUMBER_DTYPES(CASE)
#undef CASE
    default:
      return narrow_kind(dtype);
  }
}

int64_t nd4c_reference_bytes(nd4c_dtype dtype) {
  switch (dtype) {
#define CASE(NAME, name, kind) \
  case ND4C_##NAME:            \
    return (int64_t)sizeof(nd4c_c_##name);
    ND4C_NUMBER_DTYPES(CASE)
#undef CASE
    default:
      return narrow_kind(dtype) != ND4C_KIND_NONE && nd4c_packed_bits(dtype) == 0;
  }
}

/* memcpy: memory from outside need not be aligned. */
nd4c_value nd4c_value_load(nd4c_dtype dtype, const char *data, int64_t index) {
  nd4c_value value = {.u = 0};
  switch (dtype) {
#define CASE(NAME, name, kind)                                   \
  case ND4C_##NAME: {                                            \
    nd4c_c_##name x;                                             \
    memcpy(&x, data + index * (int64_t)sizeof x, sizeof x);      \
    value.ND4C_REF_FIELD_##kind = ND4C_REF_READ_##kind(name, x); \
    break;                                                       \
  }
    ND4C_NUMBER_DTYPES(CASE)
#undef CASE
    default:
      if (narrow_kind(dtype) != ND4C_KIND_NONE) {
        return load_narrow(dtype, data, index);
      }
      break;
  }
  return value;
}

void nd4c_value_store(nd4c_dtype dtype, char *data, int64_t index, nd4c_value value) {
  switch (dtype) {
#define CASE(NAME, name, kind)                                                  \
  case ND4C_##NAME: {                                                           \
    nd4c_c_##name x = ND4C_REF_WRITE_##kind(name, value.ND4C_REF_FIELD_##kind); \
    memcpy(data + index * (int64_t)sizeof x, &x, sizeof x);                     \
    break;                                                                      \
  }
    ND4C_NUMBER_DTYPES(CASE)
#undef CASE
    default:
      if (narrow_kind(dtype) != ND4C_KIND_NONE) {
        store_narrow(dtype, data, index, value);
      }
      break;
  }
}

void nd4c_values_load(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count,
                      nd4c_value *values) {
  switch (dtype) {
#define CASE(NAME, name, kind) \
  ND4C_REF_LOAD_RUN(NAME, name, values[i].ND4C_REF_FIELD_##kind = ND4C_REF_READ_##kind(name, x))
    ND4C_NUMBER_DTYPES(CASE)
#undef CASE
    default:
      for (int64_t i = 0; i < count && narrow_kind(dtype) != ND4C_KIND_NONE; i++) {
        values[i] = load_narrow(dtype, data, start + i * stride);
      }
  }
}

void nd4c_values_store(nd4c_dtype dtype, char *data, int64_t start, int64_t stride, int64_t count,
                       const nd4c_value *values) {
  switch (dtype) {
#define CASE(NAME, name, kind) \
  ND4C_REF_STORE_RUN(NAME, name, ND4C_REF_WRITE_##kind(name, values[i].ND4C_REF_FIELD_##kind))
    ND4C_NUMBER_DTYPES(CASE)
#undef CASE
    default:
      for (int64_t i = 0; i < count && narrow_kind(dtype) != ND4C_KIND_NONE; i++) {
        store_narrow(dtype, data, start + i * stride, values[i]);
      }
  }
}

void nd4c_value_move(nd4c_dtype dtype, const char *from, int64_t from_index, char *to, int64_t to_index) {
  if (narrow_kind(dtype) != ND4C_KIND_NONE) {
    store_code(dtype, to, to_index, load_code(dtype, from, from_index));
  } else {
    nd4c_value_store(dtype, to, to_index, nd4c_value_load(dtype, from, from_index));
  }
}

double nd4c_value_as_double(nd4c_dtype_kind kind, nd4c_value value) {
  switch (kind) {
    case ND4C_KIND_INT:
      return (double)value.i;
    case ND4C_KIND_FLOAT:
      return value.f;
    case ND4C_KIND_COMPLEX:
      return creal(value.c);
    default:
      return (double)value.u;
  }
}

double nd4c_reference_largest(nd4c_dtype dtype) {
  switch (dtype) {
    case ND4C_FLOAT16:
      return 65504;
    case ND4C_BFLOAT16:
      return 0x1.fep127;
    case ND4C_FLOAT32:
      return 0x1.fffffep127;
    default:
      return 0x1.fffffffffffffp1023;
  }
}

static int integer_bits(nd4c_dtype dtype) {
  int packed = nd4c_packed_bits(dtype);
  return packed != 0 ? packed : (int)(8 * nd4c_reference_bytes(dtype));
}

/* 2^(bits - 1) and 2^bits are doubles, so the comparisons are exact. */
static int64_t saturate_int(double x, int bits) {
  double limit = ldexp(1, bits - 1);
  int64_t largest = bits == 64 ? INT64_MAX : (int64_t)limit - 1;
  if (x != x) {
    return 0;
  }
  if (x >= limit) {
    return largest;
  }
  return x <= -limit ? -largest - 1 : (int64_t)x;
}

static uint64_t saturate_uint(double x, int bits) {
  double limit = ldexp(1, bits);
  if (!(x > 0)) {
    return 0;
  }
  if (x >= limit) {
    return bits == 64 ? UINT64_MAX : (uint64_t)limit - 1;
  }
  return (uint64_t)x;
}

/* An integer too long for a double keeps its top 53 bits, the last of them set if anything was cut off (rounding to
 * odd): narrower floats then come out as if rounded once. */
static double odd_double(uint64_t magnitude) {
  if (magnitude >> 53 != 0 && (magnitude & 0x7ff) != 0) {
    magnitude = (magnitude & ~UINT64_C(0x7ff)) | 0x800;
  }
  return (double)magnitude;
}

static double value_as_narrow(nd4c_dtype_kind from, nd4c_value value) {
  if (from == ND4C_KIND_INT) {
    return value.i < 0 ? -odd_double(0 - value.u) : odd_double(value.u);
  }
  return from == ND4C_KIND_UINT ? odd_double(value.u) : nd4c_value_as_double(from, value);
}

nd4c_value nd4c_value_cast(nd4c_dtype_kind from, nd4c_value value, nd4c_dtype to) {
  bool real = from == ND4C_KIND_FLOAT || from == ND4C_KIND_COMPLEX;
  nd4c_value result = {.u = 0};
  switch (nd4c_reference_kind(to)) {
    case ND4C_KIND_BOOL:
      result.u = from == ND4C_KIND_COMPLEX ? value.c != 0 : from == ND4C_KIND_FLOAT ? value.f != 0 : value.u != 0;
      break;
    case ND4C_KIND_INT:
      result.i = real ? saturate_int(nd4c_value_as_double(from, value), integer_bits(to)) : value.i;
      break;
    case ND4C_KIND_UINT:
      result.u = real ? saturate_uint(nd4c_value_as_double(from, value), integer_bits(to)) : value.u;
      break;
    case ND4C_KIND_FLOAT:
      result.f = to == ND4C_FLOAT64 ? nd4c_value_as_double(from, value) : value_as_narrow(from, value);
      if (narrow_kind(to) == ND4C_KIND_FLOAT) {
        result.f = narrow_saturated(to, result.f);
      }
      break;
    case ND4C_KIND_COMPLEX:
      result.c = from == ND4C_KIND_COMPLEX ? value.c : nd4c_value_as_double(from, value);
      break;
    default:
      break;
  }
  return result;
}

bool nd4c_index_next(int32_t rank, const int64_t *shape, int64_t *index) {
  for (int32_t axis = rank - 1; axis >= 0; axis--) {
    if (++index[axis] < shape[axis]) {
      return true;
    }
    index[axis] = 0;
  }
  return false;
}

int64_t nd4c_index_offset(int32_t rank, const int64_t *index, const int64_t *strides) {
  int64_t offset = 0;
  for (int32_t axis = 0; axis < rank; axis++) {
    offset += index[axis] * strides[axis];
  }
  return offset;
}
