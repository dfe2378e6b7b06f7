/* Divisions of integers in vectors, which have no instruction for it: by floats that hold the integers exactly.
 * binary.c and pairs.c include it.
 *
 * f32 divides integers of up to 16 bits, f64 wider ones. A float quotient, rounded to the nearest integer, is at most
 * one beside the floor; the rest, which floats hold exactly, too, tells. Of int64 and uint64, pieces with a number of
 * 2^50 and more are divided by the processor's instruction, one after the other. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_DIVISION_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_DIVISION_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/cpu/support/level.h"
#include "kernels/cpu/support/wrap.h"
#include "kernels/types.h"

/* What a loop stores. */
enum nd4c_division {
  ND4C_DIVISION_FLOOR,     /* the quotient, rounded down */
  ND4C_DIVISION_TRUNC,     /* the quotient, rounded towards zero */
  ND4C_DIVISION_REMAINDER, /* the rest of FLOOR */
  ND4C_DIVISION_FMOD       /* the rest of TRUNC */
};

enum { ND4C_DIVISION_PIECE = 256 };

/* The floats that compute a dtype, and their bits. */
typedef float nd4c_ratio_int8, nd4c_ratio_int16, nd4c_ratio_uint8, nd4c_ratio_uint16;
typedef double nd4c_ratio_int32, nd4c_ratio_int64, nd4c_ratio_uint32, nd4c_ratio_uint64;
typedef uint32_t nd4c_ratio_bits_int8, nd4c_ratio_bits_int16, nd4c_ratio_bits_uint8, nd4c_ratio_bits_uint16;
typedef uint64_t nd4c_ratio_bits_int32, nd4c_ratio_bits_int64, nd4c_ratio_bits_uint32, nd4c_ratio_bits_uint64;

#define ND4C_TEMPLATE "kernels/cpu/elementwise/pairs/division_element.h"
#define ND4C_KINDS (ND4C_SIGNED | ND4C_UNSIGNED)
#include "kernels/cpu/support/each_dtype.h"

#endif
