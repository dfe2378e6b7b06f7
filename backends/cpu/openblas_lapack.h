/* LAPACK through LAPACKE's `_work` functions, matrices by columns: nothing is transposed or searched for NaN there. */
#ifndef ND4C_BACKENDS_CPU_OPENBLAS_LAPACK_H
#define ND4C_BACKENDS_CPU_OPENBLAS_LAPACK_H

#include <stdbool.h>

/* Where it is if OpenBLAS itself was built without it, as Debian's is. */
#define ND4C_LAPACKE_LIBRARY "liblapacke.so.3"

enum { LAPACKE_BY_COLUMNS = 102 };

/* The one symbol list: X(name, parameters), all give LAPACK's info. d: double, z: double complex. */
#define ND4C_LAPACK_SYMBOLS(X)                                                                                       \
  X(LAPACKE_dpotrf_work, (int, char, int, void *, int))                                                              \
  X(LAPACKE_zpotrf_work, (int, char, int, void *, int))                                                              \
  X(LAPACKE_dgetrf_work, (int, int, int, void *, int, int *))                                                        \
  X(LAPACKE_zgetrf_work, (int, int, int, void *, int, int *))                                                        \
  X(LAPACKE_dgeqrf_work, (int, int, int, void *, int, void *, void *, int))                                          \
  X(LAPACKE_zgeqrf_work, (int, int, int, void *, int, void *, void *, int))                                          \
  X(LAPACKE_dorgqr_work, (int, int, int, int, void *, int, const void *, void *, int))                               \
  X(LAPACKE_zungqr_work, (int, int, int, int, void *, int, const void *, void *, int))                               \
  X(LAPACKE_dgesdd_work, (int, char, int, int, void *, int, double *, void *, int, void *, int, void *, int, int *)) \
  X(LAPACKE_zgesdd_work,                                                                                             \
    (int, char, int, int, void *, int, double *, void *, int, void *, int, void *, int, double *, int *))            \
  X(LAPACKE_dsyevd_work, (int, char, char, int, void *, int, double *, void *, int, int *, int))                     \
  X(LAPACKE_zheevd_work, (int, char, char, int, void *, int, double *, void *, int, double *, int, int *, int))      \
  X(LAPACKE_dgeev_work,                                                                                              \
    (int, char, char, int, void *, int, double *, double *, void *, int, void *, int, void *, int))                  \
  X(LAPACKE_zgeev_work, (int, char, char, int, void *, int, void *, void *, int, void *, int, void *, int, double *))

typedef struct nd4c_lapack {
  bool ready;
  char text[400]; /* where it is, or why it is not ready */
#define ND4C_LAPACK_FIELD(name, parameters) int(*name) parameters;
  ND4C_LAPACK_SYMBOLS(ND4C_LAPACK_FIELD)
#undef ND4C_LAPACK_FIELD
} nd4c_lapack;

#endif
