/* Narrow elements (float8, float4, int4, int2): conversion between codes and numbers, and access to codes in packed
 * memory. Printing and element.c call the functions; all layers ask whether a dtype is packed. */
#ifndef ND4C_ARRAY_NARROW_H
#define ND4C_ARRAY_NARROW_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/dtype.h"

static inline bool nd4c_dtype_is_narrow(nd4c_dtype dtype) {
  return dtype > 0 && dtype < ND4C_DTYPE_END && (ND4C_DTYPES_NARROW & ND4C_DTYPE_BIT(dtype)) != 0;
}

static inline bool nd4c_dtype_is_packed(nd4c_dtype dtype) {
  return dtype > 0 && dtype < ND4C_DTYPE_END && (ND4C_DTYPES_PACKED & ND4C_DTYPE_BIT(dtype)) != 0;
}

/* The number of a code; NaN and infinities where the format has them. Ignores higher bits. */
double nd4c_narrow_to_double(nd4c_dtype dtype, uint8_t code);

/* The code of a number: integers truncate, saturate, and take NaN as 0; floats are rounded to nearest even (e8m0, which
 * has no odd codes, to nearest, ties up) and saturate, infinities too. NaN becomes NaN, in float4 -0; e8m0 takes what
 * is negative for NaN. */
uint8_t nd4c_narrow_from_double(nd4c_dtype dtype, double value);

/* The code of element `index` of `elements`, in the dtype's packing (a byte each for those of 8 bits). */
uint8_t nd4c_narrow_get(nd4c_dtype dtype, const void *elements, int64_t index);
void nd4c_narrow_set(nd4c_dtype dtype, void *elements, int64_t index, uint8_t code);

#endif
