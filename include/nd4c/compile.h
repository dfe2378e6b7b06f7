/* What a program asks of compilers: how far arithmetic may be changed, and options of a compiler's own. */
#ifndef ND4C_COMPILE_H
#define ND4C_COMPILE_H

#include <stdint.h>

#include "nd4c/export.h"

ND4C_EXTERN_C_BEGIN

/* How far a compiler may change the arithmetic of the nodes that it takes. */
typedef enum nd4c_math {
  ND4C_MATH_EXACT = 0,    /* every node as the op defines it: what a kernel would compute */
  ND4C_MATH_REORDER = 1,  /* sums and products in another order, multiply and add contracted */
  ND4C_MATH_FAST = 2,     /* approximations of functions, no care for NaN, infinities and signed zeros */
  ND4C_MATH_REDUCED = 3   /* narrower types inside: bfloat16, TF32 */
} nd4c_math;

/* An option of one compiler's own, as text. A compiler ignores keys that it does not know. */
typedef struct nd4c_compile_option {
  const char *key, *value;
} nd4c_compile_option;

ND4C_EXTERN_C_END
#endif
