/* Floating-point numbers as decimal digits: the shortest that read back as the same number, or rounded. element_text.c
 * calls it, for printing and for casts to strings. */
#ifndef ND4C_ARRAY_DECIMAL_H
#define ND4C_ARRAY_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

#include "nd4c/dtype.h"

enum { ND4C_DECIMAL_DIGITS = 40 };

/* digits[0].digits[1]... times 10^exponent; no trailing zeros, except that zero is one digit 0. */
typedef struct nd4c_decimal {
  bool negative;
  int exponent, count;
  char digits[ND4C_DECIMAL_DIGITS];
} nd4c_decimal;

/* `value` is a finite number of a floating dtype, as double. */
nd4c_decimal nd4c_decimal_shortest(nd4c_dtype dtype, double value);

/* Options of nd4c_number_text. */
typedef struct nd4c_number_style {
  bool scientific;
  int precision;       /* digits after the point at most; -1: as many as the shortest form has */
  int minimum;         /* digits after the point at least */
  bool point;          /* write the point even without digits after it */
  bool plus;           /* write + before a number that is not negative */
  int exponent_digits; /* at least */
} nd4c_number_style;

enum { ND4C_NUMBER_TEXT = 400 };

/* Writes a finite number; returns its length (< ND4C_NUMBER_TEXT). */
size_t nd4c_number_text(nd4c_dtype dtype, double value, const nd4c_number_style *style, char *text);

#endif
