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

static long double decode(nd4c_dtype dtype, int code) {
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

/* From a table, because the oracles call this millions of times. */
long double cf_narrow_decode(nd4c_dtype dtype, int code) {
  static long double tables[ND4C_DTYPE_END][256];
  static bool filled[ND4C_DTYPE_END];
  if (!filled[dtype]) {
    for (int i = 0; i < 256; i++) {
      tables[dtype][i] = decode(dtype, i);
    }
    filled[dtype] = true;
  }
  return tables[dtype][code & 0xff];
}

/* The number of a code without sign; beyond the largest, where the next one would be. */
static long double magnitude_of(nd4c_dtype dtype, const narrow_format *f, int code) {
  if (code <= f->largest) {
    return cf_narrow_decode(dtype, code);
  }
  long double last = cf_narrow_decode(dtype, f->largest);
  return dtype == ND4C_FLOAT8_E8M0FNU ? 2 * last : 2 * last - cf_narrow_decode(dtype, f->largest - 1);
}

/* The code without sign nearest to a magnitude; one more than the largest where that would be nearer. Their numbers
 * ascend. */
static int nearest_code(nd4c_dtype dtype, const narrow_format *f, long double magnitude) {
  int low = 0, high = f->largest + 1;
  while (low < high) { /* to the last that does not exceed the magnitude, or the first */
    int middle = (low + high + 1) / 2;
    bool exceeds = magnitude_of(dtype, f, middle) > magnitude;
    low = exceeds ? low : middle;
    high = exceeds ? middle - 1 : high;
  }
  if (low > f->largest) {
    return low;
  }
  long double below = fabsl(magnitude_of(dtype, f, low) - magnitude);
  long double above = fabsl(magnitude_of(dtype, f, low + 1) - magnitude);
  bool tie_goes_up = dtype == ND4C_FLOAT8_E8M0FNU || low % 2 != 0;
  return above < below || (above == below && tie_goes_up) ? low + 1 : low;
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
