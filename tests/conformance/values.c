/* Elements of every dtype on the host, computed independently of the library for samplers and oracles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

static const char *const strings[] = {"",
                                      "a",
                                      "nd4c",
                                      "\xc3\xa4\xc3\xb6\xc3\xbc",
                                      "\xe6\x97\xa5\xe6\x9c\xac",
                                      "seven",
                                      "eight",
                                      "a longer text than the others, to need memory of its own"};
enum { STRINGS = sizeof strings / sizeof strings[0] };

/* Texts of recorded cases and of results, numbered after those above. */
static char **more_strings;
static int64_t more_count;

const char *cf_string(int64_t number) {
  if (number >= STRINGS && number - STRINGS < more_count) {
    return more_strings[number - STRINGS];
  }
  return strings[(uint64_t)number % STRINGS];
}

int64_t cf_string_number(const char *text, int64_t length) {
  for (int64_t i = 0; i < STRINGS + more_count; i++) {
    if ((int64_t)strlen(cf_string(i)) == length && memcmp(cf_string(i), text, (size_t)length) == 0) {
      return i;
    }
  }
  char **grown = realloc(more_strings, (size_t)(more_count + 1) * sizeof *grown);
  char *copy = cf_need((size_t)length + 1);
  if (grown == NULL) {
    free(copy);
    return -1;
  }
  memcpy(copy, text, (size_t)length);
  more_strings = grown;
  more_strings[more_count] = copy;
  return STRINGS + more_count++;
}

static nd4c_dtype_kind kind_of(nd4c_dtype dtype) {
  switch (dtype) {
#define KIND_CASE(NAME, name, number, build, kind, ...) \
  case ND4C_##NAME:                                     \
    return ND4C_KIND_##kind;
    ND4C_DTYPE_TABLE(KIND_CASE)
#undef KIND_CASE
    default:
      return ND4C_KIND_NONE;
  }
}

int cf_bits_of(nd4c_dtype dtype) {
  switch (dtype) {
#define BITS_CASE(NAME, name, number, build, kind, bits, ...) \
  case ND4C_##NAME:                                           \
    return bits;
    ND4C_DTYPE_TABLE(BITS_CASE)
#undef BITS_CASE
    default:
      return 0;
  }
}

bool cf_is_float(nd4c_dtype dtype) {
  return kind_of(dtype) == ND4C_KIND_FLOAT;
}
bool cf_is_complex(nd4c_dtype dtype) {
  return kind_of(dtype) == ND4C_KIND_COMPLEX;
}
bool cf_is_unsigned(nd4c_dtype dtype) {
  return kind_of(dtype) == ND4C_KIND_UINT;
}
bool cf_is_integer(nd4c_dtype dtype) {
  return kind_of(dtype) == ND4C_KIND_INT || cf_is_unsigned(dtype);
}
int64_t cf_size_of(nd4c_dtype dtype) {
  return dtype == ND4C_UTF8 ? 8 : cf_is_packed(dtype) ? 1 : cf_bits_of(dtype) / 8;
}

bool cf_has_dtype(nd4c_dtype dtype) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  return info != NULL && info->available;
}

/* -- floating point formats ------------------------------------------------------------------------------------- */

/* Bits of the significand with the hidden one, and exponents of the smallest and largest normal number's powers of 2.
 */
typedef struct format {
  int precision, lowest, highest;
} format;

static format format_of(nd4c_dtype dtype) {
  switch (dtype) {
    case ND4C_FLOAT8_E4M3FN:
      return (format){4, -6, 8};
    case ND4C_FLOAT8_E4M3FNUZ:
      return (format){4, -7, 7};
    case ND4C_FLOAT8_E5M2:
      return (format){3, -14, 15};
    case ND4C_FLOAT8_E5M2FNUZ:
      return (format){3, -15, 15};
    case ND4C_FLOAT8_E8M0FNU:
      return (format){1, -127, 127};
    case ND4C_FLOAT4_E2M1FN:
      return (format){2, 0, 2};
    case ND4C_FLOAT16:
      return (format){11, -14, 15};
    case ND4C_BFLOAT16:
      return (format){8, -126, 127};
    case ND4C_FLOAT32:
    case ND4C_COMPLEX64:
      return (format){24, -126, 127};
    default:
      return (format){53, -1022, 1023};
  }
}

/* 2^exponent from a table, because the oracles call this millions of times. */
static long double power_of_two(int exponent) {
  enum { REACH = 1200 };
  static long double table[2 * REACH + 1];
  if (exponent < -REACH || exponent > REACH) {
    return ldexpl(1, exponent);
  }
  if (table[exponent + REACH] == 0) {
    table[exponent + REACH] = ldexpl(1, exponent);
  }
  return table[exponent + REACH];
}

long double cf_ulp(nd4c_dtype dtype, long double value) {
  format f = format_of(dtype);
  int exponent = value == 0 || !isfinite(value) ? f.lowest : ilogbl(value);
  return power_of_two((exponent < f.lowest ? f.lowest : exponent) - f.precision + 1);
}

