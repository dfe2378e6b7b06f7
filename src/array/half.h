/* Conversions between float16, bfloat16, float and double: exact to the wider type, rounded once, to nearest even, to
 * the narrower one. Those with float are the kernels' (kernels/types.h). Printing and element.c in this folder use
 * them. */
#ifndef ND4C_ARRAY_HALF_H
#define ND4C_ARRAY_HALF_H

#include "kernels/types.h"

static inline uint16_t nd4c_float16_from_double(double value) {
  return nd4c_float16_from_float(nd4c_double_to_odd_float(value));
}

static inline uint16_t nd4c_bfloat16_from_double(double value) {
  return nd4c_bfloat16_from_float(nd4c_double_to_odd_float(value));
}

#endif
