/* The unsigned types in which arithmetic of integers wraps: never narrower than int, which would promote. Included by
 * binary.c, unary.c, cast.c and sort.c. */
#ifndef ND4C_KERNELS_CPU_SUPPORT_WRAP_H
#define ND4C_KERNELS_CPU_SUPPORT_WRAP_H

#include <stdint.h>

typedef uint32_t nd4c_wrap_int8, nd4c_wrap_int16, nd4c_wrap_int32;
typedef uint32_t nd4c_wrap_uint8, nd4c_wrap_uint16, nd4c_wrap_uint32;
typedef uint64_t nd4c_wrap_int64, nd4c_wrap_uint64;

#endif
