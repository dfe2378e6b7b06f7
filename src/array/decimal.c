/* Implements decimal.h with printf and strtod: tries precisions until the digits read back as the same number.
 * element_text.c calls it for each float that it writes. */
#include "array/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/half.h"

/* Decimal digits that survive a conversion to the dtype and back, decimal digits that identify any number of the dtype,
 * and its smallest normal number, below which the first does not hold. */
typedef struct float_limits {
  int safe, needed;
  double smallest;
} float_limits;

static float_limits limits_of(nd4c_dtype dtype) {
  switch (dtype) {
    case ND4C_FLOAT16:
      return (float_limits){3, 5, 0x1p-14};
    case ND4C_BFLOAT16:
      return (float_limits){2, 4, 0x1p-126};
    case ND4C_FLOAT32:
    case ND4C_COMPLEX64:
      return (float_limits){6, 9, 0x1p-126};
    default:
      return (float_limits){15, 17, 0x1p-1022};
  }
}

static bool reads_back(nd4c_dtype dtype, const char *text, double value) {
  switch (dtype) {
    case ND4C_FLOAT16:
      return nd4c_float16_from_double(strtod(text, NULL)) == nd4c_float16_from_double(value);
    case ND4C_BFLOAT16:
      return nd4c_bfloat16_from_double(strtod(text, NULL)) == nd4c_bfloat16_from_double(value);
    case ND4C_FLOAT32:
    case ND4C_COMPLEX64:
      return !(strtof(text, NULL) < (float)value || strtof(text, NULL) > (float)value);
    default:
      return !(strtod(text, NULL) < value || strtod(text, NULL) > value);
  }
}

/* Takes printf's "d.ddde+xx" apart. The decimal point depends on the locale, so every non-digit is skipped. */
static nd4c_decimal decimal_parse(const char *text) {
  nd4c_decimal decimal = {.negative = text[0] == '-'};
  const char *c = text;
  for (; *c != 'e' && *c != '\0'; c++) {
    if (*c >= '0' && *c <= '9' && decimal.count < ND4C_DECIMAL_DIGITS) {
      decimal.digits[decimal.count++] = *c;
    }
  }
  decimal.exponent = *c == 'e' ? atoi(c + 1) : 0;
  while (decimal.count > 1 && decimal.digits[decimal.count - 1] == '0') {
    decimal.count--;
  }
  return decimal;
}

static nd4c_decimal decimal_round(double value, int significant) {
  char text[ND4C_DECIMAL_DIGITS + 32];
  (void)snprintf(text, sizeof text, "%.*e", significant - 1, value);
  return decimal_parse(text);
}

/* The decimal of `digits` digits next to the nearest one, away from zero. False if it does not read back as the
 * value. */
static bool next_reads_back(nd4c_dtype dtype, double value, int digits, nd4c_decimal *decimal) {
  *decimal = decimal_round(value, digits);
  while (decimal->count < digits) {
    decimal->digits[decimal->count++] = '0';
  }
  int i = digits - 1;
  for (; i > 0 && decimal->digits[i] == '9'; i--) {
    decimal->digits[i] = '0';
  }
  if (decimal->digits[i] == '9') {
    return false; /* a power of ten has fewer digits: it was tried before */
  }
  decimal->digits[i]++;
  char text[ND4C_DECIMAL_DIGITS + 32];
  (void)snprintf(text, sizeof text, "%s%.*se%d", decimal->negative ? "-" : "", digits, decimal->digits,
                 decimal->exponent - digits + 1);
  return reads_back(dtype, text, value);
}

nd4c_decimal nd4c_decimal_shortest(nd4c_dtype dtype, double value) {
  float_limits limits = limits_of(dtype);
  char text[ND4C_DECIMAL_DIGITS + 32];
  /* The numbers below a power of two lie closer than those above it: where the nearest decimal, which is below, does
   * not read back, one above may. */
  int unused;
  bool power_of_two = fabs(frexp(value, &unused)) == 0.5;
  for (int digits = fabs(value) < limits.smallest ? 1 : limits.safe;; digits++) {
    nd4c_decimal above;
    (void)snprintf(text, sizeof text, "%.*e", digits - 1, value);
    if (digits >= limits.needed || reads_back(dtype, text, value)) {
      return decimal_parse(text);
    }
    if (power_of_two && next_reads_back(dtype, value, digits, &above)) {
      return above;
    }
  }
}

