/* Implements narrow.h from the parameters of each narrow float's format. element.c, element_text.c and format.c call it
 * for elements, io/npy.c for packed files. */
#include "array/narrow.h"

#include <math.h>
#include <stddef.h>

/* A float of a sign bit, exponent bits and `fraction` bits. Codes up to `largest` (without sign) are finite. */
typedef struct narrow_float {
  int fraction, bias;
  uint8_t largest, nan; /* code of a positive NaN; 0: there is none */
  bool infinity;        /* the code after the largest */
  bool no_minus_zero;   /* fnuz: the code of -0 is the only NaN */
  uint8_t sign;
} narrow_float;

static const narrow_float *float_of(nd4c_dtype dtype) {
  static const narrow_float e4m3fn = {3, 7, 0x7e, 0x7f, false, false, 0x80};
  static const narrow_float e4m3fnuz = {3, 8, 0x7f, 0x80, false, true, 0x80};
  static const narrow_float e5m2 = {2, 15, 0x7b, 0x7e, true, false, 0x80};
  static const narrow_float e5m2fnuz = {2, 16, 0x7f, 0x80, false, true, 0x80};
  static const narrow_float e2m1fn = {1, 1, 0x7, 0, false, false, 0x8};
  switch (dtype) {
    case ND4C_FLOAT8_E4M3FN:
      return &e4m3fn;
    case ND4C_FLOAT8_E4M3FNUZ:
      return &e4m3fnuz;
    case ND4C_FLOAT8_E5M2:
      return &e5m2;
    case ND4C_FLOAT8_E5M2FNUZ:
      return &e5m2fnuz;
    case ND4C_FLOAT4_E2M1FN:
      return &e2m1fn;
    default:
      return NULL;
  }
}

static double magnitude_of(const narrow_float *f, uint8_t code) {
  int exponent = code >> f->fraction, fraction = code & ((1 << f->fraction) - 1);
  int lowest = 1 - f->bias - f->fraction; /* exponent of the last place of subnormal numbers */
  return exponent == 0 ? ldexp(fraction, lowest) : ldexp(fraction + (1 << f->fraction), lowest + exponent - 1);
}

static double float_to_double(const narrow_float *f, uint8_t code) {
  bool negative = (code & f->sign) != 0;
  uint8_t rest = code & (uint8_t)(f->sign - 1);
  double magnitude = f->no_minus_zero && code == f->nan      ? NAN
                     : rest <= f->largest                    ? magnitude_of(f, rest)
                     : f->infinity && rest == f->largest + 1 ? INFINITY
                                                             : NAN;
  return negative ? -magnitude : magnitude;
}

static uint8_t float_from_double(const narrow_float *f, double value) {
  double magnitude = fabs(value);
  bool negative = signbit(value) != 0;
  if (isnan(value)) {
    return f->nan == 0 ? f->sign : (uint8_t)(f->nan | (negative ? f->sign : 0));
  }
  uint8_t code = f->largest;
  if (magnitude < magnitude_of(f, f->largest)) {
    int exponent, lowest = 1 - f->bias;
    (void)frexp(magnitude, &exponent);
    exponent = magnitude == 0 || exponent - 1 < lowest ? lowest : exponent - 1;
    /* Codes number the values in increasing order from zero, across powers of two. */
    double steps = nearbyint(ldexp(magnitude, f->fraction - exponent));
    code = (uint8_t)(((exponent - lowest) << f->fraction) + (int)steps);
  }
  return (uint8_t)(code | (negative && !(f->no_minus_zero && code == 0) ? f->sign : 0));
}

/* Powers of two from 2^-127 to 2^127. */
static uint8_t power_from_double(double value) {
  int exponent;
  if (isnan(value) || value < 0) {
    return 0xff;
  }
  if (isinf(value)) {
    return 0xfe;
  }
  double fraction = frexp(value, &exponent); /* 1/2 .. 1 */
  exponent += 126 + (fraction >= 0.75);
  return (uint8_t)(value == 0 || exponent < 0 ? 0 : exponent > 0xfe ? 0xfe : exponent);
}

double nd4c_narrow_to_double(nd4c_dtype dtype, uint8_t code) {
  const narrow_float *f = float_of(dtype);
  if (f != NULL) {
    return float_to_double(f, dtype == ND4C_FLOAT4_E2M1FN ? code & 0xf : code);
  }
  if (dtype == ND4C_FLOAT8_E8M0FNU) {
    return code == 0xff ? NAN : ldexp(1, code - 127);
  }
  int bits = dtype == ND4C_INT4 || dtype == ND4C_UINT4 ? 4 : 2;
  int value = code & ((1 << bits) - 1), half = 1 << (bits - 1);
  bool is_signed = dtype == ND4C_INT4 || dtype == ND4C_INT2;
  return is_signed && value >= half ? value - 2 * half : value;
}

uint8_t nd4c_narrow_from_double(nd4c_dtype dtype, double value) {
  const narrow_float *f = float_of(dtype);
  if (f != NULL) {
    return float_from_double(f, value);
  }
  if (dtype == ND4C_FLOAT8_E8M0FNU) {
    return power_from_double(value);
  }
  int bits = dtype == ND4C_INT4 || dtype == ND4C_UINT4 ? 4 : 2;
  bool is_signed = dtype == ND4C_INT4 || dtype == ND4C_INT2;
  int low = is_signed ? -(1 << (bits - 1)) : 0, high = low + (1 << bits) - 1;
  int whole = isnan(value) ? 0 : value <= low ? low : value >= high ? high : (int)value;
  return (uint8_t)(whole & ((1 << bits) - 1));
}

uint8_t nd4c_narrow_get(nd4c_dtype dtype, const void *elements, int64_t index) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  uint8_t byte = ((const uint8_t *)elements)[index / info->block_elements];
  return (uint8_t)(byte >> (info->bits * (int)(index % info->block_elements)) & ((1 << info->bits) - 1));
}

void nd4c_narrow_set(nd4c_dtype dtype, void *elements, int64_t index, uint8_t code) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  uint8_t *byte = (uint8_t *)elements + index / info->block_elements;
  int shift = info->bits * (int)(index % info->block_elements), mask = (1 << info->bits) - 1;
  *byte = (uint8_t)((*byte & ~(mask << shift)) | (code & mask) << shift);
}