long double cf_round(nd4c_dtype dtype, long double value) {
  if (!isfinite(value) || value == 0) {
    return value;
  }
  if (cf_is_narrow(dtype)) {
    return cf_narrow_decode(dtype, cf_narrow_encode(dtype, value, false));
  }
  format f = format_of(dtype);
  long double ulp = cf_ulp(dtype, value);
  long double rounded = rintl(value / ulp) * ulp;
  return fabsl(rounded) >= power_of_two(f.highest + 1) ? copysignl((long double)INFINITY, value) : rounded;
}

static long double half_decode(uint16_t bits, int fraction_bits, int exponent_bits) {
  int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  int fraction = bits & ((1 << fraction_bits) - 1);
  long double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction != 0 ? (long double)NAN : sign * (long double)INFINITY;
  }
  if (exponent == 0) {
    return sign * fraction * power_of_two(1 - bias - fraction_bits);
  }
  return sign * ((1 << fraction_bits) + fraction) * power_of_two(exponent - bias - fraction_bits);
}

static uint16_t half_encode(nd4c_dtype dtype, long double value, int fraction_bits, int exponent_bits) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  uint16_t infinity = (uint16_t)(((1 << exponent_bits) - 1) << fraction_bits);
  if (isnan(value)) {
    return sign | infinity | 1;
  }
  long double target = fabsl(cf_round(dtype, value));
  if (isinf(target)) {
    return sign | infinity;
  }
  /* Steps from zero: patterns of positive numbers count neighbours, and within one power of two these are even. */
  int lowest = format_of(dtype).lowest, exponent = target == 0 ? lowest : ilogbl(target);
  exponent = exponent < lowest ? lowest : exponent;
  int64_t steps = (int64_t)(target / cf_ulp(dtype, target));
  return (uint16_t)(sign + ((exponent - lowest) << fraction_bits) + steps);
}

/* -- elements --------------------------------------------------------------------------------------------------- */

int64_t cf_wrap(nd4c_dtype dtype, int64_t value) {
  int shift = 64 - cf_bits_of(dtype);
  uint64_t raised = (uint64_t)value << shift;
  return cf_is_unsigned(dtype) ? (int64_t)(raised >> shift) : (int64_t)raised >> shift;
}

cf_value cf_get(const cf_tensor *tensor, int64_t index) {
  const unsigned char *at = tensor->data + index * cf_size_of(tensor->dtype);
  cf_value value = {0};
  float narrow[2];
  double wide[2];
  uint16_t half = 0;
  switch (tensor->dtype) {
    case ND4C_FLOAT16:
    case ND4C_BFLOAT16:
      memcpy(&half, at, sizeof half);
      value.re = tensor->dtype == ND4C_FLOAT16 ? half_decode(half, 10, 5) : half_decode(half, 7, 8);
      break;
    case ND4C_FLOAT32:
      memcpy(narrow, at, sizeof narrow[0]);
      value.re = narrow[0];
      break;
    case ND4C_FLOAT64:
      memcpy(wide, at, sizeof wide[0]);
      value.re = wide[0];
      break;
    case ND4C_COMPLEX64:
      memcpy(narrow, at, sizeof narrow);
      value.re = narrow[0];
      value.im = narrow[1];
      break;
    case ND4C_COMPLEX128:
      memcpy(wide, at, sizeof wide);
      value.re = wide[0];
      value.im = wide[1];
      break;
    case ND4C_BOOL:
      value.i = at[0] != 0;
      break;
    case ND4C_UTF8:
      memcpy(&value.i, at, sizeof value.i);
      break;
    default: /* integers, little-endian, and codes */
      memcpy(&value.i, at, (size_t)cf_size_of(tensor->dtype));
      if (cf_is_float(tensor->dtype)) {
        value.re = cf_narrow_decode(tensor->dtype, (int)value.i);
        value.i = 0;
      } else {
        value.i = cf_wrap(tensor->dtype, value.i);
      }
      break;
  }
  return value;
}

void cf_set(cf_tensor *tensor, int64_t index, cf_value value) {
  unsigned char *at = tensor->data + index * cf_size_of(tensor->dtype);
  float narrow[2] = {(float)value.re, (float)value.im};
  double wide[2] = {(double)value.re, (double)value.im};
  uint16_t half = 0;
  switch (tensor->dtype) {
    case ND4C_FLOAT16:
      half = half_encode(tensor->dtype, value.re, 10, 5);
      memcpy(at, &half, sizeof half);
      break;
    case ND4C_BFLOAT16:
      half = half_encode(tensor->dtype, value.re, 7, 8);
      memcpy(at, &half, sizeof half);
      break;
    case ND4C_FLOAT32:
      memcpy(at, narrow, sizeof narrow[0]);
      break;
    case ND4C_FLOAT64:
      memcpy(at, wide, sizeof wide[0]);
      break;
    case ND4C_COMPLEX64:
      memcpy(at, narrow, sizeof narrow);
      break;
    case ND4C_COMPLEX128:
      memcpy(at, wide, sizeof wide);
      break;
    case ND4C_BOOL:
      at[0] = value.i != 0;
      break;
    default:
      if (cf_is_float(tensor->dtype)) {
        value.i = cf_narrow_encode(tensor->dtype, value.re, false);
      } else if (cf_is_packed(tensor->dtype)) {
        value.i &= (1 << cf_bits_of(tensor->dtype)) - 1;
      }
      memcpy(at, &value.i, (size_t)cf_size_of(tensor->dtype));
      break;
  }
}

