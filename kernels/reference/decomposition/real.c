/* Dense linear algebra in double: algorithms.h with real arithmetic. backends/cpu/reference/decomposition.c calls it
 * for real matrices. */
#include "kernels/reference/decomposition/decomposition.h"

typedef double number;
#define NAME(f) nd4c_dense_real_##f
#define MUL(a, b) ((a) * (b))
#define CONJ(a) (a)
#define REAL(a) (a)
#define ABS(a) fabs(a)
#define ABS1(a) fabs(a)
#define SQUARE(a) ((a) * (a))

#include "kernels/reference/decomposition/algorithms.h"
