/* Includes a template once for each complex dtype, as support/each_dtype.h does for the others. binary.c defines
 * ND4C_TEMPLATE and includes this, which undefines it. */
#ifndef ND4C_DTYPES_LITE
#define T ND4C_LEVEL_PASTE(nd4c_c, DTYPE)
#define NAME(name) ND4C_LEVEL_PASTE(name, DTYPE)

#define DTYPE complex64
#include ND4C_TEMPLATE
#undef DTYPE
#define DTYPE complex128
#include ND4C_TEMPLATE
#undef DTYPE

#undef T
#undef NAME
#endif
#undef ND4C_TEMPLATE
