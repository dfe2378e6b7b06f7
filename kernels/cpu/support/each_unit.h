/* Includes a template once for each size of elements that are moved as bits: 1, 2, 4, 8 and 16 bytes. The includer
 * (cast.c, pick.c, move.c, transpose.c, nonzero.c) defines ND4C_TEMPLATE, which this file undefines. A template sees
 * SIZE, T, a type of that size, and NAME(x), which appends the size. */
#include "kernels/cpu/support/units.h"

#define T ND4C_LEVEL_PASTE(nd4c_unit, SIZE)
#define NAME(name) ND4C_LEVEL_PASTE(name, SIZE)

#define SIZE 1
#include ND4C_TEMPLATE
#undef SIZE
#define SIZE 2
#include ND4C_TEMPLATE
#undef SIZE
#define SIZE 4
#include ND4C_TEMPLATE
#undef SIZE
#define SIZE 8
#include ND4C_TEMPLATE
#undef SIZE
#define SIZE 16
#include ND4C_TEMPLATE
#undef SIZE

#undef T
#undef NAME
#undef ND4C_TEMPLATE
