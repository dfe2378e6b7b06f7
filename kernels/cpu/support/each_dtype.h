/* Includes a template once for each dtype of some kinds. The .c files of kernels/cpu and the headers with vectors
 * include this; the includer defines both:
 *
 *     #define ND4C_TEMPLATE "kernels/cpu/elementwise/unary_element.h"
 *     #define ND4C_KINDS (ND4C_SIGNED | ND4C_UNSIGNED)
 *     #include "kernels/cpu/support/each_dtype.h"
 *
 * A template sees T, the C type of elements; NAME(x), which appends the dtype's name; and KIND. This file undefines
 * both names that the includer defined. */
#define ND4C_SIGNED 1
#define ND4C_UNSIGNED 2
#define ND4C_WIDE_FLOAT 4
#define ND4C_HALF 8
#define T ND4C_LEVEL_PASTE(nd4c_c, DTYPE)
#define NAME(name) ND4C_LEVEL_PASTE(name, DTYPE)

#define KIND ND4C_SIGNED
#if ND4C_KINDS & KIND
#define DTYPE int8
#include ND4C_TEMPLATE
#undef DTYPE
#ifndef ND4C_DTYPES_LITE
#define DTYPE int16
#include ND4C_TEMPLATE
#undef DTYPE
#endif
#define DTYPE int32
#include ND4C_TEMPLATE
#undef DTYPE
#define DTYPE int64
#include ND4C_TEMPLATE
#undef DTYPE
#endif
#undef KIND

#define KIND ND4C_UNSIGNED
#if ND4C_KINDS & KIND
#define DTYPE uint8
#include ND4C_TEMPLATE
#undef DTYPE
#ifndef ND4C_DTYPES_LITE
#define DTYPE uint16
#include ND4C_TEMPLATE
#undef DTYPE
#define DTYPE uint32
#include ND4C_TEMPLATE
#undef DTYPE
#define DTYPE uint64
#include ND4C_TEMPLATE
#undef DTYPE
#endif
#endif
#undef KIND

#define KIND ND4C_WIDE_FLOAT
#if ND4C_KINDS & KIND
#define DTYPE float32
#include ND4C_TEMPLATE
#undef DTYPE
#define DTYPE float64
#include ND4C_TEMPLATE
#undef DTYPE
#endif
#undef KIND

#define KIND ND4C_HALF
#if (ND4C_KINDS & KIND) && !defined(ND4C_DTYPES_LITE)
#define DTYPE float16
#include ND4C_TEMPLATE
#undef DTYPE
#define DTYPE bfloat16
#include ND4C_TEMPLATE
#undef DTYPE
#endif
#undef KIND

#undef T
#undef NAME
#undef ND4C_TEMPLATE
#undef ND4C_KINDS
