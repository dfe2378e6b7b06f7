/* Narrow elements on the host: numbers of the codes by their definition, codes by looking for the nearest number. */
#include <math.h>
#include <string.h>

#include "conformance.h"

typedef struct narrow_format {
  int fraction, bias, sign_bit;
  int largest; /* code */
  int nan;     /* code, -1: none */
} narrow_format;

static narrow_format format_of(nd4c_dtype dtype) {
  switch (dtype) {
    case ND4C_FLOAT8_E4M3FN:
      return (narrow_format){3, 7, 0x80, 0x7e, 0x7f};
    case ND4C_FLOAT8_E4M3FNUZ:
      return (narrow_format){3, 8, 0x80, 0x7f, 0x80};
    case ND4C_FLOAT8_E5M2:
      return (narrow_format){2, 15, 0x80, 0x7b, 0x7e};
    case ND4C_FLOAT8_E5M2FNUZ:
      return (narrow_format){2, 16, 0x80, 0x7f, 0x80};
    case ND4C_FLOAT8_E8M0FNU:
      return (narrow_format){0, 127, 0, 0xfe, 0xff};
    default:
      return (narrow_format){1, 1, 0x8, 0x7, -1};
  }
}

bool cf_is_narrow(nd4c_dtype dtype) {
  return (ND4C_DTYPES_NARROW & ND4C_DTYPE_BIT(dtype)) != 0;
}
bool cf_is_packed(nd4c_dtype dtype) {
  return (ND4C_DTYPES_PACKED & ND4C_DTYPE_BIT(dtype)) != 0;
}

long double cf_narrow_decode(nd4c_dtype dtype, int code) {
  narrow_format f = format_of(dtype);
  if (dtype == ND4C_FLOAT8_E8M0FNU) {
    return code == f.nan ? (long double)NAN : ldexpl(1, code - 127);
  }
  int rest = code & (f.sign_bit - 1), exponent = rest >> f.fraction, digits = rest & ((1 << f.fraction) - 1);
  long double number = exponent == 0 ? ldexpl(digits, 1 - f.bias - f.fraction)
                                     : ldexpl(digits + (1 << f.fraction), exponent - f.bias - f.fraction);
  if (rest > f.largest) {
    number = dtype == ND4C_FLOAT8_E5M2 && rest == 0x7c ? (long double)INFINITY : (long double)NAN;
  }
  if (f.nan == f.sign_bit && code == f.nan) {
    return (long double)NAN;
  }
  return (code & f.sign_bit) != 0 ? -number : number;
}

/* The code without sign nearest to a magnitude; one more than the largest where that would be nearer. */
static int nearest_code(nd4c_dtype dtype, const narrow_format *f, long double magnitude) {
  long double last = cf_narrow_decode(dtype, f->largest);
  long double step = dtype == ND4C_FLOAT8_E8M0FNU ? last : last - cf_narrow_decode(dtype, f->largest - 1);
  int best = 0;
  for (int code = 1; code <= f->largest + 1; code++) {
    long double number = code > f->largest ? last + step : cf_narrow_decode(dtype, code);
    long double distance = fabsl(number - magnitude);
    long double before = fabsl((best > f->largest ? last + step : cf_narrow_decode(dtype, best)) - magnitude);
    bool tie_goes_up = dtype == ND4C_FLOAT8_E8M0FNU || code % 2 == 0;
    if (distance < before || (distance == before && tie_goes_up)) {
      best = code;
    }
  }
  return best;
}

int cf_narrow_encode(nd4c_dtype dtype, long double value, bool saturate) {
  narrow_format f = format_of(dtype);
  int sign = signbit(value) && dtype != ND4C_FLOAT8_E8M0FNU ? f.sign_bit : 0;
  bool unsigned_negative = dtype == ND4C_FLOAT8_E8M0FNU && value < 0;
  if (isnan(value) || unsigned_negative) {
    return f.nan < 0 ? f.sign_bit : f.nan | (f.nan == f.sign_bit ? 0 : sign);
  }
  int code = isinf(value) ? f.largest + 1 : nearest_code(dtype, &f, fabsl(value));
  if (dtype == ND4C_FLOAT8_E8M0FNU && !saturate && value < cf_narrow_decode(dtype, 0) * 0.75L) {
    return f.nan;
  }
  if (code > f.largest) {
    code = saturate || f.nan < 0 ? f.largest : dtype == ND4C_FLOAT8_E5M2 ? 0x7c : f.nan;
  }
  bool fnuz = f.nan == f.sign_bit;
  return fnuz && (code == 0 || code == f.nan) ? code : code | sign;
}

/* Elements of a packed tensor are codes, a byte each; the library has them in whole bytes. */
void cf_pack(const cf_tensor *tensor, unsigned char *packed) {
  int bits = cf_bits_of(tensor->dtype), each = 8 / bits;
  memset(packed, 0, (size_t)((tensor->size + each - 1) / each));
  for (int64_t i = 0; i < tensor->size; i++) {
    packed[i / each] |= (unsigned char)((tensor->data[i] & ((1 << bits) - 1)) << (bits * (int)(i % each)));
  }
}

void cf_unpack(const unsigned char *packed, cf_tensor *tensor) {
  int bits = cf_bits_of(tensor->dtype), each = 8 / bits;
  for (int64_t i = 0; i < tensor->size; i++) {
    tensor->data[i] = (unsigned char)(packed[i / each] >> (bits * (int)(i % each)) & ((1 << bits) - 1));
  }
}
