/* Elements as words of one common width. format.c calls it to print arrays; dispatch/text/cast.c casts elements to
 * strings with it. */
#ifndef ND4C_ARRAY_ELEMENT_TEXT_H
#define ND4C_ARRAY_ELEMENT_TEXT_H

#include "array/array.h"
#include "base/text.h"

/* Format of the real or of the imaginary parts. */
typedef struct nd4c_float_columns {
  bool scientific, plus;
  int precision; /* in scientific form: digits of all */
  int exponent_digits;
  int left, right; /* characters before and after the point */
} nd4c_float_columns;

/* The common format of the elements to print, from nd4c_element_columns. */
typedef struct nd4c_element_columns {
  nd4c_dtype dtype;
  int width; /* of integers */
  bool scalar;
  nd4c_float_columns real, imaginary;
} nd4c_element_columns;

/* The elements to print. Elements of packed dtypes are codes of one byte each. */
typedef struct nd4c_element_walk {
  nd4c_dtype dtype;
  int32_t rank;
  const int64_t *shape, *strides;
  const char *element0;
  int64_t edge;          /* items at each end of a long axis; -1: all */
  bool gathered;         /* element0 has only the shown elements */
  const char *text_base; /* utf8: the storage's bytes */
  int64_t text_bytes;
} nd4c_element_walk;

/* Bytes from one element to the next. */
int64_t nd4c_walk_step(const nd4c_element_walk *walk);
/* Number of items shown of an axis, and the index of the n-th of them. */
int64_t nd4c_walk_count(const nd4c_element_walk *walk, int32_t axis);
int64_t nd4c_walk_index(const nd4c_element_walk *walk, int32_t axis, int64_t n);

void nd4c_element_measure(const nd4c_element_walk *walk, int precision, nd4c_element_columns *columns);
/* Appends the word of one element. FORMAT for a text outside of its storage. */
nd4c_status nd4c_element_append(const nd4c_element_walk *walk, const nd4c_element_columns *columns, const char *element,
                                nd4c_text *text);
/* As str() of a scalar: full precision, texts without quotes. */
nd4c_status nd4c_element_append_scalar(const nd4c_element_walk *walk, nd4c_text *text);

#endif
