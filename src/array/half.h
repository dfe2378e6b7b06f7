/* float16 and bfloat16 as float and double: exact one way, rounded to nearest even, once, the other. The conversions
 * between them and float are those of the kernels. */
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
