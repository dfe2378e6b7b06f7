/* Dense linear algebra in double complex: algorithms.h with complex arithmetic. backends/cpu/reference/decomposition.c
 * calls it for complex matrices. */
#include "kernels/reference/decomposition/decomposition.h"

typedef double complex number;

/* Without the C standard's search for infinities among NaN. */
static inline number multiply(number a, number b) {
  return nd4c_complex_make(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}
static inline double square(number a) {
  return creal(a) * creal(a) + cimag(a) * cimag(a);
}

#define NAME(f) nd4c_dense_complex_##f
#define MUL(a, b) multiply(a, b)
#define CONJ(a) conj(a)
#define REAL(a) creal(a)
#define ABS(a) cabs(a)
#define ABS1(a) (fabs(creal(a)) + fabs(cimag(a)))
#define SQUARE(a) square(a)

#include "kernels/reference/decomposition/algorithms.h"