/* At most `precision` digits after the point, the exact value rounded to even if the shortest form has more. In
 * scientific form, as NumPy has it, a shorter one is continued with the digits of the exact value up to `minimum`. */
static nd4c_decimal decimal_limited(nd4c_dtype dtype, double value, bool scientific, int precision, int minimum) {
  nd4c_decimal shortest = nd4c_decimal_shortest(dtype, value);
  int after_point = shortest.count - 1 - (scientific ? 0 : shortest.exponent);
  if (precision < 0 || after_point <= precision) {
    return scientific && after_point < minimum ? decimal_round(value, minimum + 1) : shortest;
  }
  if (scientific) {
    return decimal_round(value, precision + 1);
  }
  /* In positional form the first digit may lie behind the last place that is shown. */
  int significant = shortest.exponent + 1 + precision;
  if (significant > 0) {
    return decimal_round(value, significant);
  }
  nd4c_decimal result = {.negative = signbit(value) != 0, .count = 1, .exponent = 0, .digits = "0"};
  double half = 0.5 * pow(10, -precision);
  if (significant == 0 && fabs(value) > half) {
    result.digits[0] = '1';
    result.exponent = -precision;
  }
  return result;
}

static char *write_repeated(char *to, char c, int count) {
  for (int i = 0; i < count; i++) {
    *to++ = c;
  }
  return to;
}

static char *write_fraction(char *to, const char *digits, int count, const nd4c_number_style *style) {
  int zeros = style->minimum > count ? style->minimum - count : 0;
  if (count + zeros > 0 || style->point) {
    *to++ = '.';
  }
  memcpy(to, digits, (size_t)count);
  return write_repeated(to + count, '0', zeros);
}

static char *write_positional(char *to, const nd4c_decimal *d, const nd4c_number_style *style) {
  bool zero = d->digits[0] == '0';
  if (d->exponent < 0 && !zero) {
    char fraction[ND4C_NUMBER_TEXT];
    int leading = -d->exponent - 1;
    leading = leading < ND4C_NUMBER_TEXT - ND4C_DECIMAL_DIGITS - 32 ? leading : 0;
    char *end = write_repeated(fraction, '0', leading);
    memcpy(end, d->digits, (size_t)d->count);
    *to++ = '0';
    return write_fraction(to, fraction, leading + d->count, style);
  }
  int whole = zero ? 1 : d->exponent + 1;
  int given = d->count < whole ? d->count : whole;
  memcpy(to, d->digits, (size_t)given);
  to = write_repeated(to + given, '0', whole - given);
  return write_fraction(to, d->digits + given, d->count - given, style);
}

static char *write_scientific(char *to, const nd4c_decimal *d, const nd4c_number_style *style) {
  *to++ = d->digits[0];
  to = write_fraction(to, d->digits + 1, d->count - 1, style);
  int digits = style->exponent_digits > 2 ? style->exponent_digits : 2;
  return to + snprintf(to, 16, "e%c%0*d", d->exponent < 0 ? '-' : '+', digits, abs(d->exponent));
}

size_t nd4c_number_text(nd4c_dtype dtype, double value, const nd4c_number_style *style, char *text) {
  /* No number of a floating dtype has more digits than this after the point that matter to a double. */
  int precision = style->precision < ND4C_DECIMAL_DIGITS - 2 ? style->precision : -1;
  nd4c_decimal decimal = decimal_limited(dtype, value, style->scientific, precision, style->minimum);
  char *to = text;
  if (decimal.negative) {
    *to++ = '-';
  } else if (style->plus) {
    *to++ = '+';
  }
  to = style->scientific ? write_scientific(to, &decimal, style) : write_positional(to, &decimal, style);
  *to = '\0';
  return (size_t)(to - text);
}