/* Truncated toward zero; out of range: the nearest bound; NaN: 0. */
static int64_t saturate(long double value, nd4c_dtype to) {
  int bits = cf_bits_of(to);
  long double low = cf_is_unsigned(to) ? 0 : -ldexpl(1, bits - 1);
  long double high = ldexpl(1, cf_is_unsigned(to) ? bits : bits - 1) - 1;
  if (isnan(value)) {
    return 0;
  }
  long double whole = truncl(value);
  whole = whole < low ? low : whole > high ? high : whole;
  return cf_is_unsigned(to) ? (int64_t)(uint64_t)whole : (int64_t)whole;
}

cf_value cf_convert(cf_value value, nd4c_dtype from, nd4c_dtype to) {
  bool wide = cf_is_float(from) || cf_is_complex(from);
  cf_value result = {0};
  if (from == to) {
    return value;
  }
  long double re = wide ? value.re : cf_is_unsigned(from) ? (long double)(uint64_t)value.i : (long double)value.i;
  if (to == ND4C_BOOL) {
    result.i = wide ? value.re != 0 || value.im != 0 || isnan(value.re) || isnan(value.im) : value.i != 0;
  } else if (cf_is_integer(to)) {
    result.i = wide ? saturate(value.re, to) : cf_wrap(to, value.i);
  } else if (cf_is_narrow(to)) {
    result.re = cf_narrow_decode(to, cf_narrow_encode(to, re, true));
  } else {
    result.re = cf_round(to, re);
    result.im = cf_is_complex(to) ? cf_round(to, value.im) : 0;
  }
  return result;
}

/* -- promotion -------------------------------------------------------------------------------------------------- */

static nd4c_dtype of_kind(nd4c_dtype_kind kind, int bits) {
#define OF_KIND(NAME, name, number, build, kind_, bits_, ...)                              \
  if (kind == ND4C_KIND_##kind_ && bits == (bits_) && ND4C_##NAME != (int)ND4C_BFLOAT16 && \
      !cf_is_narrow(ND4C_##NAME)) {                                                        \
    return ND4C_##NAME;                                                                    \
  }
  ND4C_DTYPE_TABLE(OF_KIND)
#undef OF_KIND
  return ND4C_DTYPE_NONE;
}

static nd4c_dtype integer_with_float(nd4c_dtype integer, nd4c_dtype other) {
  if (other == ND4C_BFLOAT16) {
    return ND4C_DTYPE_NONE; /* neither standard defines it */
  }
  bool complex_other = cf_is_complex(other);
  int bits = complex_other ? cf_bits_of(other) / 2 : cf_bits_of(other);
  int needed = cf_bits_of(integer) == 8 ? 16 : cf_bits_of(integer) == 16 ? 32 : 64;
  bits = needed > bits ? needed : bits;
  return complex_other ? of_kind(ND4C_KIND_COMPLEX, 2 * bits) : of_kind(ND4C_KIND_FLOAT, bits);
}

static nd4c_dtype promote(nd4c_dtype a, nd4c_dtype b) {
  nd4c_dtype_kind ka = kind_of(a), kb = kind_of(b);
  int bits = cf_bits_of(a) > cf_bits_of(b) ? cf_bits_of(a) : cf_bits_of(b);
  if (a == b) {
    return a;
  }
  if (ka == ND4C_KIND_STRING || kb == ND4C_KIND_STRING || cf_is_narrow(a) || cf_is_narrow(b)) {
    return ND4C_DTYPE_NONE;
  }
  if (ka == ND4C_KIND_BOOL || kb == ND4C_KIND_BOOL) {
    return ka == ND4C_KIND_BOOL ? b : a;
  }
  if (ka > kb) {
    return promote(b, a);
  }
  if (ka == kb) {
    bool halves = ka == ND4C_KIND_FLOAT && bits == 16; /* float16 with bfloat16 */
    return halves ? ND4C_FLOAT32 : of_kind(ka, bits);
  }
  if (ka == ND4C_KIND_INT && kb == ND4C_KIND_UINT) {
    if (cf_bits_of(b) == 64) {
      return ND4C_FLOAT64;
    }
    return cf_bits_of(a) > cf_bits_of(b) ? a : of_kind(ND4C_KIND_INT, 2 * cf_bits_of(b));
  }
  if (kb == ND4C_KIND_COMPLEX && ka == ND4C_KIND_FLOAT) {
    return a == ND4C_FLOAT64 ? ND4C_COMPLEX128 : b;
  }
  return integer_with_float(a, b);
}

nd4c_dtype cf_promote(nd4c_dtype a, nd4c_dtype b) {
  nd4c_dtype dtype = promote(a, b);
  return cf_has_dtype(dtype) ? dtype : ND4C_DTYPE_NONE;
}
